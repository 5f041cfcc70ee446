/* SPDX-License-Identifier: Apache-2.0
 * expr.c - types of expressions: one function a node kind, and what is known of values and truths. */
#include <string.h>

#include "daemon/compiler/infer/box.h"
#include "daemon/compiler/infer/pass.h"

/* ---- what is known ---- */

const struct kir_const *const_of(const struct walk *w, uint32_t index)
{
    return &w->w->in.unit->mod->consts[index];
}

const struct kir_const *known(struct walk *w, uint32_t node)
{
    const struct fact *f = fact_for(w, node);
    const struct kir_node *n = node_at(w, node);

    if (f->has_value)
        return f->value;
    return n->op == KIR_CONST ? const_of(w, kir_arg(n, 0)) : NULL;
}

bool known_int(struct walk *w, uint32_t node, int64_t *ret)
{
    const struct kir_const *k = known(w, node);

    if (k && k->kind == KIR_K_ENUM && w->p->user->mod->usertypes[k->usertype].kind == KIR_UT_INTENUM)
        k = enum_value(w->p->user->mod, k);
    if (!k || (k->kind != KIR_K_INT && k->kind != KIR_K_BOOL) || (k->kind == KIR_K_INT && k->i.is_unsigned))
        return false;
    *ret = k->kind == KIR_K_BOOL ? k->b : (int64_t)k->i.bits;
    return true;
}

static const struct type *know(struct walk *w, struct fact *f, struct kir_const k, const struct type *t)
{
    struct kir_const *c = arena_new(w->p->a, struct kir_const);

    if (!c)
        return fail_memory(w->p);
    *c = k;
    f->has_value = true;
    f->value = c;
    f->value_mod = w->w->in.unit->mod;
    return t;
}

const struct type *know_bool(struct walk *w, struct fact *f, bool value)
{
    f->truth = value ? 1 : -1;
    return know(w, f, (struct kir_const){ .kind = KIR_K_BOOL, .b = value }, w->p->boolean);
}

const struct type *know_int(struct walk *w, struct fact *f, int64_t value)
{
    return know(w, f, (struct kir_const){ .kind = KIR_K_INT, .i = { (uint64_t)value, false } },
                numba(w) ? scalar(w, TY_INT64) : w->p->pyint);
}

bool is_pure(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    const struct fact *f = fact_for(w, node);
    uint32_t count;
    const uint32_t *items;

    if (f->has_value)
        return true;
    switch (n->op) {
    case KIR_CONST:
    case KIR_FREE:
    case KIR_ENV:
    case KIR_FUNC:
    case KIR_LIB:
        return true;
    case KIR_LOCAL:
        return !f->maybe_unset;
    case KIR_ATTR:
        return is_pure(w, kir_arg(n, 0));
    case KIR_TUPLE:
        items = kir_list(n, 0, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!is_pure(w, items[i]))
                return false;
        return true;
    case KIR_CALL:
        items = kir_list(n, 1, &count);
        return (f->intrinsic == LIB_DTYPE_OF || f->intrinsic == LIB_N_FINFO || f->intrinsic == LIB_N_IINFO) && count == 1 &&
               is_pure(w, items[0]);
    default:
        return false; /* the rest may raise or call; a load more costs nothing */
    }
}

/* ---- constants ---- */

static const struct type *text_type(struct walk *w, const struct kir_const *k)
{
    const struct type *t;
    struct kiln_err e = KILN_ERR_INIT;

    return type_parse(w->p->types, k->s.p, k->s.len, &t, &e) == 0 && type_is_valid(w->p, t) ? t : NULL;
}

static const struct type *tuple_const(struct walk *w, const struct kir_module *mod, const struct kir_const *k)
{
    const struct type **items = arena_new_array(w->p->a, k->n_items + 1, const struct type *);
    const struct type *t;

    if (!items)
        return fail_memory(w->p);
    for (uint32_t i = 0; i < k->n_items; i++) {
        items[i] = const_type(w, mod, &mod->consts[k->items[i]]);
        if (!items[i])
            return NULL;
    }
    t = type_tuple(w->p->types, items, k->n_items, k->kind == KIR_K_NAMEDTUPLE ? k->usertype + 1 : 0);
    return t ? t : fail_memory(w->p);
}

