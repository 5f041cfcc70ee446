/* SPDX-License-Identifier: Apache-2.0
 * The promotion table, cell by cell, against tests/unit/promote.txt (made by promote_make.py from NumPy,
 * Python and Numba): the result of every operator and join at every two types, in both columns. */
#include "tests/unit/infer_samples.h"

#include <stdio.h>

#define TABLE "tests/unit/promote.txt"

/* The result's type, or "-" where the operator is refused. */
static void result_of(const char *op, const char *a, const char *b, bool numba, char *ret, size_t size)
{
    char text[400], sig[100];
    struct inferred r;

    if (strcmp(op, "join") == 0)
        snprintf(
            text, sizeof text,
            "(kir 1 (function 0 (params (x normal) (y normal) (c normal)) (block (assign (local 0) (local 3))"
            " (if (local 2) (block (assign (local 1) (local 3)))) (return (local 3)))))");
    else
        snprintf(text, sizeof text,
                 "(kir 1 (function 0 (params (x normal) (y normal)) (block"
                 " (return (binary %s (local 0) (local 1))))))",
                 op);
    snprintf(sig, sizeof sig, "(%s, %s%s)", a, b, strcmp(op, "join") == 0 ? ", bool" : "");
    infer_text(&r, text, sig, NULL, (struct compile_options){ .numba = numba });
    if (r.p) {
        const char *t = type_text(&r.a, r.p->instances[0]->ret);
        assert_non_null(t);
        snprintf(ret, size, "%s", t);
    } else {
        assert_true(r.d.n > 0);
        snprintf(ret, size, "-");
    }
    arena_done(&r.a);
}

static void test_table(void **state)
{
    FILE *f = fopen(TABLE, "r");
    char line[200];
    int rows = 0, wrong = 0;

    (void)state;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char op[8], a[16], b[16], want[2][16], got[16];
        if (line[0] == ';')
            continue;
        assert_int_equal(sscanf(line, "%7s %15s %15s %15s %15s", op, a, b, want[0], want[1]), 5);
        for (int numba = 0; numba < 2; numba++) {
            if (want[numba][0] == '.') /* weak types don't exist in Numba's rules */
                continue;
            result_of(op, a, b, numba, got, sizeof got);
            if (strcmp(got, want[numba]) != 0) {
                print_error("%s: %s %s %s is %s, should be %s\n", numba ? "numba" : "python", a, op, b, got,
                            want[numba]);
                wrong++;
            }
            rows++;
        }
    }
    fclose(f);
    print_message("%d cells\n", rows);
    assert_true(rows > 5000);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_table) };

    return cmocka_run_group_tests_name("promote", tests, NULL, NULL);
}
