/* SPDX-License-Identifier: Apache-2.0
 * cache.c - the owner's side: opening, polling, and get, known and put. */
#include "cache/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache/private.h"
#include "proto/base/limits.h"

static uint64_t system_now(void *ctx)
{
    (void)ctx;
    return (uint64_t)time(NULL);
}

/* ---- open and close ---- */
static void memory_only(struct cache *c, const char *why)
{
    struct kiln_err ignored;

    free(c->path);
    c->path = NULL;
    if (c->lock_fd >= 0)
        close(c->lock_fd);
    c->lock_fd = -1;
    db_close(&c->write_db);
    db_close(&c->read_db);
    if (c->max_bytes > LIM_MEMORY_ONLY_BYTES)
        c->max_bytes = LIM_MEMORY_ONLY_BYTES;
    if (why)
        snprintf(c->notice, sizeof c->notice, "%s: artifacts are kept in memory only", why);
    db_open(&c->write_db, ":memory:", true, &ignored); /* closed on failure: L0 alone remains */
}

/* The file, or after setting a bad one aside a new file. */
static int open_files(struct cache *c, struct kiln_err *e)
{
    int r = db_open(&c->write_db, c->path, true, e);
    uint64_t entries, bytes;

    if (r == 0)
        r = db_totals(&c->write_db, &entries, &bytes, e);
    if (r < 0 && c->write_db.corrupt) {
        db_close(&c->write_db);
        atomic_fetch_add(&c->damaged, 1);
        atomic_fetch_add(&c->rebuilds, 1);
        r = db_set_aside(c->path, e);
        if (r == 0)
            r = db_open(&c->write_db, c->path, true, e);
    }
    return r < 0 ? r : db_open(&c->read_db, c->path, false, e);
}

/* 0 also when only memory is left. */
static int open_store(struct cache *c, const char *dir, struct kiln_err *e)
{
    char *resolved = NULL;
    int r;

    if (!dir || !*dir) {
        memory_only(c, NULL);
        return 0;
    }
    r = dir_prepare(dir, &resolved, &c->lock_fd, e);
    if (r == -KILN_E_EXISTS || r == -KILN_E_NOMEM)
        return r;
    if (r == 0 && asprintf(&c->path, "%s/store.db", resolved) < 0) {
        c->path = NULL;
        r = kiln_err_set(e, KILN_E_NOMEM, 0, "the cache");
    }
    free(resolved);
    if (r == 0)
        r = open_files(c, e);
    cache_know_file(c);
    if (r == -KILN_E_NOMEM)
        return r;
    if (r < 0)
        memory_only(c, e->msg);
    return 0;
}

static void cache_free(struct cache *c)
{
    db_close(&c->read_db);
    db_close(&c->write_db); /* checkpoints the log */
    memory_done(&c->memory);
    if (c->lock_fd >= 0)
        close(c->lock_fd);
    free(c->touches);
    free(c->path);
    free(c);
}

int cache_open(const struct cache_options *o, struct cache **ret, struct kiln_err *e)
{
    struct cache *c = calloc(1, sizeof *c);
    int r;

    if (!c)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "the cache");
    c->lock_fd = -1;
    c->wake = o->wake;
    c->ctx = o->ctx;
    c->now = o->now ? o->now : system_now;
    c->max_bytes = o->max_bytes ? o->max_bytes : LIM_CACHE_BYTES;
    c->touch_epoch = 1;
    r = memory_init(&c->memory, o->max_artifacts ? o->max_artifacts : LIM_MEMORY_ARTIFACTS,
                    o->max_memory ? o->max_memory : LIM_MEMORY_BYTES, e);
    if (r == 0) {
        c->touches = calloc(2 * TOUCHES, sizeof *c->touches);
        if (!c->touches)
            r = kiln_err_set(e, KILN_E_NOMEM, 0, "the cache");
    }
    if (r == 0)
        r = open_store(c, o->dir, e);
    if (r < 0) {
        cache_free(c);
        return r;
    }
    r = threads_start(c, e);
    if (r < 0) {
        threads_stop(c);
        cache_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

void cache_close(struct cache *c)
{
    if (!c)
        return;
    atomic_store(&c->closing, true);
    threads_stop(c);
    cache_free(c);
}

void cache_poll(struct cache *c)
{
    struct request *r;

    pthread_mutex_lock(&c->done_lock);
    r = c->done;
    c->done = NULL;
    c->done_tail = &c->done;
    pthread_mutex_unlock(&c->done_lock);
    while (r) {
        struct request *next = r->next;
        atomic_fetch_sub(&c->queued, 1);
        r->finish(r);
        r = next;
    }
}

static void wait_idle(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->started && (q->head || q->busy))
        pthread_cond_wait(&q->idle, &q->lock);
    pthread_mutex_unlock(&q->lock);
}

