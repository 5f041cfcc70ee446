/* SPDX-License-Identifier: Apache-2.0
 * greet.c - connect and agree on a protocol version: HELLO, then WELCOME or ERROR. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/c/src/client.h"
#include "client/c/src/conn.h"
#include "client/c/src/find.h"
#include "proto/base/limits.h"
#include "proto/codec/fdpass.h"

#define STEP_MS 50 /* between looks at `interrupted` */

static int wait_for(int fd, short events, const struct kiln_options *o, int64_t deadline,
                    struct kiln_error *e)
{
    for (;;) {
        int64_t left = deadline - find_now_ms();
        if (left <= 0)
            return client_error(e, KILN_E_TIMEOUT, 0, "the daemon did not answer in time");
        if (o->interrupted && o->interrupted(o->interrupted_user))
            return client_error(e, KILN_E_CANCELLED, 0, "interrupted");
        struct pollfd p = { .fd = fd, .events = events };
        int n = poll(&p, 1, left < STEP_MS ? (int)left : STEP_MS);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return client_error(e, KILN_E_CONNECT, errno, "poll: %s", strerror(errno));
    }
}

static int send_hello(int fd, const struct kiln_options *o, int64_t deadline, struct kiln_error *e)
{
    struct kiln_err err = KILN_ERR_INIT;
    char name[64];
    snprintf(name, sizeof name, "%.40s", o->client_name ? o->client_name : "libkiln " KILN_VERSION);
    struct span can[2] = { span_text("fd"), span_text("resolve") };
    struct msg_hello m;
    MSG_INIT(MSG_HELLO, &m);
    m.version_min = m.version_max = CONN_PROTOCOL;
    m.client = span_text(name);
    m.capabilities = can;
    m.n_capabilities = o->resolve ? 2 : 1;
    struct buf out;
    buf_init(&out, 4096);
    int rc = msg_frame(&out, MSG_HELLO, 0, 1, &m, &err);
    if (rc)
        rc = client_fail(e, &err);
    for (size_t at = 0; !rc && at < out.len;) {
        ssize_t n = fd_send(fd, out.data + at, out.len - at, -1, &err);
        if (n < 0)
            rc = client_fail(e, &err);
        else if (n == 0)
            rc = wait_for(fd, POLLOUT, o, deadline, e);
        else
            at += (size_t)n;
    }
    buf_done(&out);
    return rc;
}

static int take_welcome(const struct frame *f, struct greeting *to, struct kiln_error *e)
{
    struct kiln_err err = KILN_ERR_INIT;
    if (f->type == MSG_ERROR)
        return answer_error(e, f->body, f->body_len);
    if (f->type != MSG_WELCOME)
        return client_error(e, KILN_E_WIRE_TYPE, 0, "the daemon greeted with a frame of type %u", f->type);
    struct arena a;
    arena_init(&a, 64 << 10);
    struct msg_welcome m;
    int rc = msg_decode(&a, msg_desc(MSG_WELCOME), f->body, f->body_len, &m, &err);
    if (rc) {
        rc = client_fail(e, &err);
    } else if (m.version != CONN_PROTOCOL) {
        rc = client_error(e, KILN_E_VERSION, 0, "the daemon speaks protocol %llu, we speak %u",
                          (unsigned long long)m.version, CONN_PROTOCOL);
    } else {
        struct kiln_server *s = &to->server;
        s->protocol = (uint32_t)m.version;
        s->pid = (uint32_t)m.pid;
        s->uid = (uint32_t)m.uid;
        s->kir_min = (uint32_t)m.kir_min;
        s->kir_max = (uint32_t)m.kir_max;
        snprintf(s->version, sizeof s->version, "%s", span_str(m.server));
        if (m.toolchain.len == sizeof s->toolchain)
            memcpy(s->toolchain, m.toolchain.p, sizeof s->toolchain);
        to->max_frame = m.max_frame ? m.max_frame : LIM_FRAME_BYTES;
    }
    arena_done(&a);
    return rc;
}

static int receive_welcome(int fd, const struct kiln_options *o, int64_t deadline, struct greeting *to,
                           struct kiln_error *e)
{
    struct kiln_err err = KILN_ERR_INIT;
    unsigned char data[8192];
    size_t have = 0;
    for (;;) {
        struct frame f;
        int got = frame_next(data, have, sizeof data - FRAME_HEAD, &f, NULL, &err);
        if (got < 0)
            return client_fail(e, &err);
        if (got)
            return take_welcome(&f, to, e);
        int rc = wait_for(fd, POLLIN, o, deadline, e);
        if (rc)
            return rc;
        int passed;
        ssize_t n = fd_recv(fd, data + have, sizeof data - have, &passed, &err);
        if (passed >= 0)
            close(passed);
        if (n < 0)
            return client_fail(e, &err);
        have += (size_t)n;
    }
}

/* The daemon closed before it had our greeting: what it said tells more than that. */
static int last_word(struct greeting *to, const struct kiln_options *o, int64_t deadline, int rc,
                     struct kiln_error *e)
{
    struct kiln_error said = KILN_ERROR_INIT;
    int answer = rc == -KILN_E_CLOSED || rc == -KILN_E_IO ? receive_welcome(to->fd, o, deadline, to, &said) : 0;
    if (answer && said.code != KILN_E_CLOSED && said.code != KILN_E_IO) {
        kiln_error_clear(e);
        *e = said;
        return answer;
    }
    kiln_error_clear(&said);
    return rc;
}

static int greet_once(const struct kiln_options *o, int64_t deadline, struct greeting *ret,
                      struct kiln_error *e)
{
    memset(ret, 0, sizeof *ret);
    ret->fd = -1;
    int rc = find_connect(o, deadline, &ret->fd, ret->server.socket, e);
    if (!rc)
        rc = send_hello(ret->fd, o, deadline, e);
    if (!rc)
        rc = receive_welcome(ret->fd, o, deadline, ret, e);
    else if (ret->fd >= 0)
        rc = last_word(ret, o, deadline, rc, e);
    if (rc && ret->fd >= 0) {
        close(ret->fd);
        ret->fd = -1;
    }
    return rc;
}

int conn_greet(const struct kiln_options *o, bool again, struct greeting *ret, struct kiln_error *e)
{
    int64_t deadline = find_now_ms() + (o->timeout_ms ? o->timeout_ms : CONN_TIMEOUT_MS);
    struct kiln_error own = KILN_ERROR_INIT;
    int rc = greet_once(o, deadline, ret, &own);
    /* A daemon may leave between our connecting and its greeting, or is being restarted: a few more looks. */
    for (unsigned pause = 20; rc && pause <= 180; pause *= 3) {
        bool gone = own.code == KILN_E_CLOSED || own.code == KILN_E_IO || own.code == KILN_E_DRAINING ||
                    own.code == KILN_E_BUSY || (again && own.code == KILN_E_CONNECT);
        if (!gone || find_now_ms() + pause >= deadline)
            break;
        struct timespec t = { .tv_nsec = pause * 1000000L };
        nanosleep(&t, NULL);
        rc = greet_once(o, deadline, ret, &own);
    }
    if (rc && e) {
        kiln_error_clear(e);
        *e = own;
    } else {
        kiln_error_clear(&own);
    }
    return rc;
}
