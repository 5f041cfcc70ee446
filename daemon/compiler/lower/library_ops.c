/* SPDX-License-Identifier: Apache-2.0
 * library_ops.c - the functions behind `op.NAME` of library.def, one table from name to builder. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

typedef struct val build_fn(struct fn *f, uint32_t node, const struct val *a, uint32_t n);

static const struct type *result_type(struct fn *f, uint32_t node)
{
    return fact_of(f, node)->type;
}

static LLVMValueRef real_const(LLVMValueRef like, double v)
{
    return LLVMConstReal(LLVMTypeOf(like), v);
}

static LLVMValueRef unary_llvm(struct fn *f, const char *name, LLVMValueRef x)
{
    return lo_intrinsic(f, name, LLVMTypeOf(x), &x, 1);
}

static struct val boolean(struct fn *f, LLVMValueRef c)
{
    return val_scalar(f, lo_type(f->lo, TY_BOOL), c);
}

static struct val integer(struct fn *f, LLVMValueRef i)
{
    return val_scalar(f, lo_type(f->lo, TY_PYINT), i);
}

/* ---- ranges, iterators, slices, lengths ---- */

static struct val op_range(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node);
    struct val r = val_new(f, t, 3);
    LLVMTypeRef reg = lo_reg(f->lo, t->elem);
    r.v[0] = LLVMConstInt(reg, 0, 0);
    r.v[2] = LLVMConstInt(reg, 1, 0);
    if (!n || n > 3)
        return val_dead();
    struct val c[3];
    for (uint32_t i = 0; i < n; i++) {
        c[i] = convert(f, a[i], t->elem);
        if (!c[i].t || c[i].n != 1)
            return val_dead();
    }
    r.v[1] = c[n == 1 ? 0 : 1].v[0];
    if (n > 1)
        r.v[0] = c[0].v[0];
    if (n > 2) {
        r.v[2] = c[2].v[0];
        raise_if(f, LLVMBuildICmp(f->b, LLVMIntEQ, r.v[2], LLVMConstNull(reg), ""), node, EXC(ValueError),
                 "range() arg 3 must not be zero");
    }
    return r;
}

static struct val op_iter(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node);
    struct val *items = lo_alloc(f->lo, t->n_items + 1, sizeof(*items));
    for (uint32_t i = 0; i < t->n_items; i++) {
        if (i >= n) {
            lo_fail_at(f, node, "iterator of %u parts from %u arguments", t->n_items, n);
            return val_dead();
        }
        items[i] = convert(f, a[i], t->items[i]);
    }
    return val_join(f, t, items, t->n_items);
}

static struct val op_slice(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node);
    struct val items[3] = { val_none(f), val_none(f), val_none(f) };
    for (uint32_t i = 0; i < n && i < 3; i++)
        items[n == 1 ? 1 : i] = a[i];
    for (uint32_t i = 0; i < 3 && i < t->n_items; i++)
        items[i] = convert(f, items[i], t->items[i]);
    return val_join(f, t, items, t->n_items < 3 ? t->n_items : 3);
}

static struct val op_len(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return integer(f, iter_length(f, a[0], node));
}

static struct val op_tuple(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    return n ? a[0] : val_zero(f, result_type(f, node));
}

static struct val op_known(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node);
    const struct fact *fa = fact_of(f, node);
    (void)a, (void)n;
    if (fa->truth) /* decided by types, but the operand had effects */
        return boolean(f, lo_bool(f->lo, fa->truth > 0));
    if (lo_info(f->lo, t)->n)
        lo_fail_at(f, node, "value should have been known from types");
    return val_zero(f, t);
}

static struct val op_ndim(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return integer(f, lo_int(f->lo, a[0].t->ndim));
}

static struct val op_itemsize(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return integer(f, lo_int(f->lo, lo_elemsize(f->lo, a[0].t->elem)));
}

/* ---- numbers ---- */

static struct val op_abs(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    LLVMValueRef x = a[0].v[0];
    if (type_is_complex(a[0].t))
        return val_scalar(f, lo_part(f->lo, a[0].t), complex_abs(f, a[0]));
    if (type_is_float(a[0].t))
        return val_scalar(f, a[0].t, unary_llvm(f, "llvm.fabs", x));
    if (!type_is_signed(a[0].t))
        return a[0];
    LLVMValueRef neg = LLVMBuildICmp(f->b, LLVMIntSLT, x, LLVMConstNull(LLVMTypeOf(x)), "");
    return val_scalar(f, a[0].t, LLVMBuildSelect(f->b, neg, LLVMBuildNeg(f->b, x, ""), x, ""));
}

