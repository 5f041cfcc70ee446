/* SPDX-License-Identifier: Apache-2.0
 * Shortest forms written, every form read, hostile input refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "proto/codec/msgpack.h"

#define IN(...) mp_in((const unsigned char[]){ __VA_ARGS__ }, sizeof((const unsigned char[]){ __VA_ARGS__ }))

static void numbers_are_written_shortest(void **state)
{
    static const struct {
        int64_t v;
        unsigned char len, head;
    } cases[] = {
        { 0, 1, 0 },           { 127, 1, 127 },        { 128, 2, 0xcc },       { 255, 2, 0xcc },       { 256, 3, 0xcd },
        { 65535, 3, 0xcd },    { 65536, 5, 0xce },     { UINT32_MAX, 5, 0xce }, { 1ll << 32, 9, 0xcf }, { INT64_MAX, 9, 0xcf },
        { -1, 1, 0xff },       { -32, 1, 0xe0 },       { -33, 2, 0xd0 },       { -128, 2, 0xd0 },      { -129, 3, 0xd1 },
        { -32768, 3, 0xd1 },   { -32769, 5, 0xd2 },    { INT32_MIN, 5, 0xd2 }, { INT32_MIN - 1ll, 9, 0xd3 },
        { INT64_MIN, 9, 0xd3 },
    };
    struct kiln_err e;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf b;
        struct mp_in in;
        int64_t v;
        buf_init(&b, 100);
        mp_put_int(&b, cases[i].v);
        assert_int_equal(b.len, cases[i].len);
        assert_int_equal(b.data[0], cases[i].head);
        in = mp_in(b.data, b.len);
        assert_int_equal(mp_int(&in, &v, &e), 0);
        assert_true(v == cases[i].v);
        assert_int_equal(mp_left(&in), 0);
        buf_done(&b);
    }
}

static void every_length_goes_round(void **state)
{
    static const size_t lengths[] = { 0, 1, 31, 32, 255, 256, 65535, 65536 };
    char *text = malloc(70000);
    struct kiln_err e;

    (void)state;
    memset(text, 'x', 70000);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const unsigned char *bytes;
        const char *p;
        struct mp_in in;
        struct buf b;
        uint32_t n;
        buf_init(&b, 1 << 20);
        mp_put_str(&b, text, lengths[i]);
        mp_put_bin(&b, text, lengths[i]);
        assert_true(buf_ok(&b));
        in = mp_in(b.data, b.len);
        assert_int_equal(mp_str(&in, &p, &n, &e), 0);
        assert_int_equal(n, lengths[i]);
        assert_int_equal(mp_bin(&in, &bytes, &n, &e), 0);
        assert_int_equal(n, lengths[i]);
        assert_int_equal(mp_left(&in), 0);
        /* and counts, followed by as many items */
        buf_clear(&b);
        mp_put_array(&b, (uint32_t)lengths[i]);
        for (size_t k = 0; k < lengths[i]; k++)
            mp_put_nil(&b);
        mp_put_map(&b, (uint32_t)lengths[i]);
        for (size_t k = 0; k < 2 * lengths[i]; k++)
            mp_put_bool(&b, k & 1);
        in = mp_in(b.data, b.len);
        assert_int_equal(mp_skip(&in, &e), 0);
        assert_int_equal(mp_map(&in, &n, &e), 0);
        assert_int_equal(n, lengths[i]);
        buf_done(&b);
    }
    free(text);
}

static void longer_forms_are_read(void **state)
{
    struct kiln_err e;
    struct mp_in in;
    const char *p;
    uint64_t u;
    int64_t v;
    uint32_t n;

    (void)state;
    in = IN(0xcf, 0, 0, 0, 0, 0, 0, 0, 5);
    assert_int_equal(mp_uint(&in, &u, &e), 0);
    assert_int_equal(u, 5);
    in = IN(0xd3, 0, 0, 0, 0, 0, 0, 0, 5); /* a signed form of a positive number */
    assert_int_equal(mp_uint(&in, &u, &e), 0);
    assert_int_equal(u, 5);
    in = IN(0xd2, 0xff, 0xff, 0xff, 0xff);
    assert_int_equal(mp_int(&in, &v, &e), 0);
    assert_int_equal(v, -1);
    in = IN(0xdb, 0, 0, 0, 1, 'a');
    assert_int_equal(mp_str(&in, &p, &n, &e), 0);
    assert_int_equal(n, 1);
    in = IN(0xdd, 0, 0, 0, 1, 0);
    assert_int_equal(mp_array(&in, &n, &e), 0);
    assert_int_equal(n, 1);
}

