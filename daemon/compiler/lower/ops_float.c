/* SPDX-License-Identifier: Apache-2.0
 * ops_float.c - floats: Python's operators, with the results of CPython and NumPy to the last bit and sign.
 */
#include "daemon/compiler/lower/lo.h"

static LLVMValueRef zero_of(LLVMValueRef x)
{
    return LLVMConstNull(LLVMTypeOf(x));
}

static LLVMValueRef copysign_of(struct fn *f, LLVMValueRef size, LLVMValueRef sign)
{
    LLVMValueRef args[2] = { size, sign };
    return lo_intrinsic(f, "llvm.copysign", LLVMTypeOf(size), args, 2);
}

static bool const_nonzero(LLVMValueRef b)
{
    LLVMBool lossy;
    return LLVMIsAConstantFP(b) && LLVMConstRealGetDouble(b, &lossy) != 0.0;
}

static void check_zero(struct fn *f, LLVMValueRef b, uint32_t node, const char *msg)
{
    if (f->numpy_errors || const_nonzero(b))
        return;
    raise_if(f, LLVMBuildFCmp(f->b, LLVMRealOEQ, b, zero_of(b), ""), node, EXC(ZeroDivisionError), msg);
}

/* Python says which kind of zero it was: 1 / 0 is not 1.0 / 0. */
static const char *division_text(struct fn *f, uint32_t node)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    if (n->op == KIR_BINARY || n->op == KIR_AUGASSIGN) {
        const struct fact *a = fact_of(f, kir_arg(n, 1)), *b = fact_of(f, kir_arg(n, 2));
        if (a->type && b->type && !type_is_float(a->type) && !type_is_float(b->type))
            return "division by zero";
    }
    return "float division by zero";
}

/* r = fmod(a, b), moved into the sign of b; a zero result takes b's sign. *ret_moved: it was moved by b. */
static LLVMValueRef modulo(struct fn *f, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *ret_raw,
                           LLVMValueRef *ret_moved)
{
    LLVMValueRef r = fast(f, LLVMBuildFRem(f->b, a, b, ""));
    LLVMValueRef some = LLVMBuildFCmp(f->b, LLVMRealUNE, r, zero_of(r), "");
    LLVMValueRef r_neg = LLVMBuildFCmp(f->b, LLVMRealOLT, r, zero_of(r), "");
    LLVMValueRef b_neg = LLVMBuildFCmp(f->b, LLVMRealOLT, b, zero_of(b), "");
    LLVMValueRef moved = LLVMBuildAnd(f->b, some, LLVMBuildXor(f->b, r_neg, b_neg, ""), "");
    LLVMValueRef sum = LLVMBuildSelect(f->b, moved, LLVMBuildFAdd(f->b, r, b, ""), r, "");
    *ret_raw = r;
    *ret_moved = moved;
    return LLVMBuildSelect(f->b, some, sum, copysign_of(f, zero_of(r), b), "");
}

static LLVMValueRef floordiv(struct fn *f, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef raw, moved, one = LLVMConstReal(LLVMTypeOf(a), 1.0),
                             half = LLVMConstReal(LLVMTypeOf(a), 0.5);
    LLVMValueRef plain = LLVMBuildFDiv(f->b, a, b, "");
    modulo(f, a, b, &raw, &moved);
    LLVMValueRef div = LLVMBuildFDiv(f->b, LLVMBuildFSub(f->b, a, raw, ""), b, "");
    div = LLVMBuildSelect(f->b, moved, LLVMBuildFSub(f->b, div, one, ""), div, "");
    LLVMValueRef low = lo_intrinsic(f, "llvm.floor", LLVMTypeOf(a), &div, 1);
    LLVMValueRef up = LLVMBuildFCmp(f->b, LLVMRealOGT, LLVMBuildFSub(f->b, div, low, ""), half, "");
    low = LLVMBuildSelect(f->b, up, LLVMBuildFAdd(f->b, low, one, ""), low, "");
    LLVMValueRef some = LLVMBuildFCmp(f->b, LLVMRealUNE, div, zero_of(div), "");
    LLVMValueRef r = LLVMBuildSelect(f->b, some, low, copysign_of(f, zero_of(a), plain), "");
    if (!f->numpy_errors || const_nonzero(b))
        return r;
    /* numpy: by zero it is the plain quotient */
    return LLVMBuildSelect(f->b, LLVMBuildFCmp(f->b, LLVMRealOEQ, b, zero_of(b), ""), plain, r, "");
}

LLVMValueRef float_binary(struct fn *f, enum kir_binary op, const struct type *t, LLVMValueRef a,
                          LLVMValueRef b, uint32_t node)
{
    LLVMValueRef raw, moved, args[2] = { a, b };
    switch (op) {
    case KIR_B_ADD:
        return fast(f, LLVMBuildFAdd(f->b, a, b, ""));
    case KIR_B_SUB:
        return fast(f, LLVMBuildFSub(f->b, a, b, ""));
    case KIR_B_MUL:
        return fast(f, LLVMBuildFMul(f->b, a, b, ""));
    case KIR_B_DIV:
        check_zero(f, b, node, division_text(f, node));
        return fast(f, LLVMBuildFDiv(f->b, a, b, ""));
    case KIR_B_FLOORDIV:
        check_zero(f, b, node, "float floor division by zero");
        return floordiv(f, a, b);
    case KIR_B_MOD:
        check_zero(f, b, node, "float modulo");
        return modulo(f, a, b, &raw, &moved);
    case KIR_B_POW:
        /* Python's floats raise here; NumPy's give inf. A negative base with a fraction gives NaN, as NumPy.
         */
        if (t->kind == TY_PYFLOAT && !f->numpy_errors) {
            LLVMValueRef neg = LLVMBuildFCmp(f->b, LLVMRealOLT, b, zero_of(b), "");
            LLVMValueRef zero = LLVMBuildFCmp(f->b, LLVMRealOEQ, a, zero_of(a), "");
            raise_if(f, LLVMBuildAnd(f->b, zero, neg, ""), node, EXC(ZeroDivisionError),
                     "0.0 cannot be raised to a negative power");
        }
        raw = fast(f, lo_intrinsic(f, "llvm.pow", LLVMTypeOf(a), args, 2));
        vector_variants(f, raw, "llvm.pow", LLVMTypeOf(a));
        return raw;
    default:
        lo_fail_at(f, node, "operator is not defined on floats");
        return LLVMGetPoison(LLVMTypeOf(a));
    }
}

LLVMValueRef float_floor_int(struct fn *f, LLVMValueRef x, const struct type *to)
{
    const struct type *ft = lo_type(f->lo, LLVMTypeOf(x) == f->lo->f64   ? TY_FLOAT64
                                           : LLVMTypeOf(x) == f->lo->f32 ? TY_FLOAT32
                                                                         : TY_FLOAT16);
    return convert(f, val_scalar(f, ft, x), to).v[0];
}