/* Python's min and max: the first of the least; a comparison with NaN is false. */
static struct val least(struct fn *f, uint32_t node, const struct val *a, uint32_t n, enum kir_compare op)
{
    const struct type *t = result_type(f, node);
    struct val r = val_dead();
    bool spread = n == 1 && a[0].t->kind == TY_TUPLE;
    uint32_t count = spread ? a[0].t->n_items : n;
    for (uint32_t i = 0; i < count; i++) {
        struct val x = spread ? val_item(f, a[0], i) : a[i];
        x.own = 0;
        x = convert(f, x, t);
        if (!x.t || f->lo->failed)
            return val_dead();
        if (!r.t) {
            r = val_new(f, t, x.n);
            memcpy(r.v, x.v, x.n * sizeof(*r.v));
            continue;
        }
        LLVMValueRef take = op_compare(f, op, x, r);
        for (uint32_t k = 0; k < r.n; k++)
            r.v[k] = LLVMBuildSelect(f->b, take, x.v[k], r.v[k], "");
    }
    return r;
}

static struct val op_min(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    return least(f, node, a, n, KIR_C_LT);
}

static struct val op_max(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    return least(f, node, a, n, KIR_C_GT);
}

/* NumPy's: of two, with NaN winning (maximum) or losing (fmax); of two zeros the second. */
static struct val extreme(struct fn *f, const struct val *a, bool max, bool nan_wins)
{
    LLVMValueRef x = a[0].v[0], y = a[1].v[0];
    if (type_is_complex(a[0].t))
        return val_dead();
    if (!type_is_float(a[0].t)) {
        LLVMValueRef take = op_compare(f, max ? KIR_C_GE : KIR_C_LE, a[0], a[1]);
        return val_scalar(f, a[0].t, LLVMBuildSelect(f->b, take, x, y, ""));
    }
    LLVMValueRef take = LLVMBuildFCmp(f->b, max ? LLVMRealOGT : LLVMRealOLT, x, y, "");
    LLVMValueRef which = nan_wins ? x : y;
    LLVMValueRef nan = LLVMBuildFCmp(f->b, LLVMRealUNO, which, which, "");
    return val_scalar(f, a[0].t, LLVMBuildSelect(f->b, LLVMBuildOr(f->b, take, nan, ""), x, y, ""));
}

#define EXTREME(name, max, nan_wins)                                                                         \
    static struct val name(struct fn *f, uint32_t node, const struct val *a, uint32_t n)                     \
    {                                                                                                        \
        (void)n;                                                                                             \
        struct val r = extreme(f, a, max, nan_wins);                                                         \
        if (!r.t)                                                                                            \
            lo_fail_at(f, node, "complex numbers have no order");                                            \
        return r;                                                                                            \
    }
EXTREME(op_maximum, true, true)
EXTREME(op_minimum, false, true)
EXTREME(op_fmax, true, false)
EXTREME(op_fmin, false, false)

static struct val op_pow(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    if (n != 2) {
        lo_fail_at(f, node, "pow takes two arguments");
        return val_dead();
    }
    return op_binary(f, KIR_B_POW, a[0], a[1], node);
}

static struct val op_divmod(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node);
    (void)n;
    if (type_is_float(a[0].t) && !f->numpy_errors)
        raise_if(f, LLVMBuildFCmp(f->b, LLVMRealOEQ, a[1].v[0], real_const(a[1].v[0], 0), ""), node,
                 EXC(ZeroDivisionError), "float divmod()");
    if (f->dead)
        return val_dead();
    struct val items[2] = { op_binary(f, KIR_B_FLOORDIV, a[0], a[1], node),
                            op_binary(f, KIR_B_MOD, a[0], a[1], node) };
    for (int i = 0; i < 2; i++)
        items[i] = convert(f, items[i], t->items[i]);
    return val_join(f, t, items, 2);
}

