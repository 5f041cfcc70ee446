/* SPDX-License-Identifier: Apache-2.0
 * container.c - lists, dicts and sets whose items' type is found as they are filled.
 *
 * `[]` says nothing of its items. Each place that makes a container (a display, a comprehension, a call) owns
 * a *cell*: the join of all that was ever put into what it made. While a function is being typed the
 * container's type names its cell, so that `append` finds it; a cell that widens makes the function be walked
 * again. The last walk sees final cells and plain types, and lowering never hears of any of this. */
#include "daemon/compiler/infer/pass.h"

#include "daemon/compiler/infer/box.h"

struct cell {
    struct place at;
    uint32_t number;
    bool typed;
    const struct type *a, *b; /* items or keys; values of a dict. NULL: nothing yet */
    struct cell *next;
};

static struct cell *cell_at(struct walk *w, uint32_t node)
{
    struct cell *c;

    for (c = w->w->cells; c; c = c->next)
        if (c->at.context == w->context && c->at.node == node)
            return c;
    c = arena_new(w->p->a, struct cell);
    if (!c) {
        fail_memory(w->p);
        return NULL;
    }
    c->at = (struct place){ w->context, node };
    c->number = w->w->cells ? w->w->cells->number + 1 : 1;
    c->next = w->w->cells;
    w->w->cells = c;
    return c;
}

static struct cell *cell_of(struct walk *w, const struct type *t)
{
    struct cell *c = w->w->cells;

    while (c && c->number != t->index)
        c = c->next;
    return c;
}

static const struct type *container_of(struct walk *w, enum type_kind kind, const struct type *a,
                                       const struct type *b, bool typed, uint32_t place)
{
    const struct type *t = type_container(w->p->types, kind, a, b, typed, place);

    return t ? t : fail_memory(w->p);
}

static bool holdable(const struct type *t)
{
    return type_class(t) != TC_V && t->kind != TY_POINTER;
}

/* What a typed container makes of a type: no weak numbers, so that Python and compiled code agree on one
 * type. */
static const struct type *strong_parts(struct walk *w, const struct type *t)
{
    const struct type **items, *made;

    if (t->kind != TY_TUPLE)
        return strong(w->p, t);
    items = arena_new_array(w->p->a, t->n_items + 1, const struct type *);
    if (!items)
        return fail_memory(w->p);
    for (uint32_t i = 0; i < t->n_items; i++)
        items[i] = strong_parts(w, t->items[i]);
    made = type_tuple(w->p->types, items, t->n_items, t->index);
    return made ? made : fail_memory(w->p);
}

/* Widen *have by t. False: there is no type for both, *have stays. */
static bool widen(struct walk *w, const struct type **have, const struct type *t)
{
    const struct type *joined = t;

    if (!t || is_bottom(t))
        return true;
    if (*have)
        joined = join_types(w->p, *have, t);
    if (!joined || joined->kind == TY_CONFLICT)
        return false;
    if (joined != *have) {
        *have = joined;
        w->p->changed = true;
    }
    return true;
}

static const struct type *cell_type(struct walk *w, enum type_kind kind, const struct cell *c)
{
    const struct type *a = c->a ? c->a : w->p->bottom, *b = c->b ? c->b : w->p->bottom;

    return container_of(w, kind, a, b, c->typed, w->emit ? 0 : c->number);
}

static const char *kind_name(enum type_kind kind)
{
    return kind == TY_LIST ? "list" : kind == TY_SET ? "set" : "dict";
}

const struct type *container_new(struct walk *w, uint32_t node, enum type_kind kind, const struct type *a,
                                 const struct type *b)
{
    const struct type *parts[2] = { a ? settled(w, a) : NULL, b ? settled(w, b) : NULL };
    struct cell *c = cell_at(w, node);

    if (!c)
        return w->p->bottom;
    for (int i = 0; i < 2; i++) {
        const struct type **have = i ? &c->b : &c->a;
        if (c->typed && parts[i])
            parts[i] = strong_parts(w, parts[i]);
        if (parts[i] && !is_bottom(parts[i]) && !holdable(parts[i]))
            return mistake(w, node, NULL, "a %s can't hold %s", kind_name(kind), show(w, parts[i]));
        if (!widen(w, have, parts[i]))
            return mistake(w, node, "the items of a container have one type: use a tuple, or convert them",
                           "this %s would hold both %s and %s", kind_name(kind), show(w, *have),
                           show(w, parts[i]));
    }
    return cell_type(w, kind, c);
}

const struct type *container_typed(struct walk *w, uint32_t node, enum type_kind kind, const struct type *a,
                                   const struct type *b)
{
    struct cell *c = cell_at(w, node);

    if (c)
        c->typed = true;
    return container_new(w, node, kind, a, b);
}

