/* SPDX-License-Identifier: Apache-2.0
 * stmt.c - statements and assignment targets. */
#include "daemon/compiler/infer/box.h"
#include "daemon/compiler/infer/pass.h"

/* ---- targets ---- */

static void unpack_tuple(struct walk *w, uint32_t target, const uint32_t *targets, uint32_t n,
                         const struct type *t, uint32_t value)
{
    uint32_t star = UINT32_MAX, at = 0;

    for (uint32_t i = 0; i < n; i++)
        if (node_at(w, targets[i])->op == KIR_STAR)
            star = i;
    if (star == UINT32_MAX ? n != t->n_items : n - 1 > t->n_items) {
        mistake(w, target, NULL, "%u values for %u targets", t->n_items, n);
        for (uint32_t i = 0; i < n; i++) /* one mistake is enough: what follows is not told again */
            if (i != star)
                assign(w, targets[i], w->p->bottom, value);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct type *rest;
        if (i != star) {
            assign(w, targets[i], t->items[at++], value);
            continue;
        }
        rest = type_tuple(w->p->types, t->items + at, t->n_items - (n - 1), 0);
        at += t->n_items - (n - 1);
        if (!rest) {
            fail_memory(w->p);
            return;
        }
        fact_for(w, targets[i])->type = rest;
        assign(w, kir_arg(node_at(w, targets[i]), 0), rest, value);
    }
}

/* *rest of a list, array or text: the list that the prelude makes of (value, first, how many follow). */
static void take_rest(struct walk *w, uint32_t star, const struct type *t, uint32_t value)
{
    const struct type *count = w->p->pyint, *rest = w->p->bottom;
    struct fact *f = fact_for(w, star);
    struct arg *args = arena_new_array(w->p->a, 3, struct arg);
    struct call c = { .node = star, .f = f, .name = "kiln.rest", .args = args, .n_args = 3 };

    if (!args) {
        fail_memory(w->p);
        return;
    }
    *f = (struct fact){ .type = rest };
    args[0] = (struct arg){ .from = ARG_NODE, .type = settled(w, t), .node = value };
    args[1] = args[2] = (struct arg){ .from = ARG_NONE, .type = count };
    if (!is_bottom(t) && !is_bottom(args[0].type))
        call_prelude(w, &c, c.name, &rest);
    fact_for(w, star)->type = rest;
    assign(w, kir_arg(node_at(w, star), 0), rest, value);
}

static void unpack(struct walk *w, uint32_t target, const struct type *t, uint32_t value)
{
    uint32_t n;
    const uint32_t *targets = kir_list(node_at(w, target), 0, &n);
    const struct type *item;

    fact_for(w, target)->type = t;
    if (t->kind == TY_TUPLE) {
        unpack_tuple(w, target, targets, n, t, value);
        return;
    }
    item = is_bottom(t) ? t : item_type(w, value, t);
    w->w->raises = true; /* the number of items is checked at run time */
    for (uint32_t i = 0; i < n; i++) {
        if (node_at(w, targets[i])->op == KIR_STAR)
            take_rest(w, targets[i], t, value);
        else
            assign(w, targets[i], item, value);
    }
}

/* A variable whose container was widened by what was done to it here. */
void grow_local(struct walk *w, uint32_t node, const struct type *t)
{
    const struct kir_node *n = node_at(w, node);

    if (n->op == KIR_LOCAL && is_container(t))
        w->s.types[kir_arg(n, 0)] = t;
}

/* x[i] = v of what is no array: true where it is done, or is a mistake. */
static bool store_by_protocol(struct walk *w, uint32_t target, const struct type *t, uint32_t value)
{
    const struct kir_node *n = node_at(w, target);
    const uint32_t nodes[3] = { kir_arg(n, 0), kir_arg(n, 1), value };
    const struct type *base = fact_for(w, nodes[0])->type, *index = fact_for(w, nodes[1])->type, *types[3],
                      *ret;
    struct arg args[3] = { { .type = base }, { .type = index }, { .type = t } };
    struct call c = { .node = target, .args = args, .n_args = 3 };

    if (base->kind == TY_LIST && index->kind != TY_SLICE) {
        base = container_grow(w, value, base, t, NULL);
        grow_local(w, nodes[0], base);
        fact_for(w, target)->type = base->kind == TY_LIST ? base->elem : base;
        return true;
    }
    if (base->kind == TY_ARRAY && !indexes_elements(index))
        return false;
    if (!protocol_has(w, base, "__setitem__"))
        return false;
    if (base->kind == TY_LIST) /* a slice: the items of t go in */
        base = is_bottom(t) ? base : container_grow(w, value, base, item_type(w, value, t), NULL);
    else
        base = protocol_grow(w, &c, base, "__setitem__");
    grow_local(w, nodes[0], base);
    types[0] = settled(w, base);
    types[1] = settled(w, index);
    types[2] = settled(w, t);
    if (base->kind == TY_DICT) { /* the key and the value as the dict has them */
        types[1] = is_bottom(types[0]) ? types[0] : base->items[0];
        types[2] = is_bottom(types[0]) ? types[0] : base->items[1];
    }
    protocol_call(w, target, fact_for(w, target), base, "__setitem__", nodes, types, 3, &ret);
    fact_for(w, target)->type = w->p->none;
    return true;
}

