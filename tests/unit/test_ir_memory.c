/* SPDX-License-Identifier: Apache-2.0
 * Out of memory anywhere in proto/ir is an error, not a crash or a leak: the n-th allocation fails, for every n until
 * all succeed. (Linked with --wrap for the allocator.) */
#include <stdlib.h>

#include "proto/ir/type.h"
#include "tests/unit/kir_samples.h"

static long countdown = -1; /* allocations that still succeed; negative: all */
static long live;           /* blocks not freed */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

static int fails(void)
{
    if (countdown < 0)
        return 0;
    return countdown-- == 0 ? (countdown = 0, 1) : 0;
}

static void *counted(void *p)
{
    live += p != NULL;
    return p;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    void *q = fails() ? NULL : __real_realloc(p, size);

    live += q && !p;
    return q;
}

void __wrap_free(void *p)
{
    live -= p != NULL;
    __real_free(p);
}

static const char module[] =
    "(kir 1 (usertype 0 namedtuple P (x \"\") (y float64)) (usertype 1 enum E (A 1) (B (tuple 1 2)))"
    "(function 0 (params (x normal) (n normal (namedtuple 0 1 (tuple 1 2)))) (block"
    " (assign (const (array float32 [2] x0000803f00000040)) (local 2)) (assign (const (enum 1 1)) (local 3))"
    " (for (local 4) (call (lib builtins.range) [(local 1)]) (block (augassign + (local 2) (call (func 1) [(local 4)]))))"
    " (return (tuple (local 2) (const \"text\") (const (type float32)) (const 123456789012345678901234567890)))))"
    "(function 1 (params (v normal)) (flags inline) (block (return (binary ** (local 0) (const 2))))))";

/* Parse, print, encode, decode. */
static int forms(struct kiln_err *e)
{
    struct arena a;
    struct kir_module *m;
    struct buf text, bytes;
    int rc;

    arena_init(&a, SAMPLE_LIMIT);
    buf_init(&text, SAMPLE_LIMIT);
    buf_init(&bytes, SAMPLE_LIMIT);
    rc = kir_parse(&a, module, strlen(module), &m, e);
    if (!rc)
        rc = kir_print(m, &text, e);
    if (!rc)
        rc = kir_encode(m, &bytes, e);
    if (!rc)
        rc = kir_decode(&a, bytes.data, bytes.len, &m, e);
    buf_done(&text);
    buf_done(&bytes);
    arena_done(&a);
    return rc;
}

static int types(struct kiln_err *e)
{
    static const char text[] = "f8[:, ::1](Tuple((i8, f8[:])), UniTuple(c16, 500), optional(i4), CPointer(void))";
    struct arena a;
    struct type_table *t;
    struct signature s;
    struct buf out;
    int rc = -KILN_E_NOMEM;

    arena_init(&a, SAMPLE_LIMIT);
    buf_init(&out, SAMPLE_LIMIT);
    e->code = KILN_E_NOMEM;
    t = type_table_new(&a);
    if (t)
        rc = signature_parse(t, text, strlen(text), &s, e);
    if (!rc) {
        signature_print(&out, &s);
        rc = buf_ok(&out) ? 0 : -KILN_E_NOMEM;
    }
    buf_done(&out);
    arena_done(&a);
    return rc;
}

static void until_it_works(int (*work)(struct kiln_err *), long at_least)
{
    for (long n = 0; n < 100000; n++) {
        struct kiln_err e = KILN_ERR_INIT;
        long before = live;
        int rc;
        countdown = n;
        rc = work(&e);
        countdown = -1;
        assert_int_equal(live, before);
        if (rc == 0) {
            assert_true(n >= at_least);
            return;
        }
        if (rc != -KILN_E_NOMEM && rc != -KILN_E_LIMIT)
            fail_msg("allocation %ld: %s", n, e.msg);
    }
    fail_msg("never works");
}

static void test_modules(void **state)
{
    (void)state;
    until_it_works(forms, 10);
}

static void test_types(void **state)
{
    (void)state;
    until_it_works(types, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
