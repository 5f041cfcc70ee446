/* SPDX-License-Identifier: Apache-2.0
 * worker.c - the writer and the reader: a queue each, results back to the owner through one list.
 *
 * The writer puts neighbouring puts into one transaction, and acknowledges them after its commit. Touches ride
 * along, or go alone a few seconds after the first. A batch that fails is tried again request by request, so
 * that one bad row costs only itself; a database that turns out corrupt is rebuilt and the batch tried again. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache/private.h"

#define BATCH 64                 /* requests of one transaction: about 10 ms */
#define BATCH_BYTES (16u << 20)  /* and what it may write */

/* ---- queues ---- */
static void push(struct queue *q, struct request *r)
{
    r->next = NULL;
    *q->tail = r;
    q->tail = &r->next;
}

static struct request *pop(struct queue *q)
{
    struct request *r = q->head;

    q->head = r->next;
    if (!q->head)
        q->tail = &q->head;
    r->next = NULL;
    return r;
}

void cache_submit(struct cache *c, bool write, struct request *r)
{
    struct queue *q = write || !c->path ? &c->writer : &c->reader;

    r->c = c;
    r->result = 0;
    atomic_fetch_add(&c->queued, 1);
    pthread_mutex_lock(&q->lock);
    push(q, r);
    pthread_cond_signal(&q->cond);
    pthread_mutex_unlock(&q->lock);
}

/* Hand finished requests to the owner. */
static void deliver(struct cache *c, struct request *first, struct request *last)
{
    bool first_of_all;

    pthread_mutex_lock(&c->done_lock);
    first_of_all = !c->done;
    *c->done_tail = first;
    c->done_tail = &last->next;
    pthread_mutex_unlock(&c->done_lock);
    if (first_of_all && c->wake)
        c->wake(c->ctx);
}

void cache_set_notice(struct cache *c, const char *text)
{
    pthread_mutex_lock(&c->notice_lock);
    snprintf(c->write_notice, sizeof c->write_notice, "%s", text);
    pthread_mutex_unlock(&c->notice_lock);
}

/* ---- touches ---- */
void cache_touch(struct cache *c, struct memory_node *node)
{
    struct touch *t;

    pthread_mutex_lock(&c->writer.lock);
    if (node->touch_epoch == c->touch_epoch && node->touch_index < c->n_touches) {
        t = &c->touches[node->touch_index];
        t->hits++;
        t->when = c->now(c->ctx);
    } else if (c->n_touches < TOUCHES) {
        t = &c->touches[c->n_touches];
        memcpy(t->key, node->artifact->key, HASH_BYTES);
        t->hits = 1;
        t->when = c->now(c->ctx);
        node->touch_epoch = c->touch_epoch;
        node->touch_index = c->n_touches++;
        if (c->n_touches == 1 || c->n_touches == TOUCHES) /* start the clock, or now */
            pthread_cond_signal(&c->writer.cond);
    } /* else: the writer is behind; a use that is not counted only makes the entry look older */
    pthread_mutex_unlock(&c->writer.lock);
}

bool cache_touches_wait(struct cache *c)
{
    bool wait;

    pthread_mutex_lock(&c->writer.lock);
    wait = c->n_touches > 0;
    pthread_mutex_unlock(&c->writer.lock);
    return wait;
}

static uint32_t take_touches(struct cache *c, struct touch *into)
{
    uint32_t n = c->n_touches;

    memcpy(into, c->touches, n * sizeof *into);
    c->n_touches = 0;
    c->touch_epoch++;
    return n;
}

/* ---- the writer ---- */
static void count(struct cache *c)
{
    struct kiln_err ignored;
    uint64_t entries, bytes;

    if (db_totals(&c->write_db, &entries, &bytes, &ignored) < 0)
        return;
    atomic_store(&c->entries, entries);
    atomic_store(&c->bytes, bytes);
}

