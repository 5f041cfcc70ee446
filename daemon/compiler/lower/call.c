/* SPDX-License-Identifier: Apache-2.0
 * call.c - calls: of instances, and of what the compiler does itself.
 *
 * An instance's function takes (exc, env, leaves of captures, leaves of parameters) and returns its status
 * and the leaves of its result in registers: { i32, leaf... }, or i32 alone. Parameters are borrowed, a
 * result is the caller's. */
#include "daemon/compiler/lower/lo.h"

struct operands { /* values of a call's argument nodes, evaluated in the order of the text */
    uint32_t *nodes;
    struct val *vals;
    uint32_t n;
    uint32_t callee_node;
    struct val callee;
};

static bool operand_find(const struct operands *o, uint32_t node, struct val *ret)
{
    if (node == o->callee_node) {
        *ret = o->callee;
        return true;
    }
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->nodes[i] == node) {
            *ret = o->vals[i];
            return true;
        }
    }
    return false;
}

static struct val operand(struct fn *f, const struct operands *o, uint32_t node)
{
    struct val v;
    if (operand_find(o, node, &v))
        return v;
    return eval(f, node);
}

static struct val bind(struct fn *f, const struct operands *o, const struct arg *a,
                       const struct kir_module *callee_mod, unsigned depth)
{
    struct lo *lo = f->lo;
    struct val v;
    if (depth > 16) {
        lo_fail(lo, KILN_E_LIMIT, "arguments nest deeper than 16");
        return val_dead();
    }
    switch (a->from) {
    case ARG_CONST:
        return val_const(f, callee_mod, &callee_mod->consts[a->index], a->type);
    case ARG_PACK: {
        struct val *items = lo_alloc(lo, a->n + 1, sizeof(*items));
        for (uint32_t i = 0; i < a->n; i++)
            items[i] = bind(f, o, &a->pack[i], callee_mod, depth + 1);
        return f->dead ? val_dead() : val_join(f, a->type, items, a->n);
    }
    case ARG_ITEM:
        v = operand(f, o, a->node);
        if (v.t && v.t->kind == TY_TUPLE && a->index < v.t->n_items)
            return convert(f, val_item(f, v, a->index), a->type);
        break;
    case ARG_NONE:
        return convert(f, val_none(f), a->type ? a->type : lo_type(lo, TY_NONE));
    case ARG_CAPTURE:
        v = operand(f, o, a->node);
        if (v.t && v.t->kind == TY_FUNCTION && a->index < v.t->n_items)
            return convert(f, val_item(f, v, a->index), a->type);
        break;
    case ARG_NODE:
        if (a->type && a->type->kind == TY_TYPEVALUE)
            return val_zero(f, a->type);
        v = operand(f, o, a->node);
        if (v.t && v.t->kind == TY_METHOD && (!a->type || a->type->kind != TY_METHOD))
            v.t = v.t->elem; /* the receiver */
        return a->type ? convert(f, v, a->type) : v;
    }
    if (!f->dead && !lo->failed)
        lo_fail_at(f, a->node, "argument does not bind");
    return val_dead();
}

struct val call_result(struct fn *f, const struct linst *li, const struct type *t, LLVMValueRef call, LLVMValueRef memory,
                       LLVMValueRef *ret_status)
{
    const struct tinfo *ti = lo_info(f->lo, t);
    struct val v = val_new(f, t, ti->n);
    *ret_status = ti->n && !memory ? LLVMBuildExtractValue(f->b, call, 0, "") : call;
    for (uint32_t i = 0; i < ti->n; i++)
        v.v[i] = memory ? LLVMBuildLoad2(f->b, ti->reg[i], LLVMBuildStructGEP2(f->b, li->memory, memory, i, ""), "")
                        : LLVMBuildExtractValue(f->b, call, i + 1, "");
    return v;
}

static struct val result_of(struct fn *f, LLVMValueRef call, LLVMValueRef memory, uint32_t node,
                            const struct instance *callee)
{
    struct lo *lo = f->lo;
    const struct tinfo *ti = lo_info(lo, callee->ret);
    struct linst *li = lo_inst(lo, callee);
    if (li->raises) {
        LLVMValueRef status = ti->n && !memory ? LLVMBuildExtractValue(f->b, call, 0, "") : call;
        raise_status(f, status, node, callee->no_return);
    }
    if (f->dead)
        return val_dead();
    LLVMValueRef unused;
    struct val v = call_result(f, li, callee->ret, call, memory, &unused);
    if (ti->n_owner)
        temp_hold(f, &v);
    return v;
}

struct val emit_call(struct fn *f, uint32_t node, const struct instance *callee, const struct val *captures,
                     const struct val *params)
{
    struct lo *lo = f->lo;
    struct linst *li = lo_inst(lo, callee);
    uint32_t n_params = callee->fn->n_params, n_free = callee->fn->n_free, n = 2, at = 0;
    if (lo->failed || f->dead)
        return val_dead();
    for (uint32_t i = 0; i < n_free; i++)
        n += captures ? captures[i].n : 0;
    for (uint32_t i = 0; i < n_params; i++)
        n += params[i].n;
    LLVMValueRef *args = lo_alloc(lo, n + 1, sizeof(*args)), memory = NULL;
    args[at++] = f->exc;
    args[at++] = f->env;
    for (uint32_t i = 0; i < n_free && captures; i++)
        for (uint32_t k = 0; k < captures[i].n; k++)
            args[at++] = captures[i].v[k];
    for (uint32_t i = 0; i < n_params; i++)
        for (uint32_t k = 0; k < params[i].n; k++)
            args[at++] = params[i].v[k];
    if (li->memory)
        args[n++] = memory = fn_alloca(f, li->memory, "result");
    if (n != LLVMCountParams(li->fn)) {
        lo_fail(lo, KILN_E_INTERNAL, "call of function %u with %u leaves, it takes %u", callee->func, n,
                LLVMCountParams(li->fn));
        return val_dead();
    }
    return result_of(f, LLVMBuildCall2(f->b, li->type, li->fn, args, n, ""), memory, node, callee);
}

