/* SPDX-License-Identifier: Apache-2.0
 * domain.c - functions of math and cmath that leave their domain: CPython's ValueError and OverflowError. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

/* Checked mode: a function of `math` that leaves its domain is CPython's ValueError or OverflowError. */
void domain_check(struct fn *f, uint32_t node, uint16_t id, const struct val *args, uint32_t n, struct val r)
{
    static const char *const unlimited[] = { "math.nextafter", "math.copysign", "math.degrees",
                                             "math.radians" };
    struct lo *lo = f->lo;
    const char *name = intrinsic_name(id);
    if (!f->checked || f->dead || !r.t || !type_is_float(r.t) || !name || strncmp(name, "math.", 5) ||
        f->fmf || (!strcmp(name, "math.log") && n > 1)) /* op_log sees to it */
        return;
    LLVMValueRef all_finite = lo_bool(lo, true), any_nan = lo_bool(lo, false), x = r.v[0];
    LLVMValueRef inf = LLVMConstReal(LLVMTypeOf(x), __builtin_inf());
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef a = args[i].v[0];
        if (!type_is_float(args[i].t))
            continue;
        LLVMValueRef size = lo_intrinsic(f, "llvm.fabs", LLVMTypeOf(a), &a, 1);
        LLVMValueRef edge = LLVMConstReal(LLVMTypeOf(a), __builtin_inf());
        all_finite = LLVMBuildAnd(f->b, all_finite, LLVMBuildFCmp(f->b, LLVMRealONE, size, edge, ""), "");
        any_nan = LLVMBuildOr(f->b, any_nan, LLVMBuildFCmp(f->b, LLVMRealUNO, a, a, ""), "");
    }
    LLVMValueRef nan =
        LLVMBuildAnd(f->b, LLVMBuildFCmp(f->b, LLVMRealUNO, x, x, ""), LLVMBuildNot(f->b, any_nan, ""), "");
    raise_if(f, nan, node, EXC(ValueError), "math domain error");
    LLVMValueRef size = lo_intrinsic(f, "llvm.fabs", LLVMTypeOf(x), &x, 1);
    LLVMValueRef over = LLVMBuildAnd(f->b, LLVMBuildFCmp(f->b, LLVMRealOEQ, size, inf, ""), all_finite, "");
    for (size_t i = 0; i < sizeof(unlimited) / sizeof(unlimited[0]); i++)
        if (!strcmp(name, unlimited[i]))
            return;
    LLVMValueRef first = args[0].v[0], zero = LLVMConstNull(LLVMTypeOf(first)),
                 pole = NULL; /* infinite at a point, not by growth */
    if (!strncmp(name, "math.log", 8) || !strcmp(name, "math.atanh"))
        pole = over;
    else if (!strcmp(name, "math.gamma") || !strcmp(name, "math.lgamma"))
        pole = LLVMBuildAnd(f->b, over, LLVMBuildFCmp(f->b, LLVMRealOLE, first, zero, ""), "");
    else if (!strcmp(name, "math.pow"))
        pole = LLVMBuildAnd(f->b, over, LLVMBuildFCmp(f->b, LLVMRealOEQ, first, zero, ""), "");
    if (pole)
        raise_if(f, pole, node, EXC(ValueError), "math domain error");
    raise_if(f, over, node, EXC(OverflowError), "math range error");
}

/* Which infinite operands have no value, and what an infinite result of finite operands means. */
enum edge_kind {
    EDGE_NONE,
    EDGE_IM_UP,     /* im infinite, re not -inf or NaN */
    EDGE_IM,        /* im infinite, re a number */
    EDGE_IM_FINITE, /* im infinite, re finite */
    EDGE_RE,        /* the same of re */
    EDGE_RE_FINITE,
};
static const struct {
    const char *name;
    enum edge_kind edge;
    bool pole;     /* else it is an overflow */
    char nan;      /* a NaN in this part, the other finite, makes both NaN ('r', 'i') where C99 keeps one */
    char infinite; /* with a NaN in this part an infinite imaginary result, whose sign C99 leaves open, has
                      this one */
    double sign;
} complex_rows[] = {
    { "cmath.exp", EDGE_IM_UP, false, 0, 0, 0 },        { "cmath.sin", EDGE_RE, false, 0, 'r', -1 },
    { "cmath.cos", EDGE_RE, false, 0, 0, 0 },           { "cmath.tan", EDGE_RE_FINITE, false, 'r', 0, 0 },
    { "cmath.sinh", EDGE_IM, false, 0, 0, 0 },          { "cmath.cosh", EDGE_IM, false, 0, 0, 0 },
    { "cmath.tanh", EDGE_IM_FINITE, false, 'i', 0, 0 }, { "cmath.log", EDGE_NONE, true, 0, 0, 0 },
    { "cmath.log10", EDGE_NONE, true, 0, 0, 0 },        { "cmath.atan", EDGE_NONE, true, 0, 0, 0 },
    { "cmath.atanh", EDGE_NONE, true, 0, 0, 0 },        { "cmath.acosh", EDGE_NONE, false, 'i', 0, 0 },
    { "cmath.asin", EDGE_NONE, false, 0, 'i', -1 },     { "cmath.acos", EDGE_NONE, false, 0, 'i', 1 },
};