/* round(x) is to even; round(x, n) scales by a power of ten, so that its last bit may differ from CPython's
 * decimal algorithm where x is within an ulp of a tie (docs/abi.md). */
static struct val op_round(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    struct lo *lo = f->lo;
    if (!type_is_float(a[0].t) && n < 2)
        return a[0];
    if (!type_is_float(a[0].t)) { /* to tens and hundreds: by way of a float, as NumPy does it */
        LLVMValueRef asked = to_index(f, a[1]);
        struct val in[2] = { convert(f, a[0], lo_type(lo, TY_FLOAT64)), a[1] };
        struct val out = convert(f, op_round(f, node, in, 2), a[0].t);
        LLVMValueRef whole = LLVMBuildICmp(f->b, LLVMIntSGE, asked, lo_int(lo, 0), "");
        return val_scalar(f, a[0].t, LLVMBuildSelect(f->b, whole, a[0].v[0], out.v[0], ""));
    }
    LLVMValueRef x = a[0].v[0];
    if (n < 2)
        return convert(f, val_scalar(f, a[0].t, unary_llvm(f, "llvm.rint", x)), result_type(f, node));
    LLVMValueRef digits = to_index(f, a[1]), zero = lo_int(lo, 0);
    LLVMValueRef neg = LLVMBuildICmp(f->b, LLVMIntSLT, digits, zero, "");
    LLVMValueRef count = LLVMBuildSelect(f->b, neg, LLVMBuildNeg(f->b, digits, ""), digits, "");
    LLVMValueRef pow_args[2] = { real_const(x, 10), LLVMBuildSIToFP(f->b, count, LLVMTypeOf(x), "") };
    LLVMValueRef scale = lo_intrinsic(f, "llvm.pow", LLVMTypeOf(x), pow_args, 2);
    LLVMValueRef up =
        LLVMBuildSelect(f->b, neg, LLVMBuildFDiv(f->b, x, scale, ""), LLVMBuildFMul(f->b, x, scale, ""), "");
    LLVMValueRef whole = unary_llvm(f, "llvm.rint", up);
    LLVMValueRef r = LLVMBuildSelect(f->b, neg, LLVMBuildFMul(f->b, whole, scale, ""),
                                     LLVMBuildFDiv(f->b, whole, scale, ""), "");
    LLVMValueRef size = unary_llvm(f, "llvm.fabs", up);
    LLVMValueRef finite = LLVMBuildFCmp(f->b, LLVMRealOLT, size, real_const(x, __builtin_inf()), "");
    return val_scalar(f, a[0].t, LLVMBuildSelect(f->b, finite, r, x, ""));
}

static struct val op_cast(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node);
    if (!n)
        return val_zero(f, t);
    if (t->kind == TY_BOOL)
        return boolean(f, truth(f, a[0]));
    if (f->checked && type_is_float(a[0].t) && type_is_integer(t)) {
        LLVMValueRef x = a[0].v[0];
        LLVMValueRef nan = LLVMBuildFCmp(f->b, LLVMRealUNO, x, x, "");
        raise_if(f, nan, node, EXC(ValueError), "cannot convert float NaN to integer");
        LLVMValueRef inf = LLVMBuildFCmp(f->b, LLVMRealOEQ, unary_llvm(f, "llvm.fabs", x),
                                         real_const(x, __builtin_inf()), "");
        raise_if(f, inf, node, EXC(OverflowError), "cannot convert float infinity to integer");
    }
    return convert(f, a[0], t);
}

static struct val op_complex(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node), *part = lo_part(f->lo, t);
    if (!n)
        return val_zero(f, t);
    if (n == 1)
        return convert(f, a[0], t);
    struct val re = convert(f, a[0], t), im = convert(f, a[1], t);
    if (!type_is_complex(a[0].t) && !type_is_complex(a[1].t))
        return val_complex(f, t, convert(f, a[0], part).v[0], convert(f, a[1], part).v[0]);
    return val_complex(f, t, LLVMBuildFSub(f->b, re.v[0], im.v[1], ""),
                       LLVMBuildFAdd(f->b, re.v[1], im.v[0], ""));
}

