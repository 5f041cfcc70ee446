/* SPDX-License-Identifier: Apache-2.0
 * text_ops.c - calls of the runtime's text functions, and formatted strings.
 *
 * A row of library.def says `text.R(P)NAME`: the C function kiln_rt_text_NAME, its result R and a letter for
 * each parameter: s b   str, bytes: in C a const struct kiln_str *, of bytes with width 1 l     a list of
 * str: its struct kiln_list_head * i ?   an int64_t, a bool as int64_t        f   a double Every function
 * takes the host's table first. A result s or b is written through the second parameter, its owner a new
 * reference, and the function returns 0, or 1 when memory ended; a result i, ? or f is returned; n returns a
 * status. Names without such a form (`view`, `code`, ...) are built here without a call. */
#include <stdio.h>
#include <string.h>

#include "daemon/compiler/lower/text.h"

static LLVMTypeRef struct_type(struct lo *lo)
{
    LLVMTypeRef fields[4] = { lo->ptr, lo->ptr, lo->iptr, lo->iptr };
    return LLVMStructTypeInContext(lo->c, fields, 4, 0);
}

/* v in memory as a struct kiln_str at p. */
static void put(struct fn *f, LLVMValueRef p, struct val v)
{
    const struct type *str = lo_type(f->lo, TY_STR);
    mem_store(f, p, v.t == str ? v : text_as(f, v, str), false);
}

static LLVMValueRef host(struct fn *f)
{
    return LLVMBuildLoad2(f->b, f->lo->ptr, f->lo->host, "");
}

static LLVMValueRef argument(struct fn *f, char letter, struct val v)
{
    struct lo *lo = f->lo;
    switch (letter) {
    case 's':
    case 'b': {
        LLVMValueRef p = fn_alloca(f, struct_type(lo), "text");
        put(f, p, v);
        return p;
    }
    case 'l':
        return LLVMBuildLoad2(f->b, lo->ptr, at_offset(f, v.v[0], 8 + lo->t->pointer_bytes), "");
    case 'f':
        return convert(f, v, lo_type(lo, TY_FLOAT64)).v[0];
    case '?':
        return LLVMBuildZExt(f->b, truth(f, v), lo->i64, "");
    default:
        return to_index(f, v);
    }
}

static struct val call_runtime(struct fn *f, uint32_t node, char result, const char *letters,
                               const char *group, const char *name, const struct val *a, uint32_t n)
{
    struct lo *lo = f->lo;
    LLVMTypeRef types[10], type, ret;
    LLVMValueRef args[10], made = NULL;
    unsigned k = 0;
    char full[64];
    snprintf(full, sizeof(full), "kiln_rt_%s_%s", group, name);
    args[k++] = host(f);
    if (result == 's' || result == 'b')
        args[k++] = made = fn_alloca(f, struct_type(lo), "made");
    for (uint32_t i = 0; i < n; i++)
        args[k++] = argument(f, letters[i], a[i]);
    for (unsigned i = 0; i < k; i++)
        types[i] = LLVMTypeOf(args[i]);
    ret = result == 'i' || result == '?' ? lo->i64 : result == 'f' ? lo->f64 : lo->i32;
    LLVMValueRef fn = lo_declare(lo, full, ret, types, k, &type),
                 r = LLVMBuildCall2(f->b, type, fn, args, k, "");
    switch (result) {
    case 'i':
        return val_scalar(f, lo_type(lo, TY_INT64), r);
    case 'f':
        return val_scalar(f, lo_type(lo, TY_FLOAT64), r);
    case '?':
        return val_scalar(f, lo_type(lo, TY_BOOL), LLVMBuildICmp(f->b, LLVMIntNE, r, lo_int(lo, 0), ""));
    case 'n':
        raise_status(f, r, node, false);
        return val_none(f);
    default:
        raise_if(f, LLVMBuildICmp(f->b, LLVMIntNE, r, lo_i32(lo, 0), ""), node, EXC(MemoryError), NULL);
    }
    if (f->dead)
        return val_dead();
    struct val v = mem_load(f, lo_type(lo, TY_STR), made, false);
    if (result == 'b')
        v = text_as(f, v, lo_type(lo, TY_BYTES));
    temp_hold(f, &v);
    return v;
}

