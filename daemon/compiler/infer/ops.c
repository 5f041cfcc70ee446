/* SPDX-License-Identifier: Apache-2.0
 * ops.c - operators and comparisons. */
#include <stdio.h>
#include <string.h>

#include "daemon/compiler/infer/pass.h"

const char *binary_text(enum kir_binary op)
{
    switch (op) {
#define KIR_BINARY(NAME, wire, text)                                                                         \
    case KIR_B_##NAME:                                                                                       \
        return text;
#include "proto/ir/enums.def"
#undef KIR_BINARY
    default:
        return "?";
    }
}

static const char *compare_text(enum kir_compare op)
{
    switch (op) {
#define KIR_COMPARE(NAME, wire, text)                                                                        \
    case KIR_C_##NAME:                                                                                       \
        return text;
#include "proto/ir/enums.def"
#undef KIR_COMPARE
    default:
        return "?";
    }
}

/* The name under which the prelude may have an operator for arrays. */
static const char *operator_name(enum kir_binary op)
{
    static const char *const names[] = { NULL,
                                         "numpy.add",
                                         "numpy.subtract",
                                         "numpy.multiply",
                                         "numpy.divide",
                                         "numpy.floor_divide",
                                         "numpy.remainder",
                                         "numpy.power",
                                         "numpy.matmul",
                                         "numpy.left_shift",
                                         "numpy.right_shift",
                                         "numpy.bitwise_and",
                                         "numpy.bitwise_or",
                                         "numpy.bitwise_xor" };

    return op < KIR_B__END ? names[op] : NULL;
}

static const char *dunder(enum kir_binary op)
{
    static const char *const names[] = { NULL,           "__add__", "__sub__", "__mul__",    "__truediv__",
                                         "__floordiv__", "__mod__", "__pow__", "__matmul__", "__lshift__",
                                         "__rshift__",   "__and__", "__or__",  "__xor__" };

    return op < KIR_B__END ? names[op] : NULL;
}

/* An operator that the prelude has for the type of either side. */
static bool by_protocol(struct walk *w, uint32_t node, struct fact *f, const char *name, uint32_t left,
                        uint32_t right, const struct type *a, const struct type *b, const struct type **ret)
{
    const uint32_t nodes[2] = { left, right };
    const struct type *types[2] = { settled(w, a), settled(w, b) };
    char reflected[24];

    if ((a->kind == TY_ARRAY && type_is_time(b)) || (b->kind == TY_ARRAY && type_is_time(a)))
        return false; /* element by element */
    snprintf(reflected, sizeof reflected, "__r%s", name + 2);
    if ((is_text(a) || is_text(b)) && strcmp(name, "__add__") == 0 && a != b)
        return false;
    if (a->kind != TY_ARRAY && protocol_has(w, a, name))
        return protocol_call(w, node, f, a, name, nodes, types, 2, ret);
    if (b->kind != TY_ARRAY && protocol_has(w, b, reflected))
        return protocol_call(w, node, f, b, reflected, nodes, types, 2, ret);
    return false;
}

static const struct type *without_optional(const struct type *t)
{
    return t->kind == TY_OPTIONAL ? t->elem : t;
}

static const struct type *no_operator(struct walk *w, uint32_t node, const char *op, const struct type *a,
                                      const struct type *b)
{
    const char *hint = NULL;

    if (type_is_integer(a) && type_is_integer(b))
        hint = "no integer type holds both: convert one of them, for example np.int64(...)";
    else if (a->kind == TY_STR || b->kind == TY_STR)
        hint = "text and numbers don't mix; was a number meant?";
    else if (a->kind == TY_ARRAY || b->kind == TY_ARRAY)
        hint = "operators on whole arrays are not compiled yet: write a loop over the elements";
    else if (a->kind == TY_NONE || b->kind == TY_NONE)
        hint = "one side is None: does a function return nothing?";
    return mistake(w, node, hint, "'%s' is not defined between %s and %s", op, show(w, a), show(w, b));
}

static bool has_integers_only(const struct type *t)
{
    return type_is_integer(t) || t->kind == TY_BOOL;
}

