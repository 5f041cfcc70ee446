/* SPDX-License-Identifier: Apache-2.0
 * cond.c - conditions, and expressions whose value comes from one of several arms. */
#include "daemon/compiler/lower/lo.h"

/* ---- joins of arms ---- */

struct join {
    const struct type *t;
    LLVMValueRef *leaf;
    struct val held; /* its own: the temporaries that hold the owners */
};

static struct join join_begin(struct fn *f, const struct type *t)
{
    const struct tinfo *ti = lo_info(f->lo, t);
    struct join j = { .t = t, .held = val_zero(f, t) };
    j.leaf = lo_alloc(f->lo, ti->n, sizeof(*j.leaf));
    temp_hold(f, &j.held);
    uint32_t k = j.held.own;
    for (uint32_t i = 0; i < ti->n && !f->lo->failed; i++)
        j.leaf[i] = ti->role[i] == LEAF_OWNER ? f->temps[k++ - 1] : fn_alloca(f, ti->reg[i], "join");
    return j;
}

/* References move only on this arm: their temporaries stay on the list for the others. */
static void join_set(struct fn *f, struct join *j, struct val v)
{
    if (f->dead || f->lo->failed)
        return;
    v = convert(f, v, j->t);
    if (!v.t || f->lo->failed)
        return;
    const struct tinfo *ti = lo_info(f->lo, j->t);
    uint32_t own = v.own;
    v = own_take(f, v);
    for (uint32_t i = 0; own && i < ti->n_owner; i++)
        f->temp_live[own - 1 + i] = true;
    for (uint32_t i = 0; i < v.n; i++)
        LLVMBuildStore(f->b, v.v[i], j->leaf[i]);
}

static struct val join_get(struct fn *f, struct join *j)
{
    if (f->lo->failed)
        return val_dead();
    const struct tinfo *ti = lo_info(f->lo, j->t);
    struct val v = val_new(f, j->t, ti->n);
    for (uint32_t i = 0; i < ti->n; i++)
        v.v[i] = LLVMBuildLoad2(f->b, ti->reg[i], j->leaf[i], "");
    v.own = j->held.own;
    return v;
}

/* ---- conditions ---- */

static int known_truth(struct fn *f, uint32_t node)
{
    const struct fact *fa = fact_of(f, node);
    if (fa->truth)
        return fa->truth;
    if (!fa->has_value || !fa->value)
        return 0;
    switch (fa->value->kind) {
    case KIR_K_BOOL:
        return fa->value->b ? 1 : -1;
    case KIR_K_INT:
        return fa->value->i.bits ? 1 : -1;
    case KIR_K_FLOAT:
        return fa->value->f != 0 ? 1 : -1;
    case KIR_K_NONE:
        return -1;
    default:
        return 0;
    }
}

static LLVMValueRef cond_and_or(struct fn *f, uint32_t node, int *ret_known)
{
    const struct kir_node *n = node_of(f, node);
    bool is_and = n->op == KIR_AND;
    uint32_t count;
    const uint32_t *items = kir_list(n, 0, &count);
    LLVMBasicBlockRef out = fn_block(f, "cond");
    LLVMValueRef r = fn_alloca(f, f->lo->i1, "cond");
    *ret_known = 0;
    for (uint32_t i = 0; i < count; i++) {
        int known;
        LLVMValueRef c = eval_cond(f, items[i], &known);
        if (f->dead)
            break;
        if (known && (known > 0) == is_and && i + 1 < count)
            continue; /* decides nothing */
        LLVMBuildStore(f->b, c, r);
        if (i + 1 == count || known) {
            fn_br(f, out);
            break;
        }
        LLVMBasicBlockRef more = fn_block(f, "more");
        fn_cond(f, c, is_and ? more : out, is_and ? out : more);
        fn_at(f, more);
    }
    fn_at(f, out);
    return LLVMBuildLoad2(f->b, f->lo->i1, r, "");
}

