/* SPDX-License-Identifier: Apache-2.0
 * Signatures for callers: sizes, offsets, canonical text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <kiln/kiln.h>

static struct kiln_signature *parse(const char *text)
{
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_signature *s = NULL;
    assert_int_equal(kiln_signature_parse(text, &s, &e), 0);
    assert_non_null(s);
    return s;
}

static void offsets_follow_c(void **state)
{
    (void)state;
    struct args {
        uint8_t flag;
        double x;
        int16_t small;
        struct {
            void *owner, *data;
            intptr_t shape[2], strides[2];
        } a;
        struct {
            uint8_t first;
            struct {
                float re, im;
            } z;
        } t;
    };
    struct kiln_signature *s = parse("(bool, float64, int16, float64[:, ::1], Tuple((bool, complex64)))");
    assert_int_equal(s->n_params, 5);
    assert_int_equal(s->params[0].offset, offsetof(struct args, flag));
    assert_int_equal(s->params[1].offset, offsetof(struct args, x));
    assert_int_equal(s->params[2].offset, offsetof(struct args, small));
    assert_int_equal(s->params[3].offset, offsetof(struct args, a));
    assert_int_equal(s->params[4].offset, offsetof(struct args, t));
    assert_int_equal(s->params[4].items[1].offset, 4);
    assert_int_equal(s->params[4].size, 12);
    assert_int_equal(s->args_size, sizeof(struct args));
    assert_int_equal(s->args_align, _Alignof(struct args));
    assert_null(s->ret);
    assert_int_equal(s->params[3].kind, KILN_T_ARRAY);
    assert_int_equal(s->params[3].numpy, 12);
    assert_int_equal(s->params[3].layout, 'C');
    kiln_result_free(s);
}

static void parts_make_a_signature(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    const char *params[] = { "pyint", "f8[:]" };
    struct kiln_signature *s;
    assert_int_equal(kiln_signature_make(params, 2, "none", &s, &e), 0);
    assert_string_equal(s->text, "none(pyint, float64[:])");
    assert_int_equal(s->ret->size, 0);
    assert_int_equal(s->params[0].kind, KILN_T_PYINT);
    kiln_result_free(s);
    assert_int_equal(kiln_signature_make(NULL, 0, NULL, &s, &e), 0);
    assert_int_equal(s->args_size, 0);
    kiln_result_free(s);
}

static void optionals_have_a_flag_behind(void **state)
{
    (void)state;
    struct kiln_signature *s = parse("(optional(int32))");
    assert_int_equal(s->params[0].kind, KILN_T_OPTIONAL);
    assert_int_equal(s->params[0].items[0].size, 4);
    assert_int_equal(s->params[0].size, 8);
    kiln_result_free(s);
}

static void mistakes_are_reported(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_signature *s;
    assert_int_equal(kiln_signature_parse("(float65)", &s, &e), -KILN_E_SIGNATURE);
    assert_null(s);
    assert_int_equal(e.code, KILN_E_SIGNATURE);
    assert_true(strlen(e.message) > 0);
    assert_int_equal(kiln_signature_parse("(", &s, NULL), -KILN_E_SIGNATURE);
    kiln_error_clear(&e);
    assert_int_equal(e.code, 0);
}

static void codes_have_names(void **state)
{
    (void)state;
    assert_string_equal(kiln_code_name(KILN_E_TYPE), "TYPE");
    assert_string_equal(kiln_code_python(KILN_E_BUSY), "KilnBusyError");
    assert_int_equal(kiln_code_exit(KILN_E_NOTFOUND), 66);
    assert_string_equal(kiln_version(), KILN_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_follow_c),
        cmocka_unit_test(parts_make_a_signature),
        cmocka_unit_test(optionals_have_a_flag_behind),
        cmocka_unit_test(mistakes_are_reported),
        cmocka_unit_test(codes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
