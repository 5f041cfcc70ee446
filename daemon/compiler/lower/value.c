/* SPDX-License-Identifier: Apache-2.0
 * value.c - values as lists of leaves: parts, constants, and their form in memory. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

struct val val_new(struct fn *f, const struct type *t, uint32_t n)
{
    struct val v = { .t = t, .n = n };
    v.v = lo_alloc(f->lo, n, sizeof(*v.v));
    return v;
}

struct val val_scalar(struct fn *f, const struct type *t, LLVMValueRef x)
{
    struct val v = val_new(f, t, 1);
    v.v[0] = x;
    return v;
}

struct val val_complex(struct fn *f, const struct type *t, LLVMValueRef re, LLVMValueRef im)
{
    struct val v = val_new(f, t, 2);
    v.v[0] = re;
    v.v[1] = im;
    return v;
}

struct val val_none(struct fn *f)
{
    return (struct val){ .t = lo_type(f->lo, TY_NONE) };
}

struct val val_dead(void)
{
    return (struct val){ .t = NULL };
}

struct val val_poison(struct fn *f, const struct type *t)
{
    const struct tinfo *ti = lo_info(f->lo, t);
    struct val v = val_new(f, t, ti->n);
    for (uint32_t i = 0; i < ti->n; i++)
        v.v[i] = LLVMGetPoison(ti->reg[i]);
    return v;
}

struct val val_zero(struct fn *f, const struct type *t)
{
    const struct tinfo *ti = lo_info(f->lo, t);
    struct val v = val_new(f, t, ti->n);
    for (uint32_t i = 0; i < ti->n; i++)
        v.v[i] = LLVMConstNull(ti->reg[i]);
    return v;
}

struct val val_item(struct fn *f, struct val v, uint32_t i)
{
    uint32_t at = 0, owners = 0;
    for (uint32_t k = 0; k < i; k++) {
        const struct tinfo *ti = lo_info(f->lo, v.t->items[k]);
        at += ti->n;
        owners += ti->n_owner;
    }
    const struct tinfo *ti = lo_info(f->lo, v.t->items[i]);
    return (struct val){
        .t = v.t->items[i], .v = v.v + at, .n = ti->n, .own = v.own && ti->n_owner ? v.own + owners : 0
    };
}

/* Items with references become owned when any of them is, so that one answer serves the whole tuple. */
struct val val_join(struct fn *f, const struct type *t, const struct val *items, uint32_t n)
{
    const struct tinfo *ti = lo_info(f->lo, t);
    bool owned = false;
    for (uint32_t i = 0; i < n; i++)
        owned |= items[i].own != 0;
    struct val v = val_new(f, t, ti->n);
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct val item = owned ? own_take(f, items[i]) : items[i];
        for (uint32_t k = 0; k < item.n && at < v.n; k++)
            v.v[at++] = item.v[k];
    }
    if (owned)
        temp_hold(f, &v);
    return v;
}

/* ---- constants ---- */

static LLVMValueRef const_number(struct lo *lo, const struct type *t, const struct kir_const *k)
{
    LLVMTypeRef reg = lo_reg(lo, t);
    bool is_float = type_is_float(t);
    switch (k->kind) {
    case KIR_K_BOOL:
        return is_float ? LLVMConstReal(reg, k->b) : LLVMConstInt(reg, k->b, 0);
    case KIR_K_INT:
        if (is_float)
            return LLVMConstReal(reg, k->i.is_unsigned ? (double)k->i.bits : (double)(int64_t)k->i.bits);
        if (t->kind == TY_BOOL)
            return LLVMConstInt(reg, k->i.bits != 0, 0);
        return LLVMConstInt(reg, k->i.bits, 1);
    case KIR_K_FLOAT: {
        if (is_float && reg == lo->f64) { /* bits kept, NaN payloads too */
            uint64_t bits;
            memcpy(&bits, &k->f, 8);
            return LLVMConstBitCast(LLVMConstInt(lo->i64, bits, 0), lo->f64);
        }
        if (is_float)
            return LLVMConstReal(reg, k->f);
        if (t->kind == TY_BOOL)
            return LLVMConstInt(reg, k->f != 0, 0);
        double low = -9223372036854775808.0, high = 9223372036854775808.0;
        return LLVMConstInt(reg, (uint64_t)(k->f >= low && k->f < high ? (int64_t)k->f : INT64_MIN), 1);
    }
    default:
        lo_fail(lo, KILN_E_INTERNAL, "constant of kind %d used as a number", (int)k->kind);
        return LLVMConstNull(reg);
    }
}