/* The truth of an operand; an object's class may decide it. */
static LLVMValueRef node_truth(struct fn *f, uint32_t node, struct val v)
{
    const struct instance *tested = fact_of(f, node)->tested;
    LLVMValueRef valid = NULL, r = fn_alloca(f, f->lo->i1, "truth");
    LLVMBasicBlockRef ask = NULL, out = NULL;
    if (!tested || f->dead)
        return truth(f, v);
    if (v.t->kind == TY_OPTIONAL) { /* None is false, and is not asked */
        valid = v.v[v.n - 1];
        ask = fn_block(f, "ask");
        out = fn_block(f, "asked");
        LLVMBuildStore(f->b, lo_bool(f->lo, false), r);
        fn_cond(f, valid, ask, out);
        fn_at(f, ask);
        v = convert(f, v, v.t->elem);
    }
    struct val answer = emit_call(f, node, tested, NULL, &v);
    if (f->dead && !out)
        return lo_bool(f->lo, false);
    if (!f->dead)
        LLVMBuildStore(f->b, truth(f, answer), r);
    if (out) {
        fn_br(f, out);
        fn_at(f, out);
    }
    return LLVMBuildLoad2(f->b, f->lo->i1, r, "");
}

LLVMValueRef eval_cond(struct fn *f, uint32_t node, int *ret_known)
{
    const struct kir_node *n = node_of(f, node);
    const struct fact *fa = fact_of(f, node);
    LLVMValueRef c = lo_bool(f->lo, false);
    *ret_known = known_truth(f, node);
    if (*ret_known) {
        if (!fa->has_value && fa->type)
            eval(f, node); /* for its effects */
        return lo_bool(f->lo, *ret_known > 0);
    }
    if (f->dead || f->lo->failed)
        return c;
    if (++f->depth > LO_DEPTH_MAX) {
        lo_fail(f->lo, KILN_E_LIMIT, "expressions nest deeper than %d", LO_DEPTH_MAX);
    } else if (n->op == KIR_UNARY && kir_arg(n, 0) == KIR_U_NOT && !fa->callee) {
        c = LLVMBuildNot(f->b, eval_cond(f, kir_arg(n, 1), ret_known), "");
        *ret_known = -*ret_known;
    } else if (n->op == KIR_AND || n->op == KIR_OR) {
        c = cond_and_or(f, node, ret_known);
    } else {
        c = node_truth(f, node, eval(f, node));
    }
    f->depth--;
    return c;
}

/* The value of `a and b or ...`: each operand is one arm of a join. */
struct val eval_and_or(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const struct fact *fa = fact_of(f, node);
    bool is_and = n->op == KIR_AND, last = false;
    uint32_t count;
    const uint32_t *items = kir_list(n, 0, &count);
    if (fa->type->kind == TY_BOOL) { /* all operands are bool: no join of values needed */
        int known;
        LLVMValueRef c = cond_and_or(f, node, &known);
        return val_scalar(f, fa->type, c);
    }
    LLVMBasicBlockRef out = fn_block(f, "value");
    struct join j = join_begin(f, fa->type);
    for (uint32_t i = 0; i < count && !last; i++) {
        int known = known_truth(f, items[i]);
        last = i + 1 == count || (known && (known > 0) != is_and);
        struct val v = eval(f, items[i]);
        if (f->dead)
            break;
        if (last) {
            join_set(f, &j, v);
            fn_br(f, out);
        } else if (!known) {
            LLVMBasicBlockRef more = fn_block(f, "more"), take = fn_block(f, "take");
            fn_cond(f, node_truth(f, items[i], v), is_and ? more : take, is_and ? take : more);
            fn_at(f, take);
            join_set(f, &j, v);
            fn_br(f, out);
            fn_at(f, more);
        }
    }
    fn_at(f, out);
    return join_get(f, &j);
}

struct val eval_ifexp(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    int known;
    LLVMValueRef c = eval_cond(f, kir_arg(n, 0), &known);
    if (f->dead)
        return val_dead();
    if (known)
        return eval_as(f, kir_arg(n, known > 0 ? 1 : 2), fact_of(f, node)->type);
    LLVMBasicBlockRef yes = fn_block(f, "then"), no = fn_block(f, "else"), out = fn_block(f, "value");
    struct join j = join_begin(f, fact_of(f, node)->type);
    fn_cond(f, c, yes, no);
    for (int arm = 0; arm < 2; arm++) {
        fn_at(f, arm ? no : yes);
        edges_apply(f, f->ctx, node, arm ? EDGE_FALSE : EDGE_TRUE);
        join_set(f, &j, eval(f, kir_arg(n, arm ? 2 : 1)));
        edges_apply(f, f->ctx, node, arm ? EDGE_ELSE : EDGE_THEN);
        fn_br(f, out);
    }
    fn_at(f, out);
    return join_get(f, &j);
}
