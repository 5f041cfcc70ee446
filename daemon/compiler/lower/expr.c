/* SPDX-License-Identifier: Apache-2.0
 * expr.c - expressions: one function a node kind, called by eval.
 *
 * A value is dead (no type) once control cannot get past its evaluation; every caller looks at f->dead or at
 * the type before it goes on. */
#include <string.h>

#include "daemon/compiler/infer/box.h"
#include "daemon/compiler/lower/lo.h"

const struct fact *fact_of(struct fn *f, uint32_t node)
{
    return fact_at(f->in, f->ctx, node);
}

/* ---- operators ---- */

/* An optional where a value is needed: None is Python's TypeError. */
struct val need_value(struct fn *f, struct val v, uint32_t node)
{
    if (!v.t || v.t->kind != TY_OPTIONAL)
        return v;
    raise_if(f, LLVMBuildNot(f->b, v.v[v.n - 1], ""), node, EXC(TypeError),
             "unsupported operand type: 'NoneType' where a number is needed");
    return f->dead ? val_dead() : convert(f, v, v.t->elem);
}

static struct val eval_compare(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const struct fact *fa = fact_of(f, node);
    const struct type *bool_t = lo_type(f->lo, TY_BOOL);
    uint32_t n_ops, n_items;
    const uint32_t *ops = kir_list(n, 0, &n_ops), *items = kir_list(n, 1, &n_items);
    LLVMBasicBlockRef out = n_ops > 1 ? fn_block(f, "chain") : NULL;
    LLVMValueRef r = n_ops > 1 ? fn_alloca(f, f->lo->i1, "chain") : NULL, c = NULL;
    struct val a = eval(f, items[0]);
    for (uint32_t i = 0; i < n_ops; i++) {
        struct val b = eval(f, items[i + 1]);
        const struct type *t = fa->operands ? fa->operands[i] : n_ops == 1 ? fa->operand : NULL;
        if (f->dead || !a.t || !b.t)
            break;
        struct val x = a, y = b;
        if (ops[i] >= KIR_C_LT && ops[i] <= KIR_C_GE) { /* None has no order */
            x = need_value(f, x, node);
            y = need_value(f, y, node);
        }
        if (f->dead)
            break;
        c = op_compare(f, (enum kir_compare)ops[i], t ? convert(f, x, t) : x, t ? convert(f, y, t) : y);
        a = b;
        if (!out)
            return convert(f, val_scalar(f, bool_t, c), fa->type);
        LLVMBuildStore(f->b, c, r);
        if (i + 1 == n_ops) {
            fn_br(f, out);
        } else {
            LLVMBasicBlockRef more = fn_block(f, "more");
            fn_cond(f, c, more, out);
            fn_at(f, more);
        }
    }
    if (!out)
        return val_dead();
    fn_at(f, out);
    return convert(f, val_scalar(f, bool_t, LLVMBuildLoad2(f->b, f->lo->i1, r, "")), fa->type);
}

/* (1, 2) * 3: the result's type says how often. */
static struct val tuple_repeat(struct fn *f, struct val v, const struct type *t)
{
    struct val *items = lo_alloc(f->lo, t->n_items, sizeof(*items));
    for (uint32_t i = 0; i < t->n_items; i++) {
        items[i] = val_item(f, v, i % v.t->n_items);
        items[i].own = 0;
    }
    return val_join(f, t, items, t->n_items);
}

static struct val binary(struct fn *f, enum kir_binary op, struct val a, struct val b, const struct fact *fa,
                         uint32_t node)
{
    if (f->dead || !a.t || !b.t)
        return val_dead();
    if (op == KIR_B_MUL && fa->type->kind == TY_TUPLE) {
        struct val v = a.t->kind == TY_TUPLE ? a : b;
        return v.t->n_items ? tuple_repeat(f, v, fa->type) : val_zero(f, fa->type);
    }
    if (fa->operand) {
        a = convert(f, need_value(f, a, node), fa->operand);
        b = convert(f, need_value(f, b, node), fa->operand);
    }
    return convert(f, op_binary(f, op, a, b, node), fa->type);
}

static struct val eval_binary(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    struct val a = eval(f, kir_arg(n, 1)), b = eval(f, kir_arg(n, 2));
    return binary(f, (enum kir_binary)kir_arg(n, 0), a, b, fact_of(f, node), node);
}

