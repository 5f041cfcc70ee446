/* SPDX-License-Identifier: Apache-2.0
 * text.c - formatted strings, and subscripts of str and bytes.
 *
 * A hole of a formatted string is a call of the prelude: `builtins.str`, `builtins.repr`, `builtins.format`. The first
 * argument of a raised exception is special: with numbers alone in its holes it stays a template that the client fills
 * (KILN_ARG_FORMAT), so that checks with a message cost no code for formatting. */
#include <string.h>

#include "daemon/compiler/infer/pass.h"
#include "proto/abi/abi.h"

/* What the client prints exactly as Python does. */
static bool is_plain(const struct type *t)
{
    return t->kind == TY_BOOL || type_is_integer(t) || t->kind == TY_PYFLOAT || t->kind == TY_FLOAT64;
}

static bool call_text(struct walk *w, uint32_t node, const char *name, const uint32_t *nodes,
                      const struct type *const *types, uint32_t n, const struct type **ret)
{
    struct arg *args = arena_new_array(w->p->a, n + 1, struct arg);
    struct call c = { .node = node, .f = fact_for(w, node), .name = name, .args = args, .n_args = n };

    *ret = w->p->bottom;
    if (!args) {
        fail_memory(w->p);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        args[i] = (struct arg){ .from = ARG_NODE, .type = types[i], .node = nodes[i] };
    if (!call_prelude(w, &c, name, ret))
        *ret = mistake(w, node, NULL, "formatted strings need the library, which this compiler was built without");
    return !is_bottom(*ret);
}

static const char *conversion_name(uint32_t conversion)
{
    return conversion == 'r' ? "builtins.repr" : conversion == 'a' ? "builtins.ascii" : "builtins.str";
}

const struct type *format_part(struct walk *w, uint32_t node, bool in_template)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t nodes[2] = { kir_arg(n, 0), kir_opt(n, 2) }, conversion = kir_arg(n, 1);
    const struct type *types[2] = { settled(w, expr(w, nodes[0])), w->p->str }, *t;
    bool spec = nodes[1] != KIR_NIL;
    struct fact *f;

    if (is_bottom(types[0]) || in_template)
        return types[0];
    if (spec && is_bottom(expr(w, nodes[1])))
        return w->p->bottom;
    if (conversion || !spec) {
        if (types[0] == w->p->str && (!conversion || conversion == 's') && !spec)
            return types[0];
        if (!call_text(w, node, conversion_name(conversion), nodes, types, 1, &t) || !spec)
            return t;
        f = fact_for(w, node);
        f->getter = f->callee;
        f->callee = NULL;
        types[0] = t;
    }
    call_text(w, node, "builtins.format", nodes, types, 2, &t);
    return t;
}

/* The parts of a message: true if all its holes hold numbers that the client can print. */
static bool is_template(struct walk *w, const uint32_t *parts, uint32_t n)
{
    uint32_t holes = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct kir_node *part = node_at(w, parts[i]);
        const struct type *t;
        if (part->op != KIR_FORMAT)
            continue;
        if (kir_arg(part, 1) || kir_opt(part, 2) != KIR_NIL || ++holes >= KILN_EXC_ARGS_MAX)
            return false;
        t = format_part(w, parts[i], true);
        memset(fact_for(w, parts[i]), 0, sizeof(struct fact));
        fact_for(w, parts[i])->type = t;
        if (!is_plain(t))
            return false;
    }
    return true;
}

const struct type *fstring(struct walk *w, uint32_t node)
{
    uint32_t n;
    const uint32_t *parts = kir_list(node_at(w, node), 0, &n);

    if (w->message == node + 1 && is_template(w, parts, n))
        return w->p->str;
    w->w->raises = true; /* memory */
    for (uint32_t i = 0; i < n; i++)
        if (is_bottom(expr(w, parts[i])))
            return w->p->bottom;
    return w->p->str;
}

const struct type *text_subscript_type(struct walk *w, uint32_t node, const struct type *base, uint32_t index,
                                  const struct type *it)
{
    const struct type *t = number_of(w, it);

    if (t->kind == TY_OPTIONAL)
        t = t->elem;
    w->w->raises = true;
    if (t->kind == TY_SLICE)
        return base;
    if (!type_is_integer(t) && t->kind != TY_BOOL)
        return mistake(w, index, type_is_float(t) ? "convert it with int(...)" : NULL,
                       "%s is indexed by integers and slices, not by %s", show(w, base), show(w, it));
    return base->kind == TY_STR ? base : item_type(w, node, base);
}
