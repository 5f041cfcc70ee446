/* SPDX-License-Identifier: Apache-2.0
 * dispatch.c - which function answers which message. A handler gets the decoded message, which lives as long
 * as the call; what must live longer is copied. */
#include "daemon/server/server.h"
#include "proto/ir/kir.h"

#define PROTOCOL_VERSION 1u

static const struct {
    enum msg_type type;
    handler run;
    bool while_draining; /* answered although the daemon is leaving */
} handlers[] = {
    { MSG_COMPILE, on_compile, false }, { MSG_LOOKUP, on_lookup, false }, { MSG_GET, on_get, false },
    { MSG_CANCEL, on_cancel, true },    { MSG_STATUS, on_status, true },  { MSG_STATS, on_stats, true },
    { MSG_LIST, on_list, false },       { MSG_SHOW, on_show, false },     { MSG_PURGE, on_purge, false },
    { MSG_STOP, on_stop, true },     { MSG_RESOLVED, on_resolved, true },
};

static bool has(const struct span *list, uint32_t n, const char *word)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(span_str(list[i]), word) == 0)
            return true;
    return false;
}

static void greet(struct session *x, uint64_t id, const struct msg_hello *hello)
{
    static const char *const capabilities[] = { "fd", "inline", "cancel", "lookup", "resolve" };
    struct span words[sizeof capabilities / sizeof capabilities[0]];
    struct server *s = x->server;
    struct msg_welcome m;

    if (hello->version_min > PROTOCOL_VERSION || hello->version_max < PROTOCOL_VERSION) {
        session_error(x, id, KILN_E_VERSION, "this server speaks protocol version %u, the client %llu to %llu", PROTOCOL_VERSION,
                      (unsigned long long)hello->version_min, (unsigned long long)hello->version_max);
        session_close(x);
        return;
    }
    x->greeted = true;
    x->takes_fds = has(hello->capabilities, hello->n_capabilities, "fd");
    x->resolves = has(hello->capabilities, hello->n_capabilities, "resolve");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        words[i] = span_text(capabilities[i]);
    MSG_INIT(MSG_WELCOME, &m);
    m.version = PROTOCOL_VERSION;
    m.server = span_text("kilnd " KILN_VERSION);
    m.toolchain = span_of(s->toolchain, sizeof s->toolchain);
    m.capabilities = words;
    m.n_capabilities = sizeof words / sizeof words[0];
    m.max_frame = LIM_FRAME_BYTES;
    m.max_inflight = LIM_INFLIGHT;
    m.kir_min = m.kir_max = KIR_VERSION;
    m.pid = (uint64_t)getpid();
    m.uid = (uint64_t)geteuid();
    session_send(x, MSG_WELCOME, id, &m);
}

static void answer(struct session *x, const struct frame *f, const struct msg_desc *d, struct arena *a)
{
    union {
        struct msg_compile compile;
        struct msg_hello hello;
        unsigned char room[1024];
    } msg;
    struct kiln_err e = KILN_ERR_INIT;

    if (d->size > sizeof msg || msg_decode(a, d, f->body, f->body_len, &msg, &e) < 0) {
        if (!e.code)
            kiln_err_set(&e, KILN_E_INTERNAL, 0, "message table");
        session_fail(x, f->id, &e);
        return;
    }
    if (f->type == MSG_HELLO) {
        greet(x, f->id, &msg.hello);
        return;
    }
    for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++) {
        if (handlers[i].type != f->type)
            continue;
        if (x->server->draining && !handlers[i].while_draining)
            session_error(x, f->id, KILN_E_DRAINING, "the server is shutting down");
        else
            handlers[i].run(x, f->id, &msg, f);
        return;
    }
    session_error(x, f->id, KILN_E_UNSUPPORTED, "this server does not answer '%s'", d->name);
}

bool dispatch(struct session *x, const struct frame *f)
{
    const struct msg_desc *d = msg_desc(f->type);
    struct arena a;

    x->server->stats.requests++;
    if (f->flags & FRAME_FD) {
        session_error(x, f->id, KILN_E_WIRE_FRAME, "clients send no descriptors");
        session_close(x);
    } else if (!x->greeted && f->type != MSG_HELLO) {
        session_error(x, f->id, KILN_E_WIRE_FRAME, "a connection begins with 'hello'");
        session_close(x);
    } else if (!d || (d->direction != 'C')) {
        session_error(x, f->id, KILN_E_UNSUPPORTED, "request type %u is not known to this server", f->type);
    } else {
        arena_init(&a, (size_t)LIM_MSG_ARENA);
        answer(x, f, d, &a);
        arena_done(&a);
    }
    return !x->closed;
}