const struct type *const_type(struct walk *w, const struct kir_module *mod, const struct kir_const *k)
{
    struct pass *p = w->p;
    const struct type *t = NULL;

    switch (k->kind) {
    case KIR_K_NONE:
        return p->none;
    case KIR_K_BOOL:
        return p->boolean;
    case KIR_K_INT:
        return k->i.is_unsigned ? scalar(w, TY_UINT64) : numba(w) ? scalar(w, TY_INT64) : p->pyint;
    case KIR_K_FLOAT:
        return numba(w) ? scalar(w, TY_FLOAT64) : p->pyfloat;
    case KIR_K_COMPLEX:
        return numba(w) ? scalar(w, TY_COMPLEX128) : p->pycomplex;
    case KIR_K_STR:
        return p->str;
    case KIR_K_BYTES:
        return scalar(w, TY_BYTES);
    case KIR_K_ELLIPSIS:
        return scalar(w, TY_ELLIPSIS);
    case KIR_K_TUPLE:
    case KIR_K_NAMEDTUPLE:
        return tuple_const(w, mod, k);
    case KIR_K_SCALAR:
        return text_type(w, k);
    case KIR_K_TYPE:
        t = text_type(w, k);
        return t ? type_of(p->types, TY_TYPEVALUE, t) : NULL;
    case KIR_K_ARRAY:
        t = text_type(w, k);
        return t ? type_array(p->types, t, k->n_items, 'C', true, false) : NULL;
    case KIR_K_ENUM:
    case KIR_K_USERTYPE:
        return usertype_const(w, mod, k);
    case KIR_K_EXCEPTION:
        return type_named(p->types, TY_EXCEPTION, k->s.p, NULL, NULL, 0);
    default:
        return NULL;
    }
}

/* ---- names ---- */

static void conflict_note(struct walk *w, struct diagnostic *d, const struct type *t, uint32_t where)
{
    if (where == WHERE_PARAM)
        note_here(w, d, w->w->in.fn->n_nodes - 1, "as a parameter it is %s", show(w, t));
    else
        note_here(w, d, where, "it is %s here", show(w, t));
}

static void conflict_notes(struct walk *w, uint32_t local)
{
    const struct conflict *c = &w->w->conflicts[local];
    struct diagnostic *d = last_mistake(w);

    if (!c->a || !d)
        return;
    conflict_note(w, d, c->a, c->a_node);
    conflict_note(w, d, c->b, c->b_node);
}

/* An inner function that was made here, with what the variables that it captured hold now: they are cells.
 * Where one holds nothing (or two things), it stays as it was made. */
static const struct type *current_closure(struct walk *w, struct fact *f, const struct type *t)
{
    uint32_t node = closure_node(w->w->in.fn, t, w->w->in.unit->prelude), n_locals, n_free;
    const uint32_t *locals;
    const struct type **captures, *now;

    if (node == KIR_NIL)
        return t;
    locals = kir_list(node_at(w, node), 1, &n_locals);
    kir_list(node_at(w, node), 2, &n_free);
    captures = arena_new_array(w->p->a, t->n_items + 1, const struct type *);
    if (!captures || n_locals + n_free != t->n_items)
        return captures ? t : fail_memory(w->p);
    for (uint32_t i = 0; i < t->n_items; i++) {
        const struct type *held = i < n_locals ? w->s.types[locals[i]] : t->items[i];
        captures[i] = held ? settled(w, held) : NULL;
        if (!held || held->kind == TY_CONFLICT || is_bottom(captures[i]) ||
            (i < n_locals && w->s.unset[locals[i]]))
            return t;
    }
    now = type_function(w->p->types, t->prelude, t->index, captures, t->n_items);
    f->current = true;
    return now ? now : fail_memory(w->p);
}

static const struct type *local(struct walk *w, uint32_t node, struct fact *f)
{
    uint32_t l = kir_arg(node_at(w, node), 0);
    const struct type *t = w->s.types[l];

    if (!t)
        return mistake(w, node, "assign to it first", "this variable has no value yet");
    if (t->kind == TY_CONFLICT) {
        struct conflict *c = &w->w->conflicts[l];
        bool ints = c->a && type_is_integer(c->a) && type_is_integer(c->b);
        if (c->said)
            return w->p->bottom;
        c->said = w->emit;
        mistake(w, node,
                ints ? "convert one of them, for example np.int64(...)"
                     : "use another variable, or convert one of them",
                "this variable has a different type on two paths that meet before this line");
        conflict_notes(w, l);
        return w->p->bottom;
    }
    if (w->s.known && w->s.known[l] && !w->s.unset[l]) {
        f->has_value = true;
        f->value = w->s.known[l];
        f->value_mod = w->w->in.unit->mod;
    }
    f->maybe_unset = w->s.unset[l];
    w->w->raises |= f->maybe_unset;
    return t->kind == TY_FUNCTION && t->n_items ? current_closure(w, f, t) : t;
}

