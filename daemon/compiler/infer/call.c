/* SPDX-License-Identifier: Apache-2.0
 * call.c - calls: what is called, and how arguments meet parameters. */
#include <string.h>

#include "daemon/compiler/infer/pass.h"

/* ---- arguments ---- */

static bool add_arg(struct walk *w, struct call *c, size_t *cap, struct arg arg)
{
    struct arg *grown = arena_grow(w->p->a, c->args, c->n_args, cap, sizeof *grown);

    if (!grown) {
        fail_memory(w->p);
        return false;
    }
    c->args = grown;
    c->args[c->n_args++] = arg;
    c->bottom |= is_bottom(arg.type);
    return true;
}

static bool spread(struct walk *w, struct call *c, size_t *cap, uint32_t star)
{
    uint32_t inner = kir_arg(node_at(w, star), 0);
    const struct type *t = expr(w, inner);

    fact_for(w, star)->type = t;
    if (is_bottom(t)) {
        c->bottom = true;
        return true;
    }
    if (t->kind != TY_TUPLE) {
        mistake(w, star, "make a tuple of it: the number of arguments must be known",
                "only a tuple can be spread into arguments, not %s", show(w, t));
        c->bottom = true;
        return true;
    }
    for (uint32_t i = 0; i < t->n_items; i++)
        if (!add_arg(w, c, cap,
                     (struct arg){ .from = ARG_ITEM, .type = t->items[i], .node = inner, .index = i }))
            return false;
    return true;
}

static bool arguments(struct walk *w, uint32_t node, struct call *c)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t n_pos;
    const uint32_t *pos = kir_list(n, 1, &n_pos);
    size_t cap = 0;

    for (uint32_t i = 0; i < n_pos; i++) {
        if (node_at(w, pos[i])->op == KIR_STAR) {
            if (!spread(w, c, &cap, pos[i]))
                return false;
        } else if (!add_arg(w, c, &cap,
                            (struct arg){ .from = ARG_NODE, .type = expr(w, pos[i]), .node = pos[i] })) {
            return false;
        }
    }
    c->kw_names = kir_list(n, 2, &c->n_kw);
    c->kw_nodes = kir_list(n, 3, &c->n_kw);
    for (uint32_t i = 0; i < c->n_kw; i++)
        c->bottom |= is_bottom(expr(w, c->kw_nodes[i]));
    return true;
}

/* ---- binding to a function's parameters ---- */

struct binding {
    struct arg *args; /* one a parameter; from == ARG_NONE with type NULL: not bound yet */
    const struct type **types;
};

static const char *param_list(struct walk *w, const struct kir_function *fn)
{
    struct buf b;
    const char *s;

    buf_init(&b, 1 << 12);
    for (uint32_t i = 0; i < fn->n_params; i++)
        buf_printf(&b, "%s%s%s%s", i ? ", " : "",
                   fn->params[i].kind == KIR_P_STAR     ? "*"
                   : fn->params[i].kind == KIR_P_KWSTAR ? "**"
                                                        : "",
                   fn->params[i].name, fn->params[i].default_plus_1 ? "=..." : "");
    s = arena_dup(w->p->a, b.data, b.len);
    buf_done(&b);
    return s ? s : "";
}

static bool pack_rest(struct walk *w, struct call *c, uint32_t from, struct binding *b, uint32_t param)
{
    uint32_t n = c->n_args > from ? c->n_args - from : 0;
    const struct type **types = arena_new_array(w->p->a, n + 1, const struct type *), *t;

    if (!types)
        return false;
    for (uint32_t i = 0; i < n; i++)
        types[i] = c->args[from + i].type;
    t = type_tuple(w->p->types, types, n, 0);
    if (!t)
        return false;
    b->args[param] = (struct arg){ .from = ARG_PACK, .type = t, .pack = c->args + from, .n = n };
    return true;
}

static const struct type *bind_positional(struct walk *w, struct call *c, const struct kir_function *fn,
                                          struct binding *b)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < fn->n_params; i++) {
        enum kir_param_kind kind = fn->params[i].kind;
        if (kind == KIR_P_STAR) {
            if (!pack_rest(w, c, at, b, i))
                return fail_memory(w->p);
            at = c->n_args;
        } else if ((kind == KIR_P_NORMAL || kind == KIR_P_POSONLY) && at < c->n_args) {
            b->args[i] = c->args[at++];
        }
    }
    if (at < c->n_args)
        return mistake(w, c->node, NULL, "%u arguments for a function of (%s)", c->n_args, param_list(w, fn));
    return w->p->none;
}

static const struct type *bind_keywords(struct walk *w, struct call *c, const struct kir_function *fn,
                                        struct binding *b)
{
    for (uint32_t k = 0; k < c->n_kw; k++) {
        const char *name = const_of(w, c->kw_names[k])->s.p;
        uint32_t i = 0;
        while (i < fn->n_params && (fn->params[i].kind == KIR_P_POSONLY || fn->params[i].kind == KIR_P_STAR ||
                                    strcmp(fn->params[i].name, name) != 0))
            i++;
        if (i == fn->n_params)
            return mistake(w, c->kw_nodes[k], NULL, "there is no parameter '%s': the function takes (%s)",
                           name, param_list(w, fn));
        if (b->args[i].type)
            return mistake(w, c->kw_nodes[k], NULL, "parameter '%s' is given twice", name);
        b->args[i] = (struct arg){ .from = ARG_NODE,
                                   .type = settled(w, fact_for(w, c->kw_nodes[k])->type),
                                   .node = c->kw_nodes[k] };
        if (is_bottom(b->args[i].type))
            return w->p->bottom;
    }
    return w->p->none;
}

