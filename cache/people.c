/* SPDX-License-Identifier: Apache-2.0
 * people.c - list, show and purge. Each turn on a thread looks at a bounded range of rows; what is longer queues
 * itself again, so that a hit never waits for somebody's `kiln ls`. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "cache/private.h"
#include "proto/base/arena.h"
#include "proto/base/limits.h"

#define TURN_IDS 5000      /* rows looked at in one turn: some ms */
#define TURN_DELETES 500   /* rows deleted in one transaction */
#define ANSWER_BYTES (256u << 20)

static void *out_of_memory(struct kiln_err *e)
{
    kiln_err_set(e, KILN_E_NOMEM, 0, "a question to the cache");
    return NULL;
}

static int last_id(struct db *db, int64_t *ret, struct kiln_err *e)
{
    sqlite3_stmt *s = db_prepare(db, SQL_LAST_ID, e);
    int r = s ? db_step(db, s, e) : -e->code;

    if (r > 0)
        *ret = sqlite3_column_int64(s, 0);
    if (s)
        sqlite3_reset(s);
    return r < 0 ? r : 0;
}

static const char *dup_text(struct arena *a, sqlite3_stmt *s, int column)
{
    const void *p = sqlite3_column_text(s, column);

    return arena_dup(a, p ? p : "", p ? (size_t)sqlite3_column_bytes(s, column) : 0);
}

/* Columns 1 to 13 of ROWS and SHOW. False when out of memory. */
static bool read_row(struct arena *a, sqlite3_stmt *s, struct cache_row *row)
{
    const void *key = sqlite3_column_blob(s, 1);

    if (key && sqlite3_column_bytes(s, 1) == HASH_BYTES)
        memcpy(row->key, key, HASH_BYTES);
    row->entry = dup_text(a, s, 2);
    row->signature = dup_text(a, s, 3);
    row->target = dup_text(a, s, 4);
    row->emit = dup_text(a, s, 5);
    row->bytes = (uint64_t)sqlite3_column_int64(s, 6);
    row->compile_us = (uint64_t)sqlite3_column_int64(s, 7);
    row->created = (uint64_t)sqlite3_column_int64(s, 8);
    row->last_used = (uint64_t)sqlite3_column_int64(s, 9);
    row->hits = (uint64_t)sqlite3_column_int64(s, 10);
    row->owner = (uint32_t)sqlite3_column_int64(s, 11);
    row->restricted = sqlite3_column_int(s, 12) != 0;
    row->pinned = sqlite3_column_int(s, 13) != 0;
    return row->entry && row->signature && row->target && row->emit;
}

/* ---- list ---- */
struct list {
    struct request base;
    cache_list_done *done;
    struct arena arena;
    const char *entry, *target;
    int64_t owner, viewer; /* -1: any */
    uint32_t limit;
    bool has_after, begun, more;
    unsigned char after[HASH_BYTES];
    int64_t below; /* the next turn looks at ids below this */
    struct cache_row *rows;
    uint32_t n;
};

static int list_begin(struct db *db, struct list *l, struct kiln_err *e)
{
    sqlite3_stmt *s;
    int r;

    l->begun = true;
    l->rows = arena_new_array(&l->arena, l->limit, struct cache_row);
    if (!l->rows)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "a list of the cache");
    if (!l->has_after) {
        r = last_id(db, &l->below, e);
        l->below++;
        return r;
    }
    s = db_prepare(db, SQL_ID_OF, e);
    if (!s)
        return -e->code;
    sqlite3_bind_blob(s, 1, l->after, HASH_BYTES, SQLITE_STATIC);
    r = db_step(db, s, e);
    if (r > 0)
        l->below = sqlite3_column_int64(s, 0);
    else if (r == 0)
        r = kiln_err_set(e, KILN_E_NOTFOUND, 0, "the entry to go on behind is gone; list again");
    sqlite3_reset(s);
    return r < 0 ? r : 0;
}

