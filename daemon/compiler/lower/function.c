/* SPDX-License-Identifier: Apache-2.0
 * function.c - one instance as one LLVM function. */
#include <stdio.h>
#include <string.h>

#include "daemon/compiler/lower/lo.h"

/* ---- the function's type, made when first asked for ---- */

static uint32_t leaves(struct lo *lo, const struct type *const *types, uint32_t n, LLVMTypeRef *out,
                       uint8_t *roles)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct tinfo *ti = lo_info(lo, types[i]);
        for (uint32_t k = 0; out && k < ti->n; k++) {
            out[at + k] = ti->reg[k];
            roles[at + k] = ti->role[k];
        }
        at += ti->n;
    }
    return at;
}

/* Shapes are not negative: inlining forgets where they came from, the attribute does not. */
static void shape_attr(struct lo *lo, LLVMValueRef fn, unsigned index)
{
    uint64_t low = 0, high = INT64_MAX;
    unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
    LLVMAddAttributeAtIndex(fn, index + 1, LLVMCreateConstantRangeAttribute(lo->c, kind, 64, &low, &high));
}

struct linst *lo_inst(struct lo *lo, const struct instance *in)
{
    struct linst *li = &lo->inst[in->id];
    if (li->fn)
        return li;
    uint32_t n_caps = leaves(lo, in->captures, in->fn->n_free, NULL, NULL);
    uint32_t n = 2 + n_caps + leaves(lo, in->params, in->fn->n_params, NULL, NULL);
    LLVMTypeRef *types = lo_alloc(lo, n + 1, sizeof(*types));
    uint8_t *roles = lo_alloc(lo, n, 1);
    types[0] = types[1] = lo->ptr;
    leaves(lo, in->captures, in->fn->n_free, types + 2, roles + 2);
    leaves(lo, in->params, in->fn->n_params, types + 2 + n_caps, roles + 2 + n_caps);
    const struct tinfo *ri = lo_info(lo, in->ret);
    LLVMTypeRef *rets = lo_alloc(lo, ri->n + 1, sizeof(*rets));
    rets[0] = lo->i32;
    memcpy(rets + 1, ri->reg, ri->n * sizeof(*rets));
    if (ri->n > LO_RET_LEAVES) {
        li->memory = LLVMStructTypeInContext(lo->c, rets + 1, ri->n, 0);
        types[n] = lo->ptr;
        li->type = LLVMFunctionType(lo->i32, types, n + 1, 0);
    } else {
        li->type = LLVMFunctionType(ri->n ? LLVMStructTypeInContext(lo->c, rets, ri->n + 1, 0) : lo->i32, types, n, 0);
    }
    char name[48];
    snprintf(name, sizeof(name), "kiln.%s%u.%u", in->unit->prelude ? "p" : "f", in->func, in->id);
    li->fn = LLVMAddFunction(lo->m, name, li->type);
    li->raises = true;
    LLVMSetLinkage(li->fn, LLVMInternalLinkage);
    lo_target_attrs(lo, li->fn);
    if (in->fn->flags & KIR_F_INLINE)
        lo_fnattr(lo, li->fn, "alwaysinline");
    lo_paramattr(lo, li->fn, 0, "noalias", 0);
    lo_paramattr(lo, li->fn, 0, "nonnull", 0);
    lo_paramattr(lo, li->fn, 1, "readonly", 0);
    lo_paramattr(lo, li->fn, 1, "noalias", 0);
    if (li->memory)
        lo_paramattr(lo, li->fn, n, "noalias", 0);
    for (uint32_t i = 2; i < n; i++)
        if (roles[i] == LEAF_SHAPE)
            shape_attr(lo, li->fn, i);
    return li;
}

/* ---- what the tree looks like ---- */

typedef void child_fn(struct fn *f, uint32_t parent, uint32_t child, unsigned letter, char kind);

static void for_children(struct fn *f, uint32_t node, child_fn *cb)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    const char *s = kir_opinfo(n->op)->operands;
    uint32_t at = 0;
    for (unsigned k = 0; *s; s++, k++) {
        bool opt = *s == '?', list = *s == '*';
        if (opt || list)
            s++;
        bool child = strchr("etbghwS", *s) != NULL;
        uint32_t count = 1;
        if (list)
            count = n->args[at++];
        for (uint32_t i = 0; i < count; i++, at++) {
            if (!child || (opt && !n->args[at]))
                continue;
            cb(f, node, opt ? n->args[at] - 1 : n->args[at], k, *s);
        }
    }
}

