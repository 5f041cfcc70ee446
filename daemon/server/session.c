/* SPDX-License-Identifier: Apache-2.0
 * session.c - a connection under uv_poll: libuv's own pipes can't pass plain descriptors, so the project's
 * sendmsg and recvmsg do. Reading is bounded by the frame limit, writing by LIM_OUT_BYTES. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/server/server.h"
#include "proto/codec/fdpass.h"

#define READ_STEP 65536u
#define IN_BYTES ((size_t)LIM_FRAME_BYTES + FRAME_HEAD + READ_STEP)
#define LARGE (1u << 20) /* smaller frames are taken whatever others hold */

/* Bytes that wait for the socket. */
struct chunk {
    struct chunk *next;
    unsigned char *data;
    size_t len, at;
    int fd; /* the artifact's, or -1 */
    /* should the kernel refuse the descriptor: how to send the bytes inline */
    struct cache_artifact *artifact;
    uint64_t id;
    char source[16];
};

static void chunk_free(struct chunk *c)
{
    cache_artifact_unref(c->artifact);
    free(c->data);
    free(c);
}

struct session *session_ref(struct session *x)
{
    x->refs++;
    return x;
}

void session_unref(struct session *x)
{
    if (--x->refs)
        return;
    while (x->out_first) {
        struct chunk *c = x->out_first;
        x->out_first = c->next;
        chunk_free(c);
    }
    buf_done(&x->in);
    close(x->fd);
    free(x);
}

static void on_closed(uv_handle_t *h)
{
    session_unref(h->data);
}

/* Tell the server how much it holds for this session. */
static void account(struct session *x)
{
    uint64_t now = x->closed ? 0 : x->in.len + x->out_bytes;

    x->server->held += now - x->held;
    x->held = now;
}

void session_close(struct session *x)
{
    struct server *s = x->server;

    if (x->closed)
        return;
    x->closed = true;
    account(x);
    *x->link = x->next;
    if (x->next)
        x->next->link = x->link;
    if (--s->n_sessions == 0)
        s->idle_since_ms = uv_now(&s->loop);
    flights_forget(s, x, 0, true);
    pool_forget(s, x);
    uv_poll_stop(&x->poll);
    uv_close((uv_handle_t *)&x->poll, on_closed);
}

/* ---- writing ---- */

static void on_io(uv_poll_t *poll, int status, int events);

static void watch(struct session *x)
{
    uv_poll_start(&x->poll, UV_READABLE | (x->out_first ? UV_WRITABLE : 0), on_io);
}

static struct chunk *encode(struct session *x, enum msg_type type, uint64_t id, const void *msg, bool with_fd)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct chunk *c = calloc(1, sizeof *c);
    struct buf b;

    buf_init(&b, (size_t)LIM_FRAME_BYTES + FRAME_HEAD);
    if (!c || msg_frame(&b, type, with_fd ? FRAME_FD : 0, id, msg, &e) < 0) {
        log_event(LOG_ERROR, "answer not sent", log_s("error", c ? e.msg : "out of memory"), log_u("pid", x->pid));
        buf_done(&b);
        free(c);
        return NULL;
    }
    c->fd = -1;
    c->data = buf_take(&b, &c->len);
    return c;
}

/* The same answer as c with the bytes in it instead of a descriptor; c is freed. NULL when there is no memory. */
static struct chunk *inline_chunk(struct session *x, struct chunk *c)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct chunk *n = NULL;
    struct msg_artifact m;
    struct buf bytes;

    buf_init(&bytes, (size_t)LIM_FRAME_BYTES);
    if (c->artifact && cache_artifact_read(c->artifact, &bytes, &e) == 0) {
        MSG_INIT(MSG_ARTIFACT, &m);
        m.key = span_of(c->artifact->key, HASH_BYTES);
        m.source = span_text(c->source);
        m.size = c->artifact->size;
        m.blob = span_of(bytes.data, bytes.len);
        m.manifest = span_of(c->artifact->manifest, c->artifact->manifest_len);
        m.compile_us = c->artifact->compile_us;
        n = encode(x, MSG_ARTIFACT, c->id, &m, false);
        x->server->stats.inline_blobs += n != NULL;
    }
    buf_done(&bytes);
    chunk_free(c);
    return n;
}