const struct type *settled(struct walk *w, const struct type *t)
{
    const struct type **items;

    switch (t->kind) {
    case TY_LIST:
    case TY_SET:
        if (is_bottom(t->elem))
            return w->p->bottom;
        return t->index ? container_of(w, t->kind, t->elem, NULL, t->readonly, 0) : t;
    case TY_DICT:
        if (is_bottom(t->items[0]) || is_bottom(t->items[1]))
            return w->p->bottom;
        return t->index ? container_of(w, t->kind, t->items[0], t->items[1], t->readonly, 0) : t;
    case TY_OPTIONAL: {
        const struct type *inner = settled(w, t->elem);
        if (inner == t->elem || is_bottom(inner))
            return is_bottom(inner) ? inner : t;
        t = type_of(w->p->types, TY_OPTIONAL, inner);
        return t ? t : fail_memory(w->p);
    }
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->n_items; i++) {
            if (settled(w, t->items[i]) == t->items[i])
                continue;
            items = arena_new_array(w->p->a, t->n_items, const struct type *);
            if (!items)
                return fail_memory(w->p);
            for (uint32_t k = 0; k < t->n_items; k++)
                if (is_bottom(items[k] = settled(w, t->items[k])))
                    return w->p->bottom;
            t = type_tuple(w->p->types, items, t->n_items, t->index);
            return t ? t : fail_memory(w->p);
        }
        return t;
    default:
        return t;
    }
}

/* Put a (and b) into a container of type t: what t is afterwards. */
const struct type *container_grow(struct walk *w, uint32_t node, const struct type *t, const struct type *a,
                                  const struct type *b)
{
    struct cell *c = t->index ? cell_of(w, t) : NULL;
    const struct type *parts[2] = { a ? settled(w, a) : NULL, b ? settled(w, b) : NULL };

    for (int i = 0; i < 2; i++) {
        const struct type *now = t->kind == TY_DICT ? t->items[i] : i ? NULL : t->elem, **have;
        if (!parts[i] || is_bottom(parts[i]) || !now)
            continue;
        if (t->readonly)
            parts[i] = strong_parts(w, parts[i]);
        if (!holdable(parts[i]))
            return mistake(w, node, NULL, "a %s can't hold %s", kind_name(t->kind), show(w, parts[i]));
        if (!c) {
            if (parts[i] == now || (numba(w) && !t->readonly && assignable(w->p, parts[i], now)) ||
                join_types(w->p, now, parts[i]) == now)
                continue;
            return mistake(w, node, "convert it, or make the container with the wider type",
                           "%s can't be put into a %s of %s", show(w, parts[i]), kind_name(t->kind),
                           show(w, now));
        }
        have = i ? &c->b : &c->a;
        if (!widen(w, have, parts[i]))
            return mistake(w, node, "the items of a container have one type: use a tuple, or convert them",
                           "this %s would hold both %s and %s", kind_name(t->kind), show(w, *have),
                           show(w, parts[i]));
    }
    return c ? cell_type(w, t->kind, c) : t;
}

/* Two containers meet: NULL if they can't be one. */
const struct type *container_join(struct pass *p, const struct type *a, const struct type *b)
{
    const struct type *parts[2] = { NULL, NULL };

    if (a->kind != b->kind || a->readonly != b->readonly)
        return NULL;
    for (int i = 0; i < (a->kind == TY_DICT ? 2 : 1); i++) {
        const struct type *x = a->kind == TY_DICT ? a->items[i] : a->elem,
                          *y = b->kind == TY_DICT ? b->items[i] : b->elem;
        bool same_place = a->index && a->index == b->index; /* seen before and after it was widened */
        if (x != y && !is_bottom(x) && !is_bottom(y) && !same_place)
            return NULL; /* one memory, two layouts */
        parts[i] = is_bottom(x) ? y : is_bottom(y) || x == y ? x : join_types(p, x, y);
        if (!parts[i])
            return NULL;
    }
    return type_container(p->types, a->kind, parts[0], parts[1], a->readonly,
                          a->index == b->index ? a->index : 0);
}

/* Cells that nothing was ever put into: `return []`. Integers then; true if there was one. */
bool container_default(struct pass *p, struct work *w)
{
    bool any = false;

    for (struct cell *c = w->cells; c; c = c->next) {
        any |= !c->a;
        c->a = c->a ? c->a : p->options.numba ? strong(p, p->pyint) : p->pyint;
        c->b = c->b ? c->b : c->a;
    }
    return any;
}

/* ---- what dicts and sets are made of ---- */

static const char *const dict_fields[] = { "_table", "_hashes", "_keys", "_values", "_used" };
static const char *const set_fields[] = { "_table", "_hashes", "_keys", "_used" };

const struct type *box_fields(struct type_table *types, const struct type *t)
{
    const struct type *i64 = type_scalar(types, TY_INT64),
                      *numbers = type_container(types, TY_LIST, i64, NULL, false, 0);
    const struct type *items[5] = { numbers, numbers };
    uint32_t n = 2;

    if (!numbers || (t->kind != TY_DICT && t->kind != TY_SET))
        return NULL;
    items[n++] = type_container(types, TY_LIST, t->kind == TY_DICT ? t->items[0] : t->elem, NULL, false, 0);
    if (t->kind == TY_DICT)
        items[n++] = type_container(types, TY_LIST, t->items[1], NULL, false, 0);
    items[n++] = i64;
    for (uint32_t i = 0; i < n; i++)
        if (!items[i])
            return NULL;
    return type_tuple(types, items, n, 0);
}

int box_field(const struct type *t, const char *name, size_t len)
{
    const char *const *names = t->kind == TY_DICT ? dict_fields : set_fields;
    int n = t->kind == TY_DICT ? 5 : t->kind == TY_SET ? 4 : 0;

    for (int i = 0; i < n; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return i;
    return -1;
}
