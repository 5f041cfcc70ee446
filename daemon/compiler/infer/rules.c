/* SPDX-License-Identifier: Apache-2.0
 * rules.c - what typing rules share, and the rules of builtins. */
#include "daemon/compiler/infer/rules.h"

#include <string.h>

bool rule_params(struct walk *w, struct call *c, const char *names, uint32_t least, struct params *ret)
{
    const char *start[RULE_MAX_PARAMS];
    size_t len[RULE_MAX_PARAMS];

    memset(ret, 0, sizeof *ret);
    for (const char *p = names; *p; ret->n++) {
        start[ret->n] = p;
        len[ret->n] = strcspn(p, " ");
        p += len[ret->n];
        p += *p == ' ';
    }
    if (c->n_args > ret->n) {
        mistake(w, c->node, NULL, "%s takes at most %u argument%s (%s), %u are given", c->name, ret->n,
                ret->n == 1 ? "" : "s", names, c->n_args);
        return false;
    }
    for (uint32_t i = 0; i < c->n_args; i++)
        ret->at[i] = c->args[i];
    for (uint32_t k = 0; k < c->n_kw; k++) {
        const char *name = const_of(w, c->kw_names[k])->s.p;
        uint32_t i = 0;
        while (i < ret->n && (strlen(name) != len[i] || strncmp(name, start[i], len[i]) != 0))
            i++;
        if (i == ret->n || ret->at[i].type) {
            mistake(w, c->kw_nodes[k], NULL, "%s takes (%s): '%s' is %s", c->name, names, name,
                    i == ret->n ? "none of them" : "given twice");
            return false;
        }
        ret->at[i] = (struct arg){ .from = ARG_NODE,
                                   .type = fact_for(w, c->kw_nodes[k])->type,
                                   .node = c->kw_nodes[k] };
    }
    for (uint32_t i = 0; i < least; i++)
        if (!ret->at[i].type) {
            mistake(w, c->node, NULL, "%s needs argument '%.*s' of (%s)", c->name, (int)len[i], start[i],
                    names);
            return false;
        }
    return true;
}

bool rule_take(struct walk *w, struct call *c, const struct library_row *row, const struct params *p)
{
    struct arg *args = arena_new_array(w->p->a, p->n + 1, struct arg);
    uint32_t n = 0;

    if (!args) {
        fail_memory(w->p);
        return false;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        args[i] = p->at[i];
        if (args[i].type)
            n = i + 1;
        else
            args[i] = (struct arg){ .from = ARG_NONE, .type = w->p->none };
    }
    c->f->intrinsic = (uint16_t)row->id;
    c->f->args = args;
    c->f->n_args = n;
    return true;
}

const struct type *rule_wrong(struct walk *w, struct call *c, const struct arg *a, const char *wanted)
{
    const char *hint = a->type->kind == TY_ARRAY ? "apply it to the elements in a loop" : NULL;

    return mistake(w, a->from == ARG_NODE ? a->node : c->node, hint, "%s takes %s, not %s", c->name, wanted,
                   show(w, a->type));
}

bool rule_number(struct walk *w, struct call *c, const struct arg *a)
{
    if (type_is_number(a->type))
        return true;
    rule_wrong(w, c, a, "a number");
    return false;
}

static const struct type *python_int(struct walk *w)
{
    return numba(w) ? scalar(w, TY_INT64) : w->p->pyint;
}

/* ---- builtins ---- */

/* Numba has ranges of int32, int64 and uint64. */
static const struct type *numba_range(struct walk *w, const struct type *t)
{
    if (type_bits(t) < 32 || t->kind == TY_INT32)
        return scalar(w, TY_INT32);
    return scalar(w, t->kind == TY_UINT64 ? TY_UINT64 : TY_INT64);
}

