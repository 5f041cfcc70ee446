/* SPDX-License-Identifier: Apache-2.0
 * raise.c - exceptions.
 *
 * A site that raises costs the hot path its condition and nothing else: it names a constant description
 * (class, arguments, function, node) and jumps to the function's one block that hands the description to
 * kiln.raise; mem2reg makes the name a phi. A call that returned a status goes, with its node, to the block
 * that appends to the trace. Both end in the clean-up block. Functions of the prelude leave no trace.
 *
 *   desc  u32 class, u32 n_args, u32 function, u32 node (~0: none), then struct kiln_exc_arg[n_args] */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

#define EXC_OFFSET(field) offsetof(struct kiln_exc, field)

static LLVMValueRef helper_new(struct lo *lo, const char *name, LLVMTypeRef type)
{
    LLVMValueRef fn = LLVMAddFunction(lo->m, name, type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    lo_target_attrs(lo, fn);
    lo_fnattr(lo, fn, "cold");
    lo_fnattr(lo, fn, "noinline");
    lo_fnattr(lo, fn, "minsize");
    lo_fnattr(lo, fn, "optsize");
    return fn;
}

static LLVMValueRef at(LLVMBuilderRef b, struct lo *lo, LLVMValueRef p, uint64_t off)
{
    LLVMValueRef i = lo_int(lo, (int64_t)off);
    return LLVMBuildInBoundsGEP2(b, lo->i8, p, &i, 1, "");
}

/* void kiln.raise(exc, desc) */
static LLVMValueRef helper_raise(struct lo *lo, LLVMTypeRef *ret_type)
{
    LLVMTypeRef args[2] = { lo->ptr, lo->ptr };
    LLVMValueRef fn = LLVMGetNamedFunction(lo->m, "kiln.raise");
    *ret_type = LLVMFunctionType(lo->vd, args, 2, 0);
    if (fn)
        return fn;
    fn = helper_new(lo, "kiln.raise", *ret_type);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(lo->c);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(lo->c, fn, "entry"));
    LLVMValueRef exc = LLVMGetParam(fn, 0), desc = LLVMGetParam(fn, 1);
    LLVMBuildStore(b, LLVMBuildLoad2(b, lo->i32, desc, ""), exc);
    LLVMValueRef n = LLVMBuildLoad2(b, lo->i32, at(b, lo, desc, 4), "");
    LLVMBuildStore(b, n, at(b, lo, exc, EXC_OFFSET(n_args)));
    LLVMValueRef node = LLVMBuildLoad2(b, lo->i32, at(b, lo, desc, 12), "");
    LLVMValueRef has = LLVMBuildICmp(b, LLVMIntNE, node, lo_i32(lo, -1), "");
    LLVMBuildStore(b, LLVMBuildZExt(b, has, lo->i32, ""), at(b, lo, exc, EXC_OFFSET(n_trace)));
    LLVMBuildStore(b, LLVMBuildLoad2(b, lo->i32, at(b, lo, desc, 8), ""), at(b, lo, exc, EXC_OFFSET(trace)));
    LLVMBuildStore(b, node, at(b, lo, exc, EXC_OFFSET(trace) + 4));
    LLVMValueRef bytes = LLVMBuildMul(b, LLVMBuildZExt(b, n, lo->iptr, ""),
                                      LLVMConstInt(lo->iptr, sizeof(struct kiln_exc_arg), 0), "");
    LLVMBuildMemCpy(b, at(b, lo, exc, EXC_OFFSET(args)), 8, at(b, lo, desc, 16), 8, bytes);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
    return fn;
}

