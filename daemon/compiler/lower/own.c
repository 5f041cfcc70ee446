/* SPDX-License-Identifier: Apache-2.0
 * own.c - who holds references, and stack slots.
 *
 * Rules: parameters are borrowed, slots own, temporaries die at the end of their statement, return moves.
 * Every reference that a function holds sits in an alloca that is NULL otherwise (an owner leaf of a slot, or
 * a temporary). So the way out, normal or raising, is one list: release what is in each; mem2reg turns the
 * ones that are provably NULL into nothing. No clean-up is ever built twice or forgotten. */
#include "daemon/compiler/lower/lo.h"

static LLVMTypeRef one_ptr(struct lo *lo)
{
    return LLVMFunctionType(lo->vd, &lo->ptr, 1, 0);
}

/* void kiln.retain(owner) and void kiln.release(owner): NULL is borrowed memory and not counted. */
static LLVMValueRef counter(struct lo *lo, bool release)
{
    const char *name = release ? "kiln.release" : "kiln.retain";
    LLVMValueRef fn = LLVMGetNamedFunction(lo->m, name);
    if (fn)
        return fn;
    fn = LLVMAddFunction(lo->m, name, one_ptr(lo));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    lo_target_attrs(lo, fn);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(lo->c);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(lo->c, fn, "entry");
    LLVMBasicBlockRef some = LLVMAppendBasicBlockInContext(lo->c, fn, "some");
    LLVMBasicBlockRef last = LLVMAppendBasicBlockInContext(lo->c, fn, "last");
    LLVMBasicBlockRef out = LLVMAppendBasicBlockInContext(lo->c, fn, "out");
    LLVMValueRef owner = LLVMGetParam(fn, 0);
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, owner, ""), out, some);
    LLVMPositionBuilderAtEnd(b, some);
    if (release) {
        LLVMValueRef was = LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpSub, owner, lo_int(lo, 1),
                                              LLVMAtomicOrderingAcquireRelease, 0);
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, was, lo_int(lo, 1), ""), last, out);
        LLVMPositionBuilderAtEnd(b, last);
        LLVMValueRef off = lo_int(lo, 8); /* release follows refs in struct kiln_mem */
        LLVMValueRef p = LLVMBuildInBoundsGEP2(b, lo->i8, owner, &off, 1, "");
        LLVMBuildCall2(b, one_ptr(lo), LLVMBuildLoad2(b, lo->ptr, p, ""), &owner, 1, "");
        LLVMBuildBr(b, out);
    } else {
        LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpAdd, owner, lo_int(lo, 1), LLVMAtomicOrderingMonotonic, 0);
        LLVMBuildBr(b, out);
        LLVMPositionBuilderAtEnd(b, last);
        LLVMBuildUnreachable(b);
    }
    LLVMPositionBuilderAtEnd(b, out);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
    return fn;
}

void own_retain(struct fn *f, LLVMValueRef owner)
{
    if (!LLVMIsConstant(owner))
        LLVMBuildCall2(f->b, one_ptr(f->lo), counter(f->lo, false), &owner, 1, "");
}

void own_release(struct fn *f, LLVMValueRef owner)
{
    if (!LLVMIsConstant(owner))
        LLVMBuildCall2(f->b, one_ptr(f->lo), counter(f->lo, true), &owner, 1, "");
}

void own_release_all(struct fn *f, struct val v)
{
    const struct tinfo *ti = lo_info(f->lo, v.t);
    for (uint32_t i = 0; i < ti->n; i++)
        if (ti->role[i] == LEAF_OWNER)
            own_release(f, v.v[i]);
}

/* ---- temporaries ---- */

static LLVMValueRef null_alloca(struct fn *f, const char *name)
{
    LLVMValueRef p = fn_alloca(f, f->lo->ptr, name);
    LLVMBuildStore(f->ab, lo_null(f->lo), p);
    return p;
}

/* The slot of a temporary that is dead now: the first free one at or after `from`, so that a statement's are
 * consecutive. */
static size_t temp_new(struct fn *f)
{
    struct lo *lo = f->lo;
    size_t i = f->n_temps;
    void *temps = arena_grow(lo->a, f->temps, i, &f->cap_temps, sizeof(*f->temps));
    void *live = arena_grow(lo->a, f->temp_live, i, &f->cap_live, sizeof(*f->temp_live));
    if (!temps || !live) {
        lo_fail(lo, KILN_E_LIMIT, "memory of the job");
        return 0;
    }
    f->temps = temps;
    f->temp_live = live;
    f->temps[i] = null_alloca(f, "temp");
    f->temp_live[i] = true;
    f->n_temps++;
    return i;
}

