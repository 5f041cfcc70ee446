/* SPDX-License-Identifier: Apache-2.0
 * private.h - what the files of the cache share.
 *
 *   cache.c   the owner's side: open, close, poll, the operations' front doors
 *   worker.c  the two threads and their queues
 *   store.c   one artifact in and out of the database; touches
 *   people.c  list, show, purge
 *   evict.c   keeping under the limit
 *   db.c      connections, statements, SQLite's errors
 *   dir.c     the directory and its lock
 *   memory.c  L0; artifact.c  counted memfds
 *
 * Who touches what: `memory` and everything public belong to the owner's thread; a db to the thread whose
 * queue it serves (the writer may take the reader's under db_lock, to rebuild); counters are atomic. */
#ifndef KILN_CACHE_PRIVATE_H
#define KILN_CACHE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "cache/cache.h"

/* ---- artifact.c ---- */
/* Blob and manifest are copied. NULL when out of memory. Falls back to heap bytes where no memfd can be had. */
struct cache_artifact *artifact_new(const unsigned char key[HASH_BYTES], const void *blob, size_t blob_len,
                                    const void *manifest, size_t manifest_len);
/* The bytes for a moment: mapped, or the heap's. NULL on failure; undone by artifact_unmap. */
const void *artifact_map(const struct cache_artifact *a);
void artifact_unmap(const struct cache_artifact *a, const void *p);

/* ---- memory.c: L0 ---- */
struct memory_node {
    struct cache_artifact *artifact;
    struct memory_node *chain;       /* same bucket */
    struct memory_node *older, *newer;
    uint64_t touch_epoch; /* where its pending touch is: valid while the epoch is the cache's */
    uint32_t touch_index;
};
struct memory {
    struct memory_node **buckets;
    size_t n_buckets; /* a power of two */
    struct memory_node *newest, *oldest;
    uint64_t n, bytes, max_n, max_bytes;
};
int memory_init(struct memory *m, uint64_t max_n, uint64_t max_bytes, struct kiln_err *e);
void memory_done(struct memory *m);
/* Found: it becomes the newest. */
struct memory_node *memory_find(struct memory *m, const unsigned char *key);
/* Takes a reference of its own; evicts the oldest past a limit. NULL: not kept (too large, no memory). */
struct memory_node *memory_add(struct memory *m, struct cache_artifact *a);
void memory_remove(struct memory *m, const unsigned char *key);
void memory_clear(struct memory *m);

/* ---- dir.c ---- */
/* Make the directory ready and lock it. 0: *ret_path (heap, resolved) and *ret_lock are set; KILN_E_EXISTS:
 * used by another process; KILN_E_IO, DENIED, UNSUPPORTED: can't be used, e says why. */
int dir_prepare(const char *dir, char **ret_path, int *ret_lock, struct kiln_err *e);
/* The name of a network file system by its statfs magic, or NULL. */
const char *dir_network_name(uint64_t magic);

/* ---- db.c ---- */
enum db_sql {
#define X(NAME, text) SQL_##NAME,
#include "cache/sql.def"
#undef X
    SQL__COUNT
};
struct sqlite3;
struct sqlite3_stmt;
struct db {
    struct sqlite3 *h;
    struct sqlite3_stmt *statements[SQL__COUNT];
    bool corrupt; /* SQLite has said so: set the file aside */
};
/* path ":memory:" for none. create: make the schema where there is none. */
int db_open(struct db *db, const char *path, bool create, struct kiln_err *e);
void db_close(struct db *db);
/* A statement, reset and unbound; NULL on failure. */
struct sqlite3_stmt *db_prepare(struct db *db, enum db_sql sql, struct kiln_err *e);
/* Step: 1 a row, 0 done, negative on failure. */
int db_step(struct db *db, struct sqlite3_stmt *s, struct kiln_err *e);
int db_run(struct db *db, enum db_sql sql, struct kiln_err *e); /* without parameters */
/* Return some free pages to the file system. RUN_AGAIN while there are more. */
int db_shrink(struct db *db, struct kiln_err *e);
int db_totals(struct db *db, uint64_t *ret_entries, uint64_t *ret_bytes, struct kiln_err *e);
/* Move store.db and its companions out of the way (one damaged file is kept, the newest). */
int db_set_aside(const char *path, struct kiln_err *e);

