/* SPDX-License-Identifier: Apache-2.0
 * protocol.c - operators, statements and methods of types whose meaning is written in the prelude: `a + b` of
 * lists is the prelude's "list.__add__". Names are Python's, with these of our own: "__in__" and "__notin__"
 * take (item, container), as the text does; "__rmul__" and other reflected ones take their operands in the
 * order of the text too.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/compiler/infer/pass.h"

const char *protocol_prefix(const struct type *t)
{
    switch (t->kind) {
    case TY_ARRAY:
        return "ndarray";
    case TY_LIST:
        return "list";
    case TY_DICT:
        return "dict";
    case TY_SET:
        return "set";
    case TY_STR:
        return "str";
    case TY_BYTES:
        return "bytes";
    case TY_TUPLE:
        return "tuple";
    case TY_DATETIME:
        return "datetime64";
    case TY_TIMEDELTA:
        return "timedelta64";
    default:
        return NULL;
    }
}

static bool full_name(const struct type *t, const char *name, char *ret, size_t cap)
{
    const char *prefix = protocol_prefix(t);

    return prefix && snprintf(ret, cap, "%s.%s", prefix, name) < (int)cap;
}

const struct unit_name *prelude_find(const struct unit *prelude, const char *name)
{
    uint32_t low = 0, high = prelude ? prelude->n_names : 0;

    while (low < high) { /* the build sorted them */
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(prelude->names[middle].name, name);
        if (order == 0)
            return &prelude->names[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *method_prefix(const struct type *t)
{
    if (t->kind == TY_BOOL || type_is_integer(t))
        return "int";
    return type_is_float(t) ? "float" : type_is_complex(t) ? "complex" : protocol_prefix(t);
}

bool protocol_has(const struct walk *w, const struct type *t, const char *name)
{
    char full[80];

    if (t->kind == TY_OBJECT)
        return object_has(w, t, name);
    return full_name(t, name, full, sizeof full) && prelude_find(w->p->prelude, full);
}

bool protocol_call(struct walk *w, uint32_t node, struct fact *f, const struct type *self, const char *name,
                   const uint32_t *nodes, const struct type *const *types, uint32_t n,
                   const struct type **ret)
{
    struct arg *args = arena_new_array(w->p->a, n + 1, struct arg); /* *args of the function keep it */
    struct call c = { .node = node, .f = f, .args = args, .n_args = n };
    char full[80];

    *ret = w->p->bottom;
    if (!args) {
        fail_memory(w->p);
        return true;
    }
    if (self->kind != TY_OBJECT && !full_name(self, name, full, sizeof full))
        return false;
    c.name = self->kind == TY_OBJECT ? name : full;
    for (uint32_t i = 0; i < n; i++) {
        args[i] = (struct arg){ .from = ARG_NODE, .type = types[i], .node = nodes[i] };
        c.bottom |= is_bottom(types[i]);
    }
    if (self->kind == TY_OBJECT)
        return object_protocol(w, &c, self, name, ret);
    return call_prelude(w, &c, full, ret);
}

/* Which arguments of a method widen its receiver, and how. */
static const struct {
    enum type_kind kind;
    const char *name;
    uint32_t a, b; /* arguments after the receiver, from 1; 0: none */
    bool items;    /* the argument is iterated */
} growth[] = {
    { TY_LIST, "append", 1, 0, false },      { TY_LIST, "insert", 2, 0, false },
    { TY_LIST, "__cell__", 1, 0, false },
    { TY_LIST, "extend", 1, 0, true },       { TY_LIST, "__setitem__", 2, 0, false },
    { TY_LIST, "__iadd__", 1, 0, true },     { TY_SET, "add", 1, 0, false },
    { TY_SET, "update", 1, 0, true },        { TY_SET, "__ior__", 1, 0, true },
    { TY_DICT, "__setitem__", 1, 2, false }, { TY_DICT, "setdefault", 1, 2, false },
    { TY_DICT, "update", 1, 0, true },
};

static const struct type *argument(const struct call *c, uint32_t k)
{
    return k && k < c->n_args ? c->args[k].type : NULL; /* args[0] is the receiver */
}

const struct type *protocol_grow(struct walk *w, const struct call *c, const struct type *self,
                                 const char *name)
{
    for (size_t i = 0; is_container(self) && i < sizeof growth / sizeof growth[0]; i++) {
        const struct type *a, *b;
        if (growth[i].kind != self->kind || strcmp(growth[i].name, name) != 0)
            continue;
        a = argument(c, growth[i].a);
        b = argument(c, growth[i].b);
        if (growth[i].items && a && a->kind == TY_DICT && self->kind == TY_DICT)
            return container_grow(w, c->node, self, a->items[0], a->items[1]);
        if (growth[i].items && a && (is_bottom(a) || (self->kind == TY_LIST && a->kind == TY_SLICE)))
            return self;
        if (growth[i].items && a)
            a = item_type(w, c->node, a);
        if (strcmp(name, "__cell__") == 0 && a && !self->index && !is_bottom(self->elem) && !is_bottom(a) &&
            join_types(w->p, self->elem, settled(w, a)) != self->elem)
            return mistake(w, c->node, "give it that type where the function around assigns it",
                           "this variable of the function around holds %s: %s can't be assigned to it here",
                           show(w, self->elem), show(w, a));
        return container_grow(w, c->node, self, a, b);
    }
    return self;
}
