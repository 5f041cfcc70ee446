/* SPDX-License-Identifier: Apache-2.0
 * infer.c - the driver: from a signature to a typed program, and how mistakes are reported. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/infer/pass.h"

const struct type *fail_memory(struct pass *p)
{
    if (!p->failed) {
        p->failed = true;
        kiln_err_set(p->e, KILN_E_LIMIT, 0, "typing the function needs more memory than a job may use");
    }
    return p->bottom;
}

/* The number of a class is nothing to read: its name instead. */
static const char *with_names(struct walk *w, const char *s)
{
    static const char mark[] = "object(";
    const char *at = strstr(s, mark);
    char *end;
    unsigned long number;

    if (!at)
        return s;
    number = strtoul(at + strlen(mark), &end, 10);
    if (number >= w->p->user->mod->n_usertypes)
        return s;
    return arena_printf(w->p->a, "%.*s%s%s", (int)(at - s), s, w->p->user->mod->usertypes[number].name,
                        with_names(w, end + 1));
}

const char *show(struct walk *w, const struct type *t)
{
    const char *s = type_text(w->p->a, t);

    s = s ? with_names(w, s) : NULL;
    return s ? s : "?";
}

/* A mistake inside the prelude is the user's at the place that called it; *ret_callee is what was called
 * there. */
static const struct work *user_place(const struct work *w, uint32_t *node, const struct work **ret_callee)
{
    *ret_callee = NULL;
    while (w->in.unit->prelude && w->caller) {
        *ret_callee = w;
        *node = w->call_node;
        w = w->caller;
    }
    return w;
}

static const char *prelude_name(const struct pass *p, const struct work *w)
{
    const char *name = NULL;

    for (uint32_t i = 0; w && i < p->prelude->n_names; i++)
        if (p->prelude->names[i].function == w->in.func)
            name = p->prelude->names[i].name; /* the last one: numpy.sum rather than ndarray.sum */
    return name;
}

static void call_chain(struct walk *w, struct diagnostic *d, const struct work *at)
{
    for (unsigned i = 0; at->caller && i < 3; i++, at = at->caller)
        if (!at->caller->in.unit->prelude)
            diag_note(w->p->d, d, (int32_t)at->caller->in.func, (int32_t)at->call_node, "called from here");
}

const struct type *mistake(struct walk *w, uint32_t node, const char *hint, const char *fmt, ...)
{
    struct diagnostics *list = w->p->d;
    const struct work *callee, *at = user_place(w->w, &node, &callee);
    const char *library = prelude_name(w->p, callee);
    struct diagnostic *d;
    char text[400];
    va_list ap;

    if (!w->emit || list->n >= INFER_MAX_DIAGNOSTICS)
        return w->p->bottom;
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].function == (int32_t)at->in.func && list->items[i].node == (int32_t)node)
            return w->p->bottom;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    d = diag_add(list, KILN_E_TYPE, (int32_t)at->in.func, (int32_t)node, hint, "%s%s%s",
                 library ? library : "", library ? ": " : "", text);
    if (d)
        call_chain(w, d, at);
    else
        fail_memory(w->p);
    return w->p->bottom;
}

struct diagnostic *last_mistake(struct walk *w)
{
    return w->emit && w->p->d->n ? &w->p->d->items[w->p->d->n - 1] : NULL;
}

void note_here(struct walk *w, struct diagnostic *d, uint32_t node, const char *fmt, ...)
{
    const struct work *callee, *at = user_place(w->w, &node, &callee);
    char text[400];
    va_list ap;

    if (!d)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    diag_note(w->p->d, d, (int32_t)at->in.func, (int32_t)node, "%s", text);
}

/* ---- the driver ---- */

static bool basic_types(struct pass *p)
{
    p->bottom = type_scalar(p->types, TY_UNSET);
    p->none = type_scalar(p->types, TY_NONE);
    p->boolean = type_scalar(p->types, TY_BOOL);
    p->pyint = type_scalar(p->types, TY_PYINT);
    p->pyfloat = type_scalar(p->types, TY_PYFLOAT);
    p->pycomplex = type_scalar(p->types, TY_PYCOMPLEX);
    p->str = type_scalar(p->types, TY_STR);
    p->conflict = type_scalar(p->types, TY_CONFLICT);
    return p->bottom && p->none && p->boolean && p->pyint && p->pyfloat && p->pycomplex && p->str &&
           p->conflict;
}

/* The entry's parameters from the signature: as many types as parameters, the *args parameter takes the rest.
 */
