/* SPDX-License-Identifier: Apache-2.0
 * <kiln/ir.h>: modules from C, their text, mistakes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <kiln/ir.h>

/* def f(x, n=3): return x * n if x > 0.0 else -x */
static void build(struct kiln_ir *ir)
{
    uint32_t f = kiln_ir_function(ir);
    uint32_t x = kiln_ir_param(ir, f, "x", KILN_IR_NIL);
    uint32_t n = kiln_ir_param(ir, f, "n", kiln_ir_int(ir, 3));
    uint32_t left = kiln_ir_local(ir, f, x), right = kiln_ir_const(ir, f, kiln_ir_float(ir, 0.0));
    uint32_t condition = kiln_ir_compare(ir, f, ">", left, right);
    left = kiln_ir_local(ir, f, x);
    right = kiln_ir_local(ir, f, n);
    uint32_t then = kiln_ir_binary(ir, f, "*", left, right);
    uint32_t otherwise = kiln_ir_unary(ir, f, "-", kiln_ir_local(ir, f, x));
    uint32_t body = kiln_ir_return(ir, f, kiln_ir_ifexp(ir, f, condition, then, otherwise));
    kiln_ir_block(ir, f, &body, 1);
}

static void modules_are_canonical(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    void *a, *b, *c;
    size_t a_len, b_len, c_len;
    char *text;
    struct kiln_ir *ir = kiln_ir_new();
    build(ir);
    assert_int_equal(kiln_ir_finish(ir, &a, &a_len, &e), 0);
    kiln_ir_free(ir);
    ir = kiln_ir_new();
    kiln_ir_str(ir, "never used, so it must not show");
    build(ir);
    assert_int_equal(kiln_ir_finish(ir, &b, &b_len, &e), 0);
    kiln_ir_free(ir);
    assert_int_equal(a_len, b_len);
    assert_memory_equal(a, b, a_len);
    assert_int_equal(kiln_ir_text(a, a_len, &text, &e), 0);
    assert_non_null(strstr(text, "ifexp"));
    assert_int_equal(kiln_ir_parse(text, &c, &c_len, &e), 0);
    assert_int_equal(a_len, c_len);
    assert_memory_equal(a, c, a_len);
    free(text);
    free(a);
    free(b);
    free(c);
}

static void the_first_mistake_sticks(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    void *body;
    size_t len;
    struct kiln_ir *ir = kiln_ir_new();
    uint32_t f = kiln_ir_function(ir);
    uint32_t x = kiln_ir_local(ir, f, kiln_ir_param(ir, f, "x", KILN_IR_NIL));
    assert_int_equal(kiln_ir_unary(ir, f, "!", x), KILN_IR_NIL);
    assert_int_equal(kiln_ir_none(ir), KILN_IR_NIL);
    assert_int_equal(kiln_ir_finish(ir, &body, &len, &e), -KILN_E_KIR_BAD);
    assert_non_null(strstr(e.message, "'!'"));
    assert_null(body);
    kiln_ir_free(ir);
    kiln_error_clear(&e);
    assert_int_equal(kiln_ir_text("\xc1", 1, (char **)&body, &e), -KILN_E_KIR_BAD);
    kiln_error_clear(&e);
}

static void every_node_by_name(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    void *body;
    size_t len;
    struct kiln_ir *ir = kiln_ir_new();
    uint32_t f = kiln_ir_function(ir);
    uint32_t pass = kiln_ir_node(ir, f, "pass", NULL, 0);
    kiln_ir_block(ir, f, &pass, 1);
    assert_int_equal(kiln_ir_finish(ir, &body, &len, &e), 0);
    free(body);
    kiln_ir_free(ir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_canonical),
        cmocka_unit_test(the_first_mistake_sticks),
        cmocka_unit_test(every_node_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
