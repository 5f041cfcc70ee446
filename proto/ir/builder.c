/* SPDX-License-Identifier: Apache-2.0
 * builder.c - handles of constants, user types, functions; nodes onto a stack.
 *
 * Constants are interned by their wire bytes (with handles for references), so that equality is what the
 * decoder means by it. */
#include "proto/ir/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/ir/builder_private.h"
#include "proto/ir/kir_private.h"

#define BUILDER_LIMIT (1ull << 32) /* bytes: a module of the largest frame, with room for doubling */

struct kir_builder *kir_builder_new(void)
{
    struct kir_builder *b = calloc(1, sizeof *b);

    if (!b)
        return NULL;
    arena_init(&b->a, BUILDER_LIMIT);
    buf_init(&b->text, 1u << 30);
    return b;
}

void kir_builder_free(struct kir_builder *b)
{
    if (!b)
        return;
    arena_done(&b->a);
    buf_done(&b->text);
    free(b);
}

int kir_builder_error(const struct kir_builder *b, struct kiln_err *e)
{
    if (b->err.code)
        *e = b->err;
    return -b->err.code;
}

uint32_t kir_builder_fail(struct kir_builder *b, enum kiln_code code, const char *fmt, ...)
{
    char msg[200];
    va_list ap;

    if (b->err.code)
        return KIR_NIL;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    kiln_err_set(&b->err, code, 0, "%s", msg);
    return KIR_NIL;
}

static uint32_t no_memory(struct kir_builder *b)
{
    return kir_builder_fail(b, KILN_E_NOMEM, "out of memory");
}

static uint32_t misuse(struct kir_builder *b, const char *what)
{
    return kir_builder_fail(b, KILN_E_KIR_BAD, "%s", what);
}

/* ---- interning ------------------------------------------------------------------------------------- */

static uint32_t hash_bytes(const unsigned char *p, size_t len)
{
    uint64_t h = 1469598103934665603ull;

    while (len--)
        h = (h ^ *p++) * 1099511628211ull;
    return (uint32_t)(h ^ h >> 32);
}

static struct kir_b_key *slot_for(struct kir_b_keys *k, const unsigned char *p, size_t len, uint32_t hash)
{
    uint32_t at = hash & (k->size - 1);

    while (k->slots[at].p &&
           (k->slots[at].hash != hash || k->slots[at].len != len || memcmp(k->slots[at].p, p, len)))
        at = (at + 1) & (k->size - 1);
    return &k->slots[at];
}

static bool grow_keys(struct kir_builder *b, struct kir_b_keys *k)
{
    struct kir_b_keys bigger = { .n = k->n, .size = k->size ? k->size * 2 : 64 };

    if (k->n * 2 < k->size)
        return true;
    bigger.slots = arena_new_array(&b->a, bigger.size, struct kir_b_key);
    if (!bigger.slots)
        return false;
    for (uint32_t i = 0; i < k->size; i++)
        if (k->slots[i].p)
            *slot_for(&bigger, k->slots[i].p, k->slots[i].len, k->slots[i].hash) = k->slots[i];
    *k = bigger;
    return true;
}

/* The slot of the bytes in b->text: with its handle if they are known, else the bytes are kept and the slot
 * has KIR_NIL. NULL when out of memory. */
static struct kir_b_key *intern(struct kir_builder *b, struct kir_b_keys *k)
{
    struct kir_b_key *slot;
    uint32_t hash;

    if (!buf_ok(&b->text) || !grow_keys(b, k))
        return NULL;
    hash = hash_bytes(b->text.data, b->text.len);
    slot = slot_for(k, b->text.data, b->text.len, hash);
    if (slot->p)
        return slot;
    unsigned char *p = (unsigned char *)arena_dup(&b->a, b->text.data, b->text.len);
    if (!p)
        return NULL;
    *slot = (struct kir_b_key){ p, (uint32_t)b->text.len, hash, KIR_NIL };
    k->n++;
    return slot;
}

/* ---- constants ------------------------------------------------------------------------------------- */

