/* SPDX-License-Identifier: Apache-2.0
 * loop.c - see loop.h. */
#include "client/c/src/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client/c/src/client.h"
#include "client/c/src/find.h"
#include "proto/base/limits.h"
#include "proto/codec/fdpass.h"

#define READ_BYTES 65536 /* at least so much room for each read */

void loop_unlink_locked(struct kiln_pending *p)
{
    if (!p->on_list)
        return;
    for (struct kiln_pending **at = &p->c->pending; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    p->on_list = false;
}

void loop_hand_over_locked(struct kiln_connection *c)
{
    if (c->reading)
        return;
    for (struct kiln_pending *p = c->pending; p; p = p->next)
        if (p->waiting) {
            pthread_cond_signal(&p->cond);
            return;
        }
}

void loop_close_locked(struct kiln_connection *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->broken = false;
    buf_clear(&c->in);
    while (c->n_fds)
        close(c->fds[--c->n_fds]);
}

void loop_lost_locked(struct kiln_connection *c, const struct kiln_err *why)
{
    if (c->fd >= 0 && !c->broken) {
        c->broken = true;
        c->lost = *why;
        shutdown(c->fd, SHUT_RDWR); /* wakes whoever polls; closed when nobody uses the number any more */
    }
    while (c->pending) {
        struct kiln_pending *p = c->pending;
        loop_unlink_locked(p);
        p->state = PENDING_LOST;
        p->failure = *why;
        pthread_cond_signal(&p->cond);
    }
}

int loop_connect_locked(struct kiln_connection *c, struct kiln_error *e)
{
    while (c->connecting)
        pthread_cond_wait(&c->changed, &c->lock);
    if (c->fd >= 0 && !c->broken)
        return 0;
    c->connecting = true;
    while (c->reading || c->writing) /* they find the socket shut down */
        pthread_cond_wait(&c->changed, &c->lock);
    bool again = c->generation > 0;
    loop_close_locked(c);
    pthread_mutex_unlock(&c->lock);
    struct greeting g;
    int rc = conn_greet(&c->options, again, &g, e);
    pthread_mutex_lock(&c->lock);
    c->connecting = false;
    if (!rc) {
        c->fd = g.fd;
        c->server = g.server;
        c->max_frame = g.max_frame;
        c->generation++;
    }
    pthread_cond_broadcast(&c->changed);
    return rc;
}

int loop_write_locked(struct kiln_connection *c, const void *data, size_t len, struct kiln_err *e)
{
    const unsigned char *p = data;
    uint64_t generation = c->generation;
    while (c->writing)
        pthread_cond_wait(&c->changed, &c->lock);
    if (c->fd < 0 || c->broken || c->generation != generation)
        return kiln_err_set(e, KILN_E_CLOSED, 0, "the connection was lost");
    c->writing = true;
    int fd = c->fd, rc = 0;
    pthread_mutex_unlock(&c->lock);
    while (len && !rc) {
        ssize_t n = fd_send(fd, p, len, -1, e);
        if (n < 0) {
            rc = (int)n;
        } else if (n == 0) {
            struct pollfd out = { .fd = fd, .events = POLLOUT };
            if (poll(&out, 1, CONN_SEND_MS) == 0)
                rc = kiln_err_set(e, KILN_E_TIMEOUT, 0, "the daemon reads nothing any more");
        } else {
            p += n;
            len -= (size_t)n;
        }
    }
    pthread_mutex_lock(&c->lock);
    c->writing = false;
    pthread_cond_broadcast(&c->changed);
    if (rc)
        loop_lost_locked(c, e);
    return rc;
}

/* A RESOLVE that came with what was read; answered once the lock is free. */
struct question {
    struct question *next;
    uint64_t id;
    uint32_t len;
    unsigned char body[];
};

static int take_frame(struct kiln_connection *c, const struct frame *f, struct question **questions,
                      struct kiln_err *e)
{
    int fd = -1;
    if (f->flags & FRAME_FD) {
        if (!c->n_fds)
            return kiln_err_set(e, KILN_E_WIRE_FRAME, 0, "a frame came without its descriptor");
        fd = c->fds[0];
        memmove(c->fds, c->fds + 1, --c->n_fds * sizeof *c->fds);
    }
    struct kiln_pending *p = c->pending;
    while (p && (p->id != f->id || f->type == MSG_RESOLVE))
        p = p->next;
    unsigned char *copy = NULL;
    if (f->type == MSG_RESOLVE) {
        struct question *q = malloc(sizeof *q + f->body_len);
        if (!q)
            return kiln_err_set(e, KILN_E_NOMEM, 0, "no memory for a question of the daemon");
        q->id = f->id;
        q->len = f->body_len;
        memcpy(q->body, f->body, f->body_len);
        q->next = *questions;
        *questions = q;
    } else if (p && (copy = malloc(f->body_len + 1u))) {
        memcpy(copy, f->body, f->body_len);
        loop_unlink_locked(p);
        p->answer = copy;
        p->answer_len = f->body_len;
        p->answer_type = f->type;
        p->answer_fd = fd;
        p->state = PENDING_DONE;
        fd = -1;
        pthread_cond_signal(&p->cond);
    } else if (p) {
        loop_unlink_locked(p);
        kiln_err_set(&p->failure, KILN_E_NOMEM, 0, "no memory for an answer of %u bytes", f->body_len);
        p->state = PENDING_FAILED;
        pthread_cond_signal(&p->cond);
    } /* else: somebody gave it up, or it is the answer to a CANCEL */
    if (fd >= 0)
        close(fd);
    return 0;
}

static int take_frames(struct kiln_connection *c, struct question **questions, struct kiln_err *e)
{
    size_t at = 0;
    struct frame f;
    int got;
    while ((got = frame_next(c->in.data + at, c->in.len - at, LIM_FRAME_BYTES, &f, NULL, e)) > 0) {
        at += FRAME_HEAD + (size_t)f.body_len;
        int rc = take_frame(c, &f, questions, e);
        if (rc)
            return rc;
    }
    buf_consume(&c->in, at);
    return got;
}

static void answer_questions(struct kiln_connection *c, struct question *q)
{
    while (q) {
        struct question *next = q->next;
        struct kiln_err e = KILN_ERR_INIT;
        struct buf out;
        buf_init(&out, LIM_FRAME_BYTES);
        pthread_mutex_unlock(&c->lock);
        int rc = resolve_answer(&c->options, q->id, q->body, q->len, &out, &e);
        pthread_mutex_lock(&c->lock);
        if (rc)
            loop_lost_locked(c, &e);
        else
            loop_write_locked(c, out.data, out.len, &e);
        buf_done(&out);
        free(q);
        q = next;
    }
}

int loop_read_locked(struct kiln_connection *c, int timeout_ms)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct question *questions = NULL;
    unsigned char *room = buf_reserve(&c->in, READ_BYTES);
    if (!room) {
        kiln_err_set(&e, KILN_E_NOMEM, 0, "no memory to read an answer");
        loop_lost_locked(c, &e);
        return 0;
    }
    c->reading = true;
    int fd = c->fd, passed = -1, signalled = 0;
    pthread_mutex_unlock(&c->lock);
    struct pollfd in = { .fd = fd, .events = POLLIN };
    int ready = poll(&in, 1, timeout_ms);
    signalled = ready < 0 && errno == EINTR;
    ssize_t n = ready > 0 ? fd_recv(fd, room, READ_BYTES, &passed, &e) : 0;
    pthread_mutex_lock(&c->lock);
    c->reading = false;
    pthread_cond_broadcast(&c->changed);
    if (passed >= 0 && c->n_fds < CONN_FDS)
        c->fds[c->n_fds++] = passed;
    else if (passed >= 0)
        close(passed);
    if (n < 0 && e.code == KILN_E_WIRE_FRAME)
        c->inline_next = true; /* most likely we have no descriptor left */
    if (n > 0) {
        buf_commit(&c->in, (size_t)n);
        int rc = take_frames(c, &questions, &e);
        if (rc < 0)
            n = rc;
    }
    if (n < 0)
        loop_lost_locked(c, &e);
    if (questions)
        answer_questions(c, questions);
    return signalled;
}