void cache_know_file(struct cache *c)
{
    struct stat st;
    bool there = c->path && stat(c->path, &st) == 0;

    c->file_dev = there ? (uint64_t)st.st_dev : 0;
    c->file_ino = there ? (uint64_t)st.st_ino : 0;
}

/* Somebody has removed the database, or put another in its place: what is written now would be lost. */
static bool file_gone(const struct cache *c)
{
    struct stat st;

    return stat(c->path, &st) < 0 ? errno == ENOENT
                                  : (uint64_t)st.st_dev != c->file_dev || (uint64_t)st.st_ino != c->file_ino;
}

/* Have the directory as at the start: made, ours, locked. */
static int take_directory(struct cache *c, struct kiln_err *e)
{
    char *dir = strdup(c->path), *resolved = NULL;
    int r;

    if (!dir)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "the cache");
    *strrchr(dir, '/') = '\0';
    if (c->lock_fd >= 0)
        close(c->lock_fd); /* of a file that may be gone */
    c->lock_fd = -1;
    r = dir_prepare(*dir ? dir : "/", &resolved, &c->lock_fd, e);
    free(resolved);
    free(dir);
    return r;
}

/* Open both connections again; with `aside` the file is beyond use and a new one takes its place. A failure
 * leaves both closed: reads are misses, writes errors, and the next batch tries again. */
static void reopen(struct cache *c, bool aside)
{
    struct kiln_err e = KILN_ERR_INIT;
    bool gone = c->lock_fd < 0 || file_gone(c);

    pthread_rwlock_wrlock(&c->db_lock);
    db_close(&c->read_db);
    db_close(&c->write_db);
    if (aside) {
        atomic_fetch_add(&c->damaged, 1);
        atomic_fetch_add(&c->rebuilds, 1);
        atomic_store(&c->want_rebuild, false);
    }
    if ((gone && take_directory(c, &e) < 0) || (aside && db_set_aside(c->path, &e) < 0) || db_open(&c->write_db, c->path, true, &e) < 0 ||
        db_open(&c->read_db, c->path, false, &e) < 0) {
        bool corrupt = c->write_db.corrupt;
        cache_set_notice(c, e.msg);
        db_close(&c->write_db);
        if (corrupt)
            atomic_store(&c->want_rebuild, true);
    }
    cache_know_file(c);
    pthread_rwlock_unlock(&c->db_lock);
    count(c);
}

static int batch_body(struct cache *c, struct request *first, const struct touch *touches, uint32_t n_touches,
                      struct kiln_err *e)
{
    int r;

    for (struct request *q = first; q; q = q->next)
        if ((r = q->run(&c->write_db, q, e)) < 0)
            return r;
    for (uint32_t i = 0; i < n_touches; i++)
        if ((r = store_touch(&c->write_db, &touches[i], e)) < 0)
            return r;
    return first ? evict(c, &c->write_db, e) : 0;
}

static int transaction(struct cache *c, struct request *first, const struct touch *touches, uint32_t n_touches,
                       struct kiln_err *e)
{
    struct kiln_err ignored;
    int r = db_run(&c->write_db, SQL_BEGIN, e);

    if (r < 0)
        return r;
    r = batch_body(c, first, touches, n_touches, e);
    if (r == 0)
        r = db_run(&c->write_db, SQL_COMMIT, e);
    if (r < 0)
        db_run(&c->write_db, SQL_ROLLBACK, &ignored); /* SQLite may have rolled back by itself */
    return r;
}

/* One transaction, again on a new file if the old one is corrupt. */
static int commit(struct cache *c, struct request *first, const struct touch *touches, uint32_t n_touches,
                  struct kiln_err *e)
{
    int r = transaction(c, first, touches, n_touches, e);

    if (r < 0 && c->write_db.corrupt && c->path) {
        reopen(c, true);
        r = transaction(c, first, NULL, 0, e);
    }
    return r;
}

