/* SPDX-License-Identifier: Apache-2.0
 * try.c - try statements.
 *
 * While a try's body is built, exceptions of its sites and calls go to blocks of its own (struct ways)
 * instead of the function's way out; there the temporaries of the statement that raised are given up and the
 * handlers tried one after the other. Variables live in slots by type, and a handler expects them in the
 * types that inference joined for it: as long as the body runs, whatever is bound is written to the slot of
 * that type as well (struct guard).
 *
 * A finally block is built once for each way into it: after the body, from an exception, and for each jump
 * out. */
#include "daemon/compiler/lower/lo.h"

bool guarded(const struct fn *f, uint32_t local, const struct type *t)
{
    for (const struct guard *g = f->guard; g; g = g->up)
        if (g->types[local] == t)
            return true;
    return false;
}

void guards_keep(struct fn *f, uint32_t local, const struct type *t)
{
    struct guard *outer = f->guard;
    for (struct guard *g = outer; g && !f->dead; g = g->up) {
        const struct type *kept = g->types[local];
        if (!kept || kept == t || kept->kind == TY_CONFLICT || kept->kind == TY_UNSET)
            continue;
        struct val v = slot_read(f, local, t);
        f->guard = NULL; /* this is the copy */
        slot_write(f, local, kept, v);
        f->guard = outer;
    }
}

/* The slots that inference says the handlers of `node` know; filled with what variables hold now. */
static void guard_begin(struct fn *f, uint32_t node, struct guard *g)
{
    uint32_t n;
    const struct edge *e = edges_at(f->in, f->ctx, node, EDGE_RAISE, &n);
    g->types = lo_alloc(f->lo, f->in->fn->n_locals + 1, sizeof(*g->types));
    for (uint32_t i = 0; i < n; i++)
        g->types[e[i].local] = e[i].from;
    g->up = f->guard;
    f->guard = g;
    e = edges_at(f->in, f->ctx, node, EDGE_ENTRY, &n);
    for (uint32_t i = 0; i < n && !f->lo->failed; i++) {
        const struct type *from = e[i].from, *to = e[i].to;
        if (!from || !to || from->kind == TY_CONFLICT || from->kind == TY_UNSET || to->kind == TY_CONFLICT ||
            to->kind == TY_UNSET)
            continue;
        LLVMValueRef flag = f->isset[e[i].local]; /* a copy does not bind */
        f->isset[e[i].local] = NULL;
        guards_keep(f, e[i].local, from);
        f->isset[e[i].local] = flag;
    }
}

static LLVMValueRef save_exception(struct fn *f)
{
    LLVMTypeRef bytes = LLVMArrayType2(f->lo->i64, sizeof(struct kiln_exc) / 8);
    LLVMValueRef saved = fn_alloca(f, bytes, "caught");
    LLVMBuildMemCpy(f->b, saved, 8, f->exc, 8, LLVMConstInt(f->lo->iptr, sizeof(struct kiln_exc), 0));
    return saved;
}

/* Everything between the raise and its handler that is still held. */
static void give_up_temps(struct fn *f, size_t mark)
{
    struct lo *lo = f->lo;
    for (size_t i = mark; i < f->n_temps && !lo->failed; i++) {
        own_release(f, LLVMBuildLoad2(f->b, lo->ptr, f->temps[i], ""));
        LLVMBuildStore(f->b, lo_null(lo), f->temps[i]);
    }
}

/* The handlers, from where exceptions of the body arrive. True: control gets behind them. */
static bool handlers(struct fn *f, uint32_t node, LLVMBasicBlockRef out)
{
    struct lo *lo = f->lo;
    const struct kir_node *n = node_of(f, node);
    uint32_t count;
    const uint32_t *list = kir_list(n, 1, &count);
    bool reached = false;
    LLVMBasicBlockRef ours = fn_block(f, "caught"), pass = fn_block(f, "uncaught");
    LLVMValueRef status = LLVMBuildLoad2(f->b, lo->i32, f->status, "");
    /* the host's own errors (Ctrl-C, a print that failed) are Python's and pass through */
    fn_cond(f, LLVMBuildICmp(f->b, LLVMIntEQ, status, lo_i32(lo, KILN_RAISED), ""), ours, pass);
    fn_at(f, ours);
    for (uint32_t i = 0; i < count && !f->dead; i++) {
        const struct kir_node *h = node_of(f, list[i]);
        uint32_t class = kir_opt(h, 0);
        LLVMBasicBlockRef yes = fn_block(f, "handler"), no = class == KIR_NIL ? NULL : fn_block(f, "next");
        if (no)
            fn_cond(f, raise_is_class(f, class), yes, no);
        else
            fn_br(f, yes);
        fn_at(f, yes);
        struct caught c = { .up = f->caught, .local = kir_opt(h, 1), .saved = save_exception(f) };
        raise_hold(f, c.saved);
        f->caught = &c;
        lower_block(f, kir_arg(h, 2));
        f->caught = c.up;
        edges_apply(f, f->ctx, list[i], EDGE_HANDLER);
        reached |= !f->dead;
        fn_br(f, out);
        if (no)
            fn_at(f, no);
    }
    fn_br(f, pass);
    fn_at(f, pass);
    raise_again(f);
    return reached;
}