/* bool & bool stays bool; other integer operators take bool as Python's int. */
static const struct type *bit_type(struct walk *w, enum kir_binary op, const struct type *a,
                                   const struct type *b)
{
    bool shift = op == KIR_B_LSHIFT || op == KIR_B_RSHIFT;
    const struct type *t;

    if (!has_integers_only(a) || !has_integers_only(b))
        return NULL;
    if (!shift && a->kind == TY_BOOL && b->kind == TY_BOOL)
        return a;
    if (shift && numba(w))
        return scalar(w, type_class(strong(w->p, a)) == TC_U ? TY_UINT64 : TY_INT64);
    t = promote(w->p, a, b);
    return has_integers_only(t) ? t : NULL; /* int64 with uint64: no integer type holds both */
}

static const struct type *number_type(struct walk *w, struct fact *f, enum kir_binary op, uint32_t right,
                                      const struct type *a, const struct type *b)
{
    const struct type *t = promote(w->p, a, b);
    int64_t exponent;

    switch (op) {
    case KIR_B_ADD:
    case KIR_B_SUB:
    case KIR_B_MUL:
        break;
    case KIR_B_DIV:
        if (has_integers_only(t))
            t = type_is_weak(t) ? w->p->pyfloat : scalar(w, TY_FLOAT64);
        w->w->raises = true;
        break;
    case KIR_B_FLOORDIV:
    case KIR_B_MOD:
        if (type_is_complex(t))
            return NULL;
        w->w->raises = true;
        break;
    case KIR_B_POW:
        w->w->raises = true;
        if (numba(w) && type_is_float(a) && has_integers_only(b))
            t = a; /* Numba: float32 ** int stays float32 */
        if (!numba(w) && has_integers_only(t) && known_int(w, right, &exponent) && exponent < 0)
            t = type_is_weak(t) ? w->p->pyfloat : scalar(w, TY_FLOAT64);
        break;
    case KIR_B_MATMUL:
        return NULL;
    default:
        t = bit_type(w, op, a, b);
        if (op == KIR_B_LSHIFT || op == KIR_B_RSHIFT)
            w->w->raises = true; /* a negative count, in checked mode */
        break;
    }
    f->operand = t;
    return t;
}

static const struct type *tuple_concat(struct walk *w, const struct type *a, const struct type *b)
{
    uint32_t n = a->n_items + b->n_items;
    const struct type **items = arena_new_array(w->p->a, n + 1, const struct type *);
    const struct type *t;

    if (!items)
        return fail_memory(w->p);
    if (a->n_items)
        memcpy(items, a->items, a->n_items * sizeof *items);
    if (b->n_items)
        memcpy(items + a->n_items, b->items, b->n_items * sizeof *items);
    t = type_tuple(w->p->types, items, n, 0);
    return t ? t : fail_memory(w->p);
}

static const struct type *tuple_repeat(struct walk *w, uint32_t node, const struct type *t,
                                       uint32_t count_node)
{
    int64_t count;
    const struct type **items, *r;

    if (!known_int(w, count_node, &count))
        return mistake(w, node, "a tuple's length is part of its type",
                       "a tuple can be repeated only a constant number of times");
    if (count < 0)
        count = 0;
    if (t->n_items && count > TYPE_MAX_PARTS / t->n_items)
        return mistake(w, node, NULL, "a tuple of %lld items is too large to compile",
                       (long long)count * t->n_items);
    items = arena_new_array(w->p->a, (size_t)count * t->n_items + 1, const struct type *);
    if (!items)
        return fail_memory(w->p);
    for (uint32_t i = 0; i < (uint32_t)count * t->n_items; i++)
        items[i] = t->items[i % t->n_items];
    r = type_tuple(w->p->types, items, (uint32_t)count * t->n_items, 0);
    return r ? r : fail_memory(w->p);
}

/* Arrays: the prelude's function of two values. */
static const struct type *by_prelude(struct walk *w, uint32_t node, struct fact *f, const char *name,
                                     const char *text, const uint32_t *nodes, const struct type *const *types,
                                     uint32_t n)
{
    struct arg *args = arena_new_array(w->p->a, n + 1, struct arg); /* *args of the function keep it */
    struct call c = { .node = node, .f = f, .name = text, .args = args, .n_args = n };
    const struct type *t;

    if (!args)
        return fail_memory(w->p);

    for (uint32_t i = 0; i < n; i++)
        args[i] = (struct arg){ .from = ARG_NODE, .type = types[i], .node = nodes[i] };
    if (name && call_prelude(w, &c, name, &t))
        return t;
    if (n == 2)
        return no_operator(w, node, text, types[0], types[1]);
    return mistake(w, node, NULL, "'%s' is not defined for %s", text, show(w, types[0]));
}

