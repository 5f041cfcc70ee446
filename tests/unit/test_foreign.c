/* SPDX-License-Identifier: Apache-2.0
 * LLVM IR from somebody else: bitcode of clang 14 (typed pointers) and clang 22, textual IR, and modules that
 * are broken or lie. Whatever a module says, the answer is an artifact or an error with its reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/compiler/compile.h"
#include "proto/abi/abi.h"

static struct compiler *compiler;

static int setup(void **state)
{
    struct kiln_err e = KILN_ERR_INIT;

    (void)state;
    return compiler_new(&compiler, &e);
}

static int teardown(void **state)
{
    (void)state;
    compiler_free(compiler);
    return 0;
}

/* ---- compile and load ---- */

struct bytes {
    unsigned char *data;
    size_t len;
};

static struct compile_request request(struct bytes module, const char *entry, const char *signature)
{
    struct compile_request r = { .kind = COMPILE_LLVM,
                                 .body = module.data,
                                 .body_len = module.len,
                                 .signature = signature,
                                 .entry = entry,
                                 .target = "x86-64",
                                 .emit = EMIT_SO };

    memset(r.key, 9, sizeof r.key);
    return r;
}

/* The error's text, or "" when it compiled; of the last call only. */
static const char *outcome(const struct compile_request *r, enum kiln_code *ret_code,
                           struct bytes *ret_object)
{
    static char text[512];
    struct kiln_err e = KILN_ERR_INIT;
    struct compile_result result;
    struct arena a;
    int code;

    arena_init(&a, 16 << 20);
    code = compiler_run(compiler, &a, r, &result, &e);
    snprintf(text, sizeof text, "%s", code < 0 ? e.msg : "");
    *ret_code = code < 0 ? e.code : 0;
    if (ret_object) {
        ret_object->len = result.object.len;
        ret_object->data = malloc(result.object.len + 1);
        memcpy(ret_object->data, result.object.len ? result.object.data : (unsigned char *)"",
               result.object.len);
    }
    compile_result_done(&result);
    arena_done(&a);
    return text;
}

static void refused(const char *module, const char *entry, const char *signature, enum kiln_code code,
                    const char *words)
{
    struct bytes b = { (unsigned char *)module, strlen(module) };
    struct compile_request r = request(b, entry, signature);
    enum kiln_code got;
    const char *text = outcome(&r, &got, NULL);

    if (got != code || !strstr(text, words))
        fail_msg("expected %d '%s', got %d '%s' for\n%s", code, words, got, text, module);
}

struct loaded {
    void *handle;
    int fd;
    kiln_entry_fn entry;
};

static struct loaded load(const struct compile_request *r)
{
    struct bytes object;
    struct loaded l = { .fd = memfd_create("test", 0) };
    enum kiln_code code;
    const char *text = outcome(r, &code, &object);
    char path[64];

    if (code)
        fail_msg("%s", text);
    assert_int_equal(write(l.fd, object.data, object.len), (ssize_t)object.len);
    free(object.data);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), l.fd);
    l.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!l.handle)
        fail_msg("%s", dlerror());
    assert_memory_equal(dlsym(l.handle, KILN_SYM_KEY), r->key, 32);
    l.entry = (kiln_entry_fn)dlsym(l.handle, KILN_SYM_ENTRY);
    return l;
}

static void unload(struct loaded *l)
{
    dlclose(l->handle);
    close(l->fd);
}

/* ---- what clang makes of C ---- */

static const char source[] = "static double scale = 2.0;\n"
                             "int hidden_counter = 0;\n"
                             "double exp(double); void *memcpy(void *, const void *, unsigned long);\n"
                             "double helper(double x) { hidden_counter++; return x * scale; }\n"
                             "double total(const double *p, long n) { double s = 0; for (long i = 0; i < n; "
                             "i++) s += helper(p[i]); return s; }\n"
                             "_Bool mixed(signed char a, unsigned short b, int c, unsigned long long d, "
                             "float e, double f, _Bool g, double *out)\n"
                             "{ *out = a + b + c + (double)d + e + f + exp(0); return !g; }\n"
                             "void nothing(int *p) { *p += 1; }\n"
                             "__int128 wide(__int128 a, __int128 b) { return a / b; }\n"
                             "long divide(long a, long b) { return (long)wide(a, b); }\n"
                             "double modulus(double a, double b) { _Complex double z = a + b * 1.0i, w = z * "
                             "z / (z + 1.0); return __real__ w; }\n";