static const struct type *function_value(struct walk *w, uint32_t func, const struct type *const *captures,
                                         uint32_t n)
{
    const struct type *t = type_function(w->p->types, w->w->in.unit->prelude, func, captures, n);

    return t ? t : fail_memory(w->p);
}

static const struct type *closure(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t n_locals, n_free;
    const uint32_t *locals = kir_list(n, 1, &n_locals), *frees = kir_list(n, 2, &n_free);
    const struct type **captures = arena_new_array(w->p->a, n_locals + n_free + 1, const struct type *);

    if (!captures)
        return fail_memory(w->p);
    for (uint32_t i = 0; i < n_locals; i++) {
        captures[i] = w->s.types[locals[i]];
        if (captures[i])
            captures[i] = settled(w, captures[i]);
        if (!captures[i] || captures[i]->kind == TY_CONFLICT)
            return mistake(
                w, node, "define it before the inner function, or pass it as a parameter",
                "the inner function uses a variable that has no value yet where the function is made");
        if (is_bottom(captures[i]))
            return w->p->bottom;
    }
    for (uint32_t i = 0; i < n_free; i++)
        captures[n_locals + i] = w->w->in.captures[frees[i]];
    return function_value(w, kir_arg(n, 0), captures, n_locals + n_free);
}

static const struct type *tuple(struct walk *w, uint32_t node)
{
    uint32_t n, total = 0;
    const uint32_t *items = kir_list(node_at(w, node), 0, &n);
    const struct type **types, *t;
    bool bottom = false;
    size_t cap = 0;

    types = NULL;
    for (uint32_t i = 0; i < n; i++) {
        bool star = node_at(w, items[i])->op == KIR_STAR;
        uint32_t inner = star ? kir_arg(node_at(w, items[i]), 0) : items[i];
        t = expr(w, inner);
        if (star) {
            fact_for(w, items[i])->type = t;
            if (!is_bottom(t) && t->kind != TY_TUPLE)
                t = mistake(w, items[i], NULL, "only a tuple can be spread into a tuple, not %s", show(w, t));
        }
        bottom |= is_bottom(t);
        for (uint32_t k = 0; k < (star && !is_bottom(t) ? t->n_items : 1); k++) {
            const struct type **grown = arena_grow(w->p->a, types, total, &cap, sizeof *types);
            if (!grown)
                return fail_memory(w->p);
            types = grown;
            types[total++] = star && !is_bottom(t) ? t->items[k] : t;
        }
    }
    if (bottom)
        return w->p->bottom;
    t = type_tuple(w->p->types, types, total, 0);
    return t ? t : mistake(w, node, NULL, "a tuple of %u items is too large to compile", total);
}

static const struct type *attribute(struct walk *w, uint32_t node, struct fact *f)
{
    const struct kir_node *n = node_at(w, node);
    const struct kir_const *name = const_of(w, kir_arg(n, 1));
    const struct type *base = expr(w, kir_arg(n, 0));

    if (is_bottom(base))
        return base;
    if (base->kind == TY_OPTIONAL) { /* None is a TypeError when it comes to that */
        w->w->raises = true;
        base = base->elem;
    }
    if (base->kind == TY_ENUM || base->kind == TY_INTENUM)
        return enum_attr(w, node, f, base, name->s.p);
    if (base->kind == TY_OBJECT)
        return object_attr(w, node, f, base, name->s.p);
    if (base->kind == TY_TUPLE && base->index) {
        const struct kir_usertype *u = usertype_of(w->p, base);
        for (uint32_t i = 0; i < u->n_fields && i < base->n_items; i++)
            if (strcmp(u->field_names[i], name->s.p) == 0)
                return base->items[i];
    }
    if (w->w->in.unit->prelude && box_field(base, name->s.p, name->s.len) >= 0) {
        const struct type *fields = box_fields(w->p->types, settled(w, base));
        return fields ? fields->items[box_field(base, name->s.p, name->s.len)] : fail_memory(w->p);
    }
    if (base->kind == TY_RECORD || (is_of_records(base) && !library_has_attr(w, base, name->s.p)))
        return record_field(w, node, base, name->s.p, name->s.len);
    return library_attr(w, node, f, base, name->s.p);
}

