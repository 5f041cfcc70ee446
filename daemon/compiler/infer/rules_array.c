/* SPDX-License-Identifier: Apache-2.0
 * rules_array.c - typing rules of array creation, attributes and methods. */
#include "daemon/compiler/infer/rules.h"

/* A dtype argument: the element type it means. */
static const struct type *element_type(struct walk *w, struct call *c, struct arg *a)
{
    const struct type *meant = type_meant(w, a->type), *t;

    if (!meant || (!type_is_number(meant) && meant->kind != TY_RECORD && !type_is_time(meant))) {
        rule_wrong(w, c, a, "a dtype that is known when compiling");
        return NULL;
    }
    meant = strong(w->p, meant);
    t = type_of(w->p->types, TY_TYPEVALUE, meant);
    if (!t) {
        fail_memory(w->p);
        return NULL;
    }
    a->type = t; /* not evaluated */
    return meant;
}

/* Dimensions of a shape argument: an integer or a tuple of them; -1 with a diagnostic. */
static int shape_ndim(struct walk *w, struct call *c, const struct arg *a)
{
    if (type_is_integer(a->type) || a->type->kind == TY_BOOL)
        return 1;
    if (a->type->kind == TY_TUPLE && a->type->n_items <= TYPE_MAX_NDIM) {
        uint32_t ints = 0;
        while (ints < a->type->n_items && type_is_integer(number_of(w, a->type->items[ints])))
            ints++;
        if (ints == a->type->n_items)
            return (int)ints;
    }
    rule_wrong(w, c, a, "a shape (an integer or a tuple of integers)");
    return -1;
}

static const struct type *new_array(struct walk *w, struct call *c, const struct library_row *row,
                                    const struct params *p, const struct type *elem, unsigned ndim,
                                    char layout)
{
    const struct type *t = type_array(w->p->types, elem, ndim, layout, false, false);

    if (elem->kind == TY_RECORD && (row->id == LIB_N_ONES || row->id == LIB_N_ONES_LIKE))
        return mistake(w, c->node, "use np.zeros, and fill the fields", "records of ones are not compiled");
    w->w->raises = true; /* MemoryError, a negative dimension */
    if (!t)
        return fail_memory(w->p);
    return rule_take(w, c, row, p) ? t : w->p->bottom;
}

const struct type *rule_CREATE(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *elem = scalar(w, TY_FLOAT64);
    struct params p;
    int ndim;

    if (!rule_params(w, c, "shape dtype", 1, &p) || (ndim = shape_ndim(w, c, &p.at[0])) < 0)
        return w->p->bottom;
    if (p.at[1].type && !(elem = element_type(w, c, &p.at[1])))
        return w->p->bottom;
    return new_array(w, c, row, &p, elem, (unsigned)ndim, 'C');
}

const struct type *rule_FULL(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *elem;
    struct params p;
    int ndim;

    if (!rule_params(w, c, "shape fill_value dtype", 2, &p) || (ndim = shape_ndim(w, c, &p.at[0])) < 0 ||
        (!type_is_time(p.at[1].type) && !rule_number(w, c, &p.at[1])))
        return w->p->bottom;
    elem = strong(w->p, p.at[1].type);
    if (p.at[2].type && p.at[2].type->kind == TY_NONE)
        p.at[2].type = NULL;
    if (p.at[2].type && !(elem = element_type(w, c, &p.at[2])))
        return w->p->bottom;
    if (!assignable(w->p, p.at[1].type, elem))
        return rule_wrong(w, c, &p.at[1], "a value of the dtype");
    p.at[1].type = elem;
    return new_array(w, c, row, &p, elem, (unsigned)ndim, 'C');
}

