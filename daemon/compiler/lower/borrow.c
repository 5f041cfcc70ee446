/* SPDX-License-Identifier: Apache-2.0
 * borrow.c - variables that need no reference counts.
 *
 * What the caller passed in lives until the call ends. A variable that is only ever bound to such values, or
 * to views of them (`row = a[i]`, `for row in a`, `a = a[1:]`), can borrow as well: no count goes up and down
 * in the loop. Found by assuming it of every variable and dropping those with a binding that breaks it, until
 * nothing changes. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

/* Done by a call of a prelude function in some context: its result is new. */
static bool calls(struct fn *f, uint32_t node)
{
    for (uint32_t c = 0; c < f->in->n_contexts; c++)
        if (fact_at(f->in, c, node)->callee)
            return true;
    return false;
}

static bool iterates(struct fn *f, uint32_t node)
{
    const char *how = intrinsic_how(fact_at(f->in, f->ctx, node)->intrinsic);
    return how && !strcmp(how, "op.iter");
}

/* What is inside may go while the value itself lives. */
static bool mutable_inside(struct fn *f, uint32_t node)
{
    const struct type *t = NULL;
    for (uint32_t c = 0; c < f->in->n_contexts; c++) {
        t = fact_at(f->in, c, node)->type;
        if (!t)
            continue;
        if (t->kind == TY_LIST || t->kind == TY_DICT || t->kind == TY_SET || t->kind == TY_OBJECT)
            return true;
        for (uint32_t i = 0; t->kind == TY_ITER && i < t->n_items; i++)
            if (t->items[i]->kind == TY_LIST || t->items[i]->kind == TY_ITER)
                return true;
    }
    return false;
}

static bool lasts(struct fn *f, const bool *borrows, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    if (calls(f, node))
        return false;
    switch (n->op) {
    case KIR_LOCAL:
        return borrows[kir_arg(n, 0)];
    case KIR_FREE:
    case KIR_ENV:
    case KIR_CONST:
        return true;
    case KIR_SUBSCRIPT:
    case KIR_ATTR:
        return !mutable_inside(f, kir_arg(n, 0)) && lasts(f, borrows, kir_arg(n, 0)); /* at most KIR_MAX_DEPTH levels */
    case KIR_CALL: {                             /* enumerate, zip, reversed: as their arguments */
        uint32_t count;
        const uint32_t *args = kir_list(n, 1, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!lasts(f, borrows, args[i]))
                return false;
        return iterates(f, node);
    }
    default:
        return false;
    }
}

/* Every variable in a target loses or keeps its property; true when one lost it. */
static bool bind_target(struct fn *f, bool *borrows, uint32_t target, bool keep)
{
    bool changed = false;
    for (uint32_t i = f->start[target]; i <= target; i++) {
        const struct kir_node *n = node_of(f, i);
        if (n->op != KIR_LOCAL || !f->target[i] || keep || !borrows[kir_arg(n, 0)])
            continue;
        borrows[kir_arg(n, 0)] = false;
        changed = true;
    }
    return changed;
}

static bool round_once(struct fn *f, bool *borrows)
{
    bool changed = false;
    for (uint32_t i = 0; i < f->in->fn->n_nodes; i++) {
        const struct kir_node *n = node_of(f, i);
        uint32_t count;
        const uint32_t *targets;
        switch (n->op) {
        case KIR_ASSIGN:
            targets = kir_list(n, 1, &count);
            for (uint32_t k = 0; k < count; k++)
                changed |= bind_target(f, borrows, targets[k], lasts(f, borrows, kir_arg(n, 0)));
            break;
        case KIR_AUGASSIGN:
            changed |= bind_target(f, borrows, kir_arg(n, 1), false);
            break;
        case KIR_FOR:
        case KIR_PARFOR:
            changed |= bind_target(f, borrows, kir_arg(n, 0),
                                   !calls(f, i) && !mutable_inside(f, kir_arg(n, 1)) &&
                                       lasts(f, borrows, kir_arg(n, 1)));
            break;
        case KIR_COMPFOR:
            changed |= bind_target(f, borrows, kir_arg(n, 0), false);
            break;
        case KIR_WITHITEM:
            if (kir_opt(n, 1) != KIR_NIL)
                changed |= bind_target(f, borrows, kir_opt(n, 1), false);
            break;
        case KIR_WALRUS:
            changed |= borrows[kir_arg(n, 0)];
            borrows[kir_arg(n, 0)] = false;
            break;
        default:
            break;
        }
    }
    return changed;
}

void borrow_scan(struct fn *f)
{
    uint32_t n = f->in->fn->n_locals;
    bool refs = false;
    f->borrows = lo_alloc(f->lo, n + 1, sizeof(*f->borrows));
    /* nothing to find where no reference is: skip the rounds */
    for (uint32_t i = 0; i < f->in->fn->n_params && !refs; i++)
        refs = lo_info(f->lo, f->in->params[i])->n_owner != 0;
    refs |= f->in->fn->n_free != 0 || f->lo->p->n_env != 0;
    if (!refs || f->lo->failed)
        return;
    memset(f->borrows, true, n);
    while (round_once(f, f->borrows)) /* each round takes one variable away at least */
        ;
}
