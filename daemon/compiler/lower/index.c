/* SPDX-License-Identifier: Apache-2.0
 * index.c - subscripts: elements, views, and stores into both. */
#include "daemon/compiler/lower/lo.h"

enum ix_kind { IX_INT, IX_SLICE, IX_NEW, IX_ELLIPSIS };

struct ix { /* one index */
    enum ix_kind kind;
    LLVMValueRef i;
    bool nonneg;
    LLVMValueRef part[3];  /* lower, upper, step; NULL absent */
    LLVMValueRef valid[3]; /* not NULL: the part may be None at run time */
};

struct ixs {
    struct ix *items;
    uint32_t n, n_axes; /* n_axes: how many consume a dimension */
    bool only_ints;
};

static void ixs_push(struct fn *f, struct ixs *x, struct ix one)
{
    if (x->n == 128) {
        lo_fail(f->lo, KILN_E_LIMIT, "more than 128 indexes");
        return;
    }
    x->items[x->n++] = one;
    x->n_axes += one.kind == IX_INT || one.kind == IX_SLICE;
    x->only_ints &= one.kind == IX_INT;
}

static void slice_part(struct fn *f, struct ix *one, unsigned i, struct val v)
{
    if (!v.t || v.t->kind == TY_NONE)
        return;
    if (v.t->kind == TY_OPTIONAL) {
        one->valid[i] = v.v[v.n - 1];
        v = convert(f, v, v.t->elem);
    }
    one->part[i] = to_index(f, v);
}

/* Parts that may be None get the value that stands for an absent one; it depends on the step's sign. */
static void slice_defaults(struct fn *f, struct ix *one)
{
    struct lo *lo = f->lo;
    LLVMValueRef most = lo_int(lo, INT64_MAX), least = lo_int(lo, INT64_MIN), step;
    if (one->valid[2])
        one->part[2] = LLVMBuildSelect(f->b, one->valid[2], one->part[2], lo_int(lo, 1), "");
    step = one->part[2] ? one->part[2] : lo_int(lo, 1);
    for (int i = 0; i < 2; i++) {
        if (!one->valid[i])
            continue;
        LLVMValueRef up = LLVMBuildICmp(f->b, LLVMIntSGT, step, lo_int(lo, 0), "");
        LLVMValueRef absent = LLVMBuildSelect(f->b, up, i ? most : lo_int(lo, 0), i ? least : most, "");
        one->part[i] = LLVMBuildSelect(f->b, one->valid[i], one->part[i], absent, "");
    }
}

void slice_parts(struct fn *f, struct val slice, LLVMValueRef *ret)
{
    struct ix one = { .kind = IX_SLICE };
    for (unsigned i = 0; i < 3; i++) {
        if (i < slice.t->n_items)
            slice_part(f, &one, i, val_item(f, slice, i));
    }
    slice_defaults(f, &one);
    for (unsigned i = 0; i < 3; i++)
        ret[i] = one.part[i];
}

/* An index that is a value already. */
static void ixs_value(struct fn *f, struct ixs *x, uint32_t node, struct val v, bool nonneg)
{
    struct ix one = { .kind = IX_INT, .nonneg = nonneg };
    if (!v.t)
        return;
    switch (v.t->kind) {
    case TY_TUPLE:
        for (uint32_t i = 0; i < v.t->n_items; i++)
            ixs_value(f, x, node, val_item(f, v, i), false);
        return;
    case TY_NONE:
        one.kind = IX_NEW;
        break;
    case TY_ELLIPSIS:
        one.kind = IX_ELLIPSIS;
        break;
    case TY_SLICE:
        one.kind = IX_SLICE;
        for (uint32_t i = 0; i < 3 && i < v.t->n_items; i++)
            slice_part(f, &one, i, val_item(f, v, i));
        slice_defaults(f, &one);
        break;
    default:
        v = need_value(f, v, node);
        one.i = to_index(f, v);
        one.nonneg = nonneg || type_class(v.t) == TC_U;
    }
    ixs_push(f, x, one);
}