const struct type *binary_type(struct walk *w, uint32_t node, struct fact *f, enum kir_binary op,
                               uint32_t left, uint32_t right, const struct type *a, const struct type *b)
{
    const struct type *x, *y, *t = NULL;

    if (is_bottom(a) || is_bottom(b))
        return w->p->bottom;
    if (by_protocol(w, node, f, dunder(op), left, right, a, b, &t))
        return t;
    a = number_of(w, a);
    b = number_of(w, b);
    x = without_optional(a);
    y = without_optional(b);
    if (x != a || y != b)
        w->w->raises = true; /* None where a number is needed */
    if (type_is_number(x) && type_is_number(y))
        t = number_type(w, f, op, right, x, y);
    else if (op == KIR_B_ADD && a->kind == TY_TUPLE && b->kind == TY_TUPLE)
        t = tuple_concat(w, a, b);
    else if (op == KIR_B_MUL && a->kind == TY_TUPLE && type_is_integer(b))
        t = tuple_repeat(w, node, a, right);
    else if (op == KIR_B_MUL && b->kind == TY_TUPLE && type_is_integer(a))
        t = tuple_repeat(w, node, b, left);
    else if (a->kind == TY_ARRAY || b->kind == TY_ARRAY)
        return by_prelude(w, node, f, operator_name(op), binary_text(op), (const uint32_t[]){ left, right },
                          (const struct type *const[]){ a, b }, 2);
    return t ? t : no_operator(w, node, binary_text(op), a, b);
}

const struct type *inplace_type(struct walk *w, uint32_t node, struct fact *f, enum kir_binary op,
                                uint32_t left, uint32_t right, const struct type *a, const struct type *b)
{
    char name[40];

    if (is_bottom(a) || is_bottom(b))
        return w->p->bottom;
    if (a->kind != TY_ARRAY) { /* a container: its own in-place operator, or a new one */
        struct arg args[2] = { { .type = a }, { .type = b } };
        struct call c = { .node = node, .args = args, .n_args = 2 };
        const struct type *types[2], *t;
        snprintf(name, sizeof name, "__i%s", dunder(op) + 2);
        if (!protocol_has(w, a, name))
            return binary_type(w, node, f, op, left, right, a, b);
        a = protocol_grow(w, &c, a, name);
        types[0] = settled(w, a);
        types[1] = settled(w, b);
        if (is_bottom(types[0]) || is_bottom(types[1]))
            return w->emit ? w->p->bottom : a;
        protocol_call(w, node, f, a, name, (const uint32_t[]){ left, right }, types, 2, &t);
        return is_bottom(t) || a->kind == TY_OBJECT ? t : a;
    }
    if (a->readonly)
        return mistake(w, left, "copy it first: a = a.copy()", "the array is read-only");
    snprintf(name, sizeof name, "inplace.%s", operator_name(op) + strlen("numpy."));
    return by_prelude(w, node, f, name, binary_text(op), (const uint32_t[]){ left, right },
                      (const struct type *const[]){ a, b }, 2);
}

const struct type *unary(struct walk *w, uint32_t node, struct fact *f)
{
    static const char *const texts[] = { "?", "-", "+", "~", "not" };
    static const char *const names[] = { NULL, "numpy.negative", "numpy.positive", "numpy.invert", NULL };
    static const char *const dunders[] = { "", "__neg__", "__pos__", "__invert__", "" };
    const struct kir_node *n = node_at(w, node);
    enum kir_unary op = (enum kir_unary)kir_arg(n, 0);
    uint32_t operand = kir_arg(n, 1);
    const struct type *t, *inner;
    int64_t value;

    if (op == KIR_U_NOT) {
        f->truth = (int8_t)-cond(w, operand);
        return w->p->boolean;
    }
    t = number_of(w, expr(w, operand));
    inner = without_optional(t);
    if (is_bottom(t))
        return t;
    if (protocol_has(w, t, dunders[op]) && t->kind == TY_OBJECT) {
        const struct type *made;
        return protocol_call(w, node, fact_for(w, node), t, dunders[op], &operand, &t, 1, &made) ? made : t;
    }
    if (t->kind == TY_ARRAY)
        return by_prelude(w, node, f, names[op], texts[op], &operand, &t, 1);
    if (t->kind == TY_TIMEDELTA && op != KIR_U_INVERT) {
        protocol_call(w, node, f, t, op == KIR_U_NEG ? "__neg__" : "__pos__", &operand, &t, 1, &inner);
        return inner;
    }
    if (!type_is_number(inner) || (op == KIR_U_INVERT && !has_integers_only(inner)))
        return mistake(w, node, NULL, "'%s' is not defined for %s", texts[op], show(w, t));
    if (numba(w) && inner->kind == TY_BOOL && op == KIR_U_INVERT) {
        f->operand = inner; /* Numba: ~True is False */
        return inner;
    }
    if (inner->kind == TY_BOOL) {
        inner = numba(w) ? scalar(w, TY_INT64) : w->p->pyint;
    } else if (numba(w) && has_integers_only(inner)) { /* computed in its own width, then widened */
        f->operand = inner;
        return promote(w->p, inner, inner);
    }
    if (op == KIR_U_NEG && inner->kind == TY_PYINT && known_int(w, operand, &value) && value != INT64_MIN)
        return know_int(w, f, -value);
    f->operand = inner;
    return inner;
}

