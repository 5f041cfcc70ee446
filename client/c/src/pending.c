/* SPDX-License-Identifier: Apache-2.0
 * pending.c - a request's life: made, sent, waited for, answered; sent again when its connection is lost. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/c/src/artifact.h"
#include "client/c/src/client.h"
#include "client/c/src/find.h"
#include "client/c/src/loop.h"
#include "proto/base/limits.h"

void pending_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

int pending_new(struct kiln_connection *c, enum msg_type type, enum msg_type expect, size_t memory,
                struct kiln_pending **ret, struct kiln_error *e)
{
    *ret = NULL;
    struct kiln_pending *p = calloc(1, sizeof *p);
    if (!p)
        return client_error(e, KILN_E_NOMEM, 0, "no memory for a request");
    p->c = c;
    p->type = type;
    p->expect = expect;
    p->answer_fd = -1;
    pending_cond_init(&p->cond);
    arena_init(&p->arena, memory + 4096);
    p->message = arena_alloc(&p->arena, msg_desc(type)->size);
    if (!p->message) {
        kiln_pending_free(p);
        return client_error(e, KILN_E_NOMEM, 0, "no memory for a request");
    }
    MSG_INIT(type, p->message);
    *ret = p;
    return 0;
}

/* Requires: the lock is held, p is LOST or was asked for its body. */
static int send_locked(struct kiln_pending *p, struct kiln_error *e)
{
    struct kiln_connection *c = p->c;
    struct kiln_err err = KILN_ERR_INIT;
    int rc = loop_connect_locked(c, e);
    if (rc)
        return rc;
    bool with_body = p->type == MSG_COMPILE && p->body_sent;
    if (p->type == MSG_COMPILE) {
        struct msg_compile *m = p->message;
        m->body = with_body ? p->body : (struct span){ NULL, 0 };
        m->want_inline = p->want_inline || c->inline_next;
    } else if (p->type == MSG_GET) {
        ((struct msg_get *)p->message)->want_inline = p->want_inline || c->inline_next;
    }
    struct buf out;
    buf_init(&out, c->max_frame + FRAME_HEAD);
    p->id = ++c->last_id + 1; /* 1 was the greeting */
    rc = msg_frame(&out, p->type, 0, p->id, p->message, &err);
    if (!rc && out.len - FRAME_HEAD > c->max_frame)
        rc = kiln_err_set(&err, KILN_E_LIMIT, 0, "a request of %zu bytes; the daemon takes %llu", out.len,
                          (unsigned long long)c->max_frame);
    if (rc) {
        buf_done(&out);
        return client_fail(e, &err);
    }
    p->state = PENDING_SENT;
    p->next = c->pending;
    c->pending = p;
    p->on_list = true;
    p->tries++;
    loop_write_locked(c, out.data, out.len, &err); /* a failure makes us LOST, as everybody else */
    buf_done(&out);
    return 0;
}

int pending_send(struct kiln_pending *p, struct kiln_error *e)
{
    pthread_mutex_lock(&p->c->lock);
    int rc = send_locked(p, e);
    pthread_mutex_unlock(&p->c->lock);
    return rc;
}

static void drop_answer(struct kiln_pending *p)
{
    free(p->answer);
    p->answer = NULL;
    p->answer_len = 0;
    if (p->answer_fd >= 0)
        close(p->answer_fd);
    p->answer_fd = -1;
}

/* The server lacks the entry and wants the body: 1 when it was sent. */
static int send_body_locked(struct kiln_pending *p, struct kiln_error *e)
{
    if (p->type != MSG_COMPILE || p->body_sent || !p->body.len)
        return 0;
    drop_answer(p);
    p->body_sent = true;
    p->tries = 0;
    int rc = send_locked(p, e);
    return rc ? rc : 1;
}

/* An answer is there. 1: not the last one. */
static int judge_locked(struct kiln_pending *p, struct kiln_error *e)
{
    if (p->answer_type == p->expect)
        return 0;
    if (p->answer_type != MSG_ERROR)
        return client_error(e, KILN_E_WIRE_TYPE, 0,
                            "the daemon answered with a frame of type %u instead of %u", p->answer_type,
                            p->expect);
    struct kiln_error own = KILN_ERROR_INIT;
    int rc = answer_error(&own, p->answer, p->answer_len);
    if (rc == -KILN_E_NEED_BODY) {
        kiln_error_clear(&own);
        rc = send_body_locked(p, e);
        return rc ? rc : client_error(e, KILN_E_NEED_BODY, 0, "%s", kiln_err_text(KILN_E_NEED_BODY));
    }
    if (e) {
        kiln_error_clear(e);
        *e = own;
    } else {
        kiln_error_clear(&own);
    }
    return rc;
}

static void sleep_locked(struct kiln_pending *p, int64_t deadline)
{
    if (deadline < 0) {
        pthread_cond_wait(&p->cond, &p->c->lock);
        return;
    }
    struct timespec t = { .tv_sec = deadline / 1000, .tv_nsec = deadline % 1000 * 1000000 };
    pthread_cond_timedwait(&p->cond, &p->c->lock, &t);
}