void cache_flush(struct cache *c)
{
    wait_idle(&c->reader); /* first: it may leave the writer a damaged row */
    wait_idle(&c->writer);
}

const char *cache_notice(struct cache *c)
{
    pthread_mutex_lock(&c->notice_lock);
    snprintf(c->notice_out, sizeof c->notice_out, "%s", *c->notice ? c->notice : c->write_notice);
    pthread_mutex_unlock(&c->notice_lock);
    return c->notice_out;
}

void cache_stats(struct cache *c, struct cache_stats *ret)
{
    *ret = (struct cache_stats){
        .entries = atomic_load(&c->entries),
        .bytes = atomic_load(&c->bytes),
        .memory_entries = c->memory.n,
        .memory_bytes = c->memory.bytes,
        .evictions = atomic_load(&c->evictions),
        .damaged = atomic_load(&c->damaged),
        .write_errors = atomic_load(&c->write_errors),
        .rebuilds = atomic_load(&c->rebuilds),
        .queued = atomic_load(&c->queued),
        .on_disk = c->path != NULL,
    };
}

/* ---- get ---- */
struct cache_artifact *cache_memory_get(struct cache *c, const unsigned char key[HASH_BYTES])
{
    struct memory_node *n = memory_find(&c->memory, key);

    if (!n)
        return NULL;
    cache_touch(c, n);
    return cache_artifact_ref(n->artifact);
}

struct get {
    struct request base;
    cache_get_done *done;
    unsigned char key[HASH_BYTES];
    struct cache_artifact *artifact;
    uint64_t purges;
    const char *source;
};

static int get_run(struct db *db, struct request *r, struct kiln_err *e)
{
    struct get *g = (struct get *)r;

    if (g->artifact || !db->h)
        return 0;
    return store_get(r->c, db, g->key, &g->artifact, e);
}

static void get_finish(struct request *r)
{
    struct get *g = (struct get *)r;
    struct cache *c = r->c;
    struct memory_node *n;

    if (g->artifact && g->purges == c->purges && strcmp(g->source, "disk") == 0) {
        n = memory_add(&c->memory, g->artifact);
        if (n)
            cache_touch(c, n);
    }
    g->done(r->ctx, g->artifact, g->artifact ? g->source : NULL);
    cache_artifact_unref(g->artifact);
    free(g);
}

int cache_get(struct cache *c, const unsigned char key[HASH_BYTES], cache_get_done *done, void *ctx,
              struct kiln_err *e)
{
    struct get *g = calloc(1, sizeof *g);

    if (!g)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "a look into the cache");
    memcpy(g->key, key, HASH_BYTES);
    g->done = done;
    g->purges = c->purges;
    g->artifact = cache_memory_get(c, key);
    g->source = g->artifact ? "memory" : "disk";
    g->base.ctx = ctx;
    g->base.run = get_run;
    g->base.finish = get_finish;
    cache_submit(c, false, &g->base);
    return 0;
}

/* ---- known ---- */
struct known {
    struct request base;
    cache_known_done *done;
    uint32_t n;
    unsigned char *keys;
    struct cache_known *known;
};

static int known_run(struct db *db, struct request *r, struct kiln_err *e)
{
    struct known *k = (struct known *)r;

    for (uint32_t i = 0; db->h && i < k->n; i++) {
        int result;
        if (k->known[i].known)
            continue;
        result = store_known(db, k->keys + (size_t)i * HASH_BYTES, &k->known[i], e);
        if (result < 0)
            return result;
    }
    return 0;
}

static void known_finish(struct request *r)
{
    struct known *k = (struct known *)r;

    k->done(r->ctx, k->known, k->n);
    free(k->keys);
    free(k->known);
    free(k);
}

int cache_known(struct cache *c, const unsigned char *keys, uint32_t n, cache_known_done *done, void *ctx,
                struct kiln_err *e)
{
    struct known *k = calloc(1, sizeof *k);

