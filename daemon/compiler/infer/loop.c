/* SPDX-License-Identifier: Apache-2.0
 * loop.c - loops: round and round until the types at the head are stable.
 *
 * The head's state is kept between walks, so that the emitting walk begins with the final one and goes round
 * once. A loop over a tuple of different types is unrolled: its body has facts in a context per item. */
#include "daemon/compiler/infer/pass.h"

static void jumps_to(struct walk *w, const struct jump *list, struct state *to)
{
    for (const struct jump *j = list; j; j = j->next)
        state_join(w, to, &j->state);
}

static void jump_edges(struct walk *w, const struct jump *list, const struct state *to)
{
    for (const struct jump *j = list; j; j = j->next)
        edges_add(w, j->context, j->node, EDGE_JUMP, &j->state, to);
}

/* After the loop: the normal exit (through the else block) joined with the breaks. */
static void leave(struct walk *w, uint32_t node, uint32_t other, struct state exit, const struct loop *l)
{
    struct state out;

    w->s = exit;
    if (other != KIR_NIL && !w->s.dead)
        block(w, other);
    exit = w->s;
    out = state_copy(w, &exit);
    jumps_to(w, l->breaks, &out);
    edges_add(w, w->context, node, EDGE_EXIT, &exit, &out);
    jump_edges(w, l->breaks, &out);
    w->s = out;
}

static void too_many_rounds(struct walk *w, uint32_t node)
{
    mistake(w, node, "does a variable's type grow with each round?",
            "the types of this loop are not stable after %d rounds", INFER_MAX_ROUNDS);
}

/* Join what comes back to the head; false when it brings nothing new. */
static bool head_grows(struct walk *w, struct head *h, const struct loop *l)
{
    bool grew = state_join(w, &h->state, &w->s);

    for (const struct jump *j = l->continues; j; j = j->next)
        grew |= state_join(w, &h->state, &j->state);
    return grew;
}

static void round_edges(struct walk *w, uint32_t node, const struct state *entry, const struct head *h,
                        const struct loop *l)
{
    edges_add(w, w->context, node, EDGE_ENTRY, entry, &h->state);
    edges_add(w, w->context, node, EDGE_BACK, &w->s, &h->state);
    jump_edges(w, l->continues, &h->state);
}

void while_loop(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    bool is_new;
    struct head *h = head_find(w, node, &is_new);
    struct state entry = w->s, exit;
    struct loop l = { .up = w->loop, .final = w->final };

    if (!h)
        return;
    state_join(w, &h->state, &entry);
    for (unsigned round = 0;; round++) {
        int truth;
        l.breaks = l.continues = NULL;
        w->loop = &l;
        w->s = state_copy(w, &h->state);
        truth = cond(w, kir_arg(n, 0));
        exit = state_copy(w, &w->s);
        exit.dead |= truth > 0;
        if (truth >= 0)
            block(w, kir_arg(n, 1));
        else
            w->s.dead = true;
        w->loop = l.up;
        if (!head_grows(w, h, &l)) {
            round_edges(w, node, &entry, h, &l);
            break;
        }
        if (round >= INFER_MAX_ROUNDS || w->p->failed) {
            too_many_rounds(w, node);
            break;
        }
    }
    leave(w, node, kir_opt(n, 2), exit, &l);
}

/* Items of different types somewhere in what is iterated: such a loop has to be unrolled. */
static bool mixed(const struct type *t)
{
    if (t->kind == TY_TUPLE) {
        for (uint32_t i = 1; i < t->n_items; i++)
            if (t->items[i] != t->items[0])
                return true;
    } else if (t->kind == TY_ITER) {
        for (uint32_t i = 0; i < (t->name[0] == 'z' ? t->n_items : 1); i++)
            if (mixed(t->items[i]))
                return true;
    }
    return false;
}

/* How many items there are, where types tell. */
static bool static_length(const struct type *t, uint32_t *ret)
{
    uint32_t n;

    if (t->kind == TY_TUPLE) {
        *ret = t->n_items;
        return true;
    }
    if (t->kind != TY_ITER)
        return false;
    *ret = UINT32_MAX;
    for (uint32_t i = 0; i < (t->name[0] == 'z' ? t->n_items : 1); i++) {
        if (!static_length(t->items[i], &n))
            return false;
        *ret = n < *ret ? n : *ret;
    }
    return true;
}

