/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/ir/builder.h"
#include "tests/unit/kir_samples.h"

/* What the builder makes is the same bytes as a text. */
static void check_same(struct kir_builder *b, const char *text)
{
    struct arena a;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf made, wanted;

    arena_init(&a, SAMPLE_LIMIT);
    if (kir_builder_finish(b, &a, &m, &e))
        fail_msg("%s", e.msg);
    kir_builder_free(b); /* the module needs nothing of it */
    sample_encode(m, &made);
    sample_encode(sample_parse(&a, text), &wanted);
    assert_int_equal(made.len, wanted.len);
    assert_memory_equal(made.data, wanted.data, made.len);
    buf_done(&made);
    buf_done(&wanted);
    arena_done(&a);
}

/* sum(i * 2.0 for i in range(n)), with handles made in an order that is not the canonical one. */
static void test_numbers_are_canonical(void **state)
{
    struct kir_builder *b = kir_builder_new();
    uint32_t two = kir_b_float(b, 2.0), unused = kir_b_str(b, "unused", 6), zero = kir_b_float(b, 0.0);
    uint32_t f = kir_b_function(b), n = kir_b_param(b, f, "n", KIR_P_NORMAL, KIR_NIL);
    uint32_t i = kir_b_new_local(b, f), total = kir_b_new_local(b, f), spare = kir_b_new_local(b, f);
    uint32_t items[3], x, y, inner;

    (void)state;
    (void)unused;
    (void)spare;
    x = kir_b_const(b, f, zero);
    items[0] = kir_b_assign(b, f, x, kir_b_local(b, f, total));
    x = kir_b_local(b, f, i);
    y = kir_b_lib(b, f, "builtins.range");
    y = kir_b_call(b, f, y, (uint32_t[]){ kir_b_local(b, f, n) }, 1);
    inner = kir_b_local(b, f, total);
    uint32_t left = kir_b_local(b, f, i), right = kir_b_const(b, f, two);
    inner = kir_b_augassign(b, f, KIR_B_ADD, inner, kir_b_binary(b, f, KIR_B_MUL, left, right));
    items[1] = kir_b_for(b, f, x, y, kir_b_block(b, f, &inner, 1), KIR_NIL);
    items[2] = kir_b_return(b, f, kir_b_local(b, f, total));
    kir_b_block(b, f, items, 3);
    check_same(b, "(kir 1 (function 0 (params (n normal)) (block (assign (const 0.0) (local 1))"
                  "(for (local 2) (call (lib builtins.range) [(local 0)]) (block (augassign + (local 1)"
                  "(binary * (local 2) (const 2.0))))) (return (local 1)))))");
}

static void test_every_function_of_the_interface(void **state)
{
    struct kir_builder *b = kir_builder_new();
    uint32_t f = kir_b_function(b), g = kir_b_function(b), h = kir_b_function(b);
    uint32_t x = kir_b_param(b, f, "x", KIR_P_NORMAL, kir_b_none(b)), env_late = kir_b_new_env(b),
             env = kir_b_new_env(b);
    uint32_t s[16], e0, e1, e2, e3, body, n = 0;

    (void)state;
    e0 = kir_b_local(b, f, x);
    e1 = kir_b_slice(b, f, KIR_NIL, kir_b_const(b, f, kir_b_int(b, -3)), KIR_NIL);
    s[n++] = kir_b_expr(b, f, kir_b_subscript(b, f, e0, e1));
    e0 = kir_b_attr(b, f, kir_b_env(b, f, env), "shape");
    e1 = kir_b_env(b, f, env_late);
    s[n++] = kir_b_expr(b, f, kir_b_tuple(b, f, (uint32_t[]){ e0, e1 }, 2));
    e0 = kir_b_unary(b, f, KIR_U_NOT, kir_b_local(b, f, x));
    e1 = kir_b_local(b, f, x);
    e0 = kir_b_bool_op(b, f, KIR_OR, (uint32_t[]){ e0, e1 }, 2);
    e1 = kir_b_local(b, f, x);
    e2 = kir_b_const(b, f, kir_b_bool(b, true));
    e1 = kir_b_compare(b, f, KIR_C_LT, e1, e2);
    e3 = kir_b_const(b, f, kir_b_ellipsis(b));
    s[n++] = kir_b_expr(b, f, kir_b_ifexp(b, f, e0, e1, e3));
    e0 = kir_b_local(b, f, x);
    e1 = kir_b_local(b, f, x);
    body = kir_b_break(b, f);
    e2 = kir_b_block(b, f, &body, 1);
    body = kir_b_continue(b, f);
    body = kir_b_if(b, f, e1, e2, kir_b_block(b, f, &body, 1));
    e1 = kir_b_block(b, f, &body, 1);
    s[n++] = kir_b_while(b, f, e0, e1, KIR_NIL);
    e0 = kir_b_func(b, f, h);
    s[n++] = kir_b_expr(b, f, kir_b_call(b, f, e0, NULL, 0));
    s[n++] = kir_b_raise(b, f, kir_b_const(b, f, kir_b_exception(b, "m.E")));
    s[n++] = kir_b_return(b, f, KIR_NIL);
    kir_b_block(b, f, s, n);
    kir_b_flags(b, h, KIR_F_INLINE);
    uint32_t y = kir_b_node(b, h, KIR_YIELD, (uint32_t[]){ 0 }, 1); /* sets the generator flag */
    y = kir_b_expr(b, h, y);
    kir_b_block(b, h, &y, 1);
    kir_b_block(b, g, NULL, 0); /* not reached: dropped */
    check_same(
        b,
        "(kir 1 (function 0 (params (x normal None)) (block (expr (subscript (local 0) (slice _ (const -3))))"
        "(expr (tuple (attr (env 0) shape) (env 1))) (expr (ifexp (or (unary not (local 0)) (local 0))"
        "(compare [<] [(local 0) (const True)]) (const ...))) (while (local 0) (block (if (local 0) (block "
        "(break))"
        "(block (continue))))) (expr (call (func 1) [])) (raise (const (exception m.E))) (return)))"
        "(function 1 (params) (flags generator inline) (block (expr (yield)))))");
}

