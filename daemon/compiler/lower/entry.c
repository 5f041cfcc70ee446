/* SPDX-License-Identifier: Apache-2.0
 * entry.c - what an artifact exports: kiln_key, kiln_bind, kiln_entry.
 *
 * kiln_entry unpacks the block of arguments, calls instance 0 and stores the result. An array in the result
 * whose memory was only borrowed (no owner: a constant, or an argument that nobody counts) is copied, for the
 * caller must get something it can keep. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

static void export_global(LLVMValueRef g)
{
    LLVMSetLinkage(g, LLVMExternalLinkage);
    LLVMSetVisibility(g, LLVMDefaultVisibility);
}

static void build_key(struct lo *lo)
{
    LLVMValueRef bytes = LLVMConstStringInContext2(lo->c, (const char *)lo->r->key, KILN_KEY_BYTES, 1);
    LLVMValueRef g = LLVMAddGlobal(lo->m, LLVMTypeOf(bytes), KILN_SYM_KEY);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, 1);
    export_global(g);
}

static void build_bind(struct lo *lo)
{
    LLVMTypeRef type = LLVMFunctionType(lo->vd, &lo->ptr, 1, 0);
    struct fn f = { .lo = lo, .fn = LLVMAddFunction(lo->m, KILN_SYM_BIND, type) };
    export_global(f.fn);
    lo_target_attrs(lo, f.fn);
    helper_begin(&f);
    LLVMBuildStore(f.b, LLVMGetParam(f.fn, 0), lo->host);
    LLVMBuildRetVoid(f.b);
    helper_end(&f);
}

/* Leaves of all parameters from the block of arguments. */
static void load_args(struct fn *f, const struct instance *in, LLVMValueRef block, struct val *ret)
{
    struct lo *lo = f->lo;
    uint64_t at = 0;
    for (uint32_t i = 0; i < in->fn->n_params; i++) {
        struct layout l = { 0, 1 };
        struct kiln_err e = KILN_ERR_INIT;
        if (type_layout(in->params[i], lo->t->pointer_bytes, &l, &e)) {
            lo_fail(lo, KILN_E_SIGNATURE, "parameter %u: %s", i, e.msg);
            return;
        }
        at = (at + l.align - 1) / l.align * l.align;
        ret[i] = mem_load(f, in->params[i], at_offset(f, block, at), false);
        at += l.size;
    }
}

static void return_status(struct fn *f, LLVMValueRef status)
{
    LLVMBuildRet(f->b, status);
    fn_stop(f);
}

static void no_memory(struct fn *f)
{
    struct lo *lo = f->lo;
    LLVMBuildStore(f->b, lo_i32(lo, KILN_EXC_MemoryError), f->exc);
    LLVMBuildStore(f->b, lo_i32(lo, 0), at_offset(f, f->exc, offsetof(struct kiln_exc, n_args)));
    LLVMBuildStore(f->b, lo_i32(lo, 0), at_offset(f, f->exc, offsetof(struct kiln_exc, n_trace)));
}

/* Every reference of the result, so that nothing leaks when one of its arrays cannot be copied. */
struct keep {
    LLVMBasicBlockRef lack;
    LLVMValueRef *held; /* allocas, one an owner leaf, in order */
    uint32_t at;
};

static struct val keepable(struct fn *f, struct val v, struct keep *k);

/* A value in allocas, for arms that may replace it. */
static LLVMValueRef *spill(struct fn *f, struct val v)
{
    LLVMValueRef *slot = lo_alloc(f->lo, v.n, sizeof(*slot));
    for (uint32_t i = 0; i < v.n && !f->lo->failed; i++) {
        slot[i] = fn_alloca(f, LLVMTypeOf(v.v[i]), "keep");
        LLVMBuildStore(f->b, v.v[i], slot[i]);
    }
    return slot;
}

static void respill(struct fn *f, LLVMValueRef *slot, struct val v)
{
    for (uint32_t i = 0; i < v.n && !f->lo->failed; i++)
        LLVMBuildStore(f->b, v.v[i], slot[i]);
}

static struct val unspill(struct fn *f, LLVMValueRef *slot, const struct type *t)
{
    const struct tinfo *ti = lo_info(f->lo, t);
    struct val r = val_new(f, t, ti->n);
    for (uint32_t i = 0; i < ti->n && !f->lo->failed; i++)
        r.v[i] = LLVMBuildLoad2(f->b, ti->reg[i], slot[i], "");
    return r;
}

