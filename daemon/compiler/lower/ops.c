/* SPDX-License-Identifier: Apache-2.0
 * ops.c - operators by the kind of their operands, and comparison. */
#include "daemon/compiler/lower/lo.h"

/* NumPy's bool: + is or, * is and. (Python's True + True is 2: inference asks for integers there.) */
static LLVMValueRef bool_binary(struct fn *f, enum kir_binary op, LLVMValueRef a, LLVMValueRef b,
                                uint32_t node)
{
    switch (op) {
    case KIR_B_ADD:
    case KIR_B_BITOR:
        return LLVMBuildOr(f->b, a, b, "");
    case KIR_B_MUL:
    case KIR_B_BITAND:
        return LLVMBuildAnd(f->b, a, b, "");
    case KIR_B_BITXOR:
        return LLVMBuildXor(f->b, a, b, "");
    default:
        lo_fail_at(f, node, "operator is not defined on bool");
        return a;
    }
}

struct val op_binary(struct fn *f, enum kir_binary op, struct val a, struct val b, uint32_t node)
{
    if (!a.t || !b.t)
        return val_dead();
    if (a.t->kind == TY_TUPLE && b.t->kind == TY_TUPLE && op == KIR_B_ADD) {
        uint32_t n = a.t->n_items + b.t->n_items;
        const struct type **types = lo_alloc(f->lo, n, sizeof(*types));
        struct val *items = lo_alloc(f->lo, n, sizeof(*items));
        for (uint32_t i = 0; i < n; i++) {
            bool first = i < a.t->n_items;
            items[i] = first ? val_item(f, a, i) : val_item(f, b, i - a.t->n_items);
            types[i] = items[i].t;
        }
        return val_join(f, type_tuple(f->lo->p->types, types, n, 0), items, n);
    }
    if (!type_is_number(a.t) || a.t != b.t) {
        lo_fail_at(f, node, "operator on unlike operands");
        return val_poison(f, a.t);
    }
    if (type_is_complex(a.t))
        return complex_binary(f, op, a, b, node);
    LLVMValueRef r = a.t->kind == TY_BOOL ? bool_binary(f, op, a.v[0], b.v[0], node)
                     : type_is_float(a.t) ? float_binary(f, op, a.t, a.v[0], b.v[0], node)
                                          : int_binary(f, op, a.t, a.v[0], b.v[0], node);
    return val_scalar(f, a.t, r);
}

struct val op_unary(struct fn *f, enum kir_unary op, struct val a, uint32_t node)
{
    struct lo *lo = f->lo;
    if (!a.t)
        return a;
    if (op == KIR_U_NOT)
        return val_scalar(f, lo_type(lo, TY_BOOL), LLVMBuildNot(f->b, truth(f, a), ""));
    if (!type_is_number(a.t)) {
        lo_fail_at(f, node, "operator on something that is no number");
        return a;
    }
    if (op == KIR_U_POS)
        return a;
    if (op == KIR_U_INVERT)
        return val_scalar(f, a.t, LLVMBuildNot(f->b, a.v[0], ""));
    if (type_is_complex(a.t))
        return val_complex(f, a.t, fast(f, LLVMBuildFNeg(f->b, a.v[0], "")),
                           fast(f, LLVMBuildFNeg(f->b, a.v[1], "")));
    if (type_is_float(a.t))
        return val_scalar(f, a.t, fast(f, LLVMBuildFNeg(f->b, a.v[0], "")));
    if (f->checked && type_is_signed(a.t)) {
        struct val zero = val_zero(f, a.t);
        return val_scalar(f, a.t, int_binary(f, KIR_B_SUB, a.t, zero.v[0], a.v[0], node));
    }
    return val_scalar(f, a.t, LLVMBuildNeg(f->b, a.v[0], ""));
}

/* ---- comparison ---- */

static LLVMIntPredicate int_predicate(enum kir_compare op, bool is_signed)
{
    switch (op) {
    case KIR_C_NE:
    case KIR_C_ISNOT:
        return LLVMIntNE;
    case KIR_C_LT:
        return is_signed ? LLVMIntSLT : LLVMIntULT;
    case KIR_C_LE:
        return is_signed ? LLVMIntSLE : LLVMIntULE;
    case KIR_C_GT:
        return is_signed ? LLVMIntSGT : LLVMIntUGT;
    case KIR_C_GE:
        return is_signed ? LLVMIntSGE : LLVMIntUGE;
    default:
        return LLVMIntEQ;
    }
}