/* void kiln.trace(exc, function, node) */
static LLVMValueRef helper_trace(struct lo *lo, LLVMTypeRef *ret_type)
{
    LLVMTypeRef args[3] = { lo->ptr, lo->i32, lo->i32 };
    LLVMValueRef fn = LLVMGetNamedFunction(lo->m, "kiln.trace");
    *ret_type = LLVMFunctionType(lo->vd, args, 3, 0);
    if (fn)
        return fn;
    fn = helper_new(lo, "kiln.trace", *ret_type);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(lo->c);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(lo->c, fn, "entry");
    LLVMBasicBlockRef room = LLVMAppendBasicBlockInContext(lo->c, fn, "room");
    LLVMBasicBlockRef out = LLVMAppendBasicBlockInContext(lo->c, fn, "out");
    LLVMValueRef exc = LLVMGetParam(fn, 0);
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef count = at(b, lo, exc, EXC_OFFSET(n_trace));
    LLVMValueRef n = LLVMBuildLoad2(b, lo->i32, count, "");
    LLVMBuildStore(b, LLVMBuildAdd(b, n, lo_i32(lo, 1), ""), count);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, n, lo_i32(lo, KILN_TRACE_MAX), ""), room, out);
    LLVMPositionBuilderAtEnd(b, room);
    LLVMValueRef i = LLVMBuildZExt(b, n, lo->i64, "");
    LLVMTypeRef pair[2] = { lo->i32, lo->i32 };
    LLVMValueRef p = LLVMBuildInBoundsGEP2(b, LLVMStructTypeInContext(lo->c, pair, 2, 0),
                                           at(b, lo, exc, EXC_OFFSET(trace)), &i, 1, "");
    LLVMBuildStore(b, LLVMGetParam(fn, 1), p);
    LLVMBuildStore(b, LLVMGetParam(fn, 2), at(b, lo, p, 4));
    LLVMBuildBr(b, out);
    LLVMPositionBuilderAtEnd(b, out);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
    return fn;
}

/* ---- text that exceptions hold ---- */

/* ptr kiln.raise.mem(exc, i): the memory of argument i, or NULL. */
static LLVMValueRef mem_of(struct fn *f, LLVMValueRef exc, unsigned i)
{
    struct lo *lo = f->lo;
    LLVMTypeRef params[2] = { lo->ptr, lo->i64 }, type = LLVMFunctionType(lo->ptr, params, 2, 0);
    LLVMValueRef fn = LLVMGetNamedFunction(lo->m, "kiln.raise.mem"), args[2] = { exc, lo_int(lo, i) };
    if (!fn) {
        struct fn h = { .lo = lo, .fn = fn = helper_new(lo, "kiln.raise.mem", type) };
        helper_begin(&h);
        LLVMValueRef x = LLVMGetParam(fn, 0), k = LLVMGetParam(fn, 1);
        LLVMValueRef count = LLVMBuildLoad2(h.b, lo->i32, at_offset(&h, x, EXC_OFFSET(n_args)), "");
        LLVMBasicBlockRef there = fn_block(&h, "there"), mem = fn_block(&h, "mem"),
                          none = fn_block(&h, "none");
        LLVMValueRef off = LLVMBuildMul(h.b, k, lo_int(lo, sizeof(struct kiln_exc_arg)), "");
        LLVMValueRef arg =
            LLVMBuildInBoundsGEP2(h.b, lo->i8, at_offset(&h, x, EXC_OFFSET(args)), &off, 1, "");
        fn_cond(&h, LLVMBuildICmp(h.b, LLVMIntULT, k, LLVMBuildZExt(h.b, count, lo->i64, ""), ""), there,
                none);
        fn_at(&h, there);
        LLVMValueRef kind = LLVMBuildLoad2(h.b, lo->i32, arg, "");
        fn_cond(&h, LLVMBuildICmp(h.b, LLVMIntEQ, kind, lo_i32(lo, KILN_ARG_MEM), ""), mem, none);
        fn_at(&h, mem);
        LLVMBuildRet(h.b, LLVMBuildLoad2(h.b, lo->ptr, at_offset(&h, arg, 8), ""));
        fn_at(&h, none);
        LLVMBuildRet(h.b, lo_null(lo));
        fn_stop(&h);
        helper_end(&h);
    }
    return LLVMBuildCall2(f->b, type, fn, args, 2, "");
}

void raise_drop(struct fn *f)
{
    for (unsigned i = 0; f->lo->raises_text && i < KILN_EXC_ARGS_MAX; i++)
        own_release(f, mem_of(f, f->exc, i));
}

void raise_hold(struct fn *f, LLVMValueRef saved)
{
    for (unsigned i = 0; f->lo->raises_text && i < KILN_EXC_ARGS_MAX; i++)
        temp_replace(f, mem_of(f, saved, i));
}

