/* SPDX-License-Identifier: Apache-2.0
 * cache.h - artifacts by key: a memory tier of sealed memfds (L0) over SQLite on a local disk (L1).
 *
 * One thread, the owner's, calls everything here. SQLite runs on a writer and a reader thread of the cache's
 * own; no function blocks on the disk except cache_open, cache_flush and cache_close. An operation that needs
 * the disk returns at once; its `done` runs later, exactly once, in the owner's thread, inside cache_poll (or
 * cache_close). The cache asks for a cache_poll through options.wake.
 *
 * Damage is a miss, never an error: what fails its checksum is thrown out, a database that SQLite finds
 * corrupt is set aside and begun anew. A directory that can't be used (missing and not creatable, unwritable,
 * on a network file system) leaves the cache in memory alone; cache_notice says why. docs/cache.md. */
#ifndef KILN_CACHE_CACHE_H
#define KILN_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/key.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"

struct cache;

struct cache_options {
    const char *dir;           /* created with mode 0700 if need be; NULL or "": memory only */
    uint64_t max_bytes;        /* of L1; 0: LIM_CACHE_BYTES */
    uint32_t max_artifacts;    /* of L0, each an open descriptor; 0: LIM_MEMORY_ARTIFACTS */
    uint64_t max_memory;       /* bytes of L0; 0: LIM_MEMORY_BYTES */
    void (*wake)(void *ctx);   /* any thread, until cache_close returns: have cache_poll called (uv_async_send) */
    void *ctx;
    uint64_t (*now)(void *ctx); /* Unix seconds; NULL: the system's clock */
};

/* Open the cache and start its threads. KILN_E_EXISTS: another process uses the directory (the message names
 * its pid); KILN_E_NOMEM. Every other trouble with the directory gives a cache in memory and a notice. */
int cache_open(const struct cache_options *o, struct cache **ret, struct kiln_err *e);
/* Commit what is queued, run every callback that is due, stop the threads, free. NULL is fine. Artifacts that
 * are still referenced stay valid. */
void cache_close(struct cache *c);
/* Run the callbacks of finished operations. */
void cache_poll(struct cache *c);
/* Block until everything queued so far is committed or has failed; callbacks are left to cache_poll. */
void cache_flush(struct cache *c);
/* Why the cache is not what was asked for ("cache directory is not writable: memory only"), or "". Static or
 * the cache's, until the next call of anything. */
const char *cache_notice(struct cache *c);

/* ---- artifacts ---- */
/* Immutable and counted. Owner's thread only, except for reading the fields while a reference is held. */
struct cache_artifact {
    unsigned char key[HASH_BYTES];
    int fd;                    /* sealed memfd holding the blob, close-on-exec; -1: see blob */
    const unsigned char *blob; /* the bytes, only when no memfd could be had; NULL otherwise */
    uint64_t size;             /* of the blob */
    const unsigned char *manifest;
    uint32_t manifest_len;
    uint64_t compile_us;
    uint32_t owner;  /* uid of whoever sent it first */
    bool restricted; /* to its owner */
};
struct cache_artifact *cache_artifact_ref(struct cache_artifact *a);
void cache_artifact_unref(struct cache_artifact *a); /* NULL is fine; the last one closes fd */
/* Append the bytes, for an answer inline. KILN_E_NOMEM, LIMIT (out's), IO. */
int cache_artifact_read(const struct cache_artifact *a, struct buf *out, struct kiln_err *e);

/* ---- hits and misses ---- */
/* L0 only, at once: a new reference, or NULL. Counts as a use. */
struct cache_artifact *cache_memory_get(struct cache *c, const unsigned char key[HASH_BYTES]);

/* L0 (source "memory"), then L1 ("disk"). artifact is NULL on a miss; the callback takes its own reference if
 * it wants to keep it. A hit in L1 enters L0. */
typedef void cache_get_done(void *ctx, struct cache_artifact *artifact, const char *source);
int cache_get(struct cache *c, const unsigned char key[HASH_BYTES], cache_get_done *done, void *ctx,
              struct kiln_err *e);

/* Which of n keys (n * HASH_BYTES bytes, copied) are there, in L0 or L1, in order. No use is counted. */
struct cache_known {
    bool known;
    uint64_t size;
};
typedef void cache_known_done(void *ctx, const struct cache_known *known, uint32_t n);
int cache_known(struct cache *c, const unsigned char *keys, uint32_t n, cache_known_done *done, void *ctx,
                struct kiln_err *e);

