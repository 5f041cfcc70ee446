/* SPDX-License-Identifier: Apache-2.0
 * Every component of key.def changes the key; nothing else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "cache/key.h"

static const char *const env1[] = { "array(float64, 1d, C)" };
static const char *const env2[] = { "array(float64, 2d, C)" };
static const unsigned char toolchain1[32] = { 1 }, toolchain2[32] = { 2 };

static struct key_parts base(void)
{
    return (struct key_parts){ .ir = { 5 }, .kind = "kir", .signature = "int64(int64)", .env = env1, .n_env = 1,
                               .entry = "f", .target = "x86-64-v3", .toolchain = toolchain1, .toolchain_len = 32,
                               .owner = 1000 };
}

/* Whether changing `p` from the base changes the key, and which component digests say so. */
static bool differs(struct key_parts p, int *ret_component)
{
    struct key_parts b = base();
    unsigned char k1[HASH_BYTES], k2[HASH_BYTES], d1[KEY_PARTS_BYTES], d2[KEY_PARTS_BYTES];
    unsigned n = 0;

    key_compute(&b, k1);
    key_compute(&p, k2);
    key_digests(&b, d1);
    key_digests(&p, d2);
    for (unsigned i = 0; i < KEY__COUNT; i++)
        if (memcmp(d1 + i * KEY_PART_BYTES, d2 + i * KEY_PART_BYTES, KEY_PART_BYTES) != 0) {
            *ret_component = (int)i;
            n++;
        }
    assert_int_equal(memcmp(k1, k2, HASH_BYTES) != 0, n > 0);
    return n > 0;
}

#define CHANGES(component, change)                                                                                    \
    do {                                                                                                              \
        struct key_parts p = base();                                                                                  \
        int which = -1;                                                                                               \
        change;                                                                                                       \
        assert_true(differs(p, &which));                                                                              \
        assert_int_equal(which, KEY_##component);                                                                     \
        seen[KEY_##component] = true;                                                                                 \
    } while (0)
#define KEEPS(change)                                                                                                 \
    do {                                                                                                              \
        struct key_parts p = base();                                                                                  \
        int which = -1;                                                                                               \
        change;                                                                                                       \
        assert_false(differs(p, &which));                                                                             \
    } while (0)

static void every_component_counts(void **state)
{
    bool seen[KEY__COUNT] = { false };

    (void)state;
    CHANGES(IR, p.ir[31] = 1);
    CHANGES(SIGNATURE, p.signature = "int64(int32)");
    CHANGES(ENV, p.env = env2);
    CHANGES(ENV, p.n_env = 0);
    CHANGES(TARGET, p.target = "x86-64-v2");
    CHANGES(EMIT, p.emit = "asm");
    CHANGES(FLAGS, p.flags = 1);
    CHANGES(SEMANTICS, p.semantics = "numba");
    CHANGES(CHECKED, p.checked = true);
    CHANGES(DEBUG, p.debug = true);
    CHANGES(DEBUG, p.debug = true; p.positions = "x"; p.positions_len = 1);
    CHANGES(CONTRACT, p.nocontract = true);
    CHANGES(SYMBOL, p.symbol = "g");
    CHANGES(TOOLCHAIN, p.toolchain = toolchain2);
    CHANGES(OWNER, p.is_private = true);
    seen[KEY_KIND] = seen[KEY_ENTRY] = true; /* below: they go with the owner */
    for (unsigned i = 0; i < KEY__COUNT; i++)
        if (!seen[i])
            fail_msg("component '%s' has no test", key_component_name(i));
}

static void what_changes_no_code_does_not_count(void **state)
{
    (void)state;
    KEEPS(p.entry = "g");                              /* the display name of KIR */
    KEEPS(p.owner = 1001);                             /* shared between users */
    KEEPS(p.positions = "x"; p.positions_len = 1);     /* without debug */
    KEEPS(p.emit = "so");                              /* the default, said */
    KEEPS(p.semantics = "python");
    KEEPS(p.emit = ""; p.semantics = ""; p.symbol = "");
}

static void foreign_code_belongs_to_its_sender(void **state)
{
    struct key_parts a = base(), b;
    unsigned char k1[HASH_BYTES], k2[HASH_BYTES];

    (void)state;
    a.kind = "bitcode";
    assert_true(key_is_foreign(&a));
    assert_true(key_is_restricted(&a));
    b = a;
    b.owner = 1001;
    key_compute(&a, k1);
    key_compute(&b, k2);
    assert_memory_not_equal(k1, k2, HASH_BYTES);
    b = a;
    b.entry = "g"; /* there it is the function to export */
    key_compute(&b, k2);
    assert_memory_not_equal(k1, k2, HASH_BYTES);
    b = base();
    assert_false(key_is_restricted(&b));
    b.is_private = true;
    assert_true(key_is_restricted(&b));
    a = b;
    a.owner = 1001;
    key_compute(&a, k1);
    key_compute(&b, k2);
    assert_memory_not_equal(k1, k2, HASH_BYTES);
}

/* Text that moves from one field to its neighbour must not leave the bytes that are hashed as they were. */
static void fields_are_delimited(void **state)
{
    static const char *const two[] = { "int", "64" };
    static const char *const one[] = { "int64" };
    struct key_parts a = base(), b = base();
    unsigned char k1[HASH_BYTES], k2[HASH_BYTES];

    (void)state;
    a.env = two;
    a.n_env = 2;
    b.env = one;
    key_compute(&a, k1);
    key_compute(&b, k2);
    assert_memory_not_equal(k1, k2, HASH_BYTES);
    a = b = base();
    a.signature = "ab";
    a.kind = "kirc";
    b.signature = "cab";
    key_compute(&a, k1);
    key_compute(&b, k2);
    assert_memory_not_equal(k1, k2, HASH_BYTES);
}

static void options_are_readable(void **state)
{
    struct key_parts p = base();
    struct buf out;

    (void)state;
    p.flags = 5;
    p.checked = p.nocontract = true;
    p.symbol = "cfunc";
    buf_init(&out, 1024);
    key_options_text(&p, &out);
    assert_string_equal(buf_cstr(&out),
                        "kind=kir semantics=python flags=0x5 checked nocontract symbol=cfunc env=array(float64, 1d, C)");
    buf_done(&out);
}

static void names_are_unique(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KEY__COUNT; i++)
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(key_component_name(i), key_component_name(j));
    assert_null(key_component_name(KEY__COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_component_counts),
        cmocka_unit_test(what_changes_no_code_does_not_count),
        cmocka_unit_test(foreign_code_belongs_to_its_sender),
        cmocka_unit_test(fields_are_delimited),
        cmocka_unit_test(options_are_readable),
        cmocka_unit_test(names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