static void floats_keep_their_bits(void **state)
{
    static const uint64_t patterns[] = { 0, 1, 0x8000000000000000, 0x7ff0000000000000, 0x7ff8000000000001,
                                         0x7ff0000000000001, 0x3ff0000000000000 };
    struct mp_item item;
    struct kiln_err e;

    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct mp_in in;
        struct buf b;
        double d;
        memcpy(&d, &patterns[i], sizeof d);
        buf_init(&b, 100);
        mp_put_float(&b, d);
        in = mp_in(b.data, b.len);
        assert_int_equal(mp_next(&in, &item, &e), 0);
        assert_int_equal(item.kind, MP_FLOAT);
        assert_memory_equal(&item.f, &patterns[i], 8);
        buf_done(&b);
    }
    struct mp_in in = IN(0xca, 0x3f, 0x80, 0, 0);
    assert_int_equal(mp_next(&in, &item, &e), 0);
    assert_true(item.f == 1.0);
}

/* Each announces far more than follows: refused with the reader unmoved. */
static void counts_are_compared_with_what_is_left(void **state)
{
    static const unsigned char heads[][5] = {
        { 0xdd, 0xff, 0xff, 0xff, 0xff }, { 0xdf, 0xff, 0xff, 0xff, 0xff }, { 0xdb, 0xff, 0xff, 0xff, 0xff },
        { 0xc6, 0xff, 0xff, 0xff, 0xff }, { 0xdd, 0x80, 0x00, 0x00, 0x00 }, { 0xdf, 0x80, 0x00, 0x00, 0x00 },
    };
    struct mp_item item;
    struct kiln_err e;

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct mp_in in = mp_in(heads[i], 5);
        assert_int_equal(mp_next(&in, &item, &e), -KILN_E_WIRE_COUNT);
        assert_int_equal(mp_at(&in), 0);
        assert_int_equal(mp_skip(&in, &e), -KILN_E_WIRE_COUNT);
    }
    struct mp_in in = IN(0x93, 1, 2); /* three announced, two there */
    assert_int_equal(mp_next(&in, &item, &e), -KILN_E_WIRE_COUNT);
    in = IN(0x82, 1, 2, 3); /* two pairs, three items */
    assert_int_equal(mp_next(&in, &item, &e), -KILN_E_WIRE_COUNT);
    in = IN(0xa3, 'a', 'b');
    assert_int_equal(mp_next(&in, &item, &e), -KILN_E_WIRE_COUNT);
}

static void depth_costs_nothing_to_skip(void **state)
{
    const size_t depth = 4u << 20; /* would be 4 million calls */
    unsigned char *bomb = malloc(2 * depth);
    struct kiln_err e;
    struct mp_in in;

    (void)state;
    memset(bomb, 0x91, depth);
    bomb[depth - 1] = 0xc0;
    in = mp_in(bomb, depth);
    assert_int_equal(mp_skip(&in, &e), 0);
    assert_int_equal(mp_left(&in), 0);
    in = mp_in(bomb, depth - 1); /* the innermost array lacks its item */
    assert_int_equal(mp_skip(&in, &e), -KILN_E_WIRE_COUNT);
    for (size_t i = 0; i < depth; i++) { /* {0: {0: ... */
        bomb[2 * i] = 0x81;
        bomb[2 * i + 1] = 0;
    }
    in = mp_in(bomb, 2 * depth);
    assert_true(mp_skip(&in, &e) < 0);
    /* [[..15 items..], ...] wide and deep: the count of open values can't exceed the bytes */
    memset(bomb, 0x9f, depth);
    in = mp_in(bomb, depth);
    assert_true(mp_skip(&in, &e) < 0);
    free(bomb);
}

/* A value of every kind, cut after each byte: an error, never a read past the end (asan watches). */
static void every_truncation_is_an_error(void **state)
{
    struct kiln_err e;
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 20);
    mp_put_array(&b, 12);
    mp_put_nil(&b);
    mp_put_bool(&b, true);
    mp_put_uint(&b, 1ull << 40);
    mp_put_int(&b, -1000);
    mp_put_float(&b, 1.5);
    mp_put_str(&b, "0123456789012345678901234567890123456789", 40);
    mp_put_bin(&b, "bytes", 5);
    mp_put_map(&b, 2);
    mp_put_cstr(&b, "k");
    mp_put_array(&b, 0);
    mp_put_cstr(&b, "l");
    mp_put_uint(&b, 70000);
    mp_put_uint(&b, 300);
    mp_put_int(&b, -5);
    mp_put_int(&b, -100000);
    mp_put_array(&b, 1);
    mp_put_nil(&b);
    for (size_t n = 0; n <= b.len; n++) {
        unsigned char *exact = malloc(n + !n); /* no byte to spare */
        struct mp_in in;
        memcpy(exact, b.data, n);
        in = mp_in(exact, n);
        if (n < b.len) {
            int r = mp_skip(&in, &e);
            assert_true(r == -KILN_E_WIRE_SHORT || r == -KILN_E_WIRE_COUNT);
        } else {
            assert_int_equal(mp_skip(&in, &e), 0);
        }
        free(exact);
    }
    buf_done(&b);
}

