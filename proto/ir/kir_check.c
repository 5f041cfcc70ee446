/* SPDX-License-Identifier: Apache-2.0
 * kir_check.c - is a decoded module well-formed and canonical? One pass over all nodes in order.
 *
 * Because nodes are in post-order, everything about a subtree is known when its root is met: no recursion.
 * What passes up from child to parent are eight flags and the depth. The numbering of functions,
 * constants, user types, environment slots and locals is checked by counters: the next number that was not
 * mentioned yet is the only one above those seen that may be mentioned. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/ir/kir_private.h"

enum {
    NODE_TARGET = 1, /* may be assigned to */
    NODE_STAR = 2,
    NODE_STAR_TARGET = 4, /* a STAR whose operand may be assigned to */
    NODE_FORMAT = 8,
    NODE_JUMP = 16, /* a break or continue inside that no loop inside has taken */
};

struct info {
    uint8_t flags;
    char class;
    uint16_t depth;
};

struct visit {
    uint32_t index, item;
    bool fields; /* item counts the members of its enum, not its own items */
};

struct checker {
    const struct kir_module *m;
    struct kiln_err *e;
    struct kir_place *at;
    uint32_t func, node; /* where we are */
    const struct kir_function *fn;
    uint32_t next_func, next_const, next_usertype, next_env, next_local;
    bool yields;
    /* scratch, as large as the largest function */
    struct info *info;
    uint32_t *stack, *children;
    uint32_t sp, n_children;
    struct visit *visits; /* constants under way, see visit_const */
    uint32_t *name_mark;  /* per constant: serial of the last CALL with this keyword, or function with this
                             parameter */
    uint32_t serial;
};

static int bad(struct checker *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int bad(struct checker *k, const char *fmt, ...)
{
    const struct kir_opinfo *info = kir_opinfo(k->fn->nodes[k->node].op);
    char msg[160];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    *k->at = (struct kir_place){ k->func, k->node };
    return kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "function %u, node %u (%s): %s", k->func, k->node,
                        info->text, msg);
}

static int bad_function(struct checker *k, const char *why)
{
    return kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "function %u: %s", k->func, why);
}

/* ---- order of constants ---------------------------------------------------------------------------- */

/* The functions of a class are met where the class is, in the order of its methods. */
static int meet_methods(struct checker *k, uint32_t usertype)
{
    const struct kir_usertype *t = &k->m->usertypes[usertype];

    for (uint32_t i = 0; i < t->n_methods; i++) {
        uint32_t f = t->methods[i].function;
        if (f >= k->m->n_functions || f > k->next_func || k->m->functions[f].n_free)
            return kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "user type %u: method %u can't be function %u",
                                usertype, i, f);
        k->next_func += f == k->next_func;
    }
    return 0;
}

/* Begin with constant c, not met before: its user type is met now, if it is new. */
static int enter_const(struct checker *k, uint32_t c, uint32_t *depth)
{
    const struct kir_const *at = &k->m->consts[c];
    struct visit *v = &k->visits[(*depth)++];

    *v = (struct visit){ c, 0, false };
    if (at->kind != KIR_K_ENUM && at->kind != KIR_K_NAMEDTUPLE && at->kind != KIR_K_USERTYPE)
        return 0;
    if (at->usertype > k->next_usertype)
        return kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "user type %u is not in order of first reference",
                            at->usertype);
    if (at->usertype == k->next_usertype) {
        k->next_usertype++;
        v->fields = kir_is_enum(k->m->usertypes[at->usertype].kind);
        return meet_methods(k, at->usertype);
    }
    return 0;
}

/* The next part of the constant on top that it refers to; false: all were met. */
static bool next_part(struct checker *k, struct visit *v, uint32_t *ret)
{
    const struct kir_const *c = &k->m->consts[v->index];

    if (v->fields) {
        const struct kir_usertype *t = &k->m->usertypes[c->usertype];
        if (v->item < t->n_fields) {
            *ret = t->field_consts[v->item++];
            return true;
        }
        v->fields = false;
        v->item = 0;
    }
    if ((c->kind != KIR_K_TUPLE && c->kind != KIR_K_NAMEDTUPLE) || v->item == c->n_items)
        return false;
    *ret = c->items[v->item++];
    return true;
}

/* A reference to constant c. If it is the first one, c and what it refers to must have the next numbers, in
 * post-order. Each constant is entered once in a module, so this is linear over all references. The stack
 * holds falling indexes (items come before their tuple), so n_consts entries are enough. */