/* A value of type t into an element, a field or a view. */
static void store_at(struct walk *w, const struct type *place, const struct type *t, uint32_t value)
{
    if (place->kind == TY_ARRAY) { /* a view: filled by a number, or by an array that broadcasts */
        w->w->raises = true;
        if (t->kind == TY_ARRAY && t->ndim > place->ndim)
            mistake(w, value, NULL, "an array of %u dimensions is stored where %u are", t->ndim, place->ndim);
        else if (!assignable(w->p, t->kind == TY_ARRAY ? t->elem : t, place->elem))
            mistake(w, value, NULL, "%s can't be stored in %s", show(w, t), show(w, place));
        return;
    }
    if (t->kind == TY_OPTIONAL)
        w->w->raises = true;
    if (!assignable(w->p, t, place))
        mistake(w, value, type_is_complex(t) ? "take its .real part" : NULL,
                "%s can't be stored in an array of %s", show(w, t), show(w, place));
}

static void store(struct walk *w, uint32_t target, const struct type *t, uint32_t value)
{
    struct fact *f = fact_for(w, target);
    const struct type *place;

    *f = (struct fact){ .type = w->p->bottom };
    place = subscript(w, target, f, true);
    fact_for(w, target)->type = place;
    if (is_bottom(place) || is_bottom(t)) {
        const struct type *base = fact_for(w, kir_arg(node_at(w, target), 0))->type;
        if (base && base->kind == TY_LIST && !is_bottom(t)) /* of nothing yet */
            grow_local(w, kir_arg(node_at(w, target), 0), container_grow(w, value, base, t, NULL));
        return;
    }
    if (store_by_protocol(w, target, t, value))
        return;
    store_at(w, place, t, value);
}

static void store_attribute(struct walk *w, uint32_t target, const struct type *t, uint32_t value)
{
    const struct kir_node *n = node_at(w, target);
    const struct type *base = expr(w, kir_arg(n, 0)), *fields;
    const struct kir_const *name = const_of(w, kir_arg(n, 1));
    int field = box_field(base, name->s.p, name->s.len);

    *fact_for(w, target) = (struct fact){ .type = w->p->bottom };
    if (is_bottom(base))
        return;
    if (base->kind == TY_OPTIONAL && base->elem->kind == TY_OBJECT) { /* None is an error when it comes to that */
        w->w->raises = true;
        base = base->elem;
    }
    if (base->kind == TY_OBJECT) {
        object_store(w, target, base, name->s.p, t, value);
        return;
    }
    if (is_of_records(base)) {
        fields = record_attr_place(w, target);
        fact_for(w, target)->type = fields;
        if (!is_bottom(fields) && !is_bottom(t))
            store_at(w, fields, t, value);
        return;
    }
    if (!w->w->in.unit->prelude || field < 0) {
        mistake(w, target, NULL, "attributes of %s can't be assigned", show(w, base));
        return;
    }
    fields = box_fields(w->p->types, base);
    if (!fields)
        fail_memory(w->p);
    else if (!assignable(w->p, settled(w, t), fields->items[field]))
        mistake(w, value, NULL, "%s can't be stored in %s", show(w, t), show(w, fields->items[field]));
    else
        fact_for(w, target)->type = fields->items[field];
}

void assign(struct walk *w, uint32_t target, const struct type *t, uint32_t value)
{
    const struct kir_node *n = node_at(w, target);

    switch (n->op) {
    case KIR_LOCAL:
        *fact_for(w, target) = (struct fact){ .type = t };
        bind_local(w, kir_arg(n, 0), t, target);
        break;
    case KIR_TUPLE:
    case KIR_LIST:
        unpack(w, target, t, value);
        break;
    case KIR_SUBSCRIPT:
        store(w, target, t, value);
        break;
    case KIR_ATTR:
        store_attribute(w, target, t, value);
        break;
    case KIR_FREE:
        mistake(w, target, "return the value, or use an array of one element",
                "assigning a variable of an enclosing function is not compiled by this version");
        break;
    default:
        mistake(w, target, NULL, "this can't be assigned to");
        break;
    }
}