static struct val eval_unary(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const struct fact *fa = fact_of(f, node);
    if (kir_arg(n, 0) == KIR_U_NOT) {
        int known;
        LLVMValueRef c = eval_cond(f, kir_arg(n, 1), &known);
        if (f->dead)
            return val_dead();
        return convert(f, val_scalar(f, lo_type(f->lo, TY_BOOL), LLVMBuildNot(f->b, c, "")), fa->type);
    }
    struct val a = eval(f, kir_arg(n, 1));
    if (f->dead || !a.t)
        return val_dead();
    if (fa->operand)
        a = convert(f, need_value(f, a, node), fa->operand);
    return convert(f, op_unary(f, (enum kir_unary)kir_arg(n, 0), a, node), fa->type);
}

struct val aug_value(struct fn *f, uint32_t aug, struct val old, uint32_t value_node)
{
    const struct fact *fa = fact_of(f, aug);
    struct val v = eval(f, value_node);
    if (fa->callee && old.t && v.t) {
        bool swapped = fa->n_args >= 2 && fa->args[0].node == value_node; /* a method of the value's class */
        const struct kir_module *mod = fa->callee->unit->mod;
        struct val *args = lo_alloc(f->lo, fa->n_args + 2, sizeof(*args));
        args[0] = swapped ? v : old;
        args[1] = swapped ? old : v;
        for (uint32_t i = 2; i < fa->n_args; i++) /* parameters that are left out */
            args[i] = val_const(f, mod, &mod->consts[fa->args[i].index], fa->args[i].type);
        for (uint32_t i = 0; i < 2 && i < fa->n_args; i++)
            args[i] = convert(f, args[i], fa->args[i].type);
        return convert(f, emit_call(f, aug, fa->callee, NULL, args), fa->type);
    }
    return binary(f, (enum kir_binary)kir_arg(node_of(f, aug), 0), old, v, fa, aug);
}

/* ---- names, displays, attributes ---- */

static struct val eval_closure(struct fn *f, uint32_t node, const struct type *t)
{
    const struct kir_node *n = node_of(f, node);
    uint32_t n_locals, n_free;
    const uint32_t *locals = kir_list(n, 1, &n_locals), *frees = kir_list(n, 2, &n_free);
    struct val *items = lo_alloc(f->lo, n_locals + n_free + 1, sizeof(*items));
    if (t->n_items != n_locals + n_free) {
        lo_fail_at(f, node, "closure of %u variables typed as %u", n_locals + n_free, t->n_items);
        return val_dead();
    }
    for (uint32_t i = 0; i < n_locals; i++)
        items[i] = slot_read(f, locals[i], t->items[i]);
    for (uint32_t i = 0; i < n_free; i++) {
        uint32_t at = 0;
        for (uint32_t k = 0; k < frees[i]; k++)
            at += lo_info(f->lo, f->in->captures[k])->n;
        const struct type *ct = f->in->captures[frees[i]];
        struct val v = { .t = ct, .v = f->captures + at, .n = lo_info(f->lo, ct)->n };
        items[n_locals + i] = convert(f, v, t->items[n_locals + i]);
    }
    return val_join(f, t, items, t->n_items);
}

static struct val eval_local(struct fn *f, uint32_t node)
{
    const struct fact *fa = fact_of(f, node);
    uint32_t local = kir_arg(node_of(f, node), 0);
    if (fa->maybe_unset && f->isset[local]) {
        LLVMValueRef is = LLVMBuildLoad2(f->b, f->lo->i1, f->isset[local], "");
        raise_if(f, LLVMBuildNot(f->b, is, ""), node, EXC(UnboundLocalError),
                 "cannot access local variable where it is not associated with a value");
    }
    if (fa->type->kind == TY_UNSET || fa->type->kind == TY_CONFLICT) {
        raise_static(f, node, EXC(UnboundLocalError),
                     "cannot access local variable where it is not associated with a value");
        return val_dead();
    }
    if (fa->current)
        return eval_closure(f, closure_node(f->in->fn, fa->type, f->in->unit->prelude), fa->type);
    return slot_read(f, local, fa->type);
}

static struct val eval_free(struct fn *f, uint32_t node)
{
    const struct fact *fa = fact_of(f, node);
    uint32_t index = kir_arg(node_of(f, node), 0), at = 0;
    for (uint32_t i = 0; i < index; i++)
        at += lo_info(f->lo, f->in->captures[i])->n;
    const struct type *t = f->in->captures[index];
    struct val v = { .t = t, .v = f->captures + at, .n = lo_info(f->lo, t)->n };
    return convert(f, v, fa->type);
}

