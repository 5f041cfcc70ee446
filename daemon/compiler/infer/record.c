/* SPDX-License-Identifier: Apache-2.0
 * record.c - structured arrays and records: elements, fields, and what may be stored in them.
 *
 * A value of type RECORD is a reference: `r = a[i]` sees later changes of a[i], as in NumPy, and what is
 * written through r is written to the array. Its type says besides the dtype whether it may be written and
 * whether it is aligned as the dtype promises. A field's name is known when compiling: a constant. */
#include <string.h>

#include "daemon/compiler/infer/pass.h"

const struct type *element_of(struct walk *w, const struct type *array)
{
    const struct type *t = array->elem;

    if (t->kind == TY_RECORD)
        t = type_record_view(w->p->types, t, array->readonly, array->unaligned);
    return t ? t : fail_memory(w->p);
}

/* Whether a field lies at an address that is a multiple of its own alignment. */
static bool aligned_at(const struct type *record, uint32_t field)
{
    uint32_t align = type_element_layout(record->items[field]).align;

    return !record->unaligned && align <= record->record->align && record->record->offsets[field] % align == 0;
}

/* A field of one record (array NULL), or of all records of an array: a view with the array's dimensions. */
static const struct type *field_type(struct walk *w, const struct type *record, const struct type *array,
                                     uint32_t field)
{
    const struct type *t = record->items[field], *r;
    bool unaligned = !aligned_at(record, field), readonly = record->readonly;
    unsigned ndim = array ? array->ndim : 0;
    uint32_t shape[TYPE_MAX_NDIM];

    if (t->kind == TY_NESTED) {
        unsigned more = type_nested_shape(t, shape);
        if (ndim + more > TYPE_MAX_NDIM)
            return NULL;
        r = type_array(w->p->types, t->elem, ndim + more, ndim ? 'A' : 'C', readonly, unaligned);
    } else if (array) {
        r = type_array(w->p->types, t, ndim, 'A', readonly, unaligned);
    } else if (t->kind == TY_RECORD) {
        r = type_record_view(w->p->types, t, readonly, unaligned);
    } else {
        r = t;
    }
    return r ? r : fail_memory(w->p);
}

const struct type *record_field(struct walk *w, uint32_t node, const struct type *base, const char *name, size_t len)
{
    const struct type *record = base->kind == TY_ARRAY ? element_of(w, base) : base, *t;
    uint32_t field = type_record_field(record, name, len);
    struct buf b;
    const char *list;

    if (field == UINT32_MAX) {
        buf_init(&b, 1 << 16);
        for (uint32_t i = 0; i < record->n_items; i++)
            buf_printf(&b, "%s%s", i ? ", " : "", record->record->names[i]);
        list = arena_printf(w->p->a, "the record has the fields %.300s", buf_cstr(&b));
        buf_done(&b);
        return mistake(w, node, list, "no field of name '%.*s'", (int)len, name);
    }
    if (record->items[field]->kind == TY_CHARS)
        return mistake(w, node, "whole records with such fields can be moved", "text in records is not compiled by this version");
    t = field_type(w, record, base->kind == TY_ARRAY ? base : NULL, field);
    return t ? t : mistake(w, node, NULL, "the view would have more than %u dimensions", TYPE_MAX_NDIM);
}

bool is_of_records(const struct type *t)
{
    return t->kind == TY_RECORD || (t->kind == TY_ARRAY && t->elem->kind == TY_RECORD);
}

bool is_field_name(const struct type *base, const struct type *index)
{
    return base->kind == TY_RECORD || (is_of_records(base) && index->kind == TY_STR);
}

/* r["x"], r[0], a["x"] */
const struct type *record_subscript(struct walk *w, uint32_t node, const struct type *base, uint32_t index, bool store)
{
    const struct kir_const *k = known(w, index);
    int64_t i;

    if (store && base->readonly)
        return mistake(w, node, "copy it first", "the %s is read-only", base->kind == TY_ARRAY ? "array" : "record");
    if (k && k->kind == KIR_K_STR)
        return record_field(w, node, base, k->s.p, k->s.len);
    if (base->kind == TY_RECORD && known_int(w, index, &i)) {
        if (i < -(int64_t)base->n_items || i >= (int64_t)base->n_items)
            return mistake(w, node, NULL, "field %lld of a record with %u", (long long)i, base->n_items);
        const char *name = base->record->names[i < 0 ? i + base->n_items : i];
        return record_field(w, node, base, name, strlen(name));
    }
    return mistake(w, index, "use a constant, or a loop over literal_unroll(names)",
                   "which field is meant must be known when compiling");
}

const struct type *record_attr_place(struct walk *w, uint32_t target)
{
    const struct type *t = expr(w, target), *base = fact_for(w, kir_arg(node_at(w, target), 0))->type;

    if (is_bottom(t))
        return t;
    if (!is_of_records(base))
        return mistake(w, target, NULL, "attributes of %s can't be assigned", show(w, base));
    if (base->readonly)
        return mistake(w, target, "copy it first", "the %s is read-only", base->kind == TY_ARRAY ? "array" : "record");
    return t;
}

bool record_assignable(struct pass *p, const struct type *from, const struct type *to)
{
    if (from->kind == TY_RECORD)
        return from->record == to->record;
    if (from->kind != TY_TUPLE || from->n_items != to->n_items)
        return false;
    for (uint32_t i = 0; i < to->n_items; i++)
        if (to->items[i]->kind == TY_NESTED || to->items[i]->kind == TY_CHARS || !assignable(p, from->items[i], to->items[i]))
            return false;
    return true;
}

const struct type *record_join(struct pass *p, const struct type *a, const struct type *b)
{
    const struct type *t;

    if (a->record != b->record)
        return NULL;
    t = type_record_view(p->types, a, a->readonly || b->readonly, a->unaligned || b->unaligned);
    return t ? t : fail_memory(p);
}

/* Fields one by one; a nested array has no truth. */
bool record_comparable(const struct type *a, const struct type *b)
{
    if (a->record != b->record)
        return false;
    for (uint32_t i = 0; i < a->n_items; i++)
        if (a->items[i]->kind == TY_NESTED || a->items[i]->kind == TY_CHARS ||
            (a->items[i]->kind == TY_RECORD && !record_comparable(a->items[i], a->items[i])))
            return false;
    return true;
}