/* ---- requests ---- */
struct request {
    struct request *next;
    struct cache *c;
    void *ctx;
    int (*run)(struct db *db, struct request *r, struct kiln_err *e); /* in a thread; RUN_AGAIN: queue it again */
    void (*finish)(struct request *r);                                /* owner's thread: callback, then free */
    bool batch;   /* may share a transaction with its neighbours */
    size_t weight; /* bytes, to bound a batch */
    int result;
    struct kiln_err e;
};
#define RUN_AGAIN 1

struct touch {
    unsigned char key[HASH_BYTES];
    uint64_t when;
    uint32_t hits;
};
#define TOUCHES 1024         /* pending at most; then they are written */
#define TOUCH_SECONDS 5      /* after the first pending one */

struct queue {
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t cond, idle;
    struct request *head, **tail;
    bool stop, busy;
};

struct cache {
    /* set once */
    void (*wake)(void *);
    uint64_t (*now)(void *);
    void *ctx;
    uint64_t max_bytes;
    char *path; /* of the database; NULL: memory only */
    int lock_fd;
    uint64_t file_dev, file_ino; /* of path, when it was opened: the writer's */

    struct memory memory; /* owner's */
    uint64_t purges;      /* begun and ended: a get that spans one does not fill L0 */
    char notice_out[320];

    struct queue writer, reader; /* in memory-only mode the writer serves both */
    pthread_rwlock_t db_lock;    /* shared by the reader while it uses read_db */
    struct db write_db, read_db;
    atomic_bool want_rebuild, closing;

    struct touch *touches; /* under writer.lock */
    uint32_t n_touches;
    uint64_t touch_epoch;

    pthread_mutex_t done_lock;
    struct request *done, **done_tail;

    pthread_mutex_t notice_lock;
    char notice[256], write_notice[256];

    atomic_uint_fast64_t entries, bytes, evictions, damaged, write_errors, rebuilds, queued;
};

/* worker.c */
int threads_start(struct cache *c, struct kiln_err *e);
void threads_stop(struct cache *c);
void cache_submit(struct cache *c, bool write, struct request *r);
void cache_touch(struct cache *c, struct memory_node *node);
/* Uses are noted and not yet in the database: a question that shows them goes to the writer, which writes them
 * first. */
bool cache_touches_wait(struct cache *c);
/* Note damage found by the reader in the row of this key: the writer deletes it. Any thread. */
void cache_row_damaged(struct cache *c, const unsigned char key[HASH_BYTES]);
void cache_set_notice(struct cache *c, const char *text);

/* Remember which file was opened. */
void cache_know_file(struct cache *c);

/* store.c */
int store_get(struct cache *c, struct db *db, const unsigned char key[HASH_BYTES], struct cache_artifact **ret,
              struct kiln_err *e);
int store_known(struct db *db, const unsigned char key[HASH_BYTES], struct cache_known *ret, struct kiln_err *e);
struct put;
int store_put(struct db *db, const struct put *p, struct kiln_err *e);
int store_touch(struct db *db, const struct touch *t, struct kiln_err *e);
int store_delete(struct db *db, const unsigned char key[HASH_BYTES], struct kiln_err *e);

/* What the writer needs of a put; texts and bytes behind it in one block. */
struct put {
    struct request base;
    cache_put_done *done;
    struct cache_artifact *artifact;
    const char *entry, *signature, *target, *emit, *options;
    const unsigned char *ir, *toolchain;
    size_t ir_len, toolchain_len;
    unsigned char ir_digest[HASH_BYTES], parts[KEY_PARTS_BYTES];
    uint64_t created;
    bool pin;
};

/* evict.c: delete until `bytes` is at most max. Inside the writer's transaction. */
int evict(struct cache *c, struct db *db, struct kiln_err *e);

#endif