const struct type *rule_LIKE(struct walk *w, struct call *c, const struct library_row *row)
{
    bool full = row->id == LIB_N_FULL_LIKE;
    const struct type *elem;
    struct params p;
    unsigned dtype = full ? 2 : 1;

    if (!rule_params(w, c, full ? "a fill_value dtype" : "prototype dtype", full ? 2 : 1, &p))
        return w->p->bottom;
    if (p.at[0].type->kind != TY_ARRAY)
        return rule_wrong(w, c, &p.at[0], "an array");
    elem = p.at[0].type->elem;
    if (p.at[dtype].type && p.at[dtype].type->kind == TY_NONE)
        p.at[dtype].type = NULL;
    if (p.at[dtype].type && !(elem = element_type(w, c, &p.at[dtype])))
        return w->p->bottom;
    if (full) {
        if (!type_is_time(p.at[1].type) && !rule_number(w, c, &p.at[1]))
            return w->p->bottom;
        if (!assignable(w->p, p.at[1].type, elem))
            return rule_wrong(w, c, &p.at[1], "a value of the dtype");
        p.at[1].type = elem;
    }
    return new_array(w, c, row, &p, elem, p.at[0].type->ndim, p.at[0].type->layout == 'F' ? 'F' : 'C');
}

static const struct type *ints(struct walk *w, unsigned n)
{
    const struct type *items[TYPE_MAX_NDIM], *t;

    for (unsigned i = 0; i < n; i++)
        items[i] = numba(w) ? scalar(w, TY_INT64) : w->p->pyint;
    t = type_tuple(w->p->types, items, n, 0);
    return t ? t : fail_memory(w->p);
}

