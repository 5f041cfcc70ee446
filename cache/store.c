/* SPDX-License-Identifier: Apache-2.0
 * store.c - one artifact in and out of the database.
 *
 * The checksum of a row covers everything that decides whether and how an artifact is served: its key as it was
 * asked for, owner, restriction, cost, manifest and blob. Nothing is served that fails it. */
#include <sqlite3.h>
#include <string.h>

#include "cache/private.h"

/* What a row weighs beside its contents: metadata, indexes, page slack. Measured at 700 to 1,400 bytes. */
#define ROW_OVERHEAD 1024u

static void checksum(const unsigned char *key, uint32_t owner, bool restricted, uint64_t compile_us,
                     const void *manifest, size_t manifest_len, const void *blob, size_t blob_len,
                     unsigned char ret[HASH_BYTES])
{
    struct hash h;

    hash_init(&h);
    hash_bytes(&h, key, HASH_BYTES);
    hash_number(&h, owner);
    hash_number(&h, restricted);
    hash_number(&h, compile_us);
    hash_bytes(&h, manifest, manifest_len);
    hash_bytes(&h, blob, blob_len);
    hash_done(&h, ret);
}

static void bind_key(sqlite3_stmt *s, int at, const unsigned char *key)
{
    sqlite3_bind_blob(s, at, key, HASH_BYTES, SQLITE_STATIC);
}

