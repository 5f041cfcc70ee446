/* SPDX-License-Identifier: Apache-2.0
 * list.c - lists, dicts and sets in memory: making them, giving them up, their items.
 *
 * The value is its kiln_mem. A list's memory begins with struct kiln_list_head; a dict's or set's holds the
 * allocator's release and the struct of box.h. Each type has one function kiln.drop.N that gives up what the
 * memory holds; it is put where the allocator had its release, which it calls last. */
#include "daemon/compiler/infer/box.h"

#include <stdio.h>
#include <string.h>

#include "daemon/compiler/lower/lo.h"

enum { HEAD_LEN, HEAD_CAP, HEAD_DATA, HEAD_ITEMS, HEAD_FREE };
#define BOX_FIELDS 8 /* offset of the struct behind the release, on every target */

static LLVMTypeRef head_type(struct lo *lo)
{
    LLVMTypeRef fields[5] = { lo->i64, lo->i64, lo->ptr, lo->ptr, lo->ptr };
    return LLVMStructTypeInContext(lo->c, fields, 5, 0);
}

/* mem->data: it stays the same as long as mem lives. */
static LLVMValueRef memory(struct fn *f, LLVMValueRef mem)
{
    LLVMValueRef data = LLVMBuildLoad2(f->b, f->lo->ptr, at_offset(f, mem, 8 + f->lo->t->pointer_bytes), "");
    LLVMSetMetadata(data, f->lo->md_invariant, f->lo->md_empty);
    return data;
}

static LLVMValueRef head(struct fn *f, LLVMValueRef mem, unsigned field)
{
    return LLVMBuildStructGEP2(f->b, head_type(f->lo), memory(f, mem), field, "");
}

LLVMValueRef list_length(struct fn *f, struct val l)
{
    LLVMValueRef n = LLVMBuildLoad2(f->b, f->lo->i64, head(f, l.v[0], HEAD_LEN), "");
    LLVMSetMetadata(n, f->lo->md_range, f->lo->shape_range);
    return n;
}

static LLVMValueRef item_at(struct fn *f, struct val l, LLVMValueRef i)
{
    LLVMValueRef data = LLVMBuildLoad2(f->b, f->lo->ptr, head(f, l.v[0], HEAD_DATA), "");
    LLVMValueRef off = LLVMBuildNSWMul(f->b, i, lo_int(f->lo, lo_itemsize(f->lo, l.t->elem)), "");
    return LLVMBuildInBoundsGEP2(f->b, f->lo->i8, data, &off, 1, "");
}

/* An item for whoever asks: what it refers to stays alive even if the list loses it. */
struct val list_item(struct fn *f, struct val l, LLVMValueRef i)
{
    struct val v = mem_load(f, l.t->elem, item_at(f, l, i), false);
    if (lo_info(f->lo, v.t)->n_owner) {
        v = own_take(f, v);
        temp_hold(f, &v);
    }
    return v;
}

/* ---- giving up ---- */

static void drop_struct(struct fn *f, const struct type *t, LLVMValueRef p)
{
    if (lo_info(f->lo, t)->n_owner)
        own_release_all(f, mem_load(f, t, p, false));
}

static void drop_items(struct fn *f, const struct type *t, LLVMValueRef mem)
{
    struct val l = { .t = t, .v = &mem, .n = 1 };
    struct nest n;
    LLVMValueRef len = list_length(f, l);
    if (lo_info(f->lo, t->elem)->n_owner) {
        nest_begin(f, &n, 1, &len, 'C');
        drop_struct(f, t->elem, item_at(f, l, n.index[0]));
        nest_end(f, &n);
    }
    own_release(f, LLVMBuildLoad2(f->b, f->lo->ptr, head(f, mem, HEAD_ITEMS), ""));
}

static LLVMTypeRef drop_type(struct lo *lo)
{
    return LLVMFunctionType(lo->vd, &lo->ptr, 1, 0);
}

