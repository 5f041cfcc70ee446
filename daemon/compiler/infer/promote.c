/* SPDX-License-Identifier: Apache-2.0
 * promote.c - the one promotion table, two columns: Python (NumPy 2 with weak Python scalars) and Numba.
 * docs/semantics.md prints it. */
#include <string.h>

#include "daemon/compiler/infer/pass.h"

static const struct type *of(struct pass *p, enum type_kind kind)
{
    const struct type *t = type_scalar(p->types, kind);

    return t ? t : fail_memory(p);
}

static enum type_kind signed_of(unsigned bits)
{
    return bits <= 8 ? TY_INT8 : bits <= 16 ? TY_INT16 : bits <= 32 ? TY_INT32 : TY_INT64;
}

static enum type_kind float_of(unsigned bits)
{
    return bits <= 16 ? TY_FLOAT16 : bits <= 32 ? TY_FLOAT32 : TY_FLOAT64;
}

/* Bits of the smallest float that NumPy lets stand for an integer or float type. */
static unsigned float_bits(const struct type *t)
{
    switch (type_class(t)) {
    case TC_B:
        return 16;
    case TC_I:
    case TC_U:
        return type_bits(t) <= 8 ? 16 : type_bits(t) <= 16 ? 32 : 64;
    case TC_C:
        return type_bits(t) / 2;
    default:
        return type_bits(t);
    }
}