static const struct type *walrus(struct walk *w, uint32_t node)
{
    const struct kir_node *n = node_at(w, node);
    const struct type *t = expr(w, kir_arg(n, 1));

    bind_local(w, kir_arg(n, 0), t, node);
    return t;
}

static const struct type *later(struct walk *w, uint32_t node)
{
    static const struct {
        enum kir_op op;
        const char *what, *hint;
    } rows[] = {
        { KIR_YIELD, "'yield'", NULL },
        { KIR_YIELDFROM, "'yield from'", NULL },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].op == node_at(w, node)->op)
            return mistake(w, node, rows[i].hint, "%s is not compiled yet by this version", rows[i].what);
    return mistake(w, node, NULL, "'%s' is not compiled yet by this version",
                   kir_opinfo(node_at(w, node)->op)->text);
}

static const struct type *constant(struct walk *w, uint32_t node)
{
    const struct kir_const *k = const_of(w, kir_arg(node_at(w, node), 0));
    const struct type *t = const_type(w, w->w->in.unit->mod, k);

    if (t)
        return t;
    if (k->kind == KIR_K_BIGINT)
        return mistake(w, node, "compiled integers have 64 bits", "the integer %.40s%s is too large", k->s.p,
                       k->s.len > 40 ? "..." : "");
    return mistake(w, node, NULL, "a constant of this kind is not compiled yet by this version");
}

static const struct type *dispatch(struct walk *w, uint32_t node, struct fact *f)
{
    const struct kir_node *n = node_at(w, node);
    const struct kir_const *name;

    switch (n->op) {
    case KIR_CONST:
        return constant(w, node);
    case KIR_LOCAL:
        return local(w, node, f);
    case KIR_FREE:
        return w->w->in.captures[kir_arg(n, 0)];
    case KIR_ENV:
        if (kir_arg(n, 0) >= w->p->n_env)
            return mistake(w, node, NULL, "the request states no type for captured array %u", kir_arg(n, 0));
        return w->p->env[kir_arg(n, 0)];
    case KIR_FUNC:
        return function_value(w, kir_arg(n, 0), NULL, 0);
    case KIR_LIB:
        name = const_of(w, kir_arg(n, 0));
        return type_named(w->p->types, TY_LIBRARY, name->s.p, NULL, NULL, 0);
    case KIR_UNARY:
        return unary(w, node, f);
    case KIR_BINARY: {
        const struct type *a = expr(w, kir_arg(n, 1)), *b = expr(w, kir_arg(n, 2));
        return binary_type(w, node, f, (enum kir_binary)kir_arg(n, 0), kir_arg(n, 1), kir_arg(n, 2), a, b);
    }
    case KIR_COMPARE:
        return compare(w, node, f);
    case KIR_AND:
    case KIR_OR:
        return and_or(w, node, f, false);
    case KIR_IFEXP:
        return ifexp(w, node);
    case KIR_CALL:
        return call(w, node, f);
    case KIR_ATTR:
        return attribute(w, node, f);
    case KIR_SUBSCRIPT:
        return subscript(w, node, f, false);
    case KIR_SLICE:
        return slice(w, node);
    case KIR_TUPLE:
        return tuple(w, node);
    case KIR_LIST:
    case KIR_SET:
    case KIR_DICT:
        return display(w, node);
    case KIR_COMP:
        return comprehension(w, node);
    case KIR_CLOSURE:
        return closure(w, node);
    case KIR_FSTRING:
        return fstring(w, node);
    case KIR_FORMAT:
        return format_part(w, node, false);
    case KIR_WALRUS:
        return walrus(w, node);
    case KIR_STAR:
        return mistake(w, node, NULL, "a starred expression is not allowed here");
    default:
        return later(w, node);
    }
}

/* contexts_new may move the facts, so a fact's address holds only until the next call of expr; the functions
 * above get theirs for operators, which unroll nothing. */
const struct type *expr(struct walk *w, uint32_t node)
{
    struct fact *f = fact_for(w, node);
    const struct type *t;

    if (w->p->failed)
        return w->p->bottom;
    memset(f, 0, sizeof *f);
    f->type = w->p->bottom;
    if (++w->nesting > INFER_MAX_NESTING) {
        t = mistake(w, node, "split it into several statements", "expressions are nested more than %d deep",
                    INFER_MAX_NESTING);
    } else {
        t = dispatch(w, node, f);
        if (!t)
            t = fail_memory(w->p);
    }
    w->nesting--;
    fact_for(w, node)->type = t;
    return t;
}