static void test_closures(void **state)
{
    struct kir_builder *b = kir_builder_new();
    uint32_t f = kir_b_function(b), g = kir_b_function(b), x = kir_b_param(b, f, "x", KIR_P_NORMAL, KIR_NIL),
             r;

    (void)state;
    r = kir_b_return(b, g, kir_b_free(b, g, kir_b_new_free(b, g)));
    kir_b_block(b, g, &r, 1);
    r = kir_b_node(b, f, KIR_CLOSURE, (uint32_t[]){ g, 1, x, 0 }, 4);
    r = kir_b_return(b, f, r);
    kir_b_block(b, f, &r, 1);
    check_same(b, "(kir 1 (function 0 (params (x normal)) (block (return (closure 1 [0] []))))"
                  "(function 1 (params) (free 1) (block (return (free 0)))))");
}

static void test_equal_constants_are_one(void **state)
{
    struct kir_builder *b = kir_builder_new();
    const uint32_t dims[1] = { 2 };
    uint32_t one = kir_b_int(b, 1), point;
    uint32_t pair[2] = { one, kir_b_str(b, "a", 1) };

    (void)state;
    assert_int_equal(kir_b_int(b, 1), one);
    assert_int_equal(kir_b_uint(b, 1), one);
    assert_int_equal(kir_b_bigint(b, "1"), one);
    assert_int_equal(kir_b_bigint(b, "-9223372036854775808"), kir_b_int(b, INT64_MIN));
    assert_int_equal(kir_b_bigint(b, "18446744073709551615"), kir_b_uint(b, UINT64_MAX));
    assert_int_not_equal(kir_b_bigint(b, "18446744073709551616"), kir_b_uint(b, UINT64_MAX));
    assert_int_not_equal(kir_b_float(b, 1.0), one);
    assert_int_not_equal(kir_b_bool(b, true), one);
    assert_int_not_equal(kir_b_float(b, 0.0), kir_b_float(b, -0.0));
    assert_int_not_equal(kir_b_complex(b, 0.0, 0.0), kir_b_complex(b, 0.0, -0.0));
    assert_int_equal(kir_b_float(b, __builtin_nan("")), kir_b_float(b, __builtin_nan("")));
    assert_int_not_equal(kir_b_str(b, "a", 1), kir_b_bytes(b, "a", 1));
    assert_int_equal(kir_b_tuple_const(b, pair, 2), kir_b_tuple_const(b, pair, 2));
    assert_int_equal(kir_b_array(b, "int8", dims, 1, "ab", 2), kir_b_array(b, "int8", dims, 1, "ab", 2));
    assert_int_not_equal(kir_b_array(b, "int8", dims, 1, "ab", 2), kir_b_array(b, "uint8", dims, 1, "ab", 2));
    assert_int_not_equal(kir_b_scalar(b, "int8", "a", 1), kir_b_scalar(b, "uint8", "a", 1));
    assert_int_not_equal(kir_b_type(b, "int8"), kir_b_exception(b, "int8"));
    point = kir_b_usertype(b, KIR_UT_NAMEDTUPLE, "P", 2, (const char *[]){ "x", "y" },
                           (const char *[]){ "", "" }, NULL);
    assert_int_equal(point, kir_b_usertype(b, KIR_UT_NAMEDTUPLE, "P", 2, (const char *[]){ "x", "y" },
                                           (const char *[]){ "", "" }, NULL));
    assert_int_not_equal(kir_b_namedtuple(b, point, pair, 2), kir_b_tuple_const(b, pair, 2));
    assert_int_not_equal(kir_b_usertype_const(b, point), KIR_NIL);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(kir_b_int(b, 100000 + i), kir_b_int(b, 100000 + i));
    assert_int_equal(kir_builder_error(b, &(struct kiln_err){ 0 }), 0);
    kir_builder_free(b);
}

