/* SPDX-License-Identifier: Apache-2.0
 * loop.c - while and for.
 *
 * `for` over range by 1 or -1 is the counted loop that the optimizer knows; any other iterable is a length
 * taken once and an item at a position. The loop variable of Python is assigned from the hidden counter, so a
 * body that changes it does not change the count. */
#include "daemon/compiler/lower/lo.h"

/* ---- iterables ---- */

static LLVMValueRef range_length(struct fn *f, struct val r)
{
    struct lo *lo = f->lo;
    const struct type *t = r.t->elem;
    bool is_signed = type_is_signed(t);
    LLVMValueRef start = LLVMBuildIntCast2(f->b, r.v[0], lo->i64, is_signed, "");
    LLVMValueRef stop = LLVMBuildIntCast2(f->b, r.v[1], lo->i64, is_signed, "");
    LLVMValueRef step = LLVMBuildIntCast2(f->b, r.v[2], lo->i64, is_signed, "");
    LLVMValueRef zero = lo_int(lo, 0), one = lo_int(lo, 1);
    LLVMIntPredicate less = is_signed ? LLVMIntSLT : LLVMIntULT;
    LLVMValueRef up = is_signed ? LLVMBuildICmp(f->b, LLVMIntSGT, step, zero, "") : lo_bool(lo, true);
    LLVMValueRef low = LLVMBuildSelect(f->b, up, start, stop, ""),
                 high = LLVMBuildSelect(f->b, up, stop, start, "");
    LLVMValueRef by = LLVMBuildSelect(f->b, up, step, LLVMBuildNeg(f->b, step, ""), "");
    LLVMValueRef some = LLVMBuildICmp(f->b, less, low, high, "");
    /* as unsigned: the span of two 64-bit integers fits */
    LLVMValueRef span = LLVMBuildSub(f->b, LLVMBuildSub(f->b, high, low, ""), one, "");
    LLVMValueRef n = LLVMBuildAdd(f->b, LLVMBuildUDiv(f->b, span, by, ""), one, "");
    return LLVMBuildSelect(f->b, some, n, zero, "");
}

LLVMValueRef iter_length(struct fn *f, struct val it, uint32_t node)
{
    struct lo *lo = f->lo;
    if (!it.t)
        return lo_int(lo, 0);
    switch (it.t->kind) {
    case TY_RANGE:
        return range_length(f, it);
    case TY_ARRAY:
        if (it.t->ndim)
            return arr_shape(it, 0);
        raise_static(f, node, EXC(TypeError), "iteration over a 0-d array");
        return lo_int(lo, 0);
    case TY_TUPLE:
    case TY_RECORD:
        return lo_int(lo, it.t->n_items);
    case TY_LIST:
    case TY_DICT:
    case TY_SET:
        return container_length(f, it);
    case TY_STR:
    case TY_BYTES:
        return it.v[2];
    case TY_ITER: {
        LLVMValueRef n = NULL;
        uint32_t count = it.t->name[0] == 'z' ? it.t->n_items : 1;
        for (uint32_t i = 0; i < count; i++) {
            LLVMValueRef len = iter_length(f, val_item(f, it, i), node);
            n = n ? LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, len, n, ""), len, n, "") : len;
        }
        return n ? n : lo_int(lo, 0);
    }
    default:
        lo_fail_at(f, node, "this value cannot be iterated");
        return lo_int(lo, 0);
    }
}

static struct val tuple_item(struct fn *f, struct val t, LLVMValueRef k)
{
    if (LLVMIsAConstantInt(k)) {
        uint64_t i = LLVMConstIntGetZExtValue(k);
        struct val v = i < t.t->n_items ? val_item(f, t, (uint32_t)i) : val_dead();
        v.own = 0;
        return v;
    }
    if (!t.t->n_items)
        return val_dead();
    struct val r = val_item(f, t, 0);
    struct val out = val_new(f, r.t, r.n);
    for (uint32_t l = 0; l < r.n; l++)
        out.v[l] = r.v[l];
    for (uint32_t i = 1; i < t.t->n_items; i++) {
        struct val item = convert(f, val_item(f, t, i), r.t);
        LLVMValueRef here = LLVMBuildICmp(f->b, LLVMIntEQ, k, lo_int(f->lo, i), "");
        for (uint32_t l = 0; l < r.n && l < item.n; l++)
            out.v[l] = LLVMBuildSelect(f->b, here, item.v[l], out.v[l], "");
    }
    return out;
}

