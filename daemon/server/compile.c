/* SPDX-License-Identifier: Apache-2.0
 * compile.c - requests for code: the key, the tiers, and joining what is under way. */
#include <stdlib.h>

#include "daemon/server/server.h"
#include "proto/ir/type.h"

#define BODY_LARGE (1u << 20) /* smaller ones are taken whatever others hold: the queue is limited too */

/* The signature in its canonical spelling, so that spellings share an entry. In a; NULL with *e. */
static const char *canonical_signature(struct arena *a, struct span text, struct kiln_err *e)
{
    struct type_table *types = type_table_new(a);
    struct signature sig;
    struct buf out;
    const char *s = NULL;

    if (!types) {
        kiln_err_set(e, KILN_E_NOMEM, 0, "types");
        return NULL;
    }
    if (signature_parse(types, span_str(text), text.len, &sig, e) < 0)
        return NULL;
    buf_init(&out, 1 << 16);
    signature_print(&out, &sig);
    if (buf_ok(&out))
        s = arena_dup(a, out.data, out.len);
    buf_done(&out);
    if (!s)
        kiln_err_set(e, KILN_E_LIMIT, 0, "the signature is too long");
    return s;
}

/* What the key is made of. The digest is computed from the body whenever there is one. */
static int parts_of(struct session *x, struct arena *a, const struct msg_compile *m, struct key_parts *p, struct kiln_err *e)
{
    struct server *s = x->server;
    const char **env = arena_new_array(a, m->n_env + 1, const char *);

    memset(p, 0, sizeof *p);
    if (!env)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "environment of %u slots", m->n_env);
    if (m->body.len)
        hash_once(m->body.p, m->body.len, p->ir);
    if (m->digest.len && m->digest.len != HASH_BYTES)
        return kiln_err_set(e, KILN_E_DIGEST, 0, "a digest has %d bytes, not %u", HASH_BYTES, m->digest.len);
    if (m->body.len && m->digest.len && memcmp(m->digest.p, p->ir, HASH_BYTES) != 0)
        return kiln_err_set(e, KILN_E_DIGEST, 0, "the digest is not that of the body");
    if (!m->body.len && !m->digest.len)
        return kiln_err_set(e, KILN_E_INVALID, 0, "neither a body nor its digest");
    if (!m->body.len)
        memcpy(p->ir, m->digest.p, HASH_BYTES);
    p->signature = canonical_signature(a, m->signature, e);
    if (!p->signature)
        return -e->code;
    for (uint32_t i = 0; i < m->n_env; i++)
        env[i] = span_str(m->env[i]);
    p->kind = span_str(m->kind);
    p->env = env;
    p->n_env = m->n_env;
    p->entry = span_str(m->entry);
    p->target = m->target.len ? span_str(m->target) : s->baseline;
    p->emit = span_str(m->emit);
    p->flags = m->flags;
    p->semantics = span_str(m->semantics);
    p->checked = m->checked;
    p->debug = m->debug;
    p->nocontract = m->nocontract;
    p->symbol = span_str(m->symbol);
    p->positions = m->positions.p;
    p->positions_len = m->positions.len;
    p->toolchain = s->toolchain;
    p->toolchain_len = sizeof s->toolchain;
    p->is_private = m->is_private;
    p->owner = (uint32_t)x->uid;
    return 0;
}

static void count_hit(struct server *s, const struct cache_artifact *a, bool from_memory)
{
    if (from_memory)
        s->stats.hits_memory++;
    else
        s->stats.hits_disk++;
    s->stats.saved_us += a->compile_us;
}

/* ---- compile ---- */

struct lookup { /* a flight that waits for the database */
    struct server *server;
    unsigned char key[HASH_BYTES];
};

static void drop_bodiless(struct server *s, struct flight *f)
{
    flight_fail_with(s, f, KILN_E_NEED_BODY, "the entry is not here: send the body");
}

static void looked_up(void *ctx, struct cache_artifact *a, const char *source)
{
    struct lookup *l = ctx;
    struct server *s = l->server;
    struct flight *f = flight_find(s, l->key);

    free(l);
    if (!f || f->state != FLIGHT_LOOKUP)
        return;
    if (a) {
        for (const struct waiter *w = f->waiters; w; w = w->next)
            count_hit(s, a, strcmp(source, "memory") == 0);
        flight_succeed(s, f, a, source);
    } else if (!f->body) {
        drop_bodiless(s, f);
    } else {
        flight_queue(s, f);
    }
}

static void begin(struct session *x, uint64_t id, const struct msg_compile *m, const struct key_parts *p,
                  const unsigned char key[HASH_BYTES])
{
    struct server *s = x->server;
    struct kiln_err e = KILN_ERR_INIT;
    struct flight *f = flight_new(s, key, m, p);
    struct lookup *l = malloc(sizeof *l);

    if (!f || !l || !flight_join(s, f, x, id, m, false)) {
        free(l);
        session_error(x, id, KILN_E_NOMEM, "out of memory");
        if (f)
            flight_fail_with(s, f, KILN_E_NOMEM, "out of memory");
        return;
    }
    l->server = s;
    memcpy(l->key, key, sizeof l->key);
    if (cache_get(s->cache, key, looked_up, l, &e) < 0) {
        free(l);
        flight_fail_with(s, f, (enum kiln_code)e.code, "%s", e.msg);
    }
}