static void unused_forms_are_refused(void **state)
{
    static const unsigned char heads[] = { 0xc1, 0xc7, 0xc8, 0xc9, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8 };
    unsigned char bytes[32] = { 0 };
    struct mp_item item;
    struct kiln_err e;

    (void)state;
    for (size_t i = 0; i < sizeof heads; i++) {
        struct mp_in in = mp_in(bytes, sizeof bytes);
        bytes[0] = heads[i];
        assert_int_equal(mp_next(&in, &item, &e), -KILN_E_WIRE_TYPE);
    }
}

static void other_kinds_leave_the_reader_where_it_was(void **state)
{
    const unsigned char *bytes;
    struct kiln_err e;
    struct mp_in in = IN(0xa1, 'a');
    const char *p;
    uint64_t u;
    int64_t v;
    uint32_t n;
    bool flag;

    (void)state;
    assert_int_equal(mp_uint(&in, &u, &e), -KILN_E_WIRE_TYPE);
    assert_int_equal(mp_int(&in, &v, &e), -KILN_E_WIRE_TYPE);
    assert_int_equal(mp_bool(&in, &flag, &e), -KILN_E_WIRE_TYPE);
    assert_int_equal(mp_bin(&in, &bytes, &n, &e), -KILN_E_WIRE_TYPE);
    assert_int_equal(mp_array(&in, &n, &e), -KILN_E_WIRE_TYPE);
    assert_int_equal(mp_map(&in, &n, &e), -KILN_E_WIRE_TYPE);
    assert_int_equal(mp_str(&in, &p, &n, &e), 0);
    in = IN(0xff);
    assert_int_equal(mp_uint(&in, &u, &e), -KILN_E_WIRE_TYPE); /* negative */
    in = IN(0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0);
    assert_int_equal(mp_int(&in, &v, &e), -KILN_E_WIRE_RANGE); /* 2^63 */
    assert_int_equal(mp_at(&in), 0);
    assert_int_equal(mp_uint(&in, &u, &e), 0);
    assert_true(u == 1ull << 63);
}

static void text_is_utf8_without_nul(void **state)
{
    static const char *const good[] = { "", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x94\xa5", "\xef\xbf\xbf",
                                        "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf", "\xee\x80\x80" };
    static const char *const bad[] = {
        "\x80",             /* continuation alone */
        "\xc3",             /* cut */
        "\xe2\x82",
        "\xc0\xaf",         /* overlong */
        "\xe0\x80\xaf",
        "\xf0\x80\x80\xaf",
        "\xed\xa0\x80",     /* surrogate */
        "\xf4\x90\x80\x80", /* past U+10FFFF */
        "\xf8\x88\x80\x80\x80",
        "\xff",
        "a\xc3(",
    };
    struct kiln_err e;
    struct mp_in in;
    const char *p;
    uint32_t n;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(utf8_valid((const unsigned char *)good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(utf8_valid((const unsigned char *)bad[i], strlen(bad[i])));
    in = IN(0xa3, 'a', 0, 'b');
    assert_int_equal(mp_str(&in, &p, &n, &e), -KILN_E_WIRE_TYPE);
    assert_int_equal(mp_at(&in), 0);
}

/* Any bytes at all: the reader ends, within the bytes. */
static void random_bytes_end(void **state)
{
    struct kiln_err e;

    (void)state;
    srand(7);
    for (unsigned round = 0; round < 20000; round++) {
        size_t n = (size_t)rand() % 40;
        unsigned char *p = malloc(n + !n);
        struct mp_in in = mp_in(p, n);
        for (size_t i = 0; i < n; i++)
            p[i] = (unsigned char)(rand() >> 7);
        while (mp_left(&in) && mp_skip(&in, &e) == 0)
            ;
        assert_true(in.p <= in.end);
        free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_shortest),
        cmocka_unit_test(every_length_goes_round),
        cmocka_unit_test(longer_forms_are_read),
        cmocka_unit_test(floats_keep_their_bits),
        cmocka_unit_test(counts_are_compared_with_what_is_left),
        cmocka_unit_test(depth_costs_nothing_to_skip),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(unused_forms_are_refused),
        cmocka_unit_test(other_kinds_leave_the_reader_where_it_was),
        cmocka_unit_test(text_is_utf8_without_nul),
        cmocka_unit_test(random_bytes_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
