/* SPDX-License-Identifier: Apache-2.0
 * stmt.c - statements and assignment targets. */
#include "daemon/compiler/infer/box.h"
#include "daemon/compiler/lower/lo.h"

/* ---- targets ---- */

static void unpack_tuple(struct fn *f, const uint32_t *targets, uint32_t n, struct val v)
{
    uint32_t star = UINT32_MAX, items = v.t->n_items;
    for (uint32_t i = 0; i < n; i++)
        if (node_of(f, targets[i])->op == KIR_STAR)
            star = i;
    if (star == UINT32_MAX ? n != items : n - 1 > items) {
        lo_fail_at(f, targets[0], "%u values for %u targets", items, n);
        return;
    }
    for (uint32_t i = 0, at = 0; i < n && !f->dead; i++) {
        if (i != star) {
            assign_to(f, targets[i], val_item(f, v, at++));
            continue;
        }
        uint32_t count = items - (n - 1), inner = kir_arg(node_of(f, targets[i]), 0);
        const struct type *t = fact_of(f, inner)->type;
        struct val *part = lo_alloc(f->lo, count + 1, sizeof(*part));
        for (uint32_t k = 0; k < count; k++) {
            part[k] = val_item(f, v, at++);
            part[k].own = 0;
        }
        if (t && t->kind == TY_TUPLE && t->n_items == count) {
            for (uint32_t k = 0; k < count; k++)
                part[k] = convert(f, part[k], t->items[k]);
            assign_to(f, inner, val_join(f, t, part, count));
        } else {
            lo_fail_at(f, targets[i], "a starred target takes a tuple");
        }
    }
}

/* a, *b, c = items */
static void unpack_starred(struct fn *f, uint32_t node, const uint32_t *targets, uint32_t n, uint32_t star,
                           struct val v, LLVMValueRef len)
{
    const struct type *pyint = lo_type(f->lo, TY_PYINT);
    LLVMValueRef ints[2] = { lo_int(f->lo, n - 1), len };
    raise_format_if(f, LLVMBuildICmp(f->b, LLVMIntSLT, len, ints[0], ""), node, EXC(ValueError),
                    "not enough values to unpack (expected at least {}, got {})", ints, 2);
    for (uint32_t i = 0; i < n && !f->dead; i++) {
        if (i != star) {
            LLVMValueRef at = i < star ? lo_int(f->lo, i) : LLVMBuildSub(f->b, len, lo_int(f->lo, n - i), "");
            assign_to(f, targets[i], iter_item(f, v, at));
            continue;
        }
        const struct instance *callee = fact_of(f, targets[i])->callee;
        struct val args[3] = { v, val_scalar(f, pyint, lo_int(f->lo, star)),
                               val_scalar(f, pyint, lo_int(f->lo, n - 1 - star)) };
        args[0] = convert(f, v, callee->params[0]);
        assign_to(f, kir_arg(node_of(f, targets[i]), 0), emit_call(f, targets[i], callee, NULL, args));
    }
}

static void unpack_array(struct fn *f, uint32_t node, const uint32_t *targets, uint32_t n, struct val v)
{
    LLVMValueRef len = iter_length(f, v, node), ints[2] = { lo_int(f->lo, n), len };
    uint32_t star = 0;
    while (star < n && node_of(f, targets[star])->op != KIR_STAR)
        star++;
    if (star < n) {
        unpack_starred(f, node, targets, n, star, v, len);
        return;
    }
    raise_format_if(f, LLVMBuildICmp(f->b, LLVMIntSGT, len, ints[0], ""), node, EXC(ValueError),
                    "too many values to unpack (expected {})", ints, 1);
    raise_format_if(f, LLVMBuildICmp(f->b, LLVMIntSLT, len, ints[0], ""), node, EXC(ValueError),
                    "not enough values to unpack (expected {}, got {})", ints, 2);
    for (uint32_t i = 0; i < n && !f->dead; i++)
        assign_to(f, targets[i], iter_item(f, v, lo_int(f->lo, i)));
}

