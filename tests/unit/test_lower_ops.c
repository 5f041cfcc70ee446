/* SPDX-License-Identifier: Apache-2.0
 * Operators of lowering on edge values, against what Python and NumPy give. Facts are made by hand: the
 * function is `return a OP b` at one type, so that nothing of inference is in the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "daemon/compiler/lower/lower.h"
#include "proto/abi/abi.h"
#include "proto/ir/builder.h"

struct run {
    struct arena a;
    LLVMOrcLLJITRef jit;
    kiln_entry_fn entry;
};

static void must(LLVMErrorRef e)
{
    if (e) {
        char *text = LLVMGetErrorMessage(e);
        print_error("%s\n", text);
        LLVMDisposeErrorMessage(text);
        fail();
    }
}

static void jit_start(struct run *r, struct program *p)
{
    struct kiln_err e = KILN_ERR_INIT;
    static const unsigned char key[32] = { 1 };
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    must(LLVMOrcCreateLLJIT(&r->jit, NULL));
    LLVMOrcThreadSafeContextRef tsc = LLVMOrcCreateNewThreadSafeContext();
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMOrcDisposeThreadSafeContext(tsc);
    tsc = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(ctx);
    struct lower_target t = { .triple = LLVMOrcLLJITGetTripleString(r->jit),
                              .data_layout = LLVMOrcLLJITGetDataLayoutStr(r->jit),
                              .pointer_bytes = 8,
                              .abi = LOWER_ABI_NONE };
    struct lower_request req = { .key = key };
    LLVMModuleRef m;
    if (lower_run(&r->a, p, &t, &req, ctx, &m, NULL, &e)) {
        print_error("%s\n", e.msg);
        fail();
    }
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    must(LLVMRunPasses(m, "default<O2>", NULL, o));
    LLVMDisposePassBuilderOptions(o);
    LLVMOrcDefinitionGeneratorRef g;
    must(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&g, LLVMOrcLLJITGetGlobalPrefix(r->jit), NULL,
                                                              NULL));
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(r->jit), g);
    must(LLVMOrcLLJITAddLLVMIRModule(r->jit, LLVMOrcLLJITGetMainJITDylib(r->jit),
                                     LLVMOrcCreateNewThreadSafeModule(m, tsc)));
    LLVMOrcDisposeThreadSafeContext(tsc);
    LLVMOrcExecutorAddress at;
    must(LLVMOrcLLJITLookup(r->jit, &at, "kiln_entry"));
    r->entry = (kiln_entry_fn)(uintptr_t)at;
}

static void jit_stop(struct run *r)
{
    must(LLVMOrcDisposeLLJIT(r->jit));
    arena_done(&r->a);
}

/* `return a OP b`, or OP a for one operand; all of type t, the result of type ret. */
static void op_start(struct run *r, enum kir_op kind, unsigned op, enum type_kind tk, enum type_kind retk,
                     uint32_t flags, bool checked)
{
    struct kiln_err e = KILN_ERR_INIT;
    arena_init(&r->a, 64 << 20);
    struct kir_builder *b = kir_builder_new();
    uint32_t f = kir_b_function(b), p[2], v, stmt;
    for (int i = 0; i < 2; i++)
        p[i] = kir_b_param(b, f, i ? "b" : "a", KIR_P_NORMAL, KIR_NIL);
    uint32_t x = kir_b_local(b, f, p[0]);
    if (kind == KIR_UNARY) {
        v = kir_b_unary(b, f, (enum kir_unary)op, x);
    } else {
        uint32_t y = kir_b_local(b, f, p[1]);
        v = kind == KIR_BINARY ? kir_b_binary(b, f, (enum kir_binary)op, x, y)
                               : kir_b_compare(b, f, (enum kir_compare)op, x, y);
    }
    stmt = kir_b_return(b, f, v);
    kir_b_block(b, f, &stmt, 1);
    struct kir_module *m;
    if (kir_builder_finish(b, &r->a, &m, &e)) {
        print_error("%s\n", e.msg);
        fail();
    }
    kir_builder_free(b);
    struct type_table *types = type_table_new(&r->a);
    const struct type *t = type_scalar(types, tk), *ret = type_scalar(types, retk);
    const struct kir_function *fn = &m->functions[0];
    struct fact *facts = arena_new_array(&r->a, fn->n_nodes, struct fact);
    for (uint32_t i = 0; i < fn->n_nodes; i++) {
        unsigned o = fn->nodes[i].op;
        facts[i].type = o == KIR_LOCAL                      ? t
                        : o == KIR_RETURN || o == KIR_BLOCK ? type_scalar(types, TY_NONE)
                                                            : ret;
        if (o == KIR_BINARY || o == KIR_UNARY || o == KIR_COMPARE)
            facts[i].operand = t;
    }
    static struct unit unit;
    unit = (struct unit){ .mod = m };
    const struct type **params = arena_new_array(&r->a, 2, const struct type *);
    params[0] = params[1] = t;
    struct instance *in = arena_new(&r->a, struct instance);
    *in = (struct instance){ .unit = &unit,
                             .fn = fn,
                             .params = params,
                             .ret = ret,
                             .n_contexts = 1,
                             .facts = facts,
                             .may_raise = true };
    static struct instance *list[1];
    list[0] = in;
    struct program pr = { .types = types,
                          .user = &unit,
                          .instances = list,
                          .n_instances = 1,
                          .options = { .flags = flags, .checked = checked } };
    jit_start(r, &pr);
}