static const struct type *bind_defaults(struct walk *w, struct call *c, const struct unit *unit,
                                        const struct kir_function *fn, struct binding *b)
{
    for (uint32_t i = 0; i < fn->n_params; i++) {
        const struct kir_param *p = &fn->params[i];
        if (b->args[i].type)
            continue;
        if (p->kind == KIR_P_KWSTAR)
            return mistake(w, c->node, "name the keywords",
                           "functions with **%s are not compiled by this version", p->name);
        if (!p->default_plus_1)
            return mistake(w, c->node, NULL, "argument '%s' is missing: the function takes (%s)", p->name,
                           param_list(w, fn));
        b->args[i] =
            (struct arg){ .from = ARG_CONST,
                          .index = p->default_plus_1 - 1,
                          .type = const_type(w, unit->mod, &unit->mod->consts[p->default_plus_1 - 1]) };
        if (!b->args[i].type)
            return mistake(w, c->node, NULL, "the default of '%s' is not compiled by this version", p->name);
    }
    return w->p->none;
}

const struct type *call_function(struct walk *w, struct call *c, const struct unit *unit,
                                 const struct type *callee)
{
    const struct kir_function *fn = &unit->mod->functions[callee->index];
    uint32_t n = fn->n_params, n_all = n + fn->n_free;
    struct binding b = { arena_new_array(w->p->a, n_all + 1, struct arg),
                         arena_new_array(w->p->a, n_all + 1, const struct type *) };
    const struct instance *instance = NULL;
    const struct type *t;

    if (!b.args || !b.types)
        return fail_memory(w->p);
    for (uint32_t i = 0; i < c->n_args; i++)
        c->bottom |= is_bottom(c->args[i].type = settled(w, c->args[i].type));
    if (c->bottom)
        return w->p->bottom;
    if (is_bottom(t = bind_positional(w, c, fn, &b)) || is_bottom(t = bind_keywords(w, c, fn, &b)) ||
        is_bottom(t = bind_defaults(w, c, unit, fn, &b)))
        return t;
    for (uint32_t i = 0; i < n; i++)
        b.types[i] = b.args[i].type;
    for (uint32_t i = 0; i < fn->n_free; i++) {
        b.types[n + i] = callee->items[i];
        b.args[n + i] = (struct arg){
            .from = ARG_CAPTURE, .type = callee->items[i], .index = i, .node = kir_arg(node_at(w, c->node), 0)
        };
    }
    t = call_instance(w, c->node, unit, callee->index, b.types, b.types + n, &instance);
    c->f->callee = instance;
    c->f->args = b.args;
    c->f->n_args = n_all;
    if (instance && instance_never_returns(instance))
        w->s.dead = true;
    return t;
}

bool call_prelude(struct walk *w, struct call *c, const char *name, const struct type **ret)
{
    const struct unit *prelude = w->p->prelude;
    const struct unit_name *found = prelude_find(prelude, name);
    const struct type *t;

    if (!found)
        return false;
    t = type_function(w->p->types, true, found->function, NULL, 0);
    *ret = t ? call_function(w, c, prelude, t) : fail_memory(w->p);
    return true;
}

/* ---- what is called ---- */

static const struct type *raise_call(struct walk *w, struct call *c, const struct type *t)
{
    if (c->bottom)
        return w->p->bottom;
    if (c->n_kw)
        return mistake(w, c->node, NULL, "exceptions take no keyword arguments here");
    return t;
}

const struct type *call(struct walk *w, uint32_t node, struct fact *f)
{
    uint32_t callee_node = kir_arg(node_at(w, node), 0);
    const struct type *callee = expr(w, callee_node), *t;
    struct call c = { .node = node, .f = f };

    if (!arguments(w, node, &c))
        return w->p->bottom;
    c.f = fact_for(w, node);
    if (is_bottom(callee))
        return callee;
    switch (callee->kind) {
    case TY_FUNCTION:
        return call_function(w, &c, callee->prelude ? w->p->prelude : w->p->user, callee);
    case TY_LIBRARY:
        c.name = callee->name;
        if (strncmp(callee->name, "builtins.", 9) == 0 && is_exception_name(callee->name + 9)) {
            t = type_named(w->p->types, TY_EXCEPTION, callee->name, NULL, NULL, 0);
            return t ? raise_call(w, &c, t) : fail_memory(w->p);
        }
        return library_call(w, &c, callee->name);
    case TY_TYPEVALUE:
    case TY_METHOD:
        if (callee->kind == TY_METHOD && callee->elem->kind == TY_OBJECT)
            return object_method_call(w, &c, callee);
        c.name = callee->kind == TY_METHOD ? callee->name : show(w, callee->elem);
        return library_call(w, &c, callee->kind == TY_METHOD ? callee->name : NULL);
    case TY_EXCEPTION:
        return raise_call(w, &c, callee);
    case TY_OBJECT:
        return object_called(w, &c, callee);
    case TY_CLASS:
        return class_call(w, &c, callee);
    default:
        return mistake(w, node, NULL, "%s can't be called", show(w, callee));
    }
}
