/* SPDX-License-Identifier: Apache-2.0
 * The memory tier: limits, order of eviction, references, seals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cache/private.h"

static void key_of(unsigned n, unsigned char key[HASH_BYTES])
{
    hash_once(&n, sizeof n, key);
}

static struct cache_artifact *add(struct memory *m, unsigned n, size_t len)
{
    unsigned char key[HASH_BYTES], bytes[4096] = { 0 };
    struct cache_artifact *a;

    key_of(n, key);
    a = artifact_new(key, bytes, len, "m", 1);
    assert_non_null(a);
    memory_add(m, a);
    return a;
}

static bool has(struct memory *m, unsigned n)
{
    unsigned char key[HASH_BYTES];

    key_of(n, key);
    return memory_find(m, key) != NULL;
}

static void the_least_recently_used_goes(void **state)
{
    struct kiln_err e;
    struct memory m;

    (void)state;
    assert_int_equal(memory_init(&m, 3, 1 << 20, &e), 0);
    for (unsigned i = 0; i < 3; i++)
        cache_artifact_unref(add(&m, i, 10));
    assert_true(has(&m, 0)); /* 1 is the oldest now */
    cache_artifact_unref(add(&m, 3, 10));
    assert_int_equal(m.n, 3);
    assert_false(has(&m, 1));
    assert_true(has(&m, 0) && has(&m, 2) && has(&m, 3));
    memory_done(&m);
}

static void bytes_are_bounded(void **state)
{
    struct kiln_err e;
    struct memory m;

    (void)state;
    assert_int_equal(memory_init(&m, 1000, 10000, &e), 0);
    for (unsigned i = 0; i < 100; i++) {
        cache_artifact_unref(add(&m, i, 2000));
        assert_true(m.bytes <= 10000);
    }
    assert_int_equal(m.n, 3);
    assert_true(has(&m, 99) && !has(&m, 0));
    memory_clear(&m);
    assert_int_equal(m.n, 0);
    assert_int_equal(m.bytes, 0);
    memory_done(&m);
}

static void many_keys_are_found_and_replaced(void **state)
{
    struct kiln_err e;
    struct memory m;

    (void)state;
    assert_int_equal(memory_init(&m, 700, 1 << 30, &e), 0);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 500; i++)
            cache_artifact_unref(add(&m, i, 8));
    assert_int_equal(m.n, 500);
    for (unsigned i = 0; i < 500; i++)
        assert_true(has(&m, i));
    for (unsigned i = 0; i < 500; i += 2) {
        unsigned char key[HASH_BYTES];
        key_of(i, key);
        memory_remove(&m, key);
        memory_remove(&m, key);
    }
    for (unsigned i = 0; i < 500; i++)
        assert_int_equal(has(&m, i), i % 2);
    memory_done(&m);
}

/* A descriptor that is being sent must not be closed by an eviction. */
static void a_reference_outlives_eviction(void **state)
{
    struct cache_artifact *a;
    struct kiln_err e;
    struct memory m;
    int fd;

    (void)state;
    assert_int_equal(memory_init(&m, 1, 1 << 20, &e), 0);
    a = add(&m, 1, 100);
    fd = a->fd;
    assert_true(fd >= 0);
    cache_artifact_unref(add(&m, 2, 100));
    assert_false(has(&m, 1));
    assert_true(fcntl(fd, F_GETFD) >= 0);
    cache_artifact_unref(a);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
    memory_done(&m);
}

static void nobody_can_change_an_artifact(void **state)
{
    unsigned char key[HASH_BYTES] = { 0 }, bytes[100] = { 42 };
    struct cache_artifact *a = artifact_new(key, bytes, sizeof bytes, NULL, 0);
    int seals = fcntl(a->fd, F_GET_SEALS);

    (void)state;
    assert_int_equal(seals & (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
                     F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    assert_int_equal(pwrite(a->fd, "x", 1, 0), -1);
    assert_int_equal(ftruncate(a->fd, 0), -1);
    assert_ptr_equal(mmap(NULL, 100, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0), MAP_FAILED);
    assert_true(fcntl(a->fd, F_GETFD) & FD_CLOEXEC);
    cache_artifact_unref(a);
}

static void without_descriptors_bytes_are_on_the_heap(void **state)
{
    unsigned char key[HASH_BYTES] = { 0 }, bytes[100] = { 42 };
    struct rlimit old, none;
    struct cache_artifact *a;
    struct kiln_err e;
    struct buf out;

    (void)state;
    getrlimit(RLIMIT_NOFILE, &old);
    none = old;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    a = artifact_new(key, bytes, sizeof bytes, "manifest", 8);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_non_null(a);
    assert_int_equal(a->fd, -1);
    assert_memory_equal(a->blob, bytes, sizeof bytes);
    buf_init(&out, 1000);
    assert_int_equal(cache_artifact_read(a, &out, &e), 0);
    assert_int_equal(out.len, sizeof bytes);
    buf_done(&out);
    buf_init(&out, 99);
    assert_int_equal(cache_artifact_read(a, &out, &e), -KILN_E_LIMIT);
    buf_done(&out);
    cache_artifact_unref(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_recently_used_goes),
        cmocka_unit_test(bytes_are_bounded),
        cmocka_unit_test(many_keys_are_found_and_replaced),
        cmocka_unit_test(a_reference_outlives_eviction),
        cmocka_unit_test(nobody_can_change_an_artifact),
        cmocka_unit_test(without_descriptors_bytes_are_on_the_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
