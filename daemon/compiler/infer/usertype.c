/* SPDX-License-Identifier: Apache-2.0
 * usertype.c - classes of the user's: named tuples and enums.
 *
 * Their types name a user type of the user's module by its number (+ 1); the prelude has none. A member of an
 * enum of integers (IntEnum, IntFlag) keeps its class where it is moved, and is its value, an integer of Python,
 * where it is computed with. */
#include <string.h>

#include "daemon/compiler/infer/pass.h"

const struct kir_usertype *usertype_of(const struct pass *p, const struct type *t)
{
    const struct kir_module *mod = p->user->mod;

    return t->index && t->index <= mod->n_usertypes ? &mod->usertypes[t->index - 1] : NULL;
}

bool type_is_valid(const struct pass *p, const struct type *t)
{
    const struct kir_usertype *u;

    if (t->elem && !type_is_valid(p, t->elem))
        return false;
    for (uint32_t i = 0; i < t->n_items; i++)
        if (!type_is_valid(p, t->items[i]))
            return false;
    switch (t->kind) {
    case TY_TUPLE:
        u = usertype_of(p, t);
        return !t->index || (u && u->kind == KIR_UT_NAMEDTUPLE && u->n_fields == t->n_items);
    case TY_ENUM:
        u = usertype_of(p, t);
        return u && u->kind == KIR_UT_ENUM;
    case TY_INTENUM:
        u = usertype_of(p, t);
        return u && u->kind == KIR_UT_INTENUM;
    case TY_OBJECT:
        u = usertype_of(p, t);
        return u && u->kind == KIR_UT_JITCLASS;
    case TY_FUNCTION:
        return !t->prelude && t->index < p->user->mod->n_functions && !p->user->mod->functions[t->index].n_free;
    default:
        return true;
    }
}

const struct type *number_of(struct walk *w, const struct type *t)
{
    const struct type *r;

    if (t->kind == TY_INTENUM)
        return numba(w) ? scalar(w, TY_INT64) : w->p->pyint;
    if (t->kind != TY_OPTIONAL || t->elem->kind != TY_INTENUM)
        return t;
    r = type_of(w->p->types, TY_OPTIONAL, number_of(w, t->elem));
    return r ? r : fail_memory(w->p);
}

const struct type *usertype_const(struct walk *w, const struct kir_module *mod, const struct kir_const *k)
{
    enum type_kind kind = TY_CLASS;
    const struct type *t;

    if (k->kind == KIR_K_ENUM)
        kind = mod->usertypes[k->usertype].kind == KIR_UT_INTENUM ? TY_INTENUM : TY_ENUM;
    t = type_user(w->p->types, kind, k->usertype + 1);
    return t ? t : fail_memory(w->p);
}

const struct kir_const *enum_value(const struct kir_module *mod, const struct kir_const *member)
{
    return &mod->consts[mod->usertypes[member->usertype].field_consts[member->items[0]]];
}

/* ---- calls: Point(1, y=2) ---- */

