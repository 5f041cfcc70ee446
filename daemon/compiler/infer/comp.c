/* SPDX-License-Identifier: Apache-2.0
 * comp.c - list, set and dict displays, and comprehensions.
 *
 * A comprehension is typed as the loops that it stands for. A generator expression that is an argument is
 * made whole before the call, as a list. */
#include "daemon/compiler/infer/pass.h"

/* The function that puts one item into what this node makes; lists need none. */
static void adder(struct walk *w, uint32_t node, const struct type *t)
{
    const struct type *ret, *types[3] = { t, NULL, NULL };
    const uint32_t nodes[3] = { node, node, node };

    if (t->kind == TY_LIST || is_bottom(t) || is_bottom(settled(w, t)))
        return;
    types[0] = settled(w, t);
    types[1] = t->kind == TY_DICT ? t->items[0] : t->elem;
    types[2] = t->kind == TY_DICT ? t->items[1] : NULL;
    protocol_call(w, node, fact_for(w, node), types[0], t->kind == TY_DICT ? "__setitem__" : "add", nodes,
                  types, t->kind == TY_DICT ? 3 : 2, &ret);
}

const struct type *display(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    enum type_kind kind = n->op == KIR_LIST ? TY_LIST : n->op == KIR_SET ? TY_SET : TY_DICT;
    const struct type *t = container_new(w, node, kind, NULL, NULL);
    uint32_t count, n_values = 0;
    const uint32_t *items = kir_list(n, 0, &count), *values = NULL;

    if (kind == TY_DICT)
        values = kir_list(n, 1, &n_values);
    for (uint32_t i = 0; i < count; i++) {
        bool star = node_at(w, items[i])->op == KIR_STAR;
        uint32_t inner = star ? kir_arg(node_at(w, items[i]), 0) : items[i];
        const struct type *a = expr(w, inner), *b = NULL;
        if (star) {
            fact_for(w, items[i])->type = a;
            a = is_bottom(a) ? a : item_type(w, inner, a);
        }
        if (values)
            b = expr(w, values[i]);
        t = container_new(w, node, kind, a, b);
    }
    adder(w, node, t);
    return t;
}

static const struct type *element(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t key = kir_opt(n, 1);
    enum type_kind kind = kir_arg(n, 0) == KIR_COMP_SET    ? TY_SET
                          : kir_arg(n, 0) == KIR_COMP_DICT ? TY_DICT
                                                           : TY_LIST;
    const struct type *a = key == KIR_NIL ? NULL : expr(w, key), *b = expr(w, kir_arg(n, 2));

    return container_new(w, node, kind, a ? a : b, a ? b : NULL);
}

/* Clause k and those inside it. */
static void clause(struct walk *w, uint32_t node, const uint32_t *clauses, uint32_t n, uint32_t k)
{
    const struct kir_node *c;
    const struct type *t, *item;
    struct state entry;
    struct head *h;
    uint32_t n_conditions;
    const uint32_t *conditions;
    bool is_new;

    if (k == n) {
        element(w, node);
        return;
    }
    c = node_at(w, clauses[k]);
    conditions = kir_list(c, 2, &n_conditions);
    t = iterated(w, clauses[k], kir_arg(c, 1));
    if (w->s.dead)
        return;
    item = item_type(w, kir_arg(c, 1), t);
    fact_for(w, clauses[k])->type = w->p->none;
    h = head_find(w, clauses[k], &is_new);
    if (!h)
        return;
    entry = w->s;
    state_join(w, &h->state, &entry);
    for (unsigned round = 0;; round++) {
        struct state skipped = { .dead = true }, exit;
        bool never = false;
        w->s = state_copy(w, &h->state);
        exit = state_copy(w, &w->s);
        assign(w, kir_arg(c, 0), item, kir_arg(c, 1));
        for (uint32_t i = 0; i < n_conditions; i++) {
            int truth = cond(w, conditions[i]);
            if (truth <= 0)
                state_join(w, &skipped, &w->s);
            never |= truth < 0;
        }
        if (never)
            w->s.dead = true;
        else
            clause(w, node, clauses, n, k + 1);
        if (!skipped.dead)
            meet(w, clauses[k], &skipped);
        if (!state_join(w, &h->state, &w->s)) {
            edges_add(w, w->context, clauses[k], EDGE_ENTRY, &entry, &h->state);
            edges_add(w, w->context, clauses[k], EDGE_BACK, &w->s, &h->state);
            w->s = exit;
            return;
        }
        if (round >= INFER_MAX_ROUNDS || w->p->failed) {
            mistake(w, node, NULL, "the types of this comprehension are not stable after %d rounds",
                    INFER_MAX_ROUNDS);
            return;
        }
    }
}

const struct type *comprehension(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    enum kir_comp kind = (enum kir_comp)kir_arg(n, 0);
    uint32_t count;
    const uint32_t *clauses = kir_list(n, 3, &count);
    const struct type *t;

    clause(w, node, clauses, count, 0);
    t = container_new(w, node,
                      kind == KIR_COMP_SET    ? TY_SET
                      : kind == KIR_COMP_DICT ? TY_DICT
                                              : TY_LIST,
                      NULL, NULL);
    adder(w, node, t);
    return t;
}