static struct val array_item(struct fn *f, struct val a, LLVMValueRef k)
{
    struct lo *lo = f->lo;
    if (a.t->ndim <= 1)
        return arr_load(f, a, &k);
    unsigned n = a.t->ndim - 1u;
    char layout = a.t->layout == 'C' ? 'C' : 'A';
    const struct type *t = type_array(lo->p->types, a.t->elem, n, layout, a.t->readonly, a.t->unaligned);
    LLVMValueRef strides[64], off = LLVMBuildNSWMul(f->b, k, arr_stride(f, a, 0), "");
    for (unsigned i = 0; i < n; i++)
        strides[i] = arr_stride(f, a, i + 1);
    LLVMValueRef data = LLVMBuildGEP2(f->b, lo->i8, arr_data(a), &off, 1, "");
    return arr_make(f, t, arr_owner(a), data, a.v + 3, strides);
}

struct val iter_item(struct fn *f, struct val it, LLVMValueRef k)
{
    struct lo *lo = f->lo;
    if (!it.t)
        return val_dead();
    switch (it.t->kind) {
    case TY_RANGE: {
        LLVMValueRef i = LLVMBuildIntCast2(f->b, k, lo_reg(lo, it.t->elem), 0, "");
        LLVMValueRef v = LLVMBuildAdd(f->b, it.v[0], LLVMBuildMul(f->b, i, it.v[2], ""), "");
        return val_scalar(f, it.t->elem, v);
    }
    case TY_ARRAY:
        return array_item(f, it, k);
    case TY_LIST:
        return list_item(f, it, k);
    case TY_STR:
    case TY_BYTES:
        return text_item(f, it, k);
    case TY_TUPLE:
        return tuple_item(f, it, k);
    case TY_ITER: {
        struct val items[64];
        const struct type *types[64];
        uint32_t n = 0;
        if (it.t->name[0] == 'r') { /* reversed */
            struct val in = val_item(f, it, 0);
            LLVMValueRef last = LLVMBuildSub(f->b, iter_length(f, in, 0), lo_int(lo, 1), "");
            return iter_item(f, in, LLVMBuildSub(f->b, last, k, ""));
        }
        if (it.t->name[0] == 'v') /* a dict's view */
            return iter_item(f, val_item(f, it, 0), k);
        if (it.t->name[0] == 'e') { /* enumerate */
            const struct type *pyint = lo_type(lo, TY_PYINT);
            LLVMValueRef i = k;
            if (it.t->n_items > 1)
                i = LLVMBuildAdd(f->b, to_index(f, val_item(f, it, 1)), k, "");
            items[n++] = val_scalar(f, pyint, i);
            items[n++] = iter_item(f, val_item(f, it, 0), k);
        } else {
            for (; n < it.t->n_items && n < 64; n++)
                items[n] = iter_item(f, val_item(f, it, n), k);
        }
        for (uint32_t i = 0; i < n; i++) {
            items[i].own = 0;
            types[i] = items[i].t;
            if (!types[i])
                return val_dead();
        }
        return val_join(f, type_tuple(lo->p->types, types, n, 0), items, n);
    }
    default:
        return val_dead();
    }
}

/* ---- what a body does to a variable ---- */

static bool assigned_in(struct fn *f, uint32_t body, uint32_t local)
{
    for (uint32_t i = f->start[body]; i <= body; i++) {
        const struct kir_node *n = node_of(f, i);
        if (n->op == KIR_LOCAL && f->target[i] && kir_arg(n, 0) == local)
            return true;
        if (n->op == KIR_WALRUS && kir_arg(n, 0) == local)
            return true;
    }
    return false;
}