static struct val op_log(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    for (uint32_t i = 0; i < n && f->checked && !f->fmf; i++) /* in this order, as CPython's */
        raise_if(f, LLVMBuildFCmp(f->b, LLVMRealOLE, a[i].v[0], real_const(a[i].v[0], 0), ""), node,
                 EXC(ValueError), "math domain error");
    if (n > 1 && f->checked && !f->fmf)
        raise_if(f, LLVMBuildFCmp(f->b, LLVMRealOEQ, a[1].v[0], real_const(a[1].v[0], 1), ""), node,
                 EXC(ZeroDivisionError), "float division by zero");
    if (f->dead)
        return val_dead();
    LLVMValueRef x = fast(f, unary_llvm(f, "llvm.log", a[0].v[0]));
    vector_variants(f, x, "llvm.log", LLVMTypeOf(x));
    if (n > 1)
        x = fast(f, LLVMBuildFDiv(f->b, x, fast(f, unary_llvm(f, "llvm.log", a[1].v[0])), ""));
    return val_scalar(f, a[0].t, x);
}

static struct val scaled(struct fn *f, const struct val *a, double by)
{
    return val_scalar(f, a[0].t, fast(f, LLVMBuildFMul(f->b, a[0].v[0], real_const(a[0].v[0], by), "")));
}

static struct val op_degrees(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return scaled(f, a, 180.0 / 3.14159265358979323846);
}

static struct val op_radians(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return scaled(f, a, 3.14159265358979323846 / 180.0);
}

static struct val whole(struct fn *f, uint32_t node, const struct val *a, const char *name)
{
    const struct type *t = result_type(f, node);
    if (!type_is_float(a[0].t))
        return convert(f, a[0], t);
    struct val r = val_scalar(f, a[0].t, name ? unary_llvm(f, name, a[0].v[0]) : a[0].v[0]);
    return op_cast(f, node, &r, 1);
}

static struct val op_floor_int(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return whole(f, node, a, "llvm.floor");
}

static struct val op_ceil_int(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return whole(f, node, a, "llvm.ceil");
}

static struct val op_trunc_int(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return whole(f, node, a, NULL);
}

/* A test of each part of a number; combined by or (isnan, isinf) or and (isfinite). No fast-math flags: who
 * asks whether x is NaN wants to know. */
static struct val classify(struct fn *f, const struct val *a, char what)
{
    LLVMValueRef r = NULL;
    bool all = what == 'f';
    if (!type_is_float(a[0].t) && !type_is_complex(a[0].t))
        return boolean(f, lo_bool(f->lo, all));
    for (uint32_t i = 0; i < a[0].n; i++) {
        LLVMValueRef x = a[0].v[i], inf = real_const(x, __builtin_inf()), c;
        if (what == 'n')
            c = LLVMBuildFCmp(f->b, LLVMRealUNO, x, x, "");
        else
            c = LLVMBuildFCmp(f->b, all ? LLVMRealONE : LLVMRealOEQ, unary_llvm(f, "llvm.fabs", x), inf, "");
        r = !r ? c : all ? LLVMBuildAnd(f->b, r, c, "") : LLVMBuildOr(f->b, r, c, "");
    }
    return boolean(f, r);
}

static struct val op_isnan(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return classify(f, a, 'n');
}

static struct val op_isinf(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return classify(f, a, 'i');
}

static struct val op_isfinite(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return classify(f, a, 'f');
}

static struct val op_signbit(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    LLVMValueRef x = a[0].v[0];
    if (type_is_float(a[0].t)) {
        LLVMTypeRef it = LLVMIntTypeInContext(f->lo->c, type_bits(a[0].t));
        x = LLVMBuildBitCast(f->b, x, it, "");
    } else if (!type_is_signed(a[0].t)) {
        return boolean(f, lo_bool(f->lo, false));
    }
    return boolean(f, LLVMBuildICmp(f->b, LLVMIntSLT, x, LLVMConstNull(LLVMTypeOf(x)), ""));
}

static struct val op_ldexp(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    struct lo *lo = f->lo;
    (void)node, (void)n;
    struct val x = a[0].t->kind == TY_FLOAT16 ? convert(f, a[0], lo_type(lo, TY_FLOAT32)) : a[0];
    LLVMValueRef e = to_index(f, a[1]), low = lo_int(lo, -10000), high = lo_int(lo, 10000);
    e = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, e, low, ""), low, e, "");
    e = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSGT, e, high, ""), high, e, "");
    LLVMValueRef in[2] = { x.v[0], LLVMBuildTrunc(f->b, e, lo->i32, "") };
    return convert(f, val_scalar(f, x.t, libm_call(f, "ldexp", LLVMTypeOf(in[0]), in, 2, true)), a[0].t);
}