/* A variable that is assigned a text, or a tuple with one, has it known: names of fields are used so. */
static void know_text(struct walk *w, uint32_t local, uint32_t value)
{
    const struct fact *f = fact_for(w, value);
    const struct kir_const *k = f->has_value && f->value_mod != w->w->in.unit->mod ? NULL : known(w, value);
    bool text = k && k->kind == KIR_K_STR;

    for (uint32_t i = 0; k && k->kind == KIR_K_TUPLE && i < k->n_items; i++)
        text |= const_of(w, k->items[i])->kind == KIR_K_STR;
    if (text)
        know_local(w, local, k);
}

/* ---- statements ---- */

static void assignment(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t count;
    const uint32_t *targets = kir_list(n, 1, &count);
    const struct type *t = expr(w, kir_arg(n, 0));

    for (uint32_t i = 0; i < count; i++) {
        assign(w, targets[i], t, kir_arg(n, 0));
        if (node_at(w, targets[i])->op == KIR_LOCAL)
            know_text(w, kir_arg(node_at(w, targets[i]), 0), kir_arg(n, 0));
    }
}

/* x[i] op= v of a dict and the like: read by "__getitem__", written by "__setitem__". */
static bool augmented_item(struct walk *w, uint32_t node, uint32_t target, uint32_t value, enum kir_binary op,
                           const struct type *v)
{
    const struct kir_node *n = node_at(w, target);
    const uint32_t nodes[3] = { kir_arg(n, 0), kir_arg(n, 1), value };
    const struct type *base = settled(w, fact_for(w, nodes[0])->type),
                      *types[3] = { base, settled(w, fact_for(w, nodes[1])->type) }, *old, *t, *ret;
    struct fact *f = fact_for(w, target), *whole = fact_for(w, node);
    const struct instance *getter;

    if (is_bottom(base) || !protocol_has(w, base, "__getitem__") || !protocol_has(w, base, "__setitem__"))
        return false;
    if (base->kind == TY_DICT)
        types[1] = base->items[0];
    protocol_call(w, target, f, base, "__getitem__", nodes, types, 2, &old);
    getter = f->callee;
    t = is_bottom(old) || is_bottom(v) ? w->p->bottom
                                       : binary_type(w, node, whole, op, target, value, old, v);
    whole = fact_for(w, node);
    whole->type = t;
    if (is_bottom(t))
        return true;
    types[2] = base->kind == TY_DICT ? base->items[1] : t;
    if (!assignable(w->p, t, types[2]))
        mistake(w, node, NULL, "the result, %s, can't be stored in %s", show(w, t), show(w, base));
    protocol_call(w, target, fact_for(w, target), base, "__setitem__", nodes, types, 3, &ret);
    f = fact_for(w, target);
    f->getter = getter;
    f->type = old;
    return true;
}

/* x.name op= v: what is read. */
static const struct type *attribute_place(struct walk *w, uint32_t target)
{
    const struct kir_node *n = node_at(w, target);
    const struct type *base = expr(w, kir_arg(n, 0));

    if (base->kind == TY_OPTIONAL && base->elem->kind == TY_OBJECT) {
        w->w->raises = true;
        base = base->elem;
    }
    return base->kind == TY_OBJECT ? object_augmented(w, target, base, const_of(w, kir_arg(n, 1))->s.p)
                                   : record_attr_place(w, target);
}

/* The result of x.name op= v goes back, into the field or to the setter. */
static void store_result(struct walk *w, uint32_t target, const struct type *t)
{
    struct fact *f = fact_for(w, target);
    const struct type *base = fact_for(w, kir_arg(node_at(w, target), 0))->type, *old = f->type;
    const struct instance *getter = f->getter;

    *f = (struct fact){ .type = w->p->bottom };
    object_store(w, target, base->kind == TY_OPTIONAL ? base->elem : base,
                 const_of(w, kir_arg(node_at(w, target), 1))->s.p, t, target);
    f = fact_for(w, target);
    f->getter = getter;
    f->type = old;
}