/* The last reference that an object holds goes by a tail call when its own memory is gone: a long chain of objects
 * needs no stack. One to another object, if there is one. */
static void drop_object(struct fn *f, const struct type *t, LLVMValueRef mem)
{
    struct lo *lo = f->lo;
    const struct type *fields = lo_fields(lo, t);
    LLVMValueRef data = memory(f, mem), release = LLVMBuildLoad2(f->b, lo->ptr, data, ""), last = NULL;
    struct val v = mem_load(f, fields, at_offset(f, data, BOX_FIELDS), false);
    for (int chained = 1; chained >= 0; chained--)
        for (uint32_t i = 0; i < fields->n_items; i++) {
            const struct type *ft = fields->items[i], *inner = ft->kind == TY_OPTIONAL ? ft->elem : ft;
            const struct tinfo *ti = lo_info(lo, ft);
            struct val item = val_item(f, v, i);
            for (uint32_t k = 0; (inner->kind == TY_OBJECT) == chained && k < ti->n; k++) {
                if (ti->role[k] != LEAF_OWNER)
                    continue;
                if (last)
                    own_release(f, item.v[k]);
                else
                    last = item.v[k];
            }
        }
    LLVMBuildCall2(f->b, drop_type(lo), release, &mem, 1, "");
    if (last)
        own_release(f, last);
}

static LLVMValueRef drop_of(struct lo *lo, const struct type *t)
{
    char name[40];
    snprintf(name, sizeof(name), "kiln.drop.%u", t->id);
    LLVMValueRef fn = LLVMGetNamedFunction(lo->m, name);
    if (fn)
        return fn;
    struct fn f = { .lo = lo, .fn = LLVMAddFunction(lo->m, name, drop_type(lo)) };
    LLVMSetLinkage(f.fn, LLVMInternalLinkage);
    lo_target_attrs(lo, f.fn);
    helper_begin(&f);
    LLVMValueRef mem = LLVMGetParam(f.fn, 0), release = NULL;
    if (t->kind == TY_OBJECT) {
        drop_object(&f, t, mem);
    } else if (t->kind == TY_LIST) {
        drop_items(&f, t, mem);
        release = LLVMBuildLoad2(f.b, lo->ptr, head(&f, mem, HEAD_FREE), "");
    } else {
        LLVMValueRef data = memory(&f, mem);
        drop_struct(&f, lo_fields(lo, t), at_offset(&f, data, BOX_FIELDS));
        release = LLVMBuildLoad2(f.b, lo->ptr, data, "");
    }
    if (release)
        LLVMBuildCall2(f.b, drop_type(lo), release, &mem, 1, "");
    LLVMBuildRetVoid(f.b);
    fn_stop(&f);
    helper_end(&f);
    return fn = f.fn;
}

/* ---- making ---- */

static LLVMValueRef mem_new(struct fn *f, const struct type *t, LLVMValueRef size, uint32_t node,
                            LLVMValueRef *ret_release)
{
    struct lo *lo = f->lo;
    LLVMValueRef mem = host_alloc(f, size);
    raise_if(f, LLVMBuildIsNull(f->b, mem, ""), node, EXC(MemoryError), NULL);
    LLVMValueRef place = at_offset(f, mem, 8);
    *ret_release = LLVMBuildLoad2(f->b, lo->ptr, place, "");
    LLVMBuildStore(f->b, drop_of(lo, t), place);
    return mem;
}

static LLVMValueRef list_memory(struct fn *f, const struct type *t, uint32_t node)
{
    struct lo *lo = f->lo;
    LLVMValueRef release, mem = mem_new(f, t, LLVMSizeOf(head_type(lo)), node, &release);
    LLVMValueRef zero[4] = { lo_int(lo, 0), lo_int(lo, 0), lo_null(lo), lo_null(lo) };
    for (unsigned i = 0; i < 4; i++)
        LLVMBuildStore(f->b, zero[i], head(f, mem, i));
    LLVMBuildStore(f->b, release, head(f, mem, HEAD_FREE));
    return mem;
}