static struct val keepable_array(struct fn *f, struct val v, struct keep *k)
{
    struct lo *lo = f->lo;
    const struct type *t = v.t;
    LLVMBasicBlockRef borrowed = fn_block(f, "borrowed"), have = fn_block(f, "have"),
                      out = fn_block(f, "kept");
    LLVMValueRef *slot = spill(f, v), strides[64];
    fn_cond(f, LLVMBuildIsNull(f->b, arr_owner(v), ""), borrowed, out);
    fn_at(f, borrowed);
    LLVMValueRef step = lo_int(lo, lo_elemsize(lo, t->elem));
    LLVMValueRef owner = host_alloc(f, LLVMBuildMul(f->b, arr_size(f, v), step, ""));
    fn_cond(f, LLVMBuildIsNull(f->b, owner, ""), k->lack, have);
    fn_at(f, have);
    LLVMBuildStore(f->b, owner, k->held[k->at++]);
    for (unsigned i = t->ndim; t->layout == 'A' && i-- > 0;) {
        strides[i] = step;
        step = LLVMBuildMul(f->b, step, arr_shape(v, i), "");
    }
    struct val r = arr_make(f, t, owner, new_data(f, owner), v.v + 2, strides);
    arr_copy_raw(f, r, v); /* apart: needs no temporary */
    respill(f, slot, r);
    fn_br(f, out);
    fn_at(f, out);
    return unspill(f, slot, t);
}

static struct val keepable_record(struct fn *f, struct val v, struct keep *k)
{
    struct lo *lo = f->lo;
    LLVMBasicBlockRef borrowed = fn_block(f, "borrowed"), have = fn_block(f, "have"), out = fn_block(f, "kept");
    LLVMValueRef *slot = spill(f, v);
    fn_cond(f, LLVMBuildIsNull(f->b, v.v[0], ""), borrowed, out);
    fn_at(f, borrowed);
    LLVMValueRef owner = host_alloc(f, lo_int(lo, v.t->record->size));
    fn_cond(f, LLVMBuildIsNull(f->b, owner, ""), k->lack, have);
    fn_at(f, have);
    LLVMBuildStore(f->b, owner, k->held[k->at++]);
    struct val r = record_at(f, v.t, owner, new_data(f, owner));
    record_store(f, r, v);
    respill(f, slot, r);
    fn_br(f, out);
    fn_at(f, out);
    return unspill(f, slot, v.t);
}

/* Arrays and records whose owner is NULL, in new memory; other values as they are. */
static struct val keepable(struct fn *f, struct val v, struct keep *k)
{
    struct lo *lo = f->lo;
    const struct type *t = v.t;
    if (!lo_info(lo, t)->n_owner || lo->failed)
        return v;
    if (t->kind == TY_ARRAY)
        return keepable_array(f, v, k);
    if (t->kind == TY_RECORD)
        return keepable_record(f, v, k);
    if (t->kind == TY_OPTIONAL) {
        LLVMBasicBlockRef some = fn_block(f, "some"), out = fn_block(f, "optional");
        LLVMValueRef *slot = spill(f, v);
        fn_cond(f, v.v[v.n - 1], some, out);
        fn_at(f, some);
        respill(f, slot, keepable(f, (struct val){ .t = t->elem, .v = v.v, .n = v.n - 1 }, k));
        fn_br(f, out);
        fn_at(f, out);
        return unspill(f, slot, t);
    }
    if (t->kind != TY_TUPLE)
        return v;
    struct val r = val_new(f, t, v.n);
    for (uint32_t i = 0, at = 0; i < t->n_items; i++) {
        struct val item = keepable(f, val_item(f, v, i), k);
        for (uint32_t l = 0; l < item.n && !lo->failed; l++)
            r.v[at++] = item.v[l];
    }
    return r;
}

static struct keep keep_begin(struct fn *f, struct val v)
{
    struct lo *lo = f->lo;
    const struct tinfo *ti = lo_info(lo, v.t);
    struct keep k = { .lack = fn_block(f, "lack") };
    uint32_t n = 0;
    k.held = lo_alloc(lo, ti->n_owner + 1, sizeof(*k.held));
    for (uint32_t i = 0; i < ti->n && !lo->failed; i++) {
        if (ti->role[i] != LEAF_OWNER)
            continue;
        k.held[n] = fn_alloca(f, lo->ptr, "held");
        LLVMBuildStore(f->b, v.v[i], k.held[n++]);
    }
    return k;
}