static struct val op_frexp(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    struct lo *lo = f->lo;
    const struct type *t = result_type(f, node);
    (void)n;
    LLVMValueRef slot = fn_alloca(f, lo->i32, "exponent"), in[2] = { a[0].v[0], slot };
    LLVMBuildStore(f->b, lo_i32(lo, 0), slot);
    struct val m = val_scalar(f, a[0].t, libm_call(f, "frexp", LLVMTypeOf(in[0]), in, 2, false));
    LLVMValueRef e = LLVMBuildSExt(f->b, LLVMBuildLoad2(f->b, lo->i32, slot, ""), lo->i64, "");
    /* of infinities and NaN C leaves the exponent open */
    LLVMValueRef finite = classify(f, a, 'f').v[0];
    e = LLVMBuildSelect(f->b, finite, e, lo_int(lo, 0), "");
    struct val items[2] = { convert(f, m, t->items[0]), convert(f, integer(f, e), t->items[1]) };
    return val_join(f, t, items, 2);
}

static struct val op_modf(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node);
    (void)n;
    LLVMValueRef x = a[0].v[0], whole_part = unary_llvm(f, "llvm.trunc", x);
    LLVMValueRef inf =
        LLVMBuildFCmp(f->b, LLVMRealOEQ, unary_llvm(f, "llvm.fabs", x), real_const(x, __builtin_inf()), "");
    LLVMValueRef frac =
        LLVMBuildSelect(f->b, inf, real_const(x, 0), LLVMBuildFSub(f->b, x, whole_part, ""), "");
    LLVMValueRef args[2] = { frac, x };
    frac = lo_intrinsic(f, "llvm.copysign", LLVMTypeOf(x), args, 2);
    struct val items[2] = { convert(f, val_scalar(f, a[0].t, frac), t->items[0]),
                            convert(f, val_scalar(f, a[0].t, whole_part), t->items[1]) };
    return val_join(f, t, items, 2);
}

/* ---- complex ---- */

static struct val op_phase(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node);
    (void)n;
    LLVMValueRef im = type_is_complex(a[0].t) ? a[0].v[1] : NULL;
    struct val re =
        type_is_complex(a[0].t) ? val_scalar(f, lo_part(f->lo, a[0].t), a[0].v[0]) : convert(f, a[0], t);
    LLVMValueRef in[2] = { im ? im : LLVMConstNull(LLVMTypeOf(re.v[0])), re.v[0] };
    return convert(f, val_scalar(f, re.t, libm_call(f, "atan2", LLVMTypeOf(in[0]), in, 2, true)), t);
}

static struct val op_polar(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node), *part = lo_part(f->lo, a[0].t);
    (void)n;
    LLVMValueRef in[2] = { a[0].v[1], a[0].v[0] };
    struct val items[2] = { val_scalar(f, part, complex_abs(f, a[0])),
                            val_scalar(f, part, libm_call(f, "atan2", LLVMTypeOf(in[0]), in, 2, true)) };
    for (int i = 0; i < 2; i++)
        items[i] = convert(f, items[i], t->items[i]);
    return val_join(f, t, items, 2);
}

static struct val op_rect(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = result_type(f, node), *part = lo_part(f->lo, t);
    (void)n;
    LLVMValueRef r = convert(f, a[0], part).v[0], phi = convert(f, a[1], part).v[0];
    LLVMValueRef none =
        LLVMBuildFCmp(f->b, LLVMRealOEQ, r, real_const(r, 0), ""); /* whatever phi, infinite too */
    LLVMValueRef size = unary_llvm(f, "llvm.fabs", phi);
    LLVMValueRef endless = LLVMBuildFCmp(f->b, LLVMRealOEQ, size, real_const(phi, __builtin_inf()), "");
    phi = LLVMBuildSelect(f->b, LLVMBuildAnd(f->b, none, endless, ""), real_const(phi, 0), phi, "");
    r = LLVMBuildSelect(f->b, LLVMBuildAnd(f->b, none, endless, ""), real_const(r, 0), r, "");
    return val_complex(f, t, LLVMBuildFMul(f->b, r, unary_llvm(f, "llvm.cos", phi), ""),
                       LLVMBuildFMul(f->b, r, unary_llvm(f, "llvm.sin", phi), ""));
}