void temp_replace(struct fn *f, LLVMValueRef owner)
{
    size_t k = temp_new(f);
    if (f->lo->failed)
        return;
    own_release(f, LLVMBuildLoad2(f->b, f->lo->ptr, f->temps[k], ""));
    LLVMBuildStore(f->b, owner, f->temps[k]);
}

void temp_hold(struct fn *f, struct val *v)
{
    v->own = 0;
    if (!v->t || f->lo->failed)
        return;
    const struct tinfo *ti = lo_info(f->lo, v->t);
    for (uint32_t i = 0; i < ti->n; i++) {
        if (ti->role[i] != LEAF_OWNER)
            continue;
        size_t k = temp_new(f);
        if (f->lo->failed)
            return;
        LLVMBuildStore(f->b, v->v[i], f->temps[k]);
        if (!v->own)
            v->own = (uint32_t)k + 1;
    }
}

struct val own_take(struct fn *f, struct val v)
{
    if (!v.t)
        return v;
    const struct tinfo *ti = lo_info(f->lo, v.t);
    uint32_t k = v.own;
    for (uint32_t i = 0; i < ti->n; i++) {
        if (ti->role[i] != LEAF_OWNER)
            continue;
        if (v.own) {
            LLVMBuildStore(f->b, lo_null(f->lo), f->temps[k - 1]);
            f->temp_live[k - 1] = false;
            k++;
        } else {
            own_retain(f, v.v[i]);
        }
    }
    v.own = 0;
    return v;
}

size_t temps_mark(struct fn *f)
{
    return f->n_temps;
}

/* Those that moved on are NULL in any case where they could be reached; they are skipped at build time. A
 * temporary made in one arm of an expression is NULL when the other arm ran. */
void temps_end(struct fn *f, size_t mark)
{
    if (f->lo->failed)
        return;
    for (size_t i = mark; i < f->n_temps; i++) {
        if (!f->temp_live[i])
            continue;
        f->temp_live[i] = false;
        if (f->dead)
            continue;
        own_release(f, LLVMBuildLoad2(f->b, f->lo->ptr, f->temps[i], ""));
        LLVMBuildStore(f->b, lo_null(f->lo), f->temps[i]);
    }
}

void temps_release(struct fn *f, size_t mark)
{
    for (size_t i = mark; i < f->n_temps && !f->dead && !f->lo->failed; i++) {
        if (!f->temp_live[i])
            continue;
        own_release(f, LLVMBuildLoad2(f->b, f->lo->ptr, f->temps[i], ""));
        LLVMBuildStore(f->b, lo_null(f->lo), f->temps[i]);
    }
}

void own_cleanup(struct fn *f)
{
    if (f->lo->failed)
        return;
    for (size_t i = 0; i < f->n_temps; i++)
        own_release(f, LLVMBuildLoad2(f->b, f->lo->ptr, f->temps[i], ""));
    for (uint32_t l = 0; l < f->in->fn->n_locals; l++) {
        for (struct slot *s = f->slots[l]; s; s = s->next) {
            const struct tinfo *ti = lo_info(f->lo, s->t);
            for (uint32_t i = 0; s->owned && i < ti->n; i++)
                if (ti->role[i] == LEAF_OWNER)
                    own_release(f, LLVMBuildLoad2(f->b, f->lo->ptr, s->leaf[i], ""));
        }
    }
}

/* ---- slots ---- */

struct slot *slot_of(struct fn *f, uint32_t local, const struct type *t)
{
    struct lo *lo = f->lo;
    for (struct slot *s = f->slots[local]; s; s = s->next)
        if (s->t == t)
            return s;
    const struct tinfo *ti = lo_info(lo, t);
    struct slot *s = lo_alloc(lo, 1, sizeof(*s));
    s->t = t;
    s->leaf = lo_alloc(lo, ti->n, sizeof(*s->leaf));
    s->owned = !f->borrows[local];
    for (uint32_t i = 0; i < ti->n; i++)
        s->leaf[i] = ti->role[i] == LEAF_OWNER ? null_alloca(f, "own") : fn_alloca(f, ti->reg[i], "l");
    s->next = f->slots[local];
    f->slots[local] = s;
    return s;
}

