/* SPDX-License-Identifier: Apache-2.0
 * ops_int.c - integers: Python's operators on machine words that wrap.
 *
 * Nothing here may become poison: division guards zero and the least integer by -1, shifts guard counts past
 * the width. Counts that are constants fold to the one instruction that C programmers would expect. */
#include <stdio.h>

#include "daemon/compiler/lower/lo.h"

static LLVMValueRef zero_of(LLVMValueRef x)
{
    return LLVMConstNull(LLVMTypeOf(x));
}

static LLVMValueRef int_of(LLVMValueRef like, int64_t v)
{
    return LLVMConstInt(LLVMTypeOf(like), (unsigned long long)v, 1);
}

static bool const_int(LLVMValueRef x, int64_t *ret)
{
    if (!LLVMIsAConstantInt(x))
        return false;
    *ret = LLVMConstIntGetSExtValue(x);
    return true;
}

static LLVMValueRef overflow_checked(struct fn *f, const char *name, LLVMValueRef a, LLVMValueRef b,
                                     uint32_t node)
{
    LLVMValueRef args[2] = { a, b };
    LLVMValueRef r = lo_intrinsic(f, name, LLVMTypeOf(a), args, 2);
    raise_if(f, LLVMBuildExtractValue(f->b, r, 1, ""), node, EXC(OverflowError), "integer overflow");
    return LLVMBuildExtractValue(f->b, r, 0, "");
}

/* A divisor that can be divided by: 0 raises, or becomes 1 with *ret_zero saying where. -1 of a signed type
 * becomes 1 with *ret_minus saying where. NULL: cannot happen. */
static LLVMValueRef divisor(struct fn *f, const struct type *t, LLVMValueRef b, uint32_t node,
                            const char *msg, LLVMValueRef *ret_zero, LLVMValueRef *ret_minus)
{
    int64_t c;
    *ret_zero = *ret_minus = NULL;
    if (const_int(b, &c) && c != 0 && (c != -1 || !type_is_signed(t)))
        return b;
    LLVMValueRef is_zero = LLVMBuildICmp(f->b, LLVMIntEQ, b, zero_of(b), "");
    if (!f->numpy_errors) {
        raise_if(f, is_zero, node, EXC(ZeroDivisionError), msg);
    } else {
        *ret_zero = is_zero;
        b = LLVMBuildSelect(f->b, is_zero, int_of(b, 1), b, "");
    }
    if (type_is_signed(t)) {
        *ret_minus = LLVMBuildICmp(f->b, LLVMIntEQ, b, int_of(b, -1), "");
        b = LLVMBuildSelect(f->b, *ret_minus, int_of(b, 1), b, "");
    }
    return b;
}

static bool power_of_two(int64_t c, unsigned *ret_log)
{
    if (c <= 0 || (c & (c - 1)))
        return false;
    *ret_log = (unsigned)__builtin_ctzll((unsigned long long)c);
    return true;
}

static LLVMValueRef floordiv(struct fn *f, const struct type *t, LLVMValueRef a, LLVMValueRef b,
                             uint32_t node)
{
    LLVMValueRef zero, minus;
    unsigned log;
    int64_t c = 0;
    bool is_const = const_int(b, &c);
    if (is_const && type_is_signed(t) && power_of_two(c, &log))
        return LLVMBuildAShr(f->b, a, int_of(a, log), "");
    LLVMValueRef d = divisor(f, t, b, node, "integer division or modulo by zero", &zero, &minus);
    LLVMValueRef q;
    if (!type_is_signed(t)) {
        q = LLVMBuildUDiv(f->b, a, d, "");
    } else {
        q = LLVMBuildSDiv(f->b, a, d, "");
        LLVMValueRef r = LLVMBuildSub(f->b, a, LLVMBuildMul(f->b, q, d, ""), "");
        LLVMValueRef down;
        if (is_const && c > 0) { /* the remainder's sign is the answer */
            down = LLVMBuildAShr(f->b, r, int_of(r, type_bits(t) - 1), "");
        } else {
            LLVMValueRef other =
                LLVMBuildICmp(f->b, LLVMIntSLT, LLVMBuildXor(f->b, r, d, ""), zero_of(r), "");
            LLVMValueRef some = LLVMBuildICmp(f->b, LLVMIntNE, r, zero_of(r), "");
            down = LLVMBuildSExt(f->b, LLVMBuildAnd(f->b, other, some, ""), LLVMTypeOf(q), "");
        }
        q = LLVMBuildAdd(f->b, q, down, "");
    }
    if (minus) {
        LLVMValueRef opposite = LLVMBuildNeg(f->b, a, "");
        if (f->lo->p->options.numba) /* Numba: what does not fit is 0 */
            opposite = LLVMBuildSelect(
                f->b, LLVMBuildICmp(f->b, LLVMIntEQ, a, int_of(a, INT64_MIN >> (64 - type_bits(t))), ""),
                zero_of(a), opposite, "");
        q = LLVMBuildSelect(f->b, minus, opposite, q, "");
    }
    if (zero)
        q = LLVMBuildSelect(f->b, zero, zero_of(q), q, "");
    return q;
}

