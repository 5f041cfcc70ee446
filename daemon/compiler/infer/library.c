/* SPDX-License-Identifier: Apache-2.0
 * library.c - look-up of library functions, attributes and methods; their typing rules are in rules.c. */
#include "daemon/compiler/infer/rules.h"

#include <stdio.h>
#include <string.h>

#include "proto/abi/abi.h"

static const struct library_row rows[] = {
#define X(ID, name, rule, how) { LIB_##ID, name, how, rule_##rule },
#include "daemon/compiler/library.def"
#undef X
};
#define N_ROWS (sizeof rows / sizeof rows[0])

static const struct library_row *find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* ---- types as values ---- */

static const struct {
    const char *name;
    enum type_kind kind;
} type_names[] = {
    { "builtins.bool", TY_BOOL },        { "builtins.int", TY_PYINT },
    { "builtins.float", TY_PYFLOAT },    { "builtins.complex", TY_PYCOMPLEX },
    { "numpy.bool_", TY_BOOL },          { "numpy.bool", TY_BOOL },
    { "numpy.int8", TY_INT8 },           { "numpy.int16", TY_INT16 },
    { "numpy.int32", TY_INT32 },         { "numpy.int64", TY_INT64 },
    { "numpy.intp", TY_INT64 },          { "numpy.int_", TY_INT64 },
    { "numpy.uint8", TY_UINT8 },         { "numpy.uint16", TY_UINT16 },
    { "numpy.uint32", TY_UINT32 },       { "numpy.uint64", TY_UINT64 },
    { "numpy.uintp", TY_UINT64 },        { "numpy.float16", TY_FLOAT16 },
    { "numpy.float32", TY_FLOAT32 },     { "numpy.float64", TY_FLOAT64 },
    { "numpy.single", TY_FLOAT32 },      { "numpy.double", TY_FLOAT64 },
    { "numpy.complex64", TY_COMPLEX64 }, { "numpy.complex128", TY_COMPLEX128 },
};

const struct type *type_meant(struct walk *w, const struct type *t)
{
    if (t->kind == TY_TYPEVALUE)
        return t->elem;
    if (t->kind != TY_LIBRARY)
        return NULL;
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (strcmp(type_names[i].name, t->name) == 0)
            return scalar(w, type_names[i].kind);
    return NULL;
}

