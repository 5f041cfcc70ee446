/* SPDX-License-Identifier: Apache-2.0
 * index.c - subscripts: array elements and views, tuple items; and what iteration yields. */
#include "daemon/compiler/infer/pass.h"

/* What one entry of an index does. */
enum index_kind { INDEX_INT, INDEX_SLICE, INDEX_FULL /* `:` */, INDEX_ELLIPSIS, INDEX_NEW };

const struct type *slice(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    const struct type *items[3], *t;

    for (unsigned i = 0; i < 3; i++) {
        uint32_t part = kir_opt(n, i);
        items[i] = part == KIR_NIL ? w->p->none : number_of(w, expr(w, part));
        if (is_bottom(items[i]))
            return items[i];
        if (items[i]->kind == TY_OPTIONAL && type_is_integer(items[i]->elem))
            continue;
        if (items[i]->kind != TY_NONE && !type_is_integer(items[i]) && items[i]->kind != TY_BOOL)
            return mistake(w, part, NULL, "a slice is made of integers, not %s", show(w, items[i]));
    }
    t = type_named(w->p->types, TY_SLICE, "slice", NULL, items, 3);
    return t ? t : fail_memory(w->p);
}

static bool classify(struct walk *w, uint32_t node, const struct type *t, enum index_kind *ret)
{
    t = number_of(w, t);
    if (type_is_integer(t) || (t->kind == TY_OPTIONAL && type_is_integer(t->elem)))
        *ret = INDEX_INT;
    else if (t->kind == TY_SLICE)
        *ret = t->items[0]->kind == TY_NONE && t->items[1]->kind == TY_NONE && t->items[2]->kind == TY_NONE
                   ? INDEX_FULL
                   : INDEX_SLICE;
    else if (t->kind == TY_ELLIPSIS)
        *ret = INDEX_ELLIPSIS;
    else if (t->kind == TY_NONE)
        *ret = INDEX_NEW;
    else {
        const char *hint = type_is_float(t) ? "convert it with int(...)" : NULL;
        if (t->kind == TY_ARRAY)
            mistake(w, node, "write a loop over its elements",
                    "indexing by an array is not compiled by this version");
        else
            mistake(w, node, hint, "an array is indexed by integers and slices, not by %s", show(w, t));
        return false;
    }
    return true;
}

/* Layout of a view of a C-ordered array: integers, then at most one partial slice without a step, then
 * full ones, stays in C order. */
static char view_layout(const struct type *array, const enum index_kind *kinds,
                        const struct type *const *types, uint32_t n)
{
    bool sliced = false;

    if (array->layout != 'C')
        return 'A';
    for (uint32_t i = 0; i < n; i++) {
        switch (kinds[i]) {
        case INDEX_INT:
            if (sliced)
                return 'A';
            break;
        case INDEX_SLICE:
            if (sliced || types[i]->items[2]->kind != TY_NONE)
                return 'A';
            sliced = true;
            break;
        case INDEX_FULL:
        case INDEX_ELLIPSIS:
            sliced = true;
            break;
        case INDEX_NEW:
            return 'A';
        }
    }
    return 'C';
}

static const struct type *array_index(struct walk *w, uint32_t node, const struct type *array,
                                      const uint32_t *nodes, const struct type *const *types, uint32_t n)
{
    enum index_kind kinds[TYPE_MAX_NDIM * 2];
    uint32_t ints = 0, slices = 0, news = 0, ellipses = 0, ndim;
    const struct type *t;

    if (n > TYPE_MAX_NDIM * 2)
        return mistake(w, node, NULL, "an index of %u entries is too long", n);
    for (uint32_t i = 0; i < n; i++) {
        if (is_bottom(types[i]))
            return types[i];
        if (!classify(w, nodes[i], types[i], &kinds[i]))
            return w->p->bottom;
        ints += kinds[i] == INDEX_INT;
        slices += kinds[i] == INDEX_SLICE || kinds[i] == INDEX_FULL;
        news += kinds[i] == INDEX_NEW;
        ellipses += kinds[i] == INDEX_ELLIPSIS;
    }
    if (ellipses > 1)
        return mistake(w, node, NULL, "an index can have only one ellipsis ('...')");
    if (ints + slices > array->ndim)
        return mistake(w, node, NULL, "%u indexes for an array of %u dimension%s", ints + slices, array->ndim,
                       array->ndim == 1 ? "" : "s");
    ndim = array->ndim - ints + news;
    if (ndim == 0 && !ellipses)
        return element_of(w, array);
    if (ndim > TYPE_MAX_NDIM)
        return mistake(w, node, NULL, "the view would have %u dimensions", ndim);
    t = type_array(w->p->types, array->elem, ndim, view_layout(array, kinds, types, n), array->readonly,
                   array->unaligned);
    return t ? t : fail_memory(w->p);
}