static unsigned most(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* NumPy's promotion of two dtypes: np.promote_types. */
static const struct type *numpy(struct pass *p, const struct type *a, const struct type *b)
{
    enum type_class ca = type_class(a), cb = type_class(b);
    unsigned bits;

    if (a == b)
        return a;
    if (ca == TC_B)
        return b;
    if (cb == TC_B)
        return a;
    if (ca == TC_C || cb == TC_C)
        return of(p, most(float_bits(a), float_bits(b)) <= 32 ? TY_COMPLEX64 : TY_COMPLEX128);
    if (ca == TC_F || cb == TC_F)
        return of(p, float_of(most(float_bits(a), float_bits(b))));
    if (ca == cb)
        return type_bits(a) > type_bits(b) ? a : b;
    /* signed with unsigned: a signed type that holds both, or float64 when there is none */
    bits = ca == TC_I ? most(type_bits(a), 2 * type_bits(b)) : most(type_bits(b), 2 * type_bits(a));
    return bits > 64 ? of(p, TY_FLOAT64) : of(p, signed_of(bits));
}

const struct type *promote_elements(struct pass *p, const struct type *a, const struct type *b)
{
    return numpy(p, a, b);
}

/* The step of a weak scalar: 0 int, 1 float, 2 complex. */
static int weak_step(const struct type *t)
{
    return t->kind == TY_PYINT ? 0 : t->kind == TY_PYFLOAT ? 1 : 2;
}

static int kind_step(const struct type *t)
{
    switch (type_class(t)) {
    case TC_F:
        return 1;
    case TC_C:
        return 2;
    default:
        return 0;
    }
}

/* A Python scalar beside a NumPy type: the type stays unless the scalar is of a higher kind. */
static const struct type *with_weak(struct pass *p, const struct type *weak, const struct type *t)
{
    if (type_class(t) == TC_B)
        return weak;
    if (weak_step(weak) <= kind_step(t))
        return t;
    if (weak_step(weak) == 1)
        return of(p, TY_FLOAT64);
    return of(p, float_bits(t) <= 32 && type_class(t) == TC_F ? TY_COMPLEX64 : TY_COMPLEX128);
}

/* Numba's scalar operators: integers are computed in 64 bits, signed if either is. */
static const struct type *numba_promote(struct pass *p, const struct type *a, const struct type *b)
{
    enum type_class ca = type_class(a), cb = type_class(b);
    bool ints = ca != TC_F && ca != TC_C && cb != TC_F && cb != TC_C;

    if (ints)
        return of(p, ca == TC_U && cb == TC_U ? TY_UINT64 : TY_INT64);
    if (ca == TC_B)
        a = of(p, TY_INT8);
    if (cb == TC_B)
        b = of(p, TY_INT8);
    if (a->kind == TY_UINT16) /* Numba's graph of conversions has no edge from uint16 to float32 */
        a = of(p, TY_UINT32);
    if (b->kind == TY_UINT16)
        b = of(p, TY_UINT32);
    return numpy(p, a, b);
}

const struct type *promote(struct pass *p, const struct type *a, const struct type *b)
{
    if (!type_is_number(a) || !type_is_number(b))
        return NULL;
    if (p->options.numba)
        return numba_promote(p, strong(p, a), strong(p, b));
    if (type_class(a) == TC_B && type_class(b) == TC_B)
        return p->pyint;
    if (type_is_weak(a) && type_is_weak(b))
        return weak_step(a) > weak_step(b) ? a : b;
    if (type_is_weak(a))
        return with_weak(p, a, b);
    if (type_is_weak(b))
        return with_weak(p, b, a);
    return numpy(p, a, b);
}

const struct type *strong(struct pass *p, const struct type *t)
{
    switch (t->kind) {
    case TY_PYINT:
        return of(p, TY_INT64);
    case TY_PYFLOAT:
        return of(p, TY_FLOAT64);
    case TY_PYCOMPLEX:
        return of(p, TY_COMPLEX128);
    default:
        return t;
    }
}

const struct type *part_type(struct pass *p, const struct type *t)
{
    switch (t->kind) {
    case TY_PYCOMPLEX:
        return p->pyfloat;
    case TY_COMPLEX64:
        return of(p, TY_FLOAT32);
    case TY_COMPLEX128:
        return of(p, TY_FLOAT64);
    default:
        return t;
    }
}

/* ---- joins ---- */

static const struct type *join_numbers(struct pass *p, const struct type *a, const struct type *b)
{
    if (p->options.numba)
        return numpy(p, strong(p, a), strong(p, b));
    if (type_class(a) == TC_B && type_is_weak(b))
        return b;
    if (type_class(b) == TC_B && type_is_weak(a))
        return a;
    if (type_is_weak(a) || type_is_weak(b))
        return promote(p, a, b);
    if ((a->kind == TY_INT64 && b->kind == TY_UINT64) || (a->kind == TY_UINT64 && b->kind == TY_INT64))
        return NULL; /* no integer holds both, and a silent float64 loses digits */
    return numpy(p, a, b);
}

static const struct type *join_tuples(struct pass *p, const struct type *a, const struct type *b)
{
    const struct type **items;
    const struct type *t;

    if (a->n_items != b->n_items)
        return NULL;
    items = arena_new_array(p->a, a->n_items + 1, const struct type *);
    if (!items)
        return fail_memory(p);
    for (uint32_t i = 0; i < a->n_items; i++) {
        items[i] = join_types(p, a->items[i], b->items[i]);
        if (!items[i] || items[i]->kind == TY_CONFLICT)
            return NULL;
    }
    t = type_tuple(p->types, items, a->n_items, a->index == b->index ? a->index : 0);
    return t ? t : fail_memory(p);
}

static const struct type *join_arrays(struct pass *p, const struct type *a, const struct type *b)
{
    const struct type *t;

    if (a->elem != b->elem || a->ndim != b->ndim)
        return NULL;
    t = type_array(p->types, a->elem, a->ndim, a->layout == b->layout ? a->layout : 'A',
                   a->readonly || b->readonly, a->unaligned || b->unaligned);
    return t ? t : fail_memory(p);
}

static const struct type *optional(struct pass *p, const struct type *t)
{
    const struct type *o;

    if (t->kind == TY_OPTIONAL || t->kind == TY_NONE)
        return t;
    if (type_class(t) == TC_V)
        return NULL;
    o = type_of(p->types, TY_OPTIONAL, t);
    return o ? o : fail_memory(p);
}

const struct type *join_types(struct pass *p, const struct type *a, const struct type *b)
{
    const struct type *inner;

    if (a == b || is_bottom(b))
        return a;
    if (is_bottom(a))
        return b;
    if (a->kind == TY_NONE)
        return optional(p, b);
    if (b->kind == TY_NONE)
        return optional(p, a);
    if (a->kind == TY_OPTIONAL || b->kind == TY_OPTIONAL) {
        inner = join_types(p, a->kind == TY_OPTIONAL ? a->elem : a, b->kind == TY_OPTIONAL ? b->elem : b);
        return inner ? optional(p, inner) : NULL;
    }
    if (a->kind == TY_RECORD && b->kind == TY_RECORD)
        return record_join(p, a, b);
    if (a->kind == TY_INTENUM && (type_is_number(b) || b->kind == TY_INTENUM))
        return join_types(p, p->pyint, b);
    if (b->kind == TY_INTENUM && type_is_number(a))
        return join_types(p, a, p->pyint);
    if (type_is_number(a) && type_is_number(b))
        return join_numbers(p, a, b);
    if (a->kind == TY_TUPLE && b->kind == TY_TUPLE)
        return join_tuples(p, a, b);
    if (a->kind == TY_ARRAY && b->kind == TY_ARRAY)
        return join_arrays(p, a, b);
    if (is_container(a) && is_container(b))
        return container_join(p, a, b);
    if (a->kind == TY_RANGE && b->kind == TY_RANGE) {
        inner = join_types(p, a->elem, b->elem);
        return inner ? type_of(p->types, TY_RANGE, inner) : NULL;
    }
    return NULL;
}

bool assignable(struct pass *p, const struct type *from, const struct type *to)
{
    if (from == to || is_bottom(from))
        return true;
    if (from->kind == TY_INTENUM)
        from = p->pyint;
    if (to->kind == TY_RECORD)
        return record_assignable(p, from, to);
    if (type_is_number(from) && type_is_number(to))
        return !type_is_complex(from) || type_is_complex(to);
    if (to->kind == TY_OPTIONAL)
        return from->kind == TY_NONE ||
               assignable(p, from->kind == TY_OPTIONAL ? from->elem : from, to->elem);
    if (from->kind == TY_OPTIONAL)
        return assignable(p, from->elem, to);
    if (from->kind == TY_TUPLE && to->kind == TY_TUPLE && from->n_items == to->n_items) {
        for (uint32_t i = 0; i < from->n_items; i++)
            if (!assignable(p, from->items[i], to->items[i]))
                return false;
        return true;
    }
    if (from->kind == TY_ARRAY && to->kind == TY_ARRAY)
        return from->elem == to->elem && from->ndim == to->ndim &&
               (to->layout == 'A' || to->layout == from->layout) && (to->readonly || !from->readonly);
    return false;
}