static int list_run(struct db *db, struct request *base, struct kiln_err *e)
{
    struct list *l = (struct list *)base;
    sqlite3_stmt *s;
    int64_t from;
    int r;

    if (!db->h)
        return 0; /* nothing can be read: nothing is there */
    if (!l->begun && (r = list_begin(db, l, e)) < 0)
        return r;
    s = db_prepare(db, SQL_ROWS, e);
    if (!s)
        return -e->code;
    from = l->below > TURN_IDS ? l->below - TURN_IDS : 0;
    sqlite3_bind_int64(s, 1, l->below);
    sqlite3_bind_int64(s, 2, from);
    sqlite3_bind_text(s, 3, l->entry, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, l->target, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 5, l->owner);
    sqlite3_bind_int64(s, 6, l->viewer);
    sqlite3_bind_int64(s, 7, (int64_t)(l->limit - l->n) + 1);
    while ((r = db_step(db, s, e)) > 0) {
        if (l->n == l->limit) {
            l->more = true;
            break;
        }
        if (!read_row(&l->arena, s, &l->rows[l->n])) {
            r = kiln_err_set(e, KILN_E_NOMEM, 0, "a list of the cache");
            break;
        }
        l->n++;
    }
    sqlite3_reset(s);
    if (r < 0)
        return r;
    l->below = from;
    return l->more || from == 0 ? 0 : RUN_AGAIN;
}

static void list_finish(struct request *base)
{
    struct list *l = (struct list *)base;

    if (base->result < 0)
        l->done(base->ctx, NULL, 0, false, &base->e);
    else
        l->done(base->ctx, l->rows, l->n, l->more, NULL);
    arena_done(&l->arena);
    free(l);
}

int cache_list(struct cache *c, const struct cache_list_query *q, cache_list_done *done, void *ctx,
               struct kiln_err *e)
{
    struct list *l = calloc(1, sizeof *l);

    if (!l)
        goto no_memory;
    arena_init(&l->arena, ANSWER_BYTES);
    l->entry = arena_dup(&l->arena, q->entry ? q->entry : "", q->entry ? strlen(q->entry) : 0);
    l->target = arena_dup(&l->arena, q->target ? q->target : "", q->target ? strlen(q->target) : 0);
    if (!l->entry || !l->target)
        goto no_memory;
    l->done = done;
    l->owner = q->owner;
    l->viewer = q->restricted_to ? (int64_t)q->viewer : -1;
    l->limit = q->limit && q->limit < LIM_LIST_ROWS ? q->limit : (uint32_t)LIM_LIST_ROWS;
    l->has_after = q->after != NULL;
    if (q->after)
        memcpy(l->after, q->after, HASH_BYTES);
    l->base.ctx = ctx;
    l->base.run = list_run;
    l->base.finish = list_finish;
    cache_submit(c, cache_touches_wait(c), &l->base);
    return 0;
no_memory:
    if (l)
        arena_done(&l->arena);
    free(l);
    out_of_memory(e);
    return -e->code;
}

/* ---- show ---- */
struct show {
    struct request base;
    cache_show_done *done;
    struct arena arena;
    unsigned char low[HASH_BYTES], high[HASH_BYTES];
    struct cache_detail detail;
};

static bool dup_bytes(struct arena *a, sqlite3_stmt *s, int column, const unsigned char **ret, size_t *ret_len)
{
    const void *p = sqlite3_column_blob(s, column);

    *ret_len = p ? (size_t)sqlite3_column_bytes(s, column) : 0;
    *ret = (const unsigned char *)arena_dup(a, p, *ret_len);
    return *ret != NULL;
}