static const struct type *tuple_slice(struct walk *w, uint32_t node, const struct type *t, uint32_t index)
{
    const struct kir_node *n = node_at(w, index);
    int64_t part[3] = { 0, t->n_items, 1 }, len = t->n_items, count = 0;
    const struct type **items;
    const struct type *r;

    for (unsigned i = 0; i < 3; i++) {
        uint32_t p = kir_opt(n, i);
        if (p != KIR_NIL && !known_int(w, p, &part[i]))
            return mistake(w, node, "a tuple's length is part of its type",
                           "a tuple is sliced by constants only");
    }
    if (part[2] == 0)
        return mistake(w, node, NULL, "slice step cannot be zero");
    if (kir_opt(n, 0) == KIR_NIL && part[2] < 0)
        part[0] = len - 1;
    else if (part[0] < 0)
        part[0] = part[0] + len < 0 ? (part[2] < 0 ? -1 : 0) : part[0] + len;
    else if (part[0] >= len)
        part[0] = part[2] < 0 ? len - 1 : len;
    if (kir_opt(n, 1) == KIR_NIL)
        part[1] = part[2] < 0 ? -1 : len;
    else if (part[1] < 0)
        part[1] = part[1] + len < 0 ? (part[2] < 0 ? -1 : 0) : part[1] + len;
    else if (part[1] > len)
        part[1] = part[2] < 0 ? len - 1 : len;
    items = arena_new_array(w->p->a, t->n_items + 1, const struct type *);
    if (!items)
        return fail_memory(w->p);
    for (int64_t i = part[0]; part[2] > 0 ? i < part[1] : i > part[1]; i += part[2])
        items[count++] = t->items[i];
    r = type_tuple(w->p->types, items, (uint32_t)count, 0);
    return r ? r : fail_memory(w->p);
}

/* The text that a constant tuple has there is known, too. */
static void know_item(struct walk *w, uint32_t node, uint32_t i)
{
    uint32_t base = kir_arg(node_at(w, node), 0);
    const struct kir_const *k = known(w, base);
    const struct fact *b = fact_for(w, base);
    struct fact *f = fact_for(w, node);

    if (!k || k->kind != KIR_K_TUPLE || i >= k->n_items ||
        (b->has_value && b->value_mod != w->w->in.unit->mod) || !is_pure(w, base) ||
        const_of(w, k->items[i])->kind != KIR_K_STR)
        return;
    f->has_value = true;
    f->value = const_of(w, k->items[i]);
    f->value_mod = w->w->in.unit->mod;
}

static const struct type *tuple_index(struct walk *w, uint32_t node, const struct type *t, uint32_t index,
                                      const struct type *it)
{
    int64_t i;

    if (it->kind == TY_SLICE)
        return tuple_slice(w, node, t, index);
    if (!type_is_integer(number_of(w, it)) && it->kind != TY_BOOL)
        return mistake(w, index, NULL, "a tuple is indexed by integers, not by %s", show(w, it));
    if (known_int(w, index, &i)) {
        if (i < -(int64_t)t->n_items || i >= (int64_t)t->n_items)
            return mistake(w, node, NULL, "index %lld is out of range for a tuple of %u", (long long)i,
                           t->n_items);
        i = i < 0 ? i + t->n_items : i;
        know_item(w, node, (uint32_t)i);
        return t->items[i];
    }
    for (uint32_t k = 1; k < t->n_items; k++)
        if (t->items[k] != t->items[0])
            return mistake(w, node, "use a constant index, or make all items of one type",
                           "the index is known only at run time, but the items have different types: %s",
                           show(w, t));
    w->w->raises = true;
    return t->n_items ? t->items[0] : mistake(w, node, NULL, "the tuple is empty");
}

/* x[i] done by the prelude. As a target: the type that x[i] has where it is read, or what is stored if it
 * can't be; the call itself is made by `store`, which knows the value's type. */
static const struct type *item_by_protocol(struct walk *w, uint32_t node, const struct type *base,
                                           const struct type *it, bool store)
{
    const struct kir_node *n = node_at(w, node);
    const uint32_t nodes[2] = { kir_arg(n, 0), kir_arg(n, 1) };
    const struct type *types[2] = { settled(w, base), settled(w, it) }, *t;

    if (store && protocol_has(w, base, "__setitem__"))
        return w->p->none;
    if (store || !protocol_has(w, base, "__getitem__"))
        return mistake(w, node, NULL, store ? "items of %s can't be assigned" : "%s can't be indexed",
                       show(w, base));
    protocol_call(w, node, fact_for(w, node), base, "__getitem__", nodes, types, 2, &t);
    return t;
}

bool indexes_elements(const struct type *it)
{
    bool some = it->kind == TY_ARRAY || it->kind == TY_LIST;

    for (uint32_t i = 0; it->kind == TY_TUPLE && i < it->n_items; i++)
        some |= it->items[i]->kind == TY_ARRAY || it->items[i]->kind == TY_LIST;
    return some;
}