const struct type *rule_RANGE(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;
    const struct type *elem = NULL, *t;

    if (!rule_params(w, c, "start stop step", 1, &p))
        return w->p->bottom;
    for (uint32_t i = 0; i < p.n && p.at[i].type; i++) {
        const struct type *a = p.at[i].type;
        if (a->kind == TY_BOOL)
            a = python_int(w);
        if (!type_is_integer(a))
            return rule_wrong(w, c, &p.at[i], "integers");
        a = numba(w)                ? numba_range(w, a)
            : type_class(a) == TC_U ? scalar(w, TY_UINT64)
            : type_bits(a) < 64     ? scalar(w, TY_INT64)
                                    : a;
        if (numba(w)) { /* the first of int32, int64, uint64 that takes all */
            elem = !elem || elem->kind == TY_INT32 || a->kind == TY_UINT64 ? a : elem;
            continue;
        }
        if (type_is_weak(a) && elem && !type_is_weak(elem))
            continue; /* range(0, n): the type of n */
        if (!elem || type_is_weak(elem))
            elem = a;
        else if (!type_is_weak(a) && a != elem)
            elem = scalar(w, TY_INT64);
    }
    if (c->n_args == 3 || p.at[1].type)
        w->w->raises = true;
    for (uint32_t i = 0; i < p.n && p.at[i].type; i++)
        p.at[i].type = elem;
    if (!rule_take(w, c, row, &p))
        return w->p->bottom;
    t = type_of(w->p->types, TY_RANGE, elem);
    return t ? t : fail_memory(w->p);
}

const struct type *rule_LEN(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;
    const struct type *t;

    if (!rule_params(w, c, "object", 1, &p))
        return w->p->bottom;
    t = p.at[0].type;
    bool fixed = t->kind == TY_TUPLE || t->kind == TY_RECORD;
    if (fixed && p.at[0].from == ARG_NODE && is_pure(w, p.at[0].node))
        return know_int(w, c->f, t->n_items);
    if (fixed)
        return rule_take(w, c, row, &p) ? python_int(w) : w->p->bottom;
    if (is_container(t))
        return rule_take(w, c, row, &p) ? python_int(w) : w->p->bottom;
    if ((t->kind != TY_ARRAY || t->ndim == 0) && t->kind != TY_RANGE && t->kind != TY_STR &&
        t->kind != TY_BYTES && (t->kind != TY_ITER || t->name[0] == 'r'))
        return rule_wrong(w, c, &p.at[0], "something with a length (an array, a tuple, a list, text)");
    return rule_take(w, c, row, &p) ? python_int(w) : w->p->bottom;
}

const struct type *rule_ABS(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;
    const struct type *t;

    if (!rule_params(w, c, "x", 1, &p) || !rule_number(w, c, &p.at[0]))
        return w->p->bottom;
    t = p.at[0].type;
    if (t->kind == TY_BOOL && row->id == LIB_ABS)
        p.at[0].type = t = python_int(w);
    if (row->id != LIB_ABS)
        p.at[0].type = t = strong(w->p, t);
    return rule_take(w, c, row, &p) ? part_type(w->p, t) : w->p->bottom;
}