static const struct type *wrong_fields(struct walk *w, struct call *c, const struct kir_usertype *u,
                                       const char *fmt, const char *name)
{
    struct buf b;
    const char *list;

    buf_init(&b, 1 << 14);
    for (uint32_t i = 0; i < u->n_fields; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", u->field_names[i]);
    list = arena_dup(w->p->a, b.data, b.len);
    buf_done(&b);
    return mistake(w, c->node, arena_printf(w->p->a, "%s has the fields (%s)", u->name, list ? list : "..."), fmt,
                   u->name, name);
}

const struct type *class_call(struct walk *w, struct call *c, const struct type *class)
{
    const struct kir_usertype *u = usertype_of(w->p, class);
    const struct type **types, *t;
    struct arg *args;
    uint32_t i;

    if (c->bottom)
        return w->p->bottom;
    if (u && u->kind == KIR_UT_JITCLASS)
        return object_call(w, c, class);
    if (!u || u->kind != KIR_UT_NAMEDTUPLE)
        return mistake(w, c->node, "name the member: Color.RED", "an enum's class can't be called in compiled code");
    args = arena_new_array(w->p->a, u->n_fields + 1, struct arg);
    types = arena_new_array(w->p->a, u->n_fields + 1, const struct type *);
    if (!args || !types)
        return fail_memory(w->p);
    if (c->n_args > u->n_fields)
        return wrong_fields(w, c, u, "too many arguments for %s%s", "");
    if (c->n_args)
        memcpy(args, c->args, c->n_args * sizeof *args);
    for (uint32_t k = 0; k < c->n_kw; k++) {
        const char *name = const_of(w, c->kw_names[k])->s.p;
        for (i = 0; i < u->n_fields && strcmp(u->field_names[i], name); i++)
            ;
        if (i == u->n_fields)
            return wrong_fields(w, c, u, "%s has no field '%s'", name);
        if (args[i].type)
            return wrong_fields(w, c, u, "%s: field '%s' is given twice", name);
        args[i] = (struct arg){ .from = ARG_NODE, .type = fact_for(w, c->kw_nodes[k])->type, .node = c->kw_nodes[k] };
    }
    for (i = 0; i < u->n_fields; i++) {
        if (!args[i].type)
            return wrong_fields(w, c, u, "%s: field '%s' is missing", u->field_names[i]);
        types[i] = args[i].type;
    }
    c->f->args = args;
    c->f->n_args = u->n_fields;
    t = type_tuple(w->p->types, types, u->n_fields, class->index);
    return t ? t : fail_memory(w->p);
}

/* ---- attributes ---- */

static const struct type *known_const(struct walk *w, struct fact *f, const struct kir_const *k)
{
    f->has_value = true;
    f->value = k;
    f->value_mod = w->p->user->mod;
    return const_type(w, w->p->user->mod, k);
}

static const struct type *value_type(struct walk *w, uint32_t node, const struct kir_usertype *u)
{
    const struct type *t = w->p->bottom, *one;

    for (uint32_t i = 0; i < u->n_fields; i++) {
        one = const_type(w, w->p->user->mod, &w->p->user->mod->consts[u->field_consts[i]]);
        t = one ? join_types(w->p, t, one) : NULL;
        if (!t)
            return mistake(w, node, "compare members instead of their values",
                           "the members of %s have values of different types", u->name);
    }
    return t;
}

const struct type *enum_attr(struct walk *w, uint32_t node, struct fact *f, const struct type *t, const char *name)
{
    const struct kir_usertype *u = usertype_of(w->p, t);
    const struct kir_const *k = known(w, kir_arg(node_at(w, node), 0));
    struct kir_const *text;

    if (k && k->kind != KIR_K_ENUM)
        k = NULL;
    if (strcmp(name, "value") == 0 || strcmp(name, "_value_") == 0)
        return k                          ? known_const(w, f, enum_value(w->p->user->mod, k))
               : t->kind == TY_INTENUM ? number_of(w, t)
                                       : value_type(w, node, u);
    if (strcmp(name, "name") != 0 && strcmp(name, "_name_") != 0)
        return mistake(w, node, "members have a value and a name", "members of %s have no attribute '%s'", u->name,
                       name);
    if (!k)
        return w->p->str;
    text = arena_new(w->p->a, struct kir_const);
    if (!text)
        return fail_memory(w->p);
    *text = (struct kir_const){ .kind = KIR_K_STR };
    text->s.p = u->field_names[k->items[0]];
    text->s.len = (uint32_t)strlen(text->s.p);
    return known_const(w, f, text);
}

/* Color["RED"] */
const struct type *class_subscript(struct walk *w, uint32_t node, struct fact *f, const struct type *class,
                                   uint32_t index)
{
    const struct kir_usertype *u = usertype_of(w->p, class);
    const struct kir_const *name = known(w, index);
    struct kir_const *k;
    uint32_t *member;

    if (!u || !kir_is_enum(u->kind) || !name || name->kind != KIR_K_STR)
        return mistake(w, node, NULL, "a class is indexed only if it is an enum's, by a constant name");
    for (uint32_t i = 0; i < u->n_fields; i++) {
        if (strlen(u->field_names[i]) != name->s.len || memcmp(u->field_names[i], name->s.p, name->s.len))
            continue;
        k = arena_new(w->p->a, struct kir_const);
        member = arena_new(w->p->a, uint32_t);
        if (!k || !member)
            return fail_memory(w->p);
        *member = i;
        *k = (struct kir_const){ .kind = KIR_K_ENUM, .usertype = class->index - 1, .items = member, .n_items = 1 };
        return known_const(w, f, k);
    }
    return mistake(w, node, NULL, "%s has no member '%s'", u->name, name->s.p);
}
