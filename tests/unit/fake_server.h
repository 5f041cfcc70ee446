/* SPDX-License-Identifier: Apache-2.0
 * fake_server.h - a daemon for tests of libkiln: greets, and answers compiles by what their signature says.
 *
 *   (anything)  an artifact whose key is the digest, whose manifest is the signature; by descriptor
 *   inline      its bytes inline         miss     NEED_BODY until the body comes
 *   pair        held until a second one comes, then both are answered, the last one first
 *   hang        never answered           drop     the connection is closed, the first time
 *   always-drop closed every time        error    an ERROR with diagnostics
 *   resolve     a RESOLVE first          nofd     announces a descriptor and sends none */
#ifndef FAKE_SERVER_H
#define FAKE_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/codec/fdpass.h"
#include "proto/codec/frame.h"
#include "proto/codec/messages.h"

struct fake {
    int listener;
    char path[108];
    pthread_t thread;
    _Atomic int connections, compiles, bodies, cancels, resolved, drops;
    uint64_t version; /* to greet with */
};

struct fake_conn {
    struct fake *f;
    int fd;
    uint64_t held; /* request of a "pair", 0: none */
    struct span held_signature, held_digest;
    char held_text[64];
    char held_bytes[32];
};

static void fake_send(int fd, enum msg_type type, uint16_t flags, uint64_t id, const void *msg, int pass)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct buf out;
    buf_init(&out, 1 << 20);
    if (msg_frame(&out, type, flags, id, msg, &e) == 0)
        for (size_t at = 0; at < out.len;) {
            ssize_t n = fd_send(fd, out.data + at, out.len - at, at ? -1 : pass, &e);
            if (n <= 0)
                break;
            at += (size_t)n;
        }
    buf_done(&out);
}

static void fake_artifact(int fd, uint64_t id, struct span signature, struct span digest, bool bytes,
                          bool without)
{
    struct msg_artifact m;
    MSG_INIT(MSG_ARTIFACT, &m);
    m.key = digest;
    m.manifest = signature;
    m.source = span_text("memory");
    m.size = 4;
    int memfd = -1;
    if (bytes) {
        m.blob = span_of("code", 4);
    } else {
        m.has_fd = true;
        memfd = memfd_create("fake", MFD_CLOEXEC);
        if (write(memfd, "code", 4) != 4)
            abort();
    }
    fake_send(fd, MSG_ARTIFACT, bytes ? 0 : FRAME_FD, id, &m, without ? -1 : memfd);
    if (memfd >= 0)
        close(memfd);
}

static void fake_error(int fd, uint64_t id, unsigned code, bool full)
{
    struct msg_error m;
    struct msg_note note;
    struct msg_diagnostic d[2];
    MSG_INIT(MSG_ERROR, &m);
    m.code = code;
    m.message = span_text(full ? "two mistakes" : "");
    if (full) {
        msg_init(msg_desc_named("note"), &note);
        msg_init(msg_desc_named("diagnostic"), &d[0]);
        msg_init(msg_desc_named("diagnostic"), &d[1]);
        note.message = span_text("x was int64 here");
        note.function = 1;
        note.node = 7;
        d[0].code = d[1].code = code;
        d[0].message = span_text("first");
        d[0].function = 0;
        d[0].node = 5;
        d[0].notes = &note;
        d[0].n_notes = 1;
        d[1].message = span_text("second");
        d[1].hint = span_text("write this");
        m.diagnostics = d;
        m.n_diagnostics = 2;
        m.hint = span_text("a hint");
        m.node = 5;
        m.function = 0;
    }
    fake_send(fd, MSG_ERROR, 0, id, &m, -1);
}

static bool is(struct span s, const char *text)
{
    return s.len == strlen(text) && !memcmp(s.p, text, s.len);
}

