/* SPDX-License-Identifier: Apache-2.0
 * type_llvm.c - Kiln's types as LLVM types, and small constructors of constants, attributes, declarations.
 *
 * Integers of arrays (shapes, strides) are i64 in values on every target; in memory they have a pointer's
 * size. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

const struct type *lo_type(struct lo *lo, enum type_kind kind)
{
    const struct type *t = type_scalar(lo->p->types, kind);
    if (!t) {
        lo_fail(lo, KILN_E_NOMEM, "types of the job");
        return lo->p->instances[0]->ret;
    }
    return t;
}

LLVMTypeRef lo_reg(struct lo *lo, const struct type *t)
{
    switch (t->kind) {
    case TY_BOOL:
        return lo->i1;
    case TY_INT8:
    case TY_UINT8:
        return lo->i8;
    case TY_INT16:
    case TY_UINT16:
        return lo->i16;
    case TY_INT32:
    case TY_UINT32:
    case TY_ENUM:
        return lo->i32;
    case TY_INT64:
    case TY_UINT64:
    case TY_PYINT:
    case TY_INTENUM:
    case TY_DATETIME:
    case TY_TIMEDELTA:
        return lo->i64;
    case TY_FLOAT16:
        return lo->f16;
    case TY_FLOAT32:
    case TY_COMPLEX64:
        return lo->f32;
    case TY_FLOAT64:
    case TY_PYFLOAT:
    case TY_COMPLEX128:
    case TY_PYCOMPLEX:
        return lo->f64;
    default:
        return lo->ptr;
    }
}

LLVMTypeRef lo_mem(struct lo *lo, const struct type *t)
{
    if (t->kind == TY_BOOL)
        return lo->i8;
    if (t->kind == TY_RECORD)
        return LLVMArrayType2(lo->i8, t->record->size);
    if (type_is_complex(t)) {
        LLVMTypeRef parts[2] = { lo_reg(lo, t), lo_reg(lo, t) };
        return LLVMStructTypeInContext(lo->c, parts, 2, 0);
    }
    return lo_reg(lo, t);
}

const struct type *lo_part(struct lo *lo, const struct type *t)
{
    return lo_type(lo, t->kind == TY_COMPLEX64    ? TY_FLOAT32
                       : t->kind == TY_COMPLEX128 ? TY_FLOAT64
                                                  : TY_PYFLOAT);
}

unsigned lo_itemsize(struct lo *lo, const struct type *t)
{
    struct layout l;
    struct kiln_err e = KILN_ERR_INIT;
    if (type_layout(t, lo->t->pointer_bytes, &l, &e)) {
        lo_fail(lo, KILN_E_INTERNAL, "element without a layout: %s", e.msg);
        return 1;
    }
    return l.size;
}

static struct tinfo *info_new(struct lo *lo, uint32_t n)
{
    struct tinfo *ti = lo_alloc(lo, 1, sizeof(*ti));
    ti->n = n;
    ti->reg = lo_alloc(lo, n, sizeof(*ti->reg));
    ti->role = lo_alloc(lo, n, 1);
    return ti;
}

static void info_set(struct tinfo *ti, uint32_t i, LLVMTypeRef reg, enum leaf_role role)
{
    ti->reg[i] = reg;
    ti->role[i] = (uint8_t)role;
    ti->n_owner += role == LEAF_OWNER;
}

/* The leaves of several types, one after the other. */
static struct tinfo *info_items(struct lo *lo, const struct type *const *items, uint32_t n_items,
                                uint32_t extra)
{
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < n_items; i++)
        n += lo_info(lo, items[i])->n;
    struct tinfo *ti = info_new(lo, n + extra);
    for (uint32_t i = 0; i < n_items; i++) {
        const struct tinfo *it = lo_info(lo, items[i]);
        for (uint32_t k = 0; k < it->n; k++)
            info_set(ti, at++, it->reg[k], (enum leaf_role)it->role[k]);
    }
    return ti;
}

static struct tinfo *info_make(struct lo *lo, const struct type *t)
{
    struct tinfo *ti;
    switch (t->kind) {
    case TY_COMPLEX64:
    case TY_COMPLEX128:
    case TY_PYCOMPLEX:
        ti = info_new(lo, 2);
        info_set(ti, 0, lo_reg(lo, t), LEAF_SCALAR);
        info_set(ti, 1, lo_reg(lo, t), LEAF_SCALAR);
        return ti;
    case TY_STR: /* owner, data, length, width */
    case TY_BYTES:
        ti = info_new(lo, t->kind == TY_STR ? 4 : 3);
        info_set(ti, 0, lo->ptr, LEAF_OWNER);
        info_set(ti, 1, lo->ptr, LEAF_SCALAR);
        info_set(ti, 2, lo->i64, LEAF_SCALAR);
        if (t->kind == TY_STR)
            info_set(ti, 3, lo->i64, LEAF_SCALAR);
        return ti;
    case TY_ARRAY:
        ti = info_new(lo, 2u + t->ndim + (t->layout == 'A' ? t->ndim : 0));
        info_set(ti, 0, lo->ptr, LEAF_OWNER);
        info_set(ti, 1, lo->ptr, LEAF_DATA);
        for (uint32_t i = 2; i < ti->n; i++)
            info_set(ti, i, lo->i64, i < 2u + t->ndim ? LEAF_SHAPE : LEAF_STRIDE);
        return ti;
    case TY_LIST:
    case TY_DICT:
    case TY_SET:
    case TY_OBJECT:
        ti = info_new(lo, 1);
        info_set(ti, 0, lo->ptr, LEAF_OWNER);
        return ti;
    case TY_RECORD:
        ti = info_new(lo, 2);
        info_set(ti, 0, lo->ptr, LEAF_OWNER);
        info_set(ti, 1, lo->ptr, LEAF_DATA);
        return ti;
    case TY_OPTIONAL:
        ti = info_items(lo, &t->elem, 1, 1);
        info_set(ti, ti->n - 1, lo->i1, LEAF_VALID);
        return ti;
    case TY_RANGE:
        ti = info_new(lo, 3);
        for (uint32_t i = 0; i < 3; i++)
            info_set(ti, i, lo_reg(lo, t->elem), LEAF_SCALAR);
        return ti;
    case TY_TUPLE:
    case TY_SLICE:
    case TY_FUNCTION:
    case TY_ITER:
        return info_items(lo, t->items, t->n_items, 0);
    case TY_METHOD:
        return info_items(lo, &t->elem, t->elem ? 1 : 0, 0);
    case TY_NONE:
    case TY_ELLIPSIS:
    case TY_LIBRARY:
    case TY_TYPEVALUE:
    case TY_EXCEPTION:
    case TY_CLASS:
    case TY_CONFLICT:
    case TY_UNSET:
        return info_new(lo, 0);
    default:
        ti = info_new(lo, 1);
        info_set(ti, 0, lo_reg(lo, t), LEAF_SCALAR);
        return ti;
    }
}