struct val lower_text_op(struct fn *f, uint32_t node, const char *how, const struct val *a, uint32_t n)
{
    const char *open = strchr(how, '('), *close = strchr(how, ')');
    if (open && close && open == how + 1)
        return call_runtime(f, node, how[0], open + 1, "text", close + 1, a, n);
    if (!strcmp(how, "code"))
        return val_scalar(f, lo_type(f->lo, TY_INT64), text_code(f, a[0], to_index(f, a[1])));
    if (!strcmp(how, "view"))
        return text_view(f, a[0], to_index(f, a[1]), to_index(f, a[2]));
    if (!strcmp(how, "as_text") || !strcmp(how, "as_bytes"))
        return text_as(f, a[0], lo_type(f->lo, how[3] == 't' ? TY_STR : TY_BYTES));
    lo_fail_at(f, node, "no lowering of text operation %s", how);
    return val_dead();
}

struct val lower_random_op(struct fn *f, uint32_t node, const char *how, const struct val *a, uint32_t n)
{
    return call_runtime(f, node, how[0], how + 2, "random", strchr(how, ')') + 1, a, n);
}

/* ---- formatted strings ---- */

bool fstring_is_template(struct fn *f, uint32_t node)
{
    uint32_t n;
    const uint32_t *parts = kir_list(node_of(f, node), 0, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct kir_node *p = node_of(f, parts[i]);
        const struct fact *fa = fact_of(f, parts[i]);
        if (p->op == KIR_FORMAT &&
            (fa->callee || fa->getter || !type_is_number(fact_of(f, kir_arg(p, 0))->type)))
            return false;
    }
    return true;
}

/* One hole: the value through its conversion, then through its format. */
static struct val eval_format(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const struct fact *fa = fact_of(f, node);
    struct val args[2] = { eval(f, kir_arg(n, 0)), val_dead() };
    uint32_t spec = kir_opt(n, 2);
    if (f->dead || !args[0].t)
        return val_dead();
    if (fa->getter) {
        args[0] = convert(f, args[0], fa->getter->params[0]);
        args[0] = emit_call(f, node, fa->getter, NULL, args);
    }
    if (f->dead || !fa->callee)
        return args[0];
    if (spec != KIR_NIL)
        args[1] = eval(f, spec);
    for (uint32_t i = 0; i < fa->callee->fn->n_params && i < 2 && !f->dead; i++)
        args[i] = convert(f, args[i], fa->callee->params[i]);
    return f->dead ? val_dead() : emit_call(f, node, fa->callee, NULL, args);
}

struct val eval_fstring(struct fn *f, uint32_t node)
{
    struct lo *lo = f->lo;
    const struct type *str = lo_type(lo, TY_STR);
    uint32_t n;
    const uint32_t *parts = kir_list(node_of(f, node), 0, &n);
    LLVMTypeRef type, array = LLVMArrayType2(struct_type(lo), n ? n : 1);
    LLVMValueRef all = fn_alloca(f, array, "parts"), made = fn_alloca(f, struct_type(lo), "made");
    if (!n)
        return text_const(f, str, "", 0);
    for (uint32_t i = 0; i < n; i++) {
        struct val v = node_of(f, parts[i])->op == KIR_FORMAT ? eval_format(f, parts[i]) : eval(f, parts[i]);
        if (f->dead || !v.t || lo->failed)
            return val_dead();
        if (n == 1)
            return v;
        put(f, at_offset(f, all, (uint64_t)i * 4 * lo->t->pointer_bytes), v);
    }
    LLVMValueRef args[4] = { host(f), made, all, lo_int(lo, n) };
    LLVMTypeRef types[4] = { lo->ptr, lo->ptr, lo->ptr, lo->i64 };
    LLVMValueRef fn = lo_declare(lo, "kiln_rt_text_concat", lo->i32, types, 4, &type);
    LLVMValueRef r = LLVMBuildCall2(f->b, type, fn, args, 4, "");
    raise_if(f, LLVMBuildICmp(f->b, LLVMIntNE, r, lo_i32(lo, 0), ""), node, EXC(MemoryError), NULL);
    if (f->dead)
        return val_dead();
    struct val v = mem_load(f, str, made, false);
    temp_hold(f, &v);
    return v;
}

LLVMValueRef text_utf8(struct fn *f, struct val s)
{
    struct lo *lo = f->lo;
    LLVMTypeRef type, types[2] = { lo->ptr, lo->ptr };
    LLVMValueRef args[2] = { host(f), argument(f, 's', s) };
    LLVMValueRef fn = lo_declare(lo, "kiln_rt_text_utf8", lo->ptr, types, 2, &type);
    return LLVMBuildCall2(f->b, type, fn, args, 2, "");
}