static const struct type *static_item(struct walk *w, const struct type *t, uint32_t k)
{
    const struct type *items[TYPE_MAX_NDIM * 2], *r;
    uint32_t n = 0, len = 0;

    if (t->kind == TY_TUPLE)
        return t->items[k];
    if (t->name[0] == 'r') {
        static_length(t->items[0], &len);
        return static_item(w, t->items[0], len - 1 - k);
    }
    if (t->name[0] == 'e') {
        items[n++] = numba(w) ? scalar(w, TY_INT64) : w->p->pyint;
        items[n++] = static_item(w, t->items[0], k);
    } else {
        for (; n < t->n_items && n < TYPE_MAX_NDIM * 2; n++)
            items[n] = static_item(w, t->items[n], k);
    }
    r = type_tuple(w->p->types, items, n, 0);
    return r ? r : fail_memory(w->p);
}

static bool asks_unroll(struct walk *w, uint32_t node)
{
    return node_at(w, node)->op == KIR_CALL && fact_for(w, node)->intrinsic == LIB_LITERAL_UNROLL;
}

/* What a loop goes over, when the body may know its items, one a round: what literal_unroll is given, and
 * texts (names of fields, as a rule). A constant tuple, or a display. KIR_NIL: not so. */
static uint32_t literals_of(struct walk *w, uint32_t node, const struct type *t)
{
    bool asked = asks_unroll(w, node);
    uint32_t count;

    if (asked)
        node = kir_list(node_at(w, node), 1, &count)[0];
    if (t->kind != TY_TUPLE || !t->n_items || t->n_items > INFER_MAX_UNROLL)
        return KIR_NIL;
    for (uint32_t i = 0; i < t->n_items && !asked; i++)
        if (t->items[i]->kind != TY_STR)
            return KIR_NIL;
    return node;
}

static void know_const(struct walk *w, uint32_t target, const struct kir_const *k)
{
    const struct kir_node *n = node_at(w, target);
    uint32_t count;
    const uint32_t *items;

    if (n->op == KIR_LOCAL) {
        know_local(w, kir_arg(n, 0), k);
    } else if (n->op == KIR_TUPLE && k->kind == KIR_K_TUPLE) {
        items = kir_list(n, 0, &count);
        for (uint32_t i = 0; count == k->n_items && i < count; i++)
            know_const(w, items[i], const_of(w, k->items[i]));
    }
}

static const struct kir_const *own_const(struct walk *w, uint32_t node)
{
    const struct fact *f = fact_for(w, node);

    return f->has_value && f->value_mod != w->w->in.unit->mod ? NULL : known(w, node);
}

/* The target has the value of a node, as far as that is known. Facts are those of the loop's own context. */
static void know_target(struct walk *w, uint32_t target, uint32_t node)
{
    const struct kir_node *t = node_at(w, target), *n = node_at(w, node);
    const struct kir_const *k = own_const(w, node);
    uint32_t n_targets, n_items;
    const uint32_t *targets, *items;

    if (k) {
        know_const(w, target, k);
    } else if (t->op == KIR_TUPLE && n->op == KIR_TUPLE) {
        targets = kir_list(t, 0, &n_targets);
        items = kir_list(n, 0, &n_items);
        for (uint32_t i = 0; n_targets == n_items && i < n_items; i++)
            know_target(w, targets[i], items[i]);
    }
}

/* Item k of what literals_of gave. */
static void know_item(struct walk *w, uint32_t target, uint32_t tuple, uint32_t k)
{
    const struct kir_const *all = own_const(w, tuple);
    uint32_t count;
    const uint32_t *items;

    if (all && all->kind == KIR_K_TUPLE && k < all->n_items) {
        know_const(w, target, const_of(w, all->items[k]));
    } else if (!all && node_at(w, tuple)->op == KIR_TUPLE) {
        items = kir_list(node_at(w, tuple), 0, &count);
        for (uint32_t i = 0; i < count; i++)
            if (node_at(w, items[i])->op == KIR_STAR)
                return;
        if (k < count)
            know_target(w, target, items[k]);
    }
}