/* Ends the builder, which must have failed with this message. */
static void check_error(struct kir_builder *b, const char *message)
{
    struct arena a;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;

    arena_init(&a, SAMPLE_LIMIT);
    assert_int_not_equal(kir_builder_finish(b, &a, &m, &e), 0);
    if (!strstr(e.msg, message))
        fail_msg("'%s' instead of '%s'", e.msg, message);
    arena_done(&a);
    kir_builder_free(b);
}

static void test_misuse(void **state)
{
    struct kir_builder *b = kir_builder_new();
    uint32_t f, x, y;

    (void)state;
    check_error(b, "a module needs a function");

    b = kir_builder_new();
    kir_b_function(b);
    check_error(b, "function 0 has no body");

    b = kir_builder_new();
    f = kir_b_function(b);
    x = kir_b_const(b, f, kir_b_int(b, 1));
    y = kir_b_const(b, f, kir_b_int(b, 2));
    assert_int_equal(kir_b_binary(b, f, KIR_B_SUB, y, x), KIR_NIL);
    assert_int_equal(kir_b_int(b, 3), KIR_NIL); /* errors stick */
    check_error(b, "make operands in order");

    b = kir_builder_new();
    f = kir_b_function(b);
    x = kir_b_const(b, f, kir_b_int(b, 1));
    kir_b_binary(b, f, KIR_B_SUB, x, x);
    check_error(b, "make operands in order");

    b = kir_builder_new();
    f = kir_b_function(b);
    kir_b_const(b, f, 77);
    check_error(b, "operand 0 is no such thing");

    b = kir_builder_new();
    f = kir_b_function(b);
    kir_b_local(b, f, 0);
    check_error(b, "operand 0 is no such thing");

    b = kir_builder_new();
    f = kir_b_function(b);
    kir_b_node(b, f, KIR_BLOCK, (uint32_t[]){ 5, 0 }, 2);
    check_error(b, "operands are not those of its op");

    b = kir_builder_new();
    f = kir_b_function(b);
    kir_b_node(b, f, (enum kir_op)200, NULL, 0);
    check_error(b, "operands are not those of its op");

    b = kir_builder_new();
    kir_b_block(b, 4, NULL, 0);
    check_error(b, "there is no such function");

    b = kir_builder_new();
    f = kir_b_function(b);
    kir_b_new_local(b, f);
    kir_b_param(b, f, "x", KIR_P_NORMAL, KIR_NIL);
    check_error(b, "parameters are declared before other locals");

    b = kir_builder_new();
    kir_b_tuple_const(b, (uint32_t[]){ 9 }, 1);
    check_error(b, "does not exist");

    b = kir_builder_new();
    kir_b_enum_member(b, 0, 0);
    check_error(b, "does not exist");

    b = kir_builder_new();
    kir_b_bigint(b, "12x");
    check_error(b, "an integer is decimal digits");

    b = kir_builder_new(); /* what only the whole shows: break outside a loop */
    f = kir_b_function(b);
    x = kir_b_break(b, f);
    kir_b_block(b, f, &x, 1);
    check_error(b, "in no loop");

    b = kir_builder_new();
    f = kir_b_function(b);
    kir_b_flags(b, f, KIR_F_INLINE);
    kir_b_block(b, f, NULL, 0);
    check_error(b, "the entry's flags come with the request");

    b = kir_builder_new();
    kir_builder_fail(b, KILN_E_INVALID, "because %d", 5);
    kir_builder_fail(b, KILN_E_IO, "later");
    check_error(b, "because 5");
    kir_builder_free(NULL);
}

static void test_handles_map_to_numbers(void **state)
{
    struct kir_builder *b = kir_builder_new();
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;
    struct arena a;
    uint32_t f = kir_b_function(b), g = kir_b_function(b), unused = kir_b_new_env(b), used = kir_b_new_env(b),
             x;

    (void)state;
    assert_int_equal(kir_b_env_number(b, used), KIR_NIL); /* not finished */
    x = kir_b_return(b, f, kir_b_env(b, f, used));
    kir_b_block(b, f, &x, 1);
    arena_init(&a, SAMPLE_LIMIT);
    assert_int_equal(kir_builder_finish(b, &a, &m, &e), 0);
    assert_int_equal(m->n_env, 1);
    assert_int_equal(kir_b_env_number(b, used), 0);
    assert_int_equal(kir_b_env_number(b, unused), KIR_NIL);
    assert_int_equal(kir_b_function_number(b, f), 0);
    assert_int_equal(kir_b_function_number(b, g), KIR_NIL);
    arena_done(&a);
    kir_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_canonical),
        cmocka_unit_test(test_every_function_of_the_interface),
        cmocka_unit_test(test_closures),
        cmocka_unit_test(test_equal_constants_are_one),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_handles_map_to_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
