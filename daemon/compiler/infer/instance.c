/* SPDX-License-Identifier: Apache-2.0
 * instance.c - functions at argument types: memo, cycles of calls, and the walk over one of them.
 *
 * A call of an instance that is still open (recursion) yields the result known so far, bottom at first. The
 * instances of such a cycle stay provisional until the one that was opened first has been walked twice with
 * the same results; then all of them are done. */
#include <string.h>

#include "daemon/compiler/infer/pass.h"

static bool same_types(const struct type *const *a, const struct type *const *b, uint32_t n)
{
    return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

static const struct type *const *copy_types(struct pass *p, const struct type *const *types, uint32_t n)
{
    const struct type **c = arena_new_array(p->a, n + 1, const struct type *);

    if (!c)
        fail_memory(p);
    else if (n)
        memcpy(c, types, n * sizeof *c);
    return c;
}

static struct work *work_new(struct pass *p, const struct unit *unit, uint32_t func,
                             const struct type *const *params, const struct type *const *captures)
{
    struct work *w = arena_new(p->a, struct work);
    const struct kir_function *fn = &unit->mod->functions[func];

    if (!w)
        return NULL;
    w->in.unit = unit;
    w->in.func = func;
    w->in.fn = fn;
    w->in.params = copy_types(p, params, fn->n_params);
    w->in.captures = copy_types(p, captures, fn->n_free);
    w->in.n_contexts = 1;
    w->cap_contexts = 1;
    w->facts = arena_new_array(p->a, fn->n_nodes, struct fact);
    w->conflicts = arena_new_array(p->a, fn->n_locals + 1, struct conflict);
    w->ret = p->bottom;
    if (!w->in.params || !w->in.captures || !w->facts || !w->conflicts)
        return NULL;
    w->in.id = p->n_works++;
    w->next = p->works;
    p->works = w;
    return w;
}

struct work *instance_entry(struct pass *p, const struct type *const *params)
{
    struct work *w = work_new(p, p->user, 0, params, NULL);

    if (!w)
        fail_memory(p);
    return w;
}

const struct type *call_instance(struct walk *w, uint32_t node, const struct unit *unit, uint32_t func,
                                 const struct type *const *params, const struct type *const *captures,
                                 const struct instance **ret)
{
    struct pass *p = w->p;
    const struct kir_function *fn = &unit->mod->functions[func];
    struct work *found = NULL;
    uint32_t of_this = 0;

    for (struct work *x = p->works; x && !found; x = x->next) {
        if (x->in.unit != unit || x->in.func != func)
            continue;
        of_this++;
        if (same_types(x->in.params, params, fn->n_params) &&
            same_types(x->in.captures, captures, fn->n_free))
            found = x;
    }
    if (!found) {
        if (of_this >= INFER_MAX_INSTANCES)
            return mistake(w, node, "does an argument's type grow with each call?",
                           "this function is used at more than %d combinations of argument types",
                           INFER_MAX_INSTANCES);
        if (p->depth >= INFER_MAX_DEPTH)
            return mistake(w, node, NULL, "calls are nested more than %d deep", INFER_MAX_DEPTH);
        found = work_new(p, unit, func, params, captures);
        if (!found)
            return fail_memory(p);
        found->caller = w->w;
        found->call_node = node;
    }
    *ret = &found->in;
    if (found->status == WORK_OPEN) {
        found->in.recursive = true;
        if (found->depth < w->w->low)
            w->w->low = found->depth;
    } else if (found->status == WORK_NEW || (found->status == WORK_PROVISIONAL && found->epoch != p->epoch)) {
        instance_ensure(p, found);
        if (found->status == WORK_PROVISIONAL && found->low < w->w->low)
            w->w->low = found->low;
    } else if (found->status == WORK_PROVISIONAL && found->low < w->w->low) {
        w->w->low = found->low;
    }
    if (found->status != WORK_DONE || found->raises)
        w->w->raises = true;
    return found->ret;
}

bool instance_never_returns(const struct instance *in)
{
    const struct work *w = (const struct work *)(const void *)in; /* its first member */

    return w->status == WORK_DONE && !w->ends;
}

/* Provisional instances of the cycle whose head has settled. */
static void settle(struct pass *p, struct work *head)
{
    for (struct work *x = p->works; x; x = x->next)
        if (x->status == WORK_PROVISIONAL && x->low >= head->depth) {
            x->status = WORK_DONE;
            x->in.recursive = true;
        }
    head->status = WORK_DONE;
}

void instance_ensure(struct pass *p, struct work *w)
{
    w->status = WORK_OPEN;
    w->depth = w->low = p->depth++;
    for (unsigned round = 0; !p->failed; round++) {
        const struct type *before = w->ret;
        bool outer = p->changed;
        p->changed = false;
        w->epoch = p->epoch;
        instance_walk(p, w, false);
        if (w->ret != before)
            p->changed = true;
        if (w->low < w->depth) { /* the head of the cycle decides */
            p->changed |= outer;
            break;
        }
        if (!p->changed)
            p->changed = container_default(p, w);
        if (!p->changed || round >= INFER_MAX_ROUNDS) {
            p->changed = outer;
            break;
        }
        p->changed = outer;
        p->epoch++;
    }
    p->depth--;
    if (w->low < w->depth)
        w->status = WORK_PROVISIONAL;
    else
        settle(p, w);
}

struct head *head_find(struct walk *w, uint32_t node, bool *ret_new)
{
    struct head *h;

    *ret_new = false;
    for (h = w->w->heads; h; h = h->next)
        if (h->at.context == w->context && h->at.node == node)
            return h;
    h = arena_new(w->p->a, struct head);
    if (!h) {
        fail_memory(w->p);
        return NULL;
    }
    h->at = (struct place){ w->context, node };
    h->state.dead = true;
    h->next = w->w->heads;
    w->w->heads = h;
    *ret_new = true;
    return h;
}

uint32_t contexts_new(struct walk *w, uint32_t n)
{
    struct work *work = w->w;
    uint32_t first = work->in.n_contexts, nodes = work->in.fn->n_nodes;
    struct fact *facts;

    if (first + n > work->cap_contexts) {
        uint32_t cap = 2 * work->cap_contexts > first + n ? 2 * work->cap_contexts : first + n;
        facts = arena_array(w->p->a, (size_t)cap * nodes, sizeof *facts);
        if (!facts) {
            fail_memory(w->p);
            return 0;
        }
        memcpy(facts, work->facts, (size_t)first * nodes * sizeof *facts);
        work->facts = facts;
        work->cap_contexts = cap;
    }
    work->in.n_contexts += n;
    return first;
}

/* One walk over the whole function. */
void instance_walk(struct pass *p, struct work *work, bool emit)
{
    const struct kir_function *fn = work->in.fn;
    struct walk w = { .p = p, .w = work, .emit = emit };
    struct state empty;

    memset(work->facts, 0, (size_t)work->in.n_contexts * fn->n_nodes * sizeof *work->facts);
    empty = (struct state){ arena_new_array(p->a, fn->n_locals + 1, const struct type *),
                            arena_new_array(p->a, fn->n_locals + 1, bool),
                            arena_new_array(p->a, fn->n_locals + 1, uint32_t), false, NULL };
    if (!empty.types || !empty.unset || !empty.where) {
        fail_memory(p);
        return;
    }
    w.s = empty;
    for (uint32_t i = 0; i < fn->n_params; i++) {
        w.s.types[i] = work->in.params[i];
        w.s.where[i] = WHERE_PARAM;
    }
    if (fn->flags & KIR_F_GENERATOR) {
        mistake(&w, fn->n_nodes - 1, NULL, "generator functions are not compiled by this version");
        return;
    }
    block(&w, fn->n_nodes - 1);
    if (!w.s.dead) {
        const struct type *t = work->returns ? join_types(p, work->ret, p->none) : p->none;
        work->ends = true;
        if (!t)
            mistake(&w, fn->n_nodes - 1, "return a value on every path, or on none",
                    "the function returns %s on one path and nothing on another", show(&w, work->ret));
        work->returns = true;
        work->ret = t ? t : p->bottom;
    }
}
