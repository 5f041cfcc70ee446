/* SPDX-License-Identifier: Apache-2.0
 * create.c - arrays that are made, and what is asked of arrays: `op.NAME` of library.def, second part. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

/* A shape argument: an integer or a tuple of them. */
static bool shape_of(struct fn *f, struct val v, unsigned ndim, LLVMValueRef *ret)
{
    if (v.t->kind == TY_TUPLE) {
        if (v.t->n_items != ndim)
            return false;
        for (unsigned i = 0; i < ndim; i++)
            ret[i] = to_index(f, val_item(f, v, i));
        return true;
    }
    if (ndim != 1)
        return false;
    ret[0] = to_index(f, v);
    return true;
}

static void clear(struct fn *f, struct val a)
{
    struct lo *lo = f->lo;
    LLVMValueRef size = LLVMBuildNSWMul(f->b, arr_size(f, a), lo_int(lo, lo_elemsize(lo, a.t->elem)), "");
    LLVMBuildMemSet(f->b, arr_data(a), LLVMConstInt(lo->i8, 0, 0),
                    LLVMBuildIntCast2(f->b, size, lo->iptr, 0, ""), 8);
}

/* empty zeros ones full, and the same with _like. */
static struct val make(struct fn *f, uint32_t node, const char *name, const struct val *a, uint32_t n)
{
    struct lo *lo = f->lo;
    const struct type *t = fact_of(f, node)->type;
    LLVMValueRef shape[64];
    bool like = strstr(name, "_like") != NULL;
    if (!n || t->kind != TY_ARRAY) {
        lo_fail_at(f, node, "array without a shape");
        return val_dead();
    }
    if (like && a[0].t->kind == TY_ARRAY && a[0].t->ndim == t->ndim) {
        for (unsigned i = 0; i < t->ndim; i++)
            shape[i] = arr_shape(a[0], i);
    } else if (like && type_is_number(a[0].t) && t->ndim == 0) {
        shape[0] = NULL;
    } else if (!shape_of(f, a[0], t->ndim, shape)) {
        lo_fail_at(f, node, "shape does not fit the array's dimensions");
        return val_dead();
    }
    struct val r = arr_alloc(f, t, shape, node);
    if (f->dead || lo->failed)
        return val_dead();
    if (name[0] == 'z')
        clear(f, r);
    else if (name[0] == 'o')
        arr_fill(f, r, val_scalar(f, lo_type(lo, TY_PYINT), lo_int(lo, 1)));
    else if (name[0] == 'f' && n > 1)
        arr_fill(f, r, a[1]);
    return r;
}

static struct val shape_tuple(struct fn *f, const struct val *a, bool strides)
{
    struct lo *lo = f->lo;
    const struct type *types[64], *pyint = lo_type(lo, TY_PYINT);
    struct val items[64];
    unsigned n = a[0].t->ndim;
    for (unsigned i = 0; i < n; i++) {
        types[i] = pyint;
        items[i] = val_scalar(f, pyint, strides ? arr_stride(f, a[0], i) : arr_shape(a[0], i));
    }
    return val_join(f, type_tuple(lo->p->types, types, n, 0), items, n);
}

static struct val transpose(struct fn *f, uint32_t node, struct val a)
{
    const struct type *t = fact_of(f, node)->type;
    LLVMValueRef shape[64], strides[64];
    unsigned n = a.t->ndim;
    for (unsigned i = 0; i < n; i++) {
        shape[i] = arr_shape(a, n - 1 - i);
        strides[i] = t->layout == 'A' ? arr_stride(f, a, n - 1 - i) : NULL;
    }
    struct val r = arr_make(f, t, arr_owner(a), arr_data(a), shape, strides);
    r.own = a.own;
    return r;
}

static struct val copy(struct fn *f, uint32_t node, struct val a)
{
    const struct type *t = fact_of(f, node)->type;
    struct val r = arr_alloc(f, t, a.v + 2, node);
    if (!f->dead && !f->lo->failed)
        arr_copy(f, r, a, node, false);
    return r;
}

/* A view with a shape and strides of its own; without strides in C order. */
static struct val strided(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    const struct type *t = fact_of(f, node)->type;
    LLVMValueRef shape[64], strides[64];
    for (unsigned i = 0; i < t->ndim; i++) {
        shape[i] = to_index(f, val_item(f, a[2], i));
        strides[i] = n > 3 ? to_index(f, val_item(f, a[3], i)) : NULL;
    }
    LLVMValueRef offset = to_index(f, a[1]);
    LLVMValueRef data = LLVMBuildGEP2(f->b, f->lo->i8, arr_data(a[0]), &offset, 1, "");
    struct val r = arr_make(f, t, arr_owner(a[0]), data, shape, strides);
    r.own = a[0].own;
    return r;
}

struct val lower_create(struct fn *f, uint32_t node, const char *name, const struct val *a, uint32_t n)
{
    struct lo *lo = f->lo;
    static const char *const makers[] = { "empty",      "zeros",      "ones",      "full",
                                          "empty_like", "zeros_like", "ones_like", "full_like" };
    const struct type *pyint = lo_type(lo, TY_PYINT);
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if (!strcmp(makers[i], name))
            return make(f, node, name, a, n);
    if (!n || a[0].t->kind != TY_ARRAY) {
        lo_fail_at(f, node, "no lowering of library operation %s", name);
        return val_dead();
    }
    if (!strcmp(name, "shape") || !strcmp(name, "strides"))
        return shape_tuple(f, a, name[1] == 't');
    if (!strcmp(name, "size"))
        return val_scalar(f, pyint, arr_size(f, a[0]));
    if (!strcmp(name, "nbytes"))
        return val_scalar(
            f, pyint,
            LLVMBuildNSWMul(f->b, arr_size(f, a[0]), lo_int(lo, lo_elemsize(lo, a[0].t->elem)), ""));
    if (!strcmp(name, "transpose"))
        return transpose(f, node, a[0]);
    if (!strcmp(name, "strided") && n > 2)
        return strided(f, node, a, n);
    if (!strcmp(name, "copy"))
        return copy(f, node, a[0]);
    if (!strcmp(name, "fill") && n > 1) {
        arr_fill(f, a[0], a[1]);
        return val_none(f);
    }
    lo_fail_at(f, node, "no lowering of library operation %s", name);
    return val_dead();
}
