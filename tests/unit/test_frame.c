/* SPDX-License-Identifier: Apache-2.0
 * Whole, more, or bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "proto/codec/frame.h"

static void a_frame_goes_round(void **state)
{
    struct kiln_err e;
    struct frame f;
    struct buf b;
    size_t at, need;

    (void)state;
    buf_init(&b, 1000);
    buf_str(&b, "before");
    at = frame_begin(&b, 0x1234, FRAME_FD, 0x0102030405060708);
    buf_str(&b, "body");
    frame_end(&b, at);
    assert_int_equal(b.len, 6 + 16 + 4);
    /* the bytes are the documented ones */
    assert_memory_equal(b.data + 6, "\x04\0\0\0\x34\x12\x01\0\x08\x07\x06\x05\x04\x03\x02\x01" "body", 20);
    buf_consume(&b, 6);
    for (size_t n = 0; n < b.len; n++) { /* "more" for every beginning */
        memset(&f, 0x55, sizeof f);
        assert_int_equal(frame_next(b.data, n, 100, &f, &need, &e), 0);
        assert_int_equal(need, n < 16 ? 16 : 20);
        assert_int_equal(f.type, 0x5555); /* untouched */
    }
    assert_int_equal(frame_next(b.data, b.len, 100, &f, NULL, &e), 1);
    assert_int_equal(f.type, 0x1234);
    assert_int_equal(f.flags, FRAME_FD);
    assert_true(f.id == 0x0102030405060708);
    assert_int_equal(f.body_len, 4);
    assert_memory_equal(f.body, "body", 4);
    buf_done(&b);
}

static void frames_follow_each_other(void **state)
{
    struct kiln_err e;
    struct frame f;
    struct buf b;

    (void)state;
    buf_init(&b, 10000);
    for (unsigned i = 0; i < 10; i++) {
        size_t at = frame_begin(&b, (uint16_t)(i + 1), 0, i);
        for (unsigned k = 0; k < i; k++)
            buf_byte(&b, (unsigned char)i);
        frame_end(&b, at);
    }
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(frame_next(b.data, b.len, 100, &f, NULL, &e), 1);
        assert_int_equal(f.id, i);
        assert_int_equal(f.body_len, i);
        buf_consume(&b, FRAME_HEAD + f.body_len);
    }
    assert_int_equal(b.len, 0);
    buf_done(&b);
}

static void bad_heads_are_refused_before_the_body(void **state)
{
    unsigned char head[FRAME_HEAD] = { 0, 0, 0, 0, 1 };
    struct kiln_err e;
    struct frame f;

    (void)state;
    assert_int_equal(frame_next(head, sizeof head, 100, &f, NULL, &e), 1);
    head[4] = 0; /* type 0 */
    assert_int_equal(frame_next(head, sizeof head, 100, &f, NULL, &e), -KILN_E_WIRE_FRAME);
    head[4] = 1;
    for (unsigned bit = 1; bit < 16; bit++) { /* flags that mean nothing yet */
        head[6] = (unsigned char)(1u << bit);
        head[7] = (unsigned char)(1u << bit >> 8);
        assert_int_equal(frame_next(head, sizeof head, 100, &f, NULL, &e), -KILN_E_WIRE_FRAME);
    }
    head[6] = head[7] = 0;
    head[0] = 101;
    assert_int_equal(frame_next(head, sizeof head, 100, &f, NULL, &e), -KILN_E_LIMIT);
    head[0] = 100;
    assert_int_equal(frame_next(head, sizeof head, 100, &f, NULL, &e), 0);
    memset(head, 0xff, 4);
    assert_int_equal(frame_next(head, sizeof head, 64u << 20, &f, NULL, &e), -KILN_E_LIMIT);
    assert_non_null(strstr(e.msg, "4294967295"));
}

static void a_frame_that_does_not_fit_fails_the_buffer(void **state)
{
    struct buf b;
    size_t at;

    (void)state;
    buf_init(&b, 20);
    at = frame_begin(&b, 1, 0, 1);
    buf_str(&b, "12345");
    frame_end(&b, at);
    assert_false(buf_ok(&b));
    buf_done(&b);
    buf_init(&b, 10); /* not even the head */
    at = frame_begin(&b, 1, 0, 1);
    frame_end(&b, at);
    assert_false(buf_ok(&b));
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_goes_round),
        cmocka_unit_test(frames_follow_each_other),
        cmocka_unit_test(bad_heads_are_refused_before_the_body),
        cmocka_unit_test(a_frame_that_does_not_fit_fails_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