void raise_retain(struct fn *f)
{
    for (unsigned i = 0; f->lo->raises_text && i < KILN_EXC_ARGS_MAX; i++)
        own_retain(f, mem_of(f, f->exc, i));
}

/* An argument of a raise or assert whose text is made at run time? */
static bool is_made(const struct instance *in, uint32_t context, uint32_t node)
{
    const struct kir_node *n = &in->fn->nodes[node];
    const struct fact *fa = fact_at(in, context, node);
    uint32_t count;
    const uint32_t *parts;
    if (!fa->type || fa->type->kind != TY_STR || fa->has_value || n->op == KIR_CONST)
        return false;
    if (n->op != KIR_FSTRING)
        return true;
    parts = kir_list(n, 0, &count);
    for (uint32_t i = 0; i < count; i++) { /* see fstring_is_template */
        const struct fact *part = fact_at(in, context, parts[i]);
        if (in->fn->nodes[parts[i]].op == KIR_FORMAT &&
            (part->callee || part->getter || !part->type || part->type->kind == TY_STR))
            return true;
    }
    return false;
}

bool raise_makes_text(const struct program *p)
{
    for (uint32_t k = 0; k < p->n_instances; k++) {
        const struct instance *in = p->instances[k];
        for (uint32_t i = 0; i < in->n_contexts * in->fn->n_nodes; i++) {
            const struct kir_node *n = &in->fn->nodes[i % in->fn->n_nodes];
            uint32_t context = i / in->fn->n_nodes, count = 0, what;
            const uint32_t *args;
            if (n->op == KIR_ASSERT && kir_opt(n, 1) != KIR_NIL && is_made(in, context, kir_opt(n, 1)))
                return true;
            if (n->op != KIR_RAISE || (what = kir_opt(n, 0)) == KIR_NIL || in->fn->nodes[what].op != KIR_CALL)
                continue;
            args = kir_list(&in->fn->nodes[what], 1, &count);
            for (uint32_t m = 0; m < count; m++)
                if (is_made(in, context, args[m]))
                    return true;
        }
    }
    return false;
}

static LLVMValueRef trace_node(struct fn *f, uint32_t node)
{
    return lo_i32(f->lo, f->in->unit->prelude ? -1 : (int64_t)(int32_t)node);
}

static void jump_desc(struct fn *f, LLVMValueRef desc)
{
    f->ways->raises = true;
    LLVMBuildStore(f->b, desc, f->desc);
    fn_br(f, f->ways->static_bb);
}

/* One argument in a description: {kind, len, payload}. */
static LLVMValueRef desc_arg(struct lo *lo, uint32_t kind, uint32_t len, LLVMValueRef payload)
{
    LLVMValueRef fields[4] = { lo_i32(lo, kind), lo_i32(lo, len), payload, NULL };
    unsigned n = 3;
    if (LLVMGetTypeKind(LLVMTypeOf(payload)) == LLVMPointerTypeKind && lo->t->pointer_bytes == 4)
        fields[n++] = lo_i32(lo, 0);
    return LLVMConstStructInContext(lo->c, fields, n, 0);
}

static LLVMValueRef desc_new(struct fn *f, uint32_t node, uint32_t class_id, LLVMValueRef *args, unsigned n)
{
    struct lo *lo = f->lo;
    LLVMValueRef fields[4 + KILN_EXC_ARGS_MAX] = { lo_i32(lo, class_id), lo_i32(lo, n),
                                                   lo_i32(lo, f->in->func), trace_node(f, node) };
    for (unsigned i = 0; i < n; i++)
        fields[4 + i] = args[i];
    LLVMValueRef s = LLVMConstStructInContext(lo->c, fields, 4 + n, 0);
    LLVMValueRef g = LLVMAddGlobal(lo->m, LLVMTypeOf(s), "kiln.desc");
    LLVMSetInitializer(g, s);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(g, 8);
    return g;
}

