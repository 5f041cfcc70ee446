/* SPDX-License-Identifier: Apache-2.0
 * copy.c - one array into another, as NumPy's `to[...] = from`: broadcast, converted, safe against overlap.
 *
 * The shapes are checked by the caller's code, where a mismatch raises before anything is stored. The work is
 * an internal function for each pair of types, so that three slice stores do not cost three loop nests:
 *   i1 kiln.copy(to leaves, from leaves)   true: no memory for the temporary that an overlap needs */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

static LLVMValueRef equal_i64(struct fn *f, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(f->b, LLVMIntEQ, a, b, "");
}

/* All of from's shape equal to to's. */
static LLVMValueRef same_shape(struct fn *f, struct val to, struct val from)
{
    LLVMValueRef all = lo_bool(f->lo, true);
    for (unsigned i = 0; i < to.t->ndim; i++)
        all = LLVMBuildAnd(f->b, all, equal_i64(f, arr_shape(to, i), arr_shape(from, i)), "");
    return all;
}

/* First and one past the last byte of a view that is not empty. */
static void extent(struct fn *f, struct val a, LLVMValueRef *ret_low, LLVMValueRef *ret_high)
{
    struct lo *lo = f->lo;
    LLVMValueRef base = LLVMBuildPtrToInt(f->b, arr_data(a), lo->iptr, "");
    LLVMValueRef low = LLVMBuildIntCast2(f->b, base, lo->i64, 0, "");
    LLVMValueRef high = LLVMBuildAdd(f->b, low, lo_int(lo, lo_elemsize(lo, a.t->elem)), "");
    for (unsigned i = 0; i < a.t->ndim; i++) {
        LLVMValueRef last = LLVMBuildSub(f->b, arr_shape(a, i), lo_int(lo, 1), "");
        LLVMValueRef span = LLVMBuildMul(f->b, last, arr_stride(f, a, i), "");
        if (a.t->layout != 'A') {
            high = LLVMBuildAdd(f->b, high, span, "");
            continue;
        }
        LLVMValueRef neg = LLVMBuildICmp(f->b, LLVMIntSLT, span, lo_int(lo, 0), "");
        low = LLVMBuildSelect(f->b, neg, LLVMBuildAdd(f->b, low, span, ""), low, "");
        high = LLVMBuildSelect(f->b, neg, high, LLVMBuildAdd(f->b, high, span, ""), "");
    }
    *ret_low = low;
    *ret_high = high;
}

/* to and from share bytes and are not element for element the same. */
static LLVMValueRef overlap(struct fn *f, struct val to, struct val from)
{
    LLVMValueRef tl, th, fl, fh;
    extent(f, to, &tl, &th);
    extent(f, from, &fl, &fh);
    LLVMValueRef meet = LLVMBuildAnd(f->b, LLVMBuildICmp(f->b, LLVMIntULT, tl, fh, ""),
                                     LLVMBuildICmp(f->b, LLVMIntULT, fl, th, ""), "");
    if (to.t->ndim != from.t->ndim || to.t->elem != from.t->elem)
        return meet;
    LLVMValueRef same =
        LLVMBuildAnd(f->b, LLVMBuildICmp(f->b, LLVMIntEQ, tl, fl, ""), same_shape(f, to, from), "");
    for (unsigned i = 0; i < to.t->ndim; i++)
        same = LLVMBuildAnd(f->b, same, equal_i64(f, arr_stride(f, to, i), arr_stride(f, from, i)), "");
    return LLVMBuildAnd(f->b, meet, LLVMBuildNot(f->b, same, ""), "");
}

/* The loops: from is an 'A' array of its own rank; strides of dimensions of one element are zero. */
static void copy_loops(struct fn *f, struct val to, struct val from)
{
    struct nest n;
    LLVMValueRef index[64];
    unsigned skip = to.t->ndim - from.t->ndim;
    nest_begin(f, &n, to.t->ndim, to.v + 2, to.t->layout);
    for (unsigned i = 0; i < from.t->ndim; i++)
        index[i] = n.index[skip + i];
    arr_store(f, to, n.index, arr_load(f, from, index));
    nest_end(f, &n);
}