static int visit_const(struct checker *k, uint32_t c)
{
    uint32_t depth = 0, part;
    int rc;

    if (c < k->next_const)
        return 0;
    if ((rc = enter_const(k, c, &depth)))
        return rc;
    while (depth) {
        struct visit *v = &k->visits[depth - 1];
        if (next_part(k, v, &part)) {
            if (part < k->next_const)
                continue;
            if (part >= v->index)
                return kiln_err_set(k->e, KILN_E_KIR_BAD, 0,
                                    "constant %u refers to %u, which must come before it", v->index, part);
            if ((rc = enter_const(k, part, &depth)))
                return rc;
        } else if (v->index != k->next_const) {
            return kiln_err_set(k->e, KILN_E_KIR_BAD, 0,
                                "constant %u is not in order of first reference: it should be %u", v->index,
                                k->next_const);
        } else {
            k->next_const++;
            depth--;
        }
    }
    return 0;
}

/* ---- operands -------------------------------------------------------------------------------------- */

static bool enum_valid(unsigned op, uint32_t number)
{
    if (op == KIR_FORMAT)
        return number == 0 || number == 's' || number == 'r' || number == 'a';
    return kir_enum_text(op, number) != NULL;
}

/* Whether a node of these flags may be operand k of op where letter says e: STAR and FORMAT have their
 * places. */
static bool expression_fits(unsigned op, unsigned k, unsigned flags)
{
    if (flags & NODE_STAR)
        return (op == KIR_CALL && k == 1) || op == KIR_TUPLE || op == KIR_LIST || op == KIR_SET;
    if (flags & NODE_FORMAT)
        return op == KIR_FSTRING;
    return true;
}

static int check_child(struct checker *k, unsigned op, char letter, unsigned operand, uint32_t child,
                       struct info *up)
{
    const struct info *c;
    bool fits;

    if (child >= k->node)
        return bad(k, "operand node %u does not come before it", child);
    c = &k->info[child];
    switch (letter) {
    case 'e':
        fits = c->class == 'E' && expression_fits(op, operand, c->flags);
        break;
    case 't':
        fits = c->flags & NODE_TARGET;
        break;
    case 'b':
        fits = c->class == 'B';
        break;
    default: /* S g h w: the class in capitals */
        fits = c->class == (letter & ~0x20);
        break;
    }
    if (!fits)
        return bad(k, "a node %s cannot be operand %u", kir_opinfo(k->fn->nodes[child].op)->text, operand);
    if (c->depth >= up->depth)
        up->depth = c->depth + 1;
    /* A loop takes the jumps of its body (operand 1 of WHILE, 2 of FOR), not those of its else block. */
    if ((c->flags & NODE_JUMP) &&
        !((op == KIR_WHILE && operand == 1) || ((op == KIR_FOR || op == KIR_PARFOR) && operand == 2)))
        up->flags |= NODE_JUMP;
    if (k->n_children == k->sp) /* also keeps children[] within its size */
        return bad(k, "more operands than nodes without a parent");
    k->children[k->n_children++] = child;
    return 0;
}

static int mention_local(struct checker *k, uint32_t l)
{
    if (l >= k->fn->n_locals)
        return bad(k, "there is no local %u", l);
    if (l > k->next_local)
        return bad(k, "local %u is not in order of first mention: it should be %u", l, k->next_local);
    if (l == k->next_local)
        k->next_local++;
    return 0;
}

static int mention_function(struct checker *k, unsigned op, uint32_t f)
{
    bool free;

    if (f >= k->m->n_functions)
        return bad(k, "there is no function %u", f);
    if (f > k->next_func)
        return bad(k, "function %u is not in order of first reference: it should be %u", f, k->next_func);
    if (f == k->next_func)
        k->next_func++;
    free = k->m->functions[f].n_free != 0;
    if (free != (op == KIR_CLOSURE))
        return bad(k,
                   free ? "function %u has free variables: it needs a closure"
                        : "function %u has no free variables: it needs func",
                   f);
    return 0;
}

static bool is_name(const struct kir_const *c)
{
    return c->kind == KIR_K_STR && c->s.len > 0 && c->s.len <= KIR_MAX_NAME && !memchr(c->s.p, 0, c->s.len);
}

