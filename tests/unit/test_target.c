/* SPDX-License-Identifier: Apache-2.0
 * Targets by their text: canonical spelling, features, what is refused; the client's own text is understood.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kiln/kiln.h>

#include "daemon/compiler/target/target.h"

static struct targets targets;

static int setup(void **state)
{
    (void)state;
    targets_init();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    targets_done(&targets);
    return 0;
}

static const struct target *find(const char *text)
{
    struct kiln_err e = KILN_ERR_INIT;
    const struct target *t = NULL;

    if (target_find(&targets, text, &t, &e))
        fail_msg("%s", e.msg);
    return t;
}

static void test_names(void **state)
{
    (void)state;
#define X(NAME, name, triple_, cpu_, features_, bytes, abi_, stub_)                                          \
    {                                                                                                        \
        const struct target *t = find(name);                                                                 \
        assert_string_equal(t->text, name);                                                                  \
        assert_string_equal(t->triple, triple_);                                                             \
        assert_int_equal(t->lower.pointer_bytes, bytes);                                                     \
        assert_non_null(t->machine);                                                                         \
        assert_string_equal(target_arch_of(triple_), strncmp(name, "x86", 3) ? name : "x86-64");             \
    }
#include "daemon/compiler/target/targets.def"
#undef X
    assert_string_equal(find("")->text, TARGET_BASELINE);
    assert_ptr_equal(find(NULL), find(TARGET_BASELINE));
    assert_null(target_arch_of("riscv64-unknown-linux-gnu"));
}

static void test_canonical(void **state)
{
    static const char *const same[][2] = {
        { "x86-64-v3+avx512f+aes", "x86-64-v3+aes+avx512f" },
        { "x86-64-v2+fma+avx+fma", "x86-64-v2+avx+fma" },
        { "x86-64-v3-fma", "x86-64-v3-fma" },
        { "x86-64-v4-avx512vl+sha", "x86-64-v4-avx512vl+sha" },
        { "x86-64+sse4.2+avx", "x86-64+avx+sse4.2" },
        { "aarch64+sve+dotprod", "aarch64+dotprod+sve" },
        { "armv7hf+vfp4+hwdiv-arm", "armv7hf+hwdiv-arm+vfp4" },
        { "armv7hf+neon", "armv7hf+neon" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_string_equal(find(same[i][0])->text, same[i][1]);
        assert_ptr_equal(find(same[i][0]), find(same[i][1])); /* one machine, however it is spelled */
    }
    assert_string_equal(find("x86-64-v2+sha+aes")->features, "+aes,+sha");
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        { "sparc", "there is no target 'sparc'" },
        { "x86-64-v5", "has no feature 'v5'" },
        { "x86-64+nosuch", "has no feature 'nosuch'" },
        { "x86-64-v3+", "has no feature ''" },
        { "x86-64-v3+avx2-avx2", "both adds and removes 'avx2'" },
        { "x86-64-v3+ avx2", "has no feature ' avx2'" },
        { "x86-64-v3+avx2,+avx512f", "has no feature" },
        { "aarch64+avx2", "has no feature 'avx2'" },
        { "armv7hf+sve", "has no feature 'sve'" },
        { "x86-64-v3 ", "has no feature" },
        { "native", "there is no target 'native'" }, /* the client resolves it */
    };
    char text[2000];

    (void)state;
    for (size_t i = 0; i <= sizeof bad / sizeof bad[0]; i++) {
        struct kiln_err e = KILN_ERR_INIT;
        const struct target *t;
        if (i == sizeof bad / sizeof bad[0]) { /* too long */
            strcpy(text, "x86-64");
            for (size_t k = 0; k < 300; k++)
                strcat(text, "+aes");
        }
        assert_int_equal(target_find(&targets, i < sizeof bad / sizeof bad[0] ? bad[i].text : text, &t, &e),
                         -KILN_E_TARGET);
        if (!strstr(e.msg, i < sizeof bad / sizeof bad[0] ? bad[i].words : "longer than"))
            fail_msg("'%s' for '%s'", e.msg, bad[i].text);
    }
}

/* LLVM knows each feature: an unknown one it would leave out with a word on standard error. */
static void test_llvm_knows_them(void **state)
{
    static const char *const all[][2] = {
#define X86(name, level, leaf, subleaf, reg, bit) { "x86-64", name },
#define AARCH64(name, bit) { "aarch64", name },
#define ARMV7HF(name, bit) { "armv7hf", name },
#include "proto/abi/isa.def"
    };

    int words = memfd_create("words", 0), saved = dup(STDERR_FILENO);

    (void)state;
    assert_true(words >= 0 && saved >= 0);
    dup2(words, STDERR_FILENO);
    LLVMDisposeTargetMachine(
        LLVMCreateTargetMachine(LLVMGetTargetFromName("x86-64"), "x86_64-unknown-linux-gnu", "x86-64",
                                "+nosuch", LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault));
    off_t of_one = lseek(words, 0, SEEK_CUR);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char text[80];
        snprintf(text, sizeof text, "%s+%s", all[i][0], all[i][1]);
        find(text);
    }
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_true(of_one > 0); /* so it does complain there */
    assert_int_equal(lseek(words, 0, SEEK_CUR), of_one);
    close(words);
}

static void test_client_says_what_we_know(void **state)
{
    const char *own = kiln_target_resolve("native"), *level = kiln_target_resolve("");

    (void)state;
    assert_non_null(find(own)->machine);
    assert_string_equal(find(level)->text, level);
    assert_true(kiln_cpu_has(find(own)->name));
    assert_true(kiln_cpu_has(level));
    assert_false(kiln_cpu_has("nosuch"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_llvm_knows_them),
        cmocka_unit_test(test_client_says_what_we_know),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