const struct tinfo *lo_info(struct lo *lo, const struct type *t)
{
    if (t->id >= lo->n_info) {
        size_t n = (size_t)t->id + 64;
        struct tinfo **more = lo_alloc(lo, n, sizeof(*more));
        if (lo->n_info)
            memcpy(more, lo->info, lo->n_info * sizeof(*more));
        lo->info = more;
        lo->n_info = n;
    }
    if (!lo->info[t->id]) {
        struct tinfo *made = info_make(lo, t); /* may grow the table itself */
        lo->info[t->id] = made;
    }
    return lo->info[t->id];
}

uint32_t lo_owners_before(const struct tinfo *ti, uint32_t leaf)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < leaf; i++)
        n += ti->role[i] == LEAF_OWNER;
    return n;
}

LLVMAttributeRef lo_attr(struct lo *lo, const char *name, uint64_t v)
{
    return LLVMCreateEnumAttribute(lo->c, LLVMGetEnumAttributeKindForName(name, strlen(name)), v);
}

void lo_fnattr(struct lo *lo, LLVMValueRef fn, const char *name)
{
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, lo_attr(lo, name, 0));
}

void lo_paramattr(struct lo *lo, LLVMValueRef fn, unsigned index, const char *name, uint64_t v)
{
    LLVMAddAttributeAtIndex(fn, index + 1, lo_attr(lo, name, v));
}

static void string_attr(struct lo *lo, LLVMValueRef fn, const char *key, const char *value)
{
    LLVMAddAttributeAtIndex(
        fn, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(lo->c, key, (unsigned)strlen(key), value, (unsigned)strlen(value)));
}

void lo_target_attrs(struct lo *lo, LLVMValueRef fn)
{
    lo_fnattr(lo, fn, "nounwind");
    if (lo->t->cpu && lo->t->cpu[0])
        string_attr(lo, fn, "target-cpu", lo->t->cpu);
    if (lo->t->features && lo->t->features[0])
        string_attr(lo, fn, "target-features", lo->t->features);
    if (lo->t->frame_pointer)
        string_attr(lo, fn, "frame-pointer", "all");
}

LLVMValueRef lo_int(struct lo *lo, int64_t v)
{
    return LLVMConstInt(lo->i64, (unsigned long long)v, 1);
}

LLVMValueRef lo_i32(struct lo *lo, int64_t v)
{
    return LLVMConstInt(lo->i32, (unsigned long long)v, 1);
}

LLVMValueRef lo_bool(struct lo *lo, bool v)
{
    return LLVMConstInt(lo->i1, v, 0);
}

LLVMValueRef lo_null(struct lo *lo)
{
    return LLVMConstNull(lo->ptr);
}

LLVMValueRef lo_declare(struct lo *lo, const char *name, LLVMTypeRef ret, LLVMTypeRef *args, unsigned n,
                        LLVMTypeRef *ret_type)
{
    LLVMTypeRef type = LLVMFunctionType(ret, args, n, 0);
    LLVMValueRef fn = LLVMGetNamedFunction(lo->m, name);
    if (!fn) {
        fn = LLVMAddFunction(lo->m, name, type);
        lo_fnattr(lo, fn, "nounwind");
        lo_fnattr(lo, fn, "willreturn");
    }
    *ret_type = type;
    return fn;
}

LLVMValueRef lo_intrinsic(struct fn *f, const char *name, LLVMTypeRef over, LLVMValueRef *args, unsigned n)
{
    struct lo *lo = f->lo;
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMTypeRef types[1] = { over };
    bool overloaded = id && LLVMIntrinsicIsOverloaded(id);
    if (!id) {
        lo_fail(lo, KILN_E_INTERNAL, "LLVM has no intrinsic %s", name);
        return LLVMGetPoison(over);
    }
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(lo->m, id, types, overloaded);
    LLVMTypeRef type = LLVMIntrinsicGetType(lo->c, id, types, overloaded);
    return LLVMBuildCall2(f->b, type, fn, args, n, "");
}

LLVMValueRef lo_bytes(struct lo *lo, const char *name, const void *p, size_t len)
{
    LLVMValueRef text = LLVMConstStringInContext2(lo->c, p, len, 1);
    LLVMValueRef g = LLVMAddGlobal(lo->m, LLVMTypeOf(text), name);
    LLVMSetInitializer(g, text);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    return g;
}
