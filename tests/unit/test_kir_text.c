/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kir_samples.h"

static void print(const struct kir_module *m, struct buf *out)
{
    struct kiln_err e = KILN_ERR_INIT;

    buf_init(out, SAMPLE_LIMIT);
    assert_int_equal(kir_print(m, out, &e), 0);
}

/* text -> module -> bytes -> module -> text: the same text and the same bytes. */
static void check_round_trip(const char *text, const char *expected)
{
    struct arena a;
    struct buf bytes, again, out;
    struct kir_module *m, *decoded;
    struct kiln_err e = KILN_ERR_INIT;

    arena_init(&a, SAMPLE_LIMIT);
    m = sample_parse(&a, text);
    sample_encode(m, &bytes);
    if (kir_decode(&a, bytes.data, bytes.len, &decoded, &e))
        fail_msg("%s", e.msg);
    print(decoded, &out);
    assert_string_equal(buf_cstr(&out), expected);
    m = sample_parse(&a, buf_cstr(&out));
    sample_encode(m, &again);
    assert_int_equal(bytes.len, again.len);
    assert_memory_equal(bytes.data, again.data, bytes.len);
    buf_done(&bytes);
    buf_done(&again);
    buf_done(&out);
    arena_done(&a);
}

static void test_statements(void **state)
{
    static const char text[] = "(kir 1\n"
                               "  (function 0 (params (x normal) (n normal 3))\n"
                               "    (block\n"
                               "      (assign (const 0) (local 2))\n"
                               "      (for (local 3) (call (lib builtins.range) [(local 1)])\n"
                               "        (block\n"
                               "          (if (compare [< <=] [(const 0) (local 3) (local 1)])\n"
                               "            (block\n"
                               "              (augassign + (local 2) (binary * (local 0) (local 3))))\n"
                               "            (block\n"
                               "              (continue))))\n"
                               "        (block\n"
                               "          (return _)))\n";
    (void)text;
    (void)state;
    check_round_trip("(kir 1 (function 0 (params (x normal) (n normal 3)) (block (assign (const 0) (local 2))"
                     "(for (local 3) (call (lib builtins.range) [(local 1)] [] []) (block (if (compare [< <=] [(const 0)"
                     "(local 3) (local 1)]) (block (augassign + (local 2) (local 3))) (block (continue))))"
                     "(block (return)))(return (local 2)))))",
                     "(kir 1\n"
                     "  (function 0 (params (x normal) (n normal 3))\n"
                     "    (block\n"
                     "      (assign (const 0) (local 2))\n"
                     "      (for (local 3) (call (lib builtins.range) [(local 1)])\n"
                     "        (block\n"
                     "          (if (compare [< <=] [(const 0) (local 3) (local 1)])\n"
                     "            (block\n"
                     "              (augassign + (local 2) (local 3)))\n"
                     "            (block\n"
                     "              (continue))))\n"
                     "        (block\n"
                     "          (return)))\n"
                     "      (return (local 2)))))\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