static void augmented(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t target = kir_arg(n, 1), value = kir_arg(n, 2);
    enum kir_binary op = (enum kir_binary)kir_arg(n, 0);
    const struct kir_node *tn = node_at(w, target);
    const struct type *old, *v, *t;
    struct fact *f;

    if (tn->op == KIR_LOCAL) {
        old = expr(w, target);
    } else if (tn->op == KIR_SUBSCRIPT) {
        *fact_for(w, target) = (struct fact){ .type = w->p->bottom };
        old = subscript(w, target, fact_for(w, target), true);
        fact_for(w, target)->type = old;
    } else if (tn->op == KIR_ATTR) {
        old = attribute_place(w, target);
    } else {
        mistake(w, target, NULL, "this can't be changed in place");
        return;
    }
    v = expr(w, value);
    f = fact_for(w, node);
    if (old->kind == TY_NONE && tn->op == KIR_SUBSCRIPT && augmented_item(w, node, target, value, op, v))
        return;
    if (old->kind == TY_ARRAY || old->kind == TY_OBJECT || (is_container(old) && (tn->op == KIR_LOCAL || tn->op == KIR_ATTR)))
        t = inplace_type(w, node, f, op, target, value, old, v);
    else
        t = binary_type(w, node, f, op, target, value, old, v);
    f->type = t;
    if (tn->op == KIR_LOCAL) {
        bind_local(w, kir_arg(tn, 0), t, node);
    } else if (tn->op == KIR_ATTR && fact_for(w, kir_arg(tn, 0))->type->kind != TY_RECORD && !is_bottom(t) &&
               !is_bottom(old)) {
        store_result(w, target, t);
    } else if (!is_bottom(t) && !is_bottom(old) && old->kind != TY_ARRAY && !assignable(w->p, t, old)) {
        mistake(w, node, NULL, "the result, %s, can't be stored in an array of %s", show(w, t), show(w, old));
    }
}

static void if_statement(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t other = kir_opt(n, 2);
    int truth = cond(w, kir_arg(n, 0));
    struct state then_state, else_state, out;

    if (truth) {
        if (truth > 0)
            block(w, kir_arg(n, 1));
        else if (other != KIR_NIL)
            block(w, other);
        return;
    }
    else_state = state_copy(w, &w->s);
    narrow(w, node, kir_arg(n, 0), true);
    block(w, kir_arg(n, 1));
    then_state = w->s;
    w->s = else_state;
    narrow(w, node, kir_arg(n, 0), false);
    if (other != KIR_NIL)
        block(w, other);
    else_state = w->s;
    out = state_copy(w, &then_state);
    state_join(w, &out, &else_state);
    edges_add(w, w->context, node, EDGE_THEN, &then_state, &out);
    edges_add(w, w->context, node, EDGE_ELSE, &else_state, &out);
    w->s = out;
}

static void return_statement(struct walk *w, uint32_t node)
{
    uint32_t value = kir_opt(node_at(w, node), 0);
    const struct type *t = value == KIR_NIL ? w->p->none : expr(w, value), *joined;

    leave_through(w, node, NULL);
    if (w->s.dead) /* a finally block went elsewhere */
        return;
    w->w->ends = true;
    t = settled(w, t);
    if (!is_bottom(t)) {
        joined = w->w->returns ? join_types(w->p, w->w->ret, t) : t;
        if (!joined) {
            mistake(w, node, "return one type on every path", "this returns %s", show(w, t));
            note_here(w, last_mistake(w), w->w->ret_node, "and this returns %s", show(w, w->w->ret));
        } else {
            if (!w->w->returns || joined != w->w->ret)
                w->w->ret_node = node;
            w->w->returns = true;
            w->w->ret = joined;
        }
    }
    w->s.dead = true;
}

static void raise_statement(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t value = kir_opt(n, 0), cause = kir_opt(n, 1);
    const struct type *t;

    w->w->raises = true;
    if (value == KIR_NIL) {
        if (!w->handling)
            mistake(w, node, NULL, "'raise' alone needs an exception that is being handled");
    } else {
        const struct kir_node *made = node_at(w, value);
        uint32_t n_args = 0;
        const uint32_t *args = made->op == KIR_CALL ? kir_list(made, 1, &n_args) : NULL;
        w->message = n_args ? args[0] + 1 : 0;
        t = expr(w, value);
        w->message = 0;
        if (!is_bottom(t) && t->kind != TY_EXCEPTION &&
            !(t->kind == TY_LIBRARY && is_exception_name(t->name + (t->name[0] == 'b' ? 9 : 0))))
            mistake(w, value, NULL, "only an exception class, or a call of one, can be raised, not %s",
                    show(w, t));
    }
    if (cause != KIR_NIL)
        expr(w, cause);
    w->s.dead = true;
}