void raise_static(struct fn *f, uint32_t node, uint32_t class_id, const char *msg)
{
    if (f->dead)
        return;
    LLVMValueRef arg;
    unsigned n = 0;
    if (msg) {
        uint32_t len = (uint32_t)strlen(msg);
        arg = desc_arg(f->lo, KILN_ARG_STR, len, lo_bytes(f->lo, "kiln.str", msg, len));
        n = 1;
    }
    jump_desc(f, desc_new(f, node, class_id, &arg, n));
}

/* Start a block that is taken when cond holds; ret_ok is where things go on. False: cond is known false. */
static bool cold_begin(struct fn *f, LLVMValueRef cond, LLVMBasicBlockRef *ret_ok)
{
    if (f->dead)
        return false;
    if (LLVMIsAConstantInt(cond)) {
        *ret_ok = NULL;
        return LLVMConstIntGetZExtValue(cond) != 0;
    }
    LLVMBasicBlockRef cold = fn_block(f, "raise");
    *ret_ok = fn_block(f, "ok");
    LLVMValueRef br = LLVMBuildCondBr(f->b, cond, cold, *ret_ok);
    LLVMSetMetadata(br, f->lo->md_prof, f->lo->weights_cold);
    fn_at(f, cold);
    return true;
}

static void cold_end(struct fn *f, LLVMBasicBlockRef ok)
{
    if (ok)
        fn_at(f, ok);
}

void raise_if(struct fn *f, LLVMValueRef cond, uint32_t node, uint32_t class_id, const char *msg)
{
    LLVMBasicBlockRef ok;
    if (!cold_begin(f, cond, &ok))
        return;
    raise_static(f, node, class_id, msg);
    cold_end(f, ok);
}

static LLVMValueRef exc_at(struct fn *f, uint64_t off)
{
    return at_offset(f, f->exc, off);
}

static void exc_head(struct fn *f, uint32_t class_id, uint32_t n_args)
{
    LLVMBuildStore(f->b, lo_i32(f->lo, class_id), f->exc);
    LLVMBuildStore(f->b, lo_i32(f->lo, n_args), exc_at(f, EXC_OFFSET(n_args)));
    LLVMBuildStore(f->b, lo_i32(f->lo, 0), exc_at(f, EXC_OFFSET(n_trace)));
}

static void exc_arg(struct fn *f, unsigned i, uint32_t kind, uint32_t len, LLVMValueRef payload)
{
    uint64_t base = EXC_OFFSET(args) + i * sizeof(struct kiln_exc_arg);
    LLVMBuildStore(f->b, lo_i32(f->lo, kind), exc_at(f, base));
    LLVMBuildStore(f->b, lo_i32(f->lo, len), exc_at(f, base + 4));
    LLVMBuildStore(f->b, payload, exc_at(f, base + 8));
}

static void jump_trace(struct fn *f, uint32_t node)
{
    f->ways->raises = true;
    LLVMBuildStore(f->b, lo_i32(f->lo, KILN_RAISED), f->status);
    LLVMBuildStore(f->b, trace_node(f, node), f->node_slot);
    fn_br(f, f->ways->trace_bb);
}

void raise_format(struct fn *f, uint32_t node, uint32_t class_id, const char *fmt, LLVMValueRef *ints,
                  unsigned n)
{
    if (f->dead)
        return;
    uint32_t len = (uint32_t)strlen(fmt);
    if (n > KILN_EXC_ARGS_MAX - 1)
        n = KILN_EXC_ARGS_MAX - 1;
    exc_head(f, class_id, n + 1);
    exc_arg(f, 0, KILN_ARG_FORMAT, len, lo_bytes(f->lo, "kiln.str", fmt, len));
    for (unsigned i = 0; i < n; i++)
        exc_arg(f, i + 1, KILN_ARG_INT, 0, ints[i]);
    jump_trace(f, node);
}

void raise_format_if(struct fn *f, LLVMValueRef cond, uint32_t node, uint32_t class_id, const char *fmt,
                     LLVMValueRef *ints, unsigned n)
{
    LLVMBasicBlockRef ok;
    if (!cold_begin(f, cond, &ok))
        return;
    raise_format(f, node, class_id, fmt, ints, n);
    cold_end(f, ok);
}

/* ---- raise and assert statements ---- */