static bool has_text(enum kir_const_kind kind)
{
    return kind == KIR_K_BIGINT || kind == KIR_K_STR || kind == KIR_K_BYTES || kind == KIR_K_TYPE ||
           kind == KIR_K_EXCEPTION || kind == KIR_K_SCALAR || kind == KIR_K_ARRAY;
}

/* Copy what c points to into arena a. */
static bool copy_const(struct arena *a, struct kir_const *c)
{
    if (has_text(c->kind) && !(c->s.p = arena_dup(a, c->s.p, c->s.len)))
        return false;
    if (c->data && !(c->data = (unsigned char *)arena_dup(a, c->data, c->data_len)))
        return false;
    return !c->items || (c->items = (uint32_t *)arena_dup(a, c->items, c->n_items * sizeof *c->items));
}

static bool const_handles_valid(const struct kir_builder *b, const struct kir_const *c)
{
    bool refers = c->kind == KIR_K_TUPLE || c->kind == KIR_K_NAMEDTUPLE;
    bool user = c->kind == KIR_K_NAMEDTUPLE || c->kind == KIR_K_ENUM || c->kind == KIR_K_USERTYPE;

    for (uint32_t i = 0; refers && i < c->n_items; i++)
        if (c->items[i] >= b->n_consts)
            return false;
    return !user || c->usertype < b->n_usertypes;
}

uint32_t kir_b_any_const(struct kir_builder *b, const struct kir_const *c)
{
    struct kir_b_key *slot;
    struct kir_const copy = *c;

    if (b->err.code)
        return KIR_NIL;
    if (!const_handles_valid(b, c))
        return misuse(b, "a constant refers to a constant or user type that does not exist");
    buf_clear(&b->text);
    kir_put_const(&b->text, c);
    slot = intern(b, &b->const_keys);
    if (!slot)
        return no_memory(b);
    if (slot->handle != KIR_NIL)
        return slot->handle;
    b->consts = arena_grow(&b->a, b->consts, b->n_consts, &b->cap_consts, sizeof *b->consts);
    if (!b->consts || !copy_const(&b->a, &copy))
        return no_memory(b);
    b->consts[b->n_consts] = copy;
    return slot->handle = (uint32_t)b->n_consts++;
}

uint32_t kir_b_none(struct kir_builder *b)
{
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_NONE });
}

uint32_t kir_b_ellipsis(struct kir_builder *b)
{
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_ELLIPSIS });
}

uint32_t kir_b_bool(struct kir_builder *b, bool v)
{
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_BOOL, .b = v });
}

uint32_t kir_b_int(struct kir_builder *b, int64_t v)
{
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_INT, .i = { (uint64_t)v, false } });
}

uint32_t kir_b_uint(struct kir_builder *b, uint64_t v)
{
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_INT, .i = { v, v > INT64_MAX } });
}

uint32_t kir_b_bigint(struct kir_builder *b, const char *digits)
{
    bool negative = *digits == '-';
    const char *s = digits + negative;
    uint64_t v = 0;
    bool fits = true;

    if (!*s || strspn(s, "0123456789") != strlen(s) || (*s == '0' && s[1]))
        return misuse(b, "an integer is decimal digits without leading zeros");
    for (const char *p = s; *p && fits; p++)
        fits = !__builtin_mul_overflow(v, (uint64_t)10, &v) &&
               !__builtin_add_overflow(v, (uint64_t)(*p - '0'), &v);
    if (fits && !negative)
        return kir_b_uint(b, v);
    if (fits && v <= (uint64_t)INT64_MAX + 1)
        return kir_b_int(b, (int64_t)(0 - v));
    return kir_b_any_const(
        b, &(struct kir_const){ .kind = KIR_K_BIGINT, .s = { digits, (uint32_t)strlen(digits) } });
}

uint32_t kir_b_float(struct kir_builder *b, double v)
{
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_FLOAT, .f = v });
}

uint32_t kir_b_complex(struct kir_builder *b, double re, double im)
{
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_COMPLEX, .c = { re, im } });
}