static void ixs_node(struct fn *f, struct ixs *x, uint32_t node)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    const struct fact *fa = fact_of(f, node);
    int64_t min;
    if (n->op == KIR_TUPLE && !fa->has_value) {
        uint32_t count;
        const uint32_t *items = kir_list(n, 0, &count);
        for (uint32_t i = 0; i < count; i++)
            ixs_node(f, x, items[i]);
        return;
    }
    if (n->op == KIR_SLICE) {
        struct ix one = { .kind = IX_SLICE };
        for (unsigned i = 0; i < 3; i++) {
            uint32_t part = kir_opt(n, i);
            if (part == KIR_NIL)
                continue;
            slice_part(f, &one, i, eval(f, part));
        }
        slice_defaults(f, &one);
        ixs_push(f, x, one);
        return;
    }
    ixs_value(f, x, node, eval(f, node), int_min(f, node, &min) && min >= 0);
}

static struct ixs ixs_eval(struct fn *f, uint32_t node)
{
    struct ixs x = { .items = lo_alloc(f->lo, 128, sizeof(struct ix)), .only_ints = true };
    ixs_node(f, &x, node);
    return x;
}

/* All dimensions indexed by integers: the wrapped indexes. */
static void element_index(struct fn *f, struct val a, const struct ixs *x, uint32_t node, LLVMValueRef *ret)
{
    for (uint32_t i = 0; i < x->n; i++)
        ret[i] = arr_wrap(f, x->items[i].i, arr_shape(a, i), i, x->items[i].nonneg, node);
}

static struct val view(struct fn *f, struct val a, const struct ixs *x, const struct type *t, uint32_t node)
{
    struct lo *lo = f->lo;
    LLVMValueRef shape[256], strides[256], off = NULL, start, step, len;
    unsigned axis = 0, n = 0, rest = a.t->ndim > x->n_axes ? a.t->ndim - x->n_axes : 0;
    bool seen = false;
    for (uint32_t i = 0; i <= x->n; i++) {
        struct ix one = { .kind = IX_ELLIPSIS };
        if (i < x->n)
            one = x->items[i];
        else if (seen)
            break;
        switch (one.kind) {
        case IX_ELLIPSIS:
            for (unsigned k = 0; k < rest; k++, axis++, n++) {
                shape[n] = arr_shape(a, axis);
                strides[n] = arr_stride(f, a, axis);
            }
            seen = true;
            rest = 0;
            break;
        case IX_NEW:
            shape[n] = lo_int(lo, 1);
            strides[n++] = lo_int(lo, 0);
            break;
        case IX_INT: {
            LLVMValueRef w = arr_wrap(f, one.i, arr_shape(a, axis), axis, one.nonneg, node);
            LLVMValueRef o = LLVMBuildNSWMul(f->b, w, arr_stride(f, a, axis), "");
            off = off ? LLVMBuildNSWAdd(f->b, off, o, "") : o;
            axis++;
            break;
        }
        case IX_SLICE:
            strides[n] = arr_stride(f, a, axis);
            if (!one.part[0] && !one.part[1] && !one.part[2]) {
                shape[n++] = arr_shape(a, axis++);
                break;
            }
            slice_resolve(f, one.part, arr_shape(a, axis), node, &start, &step, &len);
            start = LLVMBuildMul(f->b, start, strides[n], "");
            off = off ? LLVMBuildAdd(f->b, off, start, "") : start;
            strides[n] = LLVMBuildMul(f->b, strides[n], step, "");
            shape[n++] = len;
            axis++;
            break;
        }
    }
    if (n != t->ndim) {
        lo_fail_at(f, node, "view of %u dimensions typed as %u", n, t->ndim);
        return val_poison(f, t);
    }
    LLVMValueRef data = arr_data(a);
    if (off)
        data = LLVMBuildGEP2(f->b, lo->i8, data, &off, 1, "");
    struct val r = arr_make(f, t, arr_owner(a), data, shape, strides);
    r.own = a.own;
    return r;
}

/* ---- tuples ---- */