/* false: close the connection. */
static bool fake_compile(struct fake_conn *c, const struct frame *f, struct arena *a)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct msg_compile m;
    if (msg_decode(a, msg_desc(MSG_COMPILE), f->body, f->body_len, &m, &e))
        return false;
    c->f->compiles++;
    c->f->bodies += m.body.len > 0;
    if (is(m.signature, "hang"))
        return true;
    if (is(m.signature, "always-drop") || (is(m.signature, "drop") && c->f->drops++ == 0))
        return false;
    if (is(m.signature, "error")) {
        fake_error(c->fd, f->id, KILN_E_TYPE, true);
        return true;
    }
    if (is(m.signature, "miss") && !m.body.len) {
        fake_error(c->fd, f->id, KILN_E_NEED_BODY, false);
        return true;
    }
    if (is(m.signature, "resolve")) {
        struct msg_resolve r;
        struct span type = span_text("int64");
        MSG_INIT(MSG_RESOLVE, &r);
        r.token = f->id;
        r.overload = 3;
        r.types = &type;
        r.n_types = 1;
        fake_send(c->fd, MSG_RESOLVE, 0, 77, &r, -1);
        return true; /* answered when RESOLVED comes */
    }
    if (is(m.signature, "pair") && !c->held) {
        c->held = f->id;
        memcpy(c->held_bytes, m.digest.p, 32);
        return true;
    }
    fake_artifact(c->fd, f->id, m.signature, m.digest, m.want_inline || is(m.signature, "inline"),
                  is(m.signature, "nofd"));
    if (c->held) {
        fake_artifact(c->fd, c->held, span_text("pair"), span_of(c->held_bytes, 32), true, false);
        c->held = 0;
    }
    return true;
}

static bool fake_frame(struct fake_conn *c, const struct frame *f)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct arena a;
    bool go_on = true;
    arena_init(&a, 1 << 20);
    if (f->type == MSG_HELLO) {
        struct msg_welcome m;
        MSG_INIT(MSG_WELCOME, &m);
        m.version = c->f->version;
        m.server = span_text("fake");
        m.pid = (uint64_t)getpid();
        fake_send(c->fd, MSG_WELCOME, 0, f->id, &m, -1);
    } else if (f->type == MSG_COMPILE) {
        go_on = fake_compile(c, f, &a);
    } else if (f->type == MSG_CANCEL) {
        struct msg_ok ok;
        MSG_INIT(MSG_OK, &ok);
        c->f->cancels++;
        fake_send(c->fd, MSG_OK, 0, f->id, &ok, -1);
    } else if (f->type == MSG_RESOLVED) {
        struct msg_resolved m;
        if (!msg_decode(&a, msg_desc(MSG_RESOLVED), f->body, f->body_len, &m, &e)) {
            c->f->resolved += f->id == 77;
            fake_artifact(c->fd, m.token, m.body.len ? m.body : m.message, span_of(c->held_bytes, 32), true,
                          false);
        }
    } else if (f->type == MSG_STATS) {
        struct msg_counters m;
        struct msg_counter one;
        MSG_INIT(MSG_COUNTERS, &m);
        msg_init(msg_desc_named("counter"), &one);
        one.name = span_text("compiles");
        one.value = (uint64_t)c->f->compiles;
        m.counters = &one;
        m.n_counters = 1;
        fake_send(c->fd, MSG_COUNTERS, 0, f->id, &m, -1);
    } else {
        fake_error(c->fd, f->id, KILN_E_UNSUPPORTED, false);
    }
    arena_done(&a);
    return go_on;
}

static void *fake_serve(void *arg)
{
    struct fake_conn *c = arg;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf in;
    bool go_on = true;
    buf_init(&in, 1 << 24);
    while (go_on) {
        int fd;
        unsigned char *room = buf_reserve(&in, 65536);
        ssize_t n = room ? fd_recv(c->fd, room, 65536, &fd, &e) : -1;
        if (n <= 0)
            break;
        buf_commit(&in, (size_t)n);
        struct frame f;
        while (go_on && frame_next(in.data, in.len, 1 << 24, &f, NULL, &e) > 0) {
            go_on = fake_frame(c, &f);
            buf_consume(&in, FRAME_HEAD + f.body_len);
        }
    }
    close(c->fd);
    buf_done(&in);
    free(c);
    return NULL;
}

static void *fake_accept(void *arg)
{
    struct fake *f = arg;
    for (;;) {
        int fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            return NULL;
        f->connections++;
        struct fake_conn *c = calloc(1, sizeof *c);
        pthread_t id;
        c->f = f;
        c->fd = fd;
        if (pthread_create(&id, NULL, fake_serve, c) == 0)
            pthread_detach(id);
    }
}

static int fake_listen(struct fake *f, const char *path)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    snprintf(f->path, sizeof f->path, "%s", path);
    f->version = 1;
    f->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(path);
    return bind(f->listener, (struct sockaddr *)&a, sizeof a) || listen(f->listener, 64) ? -1 : 0;
}

static inline int fake_start(struct fake *f, const char *path)
{
    memset(f, 0, sizeof *f);
    return fake_listen(f, path) ? -1 : pthread_create(&f->thread, NULL, fake_accept, f);
}

static inline void fake_stop(struct fake *f)
{
    shutdown(f->listener, SHUT_RDWR);
    pthread_join(f->thread, NULL);
    close(f->listener);
    unlink(f->path);
}

#endif