static const struct type *attr_take(struct walk *w, struct call *c, const struct library_row *row,
                                    const struct type *t)
{
    struct params p = { .n = 1 };

    p.at[0] = c->args[0];
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

/* A number that the type tells; the array's expression is evaluated only where that has an effect. */
static const struct type *known_attr(struct walk *w, struct call *c, const struct library_row *row,
                                     int64_t value)
{
    if (is_pure(w, c->args[0].node))
        return know_int(w, c->f, value);
    return attr_take(w, c, row, numba(w) ? scalar(w, TY_INT64) : w->p->pyint);
}

static const struct type *array_part(struct walk *w, struct call *c, const struct library_row *row,
                                     const struct type *a)
{
    const struct type *t;

    if (!type_is_complex(a->elem)) {
        if (row->id == LIB_A_IMAG || row->id == LIB_N_IMAG)
            return mistake(w, c->node, "np.zeros_like makes one",
                           "the imaginary part of a real array is not compiled by this version");
        return attr_take(w, c, row, a);
    }
    t = type_array(w->p->types, part_type(w->p, a->elem), a->ndim, 'A', a->readonly, a->unaligned);
    return t ? attr_take(w, c, row, t) : fail_memory(w->p);
}

const struct type *rule_ATTR(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *a = c->args[0].type, *t, *elem;
    const struct type *pyint = numba(w) ? scalar(w, TY_INT64) : w->p->pyint;

    if (type_is_number(a)) {
        if (row->id == LIB_A_REAL || row->id == LIB_A_IMAG)
            return attr_take(w, c, row, part_type(w->p, a->kind == TY_BOOL ? pyint : a));
        if (row->id == LIB_A_DTYPE && !type_is_weak(a)) {
            t = type_of(w->p->types, TY_TYPEVALUE, a);
            return t ? t : fail_memory(w->p);
        }
        return mistake(w, c->node, NULL, "%s has no attribute '%s'", show(w, a), row->name + 1);
    }
    switch (row->id) {
    case LIB_A_SHAPE:
    case LIB_A_STRIDES:
        return attr_take(w, c, row, ints(w, a->ndim));
    case LIB_A_NDIM:
        return known_attr(w, c, row, a->ndim);
    case LIB_A_ITEMSIZE:
        return known_attr(w, c, row, type_element_layout(a->elem).size);
    case LIB_A_SIZE:
    case LIB_A_NBYTES:
        return attr_take(w, c, row, pyint);
    case LIB_A_DTYPE:
        t = type_of(w->p->types, TY_TYPEVALUE, a->elem);
        return t ? t : fail_memory(w->p);
    case LIB_A_T:
        t = type_array(w->p->types, a->elem, a->ndim,
                       a->ndim < 2        ? a->layout
                       : a->layout == 'C' ? 'F'
                       : a->layout == 'F' ? 'C'
                                          : 'A',
                       a->readonly, a->unaligned);
        return t ? attr_take(w, c, row, t) : fail_memory(w->p);
    case LIB_A_REAL:
    case LIB_A_IMAG:
    case LIB_N_REAL:
    case LIB_N_IMAG:
        return array_part(w, c, row, a);
    default:
        elem = a->elem;
        return mistake(w, c->node, NULL, "arrays of %s have no attribute '%s'", show(w, elem), row->name + 1);
    }
}

/* Which entries of an index take elements one by one, which keep an axis. */
const struct type *rule_INDEX_AXIS(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *index = c->n_args == 2 ? c->args[1].type : w->p->none, *a = c->args[0].type;
    uint32_t arrays = 0, ints = 0, kept = 0, before = 0, news = 0, first = UINT32_MAX, last = 0;
    int64_t apart = 0;
    bool ellipsis = false;

    (void)row;
    if (index->kind != TY_TUPLE || a->kind != TY_ARRAY)
        return mistake(w, c->node, NULL, "an index of several entries is needed");
    for (uint32_t i = 0; i < index->n_items; i++) {
        const struct type *t = number_of(w, index->items[i]);
        bool array = t->kind == TY_ARRAY || t->kind == TY_LIST, integer = type_is_integer(t);
        if (array || integer) {
            first = first == UINT32_MAX ? i : first;
            last = i;
            ints += integer;
            arrays += array;
            before = array ? kept : before;
        } else if (t->kind == TY_SLICE || t->kind == TY_NONE) {
            kept++;
            news += t->kind == TY_NONE;
        } else if (t->kind == TY_ELLIPSIS) {
            kept++;
            ellipsis |= !arrays;
            news += 1000;
        } else {
            return mistake(w, c->node, NULL, "an array is indexed by integers, slices and arrays, not by %s",
                           show(w, t));
        }
    }
    if (!kept)
        return know_int(w, c->f, -1);
    if (arrays > 1)
        return mistake(w, c->node, "index step by step",
                       "several index arrays among slices are not compiled by this version");
    for (uint32_t i = first; i <= last; i++)
        if (index->items[i]->kind == TY_SLICE || index->items[i]->kind == TY_NONE ||
            index->items[i]->kind == TY_ELLIPSIS)
            apart = 100;
    if (ellipsis) { /* from the end: all that comes after the array has been counted */
        uint32_t after = kept - before;
        return know_int(w, c->f, (int64_t)a->ndim - ints + news % 1000 - 1 - after + apart);
    }
    return know_int(w, c->f, before + apart);
}

const struct type *rule_COPY(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "array", 1, &p))
        return w->p->bottom;
    if (p.at[0].type->kind != TY_ARRAY)
        return rule_wrong(w, c, &p.at[0], "an array");
    return new_array(w, c, row, &p, p.at[0].type->elem, p.at[0].type->ndim, 'C');
}

const struct type *rule_FILL(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "array value", 2, &p))
        return w->p->bottom;
    if (p.at[0].type->kind != TY_ARRAY)
        return rule_wrong(w, c, &p.at[0], "an array");
    if (p.at[0].type->readonly)
        return mistake(w, c->node, "copy it first: a = a.copy()", "the array is read-only");
    bool records = p.at[0].type->elem->kind == TY_RECORD;
    if (!records && !type_is_time(p.at[1].type) && !rule_number(w, c, &p.at[1]))
        return w->p->bottom;
    if (!assignable(w->p, p.at[1].type, p.at[0].type->elem))
        return rule_wrong(w, c, &p.at[1], "a value of the array's type");
    if (!records)
        p.at[1].type = p.at[0].type->elem;
    return rule_take(w, c, row, &p) ? w->p->none : w->p->bottom;
}
