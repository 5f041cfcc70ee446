/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/ir/type.h"

static struct arena arena;
static struct type_table *table;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 64u << 20);
    table = type_table_new(&arena);
    return table ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const char *const good[][2] = {
    { "", "()" },
    { "()", "()" },
    { "void()", "none()" },
    { "int64", "(int64)" },
    { "f8[:]", "(float64[:])" },
    { "int64, f8[:]", "(int64, float64[:])" },
    { "int64,", "(int64)" },
    { "(f8[:],)", "(float64[:])" },
    { "(int64, float64[::1])", "(int64, float64[::1])" },
    { "float64(int64)", "float64(int64)" },
    { "f8 ( i8 , i8 )", "float64(int64, int64)" },
    { "void(f8[:,::1], pyint)", "none(float64[:, ::1], pyint)" },
    { "f8[:](Tuple((i8, f8)), UniTuple(i4, 2))",
      "float64[:](Tuple((int64, float64)), Tuple((int32, int32)))" },
    { "Tuple((i8, f8))(i8)", "Tuple((int64, float64))(int64)" },
    { "Tuple((i8, f8))", "(Tuple((int64, float64)))" },
    { "(int64, int64) -> float64", "float64(int64, int64)" },
    { "() -> none", "none()" },
    { "optional(f8)(none)", "optional(float64)(none)" },
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct kiln_err e = KILN_ERR_INIT;
        struct signature s, again;
        struct buf b;
        if (signature_parse(table, good[i][0], strlen(good[i][0]), &s, &e))
            fail_msg("%s: %s", good[i][0], e.msg);
        buf_init(&b, 4096);
        signature_print(&b, &s);
        assert_string_equal(buf_cstr(&b), good[i][1]);
        assert_int_equal(signature_parse(table, buf_cstr(&b), b.len, &again, &e), 0);
        assert_int_equal(again.n_params, s.n_params);
        assert_ptr_equal(again.ret, s.ret);
        for (uint32_t k = 0; k < s.n_params; k++)
            assert_ptr_equal(again.params[k], s.params[k]);
        buf_done(&b);
    }
}

static const char *const bad[][2] = {
    { "(", "column 2: expected a type but the text ends" },
    { "(i8", "column 4: expected ',' or ')' but the text ends" },
    { "(i8 i8)", "column 5: expected ',' or ')' before 'i'" },
    { "i8 i8", "column 4: expected ',' before 'i'" },
    { "i8)", "column 3: expected ',' before ')'" },
    { "f8(i8))", "column 7: unexpected ')' after the signature" },
    { "(i8)(f8)", "column 5: unexpected '(' after the signature" },
    { "f8(i8, flaot32)", "column 8: unknown type 'flaot32'; did you mean 'float32'?" },
    { "(i8) ->", "expected a type but the text ends" },
    { "(,)", "column 2: expected a type before ','" },
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct kiln_err e = KILN_ERR_INIT;
        struct signature s;
        if (!signature_parse(table, bad[i][0], strlen(bad[i][0]), &s, &e))
            fail_msg("'%s' was accepted", bad[i][0]);
        assert_int_equal(e.code, KILN_E_SIGNATURE);
        if (!strstr(e.msg, bad[i][1]))
            fail_msg("'%s': %s", bad[i][0], e.msg);
    }
}

static void test_parameters_are_limited(void **state)
{
    char text[2000] = "(";
    struct kiln_err e = KILN_ERR_INIT;
    struct signature s;

    (void)state;
    for (int i = 0; i < 255; i++)
        strcat(text, "i8,");
    strcat(text, ")");
    assert_int_equal(signature_parse(table, text, strlen(text), &s, &e), 0);
    assert_int_equal(s.n_params, 255);
    strcpy(text + strlen(text) - 1, "i8)");
    assert_int_equal(signature_parse(table, text, strlen(text), &s, &e), -KILN_E_SIGNATURE);
    assert_non_null(strstr(e.msg, "at most 255 parameters"));
}

/* Damaged texts end in an error or a signature, never elsewhere (run under sanitizers). */
static void test_damage(void **state)
{
    static const char text[] =
        "Tuple((i8, f8[:, ::1]))(Array(f8, 2, 'C', readonly=True), UniTuple(i4 x 3), optional(f8))";
    char copy[sizeof text];

    (void)state;
    for (size_t i = 0; i < sizeof text - 1; i++)
        for (int c = 1; c < 128; c++) {
            struct kiln_err e = KILN_ERR_INIT;
            struct signature s;
            memcpy(copy, text, sizeof text);
            copy[i] = (char)c;
            if (signature_parse(table, copy, sizeof text - 1, &s, &e))
                assert_int_not_equal(e.code, 0);
            if (signature_parse(table, copy, i, &s, &e))
                assert_int_not_equal(e.code, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_good, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parameters_are_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