/* from with broadcast dimensions made stride 0. */
static struct val broadcast(struct fn *f, struct val from, const struct type *as)
{
    LLVMValueRef strides[64], one = lo_int(f->lo, 1), none = lo_int(f->lo, 0);
    for (unsigned i = 0; i < from.t->ndim; i++)
        strides[i] =
            LLVMBuildSelect(f->b, equal_i64(f, arr_shape(from, i), one), none, arr_stride(f, from, i), "");
    return arr_make(f, as, arr_owner(from), arr_data(from), from.v + 2, strides);
}

static struct val params_val(struct fn *f, const struct type *t, unsigned first)
{
    const struct tinfo *ti = lo_info(f->lo, t);
    struct val v = val_new(f, t, ti->n);
    for (uint32_t i = 0; i < ti->n; i++)
        v.v[i] = LLVMGetParam(f->fn, first + i);
    return v;
}

static void return_bool(struct fn *f, bool r)
{
    LLVMBuildRet(f->b, lo_bool(f->lo, r));
    fn_stop(f);
}

static void copy_body(struct fn *f, const struct type *tt, const struct type *ft)
{
    struct lo *lo = f->lo;
    struct val to = params_val(f, tt, 0), from = params_val(f, ft, lo_info(lo, tt)->n);
    unsigned item = lo_elemsize(lo, tt->elem);
    LLVMBasicBlockRef some = fn_block(f, "some"), empty = fn_block(f, "empty");
    fn_cond(f, equal_i64(f, arr_size(f, to), lo_int(lo, 0)), empty, some);
    fn_at(f, empty);
    return_bool(f, false);
    fn_at(f, some);
    if (tt->layout != 'A' && tt->layout == ft->layout && tt->elem == ft->elem && tt->ndim == ft->ndim) {
        LLVMBasicBlockRef flat = fn_block(f, "flat"), rest = fn_block(f, "rest");
        fn_cond(f, same_shape(f, to, from), flat, rest);
        fn_at(f, flat);
        LLVMValueRef bytes = LLVMBuildMul(f->b, arr_size(f, to), lo_int(lo, item), "");
        LLVMBuildMemMove(f->b, arr_data(to), lo_elemalign(lo, tt->elem, tt->unaligned), arr_data(from),
                         lo_elemalign(lo, ft->elem, ft->unaligned), LLVMBuildIntCast2(f->b, bytes, lo->iptr, 0, ""));
        return_bool(f, false);
        fn_at(f, rest);
    }
    /* on overlap: from moves to new memory first */
    const struct type *as =
        type_array(lo->p->types, ft->elem, ft->ndim, ft->ndim ? 'A' : 'C', true, ft->unaligned);
    const struct type *mem = type_array(lo->p->types, ft->elem, ft->ndim, 'C', false, false);
    if (!as || !mem) {
        lo_fail(lo, KILN_E_NOMEM, "types of the job");
        return;
    }
    LLVMBasicBlockRef apart = fn_block(f, "apart"), meet = fn_block(f, "meet");
    fn_cond(f, overlap(f, to, from), meet, apart);
    fn_at(f, apart);
    copy_loops(f, to, broadcast(f, from, as));
    return_bool(f, false);
    fn_at(f, meet);
    LLVMValueRef size = LLVMBuildMul(f->b, arr_size(f, from), lo_int(lo, lo_elemsize(lo, ft->elem)), "");
    LLVMValueRef owner = host_alloc(f, size);
    LLVMBasicBlockRef have = fn_block(f, "have"), lack = fn_block(f, "lack");
    fn_cond(f, LLVMBuildIsNull(f->b, owner, ""), lack, have);
    fn_at(f, lack);
    return_bool(f, true);
    fn_at(f, have);
    struct val tmp = arr_make(f, mem, owner, new_data(f, owner), from.v + 2, NULL);
    copy_loops(f, tmp, broadcast(f, from, as));
    copy_loops(f, to, broadcast(f, tmp, as));
    own_release(f, owner);
    return_bool(f, false);
}