static uint32_t text_const(struct kir_builder *b, enum kir_const_kind kind, const void *p, size_t len)
{
    if (len > UINT32_MAX / 2)
        return misuse(b, "a constant is too long");
    return kir_b_any_const(b, &(struct kir_const){ .kind = kind, .s = { p, (uint32_t)len } });
}

uint32_t kir_b_str(struct kir_builder *b, const char *p, size_t len)
{
    return text_const(b, KIR_K_STR, p, len);
}

uint32_t kir_b_bytes(struct kir_builder *b, const void *p, size_t len)
{
    return text_const(b, KIR_K_BYTES, p, len);
}

uint32_t kir_b_type(struct kir_builder *b, const char *type)
{
    return text_const(b, KIR_K_TYPE, type, strlen(type));
}

uint32_t kir_b_exception(struct kir_builder *b, const char *name)
{
    return text_const(b, KIR_K_EXCEPTION, name, strlen(name));
}

uint32_t kir_b_tuple_const(struct kir_builder *b, const uint32_t *items, uint32_t n)
{
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_TUPLE, .items = items, .n_items = n });
}

uint32_t kir_b_scalar(struct kir_builder *b, const char *type, const void *p, size_t len)
{
    if (len > 16)
        return misuse(b, "a scalar has at most 16 bytes");
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_SCALAR,
                                                   .s = { type, (uint32_t)strlen(type) },
                                                   .data = p,
                                                   .data_len = (uint32_t)len });
}

uint32_t kir_b_array(struct kir_builder *b, const char *type, const uint32_t *dims, uint32_t ndim,
                     const void *p, size_t len)
{
    if (len > UINT32_MAX / 2)
        return misuse(b, "a constant is too long");
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_ARRAY,
                                                   .s = { type, (uint32_t)strlen(type) },
                                                   .items = dims,
                                                   .n_items = ndim,
                                                   .data = p,
                                                   .data_len = (uint32_t)len });
}

uint32_t kir_b_enum_member(struct kir_builder *b, uint32_t usertype, uint32_t member)
{
    return kir_b_any_const(
        b, &(struct kir_const){ .kind = KIR_K_ENUM, .usertype = usertype, .items = &member, .n_items = 1 });
}

uint32_t kir_b_namedtuple(struct kir_builder *b, uint32_t usertype, const uint32_t *items, uint32_t n)
{
    return kir_b_any_const(
        b,
        &(struct kir_const){ .kind = KIR_K_NAMEDTUPLE, .usertype = usertype, .items = items, .n_items = n });
}

uint32_t kir_b_usertype_const(struct kir_builder *b, uint32_t usertype)
{
    return kir_b_any_const(b, &(struct kir_const){ .kind = KIR_K_USERTYPE, .usertype = usertype });
}

static const char *const *copy_texts(struct kir_builder *b, const char *const *texts, uint32_t n)
{
    const char **copy = arena_new_array(&b->a, n, const char *);

    for (uint32_t i = 0; copy && i < n; i++)
        if (!(copy[i] = arena_dup(&b->a, texts[i], strlen(texts[i]))))
            return NULL;
    return copy;
}

uint32_t kir_b_usertype(struct kir_builder *b, enum kir_usertype_kind kind, const char *name,
                        uint32_t n_fields, const char *const *names, const char *const *types,
                        const uint32_t *consts)
{
    struct kir_usertype t = { .kind = kind,
                              .name = name,
                              .n_fields = n_fields,
                              .field_names = names,
                              .field_types = types,
                              .field_consts = consts };
    struct kir_b_key *slot;

    if (b->err.code)
        return KIR_NIL;
    for (uint32_t i = 0; kir_is_enum(kind) && i < n_fields; i++)
        if (consts[i] >= b->n_consts)
            return misuse(b, "an enum's value is no constant");
    buf_clear(&b->text);
    kir_put_usertype(&b->text, &t);
    slot = intern(b, &b->usertype_keys);
    if (!slot)
        return no_memory(b);
    if (slot->handle != KIR_NIL)
        return slot->handle;
    b->usertypes = arena_grow(&b->a, b->usertypes, b->n_usertypes, &b->cap_usertypes, sizeof *b->usertypes);
    t.name = arena_dup(&b->a, name, strlen(name));
    t.field_names = copy_texts(b, names, n_fields);
    t.field_types = kir_is_enum(kind) ? NULL : copy_texts(b, types, n_fields);
    t.field_consts =
        kir_is_enum(kind) ? (uint32_t *)arena_dup(&b->a, consts, n_fields * sizeof *consts) : NULL;
    if (!b->usertypes || !t.name || !t.field_names || (!t.field_types && !t.field_consts))
        return no_memory(b);
    b->usertypes[b->n_usertypes] = t;
    return slot->handle = (uint32_t)b->n_usertypes++;
}

