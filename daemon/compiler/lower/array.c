/* SPDX-License-Identifier: Apache-2.0
 * array.c - arrays as leaves: elements, loops over a shape, memory.
 *
 * A contiguous array has no stride leaves: an element's address is one multiply-add a dimension from its
 * shape, in elements, which is what the optimizer knows best. 'A' arrays go by byte strides. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

LLVMValueRef arr_owner(struct val a)
{
    return a.v[0];
}

LLVMValueRef arr_data(struct val a)
{
    return a.v[1];
}

LLVMValueRef arr_shape(struct val a, unsigned k)
{
    return a.v[2 + k];
}

LLVMValueRef arr_stride(struct fn *f, struct val a, unsigned k)
{
    if (a.t->layout == 'A')
        return a.v[2 + a.t->ndim + k];
    LLVMValueRef s = lo_int(f->lo, lo_elemsize(f->lo, a.t->elem));
    if (a.t->layout == 'F') {
        for (unsigned i = 0; i < k; i++)
            s = LLVMBuildNSWMul(f->b, s, arr_shape(a, i), "");
    } else {
        for (unsigned i = a.t->ndim; i-- > k + 1;)
            s = LLVMBuildNSWMul(f->b, s, arr_shape(a, i), "");
    }
    return s;
}

LLVMValueRef arr_size(struct fn *f, struct val a)
{
    LLVMValueRef n = a.t->ndim ? arr_shape(a, 0) : lo_int(f->lo, 1);
    for (unsigned i = 1; i < a.t->ndim; i++)
        n = LLVMBuildNSWMul(f->b, n, arr_shape(a, i), "");
    return n;
}

struct val arr_make(struct fn *f, const struct type *t, LLVMValueRef owner, LLVMValueRef data,
                    LLVMValueRef *shape, LLVMValueRef *strides)
{
    const struct tinfo *ti = lo_info(f->lo, t);
    struct val v = val_new(f, t, ti->n);
    v.v[0] = owner;
    v.v[1] = data;
    for (unsigned i = 0; i < t->ndim; i++) {
        v.v[2 + i] = shape[i];
        if (t->layout == 'A')
            v.v[2 + t->ndim + i] = strides[i];
    }
    return v;
}

LLVMValueRef arr_elem(struct fn *f, struct val a, LLVMValueRef *index)
{
    struct lo *lo = f->lo;
    unsigned n = a.t->ndim;
    LLVMValueRef off = NULL;
    if (!n)
        return arr_data(a);
    if (a.t->layout == 'A') {
        for (unsigned i = 0; i < n; i++) {
            LLVMValueRef part = LLVMBuildNSWMul(f->b, index[i], arr_stride(f, a, i), "");
            off = off ? LLVMBuildNSWAdd(f->b, off, part, "") : part;
        }
        return LLVMBuildInBoundsGEP2(f->b, lo->i8, arr_data(a), &off, 1, "");
    }
    for (unsigned j = 0; j < n; j++) {
        unsigned i = a.t->layout == 'F' ? n - 1 - j : j;
        off = off ? LLVMBuildNSWAdd(f->b, LLVMBuildNSWMul(f->b, off, arr_shape(a, i), ""), index[i], "")
                  : index[i];
    }
    return LLVMBuildInBoundsGEP2(f->b, lo_mem(lo, a.t->elem), arr_data(a), &off, 1, "");
}

struct val arr_load(struct fn *f, struct val a, LLVMValueRef *index)
{
    LLVMValueRef p = arr_elem(f, a, index);
    return a.t->elem->kind == TY_RECORD ? record_element(f, a, p) : mem_load(f, a.t->elem, p, a.t->unaligned);
}

void arr_store(struct fn *f, struct val a, LLVMValueRef *index, struct val v)
{
    if (a.t->elem->kind == TY_RECORD) {
        record_store(f, record_element(f, a, arr_elem(f, a, index)), v);
        return;
    }
    v = convert(f, v, a.t->elem);
    if (v.t == a.t->elem)
        mem_store(f, arr_elem(f, a, index), v, a.t->unaligned);
}

/* Negative indexes count from the end; with bounds checks the rest is IndexError. */
LLVMValueRef arr_wrap(struct fn *f, LLVMValueRef i, LLVMValueRef n, unsigned axis, bool nonneg, uint32_t node)
{
    LLVMValueRef w = i;
    if (!nonneg) {
        LLVMValueRef neg = LLVMBuildICmp(f->b, LLVMIntSLT, i, lo_int(f->lo, 0), "");
        w = LLVMBuildSelect(f->b, neg, LLVMBuildAdd(f->b, i, n, ""), i, "");
    }
    if (f->boundscheck) {
        LLVMValueRef ints[3] = { i, lo_int(f->lo, axis), n };
        raise_format_if(f, LLVMBuildICmp(f->b, LLVMIntUGE, w, n, ""), node, EXC(IndexError),
                        "index {} is out of bounds for axis {} with size {}", ints, 3);
    }
    return w;
}