static void write_batch(struct cache *c, struct request *first, const struct touch *touches, uint32_t n_touches)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct request *last = NULL;
    int r = commit(c, first, touches, n_touches, &e);
    bool failed = r < 0;

    if (r < 0 && first && first->next) {
        failed = false;
        for (struct request *q = first; q; q = q->next) {
            struct request *rest = q->next;
            q->next = NULL;
            q->result = commit(c, q, NULL, 0, &q->e);
            if (q->result < 0) {
                failed = true;
                e = q->e;
            }
            q->next = rest;
            last = q;
        }
    } else {
        for (struct request *q = first; q; q = q->next) {
            q->result = r;
            if (r < 0)
                q->e = e;
            last = q;
        }
    }
    if (failed) {
        atomic_fetch_add(&c->write_errors, 1);
        if (c->write_db.h) /* else reopen has said why */
            cache_set_notice(c, e.msg);
    } else if (first) {
        cache_set_notice(c, "");
    }
    count(c);
    if (first)
        deliver(c, first, last);
}

/* A request that manages its own transactions, or in memory-only mode one of the reader's. */
static void run_alone(struct cache *c, struct queue *q, struct db *db, struct request *r)
{
    r->result = r->run(db, r, &r->e);
    if (db == &c->write_db)
        count(c); /* before the answer, so that who has it sees the numbers that go with it */
    if (r->result == RUN_AGAIN) {
        pthread_mutex_lock(&q->lock);
        push(q, r);
        pthread_mutex_unlock(&q->lock);
        return;
    }
    deliver(c, r, r);
}

static struct timespec in_seconds(unsigned s)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += s;
    return t;
}

/* Wait for work; true: touches are due. Called and returns with the lock held. */
static bool wait_for_work(struct cache *c, struct queue *q)
{
    struct timespec due = { 0, 0 };

    for (;;) {
        if (q->head || q->stop || atomic_load(&c->want_rebuild))
            return c->n_touches > 0;
        if (c->n_touches >= TOUCHES)
            return true;
        if (!c->n_touches) {
            pthread_cond_wait(&q->cond, &q->lock);
            continue;
        }
        if (!due.tv_sec)
            due = in_seconds(TOUCH_SECONDS);
        if (pthread_cond_timedwait(&q->cond, &q->lock, &due) == ETIMEDOUT)
            return c->n_touches > 0;
    }
}

static struct request *take_batch(struct queue *q)
{
    struct request *first = NULL, **tail = &first;
    size_t bytes = 0;

    for (unsigned n = 0; q->head && q->head->batch && n < BATCH && bytes < BATCH_BYTES; n++) {
        bytes += q->head->weight;
        *tail = pop(q);
        tail = &(*tail)->next;
    }
    return first;
}

