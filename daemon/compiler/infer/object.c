/* SPDX-License-Identifier: Apache-2.0
 * object.c - objects of a user's jitclass: fields, properties, methods, and the operators that its methods
 * with two underscores define. The class's functions belong to the user's module; what the class is, its user
 * type says. */
#include <stdio.h>
#include <string.h>

#include "daemon/compiler/infer/box.h"
#include "daemon/compiler/infer/pass.h"
#include "daemon/compiler/infer/rules.h"

const struct type *object_fields(struct type_table *types, const struct kir_module *mod, const struct type *t)
{
    const struct kir_usertype *u = &mod->usertypes[t->index - 1];
    const struct type *items[KIR_MAX_FIELDS];
    struct kiln_err e = KILN_ERR_INIT;

    for (uint32_t i = 0; i < u->n_fields; i++) {
        const char *text = u->field_types[i];
        if (type_parse(types, text, strlen(text), &items[i], &e) < 0)
            return NULL;
    }
    return type_tuple(types, items, u->n_fields, 0);
}

int object_field(const struct kir_module *mod, const struct type *t, const char *name)
{
    const struct kir_usertype *u = &mod->usertypes[t->index - 1];

    for (uint32_t i = 0; i < u->n_fields; i++)
        if (strcmp(u->field_names[i], name) == 0)
            return (int)i;
    return -1;
}

bool object_unset(const struct type *t)
{
    switch (t->kind) {
    case TY_LIST:
    case TY_DICT:
    case TY_SET:
    case TY_OBJECT:
    case TY_RECORD:
        return true;
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->n_items; i++)
            if (object_unset(t->items[i]))
                return true;
        return false;
    default:
        return false;
    }
}

/* Every field has a type of the module that memory can hold. */
static const struct type *checked_fields(struct walk *w, uint32_t node, const struct type *t)
{
    const struct kir_usertype *u = usertype_of(w->p, t);
    const struct type *fields = object_fields(w->p->types, w->p->user->mod, t);

    for (uint32_t i = 0; fields && i < fields->n_items; i++)
        if (!type_is_valid(w->p, fields->items[i]) || type_class(fields->items[i]) == TC_V ||
            fields->items[i]->kind == TY_POINTER)
            return mistake(w, node, NULL, "field '%s' of %s can't hold %s", u->field_names[i], u->name,
                           show(w, fields->items[i]));
    return fields ? fields : mistake(w, node, NULL, "the fields of %s have no types", u->name);
}

static const struct kir_method *method_of(const struct walk *w, const struct type *t, const char *name,
                                          enum kir_method_kind kind)
{
    const struct kir_usertype *u = usertype_of(w->p, t);

    for (uint32_t i = 0; u && i < u->n_methods; i++)
        if (u->methods[i].kind == kind && strcmp(u->methods[i].name, name) == 0)
            return &u->methods[i];
    return NULL;
}

static const struct type *function_of(struct walk *w, const struct kir_method *m)
{
    const struct type *t = type_function(w->p->types, false, m->function, NULL, 0);

    return t ? t : fail_memory(w->p);
}

static const struct type *call_method(struct walk *w, struct call *c, const struct kir_method *m)
{
    return call_function(w, c, w->p->user, function_of(w, m));
}