void kir_b_methods(struct kir_builder *b, uint32_t usertype, const struct kir_method *methods, uint32_t n)
{
    struct kir_method *copy = arena_new_array(&b->a, n, struct kir_method);

    if (b->err.code)
        return;
    if (usertype >= b->n_usertypes || b->usertypes[usertype].kind != KIR_UT_JITCLASS) {
        misuse(b, "this is no class");
        return;
    }
    for (uint32_t i = 0; copy && i < n; i++) {
        copy[i] = methods[i];
        if (methods[i].function >= b->n_functions) {
            misuse(b, "a method is no function");
            return;
        }
        if (!(copy[i].name = arena_dup(&b->a, methods[i].name, strlen(methods[i].name)))) {
            no_memory(b);
            return;
        }
    }
    b->usertypes[usertype].methods = copy;
    b->usertypes[usertype].n_methods = copy ? n : 0;
}

/* ---- functions ------------------------------------------------------------------------------------- */

static struct kir_b_function *function(struct kir_builder *b, uint32_t f)
{
    if (b->err.code)
        return NULL;
    if (f < b->n_functions)
        return b->functions[f];
    misuse(b, "there is no such function");
    return NULL;
}

uint32_t kir_b_function(struct kir_builder *b)
{
    if (b->err.code)
        return KIR_NIL;
    b->functions = arena_grow(&b->a, b->functions, b->n_functions, &b->cap_functions, sizeof *b->functions);
    if (!b->functions || !(b->functions[b->n_functions] = arena_new(&b->a, struct kir_b_function)))
        return no_memory(b);
    return (uint32_t)b->n_functions++;
}

void kir_b_flags(struct kir_builder *b, uint32_t f, uint32_t flags)
{
    struct kir_b_function *fn = function(b, f);

    if (fn)
        fn->flags = flags;
}

uint32_t kir_b_param(struct kir_builder *b, uint32_t f, const char *name, enum kir_param_kind kind,
                     uint32_t default_const)
{
    struct kir_b_function *fn = function(b, f);
    char *copy;

    if (!fn)
        return KIR_NIL;
    if (fn->n_locals != fn->n_params)
        return misuse(b, "parameters are declared before other locals");
    if (fn->n_params == KIR_MAX_PARAMS)
        return misuse(b, "a function has at most 255 parameters");
    if (default_const != KIR_NIL && default_const >= b->n_consts)
        return misuse(b, "a default is no constant");
    fn->params = arena_grow(&b->a, fn->params, fn->n_params, &fn->cap_params, sizeof *fn->params);
    copy = arena_dup(&b->a, name, strlen(name));
    if (!fn->params || !copy)
        return no_memory(b);
    fn->params[fn->n_params++] =
        (struct kir_param){ copy, kind, default_const == KIR_NIL ? 0 : default_const + 1 };
    return fn->n_locals++;
}

uint32_t kir_b_new_local(struct kir_builder *b, uint32_t f)
{
    struct kir_b_function *fn = function(b, f);

    return fn ? fn->n_locals++ : KIR_NIL;
}

uint32_t kir_b_new_free(struct kir_builder *b, uint32_t f)
{
    struct kir_b_function *fn = function(b, f);

    return fn ? fn->n_free++ : KIR_NIL;
}

