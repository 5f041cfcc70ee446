/* SPDX-License-Identifier: Apache-2.0
 * comp.c - displays and comprehensions: an empty container, and items put into it. */
#include "daemon/compiler/lower/lo.h"

/* Put a (and b) into c, which this node makes. */
static void put(struct fn *f, uint32_t node, struct val c, struct val a, struct val b)
{
    const struct fact *fa = fact_of(f, node);
    if (f->dead || !a.t)
        return;
    if (c.t->kind == TY_LIST) {
        list_push(f, c, a, node);
        return;
    }
    struct val args[3] = { c, a, b };
    for (uint32_t i = 1; fa->callee && i < fa->callee->fn->n_params && i < 3; i++)
        args[i] = convert(f, args[i], fa->callee->params[i]);
    if (!fa->callee) {
        lo_fail_at(f, node, "nothing puts items into this container");
        return;
    }
    emit_call(f, node, fa->callee, NULL, args);
}

/* *x in a display: its items, one by one. */
static void put_all(struct fn *f, uint32_t node, struct val c, struct val it)
{
    struct nest n;
    if (f->dead || !it.t)
        return;
    LLVMValueRef len = iter_length(f, it, node);
    nest_begin(f, &n, 1, &len, 'C');
    size_t mark = temps_mark(f);
    put(f, node, c, iter_item(f, it, n.index[0]), val_none(f));
    temps_end(f, mark);
    nest_end(f, &n);
}

struct val eval_display(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    struct val c = container_make(f, fact_of(f, node)->type, node);
    uint32_t count, n_values = 0;
    const uint32_t *items = kir_list(n, 0, &count),
                   *values = n->op == KIR_DICT ? kir_list(n, 1, &n_values) : NULL;
    for (uint32_t i = 0; i < count && !f->dead && !f->lo->failed; i++) {
        bool star = node_of(f, items[i])->op == KIR_STAR;
        size_t mark = temps_mark(f);
        struct val a = eval(f, star ? kir_arg(node_of(f, items[i]), 0) : items[i]);
        if (star)
            put_all(f, node, c, a);
        else
            put(f, node, c, a, values ? eval(f, values[i]) : val_none(f));
        temps_end(f, mark);
    }
    return f->dead ? val_dead() : c;
}

struct comp {
    uint32_t node, n;
    const uint32_t *clauses;
    struct val c;
};

static void element(struct fn *f, const struct comp *x)
{
    const struct kir_node *n = node_of(f, x->node);
    uint32_t key = kir_opt(n, 1);
    struct val a = key == KIR_NIL ? val_none(f) : eval(f, key), b = eval(f, kir_arg(n, 2));
    if (key == KIR_NIL)
        put(f, x->node, x->c, b, val_none(f));
    else
        put(f, x->node, x->c, a, b);
}

static void clause(struct fn *f, const struct comp *x, uint32_t k)
{
    struct lo *lo = f->lo;
    size_t outer = temps_mark(f);
    if (k == x->n) {
        element(f, x);
        temps_end(f, outer);
        return;
    }
    const struct kir_node *n = node_of(f, x->clauses[k]);
    struct val it = eval_iterable(f, x->clauses[k], kir_arg(n, 1));
    uint32_t n_conditions;
    const uint32_t *conditions = kir_list(n, 2, &n_conditions);
    if (f->dead || !it.t)
        return;
    if (lo_info(lo, it.t)->n_owner && !it.own) {
        it = own_take(f, it);
        temp_hold(f, &it);
    }
    LLVMBasicBlockRef top = fn_block(f, "comp"), body = fn_block(f, "comp.body"),
                      next = fn_block(f, "comp.next"), out = fn_block(f, "comp.out");
    LLVMValueRef kv = fn_alloca(f, lo->i64, "k"), i;
    LLVMBuildStore(f->b, lo_int(lo, 0), kv);
    edges_apply(f, f->ctx, x->clauses[k], EDGE_ENTRY);
    fn_br(f, top);
    fn_at(f, top);
    i = LLVMBuildLoad2(f->b, lo->i64, kv, "");
    fn_cond(f, LLVMBuildICmp(f->b, LLVMIntSLT, i, iter_length(f, it, x->clauses[k]), ""), body, out);
    fn_at(f, body);
    size_t mark = temps_mark(f);
    assign_to(f, kir_arg(n, 0), iter_item(f, it, i));
    temps_end(f, mark);
    for (uint32_t c = 0; c < n_conditions && !f->dead; c++) {
        int known;
        LLVMBasicBlockRef yes = fn_block(f, "comp.if"), no = fn_block(f, "comp.skip");
        LLVMValueRef t = eval_cond(f, conditions[c], &known);
        fn_cond(f, known ? lo_bool(lo, known > 0) : t, yes, no);
        fn_at(f, no);
        temps_release(f, mark);
        fn_br(f, next);
        fn_at(f, yes);
        temps_end(f, mark);
    }
    if (!f->dead)
        clause(f, x, k + 1);
    fn_br(f, next);
    fn_at(f, next);
    edges_apply(f, f->ctx, x->clauses[k], EDGE_BACK);
    i = LLVMBuildLoad2(f->b, lo->i64, kv, "");
    LLVMBuildStore(f->b, LLVMBuildNUWAdd(f->b, i, lo_int(lo, 1), ""), kv);
    fn_br(f, top);
    fn_at(f, out);
    temps_end(f, outer);
}

struct val eval_comp(struct fn *f, uint32_t node)
{
    struct comp x = { .node = node, .c = container_make(f, fact_of(f, node)->type, node) };
    x.clauses = kir_list(node_of(f, node), 3, &x.n);
    if (f->dead || !x.c.t)
        return val_dead();
    clause(f, &x, 0);
    return f->dead ? val_dead() : x.c;
}