static struct bytes clang(const char *compiler_path, const char *options)
{
    char in[] = "/tmp/kiln-foreign-XXXXXX", command[512];
    int fd = mkstemp(in);
    struct bytes b = { malloc(1 << 20), 0 };
    FILE *p;

    assert_true(fd >= 0 && write(fd, source, sizeof source - 1) == (ssize_t)sizeof source - 1);
    close(fd);
    snprintf(command, sizeof command, "%s -x c %s -emit-llvm -fPIC %s -o -", compiler_path, options, in);
    p = popen(command, "r");
    assert_non_null(p);
    b.len = fread(b.data, 1, 1 << 20, p);
    assert_int_equal(pclose(p), 0);
    unlink(in);
    assert_true(b.len > 100);
    return b;
}

static void functions_work(struct bytes module)
{
    double data[3] = { 1, 2, 3 }, d = 0;
    struct compile_request r = request(module, "total", "float64(CPointer(float64), int64)");
    struct {
        double *p;
        int64_t n;
    } of_total = { data, 3 };
    struct loaded l = load(&r);
    double (*plain)(const double *, long) = (double (*)(const double *, long))dlsym(l.handle, "total");

    assert_int_equal(l.entry(&d, &of_total, NULL, NULL), KILN_DONE);
    assert_true(d == 12);
    assert_non_null(plain);
    assert_true(plain(data, 2) == 6);
    assert_null(dlsym(l.handle, "helper")); /* nothing else is exported */
    assert_null(dlsym(l.handle, "hidden_counter"));
    unload(&l);

    r = request(module, "mixed",
                "bool(int8, uint16, int32, uint64, float32, float64, bool, CPointer(float64))");
    struct {
        int8_t a;
        uint16_t b;
        int32_t c;
        uint64_t d;
        float e;
        double f;
        uint8_t g;
        double *out;
    } of_mixed = { -5, 65535, -100000, 1ull << 40, 0.5f, 0.25, 1, &d };
    uint8_t truth = 7;
    l = load(&r);
    assert_int_equal(l.entry(&truth, &of_mixed, NULL, NULL), KILN_DONE);
    assert_int_equal(truth, 0);
    assert_true(d == -5 + 65535.0 - 100000 + 1099511627776.0 + 0.5 + 0.25 + 1);
    unload(&l);

    int32_t n = 41;
    int32_t *at = &n;
    r = request(module, "nothing", "void(CPointer(int32))");
    l = load(&r);
    assert_int_equal(l.entry(NULL, &at, NULL, NULL), KILN_DONE);
    assert_int_equal(n, 42);
    unload(&l);
}

/* Code generation calls helpers for these; they are in the artifact. */
static void helpers_are_there(struct bytes module)
{
    int64_t two[2] = { -100, 7 }, q;
    double parts[2] = { 1, 2 }, re;
    struct compile_request r = request(module, "divide", "int64(int64, int64)");
    struct loaded l = load(&r);

    assert_int_equal(l.entry(&q, two, NULL, NULL), KILN_DONE);
    assert_int_equal(q, -14);
    unload(&l);
    r = request(module, "modulus", "float64(float64, float64)");
    l = load(&r);
    assert_int_equal(l.entry(&re, parts, NULL, NULL), KILN_DONE);
    assert_true(re > 0.24999 && re < 0.25001); /* (1+2i)^2 / (2+2i) = 0.25 + 1.75i */
    unload(&l);
}

static void each_way(const char *path)
{
    static const char *const options[] = { "-O0 -c", "-O2 -c", "-O1 -g -c", "-O1 -S",
                                           "-O2 -march=x86-64-v4 -c" };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct bytes b = clang(path, options[i]);
        functions_work(b);
        helpers_are_there(b);
        free(b.data);
    }
}

static void test_clang_14(void **state)
{
    (void)state;
    if (!*KILN_TEST_CLANG_14) {
        print_message("skipped: clang-14 is not installed\n");
        skip();
    }
    each_way(KILN_TEST_CLANG_14);
}

static void test_clang_22(void **state)
{
    (void)state;
    each_way(KILN_TEST_CLANG);
}

/* ---- modules that lie ---- */

#define ADD "define double @add(double %a, double %b) {\n  %r = fadd double %a, %b\n  ret double %r\n}\n"
#define ADD_SIG "float64(float64, float64)"