static LLVMValueRef modulo(struct fn *f, const struct type *t, LLVMValueRef a, LLVMValueRef b, uint32_t node)
{
    LLVMValueRef zero, minus;
    unsigned log;
    int64_t c = 0;
    bool is_const = const_int(b, &c);
    if (is_const && power_of_two(c, &log))
        return LLVMBuildAnd(f->b, a, int_of(a, c - 1), "");
    LLVMValueRef d = divisor(f, t, b, node, "integer modulo by zero", &zero, &minus);
    LLVMValueRef r;
    if (!type_is_signed(t)) {
        r = LLVMBuildURem(f->b, a, d, "");
    } else {
        r = LLVMBuildSRem(f->b, a, d, "");
        LLVMValueRef add;
        if (is_const && c > 0) {
            add = LLVMBuildAnd(f->b, LLVMBuildAShr(f->b, r, int_of(r, type_bits(t) - 1), ""), d, "");
        } else {
            LLVMValueRef other =
                LLVMBuildICmp(f->b, LLVMIntSLT, LLVMBuildXor(f->b, r, d, ""), zero_of(r), "");
            LLVMValueRef some = LLVMBuildICmp(f->b, LLVMIntNE, r, zero_of(r), "");
            add = LLVMBuildSelect(f->b, LLVMBuildAnd(f->b, other, some, ""), d, zero_of(d), "");
        }
        r = LLVMBuildAdd(f->b, r, add, "");
        /* by -1 the divisor was replaced by 1: the remainder is 0 either way */
    }
    if (zero)
        r = LLVMBuildSelect(f->b, zero, zero_of(r), r, "");
    return r;
}

/* A count at or past the width shifts everything out; a negative one is seen as such a count unless checked.
 */
static LLVMValueRef shift(struct fn *f, const struct type *t, bool left, LLVMValueRef a, LLVMValueRef s,
                          uint32_t node)
{
    int64_t c, width = type_bits(t);
    if (type_is_signed(t) && f->checked)
        raise_if(f, LLVMBuildICmp(f->b, LLVMIntSLT, s, zero_of(s), ""), node, EXC(ValueError),
                 "negative shift count");
    LLVMValueRef last = int_of(s, width - 1);
    if (const_int(s, &c) && c >= 0 && c < width)
        return left                ? LLVMBuildShl(f->b, a, s, "")
               : type_is_signed(t) ? LLVMBuildAShr(f->b, a, s, "")
                                   : LLVMBuildLShr(f->b, a, s, "");
    LLVMValueRef fits = LLVMBuildICmp(f->b, LLVMIntULE, s, last, "");
    if (!left && type_is_signed(t))
        return LLVMBuildAShr(f->b, a, LLVMBuildSelect(f->b, fits, s, last, ""), "");
    LLVMValueRef count = LLVMBuildAnd(f->b, s, last, "");
    LLVMValueRef r = left ? LLVMBuildShl(f->b, a, count, "") : LLVMBuildLShr(f->b, a, count, "");
    return LLVMBuildSelect(f->b, fits, r, zero_of(r), "");
}

/* iN kiln.ipow.N(base, exponent): repeated squaring; the exponent is taken as unsigned. */
static LLVMValueRef pow_helper(struct fn *f, unsigned bits, LLVMTypeRef t, LLVMTypeRef *ret_type)
{
    struct lo *lo = f->lo;
    char name[32];
    snprintf(name, sizeof(name), "kiln.ipow.%u", bits);
    LLVMTypeRef args[2] = { t, t };
    *ret_type = LLVMFunctionType(t, args, 2, 0);
    LLVMValueRef fn = LLVMGetNamedFunction(lo->m, name);
    if (fn)
        return fn;
    fn = LLVMAddFunction(lo->m, name, *ret_type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    lo_target_attrs(lo, fn);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(lo->c);
    LLVMBasicBlockRef bb[3];
    const char *const names[3] = { "entry", "loop", "out" };
    for (int i = 0; i < 3; i++)
        bb[i] = LLVMAppendBasicBlockInContext(lo->c, fn, names[i]);
    LLVMPositionBuilderAtEnd(b, bb[0]);
    LLVMValueRef none = LLVMConstNull(t), one = LLVMConstInt(t, 1, 0);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, LLVMGetParam(fn, 1), none, ""), bb[2], bb[1]);
    LLVMPositionBuilderAtEnd(b, bb[1]);
    LLVMValueRef e = LLVMBuildPhi(b, t, ""), sq = LLVMBuildPhi(b, t, ""), acc = LLVMBuildPhi(b, t, "");
    LLVMValueRef odd = LLVMBuildTrunc(b, e, lo->i1, "");
    LLVMValueRef acc2 = LLVMBuildSelect(b, odd, LLVMBuildMul(b, acc, sq, ""), acc, "");
    LLVMValueRef sq2 = LLVMBuildMul(b, sq, sq, ""), e2 = LLVMBuildLShr(b, e, one, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, e2, none, ""), bb[2], bb[1]);
    LLVMValueRef from_e[2] = { LLVMGetParam(fn, 1), e2 }, from_sq[2] = { LLVMGetParam(fn, 0), sq2 };
    LLVMValueRef from_acc[2] = { one, acc2 };
    LLVMAddIncoming(e, from_e, bb, 2);
    LLVMAddIncoming(sq, from_sq, bb, 2);
    LLVMAddIncoming(acc, from_acc, bb, 2);
    LLVMPositionBuilderAtEnd(b, bb[2]);
    LLVMValueRef r = LLVMBuildPhi(b, t, "");
    LLVMAddIncoming(r, from_acc, bb, 2);
    LLVMBuildRet(b, r);
    LLVMDisposeBuilder(b);
    return fn;
}

