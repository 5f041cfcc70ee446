/* SPDX-License-Identifier: Apache-2.0
 * Goldens of inference: tests/golden/infer/NAME.txt holds a module's text, and after it sections
 *
 *   ---- (int64, float64[::1])                       a signature, optionally "| numba", "| env TYPE;TYPE"
 *   facts, or diagnostics
 *
 * `test_infer --update` writes what comes out anew; `test_infer SUBSTRING` runs the goldens of that name. */
#include "tests/unit/infer_samples.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define GOLDENS "tests/golden/infer"
#define MARK "\n---- "

static bool update;
static const char *only = "";

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

/* One section: the heading (without the mark, up to its line's end) and what inference makes of it. */
static void section(const char *text, const char *heading, struct buf *out)
{
    char line[400], *option, *sig = line, *env = NULL;
    struct compile_options options = { 0 };
    struct inferred r;

    assert_true(strlen(heading) < sizeof line);
    strcpy(line, heading);
    while ((option = strrchr(line, '|'))) {
        if (strncmp(option, "| numba", 7) == 0)
            options.numba = true;
        else if (strncmp(option, "| checked", 9) == 0)
            options.checked = true;
        else if (strncmp(option, "| env ", 6) == 0)
            env = option + 6;
        else
            fail_msg("unknown option %s", option);
        *option = '\0';
        for (char *end = option; end > line && end[-1] == ' ';)
            *--end = '\0';
    }
    infer_text(&r, text, sig, env, options);
    infer_print(&r, out);
    arena_done(&r.a);
}

static void check_golden(const char *path)
{
    struct buf file, made, text;
    char *at, *next;

    read_file(path, &file);
    buf_init(&made, SAMPLE_LIMIT);
    buf_init(&text, SAMPLE_LIMIT);
    at = strstr(buf_cstr(&file), MARK);
    if (!at)
        fail_msg("%s has no signature", path);
    buf_add(&text, buf_cstr(&file), (size_t)(at + 1 - buf_cstr(&file)));
    buf_str(&made, buf_cstr(&text));
    for (; at; at = next) {
        char heading[400];
        size_t n = strcspn(at + 1, "\n");
        assert_true(n < sizeof heading);
        memcpy(heading, at + 1, n);
        heading[n] = '\0';
        next = strstr(at + 1, MARK);
        buf_printf(&made, "%s\n", heading);
        section(buf_cstr(&text), heading + 5, &made);
    }
    if (update) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(buf_cstr(&made), f);
        fclose(f);
    } else if (strcmp(buf_cstr(&made), buf_cstr(&file))) {
        fail_msg("%s: made\n%s", path, buf_cstr(&made));
    }
    buf_done(&file);
    buf_done(&made);
    buf_done(&text);
}

static int is_golden(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > 4 && !strcmp(e->d_name + n - 4, ".txt") && strstr(e->d_name, only);
}

static void test_goldens(void **state)
{
    struct dirent **list;
    int n = scandir(GOLDENS, &list, is_golden, alphasort);

    (void)state;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", GOLDENS, list[i]->d_name);
        check_golden(path);
        free(list[i]);
    }
    free(list);
    print_message("%d goldens\n", n);
}

/* Trees as deep as KIR allows, and expressions past inference's own limit, end in a diagnostic. */
static void test_deep(void **state)
{
    struct inferred r;
    struct buf b;

    (void)state;
    buf_init(&b, SAMPLE_LIMIT);
    buf_str(&b, "(kir 1 (function 0 (params (x normal)) (block (return ");
    for (int i = 0; i < 1500; i++)
        buf_str(&b, "(unary - ");
    buf_str(&b, "(local 0)");
    for (int i = 0; i < 1500; i++)
        buf_str(&b, ")");
    buf_str(&b, "))))");
    infer_text(&r, buf_cstr(&b), "(int64)", NULL, (struct compile_options){ 0 });
    assert_null(r.p);
    assert_int_equal(r.d.n, 1);
    assert_non_null(strstr(r.d.items[0].message, "nested more than 1000"));
    arena_done(&r.a);
    buf_done(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_goldens), cmocka_unit_test(test_deep) };

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--update"))
            update = true;
        else
            only = argv[i];
    }
    return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