    if (k) {
        k->keys = malloc((size_t)n * HASH_BYTES + 1);
        k->known = calloc((size_t)n + 1, sizeof *k->known);
    }
    if (!k || !k->keys || !k->known) {
        if (k) {
            free(k->keys);
            free(k->known);
        }
        free(k);
        return kiln_err_set(e, KILN_E_NOMEM, 0, "a look into the cache");
    }
    if (n)
        memcpy(k->keys, keys, (size_t)n * HASH_BYTES);
    k->n = n;
    for (uint32_t i = 0; i < n; i++) {
        struct memory_node *node = memory_find(&c->memory, keys + (size_t)i * HASH_BYTES);
        if (node)
            k->known[i] = (struct cache_known){ true, node->artifact->size };
    }
    k->done = done;
    k->base.ctx = ctx;
    k->base.run = known_run;
    k->base.finish = known_finish;
    cache_submit(c, false, &k->base);
    return 0;
}

/* ---- put ---- */
static int put_run(struct db *db, struct request *r, struct kiln_err *e)
{
    struct put *p = (struct put *)r;

    if (p->base.weight > r->c->max_bytes / 2)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "%zu bytes are too much for a cache of %llu", p->base.weight,
                            (unsigned long long)r->c->max_bytes);
    return store_put(db, p, e);
}

static void put_finish(struct request *r)
{
    struct put *p = (struct put *)r;

    if (p->done)
        p->done(r->ctx, r->result < 0 ? &r->e : NULL);
    cache_artifact_unref(p->artifact);
    free(p);
}

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

/* Copy len bytes and a NUL to *at, which moves on. */
static const char *place(unsigned char **at, const void *from, size_t len)
{
    char *to = (char *)*at;

    if (len)
        memcpy(to, from, len);
    to[len] = '\0';
    *at += len + 1;
    return to;
}

/* The request of a put: one block for all that the writer needs. */
static struct put *put_new(const struct cache_entry *entry, const char *options)
{
    const struct key_parts *k = entry->parts;
    const char *emit = k->emit && *k->emit ? k->emit : "so";
    const char *text[5] = { or_empty(k->entry), or_empty(k->signature), or_empty(k->target), emit, options };
    size_t room = entry->ir_len + k->toolchain_len + 2;
    struct put *p;
    unsigned char *at;

    for (unsigned i = 0; i < 5; i++)
        room += strlen(text[i]) + 1;
    p = calloc(1, sizeof *p + room);
    if (!p)
        return NULL;
    at = (unsigned char *)(p + 1);
    p->entry = place(&at, text[0], strlen(text[0]));
    p->signature = place(&at, text[1], strlen(text[1]));
    p->target = place(&at, text[2], strlen(text[2]));
    p->emit = place(&at, text[3], strlen(text[3]));
    p->options = place(&at, text[4], strlen(text[4]));
    p->ir = (const unsigned char *)place(&at, entry->ir, entry->ir_len);
    p->ir_len = entry->ir_len;
    p->toolchain = (const unsigned char *)place(&at, k->toolchain, k->toolchain_len);
    p->toolchain_len = k->toolchain_len;
    memcpy(p->ir_digest, k->ir, HASH_BYTES);
    key_digests(k, p->parts);
    p->pin = entry->pin;
    p->base.weight = room + entry->blob_len + entry->manifest_len;
    return p;
}

int cache_put(struct cache *c, const struct cache_entry *entry, cache_put_done *done, void *ctx,
              struct cache_artifact **ret, struct kiln_err *e)
{
    struct cache_artifact *a;
    struct buf options;
    struct put *p;

    if (entry->blob_len > LIM_OUTPUT_BYTES || entry->manifest_len > LIM_OUTPUT_BYTES ||
        entry->ir_len > LIM_FRAME_BYTES)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "an artifact of %zu bytes; the limit is %llu", entry->blob_len,
                            (unsigned long long)LIM_OUTPUT_BYTES);
    buf_init(&options, 1u << 20);
    key_options_text(entry->parts, &options);
    p = put_new(entry, buf_cstr(&options));
    buf_done(&options);
    a = p ? artifact_new(entry->key, entry->blob, entry->blob_len, entry->manifest, entry->manifest_len) : NULL;
    if (!a) {
        free(p);
        return kiln_err_set(e, KILN_E_NOMEM, 0, "an artifact of %zu bytes", entry->blob_len);
    }
    a->compile_us = entry->compile_us;
    a->owner = entry->parts->owner;
    a->restricted = key_is_restricted(entry->parts);
    memory_add(&c->memory, a);
    if (ret)
        *ret = cache_artifact_ref(a);
    p->artifact = a; /* the put's own reference */
    p->created = c->now(c->ctx);
    p->done = done;
    p->base.ctx = ctx;
    p->base.batch = true;
    p->base.run = put_run;
    p->base.finish = put_finish;
    cache_submit(c, true, &p->base);
    return 0;
}