static struct val tuple_slice(struct fn *f, struct val base, uint32_t index, const struct type *t)
{
    const struct kir_node *n = &f->in->fn->nodes[index];
    int64_t size = base.t->n_items, part[3] = { 0, 0, 1 };
    bool has[3] = { false, false, false };
    for (unsigned i = 0; i < 3 && n->op == KIR_SLICE; i++)
        if (kir_opt(n, i) != KIR_NIL)
            has[i] = node_int(f, kir_opt(n, i), &part[i]);
    int64_t step = has[2] ? part[2] : 1, low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    if (!step)
        step = 1;
    int64_t at[2] = { step > 0 ? 0 : size - 1, step > 0 ? size : -1 };
    for (int i = 0; i < 2; i++) {
        if (!has[i])
            continue;
        int64_t p = part[i] < 0 ? part[i] + size : part[i];
        at[i] = p < low ? low : p > high ? high : p;
    }
    struct val *items = lo_alloc(f->lo, t->n_items, sizeof(*items));
    uint32_t count = 0;
    for (int64_t i = at[0]; count < t->n_items && i >= 0 && i < size; i += step) {
        items[count] = val_item(f, base, (uint32_t)i);
        items[count].own = 0; /* the tuple's temporaries keep them alive to the end of the statement */
        count++;
    }
    if (count != t->n_items) {
        lo_fail(f->lo, KILN_E_INTERNAL, "slice of a tuple");
        return val_poison(f, t);
    }
    return val_join(f, t, items, count);
}

static struct val tuple_subscript(struct fn *f, struct val base, uint32_t node, uint32_t index)
{
    struct lo *lo = f->lo;
    const struct type *t = fact_of(f, node)->type;
    int64_t k, size = base.t->n_items;
    if (fact_of(f, index)->type && fact_of(f, index)->type->kind == TY_SLICE)
        return tuple_slice(f, base, index, t);
    if (node_int(f, index, &k)) {
        k = k < 0 ? k + size : k;
        if (k < 0 || k >= size) {
            raise_static(f, node, EXC(IndexError), "tuple index out of range");
            return val_dead();
        }
        return convert(f, val_item(f, base, (uint32_t)k), t);
    }
    LLVMValueRef i = to_index(f, eval(f, index)), n = lo_int(lo, size);
    if (f->dead || !size)
        return val_dead();
    LLVMValueRef neg = LLVMBuildICmp(f->b, LLVMIntSLT, i, lo_int(lo, 0), "");
    i = LLVMBuildSelect(f->b, neg, LLVMBuildAdd(f->b, i, n, ""), i, "");
    raise_if(f, LLVMBuildICmp(f->b, LLVMIntUGE, i, n, ""), node, EXC(IndexError), "tuple index out of range");
    struct val first = val_item(f, base, 0);
    first.own = 0;
    struct val r = convert(f, first, t);
    for (uint32_t j = 1; j < base.t->n_items; j++) {
        struct val item = val_item(f, base, j);
        item.own = 0;
        item = convert(f, item, t);
        LLVMValueRef here = LLVMBuildICmp(f->b, LLVMIntEQ, i, lo_int(lo, j), "");
        for (uint32_t l = 0; l < r.n; l++)
            r.v[l] = LLVMBuildSelect(f->b, here, item.v[l], r.v[l], "");
    }
    return r;
}

/* ---- the node ---- */

static struct val range_subscript(struct fn *f, struct val base, uint32_t index, uint32_t node)
{
    LLVMValueRef i = to_index(f, eval(f, index)), n;
    if (f->dead)
        return val_dead();
    n = iter_length(f, base, node);
    LLVMValueRef neg = LLVMBuildICmp(f->b, LLVMIntSLT, i, lo_int(f->lo, 0), "");
    i = LLVMBuildSelect(f->b, neg, LLVMBuildAdd(f->b, i, n, ""), i, "");
    raise_if(f, LLVMBuildICmp(f->b, LLVMIntUGE, i, n, ""), node, EXC(IndexError), "range object index out of range");
    return iter_item(f, base, i);
}

