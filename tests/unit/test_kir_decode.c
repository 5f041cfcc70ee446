/* SPDX-License-Identifier: Apache-2.0
 * Sizes and limits of decoding; proto/vectors/kir.txt has the rules one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "proto/ir/builder.h"
#include "tests/unit/kir_samples.h"

/* return ---...-x, `depth` nodes deep with the body and the return. */
static struct kir_builder *nested(unsigned depth)
{
    struct kir_builder *b = kir_builder_new();
    uint32_t f = kir_b_function(b), x = kir_b_local(b, f, kir_b_param(b, f, "x", KIR_P_NORMAL, KIR_NIL));

    for (unsigned i = 3; i < depth; i++)
        x = kir_b_unary(b, f, KIR_U_NEG, x);
    x = kir_b_return(b, f, x);
    kir_b_block(b, f, &x, 1);
    return b;
}

static void test_depth(void **state)
{
    struct arena a;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;
    struct kir_builder *b = nested(KIR_MAX_DEPTH);
    struct buf text;

    (void)state;
    arena_init(&a, SAMPLE_LIMIT);
    assert_int_equal(kir_builder_finish(b, &a, &m, &e), 0);
    buf_init(&text, SAMPLE_LIMIT);
    assert_int_equal(kir_print(m, &text, &e), 0);
    assert_int_equal(kir_parse(&a, (const char *)text.data, text.len, &m, &e), 0);
    buf_done(&text);
    kir_builder_free(b);
    b = nested(KIR_MAX_DEPTH + 1);
    assert_int_equal(kir_builder_finish(b, &a, &m, &e), -KILN_E_LIMIT);
    assert_non_null(strstr(e.msg, "nested more than 3000 deep"));
    kir_builder_free(b);
    b = nested(100000);
    assert_int_equal(kir_builder_finish(b, &a, &m, &e), -KILN_E_LIMIT);
    kir_builder_free(b);
    arena_done(&a);
}

/* A tuple of twice the last one, 10,000 times: linear to check, to print and to read. */
static void test_shared_tuples(void **state)
{
    struct kir_builder *b = kir_builder_new();
    uint32_t f = kir_b_function(b), c = kir_b_int(b, 1);
    struct arena a;
    struct kir_module *m, *again;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf text, first, second;

    (void)state;
    for (int i = 0; i < 10000; i++)
        c = kir_b_tuple_const(b, (uint32_t[]){ c, c }, 2);
    c = kir_b_return(b, f, kir_b_const(b, f, c));
    kir_b_block(b, f, &c, 1);
    arena_init(&a, SAMPLE_LIMIT);
    assert_int_equal(kir_builder_finish(b, &a, &m, &e), 0);
    assert_int_equal(m->n_consts, 10001);
    buf_init(&text, SAMPLE_LIMIT);
    assert_int_equal(kir_print(m, &text, &e), 0);
    if (kir_parse(&a, (const char *)text.data, text.len, &again, &e))
        fail_msg("%s", e.msg);
    sample_encode(m, &first);
    sample_encode(again, &second);
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.data, second.data, first.len);
    buf_done(&text);
    buf_done(&first);
    buf_done(&second);
    kir_builder_free(b);
    arena_done(&a);
}