static int show_read(struct show *w, sqlite3_stmt *s, struct kiln_err *e)
{
    struct cache_detail *d = &w->detail;
    struct arena *a = &w->arena;
    unsigned char digest[HASH_BYTES];
    const unsigned char *ir_digest;
    size_t parts_len, ir_digest_len;

    if (!read_row(a, s, &d->row) || !dup_bytes(a, s, 14, &d->manifest, &d->manifest_len) ||
        !dup_bytes(a, s, 15, &ir_digest, &ir_digest_len) || !dup_bytes(a, s, 16, &d->ir, &d->ir_len) ||
        !dup_bytes(a, s, 18, &d->toolchain, &d->toolchain_len) || !dup_bytes(a, s, 19, &d->parts, &parts_len))
        return kiln_err_set(e, KILN_E_NOMEM, 0, "an entry of the cache");
    d->options = dup_text(a, s, 17);
    if (!d->options)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "an entry of the cache");
    if (parts_len != KEY_PARTS_BYTES)
        d->parts = NULL;
    if (ir_digest_len == HASH_BYTES)
        memcpy(d->ir_digest, ir_digest, HASH_BYTES);
    hash_once(d->ir, d->ir_len, digest);
    if (d->ir_len && memcmp(digest, d->ir_digest, HASH_BYTES) != 0)
        d->ir_len = 0; /* damaged: as if it had not been kept */
    return 0;
}

static int show_run(struct db *db, struct request *base, struct kiln_err *e)
{
    struct show *w = (struct show *)base;
    sqlite3_stmt *s = db->h ? db_prepare(db, SQL_SHOW, e) : NULL;
    int r;

    if (!db->h)
        return kiln_err_set(e, KILN_E_NOTFOUND, 0, "no entry has this key");
    if (!s)
        return -e->code;
    sqlite3_bind_blob(s, 1, w->low, HASH_BYTES, SQLITE_STATIC);
    sqlite3_bind_blob(s, 2, w->high, HASH_BYTES, SQLITE_STATIC);
    r = db_step(db, s, e);
    if (r == 0)
        r = kiln_err_set(e, KILN_E_NOTFOUND, 0, "no entry has this key");
    else if (r > 0)
        r = show_read(w, s, e);
    if (r == 0) {
        r = db_step(db, s, e);
        if (r > 0)
            r = kiln_err_set(e, KILN_E_INVALID, 0, "several keys begin so: give more digits");
    }
    sqlite3_reset(s);
    return r;
}

static void show_finish(struct request *base)
{
    struct show *w = (struct show *)base;

    w->done(base->ctx, base->result < 0 ? NULL : &w->detail, base->result < 0 ? &base->e : NULL);
    arena_done(&w->arena);
    free(w);
}

int cache_show(struct cache *c, const unsigned char *prefix, size_t len, cache_show_done *done, void *ctx,
               struct kiln_err *e)
{
    struct show *w;

    if (len < 1 || len > HASH_BYTES)
        return kiln_err_set(e, KILN_E_INVALID, 0, "a key has 1 to %d bytes, not %zu", HASH_BYTES, len);
    w = calloc(1, sizeof *w);
    if (!w) {
        out_of_memory(e);
        return -e->code;
    }
    arena_init(&w->arena, ANSWER_BYTES);
    memset(w->high, 0xff, HASH_BYTES);
    memcpy(w->low, prefix, len);
    memcpy(w->high, prefix, len);
    w->done = done;
    w->base.ctx = ctx;
    w->base.run = show_run;
    w->base.finish = show_finish;
    cache_submit(c, cache_touches_wait(c), &w->base);
    return 0;
}

/* ---- purge ---- */
struct purge {
    struct request base;
    cache_purge_done *done;
    unsigned char *keys;
    uint32_t n_keys, next_key;
    char *entry;
    bool dry_run, everything, by_key_alone, begun;
    int64_t used_before, owner; /* -1: any */
    int64_t below;
    uint64_t entries, bytes;
    unsigned char *gone; /* keys that L0 must forget */
    size_t n_gone, cap_gone;
};