/* ---- integers ---- */

static const int64_t edges[] = { INT64_MIN, INT64_MIN + 1,
                                 INT32_MIN, -129,
                                 -128,      -127,
                                 -8,        -7,
                                 -3,        -2,
                                 -1,        0,
                                 1,         2,
                                 3,         7,
                                 8,         63,
                                 64,        65,
                                 127,       128,
                                 255,       256,
                                 32767,     32768,
                                 INT32_MAX, INT64_MAX - 1,
                                 INT64_MAX };
enum { N_EDGES = sizeof(edges) / sizeof(edges[0]) };

static __int128 wrap(__int128 v, unsigned bits, bool is_signed)
{
    unsigned __int128 m = ((unsigned __int128)1 << bits) - 1, u = (unsigned __int128)v & m;
    if (is_signed && (u >> (bits - 1)))
        return (__int128)u - ((__int128)1 << bits);
    return (__int128)u;
}

static __int128 floor_div(__int128 a, __int128 b)
{
    __int128 q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Products of unsigned 64-bit numbers pass the largest __int128; the low bits are right all the same. */
static __int128 times(__int128 a, __int128 b)
{
    return (__int128)((unsigned __int128)a * (unsigned __int128)b);
}

static __int128 power(__int128 a, __int128 b, unsigned bits, bool is_signed)
{
    __int128 r = 1;
    for (; b > 0; b >>= 1) {
        if (b & 1)
            r = wrap(times(r, a), bits, is_signed);
        a = wrap(times(wrap(a, bits, is_signed), wrap(a, bits, is_signed)), bits, is_signed);
    }
    return wrap(r, bits, is_signed);
}

/* Mathematics; false: an exception of class *ret_exc. */
static bool expect_int(unsigned op, __int128 a, __int128 b, unsigned bits, bool is_signed, bool numpy,
                       __int128 *ret, uint32_t *ret_exc)
{
    switch (op) {
    case KIR_B_ADD:
        *ret = a + b;
        break;
    case KIR_B_SUB:
        *ret = a - b;
        break;
    case KIR_B_MUL:
        *ret = times(a, b);
        break;
    case KIR_B_FLOORDIV:
    case KIR_B_MOD:
        if (b == 0 && !numpy) {
            *ret_exc = KILN_EXC_ZeroDivisionError;
            return false;
        }
        *ret = b == 0 ? 0 : op == KIR_B_FLOORDIV ? floor_div(a, b) : a - floor_div(a, b) * b;
        break;
    case KIR_B_POW:
        if (b < 0) {
            *ret_exc = KILN_EXC_ValueError;
            return false;
        }
        *ret = power(a, b, bits, is_signed);
        break;
    case KIR_B_LSHIFT:
        *ret = b < 0 || b >= bits ? 0 : times(a, (__int128)1 << b);
        break;
    case KIR_B_RSHIFT:
        *ret = b < 0 || b >= bits ? (a < 0 ? -1 : 0) : a >> b;
        break;
    case KIR_B_BITAND:
        *ret = a & b;
        break;
    case KIR_B_BITOR:
        *ret = a | b;
        break;
    default:
        *ret = a ^ b;
    }
    *ret = wrap(*ret, bits, is_signed);
    return true;
}

static const struct {
    enum type_kind kind;
    unsigned bits;
    bool is_signed;
} widths[] = { { TY_INT8, 8, true },     { TY_INT16, 16, true },   { TY_INT32, 32, true },
               { TY_INT64, 64, true },   { TY_UINT8, 8, false },   { TY_UINT16, 16, false },
               { TY_UINT32, 32, false }, { TY_UINT64, 64, false }, { TY_PYINT, 64, true } };

static void int_pairs(unsigned op, bool numpy)
{
    for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
        unsigned bits = widths[w].bits, bytes = bits / 8;
        bool is_signed = widths[w].is_signed;
        struct run r;
        op_start(&r, KIR_BINARY, op, widths[w].kind, widths[w].kind, numpy ? KIR_F_NUMPY_ERRORS : 0, false);
        for (size_t i = 0; i < N_EDGES; i++) {
            for (size_t j = 0; j < N_EDGES; j++) {
                __int128 a = wrap(edges[i], bits, is_signed), b = wrap(edges[j], bits, is_signed), want = 0;
                unsigned char args[16], out[8] = { 0 };
                uint64_t a64 = (uint64_t)a, b64 = (uint64_t)b, got = 0;
                uint32_t exc_class = 0;
                struct kiln_exc exc;
                memcpy(args, &a64, bytes);
                memcpy(args + bytes, &b64, bytes);
                bool value = expect_int(op, a, b, bits, is_signed, numpy, &want, &exc_class);
                int32_t rc = r.entry(out, args, NULL, &exc);
                memcpy(&got, out, bytes);
                if (value ? rc != KILN_DONE || wrap((__int128)got, bits, is_signed) != want
                          : rc != KILN_RAISED || exc.class_id != exc_class) {
                    fail_msg("op %u bits %u signed %d: %lld, %lld gives %lld (status %d), expected %lld", op,
                             bits, is_signed, (long long)a, (long long)b, (long long)got, rc,
                             (long long)want);
                }
            }
        }
        jit_stop(&r);
    }
}

