/* SPDX-License-Identifier: Apache-2.0
 * Parallel loops of the host, its memory, and its counters. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <kiln/kiln.h>

struct work {
    _Atomic int64_t seen[1000];
    int64_t begins[64];
    _Atomic int calls;
    int64_t fail_at;
};

static int32_t visit(void *ctx, int64_t begin, int64_t end, int64_t chunk)
{
    struct work *w = ctx;
    w->calls++;
    w->begins[chunk] = begin;
    if (chunk == w->fail_at)
        return KILN_RAISED;
    for (int64_t i = begin; i < end; i++)
        w->seen[i]++;
    return 0;
}

static int32_t loop(struct work *w, int64_t n, int64_t chunks)
{
    return kiln_host()->parallel_for(visit, w, n, chunks);
}

static void every_index_once(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        assert_int_equal(kiln_host_set_threads(threads), threads);
        for (int64_t chunks = 1; chunks <= 64; chunks += 21) {
            struct work w = { .fail_at = -1 };
            assert_int_equal(loop(&w, 1000, chunks), 0);
            for (int i = 0; i < 1000; i++)
                assert_int_equal(w.seen[i], 1);
            assert_int_equal(w.calls, chunks);
        }
    }
}

static void chunks_depend_on_n_alone(void **state)
{
    (void)state;
    struct work one = { .fail_at = -1 }, many = { .fail_at = -1 };
    kiln_host_set_threads(1);
    loop(&one, 997, 10);
    kiln_host_set_threads(4);
    loop(&many, 997, 10);
    assert_memory_equal(one.begins, many.begins, 10 * sizeof *one.begins);
    assert_int_equal(one.begins[1], 100); /* 997 = 7 chunks of 100 and 3 of 99 */
    assert_int_equal(one.begins[9], 898);
}

static void a_failure_ends_the_loop(void **state)
{
    (void)state;
    kiln_host_set_threads(1);
    struct work w = { .fail_at = 2 };
    assert_int_equal(loop(&w, 1000, 10), KILN_RAISED);
    assert_int_equal(w.calls, 3);
    kiln_host_set_threads(4);
    struct work v = { .fail_at = 0 };
    assert_int_equal(loop(&v, 1000, 64), KILN_RAISED);
}

static void few_and_none(void **state)
{
    (void)state;
    struct work w = { .fail_at = -1 };
    assert_int_equal(loop(&w, 0, 8), 0);
    assert_int_equal(w.calls, 0);
    assert_int_equal(loop(&w, 3, 8), 0); /* never an empty chunk */
    assert_int_equal(w.calls, 3);
}

static int32_t inner(void *ctx, int64_t begin, int64_t end, int64_t chunk)
{
    struct work *w = ctx;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        w->seen[i]++;
    return 0;
}
static int32_t outer(void *ctx, int64_t begin, int64_t end, int64_t chunk)
{
    (void)begin, (void)end, (void)chunk;
    return kiln_host()->parallel_for(inner, ctx, 1000, 10);
}

static void loops_nest(void **state)
{
    (void)state;
    struct work w = { .fail_at = -1 };
    kiln_host_set_threads(4);
    assert_int_equal(kiln_host()->parallel_for(outer, &w, 8, 8), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(w.seen[i], 8);
}

static void a_child_has_a_pool_too(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* its runtime refuses new threads in a child */
#endif
    kiln_host_set_threads(4);
    struct work w = { .fail_at = -1 };
    loop(&w, 1000, 16);
    pid_t child = fork();
    if (child == 0) {
        struct work v = { .fail_at = -1 };
        int rc = loop(&v, 1000, 16);
        for (int i = 0; i < 1000; i++)
            rc |= v.seen[i] != 1;
        _exit(rc);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void memory_is_counted(void **state)
{
    (void)state;
    struct kiln_counts before, during, after;
    kiln_counts(&before);
    struct kiln_mem *m = kiln_host()->alloc(1000);
    assert_non_null(m);
    assert_int_equal((uintptr_t)m->data % 64, 0);
    assert_int_equal(m->refs, 1);
    assert_int_equal(m->size, 1000);
    memset(m->data, 1, 1000);
    kiln_counts(&during);
    assert_int_equal(during.mem_live, before.mem_live + 1);
    assert_int_equal(during.mem_bytes, before.mem_bytes + 1000);
    kiln_mem_ref(m);
    kiln_mem_unref(m);
    kiln_mem_unref(m);
    kiln_counts(&after);
    assert_int_equal(after.mem_live, before.mem_live);
    assert_int_equal(after.mem_bytes, before.mem_bytes);
    assert_int_equal(after.mem_total, before.mem_total + 1);
    assert_null(kiln_host()->alloc(-1));
    assert_null(kiln_host()->alloc(INT64_MAX));
    m = kiln_host()->alloc(0);
    assert_non_null(m);
    kiln_mem_unref(m);
}

static char printed[64];
static int32_t keep(const char *text, int64_t len)
{
    memcpy(printed, text, (size_t)len);
    return 0;
}
static int32_t stop(void)
{
    return 1;
}

static void services_can_be_replaced(void **state)
{
    (void)state;
    assert_int_equal(kiln_host()->version, KILN_ABI_VERSION);
    kiln_host_set_print(keep);
    assert_int_equal(kiln_host()->print("text", 4), 0);
    assert_string_equal(printed, "text");
    kiln_host_set_print(NULL);
    assert_int_equal(kiln_host()->interrupted(), 0);
    kiln_host_set_interrupted(stop);
    assert_int_equal(kiln_host()->interrupted(), 1);
    kiln_host_set_interrupted(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_once),
        cmocka_unit_test(chunks_depend_on_n_alone),
        cmocka_unit_test(a_failure_ends_the_loop),
        cmocka_unit_test(few_and_none),
        cmocka_unit_test(loops_nest),
        cmocka_unit_test(a_child_has_a_pool_too),
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(services_can_be_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