static LLVMRealPredicate real_predicate(enum kir_compare op)
{
    switch (op) {
    case KIR_C_NE:
    case KIR_C_ISNOT:
        return LLVMRealUNE;
    case KIR_C_LT:
        return LLVMRealOLT;
    case KIR_C_LE:
        return LLVMRealOLE;
    case KIR_C_GT:
        return LLVMRealOGT;
    case KIR_C_GE:
        return LLVMRealOGE;
    default:
        return LLVMRealOEQ;
    }
}

/* Signed with unsigned, as mathematics has it. */
static LLVMValueRef compare_mixed(struct fn *f, enum kir_compare op, struct val a, struct val b)
{
    bool a_signed = type_is_signed(a.t);
    LLVMValueRef x = LLVMBuildIntCast2(f->b, a.v[0], f->lo->i64, a_signed, "");
    LLVMValueRef y = LLVMBuildIntCast2(f->b, b.v[0], f->lo->i64, !a_signed, "");
    LLVMValueRef plain = LLVMBuildICmp(f->b, int_predicate(op, false), x, y, "");
    LLVMValueRef neg = LLVMBuildICmp(f->b, LLVMIntSLT, a_signed ? x : y, lo_int(f->lo, 0), "");
    bool if_neg = op == KIR_C_NE || ((op == KIR_C_LT || op == KIR_C_LE) && a_signed) ||
                  ((op == KIR_C_GT || op == KIR_C_GE) && !a_signed);
    return LLVMBuildSelect(f->b, neg, lo_bool(f->lo, if_neg), plain, "");
}

static LLVMValueRef compare_numbers(struct fn *f, enum kir_compare op, struct val a, struct val b)
{
    if (type_is_complex(a.t) || type_is_complex(b.t)) {
        const struct type *t = type_is_complex(a.t) ? a.t : b.t;
        if (type_is_complex(a.t) && type_is_complex(b.t))
            t = type_bits(a.t) >= type_bits(b.t) ? a.t : b.t;
        a = convert(f, a, t);
        b = convert(f, b, t);
        LLVMValueRef re = LLVMBuildFCmp(f->b, real_predicate(op), a.v[0], b.v[0], "");
        LLVMValueRef im = LLVMBuildFCmp(f->b, real_predicate(op), a.v[1], b.v[1], "");
        return op == KIR_C_NE || op == KIR_C_ISNOT ? LLVMBuildOr(f->b, re, im, "")
                                                   : LLVMBuildAnd(f->b, re, im, "");
    }
    if (type_is_float(a.t) || type_is_float(b.t)) {
        const struct type *t = lo_type(f->lo, TY_FLOAT64);
        if (a.t == b.t)
            t = a.t;
        return LLVMBuildFCmp(f->b, real_predicate(op), convert(f, a, t).v[0], convert(f, b, t).v[0], "");
    }
    if (a.t != b.t) {
        bool as = type_is_signed(a.t), bs = type_is_signed(b.t);
        if (as != bs)
            return compare_mixed(f, op, a, b);
        const struct type *t = type_bits(a.t) >= type_bits(b.t) ? a.t : b.t;
        a = convert(f, a, t);
        b = convert(f, b, t);
    }
    return LLVMBuildICmp(f->b, int_predicate(op, type_is_signed(a.t)), a.v[0], b.v[0], "");
}

static LLVMValueRef equal(struct fn *f, struct val a, struct val b)
{
    return op_compare(f, KIR_C_EQ, a, b);
}

/* Lexicographic; both of known length. */
static LLVMValueRef compare_tuples(struct fn *f, enum kir_compare op, struct val a, struct val b)
{
    struct lo *lo = f->lo;
    uint32_t na = a.t->n_items, nb = b.t->n_items, n = na < nb ? na : nb;
    if (op == KIR_C_EQ || op == KIR_C_NE) {
        LLVMValueRef all = lo_bool(lo, na == nb);
        for (uint32_t i = 0; i < n && na == nb; i++)
            all = LLVMBuildAnd(f->b, all, equal(f, val_item(f, a, i), val_item(f, b, i)), "");
        return op == KIR_C_EQ ? all : LLVMBuildNot(f->b, all, "");
    }
    bool tie = op == KIR_C_LT ? na < nb : op == KIR_C_LE ? na <= nb : op == KIR_C_GT ? na > nb : na >= nb;
    LLVMValueRef r = lo_bool(lo, tie);
    for (uint32_t i = n; i-- > 0;) {
        struct val x = val_item(f, a, i), y = val_item(f, b, i);
        r = LLVMBuildSelect(f->b, equal(f, x, y), r, op_compare(f, op, x, y), "");
    }
    return r;
}