/* An empty list, dict or set, or an object with nothing assigned. Lists inside a dict or set are made first and held, so that nothing is lost when memory ends.
 */
struct val container_make(struct fn *f, const struct type *t, uint32_t node)
{
    struct lo *lo = f->lo;
    LLVMValueRef release;
    struct layout l;
    struct kiln_err e = KILN_ERR_INIT;
    if (t->kind == TY_LIST) {
        struct val v = val_scalar(f, t, list_memory(f, t, node));
        temp_hold(f, &v);
        return v;
    }
    const struct type *fields = lo_fields(lo, t);
    if (!fields || type_layout(fields, lo->t->pointer_bytes, &l, &e)) {
        lo_fail(lo, KILN_E_LIMIT, "a container's memory: %s", e.msg);
        return val_dead();
    }
    struct val *items = lo_alloc(lo, fields->n_items, sizeof(*items));
    for (uint32_t i = 0; i < fields->n_items; i++)
        items[i] = t->kind != TY_OBJECT && fields->items[i]->kind == TY_LIST ? container_make(f, fields->items[i], node)
                                                                              : val_zero(f, fields->items[i]);
    LLVMValueRef mem = mem_new(f, t, lo_int(lo, BOX_FIELDS + l.size), node, &release);
    LLVMValueRef data = memory(f, mem);
    LLVMBuildStore(f->b, release, data);
    mem_store(f, at_offset(f, data, BOX_FIELDS), own_take(f, val_join(f, fields, items, fields->n_items)),
              false);
    struct val v = val_scalar(f, t, mem);
    temp_hold(f, &v);
    return v;
}

/* Room for n items. */
static void reserve(struct fn *f, struct val l, LLVMValueRef n, uint32_t node)
{
    struct lo *lo = f->lo;
    LLVMTypeRef types[4] = { lo->ptr, lo->ptr, lo->i64, lo->i64 }, type;
    LLVMValueRef fn = lo_declare(lo, "kiln_rt_list_reserve", lo->i32, types, 4, &type);
    LLVMValueRef args[4] = { LLVMBuildLoad2(f->b, lo->ptr, lo->host, ""), memory(f, l.v[0]),
                             lo_int(lo, lo_itemsize(lo, l.t->elem)), n };
    LLVMValueRef failed = LLVMBuildCall2(f->b, type, fn, args, 4, "");
    raise_if(f, LLVMBuildICmp(f->b, LLVMIntNE, failed, lo_i32(lo, 0), ""), node, EXC(MemoryError), NULL);
}

void list_push(struct fn *f, struct val l, struct val v, uint32_t node)
{
    struct lo *lo = f->lo;
    v = convert(f, v, l.t->elem);
    if (f->dead || !v.t)
        return;
    LLVMValueRef n = list_length(f, l), more = LLVMBuildNUWAdd(f->b, n, lo_int(lo, 1), "");
    LLVMBasicBlockRef grow = fn_block(f, "grow"), room = fn_block(f, "room");
    LLVMValueRef cap = LLVMBuildLoad2(f->b, lo->i64, head(f, l.v[0], HEAD_CAP), "");
    fn_cond(f, LLVMBuildICmp(f->b, LLVMIntSLT, n, cap, ""), room, grow);
    fn_at(f, grow);
    reserve(f, l, more, node);
    fn_br(f, room);
    fn_at(f, room);
    mem_store(f, item_at(f, l, n), own_take(f, v), false);
    LLVMBuildStore(f->b, more, head(f, l.v[0], HEAD_LEN));
}

/* ---- fields of dicts, sets and objects ---- */

