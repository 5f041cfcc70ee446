/* SPDX-License-Identifier: Apache-2.0
 * rules_list.c - typing rules of lists and of what the prelude builds containers from (intrinsics.py). */
#include "daemon/compiler/infer/box.h"
#include "daemon/compiler/infer/rules.h"

enum result { GIVES_NONE, GIVES_ITEM, GIVES_SAME, GIVES_LIST_OF, GIVES_INT, GIVES_SLICE, GIVES_VIEW };

static const struct {
    enum intrinsic id;
    const char *params;
    enum result result;
    bool raises;
} rows[] = {
    { LIB_L_GET, "list index", GIVES_ITEM, false },
    { LIB_L_TAKE, "list index", GIVES_ITEM, false },
    { LIB_L_SET, "list index value", GIVES_NONE, false },
    { LIB_L_PUT, "list index value", GIVES_NONE, false },
    { LIB_L_PUSH, "list value", GIVES_NONE, true },
    { LIB_L_MOVE, "list to from count", GIVES_NONE, false },
    { LIB_L_RESIZE, "list length", GIVES_NONE, false },
    { LIB_L_RESERVE, "list length", GIVES_NONE, true },
    { LIB_L_LIKE, "list", GIVES_SAME, true },
    { LIB_L_OF, "value", GIVES_LIST_OF, true },
    { LIB_L_SLICE, "slice length", GIVES_SLICE, true },
    { LIB_L_VIEW, "list", GIVES_VIEW, false },
    { LIB_L_BITS, "value", GIVES_INT, false },
};

static const struct type *result_of(struct walk *w, enum result kind, const struct type *first)
{
    const struct type *pyint = w->p->pyint, *t = NULL;

    switch (kind) {
    case GIVES_NONE:
        return w->p->none;
    case GIVES_ITEM:
        return first->elem;
    case GIVES_SAME:
        return first;
    case GIVES_LIST_OF:
        t = type_container(w->p->types, TY_LIST, first, NULL, false, 0);
        break;
    case GIVES_INT:
        return scalar(w, TY_INT64);
    case GIVES_SLICE:
        t = type_tuple(w->p->types, (const struct type *const[]){ pyint, pyint, pyint }, 3, 0);
        break;
    case GIVES_VIEW:
        t = type_named(w->p->types, TY_ITER, "view", NULL, &first, 1);
        break;
    }
    return t ? t : fail_memory(w->p);
}

const struct type *rule_LISTOP(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *i64 = scalar(w, TY_INT64);
    struct params p;
    uint32_t k = 0;

    while (rows[k].id != row->id)
        k++;
    for (uint32_t i = 0; i < c->n_args; i++)
        if (is_bottom(c->args[i].type = settled(w, c->args[i].type)))
            return w->p->bottom;
    if (!rule_params(w, c, rows[k].params, c->n_args, &p))
        return w->p->bottom;
    for (uint32_t i = 1; i < p.n && row->id != LIB_L_SLICE;
         i++) { /* indexes are 64 bits, values have the item's type */
        bool value = i == 2 ? row->id == LIB_L_PUT || row->id == LIB_L_SET : row->id == LIB_L_PUSH;
        if (value && !assignable(w->p, p.at[i].type, p.at[0].type->elem))
            return rule_wrong(w, c, &p.at[i], show(w, p.at[0].type->elem));
        p.at[i].type = value ? p.at[0].type->elem : i64;
    }
    w->w->raises |= rows[k].raises;
    return rule_take(w, c, row, &p) ? result_of(w, rows[k].result, p.at[0].type) : w->p->bottom;
}

const struct type *rule_LAYOUT(struct walk *w, struct call *c, const struct library_row *row)
{
    char layout = c->n_args == 1 && c->args[0].type->kind == TY_ARRAY ? c->args[0].type->layout : 'C';
    struct kir_const *text = arena_new(w->p->a, struct kir_const);

    (void)row;
    if (!text)
        return fail_memory(w->p);
    text->kind = KIR_K_STR;
    text->s.p = layout == 'C' ? "C" : layout == 'F' ? "F" : "A";
    text->s.len = 1;
    c->f->has_value = true;
    c->f->value = text;
    c->f->value_mod = w->w->in.unit->mod;
    return w->p->str;
}