/* ---- loops over a shape ---- */

/* The last dimension runs fastest, for 'F' the first. index[] follows the dimensions. */
void nest_begin(struct fn *f, struct nest *n, unsigned ndim, LLVMValueRef *shape, char layout)
{
    struct lo *lo = f->lo;
    n->n = ndim;
    for (unsigned j = 0; j < ndim; j++) {
        unsigned d = layout == 'F' ? ndim - 1 - j : j;
        n->head[j] = fn_block(f, "nest");
        n->out[j] = fn_block(f, "nest.out");
        LLVMBasicBlockRef body = fn_block(f, "nest.body");
        n->iv[j] = fn_alloca(f, lo->i64, "nest.i");
        LLVMBuildStore(f->b, lo_int(lo, 0), n->iv[j]);
        fn_br(f, n->head[j]);
        fn_at(f, n->head[j]);
        n->index[d] = LLVMBuildLoad2(f->b, lo->i64, n->iv[j], "");
        fn_cond(f, LLVMBuildICmp(f->b, LLVMIntSLT, n->index[d], shape[d], ""), body, n->out[j]);
        fn_at(f, body);
    }
}

void nest_end(struct fn *f, struct nest *n)
{
    struct lo *lo = f->lo;
    for (unsigned j = n->n; j-- > 0;) {
        LLVMValueRef i = LLVMBuildLoad2(f->b, lo->i64, n->iv[j], "");
        LLVMBuildStore(f->b, LLVMBuildNSWAdd(f->b, i, lo_int(lo, 1), ""), n->iv[j]);
        fn_br(f, n->head[j]);
        fn_at(f, n->out[j]);
    }
}

void arr_fill(struct fn *f, struct val a, struct val v)
{
    struct nest n;
    LLVMValueRef size = arr_size(f, a);
    if (a.t->elem->kind != TY_RECORD)
        v = convert(f, v, a.t->elem);
    if (!v.t)
        return;
    if (a.t->elem->kind != TY_RECORD && a.t->layout != 'A' && a.t->ndim != 1) { /* contiguous: one loop */
        nest_begin(f, &n, 1, &size, 'C');
        LLVMValueRef p = LLVMBuildInBoundsGEP2(f->b, lo_mem(f->lo, a.t->elem), arr_data(a), n.index, 1, "");
        mem_store(f, p, v, a.t->unaligned);
    } else {
        nest_begin(f, &n, a.t->ndim, a.v + 2, a.t->layout);
        arr_store(f, a, n.index, v);
    }
    nest_end(f, &n);
}

/* ---- memory ---- */

/* noalias ptr kiln.data(owner): memory that is new. Not inlined: the promise would be lost, and the call is
 * nothing beside an allocation. */