static LLVMValueRef field_at(struct fn *f, struct val box, int field, const struct type **ret)
{
    const struct type *fields = lo_fields(f->lo, box.t);
    uint64_t at = 0;
    for (int i = 0; fields && i <= field; i++) {
        struct layout l = { 0, 1 };
        struct kiln_err e = KILN_ERR_INIT;
        if (type_layout(fields->items[i], f->lo->t->pointer_bytes, &l, &e))
            lo_fail(f->lo, KILN_E_INTERNAL, "field: %s", e.msg);
        at = (at + l.align - 1) / l.align * l.align;
        if (i < field)
            at += l.size;
    }
    *ret = fields ? fields->items[field] : NULL;
    return at_offset(f, memory(f, box.v[0]), BOX_FIELDS + at);
}

struct val box_peek(struct fn *f, struct val box, int field)
{
    const struct type *t;
    LLVMValueRef p = field_at(f, box, field, &t);
    return mem_load(f, t, p, false);
}

struct val box_get(struct fn *f, struct val box, int field)
{
    struct val v = box_peek(f, box, field);
    if (lo_info(f->lo, v.t)->n_owner) {
        v = own_take(f, v);
        temp_hold(f, &v);
    }
    return v;
}

void box_set(struct fn *f, struct val box, int field, struct val v)
{
    const struct type *t;
    LLVMValueRef p = field_at(f, box, field, &t);
    v = own_take(f, convert(f, v, t));
    struct val old = mem_load(f, t, p, false);
    mem_store(f, p, v, false);
    own_release_all(f, old);
}

LLVMValueRef container_length(struct fn *f, struct val c)
{
    if (c.t->kind == TY_LIST)
        return list_length(f, c);
    return box_get(f, c, box_field(c.t, "_used", 5)).v[0];
}

/* ---- x[i], and what intrinsics.py names ---- */

static LLVMValueRef checked_index(struct fn *f, struct val l, uint32_t index, uint32_t node,
                                  const char *message)
{
    LLVMValueRef i = to_index(f, eval(f, index)), n;
    if (f->dead)
        return i;
    n = list_length(f, l);
    LLVMValueRef neg = LLVMBuildICmp(f->b, LLVMIntSLT, i, lo_int(f->lo, 0), "");
    i = LLVMBuildSelect(f->b, neg, LLVMBuildAdd(f->b, i, n, ""), i, "");
    raise_if(f, LLVMBuildICmp(f->b, LLVMIntUGE, i, n, ""), node, EXC(IndexError), message);
    return i;
}

struct val list_subscript(struct fn *f, struct val l, uint32_t index, uint32_t node)
{
    LLVMValueRef i = checked_index(f, l, index, node, "list index out of range");
    return f->dead ? val_dead() : list_item(f, l, i);
}

static void replace(struct fn *f, struct val l, LLVMValueRef p, struct val v)
{
    v = own_take(f, convert(f, v, l.t->elem));
    if (f->dead || !v.t)
        return;
    struct val old = mem_load(f, l.t->elem, p, false);
    mem_store(f, p, v, false);
    own_release_all(f, old);
}

void list_store(struct fn *f, struct val l, uint32_t index, uint32_t node, struct val v)
{
    LLVMValueRef i = checked_index(f, l, index, node, "list assignment index out of range");
    if (!f->dead)
        replace(f, l, item_at(f, l, i), v);
}

void list_augassign(struct fn *f, struct val l, uint32_t index, uint32_t aug, uint32_t target,
                    uint32_t value_node)
{
    LLVMValueRef i = checked_index(f, l, index, target, "list index out of range");
    const struct type *read = fact_of(f, target)->type;
    if (f->dead)
        return;
    struct val old = list_item(f, l, i),
               v = aug_value(f, aug, read ? convert(f, old, read) : old, value_node);
    if (!f->dead && v.t) /* the list may have moved meanwhile, or be shorter: look again */
        replace(f, l, item_at(f, l, i), v);
}

typedef struct val list_fn(struct fn *f, uint32_t node, const struct val *a, uint32_t n);

static struct val op_new(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)a, (void)n;
    return container_make(f, fact_of(f, node)->type, node);
}

