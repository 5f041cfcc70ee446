/* SPDX-License-Identifier: Apache-2.0
 * convert.c - a value of one type as another, and truth.
 *
 * Floats to integers: C leaves values out of range undefined, and LLVM makes poison of them. The rule here is
 * what NumPy gives on x86-64: the least integer of the width that the processor converts to (32 bits for
 * results up to 32 bits, else 64), cut to the result's width; NaN the same. No target gives another answer.
 */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

/* x to a signed integer of 32 or 64 bits, the least one where it does not fit. */
static LLVMValueRef float_to_signed(struct fn *f, LLVMValueRef x, unsigned bits)
{
    struct lo *lo = f->lo;
    LLVMTypeRef ft = LLVMTypeOf(x), it = bits == 64 ? lo->i64 : lo->i32;
    if (ft == lo->f16) { /* half reaches 65504 only: widen, so that the limit is representable */
        x = LLVMBuildFPExt(f->b, x, lo->f32, "");
        ft = lo->f32;
    }
    LLVMValueRef limit = LLVMConstReal(ft, bits == 64 ? 9223372036854775808.0 : 2147483648.0);
    LLVMValueRef size = lo_intrinsic(f, "llvm.fabs", ft, &x, 1);
    LLVMValueRef fits = LLVMBuildFCmp(f->b, LLVMRealOLT, size, limit, "");
    LLVMValueRef least = LLVMConstInt(it, bits == 64 ? 1ull << 63 : 1ull << 31, 0);
    return LLVMBuildSelect(f->b, fits, LLVMBuildFPToSI(f->b, x, it, ""), least, "");
}

static LLVMValueRef float_to_u64(struct fn *f, LLVMValueRef x)
{
    struct lo *lo = f->lo;
    if (LLVMTypeOf(x) == lo->f16)
        x = LLVMBuildFPExt(f->b, x, lo->f32, "");
    LLVMValueRef half = LLVMConstReal(LLVMTypeOf(x), 9223372036854775808.0);
    LLVMValueRef low = float_to_signed(f, x, 64);
    LLVMValueRef high = float_to_signed(f, LLVMBuildFSub(f->b, x, half, ""), 64);
    high = LLVMBuildXor(f->b, high, LLVMConstInt(lo->i64, 1ull << 63, 0), "");
    return LLVMBuildSelect(f->b, LLVMBuildFCmp(f->b, LLVMRealOGE, x, half, ""), high, low, "");
}