static void mark_start(struct fn *f, uint32_t parent, uint32_t child, unsigned letter, char kind)
{
    (void)letter, (void)kind;
    if (f->start[child] < f->start[parent])
        f->start[parent] = f->start[child];
}

static void mark_target(struct fn *f, uint32_t parent, uint32_t child, unsigned letter, char kind)
{
    unsigned op = f->in->fn->nodes[parent].op;
    (void)letter;
    if (kind == 't' || (f->target[parent] && (op == KIR_TUPLE || op == KIR_LIST || op == KIR_STAR)))
        f->target[child] = true;
}

static void scan_tree(struct fn *f)
{
    struct lo *lo = f->lo;
    const struct kir_function *fn = f->in->fn;
    f->start = lo_alloc(lo, fn->n_nodes, sizeof(*f->start));
    f->target = lo_alloc(lo, fn->n_nodes, sizeof(*f->target));
    f->isset = lo_alloc(lo, fn->n_locals + 1, sizeof(*f->isset));
    f->slots = lo_alloc(lo, fn->n_locals + 1, sizeof(*f->slots));
    for (uint32_t i = 0; i < fn->n_nodes && !lo->failed; i++) {
        f->start[i] = i;
        for_children(f, i, mark_start);
    }
    for (uint32_t i = fn->n_nodes; i-- > 0 && !lo->failed;)
        for_children(f, i, mark_target);
    for (uint32_t i = 0; i < fn->n_nodes && !lo->failed; i++) {
        const struct kir_node *n = &fn->nodes[i];
        f->has_walrus |= n->op == KIR_WALRUS;
        for (uint32_t c = 0; n->op == KIR_LOCAL && c < f->in->n_contexts; c++)
            if (fact_at(f->in, c, i)->maybe_unset && !f->isset[kir_arg(n, 0)])
                f->isset[kir_arg(n, 0)] = lo_bool(lo, false); /* replaced by the flag's alloca below */
    }
}

/* ---- entry ---- */

static void start_params(struct fn *f)
{
    struct lo *lo = f->lo;
    const struct kir_function *fn = f->in->fn;
    uint32_t at = 2;
    f->exc = LLVMGetParam(f->fn, 0);
    f->env = LLVMGetParam(f->fn, 1);
    uint32_t n_caps = leaves(lo, f->in->captures, fn->n_free, NULL, NULL);
    f->captures = lo_alloc(lo, n_caps + 1, sizeof(*f->captures));
    for (uint32_t i = 0; i < n_caps; i++)
        f->captures[i] = LLVMGetParam(f->fn, at++);
    for (uint32_t p = 0; p < fn->n_params; p++) {
        const struct type *t = f->in->params[p];
        const struct tinfo *ti = lo_info(lo, t);
        struct slot *s = slot_of(f, p, t);
        for (uint32_t i = 0; i < ti->n; i++) {
            LLVMValueRef v = LLVMGetParam(f->fn, at++);
            if (s->owned && ti->role[i] == LEAF_OWNER)
                own_retain(f, v);
            LLVMBuildStore(f->b, v, s->leaf[i]);
        }
    }
}

static void start_flags(struct fn *f)
{
    for (uint32_t l = 0; l < f->in->fn->n_locals; l++) {
        if (!f->isset[l])
            continue;
        f->isset[l] = fn_alloca(f, f->lo->i1, "set");
        LLVMBuildStore(f->ab, lo_bool(f->lo, l < f->in->fn->n_params), f->isset[l]);
    }
}

static LLVMFastMathFlags fast_flags(uint32_t flags)
{
    static const struct {
        uint32_t kir;
        LLVMFastMathFlags llvm;
    } map[] = {
        { KIR_F_NNAN, LLVMFastMathNoNaNs },
        { KIR_F_NINF, LLVMFastMathNoInfs },
        { KIR_F_NSZ, LLVMFastMathNoSignedZeros },
        { KIR_F_ARCP, LLVMFastMathAllowReciprocal },
        { KIR_F_CONTRACT, LLVMFastMathAllowContract },
        { KIR_F_AFN, LLVMFastMathApproxFunc },
        { KIR_F_REASSOC, LLVMFastMathAllowReassoc },
    };
    LLVMFastMathFlags r = 0;
    for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
        if (flags & map[i].kir)
            r |= map[i].llvm;
    return r;
}