/* Does the iterable stay alive whatever the body assigns? Its root is a variable that the body leaves alone.
 */
static bool stays_alive(struct fn *f, uint32_t node, uint32_t body)
{
    const struct kir_node *n = node_of(f, node);
    switch (n->op) {
    case KIR_LOCAL:
        return f->borrows[kir_arg(n, 0)] || !assigned_in(f, body, kir_arg(n, 0));
    case KIR_FREE:
    case KIR_ENV:
    case KIR_CONST:
        return true;
    case KIR_SUBSCRIPT:
    case KIR_ATTR:
        return stays_alive(f, kir_arg(n, 0), body);
    case KIR_CALL: {
        uint32_t count;
        const uint32_t *args = kir_list(n, 1, &count);
        for (uint32_t i = 0; i < count; i++) {
            const struct type *t = fact_of(f, args[i])->type;
            if (t && lo_info(f->lo, t)->n_owner && !stays_alive(f, args[i], body))
                return false;
        }
        return true;
    }
    default:
        return false;
    }
}

/* Least value of the loop variable of `for i in range(...)`. */
static bool range_min(struct fn *f, uint32_t iter, struct val r, int64_t *ret)
{
    const struct kir_node *n = node_of(f, iter);
    const char *how = intrinsic_how(fact_of(f, iter)->intrinsic);
    uint32_t count;
    int64_t step = 1;
    if (n->op != KIR_CALL || !how || r.t->kind != TY_RANGE)
        return false;
    const uint32_t *args = kir_list(n, 1, &count);
    if (!LLVMIsAConstantInt(r.v[2]) || count < 1 || count > 3)
        return false;
    step = LLVMConstIntGetSExtValue(r.v[2]);
    if (step > 0) {
        *ret = 0;
        return count == 1 || int_min(f, args[0], ret);
    }
    if (count < 2 || !int_min(f, args[1], ret) || *ret == INT64_MAX)
        return false;
    *ret += 1;
    return true;
}

/* ---- loops ---- */

static void loop_push(struct fn *f, struct loop *l, uint32_t node)
{
    *l =
        (struct loop){ .up = f->loop, .bound = f->bound, .node = node, .context = f->ctx, .final = f->final };
    l->next = fn_block(f, "next");
    l->out = fn_block(f, "out");
    f->loop = l;
}

static void loop_out(struct fn *f, struct loop *l)
{
    bool reached = !f->dead || l->out_used;
    fn_br(f, l->out);
    if (reached)
        fn_at(f, l->out);
    else
        LLVMDeleteBasicBlock(l->out);
}

/* After the last test: else block, edges, out. */
static void loop_done(struct fn *f, struct loop *l, uint32_t node, uint32_t other)
{
    f->loop = l->up;
    f->bound = l->bound;
    if (other != KIR_NIL)
        lower_block(f, other);
    edges_apply(f, f->ctx, node, EDGE_EXIT);
    loop_out(f, l);
}

void lower_while(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    struct loop l;
    int known;
    edges_apply(f, f->ctx, node, EDGE_ENTRY);
    loop_push(f, &l, node);
    LLVMBasicBlockRef body = fn_block(f, "body"), end = fn_block(f, "else");
    fn_br(f, l.next);
    fn_at(f, l.next);
    size_t mark = temps_mark(f);
    LLVMValueRef c = eval_cond(f, kir_arg(n, 0), &known);
    temps_end(f, mark);
    bool can_end = !f->dead && known <= 0;
    if (known)
        fn_br(f, known > 0 ? body : end);
    else
        fn_cond(f, c, body, end);
    if (known >= 0) {
        fn_at(f, body);
        lower_block(f, kir_arg(n, 1));
        edges_apply(f, f->ctx, node, EDGE_BACK);
        fn_br(f, l.next);
    } else {
        LLVMDeleteBasicBlock(body);
    }
    fn_at(f, end);
    if (!can_end) {
        LLVMBuildUnreachable(f->b);
        fn_stop(f);
    }
    loop_done(f, &l, node, kir_opt(n, 2));
}