struct val slot_read(struct fn *f, uint32_t local, const struct type *t)
{
    struct lo *lo = f->lo;
    const struct tinfo *ti = lo_info(lo, t);
    struct slot *s = slot_of(f, local, t);
    struct val v = val_new(f, t, ti->n);
    for (uint32_t i = 0; i < ti->n; i++)
        v.v[i] = LLVMBuildLoad2(f->b, ti->reg[i], s->leaf[i], "");
    if (f->has_walrus && ti->n_owner) { /* the slot may change before the value is used */
        for (uint32_t i = 0; i < ti->n; i++)
            if (ti->role[i] == LEAF_OWNER)
                own_retain(f, v.v[i]);
        temp_hold(f, &v);
    }
    return v;
}

/* The new reference is taken before the old one is released: `a = a[1:]`. */
void slot_write(struct fn *f, uint32_t local, const struct type *t, struct val v)
{
    struct lo *lo = f->lo;
    if (f->dead || !v.t || lo->failed)
        return;
    const struct tinfo *ti = lo_info(lo, t);
    v = convert(f, v, t);
    struct slot *s = slot_of(f, local, t);
    if (lo->failed || v.n != ti->n)
        return;
    if (ti->n_owner && !s->owned) {
        for (uint32_t i = 0; i < ti->n; i++)
            if (ti->role[i] == LEAF_OWNER)
                LLVMBuildStore(f->b, v.v[i], s->leaf[i]);
    } else if (ti->n_owner) {
        v = own_take(f, v);
        for (uint32_t i = 0; i < ti->n; i++) {
            if (ti->role[i] != LEAF_OWNER)
                continue;
            LLVMValueRef old = LLVMBuildLoad2(f->b, lo->ptr, s->leaf[i], "");
            LLVMBuildStore(f->b, v.v[i], s->leaf[i]);
            own_release(f, old);
        }
    }
    for (uint32_t i = 0; i < ti->n; i++)
        if (ti->role[i] != LEAF_OWNER)
            LLVMBuildStore(f->b, v.v[i], s->leaf[i]);
    if (f->isset[local])
        LLVMBuildStore(f->b, lo_bool(lo, true), f->isset[local]);
    if (f->guard)
        guards_keep(f, local, t);
}

void slot_drop(struct fn *f, uint32_t local, const struct type *t)
{
    struct lo *lo = f->lo;
    const struct tinfo *ti = lo_info(lo, t);
    if (f->dead || !ti->n_owner)
        return;
    struct slot *s = slot_of(f, local, t);
    for (uint32_t i = 0; s->owned && i < ti->n; i++) {
        if (ti->role[i] != LEAF_OWNER)
            continue;
        own_release(f, LLVMBuildLoad2(f->b, lo->ptr, s->leaf[i], ""));
        LLVMBuildStore(f->b, lo_null(lo), s->leaf[i]);
    }
}

/* Values that change their slot on an edge. A local that is not bound on this path (its flag says so) has
 * nothing in its slot but NULL owners and undefined scalars: moving those is harmless. */
void edges_apply(struct fn *f, uint32_t ctx, uint32_t node, enum edge_arm arm)
{
    uint32_t n;
    const struct edge *e = edges_at(f->in, ctx, node, arm, &n);
    if (f->dead)
        return;
    for (uint32_t i = 0; i < n && !f->lo->failed; i++) {
        if (e[i].from == e[i].to || !e[i].from || e[i].from->kind == TY_CONFLICT ||
            e[i].from->kind == TY_UNSET)
            continue;
        if (!e[i].to || e[i].to->kind == TY_CONFLICT || e[i].to->kind == TY_UNSET) {
            if (!guarded(f, e[i].local, e[i].from))
                slot_drop(f, e[i].local, e[i].from);
            continue;
        }
        struct slot *from = slot_of(f, e[i].local, e[i].from);
        const struct tinfo *ti = lo_info(f->lo, e[i].from);
        struct val v = val_new(f, e[i].from, ti->n);
        for (uint32_t k = 0; k < ti->n; k++)
            v.v[k] = LLVMBuildLoad2(f->b, ti->reg[k], from->leaf[k], "");
        LLVMValueRef flag = f->isset[e[i].local]; /* a move does not bind */
        f->isset[e[i].local] = NULL;
        slot_write(f, e[i].local, e[i].to, v);
        f->isset[e[i].local] = flag;
        if (!guarded(f, e[i].local, e[i].from))
            slot_drop(f, e[i].local, e[i].from);
    }
}