/* The kernel refuses the descriptor of the first chunk: its bytes go inline. */
static bool send_inline(struct session *x)
{
    struct chunk *c = x->out_first, *rest = c->next, *n;

    x->out_bytes -= c->len;
    n = inline_chunk(x, c);
    x->out_first = n ? n : rest;
    if (!n) {
        if (!rest)
            x->out_last = NULL;
        return false;
    }
    n->next = rest;
    if (!rest)
        x->out_last = n;
    x->out_bytes += n->len;
    return true;
}

/* Write until the socket is full. False: the peer is gone. */
static bool flush(struct session *x)
{
    while (x->out_first) {
        struct chunk *c = x->out_first;
        struct kiln_err e = KILN_ERR_INIT;
        ssize_t n = fd_send(x->fd, c->data + c->at, c->len - c->at, c->at ? -1 : c->fd, &e);
        if (n == -KILN_E_BUSY && send_inline(x))
            continue;
        if (n < 0)
            return false;
        if (n == 0)
            return true;
        c->at += (size_t)n;
        x->out_bytes -= (size_t)n;
        if (c->at == c->len) {
            x->out_first = c->next;
            if (!c->next)
                x->out_last = NULL;
            chunk_free(c);
        }
    }
    return true;
}

static void push(struct session *x, struct chunk *c)
{
    bool was_empty = !x->out_first;

    if (x->out_last)
        x->out_last->next = c;
    else
        x->out_first = c;
    x->out_last = c;
    x->out_bytes += c->len;
    account(x);
    if (x->out_bytes > LIM_OUT_BYTES || (x->out_bytes > LARGE && !was_empty && x->server->held > x->server->settings.request_memory)) {
        log_event(LOG_WARNING, "client does not read its answers", log_u("pid", x->pid), log_u("bytes", x->out_bytes));
        session_close(x);
    } else if (was_empty) {
        if (!flush(x))
            session_close(x);
        else if (x->out_first)
            watch(x);
    }
}

void session_send(struct session *x, enum msg_type type, uint64_t id, const void *msg)
{
    struct chunk *c;

    if (x->closed)
        return;
    c = encode(x, type, id, msg, false);
    if (c)
        push(x, c);
    else
        session_close(x);
}

void session_artifact(struct session *x, uint64_t id, struct cache_artifact *a, const char *source, bool want_inline)
{
    struct msg_artifact m;
    struct chunk *c;

    if (x->closed)
        return;
    MSG_INIT(MSG_ARTIFACT, &m);
    m.key = span_of(a->key, HASH_BYTES);
    m.source = span_text(source);
    m.size = a->size;
    m.manifest = span_of(a->manifest, a->manifest_len);
    m.compile_us = a->compile_us;
    m.has_fd = !want_inline && x->takes_fds && a->fd >= 0;
    c = encode(x, MSG_ARTIFACT, id, &m, m.has_fd);
    if (!c) {
        session_close(x);
        return;
    }
    c->artifact = cache_artifact_ref(a);
    c->id = id;
    snprintf(c->source, sizeof c->source, "%s", source);
    if (m.has_fd) {
        c->fd = a->fd;
        push(x, c);
        return;
    }
    c = inline_chunk(x, c);
    if (c)
        push(x, c);
    else
        session_error(x, id, KILN_E_NOMEM, "the artifact can't be sent");
}

void session_error(struct session *x, uint64_t id, enum kiln_code code, const char *fmt, ...)
{
    struct msg_error m;
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    kiln_text_clean(text);
    va_end(ap);
    MSG_INIT(MSG_ERROR, &m);
    m.code = code;
    m.message = span_text(text);
    if (code == KILN_E_BUSY || code == KILN_E_DRAINING)
        m.retry_ms = 200;
    session_send(x, MSG_ERROR, id, &m);
}

void session_fail(struct session *x, uint64_t id, const struct kiln_err *e)
{
    session_error(x, id, (enum kiln_code)e->code, "%s", e->msg);
}

/* ---- reading ---- */

