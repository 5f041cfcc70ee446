/* SPDX-License-Identifier: Apache-2.0
 * admin.c - looking after the daemon: status, stats, list, show, purge, stop. */
#include <string.h>

#include "client/c/src/client.h"
#include "client/c/src/conn.h"
#include "client/c/src/result.h"
#include "proto/base/limits.h"

#define ANSWER_MEMORY (LIM_FRAME_BYTES * 4) /* a full frame, decoded */

/* Ask with what `p` holds; the answer's parts live in a result of `size` bytes, which is returned. */
static void *ask(struct kiln_pending *p, size_t size, void *answer, struct kiln_error *e)
{
    struct arena *a;
    void *result = result_new(size, ANSWER_MEMORY, &a);
    if (!result)
        client_error(e, KILN_E_NOMEM, 0, "no memory for an answer");
    else if (pending_ask(p, a, answer, e)) {
        kiln_result_free(result);
        result = NULL;
    }
    kiln_pending_free(p);
    return result;
}

static int no_memory(void *result, struct kiln_error *e)
{
    kiln_result_free(result);
    return client_error(e, KILN_E_NOMEM, 0, "no memory for an answer");
}

static int code_of(const struct kiln_error *e)
{
    return e ? -e->code : -KILN_E_INTERNAL;
}

/* Public functions take e NULL; here the code is needed in any case. */
#define WITH_ERROR(e)                                                                                        \
    struct kiln_error own_ = KILN_ERROR_INIT;                                                                \
    struct kiln_error *err = (e) ? (e) : &own_

int kiln_status(struct kiln_connection *c, struct kiln_state **ret, struct kiln_error *e)
{
    WITH_ERROR(e);
    struct kiln_pending *p;
    struct msg_state m;
    *ret = NULL;
    int rc = pending_new(c, MSG_STATUS, MSG_STATE, 0, &p, err);
    if (rc)
        return rc;
    struct kiln_state *s = ask(p, sizeof *s, &m, err);
    if (!s) {
        rc = code_of(err);
        kiln_error_clear(&own_);
        return rc;
    }
    struct kiln_worker *workers = arena_new_array(result_arena(s), m.n_workers + 1, struct kiln_worker);
    if (!workers)
        return no_memory(s, err);
    for (uint32_t i = 0; i < m.n_workers; i++)
        workers[i] = (struct kiln_worker){ .pid = (uint32_t)m.workers[i].pid,
                                           .state = span_str(m.workers[i].state),
                                           .jobs = m.workers[i].jobs,
                                           .rss = m.workers[i].rss };
    *s = (struct kiln_state){
        .pid = (uint32_t)m.pid,
        .version = span_str(m.version),
        .socket = span_str(m.socket),
        .cache_dir = span_str(m.cache_dir),
        .llvm = span_str(m.llvm),
        .notice = span_str(m.notice),
        .uptime_s = m.uptime_s,
        .connections = m.connections,
        .queued = m.queued,
        .queue_limit = m.queue_limit,
        .rss = m.rss,
        .draining = m.draining,
        .workers = workers,
        .n_workers = m.n_workers,
    };
    if (m.toolchain.len == sizeof s->toolchain)
        memcpy(s->toolchain, m.toolchain.p, sizeof s->toolchain);
    *ret = s;
    return 0;
}

int kiln_stats(struct kiln_connection *c, struct kiln_counters **ret, struct kiln_error *e)
{
    WITH_ERROR(e);
    struct kiln_pending *p;
    struct msg_counters m;
    *ret = NULL;
    int rc = pending_new(c, MSG_STATS, MSG_COUNTERS, 0, &p, err);
    if (rc)
        return rc;
    struct kiln_counters *s = ask(p, sizeof *s, &m, err);
    if (!s) {
        rc = code_of(err);
        kiln_error_clear(&own_);
        return rc;
    }
    struct kiln_counter *items = arena_new_array(result_arena(s), m.n_counters + 1, struct kiln_counter);
    if (!items)
        return no_memory(s, err);
    for (uint32_t i = 0; i < m.n_counters; i++)
        items[i] =
            (struct kiln_counter){ .name = span_str(m.counters[i].name), .value = m.counters[i].value };
    *s = (struct kiln_counters){ .items = items, .n = m.n_counters };
    *ret = s;
    return 0;
}

static struct kiln_row row_of(const struct msg_row *m)
{
    struct kiln_row r = {
        .entry = span_str(m->entry),
        .signature = span_str(m->signature),
        .target = span_str(m->target),
        .emit = span_str(m->emit),
        .bytes = m->bytes,
        .compile_us = m->compile_us,
        .created = m->created,
        .last_used = m->last_used,
        .hits = m->hits,
        .owner = (uint32_t)m->owner,
    };
    if (m->key.len == KILN_KEY_BYTES)
        memcpy(r.key, m->key.p, KILN_KEY_BYTES);
    return r;
}

