/* SPDX-License-Identifier: Apache-2.0
 * pool.c - see pool.h. Threads are made at the first parallel loop and sleep between loops. */
#include "client/c/src/pool.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

typedef int32_t (*body_fn)(void *ctx, int64_t begin, int64_t end, int64_t chunk);

struct job {
    body_fn body;
    void *ctx;
    int64_t n, n_chunks;
    _Atomic int64_t next;   /* chunk to take */
    _Atomic int64_t failed; /* lowest failed chunk, INT64_MAX if none */
    _Atomic int32_t status; /* of that chunk; written under the pool's lock */
};

/* Lifetime: process. After a fork the child starts with an empty one (pool_reset). */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    struct job *job;     /* the loop being run, NULL if none */
    uint64_t generation; /* counts loops, so that a thread joins each once */
    uint32_t inside;     /* threads at work on `job` */
    uint32_t threads;    /* made so far, the caller not counted */
    uint32_t wanted;     /* caller included; 0: not decided yet */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .work = PTHREAD_COND_INITIALIZER,
           .idle = PTHREAD_COND_INITIALIZER };

static _Thread_local bool in_loop; /* this thread runs chunks */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void pool_reset(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.idle, NULL);
    pool.job = NULL;
    pool.inside = 0;
    pool.threads = 0;
    in_loop = false;
}

static void pool_once(void)
{
    pthread_atfork(NULL, NULL, pool_reset);
}

static uint32_t default_threads(void)
{
    const char *text = getenv("KILN_NUM_THREADS");
    if (text && *text) {
        char *end;
        long n = strtol(text, &end, 10);
        if (!*end && n > 0)
            return n > POOL_MAX_THREADS ? POOL_MAX_THREADS : (uint32_t)n;
    }
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return cpus < 1 ? 1 : cpus > POOL_MAX_THREADS ? POOL_MAX_THREADS : (uint32_t)cpus;
}

uint32_t pool_set_threads(uint32_t n)
{
    pthread_once(&once, pool_once);
    uint32_t wanted = n == 0 ? default_threads() : n > POOL_MAX_THREADS ? POOL_MAX_THREADS : n;
    pthread_mutex_lock(&pool.lock);
    pool.wanted = wanted;
    pthread_mutex_unlock(&pool.lock);
    return wanted;
}

static void run_chunks(struct job *j)
{
    for (;;) {
        int64_t c = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
        if (c >= j->n_chunks || atomic_load_explicit(&j->failed, memory_order_relaxed) != INT64_MAX)
            return;
        int64_t size = j->n / j->n_chunks, more = j->n % j->n_chunks;
        int64_t begin = size * c + (c < more ? c : more);
        int64_t end = begin + size + (c < more);
        int32_t status = j->body(j->ctx, begin, end, c);
        if (status) {
            pthread_mutex_lock(&pool.lock);
            if (c < atomic_load(&j->failed)) {
                atomic_store(&j->failed, c);
                atomic_store(&j->status, status);
            }
            pthread_mutex_unlock(&pool.lock);
        }
    }
}

static void *pool_thread(void *unused)
{
    (void)unused;
    in_loop = true;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (!pool.job || pool.generation == seen || pool.inside + 1 >= pool.wanted)
            pthread_cond_wait(&pool.work, &pool.lock);
        seen = pool.generation;
        struct job *j = pool.job;
        pool.inside++;
        pthread_mutex_unlock(&pool.lock);
        run_chunks(j);
        pthread_mutex_lock(&pool.lock);
        if (--pool.inside == 0)
            pthread_cond_broadcast(&pool.idle);
    }
    return NULL;
}

/* Requires: lock held. Fewer threads than wished are no error. */
static void make_threads(uint32_t wanted)
{
    sigset_t all, before;
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    while (pool.threads + 1 < wanted) {
        pthread_t id;
        if (pthread_create(&id, &attr, pool_thread, NULL))
            break;
        pool.threads++;
    }
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int32_t pool_parallel_for(body_fn body, void *ctx, int64_t n, int64_t n_chunks)
{
    if (n <= 0)
        return 0;
    if (n_chunks < 1)
        n_chunks = 1;
    if (n_chunks > n)
        n_chunks = n;
    struct job j = { .body = body, .ctx = ctx, .n = n, .n_chunks = n_chunks, .failed = INT64_MAX };
    bool shared = false;
    if (!in_loop && n_chunks > 1) {
        pthread_once(&once, pool_once);
        pthread_mutex_lock(&pool.lock);
        if (!pool.wanted)
            pool.wanted = default_threads();
        if (pool.wanted > 1 && !pool.job) {
            make_threads(pool.wanted);
            pool.job = &j;
            pool.generation++;
            shared = true;
            pthread_cond_broadcast(&pool.work);
        }
        pthread_mutex_unlock(&pool.lock);
    }
    bool outer = in_loop;
    in_loop = true;
    run_chunks(&j);
    in_loop = outer;
    if (shared) {
        pthread_mutex_lock(&pool.lock);
        pool.job = NULL; /* nobody joins any more */
        while (pool.inside)
            pthread_cond_wait(&pool.idle, &pool.lock);
        pthread_mutex_unlock(&pool.lock);
    }
    return atomic_load(&j.status);
}