void assign_to(struct fn *f, uint32_t target, struct val v)
{
    const struct kir_node *n = node_of(f, target);
    if (f->dead || !v.t || f->lo->failed)
        return;
    switch (n->op) {
    case KIR_LOCAL: {
        const struct type *t = fact_of(f, target)->type;
        slot_write(f, kir_arg(n, 0), t ? t : v.t, v);
        return;
    }
    case KIR_SUBSCRIPT:
        store_subscript(f, target, v);
        return;
    case KIR_ATTR: {
        const struct kir_const *name = &f->in->unit->mod->consts[kir_arg(n, 1)];
        struct val base = eval(f, kir_arg(n, 0));
        if (base.t && base.t->kind == TY_OPTIONAL)
            base = need_value(f, base, target);
        if (!f->dead && base.t && base.t->kind == TY_OBJECT)
            object_write(f, base, target, v);
        else if (!f->dead && record_is_field(f, base, target))
            record_write(f, base, target, v);
        else if (!f->dead && base.t && box_field(base.t, name->s.p, name->s.len) >= 0)
            box_set(f, base, box_field(base.t, name->s.p, name->s.len), v);
        else if (!f->dead)
            lo_fail_at(f, target, "this attribute cannot be assigned");
        return;
    }
    case KIR_TUPLE:
    case KIR_LIST: {
        uint32_t count;
        const uint32_t *items = kir_list(n, 0, &count);
        if (++f->depth > LO_DEPTH_MAX)
            lo_fail(f->lo, KILN_E_LIMIT, "targets nest deeper than %d", LO_DEPTH_MAX);
        else if (v.t->kind == TY_TUPLE)
            unpack_tuple(f, items, count, v);
        else if (v.t->kind == TY_ARRAY || v.t->kind == TY_LIST || v.t->kind == TY_RANGE ||
                 v.t->kind == TY_ITER || v.t->kind == TY_STR || v.t->kind == TY_BYTES)
            unpack_array(f, target, items, count, v);
        else
            lo_fail_at(f, target, "this value cannot be unpacked");
        f->depth--;
        return;
    }
    default:
        lo_fail_at(f, target, "`%s` cannot be a target here", kir_opinfo(n->op)->text);
    }
}

/* Items of a value that is about to be spread over several targets must outlive the first store. */
static struct val hold_items(struct fn *f, struct val v)
{
    if (v.t && !v.own && lo_info(f->lo, v.t)->n_owner) {
        v = own_take(f, v);
        temp_hold(f, &v);
    }
    return v;
}

static void lower_assign(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    uint32_t count;
    const uint32_t *targets = kir_list(n, 1, &count);
    struct val v = eval(f, kir_arg(n, 0));
    if (f->dead || !v.t)
        return;
    if (count > 1 || node_of(f, targets[0])->op == KIR_TUPLE || node_of(f, targets[0])->op == KIR_LIST)
        v = hold_items(f, v);
    for (uint32_t i = 0; i < count && !f->dead; i++) {
        struct val one = v;
        if (i + 1 < count)
            one.own = 0;
        assign_to(f, targets[i], one);
    }
}

static void lower_augassign(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    uint32_t target = kir_arg(n, 1), value = kir_arg(n, 2);
    const struct kir_node *tn = node_of(f, target);
    if (tn->op == KIR_LOCAL) {
        struct val old = eval(f, target);
        struct val v = aug_value(f, node, old, value);
        if (!f->dead && v.t)
            slot_write(f, kir_arg(tn, 0), fact_of(f, node)->type, v);
    } else if (tn->op == KIR_SUBSCRIPT) {
        augassign_subscript(f, node, target, value);
    } else if (tn->op == KIR_ATTR) {
        struct val base = eval(f, kir_arg(tn, 0));
        if (base.t && base.t->kind == TY_OPTIONAL)
            base = need_value(f, base, target);
        if (!f->dead && base.t && base.t->kind == TY_OBJECT)
            object_augassign(f, node, target, base, value);
        else if (!f->dead && record_is_field(f, base, target))
            record_augassign(f, node, target, base, value);
        else if (!f->dead)
            lo_fail_at(f, target, "this attribute cannot be assigned");
    } else {
        lo_fail_at(f, node, "`%s` cannot be a target here", kir_opinfo(tn->op)->text);
    }
}

/* ---- control ---- */

static void lower_if(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    uint32_t other = kir_opt(n, 2);
    size_t mark = temps_mark(f);
    int known;
    LLVMValueRef c = eval_cond(f, kir_arg(n, 0), &known);
    temps_end(f, mark);
    if (f->dead)
        return;
    if (known) {
        if (known > 0)
            lower_block(f, kir_arg(n, 1));
        else if (other != KIR_NIL)
            lower_block(f, other);
        edges_apply(f, f->ctx, node, known > 0 ? EDGE_THEN : EDGE_ELSE);
        return;
    }
    LLVMBasicBlockRef yes = fn_block(f, "then"), no = fn_block(f, "else"), out = fn_block(f, "endif");
    bool reached = false;
    fn_cond(f, c, yes, no);
    for (int arm = 0; arm < 2; arm++) {
        fn_at(f, arm ? no : yes);
        edges_apply(f, f->ctx, node, arm ? EDGE_FALSE : EDGE_TRUE);
        if (!arm)
            lower_block(f, kir_arg(n, 1));
        else if (other != KIR_NIL)
            lower_block(f, other);
        edges_apply(f, f->ctx, node, arm ? EDGE_ELSE : EDGE_THEN);
        reached |= !f->dead;
        fn_br(f, out);
    }
    if (reached)
        fn_at(f, out);
    else
        LLVMDeleteBasicBlock(out);
}

