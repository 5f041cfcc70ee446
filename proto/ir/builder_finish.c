/* SPDX-License-Identifier: Apache-2.0
 * builder_finish.c - from handles to the canonical numbers of docs/kir.md, by one walk in canonical order. */
#include <string.h>

#include "proto/ir/builder.h"
#include "proto/ir/builder_private.h"

struct numbering {
    struct kir_builder *b;
    /* handle -> number, KIR_NIL if not met; and number -> handle */
    uint32_t *func_of, *funcs, *const_of, *consts, *usertype_of, *usertypes, *env_of;
    uint32_t n_funcs, n_consts, n_usertypes, n_env;
    struct visit {
        uint32_t handle, item;
        bool fields;
    } * visits;
    uint32_t **local_of; /* per function handle */
};

static uint32_t *nils(struct arena *a, size_t n)
{
    uint32_t *p = arena_new_array(a, n, uint32_t);

    if (p)
        memset(p, 0xff, n * sizeof *p);
    return p;
}

static void meet_function(struct numbering *k, uint32_t handle)
{
    if (k->func_of[handle] != KIR_NIL)
        return;
    k->funcs[k->n_funcs] = handle;
    k->func_of[handle] = k->n_funcs++;
}

static void enter(struct numbering *k, struct visit *v, uint32_t c)
{
    const struct kir_const *at = &k->b->consts[c];

    *v = (struct visit){ c, 0, false };
    if (at->kind != KIR_K_ENUM && at->kind != KIR_K_NAMEDTUPLE && at->kind != KIR_K_USERTYPE)
        return;
    if (k->usertype_of[at->usertype] != KIR_NIL)
        return;
    k->usertypes[k->n_usertypes] = at->usertype;
    k->usertype_of[at->usertype] = k->n_usertypes++;
    for (uint32_t i = 0; i < k->b->usertypes[at->usertype].n_methods; i++)
        meet_function(k, k->b->usertypes[at->usertype].methods[i].function);
    v->fields = kir_is_enum(k->b->usertypes[at->usertype].kind);
}

static bool next_part(struct numbering *k, struct visit *v, uint32_t *ret)
{
    const struct kir_const *c = &k->b->consts[v->handle];

    if (v->fields) {
        const struct kir_usertype *t = &k->b->usertypes[c->usertype];
        if (v->item < t->n_fields) {
            *ret = t->field_consts[v->item++];
            return true;
        }
        v->fields = false;
        v->item = 0;
    }
    if ((c->kind != KIR_K_TUPLE && c->kind != KIR_K_NAMEDTUPLE) || v->item == c->n_items)
        return false;
    *ret = c->items[v->item++];
    return true;
}

/* Parts have smaller handles than what refers to them, so this ends, and n_consts visits are enough. */
static void visit_const(struct numbering *k, uint32_t c)
{
    uint32_t depth = 0, part;

    if (k->const_of[c] != KIR_NIL)
        return;
    enter(k, &k->visits[depth++], c);
    while (depth) {
        struct visit *v = &k->visits[depth - 1];
        if (next_part(k, v, &part)) {
            if (k->const_of[part] == KIR_NIL)
                enter(k, &k->visits[depth++], part);
            continue;
        }
        k->consts[k->n_consts] = v->handle;
        k->const_of[v->handle] = k->n_consts++;
        depth--;
    }
}

static void visit_operand(struct numbering *k, uint32_t *locals, uint32_t *n_locals, char letter, uint32_t x)
{
    switch (letter) {
    case 'c':
    case 's':
        visit_const(k, x);
        break;
    case 'l':
        if (locals[x] == KIR_NIL)
            locals[x] = (*n_locals)++;
        break;
    case 'f':
        meet_function(k, x);
        break;
    case 'v':
        if (k->env_of[x] == KIR_NIL)
            k->env_of[x] = k->n_env++;
        break;
    default:
        break;
    }
}

static bool number_function(struct numbering *k, uint32_t handle, struct kir_function *out)
{
    const struct kir_b_function *f = k->b->functions[handle];
    uint32_t *locals = nils(&k->b->a, f->n_locals);

    if (!locals)
        return false;
    k->local_of[handle] = locals;
    out->n_params = out->n_locals = (uint32_t)f->n_params;
    out->n_free = f->n_free;
    out->flags = f->flags & ~(uint32_t)KIR_F_GENERATOR;
    for (uint32_t i = 0; i < f->n_params; i++) {
        locals[i] = i;
        if (f->params[i].default_plus_1)
            visit_const(k, f->params[i].default_plus_1 - 1);
    }
    for (size_t i = 0; i < f->n_nodes; i++) {
        struct kir_node n = kir_b_node_at(f, i);
        if (handle != k->funcs[0] && (n.op == KIR_YIELD || n.op == KIR_YIELDFROM))
            out->flags |= KIR_F_GENERATOR;
        for (struct kir_walk w = kir_walk(&n); kir_walk_next(&w);)
            visit_operand(k, locals, &out->n_locals, w.letter, w.value);
    }
    return true;
}