static LLVMValueRef number(struct fn *f, LLVMValueRef x, const struct type *from, const struct type *to)
{
    struct lo *lo = f->lo;
    LLVMTypeRef reg = lo_reg(lo, to);
    bool from_float = type_is_float(from), to_float = type_is_float(to);
    if (to->kind == TY_BOOL) {
        if (from->kind == TY_BOOL)
            return x;
        if (from_float)
            return LLVMBuildFCmp(f->b, LLVMRealUNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
        return LLVMBuildICmp(f->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    }
    if (from_float && to_float) {
        if (LLVMTypeOf(x) == reg)
            return x;
        return type_bits(from) < type_bits(to) ? LLVMBuildFPExt(f->b, x, reg, "")
                                               : LLVMBuildFPTrunc(f->b, x, reg, "");
    }
    if (from_float) {
        unsigned bits = type_bits(to);
        if (to->kind == TY_UINT64)
            return float_to_u64(f, x);
        LLVMValueRef wide = float_to_signed(f, x, bits > 32 || to->kind == TY_UINT32 ? 64 : 32);
        return LLVMTypeOf(wide) == reg ? wide : LLVMBuildTrunc(f->b, wide, reg, "");
    }
    if (to_float)
        return type_is_signed(from) ? LLVMBuildSIToFP(f->b, x, reg, "") : LLVMBuildUIToFP(f->b, x, reg, "");
    return LLVMBuildIntCast2(f->b, x, reg, type_is_signed(from), "");
}

static struct val convert_array(struct fn *f, struct val v, const struct type *to)
{
    LLVMValueRef shape[64], strides[64];
    for (unsigned i = 0; i < to->ndim; i++) {
        shape[i] = arr_shape(v, i);
        strides[i] = to->layout == 'A' ? arr_stride(f, v, i) : NULL;
    }
    struct val r = arr_make(f, to, arr_owner(v), arr_data(v), shape, strides);
    r.own = v.own;
    return r;
}

static struct val convert_tuple(struct fn *f, struct val v, const struct type *to)
{
    const struct tinfo *ti = lo_info(f->lo, to);
    struct val r = val_new(f, to, ti->n);
    uint32_t at = 0;
    r.own = v.own; /* owners keep their order */
    for (uint32_t i = 0; i < to->n_items; i++) {
        struct val item = val_item(f, v, i);
        item.own = 0;
        item = convert(f, item, to->items[i]);
        for (uint32_t k = 0; k < item.n && at < r.n; k++)
            r.v[at++] = item.v[k];
    }
    return r;
}

static struct val convert_optional(struct fn *f, struct val v, const struct type *to)
{
    struct lo *lo = f->lo;
    const struct tinfo *ti = lo_info(lo, to);
    struct val r = val_zero(f, to);
    if (v.t->kind == TY_NONE)
        return r;
    LLVMValueRef valid = lo_bool(lo, true);
    if (v.t->kind == TY_OPTIONAL) {
        valid = v.v[v.n - 1];
        v = (struct val){ .t = v.t->elem, .v = v.v, .n = v.n - 1, .own = v.own };
    }
    struct val in = convert(f, v, to->elem);
    if (in.t != to->elem)
        return r;
    memcpy(r.v, in.v, in.n * sizeof(*r.v));
    r.v[ti->n - 1] = valid;
    r.own = in.own;
    return r;
}

struct val convert(struct fn *f, struct val v, const struct type *to)
{
    struct lo *lo = f->lo;
    if (!v.t || !to || v.t == to)
        return v;
    const struct type *from = v.t;
    if (to->kind == TY_NONE)
        return val_none(f);
    if (to->kind == TY_OPTIONAL)
        return convert_optional(f, v, to);
    if (from->kind == TY_OPTIONAL) { /* narrowed: inference proved that it is there */
        struct val in = { .t = from->elem, .v = v.v, .n = v.n - 1, .own = v.own };
        return convert(f, in, to);
    }
    if (from->kind == TY_ARRAY && to->kind == TY_ARRAY && from->elem == to->elem && from->ndim == to->ndim)
        return convert_array(f, v, to);
    if (from->kind == TY_TUPLE && to->kind == TY_TUPLE && from->n_items == to->n_items)
        return convert_tuple(f, v, to);
    if (from->kind == TY_RECORD && to->kind == TY_RECORD && from->record == to->record) {
        v.t = to;
        return v;
    }
    if (from->kind == TY_INTENUM) {
        v.t = lo_type(lo, TY_PYINT);
        return convert(f, v, to);
    }
    if (type_is_number(from) && type_is_number(to)) {
        if (type_is_complex(to)) {
            const struct type *part = lo_part(lo, to);
            if (type_is_complex(from)) {
                const struct type *fp = lo_part(lo, from);
                return val_complex(f, to, number(f, v.v[0], fp, part), number(f, v.v[1], fp, part));
            }
            return val_complex(f, to, number(f, v.v[0], from, part), LLVMConstNull(lo_reg(lo, to)));
        }
        if (type_is_complex(from)) {
            if (to->kind == TY_BOOL)
                return val_scalar(f, to, truth(f, v));
            return val_scalar(f, to, number(f, v.v[0], lo_part(lo, from), to)); /* as NumPy: drops the rest */
        }
        return val_scalar(f, to, number(f, v.v[0], from, to));
    }
    if (type_is_time(from) && (type_is_time(to) || (type_is_integer(to) && type_bits(to) == 64))) { /* the count, as it is */
        return val_scalar(f, to, v.v[0]);
    }
    if (type_is_time(to) && type_is_number(from) && !type_is_complex(from)) {
        struct val count = convert(f, v, lo_type(lo, TY_INT64));
        return val_scalar(f, to, count.v[0]);
    }
    if (from->kind == TY_ARRAY && from->ndim == 0 && (type_is_number(to) || type_is_time(to)))
        return convert(f, arr_load(f, v, NULL), to);
    if (lo_info(lo, from)->n == lo_info(lo, to)->n && from->kind == to->kind) {
        v.t = to; /* compile-time kinds that differ in detail only: ranges, functions, iterators */
        return v;
    }
    lo_fail(lo, KILN_E_INTERNAL, "no conversion from %s to %s", type_text(lo->a, from), type_text(lo->a, to));
    return val_poison(f, to);
}

LLVMValueRef to_index(struct fn *f, struct val v)
{
    if (!v.t || v.n != 1)
        return lo_int(f->lo, 0);
    if (type_is_float(v.t))
        return convert(f, v, lo_type(f->lo, TY_INT64)).v[0];
    return LLVMBuildIntCast2(f->b, v.v[0], f->lo->i64, type_is_signed(v.t), "");
}

LLVMValueRef truth(struct fn *f, struct val v)
{
    struct lo *lo = f->lo;
    if (!v.t)
        return lo_bool(lo, false);
    switch (v.t->kind) {
    case TY_NONE:
        return lo_bool(lo, false);
    case TY_TUPLE:
        return lo_bool(lo, v.t->n_items != 0);
    case TY_STR:
    case TY_BYTES:
        return LLVMBuildICmp(f->b, LLVMIntNE, v.v[2], lo_int(lo, 0), "");
    case TY_OPTIONAL: {
        struct val in = { .t = v.t->elem, .v = v.v, .n = v.n - 1 };
        return LLVMBuildAnd(f->b, v.v[v.n - 1], truth(f, in), "");
    }
    case TY_ARRAY:
        if (v.t->ndim == 0)
            return truth(f, arr_load(f, v, NULL));
        return LLVMBuildICmp(f->b, LLVMIntNE, arr_size(f, v), lo_int(lo, 0), "");
    case TY_LIST:
    case TY_DICT:
    case TY_SET:
        return LLVMBuildICmp(f->b, LLVMIntNE, container_length(f, v), lo_int(lo, 0), "");
    case TY_RANGE:
        return LLVMBuildICmp(f->b, LLVMIntNE, iter_length(f, v, 0), lo_int(lo, 0), "");
    default:
        break;
    }
    if (type_is_complex(v.t)) {
        LLVMValueRef z = LLVMConstNull(LLVMTypeOf(v.v[0]));
        return LLVMBuildOr(f->b, LLVMBuildFCmp(f->b, LLVMRealUNE, v.v[0], z, ""),
                           LLVMBuildFCmp(f->b, LLVMRealUNE, v.v[1], z, ""), "");
    }
    if (type_is_time(v.t))
        return LLVMBuildICmp(f->b, LLVMIntNE, v.v[0], LLVMConstNull(LLVMTypeOf(v.v[0])), "");
    if (type_is_number(v.t) || v.t->kind == TY_INTENUM)
        return convert(f, v, lo_type(lo, TY_BOOL)).v[0];
    return lo_bool(lo, true);
}