static int entry_params(struct pass *p, const struct signature *sig, const struct type *const **ret)
{
    const struct kir_function *fn = &p->user->mod->functions[0];
    const struct type **types = arena_new_array(p->a, fn->n_params + 1, const struct type *);
    uint32_t at = 0;

    if (!types) {
        fail_memory(p);
        return -KILN_E_LIMIT;
    }
    for (uint32_t i = 0; i < fn->n_params; i++) {
        uint32_t after = fn->n_params - i - 1;
        if (fn->params[i].kind == KIR_P_STAR && sig->n_params >= at + after) {
            uint32_t n = sig->n_params - at - after;
            if (n == 1 && sig->params[at]->kind == TY_TUPLE && sig->n_params == fn->n_params) {
                types[i] = sig->params[at]; /* the tuple itself */
            } else {
                types[i] = type_tuple(p->types, sig->params + at, n, 0);
            }
            at += n;
        } else if (at < sig->n_params) {
            types[i] = sig->params[at++];
        } else {
            at++; /* too few: reported below */
        }
        if (!types[i] && at <= sig->n_params) {
            fail_memory(p);
            return -KILN_E_LIMIT;
        }
    }
    if (at != sig->n_params) {
        diag_add(p->d, KILN_E_SIGNATURE, 0, -1, NULL, "the signature has %u types for %u parameters",
                 sig->n_params, fn->n_params);
        return kiln_err_set(p->e, KILN_E_SIGNATURE, 0, "the signature has %u types for %u parameters",
                            sig->n_params, fn->n_params);
    }
    for (uint32_t i = 0; i < sig->n_params + (sig->ret != NULL); i++)
        if (!type_is_valid(p, i < sig->n_params ? sig->params[i] : sig->ret))
            return kiln_err_set(p->e, KILN_E_SIGNATURE, 0, "the signature names a user type or a function that the module lacks");
    for (uint32_t i = 0; i < fn->n_params && p->options.numba; i++)
        types[i] = strong(p, types[i]);
    *ret = types;
    return 0;
}

/* The result that the signature states; the function's own where it states none. */
static void state_result(struct pass *p, struct work *entry, const struct type *stated)
{
    if (!stated || p->d->n)
        return;
    if (stated->kind == TY_NONE || assignable(p, entry->in.ret, stated))
        entry->in.ret = stated;
    else
        diag_add(p->d, KILN_E_TYPE, 0, (int32_t)entry->ret_node, NULL,
                 "the signature promises %s, but the function returns %s", type_text(p->a, stated),
                 type_text(p->a, entry->in.ret));
}

/* The last walk of each instance: diagnostics, edges, and what lowering asks of an instance. */
static void finish(struct pass *p, struct work *w)
{
    instance_walk(p, w, true);
    w->in.facts = w->facts;
    w->in.ret = is_bottom(w->ret) ? p->none : w->ret;
    w->in.no_return = !w->returns;
    w->in.may_raise = w->raises || w->in.recursive;
    edges_finish(w);
}

static bool returnable(const struct type *t)
{
    if (type_class(t) == TC_V || t->kind == TY_POINTER)
        return false;
    for (uint32_t i = 0; t->kind == TY_TUPLE && i < t->n_items; i++)
        if (!returnable(t->items[i]))
            return false;
    for (uint32_t i = 0; t->kind == TY_DICT && i < 2; i++)
        if (!returnable(t->items[i]))
            return false;
    return (t->kind != TY_OPTIONAL && t->kind != TY_LIST && t->kind != TY_SET) || returnable(t->elem);
}

static struct program *program_of(struct pass *p)
{
    struct program *r = arena_new(p->a, struct program);
    struct instance **list = arena_new_array(p->a, p->n_works, struct instance *);

    if (!r || !list)
        return NULL;
    for (struct work *w = p->works; w; w = w->next)
        list[w->in.id] = &w->in;
    r->types = p->types;
    r->user = p->user;
    r->prelude = p->prelude;
    r->instances = list;
    r->n_instances = p->n_works;
    r->env = p->env;
    r->n_env = p->n_env;
    r->options = p->options;
    return r;
}

/* Instances are numbered as they were made. The emitting walks normally make none; any that they do make are
 * finished as well. */
static void finish_all(struct pass *p)
{
    for (uint32_t id = 0; id < p->n_works && !p->failed; id++)
        for (struct work *w = p->works; w; w = w->next)
            if (w->in.id == id)
                finish(p, w);
}

int infer_run(struct arena *a, struct type_table *types, const struct unit *user, const struct unit *prelude,
              const struct signature *sig, const struct type *const *env, uint32_t n_env,
              const struct compile_options *options, struct program **ret, struct diagnostics *d,
              struct kiln_err *e)
{
    struct pass p = { .a = a,
                      .types = types,
                      .user = user,
                      .prelude = prelude,
                      .env = env,
                      .n_env = n_env,
                      .options = *options,
                      .d = d,
                      .e = e };
    const struct type *const *params = NULL;
    struct work *entry;
    int r;

    *ret = NULL;
    if (!basic_types(&p))
        return kiln_err_set(e, KILN_E_NOMEM, 0, "type table");
    r = entry_params(&p, sig, &params);
    if (r < 0)
        return r;
    entry = instance_entry(&p, params);
    if (entry)
        instance_ensure(&p, entry);
    finish_all(&p);
    if (p.failed)
        return -e->code;
    state_result(&p, entry, sig->ret);
    if (!d->n && !returnable(entry->in.ret))
        diag_add(d, KILN_E_TYPE, 0, (int32_t)entry->ret_node, "return numbers, tuples or arrays",
                 "a compiled function can't return %s to Python", type_text(a, entry->in.ret));
    if (d->n)
        return kiln_err_set(e, KILN_E_TYPE, 0, "%s", d->items[0].message);
    *ret = program_of(&p);
    return *ret
               ? 0
               : kiln_err_set(e, KILN_E_LIMIT, 0, "typing the function needs more memory than a job may use");
}