static uint32_t class_by_name(const char *name, size_t len)
{
#define X(NAME, number, parent)                                                                              \
    if (len == sizeof(#NAME) - 1 && !memcmp(name, #NAME, len))                                               \
        return number;
#include "proto/abi/exceptions.def"
#undef X
    return 0;
}

/* The class that a node names, 0 if it names none. */
static uint32_t class_of(struct fn *f, uint32_t node)
{
    const struct kir_module *mod = f->in->unit->mod;
    const struct kir_node *n = &f->in->fn->nodes[node];
    if (n->op == KIR_LIB || n->op == KIR_CONST) {
        uint32_t index = kir_arg(n, 0);
        const struct kir_const *k = &mod->consts[index];
        if (n->op == KIR_CONST)
            return k->kind == KIR_K_EXCEPTION ? KILN_EXC_USER + index : 0;
        const char *dot = memrchr(k->s.p, '.', k->s.len);
        const char *name = dot ? dot + 1 : k->s.p;
        return class_by_name(name, k->s.len - (size_t)(name - k->s.p));
    }
    const struct fact *fa = fact_of(f, node);
    if (fa->type && fa->type->kind == TY_EXCEPTION && fa->type->name)
        return class_by_name(fa->type->name, strlen(fa->type->name));
    return 0;
}

/* "name(base,base,...)" of a user's class has this one among its names. */
static bool is_among(const struct kir_const *k, const char *name, size_t len)
{
    for (size_t i = 0; i + len <= k->s.len; i++) {
        bool begins = i == 0 || k->s.p[i - 1] == '(' || k->s.p[i - 1] == ',';
        bool ends = i + len == k->s.len || strchr("(,)", k->s.p[i + len]);
        if (begins && ends && !memcmp(k->s.p + i, name, len))
            return true;
    }
    return false;
}

static bool builtin_below(uint32_t class_id, uint32_t base)
{
    static const uint32_t parents[] = {
#define X(NAME, number, parent) [number] = KILN_EXC_##parent,
#include "proto/abi/exceptions.def"
#undef X
    };
    while (class_id != base && class_id < sizeof(parents) / sizeof(parents[0]) &&
           parents[class_id] != class_id)
        class_id = parents[class_id];
    return class_id == base;
}

static const char *builtin_name(uint32_t class_id)
{
#define X(NAME, number, parent)                                                                              \
    if (class_id == number)                                                                                  \
        return #NAME;
#include "proto/abi/exceptions.def"
#undef X
    return "";
}

/* One comparison for all built-in classes (their numbers are below 64), one for each class of the user. */
static LLVMValueRef is_below(struct fn *f, uint32_t base)
{
    struct lo *lo = f->lo;
    const struct kir_module *mod = f->in->unit->mod;
    LLVMValueRef id = LLVMBuildLoad2(f->b, lo->i32, f->exc, ""), r = lo_bool(lo, false);
    const char *name = builtin_name(base);
    size_t len = strlen(name);
    uint64_t mask = 0;
    if (base >= KILN_EXC_USER) {
        name = mod->consts[base - KILN_EXC_USER].s.p;
        len = strcspn(name, "(");
    }
    for (uint32_t i = 1; i < 64 && base < KILN_EXC_USER; i++)
        mask |= *builtin_name(i) && builtin_below(i, base) ? UINT64_C(1) << i : 0;
    if (mask) {
        LLVMValueRef small = LLVMBuildICmp(f->b, LLVMIntULT, id, lo_i32(lo, 64), "");
        LLVMValueRef bit = LLVMBuildZExt(f->b, LLVMBuildAnd(f->b, id, lo_i32(lo, 63), ""), lo->i64, "");
        bit = LLVMBuildTrunc(f->b, LLVMBuildLShr(f->b, lo_int(lo, (int64_t)mask), bit, ""), lo->i1, "");
        r = LLVMBuildAnd(f->b, small, bit, "");
    }
    for (uint32_t i = 0; i < mod->n_consts; i++)
        if (mod->consts[i].kind == KIR_K_EXCEPTION && is_among(&mod->consts[i], name, len))
            r = LLVMBuildOr(f->b, r, LLVMBuildICmp(f->b, LLVMIntEQ, id, lo_i32(lo, KILN_EXC_USER + i), ""),
                            "");
    return r;
}

LLVMValueRef raise_is_class(struct fn *f, uint32_t node)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    if (n->op == KIR_TUPLE) {
        uint32_t count;
        const uint32_t *items = kir_list(n, 0, &count);
        LLVMValueRef r = lo_bool(f->lo, false);
        for (uint32_t i = 0; i < count; i++)
            r = LLVMBuildOr(f->b, r, raise_is_class(f, items[i]), "");
        return r;
    }
    uint32_t class_id = class_of(f, node);
    if (!class_id)
        lo_fail_at(f, node, "only exception classes can be handled");
    return is_below(f, class_id);
}

struct exc_args {
    struct {
        uint32_t kind, len;
        LLVMValueRef payload;
        struct val text; /* MEM */
    } item[KILN_EXC_ARGS_MAX];
    unsigned n;
};

static void args_push(struct exc_args *x, uint32_t kind, uint32_t len, LLVMValueRef payload)
{
    if (x->n == KILN_EXC_ARGS_MAX)
        return; /* more are dropped: the class and the first ones tell the story */
    x->item[x->n].kind = kind;
    x->item[x->n].len = len;
    x->item[x->n].payload = payload;
    x->n++;
}

static bool args_push_const(struct fn *f, struct exc_args *x, const struct kir_const *k)
{
    struct lo *lo = f->lo;
    switch (k->kind) {
    case KIR_K_NONE:
        args_push(x, KILN_ARG_NONE, 0, lo_int(lo, 0));
        return true;
    case KIR_K_BOOL:
        args_push(x, KILN_ARG_BOOL, 0, lo_int(lo, k->b));
        return true;
    case KIR_K_INT:
        args_push(x, k->i.is_unsigned ? KILN_ARG_UINT : KILN_ARG_INT, 0, lo_int(lo, (int64_t)k->i.bits));
        return true;
    case KIR_K_FLOAT:
        args_push(x, KILN_ARG_FLOAT, 0, LLVMConstReal(lo->f64, k->f));
        return true;
    case KIR_K_STR:
        args_push(x, KILN_ARG_STR, k->s.len, lo_bytes(lo, "kiln.str", k->s.p, k->s.len));
        return true;
    default:
        return false;
    }
}

static void args_push_value(struct fn *f, struct exc_args *x, struct val v)
{
    struct lo *lo = f->lo;
    if (!v.t)
        return;
    if (v.t->kind == TY_BOOL)
        args_push(x, KILN_ARG_BOOL, 0, LLVMBuildZExt(f->b, v.v[0], lo->i64, ""));
    else if (type_is_integer(v.t))
        args_push(x, type_is_signed(v.t) ? KILN_ARG_INT : KILN_ARG_UINT, 0, to_index(f, v));
    else if (type_is_float(v.t))
        args_push(x, KILN_ARG_FLOAT, 0, convert(f, v, lo_type(lo, TY_FLOAT64)).v[0]);
    else if (v.t->kind == TY_STR) {
        if (x->n < KILN_EXC_ARGS_MAX)
            x->item[x->n].text = v;
        args_push(x, KILN_ARG_MEM, 0, lo_null(lo)); /* made when nothing can raise any more: see raise_args */
    } else if (v.t->kind == TY_OPTIONAL && type_is_number(v.t->elem))
        args_push_value(f, x, convert(f, v, v.t->elem));
    else
        args_push(x, KILN_ARG_NONE, 0, lo_int(lo, 0));
}

/* f"...{x}...": a template whose holes are filled by the client. */
static void args_push_fstring(struct fn *f, struct exc_args *x, uint32_t node)
{
    struct lo *lo = f->lo;
    const struct kir_module *mod = f->in->unit->mod;
    uint32_t n;
    const uint32_t *parts = kir_list(&f->in->fn->nodes[node], 0, &n);
    struct buf text;
    unsigned at_text = x->n;
    buf_init(&text, 64 << 10);
    args_push(x, KILN_ARG_FORMAT, 0, lo_null(lo));
    for (uint32_t i = 0; i < n; i++) {
        const struct kir_node *p = &f->in->fn->nodes[parts[i]];
        if (p->op == KIR_CONST && mod->consts[kir_arg(p, 0)].kind == KIR_K_STR) {
            buf_add(&text, mod->consts[kir_arg(p, 0)].s.p, mod->consts[kir_arg(p, 0)].s.len);
        } else if (p->op == KIR_FORMAT) {
            const struct fact *fa = fact_of(f, kir_arg(p, 0));
            buf_str(&text, "{}");
            if (!fa->has_value || !args_push_const(f, x, fa->value))
                args_push_value(f, x, eval(f, kir_arg(p, 0)));
        }
    }
    if (at_text < x->n) {
        x->item[at_text].len = (uint32_t)text.len;
        x->item[at_text].payload = lo_bytes(lo, "kiln.str", text.data ? (char *)text.data : "", text.len);
    }
    buf_done(&text);
}

static void args_push_node(struct fn *f, struct exc_args *x, uint32_t node)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    const struct fact *fa = fact_of(f, node);
    if (fa->has_value && args_push_const(f, x, fa->value))
        return;
    if (n->op == KIR_CONST && args_push_const(f, x, &f->in->unit->mod->consts[kir_arg(n, 0)]))
        return;
    if (n->op == KIR_FSTRING && x->n == 0 && fstring_is_template(f, node))
        args_push_fstring(f, x, node);
    else
        args_push_value(f, x, eval(f, node));
}