static int wait_locked(struct kiln_pending *p, int64_t deadline, struct kiln_error *e)
{
    struct kiln_connection *c = p->c;
    for (;;) {
        if (p->cancelled)
            return client_error(e, KILN_E_CANCELLED, 0, "%s", kiln_err_text(KILN_E_CANCELLED));
        if (p->state == PENDING_DONE) {
            int rc = judge_locked(p, e);
            if (rc <= 0)
                return rc;
            continue;
        }
        if (p->state == PENDING_FAILED)
            return client_fail(e, &p->failure);
        if (p->state == PENDING_LOST) {
            if (p->tries >= CONN_TRIES)
                return client_fail(e, &p->failure);
            int rc = send_locked(p, e);
            if (rc)
                return rc;
            continue;
        }
        int64_t left = deadline < 0 ? -1 : deadline - find_now_ms();
        if (deadline >= 0 && left < 0)
            left = 0;
        if (c->reading || c->connecting) {
            if (left == 0)
                return 1;
            p->waiting = true;
            sleep_locked(p, deadline);
            p->waiting = false;
            if (p->state == PENDING_SENT && deadline >= 0 && find_now_ms() >= deadline)
                return 1;
        } else {
            int signalled = loop_read_locked(c, left > 1 << 30 ? 1 << 30 : (int)left);
            if (p->state == PENDING_SENT && (signalled || (deadline >= 0 && find_now_ms() >= deadline)))
                return 1;
        }
    }
}

int kiln_wait(struct kiln_pending *p, int timeout_ms, struct kiln_error *e)
{
    int64_t deadline = timeout_ms < 0 ? -1 : find_now_ms() + timeout_ms;
    pthread_mutex_lock(&p->c->lock);
    int rc = wait_locked(p, deadline, e);
    loop_hand_over_locked(p->c);
    pthread_mutex_unlock(&p->c->lock);
    return rc;
}

void kiln_cancel(struct kiln_pending *p)
{
    struct kiln_connection *c = p->c;
    pthread_mutex_lock(&c->lock);
    bool sent = p->state == PENDING_SENT && p->on_list;
    loop_unlink_locked(p);
    p->cancelled = true;
    if (sent && c->fd >= 0 && !c->broken) {
        struct kiln_err err = KILN_ERR_INIT;
        struct msg_cancel m;
        struct buf out;
        MSG_INIT(MSG_CANCEL, &m);
        m.request = p->id;
        buf_init(&out, 4096);
        if (!msg_frame(&out, MSG_CANCEL, 0, ++c->last_id + 1, &m, &err))
            loop_write_locked(c, out.data, out.len, &err);
        buf_done(&out);
    }
    pthread_mutex_unlock(&c->lock);
}

void kiln_pending_free(struct kiln_pending *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->c->lock);
    bool on = p->on_list;
    pthread_mutex_unlock(&p->c->lock);
    if (on)
        kiln_cancel(p);
    drop_answer(p);
    arena_done(&p->arena);
    pthread_cond_destroy(&p->cond);
    free(p);
}

int pending_ask(struct kiln_pending *p, struct arena *a, void *ret, struct kiln_error *e)
{
    struct kiln_err err = KILN_ERR_INIT;
    int rc = pending_send(p, e);
    int64_t deadline = find_now_ms() + CONN_ANSWER_MS;
    while (!rc && (rc = kiln_wait(p, 1000, e)) > 0)
        rc = find_now_ms() < deadline ? 0 : client_error(e, KILN_E_TIMEOUT, 0, "the daemon does not answer");
    if (!rc && ret) {
        /* Parts that are bytes point into the answer, so it moves to the arena. */
        unsigned char *copy = (unsigned char *)arena_dup(a, p->answer, p->answer_len);
        rc = copy ? msg_decode(a, msg_desc(p->expect), copy, p->answer_len, ret, &err)
                  : kiln_err_set(&err, KILN_E_NOMEM, 0, "no memory for an answer");
        if (rc)
            rc = client_fail(e, &err);
    }
    return rc;
}

int kiln_take_artifact(struct kiln_pending *p, struct kiln_artifact **ret, struct kiln_error *e)
{
    struct kiln_err err = KILN_ERR_INIT;
    *ret = NULL;
    if (p->state != PENDING_DONE || p->answer_type != MSG_ARTIFACT || !p->answer)
        return client_error(e, KILN_E_INVALID, 0, "the request has no artifact to take");
    struct arena a;
    struct msg_artifact m;
    arena_init(&a, 1 << 20);
    int rc = msg_decode(&a, msg_desc(MSG_ARTIFACT), p->answer, p->answer_len, &m, &err);
    if (rc)
        rc = client_fail(e, &err);
    else if (m.key.len != KILN_KEY_BYTES)
        rc = client_error(e, KILN_E_WIRE_RANGE, 0, "the daemon sent a key of %u bytes", m.key.len);
    else if (m.has_fd ? p->answer_fd < 0 : m.blob.len != m.size)
        rc = client_error(e, KILN_E_WIRE_RANGE, 0, "the daemon sent an artifact without its bytes");
    if (!rc) {
        rc = artifact_new((const unsigned char *)m.key.p, p->answer_fd, m.has_fd ? NULL : m.blob.p,
                          m.blob.len, m.manifest.p, m.manifest.len, ret, e);
        p->answer_fd = -1;
    }
    if (!rc) {
        struct kiln_artifact *to = *ret;
        to->size = m.size;
        to->compile_us = m.compile_us;
        strncpy(to->source, span_str(m.source), sizeof to->source - 1);
    }
    arena_done(&a);
    drop_answer(p);
    return rc;
}