/* A blob that is never NULL in the database. */
static void bind_bytes(sqlite3_stmt *s, int at, const void *p, size_t len)
{
    sqlite3_bind_blob64(s, at, len ? p : "", len, SQLITE_STATIC);
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

int store_get(struct cache *c, struct db *db, const unsigned char key[HASH_BYTES], struct cache_artifact **ret,
              struct kiln_err *e)
{
    sqlite3_stmt *s = db_prepare(db, SQL_GET, e);
    unsigned char sum[HASH_BYTES];
    const void *stored, *manifest, *blob;
    size_t manifest_len, blob_len;
    uint64_t compile_us;
    uint32_t owner;
    bool restricted;
    int r;

    *ret = NULL;
    if (!s)
        return -e->code;
    bind_key(s, 1, key);
    r = db_step(db, s, e);
    if (r <= 0)
        return r;
    owner = (uint32_t)sqlite3_column_int64(s, 0);
    restricted = sqlite3_column_int(s, 1) != 0;
    compile_us = (uint64_t)sqlite3_column_int64(s, 2);
    stored = sqlite3_column_blob(s, 3);
    manifest = sqlite3_column_blob(s, 4);
    manifest_len = (size_t)sqlite3_column_bytes(s, 4);
    blob = sqlite3_column_blob(s, 5);
    blob_len = (size_t)sqlite3_column_bytes(s, 5);
    checksum(key, owner, restricted, compile_us, manifest, manifest_len, blob, blob_len, sum);
    if (sqlite3_errcode(db->h) == SQLITE_NOMEM) {
        r = kiln_err_set(e, KILN_E_NOMEM, 0, "an artifact of the cache");
    } else if (!stored || sqlite3_column_bytes(s, 3) != HASH_BYTES || memcmp(stored, sum, HASH_BYTES) != 0) {
        cache_row_damaged(c, key);
        r = 0;
    } else {
        *ret = artifact_new(key, blob, blob_len, manifest, manifest_len);
        if (*ret) {
            (*ret)->owner = owner;
            (*ret)->restricted = restricted;
            (*ret)->compile_us = compile_us;
        }
        r = *ret ? 0 : kiln_err_set(e, KILN_E_NOMEM, 0, "an artifact of the cache");
    }
    sqlite3_reset(s);
    return r;
}

int store_known(struct db *db, const unsigned char key[HASH_BYTES], struct cache_known *ret, struct kiln_err *e)
{
    sqlite3_stmt *s = db_prepare(db, SQL_KNOWN, e);
    int r;

    if (!s)
        return -e->code;
    bind_key(s, 1, key);
    r = db_step(db, s, e);
    ret->known = r > 0;
    ret->size = r > 0 ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_reset(s);
    return r < 0 ? r : 0;
}

int store_delete(struct db *db, const unsigned char key[HASH_BYTES], struct kiln_err *e)
{
    sqlite3_stmt *s = db_prepare(db, SQL_DELETE, e);

    if (!s)
        return -e->code;
    bind_key(s, 1, key);
    return db_step(db, s, e);
}

int store_touch(struct db *db, const struct touch *t, struct kiln_err *e)
{
    sqlite3_stmt *s = db_prepare(db, SQL_TOUCH, e);

    if (!s)
        return -e->code;
    bind_key(s, 1, t->key);
    sqlite3_bind_int64(s, 2, (sqlite3_int64)t->when);
    sqlite3_bind_int64(s, 3, t->hits);
    return db_step(db, s, e);
}

static int put_row(struct db *db, const struct put *p, const void *blob, struct kiln_err *e)
{
    const struct cache_artifact *a = p->artifact;
    sqlite3_stmt *s = db_prepare(db, SQL_PUT, e);
    unsigned char sum[HASH_BYTES];

    if (!s)
        return -e->code;
    checksum(a->key, a->owner, a->restricted, a->compile_us, a->manifest, a->manifest_len, blob, a->size, sum);
    bind_key(s, 1, a->key);
    sqlite3_bind_int64(s, 2, a->owner);
    sqlite3_bind_int(s, 3, a->restricted);
    sqlite3_bind_int(s, 4, p->pin);
    sqlite3_bind_int64(s, 5, (sqlite3_int64)p->created);
    sqlite3_bind_int64(s, 6, (sqlite3_int64)a->compile_us);
    sqlite3_bind_int64(s, 7, (sqlite3_int64)a->size);
    sqlite3_bind_int64(s, 8, (sqlite3_int64)(a->size + a->manifest_len + ROW_OVERHEAD));
    bind_text(s, 9, p->entry);
    bind_text(s, 10, p->signature);
    bind_text(s, 11, p->target);
    bind_text(s, 12, p->emit);
    bind_text(s, 13, p->options);
    bind_key(s, 14, p->ir_digest);
    bind_bytes(s, 15, p->toolchain, p->toolchain_len);
    bind_bytes(s, 16, p->parts, sizeof p->parts);
    bind_key(s, 17, sum);
    return db_step(db, s, e);
}

static int put_content(struct db *db, const struct put *p, const void *blob, struct kiln_err *e)
{
    sqlite3_stmt *s = db_prepare(db, SQL_CONTENT, e);

    if (!s)
        return -e->code;
    sqlite3_bind_int64(s, 1, sqlite3_last_insert_rowid(db->h));
    bind_bytes(s, 2, p->artifact->manifest, p->artifact->manifest_len);
    bind_bytes(s, 3, blob, p->artifact->size);
    return db_step(db, s, e);
}

static int put_payload(struct db *db, const struct put *p, struct kiln_err *e)
{
    sqlite3_stmt *s;

    if (!p->ir_len)
        return 0;
    s = db_prepare(db, SQL_PAYLOAD, e);
    if (!s)
        return -e->code;
    bind_key(s, 1, p->ir_digest);
    sqlite3_bind_int64(s, 2, (sqlite3_int64)(p->ir_len + ROW_OVERHEAD / 4));
    bind_bytes(s, 3, p->ir, p->ir_len);
    return db_step(db, s, e);
}

int store_put(struct db *db, const struct put *p, struct kiln_err *e)
{
    const void *blob = artifact_map(p->artifact);
    int r;

    if (!blob)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "mapping an artifact");
    r = store_delete(db, p->artifact->key, e);
    if (r == 0)
        r = put_row(db, p, blob, e);
    if (r == 0)
        r = put_content(db, p, blob, e);
    if (r == 0)
        r = put_payload(db, p, e);
    artifact_unmap(p->artifact, blob);
    return r;
}