static void lower_jump(struct fn *f, uint32_t node, bool is_break)
{
    if (!f->loop) {
        lo_fail_at(f, node, "jump outside of a loop");
        return;
    }
    finals_run(f, node, f->loop->final);
    if (f->dead)
        return;
    edges_apply(f, f->ctx, node, EDGE_JUMP);
    f->loop->out_used |= is_break;
    fn_br(f, is_break ? f->loop->out : f->loop->next);
}

/* `return x` of a local that owns: the reference moves, for nothing of the function runs any more. */
static bool return_moves(struct fn *f, uint32_t value, struct val *ret)
{
    const struct kir_node *n = node_of(f, value);
    const struct fact *fa = fact_of(f, value);
    if (f->final || n->op != KIR_LOCAL || fa->maybe_unset || fa->has_value || !fa->type || f->has_walrus)
        return false;
    const struct tinfo *ti = lo_info(f->lo, fa->type);
    struct slot *s = slot_of(f, kir_arg(n, 0), fa->type);
    if (!ti->n_owner || !s->owned)
        return false;
    *ret = slot_read(f, kir_arg(n, 0), fa->type);
    for (uint32_t i = 0; i < ti->n; i++)
        if (ti->role[i] == LEAF_OWNER)
            LLVMBuildStore(f->b, lo_null(f->lo), s->leaf[i]);
    *ret = convert(f, *ret, f->in->ret);
    return true;
}

static void lower_return(struct fn *f, uint32_t node)
{
    uint32_t value = kir_opt(node_of(f, node), 0);
    struct val v;
    if (value == KIR_NIL) {
        finals_run(f, node, NULL);
        if (f->dead)
            return;
        v = convert(f, val_none(f), f->in->ret);
    } else if (!return_moves(f, value, &v)) {
        v = eval_as(f, value, f->in->ret);
        if (f->dead || !v.t)
            return;
        if (f->final) { /* a finally block may bind what it came from anew */
            v = own_take(f, v);
            temp_hold(f, &v);
            finals_run(f, node, NULL);
            if (f->dead)
                return;
        }
        v = own_take(f, v);
    }
    for (uint32_t i = 0; i < v.n && !f->lo->failed; i++)
        LLVMBuildStore(f->b, v.v[i], f->ret[i]);
    fn_br(f, f->ret_bb);
}

static void lower_del(struct fn *f, uint32_t node)
{
    uint32_t n;
    const uint32_t *targets = kir_list(node_of(f, node), 0, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct kir_node *t = node_of(f, targets[i]);
        if (t->op == KIR_SUBSCRIPT) {
            call_prelude_node(f, targets[i]);
            continue;
        }
        if (t->op != KIR_LOCAL) {
            lo_fail_at(f, targets[i], "only a variable can be deleted");
            return;
        }
        uint32_t local = kir_arg(t, 0);
        for (struct slot *s = f->slots[local]; s; s = s->next)
            slot_drop(f, local, s->t);
        if (f->isset[local])
            LLVMBuildStore(f->b, lo_bool(f->lo, false), f->isset[local]);
    }
}

static void lower_stmt(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    switch (n->op) {
    case KIR_ASSIGN:
        lower_assign(f, node);
        return;
    case KIR_AUGASSIGN:
        lower_augassign(f, node);
        return;
    case KIR_EXPR: {
        const struct kir_node *e = node_of(f, kir_arg(n, 0));
        if (e->op != KIR_CONST) /* a docstring, or an ellipsis as a body */
            eval(f, kir_arg(n, 0));
        return;
    }
    case KIR_IF:
        lower_if(f, node);
        return;
    case KIR_WHILE:
        lower_while(f, node);
        return;
    case KIR_FOR:
    case KIR_PARFOR:
        lower_for(f, node);
        return;
    case KIR_BREAK:
        lower_jump(f, node, true);
        return;
    case KIR_CONTINUE:
        lower_jump(f, node, false);
        return;
    case KIR_RETURN:
        lower_return(f, node);
        return;
    case KIR_RAISE:
        lower_raise(f, node);
        return;
    case KIR_ASSERT:
        lower_assert(f, node);
        return;
    case KIR_DEL:
        lower_del(f, node);
        return;
    case KIR_PASS:
        return;
    case KIR_TRY:
        lower_try(f, node);
        return;
    case KIR_BLOCK:
        lower_block(f, node);
        return;
    default:
        lo_fail_at(f, node, "`%s` is not part of what compiled code can do yet", kir_opinfo(n->op)->text);
    }
}

void lower_block(struct fn *f, uint32_t node)
{
    uint32_t n;
    const uint32_t *items = kir_list(node_of(f, node), 0, &n);
    if (++f->depth > LO_DEPTH_MAX)
        lo_fail(f->lo, KILN_E_LIMIT, "statements nest deeper than %d", LO_DEPTH_MAX);
    for (uint32_t i = 0; i < n && !f->dead && !f->lo->failed; i++) {
        if (!fact_of(f, items[i])->type) /* inference did not get here: control does not either */
            break;
        size_t mark = temps_mark(f);
        lower_stmt(f, items[i]);
        temps_end(f, mark);
    }
    f->depth--;
}