int kiln_list(struct kiln_connection *c, const struct kiln_list *query, struct kiln_rows **ret,
              struct kiln_error *e)
{
    WITH_ERROR(e);
    struct kiln_pending *p;
    struct msg_rows m;
    *ret = NULL;
    int rc = pending_new(c, MSG_LIST, MSG_ROWS, 0, &p, err);
    if (rc)
        return rc;
    struct msg_list *q = p->message; /* its parts are the caller's, who waits */
    if (query) {
        q->entry = span_text(query->entry);
        q->target = span_text(query->target);
        q->limit = query->limit;
        if (query->after)
            q->after = span_of(query->after, KILN_KEY_BYTES);
    }
    struct kiln_rows *s = ask(p, sizeof *s, &m, err);
    if (!s) {
        rc = code_of(err);
        kiln_error_clear(&own_);
        return rc;
    }
    struct kiln_row *rows = arena_new_array(result_arena(s), m.n_rows + 1, struct kiln_row);
    if (!rows)
        return no_memory(s, err);
    for (uint32_t i = 0; i < m.n_rows; i++)
        rows[i] = row_of(&m.rows[i]);
    *s = (struct kiln_rows){ .items = rows, .n = m.n_rows, .more = m.more };
    *ret = s;
    return 0;
}

int kiln_show(struct kiln_connection *c, const unsigned char *key, size_t key_len, struct kiln_detail **ret,
              struct kiln_error *e)
{
    WITH_ERROR(e);
    struct kiln_pending *p;
    struct msg_detail m;
    *ret = NULL;
    int rc = pending_new(c, MSG_SHOW, MSG_DETAIL, 0, &p, err);
    if (rc)
        return rc;
    ((struct msg_show *)p->message)->key = span_of(key, key_len);
    struct kiln_detail *s = ask(p, sizeof *s, &m, err);
    if (!s) {
        rc = code_of(err);
        kiln_error_clear(&own_);
        return rc;
    }
    if (m.n_rows != 1) {
        kiln_result_free(s);
        return client_error(e, KILN_E_WIRE_COUNT, 0, "the daemon described %u entries", m.n_rows);
    }
    *s = (struct kiln_detail){ .row = row_of(&m.rows[0]),
                               .manifest = m.manifest.p,
                               .manifest_len = m.manifest.len,
                               .ir = m.ir.p,
                               .ir_len = m.ir.len,
                               .options = span_str(m.options) };
    if (m.ir_digest.len == KILN_DIGEST_BYTES)
        s->ir_digest = (const unsigned char *)m.ir_digest.p;
    if (m.toolchain.len == KILN_DIGEST_BYTES)
        s->toolchain = (const unsigned char *)m.toolchain.p;
    *ret = s;
    return 0;
}

int kiln_purge(struct kiln_connection *c, const struct kiln_purge *what, uint64_t *ret_entries,
               uint64_t *ret_bytes, struct kiln_error *e)
{
    struct kiln_pending *p;
    struct arena a;
    struct msg_purged m;
    int rc = pending_new(c, MSG_PURGE, MSG_PURGED, what->n_keys * sizeof(struct span), &p, e);
    if (rc)
        return rc;
    struct msg_purge *q = p->message;
    struct span *keys = arena_new_array(&p->arena, what->n_keys + 1, struct span);
    if (!keys) {
        kiln_pending_free(p);
        return client_error(e, KILN_E_NOMEM, 0, "no memory for a request");
    }
    for (uint32_t i = 0; i < what->n_keys; i++)
        keys[i] = span_of(what->keys[i], KILN_KEY_BYTES);
    q->keys = keys;
    q->n_keys = what->n_keys;
    q->entry = span_text(what->entry);
    q->all = what->all;
    q->unused_s = what->unused_s;
    q->dry_run = what->dry_run;
    arena_init(&a, 1 << 20);
    rc = pending_ask(p, &a, &m, e);
    if (!rc && ret_entries)
        *ret_entries = m.entries;
    if (!rc && ret_bytes)
        *ret_bytes = m.bytes;
    arena_done(&a);
    kiln_pending_free(p);
    return rc;
}

int kiln_stop(struct kiln_connection *c, bool now, struct kiln_error *e)
{
    struct kiln_pending *p;
    int rc = pending_new(c, MSG_STOP, MSG_OK, 0, &p, e);
    if (rc)
        return rc;
    ((struct msg_stop *)p->message)->now = now;
    p->tries = CONN_TRIES - 1; /* not again: a daemon that leaves before it has answered has been stopped */
    struct kiln_error own = KILN_ERROR_INIT;
    pthread_mutex_lock(&c->lock);
    bool no_start = c->options.no_start;
    c->options.no_start = true;
    pthread_mutex_unlock(&c->lock);
    rc = pending_ask(p, NULL, NULL, &own);
    pthread_mutex_lock(&c->lock);
    c->options.no_start = no_start;
    pthread_mutex_unlock(&c->lock);
    kiln_pending_free(p);
    if (rc == -KILN_E_CLOSED) {
        kiln_error_clear(&own);
        return 0;
    }
    if (rc && e) {
        kiln_error_clear(e);
        *e = own;
    } else {
        kiln_error_clear(&own);
    }
    return rc;
}