static void test_entry_and_signature(void **state)
{
    (void)state;
    refused(ADD, "sub", ADD_SIG, KILN_E_MODULE_BAD, "has no function 'sub'");
    refused(ADD, "", ADD_SIG, KILN_E_MODULE_BAD, "has no function ''");
    refused("declare double @add(double, double)\n", "add", ADD_SIG, KILN_E_MODULE_BAD,
            "declared in the module, but not defined");
    refused("@add = global i32 3\n", "add", ADD_SIG, KILN_E_MODULE_BAD, "has no function 'add'");
    refused(ADD, "add", "float64(float64)", KILN_E_MODULE_BAD,
            "has 2 parameters in the module, 1 in the signature");
    refused(ADD, "add", "float64(float64, float64, float64)", KILN_E_MODULE_BAD,
            "2 parameters in the module, 3 in");
    refused(ADD, "add", "float64(float64, float32)", KILN_E_MODULE_BAD,
            "parameter 2 of 'add' is double in the module, float32");
    refused(ADD, "add", "float64(CPointer(float64), float64)", KILN_E_MODULE_BAD,
            "parameter 1 of 'add' is double");
    refused(ADD, "add", "int64(float64, float64)", KILN_E_MODULE_BAD, "result");
    refused(ADD, "add", "void(float64, float64)", KILN_E_MODULE_BAD, "result");
    refused(ADD, "add", "float64(float64[::1], float64)", KILN_E_SIGNATURE, "can't be passed to LLVM IR");
    refused(ADD, "add", "Tuple((float64, float64))(float64, float64)", KILN_E_SIGNATURE,
            "can't come from LLVM IR");
    refused(ADD, "add", "float64(float64,, float64)", KILN_E_SIGNATURE, "column");
    refused("define double @f(double %a, ...) {\n  ret double %a\n}\n", "f", "float64(float64)",
            KILN_E_MODULE_BAD, "variable number");
    refused("define fastcc double @f(double %a) {\n  ret double %a\n}\n", "f", "float64(float64)",
            KILN_E_MODULE_BAD, "C calling convention");
    refused("define void @f(ptr byval([4 x i64]) %p) {\n  ret void\n}\n", "f", "void(CPointer(int64))",
            KILN_E_MODULE_BAD, "byval");
    refused("define void @f(ptr sret([4 x i64]) %p) {\n  ret void\n}\n", "f", "void(CPointer(int64))",
            KILN_E_MODULE_BAD, "sret");
    refused("define void @f(ptr addrspace(1) %p) {\n  ret void\n}\n", "f", "void(CPointer(int64))",
            KILN_E_MODULE_BAD, "parameter 1");
    refused("define i1 @f(i7 %p) {\n  ret i1 0\n}\n", "f", "bool(int8)", KILN_E_MODULE_BAD,
            "parameter 1 of 'f' is i7");
    refused("@f = alias double (double), ptr @g\ndefine double @g(double %a) {\n  ret double %a\n}\n", "f",
            "float64(float64)", KILN_E_MODULE_BAD, "has no function 'f'");
}

static void test_layout_and_triple(void **state)
{
    (void)state;
    refused("target triple = \"aarch64-unknown-linux-gnu\"\n" ADD, "add", ADD_SIG, KILN_E_MODULE_BAD,
            "is for aarch64");
    refused("target triple = \"nvptx64-nvidia-cuda\"\n" ADD, "add", ADD_SIG, KILN_E_MODULE_BAD,
            "is for nvptx64");
    refused("target triple = \"what\"\n" ADD, "add", ADD_SIG, KILN_E_MODULE_BAD, "is for what");
    refused("target datalayout = \"E-m:e-i64:64\"\n" ADD, "add", ADD_SIG, KILN_E_MODULE_BAD, "data layout");
    refused("target datalayout = \"e-m:e-p:32:32-i64:64\"\n" ADD, "add", ADD_SIG, KILN_E_MODULE_BAD,
            "data layout");
    refused("target datalayout = \"e-m:e-i64:32\"\n" ADD, "add", ADD_SIG, KILN_E_MODULE_BAD, "data layout");
    refused("target datalayout = \"rubbish\"\n" ADD, "add", ADD_SIG, KILN_E_MODULE_BAD, "");
}

static void test_broken(void **state)
{
    (void)state;
    refused("", "f", "void()", KILN_E_MODULE_BAD, "");
    refused("this is no IR\n", "f", "void()", KILN_E_MODULE_BAD, "expected");
    refused("define double @f( {\n", "f", "void()", KILN_E_MODULE_BAD, "");
    refused("BC\xC0\xDE", "f", "void()", KILN_E_MODULE_BAD, "");
    refused("define i32 @f() {\n  ret i64 0\n}\n", "f", "int32()", KILN_E_MODULE_BAD, "");
    refused("define i32 @f(i1 %c) {\na:\n  br i1 %c, label %b, label %d\nb:\n  %x = add i32 1, 2\n  br label "
            "%d\nd:\n  ret i32 %x\n}\n",
            "f", "int32(bool)", KILN_E_MODULE_BAD, "dominate");
    refused("define void @f() {\n  %x = load i32, ptr @missing\n  ret void\n}\n", "f", "void()",
            KILN_E_MODULE_BAD, "missing");
}