/* A count of four billion in a module of a few bytes must not lead to an allocation. */
static void test_counts_allocate_nothing(void **state)
{
#define BYTES(s)                                                                                             \
    {                                                                                                        \
        s, sizeof s - 1                                                                                      \
    }
    static const struct {
        const char *p;
        size_t n;
    } hostile[] = {
        BYTES("\xdd\xff\xff\xff\xff"),
        BYTES("\x96\xa3KIR\x01\x00\xdd\xff\xff\xff\xff"),
        BYTES("\x96\xa3KIR\x01\x00\x91\x92\x0a\xdd\xff\xff\xff\xff"),
        BYTES("\x96\xa3KIR\x01\x00\x90\xdd\xff\xff\xff\xff"),
        BYTES("\x96\xa3KIR\x01\x00\x90\x91\x94\x01\xa1P\xdd\xff\xff\xff\xff"),
        BYTES("\x96\xa3KIR\x01\x00\x90\x90\xdd\xff\xff\xff\xff"),
        BYTES("\x96\xa3KIR\x01\x00\x90\x90\x91\x96\xdd\xff\xff\xff\xff"),
        BYTES("\x96\xa3KIR\x01\x00\x90\x90\x91\x96\x90\x00\x00\x00\xce\xff\xff\xff\xfe\xdd\xff\xff\xff\xff"),
        BYTES("\x96\xa3KIR\x01\x00\x90\x90\x91\x96\x90\x00\x00\x00\xce\xff\xff\xff\xfe\x92\x20\x00"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        struct arena a;
        struct kir_module *m;
        struct kiln_err e = KILN_ERR_INIT;
        unsigned char *copy = malloc(hostile[i].n); /* so that sanitizers see reads past the end */
        assert_non_null(copy);
        memcpy(copy, hostile[i].p, hostile[i].n);
        arena_init(&a, SAMPLE_LIMIT);
        assert_int_equal(kir_decode(&a, copy, hostile[i].n, &m, &e), -KILN_E_KIR_BAD);
        assert_true(a.used < 4096);
        arena_done(&a);
        free(copy);
    }
}

static void test_arena_limit(void **state)
{
    struct kir_builder *b = nested(2000);
    struct arena a, small;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf bytes;

    (void)state;
    arena_init(&a, SAMPLE_LIMIT);
    assert_int_equal(kir_builder_finish(b, &a, &m, &e), 0);
    sample_encode(m, &bytes);
    for (size_t limit = 64; limit < 100000; limit += 997) {
        arena_init(&small, limit);
        int rc = kir_decode(&small, bytes.data, bytes.len, &m, &e);
        assert_true(rc == 0 || rc == -KILN_E_LIMIT || rc == -KILN_E_NOMEM);
        arena_done(&small);
    }
    buf_done(&bytes);
    kir_builder_free(b);
    arena_done(&a);
}

/* Many functions, a chain of calls; and how long a node takes, for the record. */
static void test_large_module(void **state)
{
    enum { FUNCTIONS = 2000 };
    struct kir_builder *b = kir_builder_new();
    struct arena a;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf bytes;
    struct timespec begin, end;
    uint32_t nodes = 0;

    (void)state;
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        kir_b_function(b);
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        uint32_t x = kir_b_param(b, f, "x", KIR_P_NORMAL, KIR_NIL), s[41];
        uint32_t next = kir_b_func(b, f, f + 1 < FUNCTIONS ? f + 1 : 0);
        s[0] = kir_b_return(b, f, kir_b_call(b, f, next, (uint32_t[]){ kir_b_local(b, f, x) }, 1));
        for (int i = 1; i <= 40; i++) {
            uint32_t l = kir_b_local(b, f, x), r = kir_b_const(b, f, kir_b_int(b, i * 1000 + (int)f));
            l = kir_b_binary(b, f, KIR_B_ADD, l, r);
            s[i] = kir_b_assign(b, f, l, kir_b_local(b, f, x));
        }
        kir_b_block(b, f, s, 41);
    }
    arena_init(&a, 256u << 20);
    if (kir_builder_finish(b, &a, &m, &e))
        fail_msg("%s", e.msg);
    kir_builder_free(b);
    sample_encode(m, &bytes);
    arena_clear(&a);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_int_equal(kir_decode(&a, bytes.data, bytes.len, &m, &e), 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (uint32_t f = 0; f < m->n_functions; f++)
        nodes += m->functions[f].n_nodes;
    print_message("%u nodes, %zu bytes: %.1f ns a node\n", nodes, bytes.len,
                  ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
                      nodes);
    buf_done(&bytes);
    arena_done(&a);
}

static void test_reading_nodes(void **state)
{
    struct arena a;
    const struct kir_module *m;
    const struct kir_node *call = NULL, *slice = NULL;
    const uint32_t *items;
    uint32_t n;

    (void)state;
    arena_init(&a, SAMPLE_LIMIT);
    m = sample_parse(&a, "(kir 1 (function 0 (params (x normal)) (block (return (call (local 0) [(const 1) "
                         "(slice _ (const 2))]"
                         "[key] [(const 3)])))))");
    for (uint32_t i = 0; i < m->functions[0].n_nodes; i++) {
        call = m->functions[0].nodes[i].op == KIR_CALL ? &m->functions[0].nodes[i] : call;
        slice = m->functions[0].nodes[i].op == KIR_SLICE ? &m->functions[0].nodes[i] : slice;
    }
    assert_non_null(call);
    assert_non_null(slice);
    assert_int_equal(kir_arg(call, 0), 0);
    items = kir_list(call, 1, &n);
    assert_int_equal(n, 2);
    assert_int_equal(items[1], 3);
    items = kir_list(call, 2, &n);
    assert_int_equal(n, 1);
    assert_string_equal(m->consts[items[0]].s.p, "key");
    kir_list(call, 3, &n);
    assert_int_equal(n, 1);
    assert_true(kir_opt(slice, 0) == KIR_NIL && kir_opt(slice, 1) == 2 && kir_opt(slice, 2) == KIR_NIL);
    assert_null(kir_opinfo(0));
    assert_null(kir_opinfo(KIR__OP_END));
    assert_null(kir_opinfo(1u << 20));
    assert_string_equal(kir_opinfo(KIR_CALL)->name, "CALL");
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_shared_tuples),
        cmocka_unit_test(test_counts_allocate_nothing),
        cmocka_unit_test(test_arena_limit),
        cmocka_unit_test(test_large_module),
        cmocka_unit_test(test_reading_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