static void start_options(struct fn *f)
{
    const struct compile_options *o = &f->lo->p->options;
    uint32_t flags = f->in->fn->flags;
    if (f->in->id == 0)
        flags |= o->flags;
    if (f->in->unit->prelude) /* the library is as fast as the code that asked, and divides as NumPy does */
        flags |= o->flags & KIR_F_FASTMATH;
    f->fmf = fast_flags(flags);
    f->numpy_errors = flags & KIR_F_NUMPY_ERRORS;
    f->checked = o->checked;
    f->boundscheck = (flags & KIR_F_BOUNDSCHECK) || o->checked;
}

/* ---- exits ---- */

static void build_return(struct fn *f, LLVMValueRef status, bool with_value)
{
    struct lo *lo = f->lo;
    const struct tinfo *ti = lo_info(lo, f->in->ret);
    const struct linst *li = &lo->inst[f->in->id];
    for (uint32_t i = 0; li->memory && with_value && i < ti->n; i++) {
        LLVMValueRef place = LLVMBuildStructGEP2(f->b, li->memory, LLVMGetLastParam(f->fn), i, "");
        LLVMBuildStore(f->b, LLVMBuildLoad2(f->b, ti->reg[i], f->ret[i], ""), place);
    }
    if (!ti->n || li->memory) {
        LLVMBuildRet(f->b, status);
        return;
    }
    LLVMValueRef r = LLVMGetPoison(LLVMGetReturnType(lo->inst[f->in->id].type));
    r = LLVMBuildInsertValue(f->b, r, status, 0, "");
    for (uint32_t i = 0; i < ti->n; i++) {
        LLVMValueRef v =
            with_value ? LLVMBuildLoad2(f->b, ti->reg[i], f->ret[i], "") : LLVMConstNull(ti->reg[i]);
        r = LLVMBuildInsertValue(f->b, r, v, i + 1, "");
    }
    LLVMBuildRet(f->b, r);
}

static void finish(struct fn *f)
{
    struct lo *lo = f->lo;
    if (!f->dead) { /* the end of the body: None */
        struct val v = convert(f, val_none(f), f->in->ret);
        for (uint32_t i = 0; i < v.n && !lo->failed; i++)
            LLVMBuildStore(f->b, v.v[i], f->ret[i]);
        fn_br(f, f->ret_bb);
    }
    raise_exits(f);
    fn_at(f, f->ret_bb);
    own_cleanup(f);
    build_return(f, lo_i32(lo, KILN_DONE), true);
    if (f->ways->raises) {
        fn_at(f, f->ways->fail_bb);
        own_cleanup(f);
        build_return(f, LLVMBuildLoad2(f->b, lo->i32, f->status, ""), false);
    }
    helper_end(f);
}

void fn_lower(struct lo *lo, const struct instance *in)
{
    struct linst *li = lo_inst(lo, in);
    struct fn f = { .lo = lo, .in = in, .fn = li->fn };
    struct ways out;
    const struct tinfo *ri = lo_info(lo, in->ret);
    if (lo->failed || li->done)
        return;
    li->done = true;
    scan_tree(&f);
    if (lo->failed)
        return;
    borrow_scan(&f);
    start_options(&f);
    helper_begin(&f);
    f.ret_bb = fn_block(&f, "return");
    raise_new_ways(&f, &out);
    f.ways = &out;
    f.desc = fn_alloca(&f, lo->ptr, "desc");
    f.node_slot = fn_alloca(&f, lo->i32, "node");
    f.status = fn_alloca(&f, lo->i32, "status");
    f.ret = lo_alloc(lo, ri->n + 1, sizeof(*f.ret));
    for (uint32_t i = 0; i < ri->n; i++)
        f.ret[i] = fn_alloca(&f, ri->reg[i], "ret");
    start_flags(&f);
    start_params(&f);
    uint32_t body = in->fn->n_nodes - 1;
    if (in->recursive)
        lo_stack_check(&f, body);
    lower_block(&f, body);
    finish(&f);
    li->raises = out.raises;
}
