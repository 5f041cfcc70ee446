/* SPDX-License-Identifier: Apache-2.0
 * state.c - types of locals along control flow, their joins, and the edges that joins leave for lowering. */
#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/infer/pass.h"

struct state state_copy(struct walk *w, const struct state *s)
{
    uint32_t n = w->w->in.fn->n_locals;
    struct state c = { arena_new_array(w->p->a, n + 1, const struct type *),
                       arena_new_array(w->p->a, n + 1, bool), arena_new_array(w->p->a, n + 1, uint32_t),
                       s->dead, s->known ? arena_new_array(w->p->a, n + 1, const struct kir_const *) : NULL };

    if (!c.types || !c.unset || !c.where || (s->known && !c.known)) {
        fail_memory(w->p);
        c = *s;
    } else if (n) {
        memcpy(c.types, s->types, n * sizeof *c.types);
        memcpy(c.unset, s->unset, n * sizeof *c.unset);
        memcpy(c.where, s->where, n * sizeof *c.where);
        if (s->known)
            memcpy(c.known, s->known, n * sizeof *c.known);
    }
    return c;
}

static void remember_conflict(struct walk *w, uint32_t local, const struct state *dst,
                              const struct state *src)
{
    struct conflict *c = &w->w->conflicts[local];

    if (!c->a || dst->types[local]->kind != TY_CONFLICT)
        *c = (struct conflict){ .a = dst->types[local],
                                .b = src->types[local],
                                .a_node = dst->where[local],
                                .b_node = src->where[local],
                                .said = c->said };
}

bool state_join(struct walk *w, struct state *dst, const struct state *src)
{
    uint32_t n = w->w->in.fn->n_locals;
    bool changed = false;

    if (src->dead)
        return false;
    if (dst->dead) {
        struct state c = state_copy(w, src);
        *dst = c;
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct type *a = dst->types[i], *b = src->types[i], *t = a;
        bool unset = dst->unset[i] || src->unset[i] || !a || !b;
        if (dst->known && dst->known[i] && (!src->known || src->known[i] != dst->known[i])) {
            dst->known[i] = NULL;
            changed = true;
        }
        if (!a) {
            t = b;
            dst->where[i] = src->where[i];
        } else if (b && a != b) {
            t = a->kind == TY_CONFLICT || b->kind == TY_CONFLICT ? NULL : join_types(w->p, a, b);
            if (!t) {
                if (a->kind != TY_CONFLICT && b->kind != TY_CONFLICT)
                    remember_conflict(w, i, dst, src);
                t = w->p->conflict;
            }
        }
        if (t != a || (t && unset != dst->unset[i])) {
            dst->types[i] = t;
            dst->unset[i] = t && unset;
            changed = true;
        }
    }
    return changed;
}

void edges_add(struct walk *w, uint32_t context, uint32_t node, enum edge_arm arm, const struct state *from,
               const struct state *to)
{
    struct work *work = w->w;

    if (!w->emit || from->dead || to->dead)
        return;
    for (uint32_t i = 0; i < work->in.fn->n_locals; i++) {
        const struct type *a = from->types[i], *b = to->types[i];
        struct edge *edges;
        if (!a || a == b || is_bottom(a))
            continue;
        edges = arena_grow(w->p->a, work->edges, work->n_edges, &work->cap_edges, sizeof *edges);
        if (!edges) {
            fail_memory(w->p);
            return;
        }
        work->edges = edges;
        edges[work->n_edges++] = (struct edge){ context, node, arm, i, a, b ? b : w->p->bottom };
    }
}

static int by_key(const struct edge *x, const struct edge *y)
{
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->arm != y->arm)
        return x->arm < y->arm ? -1 : 1;
    return x->local < y->local ? -1 : x->local > y->local;
}

/* Edges of the same key in the order of recording: the array is sorted stably by hand of its position. */
static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = *(const struct edge *const *)a, *y = *(const struct edge *const *)b;
    int r = by_key(x, y);

    return r ? r : x < y ? -1 : x > y;
}

void edges_finish(struct work *w)
{
    const struct edge **order = malloc((w->n_edges + 1) * sizeof(struct edge *));
    struct edge *sorted = malloc((w->n_edges + 1) * sizeof *sorted);
    size_t n = 0;

    if (order && sorted) {
        for (size_t i = 0; i < w->n_edges; i++)
            order[i] = &w->edges[i];
        qsort(order, w->n_edges, sizeof *order, compare_edges);
        for (size_t i = 0; i < w->n_edges; i++)
            if (i + 1 == w->n_edges || by_key(order[i], order[i + 1]) != 0)
                sorted[n++] = *order[i];
        if (n)
            memcpy(w->edges, sorted, n * sizeof *sorted);
        w->n_edges = n;
    }
    free(order);
    free(sorted);
    w->in.edges = w->edges;
    w->in.n_edges = (uint32_t)w->n_edges;
}

void bind_local(struct walk *w, uint32_t local, const struct type *t, uint32_t where)
{
    w->s.types[local] = t;
    w->s.unset[local] = false;
    w->s.where[local] = where;
    if (w->s.known)
        w->s.known[local] = NULL;
    if (w->guard)
        guards_see(w, local);
}

void know_local(struct walk *w, uint32_t local, const struct kir_const *k)
{
    if (!w->s.known)
        w->s.known = arena_new_array(w->p->a, w->w->in.fn->n_locals + 1, const struct kir_const *);
    if (!w->s.known)
        fail_memory(w->p);
    else
        w->s.known[local] = k;
}

const struct edge *edges_at(const struct instance *in, uint32_t context, uint32_t node, enum edge_arm arm,
                            uint32_t *ret_n)
{
    const struct edge key = { .context = context, .node = node, .arm = arm };
    uint32_t low = 0, high = in->n_edges, end;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_key(&in->edges[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < in->n_edges; end++) {
        const struct edge *x = &in->edges[end];
        if (x->context != context || x->node != node || x->arm != arm)
            break;
    }
    *ret_n = end - low;
    return in->edges + low;
}