static void raise_args(struct fn *f, uint32_t node, uint32_t class_id, struct exc_args *x)
{
    bool is_static = true;
    if (f->dead)
        return;
    for (unsigned i = 0; i < x->n; i++) {
        if (x->item[i].kind == KILN_ARG_MEM)
            x->item[i].payload =
                text_utf8(f, x->item[i].text); /* NULL, without memory: the client shows None */
        is_static &= LLVMIsConstant(x->item[i].payload) != 0;
    }
    if (is_static) {
        LLVMValueRef args[KILN_EXC_ARGS_MAX];
        for (unsigned i = 0; i < x->n; i++)
            args[i] = desc_arg(f->lo, x->item[i].kind, x->item[i].len, x->item[i].payload);
        jump_desc(f, desc_new(f, node, class_id, args, x->n));
        return;
    }
    exc_head(f, class_id, x->n);
    for (unsigned i = 0; i < x->n; i++)
        exc_arg(f, i, x->item[i].kind, x->item[i].len, x->item[i].payload);
    jump_trace(f, node);
}

void lower_raise(struct fn *f, uint32_t node)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    uint32_t what = kir_opt(n, 0), class_id = 0;
    struct exc_args x = { .n = 0 };
    if (what == KIR_NIL || f->in->fn->nodes[what].op == KIR_LOCAL) {
        struct caught *c = f->caught;
        while (c && what != KIR_NIL && c->local != kir_arg(&f->in->fn->nodes[what], 0))
            c = c->up;
        if (c) {
            LLVMBuildMemCpy(f->b, f->exc, 8, c->saved, 8,
                            LLVMConstInt(f->lo->iptr, sizeof(struct kiln_exc), 0));
            raise_retain(f);
            LLVMBuildStore(f->b, lo_i32(f->lo, KILN_RAISED), f->status);
            raise_again(f);
            return;
        }
    }
    if (what != KIR_NIL && f->in->fn->nodes[what].op == KIR_CALL) {
        const struct kir_node *call = &f->in->fn->nodes[what];
        uint32_t n_args;
        const uint32_t *args = kir_list(call, 1, &n_args);
        class_id = class_of(f, kir_arg(call, 0));
        for (uint32_t i = 0; class_id && i < n_args; i++)
            args_push_node(f, &x, args[i]);
    } else if (what != KIR_NIL) {
        class_id = class_of(f, what);
    }
    if (!class_id) {
        lo_fail_at(f, node, "only an exception class, or a call of one, can be raised here");
        return;
    }
    raise_args(f, node, class_id, &x);
}