/* min(a, b, ...) or min(tuple) */
const struct type *rule_MINMAX(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t = NULL;
    struct arg *args = c->args;
    uint32_t n = c->n_args;

    bool plain = c->n_kw == 0, single = n == 1 && args[0].type->kind == TY_TUPLE;
    for (uint32_t i = 0; i < (single ? args[0].type->n_items : n); i++) {
        const struct type *x = single ? args[0].type->items[i] : args[i].type;
        plain &= type_is_number(x) && !type_is_complex(x);
    }
    if (!plain && (n > 1 || single)) { /* of anything that has an order, or with a key */
        const char *name = n > 1 ? row->id == LIB_MIN ? "kiln.min_of" : "kiln.max_of" : row->name;
        const struct type *found;
        if (call_prelude(w, c, name, &found))
            return found;
    }
    if (n == 1 && args[0].type->kind == TY_TUPLE && args[0].type->n_items) {
        const struct type *tuple = args[0].type;
        uint32_t node = args[0].node;
        if (args[0].from != ARG_NODE)
            return rule_wrong(w, c, &args[0], "numbers");
        n = tuple->n_items;
        args = arena_new_array(w->p->a, n, struct arg);
        if (!args)
            return fail_memory(w->p);
        for (uint32_t i = 0; i < n; i++)
            args[i] = (struct arg){ .from = ARG_ITEM, .type = tuple->items[i], .node = node, .index = i };
    } else if (n < 2) {
        return n ? rule_wrong(w, c, &args[0], "two numbers or a tuple of them")
                 : mistake(w, c->node, NULL, "%s needs two numbers or a tuple of them", c->name);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!type_is_number(args[i].type) || type_is_complex(args[i].type))
            return rule_wrong(w, c, &args[i], "real numbers");
        t = t ? join_types(w->p, t, args[i].type) : args[i].type;
        if (!t)
            return mistake(w, c->node, "convert one of them", "%s of int64 and uint64 has no one type",
                           c->name);
    }
    for (uint32_t i = 0; i < n; i++)
        args[i].type = t;
    c->f->intrinsic = (uint16_t)row->id;
    c->f->args = args;
    c->f->n_args = n;
    return t;
}

static const struct type *operator_call(struct walk *w, struct call *c, const struct library_row *row,
                                        enum kir_binary op, const char *names)
{
    struct params p;
    const struct type *t;

