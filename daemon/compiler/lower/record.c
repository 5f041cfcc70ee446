/* SPDX-License-Identifier: Apache-2.0
 * record.c - records: fields read and written in place.
 *
 * A record is { owner, address }. Its alignment is what its type promises, and a field's the largest power of two that
 * divides both that and the offset; loads and stores that it does not satisfy say so, for no target may be
 * asked for an aligned access of an unaligned address. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

unsigned lo_elemsize(struct lo *lo, const struct type *t)
{
    return t->kind == TY_RECORD ? t->record->size : lo_itemsize(lo, t);
}

unsigned lo_elemalign(struct lo *lo, const struct type *t, bool unaligned)
{
    (void)lo;
    return unaligned ? 1 : type_element_layout(t).align;
}

struct val record_at(struct fn *f, const struct type *t, LLVMValueRef owner, LLVMValueRef data)
{
    struct val v = val_new(f, t, 2);
    v.v[0] = owner;
    v.v[1] = data;
    return v;
}

struct val record_element(struct fn *f, struct val a, LLVMValueRef data)
{
    const struct type *t = type_record_view(f->lo->p->types, a.t->elem, a.t->readonly, a.t->unaligned);
    if (!t) {
        lo_fail(f->lo, KILN_E_NOMEM, "types of the job");
        return val_dead();
    }
    return record_at(f, t, arr_owner(a), data);
}

static bool unaligned_at(const struct type *record, uint32_t field)
{
    uint32_t align = type_element_layout(record->items[field]).align;
    return record->unaligned || align > record->record->align || record->record->offsets[field] % align;
}

static LLVMValueRef field_address(struct fn *f, struct val r, uint32_t field)
{
    return at_offset(f, r.v[1], r.t->record->offsets[field]);
}

/* Dimensions and strides of a nested array; returns how many. */
static unsigned nested_dims(struct fn *f, const struct type *t, LLVMValueRef *shape, LLVMValueRef *strides)
{
    uint32_t dims[TYPE_MAX_NDIM];
    unsigned n = type_nested_shape(t, dims);
    int64_t step = lo_elemsize(f->lo, t->elem);
    for (unsigned i = n; i-- > 0;) {
        shape[i] = lo_int(f->lo, dims[i]);
        strides[i] = lo_int(f->lo, step);
        step *= dims[i];
    }
    return n;
}

/* t: what inference says that the field is. */
static struct val load_field(struct fn *f, struct val r, uint32_t field, const struct type *t)
{
    const struct type *kind = r.t->items[field];
    LLVMValueRef p = field_address(f, r, field), shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    struct val v;
    if (kind->kind == TY_NESTED) {
        nested_dims(f, kind, shape, strides);
        v = arr_make(f, t, r.v[0], p, shape, strides);
    } else if (kind->kind == TY_RECORD) {
        v = record_at(f, t, r.v[0], p);
    } else {
        return mem_load(f, kind, p, unaligned_at(r.t, field));
    }
    v.own = r.own;
    return v;
}

/* One field of each record: the array's dimensions, then the field's own. */
static struct val field_view(struct fn *f, struct val a, uint32_t field, const struct type *t)
{
    const struct type *kind = a.t->elem->items[field];
    LLVMValueRef shape[2 * TYPE_MAX_NDIM], strides[2 * TYPE_MAX_NDIM];
    unsigned n = a.t->ndim;
    for (unsigned i = 0; i < n; i++) {
        shape[i] = arr_shape(a, i);
        strides[i] = arr_stride(f, a, i);
    }
    if (kind->kind == TY_NESTED)
        nested_dims(f, kind, shape + n, strides + n);
    struct val v = arr_make(f, t, arr_owner(a), at_offset(f, arr_data(a), a.t->elem->record->offsets[field]), shape,
                            strides);
    v.own = a.own;
    return v;
}

/* The field that an index or an attribute's name means. */
static uint32_t field_meant(struct fn *f, const struct type *record, const struct kir_const *k)
{
    uint32_t field = UINT32_MAX;
    if (k && k->kind == KIR_K_STR)
        field = type_record_field(record, k->s.p, k->s.len);
    else if (k && k->kind == KIR_K_INT)
        field = (uint32_t)((int64_t)k->i.bits < 0 ? (int64_t)k->i.bits + record->n_items : (int64_t)k->i.bits);
    if (field < record->n_items)
        return field;
    lo_fail(f->lo, KILN_E_INTERNAL, "a field that was not found when typing");
    return 0;
}