static void test_what_artifacts_must_not_have(void **state)
{
    (void)state;
    refused("@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, "
            "ptr @add, ptr null }]\n"
            "define void @add() {\n  ret void\n}\n",
            "add", "void()", KILN_E_MODULE_BAD, "constructors");
    refused("@f = ifunc i32 (), ptr @r\ndefine ptr @r() {\n  ret ptr null\n}\n" ADD, "add", ADD_SIG,
            KILN_E_MODULE_BAD, "ifunc");
    refused("module asm \".globl evil\"\n" ADD, "add", ADD_SIG, KILN_E_MODULE_BAD, "assembly");
    refused("@x = global ptr @add, section \".init_array\"\n@llvm.used = appending global [1 x ptr] [ptr "
            "@x], section \"llvm.metadata\"\n" ADD,
            "add", ADD_SIG, KILN_E_MODULE_BAD, "runs when it is loaded");
    refused("define void @f() {\n  call void asm sideeffect \".pushsection .init_array,\\22aw\\22\\0A.quad "
            "0\\0A.popsection\", \"\"()\n"
            "  ret void\n}\n",
            "f", "void()", KILN_E_MODULE_BAD, "runs when it is loaded");
    refused("define void @_init() {\n  ret void\n}\n", "_init", "void()", KILN_E_MODULE_BAD,
            "runs when it is loaded");
    refused("define void @kiln_entry() {\n  ret void\n}\n", "kiln_entry", "void()", KILN_E_MODULE_BAD,
            "artifact's own");
    refused("@kiln_key = global i32 1\n" ADD, "add", ADD_SIG, KILN_E_MODULE_BAD, "artifact's own");
    refused("declare i32 @system(ptr)\ndefine i32 @f(ptr %p) {\n  %r = call i32 @system(ptr %p)\n  ret i32 "
            "%r\n}\n",
            "f", "int32(CPointer(int8))", KILN_E_COMPILE, "calls 'system', which is not available");
    refused(
        "@environ = external global ptr\ndefine ptr @f() {\n  %r = load ptr, ptr @environ\n  ret ptr %r\n}\n",
        "f", "CPointer(int8)()", KILN_E_COMPILE, "'environ'");
    refused("define void @f() {\n  call void asm sideeffect \"not an instruction\", \"\"()\n  ret void\n}\n",
            "f", "void()", KILN_E_COMPILE, "instruction");
}

/* Prefixes of a good module, in memory of just that size. */
static void test_cut_short(void **state)
{
    struct bytes b = clang(KILN_TEST_CLANG, "-O1 -c");
    struct compile_request r = request(b, "total", "float64(CPointer(float64), int64)");
    unsigned errors = 0;

    (void)state;
    for (size_t len = 0; len < b.len; len += 1 + len / 50) {
        struct bytes cut = { malloc(len ? len : 1),
                             len }; /* of its exact size: reading past it is seen by sanitizers */
        enum kiln_code code;
        memcpy(cut.data, b.data, len);
        r.body = cut.data;
        r.body_len = len;
        outcome(&r, &code, NULL);
        errors += code != 0;
        assert_true(code == 0 || code == KILN_E_MODULE_BAD);
        free(cut.data);
    }
    assert_true(errors > 50);
    free(b.data);
}

/* The same request gives the same bytes, and a file without a trace of where it was made. */
static void test_same_bytes(void **state)
{
    struct bytes b = clang(KILN_TEST_CLANG, "-O1 -g -c"), one, two;
    struct compile_request r = request(b, "total", "float64(CPointer(float64), int64)");
    enum kiln_code code;

    (void)state;
    outcome(&r, &code, &one);
    assert_int_equal(code, 0);
    outcome(&r, &code, &two);
    assert_int_equal(one.len, two.len);
    assert_memory_equal(one.data, two.data, one.len);
    assert_null(memmem(one.data, one.len, "/tmp/", 5));
    assert_non_null(
        memmem(one.data, one.len, "float64(CPointer(float64), int64)", 33)); /* the manifest's note */
    free(one.data);
    free(two.data);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clang_14),
        cmocka_unit_test(test_clang_22),
        cmocka_unit_test(test_entry_and_signature),
        cmocka_unit_test(test_layout_and_triple),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_what_artifacts_must_not_have),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_same_bytes),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
