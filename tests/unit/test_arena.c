/* SPDX-License-Identifier: Apache-2.0
 * Alignment, zeroing, limits, reuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "proto/base/arena.h"

static void memory_is_aligned_zeroed_and_apart(void **state)
{
    unsigned char *last = NULL;
    struct arena a;

    (void)state;
    arena_init(&a, 1 << 22);
    for (size_t size = 1; size < 3000; size += 7) {
        unsigned char *p = arena_alloc(&a, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xee, size);
        assert_ptr_not_equal(p, last);
        last = p;
    }
    arena_clear(&a); /* the block that is kept is dirty: what comes out of it is not */
    assert_int_equal(a.used, 0);
    last = arena_alloc(&a, 2000);
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(last[i], 0);
    arena_done(&a);
}

static void the_limit_is_hard(void **state)
{
    struct arena a;
    size_t n = 0;

    (void)state;
    arena_init(&a, 10000);
    assert_null(arena_alloc(&a, 10001));
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_alloc(&a, SIZE_MAX - 7));
    while (arena_alloc(&a, 16))
        n += 16;
    assert_int_equal(n, 10000);
    assert_true(a.used <= 10000);
    assert_null(arena_dup(&a, "x", 1));
    assert_null(arena_printf(&a, "%d", 1));
    arena_clear(&a);
    assert_non_null(arena_alloc(&a, 10000));
    arena_done(&a);
}

static void counts_do_not_overflow(void **state)
{
    struct arena a;

    (void)state;
    arena_init(&a, SIZE_MAX);
    assert_null(arena_array(&a, SIZE_MAX / 2, 3));
    assert_null(arena_array(&a, (SIZE_MAX / 8) + 2, 8)); /* 8 modulo 2^64 */
    assert_non_null(arena_array(&a, 0, 8));
    assert_non_null(arena_array(&a, 8, 0));
    assert_null(arena_dup(&a, "x", SIZE_MAX));
    arena_done(&a);
}

static void text_is_terminated(void **state)
{
    struct arena a;

    (void)state;
    arena_init(&a, 1 << 20);
    assert_string_equal(arena_dup(&a, "kilnx", 4), "kiln");
    assert_string_equal(arena_dup(&a, NULL, 0), "");
    assert_string_equal(arena_printf(&a, "%s-%05d", "a", 42), "a-00042");
    assert_int_equal(strlen(arena_printf(&a, "%9000d", 1)), 9000);
    arena_done(&a);
}

static void arrays_grow(void **state)
{
    struct arena a;
    int *items = NULL;
    size_t cap = 0;

    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t n = 0; n < 5000; n++) {
        items = arena_grow(&a, items, n, &cap, sizeof *items);
        assert_non_null(items);
        assert_true(cap > n);
        items[n] = (int)n;
    }
    for (int i = 0; i < 5000; i++)
        assert_int_equal(items[i], i);
    arena_done(&a);
    arena_init(&a, 100);
    items = NULL;
    cap = 0;
    items = arena_grow(&a, items, 0, &cap, sizeof *items);
    assert_non_null(items);
    assert_null(arena_grow(&a, items, cap, &cap, 100)); /* the limit */
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_zeroed_and_apart),
        cmocka_unit_test(the_limit_is_hard),
        cmocka_unit_test(counts_do_not_overflow),
        cmocka_unit_test(text_is_terminated),
        cmocka_unit_test(arrays_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