void on_compile(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    const struct msg_compile *m = msg;
    struct server *s = x->server;
    struct kiln_err e = KILN_ERR_INIT;
    unsigned char key[HASH_BYTES];
    struct cache_artifact *a;
    struct key_parts p;
    struct flight *f;
    struct arena arena;

    (void)frame;
    arena_init(&arena, 1 << 22);
    if (parts_of(x, &arena, m, &p, &e) < 0) {
        session_fail(x, id, &e);
        goto out;
    }
    key_compute(&p, key);
    a = cache_memory_get(s->cache, key);
    if (a) {
        count_hit(s, a, true);
        session_artifact(x, id, a, "memory", m->want_inline);
        cache_artifact_unref(a);
        goto out;
    }
    if (x->inflight >= LIM_INFLIGHT) {
        session_error(x, id, KILN_E_BUSY, "%u requests of this connection are in flight", x->inflight);
        goto out;
    }
    if (m->body.len > BODY_LARGE && s->held > s->settings.request_memory) {
        session_error(x, id, KILN_E_BUSY, "the server holds as many requests as it may");
        goto out;
    }
    f = flight_find(s, key);
    if (!f) {
        begin(x, id, m, &p, key);
    } else if (f->state == FLIGHT_LOOKUP && !flight_give_body(s, f, m)) {
        session_error(x, id, KILN_E_NOMEM, "out of memory");
    } else if (!flight_join(s, f, x, id, m, true)) {
        session_error(x, id, KILN_E_NOMEM, "out of memory");
    }
out:
    arena_done(&arena);
}

/* ---- lookup ---- */

struct many {
    struct pending pending;
    uint32_t n;
    unsigned char keys[];
};

static void known(void *ctx, const struct cache_known *known, uint32_t n)
{
    struct many *q = ctx;
    struct msg_hit *hits = calloc(n ? n : 1, sizeof *hits);
    struct msg_found m;

    MSG_INIT(MSG_FOUND, &m);
    for (uint32_t i = 0; hits && i < n; i++)
        hits[i] = (struct msg_hit){ .known = known[i].known, .key = span_of(q->keys + i * HASH_BYTES, HASH_BYTES),
                                    .size = known[i].size };
    m.hits = hits;
    m.n_hits = hits ? n : 0;
    session_send(q->pending.session, MSG_FOUND, q->pending.id, &m);
    free(hits);
    session_unref(q->pending.session);
    free(q);
}

void on_lookup(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    const struct msg_lookup *m = msg;
    struct kiln_err e = KILN_ERR_INIT;
    struct key_parts p;
    struct many *q;
    struct arena arena;

    (void)frame;
    if (m->n_queries > LIM_LOOKUP_QUERIES) {
        session_error(x, id, KILN_E_LIMIT, "%u queries; the limit is %llu", m->n_queries, (unsigned long long)LIM_LOOKUP_QUERIES);
        return;
    }
    q = malloc(sizeof *q + (size_t)m->n_queries * HASH_BYTES);
    if (!q) {
        session_error(x, id, KILN_E_NOMEM, "out of memory");
        return;
    }
    q->n = m->n_queries;
    arena_init(&arena, 1 << 24);
    for (uint32_t i = 0; i < q->n; i++) {
        if (parts_of(x, &arena, &m->queries[i], &p, &e) < 0) {
            kiln_err_wrap(&e, "query %u", i);
            session_fail(x, id, &e);
            goto out;
        }
        key_compute(&p, q->keys + i * HASH_BYTES);
    }
    q->pending.session = session_ref(x);
    q->pending.id = id;
    if (cache_known(x->server->cache, q->keys, q->n, known, q, &e) == 0) {
        q = NULL;
    } else {
        session_fail(x, id, &e);
        session_unref(x);
    }
out:
    free(q);
    arena_done(&arena);
}

/* ---- get, cancel ---- */

static void got(void *ctx, struct cache_artifact *a, const char *source)
{
    struct pending *p = ctx;
    struct session *x = p->session;

    if (!a || (a->restricted && a->owner != x->uid && !is_administrator(x))) {
        session_error(x, p->id, KILN_E_NOTFOUND, "there is no entry of this key");
    } else {
        count_hit(x->server, a, strcmp(source, "memory") == 0);
        session_artifact(x, p->id, a, source, p->want_inline);
    }
    pending_free(p);
}

void on_get(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    const struct msg_get *m = msg;
    struct kiln_err e = KILN_ERR_INIT;
    struct pending *p;

    (void)frame;
    if (m->key.len != HASH_BYTES) {
        session_error(x, id, KILN_E_INVALID, "a key has %d bytes, not %u", HASH_BYTES, m->key.len);
        return;
    }
    p = pending_new(x, id);
    if (!p) {
        session_error(x, id, KILN_E_NOMEM, "out of memory");
        return;
    }
    p->want_inline = m->want_inline;
    if (cache_get(x->server->cache, (const unsigned char *)m->key.p, got, p, &e) < 0) {
        session_fail(x, id, &e);
        pending_free(p);
    }
}

void on_cancel(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    const struct msg_cancel *m = msg;
    struct msg_ok ok;

    (void)frame;
    flights_forget(x->server, x, m->request, false);
    MSG_INIT(MSG_OK, &ok);
    session_send(x, MSG_OK, id, &ok);
}

/* The one message that has no answer of its own, unless it answers nothing that was asked. */
void on_resolved(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    (void)frame;
    if (!pool_answered(x->server, x, msg))
        session_error(x, id, KILN_E_NOTFOUND, "nobody asked this client that");
}