struct val lower_subscript(struct fn *f, uint32_t node)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    const struct type *t = fact_of(f, node)->type;
    struct val base = eval_indexed(f, node, KIR_NIL);
    if (f->dead || !base.t)
        return val_dead();
    if (base.t->kind == TY_TUPLE)
        return tuple_subscript(f, base, node, kir_arg(n, 1));
    if (record_is_field(f, base, node))
        return record_read(f, base, node);
    if (base.t->kind == TY_LIST)
        return convert(f, list_subscript(f, base, kir_arg(n, 1), node), t);
    if (base.t->kind == TY_RANGE)
        return convert(f, range_subscript(f, base, kir_arg(n, 1), node), t);
    if (base.t->kind == TY_STR || base.t->kind == TY_BYTES)
        return convert(f, text_subscript(f, base, kir_arg(n, 1), node), t);
    if (base.t->kind != TY_ARRAY) {
        lo_fail_at(f, node, "this value cannot be indexed");
        return val_dead();
    }
    struct ixs x = ixs_eval(f, kir_arg(n, 1));
    if (f->dead || f->lo->failed)
        return val_dead();
    if (t->kind == TY_ARRAY)
        return view(f, base, &x, t, node);
    LLVMValueRef *index =
        lo_alloc(f->lo, x.n + 1, sizeof(LLVMValueRef)); /* not on the stack: this recurses */
    if (!x.only_ints || x.n != base.t->ndim) {
        lo_fail_at(f, node, "index does not name an element");
        return val_dead();
    }
    element_index(f, base, &x, node, index);
    struct val r = arr_load(f, base, index);
    if (r.t && r.t->kind == TY_RECORD)
        r.own = base.own;
    return convert(f, r, t);
}

/* A tuple of numbers as an array on the stack, for `a[i:j] = 1, 2`. */
static struct val tuple_array(struct fn *f, struct val v, const struct type *elem)
{
    struct lo *lo = f->lo;
    uint32_t n = v.t->n_items;
    const struct type *t = type_array(lo->p->types, elem, 1, 'C', true, false);
    LLVMValueRef mem = fn_alloca(f, LLVMArrayType2(lo_mem(lo, elem), n), "items"), shape = lo_int(lo, n);
    struct val a = arr_make(f, t, lo_null(lo), mem, &shape, NULL);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef at = lo_int(lo, i);
        arr_store(f, a, &at, val_item(f, v, i));
    }
    return a;
}

void arr_assign(struct fn *f, struct val to, struct val v, uint32_t node)
{
    if (!v.t)
        return;
    if (v.t->kind == TY_TUPLE && to.t->elem->kind != TY_RECORD)
        v = tuple_array(f, v, to.t->elem);
    if (v.t->kind == TY_ARRAY)
        arr_copy(f, to, v, node, true);
    else
        arr_fill(f, to, v);
}

static const struct type *view_type(struct fn *f, struct val a, const struct ixs *x)
{
    unsigned n = a.t->ndim;
    bool plain = true;
    for (uint32_t i = 0; i < x->n; i++) {
        n += x->items[i].kind == IX_NEW;
        n -= x->items[i].kind == IX_INT;
        plain &= x->items[i].kind == IX_ELLIPSIS || (x->items[i].kind == IX_SLICE && !x->items[i].part[0] &&
                                                     !x->items[i].part[1] && !x->items[i].part[2]);
    }
    /* a[i:j] of one contiguous dimension, and a[:], keep their layout */
    bool run = a.t->ndim == 1 && x->n == 1 && x->items[0].kind == IX_SLICE && !x->items[0].part[2];
    char layout = n == 0 ? 'C' : plain || run ? a.t->layout : 'A';
    return type_array(f->lo->p->types, a.t->elem, n, layout, a.t->readonly, a.t->unaligned);
}