static uint32_t field_of_node(struct fn *f, struct val base, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const struct kir_const *consts = f->in->unit->mod->consts;
    const struct type *record = base.t->kind == TY_ARRAY ? base.t->elem : base.t;
    uint32_t index = kir_arg(n, 1);
    struct kir_const number = { .kind = KIR_K_INT };
    int64_t i;
    if (n->op == KIR_ATTR)
        return field_meant(f, record, &consts[index]);
    if (node_int(f, index, &i)) {
        number.i.bits = (uint64_t)i;
        return field_meant(f, record, &number);
    }
    const struct fact *fa = fact_of(f, index);
    return field_meant(f, record, fa->has_value                        ? fa->value
                                  : node_of(f, index)->op == KIR_CONST ? &consts[kir_arg(node_of(f, index), 0)]
                                                                       : NULL);
}

bool record_is_field(struct fn *f, struct val base, uint32_t node)
{
    if (!base.t || (base.t->kind != TY_RECORD && (base.t->kind != TY_ARRAY || base.t->elem->kind != TY_RECORD)))
        return false;
    const struct kir_node *n = node_of(f, node);
    if (n->op == KIR_ATTR || base.t->kind == TY_RECORD)
        return true;
    const struct type *index = fact_of(f, kir_arg(n, 1))->type;
    return index && index->kind == TY_STR;
}

struct val record_read(struct fn *f, struct val base, uint32_t node)
{
    const struct type *t = fact_of(f, node)->type;
    uint32_t field = field_of_node(f, base, node);
    if (f->lo->failed)
        return val_dead();
    return base.t->kind == TY_ARRAY ? field_view(f, base, field, t) : load_field(f, base, field, t);
}

/* ---- writing ---- */

static void store_field(struct fn *f, struct val r, uint32_t field, struct val v)
{
    const struct type *kind = r.t->items[field];
    LLVMValueRef p = field_address(f, r, field);
    if (kind->kind == TY_RECORD) {
        record_store(f, record_at(f, type_record_view(f->lo->p->types, kind, false, unaligned_at(r.t, field)), NULL, p),
                     v);
        return;
    }
    v = convert(f, v, kind);
    if (v.t == kind)
        mem_store(f, p, v, unaligned_at(r.t, field));
}

/* A copy of another record of the dtype (perhaps the same one), or the items of a tuple. */
void record_store(struct fn *f, struct val to, struct val v)
{
    struct lo *lo = f->lo;
    if (f->dead || !v.t || !to.t)
        return;
    if (v.t->kind == TY_TUPLE) {
        for (uint32_t i = 0; i < to.t->n_items && i < v.t->n_items; i++)
            store_field(f, to, i, val_item(f, v, i));
        return;
    }
    if (v.t->kind != TY_RECORD || v.t->record != to.t->record) {
        lo_fail(lo, KILN_E_INTERNAL, "a record is made of something else");
        return;
    }
    LLVMBuildMemMove(f->b, to.v[1], to.t->unaligned ? 1 : to.t->record->align, v.v[1],
                     v.t->unaligned ? 1 : v.t->record->align,
                     LLVMConstInt(lo->iptr, to.t->record->size, 0));
}

void record_write(struct fn *f, struct val base, uint32_t node, struct val v)
{
    uint32_t field = field_of_node(f, base, node);
    const struct type *t = fact_of(f, node)->type;
    if (f->lo->failed || !v.t)
        return;
    v = need_value(f, v, node);
    if (t->kind != TY_ARRAY) {
        store_field(f, base, field, v);
        return;
    }
    struct val to = base.t->kind == TY_ARRAY ? field_view(f, base, field, t) : load_field(f, base, field, t);
    arr_assign(f, to, v, node);
}

/* r.x op= v, a.x op= v */
void record_augassign(struct fn *f, uint32_t aug, uint32_t target, struct val base, uint32_t value_node)
{
    struct val old = record_read(f, base, target);
    old.own = 0;
    struct val v = aug_value(f, aug, old, value_node);
    if (!f->dead && v.t && !fact_of(f, aug)->callee) /* else the array was changed in place */
        store_field(f, base, field_of_node(f, base, target), v);
}

/* ---- whole records ---- */

LLVMValueRef record_equal(struct fn *f, struct val a, struct val b)
{
    LLVMValueRef all = lo_bool(f->lo, true);
    for (uint32_t i = 0; i < a.t->n_items; i++) {
        struct val x = load_field(f, a, i, a.t->items[i]), y = load_field(f, b, i, b.t->items[i]);
        all = LLVMBuildAnd(f->b, all, op_compare(f, KIR_C_EQ, x, y), "");
    }
    return all;
}
