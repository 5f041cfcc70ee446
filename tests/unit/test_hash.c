/* SPDX-License-Identifier: Apache-2.0
 * Known digests, delimited fields, hexadecimal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "proto/base/hash.h"

static const char *hex_of(const unsigned char d[HASH_BYTES])
{
    static char out[2 * HASH_BYTES + 1];

    return hex_encode(d, HASH_BYTES, out);
}

/* From Python: hashlib.blake2b(data, digest_size=32). */
static void digests_are_blake2b(void **state)
{
    unsigned char d[HASH_BYTES];

    (void)state;
    hash_once("", 0, d);
    assert_string_equal(hex_of(d), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    hash_once("abc", 3, d);
    assert_string_equal(hex_of(d), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

static void pieces_are_the_whole(void **state)
{
    unsigned char data[1000], whole[HASH_BYTES], pieces[HASH_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7);
    hash_once(data, sizeof data, whole);
    for (size_t cut = 0; cut <= sizeof data; cut += 37) {
        struct hash h;
        hash_init(&h);
        hash_raw(&h, data, cut);
        hash_raw(&h, data + cut, sizeof data - cut);
        hash_done(&h, pieces);
        assert_memory_equal(whole, pieces, HASH_BYTES);
    }
}

/* Every sequence of fields in this list has a digest of its own. */
static void fields_do_not_run_together(void **state)
{
    unsigned char d[12][HASH_BYTES];
    struct hash h;
    unsigned n = 0;

    (void)state;
#define CASE(...)                                                                                                     \
    hash_init(&h);                                                                                                    \
    __VA_ARGS__;                                                                                                      \
    hash_done(&h, d[n++])
    CASE((void)0);
    CASE(hash_text(&h, ""));
    CASE(hash_bytes(&h, "", 0));
    CASE(hash_text(&h, ""), hash_text(&h, ""));
    CASE(hash_text(&h, "ab"), hash_text(&h, "c"));
    CASE(hash_text(&h, "a"), hash_text(&h, "bc"));
    CASE(hash_text(&h, "abc"));
    CASE(hash_bytes(&h, "abc", 3));
    CASE(hash_raw(&h, "abc", 3));
    CASE(hash_number(&h, 0x636261));
    CASE(hash_bytes(&h, "abc\0\0\0\0\0", 8));
    CASE(hash_number(&h, 0));
    assert_int_equal(n, 12);
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < i; j++)
            if (memcmp(d[i], d[j], HASH_BYTES) == 0)
                fail_msg("cases %u and %u collide", i, j);
    hash_init(&h);
    hash_text(&h, NULL); /* counts as "" */
    hash_done(&h, d[0]);
    assert_memory_equal(d[0], d[1], HASH_BYTES);
}

static void hexadecimal_both_ways(void **state)
{
    unsigned char bytes[4] = { 0x00, 0x7f, 0xab, 0xff }, back[4];
    char text[9];

    (void)state;
    assert_string_equal(hex_encode(bytes, 4, text), "007fabff");
    assert_true(hex_decode("007fABff", back, 4));
    assert_memory_equal(bytes, back, 4);
    assert_false(hex_decode("007fabf", back, 4));
    assert_false(hex_decode("007fabff0", back, 4));
    assert_false(hex_decode("007fabfg", back, 4));
    assert_false(hex_decode("", back, 4));
    assert_true(hex_decode("", back, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_blake2b),
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(fields_do_not_run_together),
        cmocka_unit_test(hexadecimal_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