static void *writer_main(void *arg)
{
    struct cache *c = arg;
    struct queue *q = &c->writer;
    struct touch *touches = c->touches + TOUCHES; /* the second half of the block: the writer's copy */

    pthread_mutex_lock(&q->lock);
    for (;;) {
        struct request *first = NULL, *alone = NULL;
        bool touch_now = wait_for_work(c, q);
        uint32_t n = touch_now ? take_touches(c, touches) : 0;
        if (q->stop && !q->head && !n)
            break;
        if (q->head && !q->head->batch)
            alone = pop(q);
        else
            first = take_batch(q);
        q->busy = true;
        pthread_mutex_unlock(&q->lock);
        if (c->path && (atomic_load(&c->want_rebuild) || !c->write_db.h || ((first || alone) && file_gone(c))))
            reopen(c, atomic_load(&c->want_rebuild));
        if (first || n)
            write_batch(c, first, touches, n);
        if (alone) {
            run_alone(c, q, &c->write_db, alone);
            if (c->write_db.corrupt && c->path)
                reopen(c, true);
        }
        pthread_mutex_lock(&q->lock);
        q->busy = false;
        if (!q->head)
            pthread_cond_broadcast(&q->idle);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* ---- the reader ---- */
static void *reader_main(void *arg)
{
    struct cache *c = arg;
    struct queue *q = &c->reader;

    pthread_mutex_lock(&q->lock);
    for (;;) {
        struct request *r;
        while (!q->head && !q->stop)
            pthread_cond_wait(&q->cond, &q->lock);
        if (!q->head)
            break;
        r = pop(q);
        q->busy = true;
        pthread_mutex_unlock(&q->lock);
        pthread_rwlock_rdlock(&c->db_lock);
        run_alone(c, q, &c->read_db, r);
        if (c->read_db.corrupt && !atomic_exchange(&c->want_rebuild, true)) {
            pthread_mutex_lock(&c->writer.lock);
            pthread_cond_signal(&c->writer.cond);
            pthread_mutex_unlock(&c->writer.lock);
        }
        pthread_rwlock_unlock(&c->db_lock);
        pthread_mutex_lock(&q->lock);
        q->busy = false;
        if (!q->head)
            pthread_cond_broadcast(&q->idle);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* ---- damage in a row ---- */
struct damage {
    struct request base;
    unsigned char key[HASH_BYTES];
};

static int damage_run(struct db *db, struct request *r, struct kiln_err *e)
{
    return store_delete(db, ((struct damage *)r)->key, e);
}

static void damage_finish(struct request *r)
{
    free(r);
}

void cache_row_damaged(struct cache *c, const unsigned char key[HASH_BYTES])
{
    struct damage *d = calloc(1, sizeof *d);

    atomic_fetch_add(&c->damaged, 1);
    if (!d)
        return; /* the row stays a miss; the next look deletes it */
    memcpy(d->key, key, HASH_BYTES);
    d->base.run = damage_run;
    d->base.finish = damage_finish;
    d->base.batch = true;
    cache_submit(c, true, &d->base);
}

/* ---- start and stop ---- */
static void queue_init(struct queue *q)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->cond, &monotonic);
    pthread_cond_init(&q->idle, NULL);
    pthread_condattr_destroy(&monotonic);
    q->tail = &q->head;
}

static void queue_stop(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_signal(&q->cond);
    pthread_mutex_unlock(&q->lock);
    if (q->started)
        pthread_join(q->thread, NULL);
    q->started = false;
}

static void queue_done(struct queue *q)
{
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->cond);
    pthread_cond_destroy(&q->idle);
}

int threads_start(struct cache *c, struct kiln_err *e)
{
    sigset_t all, old;
    int failed;

    queue_init(&c->writer);
    queue_init(&c->reader);
    pthread_rwlock_init(&c->db_lock, NULL);
    pthread_mutex_init(&c->done_lock, NULL);
    pthread_mutex_init(&c->notice_lock, NULL);
    c->done_tail = &c->done;
    count(c);
    /* Signals are the owner's. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(&c->writer.thread, NULL, writer_main, c);
    c->writer.started = !failed;
    if (!failed && c->path) {
        failed = pthread_create(&c->reader.thread, NULL, reader_main, c);
        c->reader.started = !failed;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed ? kiln_err_set(e, KILN_E_NOMEM, failed, "a thread of the cache: %s", strerror(failed)) : 0;
}

/* What callbacks have asked for while the threads stopped: answered all the same. */
static void abandon(struct cache *c)
{
    while (c->reader.head || c->writer.head) {
        struct request *r = pop(c->reader.head ? &c->reader : &c->writer);
        r->result = kiln_err_set(&r->e, KILN_E_CLOSED, 0, "the cache is closing");
        r->finish(r); /* may ask again */
    }
}

void threads_stop(struct cache *c)
{
    /* The reader first: it may still give the writer a damaged row to delete. */
    queue_stop(&c->reader);
    queue_stop(&c->writer);
    cache_poll(c);
    abandon(c);
    queue_done(&c->writer);
    queue_done(&c->reader);
    pthread_rwlock_destroy(&c->db_lock);
    pthread_mutex_destroy(&c->done_lock);
    pthread_mutex_destroy(&c->notice_lock);
}