static int remember(struct purge *p, sqlite3_stmt *s, struct kiln_err *e)
{
    const void *key = sqlite3_column_blob(s, 1);
    unsigned char *grown;

    p->entries++;
    if (p->dry_run) /* otherwise measured: payloads may go with their last row */
        p->bytes += (uint64_t)sqlite3_column_int64(s, 2);
    if (p->everything || p->dry_run || !key || sqlite3_column_bytes(s, 1) != HASH_BYTES)
        return 0;
    if (p->n_gone == p->cap_gone) {
        grown = realloc(p->gone, (p->cap_gone * 2 + 64) * HASH_BYTES);
        if (!grown)
            return kiln_err_set(e, KILN_E_NOMEM, 0, "a purge of the cache");
        p->gone = grown;
        p->cap_gone = p->cap_gone * 2 + 64;
    }
    memcpy(p->gone + p->n_gone++ * HASH_BYTES, key, HASH_BYTES);
    return 0;
}

static void bind_criteria(sqlite3_stmt *s, const struct purge *p)
{
    sqlite3_bind_text(s, 3, p->entry, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 4, p->used_before);
    sqlite3_bind_int64(s, 5, p->owner);
}

/* Up to TURN_DELETES ids that are to go. *ret_last: no more will come. */
static int doomed(struct db *db, struct purge *p, int64_t *ids, unsigned *n, bool *ret_last, struct kiln_err *e)
{
    sqlite3_stmt *s;
    int64_t from;
    int r = 0;

    if (p->n_keys) {
        s = db_prepare(db, SQL_DOOMED_KEY, e);
        if (!s)
            return -e->code;
        while (p->next_key < p->n_keys && *n < TURN_DELETES) {
            sqlite3_reset(s);
            sqlite3_bind_blob(s, 1, p->keys + (size_t)p->next_key++ * HASH_BYTES, HASH_BYTES, SQLITE_STATIC);
            bind_criteria(s, p);
            r = db_step(db, s, e);
            if (r > 0) {
                ids[(*n)++] = sqlite3_column_int64(s, 0);
                r = remember(p, s, e);
            }
            if (r < 0)
                break;
        }
        *ret_last = p->next_key == p->n_keys;
        sqlite3_reset(s);
        return r;
    }
    if (!p->begun && (r = last_id(db, &p->below, e)) < 0)
        return r;
    p->below += !p->begun;
    p->begun = true;
    s = db_prepare(db, SQL_DOOMED, e);
    if (!s)
        return -e->code;
    from = p->below > TURN_IDS ? p->below - TURN_IDS : 0;
    sqlite3_bind_int64(s, 1, p->below);
    sqlite3_bind_int64(s, 2, from);
    bind_criteria(s, p);
    sqlite3_bind_int64(s, 6, TURN_DELETES);
    while ((r = db_step(db, s, e)) > 0) {
        ids[(*n)++] = sqlite3_column_int64(s, 0);
        if ((r = remember(p, s, e)) < 0)
            break;
    }
    sqlite3_reset(s);
    p->below = *n == TURN_DELETES ? ids[*n - 1] : from;
    *ret_last = p->below == 0;
    return r;
}

static int delete_ids(struct db *db, const int64_t *ids, unsigned n, struct kiln_err *e)
{
    for (unsigned i = 0; i < n; i++) {
        sqlite3_stmt *s = db_prepare(db, SQL_DELETE_ID, e);
        int r;
        if (!s)
            return -e->code;
        sqlite3_bind_int64(s, 1, ids[i]);
        if ((r = db_step(db, s, e)) < 0)
            return r;
    }
    return 0;
}