/* ---- comparisons ---- */

static const struct type *no_compare(struct walk *w, uint32_t node, enum kir_compare op, const struct type *a,
                                     const struct type *b)
{
    return no_operator(w, node, compare_text(op), a, b);
}

/* What both sides of a comparison are converted to: exact where 64-bit integers of both signs meet. */
static const struct type *compare_operand(struct walk *w, const struct type *a, const struct type *b)
{
    const struct type *t;

    if (a->kind == TY_BOOL && b->kind == TY_BOOL)
        return a;
    if (has_integers_only(a) && has_integers_only(b)) {
        bool ua = type_class(a) == TC_U, ub = type_class(b) == TC_U;
        if (ua != ub && type_bits(ua ? a : b) == 64)
            return a->kind == TY_BOOL || b->kind == TY_BOOL ? scalar(w, TY_UINT64) : NULL;
        if (ua != ub ||
            type_is_weak(a) != type_is_weak(b)) /* 300 < np.int8(1) compares numbers, whatever int8 holds */
            return scalar(w, TY_INT64);
    }
    t = promote(w->p, a, b);
    return t;
}

static bool is_order(enum kir_compare op)
{
    return op >= KIR_C_LT && op <= KIR_C_GE;
}

/* One comparison; 1 or -1 in *truth when types decide it. */
static const struct type *compare_pair(struct walk *w, uint32_t node, enum kir_compare op,
                                       const struct type *a, const struct type *b,
                                       const struct type **ret_operand, int *truth)
{
    const struct type *x, *y, *ma, *mb;

    *ret_operand = NULL;
    if ((op == KIR_C_IS || op == KIR_C_ISNOT) && a != b && (a->kind == TY_INTENUM || b->kind == TY_INTENUM) &&
        a->kind != TY_OPTIONAL && b->kind != TY_OPTIONAL && !is_bottom(a) && !is_bottom(b)) {
        *truth = op == KIR_C_IS ? -1 : 1; /* members are the same only as members of one class */
        return w->p->boolean;
    }
    a = number_of(w, a);
    b = number_of(w, b);
    x = without_optional(a);
    y = without_optional(b);
    *ret_operand = NULL;
    if (is_bottom(a) || is_bottom(b))
        return w->p->bottom;
    if (op == KIR_C_IN || op == KIR_C_NOTIN) {
        if (b->kind != TY_TUPLE)
            return mistake(w, node, NULL, "'in' needs something with items, not %s", show(w, b));
        return w->p->boolean;
    }
    if (op == KIR_C_IS || op == KIR_C_ISNOT || op == KIR_C_EQ || op == KIR_C_NE) {
        bool equal = op == KIR_C_IS || op == KIR_C_EQ;
        if (a->kind == TY_NONE && b->kind == TY_NONE) {
            *truth = equal ? 1 : -1;
            return w->p->boolean;
        }
        if (a->kind == TY_NONE || b->kind == TY_NONE) {
            if (a->kind != TY_OPTIONAL && b->kind != TY_OPTIONAL)
                *truth = equal ? -1 : 1;
            return w->p->boolean;
        }
        ma = type_meant(w, a);
        mb = type_meant(w, b);
        if (ma && mb) {
            *truth = (ma == mb) == equal ? 1 : -1;
            return w->p->boolean;
        }
        if (a->kind == TY_RECORD && b->kind == TY_RECORD && (op == KIR_C_EQ || op == KIR_C_NE) &&
            record_comparable(a, b))
            return w->p->boolean;
        if (x->kind == TY_ENUM || y->kind == TY_ENUM || a->kind == TY_CLASS || b->kind == TY_CLASS ||
            x->kind == TY_OBJECT || y->kind == TY_OBJECT) {
            if (x != y && a->kind != TY_OPTIONAL && b->kind != TY_OPTIONAL)
                *truth = equal ? -1 : 1;
            else if (a == b && a->kind == TY_CLASS)
                *truth = equal ? 1 : -1;
            return w->p->boolean;
        }
    }
    if (type_is_number(x) && type_is_number(y)) {
        if (is_order(op) && (type_is_complex(x) || type_is_complex(y)))
            return no_compare(w, node, op, a, b);
        if (x == a && y == b)
            *ret_operand = compare_operand(w, x, y);
        else if (is_order(op))
            w->w->raises = true;
        if ((x != a || y != b) && is_order(op))
            *ret_operand = promote(w->p, x, y);
        return w->p->boolean;
    }
    if (a->kind == TY_TUPLE && b->kind == TY_TUPLE) {
        for (uint32_t i = 0; i < a->n_items && i < b->n_items; i++) {
            const struct type *operand;
            int known_truth = 0;
            if (is_bottom(compare_pair(w, node, op, a->items[i], b->items[i], &operand, &known_truth)))
                return w->p->bottom;
        }
        return w->p->boolean;
    }
    if (is_text(a) && a == b)
        return w->p->boolean;
    return no_compare(w, node, op, a, b);
}

