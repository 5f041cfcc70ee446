/* SPDX-License-Identifier: Apache-2.0
 * Growth, the limit, and the failure that sticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"

static void bytes_are_appended_in_order(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 100000);
    for (unsigned i = 0; i < 50000; i++)
        buf_byte(&b, (unsigned char)i);
    assert_true(buf_ok(&b));
    assert_int_equal(b.len, 50000);
    for (unsigned i = 0; i < 50000; i++)
        assert_int_equal(b.data[i], (unsigned char)i);
    buf_consume(&b, 49990);
    assert_int_equal(b.len, 10);
    assert_int_equal(b.data[0], (unsigned char)49990);
    buf_consume(&b, 10);
    assert_int_equal(b.len, 0);
    buf_done(&b);
}

static void a_failure_sticks_until_cleared(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 10);
    buf_str(&b, "12345678");
    assert_true(buf_ok(&b));
    buf_str(&b, "abc");
    assert_false(buf_ok(&b));
    buf_byte(&b, 'x'); /* would fit */
    assert_false(buf_ok(&b));
    assert_int_equal(b.len, 8); /* what was there is untouched */
    assert_memory_equal(b.data, "12345678", 8);
    assert_string_equal(buf_cstr(&b), "");
    buf_clear(&b);
    buf_str(&b, "123456789");
    assert_string_equal(buf_cstr(&b), "123456789");
    buf_done(&b);
}

static void the_limit_is_reached_exactly(void **state)
{
    struct buf b;

    (void)state;
    for (size_t limit = 0; limit < 200; limit++) {
        size_t n = 0;
        buf_init(&b, limit);
        for (;;) {
            buf_byte(&b, 'x');
            if (!buf_ok(&b))
                break;
            n++;
        }
        assert_int_equal(n, limit);
        buf_done(&b);
    }
    buf_init(&b, SIZE_MAX);
    buf_byte(&b, 1);
    assert_null(buf_reserve(&b, SIZE_MAX));
    assert_false(buf_ok(&b));
    buf_done(&b);
}

static void formatted_text_and_taking(void **state)
{
    unsigned char *p;
    struct buf b;
    size_t len;

    (void)state;
    buf_init(&b, 10000);
    buf_printf(&b, "%d %s", 7, "seven");
    buf_printf(&b, "%2000d", 1);
    assert_int_equal(b.len, 2007);
    assert_memory_equal(b.data, "7 seven ", 8);
    p = buf_take(&b, &len);
    assert_non_null(p);
    assert_int_equal(len, 2007);
    assert_int_equal(b.len, 0);
    assert_null(b.data);
    buf_str(&b, "again");
    assert_string_equal(buf_cstr(&b), "again");
    free(p);
    buf_done(&b);
    buf_init(&b, 3);
    buf_printf(&b, "%d", 12345);
    assert_false(buf_ok(&b));
    assert_null(buf_take(&b, &len));
    assert_int_equal(len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_appended_in_order),
        cmocka_unit_test(a_failure_sticks_until_cleared),
        cmocka_unit_test(the_limit_is_reached_exactly),
        cmocka_unit_test(formatted_text_and_taking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