static void test_int_operators(void **state)
{
    static const unsigned ops[] = { KIR_B_ADD,    KIR_B_SUB,   KIR_B_MUL,    KIR_B_FLOORDIV,
                                    KIR_B_MOD,    KIR_B_POW,   KIR_B_LSHIFT, KIR_B_RSHIFT,
                                    KIR_B_BITAND, KIR_B_BITOR, KIR_B_BITXOR };
    (void)state;
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        int_pairs(ops[i], false);
    int_pairs(KIR_B_FLOORDIV, true);
    int_pairs(KIR_B_MOD, true);
}

static void test_int_checked(void **state)
{
    (void)state;
    static const unsigned ops[] = { KIR_B_ADD, KIR_B_SUB, KIR_B_MUL };
    for (size_t k = 0; k < 3; k++) {
        struct run r;
        op_start(&r, KIR_BINARY, ops[k], TY_PYINT, TY_PYINT, 0, true);
        for (size_t i = 0; i < N_EDGES; i++) {
            for (size_t j = 0; j < N_EDGES; j++) {
                int64_t args[2] = { edges[i], edges[j] }, out = 0, want;
                struct kiln_exc exc;
                bool over = ops[k] == KIR_B_ADD   ? __builtin_add_overflow(args[0], args[1], &want)
                            : ops[k] == KIR_B_SUB ? __builtin_sub_overflow(args[0], args[1], &want)
                                                  : __builtin_mul_overflow(args[0], args[1], &want);
                int32_t rc = r.entry(&out, args, NULL, &exc);
                assert_int_equal(rc, over ? KILN_RAISED : KILN_DONE);
                if (over)
                    assert_int_equal(exc.class_id, KILN_EXC_OverflowError);
                else
                    assert_int_equal(out, want);
            }
        }
        jit_stop(&r);
    }
    struct run r;
    int64_t args[2] = { 1, -1 }, out;
    struct kiln_exc exc;
    op_start(&r, KIR_BINARY, KIR_B_LSHIFT, TY_PYINT, TY_PYINT, 0, true);
    assert_int_equal(r.entry(&out, args, NULL, &exc), KILN_RAISED);
    assert_int_equal(exc.class_id, KILN_EXC_ValueError);
    assert_int_equal(exc.n_args, 1);
    assert_memory_equal(exc.args[0].s, "negative shift count", exc.args[0].len);
    assert_int_equal(exc.n_trace, 1);
    jit_stop(&r);
}

/* ---- floats ---- */

static const double reals[] = {
    0.0,      -0.0,      1.0,  -1.0,  0.5,    -0.5,   2.0,     -2.0,     3.0,  -3.0,  0.1,
    -0.3,     7.5,       -7.5, 1e300, -1e300, 1e-300, -1e-300, 4.9e-324, 1e16, -1e16, 1.7976931348623157e308,
    INFINITY, -INFINITY, NAN
};
enum { N_REALS = sizeof(reals) / sizeof(reals[0]) };

