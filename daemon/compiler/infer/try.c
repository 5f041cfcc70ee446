/* SPDX-License-Identifier: Apache-2.0
 * try.c - try statements.
 *
 * A handler can be entered from anywhere inside the body, so a variable has one type in it: the join of all
 * that it holds while the body runs (the *guard*'s). Lowering keeps a copy in a slot of that type for as long
 * as the body runs.
 *
 * A finally block is typed once for each way into it, in a context of its own: after the body, from an
 * exception, and for each return, break and continue that leaves through it. So what is known on one way is
 * not blurred by the others. */
#include <string.h>

#include "daemon/compiler/infer/pass.h"

/* What handlers see of a variable that was just bound. */
void guards_see(struct walk *w, uint32_t local)
{
    for (struct guard *g = w->guard; g; g = g->up) {
        const struct type *have = g->seen->types[local], *t = w->s.types[local];
        if (!have || g->seen->dead) {
            g->seen->types[local] = t;
            g->seen->unset[local] = true;
            g->seen->where[local] = w->s.where[local];
        } else if (have != t && t && have->kind != TY_CONFLICT) {
            const struct type *joined = t->kind == TY_CONFLICT ? NULL : join_types(w->p, have, t);
            g->seen->types[local] = joined ? joined : w->p->conflict;
        }
    }
}

/* The state that the handlers of `node` start with, kept from walk to walk. */
static struct guard *guard_begin(struct walk *w, uint32_t node)
{
    bool is_new;
    struct head *h = head_find(w, node, &is_new);
    struct guard *g = arena_new(w->p->a, struct guard);

    if (!h || !g) {
        fail_memory(w->p);
        return NULL;
    }
    state_join(w, &h->state, &w->s);
    *g = (struct guard){ .up = w->guard, .seen = &h->state };
    return w->guard = g;
}

/* The slots that lowering keeps while the guarded part runs, and what is in them at its beginning. */
static void guard_end(struct walk *w, uint32_t node, struct guard *g, const struct state *entry)
{
    struct state none = *g->seen;

    none.types = arena_new_array(w->p->a, w->w->in.fn->n_locals + 1, const struct type *);
    none.dead = false;
    w->guard = g->up;
    if (!none.types) {
        fail_memory(w->p);
        return;
    }
    edges_add(w, w->context, node, EDGE_RAISE, g->seen, &none);
    edges_add(w, w->context, node, EDGE_ENTRY, entry, g->seen);
}

/* Where an exception arrives. */
static void enter(struct walk *w, const struct guard *g)
{
    w->s = state_copy(w, g->seen);
    w->s.dead = false;
    w->s.known = NULL;
}

static bool is_exception(const struct type *t)
{
    return t->kind == TY_EXCEPTION ||
           (t->kind == TY_LIBRARY &&
            is_exception_name(t->name + (strncmp(t->name, "builtins.", 9) == 0 ? 9 : 0)));
}

/* An exception class or a tuple of them; *ret_all: it takes everything. */
static void handler_class(struct walk *w, uint32_t node, bool *ret_all)
{
    const struct type *t = expr(w, node);

    if (t->kind == TY_TUPLE && node_at(w, node)->op == KIR_TUPLE) {
        uint32_t n;
        const uint32_t *items = kir_list(node_at(w, node), 0, &n);
        for (uint32_t i = 0; i < n; i++)
            handler_class(w, items[i], ret_all);
        return;
    }
    if (!is_bottom(t) && !is_exception(t))
        mistake(w, node, NULL, "'except' takes an exception class or a tuple of them, not %s", show(w, t));
    *ret_all |= t->kind == TY_LIBRARY && strstr(t->name, "BaseException") != NULL;
}