static void unrolled(struct walk *w, uint32_t node, const struct type *t)
{
    const struct kir_node *n = node_at(w, node);
    struct loop l = { .up = w->loop, .final = w->final };
    bool is_new;
    struct head *h = head_find(w, node, &is_new);
    struct fact *f;
    uint32_t literals = literals_of(w, kir_arg(n, 1), t);
    uint32_t outer = w->context, count = 0;

    if (!h)
        return;
    if (!static_length(t, &count)) {
        mistake(w, kir_arg(n, 1), "zip it with tuples only",
                "a tuple of different types can be iterated only where the number of rounds is known when "
                "compiling");
        return;
    }
    if (count > INFER_MAX_UNROLL) {
        mistake(w, node, NULL, "a loop over %u items of different types is too long to unroll", count);
        return;
    }
    if (count == 0) {
        leave(w, node, kir_opt(n, 3), w->s, &l);
        return;
    }
    if (is_new || h->n_contexts != count) {
        h->n_contexts = count;
        h->contexts = contexts_new(w, count);
    }
    f = fact_for(w, node);
    f->contexts = h->contexts;
    f->n_contexts = h->n_contexts;
    w->loop = &l;
    for (uint32_t k = 0; k < count && !w->s.dead && !w->p->failed; k++) {
        struct state next;
        w->context = h->contexts + k;
        l.continues = NULL;
        assign(w, kir_arg(n, 0), static_item(w, t, k), kir_arg(n, 0));
        if (literals != KIR_NIL) {
            w->context = outer;
            know_item(w, kir_arg(n, 0), literals, k);
            w->context = h->contexts + k;
        }
        block(w, kir_arg(n, 2));
        next = state_copy(w, &w->s);
        jumps_to(w, l.continues, &next);
        edges_add(w, w->context, node, EDGE_BACK, &w->s, &next);
        jump_edges(w, l.continues, &next);
        w->s = next;
    }
    w->context = outer;
    w->loop = l.up;
    leave(w, node, kir_opt(n, 3), w->s, &l);
}

const struct type *iterated(struct walk *w, uint32_t loop, uint32_t iterable)
{
    const struct type *t = expr(w, iterable), *ret;

    if (is_bottom(t) || !protocol_has(w, t, "__iter__"))
        return t;
    t = settled(w, t);
    if (is_bottom(t))
        return t;
    protocol_call(w, loop, fact_for(w, loop), t, "__iter__", &iterable, &t, 1, &ret);
    return ret;
}

void for_loop(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    const struct type *t = iterated(w, node, kir_arg(n, 1)), *item;
    struct loop l = { .up = w->loop, .final = w->final };
    struct state entry, exit;
    struct head *h;
    bool is_new;

    if (w->s.dead) /* the iterable never comes back: it raises, or it is a diagnosed mistake */
        return;
    if (mixed(t) || (asks_unroll(w, kir_arg(n, 1)) && t->kind == TY_TUPLE) ||
        literals_of(w, kir_arg(n, 1), t) != KIR_NIL) {
        unrolled(w, node, t);
        return;
    }
    if (t->kind == TY_TUPLE && t->n_items == 0) { /* never entered */
        exit = w->s;
        leave(w, node, kir_opt(n, 3), exit, &l);
        return;
    }
    item = item_type(w, kir_arg(n, 1), t);
    h = head_find(w, node, &is_new);
    if (!h)
        return;
    if (t->kind == TY_RANGE || t->kind == TY_ITER)
        w->w->raises = true; /* a step of zero */
    entry = w->s;
    state_join(w, &h->state, &entry);
    for (unsigned round = 0;; round++) {
        l.breaks = l.continues = NULL;
        w->loop = &l;
        w->s = state_copy(w, &h->state);
        exit = state_copy(w, &w->s);
        assign(w, kir_arg(n, 0), item, kir_arg(n, 1));
        block(w, kir_arg(n, 2));
        w->loop = l.up;
        if (!head_grows(w, h, &l)) {
            round_edges(w, node, &entry, h, &l);
            break;
        }
        if (round >= INFER_MAX_ROUNDS || w->p->failed) {
            too_many_rounds(w, node);
            break;
        }
    }
    leave(w, node, kir_opt(n, 3), exit, &l);
}