static struct val eval_env(struct fn *f, uint32_t node)
{
    struct lo *lo = f->lo;
    uint32_t slot = kir_arg(node_of(f, node), 0);
    uint64_t at = 0;
    for (uint32_t i = 0; i <= slot; i++) {
        struct layout l = { 0, 1 };
        struct kiln_err e = KILN_ERR_INIT;
        if (type_layout(lo->p->env[i], lo->t->pointer_bytes, &l, &e)) {
            lo_fail(lo, KILN_E_INTERNAL, "environment slot: %s", e.msg);
            return val_dead();
        }
        at = (at + l.align - 1) / l.align * l.align;
        if (i < slot)
            at += l.size;
    }
    struct val v = mem_load(f, lo->p->env[slot], at_offset(f, f->env, at), false);
    return convert(f, v, fact_of(f, node)->type);
}

static struct val eval_tuple(struct fn *f, uint32_t node)
{
    const struct type *t = fact_of(f, node)->type;
    uint32_t count, n = 0;
    const uint32_t *nodes = kir_list(node_of(f, node), 0, &count);
    if (t->kind != TY_TUPLE) {
        lo_fail_at(f, node, "this display has no tuple type");
        return val_dead();
    }
    struct val *items = lo_alloc(f->lo, t->n_items + 1, sizeof(*items));
    for (uint32_t i = 0; i < count; i++) {
        const struct kir_node *in = node_of(f, nodes[i]);
        struct val v = eval(f, in->op == KIR_STAR ? kir_arg(in, 0) : nodes[i]);
        if (f->dead || !v.t)
            return val_dead();
        if (in->op != KIR_STAR) {
            if (n < t->n_items)
                items[n] = convert(f, v, t->items[n]);
            n++;
            continue;
        }
        for (uint32_t k = 0; v.t->kind == TY_TUPLE && k < v.t->n_items; k++, n++)
            if (n < t->n_items)
                items[n] = convert(f, val_item(f, v, k), t->items[n]);
    }
    if (n != t->n_items) {
        lo_fail_at(f, node, "tuple of %u items typed as %u", n, t->n_items);
        return val_dead();
    }
    return val_join(f, t, items, n);
}

/* Field of a named tuple, by the module's table; UINT32_MAX if there is none. */
static uint32_t field_index(struct fn *f, const struct type *t, const struct kir_const *name)
{
    const struct kir_module *mod = f->lo->p->user->mod;
    if (t->kind != TY_TUPLE || !t->index || t->index > mod->n_usertypes)
        return UINT32_MAX;
    const struct kir_usertype *u = &mod->usertypes[t->index - 1];
    for (uint32_t i = 0; i < u->n_fields && i < t->n_items; i++)
        if (strlen(u->field_names[i]) == name->s.len && !memcmp(u->field_names[i], name->s.p, name->s.len))
            return i;
    return UINT32_MAX;
}

static struct val eval_attr(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const struct fact *fa = fact_of(f, node);
    struct val base = need_value(f, eval(f, kir_arg(n, 0)), node);
    if (f->dead || !base.t)
        return val_dead();
    if (fa->type->kind == TY_METHOD) {
        base = convert(f, base, fa->type->elem);
        base.t = fa->type;
        return base;
    }
    if (record_is_field(f, base, node) && !fa->intrinsic && !fa->callee)
        return record_read(f, base, node);
    if (fa->callee) {
        struct val arg = fa->n_args ? convert(f, base, fa->args[0].type) : base;
        return convert(f, emit_call(f, node, fa->callee, NULL, &arg), fa->type);
    }
    if (fa->intrinsic)
        return convert(f, lower_intrinsic(f, node, fa->intrinsic, &base, 1), fa->type);
    if (object_is_field(f, base, node))
        return object_read(f, base, node);
    if (base.t->kind == TY_ENUM || base.t->kind == TY_INTENUM)
        return lower_enum_attr(f, node, base, f->in->unit->mod->consts[kir_arg(n, 1)].s.p);
    uint32_t field = field_index(f, base.t, &f->in->unit->mod->consts[kir_arg(n, 1)]);
    if (field != UINT32_MAX)
        return convert(f, val_item(f, base, field), fa->type);
    if (lo_info(f->lo, fa->type)->n == 0)
        return val_zero(f, fa->type);
    const struct kir_const *name = &f->in->unit->mod->consts[kir_arg(n, 1)];
    int in_box = box_field(base.t, name->s.p, name->s.len);
    if (in_box >= 0)
        return box_get(f, base, in_box);
    lo_fail_at(f, node, "this attribute has no lowering");
    return val_dead();
}