static struct val const_scalar_bytes(struct fn *f, const struct kir_const *k, const struct type *t)
{
    struct lo *lo = f->lo;
    struct type_table *types = lo->p->types;
    const struct type *own;
    struct kiln_err e = KILN_ERR_INIT;
    if (type_parse(types, k->s.p, k->s.len, &own, &e)) {
        lo_fail(lo, KILN_E_INTERNAL, "%s", e.msg);
        return val_zero(f, t);
    }
    struct val v = val_zero(f, own);
    uint32_t size = k->data_len / (type_is_complex(own) ? 2u : 1u);
    for (uint32_t i = 0; i < v.n && size && size <= 8; i++) {
        uint64_t bits = 0;
        memcpy(&bits, k->data + (size_t)i * size, size);
        LLVMTypeRef reg = lo_info(lo, own)->reg[i];
        if (own->kind == TY_BOOL)
            v.v[i] = lo_bool(lo, bits != 0);
        else if (LLVMGetTypeKind(reg) == LLVMIntegerTypeKind)
            v.v[i] = LLVMConstInt(reg, bits, 0);
        else
            v.v[i] = LLVMConstBitCast(LLVMConstInt(LLVMIntTypeInContext(lo->c, size * 8), bits, 0), reg);
    }
    return convert(f, v, t);
}

static struct val const_array(struct fn *f, const struct kir_const *k, const struct type *t)
{
    struct lo *lo = f->lo;
    LLVMValueRef g = lo_bytes(lo, "kiln.array", k->data, k->data_len);
    LLVMSetAlignment(g, 64);
    LLVMValueRef shape[64], strides[64];
    int64_t step = lo_itemsize(lo, t->elem);
    for (uint32_t i = k->n_items; i-- > 0;) {
        shape[i] = lo_int(lo, k->items[i]);
        strides[i] = lo_int(lo, step);
        step *= k->items[i];
    }
    return arr_make(f, t, lo_null(lo), g, shape, strides);
}

struct val val_const(struct fn *f, const struct kir_module *mod, const struct kir_const *k,
                     const struct type *t)
{
    struct lo *lo = f->lo;
    switch (k->kind) {
    case KIR_K_NONE:
        return convert(f, val_none(f), t);
    case KIR_K_STR:
    case KIR_K_BYTES:
        if (t->kind == TY_OPTIONAL)
            return convert(f, val_const(f, mod, k, t->elem), t);
        return t->kind == TY_STR || t->kind == TY_BYTES ? text_const(f, t, k->s.p, k->s.len) : val_zero(f, t);
    case KIR_K_TUPLE:
    case KIR_K_NAMEDTUPLE: {
        if (t->kind != TY_TUPLE || t->n_items != k->n_items)
            break;
        struct val *items = lo_alloc(lo, k->n_items, sizeof(*items));
        for (uint32_t i = 0; i < k->n_items; i++)
            items[i] = val_const(f, mod, &mod->consts[k->items[i]], t->items[i]);
        return val_join(f, t, items, k->n_items);
    }
    case KIR_K_SCALAR:
        return const_scalar_bytes(f, k, t);
    case KIR_K_ARRAY:
        if (t->kind == TY_ARRAY && t->ndim == k->n_items)
            return const_array(f, k, t);
        break;
    case KIR_K_COMPLEX: {
        struct val v = val_complex(f, lo_type(lo, TY_PYCOMPLEX), LLVMConstReal(lo->f64, k->c.re),
                                   LLVMConstReal(lo->f64, k->c.im));
        return convert(f, v, t);
    }
    case KIR_K_BOOL:
    case KIR_K_INT:
    case KIR_K_FLOAT:
        if (type_is_complex(t)) {
            LLVMValueRef re = const_number(lo, lo_part(lo, t), k);
            return val_complex(f, t, re, LLVMConstNull(lo_reg(lo, t)));
        }
        if (type_is_number(t))
            return val_scalar(f, t, const_number(lo, t, k));
        if (t->kind == TY_OPTIONAL)
            return convert(f, val_const(f, mod, k, t->elem), t);
        break;
    case KIR_K_ENUM:
        if (t->kind == TY_OPTIONAL)
            return convert(f, val_const(f, mod, k, t->elem), t);
        return lower_enum_const(f, mod, k, t);
    default: /* types, classes, ellipsis: nothing at run time */
        return val_zero(f, t);
    }
    lo_fail(lo, KILN_E_INTERNAL, "constant of kind %d does not fit its type", (int)k->kind);
    return val_zero(f, t);
}

/* ---- memory ---- */

LLVMValueRef at_offset(struct fn *f, LLVMValueRef p, uint64_t bytes)
{
    if (!bytes)
        return p;
    LLVMValueRef i = lo_int(f->lo, (int64_t)bytes);
    return LLVMBuildInBoundsGEP2(f->b, f->lo->i8, p, &i, 1, "");
}