    if (!rule_params(w, c, names, 2, &p))
        return w->p->bottom;
    t = binary_type(w, c->node, c->f, op, p.at[0].node, p.at[1].node, p.at[0].type, p.at[1].type);
    if (is_bottom(t) || c->f->callee)
        return t;
    if (c->f->operand)
        p.at[0].type = p.at[1].type = c->f->operand;
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_POW(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;
    const struct type *t;

    if (c->n_args + c->n_kw == 3) {
        struct call three = *c;
        if (!rule_params(w, c, "base exp mod", 3, &p))
            return w->p->bottom;
        for (uint32_t i = 0; i < 3; i++)
            if (!type_is_integer(p.at[i].type) && p.at[i].type->kind != TY_BOOL)
                return rule_wrong(w, c, &p.at[i], "integers with a modulus");
        three.args = arena_new_array(w->p->a, 3, struct arg);
        if (!three.args)
            return fail_memory(w->p);
        memcpy(three.args, p.at, 3 * sizeof *three.args);
        three.n_args = 3;
        three.n_kw = 0;
        return call_prelude(w, &three, "kiln.power_modulo", &t) ? t : w->p->bottom;
    }
    if (!rule_params(w, c, "base exp", 2, &p))
        return w->p->bottom;
    t = operator_call(w, c, row, KIR_B_POW, "base exp");
    return t;
}

const struct type *rule_DIVMOD(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t = operator_call(w, c, row, KIR_B_FLOORDIV, "x y"), *pair;

    if (is_bottom(t))
        return t;
    pair = type_tuple(w->p->types, (const struct type *const[]){ t, t }, 2, 0);
    return pair ? pair : fail_memory(w->p);
}

const struct type *rule_ROUND(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;
    const struct type *t;

    if (!rule_params(w, c, "number ndigits", 1, &p) || !rule_number(w, c, &p.at[0]))
        return w->p->bottom;
    t = p.at[0].type;
    if (type_is_complex(t))
        return rule_wrong(w, c, &p.at[0], "a real number");
    if (t->kind == TY_BOOL)
        p.at[0].type = t = python_int(w);
    if (p.at[1].type && p.at[1].type->kind == TY_NONE)
        p.at[1].type = NULL;
    if (p.at[1].type && !type_is_integer(p.at[1].type))
        return rule_wrong(w, c, &p.at[1], "an integer number of digits");
    if (row->id == LIB_ROUND && p.at[1].type && type_is_weak(t) && !numba(w)) {
        struct call exact = *c;
        const struct type *r;
        exact.args = arena_new_array(w->p->a, 2, struct arg);
        if (!exact.args)
            return fail_memory(w->p);
        memcpy(exact.args, p.at, 2 * sizeof *exact.args);
        exact.n_args = 2;
        exact.n_kw = 0;
        if (call_prelude(w, &exact, "kiln.round", &r))
            return r;
    }
    if (row->id == LIB_N_ROUND)
        p.at[0].type = t = strong(w->p, t);
    else if (!p.at[1].type && type_is_float(t)) {
        w->w->raises = true; /* of nan and inf */
        t = python_int(w);
    }
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_cast_to(struct walk *w, struct call *c, const struct library_row *row,
                                const struct type *to)
{
    struct params p;
    const struct type *from;

    if (!rule_params(w, c, "x", 0, &p))
        return w->p->bottom;
    if (!p.at[0].type) { /* int(): zero of the type */
        struct kir_const *zero = arena_new(w->p->a, struct kir_const);
        if (!zero)
            return fail_memory(w->p);
        zero->kind = KIR_K_INT;
        c->f->has_value = true;
        c->f->value = zero;
        c->f->value_mod = w->w->in.unit->mod;
        return to;
    }
    from = p.at[0].type;
    if (type_is_time(to)) { /* a count, or a time as it is */
        if (from->kind == to->kind)
            to = from;
        else if (!type_is_integer(from) && from->kind != TY_BOOL)
            return rule_wrong(w, c, &p.at[0], "an integer; dates are written as constants: np.datetime64('2020-01-01')");
        return rule_take(w, c, row, &p) ? to : w->p->bottom;
    }
    if (!type_is_number(to))
        return mistake(w, c->node, NULL, "%s can't be made from a value", show(w, to));
    if (to->kind != TY_BOOL && from->kind == TY_OPTIONAL)
        w->w->raises = true;
    else if (to->kind != TY_BOOL && !type_is_number(from))
        return rule_wrong(w, c, &p.at[0], "a number");
    if (type_is_complex(from) && !type_is_complex(to) && to->kind != TY_BOOL)
        return mistake(w, c->node, "take its .real part", "%s can't be made from %s", show(w, to),
                       show(w, from));
    if (type_is_integer(to) && type_is_float(from))
        w->w->raises = true; /* int(nan) */
    return rule_take(w, c, row, &p) ? to : w->p->bottom;
}

const struct type *rule_CAST(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *to = row->id == LIB_BOOL  ? w->p->boolean
                            : row->id == LIB_INT ? python_int(w)
                            : numba(w)           ? scalar(w, TY_FLOAT64)
                                                 : w->p->pyfloat;

    return rule_cast_to(w, c, row, to);
}

const struct type *rule_COMPLEX(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *complex = numba(w) ? scalar(w, TY_COMPLEX128) : w->p->pycomplex;
    struct params p;

    if (!rule_params(w, c, "real imag", 0, &p))
        return w->p->bottom;
    if (!p.at[0].type && !p.at[1].type)
        return rule_cast_to(w, c, row, complex);
    for (unsigned i = 0; i < 2; i++)
        if (p.at[i].type && !rule_number(w, c, &p.at[i]))
            return w->p->bottom;
    if (!p.at[0].type)
        return mistake(w, c->node, "write complex(0, y)", "complex needs its real part");
    if (!p.at[1].type) {
        p.at[0].type = complex;
    } else {
        for (unsigned i = 0; i < 2; i++) {
            if (type_is_complex(p.at[i].type))
                return rule_wrong(w, c, &p.at[i], "real parts");
            p.at[i].type = part_type(w->p, complex);
        }
    }
    return rule_take(w, c, row, &p) ? complex : w->p->bottom;
}

const struct type *rule_TUPLE(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "items", 0, &p))
        return w->p->bottom;
    if (row->id == LIB_LITERAL_UNROLL && p.at[0].type)
        return rule_take(w, c, row, &p) ? p.at[0].type : w->p->bottom;
    if (p.at[0].type && p.at[0].type->kind != TY_TUPLE)
        return mistake(w, c->node, "the length must be known when compiling",
                       "a tuple can be made of a tuple only, not of %s", show(w, p.at[0].type));
    if (!p.at[0].type) {
        const struct type *t = type_tuple(w->p->types, NULL, 0, 0);
        return t && rule_take(w, c, row, &p) ? t : fail_memory(w->p);
    }
    return rule_take(w, c, row, &p) ? p.at[0].type : w->p->bottom;
}