static bool any_recursive(const struct program *p)
{
    for (uint32_t i = 0; i < p->n_instances; i++)
        if (p->instances[i]->recursive)
            return true;
    return false;
}

struct val call_entry(struct fn *f, const struct val *params, LLVMValueRef *ret_status)
{
    struct lo *lo = f->lo;
    const struct instance *in = lo->p->instances[0];
    struct linst *li = lo_inst(lo, in);
    const struct tinfo *ti = lo_info(lo, in->ret);
    uint32_t n = 2, at = 2;
    if (any_recursive(lo->p))
        lo_stack_mark(f);
    for (uint32_t i = 0; i < in->fn->n_params; i++)
        n += params[i].n;
    LLVMValueRef *args = lo_alloc(lo, n, sizeof(*args));
    args[0] = f->exc;
    args[1] = f->env;
    for (uint32_t i = 0; i < in->fn->n_params; i++)
        for (uint32_t k = 0; k < params[i].n; k++)
            args[at++] = params[i].v[k];
    struct val v = val_new(f, in->ret, ti->n);
    if (lo->failed || n != LLVMCountParams(li->fn)) {
        lo_fail(lo, KILN_E_INTERNAL, "entry's leaves");
        return v;
    }
    LLVMValueRef r = LLVMBuildCall2(f->b, li->type, li->fn, args, n, "");
    *ret_status = !li->raises ? NULL : ti->n ? LLVMBuildExtractValue(f->b, r, 0, "") : r;
    for (uint32_t i = 0; i < ti->n; i++)
        v.v[i] = LLVMBuildExtractValue(f->b, r, i + 1, "");
    return v;
}

static void build_entry(struct lo *lo)
{
    const struct instance *in = lo->p->instances[0];
    LLVMTypeRef types[4] = { lo->ptr, lo->ptr, lo->ptr, lo->ptr };
    LLVMTypeRef type = LLVMFunctionType(lo->i32, types, 4, 0);
    struct fn f = { .lo = lo, .fn = LLVMAddFunction(lo->m, KILN_SYM_ENTRY, type) };
    struct val *params = lo_alloc(lo, in->fn->n_params + 1, sizeof(*params));
    LLVMValueRef status;
    export_global(f.fn);
    lo_target_attrs(lo, f.fn);
    for (unsigned i = 0; i < 4; i++)
        lo_paramattr(lo, f.fn, i, "noalias", 0);
    lo_paramattr(lo, f.fn, 1, "readonly", 0);
    lo_paramattr(lo, f.fn, 2, "readonly", 0);
    lo_paramattr(lo, f.fn, 3, "nonnull", 0);
    lo_paramattr(lo, f.fn, 3, "dereferenceable", sizeof(struct kiln_exc));
    helper_begin(&f);
    f.env = LLVMGetParam(f.fn, 2);
    f.exc = LLVMGetParam(f.fn, 3);
    load_args(&f, in, LLVMGetParam(f.fn, 1), params);
    if (lo->failed)
        return;
    struct val v = call_entry(&f, params, &status);
    if (lo->failed)
        return;
    if (status) {
        LLVMBasicBlockRef raised = fn_block(&f, "raised"), done = fn_block(&f, "done");
        LLVMValueRef br =
            LLVMBuildCondBr(f.b, LLVMBuildICmp(f.b, LLVMIntNE, status, lo_i32(lo, 0), ""), raised, done);
        LLVMSetMetadata(br, lo->md_prof, lo->weights_cold);
        fn_at(&f, raised);
        return_status(&f, status);
        fn_at(&f, done);
    }
    struct keep k = keep_begin(&f, v);
    mem_store(&f, LLVMGetParam(f.fn, 0), keepable(&f, v, &k), false);
    return_status(&f, lo_i32(lo, KILN_DONE));
    fn_at(&f, k.lack);
    for (uint32_t i = 0; i < lo_info(lo, v.t)->n_owner && !lo->failed; i++)
        own_release(&f, LLVMBuildLoad2(f.b, lo->ptr, k.held[i], ""));
    no_memory(&f);
    return_status(&f, lo_i32(lo, KILN_RAISED));
    helper_end(&f);
}

void lower_entry(struct lo *lo)
{
    build_key(lo);
    build_bind(lo);
    build_entry(lo);
}