static LLVMValueRef is_infinite(struct fn *f, LLVMValueRef x)
{
    LLVMValueRef size = lo_intrinsic(f, "llvm.fabs", LLVMTypeOf(x), &x, 1);
    return LLVMBuildFCmp(f->b, LLVMRealOEQ, size, LLVMConstReal(LLVMTypeOf(x), __builtin_inf()), "");
}

static LLVMValueRef is_finite(struct fn *f, LLVMValueRef x)
{
    LLVMValueRef size = lo_intrinsic(f, "llvm.fabs", LLVMTypeOf(x), &x, 1);
    return LLVMBuildFCmp(f->b, LLVMRealOLT, size, LLVMConstReal(LLVMTypeOf(x), __builtin_inf()), "");
}

static LLVMValueRef at_edge(struct fn *f, enum edge_kind edge, LLVMValueRef re, LLVMValueRef im)
{
    LLVMBuilderRef b = f->b;
    switch (edge) {
    case EDGE_IM_UP:
        return LLVMBuildAnd(
            b, is_infinite(f, im),
            LLVMBuildFCmp(b, LLVMRealOGT, re, LLVMConstReal(LLVMTypeOf(re), -__builtin_inf()), ""), "");
    case EDGE_IM:
        return LLVMBuildAnd(b, is_infinite(f, im), LLVMBuildFCmp(b, LLVMRealORD, re, re, ""), "");
    case EDGE_IM_FINITE:
        return LLVMBuildAnd(b, is_infinite(f, im), is_finite(f, re), "");
    case EDGE_RE:
        return LLVMBuildAnd(b, is_infinite(f, re), LLVMBuildFCmp(b, LLVMRealORD, im, im, ""), "");
    case EDGE_RE_FINITE:
        return LLVMBuildAnd(b, is_infinite(f, re), is_finite(f, im), "");
    default:
        return lo_bool(f->lo, false);
    }
}

struct val domain_check_complex(struct fn *f, uint32_t node, uint16_t id, const struct val *args,
                                struct val r)
{
    const char *name = intrinsic_name(id);
    size_t k = 0;
    while (k < sizeof(complex_rows) / sizeof(complex_rows[0]) && strcmp(complex_rows[k].name, name) != 0)
        k++;
    if (k == sizeof(complex_rows) / sizeof(complex_rows[0]) || f->numpy_errors || f->fmf ||
        f->lo->p->options.numba)
        return r;
    LLVMValueRef re = args[0].v[0], im = args[0].v[1];
    raise_if(f, at_edge(f, complex_rows[k].edge, re, im), node, EXC(ValueError), "math domain error");
    LLVMValueRef in = LLVMBuildAnd(f->b, is_finite(f, re), is_finite(f, im), "");
    LLVMValueRef out = LLVMBuildOr(f->b, is_infinite(f, r.v[0]), is_infinite(f, r.v[1]), "");
    raise_if(f, LLVMBuildAnd(f->b, in, out, ""), node,
             complex_rows[k].pole ? EXC(ValueError) : EXC(OverflowError),
             complex_rows[k].pole ? "math domain error" : "math range error");
    if (f->dead)
        return r;
    if (complex_rows[k].infinite) {
        LLVMValueRef part = complex_rows[k].infinite == 'r' ? re : im;
        LLVMValueRef open =
            LLVMBuildAnd(f->b, LLVMBuildFCmp(f->b, LLVMRealUNO, part, part, ""), is_infinite(f, r.v[1]), "");
        LLVMValueRef inf = LLVMConstReal(LLVMTypeOf(im), complex_rows[k].sign * __builtin_inf());
        return val_complex(f, r.t, r.v[0], LLVMBuildSelect(f->b, open, inf, r.v[1], ""));
    }
    if (!complex_rows[k].nan)
        return r;
    LLVMValueRef x = complex_rows[k].nan == 'r' ? re : im, other = complex_rows[k].nan == 'r' ? im : re;
    LLVMValueRef lost =
        LLVMBuildAnd(f->b, LLVMBuildFCmp(f->b, LLVMRealUNO, x, x, ""), is_finite(f, other), "");
    return val_complex(f, r.t, LLVMBuildSelect(f->b, lost, x, r.v[0], ""),
                       LLVMBuildSelect(f->b, lost, x, r.v[1], ""));
}
