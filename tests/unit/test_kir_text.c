/* SPDX-License-Identifier: Apache-2.0
 * The text form: tests/golden/kir/NAME.kir holds a text as somebody may write it, a line "----", and what
 * kir_print makes of it, or "error: " and the message. `test_kir_text --update` writes the second part anew.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/kir_samples.h"

#define GOLDENS "tests/golden/kir"
#define DIVIDER "----\n"

static bool update;

static void read_file(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "r");
    unsigned char block[4096];
    size_t n;

    if (!f)
        fail_msg("cannot open %s", path);
    buf_init(out, SAMPLE_LIMIT);
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        buf_add(out, block, n);
    fclose(f);
}

/* What becomes of a text: its canonical print, which must be a fixed point, or the error. */
static void result(const char *text, size_t len, struct buf *out)
{
    struct arena a;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf again;

    buf_init(out, SAMPLE_LIMIT);
    arena_init(&a, SAMPLE_LIMIT);
    if (kir_parse(&a, text, len, &m, &e)) {
        buf_printf(out, "error: %s\n", e.msg);
    } else {
        assert_int_equal(kir_verify(m, &e), 0);
        assert_int_equal(kir_print(m, out, &e), 0);
        m = sample_parse(&a, buf_cstr(out));
        buf_init(&again, SAMPLE_LIMIT);
        assert_int_equal(kir_print(m, &again, &e), 0);
        assert_string_equal(buf_cstr(&again), buf_cstr(out));
        buf_done(&again);
    }
    arena_done(&a);
}

static void check_golden(const char *path)
{
    struct buf file, made;
    const char *text, *divider;
    size_t len;

    read_file(path, &file);
    text = buf_cstr(&file);
    divider = strstr(text, DIVIDER);
    len = divider ? (size_t)(divider - text) : strlen(text);
    result(text, len, &made);
    if (update) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "%.*s" DIVIDER "%s", (int)len, text, buf_cstr(&made));
        fclose(f);
    } else if (!divider || strcmp(divider + strlen(DIVIDER), buf_cstr(&made))) {
        fail_msg("%s: made\n%s", path, buf_cstr(&made));
    }
    buf_done(&file);
    buf_done(&made);
}

static void test_goldens(void **state)
{
    DIR *d = opendir(GOLDENS);
    struct dirent *entry;
    int n = 0;

    (void)state;
    assert_non_null(d);
    while ((entry = readdir(d))) {
        char path[400];
        if (!strstr(entry->d_name, ".kir"))
            continue;
        snprintf(path, sizeof path, GOLDENS "/%s", entry->d_name);
        check_golden(path);
        n++;
    }
    closedir(d);
    assert_true(n >= 4);
}