uint32_t kir_b_new_env(struct kir_builder *b)
{
    return b->err.code ? KIR_NIL : b->n_env++;
}

uint32_t kir_b_env_number(const struct kir_builder *b, uint32_t env)
{
    return b->env_map && env < b->n_env ? b->env_map[env] : KIR_NIL;
}

uint32_t kir_b_function_number(const struct kir_builder *b, uint32_t f)
{
    return b->function_map && f < b->n_functions ? b->function_map[f] : KIR_NIL;
}

/* ---- nodes ----------------------------------------------------------------------------------------- */

static bool operand_exists(const struct kir_builder *b, const struct kir_b_function *fn,
                           const struct kir_walk *w)
{
    switch (w->letter) {
    case 'c':
    case 's':
        return w->value < b->n_consts;
    case 'l':
        return w->value < fn->n_locals;
    case 'f':
        return w->value < b->n_functions;
    case 'u':
        return w->value < fn->n_free;
    case 'v':
        return w->value < b->n_env;
    default:
        return true;
    }
}

static bool is_node_letter(char c)
{
    return c && strchr("etbSghw", c);
}

/* The node operands must be what is on top of the stack, in order; they are taken off. */
static bool take_operands(struct kir_builder *b, uint32_t f, struct kir_b_function *fn,
                          const struct kir_node *n)
{
    size_t count = 0, base;
    const char *op = kir_opinfo(n->op)->text;

    for (struct kir_walk w = kir_walk(n); kir_walk_next(&w);) {
        if (!operand_exists(b, fn, &w)) {
            kir_builder_fail(b, KILN_E_KIR_BAD, "function %u, node %zu (%s): operand %u is no such thing", f,
                             fn->n_nodes, op, w.operand);
            return false;
        }
        count += is_node_letter(w.letter);
    }
    base = count <= fn->n_stack ? fn->n_stack - count : 0;
    count = base;
    for (struct kir_walk w = kir_walk(n); kir_walk_next(&w);)
        if (is_node_letter(w.letter) && (count >= fn->n_stack || fn->stack[count++] != w.value)) {
            kir_builder_fail(
                b, KILN_E_KIR_BAD,
                "function %u, node %zu (%s): operand %u is not the node expected here: make operands "
                "in order, each once, right before their parent",
                f, fn->n_nodes, op, w.operand);
            return false;
        }
    fn->n_stack = base;
    return true;
}

uint32_t kir_b_node(struct kir_builder *b, uint32_t f, enum kir_op op, const uint32_t *args, size_t n_args)
{
    struct kir_b_function *fn = function(b, f);
    struct kir_node n = { (uint16_t)op, (uint32_t)n_args, args };
    const struct kir_opinfo *info = kir_opinfo((unsigned)op);

    if (!fn)
        return KIR_NIL;
    if (!info || n_args > UINT32_MAX - 1 ||
        kir_operands_length(info->operands, args, (uint32_t)n_args) != n_args)
        return misuse(b, "a node's operands are not those of its op");
    if (!take_operands(b, f, fn, &n))
        return KIR_NIL;
    fn->nodes = arena_grow(&b->a, fn->nodes, fn->n_nodes, &fn->cap_nodes, sizeof *fn->nodes);
    fn->stack = arena_grow(&b->a, fn->stack, fn->n_stack, &fn->cap_stack, sizeof *fn->stack);
    if (!fn->nodes || !fn->stack)
        return no_memory(b);
    fn->nodes[fn->n_nodes] = (struct kir_b_node){ n.op, n.n_args, fn->n_args };
    for (size_t i = 0; i < n_args; i++) {
        fn->args = arena_grow(&b->a, fn->args, fn->n_args, &fn->cap_args, sizeof *fn->args);
        if (!fn->args)
            return no_memory(b);
        fn->args[fn->n_args++] = args[i];
    }
    fn->stack[fn->n_stack++] = (uint32_t)fn->n_nodes;
    return (uint32_t)fn->n_nodes++;
}