const struct type *rule_ITER(struct walk *w, struct call *c, const struct library_row *row)
{
    const char *name = strchr(row->name, '.') + 1;
    const struct type *items[RULE_MAX_PARAMS], *t;
    struct params p;
    uint32_t n = 0;
    const char *names = row->id == LIB_ZIP         ? "a b c d e f"
                        : row->id == LIB_ENUMERATE ? "iterable start"
                                                   : "sequence";

    if (!rule_params(w, c, names, 1, &p))
        return w->p->bottom;
    for (; n < p.n && p.at[n].type; n++)
        if (is_bottom(items[n] = p.at[n].type = settled(w, p.at[n].type)))
            return items[n];
    if (row->id == LIB_REVERSED && items[0]->kind == TY_ITER)
        return rule_wrong(w, c, &p.at[0], "an array, a tuple or a range");
    for (uint32_t i = 0; i < (row->id == LIB_ENUMERATE ? 1 : n); i++) {
        if (items[i]->kind == TY_TUPLE || items[i]->kind == TY_ITER)
            continue; /* the loop sees to items of different types */
        t = item_type(w, p.at[i].from == ARG_NODE ? p.at[i].node : c->node, items[i]);
        if (is_bottom(t))
            return t;
    }
    if (row->id == LIB_ENUMERATE && n == 2 && !type_is_integer(items[1]))
        return rule_wrong(w, c, &p.at[1], "an integer to start from");
    if (!rule_take(w, c, row, &p))
        return w->p->bottom;
    t = type_named(w->p->types, TY_ITER, name, NULL, items, n);
    return t ? t : fail_memory(w->p);
}

const struct type *rule_CALLABLE(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "object", 1, &p))
        return w->p->bottom;
    enum type_kind kind = p.at[0].type->kind;
    bool can = kind == TY_FUNCTION || kind == TY_LIBRARY || kind == TY_METHOD || kind == TY_CLASS ||
               kind == TY_TYPEVALUE || kind == TY_EXCEPTION;
    if (p.at[0].from == ARG_NODE && is_pure(w, p.at[0].node))
        return know_bool(w, c->f, can);
    c->f->truth = can ? 1 : -1;
    return rule_take(w, c, row, &p) ? w->p->boolean : w->p->bottom;
}