void lower_assert(struct fn *f, uint32_t node)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    int known;
    LLVMValueRef c = eval_cond(f, kir_arg(n, 0), &known);
    struct exc_args x = { .n = 0 };
    LLVMBasicBlockRef ok;
    if (known > 0 || f->dead)
        return;
    if (!cold_begin(f, LLVMBuildNot(f->b, c, ""), &ok))
        return;
    if (kir_opt(n, 1) != KIR_NIL)
        args_push_node(f, &x, kir_opt(n, 1));
    raise_args(f, node, KILN_EXC_AssertionError, &x);
    cold_end(f, ok);
}

/* ---- calls and ways out ---- */

void raise_status(struct fn *f, LLVMValueRef status, uint32_t node, bool never_returns)
{
    LLVMBasicBlockRef ok = NULL;
    if (f->dead)
        return;
    f->ways->raises = true;
    if (!never_returns) {
        LLVMValueRef bad = LLVMBuildICmp(f->b, LLVMIntNE, status, lo_i32(f->lo, 0), "");
        if (!cold_begin(f, bad, &ok))
            return;
    }
    LLVMBuildStore(f->b, status, f->status);
    LLVMBuildStore(f->b, trace_node(f, node), f->node_slot);
    fn_br(f, f->ways->trace_bb);
    cold_end(f, ok);
}

