/* SPDX-License-Identifier: Apache-2.0
 * flight.c - single flight: one compile a key, however many ask.
 *
 *   LOOKUP -> (hit) answered
 *   LOOKUP -> QUEUED -> RUNNING -> answered
 *
 * A waiter that leaves cancels only itself. A queued flight without waiters is dropped; a running one goes on,
 * its result is stored for the next. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/server/server.h"

static struct flight **bucket(struct server *s, const unsigned char key[HASH_BYTES])
{
    return &s->flights[(key[0] | (unsigned)key[1] << 8) % (sizeof s->flights / sizeof s->flights[0])];
}

struct flight *flight_find(struct server *s, const unsigned char key[HASH_BYTES])
{
    for (struct flight *f = *bucket(s, key); f; f = f->next)
        if (memcmp(f->key, key, HASH_BYTES) == 0)
            return f;
    return NULL;
}

/* ---- the copied request ---- */

static struct span copy_span(struct arena *a, struct span s, bool *ok)
{
    const char *p = arena_dup(a, s.p, s.len);

    *ok &= p != NULL;
    return (struct span){ p, p ? s.len : 0 };
}

static const char *copy_text(struct arena *a, const char *s, bool *ok)
{
    const char *p = arena_dup(a, s ? s : "", s ? strlen(s) : 0);

    *ok &= p != NULL;
    return p;
}

static bool copy_request(struct flight *f, const struct msg_compile *m, const struct key_parts *parts)
{
    struct arena *a = &f->arena;
    struct msg_compile *r = arena_new(a, struct msg_compile);
    struct span *env = arena_new_array(a, m->n_env + 1, struct span);
    const char **texts = arena_new_array(a, m->n_env + 1, const char *);
    bool ok = r && env && texts;

    if (!ok)
        return false;
    *r = *m;
    r->kind = copy_span(a, m->kind, &ok);
    r->signature = span_text(copy_text(a, parts->signature, &ok));
    r->entry = copy_span(a, m->entry, &ok);
    r->target = span_text(copy_text(a, parts->target, &ok));
    r->emit = copy_span(a, m->emit, &ok);
    r->semantics = copy_span(a, m->semantics, &ok);
    r->symbol = copy_span(a, m->symbol, &ok);
    r->positions = copy_span(a, m->positions, &ok);
    r->digest = (struct span){ NULL, 0 };
    r->body = (struct span){ NULL, 0 };
    for (uint32_t i = 0; i < m->n_env; i++) {
        env[i] = copy_span(a, m->env[i], &ok);
        texts[i] = env[i].p;
    }
    r->env = env;
    f->request = r;
    f->parts = *parts;
    f->parts.kind = r->kind.p;
    f->parts.signature = r->signature.p;
    f->parts.env = texts;
    f->parts.entry = r->entry.p;
    f->parts.target = r->target.p;
    f->parts.emit = r->emit.p;
    f->parts.semantics = r->semantics.p;
    f->parts.symbol = r->symbol.p;
    f->parts.positions = r->positions.p;
    return ok;
}

bool flight_give_body(struct server *s, struct flight *f, const struct msg_compile *m)
{
    if (f->body || !m->body.len)
        return true;
    f->body = malloc(m->body.len);
    if (!f->body)
        return false;
    s->held += m->body.len;
    memcpy(f->body, m->body.p, m->body.len);
    f->request->body = span_of(f->body, m->body.len);
    return true;
}

struct flight *flight_new(struct server *s, const unsigned char key[HASH_BYTES], const struct msg_compile *m,
                          const struct key_parts *parts)
{
    struct flight *f = calloc(1, sizeof *f), **at = bucket(s, key);

    if (!f)
        return NULL;
    arena_init(&f->arena, (size_t)LIM_MSG_ARENA);
    memcpy(f->key, key, HASH_BYTES);
    if (!copy_request(f, m, parts) || !flight_give_body(s, f, m)) {
        arena_done(&f->arena);
        free(f->body);
        free(f);
        return NULL;
    }
    f->next = *at;
    *at = f;
    s->n_flights++;
    return f;
}

static void unqueue(struct server *s, struct flight *f)
{
    if (f->state != FLIGHT_QUEUED)
        return;
    *(f->queue_prev ? &f->queue_prev->queue_next : &s->queue_first) = f->queue_next;
    *(f->queue_next ? &f->queue_next->queue_prev : &s->queue_last) = f->queue_prev;
    s->n_queued--;
}

static void flight_free(struct server *s, struct flight *f)
{
    struct flight **at = bucket(s, f->key);

    unqueue(s, f);
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    s->n_flights--;
    s->held -= f->request->body.len;
    arena_done(&f->arena);
    free(f->body);
    free(f);
}

/* ---- waiters ---- */

bool flight_join(struct server *s, struct flight *f, struct session *x, uint64_t id, const struct msg_compile *m, bool joined)
{
    struct waiter *w = calloc(1, sizeof *w), **at = &f->waiters;

    if (!w)
        return false;
    w->session = session_ref(x);
    w->id = id;
    w->want_inline = m->want_inline;
    w->joined = joined;
    /* the server's own deadline begins with the compile, in flights_tick */
    w->deadline_ms = m->deadline_ms ? uv_now(&s->loop) + m->deadline_ms : UINT64_MAX;
    x->inflight++;
    while (*at)
        at = &(*at)->next;
    *at = w;
    if (joined && f->state != FLIGHT_LOOKUP) {
        s->stats.misses++;
        s->stats.coalesced++;
    }
    return true;
}

