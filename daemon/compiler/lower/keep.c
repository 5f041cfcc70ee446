/* SPDX-License-Identifier: Apache-2.0
 * keep.c - a result that its caller may keep: arrays and records whose memory was only borrowed are copied.
 *
 * It is done in the return slot, by one function a type out of line. So a result of hundreds of arrays stays code of that
 * length: nothing else needs to be remembered for the case that memory runs out. */
#include <stdio.h>

#include "daemon/compiler/lower/lo.h"

/* i1 kiln.keep(place): the array or record there, in new memory; true when there is none. */
static void keep_body(struct fn *f, const struct type *t, LLVMValueRef place)
{
    struct lo *lo = f->lo;
    struct val v = mem_load(f, t, place, false), r;
    LLVMBasicBlockRef have = fn_block(f, "have"), lack = fn_block(f, "lack");
    LLVMValueRef step = lo_int(lo, t->kind == TY_RECORD ? t->record->size : lo_elemsize(lo, t->elem)), strides[64];
    LLVMValueRef owner = host_alloc(f, t->kind == TY_RECORD ? step : LLVMBuildMul(f->b, arr_size(f, v), step, ""));
    fn_cond(f, LLVMBuildIsNull(f->b, owner, ""), lack, have);
    fn_at(f, lack);
    LLVMBuildRet(f->b, lo_bool(lo, true));
    fn_stop(f);
    fn_at(f, have);
    if (t->kind == TY_RECORD) {
        r = record_at(f, t, owner, new_data(f, owner));
        record_store(f, r, v);
    } else {
        for (unsigned i = t->ndim; t->layout == 'A' && i-- > 0;) {
            strides[i] = step;
            step = LLVMBuildMul(f->b, step, arr_shape(v, i), "");
        }
        r = arr_make(f, t, owner, new_data(f, owner), v.v + 2, strides);
        arr_copy_raw(f, r, v); /* apart: needs no temporary */
    }
    mem_store(f, place, r, false);
    LLVMBuildRet(f->b, lo_bool(lo, false));
    fn_stop(f);
}

static LLVMValueRef keep_function(struct lo *lo, const struct type *t, LLVMTypeRef *ret_type)
{
    char name[40];
    snprintf(name, sizeof name, "kiln.keep%u", t->id);
    *ret_type = LLVMFunctionType(lo->i1, &lo->ptr, 1, 0);
    LLVMValueRef fn = LLVMGetNamedFunction(lo->m, name);
    if (fn)
        return fn;
    struct fn f = { .lo = lo, .fn = LLVMAddFunction(lo->m, name, *ret_type) };
    LLVMSetLinkage(f.fn, LLVMInternalLinkage);
    lo_target_attrs(lo, f.fn);
    lo_fnattr(lo, f.fn, "noinline");
    lo_fnattr(lo, f.fn, "cold");
    helper_begin(&f);
    keep_body(&f, t, LLVMGetParam(f.fn, 0));
    helper_end(&f);
    return f.fn;
}

static uint64_t layout_after(struct fn *f, const struct type *t, uint64_t at, struct layout *ret)
{
    struct kiln_err e = KILN_ERR_INIT;
    *ret = (struct layout){ 0, 1 };
    if (type_layout(t, f->lo->t->pointer_bytes, ret, &e))
        lo_fail(f->lo, KILN_E_INTERNAL, "value without a layout: %s", e.msg);
    return (at + ret->align - 1) / ret->align * ret->align;
}

static void keep_one(struct fn *f, const struct type *t, LLVMValueRef place, LLVMBasicBlockRef lack)
{
    LLVMTypeRef type;
    LLVMBasicBlockRef borrowed = fn_block(f, "borrowed"), out = fn_block(f, "kept");
    LLVMValueRef owner = LLVMBuildLoad2(f->b, f->lo->ptr, place, ""), fn = keep_function(f->lo, t, &type);
    fn_cond(f, LLVMBuildIsNull(f->b, owner, ""), borrowed, out);
    fn_at(f, borrowed);
    fn_cond(f, LLVMBuildCall2(f->b, type, fn, &place, 1, ""), lack, out);
    fn_at(f, out);
}

/* lack NULL: release what is held instead. */
static void walk(struct fn *f, const struct type *t, LLVMValueRef place, LLVMBasicBlockRef lack)
{
    struct layout l;
    uint64_t at = 0;
    if (!lo_info(f->lo, t)->n_owner || f->lo->failed)
        return;
    if (t->kind == TY_TUPLE) {
        for (uint32_t i = 0; i < t->n_items; i++) {
            at = layout_after(f, t->items[i], at, &l);
            walk(f, t->items[i], at_offset(f, place, at), lack);
            at += l.size;
        }
    } else if (t->kind == TY_OPTIONAL) {
        layout_after(f, t->elem, 0, &l);
        LLVMBasicBlockRef some = fn_block(f, "some"), out = fn_block(f, "optional");
        LLVMValueRef valid = LLVMBuildLoad2(f->b, f->lo->i8, at_offset(f, place, l.size), "");
        fn_cond(f, LLVMBuildIsNull(f->b, valid, ""), out, some);
        fn_at(f, some);
        walk(f, t->elem, place, lack);
        fn_br(f, out);
        fn_at(f, out);
    } else if (!lack) {
        own_release(f, LLVMBuildLoad2(f->b, f->lo->ptr, place, ""));
    } else if (t->kind == TY_ARRAY || t->kind == TY_RECORD) {
        keep_one(f, t, place, lack);
    }
}

LLVMBasicBlockRef keep_result(struct fn *f, struct val v, LLVMValueRef place)
{
    LLVMBasicBlockRef lack, done, failed;
    mem_store(f, place, v, false);
    if (!lo_info(f->lo, v.t)->n_owner)
        return NULL;
    lack = fn_block(f, "lack");
    done = fn_block(f, "done");
    walk(f, v.t, place, lack);
    fn_br(f, done);
    fn_at(f, lack);
    walk(f, v.t, place, NULL);
    failed = LLVMGetInsertBlock(f->b);
    fn_at(f, done);
    return failed;
}
