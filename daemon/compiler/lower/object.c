/* SPDX-License-Identifier: Apache-2.0
 * object.c - objects of a jitclass in memory: as dicts and sets { the allocator's release; the fields }, see
 * list.c.
 *
 * A new one is all zeroes: numbers are 0, texts empty, optionals None. What can't be used so, a list for
 * example, is an AttributeError when it is read before it was assigned. */
#include <string.h>

#include "daemon/compiler/infer/box.h"
#include "daemon/compiler/lower/lo.h"

const struct type *lo_fields(struct lo *lo, const struct type *t)
{
    return t->kind == TY_OBJECT ? object_fields(lo->p->types, lo->p->user->mod, t)
                                : box_fields(lo->p->types, t);
}

static const char *attr_name(struct fn *f, uint32_t node)
{
    return f->in->unit->mod->consts[kir_arg(node_of(f, node), 1)].s.p;
}

/* Some pointer of a value is NULL that never is in a value that was assigned. */
static LLVMValueRef is_unset(struct fn *f, struct val v)
{
    LLVMValueRef any = lo_bool(f->lo, false);
    uint32_t leaf = v.t->kind == TY_RECORD ? 1 : 0; /* a record's owner may be NULL, its data not */
    if (v.t->kind != TY_TUPLE)
        return object_unset(v.t) ? LLVMBuildIsNull(f->b, v.v[leaf], "") : any;
    for (uint32_t i = 0; i < v.t->n_items; i++)
        any = LLVMBuildOr(f->b, any, is_unset(f, val_item(f, v, i)), "");
    return any;
}

static struct val field_value(struct fn *f, uint32_t node, struct val base, int field)
{
    struct val v = box_peek(f, base, field);
    const struct kir_usertype *u = &f->lo->p->user->mod->usertypes[base.t->index - 1];
    if (object_unset(v.t)) {
        const char *message =
            arena_printf(f->lo->a, "'%s' object has no attribute '%s'", u->name, u->field_names[field]);
        raise_if(f, is_unset(f, v), node, EXC(AttributeError), message);
    }
    return v;
}

bool object_is_field(struct fn *f, struct val base, uint32_t node)
{
    return base.t && base.t->kind == TY_OBJECT &&
           object_field(f->lo->p->user->mod, base.t, attr_name(f, node)) >= 0;
}

struct val object_read(struct fn *f, struct val base, uint32_t node)
{
    struct val v = field_value(f, node, base, object_field(f->lo->p->user->mod, base.t, attr_name(f, node)));
    if (!f->dead && lo_info(f->lo, v.t)->n_owner) {
        v = own_take(f, v);
        temp_hold(f, &v);
    }
    return v;
}

void object_write(struct fn *f, struct val base, uint32_t node, struct val v)
{
    const struct fact *fa = fact_of(f, node);
    if (fa->callee) { /* a property */
        struct val args[2] = { base, convert(f, v, fa->callee->params[1]) };
        if (!f->dead)
            emit_call(f, node, fa->callee, NULL, args);
        return;
    }
    int field = object_field(f->lo->p->user->mod, base.t, attr_name(f, node));
    bool optional = lo_fields(f->lo, base.t)->items[field]->kind == TY_OPTIONAL;
    v = optional ? v : need_value(f, v, node);
    if (!f->dead)
        box_set(f, base, field, v);
}

void object_augassign(struct fn *f, uint32_t aug, uint32_t target, struct val base, uint32_t value_node)
{
    const struct fact *fa = fact_of(f, target);
    struct val old =
                   fa->getter ? emit_call(f, target, fa->getter, NULL, &base) : object_read(f, base, target),
               v;
    if (f->dead)
        return;
    v = aug_value(f, aug, old, value_node);
    if (!f->dead && v.t)
        object_write(f, base, target, v);
}

/* ---- a field as what is indexed ---- */

/* Evaluating it runs no code that could assign a field. */
static bool is_quiet(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    uint32_t count = 0;
    const uint32_t *items;
    if (fact_of(f, node)->callee)
        return false;
    switch (n->op) {
    case KIR_CONST:
    case KIR_LOCAL:
    case KIR_FREE:
        return true;
    case KIR_ATTR:
        return is_quiet(f, kir_arg(n, 0));
    case KIR_UNARY:
        return is_quiet(f, kir_arg(n, 1));
    case KIR_BINARY:
        return is_quiet(f, kir_arg(n, 1)) && is_quiet(f, kir_arg(n, 2));
    case KIR_SUBSCRIPT:
        return is_quiet(f, kir_arg(n, 0)) && is_quiet(f, kir_arg(n, 1));
    case KIR_TUPLE:
        items = kir_list(n, 0, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!is_quiet(f, items[i]))
                return false;
        return true;
    default:
        return false;
    }
}

struct val eval_indexed(struct fn *f, uint32_t subscript, uint32_t value_node)
{
    const struct kir_node *n = node_of(f, subscript);
    uint32_t node = kir_arg(n, 0);
    const struct kir_node *bn = node_of(f, node);
    if (bn->op == KIR_ATTR && !fact_of(f, subscript)->callee && !fact_of(f, node)->callee &&
        is_quiet(f, kir_arg(n, 1)) && (value_node == KIR_NIL || is_quiet(f, value_node))) {
        const struct type *owner = fact_of(f, kir_arg(bn, 0))->type;
        owner = owner && owner->kind == TY_OPTIONAL ? owner->elem : owner;
        if (owner && owner->kind == TY_OBJECT && is_quiet(f, kir_arg(bn, 0))) {
            struct val base = need_value(f, eval(f, kir_arg(bn, 0)), node);
            if (!f->dead && object_is_field(f, base, node))
                return need_value(
                    f,
                    field_value(f, node, base, object_field(f->lo->p->user->mod, base.t, attr_name(f, node))),
                    subscript);
            return val_dead();
        }
    }
    return need_value(f, eval(f, node), subscript);
}
