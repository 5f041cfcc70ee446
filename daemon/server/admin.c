/* SPDX-License-Identifier: Apache-2.0
 * admin.c - questions of people and their tools: status, counters, rows, details, purge, stop. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/server/server.h"

bool is_administrator(const struct session *x)
{
    return x->uid == 0 || x->uid == geteuid();
}

struct pending *pending_new(struct session *x, uint64_t id)
{
    struct pending *p = calloc(1, sizeof *p);

    if (p) {
        p->session = session_ref(x);
        p->id = id;
    }
    return p;
}

void pending_free(struct pending *p)
{
    session_unref(p->session);
    free(p);
}

/* A pending question, or an answer that there is no memory for it. */
static struct pending *ask(struct session *x, uint64_t id)
{
    struct pending *p = pending_new(x, id);

    if (!p)
        session_error(x, id, KILN_E_NOMEM, "out of memory");
    return p;
}

static void asked(struct pending *p, int r, const struct kiln_err *e)
{
    if (r == 0)
        return; /* the callback answers */
    session_fail(p->session, p->id, e);
    pending_free(p);
}

/* ---- status and stats ---- */

static uint64_t resident(void)
{
    unsigned long long pages = 0, all;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f && fscanf(f, "%llu %llu", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void on_status(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    struct server *s = x->server;
    struct msg_worker workers[256];
    struct cache_stats cs;
    struct msg_state m;

    (void)msg;
    (void)frame;
    cache_stats(s->cache, &cs);
    MSG_INIT(MSG_STATE, &m);
    m.pid = (uint64_t)getpid();
    m.version = span_text(KILN_VERSION);
    m.uptime_s = (uv_now(&s->loop) - s->started_ms) / 1000;
    m.socket = span_text(s->settings.socket);
    m.cache_dir = span_text(cs.on_disk ? s->settings.cache_dir : "");
    m.draining = s->draining;
    m.connections = s->n_sessions;
    m.queued = s->n_queued;
    m.queue_limit = s->settings.queue;
    m.rss = resident();
    m.toolchain = span_of(s->toolchain, sizeof s->toolchain);
    m.llvm = span_text(s->llvm);
    m.workers = workers;
    m.n_workers = pool_describe(s, workers, 256);
    m.notice = span_text(cache_notice(s->cache));
    session_send(x, MSG_STATE, id, &m);
}

void on_stats(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    struct server *s = x->server;
    struct msg_counter list[64];
    struct msg_counters m;
    struct cache_stats cs;
    uint64_t seconds_saved = s->stats.saved_us / 1000000, uptime_s = (uv_now(&s->loop) - s->started_ms) / 1000;
    uint64_t queued = s->n_queued;
    uint32_t n = 0;

    (void)msg;
    (void)frame;
    cache_stats(s->cache, &cs);
    const uint64_t entries = cs.entries, bytes = cs.bytes, memory_entries = cs.memory_entries, memory_bytes = cs.memory_bytes,
                   evictions = cs.evictions, damaged = cs.damaged;
#define X(counter, meaning) list[n++] = (struct msg_counter){ .name = span_text(#counter), .value = s->stats.counter };
#define G(counter, meaning) list[n++] = (struct msg_counter){ .name = span_text(#counter), .value = counter };
#include "daemon/server/stats.def"
#undef X
#undef G
    MSG_INIT(MSG_COUNTERS, &m);
    m.counters = list;
    m.n_counters = n;
    session_send(x, MSG_COUNTERS, id, &m);
}

/* ---- rows ---- */

static struct msg_row row_of(const struct cache_row *r)
{
    return (struct msg_row){ .key = span_of(r->key, HASH_BYTES), .entry = span_text(r->entry), .signature = span_text(r->signature),
                             .target = span_text(r->target), .emit = span_text(*r->emit ? r->emit : "so"), .bytes = r->bytes,
                             .compile_us = r->compile_us, .created = r->created, .last_used = r->last_used, .hits = r->hits,
                             .owner = r->owner };
}

static void listed(void *ctx, const struct cache_row *rows, uint32_t n, bool more, const struct kiln_err *e)
{
    struct pending *p = ctx;
    struct msg_row *out = calloc(n ? n : 1, sizeof *out);
    struct msg_rows m;

    if (e || !out) {
        session_error(p->session, p->id, e ? (enum kiln_code)e->code : KILN_E_NOMEM, "%s", e ? e->msg : "out of memory");
    } else {
        MSG_INIT(MSG_ROWS, &m);
        for (uint32_t i = 0; i < n; i++)
            out[i] = row_of(&rows[i]);
        m.rows = out;
        m.n_rows = n;
        m.more = more;
        session_send(p->session, MSG_ROWS, p->id, &m);
    }
    free(out);
    pending_free(p);
}

void on_list(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    const struct msg_list *m = msg;
    struct cache_list_query q = { .entry = span_str(m->entry), .target = span_str(m->target), .owner = -1,
                                  .limit = m->limit > LIM_LIST_ROWS ? (uint32_t)LIM_LIST_ROWS : (uint32_t)m->limit,
                                  .restricted_to = !is_administrator(x), .viewer = (uint32_t)x->uid };
    struct kiln_err e = KILN_ERR_INIT;
    struct pending *p;

    (void)frame;
    if (m->after.len && m->after.len != HASH_BYTES) {
        session_error(x, id, KILN_E_INVALID, "'after' is a whole key");
        return;
    }
    q.after = m->after.len ? (const unsigned char *)m->after.p : NULL;
    p = ask(x, id);
    if (p)
        asked(p, cache_list(x->server->cache, &q, listed, p, &e), &e);
}

static void shown(void *ctx, const struct cache_detail *d, const struct kiln_err *e)
{
    struct pending *p = ctx;
    struct session *x = p->session;
    bool mine = d && (d->row.owner == x->uid || is_administrator(x));

    if (e) {
        session_fail(x, p->id, e);
    } else if (d->row.restricted && !mine) {
        session_error(x, p->id, KILN_E_NOTFOUND, "no key begins so");
    } else {
        struct msg_row row = row_of(&d->row);
        struct msg_detail m;
        MSG_INIT(MSG_DETAIL, &m);
        m.rows = &row;
        m.n_rows = 1;
        m.manifest = span_of(d->manifest, d->manifest_len);
        m.ir_digest = span_of(d->ir_digest, HASH_BYTES);
        m.options = span_text(d->options);
        m.toolchain = span_of(d->toolchain, d->toolchain_len);
        if (mine)
            m.ir = span_of(d->ir, d->ir_len);
        session_send(x, MSG_DETAIL, p->id, &m);
    }
    pending_free(p);
}

void on_show(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    const struct msg_show *m = msg;
    struct kiln_err e = KILN_ERR_INIT;
    struct pending *p;

    (void)frame;
    if (m->key.len < 4 || m->key.len > HASH_BYTES) {
        session_error(x, id, KILN_E_INVALID, "a key, or its first 4 bytes at least");
        return;
    }
    p = ask(x, id);
    if (p)
        asked(p, cache_show(x->server->cache, (const unsigned char *)m->key.p, m->key.len, shown, p, &e), &e);
}

/* ---- purge, stop ---- */

static void purged(void *ctx, uint64_t entries, uint64_t bytes, const struct kiln_err *e)
{
    struct pending *p = ctx;
    struct msg_purged m;

    if (e) {
        session_fail(p->session, p->id, e);
    } else {
        MSG_INIT(MSG_PURGED, &m);
        m.entries = entries;
        m.bytes = bytes;
        session_send(p->session, MSG_PURGED, p->id, &m);
        log_event(LOG_INFO, "purged", log_u("entries", entries), log_u("bytes", bytes), log_u("uid", p->session->uid));
    }
    pending_free(p);
}

void on_purge(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    const struct msg_purge *m = msg;
    struct cache_purge_query q = { .entry = m->entry.len ? span_str(m->entry) : NULL, .all = m->all, .dry_run = m->dry_run,
                                   .unused_s = m->unused_s, .n_keys = m->n_keys, .owner = is_administrator(x) ? -1 : (int64_t)x->uid };
    struct kiln_err e = KILN_ERR_INIT;
    unsigned char *keys = malloc((size_t)m->n_keys * HASH_BYTES + 1);
    struct pending *p;

    (void)frame;
    if (!keys) {
        session_error(x, id, KILN_E_NOMEM, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < m->n_keys; i++) {
        if (m->keys[i].len != HASH_BYTES) {
            session_error(x, id, KILN_E_INVALID, "a key has %d bytes, not %u", HASH_BYTES, m->keys[i].len);
            free(keys);
            return;
        }
        memcpy(keys + (size_t)i * HASH_BYTES, m->keys[i].p, HASH_BYTES);
    }
    q.keys = keys;
    p = ask(x, id);
    if (p)
        asked(p, cache_purge(x->server->cache, &q, purged, p, &e), &e);
    free(keys);
}

void on_stop(struct session *x, uint64_t id, const void *msg, const struct frame *frame)
{
    const struct msg_stop *m = msg;
    struct msg_ok ok;

    (void)frame;
    if (!is_administrator(x)) {
        session_error(x, id, KILN_E_DENIED, "only the daemon's user and root may stop it");
        return;
    }
    MSG_INIT(MSG_OK, &ok);
    session_send(x, MSG_OK, id, &ok);
    life_drain(x->server, m->now);
}