static void assert_statement(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t message = kir_opt(n, 1);
    int truth = cond(w, kir_arg(n, 0));

    if (truth > 0)
        return;
    w->w->raises = true;
    w->message = message + 1; /* KIR_NIL + 1 is 0 */
    if (message != KIR_NIL)
        expr(w, message);
    w->message = 0;
    if (truth < 0)
        w->s.dead = true;
}

static void delete_item(struct walk *w, uint32_t target)
{
    const struct kir_node *n = node_at(w, target);
    const uint32_t nodes[2] = { kir_arg(n, 0), kir_arg(n, 1) };
    const struct type *base = expr(w, nodes[0]),
                      *types[2] = { settled(w, base), settled(w, expr(w, nodes[1])) }, *t;

    *fact_for(w, target) = (struct fact){ .type = w->p->none };
    if (is_bottom(base) || is_bottom(types[1]))
        return;
    if (!protocol_has(w, base, "__delitem__"))
        mistake(w, target, NULL, "items of %s can't be deleted", show(w, base));
    else
        protocol_call(w, target, fact_for(w, target), base, "__delitem__", nodes, types, 2, &t);
    fact_for(w, target)->type = w->p->none;
}

static void delete_statement(struct walk *w, uint32_t node)
{
    uint32_t n;
    const uint32_t *targets = kir_list(node_at(w, node), 0, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (node_at(w, targets[i])->op == KIR_SUBSCRIPT) {
            delete_item(w, targets[i]);
            continue;
        }
        if (node_at(w, targets[i])->op != KIR_LOCAL) {
            mistake(w, targets[i], NULL, "only a variable can be deleted");
            continue;
        }
        fact_for(w, targets[i])->type = w->p->none;
        w->s.types[kir_arg(node_at(w, targets[i]), 0)] = NULL;
        for (struct guard *g = w->guard; g; g = g->up)
            g->seen->unset[kir_arg(node_at(w, targets[i]), 0)] = true;
    }
}

static void jump(struct walk *w, uint32_t node, bool is_break)
{
    struct jump *j = arena_new(w->p->a, struct jump);
    struct jump **list = is_break ? &w->loop->breaks : &w->loop->continues;

    if (!j) {
        fail_memory(w->p);
        return;
    }
    leave_through(w, node, w->loop->final);
    if (w->s.dead)
        return;
    *j = (struct jump){ node, w->context, state_copy(w, &w->s), *list };
    *list = j;
    w->s.dead = true;
}

static void statement(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    struct fact *f = fact_for(w, node);

    *f = (struct fact){ .type = w->p->none, .contexts = f->contexts, .n_contexts = f->n_contexts };
    switch (n->op) {
    case KIR_ASSIGN:
        assignment(w, node);
        break;
    case KIR_AUGASSIGN:
        augmented(w, node);
        break;
    case KIR_EXPR:
        expr(w, kir_arg(n, 0));
        break;
    case KIR_IF:
        if_statement(w, node);
        break;
    case KIR_WHILE:
        while_loop(w, node);
        break;
    case KIR_FOR:
    case KIR_PARFOR:
        for_loop(w, node);
        break;
    case KIR_BREAK:
        jump(w, node, true);
        break;
    case KIR_CONTINUE:
        jump(w, node, false);
        break;
    case KIR_RETURN:
        return_statement(w, node);
        break;
    case KIR_RAISE:
        raise_statement(w, node);
        break;
    case KIR_ASSERT:
        assert_statement(w, node);
        break;
    case KIR_DEL:
        delete_statement(w, node);
        break;
    case KIR_PASS:
        break;
    case KIR_TRY:
        try_statement(w, node);
        break;
    case KIR_BLOCK:
        block(w, node);
        break;
    default:
        mistake(w, node,
                n->op == KIR_WITH ? "only objmode can be entered: with objmode(y=\"float64\")" : NULL,
                "'%s' is not compiled by this version", kir_opinfo(n->op)->text);
    }
}

void block(struct walk *w, uint32_t node)
{
    uint32_t n;
    const uint32_t *items = kir_list(node_at(w, node), 0, &n);

    fact_for(w, node)->type = w->p->none;
    if (++w->nesting > INFER_MAX_NESTING) {
        mistake(w, node, "move the inner part to a function", "statements are nested more than %d deep",
                INFER_MAX_NESTING);
        w->s.dead = true;
    }
    for (uint32_t i = 0; i < n && !w->s.dead && !w->p->failed; i++)
        statement(w, items[i]);
    w->nesting--;
}