static const char *members(struct walk *w, const struct kir_usertype *u)
{
    struct buf b;
    const char *s;

    buf_init(&b, 1 << 12);
    for (uint32_t i = 0; i < u->n_fields; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", u->field_names[i]);
    s = arena_dup(w->p->a, b.data, b.len);
    buf_done(&b);
    return arena_printf(w->p->a, "%s has the fields (%s)", u->name, s ? s : "...");
}

/* ---- making one ---- */

const struct type *object_call(struct walk *w, struct call *c, const struct type *class)
{
    const struct kir_method *m = method_of(w, class, "", KIR_M_NEW);

    return m ? call_method(w, c, m)
             : mistake(w, c->node, NULL, "%s can't be called in compiled code",
                       usertype_of(w->p, class)->name);
}

const struct type *rule_OBJECT(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *class = c->n_args == 1 ? c->args[0].type : NULL, *t;
    const struct kir_usertype *u = class && class->kind == TY_CLASS ? usertype_of(w->p, class) : NULL;

    if (!u || u->kind != KIR_UT_JITCLASS)
        return mistake(w, c->node, NULL, "an object is made by calling its class");
    t = type_user(w->p->types, TY_OBJECT, class->index);
    if (!t)
        return fail_memory(w->p);
    if (is_bottom(checked_fields(w, c->node, t)))
        return w->p->bottom;
    w->w->raises = true; /* memory may end */
    c->f->intrinsic = (uint16_t)row->id;
    c->f->n_args = 0;
    return t;
}

/* ---- attributes ---- */

const struct type *object_attr(struct walk *w, uint32_t node, struct fact *f, const struct type *base,
                               const char *name)
{
    const struct kir_usertype *u = usertype_of(w->p, base);
    int field = object_field(w->p->user->mod, base, name);
    const struct kir_method *m;
    struct call c = { .node = node, .f = f, .name = name, .n_args = 1 };
    const struct type *t;

    if (field >= 0) {
        t = checked_fields(w, node, base);
        if (is_bottom(t))
            return t;
        w->w->raises |= object_unset(t->items[field]);
        return t->items[field];
    }
    if ((m = method_of(w, base, name, KIR_M_GETTER))) {
        c.args = arena_new(w->p->a, struct arg);
        if (!c.args)
            return fail_memory(w->p);
        *c.args = (struct arg){ .from = ARG_NODE, .type = base, .node = kir_arg(node_at(w, node), 0) };
        return call_method(w, &c, m);
    }
    if ((m = method_of(w, base, name, KIR_M_STATIC)))
        return function_of(w, m);
    if (method_of(w, base, name, KIR_M_METHOD)) {
        t = type_named(w->p->types, TY_METHOD, name, base, NULL, 0);
        return t ? t : fail_memory(w->p);
    }
    return mistake(w, node, members(w, u), "%s has no attribute '%s'", u->name, name);
}

const struct type *object_method_call(struct walk *w, struct call *c, const struct type *method)
{
    const struct kir_method *m = method_of(w, method->elem, method->name, KIR_M_METHOD);

    return m && with_receiver(w, c, method->elem) ? call_method(w, c, m) : w->p->bottom;
}

const struct type *object_called(struct walk *w, struct call *c, const struct type *t)
{
    const struct kir_method *m = method_of(w, t, "__call__", KIR_M_METHOD);

    if (!m)
        return mistake(w, c->node, NULL, "objects of %s can't be called: the class has no method __call__",
                       usertype_of(w->p, t)->name);
    return with_receiver(w, c, t) ? call_method(w, c, m) : w->p->bottom;
}

/* A container whose items are not known yet takes those of the field. */
static const struct type *into_field(struct walk *w, uint32_t value, const struct type *t,
                                     const struct type *field)
{
    if (!is_container(t) || t->kind != field->kind || !t->index)
        return t;
    return field->kind == TY_DICT ? container_grow(w, value, t, field->items[0], field->items[1])
                                  : container_grow(w, value, t, field->elem, NULL);
}

void object_store(struct walk *w, uint32_t target, const struct type *base, const char *name,
                  const struct type *t, uint32_t value)
{
    const struct kir_usertype *u = usertype_of(w->p, base);
    int field = object_field(w->p->user->mod, base, name);
    const struct kir_method *m = method_of(w, base, name, KIR_M_SETTER);
    struct fact *f = fact_for(w, target);
    const struct type *fields;

    if (field >= 0) {
        fields = checked_fields(w, target, base);
        if (is_bottom(fields) || is_bottom(t))
            return;
        t = into_field(w, value, t, fields->items[field]);
        if (!is_bottom(settled(w, t)) && !assignable(w->p, settled(w, t), fields->items[field]))
            mistake(w, value, NULL, "%s can't be stored in field '%s' of %s, which holds %s",
                    show(w, settled(w, t)), name, u->name, show(w, fields->items[field]));
        w->w->raises |= t->kind == TY_OPTIONAL;
        fact_for(w, target)->type = fields->items[field];
    } else if (m) {
        struct call c = { .node = target, .f = f, .name = name, .n_args = 2 };
        c.args = arena_new_array(w->p->a, 2, struct arg);
        if (!c.args) {
            fail_memory(w->p);
            return;
        }
        c.args[0] = (struct arg){ .from = ARG_NODE, .type = base, .node = kir_arg(node_at(w, target), 0) };
        c.args[1] = (struct arg){ .from = ARG_NODE, .type = settled(w, t), .node = value };
        if (!is_bottom(c.args[1].type))
            call_method(w, &c, m);
        fact_for(w, target)->type = w->p->none;
    } else {
        mistake(w, target, members(w, u),
                method_of(w, base, name, KIR_M_GETTER) ? "property '%s' of %s has no setter"
                                                       : "'%s' is no field of %s",
                name, u->name);
    }
}

const struct type *object_augmented(struct walk *w, uint32_t target, const struct type *base,
                                    const char *name)
{
    struct fact *f = fact_for(w, target);
    const struct type *t;

    *f = (struct fact){ .type = w->p->bottom };
    t = object_attr(w, target, f, base, name);
    f = fact_for(w, target);
    f->getter = f->callee;
    f->callee = NULL;
    f->type = t;
    return t;
}

/* ---- operators ---- */

/* The method behind a name of protocol.c, and whether the object is the second of two operands in the text.
 */
static const struct kir_method *operator_of(const struct walk *w, const struct type *t, const char *name,
                                            bool *ret_swapped)
{
    static const char *const others[] = { "__repr__", "__reversed__", "__rshift__", "__round__" };

    *ret_swapped = strncmp(name, "__r", 3) == 0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        *ret_swapped &= strcmp(name, others[i]) != 0;
    if (strcmp(name, "__in__") == 0) {
        *ret_swapped = true;
        name = "__contains__";
    }
    return method_of(w, t, name, KIR_M_METHOD);
}

bool object_has(const struct walk *w, const struct type *t, const char *name)
{
    bool swapped;

    return operator_of(w, t, name, &swapped) != NULL;
}

bool object_protocol(struct walk *w, struct call *c, const struct type *self, const char *name,
                     const struct type **ret)
{
    bool swapped;
    const struct kir_method *m = operator_of(w, self, name, &swapped);

    if (!m)
        return false;
    if (swapped && c->n_args == 2) {
        struct arg first = c->args[0];
        c->args[0] = c->args[1];
        c->args[1] = first;
    }
    *ret = call_method(w, c, m);
    return true;
}

/* len(object) and so on: what functions of the library ask their argument for, the first that the class has.
 */
bool object_library(struct walk *w, struct call *c, const char *name, const struct type **ret)
{
    static const struct {
        const char *function, *methods[3];
    } rows[] = {
        { "builtins.len", { "__len__" } },
        { "builtins.abs", { "__abs__" } },
        { "builtins.bool", { "__bool__", "__len__" } },
        { "builtins.int", { "__int__", "__index__" } },
        { "builtins.float", { "__float__", "__index__" } },
        { "builtins.complex", { "__complex__", "__float__", "__index__" } },
        { "builtins.str", { "__str__", "__repr__" } },
        { "builtins.repr", { "__repr__" } },
        { "builtins.round", { "__round__" } },
        { "builtins.reversed", { "__reversed__" } },
        { "builtins.iter", { "__iter__" } },
        { "builtins.next", { "__next__" } },
    };
    const struct kir_method *m = NULL;
    const struct type *t = c->n_args ? c->args[0].type : NULL;
    size_t i = 0;

    while (i < sizeof rows / sizeof rows[0] && strcmp(rows[i].function, name) != 0)
        i++;
    if (!t || t->kind != TY_OBJECT || i == sizeof rows / sizeof rows[0])
        return false;
    for (unsigned k = 0; !m && k < 3 && rows[i].methods[k]; k++)
        m = method_of(w, t, rows[i].methods[k], KIR_M_METHOD);
    if (m) {
        *ret = call_method(w, c, m);
        if (is_bottom(*ret))
            return true;
        *ret = strcmp(name, "builtins.bool") == 0      ? w->p->boolean
               : strcmp(name, "builtins.complex") == 0 ? promote(w->p, *ret, w->p->pycomplex)
               : strcmp(name, "builtins.float") == 0   ? promote(w->p, *ret, w->p->pyfloat)
                                                       : *ret;
    } else if (strcmp(name, "builtins.bool") == 0) {
        *ret = know_bool(w, c->f, true);
    } else {
        *ret =
            mistake(w, c->node, NULL, "%s has no method %s", usertype_of(w->p, t)->name, rows[i].methods[0]);
    }
    return true;
}

/* What decides the truth of an object, in f->tested: __bool__, or __len__. */
void object_truth(struct walk *w, uint32_t node, const struct type *t)
{
    struct fact made = { .type = t };
    struct arg arg = { .from = ARG_NODE, .type = t, .node = node };
    struct call c = { .node = node, .f = &made, .args = &arg, .n_args = 1 };
    const struct kir_method *m = method_of(w, t, "__bool__", KIR_M_METHOD);

    m = m ? m : method_of(w, t, "__len__", KIR_M_METHOD);
    if (!m)
        return;
    call_method(w, &c, m);
    fact_for(w, node)->tested = made.callee;
}

/* What hash(object) starts from: __hash__, or of a class that has no __eq__ either where the object is. */
const struct type *rule_OBJECT_HASH(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t = c->args[0].type;
    const struct kir_method *m = method_of(w, t, "__hash__", KIR_M_METHOD);

    if (m)
        return call_method(w, c, m);
    if (method_of(w, t, "__eq__", KIR_M_METHOD))
        return mistake(w, c->node, "a class with __eq__ needs a __hash__ too",
                       "objects of %s can't be hashed", usertype_of(w->p, t)->name);
    c->f->intrinsic = (uint16_t)row->id;
    c->f->args = c->args;
    c->f->n_args = 1;
    return scalar(w, TY_INT64);
}