/* Bounds of the loop's variables, for indexes in its body. */
static void bounds_push(struct fn *f, uint32_t node, struct val it, struct bound *b)
{
    const struct kir_node *n = node_of(f, node), *t = node_of(f, kir_arg(n, 0));
    uint32_t iter = kir_arg(n, 1), body = kir_arg(n, 2), local;
    int64_t min;
    if (t->op == KIR_LOCAL && range_min(f, iter, it, &min)) {
        local = kir_arg(t, 0);
    } else if (t->op == KIR_TUPLE && it.t->kind == TY_ITER && it.t->name[0] == 'e' && it.t->n_items == 1) {
        uint32_t count;
        const uint32_t *items = kir_list(t, 0, &count);
        if (!count || node_of(f, items[0])->op != KIR_LOCAL)
            return;
        local = kir_arg(node_of(f, items[0]), 0);
        min = 0;
    } else {
        return;
    }
    if (assigned_in(f, body, local))
        return;
    *b = (struct bound){ .up = f->bound, .local = local, .min = min };
    f->bound = b;
}

static void assign_item(struct fn *f, uint32_t target, struct val it, LLVMValueRef k)
{
    size_t mark = temps_mark(f);
    assign_to(f, target, k ? iter_item(f, it, k) : it);
    temps_end(f, mark);
}

/* Item k of it (it itself where k is NULL) goes to the target, then the body. */
static void for_body(struct fn *f, struct loop *l, uint32_t node, struct val it, LLVMValueRef k)
{
    const struct kir_node *n = node_of(f, node);
    assign_item(f, kir_arg(n, 0), it, k);
    lower_block(f, kir_arg(n, 2));
    edges_apply(f, f->ctx, node, EDGE_BACK);
    fn_br(f, l->next);
}

/* A tuple whose items differ in type, or that inference wanted spread: the body once an item. */
static void for_unrolled(struct fn *f, uint32_t node, struct val it)
{
    const struct kir_node *n = node_of(f, node);
    const struct fact *fa = fact_of(f, node);
    uint32_t outer = f->ctx;
    struct loop l = {
        .up = f->loop, .bound = f->bound, .node = node, .out = fn_block(f, "out"), .final = f->final
    };
    f->loop = &l;
    edges_apply(f, outer, node, EDGE_ENTRY);
    for (uint32_t k = 0; k < fa->n_contexts && !f->dead; k++) {
        l.next = fn_block(f, "next");
        l.context = f->ctx = fa->contexts + k;
        size_t mark = temps_mark(f);
        for_body(f, &l, node, it, lo_int(f->lo, k));
        fn_at(f, l.next);
        if (!LLVMGetFirstUse(LLVMBasicBlockAsValue(l.next))) { /* nothing gets to the next item */
            LLVMBuildUnreachable(f->b);
            fn_stop(f);
        }
        temps_end(f, mark);
        f->ctx = outer;
    }
    f->ctx = outer;
    loop_done(f, &l, node, kir_opt(n, 3));
}

static void for_range_unit(struct fn *f, uint32_t node, struct val r, bool up)
{
    struct lo *lo = f->lo;
    const struct kir_node *n = node_of(f, node);
    const struct type *t = r.t->elem;
    bool is_signed = type_is_signed(t);
    LLVMTypeRef reg = lo_reg(lo, t);
    struct loop l;
    struct bound b;
    loop_push(f, &l, node);
    bounds_push(f, node, r, &b);
    LLVMBasicBlockRef head = fn_block(f, "head"), body = fn_block(f, "body"), end = fn_block(f, "else");
    LLVMValueRef iv = fn_alloca(f, reg, "i"), one = LLVMConstInt(reg, 1, 0);
    LLVMBuildStore(f->b, r.v[0], iv);
    fn_br(f, head);
    fn_at(f, head);
    LLVMValueRef i = LLVMBuildLoad2(f->b, reg, iv, "");
    LLVMIntPredicate p = up ? (is_signed ? LLVMIntSLT : LLVMIntULT) : (is_signed ? LLVMIntSGT : LLVMIntUGT);
    fn_cond(f, LLVMBuildICmp(f->b, p, i, r.v[1], ""), body, end);
    fn_at(f, body);
    for_body(f, &l, node, val_scalar(f, t, i), NULL);
    fn_at(f, l.next); /* i is on the near side of stop: one more cannot wrap */
    i = LLVMBuildLoad2(f->b, reg, iv, "");
    i = up ? (is_signed ? LLVMBuildNSWAdd(f->b, i, one, "") : LLVMBuildNUWAdd(f->b, i, one, ""))
           : (is_signed ? LLVMBuildNSWSub(f->b, i, one, "") : LLVMBuildNUWSub(f->b, i, one, ""));
    LLVMBuildStore(f->b, i, iv);
    fn_br(f, head);
    fn_at(f, end);
    loop_done(f, &l, node, kir_opt(n, 3));
}