static struct val op_conj(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    if (!type_is_complex(a[0].t))
        return a[0];
    return val_complex(f, a[0].t, a[0].v[0], LLVMBuildFNeg(f->b, a[0].v[1], ""));
}

/* The part of an array of complex numbers is a view with the same strides. */
static struct val part_of(struct fn *f, uint32_t node, const struct val *a, unsigned part)
{
    struct lo *lo = f->lo;
    const struct type *t = result_type(f, node);
    if (a[0].t->kind == TY_ARRAY && type_is_complex(a[0].t->elem)) {
        LLVMValueRef strides[64];
        for (unsigned i = 0; i < a[0].t->ndim; i++)
            strides[i] = arr_stride(f, a[0], i);
        LLVMValueRef data = at_offset(f, arr_data(a[0]), part ? lo_itemsize(lo, a[0].t->elem) / 2 : 0);
        struct val r = arr_make(f, t, arr_owner(a[0]), data, a[0].v + 2, strides);
        r.own = a[0].own;
        return r;
    }
    if (a[0].t->kind == TY_ARRAY && !part)
        return a[0];
    if (type_is_complex(a[0].t))
        return val_scalar(f, lo_part(lo, a[0].t), a[0].v[part]);
    return part ? val_zero(f, t) : a[0];
}

static struct val op_real(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return part_of(f, node, a, 0);
}

static struct val op_imag(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return part_of(f, node, a, 1);
}

/* ---- numpy by name ---- */

static struct val op_square(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return op_binary(f, KIR_B_MUL, a[0], a[0], node);
}

static struct val op_reciprocal(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    struct val one = convert(f, integer(f, lo_int(f->lo, 1)), a[0].t);
    bool was = f->numpy_errors;
    f->numpy_errors = true; /* numpy's function never raises */
    bool is_float = type_is_float(a[0].t) || type_is_complex(a[0].t);
    struct val r = op_binary(f, is_float ? KIR_B_DIV : KIR_B_FLOORDIV, one, a[0], node);
    if (!is_float && type_is_signed(a[0].t)) { /* 1/x towards zero: nonzero for 1 and -1 alone */
        LLVMValueRef x = a[0].v[0], minus = LLVMConstAllOnes(LLVMTypeOf(x));
        LLVMValueRef low = LLVMBuildICmp(f->b, LLVMIntSLT, x, minus, "");
        r.v[0] = LLVMBuildSelect(f->b, low, LLVMConstNull(LLVMTypeOf(x)), r.v[0], "");
    }
    f->numpy_errors = was;
    return r;
}

static struct val op_sign(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    LLVMValueRef x = a[0].v[0], zero = LLVMConstNull(LLVMTypeOf(x));
    (void)n;
    if (type_is_complex(a[0].t)) {
        lo_fail_at(f, node, "sign of a complex number");
        return val_dead();
    }
    if (type_is_float(a[0].t)) { /* NaN stays, -0.0 becomes 0.0 */
        LLVMValueRef none = LLVMBuildFCmp(f->b, LLVMRealOEQ, x, zero, "");
        LLVMValueRef neg = LLVMBuildFCmp(f->b, LLVMRealOLT, x, zero, ""),
                     pos = LLVMBuildFCmp(f->b, LLVMRealOGT, x, zero, "");
        LLVMValueRef r = LLVMBuildSelect(f->b, none, zero, x, "");
        r = LLVMBuildSelect(f->b, neg, real_const(x, -1), r, "");
        return val_scalar(f, a[0].t, LLVMBuildSelect(f->b, pos, real_const(x, 1), r, ""));
    }
    LLVMValueRef one = LLVMConstInt(LLVMTypeOf(x), 1, 0);
    LLVMValueRef some = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntNE, x, zero, ""), one, zero, "");
    if (type_is_signed(a[0].t))
        some = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, x, zero, ""),
                               LLVMConstAllOnes(LLVMTypeOf(x)), some, "");
    return val_scalar(f, a[0].t, some);
}

