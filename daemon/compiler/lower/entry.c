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
    uint32_t n = 2, at = 2;
    if (any_recursive(lo->p))
        lo_stack_mark(f);
    for (uint32_t i = 0; i < in->fn->n_params; i++)
        n += params[i].n;
    LLVMValueRef *args = lo_alloc(lo, n + 1, sizeof(*args)), memory = NULL, status;
    args[0] = f->exc;
    args[1] = f->env;
    for (uint32_t i = 0; i < in->fn->n_params; i++)
        for (uint32_t k = 0; k < params[i].n; k++)
            args[at++] = params[i].v[k];
    if (li->memory)
        args[n++] = memory = fn_alloca(f, li->memory, "result");
    if (lo->failed || n != LLVMCountParams(li->fn)) {
        lo_fail(lo, KILN_E_INTERNAL, "entry's leaves");
        return val_zero(f, in->ret);
    }
    LLVMValueRef r = LLVMBuildCall2(f->b, li->type, li->fn, args, n, "");
    struct val v = call_result(f, li, in->ret, r, memory, &status);
    *ret_status = li->raises ? status : NULL;
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
    LLVMBasicBlockRef failed = keep_result(&f, v, LLVMGetParam(f.fn, 0));
    return_status(&f, lo_i32(lo, KILN_DONE));
    if (failed) {
        fn_at(&f, failed);
        no_memory(&f);
        return_status(&f, lo_i32(lo, KILN_RAISED));
    }
    helper_end(&f);
}

void lower_entry(struct lo *lo)
{
    build_key(lo);
    build_bind(lo);
    build_entry(lo);
}
