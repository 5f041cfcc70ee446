/* SPDX-License-Identifier: Apache-2.0
 * The table of errors, and messages that are cut at whole characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "proto/base/err.h"

static const struct {
    int wire, exit;
    const char *name, *py, *text;
} rows[] = {
#define X(NAME, wire, py, exit, text) { wire, exit, #NAME, py, text },
#include "proto/base/err.def"
#undef X
};
#define N (sizeof rows / sizeof rows[0])

static void rows_are_unique_and_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(rows[i].wire, (int)i + 1); /* append only, without gaps */
        assert_true(rows[i].exit >= 64 && rows[i].exit <= 78);
        assert_true(strlen(rows[i].text) > 3);
        assert_memory_equal(rows[i].py, "Kiln", 4);
        assert_string_equal(kiln_err_name(rows[i].wire), rows[i].name);
        assert_string_equal(kiln_err_name(-rows[i].wire), rows[i].name);
        assert_string_equal(kiln_err_text(rows[i].wire), rows[i].text);
        assert_string_equal(kiln_err_python(rows[i].wire), rows[i].py);
        assert_int_equal(kiln_err_exit(rows[i].wire), rows[i].exit);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(rows[i].name, rows[j].name);
    }
    assert_string_equal(kiln_err_name(12345), "INTERNAL");
    assert_int_equal(kiln_err_exit(0), 0);
}

static void context_goes_before_and_the_code_stays(void **state)
{
    struct kiln_err e = KILN_ERR_INIT;

    (void)state;
    assert_int_equal(kiln_err_set(&e, KILN_E_IO, 5, "disk %d", 3), -KILN_E_IO);
    assert_int_equal(e.sys, 5);
    assert_int_equal(kiln_err_wrap(&e, "cache '%s'", "x"), -KILN_E_IO);
    assert_string_equal(e.msg, "cache 'x': disk 3");
    assert_int_equal(kiln_err_set(&e, KILN_E_BUSY, 0, NULL), -KILN_E_BUSY);
    assert_string_equal(e.msg, "server is busy, try again");
}

static bool whole_utf8(const char *s)
{
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        unsigned more = *p < 0x80 ? 0 : *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 9;
        if (more == 9)
            return false;
        for (p++; more; more--, p++)
            if ((*p & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* Whatever the offset at which the text is cut, no half character remains. */
static void messages_are_cut_between_characters(void **state)
{
    static const char *const characters[] = { "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x94\xa5" };

    (void)state;
    for (unsigned c = 0; c < 4; c++)
        for (unsigned shift = 0; shift < 8; shift++) {
            char text[1024] = "";
            struct kiln_err e;
            for (unsigned i = 0; i < shift; i++)
                strcat(text, "x");
            while (strlen(text) < 500)
                strcat(text, characters[c]);
            kiln_err_set(&e, KILN_E_TYPE, 0, "%s", text);
            assert_true(strlen(e.msg) >= 248 && strlen(e.msg) < sizeof e.msg);
            assert_true(whole_utf8(e.msg));
            kiln_err_wrap(&e, "%.*s", (int)shift + 1, "context.");
            assert_true(strlen(e.msg) >= 248 && strlen(e.msg) < sizeof e.msg);
            assert_true(whole_utf8(e.msg));
            kiln_err_wrap(&e, "%s", text);
            assert_true(whole_utf8(e.msg));
        }
}

/* LLVM's messages quote modules, which may be anything. */
static void messages_are_utf8(void **state)
{
    static const char *const pairs[][2] = {
        { "a\xff" "b\x80", "a?b?" },     { "\xc3", "?" },           { "\xc3\xa9\xc3", "\xc3\xa9?" },
        { "\xc0\x80", "??" },           { "\xed\xa0\x80", "???" }, { "\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5" },
        { "\xf4\x90\x80\x80", "????" }, { "\xe2\x82x", "??x" },    { "", "" },
    };
    struct kiln_err e;

    (void)state;
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        kiln_err_set(&e, KILN_E_TYPE, 0, "%s", pairs[i][0]);
        assert_string_equal(e.msg, pairs[i][1]);
        kiln_err_wrap(&e, "%s", pairs[i][0]);
        assert_memory_equal(e.msg, pairs[i][1], strlen(pairs[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_unique_and_complete),
        cmocka_unit_test(context_goes_before_and_the_code_stays),
        cmocka_unit_test(messages_are_cut_between_characters), cmocka_unit_test(messages_are_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