static struct val op_negative(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return op_unary(f, KIR_U_NEG, a[0], node);
}

static struct val op_positive(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)f, (void)node, (void)n;
    return a[0];
}

static struct val op_invert(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return op_unary(f, KIR_U_INVERT, a[0], node);
}

/* C's remainder: the sign of the dividend. */
static struct val op_fmod(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    LLVMValueRef x = a[0].v[0], y = a[1].v[0];
    if (type_is_float(a[0].t))
        return val_scalar(f, a[0].t, fast(f, LLVMBuildFRem(f->b, x, y, "")));
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(y)), one = LLVMConstInt(LLVMTypeOf(y), 1, 0);
    LLVMValueRef bad = LLVMBuildICmp(f->b, LLVMIntEQ, y, zero, "");
    if (type_is_signed(a[0].t))
        bad = LLVMBuildOr(f->b, bad, LLVMBuildICmp(f->b, LLVMIntEQ, y, LLVMConstAllOnes(LLVMTypeOf(y)), ""),
                          "");
    y = LLVMBuildSelect(f->b, bad, one, y, "");
    return val_scalar(f, a[0].t,
                      type_is_signed(a[0].t) ? LLVMBuildSRem(f->b, x, y, "") : LLVMBuildURem(f->b, x, y, ""));
}

static struct val op_logical_not(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return boolean(f, LLVMBuildNot(f->b, truth(f, a[0]), ""));
}

static struct val op_logical_and(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return boolean(f, LLVMBuildAnd(f->b, truth(f, a[0]), truth(f, a[1]), ""));
}

static struct val op_logical_or(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return boolean(f, LLVMBuildOr(f->b, truth(f, a[0]), truth(f, a[1]), ""));
}

static struct val op_logical_xor(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return boolean(f, LLVMBuildXor(f->b, truth(f, a[0]), truth(f, a[1]), ""));
}

static const struct {
    const char *name;
    build_fn *build;
} ops[] = {
    { "range", op_range },
    { "objmode", op_objmode },
    { "iter", op_iter },
    { "slice", op_slice },
    { "len", op_len },
    { "tuple", op_tuple },
    { "known", op_known },
    { "ndim", op_ndim },
    { "itemsize", op_itemsize },
    { "abs", op_abs },
    { "min", op_min },
    { "max", op_max },
    { "maximum", op_maximum },
    { "minimum", op_minimum },
    { "fmax", op_fmax },
    { "fmin", op_fmin },
    { "pow", op_pow },
    { "divmod", op_divmod },
    { "round", op_round },
    { "cast", op_cast },
    { "complex", op_complex },
    { "log", op_log },
    { "degrees", op_degrees },
    { "radians", op_radians },
    { "floor_int", op_floor_int },
    { "ceil_int", op_ceil_int },
    { "trunc_int", op_trunc_int },
    { "isnan", op_isnan },
    { "isinf", op_isinf },
    { "isfinite", op_isfinite },
    { "signbit", op_signbit },
    { "ldexp", op_ldexp },
    { "frexp", op_frexp },
    { "modf", op_modf },
    { "phase", op_phase },
    { "polar", op_polar },
    { "rect", op_rect },
    { "conj", op_conj },
    { "real", op_real },
    { "imag", op_imag },
    { "square", op_square },
    { "reciprocal", op_reciprocal },
    { "sign", op_sign },
    { "negative", op_negative },
    { "positive", op_positive },
    { "invert", op_invert },
    { "fmod", op_fmod },
    { "logical_not", op_logical_not },
    { "logical_and", op_logical_and },
    { "logical_or", op_logical_or },
    { "logical_xor", op_logical_xor },
};

#define KIR_BINARY(NAME, wire, text) { text, KIR_B_##NAME },
static const struct {
    const char *text;
    enum kir_binary op;
} binaries[] = {
#include "proto/ir/enums.def"
};
#undef KIR_BINARY

struct val lower_intrinsic_op(struct fn *f, uint32_t node, const char *name, const struct val *args,
                              uint32_t n)
{
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (!strcmp(ops[i].name, name))
            return ops[i].build(f, node, args, n);
    for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
        if (n == 2 && !strcmp(binaries[i].text, name))
            return op_binary(f, binaries[i].op, args[0], args[1], node);
    return lower_create(f, node, name, args, n);
}
