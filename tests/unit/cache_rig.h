/* SPDX-License-Identifier: Apache-2.0
 * cache_rig.h - a cache in a fresh directory, and waiting for its answers without sleeping: the cache's wake
 * function counts, and rig_wait blocks on that count. */
#ifndef KILN_TESTS_CACHE_RIG_H
#define KILN_TESTS_CACHE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cache.h"

struct rig {
    char dir[64];
    struct cache *c;
    struct cache_options options;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    unsigned woken;
    uint64_t now;
    /* what callbacks said */
    unsigned answers;
    struct kiln_err e;
    struct cache_artifact *got;
    char source[16];
};

static inline void rig_wake(void *ctx)
{
    struct rig *g = ctx;

    pthread_mutex_lock(&g->lock);
    g->woken++;
    pthread_cond_signal(&g->cond);
    pthread_mutex_unlock(&g->lock);
}

static inline uint64_t rig_now(void *ctx)
{
    return __atomic_load_n(&((struct rig *)ctx)->now, __ATOMIC_RELAXED);
}

/* Poll until `wanted` callbacks of this rig have run. */
static inline void rig_wait(struct rig *g, unsigned wanted)
{
    for (;;) {
        cache_poll(g->c);
        if (g->answers >= wanted)
            return;
        pthread_mutex_lock(&g->lock);
        while (!g->woken)
            pthread_cond_wait(&g->cond, &g->lock);
        g->woken = 0;
        pthread_mutex_unlock(&g->lock);
    }
}

static inline void rig_init(struct rig *g)
{
    memset(g, 0, sizeof *g);
    /* in memory where there is such a place: thousands of stores are made, and each waits for its disk */
    strcpy(g->dir, access("/dev/shm", W_OK) == 0 ? "/dev/shm/kiln-cache-XXXXXX" : "/tmp/kiln-cache-XXXXXX");
    assert_non_null(mkdtemp(g->dir));
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->cond, NULL);
    g->now = 1700000000;
    g->options = (struct cache_options){ .dir = g->dir, .wake = rig_wake, .ctx = g, .now = rig_now };
}

static inline void rig_open(struct rig *g)
{
    struct kiln_err e = KILN_ERR_INIT;

    if (cache_open(&g->options, &g->c, &e) != 0)
        fail_msg("cache_open: %s", e.msg);
}

static inline void rig_close(struct rig *g)
{
    cache_close(g->c);
    g->c = NULL;
}

static inline void rig_reopen(struct rig *g)
{
    rig_close(g);
    rig_open(g);
}

static inline void remove_dir(const char *dir)
{
    DIR *d = opendir(dir);
    char path[512];

    if (!d)
        return;
    for (struct dirent *f; (f = readdir(d));) {
        if (f->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, f->d_name);
        unlink(path);
    }
    closedir(d);
    rmdir(dir);
}

static inline void rig_done(struct rig *g)
{
    cache_artifact_unref(g->got);
    cache_close(g->c);
    chmod(g->dir, 0700);
    remove_dir(g->dir);
}

/* ---- entries whose content follows from a number ---- */
static inline void make_parts(struct key_parts *p, unsigned n, char name[32])
{
    static const unsigned char toolchain[HASH_BYTES] = { 7 };

    memset(p, 0, sizeof *p);
    snprintf(name, 32, "function_%u", n);
    hash_once(name, strlen(name), p->ir);
    p->kind = "kir";
    p->signature = "float64(float64)";
    p->entry = name;
    p->target = "x86-64-v3";
    p->toolchain = toolchain;
    p->toolchain_len = sizeof toolchain;
    p->owner = 1000;
}

static inline void make_key(unsigned n, unsigned char key[HASH_BYTES])
{
    struct key_parts p;
    char name[32];

    make_parts(&p, n, name);
    key_compute(&p, key);
}

static inline void make_blob(unsigned n, unsigned char *blob, size_t len)
{
    for (size_t i = 0; i < len; i++)
        blob[i] = (unsigned char)(n * 31 + i * 7 + (i >> 8));
}

static inline void rig_put_done(void *ctx, const struct kiln_err *e)
{
    struct rig *g = ctx;

    g->answers++;
    if (e)
        g->e = *e;
    else
        g->e = (struct kiln_err)KILN_ERR_INIT;
}

/* Queue a put of len bytes; its answer counts. */
static inline void rig_put(struct rig *g, unsigned n, size_t len, uint64_t compile_us)
{
    struct key_parts parts;
    unsigned char key[HASH_BYTES], *blob = malloc(len + 1);
    struct kiln_err e = KILN_ERR_INIT;
    char name[32];

    make_parts(&parts, n, name);
    key_compute(&parts, key);
    make_blob(n, blob, len);
    struct cache_entry entry = { .key = key, .parts = &parts, .blob = blob, .blob_len = len, .manifest = "manifest",
                                 .manifest_len = 8, .ir = name, .ir_len = strlen(name), .compile_us = compile_us };
    if (cache_put(g->c, &entry, rig_put_done, g, NULL, &e) != 0)
        fail_msg("cache_put: %s", e.msg);
    free(blob);
}

/* Put and wait for the commit, which must succeed. */
static inline void rig_put_now(struct rig *g, unsigned n, size_t len)
{
    unsigned wanted = g->answers + 1;

    rig_put(g, n, len, 1000);
    rig_wait(g, wanted);
    if (g->e.code)
        fail_msg("put %u: %s", n, g->e.msg);
}

static inline void rig_get_done(void *ctx, struct cache_artifact *a, const char *source)
{
    struct rig *g = ctx;

    g->answers++;
    cache_artifact_unref(g->got);
    g->got = a ? cache_artifact_ref(a) : NULL;
    snprintf(g->source, sizeof g->source, "%s", source ? source : "miss");
}

/* Look entry n up: "memory", "disk" or "miss"; g->got holds it. */
static inline const char *rig_get(struct rig *g, unsigned n)
{
    unsigned char key[HASH_BYTES];
    struct kiln_err e = KILN_ERR_INIT;
    unsigned wanted = g->answers + 1;

    make_key(n, key);
    if (cache_get(g->c, key, rig_get_done, g, &e) != 0)
        fail_msg("cache_get: %s", e.msg);
    rig_wait(g, wanted);
    return g->source;
}

/* Whether g->got holds entry n with a blob of len bytes. */
static inline void rig_check_got(struct rig *g, unsigned n, size_t len)
{
    unsigned char *want = malloc(len + 1), key[HASH_BYTES];
    struct kiln_err e = KILN_ERR_INIT;
    struct buf bytes;

    assert_non_null(g->got);
    make_key(n, key);
    make_blob(n, want, len);
    buf_init(&bytes, 64u << 20);
    assert_int_equal(cache_artifact_read(g->got, &bytes, &e), 0);
    assert_int_equal(bytes.len, len);
    assert_memory_equal(g->got->key, key, HASH_BYTES);
    if (len)
        assert_memory_equal(bytes.data, want, len);
    assert_int_equal(g->got->manifest_len, 8);
    assert_memory_equal(g->got->manifest, "manifest", 8);
    buf_done(&bytes);
    free(want);
}

#endif