static void waiter_free(struct waiter *w)
{
    w->session->inflight--;
    session_unref(w->session);
    free(w);
}

/* Take the list away first: answering may close sessions, which look for their waiters. */
static struct waiter *take_waiters(struct flight *f)
{
    struct waiter *w = f->waiters;

    f->waiters = NULL;
    return w;
}

void flight_succeed(struct server *s, struct flight *f, struct cache_artifact *a, const char *source)
{
    struct waiter *w = take_waiters(f), *next;

    flight_free(s, f);
    for (; w; w = next) {
        next = w->next;
        session_artifact(w->session, w->id, a, w->joined && strcmp(source, "compiled") == 0 ? "joined" : source, w->want_inline);
        waiter_free(w);
    }
}

void flight_fail(struct server *s, struct flight *f, const struct msg_error *m)
{
    struct waiter *w = take_waiters(f), *next;

    flight_free(s, f);
    for (; w; w = next) {
        next = w->next;
        session_send(w->session, MSG_ERROR, w->id, m);
        waiter_free(w);
    }
}

void flight_fail_with(struct server *s, struct flight *f, enum kiln_code code, const char *fmt, ...)
{
    struct msg_error m;
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    MSG_INIT(MSG_ERROR, &m);
    m.code = code;
    m.message = span_text(text);
    m.retry_ms = code == KILN_E_BUSY ? 200 : 0;
    flight_fail(s, f, &m);
}

void flight_queue(struct server *s, struct flight *f)
{
    for (const struct waiter *w = f->waiters; w; w = w->next) {
        s->stats.misses++;
        s->stats.coalesced += w->joined;
    }
    if (!f->waiters) {
        flight_free(s, f);
        return;
    }
    if (s->n_queued >= s->settings.queue) {
        s->stats.busy++;
        flight_fail_with(s, f, KILN_E_BUSY, "%llu compiles are waiting already", (unsigned long long)s->n_queued);
        return;
    }
    f->state = FLIGHT_QUEUED;
    f->queue_prev = s->queue_last;
    f->queue_next = NULL;
    *(s->queue_last ? &s->queue_last->queue_next : &s->queue_first) = f;
    s->queue_last = f;
    s->n_queued++;
    pool_feed(s);
}

void flight_requeue(struct server *s, struct flight *f)
{
    f->state = FLIGHT_QUEUED;
    f->queue_prev = NULL;
    f->queue_next = s->queue_first;
    *(s->queue_first ? &s->queue_first->queue_prev : &s->queue_last) = f;
    s->queue_first = f;
    s->n_queued++;
}

/* ---- leaving and deadlines ---- */

/* Take out the waiters that match. Returns whether the flight is gone. */
static bool forget_in(struct server *s, struct flight *f, const struct session *x, uint64_t id, bool all)
{
    struct waiter **at = &f->waiters;

    while (*at) {
        struct waiter *w = *at;
        if (w->session != x || (!all && w->id != id)) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        s->stats.cancelled++;
        if (!all)
            session_error(w->session, w->id, KILN_E_CANCELLED, "cancelled");
        waiter_free(w);
    }
    if (f->waiters || f->state == FLIGHT_RUNNING || f->state == FLIGHT_LOOKUP)
        return false;
    flight_free(s, f);
    return true;
}

void flights_forget(struct server *s, struct session *x, uint64_t id, bool all)
{
    if (!x->inflight)
        return;
    for (size_t i = 0; i < sizeof s->flights / sizeof s->flights[0]; i++)
        for (struct flight *f = s->flights[i], *next; f; f = next) {
            next = f->next;
            forget_in(s, f, x, id, all);
        }
}

static void expire(struct server *s, struct flight *f, uint64_t now_ms)
{
    struct waiter **at = &f->waiters;
    bool expired = false;

    while (*at) {
        struct waiter *w = *at;
        if (w->deadline_ms > now_ms) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        expired = true;
        s->stats.timeouts++;
        session_error(w->session, w->id, KILN_E_TIMEOUT, f->state == FLIGHT_RUNNING ? "the compile did not end before the request's deadline"
                                                                                  : "the compile did not begin before the request's deadline");
        waiter_free(w);
    }
    if (f->waiters)
        return;
    if (f->state == FLIGHT_RUNNING && expired)
        pool_kill(s, f, KILN_E_WORKER_TIME, "nobody waits any more");
    else if (f->state == FLIGHT_QUEUED)
        flight_free(s, f);
}

void flights_tick(struct server *s, uint64_t now_ms)
{
    uint64_t most = s->settings.deadline * 1000;

    if (!s->n_flights)
        return;
    for (size_t i = 0; i < sizeof s->flights / sizeof s->flights[0]; i++)
        for (struct flight *f = s->flights[i], *next; f; f = next) {
            next = f->next;
            if (f->state == FLIGHT_RUNNING && now_ms - f->began_ms > most) {
                char why[100];
                s->stats.timeouts++;
                snprintf(why, sizeof why, "the compile took longer than %llu s and was stopped", (unsigned long long)s->settings.deadline);
                pool_kill(s, f, KILN_E_WORKER_TIME, why);
            } else {
                expire(s, f, now_ms);
            }
        }
}