static uint32_t translate(const struct numbering *k, uint32_t handle, const struct kir_walk *w)
{
    switch (w->letter) {
    case 'c':
    case 's':
        return k->const_of[w->value];
    case 'l':
        return k->local_of[handle][w->value];
    case 'f':
        return k->func_of[w->value];
    case 'v':
        return k->env_of[w->value];
    default:
        return w->value;
    }
}

static bool write_function(struct numbering *k, uint32_t handle, struct arena *a, struct kir_function *out)
{
    const struct kir_b_function *f = k->b->functions[handle];
    struct kir_param *params = arena_new_array(a, f->n_params, struct kir_param);
    struct kir_node *nodes = arena_new_array(a, f->n_nodes, struct kir_node);
    uint32_t *args = arena_new_array(a, f->n_args, uint32_t);

    if (!params || !nodes || !args)
        return false;
    for (size_t i = 0; i < f->n_params; i++) {
        params[i] = f->params[i];
        params[i].name = arena_dup(a, f->params[i].name, strlen(f->params[i].name));
        if (!params[i].name)
            return false;
        if (params[i].default_plus_1)
            params[i].default_plus_1 = k->const_of[params[i].default_plus_1 - 1] + 1;
    }
    if (f->n_args)
        memcpy(args, f->args, f->n_args * sizeof *args);
    for (size_t i = 0; i < f->n_nodes; i++) {
        uint32_t *to = args + f->nodes[i].first;
        struct kir_node n = kir_b_node_at(f, i);
        for (struct kir_walk w = kir_walk(&n); kir_walk_next(&w);)
            to[w.position] = translate(k, handle, &w) + w.optional;
        nodes[i] = (struct kir_node){ n.op, n.n_args, to };
    }
    out->params = params;
    out->nodes = nodes;
    out->n_nodes = (uint32_t)f->n_nodes;
    return true;
}

static bool write_const(const struct numbering *k, uint32_t handle, struct arena *a, struct kir_const *out)
{
    const struct kir_const *c = &k->b->consts[handle];
    bool text = c->kind == KIR_K_BIGINT || c->kind == KIR_K_STR || c->kind == KIR_K_BYTES ||
                c->kind == KIR_K_TYPE || c->kind == KIR_K_EXCEPTION || c->kind == KIR_K_SCALAR ||
                c->kind == KIR_K_ARRAY;
    uint32_t *items;

    *out = *c;
    if (text && !(out->s.p = arena_dup(a, c->s.p, c->s.len)))
        return false;
    if (c->data && !(out->data = (unsigned char *)arena_dup(a, c->data, c->data_len)))
        return false;
    if (c->kind == KIR_K_ENUM || c->kind == KIR_K_NAMEDTUPLE || c->kind == KIR_K_USERTYPE)
        out->usertype = k->usertype_of[c->usertype];
    if (!c->items)
        return true;
    out->items = items = (uint32_t *)arena_dup(a, c->items, c->n_items * sizeof *items);
    if (!items)
        return false;
    if (c->kind == KIR_K_TUPLE || c->kind == KIR_K_NAMEDTUPLE)
        for (uint32_t i = 0; i < c->n_items; i++)
            items[i] = k->const_of[items[i]];
    return true;
}

static bool write_texts(struct arena *a, const char *const *texts, uint32_t n, const char *const **ret)
{
    const char **copy = arena_new_array(a, n, const char *);

    *ret = copy;
    for (uint32_t i = 0; copy && i < n; i++)
        if (!(copy[i] = arena_dup(a, texts[i], strlen(texts[i]))))
            return false;
    return copy != NULL;
}

static bool write_methods(const struct numbering *k, const struct kir_usertype *t, struct arena *a,
                          struct kir_usertype *out)
{
    struct kir_method *items = arena_new_array(a, t->n_methods, struct kir_method);

    out->methods = items;
    for (uint32_t i = 0; items && i < t->n_methods; i++) {
        items[i] = t->methods[i];
        items[i].function = k->func_of[t->methods[i].function];
        if (!(items[i].name = arena_dup(a, t->methods[i].name, strlen(t->methods[i].name))))
            return false;
    }
    return items != NULL;
}