LLVMValueRef op_compare(struct fn *f, enum kir_compare op, struct val a, struct val b)
{
    struct lo *lo = f->lo;
    if (!a.t || !b.t)
        return lo_bool(lo, false);
    if (a.t->kind == TY_INTENUM)
        a = convert(f, a, lo_type(lo, TY_PYINT));
    if (b.t->kind == TY_INTENUM)
        b = convert(f, b, lo_type(lo, TY_PYINT));
    if (op == KIR_C_IN || op == KIR_C_NOTIN) {
        LLVMValueRef any = lo_bool(lo, false);
        for (uint32_t i = 0; b.t->kind == TY_TUPLE && i < b.t->n_items; i++)
            any = LLVMBuildOr(f->b, any, equal(f, a, val_item(f, b, i)), "");
        return op == KIR_C_IN ? any : LLVMBuildNot(f->b, any, "");
    }
    bool negative = op == KIR_C_NE || op == KIR_C_ISNOT;
    if (a.t->kind == TY_OPTIONAL || b.t->kind == TY_OPTIONAL) {
        struct val o = a.t->kind == TY_OPTIONAL ? a : b, x = a.t->kind == TY_OPTIONAL ? b : a;
        LLVMValueRef valid = o.v[o.n - 1], same;
        if (x.t->kind == TY_NONE) {
            same = LLVMBuildNot(f->b, valid, "");
            return negative ? valid : same;
        }
        if (op != KIR_C_EQ && op != KIR_C_NE && op != KIR_C_IS && op != KIR_C_ISNOT)
            return op_compare(f, op, a.t->kind == TY_OPTIONAL ? convert(f, a, a.t->elem) : a,
                              b.t->kind == TY_OPTIONAL ? convert(f, b, b.t->elem) : b);
        if (x.t->kind == TY_OPTIONAL) {
            LLVMValueRef xv = x.v[x.n - 1];
            LLVMValueRef both = LLVMBuildAnd(f->b, valid, xv, "");
            LLVMValueRef eq = equal(f, convert(f, o, o.t->elem), convert(f, x, x.t->elem));
            LLVMValueRef neither = LLVMBuildNot(f->b, LLVMBuildOr(f->b, valid, xv, ""), "");
            same = LLVMBuildOr(f->b, neither, LLVMBuildAnd(f->b, both, eq, ""), "");
        } else {
            same = LLVMBuildAnd(f->b, valid, equal(f, convert(f, o, o.t->elem), x), "");
        }
        return negative ? LLVMBuildNot(f->b, same, "") : same;
    }
    if (a.t->kind == TY_NONE || b.t->kind == TY_NONE)
        return lo_bool(lo, (a.t == b.t) != negative);
    if (a.t->kind == TY_TUPLE && b.t->kind == TY_TUPLE)
        return compare_tuples(f, op, a, b);
    if (a.t->kind == TY_ARRAY && b.t->kind == TY_ARRAY && (op == KIR_C_IS || op == KIR_C_ISNOT)) {
        LLVMValueRef same = LLVMBuildICmp(f->b, LLVMIntEQ, arr_data(a), arr_data(b), "");
        return negative ? LLVMBuildNot(f->b, same, "") : same;
    }
    if (type_is_number(a.t) && type_is_number(b.t))
        return compare_numbers(f, op, a, b);
    if (a.t->kind == TY_RECORD && b.t->kind == TY_RECORD && a.t->record == b.t->record) {
        LLVMValueRef same = record_equal(f, a, b);
        return negative ? LLVMBuildNot(f->b, same, "") : same;
    }
    if (a.t == b.t && (a.t->kind == TY_ENUM || a.t->kind == TY_OBJECT))
        return LLVMBuildICmp(f->b, negative ? LLVMIntNE : LLVMIntEQ, a.v[0], b.v[0], "");
    if (a.t == b.t && (a.t->kind == TY_STR || a.t->kind == TY_BYTES))
        return LLVMBuildICmp(f->b, int_predicate(op, true), text_compare(f, a, b, op == KIR_C_EQ || op == KIR_C_NE),
                             lo_i32(lo, 0), "");
    return lo_bool(lo, (a.t == b.t) != negative);
}