/* CPython's float_divmod. */
static void py_divmod(double a, double b, double *ret_div, double *ret_mod)
{
    double mod = fmod(a, b), div = (a - mod) / b;
    if (mod != 0) {
        if ((b < 0) != (mod < 0)) {
            mod += b;
            div -= 1.0;
        }
    } else {
        mod = copysign(0.0, b);
    }
    if (div != 0) {
        *ret_div = floor(div);
        if (div - *ret_div > 0.5)
            *ret_div += 1.0;
    } else {
        *ret_div = copysign(0.0, a / b);
    }
    *ret_mod = mod;
}

static bool same_float(double a, double b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, 8);
}

static void float_pairs(unsigned op, bool numpy)
{
    struct run r;
    op_start(&r, KIR_BINARY, op, TY_FLOAT64, TY_FLOAT64, numpy ? KIR_F_NUMPY_ERRORS : 0, false);
    for (size_t i = 0; i < N_REALS; i++) {
        for (size_t j = 0; j < N_REALS; j++) {
            double a = reals[i], b = reals[j], args[2] = { a, b }, out = 0, div, mod, want;
            struct kiln_exc exc;
            bool raises = b == 0 && !numpy && (op == KIR_B_DIV || op == KIR_B_FLOORDIV || op == KIR_B_MOD);
            py_divmod(a, b, &div, &mod);
            want = op == KIR_B_ADD   ? a + b
                   : op == KIR_B_SUB ? a - b
                   : op == KIR_B_MUL ? a * b
                   : op == KIR_B_DIV ? a / b
                   : op == KIR_B_MOD ? (b == 0 ? NAN : mod)
                                     : (b == 0 ? a / b : div);
            int32_t rc = r.entry(&out, args, NULL, &exc);
            if (rc != (raises ? KILN_RAISED : KILN_DONE) || (!raises && !same_float(out, want)))
                fail_msg("op %u: %.17g, %.17g gives %.17g (status %d), expected %.17g", op, a, b, out, rc,
                         want);
            if (raises)
                assert_int_equal(exc.class_id, KILN_EXC_ZeroDivisionError);
        }
    }
    jit_stop(&r);
}

static void test_float_operators(void **state)
{
    static const unsigned ops[] = { KIR_B_ADD, KIR_B_SUB, KIR_B_MUL, KIR_B_DIV, KIR_B_FLOORDIV, KIR_B_MOD };
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        float_pairs(ops[i], false);
        float_pairs(ops[i], true);
    }
}

/* ---- comparisons ---- */

static void test_comparisons(void **state)
{
    static const unsigned ops[] = { KIR_C_EQ, KIR_C_NE, KIR_C_LT, KIR_C_LE, KIR_C_GT, KIR_C_GE };
    (void)state;
    for (size_t k = 0; k < 6; k++) {
        struct run r;
        op_start(&r, KIR_COMPARE, ops[k], TY_FLOAT64, TY_BOOL, 0, false);
        for (size_t i = 0; i < N_REALS; i++) {
            for (size_t j = 0; j < N_REALS; j++) {
                double args[2] = { reals[i], reals[j] }, a = args[0], b = args[1];
                struct kiln_exc exc;
                uint8_t out = 9;
                assert_int_equal(r.entry(&out, args, NULL, &exc), KILN_DONE);
                assert_int_equal(out, k == 0   ? a == b
                                      : k == 1 ? a != b
                                      : k == 2 ? a < b
                                      : k == 3 ? a <= b
                                      : k == 4 ? a > b
                                               : a >= b);
            }
        }
        jit_stop(&r);
        op_start(&r, KIR_COMPARE, ops[k], TY_UINT64, TY_BOOL, 0, false);
        for (size_t i = 0; i < N_EDGES; i++) {
            for (size_t j = 0; j < N_EDGES; j++) {
                uint64_t args[2] = { (uint64_t)edges[i], (uint64_t)edges[j] }, a = args[0], b = args[1];
                struct kiln_exc exc;
                uint8_t out = 9;
                assert_int_equal(r.entry(&out, args, NULL, &exc), KILN_DONE);
                assert_int_equal(out, k == 0   ? a == b
                                      : k == 1 ? a != b
                                      : k == 2 ? a < b
                                      : k == 3 ? a <= b
                                      : k == 4 ? a > b
                                               : a >= b);
            }
        }
        jit_stop(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_int_operators),
        cmocka_unit_test(test_int_checked),
        cmocka_unit_test(test_float_operators),
        cmocka_unit_test(test_comparisons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