/* A text and a part of its error. */
static const char *const errors[][2] = {
    { "", "line 1, column 1: expected (kir ...)" },
    { "(kil 1)", "line 1, column 2: expected 'kir'" },
    { "(kir 2)", "KIR version 2" },
    { "(kir 1)", "a module needs a function" },
    { "(kir 1 (function 0 (params) (block))) x", "text follows the module" },
    { "(kir 1 (function 0 (params) (block))", "expected ')'" },
    { "(kir 1 (thing))", "expected const, usertype or function" },
    { "(kir 1 (function 1 (params) (block)))", "functions are numbered in order: this is 0" },
    { "(kir 1\n  (function 0 (params) (blok)))", "line 2, column 25: 'blok' is no node" },
    { "(kir 1 (function 0 (params (x odd)) (block)))", "expected posonly, normal" },
    { "(kir 1 (function 0 (params) (flags odd) (block)))", "'odd' is no flag" },
    { "(kir 1 (function 0 (params) (flags inline) (block)))", "the entry's flags come with the request" },
    { "(kir 1 (function 0 (params) (block (return (unary + + (const 1))))))",
      "expected a node in parentheses" },
    { "(kir 1 (function 0 (params) (block (return (unary % (const 1))))))",
      "'%' is no operator or kind of unary" },
    { "(kir 1 (function 0 (params) (block (return (unary -)))))", "unary has more operands" },
    { "(kir 1 (function 0 (params) (block (return (const 1) (const 2)))))", "return has no more operands" },
    { "(kir 1 (function 0 (params) (block (return (call (const 1) (const 2))))))",
      "expected '[' and a list" },
    { "(kir 1 (function 0 (params) (block (return (const #0)))))", "constant #0 is not defined before" },
    { "(kir 1 (const #0 1) (const #0 2) (function 0 (params) (block)))", "constant #0 is there already" },
    { "(kir 1 (const #4000000 1) (function 0 (params) (block)))", "labels are small numbers" },
    { "(kir 1 (const 0 1) (function 0 (params) (block)))", "expected a label such as #0" },
    { "(kir 1 (function 0 (params) (block (return (const (tuple 1)) (const", "return has no more operands" },
    { "(kir 1 (function 0 (params) (block (return (const (odd 1))))))", "unknown kind of constant" },
    { "(kir 1 (function 0 (params) (block (return (const 1.5.2)))))", "'1.5.2' is no float" },
    { "(kir 1 (function 0 (params) (block (return (const 0x10)))))", "is no float" },
    { "(kir 1 (function 0 (params) (block (return (const 010)))))", "without leading zeros" },
    { "(kir 1 (function 0 (params) (block (return (const nan:0000000000000000)))))",
      "16 hex digits of a NaN" },
    { "(kir 1 (function 0 (params) (block (return (const \"abc", "a string does not end on its line" },
    { "(kir 1 (function 0 (params) (block (return (const \"a\nb\")))))",
      "a string does not end on its line" },
    { "(kir 1 (function 0 (params) (block (return (const \"a\\qb\")))))", "escapes are" },
    { "(kir 1 (function 0 (params) (block (return (const \"\\xff\")))))", "is not valid UTF-8" },
    { "(kir 1 (function 0 (params) (block (return (const (scalar int8 x0))))))",
      "expected x and hex digits" },
    { "(kir 1 (function 0 (params) (block (return (const (scalar int8 x0g))))))",
      "expected x and hex digits" },
    { "(kir 1 (function 0 (params) (block (return (const (enum 0 0))))))", "does not exist" },
    { "(kir 1 (usertype 1 enum E) (function 0 (params) (block)))", "user types are numbered in order" },
    { "(kir 1 (usertype 0 odd E) (function 0 (params) (block)))", "unknown kind of user type" },
    { "(kir 1 (usertype 0 enum E) (usertype 1 enum E) (function 0 (params) (block)))",
      "a user type is there already" },
    { "(kir 1 (function 0 (params) (block (return (local 99999999)))))",
      "too large a number for a text of this length" },
    { "(kir 1 (function 0 (params) (block (return (func 99999999)))))",
      "too large a number for a text of this length" },
    { "(kir 1 (function 0 (params) (free 99999999) (block)))",
      "too large a number for a text of this length" },
    { "(kir 1 (function 0 (params) (block (return (func 1)))))", "function 1 has no body" },
    { "(kir 1\n(function 0 (params)\n(block (return (and (const 1))))))",
      "line 3, column 16: function 0, node 1 (and)" },
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        struct buf out;
        result(errors[i][0], strlen(errors[i][0]), &out);
        if (strncmp(buf_cstr(&out), "error: ", 7) || !strstr(buf_cstr(&out), errors[i][1]))
            fail_msg("%s\n%s", errors[i][0], buf_cstr(&out));
        buf_done(&out);
    }
}

static void test_positions(void **state)
{
    static const char text[] = "(kir 1\n"
                               "  (function 0 (params (x normal))\n"
                               "    (block\n"
                               "      (return (call (func 2) [(local 0)]))))\n"
                               "  (function 1 (params) (block (return (const 1))))\n"
                               "  (function 2 (params (y normal)) (block (return (call (func 1) []))\n"
                               "  )))";
    struct arena a;
    struct kir_module *m;
    struct kir_positions p;
    struct kiln_err e = KILN_ERR_INIT;

    (void)state;
    arena_init(&a, SAMPLE_LIMIT);
    assert_int_equal(kir_parse_positions(&a, text, strlen(text), &m, &p, &e), 0);
    assert_int_equal(m->n_functions, 3);
    for (uint32_t f = 0; f < 3; f++)
        assert_int_equal(p.functions[f].n, m->functions[f].n_nodes);
    assert_int_equal(p.functions[0].nodes[0].line, 4); /* (func 2) */
    assert_int_equal(p.functions[0].nodes[0].column, 21);
    assert_int_equal(p.functions[1].nodes[0].line, 6); /* the text's function 2 is the module's 1 */
    assert_int_equal(p.functions[2].nodes[0].line, 5);
    assert_int_equal(p.functions[2].nodes[0].column, 39);
    arena_done(&a);
}

static void test_floats_round_trip(void **state)
{
    static const double values[] = {
        0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -0.0, 123456789012345680.0, 1e22, 2.5
    };

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[200];
        struct arena a;
        const struct kir_module *m;
        snprintf(text, sizeof text, "(kir 1 (function 0 (params) (block (return (const %.17e)))))",
                 values[i]);
        arena_init(&a, SAMPLE_LIMIT);
        m = sample_parse(&a, text);
        assert_memory_equal(&m->consts[0].f, &values[i], 8);
        struct buf out;
        struct kiln_err e;
        buf_init(&out, SAMPLE_LIMIT);
        assert_int_equal(kir_print(m, &out, &e), 0);
        m = sample_parse(&a, buf_cstr(&out));
        assert_memory_equal(&m->consts[0].f, &values[i], 8);
        buf_done(&out);
        arena_done(&a);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goldens),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_floats_round_trip),
    };

    update = argc == 2 && !strcmp(argv[1], "--update");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