static const struct type *compare_arrays(struct walk *w, uint32_t node, struct fact *f, enum kir_compare op,
                                         const uint32_t *nodes, const struct type *a, const struct type *b)
{
    static const char *const names[] = { NULL,
                                         "numpy.equal",
                                         "numpy.not_equal",
                                         "numpy.less",
                                         "numpy.less_equal",
                                         "numpy.greater",
                                         "numpy.greater_equal" };

    return by_prelude(w, node, f, op <= KIR_C_GE ? names[op] : NULL, compare_text(op), nodes,
                      (const struct type *const[]){ a, b }, 2);
}

/* By a method of the left side, or of the right one the other way round: `a < b` asks a for __lt__, then b for __gt__. */
static bool compare_objects(struct walk *w, uint32_t node, enum kir_compare op, const uint32_t *nodes,
                            const struct type *const *types, const struct type **ret)
{
    static const struct {
        enum kir_compare op;
        const char *name, *reflected;
        bool negated;
    } rows[] = { { KIR_C_EQ, "__eq__", "__eq__", false }, { KIR_C_NE, "__ne__", "__ne__", false },
                 { KIR_C_NE, "__eq__", "__eq__", true },  { KIR_C_LT, "__lt__", "__gt__", false },
                 { KIR_C_LE, "__le__", "__ge__", false }, { KIR_C_GT, "__gt__", "__lt__", false },
                 { KIR_C_GE, "__ge__", "__le__", false }, { KIR_C_IN, NULL, "__in__", false },
                 { KIR_C_NOTIN, NULL, "__in__", true } };
    const uint32_t turned_nodes[2] = { nodes[1], nodes[0] };
    const struct type *const turned[2] = { types[1], types[0] };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool member = op >= KIR_C_IN, done;
        if (rows[i].op != op)
            continue;
        if (!member && types[0]->kind == TY_OBJECT && protocol_has(w, types[0], rows[i].name))
            done = protocol_call(w, node, fact_for(w, node), types[0], rows[i].name, nodes, types, 2, ret);
        else if (types[1]->kind == TY_OBJECT && protocol_has(w, types[1], rows[i].reflected))
            done = protocol_call(w, node, fact_for(w, node), types[1], rows[i].reflected,
                                 member ? nodes : turned_nodes, member ? types : turned, 2, ret);
        else
            continue;
        fact_for(w, node)->negated = rows[i].negated;
        if ((rows[i].negated || member) && !is_bottom(*ret))
            *ret = w->p->boolean;
        return done;
    }
    return false;
}