/* Everything is copied. The artifact is in L0, and in *ret (a reference of the caller's, if ret isn't NULL),
 * when this returns: waiters can be answered. done (may be NULL) follows when the row is committed to disk, or
 * with the reason why not: an artifact is durable only then. KILN_E_NOMEM, KILN_E_LIMIT (LIM_OUTPUT_BYTES). */
struct cache_entry {
    const unsigned char *key;       /* HASH_BYTES, of parts */
    const struct key_parts *parts;  /* for rows, `show` and `explain` */
    const void *blob, *manifest, *ir; /* ir: the payload as it was sent; NULL: not kept */
    size_t blob_len, manifest_len, ir_len;
    uint64_t compile_us;
    bool pin; /* never evicted */
};
typedef void cache_put_done(void *ctx, const struct kiln_err *e /* NULL: committed */);
int cache_put(struct cache *c, const struct cache_entry *entry, cache_put_done *done, void *ctx,
              struct cache_artifact **ret, struct kiln_err *e);

/* ---- people's questions; results live until the callback returns, e is NULL on success ---- */
struct cache_row {
    unsigned char key[HASH_BYTES];
    const char *entry, *signature, *target, *emit; /* never NULL */
    uint64_t bytes;      /* of the blob */
    uint64_t compile_us;
    uint64_t created, last_used; /* Unix seconds */
    uint64_t hits;
    uint32_t owner;
    bool restricted, pinned;
};

/* Newest first. owner -1: everybody's. after: the key of the last row seen, or NULL; NOTFOUND if it is gone. */
struct cache_list_query {
    const char *entry;  /* substring of the function's name; NULL or "": any */
    const char *target; /* whole; NULL or "": any */
    uint32_t limit;     /* rows; 0, or more than LIM_LIST_ROWS: that many */
    const unsigned char *after;
    int64_t owner;
    bool restricted_to; /* leave out restricted rows of other users than `viewer` */
    uint32_t viewer;
};
typedef void cache_list_done(void *ctx, const struct cache_row *rows, uint32_t n, bool more, const struct kiln_err *e);
int cache_list(struct cache *c, const struct cache_list_query *q, cache_list_done *done, void *ctx,
               struct kiln_err *e);

struct cache_detail {
    struct cache_row row;
    const unsigned char *manifest, *ir, *toolchain, *parts; /* parts: KEY_PARTS_BYTES, or NULL */
    size_t manifest_len, ir_len, toolchain_len;             /* ir_len 0: the payload was not kept */
    unsigned char ir_digest[HASH_BYTES];
    const char *options;
};
/* By a prefix of the key, 1 to 32 bytes. NOTFOUND; INVALID when several keys begin so. Who may see `ir` is the
 * caller's rule. */
typedef void cache_show_done(void *ctx, const struct cache_detail *detail, const struct kiln_err *e);
int cache_show(struct cache *c, const unsigned char *prefix, size_t len, cache_show_done *done, void *ctx,
               struct kiln_err *e);

/* Criteria are joined by "and"; none and not all is INVALID. Pinned rows go too. owner -1: everybody's. */
struct cache_purge_query {
    const unsigned char *keys; /* n_keys * HASH_BYTES, copied */
    uint32_t n_keys;
    const char *entry; /* substring */
    bool all, dry_run;
    uint64_t unused_s; /* not used for this long; 0: no criterion */
    int64_t owner;
};
typedef void cache_purge_done(void *ctx, uint64_t entries, uint64_t bytes, const struct kiln_err *e);
int cache_purge(struct cache *c, const struct cache_purge_query *q, cache_purge_done *done, void *ctx,
                struct kiln_err *e);

/* At once, from memory. */
struct cache_stats {
    uint64_t entries, bytes;               /* of L1 (in memory-only mode: of the database in memory) */
    uint64_t memory_entries, memory_bytes; /* of L0 */
    uint64_t evictions, damaged;           /* rows evicted; rows or files found damaged, since the start */
    uint64_t write_errors, rebuilds;
    uint64_t queued; /* operations not finished */
    bool on_disk;
};
void cache_stats(struct cache *c, struct cache_stats *ret);

#endif