struct val eval_iterable(struct fn *f, uint32_t loop, uint32_t iterable)
{
    const struct fact *fa = fact_of(f, loop);
    struct val it = eval(f, iterable);
    if (fa->callee && !f->dead && it.t) {
        it = convert(f, it, fa->callee->params[0]);
        it = emit_call(f, loop, fa->callee, NULL, &it);
    }
    return it;
}

/* Something in it may change its length while the loop runs. */
static bool live_length(const struct type *t)
{
    if (t->kind == TY_LIST)
        return true;
    for (uint32_t i = 0; t->kind == TY_ITER && i < t->n_items; i++)
        if (live_length(t->items[i]))
            return true;
    return false;
}

static void for_counted(struct fn *f, uint32_t node, struct val it)
{
    struct lo *lo = f->lo;
    const struct kir_node *n = node_of(f, node);
    bool live = live_length(it.t);
    LLVMValueRef len = live ? NULL : iter_length(f, it, node);
    struct loop l;
    struct bound b;
    if (f->dead)
        return;
    loop_push(f, &l, node);
    bounds_push(f, node, it, &b);
    LLVMBasicBlockRef head = fn_block(f, "head"), body = fn_block(f, "body"), end = fn_block(f, "else");
    LLVMValueRef kv = fn_alloca(f, lo->i64, "k");
    LLVMBuildStore(f->b, lo_int(lo, 0), kv);
    fn_br(f, head);
    fn_at(f, head);
    LLVMValueRef k = LLVMBuildLoad2(f->b, lo->i64, kv, "");
    if (live)
        len = iter_length(f, it, node);
    fn_cond(f, LLVMBuildICmp(f->b, LLVMIntULT, k, len, ""), body, end);
    fn_at(f, body);
    for_body(f, &l, node, it, k);
    fn_at(f, l.next);
    k = LLVMBuildLoad2(f->b, lo->i64, kv, "");
    LLVMBuildStore(f->b, LLVMBuildNUWAdd(f->b, k, lo_int(lo, 1), ""), kv);
    fn_br(f, head);
    fn_at(f, end);
    loop_done(f, &l, node, kir_opt(n, 3));
}

void lower_for(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const struct fact *fa = fact_of(f, node);
    struct val it = eval_iterable(f, node, kir_arg(n, 1));
    if (f->dead || !it.t)
        return;
    if (lo_info(f->lo, it.t)->n_owner && !it.own && !stays_alive(f, kir_arg(n, 1), kir_arg(n, 2))) {
        it = own_take(f, it);
        temp_hold(f, &it);
    }
    if (fa->contexts || (it.t->kind == TY_TUPLE && !it.t->n_items)) {
        for_unrolled(f, node, it);
        return;
    }
    edges_apply(f, f->ctx, node, EDGE_ENTRY);
    int64_t step =
        it.t->kind == TY_RANGE && LLVMIsAConstantInt(it.v[2]) ? LLVMConstIntGetSExtValue(it.v[2]) : 0;
    if (step == 1 || (step == -1 && type_is_signed(it.t->elem)))
        for_range_unit(f, node, it, step == 1);
    else
        for_counted(f, node, it);
}