void raise_new_ways(struct fn *f, struct ways *ways)
{
    *ways =
        (struct ways){ fn_block(f, "raise.static"), fn_block(f, "raise.trace"), fn_block(f, "fail"), false };
}

void raise_again(struct fn *f)
{
    f->ways->raises = true;
    fn_br(f, f->ways->fail_bb);
}

void raise_exits(struct fn *f)
{
    struct lo *lo = f->lo;
    LLVMTypeRef type;
    if (!f->ways->raises) {
        LLVMBasicBlockRef unused[3] = { f->ways->static_bb, f->ways->trace_bb, f->ways->fail_bb };
        for (int i = 0; i < 3; i++)
            LLVMDeleteBasicBlock(unused[i]);
        return;
    }
    fn_at(f, f->ways->static_bb);
    LLVMValueRef args[3] = { f->exc, LLVMBuildLoad2(f->b, lo->ptr, f->desc, ""), NULL };
    LLVMValueRef fn = helper_raise(lo, &type);
    LLVMBuildCall2(f->b, type, fn, args, 2, "");
    LLVMBuildStore(f->b, lo_i32(lo, KILN_RAISED), f->status);
    LLVMBuildBr(f->b, f->ways->fail_bb);
    fn_at(f, f->ways->trace_bb);
    if (!f->in->unit->prelude) {
        args[1] = lo_i32(lo, f->in->func);
        args[2] = LLVMBuildLoad2(f->b, lo->i32, f->node_slot, "");
        fn = helper_trace(lo, &type);
        LLVMBuildCall2(f->b, type, fn, args, 3, "");
    }
    LLVMBuildBr(f->b, f->ways->fail_bb);
}

/* ---- depth of recursion ---- */

/* exc->pad holds the low half of the stack's address at the entry; 32 bits are enough for differences. */
static LLVMValueRef stack_here(struct fn *f)
{
    struct lo *lo = f->lo;
    LLVMValueRef zero = lo_i32(lo, 0);
    LLVMValueRef p = lo_intrinsic(f, "llvm.frameaddress", lo->ptr, &zero, 1);
    return LLVMBuildPtrToInt(f->b, p, lo->i32, "");
}

void lo_stack_mark(struct fn *f)
{
    LLVMBuildStore(f->b, stack_here(f), exc_at(f, EXC_OFFSET(pad)));
}

void lo_stack_check(struct fn *f, uint32_t node)
{
    struct lo *lo = f->lo;
    LLVMValueRef base = LLVMBuildLoad2(f->b, lo->i32, exc_at(f, EXC_OFFSET(pad)), "");
    LLVMValueRef used = LLVMBuildSub(f->b, base, stack_here(f), "");
    raise_if(f, LLVMBuildICmp(f->b, LLVMIntUGT, used, lo_i32(lo, LO_STACK_BYTES), ""), node,
             KILN_EXC_RecursionError, "maximum recursion depth exceeded");
}