static void operands_eval(struct fn *f, uint32_t node, struct operands *o)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    uint32_t n_pos, n_kw;
    const uint32_t *pos = kir_list(n, 1, &n_pos), *kw = kir_list(n, 3, &n_kw);
    o->nodes = lo_alloc(f->lo, 2 * (n_pos + n_kw) + 1, sizeof(*o->nodes));
    o->vals = lo_alloc(f->lo, 2 * (n_pos + n_kw) + 1, sizeof(*o->vals));
    for (uint32_t i = 0; i < n_pos + n_kw && !f->dead && !f->lo->failed; i++) {
        uint32_t arg = i < n_pos ? pos[i] : kw[i - n_pos];
        const struct fact *fa = fact_of(f, arg);
        const struct kir_node *an = &f->in->fn->nodes[arg];
        uint32_t inner = an->op == KIR_STAR ? kir_arg(an, 0) : arg;
        struct val v = val_dead();
        if (fa->type && lo_info(f->lo, fa->type)->n == 0 && type_class(fa->type) == TC_V)
            v = val_zero(f, fa->type); /* a type, a function without captures: nothing happens */
        else
            v = eval(f, inner);
        o->nodes[o->n] = arg;
        o->vals[o->n++] = v;
        if (inner != arg) {
            o->nodes[o->n] = inner;
            o->vals[o->n++] = v;
        }
    }
}

static struct val call_bound(struct fn *f, uint32_t node, const struct operands *o)
{
    struct lo *lo = f->lo;
    const struct fact *fa = fact_of(f, node);
    const struct instance *callee = fa->callee;
    const struct kir_module *mod = callee ? callee->unit->mod : lo->p->user->mod;
    struct val *vals = lo_alloc(lo, fa->n_args + 1, sizeof(*vals));
    uint32_t n_params = callee ? callee->fn->n_params : fa->n_args;
    for (uint32_t i = 0; i < fa->n_args; i++) {
        vals[i] = bind(f, o, &fa->args[i], mod, 0);
        if (f->dead || lo->failed || !vals[i].t)
            return val_dead();
    }
    if (!callee && fa->type->kind == TY_TUPLE && !fa->intrinsic) /* a named tuple's class */
        return val_join(f, fa->type, vals, fa->n_args);
    if (!callee)
        return convert(f, lower_intrinsic(f, node, fa->intrinsic, vals, fa->n_args), fa->type);
    struct val *captures = vals + n_params;
    if (fa->n_args < n_params) {
        lo_fail(lo, KILN_E_INTERNAL, "call with %u of %u arguments", fa->n_args, n_params);
        return val_dead();
    }
    if (callee->fn->n_free &&
        fa->n_args < n_params + callee->fn->n_free) { /* not spelled out: all, in order */
        captures = lo_alloc(lo, callee->fn->n_free, sizeof(*captures));
        for (uint32_t i = 0; i < callee->fn->n_free; i++) {
            if (!o->callee.t || i >= o->callee.t->n_items) {
                lo_fail_at(f, node, "called function lacks its variables");
                return val_dead();
            }
            captures[i] = convert(f, val_item(f, o->callee, i), callee->captures[i]);
        }
    }
    return convert(f, emit_call(f, node, callee, captures, vals), fa->type);
}

struct val lower_call(struct fn *f, uint32_t node)
{
    const struct kir_node *n = &f->in->fn->nodes[node];
    const struct fact *fa = fact_of(f, node);
    struct operands o = { .callee_node = kir_arg(n, 0), .callee = val_dead() };
    const struct fact *callee = fact_of(f, o.callee_node);
    if (!fa->callee && !fa->intrinsic && (!callee->type || callee->type->kind != TY_CLASS)) {
        lo_fail_at(f, node, "this call has no lowering");
        return val_dead();
    }
    if (callee->type && lo_info(f->lo, callee->type)->n)
        o.callee = eval(f, o.callee_node);
    else if (callee->type)
        o.callee = val_zero(f, callee->type);
    operands_eval(f, node, &o);
    if (f->dead || f->lo->failed)
        return val_dead();
    return call_bound(f, node, &o);
}

struct val call_prelude_node(struct fn *f, uint32_t node)
{
    struct operands o = { .callee_node = UINT32_MAX };
    const struct fact *fa = fact_of(f, node);
    if (fa->n_args == 2 && fa->args[0].from == ARG_NODE && fa->args[1].from == ARG_NODE &&
        fa->args[1].node < fa->args[0].node) { /* a method of the right operand: the left one is evaluated first */
        struct val first = eval(f, fa->args[1].node);
        uint32_t first_node = fa->args[1].node;
        o.nodes = &first_node;
        o.vals = &first;
        o.n = 1;
        return f->dead ? val_dead() : call_bound(f, node, &o);
    }
    return call_bound(f, node, &o);
}