bool is_exception_name(const char *name)
{
    static const char *const names[] = {
#define X(name, number, parent) #name,
#include "proto/abi/exceptions.def"
#undef X
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* ---- unknown names ---- */

static unsigned distance(const char *a, const char *b)
{
    unsigned row[64], diagonal;
    size_t n = strlen(b);

    if (n >= 63 || strlen(a) >= 63)
        return 99;
    for (unsigned j = 0; j <= n; j++)
        row[j] = j;
    for (unsigned i = 1; a[i - 1]; i++) {
        diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= n; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *nearest_library_name(struct walk *w, const char *name)
{
    const char *best = NULL;
    unsigned least = 3; /* further away it is another word */

    for (size_t i = 0; name && i < N_ROWS; i++) {
        unsigned d = distance(name, rows[i].name);
        if (d < least) {
            least = d;
            best = rows[i].name;
        }
    }
    for (uint32_t i = 0; name && w->p->prelude && i < w->p->prelude->n_names; i++) {
        unsigned d = distance(name, w->p->prelude->names[i].name);
        if (d < least) {
            least = d;
            best = w->p->prelude->names[i].name;
        }
    }
    return best ? arena_printf(w->p->a, "was %s meant?", best) : NULL;
}

/* ---- calls ---- */

/* Something to go through: the prelude's function of that name, where there is one, takes it. */
static bool has_many(const struct call *c)
{
    for (uint32_t i = 0; i < c->n_args; i++) {
        enum type_kind kind = c->args[i].type->kind;
        if (kind == TY_ARRAY || kind == TY_RANGE || kind == TY_ITER || is_container(c->args[i].type) ||
            is_text(c->args[i].type))
            return true;
    }
    return false;
}

/* Put the receiver before the arguments. */
bool with_receiver(struct walk *w, struct call *c, const struct type *receiver)
{
    struct arg *args = arena_new_array(w->p->a, c->n_args + 1, struct arg);

    if (!args) {
        fail_memory(w->p);
        return false;
    }
    args[0] = (struct arg){ .from = ARG_NODE, .type = receiver, .node = kir_arg(node_at(w, c->node), 0) };
    if (c->n_args)
        memcpy(args + 1, c->args, c->n_args * sizeof *args);
    c->args = args;
    c->n_args++;
    return true;
}

static const struct type *unknown(struct walk *w, struct call *c, const char *name)
{
    const char *hint = nearest_library_name(w, name);

    return mistake(w, c->node, hint ? hint : "docs/coverage.md lists what is compiled",
                   "%s is not compiled by this version", name);
}

static const struct type *method_call(struct walk *w, struct call *c, const char *name)
{
    const struct type *method = fact_for(w, kir_arg(node_at(w, c->node), 0))->type, *t;
    const struct library_row *row = find(name);
    char full[80];

    if (!with_receiver(w, c, method->elem))
        return w->p->bottom;
    if (row && !is_container(method->elem))
        return row->rule(w, c, row);
    snprintf(full, sizeof full, "%s.%.*s", method_prefix(method->elem), (int)strcspn(name + 1, "("),
             name + 1);
    if (is_container(method->elem)) {
        const struct type *grown = protocol_grow(w, c, method->elem, strchr(full, '.') + 1);
        grow_local(w, kir_arg(node_at(w, kir_arg(node_at(w, c->node), 0)), 0), grown);
        c->args[0].type = grown;
    }
    if (call_prelude(w, c, full, &t))
        return t;
    return unknown(w, c, full);
}

/* Functions that put their second argument into the list that is their first. */
static bool adds_to_list(const char *name)
{
    static const char *const names[] = { "heapq.heappush", "heapq.heapreplace",  "heapq.heappushpop",
                                         "bisect.insort",  "bisect.insort_left", "bisect.insort_right" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool has_times(const struct call *c)
{
    bool some = false;

    for (uint32_t i = 0; i < c->n_args; i++)
        some |= type_is_time(c->args[i].type);
    return some;
}

/* np.timedelta64(n, 'D'): the unit is part of the type. */
static const struct type *time_with_unit(struct walk *w, struct call *c, const struct type *meant)
{
    static const struct library_row cast = { LIB_FLOAT, "", "op.cast", rule_CAST };
    const struct kir_const *unit = c->args[1].from == ARG_NODE ? known(w, c->args[1].node) : NULL;
    const struct type *t = unit && unit->kind == KIR_K_STR
                               ? type_time(w->p->types, meant->kind == TY_DATETIME, unit->s.p)
                               : NULL;

    if (!t)
        return mistake(w, c->args[1].from == ARG_NODE ? c->args[1].node : c->node, NULL,
                       "a unit of time is a constant text such as 'D', 's' or 'ns'");
    c->n_args = 1;
    return rule_cast_to(w, c, &cast, t);
}

const struct type *library_call(struct walk *w, struct call *c, const char *name)
{
    const struct type *callee = fact_for(w, kir_arg(node_at(w, c->node), 0))->type, *meant, *t;
    const struct library_row *row = name ? find(name) : NULL;

    if (c->bottom)
        return w->p->bottom;
    for (uint32_t i = 0; i < c->n_args; i++)
        c->args[i].type = number_of(w, c->args[i].type);
    if (name && object_library(w, c, name, &t))
        return t;
    if (callee->kind == TY_METHOD)
        return method_call(w, c, name);
    if (row && (row->id == LIB_INT || row->id == LIB_FLOAT) && c->n_args && is_text(c->args[0].type)) {
        const char *read = row->id == LIB_INT ? "str.__int__" : "str.__float__";
        if (c->args[0].type == w->p->str && call_prelude(w, c, read, &t))
            return t;
    }
    if (name && c->n_args > 1 && c->args[0].from == ARG_NODE && is_container(c->args[0].type) &&
        adds_to_list(name)) {
        const struct type *grown = container_grow(w, c->node, c->args[0].type, c->args[1].type, NULL);
        grow_local(w, c->args[0].node, grown);
        c->args[0].type = grown;
    }
    bool several = row && (row->id == LIB_MIN || row->id == LIB_MAX) && c->n_args > 1;
    if (name && has_times(c) && !has_many(c) && call_prelude(w, c, arena_printf(w->p->a, "time.%s", name), &t))
        return t;
    if ((!row || (has_many(c) && !several)) && name && call_prelude(w, c, name, &t))
        return t;
    if (row)
        return row->rule(w, c, row);
    meant = type_meant(w, callee);
    if (meant && type_is_time(meant) && c->n_args == 2 && type_unit(meant) == TYPE_UNIT_NONE)
        return time_with_unit(w, c, meant);
    if (meant) {
        static const struct library_row cast = { LIB_FLOAT, "", "op.cast", rule_CAST };
        return rule_cast_to(w, c, &cast, meant);
    }
    return unknown(w, c, name);
}

/* ---- attributes ---- */

/* A method of the type that is a function of the prelude? */
static bool has_method(const struct walk *w, const struct type *base, const char *name)
{
    char full[80];

    return method_prefix(base) &&
           snprintf(full, sizeof full, "%s.%s", method_prefix(base), name) < (int)sizeof full &&
           prelude_find(w->p->prelude, full);
}

bool library_has_attr(struct walk *w, const struct type *base, const char *name)
{
    char key[80];

    if (strlen(name) > 60)
        return false;
    key[0] = '.';
    strcpy(key + 1, name);
    if (find(key) || has_method(w, base, name))
        return true;
    strcat(key, "()");
    return find(key) != NULL;
}

const struct type *library_attr(struct walk *w, uint32_t node, struct fact *f, const struct type *base,
                                const char *name)
{
    struct arg arg = { .from = ARG_NODE, .type = base, .node = kir_arg(node_at(w, node), 0) };
    struct call c = { .node = node, .f = f, .name = name, .args = &arg, .n_args = 1 };
    const struct library_row *row;
    char key[80];
    const struct type *t;
    const char *hint;

    if (base->kind == TY_TYPEVALUE && strcmp(name, "type") == 0)
        return base; /* the class of a dtype's scalars: both are the type itself here */
    if (base->kind == TY_TYPEVALUE && strcmp(name, "itemsize") == 0 && is_pure(w, arg.node))
        return know_int(w, f, type_element_layout(base->elem).size);
    if (base->kind == TY_TYPEVALUE && is_pure(w, arg.node) && (t = limits_attr(w, f, base->elem, name)))
        return t;
    if (strlen(name) > 60 || (!protocol_prefix(base) && !type_is_number(base)))
        return mistake(w, node, NULL, "%s has no attribute '%s'", show(w, base), name);
    key[0] = '.';
    strcpy(key + 1, name);
    row = base->kind == TY_ARRAY || type_is_number(base) ? find(key) : NULL;
    if (row)
        return row->rule(w, &c, row);
    strcat(key, "()");
    if ((base->kind == TY_ARRAY || type_is_number(base) ? find(key) != NULL : false) ||
        has_method(w, base, name)) {
        t = type_named(w->p->types, TY_METHOD, key, base, NULL, 0);
        return t ? t : fail_memory(w->p);
    }
    hint = nearest_library_name(w, arena_printf(w->p->a, ".%s", name));
    if (!hint)
        hint = nearest_library_name(w, key);
    if (!hint && method_prefix(base))
        hint = nearest_library_name(w, arena_printf(w->p->a, "%s.%s", method_prefix(base), name));
    if (!hint)
        hint = "docs/coverage.md lists what is compiled";
    return mistake(w, node, hint, "%s has no attribute '%s' that is compiled by this version", show(w, base),
                   name);
}
