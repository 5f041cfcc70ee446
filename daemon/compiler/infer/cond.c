/* SPDX-License-Identifier: Apache-2.0
 * cond.c - conditions: what is known of a truth, what a truth tells of types, and operands that may not be
 * evaluated. */
#include <string.h>

#include "daemon/compiler/infer/pass.h"

int truth_of(struct walk *w, uint32_t node)
{
    const struct fact *f = fact_for(w, node);
    const struct kir_const *k = known(w, node);

    if (f->truth)
        return f->truth;
    if (k) {
        switch (k->kind) {
        case KIR_K_NONE:
            return -1;
        case KIR_K_BOOL:
            return k->b ? 1 : -1;
        case KIR_K_INT:
            return k->i.bits ? 1 : -1;
        case KIR_K_FLOAT:
            return k->f != 0 ? 1 : -1;
        case KIR_K_STR:
        case KIR_K_BYTES:
            return k->s.len ? 1 : -1;
        default:
            break;
        }
    }
    if (!f->type)
        return 0;
    switch (f->type->kind) {
    case TY_NONE:
        return -1;
    case TY_TUPLE:
        return f->type->n_items ? 1 : -1;
    case TY_FUNCTION:
    case TY_LIBRARY:
    case TY_TYPEVALUE:
    case TY_CLASS:
    case TY_ENUM:
        return 1;
    default:
        return 0;
    }
}

void meet(struct walk *w, uint32_t node, const struct state *other)
{
    struct state out = state_copy(w, &w->s);

    state_join(w, &out, other);
    if (w->s.dead) {
        w->s = out;
        return;
    }
    for (uint32_t i = 0; i < w->w->in.fn->n_locals; i++) {
        const struct type *a = w->s.types[i], *b = other->types[i], *t = out.types[i];
        if ((a && a != t && !is_bottom(a)) || (b && b != t && !is_bottom(b))) {
            mistake(w, node, "assign it in a statement of its own",
                    "':=' gives a variable another type (%s, %s) in a part that may not be evaluated",
                    show(w, a ? a : b), show(w, b ? b : a));
            out.types[i] = w->p->bottom;
        }
    }
    w->s = out;
}

/* An object as a condition: its class may decide. */
static void ask_object(struct walk *w, uint32_t node)
{
    const struct type *t = fact_for(w, node)->type;

    t = t->kind == TY_OPTIONAL ? t->elem : t;
    if (t->kind == TY_OBJECT)
        object_truth(w, node, t);
}

const struct type *and_or(struct walk *w, uint32_t node, struct fact *f, bool as_condition)
{
    bool is_and = node_at(w, node)->op == KIR_AND;
    uint32_t n;
    const uint32_t *items = kir_list(node_at(w, node), 0, &n);
    const struct type *t = w->p->bottom;
    struct state early = { .dead = true }; /* where the operands after the first one were not evaluated */
    bool all_known = true;

    for (uint32_t i = 0; i < n; i++) {
        int truth;
        const struct type *item, *joined;
        if (i && !truth_of(w, items[i - 1])) {
            if (early.dead)
                early = state_copy(w, &w->s);
            else
                state_join(w, &early, &w->s);
        }
        if (as_condition) {
            truth = cond(w, items[i]);
            item = w->p->boolean;
        } else {
            item = expr(w, items[i]);
            ask_object(w, items[i]);
            truth = truth_of(w, items[i]);
        }
        if (truth && (truth > 0) == is_and && i + 1 < n)
            continue; /* decides nothing, and its value is not used */
        joined = join_types(w->p, t, item);
        if (!joined)
            return mistake(w, node, "make both sides of one type, or use the result only as a condition",
                           "'%s' between %s and %s has no one type", is_and ? "and" : "or", show(w, t),
                           show(w, item));
        t = joined;
        if (truth && (truth > 0) != is_and) { /* the rest is never evaluated */
            if (all_known)
                f->truth = (int8_t)truth;
            break;
        }
        all_known &= truth != 0;
        if (i + 1 == n && all_known)
            f->truth = is_and ? 1 : -1;
    }
    if (!early.dead)
        meet(w, node, &early);
    return t;
}

