/* SPDX-License-Identifier: Apache-2.0
 * objmode.c - a call of Python from compiled code, through the host: values and results lie in memory as in
 * an argument block, and texts say which types they have. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

static LLVMValueRef room_for(struct fn *f, const struct type *t)
{
    struct layout l = { 0, 1 };
    struct kiln_err e = KILN_ERR_INIT;
    if (type_layout(t, f->lo->t->pointer_bytes, &l, &e))
        lo_fail(f->lo, KILN_E_COMPILE, "a value for Python: %s", e.msg);
    LLVMValueRef p = fn_alloca(f, LLVMArrayType2(f->lo->i8, l.size ? l.size : 1), "python");
    LLVMSetAlignment(p, 16);
    return p;
}

static LLVMValueRef text_of(struct fn *f, const struct type *t)
{
    const char *text = type_text(f->lo->a, t);
    if (!text) {
        lo_fail(f->lo, KILN_E_LIMIT, "memory of the job");
        text = "";
    }
    return lo_bytes(f->lo, "kiln.type", text, strlen(text) + 1);
}

/* a: the function's number in an array of no dimension, the results' type (known), the values. */
struct val op_objmode(struct fn *f, uint32_t node, const struct val *a, uint32_t n)
{
    struct lo *lo = f->lo;
    const struct type *ret = fact_of(f, node)->type, **types = lo_alloc(lo, n + 1, sizeof(*types));
    for (uint32_t i = 2; i < n; i++)
        types[i - 2] = a[i].t;
    const struct type *args = type_tuple(lo->p->types, types, n > 2 ? n - 2 : 0, 0);
    if (!args || ret->kind != TY_TUPLE) {
        lo_fail(lo, KILN_E_LIMIT, "objmode with %u values", n);
        return val_dead();
    }
    LLVMValueRef in = room_for(f, args), out = room_for(f, ret), i64 = to_index(f, arr_load(f, a[0], NULL));
    mem_store(f, in, val_join(f, args, a + 2, args->n_items), false);
    LLVMTypeRef params[5] = { lo->i64, lo->ptr, lo->ptr, lo->ptr, lo->ptr },
                type = LLVMFunctionType(lo->i32, params, 5, 0);
    LLVMValueRef host = LLVMBuildLoad2(f->b, lo->ptr, lo->host, "");
    /* two u32, then pointers of the target's size */
    uint64_t service = (offsetof(struct kiln_host, call_python) - 8) / sizeof(void *);
    LLVMValueRef fn =
        LLVMBuildLoad2(f->b, lo->ptr, at_offset(f, host, 8 + service * lo->t->pointer_bytes), "");
    LLVMValueRef values[5] = { i64, text_of(f, args), in, text_of(f, ret), out };
    raise_status(f, LLVMBuildCall2(f->b, type, fn, values, 5, ""), node, false);
    if (f->dead)
        return val_dead();
    struct val v = mem_load(f, ret, out, false);
    temp_hold(f, &v);
    return v;
}