static struct val eval_slice(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const struct type *t = fact_of(f, node)->type;
    struct val items[3];
    for (unsigned i = 0; i < 3; i++) {
        uint32_t part = kir_opt(n, i);
        items[i] = part == KIR_NIL ? val_none(f) : eval(f, part);
        if (f->dead || !items[i].t)
            return val_dead();
        if (i < t->n_items)
            items[i] = convert(f, items[i], t->items[i]);
    }
    return val_join(f, t, items, t->n_items < 3 ? t->n_items : 3);
}

static struct val eval_walrus(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const struct type *t = fact_of(f, node)->type;
    slot_write(f, kir_arg(n, 0), t, eval(f, kir_arg(n, 1)));
    return f->dead ? val_dead() : slot_read(f, kir_arg(n, 0), t);
}

/* ---- the switch ---- */

static struct val dispatch(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const struct fact *fa = fact_of(f, node);
    bool operator=
        n->op == KIR_UNARY || n->op == KIR_BINARY || n->op == KIR_COMPARE || n->op == KIR_SUBSCRIPT;
    if (fa->callee && operator) {
        struct val v = call_prelude_node(f, node);
        if (!fa->negated || f->dead)
            return v;
        return val_scalar(f, fa->type, LLVMBuildNot(f->b, truth(f, v), ""));
    }
    switch (n->op) {
    case KIR_CONST:
        return val_const(f, f->in->unit->mod, &f->in->unit->mod->consts[kir_arg(n, 0)], fa->type);
    case KIR_LOCAL:
        return eval_local(f, node);
    case KIR_FREE:
        return eval_free(f, node);
    case KIR_ENV:
        return eval_env(f, node);
    case KIR_FUNC:
    case KIR_LIB:
        return val_zero(f, fa->type);
    case KIR_UNARY:
        return eval_unary(f, node);
    case KIR_BINARY:
        return eval_binary(f, node);
    case KIR_COMPARE:
        return eval_compare(f, node);
    case KIR_AND:
    case KIR_OR:
        return eval_and_or(f, node);
    case KIR_IFEXP:
        return eval_ifexp(f, node);
    case KIR_CALL:
        return lower_call(f, node);
    case KIR_ATTR:
        return eval_attr(f, node);
    case KIR_SUBSCRIPT:
        return lower_subscript(f, node);
    case KIR_SLICE:
        return eval_slice(f, node);
    case KIR_TUPLE:
        return eval_tuple(f, node);
    case KIR_STAR:
        return eval(f, kir_arg(n, 0));
    case KIR_LIST:
    case KIR_SET:
    case KIR_DICT:
        return eval_display(f, node);
    case KIR_COMP:
        return eval_comp(f, node);
    case KIR_FSTRING:
        return eval_fstring(f, node);
    case KIR_CLOSURE:
        return eval_closure(f, node, fa->type);
    case KIR_WALRUS:
        return eval_walrus(f, node);
    default:
        lo_fail_at(f, node, "`%s` is not part of what compiled code can do yet", kir_opinfo(n->op)->text);
        return val_dead();
    }
}

struct val eval(struct fn *f, uint32_t node)
{
    const struct fact *fa = fact_of(f, node);
    struct val v = val_dead();
    if (f->dead || f->lo->failed || !fa->type)
        return v;
    if (fa->has_value && fa->value)
        return val_const(f, fa->value_mod ? fa->value_mod : f->in->unit->mod, fa->value, fa->type);
    if (++f->depth > LO_DEPTH_MAX)
        lo_fail(f->lo, KILN_E_LIMIT, "expressions nest deeper than %d", LO_DEPTH_MAX);
    else
        v = dispatch(f, node);
    f->depth--;
    return f->dead ? val_dead() : v;
}

struct val eval_as(struct fn *f, uint32_t node, const struct type *t)
{
    return convert(f, eval(f, node), t);
}