static int check_operand(struct checker *k, unsigned op, char letter, unsigned operand, uint32_t x,
                         struct info *up)
{
    switch (letter) {
    case 'c':
    case 's':
        if (x >= k->m->n_consts)
            return bad(k, "there is no constant %u", x);
        if (letter == 's' && !is_name(&k->m->consts[x]))
            return bad(k, "constant %u is no name: a str of 1 to %u bytes without NUL", x, KIR_MAX_NAME);
        return visit_const(k, x);
    case 'l':
        return mention_local(k, x);
    case 'f':
        return mention_function(k, op, x);
    case 'u':
        return x < k->fn->n_free ? 0 : bad(k, "there is no free variable %u", x);
    case 'v':
        if (x >= k->m->n_env)
            return bad(k, "there is no environment slot %u", x);
        if (x > k->next_env)
            return bad(k, "environment slot %u is not in order of first reference: it should be %u", x,
                       k->next_env);
        k->next_env += x == k->next_env;
        return 0;
    case 'i':
        return enum_valid(op, x) ? 0 : bad(k, "%u is no number of operand %u", x, operand);
    default:
        return check_child(k, op, letter, operand, x, up);
    }
}

static int check_operands(struct checker *k, const struct kir_node *n, struct info *up)
{
    int rc = 0;

    for (struct kir_walk w = kir_walk(n); !rc && kir_walk_next(&w);)
        rc = check_operand(k, n->op, w.letter, w.operand, w.value, up);
    return rc;
}

/* ---- rules of single nodes ------------------------------------------------------------------------- */

static uint32_t count(const struct kir_node *n, unsigned k)
{
    uint32_t c;

    kir_list(n, k, &c);
    return c;
}

static int check_tuple(struct checker *k, struct info *up)
{
    unsigned stars = 0;
    bool target = true;

    for (uint32_t i = 0; i < k->n_children; i++) {
        unsigned flags = k->info[k->children[i]].flags;
        stars += (flags & NODE_STAR) != 0;
        target &= (flags & (NODE_TARGET | NODE_STAR_TARGET)) != 0;
    }
    if (target && stars <= 1)
        up->flags |= NODE_TARGET;
    return 0;
}

static int check_call(struct checker *k, const struct kir_node *n)
{
    uint32_t n_names, n_values;
    const uint32_t *names = kir_list(n, 2, &n_names);

    kir_list(n, 3, &n_values);
    if (n_names != n_values)
        return bad(k, "%u keywords but %u values", n_names, n_values);
    k->serial++;
    for (uint32_t i = 0; i < n_names; i++) {
        if (k->name_mark[names[i]] == k->serial)
            return bad(k, "a keyword comes twice");
        k->name_mark[names[i]] = k->serial;
    }
    return 0;
}

static int check_closure(struct checker *k, const struct kir_node *n)
{
    uint32_t captures = count(n, 1) + count(n, 2), wanted = k->m->functions[n->args[0]].n_free;

    return captures == wanted ? 0 : bad(k, "%u captures for %u free variables", captures, wanted);
}

static int check_fstring(struct checker *k)
{
    for (uint32_t i = 0; i < k->n_children; i++) {
        const struct kir_node *part = &k->fn->nodes[k->children[i]];
        if (part->op != KIR_FORMAT &&
            (part->op != KIR_CONST || k->m->consts[part->args[0]].kind != KIR_K_STR))
            return bad(k, "parts are string constants and format");
    }
    return 0;
}

static int check_try(struct checker *k, const struct kir_node *n)
{
    uint32_t n_handlers;
    const uint32_t *handlers = kir_list(n, 1, &n_handlers);

    if (n_handlers == 0 && kir_opt(n, 3) == KIR_NIL)
        return bad(k, "neither a handler nor a finally block");
    if (n_handlers == 0 && kir_opt(n, 2) != KIR_NIL)
        return bad(k, "an else block without a handler");
    for (uint32_t i = 0; i + 1 < n_handlers; i++)
        if (kir_opt(&k->fn->nodes[handlers[i]], 0) == KIR_NIL)
            return bad(k, "the handler without a class comes last");
    return 0;
}

static int no_tuple(struct checker *k, const struct kir_node *n)
{
    for (uint32_t i = 0; i < k->n_children; i++)
        if (k->fn->nodes[k->children[i]].op == KIR_TUPLE && !(n->op == KIR_AUGASSIGN && i > 0))
            return bad(k, "a tuple is no target here");
    return 0;
}