static LLVMValueRef load_as(struct fn *f, LLVMTypeRef t, LLVMValueRef p, bool unaligned)
{
    LLVMValueRef v = LLVMBuildLoad2(f->b, t, p, "");
    if (unaligned)
        LLVMSetAlignment(v, 1);
    return v;
}

static void store_as(struct fn *f, LLVMValueRef v, LLVMValueRef p, bool unaligned)
{
    LLVMValueRef s = LLVMBuildStore(f->b, v, p);
    if (unaligned)
        LLVMSetAlignment(s, 1);
}

/* shape or stride: an integer of a pointer's size */
static LLVMValueRef load_dim(struct fn *f, LLVMValueRef p, bool is_shape)
{
    struct lo *lo = f->lo;
    LLVMValueRef v = load_as(f, lo->iptr, p, false);
    if (is_shape)
        LLVMSetMetadata(v, lo->md_range, lo->shape_range);
    return lo->iptr == lo->i64 ? v : LLVMBuildSExt(f->b, v, lo->i64, "");
}

static void store_dim(struct fn *f, LLVMValueRef v, LLVMValueRef p)
{
    struct lo *lo = f->lo;
    store_as(f, lo->iptr == lo->i64 ? v : LLVMBuildTrunc(f->b, v, lo->iptr, ""), p, false);
}

static uint64_t round_up(uint64_t at, uint64_t align)
{
    return (at + align - 1) / align * align;
}

static struct layout layout_of(struct fn *f, const struct type *t)
{
    struct layout l = { 0, 1 };
    struct kiln_err e = KILN_ERR_INIT;
    if (type_layout(t, f->lo->t->pointer_bytes, &l, &e))
        lo_fail(f->lo, KILN_E_INTERNAL, "value without a layout: %s", e.msg);
    return l;
}

struct val mem_load(struct fn *f, const struct type *t, LLVMValueRef p, bool unaligned)
{
    struct lo *lo = f->lo;
    const struct tinfo *ti = lo_info(lo, t);
    struct val v = val_new(f, t, ti->n);
    unsigned ps = lo->t->pointer_bytes;
    switch (t->kind) {
    case TY_ARRAY:
        v.v[0] = load_as(f, lo->ptr, p, false);
        v.v[1] = load_as(f, lo->ptr, at_offset(f, p, ps), false);
        for (uint32_t i = 2; i < v.n; i++)
            v.v[i] = load_dim(f, at_offset(f, p, (uint64_t)i * ps), i < 2u + t->ndim);
        return v;
    case TY_RECORD:
        v.v[0] = load_as(f, lo->ptr, p, false);
        v.v[1] = load_as(f, lo->ptr, at_offset(f, p, ps), false);
        return v;
    case TY_STR:
    case TY_BYTES:
        for (uint32_t i = 0; i < v.n; i++)
            v.v[i] = i < 2 ? load_as(f, lo->ptr, at_offset(f, p, (uint64_t)i * ps), false)
                           : load_dim(f, at_offset(f, p, (uint64_t)i * ps), true);
        return v;
    case TY_TUPLE: {
        uint64_t at = 0;
        uint32_t k = 0;
        for (uint32_t i = 0; i < t->n_items; i++) {
            struct layout l = layout_of(f, t->items[i]);
            at = round_up(at, l.align);
            struct val item = mem_load(f, t->items[i], at_offset(f, p, at), unaligned);
            for (uint32_t j = 0; j < item.n; j++)
                v.v[k++] = item.v[j];
            at += l.size;
        }
        return v;
    }
    case TY_OPTIONAL: {
        struct val item = mem_load(f, t->elem, p, unaligned);
        memcpy(v.v, item.v, item.n * sizeof(*v.v));
        LLVMValueRef valid = load_as(f, lo->i8, at_offset(f, p, layout_of(f, t->elem).size), false);
        v.v[v.n - 1] = LLVMBuildICmp(f->b, LLVMIntNE, valid, LLVMConstNull(lo->i8), "");
        return v;
    }
    case TY_BOOL:
        v.v[0] = LLVMBuildICmp(f->b, LLVMIntNE, load_as(f, lo->i8, p, false), LLVMConstNull(lo->i8), "");
        return v;
    default:
        if (type_is_complex(t)) {
            v.v[0] = load_as(f, ti->reg[0], p, unaligned);
            v.v[1] = load_as(f, ti->reg[1], at_offset(f, p, lo_itemsize(lo, t) / 2), unaligned);
        } else if (v.n == 1) {
            v.v[0] = load_as(f, ti->reg[0], p, unaligned);
        } else if (v.n) {
            lo_fail(lo, KILN_E_INTERNAL, "value of kind %d in memory", (int)t->kind);
        }
        return v;
    }
}