const struct type *subscript(struct walk *w, uint32_t node, struct fact *f, bool store)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t index = kir_arg(n, 1), count = 1;
    const struct type *base = expr(w, kir_arg(n, 0)), *it = expr(w, index);
    const uint32_t *nodes = &index;
    const struct type *const *types = &it;

    if (is_bottom(base) || is_bottom(it))
        return w->p->bottom;
    if (base->kind == TY_OPTIONAL) { /* None is a TypeError when it comes to that */
        w->w->raises = true;
        base = base->elem;
    }
    if (base->kind == TY_TUPLE) {
        if (store)
            return mistake(w, node, "make a new tuple, or use an array", "a tuple can't be changed");
        return tuple_index(w, node, base, index, it);
    }
    if (base->kind == TY_RANGE && type_is_integer(it) && !store) {
        w->w->raises = true;
        return base->elem;
    }
    if (base->kind == TY_LIST && (type_is_integer(it) || it->kind == TY_BOOL)) {
        w->w->raises = true;
        return base->elem;
    }
    if (is_field_name(base, it))
        return record_subscript(w, node, base, index, store);
    if (is_text(base) && !store)
        return text_subscript_type(w, node, base, index, it);
    if (base->kind == TY_CLASS && !store)
        return class_subscript(w, node, f, base, index);
    if (base->kind != TY_ARRAY)
        return item_by_protocol(w, node, base, it, store);
    if (store && base->readonly)
        return mistake(w, node, "copy it first: a = a.copy()", "the array is read-only");
    if (indexes_elements(it) && w->p->prelude)
        return item_by_protocol(w, node, base, it, store);
    if (it->kind == TY_TUPLE) {
        types = it->items;
        count = it->n_items;
        if (node_at(w, index)->op == KIR_TUPLE) {
            nodes = kir_list(node_at(w, index), 0, &count);
            if (count != it->n_items) { /* a spread inside: no node of its own */
                count = it->n_items;
                nodes = NULL;
            }
        } else {
            nodes = NULL;
        }
    }
    if (!nodes) {
        uint32_t *same = arena_new_array(w->p->a, count + 1, uint32_t);
        if (!same)
            return fail_memory(w->p);
        for (uint32_t i = 0; i < count; i++)
            same[i] = index;
        nodes = same;
    }
    w->w->raises |= w->p->options.checked || (w->p->options.flags & KIR_F_BOUNDSCHECK) ||
                    (w->w->in.fn->flags & KIR_F_BOUNDSCHECK);
    return array_index(w, node, base, nodes, types, count);
}

/* ---- iteration ---- */

static const struct type *iterator_item(struct walk *w, uint32_t node, const struct type *t)
{
    const struct type *items[TYPE_MAX_NDIM * 2];
    uint32_t n = 0;
    const struct type *r;

    if (t->name[0] == 'r' || t->name[0] == 'v') /* reversed, a dict's view */
        return item_type(w, node, t->items[0]);
    if (t->name[0] == 'e') {
        items[n++] = numba(w) ? scalar(w, TY_INT64) : w->p->pyint;
        items[n++] = item_type(w, node, t->items[0]);
    } else {
        for (; n < t->n_items && n < TYPE_MAX_NDIM * 2; n++)
            items[n] = item_type(w, node, t->items[n]);
    }
    for (uint32_t i = 0; i < n; i++)
        if (!items[i] || is_bottom(items[i]))
            return items[i];
    r = type_tuple(w->p->types, items, n, 0);
    return r ? r : fail_memory(w->p);
}

const struct type *item_type(struct walk *w, uint32_t node, const struct type *t)
{
    const struct type *r;

    switch (t->kind) {
    case TY_UNSET:
        return t;
    case TY_RANGE:
        return t->elem;
    case TY_ARRAY:
        if (t->ndim == 0)
            return mistake(w, node, NULL, "iteration over a 0-d array");
        if (t->ndim == 1)
            return element_of(w, t);
        r = type_array(w->p->types, t->elem, t->ndim - 1u, t->layout == 'C' ? 'C' : 'A', t->readonly,
                       t->unaligned);
        return r ? r : fail_memory(w->p);
    case TY_TUPLE:
        for (uint32_t i = 1; i < t->n_items; i++)
            if (t->items[i] != t->items[0])
                return mistake(w, node, "iterate over the tuple alone", "the items have different types: %s",
                               show(w, t));
        return t->n_items ? t->items[0] : w->p->bottom;
    case TY_LIST:
    case TY_SET:
        return t->elem;
    case TY_DICT:
        return t->items[0];
    case TY_STR:
        return t;
    case TY_BYTES:
        return numba(w) ? scalar(w, TY_UINT8) : w->p->pyint;
    case TY_ITER:
        return iterator_item(w, node, t);
    default:
        return mistake(w, node, NULL, "%s can't be iterated", show(w, t));
    }
}
