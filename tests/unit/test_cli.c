/* SPDX-License-Identifier: Apache-2.0
 * What the commands share: keys, times, units, JSON, places in a text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "client/cli/cli.h"
#include "client/cli/source.h"
#include "proto/codec/msgpack.h"

/* main.c's, which the commands call. */
int cli_usage(const struct cli *cli, const char *fmt, ...)
{
    (void)cli;
    (void)fmt;
    return kiln_code_exit(KILN_E_INVALID);
}

static void test_keys(void **state)
{
    unsigned char key[KILN_KEY_BYTES] = { 0 };
    char digits[HEX_KEY];

    (void)state;
    assert_int_equal(cli_key("0123abCD", key), 4);
    assert_memory_equal(key, "\x01\x23\xab\xcd", 4);
    assert_string_equal(hex(key, 4, digits), "0123abcd");
    assert_int_equal(cli_key("0123abc", key), 0);
    assert_int_equal(cli_key("012345", key), 0);
    assert_int_equal(cli_key("0123456g", key), 0);
    assert_int_equal(cli_key("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", key), 32);
    assert_int_equal(cli_key("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef01", key), 0);
}

static void test_durations(void **state)
{
    static const struct {
        const char *text;
        uint64_t seconds;
    } good[] = { { "90", 90 },     { "30s", 30 },     { "15m", 900 }, { "12h", 43200 },
                 { "7d", 604800 }, { "2w", 1209600 }, { "0", 0 } };
    static const char *const bad[] = { "", "s", "-1", "1y", "1hh", "1 h", "18446744073709551615w", "x1" };
    uint64_t s;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(cli_duration(good[i].text, &s));
        assert_int_equal(s, good[i].seconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (cli_duration(bad[i], &s))
            fail_msg("'%s' was taken", bad[i]);
}

static void test_units(void **state)
{
    text t;

    (void)state;
    assert_string_equal(human_bytes(0, t), "0 B");
    assert_string_equal(human_bytes(1023, t), "1023 B");
    assert_string_equal(human_bytes(1536, t), "1.5 KiB");
    assert_string_equal(human_bytes(5ull << 30, t), "5.0 GiB");
    assert_string_equal(human_bytes(UINT64_MAX, t), "16777216.0 TiB");
    assert_string_equal(human_time_us(999, t), "999 us");
    assert_string_equal(human_time_us(12345, t), "12.3 ms");
    assert_string_equal(human_time_us(2500000, t), "2.50 s");
    assert_string_equal(human_seconds(59, t), "59 s");
    assert_string_equal(human_seconds(3599, t), "59 min");
    assert_string_equal(human_seconds(3660, t), "1 h 1 min");
    assert_string_equal(human_seconds(90000, t), "1 d 1 h");
    assert_string_equal(human_age(0, t), "-");
    assert_string_equal(human_age((uint64_t)time(NULL) + 100, t), "now"); /* a clock that runs behind */
    assert_string_equal(human_age((uint64_t)time(NULL) - 7200, t), "2 h 0 min ago");
}

/* The JSON of what `write` packs, compact; NULL if it is refused. */
static char *json_of(void (*write)(struct buf *))
{
    struct buf b;
    json_t *v;
    char *s;

    buf_init(&b, 1u << 20);
    write(&b);
    assert_true(buf_ok(&b));
    v = msgpack_json(b.data, b.len);
    s = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    json_decref(v);
    buf_done(&b);
    return s;
}

static void pack_manifest(struct buf *b)
{
    mp_put_map(b, 5);
    mp_put_cstr(b, "key");
    mp_put_bin(b, "\x01\xff", 2);
    mp_put_cstr(b, "params");
    mp_put_array(b, 3);
    mp_put_cstr(b, "float64");
    mp_put_nil(b);
    mp_put_bool(b, true);
    mp_put_cstr(b, "size");
    mp_put_int(b, -5);
    mp_put_cstr(b, "ratio");
    mp_put_float(b, 0.5);
    mp_put_uint(b, 7);
    mp_put_uint(b, 8);
}

static void pack_deep(struct buf *b)
{
    for (int i = 0; i < 100; i++)
        mp_put_array(b, 1);
    mp_put_nil(b);
}

static void pack_two(struct buf *b)
{
    mp_put_nil(b);
    mp_put_nil(b);
}

static void pack_short(struct buf *b)
{
    mp_put_array(b, 1);
}

static void pack_bad_key(struct buf *b)
{
    mp_put_map(b, 1);
    mp_put_nil(b);
    mp_put_nil(b);
}

static void test_msgpack_as_json(void **state)
{
    char *s = json_of(pack_manifest);

    (void)state;
    assert_string_equal(
        s, "{\"key\":\"01ff\",\"params\":[\"float64\",null,true],\"size\":-5,\"ratio\":0.5,\"7\":8}");
    free(s);
    assert_null(json_of(pack_deep));
    assert_null(json_of(pack_two));
    assert_null(json_of(pack_short));
    assert_null(json_of(pack_bad_key));
    assert_null(msgpack_json("", 0));
}

/* What source_report writes for a node; NULL if it has no place. */
static char *reported(const struct source *s, int function, int node, bool caret)
{
    char *out = NULL;
    size_t n;
    FILE *f = open_memstream(&out, &n);
    bool found = source_report(f, s, function, node, "is wrong", caret);

    fclose(f);
    if (found)
        return out;
    free(out);
    return NULL;
}

static void test_source_lines(void **state)
{
    static const char lines[] = "(kir 1 (function 0 (params)\n\t(block (return (const 1)))))";
    struct source s = { .path = "f.kir", .text = lines };
    struct arena a;
    struct kir_module *m;
    struct kiln_err e;
    char *out;

    (void)state;
    arena_init(&a, 1u << 20);
    assert_int_equal(kir_parse_positions(&a, lines, strlen(lines), &m, &s.positions, &e), 0);
    out = reported(&s, 0, 0, true);
    assert_string_equal(out,
                        "f.kir:2:17: is wrong\n    \t(block (return (const 1)))))\n    \t               ^\n");
    free(out);
    out = reported(&s, 0, 2, false);
    assert_string_equal(out, "f.kir:2:2: is wrong\n");
    free(out);
    assert_null(reported(&s, 0, 3, true));
    assert_null(reported(&s, 1, 0, true));
    assert_null(reported(&s, -1, -1, true));
    assert_null(reported(NULL, 0, 0, true));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),         cmocka_unit_test(test_durations),
        cmocka_unit_test(test_units),        cmocka_unit_test(test_msgpack_as_json),
        cmocka_unit_test(test_source_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