void store_subscript(struct fn *f, uint32_t node, struct val v)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    struct val base = eval_indexed(f, node, KIR_NIL);
    if (f->dead || !base.t || !v.t)
        return;
    if (fact_of(f, node)->callee) {
        const struct instance *callee = fact_of(f, node)->callee;
        struct val args[3] = { base, eval(f, kir_arg(n, 1)), v };
        for (uint32_t i = 0; i < 3 && !f->dead; i++)
            args[i] = convert(f, args[i], callee->params[i]);
        emit_call(f, node, callee, NULL, args);
        return;
    }
    if (record_is_field(f, base, node)) {
        record_write(f, base, node, v);
        return;
    }
    if (base.t->kind == TY_LIST) {
        list_store(f, base, kir_arg(n, 1), node, v);
        return;
    }
    if (base.t->kind != TY_ARRAY) {
        lo_fail_at(f, node, "items of this value cannot be assigned");
        return;
    }
    struct ixs x = ixs_eval(f, kir_arg(n, 1));
    LLVMValueRef *index = lo_alloc(f->lo, x.n + 1, sizeof(LLVMValueRef));
    if (f->dead || f->lo->failed)
        return;
    if (x.only_ints && x.n == base.t->ndim) {
        v = need_value(f, v, node);
        element_index(f, base, &x, node, index);
        if (v.t)
            arr_store(f, base, index, v);
        return;
    }
    const struct type *t = view_type(f, base, &x);
    struct val to = view(f, base, &x, t, node);
    if (f->dead || f->lo->failed)
        return;
    arr_assign(f, to, need_value(f, v, node), node);
}

/* x[i] op= v where the prelude reads and writes the item. */
static void augassign_item(struct fn *f, uint32_t aug, uint32_t target, struct val base, uint32_t value_node)
{
    const struct fact *fa = fact_of(f, target);
    struct val args[3] = { base, eval(f, kir_arg(node_of(f, target), 1)), val_dead() }, old;
    for (uint32_t i = 0; i < 2 && !f->dead; i++)
        args[i] = convert(f, args[i], fa->getter->params[i]);
    old = emit_call(f, target, fa->getter, NULL, args);
    args[2] = f->dead ? old : aug_value(f, aug, old, value_node);
    for (uint32_t i = 0; i < 3 && !f->dead; i++)
        args[i] = convert(f, args[i], fa->callee->params[i]);
    if (!f->dead)
        emit_call(f, target, fa->callee, NULL, args);
}

void augassign_subscript(struct fn *f, uint32_t aug, uint32_t target, uint32_t value_node)
{
    const struct kir_node *n = &f->in->fn->nodes[target];
    struct val base = eval_indexed(f, target, value_node);
    if (f->dead || !base.t)
        return;
    if (fact_of(f, target)->getter) {
        augassign_item(f, aug, target, base, value_node);
        return;
    }
    if (record_is_field(f, base, target)) {
        record_augassign(f, aug, target, base, value_node);
        return;
    }
    if (base.t->kind == TY_LIST) {
        list_augassign(f, base, kir_arg(n, 1), aug, target, value_node);
        return;
    }
    struct ixs x = ixs_eval(f, kir_arg(n, 1));
    LLVMValueRef *index = lo_alloc(f->lo, x.n + 1, sizeof(LLVMValueRef));
    if (f->dead || f->lo->failed)
        return;
    const struct type *place = fact_of(f, target)->type;
    if (base.t->kind == TY_ARRAY && place->kind == TY_ARRAY) { /* the prelude changes the view */
        aug_value(f, aug, view(f, base, &x, place, target), value_node);
        return;
    }
    if (base.t->kind != TY_ARRAY || !x.only_ints || x.n != base.t->ndim) {
        lo_fail_at(f, target, "only an element of an array can be the target of an augmented assignment");
        return;
    }
    element_index(f, base, &x, target, index);
    LLVMValueRef p = arr_elem(f, base, index);
    struct val old = mem_load(f, base.t->elem, p, base.t->unaligned);
    const struct type *read = fact_of(f, target)->type;
    struct val v = aug_value(f, aug, read ? convert(f, old, read) : old, value_node);
    if (f->dead || !v.t)
        return;
    v = convert(f, v, base.t->elem);
    if (v.t == base.t->elem)
        mem_store(f, p, v, base.t->unaligned);
}