/* Comparisons and membership that the prelude has for these types. */
static bool compare_by_protocol(struct walk *w, uint32_t node, struct fact *f, enum kir_compare op,
                                const uint32_t *nodes, const struct type *a, const struct type *b,
                                const struct type **ret)
{
    static const char *const names[] = { NULL,     "__eq__", "__ne__", "__lt__", "__le__",   "__gt__",
                                         "__ge__", NULL,     NULL,     "__in__", "__notin__" };
    const struct type *types[2] = { settled(w, a), settled(w, b) }, *self = op >= KIR_C_IN ? b : a;

    if (a->kind == TY_OBJECT || b->kind == TY_OBJECT)
        return compare_objects(w, node, op, nodes, types, ret);
    if (!names[op] || (self->kind == TY_ARRAY && op < KIR_C_IN) || !protocol_has(w, self, names[op]) ||
        (op < KIR_C_IN && a->kind != b->kind))
        return false;
    if (op >= KIR_C_IN && is_text(b) && a != b && (b->kind == TY_STR || !type_is_integer(a))) {
        *ret = mistake(w, node, NULL, "'in' of %s takes %s on its left, not %s", show(w, b), show(w, b),
                       show(w, a));
        return true;
    }
    return protocol_call(w, node, f, self, names[op], nodes, types, 2, ret);
}

const struct type *compare(struct walk *w, uint32_t node, struct fact *f)
{
    const struct kir_node *n = node_at(w, node);
    uint32_t n_ops, n_items;
    const uint32_t *ops = kir_list(n, 0, &n_ops), *items = kir_list(n, 1, &n_items);
    const struct type **operands = arena_new_array(w->p->a, n_ops, const struct type *);
    const struct type *a, *b, *t;
    struct state early = { .dead = true }; /* where a chain may have ended before its last operand */
    bool bottom = false, all_true = true;

    if (!operands)
        return fail_memory(w->p);
    a = expr(w, items[0]);
    for (uint32_t i = 0; i < n_ops; i++) {
        enum kir_compare op = (enum kir_compare)ops[i];
        int truth = 0;
        if (i == 1)
            early = state_copy(w, &w->s);
        else if (i)
            state_join(w, &early, &w->s);
        b = expr(w, items[i + 1]);
        if (n_ops == 1 && !is_bottom(a) && !is_bottom(b) &&
            compare_by_protocol(w, node, f, op, items, a, b, &t))
            return t;
        if (n_ops == 1 && op <= KIR_C_GE && (a->kind == TY_ARRAY || b->kind == TY_ARRAY) && !is_bottom(a) &&
            !is_bottom(b) && a->kind != TY_NONE && b->kind != TY_NONE)
            return compare_arrays(w, node, f, op, items, a, b);
        t = compare_pair(w, node, op, a, b, &operands[i], &truth);
        bottom |= is_bottom(t);
        if (n_ops == 1 && truth) { /* items without effect: the value is known; with one, the truth */
            if (is_pure(w, items[0]) && is_pure(w, items[1]))
                return know_bool(w, f, truth > 0);
            f->truth = (int8_t)truth;
        }
        all_true &= truth > 0;
        a = b;
    }
    if (!early.dead)
        meet(w, node, &early);
    if (bottom)
        return w->p->bottom;
    if (n_ops == 1) {
        int64_t x, y;
        const struct kir_const *m = known(w, items[0]), *o = known(w, items[1]);
        f->operand = operands[0];
        if (m && o && m->kind == KIR_K_ENUM && o->kind == KIR_K_ENUM && m->usertype == o->usertype &&
            (ops[0] == KIR_C_EQ || ops[0] == KIR_C_NE || ops[0] == KIR_C_IS || ops[0] == KIR_C_ISNOT))
            return know_bool(w, f,
                             (m->items[0] == o->items[0]) == (ops[0] == KIR_C_EQ || ops[0] == KIR_C_IS));
        if (m && o && m->kind == KIR_K_STR && o->kind == KIR_K_STR &&
            (ops[0] == KIR_C_EQ || ops[0] == KIR_C_NE))
            return know_bool(w, f,
                             (m->s.len == o->s.len && memcmp(m->s.p, o->s.p, m->s.len) == 0) ==
                                 (ops[0] == KIR_C_EQ));
        if (known_int(w, items[0], &x) && known_int(w, items[1], &y)) {
            switch ((enum kir_compare)ops[0]) {
            case KIR_C_EQ:
                return know_bool(w, f, x == y);
            case KIR_C_NE:
                return know_bool(w, f, x != y);
            case KIR_C_LT:
                return know_bool(w, f, x < y);
            case KIR_C_LE:
                return know_bool(w, f, x <= y);
            case KIR_C_GT:
                return know_bool(w, f, x > y);
            case KIR_C_GE:
                return know_bool(w, f, x >= y);
            default:
                break;
            }
        }
    } else {
        f->operands = operands;
        if (all_true)
            f->truth = 1;
    }
    return w->p->boolean;
}