int cond(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    struct fact *f = fact_for(w, node);

    if (n->op == KIR_AND || n->op == KIR_OR) {
        f->type = and_or(w, node, f, true);
        return f->truth;
    }
    if (n->op == KIR_UNARY && kir_arg(n, 0) == KIR_U_NOT) {
        int truth = cond(w, kir_arg(n, 1));
        f = fact_for(w, node);
        f->type = w->p->boolean;
        f->truth = (int8_t)-truth;
        return f->truth;
    }
    expr(w, node);
    f = fact_for(w, node);
    if (f->type->kind == TY_ARRAY)
        mistake(w, node, "compare an element, or use .any() or .all()", "the truth of an array is ambiguous");
    ask_object(w, node);
    f = fact_for(w, node);
    f->truth = (int8_t)truth_of(w, node);
    return f->truth;
}

/* `x is None`, `x == None`, `x is not None` of an optional local: its number, and whether it is None if true.
 */
static bool none_test(struct walk *w, uint32_t node, uint32_t *ret_local, bool *ret_none)
{
    const struct kir_node *n = node_at(w, node), *a, *b;
    uint32_t n_ops, n_items;
    const uint32_t *ops, *items;

    if (n->op != KIR_COMPARE)
        return false;
    ops = kir_list(n, 0, &n_ops);
    items = kir_list(n, 1, &n_items);
    if (n_ops != 1)
        return false;
    a = node_at(w, items[0]);
    b = node_at(w, items[1]);
    if (a->op != KIR_LOCAL || b->op != KIR_CONST || const_of(w, kir_arg(b, 0))->kind != KIR_K_NONE)
        return false;
    *ret_local = kir_arg(a, 0);
    *ret_none = ops[0] == KIR_C_IS || ops[0] == KIR_C_EQ;
    return *ret_none || ops[0] == KIR_C_ISNOT || ops[0] == KIR_C_NE;
}

static void narrow_types(struct walk *w, uint32_t node, bool outcome)
{
    const struct kir_node *n = node_at(w, node);
    const struct type *t;
    uint32_t l, count;
    bool none;

    if (n->op == KIR_UNARY && kir_arg(n, 0) == KIR_U_NOT) {
        narrow_types(w, kir_arg(n, 1), !outcome);
    } else if (n->op == (outcome ? KIR_AND : KIR_OR)) { /* every operand had this outcome */
        const uint32_t *items = kir_list(n, 0, &count);
        for (uint32_t i = 0; i < count; i++)
            narrow_types(w, items[i], outcome);
    } else if (none_test(w, node, &l, &none)) {
        t = w->s.types[l];
        if (t && t->kind == TY_OPTIONAL)
            w->s.types[l] = none == outcome ? w->p->none : t->elem;
    }
}

void narrow(struct walk *w, uint32_t node, uint32_t condition, bool outcome)
{
    struct state before = state_copy(w, &w->s);

    narrow_types(w, condition, outcome);
    edges_add(w, w->context, node, outcome ? EDGE_TRUE : EDGE_FALSE, &before, &w->s);
}

const struct type *ifexp(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    int truth = cond(w, kir_arg(n, 0));
    const struct type *a, *b, *t;
    struct state start, then_state, else_state, out;

    if (truth)
        return expr(w, kir_arg(n, truth > 0 ? 1 : 2));
    start = state_copy(w, &w->s);
    narrow(w, node, kir_arg(n, 0), true);
    a = expr(w, kir_arg(n, 1));
    then_state = w->s;
    w->s = start;
    narrow(w, node, kir_arg(n, 0), false);
    b = expr(w, kir_arg(n, 2));
    else_state = w->s;
    out = state_copy(w, &then_state);
    state_join(w, &out, &else_state);
    edges_add(w, w->context, node, EDGE_THEN, &then_state, &out);
    edges_add(w, w->context, node, EDGE_ELSE, &else_state, &out);
    w->s = out;
    t = join_types(w->p, a, b);
    if (!t)
        return mistake(w, node, "convert one of them", "the two values of the conditional are %s and %s",
                       show(w, a), show(w, b));
    return t;
}