static int check_rules(struct checker *k, const struct kir_node *n, struct info *up)
{
    switch (n->op) {
    case KIR_LOCAL:
    case KIR_FREE:
    case KIR_ATTR:
    case KIR_SUBSCRIPT:
        up->flags |= NODE_TARGET;
        return 0;
    case KIR_TUPLE:
        return check_tuple(k, up);
    case KIR_STAR:
        up->flags |= NODE_STAR | (k->info[k->children[0]].flags & NODE_TARGET ? NODE_STAR_TARGET : 0);
        return 0;
    case KIR_FORMAT:
        up->flags |= NODE_FORMAT;
        return 0;
    case KIR_BREAK:
    case KIR_CONTINUE:
        up->flags |= NODE_JUMP;
        return 0;
    case KIR_COMPARE:
        return count(n, 0) >= 1 && count(n, 1) == count(n, 0) + 1
                   ? 0
                   : bad(k, "one operand more than operators are needed");
    case KIR_AND:
    case KIR_OR:
        return count(n, 0) >= 2 ? 0 : bad(k, "two operands are needed");
    case KIR_DICT:
        return count(n, 0) == count(n, 1) ? 0 : bad(k, "as many keys as values are needed");
    case KIR_CALL:
        return check_call(k, n);
    case KIR_COMP:
        if ((n->args[0] == KIR_COMP_DICT) != (kir_opt(n, 1) != KIR_NIL))
            return bad(k, "a dict, and only a dict, has a key");
        return count(n, 3) >= 1 ? 0 : bad(k, "a clause is needed");
    case KIR_CLOSURE:
        return check_closure(k, n);
    case KIR_FSTRING:
        return check_fstring(k);
    case KIR_YIELD:
    case KIR_YIELDFROM:
        k->yields = true;
        return 0;
    case KIR_ASSIGN:
        return count(n, 1) >= 1 ? 0 : bad(k, "a target is needed");
    case KIR_AUGASSIGN:
        return no_tuple(k, n);
    case KIR_DEL:
        return count(n, 0) >= 1 ? no_tuple(k, n) : bad(k, "a target is needed");
    case KIR_WITH:
        return count(n, 0) >= 1 ? 0 : bad(k, "an item is needed");
    case KIR_RAISE:
        return kir_opt(n, 0) == KIR_NIL && kir_opt(n, 1) != KIR_NIL ? bad(k, "a cause without an exception")
                                                                    : 0;
    case KIR_HANDLER:
        return kir_opt(n, 0) == KIR_NIL && kir_opt(n, 1) != KIR_NIL ? bad(k, "a name without a class") : 0;
    case KIR_TRY:
        return check_try(k, n);
    default:
        return 0;
    }
}

/* ---- nodes and functions --------------------------------------------------------------------------- */

static int check_node(struct checker *k)
{
    const struct kir_node *n = &k->fn->nodes[k->node];
    struct info up = { 0, kir_opinfo(n->op)->class, 1 };
    int rc;

    k->n_children = 0;
    if ((rc = check_operands(k, n, &up)))
        return rc;
    if (k->n_children > k->sp || (k->n_children && memcmp(k->stack + k->sp - k->n_children, k->children,
                                                          k->n_children * sizeof *k->stack)))
        return bad(k, "operands are not the topmost nodes in order: the code is not in post-order");
    k->sp -= k->n_children;
    if ((rc = check_rules(k, n, &up)))
        return rc;
    if (up.depth > KIR_MAX_DEPTH)
        return kiln_err_set(k->e, KILN_E_LIMIT, 0, "function %u, node %u: nested more than %u deep", k->func,
                            k->node, KIR_MAX_DEPTH);
    k->stack[k->sp++] = k->node;
    k->info[k->node] = up;
    return 0;
}

static uint32_t hash_name(const char *s)
{
    uint32_t h = 2166136261u;

    while (*s)
        h = (h ^ (unsigned char)*s++) * 16777619u;
    return h ^ h >> 15;
}

/* No two parameters have one name. Pairwise where there are few (clearing a table costs more), else
 * KIR_MAX_PARAMS names in a table twice that size. */
static bool names_unique(const struct kir_function *f)
{
    const char *table[512];

    if (f->n_params <= 8) {
        for (uint32_t i = 1; i < f->n_params; i++)
            for (uint32_t j = 0; j < i; j++)
                if (!strcmp(f->params[i].name, f->params[j].name))
                    return false;
        return true;
    }
    memset(table, 0, sizeof table);
    for (uint32_t i = 0; i < f->n_params; i++) {
        uint32_t at = hash_name(f->params[i].name) & 511u;
        for (; table[at]; at = (at + 1) & 511u)
            if (!strcmp(table[at], f->params[i].name))
                return false;
        table[at] = f->params[i].name;
    }
    return true;
}