static int is_instance(struct walk *w, const struct type *t, const struct type *class)
{
    static const struct {
        const char *name;
        enum type_kind kind;
    } kinds[] = { { "builtins.list", TY_LIST }, { "builtins.dict", TY_DICT },
                  { "builtins.set", TY_SET },   { "builtins.tuple", TY_TUPLE },
                  { "builtins.slice", TY_SLICE }, { "builtins.str", TY_STR },   { "builtins.bytes", TY_BYTES },
                  { "numpy.ndarray", TY_ARRAY }, { "kiln.jitclass", TY_OBJECT } };
    static const struct {
        const char *name, *of; /* letters of enum type_class */
    } classes[] = { { "numpy.generic", "BIUFC" },     { "numpy.number", "IUFC" },
                    { "numpy.integer", "IU" },        { "numpy.signedinteger", "I" },
                    { "numpy.unsignedinteger", "U" }, { "numpy.inexact", "FC" },
                    { "numpy.floating", "F" },        { "numpy.complexfloating", "C" } };
    const struct type *meant;
    bool any = false;

    if (class->kind == TY_TUPLE) {
        for (uint32_t i = 0; i < class->n_items; i++) {
            int r = is_instance(w, t, class->items[i]);
            if (r < 0)
                return r;
            any |= r > 0;
        }
        return any;
    }
    if (class->kind == TY_LIBRARY) {
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            if (strcmp(class->name, kinds[i].name) == 0)
                return t->kind == kinds[i].kind;
        for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
            if (strcmp(class->name, classes[i].name) == 0)
                return strchr(classes[i].of, "NBIUFCWSV"[type_class(t)]) != NULL;
    }
    if (class->kind == TY_CLASS)
        return (t->kind == TY_OBJECT || t->kind == TY_ENUM || t->kind == TY_INTENUM || t->kind == TY_TUPLE) &&
               t->index == class->index;
    meant = type_meant(w, class);
    if (!meant)
        return -1;
    if (type_is_time(meant) && type_unit(meant) == TYPE_UNIT_NONE)
        return t->kind == meant->kind;
    if (meant->kind == TY_PYINT)
        return t->kind == TY_PYINT || t->kind == TY_BOOL || (numba(w) && type_is_integer(t));
    if (meant->kind == TY_PYFLOAT)
        return t->kind == TY_PYFLOAT || t->kind == TY_FLOAT64 || (numba(w) && type_is_float(t));
    if (meant->kind == TY_PYCOMPLEX)
        return t->kind == TY_PYCOMPLEX || t->kind == TY_COMPLEX128 || (numba(w) && type_is_complex(t));
    return t == meant;
}

const struct type *rule_ISINSTANCE(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t;
    struct params p;
    int r;

    if (!rule_params(w, c, row->id == LIB_ISINSTANCE ? "object class" : "arg1 arg2", 2, &p))
        return w->p->bottom;
    t = p.at[0].type;
    if (t->kind == TY_OPTIONAL)
        return mistake(w, c->node, "test 'is None' first",
                       "whether the value is None is known only at run time");
    if (row->id == LIB_ISSUBDTYPE && !(t = type_meant(w, t)))
        return rule_wrong(w, c, &p.at[0], "a dtype that is known when compiling");
    r = is_instance(w, t, p.at[1].type);
    if (r < 0)
        return rule_wrong(w, c, &p.at[1], "a type that is known when compiling");
    if (p.at[0].from == ARG_NODE && is_pure(w, p.at[0].node))
        return know_bool(w, c->f, r > 0);
    c->f->truth = r > 0 ? 1 : -1;
    return rule_take(w, c, row, &p) ? w->p->boolean : w->p->bottom;
}

const struct type *rule_SLICE(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *items[3] = { w->p->none, w->p->none, w->p->none }, *t;
    struct params p;
    uint32_t n = 0;

    if (!rule_params(w, c, "start stop step", 1, &p))
        return w->p->bottom;
    while (n < 3 && p.at[n].type)
        n++;
    for (uint32_t i = 0; i < n; i++) {
        if (p.at[i].type->kind != TY_NONE && !type_is_integer(p.at[i].type))
            return rule_wrong(w, c, &p.at[i], "integers or None");
        items[n == 1 ? 1 : i] = p.at[i].type;
    }
    if (!rule_take(w, c, row, &p))
        return w->p->bottom;
    t = type_named(w->p->types, TY_SLICE, "slice", NULL, items, 3);
    return t ? t : fail_memory(w->p);
}

const struct type *rule_OPERATOR(struct walk *w, struct call *c, const struct library_row *row)
{
    enum kir_binary op = KIR_B__END;
    const struct type *t;

#define KIR_BINARY(NAME, wire, text)                                                                         \
    if (strcmp(row->how + 3, text) == 0)                                                                     \
        op = KIR_B_##NAME;
#include "proto/ir/enums.def"
#undef KIR_BINARY
    t = operator_call(w, c, row, op, "x1 x2");
    return is_bottom(t) || c->f->callee ? t : strong(w->p, t);
}