void mem_store(struct fn *f, LLVMValueRef p, struct val v, bool unaligned)
{
    struct lo *lo = f->lo;
    const struct type *t = v.t;
    unsigned ps = lo->t->pointer_bytes;
    switch (t->kind) {
    case TY_ARRAY:
        store_as(f, v.v[0], p, false);
        store_as(f, v.v[1], at_offset(f, p, ps), false);
        for (uint32_t i = 0; i < t->ndim; i++) {
            store_dim(f, arr_shape(v, i), at_offset(f, p, (2u + i) * (uint64_t)ps));
            store_dim(f, arr_stride(f, v, i), at_offset(f, p, (2u + t->ndim + i) * (uint64_t)ps));
        }
        return;
    case TY_RECORD:
        store_as(f, v.v[0], p, false);
        store_as(f, v.v[1], at_offset(f, p, ps), false);
        return;
    case TY_STR:
    case TY_BYTES:
        for (uint32_t i = 0; i < v.n; i++) {
            if (i < 2)
                store_as(f, v.v[i], at_offset(f, p, (uint64_t)i * ps), false);
            else
                store_dim(f, v.v[i], at_offset(f, p, (uint64_t)i * ps));
        }
        return;
    case TY_TUPLE: {
        uint64_t at = 0;
        for (uint32_t i = 0; i < t->n_items; i++) {
            struct layout l = layout_of(f, t->items[i]);
            at = round_up(at, l.align);
            mem_store(f, at_offset(f, p, at), val_item(f, v, i), unaligned);
            at += l.size;
        }
        return;
    }
    case TY_OPTIONAL: {
        struct val item = { .t = t->elem, .v = v.v, .n = v.n - 1 };
        mem_store(f, p, item, unaligned);
        store_as(f, LLVMBuildZExt(f->b, v.v[v.n - 1], lo->i8, ""),
                 at_offset(f, p, layout_of(f, t->elem).size), false);
        return;
    }
    case TY_BOOL:
        store_as(f, LLVMBuildZExt(f->b, v.v[0], lo->i8, ""), p, false);
        return;
    default:
        if (type_is_complex(t)) {
            store_as(f, v.v[0], p, unaligned);
            store_as(f, v.v[1], at_offset(f, p, lo_itemsize(lo, t) / 2), unaligned);
        } else if (v.n == 1) {
            store_as(f, v.v[0], p, unaligned);
        } else if (v.n) {
            lo_fail(lo, KILN_E_INTERNAL, "value of kind %d in memory", (int)t->kind);
        }
    }
}

/* ---- blocks ---- */

LLVMValueRef fn_alloca(struct fn *f, LLVMTypeRef t, const char *name)
{
    return LLVMBuildAlloca(f->ab, t, name);
}

LLVMBasicBlockRef fn_block(struct fn *f, const char *name)
{
    return LLVMAppendBasicBlockInContext(f->lo->c, f->fn, name);
}

void fn_at(struct fn *f, LLVMBasicBlockRef bb)
{
    LLVMPositionBuilderAtEnd(f->b, bb);
    f->dead = false;
}

/* A terminator was built (or control was dead before): whatever follows here is built where nothing leads. */
void fn_stop(struct fn *f)
{
    f->dead = true;
    if (!f->dead_bb)
        f->dead_bb = fn_block(f, "dead");
    LLVMPositionBuilderAtEnd(f->b, f->dead_bb);
}

void fn_br(struct fn *f, LLVMBasicBlockRef bb)
{
    if (!f->dead)
        LLVMBuildBr(f->b, bb);
    fn_stop(f);
}

void fn_cond(struct fn *f, LLVMValueRef c, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    if (!f->dead)
        LLVMBuildCondBr(f->b, c, yes, no);
    fn_stop(f);
}

LLVMValueRef fast(struct fn *f, LLVMValueRef v)
{
    if (f->fmf && LLVMIsAInstruction(v) && LLVMCanValueUseFastMathFlags(v))
        LLVMSetFastMathFlags(v, f->fmf);
    return v;
}

void helper_begin(struct fn *f)
{
    struct lo *lo = f->lo;
    LLVMBasicBlockRef entry = fn_block(f, "entry"), body = fn_block(f, "body");
    f->b = LLVMCreateBuilderInContext(lo->c);
    f->ab = LLVMCreateBuilderInContext(lo->c);
    LLVMPositionBuilderAtEnd(f->ab, entry);
    LLVMPositionBuilderBefore(f->ab, LLVMBuildBr(f->ab, body)); /* allocas go before the branch */
    fn_at(f, body);
}

void helper_end(struct fn *f)
{
    if (f->dead_bb) {
        LLVMPositionBuilderAtEnd(f->b, f->dead_bb);
        LLVMBuildUnreachable(f->b);
    }
    LLVMDisposeBuilder(f->b);
    LLVMDisposeBuilder(f->ab);
    f->b = f->ab = NULL;
}