LLVMValueRef new_data(struct fn *f, LLVMValueRef owner)
{
    struct lo *lo = f->lo;
    LLVMTypeRef type = LLVMFunctionType(lo->ptr, &lo->ptr, 1, 0);
    LLVMValueRef fn = LLVMGetNamedFunction(lo->m, "kiln.data");
    if (!fn) {
        fn = LLVMAddFunction(lo->m, "kiln.data", type);
        LLVMSetLinkage(fn, LLVMInternalLinkage);
        lo_target_attrs(lo, fn);
        lo_fnattr(lo, fn, "noinline");
        LLVMAddAttributeAtIndex(fn, LLVMAttributeReturnIndex, lo_attr(lo, "noalias", 0));
        LLVMBuilderRef b = LLVMCreateBuilderInContext(lo->c);
        LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(lo->c, fn, "entry"));
        LLVMValueRef off = lo_int(lo, 8 + lo->t->pointer_bytes), o = LLVMGetParam(fn, 0);
        LLVMValueRef p = LLVMBuildInBoundsGEP2(b, lo->i8, o, &off, 1, "");
        LLVMBuildRet(b, LLVMBuildLoad2(b, lo->ptr, p, ""));
        LLVMDisposeBuilder(b);
    }
    return LLVMBuildCall2(f->b, type, fn, &owner, 1, "");
}

LLVMValueRef host_alloc(struct fn *f, LLVMValueRef size)
{
    struct lo *lo = f->lo;
    LLVMTypeRef type = LLVMFunctionType(lo->ptr, &lo->i64, 1, 0);
    LLVMValueRef host = LLVMBuildLoad2(f->b, lo->ptr, lo->host, "");
    LLVMValueRef fn =
        LLVMBuildLoad2(f->b, lo->ptr, at_offset(f, host, offsetof(struct kiln_host, alloc)), "");
    return LLVMBuildCall2(f->b, type, fn, &size, 1, "");
}

static LLVMValueRef mul_checked(struct fn *f, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *overflow)
{
    LLVMValueRef args[2] = { a, b };
    LLVMValueRef r = lo_intrinsic(f, "llvm.smul.with.overflow", f->lo->i64, args, 2);
    LLVMValueRef o = LLVMBuildExtractValue(f->b, r, 1, "");
    *overflow = *overflow ? LLVMBuildOr(f->b, *overflow, o, "") : o;
    return LLVMBuildExtractValue(f->b, r, 0, "");
}

struct val arr_alloc(struct fn *f, const struct type *t, LLVMValueRef *shape, uint32_t node)
{
    struct lo *lo = f->lo;
    LLVMValueRef size = lo_int(lo, lo_elemsize(lo, t->elem)), overflow = NULL, any = NULL, strides[64];
    for (unsigned i = 0; i < t->ndim; i++)
        any = any ? LLVMBuildOr(f->b, any, shape[i], "") : shape[i];
    if (any)
        raise_if(f, LLVMBuildICmp(f->b, LLVMIntSLT, any, lo_int(lo, 0), ""), node, EXC(ValueError),
                 "negative dimensions are not allowed");
    for (unsigned i = 0; i < t->ndim; i++)
        size = mul_checked(f, size, shape[i], &overflow);
    if (overflow)
        raise_if(
            f, overflow, node, EXC(ValueError),
            "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
    LLVMValueRef owner = host_alloc(f, size);
    raise_if(f, LLVMBuildIsNull(f->b, owner, ""), node, EXC(MemoryError), "Unable to allocate an array");
    LLVMValueRef step = lo_int(lo, lo_elemsize(lo, t->elem));
    for (unsigned i = t->ndim; t->layout == 'A' && i-- > 0;) {
        strides[i] = step;
        step = LLVMBuildNSWMul(f->b, step, shape[i], "");
    }
    struct val v = arr_make(f, t, owner, new_data(f, owner), shape, strides);
    temp_hold(f, &v);
    return v;
}