/* The element type of an array that holds the value: what lists and tuples are made of, promoted. NULL: none.
 */
static const struct type *element_in(struct walk *w, const struct type *t)
{
    const struct type *all = NULL, *x;

    if (t->kind == TY_ARRAY || t->kind == TY_LIST || t->kind == TY_SET)
        return element_in(w, t->elem);
    if (t->kind == TY_TUPLE) {
        for (uint32_t i = 0; i < t->n_items; i++) {
            x = element_in(w, t->items[i]);
            if (!x || (all && x != all && (!type_is_number(x) || !type_is_number(all))))
                return NULL;
            all = all ? promote_elements(w->p, all, x) : x;
        }
        return all ? all : scalar(w, TY_FLOAT64);
    }
    return type_is_number(t) || t->kind == TY_RECORD || type_is_time(t) ? strong(w->p, t) : NULL;
}

const struct type *rule_DTYPE_OF(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t;
    struct params p;

    if (!rule_params(w, c, "value", 1, &p))
        return w->p->bottom;
    p.at[0].type = settled(w, p.at[0].type);
    if (is_bottom(p.at[0].type))
        return w->p->bottom;
    t = element_in(w, p.at[0].type);
    if (!t)
        return rule_wrong(w, c, &p.at[0], "numbers");
    t = type_of(w->p->types, TY_TYPEVALUE, t);
    return !t ? fail_memory(w->p) : rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_DEPTH(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t = c->n_args == 1 ? c->args[0].type : w->p->none;
    int64_t depth = 0;

    (void)row;
    for (; t->kind == TY_LIST || (t->kind == TY_TUPLE && t->n_items);
         t = t->kind == TY_LIST ? t->elem : t->items[0])
        depth++;
    return know_int(w, c->f, depth + (t->kind == TY_ARRAY ? t->ndim : t->kind == TY_TUPLE));
}

static bool are_ints(const struct type *t)
{
    bool all = t->kind == TY_TUPLE && t->n_items <= TYPE_MAX_NDIM;

    for (uint32_t i = 0; all && i < t->n_items; i++)
        all = type_is_integer(t->items[i]);
    return all;
}

const struct type *rule_STRIDED(struct walk *w, struct call *c, const struct library_row *row)
{
    bool contiguous = row->id == LIB_CONTIGUOUS;
    const struct type *a, *t;
    struct params p;

    if (!rule_params(w, c, contiguous ? "array offset shape" : "array offset shape strides",
                     contiguous ? 3 : 4, &p))
        return w->p->bottom;
    a = p.at[0].type;
    if (a->kind != TY_ARRAY)
        return rule_wrong(w, c, &p.at[0], "an array");
    for (unsigned i = 2; i < p.n; i++)
        if (!are_ints(p.at[i].type) || p.at[i].type->n_items != p.at[2].type->n_items)
            return rule_wrong(w, c, &p.at[i], "a shape (an integer or a tuple of integers)");
    t = type_array(w->p->types, a->elem, p.at[2].type->n_items, contiguous ? 'C' : 'A',
                   a->readonly || row->id == LIB_STRIDED_R, a->unaligned);
    return !t ? fail_memory(w->p) : rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_STATIC_ERROR(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct kir_const *text =
        c->n_args == 1 && c->args[0].from == ARG_NODE ? known(w, c->args[0].node) : NULL;

    (void)row;
    return mistake(w, c->node, NULL, "%s", text && text->kind == KIR_K_STR ? text->s.p : "wrong types");
}

/* list(), typed.Dict() and so on: empty ones of a type to be found; of something, the prelude makes them. */
static const struct {
    enum intrinsic id;
    enum type_kind kind;
    bool typed;
    const char *maker;
} makers[] = {
    { LIB_LIST, TY_LIST, false, "list.__new__" }, { LIB_SET, TY_SET, false, "set.__new__" },
    { LIB_DICT, TY_DICT, false, "dict.__new__" }, { LIB_TYPED_LIST, TY_LIST, true, "typed.List" },
    { LIB_TYPED_SET, TY_SET, true, "typed.Set" }, { LIB_TYPED_DICT, TY_DICT, true, "typed.Dict" },
    { LIB_EMPTY_LIST, TY_LIST, true, NULL },      { LIB_EMPTY_SET, TY_SET, true, NULL },
    { LIB_EMPTY_DICT, TY_DICT, true, NULL },
};

static uint32_t maker_of(enum intrinsic id)
{
    uint32_t k = 0;

    while (makers[k].id != id)
        k++;
    return k;
}

static const struct type *made(struct walk *w, struct call *c, uint32_t k, const struct type *a,
                               const struct type *b)
{
    w->w->raises = true;
    return makers[k].typed ? container_typed(w, c->node, makers[k].kind, a, b)
                           : container_new(w, c->node, makers[k].kind, a, b);
}

const struct type *rule_CONTAINER(struct walk *w, struct call *c, const struct library_row *row)
{
    uint32_t k = maker_of(row->id);
    struct params p;
    const struct type *t;

    if (c->n_args == 1 && c->args[0].type->kind == TY_TUPLE && c->args[0].type->n_items == 0)
        c->n_args = 0; /* list(()) */
    if (c->n_args || c->n_kw)
        return call_prelude(w, c, makers[k].maker, &t) ? t : w->p->bottom;
    if (!rule_params(w, c, "", 0, &p) || !rule_take(w, c, row, &p))
        return w->p->bottom;
    return made(w, c, k, NULL, NULL);
}

/* List.empty_list(item_type), Dict.empty(key_type, value_type), Set.empty(item_type). */
const struct type *rule_EMPTY(struct walk *w, struct call *c, const struct library_row *row)
{
    uint32_t k = maker_of(row->id), needed = makers[k].kind == TY_DICT ? 2 : 1;
    const struct type *parts[2] = { NULL, NULL };
    struct params p, none = { .n = 0 };

    if (!rule_params(w, c, needed == 2 ? "key_type value_type n_keys" : "item_type allocated", needed, &p))
        return w->p->bottom;
    for (uint32_t i = 0; i < needed; i++) {
        parts[i] = type_meant(w, p.at[i].type);
        if (!parts[i])
            return rule_wrong(w, c, &p.at[i], "types");
        parts[i] = strong(w->p, parts[i]);
    }
    return rule_take(w, c, row, &none) ? made(w, c, k, parts[0], parts[1]) : w->p->bottom;
}

/* What the block takes is passed as one tuple, whose type the host is told; what it gives is one too. */
const struct type *rule_OBJMODE(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct kir_const *text =
        c->n_args > 1 && c->args[1].from == ARG_NODE ? known(w, c->args[1].node) : NULL;
    const struct type *t;
    struct kiln_err e = KILN_ERR_INIT;

    if (!text || text->kind != KIR_K_STR || c->args[0].type->kind != TY_ARRAY)
        return mistake(w, c->node, NULL,
                       "objmode needs the number of a function and the type of its results");
    if (type_parse(w->p->types, text->s.p, text->s.len, &t, &e) < 0)
        return mistake(w, c->node, NULL, "%s", e.msg);
    for (uint32_t i = 2; i < c->n_args; i++) {
        if (is_bottom(c->args[i].type = settled(w, c->args[i].type)))
            return w->p->bottom;
        if (type_class(c->args[i].type) == TC_V)
            return mistake(w, c->args[i].node, "make it inside the block", "%s can't be handed to Python",
                           show(w, c->args[i].type));
    }
    w->w->raises = true;
    c->f->intrinsic = (uint16_t)row->id;
    c->f->args = c->args;
    c->f->n_args = c->n_args;
    return t;
}