static void handler(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t class = kir_opt(n, 0), local = kir_opt(n, 1), outer = w->handling;
    bool all = class == KIR_NIL;

    *fact_for(w, node) = (struct fact){ .type = w->p->none };
    if (class != KIR_NIL)
        handler_class(w, class, &all);
    if (local != KIR_NIL) {
        const struct type *t = type_named(w->p->types, TY_EXCEPTION, "Exception", NULL, NULL, 0);
        bind_local(w, local, t ? t : fail_memory(w->p), node);
    }
    w->handling = node;
    block(w, kir_arg(n, 2));
    w->handling = outer;
    if (local != KIR_NIL)
        w->s.types[local] = NULL;
}

/* Body, else and handlers; finally is around it. */
static void try_except(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t count, other = kir_opt(n, 2);
    const uint32_t *handlers = kir_list(n, 1, &count);
    struct state entry = state_copy(w, &w->s), out, ends[64];
    struct guard *g;

    if (!count) {
        block(w, kir_arg(n, 0));
        return;
    }
    if (count > 63) {
        mistake(w, node, NULL, "more than 63 handlers");
        return;
    }
    if (!(g = guard_begin(w, node)))
        return;
    block(w, kir_arg(n, 0));
    guard_end(w, node, g, &entry);
    if (other != KIR_NIL && !w->s.dead)
        block(w, other);
    ends[count] = w->s;
    for (uint32_t i = 0; i < count; i++) {
        enter(w, g);
        handler(w, handlers[i]);
        ends[i] = w->s;
    }
    out = state_copy(w, &ends[count]);
    for (uint32_t i = 0; i < count; i++)
        state_join(w, &out, &ends[i]);
    edges_add(w, w->context, node, EDGE_TRY, &ends[count], &out);
    for (uint32_t i = 0; i < count; i++)
        edges_add(w, w->context, handlers[i], EDGE_HANDLER, &ends[i], &out);
    w->s = out;
}

/* Contexts that belong to a node, kept from walk to walk. */
static uint32_t contexts_of(struct walk *w, uint32_t node, uint32_t n)
{
    bool is_new;
    struct head *h = head_find(w, node, &is_new);
    struct fact *f;

    if (!h)
        return 0;
    if (h->n_contexts != n) {
        h->n_contexts = n;
        h->contexts = contexts_new(w, n);
    }
    f = fact_for(w, node);
    f->contexts = h->contexts;
    f->n_contexts = n;
    return h->contexts;
}

void try_statement(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t last = kir_opt(n, 3), outer = w->context, context;
    struct state entry, after;
    struct final f = { .up = w->final, .block = last, .guard = w->guard };
    struct guard *g;

    if (last == KIR_NIL) {
        try_except(w, node);
        return;
    }
    entry = state_copy(w, &w->s);
    if (!(g = guard_begin(w, last))) /* keyed by the block: the try itself may have handlers */
        return;
    w->final = &f;
    try_except(w, node);
    w->final = f.up;
    guard_end(w, last, g, &entry);
    context = contexts_of(w, last, 1);
    after = w->s;
    enter(w, g); /* from an exception, which goes on afterwards */
    w->context = context;
    block(w, last);
    w->context = outer;
    w->w->raises = true;
    w->s = after;
    if (!w->s.dead)
        block(w, last);
    fact_for(w, last)->contexts = context;
    fact_for(w, last)->n_contexts = 1;
}

/* A jump out of try statements: each one's finally block, from the inside out. */
void leave_through(struct walk *w, uint32_t node, struct final *until)
{
    struct final *outer = w->final;
    struct guard *guard = w->guard;
    uint32_t n = 0, context = w->context, first, k = 0;

    for (struct final *f = outer; f != until; f = f->up)
        n++;
    if (!n || w->s.dead)
        return;
    first = contexts_of(w, node, n);
    for (struct final *f = outer; f != until && !w->s.dead; f = f->up, k++) {
        w->final = f->up;
        w->guard = f->guard;
        w->context = first + k;
        block(w, f->block);
    }
    w->context = context;
    w->final = outer;
    w->guard = guard;
}