static LLVMValueRef power(struct fn *f, const struct type *t, LLVMValueRef a, LLVMValueRef b, uint32_t node)
{
    int64_t c;
    if (const_int(b, &c) && c >= 0 && c <= 4) {
        LLVMValueRef sq = c >= 2 ? LLVMBuildMul(f->b, a, a, "") : NULL;
        return c == 0   ? int_of(a, 1)
               : c == 1 ? a
               : c == 2 ? sq
               : c == 3 ? LLVMBuildMul(f->b, sq, a, "")
                        : LLVMBuildMul(f->b, sq, sq, "");
    }
    LLVMValueRef down = NULL, base = a;
    if (type_is_signed(t)) {
        down = LLVMBuildICmp(f->b, LLVMIntSLT, b, zero_of(b), "");
        if (!f->lo->p->options.numba) {
            raise_if(f, down, node, EXC(ValueError), "Integers to negative integer powers are not allowed.");
            down = NULL;
        }
    }
    if (down) { /* Numba: 1 divided by the power, which of 1 and -1 is that power again, of 0 an error, of
                   others 0 */
        LLVMValueRef none = LLVMBuildAnd(f->b, down, LLVMBuildICmp(f->b, LLVMIntEQ, a, zero_of(a), ""), "");
        if (!f->numpy_errors)
            raise_if(f, none, node, EXC(ZeroDivisionError), "0 cannot be raised to a negative power");
        if (f->dead)
            return LLVMGetPoison(LLVMTypeOf(a));
        LLVMValueRef one =
            LLVMBuildICmp(f->b, LLVMIntULE, LLVMBuildAdd(f->b, a, int_of(a, 1), ""), int_of(a, 2), "");
        base = LLVMBuildSelect(f->b, LLVMBuildAnd(f->b, down, LLVMBuildNot(f->b, one, ""), ""), zero_of(a), a,
                               "");
        b = LLVMBuildSelect(f->b, down, LLVMBuildNeg(f->b, b, ""), b, "");
        LLVMTypeRef type;
        LLVMValueRef fn = pow_helper(f, type_bits(t), LLVMTypeOf(a), &type), args[2] = { base, b };
        LLVMValueRef r = LLVMBuildCall2(f->b, type, fn, args, 2, "");
        return LLVMBuildSelect(f->b, none, int_of(a, INT64_MIN >> (64 - type_bits(t))), r, "");
    }
    LLVMTypeRef type;
    LLVMValueRef fn = pow_helper(f, type_bits(t), LLVMTypeOf(a), &type), args[2] = { a, b };
    return LLVMBuildCall2(f->b, type, fn, args, 2, "");
}

LLVMValueRef int_binary(struct fn *f, enum kir_binary op, const struct type *t, LLVMValueRef a,
                        LLVMValueRef b, uint32_t node)
{
    bool is_signed = type_is_signed(t);
    switch (op) {
    case KIR_B_ADD:
        if (f->checked)
            return overflow_checked(f, is_signed ? "llvm.sadd.with.overflow" : "llvm.uadd.with.overflow", a,
                                    b, node);
        return LLVMBuildAdd(f->b, a, b, "");
    case KIR_B_SUB:
        if (f->checked)
            return overflow_checked(f, is_signed ? "llvm.ssub.with.overflow" : "llvm.usub.with.overflow", a,
                                    b, node);
        return LLVMBuildSub(f->b, a, b, "");
    case KIR_B_MUL:
        if (f->checked)
            return overflow_checked(f, is_signed ? "llvm.smul.with.overflow" : "llvm.umul.with.overflow", a,
                                    b, node);
        return LLVMBuildMul(f->b, a, b, "");
    case KIR_B_FLOORDIV:
        return floordiv(f, t, a, b, node);
    case KIR_B_MOD:
        return modulo(f, t, a, b, node);
    case KIR_B_POW:
        return power(f, t, a, b, node);
    case KIR_B_LSHIFT:
        return shift(f, t, true, a, b, node);
    case KIR_B_RSHIFT:
        return shift(f, t, false, a, b, node);
    case KIR_B_BITAND:
        return LLVMBuildAnd(f->b, a, b, "");
    case KIR_B_BITOR:
        return LLVMBuildOr(f->b, a, b, "");
    case KIR_B_BITXOR:
        return LLVMBuildXor(f->b, a, b, "");
    default:
        lo_fail_at(f, node, "operator is not defined on integers");
        return LLVMGetPoison(LLVMTypeOf(a));
    }
}
