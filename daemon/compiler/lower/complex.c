/* SPDX-License-Identifier: Apache-2.0
 * complex.c - complex arithmetic on pairs, and calls of the runtime with complex values (lower.h says how).
 */
#include <stdio.h>

#include "daemon/compiler/lower/lo.h"

static LLVMValueRef pair_alloca(struct fn *f, struct val v)
{
    LLVMTypeRef reg = LLVMTypeOf(v.v[0]);
    LLVMValueRef p = fn_alloca(f, LLVMArrayType2(reg, 2), "pair");
    LLVMBuildStore(f->b, v.v[0], p);
    LLVMBuildStore(f->b, v.v[1], at_offset(f, p, reg == f->lo->f32 ? 4 : 8));
    return p;
}

static LLVMValueRef rt_function(struct fn *f, const char *name, const char *suffix, LLVMTypeRef ret,
                                LLVMTypeRef *args, unsigned n, LLVMTypeRef *ret_type)
{
    char full[64];
    snprintf(full, sizeof(full), "kiln_rt_%s_%s", name, suffix);
    return lo_declare(f->lo, full, ret, args, n, ret_type);
}

struct val rt_complex(struct fn *f, const char *name, struct val a, const struct val *b)
{
    struct lo *lo = f->lo;
    LLVMTypeRef reg = LLVMTypeOf(a.v[0]), type, types[3] = { lo->ptr, lo->ptr, lo->ptr };
    LLVMValueRef ret = fn_alloca(f, LLVMArrayType2(reg, 2), "pair"),
                 args[3] = { ret, pair_alloca(f, a), NULL };
    unsigned n = b ? 3 : 2;
    if (b)
        args[2] = pair_alloca(f, *b);
    LLVMValueRef fn = rt_function(f, name, reg == lo->f32 ? "c64" : "c128", lo->vd, types, n, &type);
    LLVMBuildCall2(f->b, type, fn, args, n, "");
    LLVMValueRef re = LLVMBuildLoad2(f->b, reg, ret, "");
    LLVMValueRef im = LLVMBuildLoad2(f->b, reg, at_offset(f, ret, reg == lo->f32 ? 4 : 8), "");
    return val_complex(f, a.t, re, im);
}

LLVMValueRef rt_real(struct fn *f, const char *name, const struct val *args, unsigned n, LLVMTypeRef ret)
{
    struct lo *lo = f->lo;
    LLVMTypeRef type, types[4];
    LLVMValueRef in[4];
    const char *suffix = "i64";
    for (unsigned i = 0; i < n && i < 4; i++) {
        bool cplx = type_is_complex(args[i].t);
        types[i] = cplx ? lo->ptr : LLVMTypeOf(args[i].v[0]);
        in[i] = cplx ? pair_alloca(f, args[i]) : args[i].v[0];
        LLVMTypeRef reg = LLVMTypeOf(args[i].v[0]);
        suffix = cplx             ? (reg == lo->f32 ? "c64" : "c128")
                 : reg == lo->f32 ? "f32"
                 : reg == lo->f64 ? "f64"
                 : reg == lo->i1  ? "b"
                 : reg == lo->i32 ? "i32"
                                  : "i64";
    }
    LLVMValueRef fn = rt_function(f, name, suffix, ret, types, n, &type);
    return LLVMBuildCall2(f->b, type, fn, in, n, "");
}

LLVMValueRef complex_abs(struct fn *f, struct val a)
{
    return rt_real(f, "abs", &a, 1, LLVMTypeOf(a.v[0]));
}

struct val complex_binary(struct fn *f, enum kir_binary op, struct val a, struct val b, uint32_t node)
{
    LLVMBuilderRef bb = f->b;
    LLVMValueRef ar = a.v[0], ai = a.v[1], br = b.v[0], bi = b.v[1], zero = LLVMConstNull(LLVMTypeOf(ar));
    switch (op) {
    case KIR_B_ADD:
        return val_complex(f, a.t, fast(f, LLVMBuildFAdd(bb, ar, br, "")),
                           fast(f, LLVMBuildFAdd(bb, ai, bi, "")));
    case KIR_B_SUB:
        return val_complex(f, a.t, fast(f, LLVMBuildFSub(bb, ar, br, "")),
                           fast(f, LLVMBuildFSub(bb, ai, bi, "")));
    case KIR_B_MUL: { /* as NumPy and CPython write it, no repair of infinities as in C's Annex G */
        LLVMValueRef rr = fast(f, LLVMBuildFMul(bb, ar, br, "")), ii = fast(f, LLVMBuildFMul(bb, ai, bi, ""));
        LLVMValueRef ri = fast(f, LLVMBuildFMul(bb, ar, bi, "")), ir = fast(f, LLVMBuildFMul(bb, ai, br, ""));
        return val_complex(f, a.t, fast(f, LLVMBuildFSub(bb, rr, ii, "")),
                           fast(f, LLVMBuildFAdd(bb, ri, ir, "")));
    }
    case KIR_B_DIV:
        if (!f->numpy_errors) {
            LLVMValueRef none = LLVMBuildAnd(bb, LLVMBuildFCmp(bb, LLVMRealOEQ, br, zero, ""),
                                             LLVMBuildFCmp(bb, LLVMRealOEQ, bi, zero, ""), "");
            raise_if(f, none, node, EXC(ZeroDivisionError), "complex division by zero");
        }
        return rt_complex(f, "div", a, &b);
    case KIR_B_POW:
        if (a.t->kind == TY_PYCOMPLEX && !f->numpy_errors) { /* Python's raises, NumPy's gives NaN */
            LLVMValueRef none = LLVMBuildAnd(bb, LLVMBuildFCmp(bb, LLVMRealOEQ, ar, zero, ""),
                                             LLVMBuildFCmp(bb, LLVMRealOEQ, ai, zero, ""), "");
            LLVMValueRef down = LLVMBuildOr(bb, LLVMBuildFCmp(bb, LLVMRealOLT, br, zero, ""),
                                            LLVMBuildFCmp(bb, LLVMRealUNE, bi, zero, ""), "");
            raise_if(f, LLVMBuildAnd(bb, none, down, ""), node, EXC(ZeroDivisionError),
                     "0.0 to a negative or complex power");
            if (f->dead)
                return val_dead();
        }
        return rt_complex(f, "pow", a, &b);
    default:
        lo_fail_at(f, node, "operator is not defined on complex numbers");
        return a;
    }
}