static int purge_run(struct db *db, struct request *base, struct kiln_err *e)
{
    struct purge *p = (struct purge *)base;
    struct kiln_err ignored;
    int64_t ids[TURN_DELETES];
    uint64_t entries, before = 0, after = 0;
    unsigned n = 0;
    bool last = true;
    int r;

    if (!db->h)
        return 0;
    if (p->dry_run) {
        r = doomed(db, p, ids, &n, &last, e);
        return r < 0 ? r : last ? 0 : RUN_AGAIN;
    }
    if ((r = db_run(db, SQL_BEGIN, e)) < 0)
        return r;
    r = db_totals(db, &entries, &before, e);
    if (r == 0)
        r = doomed(db, p, ids, &n, &last, e);
    if (r == 0)
        r = delete_ids(db, ids, n, e);
    if (r == 0)
        r = db_totals(db, &entries, &after, e);
    if (r == 0)
        r = db_run(db, SQL_COMMIT, e);
    if (r < 0) {
        db_run(db, SQL_ROLLBACK, &ignored);
        return r;
    }
    p->bytes += before - after;
    return last ? 0 : RUN_AGAIN;
}

/* Give free pages back to the disk, a piece a turn, behind whatever else waits. */
static int shrink_run(struct db *db, struct request *base, struct kiln_err *e)
{
    if (atomic_load(&base->c->closing))
        return 0;
    return db_shrink(db, e);
}

static void shrink_finish(struct request *base)
{
    free(base);
}

static void shrink(struct cache *c)
{
    struct request *r = calloc(1, sizeof *r);

    if (!r)
        return; /* the pages are used again all the same */
    r->run = shrink_run;
    r->finish = shrink_finish;
    cache_submit(c, true, r);
}

static void purge_finish(struct request *base)
{
    struct purge *p = (struct purge *)base;
    struct cache *c = base->c;

    if (!p->dry_run) {
        c->purges++;
        if (p->everything)
            memory_clear(&c->memory);
        for (uint32_t i = 0; p->by_key_alone && i < p->n_keys; i++) /* also what never reached the disk */
            memory_remove(&c->memory, p->keys + (size_t)i * HASH_BYTES);
        for (size_t i = 0; i < p->n_gone; i++)
            memory_remove(&c->memory, p->gone + i * HASH_BYTES);
    }
    if (p->entries && !p->dry_run)
        shrink(c);
    p->done(base->ctx, p->entries, p->bytes, base->result < 0 ? &base->e : NULL);
    free(p->gone);
    free(p->keys);
    free(p->entry);
    free(p);
}

int cache_purge(struct cache *c, const struct cache_purge_query *q, cache_purge_done *done, void *ctx,
                struct kiln_err *e)
{
    bool by_entry = q->entry && *q->entry;
    uint64_t now = c->now(c->ctx);
    struct purge *p;

    if (!q->n_keys && !by_entry && !q->unused_s && !q->all)
        return kiln_err_set(e, KILN_E_INVALID, 0, "say what to purge: keys, a name, an age, or all");
    p = calloc(1, sizeof *p);
    if (!p)
        goto no_memory;
    p->entry = strdup(by_entry ? q->entry : "");
    p->keys = malloc((size_t)q->n_keys * HASH_BYTES + 1);
    if (!p->entry || !p->keys)
        goto no_memory;
    if (q->n_keys)
        memcpy(p->keys, q->keys, (size_t)q->n_keys * HASH_BYTES);
    p->n_keys = q->n_keys;
    p->dry_run = q->dry_run;
    p->used_before = !q->unused_s ? -1 : q->unused_s < now ? (int64_t)(now - q->unused_s) : 0;
    p->owner = q->owner;
    p->everything = !q->n_keys && !by_entry && !q->unused_s && q->owner < 0;
    p->by_key_alone = q->n_keys && !by_entry && !q->unused_s && q->owner < 0;
    p->done = done;
    p->base.ctx = ctx;
    p->base.run = purge_run;
    p->base.finish = purge_finish;
    if (!q->dry_run)
        c->purges++;
    cache_submit(c, !q->dry_run || cache_touches_wait(c), &p->base);
    return 0;
no_memory:
    if (p) {
        free(p->entry);
        free(p->keys);
    }
    free(p);
    out_of_memory(e);
    return -e->code;
}