static bool write_usertype(const struct numbering *k, uint32_t handle, struct arena *a,
                           struct kir_usertype *out)
{
    const struct kir_usertype *t = &k->b->usertypes[handle];
    uint32_t *consts;

    *out = *t;
    if (!(out->name = arena_dup(a, t->name, strlen(t->name))) ||
        !write_texts(a, t->field_names, t->n_fields, &out->field_names))
        return false;
    if (!kir_is_enum(t->kind))
        return write_texts(a, t->field_types, t->n_fields, &out->field_types) && write_methods(k, t, a, out);
    out->field_consts = consts = arena_new_array(a, t->n_fields, uint32_t);
    for (uint32_t i = 0; consts && i < t->n_fields; i++)
        consts[i] = k->const_of[t->field_consts[i]];
    return consts != NULL;
}

static bool number_all(struct numbering *k, struct arena *a, struct kir_function **ret)
{
    struct kir_builder *b = k->b;
    struct kir_function *functions = arena_new_array(a, b->n_functions, struct kir_function);

    k->func_of = nils(&b->a, b->n_functions);
    k->funcs = nils(&b->a, b->n_functions);
    k->const_of = nils(&b->a, b->n_consts);
    k->consts = nils(&b->a, b->n_consts);
    k->usertype_of = nils(&b->a, b->n_usertypes);
    k->usertypes = nils(&b->a, b->n_usertypes);
    k->env_of = nils(&b->a, b->n_env);
    k->visits = arena_new_array(&b->a, b->n_consts, struct visit);
    k->local_of = arena_new_array(&b->a, b->n_functions, uint32_t *);
    if (!functions || !k->func_of || !k->funcs || !k->const_of || !k->consts || !k->usertype_of ||
        !k->usertypes || !k->env_of || !k->visits || !k->local_of)
        return false;
    k->funcs[0] = 0;
    k->func_of[0] = 0;
    k->n_funcs = 1;
    for (uint32_t i = 0; i < k->n_funcs; i++)
        if (!number_function(k, k->funcs[i], &functions[i]))
            return false;
    b->env_map = k->env_of;
    b->function_map = k->func_of;
    *ret = functions;
    return true;
}

static bool write_all(struct numbering *k, struct arena *a, struct kir_function *functions,
                      struct kir_module *m)
{
    struct kir_const *consts = arena_new_array(a, k->n_consts, struct kir_const);
    struct kir_usertype *usertypes = arena_new_array(a, k->n_usertypes, struct kir_usertype);

    if (!consts || !usertypes)
        return false;
    for (uint32_t i = 0; i < k->n_consts; i++)
        if (!write_const(k, k->consts[i], a, &consts[i]))
            return false;
    for (uint32_t i = 0; i < k->n_usertypes; i++)
        if (!write_usertype(k, k->usertypes[i], a, &usertypes[i]))
            return false;
    for (uint32_t i = 0; i < k->n_funcs; i++)
        if (!write_function(k, k->funcs[i], a, &functions[i]))
            return false;
    *m = (struct kir_module){
        k->n_consts, k->n_usertypes, k->n_funcs, k->n_env, consts, usertypes, functions
    };
    return true;
}

int kir_builder_finish_at(struct kir_builder *b, struct arena *a, struct kir_module **ret,
                          struct kir_place *at, struct kiln_err *e)
{
    struct numbering k = { .b = b };
    struct kir_function *functions;
    struct kir_module *m = arena_new(a, struct kir_module);
    int rc;

    *at = (struct kir_place){ KIR_NIL, KIR_NIL };
    if ((rc = kir_builder_error(b, e)))
        return rc;
    if (b->n_functions == 0)
        return kiln_err_set(e, KILN_E_KIR_BAD, 0, "a module needs a function");
    if (!m || !number_all(&k, a, &functions) || !write_all(&k, a, functions, m))
        return kiln_err_set(e, KILN_E_NOMEM, 0, NULL);
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (m->functions[i].n_nodes == 0)
            return kiln_err_set(e, KILN_E_KIR_BAD, 0, "function %u has no body", k.funcs[i]);
    rc = kir_verify_at(m, at, e);
    if (at->function != KIR_NIL)
        at->function = k.funcs[at->function];
    if (rc)
        return rc;
    *ret = m;
    return 0;
}

int kir_builder_finish(struct kir_builder *b, struct arena *a, struct kir_module **ret, struct kiln_err *e)
{
    struct kir_place at;

    return kir_builder_finish_at(b, a, ret, &at, e);
}