static void bad_frame(struct session *x, const struct kiln_err *e)
{
    x->server->stats.protocol_errors++;
    log_event(LOG_NOTICE, "connection closed for a bad frame", log_u("pid", x->pid), log_s("error", e->msg));
    session_fail(x, 0, e);
    session_close(x);
}

void session_read(struct session *x)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct frame f;
    size_t used = 0;
    int r = 0;

    session_ref(x);
    while (!x->closed && x->server->ready) {
        r = frame_next(x->in.data + used, x->in.len - used, (size_t)LIM_FRAME_BYTES, &f, NULL, &e);
        if (r <= 0)
            break;
        used += FRAME_HEAD + f.body_len;
        if (!dispatch(x, &f))
            break;
    }
    if (r < 0)
        bad_frame(x, &e);
    if (!x->closed && used)
        buf_consume(&x->in, used);
    session_unref(x);
}

/* How much to read next: the rest of a long frame at once, so that its buffer grows once. */
static size_t step(const struct session *x)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct frame f;
    size_t need = 0;

    if (frame_next(x->in.data, x->in.len, (size_t)LIM_FRAME_BYTES, &f, &need, &e) == 0 && need > x->in.len + READ_STEP)
        return need - x->in.len;
    return READ_STEP;
}

/* A long frame, and others hold all that may be held: its sender is told so. */
static bool too_much(struct session *x)
{
    uint64_t id = 0;

    if (x->in.len <= LARGE || x->server->held <= x->server->settings.request_memory)
        return false;
    for (unsigned i = 0; i < 8; i++)
        id |= (uint64_t)x->in.data[FRAME_HEAD - 8 + i] << 8 * i;
    session_error(x, id, KILN_E_BUSY, "the server holds as many requests as it may");
    session_close(x);
    return true;
}

/* Read what there is. */
static void take(struct session *x)
{
    struct kiln_err e = KILN_ERR_INIT;
    size_t want = step(x);
    unsigned char *room = buf_reserve(&x->in, want);
    int fd = -1;
    ssize_t n = room ? fd_recv(x->fd, room, want, &fd, &e) : -KILN_E_NOMEM;

    if (fd >= 0)
        close(fd); /* clients have none to give */
    if (n < 0) {
        session_close(x);
    } else if (n > 0) {
        buf_commit(&x->in, (size_t)n);
        account(x);
        if (too_much(x))
            return;
        session_read(x);
        if (x->in.len == 0 && x->in.cap > LARGE) { /* a long frame's room */
            buf_done(&x->in);
            buf_init(&x->in, IN_BYTES);
        }
    }
}

static void on_io(uv_poll_t *poll, int status, int events)
{
    struct session *x = poll->data;

    session_ref(x);
    if (status < 0) {
        session_close(x);
    } else {
        if ((events & UV_WRITABLE) && !x->closed) {
            if (!flush(x))
                session_close(x);
            else if (!x->out_first)
                watch(x);
        }
        if ((events & UV_READABLE) && !x->closed)
            take(x);
        account(x);
    }
    session_unref(x);
}

void session_refuse(int fd, enum kiln_code code, const char *why)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct msg_error m;
    struct buf b;

    MSG_INIT(MSG_ERROR, &m);
    m.code = (uint64_t)code;
    m.message = span_text(why);
    buf_init(&b, 4096);
    if (msg_frame(&b, MSG_ERROR, 0, 0, &m, &e) == 0)
        fd_send(fd, b.data, b.len, -1, &e); /* a new socket has room for it */
    buf_done(&b);
    close(fd);
}

void session_start(struct server *s, int fd, uid_t uid, pid_t pid)
{
    struct session *x = calloc(1, sizeof *x);

    if (!x) {
        close(fd);
        return;
    }
    x->server = s;
    x->fd = fd;
    x->uid = uid;
    x->pid = pid;
    x->refs = 1;
    x->takes_fds = true;
    buf_init(&x->in, IN_BYTES);
    if (uv_poll_init(&s->loop, &x->poll, fd) != 0) {
        close(fd);
        free(x);
        return;
    }
    x->poll.data = x;
    x->next = s->sessions;
    x->link = &s->sessions;
    if (x->next)
        x->next->link = &x->next;
    s->sessions = x;
    s->n_sessions++;
    s->stats.connections++;
    watch(x);
}