static int check_params(struct checker *k)
{
    const struct kir_function *f = k->fn;
    bool defaults = false;
    int rc;

    if (f->n_params > f->n_locals)
        return bad_function(k, "parameters are locals: there are fewer locals");
    if (!names_unique(f))
        return bad_function(k, "two parameters have one name");
    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct kir_param *p = &f->params[i];
        bool single = p->kind == KIR_P_STAR || p->kind == KIR_P_KWSTAR;
        if (i && (p->kind < f->params[i - 1].kind || (single && p->kind == f->params[i - 1].kind)))
            return bad_function(k, "parameters are not in the order posonly, normal, star, kwonly, kwstar");
        if (p->default_plus_1 > k->m->n_consts)
            return bad_function(k, "a default is no constant");
        if (p->default_plus_1 && single)
            return bad_function(k, "*args and **kwargs have no default");
        if (!p->default_plus_1 && defaults && (p->kind == KIR_P_POSONLY || p->kind == KIR_P_NORMAL))
            return bad_function(k, "a parameter without a default follows one with a default");
        defaults |= p->default_plus_1 != 0;
        if (p->default_plus_1 && (rc = visit_const(k, p->default_plus_1 - 1)))
            return rc;
    }
    return 0;
}

static int check_flags(struct checker *k)
{
    uint32_t all = 0;

#define KIR_FLAG(NAME, bit, text) all |= bit;
#include "proto/ir/enums.def"
#undef KIR_FLAG
    if (k->func == 0)
        return k->fn->flags ? bad_function(k, "the entry's flags come with the request: 0 here") : 0;
    if (k->fn->flags & ~all)
        return bad_function(k, "unknown flags");
    if (!(k->fn->flags & KIR_F_GENERATOR) != !k->yields)
        return bad_function(k, "the generator flag is set exactly if there is a yield");
    return 0;
}

static int check_function(struct checker *k)
{
    int rc;

    if (k->func >= k->next_func)
        return bad_function(k, "no function before it refers to it");
    if (k->func == 0 && k->fn->n_free)
        return bad_function(k, "the entry has no free variables");
    if ((rc = check_params(k)))
        return rc;
    k->next_local = k->fn->n_params;
    k->sp = 0;
    k->yields = false;
    for (k->node = 0; k->node < k->fn->n_nodes; k->node++)
        if ((rc = check_node(k)))
            return rc;
    if (k->sp != 1 || k->fn->nodes[k->fn->n_nodes - 1].op != KIR_BLOCK)
        return bad_function(k, "the last node must be the body, a block that contains all others");
    if (k->info[k->fn->n_nodes - 1].flags & NODE_JUMP)
        return bad_function(k, "a break or continue is in no loop");
    if (k->next_local != k->fn->n_locals)
        return bad_function(k, "a local is never mentioned");
    return check_flags(k);
}

static int check_all(struct checker *k)
{
    int rc;

    for (k->func = 0; k->func < k->m->n_functions; k->func++) {
        k->fn = &k->m->functions[k->func];
        k->node = 0;
        if ((rc = check_function(k)))
            return rc;
    }
    if (k->next_const != k->m->n_consts)
        return kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "constant %u is not referred to", k->next_const);
    if (k->next_usertype != k->m->n_usertypes)
        return kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "user type %u is not referred to", k->next_usertype);
    if (k->next_env != k->m->n_env)
        return kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "environment slot %u is not referred to", k->next_env);
    return 0;
}

int kir_check_functions(struct arena *a, const struct kir_module *m, struct kir_place *at, struct kiln_err *e)
{
    struct checker k = { .m = m, .e = e, .at = at, .next_func = 1 };
    uint32_t largest = 0;

    for (uint32_t i = 0; i < m->n_functions; i++)
        if (m->functions[i].n_nodes > largest)
            largest = m->functions[i].n_nodes;
    k.info = arena_new_array(a, largest, struct info);
    k.stack = arena_new_array(a, largest, uint32_t);
    k.children = arena_new_array(a, largest, uint32_t);
    k.visits = arena_new_array(a, m->n_consts, struct visit);
    k.name_mark = arena_new_array(a, m->n_consts, uint32_t);
    if (!k.info || !k.stack || !k.children || !k.visits || !k.name_mark)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "the module needs more memory than a request may take");
    return check_all(&k);
}