static struct val op_get(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    return list_item(f, a[0], a[1].v[0]);
}

static struct val op_take(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    struct val v = mem_load(f, a[0].t->elem, item_at(f, a[0], a[1].v[0]), false);
    (void)node, (void)n;
    temp_hold(f, &v);
    return v;
}

static struct val op_set(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    replace(f, a[0], item_at(f, a[0], a[1].v[0]), a[2]);
    return val_none(f);
}

static struct val op_put(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    mem_store(f, item_at(f, a[0], a[1].v[0]), own_take(f, convert(f, a[2], a[0].t->elem)), false);
    return val_none(f);
}

static struct val op_push(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    list_push(f, a[0], a[1], node);
    return val_none(f);
}

static struct val op_move(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    struct lo *lo = f->lo;
    LLVMValueRef size = LLVMBuildNSWMul(f->b, a[3].v[0], lo_int(lo, lo_itemsize(lo, a[0].t->elem)), "");
    (void)node, (void)n;
    LLVMBuildMemMove(f->b, item_at(f, a[0], a[1].v[0]), 1, item_at(f, a[0], a[2].v[0]), 1,
                     LLVMBuildIntCast2(f->b, size, lo->iptr, 0, ""));
    return val_none(f);
}

static struct val op_resize(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)node, (void)n;
    LLVMBuildStore(f->b, a[1].v[0], head(f, a[0].v[0], HEAD_LEN));
    return val_none(f);
}

static struct val op_reserve(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    reserve(f, a[0], a[1].v[0], node);
    return val_none(f);
}

/* (start, stop, step) of a slice on n items; start + k * step for k < (stop - start) / step are the indexes.
 */
static struct val op_slice(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    struct lo *lo = f->lo;
    LLVMValueRef parts[3], start, step, len;
    const struct type *pyint = lo_type(lo, TY_PYINT);
    (void)n;
    for (uint32_t i = 0; i < 3; i++) {
        struct val part = val_item(f, a[0], i);
        parts[i] = part.t->kind == TY_NONE ? NULL : to_index(f, part);
        if (part.t->kind == TY_OPTIONAL)
            lo_fail_at(f, node, "a slice's bounds may not be None at run time here");
    }
    slice_resolve(f, parts, to_index(f, a[1]), node, &start, &step, &len);
    struct val items[3] = { val_scalar(f, pyint, start), val_scalar(f, pyint, len),
                            val_scalar(f, pyint, step) };
    return f->dead ? val_dead() : val_join(f, fact_of(f, node)->type, items, 3);
}

static struct val op_view(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return val_join(f, fact_of(f, node)->type, a, 1);
}

/* A float's bits. */
static struct val op_bits(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    struct val v = convert(f, a[0], lo_type(f->lo, TY_FLOAT64));
    (void)n;
    return val_scalar(f, fact_of(f, node)->type, LLVMBuildBitCast(f->b, v.v[0], f->lo->i64, ""));
}

/* Where an object is. */
static struct val op_address(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    (void)n;
    return val_scalar(f, fact_of(f, node)->type, LLVMBuildPtrToInt(f->b, a[0].v[0], f->lo->i64, ""));
}

static const struct {
    const char *name;
    list_fn *build;
} ops[] = {
    { "new", op_new },         { "get", op_get },     { "take", op_take }, { "set", op_set },
    { "put", op_put },         { "push", op_push },   { "move", op_move }, { "resize", op_resize },
    { "reserve", op_reserve }, { "slice", op_slice }, { "view", op_view }, { "bits", op_bits },
    { "address", op_address },
};

struct val lower_list_op(struct fn *f, uint32_t node, const char *name, const struct val *a, uint32_t n)
{
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (!strcmp(ops[i].name, name))
            return ops[i].build(f, node, a, n);
    lo_fail_at(f, node, "no lowering of list operation %s", name);
    return val_dead();
}