static void try_except(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    struct ways *outer = f->ways, ways;
    struct guard g;
    uint32_t count, other = kir_opt(n, 2);
    kir_list(n, 1, &count);
    if (!count) {
        lower_block(f, kir_arg(n, 0));
        return;
    }
    LLVMBasicBlockRef out = fn_block(f, "tried");
    size_t mark = temps_mark(f);
    guard_begin(f, node, &g);
    raise_new_ways(f, &ways);
    f->ways = &ways;
    lower_block(f, kir_arg(n, 0));
    f->guard = g.up;
    bool dead = f->dead, reached;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(f->b);
    raise_exits(f);
    f->ways = outer;
    bool caught = ways.raises;
    if (!dead) {
        fn_at(f, here);
        if (other != KIR_NIL)
            lower_block(f, other);
        edges_apply(f, f->ctx, node, EDGE_TRY);
    } else {
        f->dead = true;
    }
    reached = !f->dead;
    if (dead)
        fn_stop(f);
    else
        fn_br(f, out);
    if (caught) {
        fn_at(f, ways.fail_bb);
        give_up_temps(f, mark);
        reached |= handlers(f, node, out);
    }
    if (reached)
        fn_at(f, out);
    else
        LLVMDeleteBasicBlock(out);
}

/* The finally block of f->final, for control that goes on behind it. */
static void build_final(struct fn *f, const struct final *x, uint32_t context)
{
    struct fn before = *f;
    f->final = x->up;
    f->ways = x->ways;
    f->guard = x->guard;
    f->loop = x->loop;
    f->caught = x->caught;
    f->ctx = context;
    lower_block(f, x->block);
    f->final = before.final;
    f->ways = before.ways;
    f->guard = before.guard;
    f->loop = before.loop;
    f->caught = before.caught;
    f->ctx = before.ctx;
}

void finals_run(struct fn *f, uint32_t node, struct final *until)
{
    const struct fact *fa = fact_of(f, node);
    uint32_t k = 0;
    for (struct final *x = f->final; x != until && !f->dead && !f->lo->failed; x = x->up, k++)
        build_final(f, x, fa->contexts + k);
}

void lower_try(struct fn *f, uint32_t node)
{
    struct lo *lo = f->lo;
    uint32_t last = kir_opt(node_of(f, node), 3);
    struct ways *outer = f->ways, ways;
    struct guard g;
    if (last == KIR_NIL) {
        try_except(f, node);
        return;
    }
    struct final x = {
        .up = f->final, .block = last, .ways = outer, .guard = f->guard, .loop = f->loop, .caught = f->caught
    };
    uint32_t context = fact_of(f, last)->contexts;
    size_t mark = temps_mark(f);
    guard_begin(f, last, &g);
    raise_new_ways(f, &ways);
    f->ways = &ways;
    f->final = &x;
    try_except(f, node);
    f->guard = g.up;
    f->final = x.up;
    bool dead = f->dead;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(f->b);
    raise_exits(f);
    f->ways = outer;
    if (ways.raises) {
        fn_at(f, ways.fail_bb);
        give_up_temps(f, mark);
        LLVMValueRef saved = save_exception(f), status = fn_alloca(f, lo->i32, "status");
        LLVMBuildStore(f->b, LLVMBuildLoad2(f->b, lo->i32, f->status, ""), status);
        raise_hold(f, saved);
        build_final(f, &x, context);
        if (!f->dead) {
            LLVMBuildMemCpy(f->b, f->exc, 8, saved, 8, LLVMConstInt(lo->iptr, sizeof(struct kiln_exc), 0));
            LLVMBuildStore(f->b, LLVMBuildLoad2(f->b, lo->i32, status, ""), f->status);
            raise_retain(f);
            raise_again(f);
        }
    }
    if (dead) {
        fn_stop(f);
        return;
    }
    fn_at(f, here);
    lower_block(f, last);
}