static struct copyfn *copy_function(struct lo *lo, const struct type *tt, const struct type *ft)
{
    for (struct copyfn *c = lo->copies; c; c = c->next)
        if (c->to == tt && c->from == ft)
            return c;
    struct copyfn *c = lo_alloc(lo, 1, sizeof(*c));
    const struct tinfo *ti = lo_info(lo, tt), *fi = lo_info(lo, ft);
    LLVMTypeRef *types = lo_alloc(lo, ti->n + fi->n, sizeof(*types));
    memcpy(types, ti->reg, ti->n * sizeof(*types));
    memcpy(types + ti->n, fi->reg, fi->n * sizeof(*types));
    c->to = tt;
    c->from = ft;
    c->type = LLVMFunctionType(lo->i1, types, ti->n + fi->n, 0);
    c->fn = LLVMAddFunction(lo->m, "kiln.copy", c->type);
    c->next = lo->copies;
    lo->copies = c;
    LLVMSetLinkage(c->fn, LLVMInternalLinkage);
    lo_target_attrs(lo, c->fn);
    struct fn f = { .lo = lo, .fn = c->fn };
    helper_begin(&f);
    copy_body(&f, tt, ft);
    helper_end(&f);
    return c;
}

/* to[...] = from; the text of the error is NumPy's for the usual ranks. */
static void shape_check(struct fn *f, struct val to, struct val from, uint32_t node)
{
    struct lo *lo = f->lo;
    LLVMValueRef bad = lo_bool(lo, false), ints[KILN_EXC_ARGS_MAX];
    unsigned nt = to.t->ndim, nf = from.t->ndim, n = 0;
    for (unsigned i = 0; i < nf; i++) {
        LLVMValueRef s = arr_shape(from, i);
        LLVMValueRef off = LLVMBuildICmp(f->b, LLVMIntNE, s, lo_int(lo, 1), "");
        if (nt + i >= nf)
            off = LLVMBuildAnd(f->b, off, LLVMBuildICmp(f->b, LLVMIntNE, s, arr_shape(to, nt + i - nf), ""),
                               "");
        bad = LLVMBuildOr(f->b, bad, off, "");
    }
    if (nt + nf > KILN_EXC_ARGS_MAX - 1) {
        raise_if(f, bad, node, EXC(ValueError),
                 "could not broadcast input array into the shape of the target");
        return;
    }
    struct buf text;
    buf_init(&text, 4096);
    buf_str(&text, "could not broadcast input array from shape (");
    for (unsigned side = 0; side < 2; side++) {
        struct val a = side ? to : from;
        for (unsigned i = 0; i < a.t->ndim; i++) {
            buf_str(&text, i ? ",{}" : "{}");
            ints[n++] = arr_shape(a, i);
        }
        buf_str(&text, a.t->ndim == 1 ? ",)" : ")");
        if (!side)
            buf_str(&text, " into shape (");
    }
    raise_format_if(f, bad, node, EXC(ValueError), buf_cstr(&text), ints, n);
    buf_done(&text);
}

LLVMValueRef arr_copy_raw(struct fn *f, struct val to, struct val from)
{
    struct lo *lo = f->lo;
    struct copyfn *c = copy_function(lo, to.t, from.t);
    if (lo->failed)
        return lo_bool(lo, false);
    LLVMValueRef *args = lo_alloc(lo, to.n + from.n, sizeof(*args));
    memcpy(args, to.v, to.n * sizeof(*args));
    memcpy(args + to.n, from.v, from.n * sizeof(*args));
    return LLVMBuildCall2(f->b, c->type, c->fn, args, to.n + from.n, "");
}

void arr_copy(struct fn *f, struct val to, struct val from, uint32_t node, bool checked)
{
    struct lo *lo = f->lo;
    if (checked)
        shape_check(f, to, from, node);
    if (from.t->ndim > to.t->ndim) { /* leading dimensions are of one element now */
        unsigned skip = from.t->ndim - to.t->ndim;
        const struct type *t = type_array(lo->p->types, from.t->elem, to.t->ndim, to.t->ndim ? 'A' : 'C',
                                          true, from.t->unaligned);
        LLVMValueRef strides[64];
        for (unsigned i = 0; i < to.t->ndim; i++)
            strides[i] = arr_stride(f, from, skip + i);
        from = arr_make(f, t, arr_owner(from), arr_data(from), from.v + 2 + skip, strides);
    }
    raise_if(f, arr_copy_raw(f, to, from), node, EXC(MemoryError), "Unable to allocate an array");
}
