/* SPDX-License-Identifier: Apache-2.0
 * kir_decode.c - bytes to tables. docs/kir.md is the grammar.
 *
 * Decoding only brings the parts into place; kir_check_* then say whether they make sense. What is done here
 * is what must be known to allocate and to cut: counts against the bytes left, operand counts of nodes. */
#include "proto/codec/msgpack.h"
#include "proto/ir/kir_private.h"
#include "proto/ir/kir_wire.h"

struct decoder {
    struct kir_in in;
    struct arena *a;
    struct kir_module *m;
};

static bool no_memory(struct decoder *d)
{
    kiln_err_set(d->in.e, KILN_E_LIMIT, 0, "the module needs more memory than a request may take");
    return false;
}

static bool read_array(struct decoder *d, const char *what, uint32_t *ret)
{
    struct kir_item item;

    if (!kir_in_kind(&d->in, WIRE_ARRAY, what, &item))
        return false;
    *ret = (uint32_t)item.n;
    return true;
}

/* A str, copied with a NUL behind it. */
static bool read_str(struct decoder *d, const char *what, const char **ret, uint32_t *ret_len)
{
    struct kir_item item;

    if (!kir_in_kind(&d->in, WIRE_STR, what, &item))
        return false;
    if (!utf8_valid(item.p, item.n))
        return kir_in_fail(&d->in, "%s is not valid UTF-8", what);
    *ret = arena_dup(d->a, item.p, item.n);
    *ret_len = (uint32_t)item.n;
    return *ret || no_memory(d);
}

/* A name: not empty, no NUL inside. */
static bool read_name(struct decoder *d, const char *what, const char **ret)
{
    uint32_t len;

    if (!read_str(d, what, ret, &len))
        return false;
    if (len == 0 || memchr(*ret, 0, len))
        return kir_in_fail(&d->in, "%s is empty or holds a NUL", what);
    return true;
}

static bool read_bin(struct decoder *d, const char *what, const unsigned char **ret, uint32_t *ret_len)
{
    struct kir_item item;

    if (!kir_in_kind(&d->in, WIRE_BIN, what, &item))
        return false;
    *ret = item.p;
    *ret_len = (uint32_t)item.n;
    return true;
}

static bool read_numbers(struct decoder *d, const char *what, const uint32_t **ret, uint32_t *ret_n)
{
    uint32_t n, *items;

    if (!read_array(d, what, &n))
        return false;
    items = arena_new_array(d->a, n, uint32_t);
    if (!items)
        return no_memory(d);
    *ret = items;
    *ret_n = n;
    return kir_in_code(&d->in, n, items);
}

static bool read_int(struct decoder *d, struct kir_const *c)
{
    const unsigned char *at = d->in.p;
    struct kir_item item;

    if (!kir_in_item(&d->in, &item))
        return false;
    if (item.kind != WIRE_UINT && item.kind != WIRE_NINT) {
        d->in.p = at;
        return kir_in_fail(&d->in, "an int constant must be an integer");
    }
    c->i.bits = item.n;
    c->i.is_unsigned = item.kind == WIRE_UINT && item.n > INT64_MAX;
    return true;
}

static bool read_float(struct decoder *d, double *ret)
{
    struct kir_item item;

    if (!kir_in_kind(&d->in, WIRE_FLOAT, "a float constant", &item))
        return false;
    *ret = item.f;
    return true;
}

/* The member's number goes to items[0]. */
static bool read_enum(struct decoder *d, struct kir_const *c)
{
    uint32_t *member = arena_new(d->a, uint32_t);

    if (!member)
        return no_memory(d);
    c->items = member;
    c->n_items = 1;
    return kir_in_u32(&d->in, "a user type's number", &c->usertype) &&
           kir_in_u32(&d->in, "an enum member", member);
}

static bool read_payload(struct decoder *d, struct kir_const *c)
{
    struct kir_item item;

    switch (c->kind) {
    case KIR_K_NONE:
    case KIR_K_ELLIPSIS:
        return true;
    case KIR_K_BOOL:
        if (!kir_in_kind(&d->in, WIRE_BOOL, "a bool constant", &item))
            return false;
        c->b = item.n;
        return true;
    case KIR_K_INT:
        return read_int(d, c);
    case KIR_K_FLOAT:
        return read_float(d, &c->f);
    case KIR_K_COMPLEX:
        return read_float(d, &c->c.re) && read_float(d, &c->c.im);
    case KIR_K_BIGINT:
    case KIR_K_STR:
    case KIR_K_TYPE:
    case KIR_K_EXCEPTION:
        return read_str(d, "a constant's text", &c->s.p, &c->s.len);
    case KIR_K_BYTES:
        if (!read_bin(d, "a bytes constant", &c->data, &c->s.len))
            return false;
        c->s.p = arena_dup(d->a, c->data, c->s.len);
        c->data = NULL;
        return c->s.p || no_memory(d);
    case KIR_K_TUPLE:
        return read_numbers(d, "a tuple's items", &c->items, &c->n_items);
    case KIR_K_SCALAR:
        return read_str(d, "a scalar's type", &c->s.p, &c->s.len) &&
               read_bin(d, "a scalar's value", &c->data, &c->data_len);
    case KIR_K_ARRAY:
        return read_str(d, "an array's type", &c->s.p, &c->s.len) &&
               read_numbers(d, "an array's dimensions", &c->items, &c->n_items) &&
               read_bin(d, "an array's content", &c->data, &c->data_len);
    case KIR_K_ENUM:
        return read_enum(d, c);
    case KIR_K_NAMEDTUPLE:
        return kir_in_u32(&d->in, "a user type's number", &c->usertype) &&
               read_numbers(d, "a named tuple's items", &c->items, &c->n_items);
    case KIR_K_USERTYPE:
        return kir_in_u32(&d->in, "a user type's number", &c->usertype);
    case KIR_K__END:
        break;
    }
    return kir_in_fail(&d->in, "%u is no kind of constant", (unsigned)c->kind);
}

static uint32_t payload_items(enum kir_const_kind kind)
{
    switch (kind) {
    case KIR_K_NONE:
    case KIR_K_ELLIPSIS:
        return 0;
    case KIR_K_COMPLEX:
    case KIR_K_SCALAR:
    case KIR_K_ENUM:
    case KIR_K_NAMEDTUPLE:
        return 2;
    case KIR_K_ARRAY:
        return 3;
    default:
        return 1;
    }
}

static bool read_const(struct decoder *d, struct kir_const *c)
{
    uint32_t n, kind;

    if (!read_array(d, "a constant", &n) || !kir_in_u32(&d->in, "a constant's kind", &kind))
        return false;
    if (kind == 0 || kind >= KIR_K__END)
        return kir_in_fail(&d->in, "%u is no kind of constant", kind);
    c->kind = (enum kir_const_kind)kind;
    if (n != 1 + payload_items(c->kind))
        return kir_in_fail(&d->in, "a constant of kind %u has %u items, not %u", kind,
                           1 + payload_items(c->kind), n);
    return read_payload(d, c);
}

/* Equal constants have equal bytes, so the bytes are what is hashed and compared. */
struct seen {
    const unsigned char *p;
    uint32_t len, hash;
};

static uint32_t hash_bytes(const unsigned char *p, size_t len)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ len, v;

    for (; len >= 8; p += 8, len -= 8) {
        memcpy(&v, p, 8);
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    for (; len; p++, len--)
        h = (h ^ *p) * 0x100000001b3u;
    h *= 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(h >> 32);
}

/* Puts the bytes into the open-addressed table; false if they are there already. */
static bool add_seen(struct seen *table, uint32_t mask, const unsigned char *p, size_t len)
{
    uint32_t hash = hash_bytes(p, len), at = hash & mask;

    for (; table[at].p; at = (at + 1) & mask)
        if (table[at].hash == hash && table[at].len == len && !memcmp(table[at].p, p, len))
            return false;
    table[at] = (struct seen){ p, (uint32_t)len, hash };
    return true;
}

static struct seen *new_seen(struct decoder *d, uint32_t n, uint32_t *ret_mask)
{
    uint32_t size = 8;

    while (size < 2ull * n && size < 1u << 31)
        size *= 2;
    *ret_mask = size - 1;
    return arena_new_array(d->a, size, struct seen);
}

static bool read_consts(struct decoder *d)
{
    struct kir_const *items;
    struct seen *table;
    uint32_t n, mask;

    if (!read_array(d, "the constants", &n))
        return false;
    items = arena_new_array(d->a, n, struct kir_const);
    table = new_seen(d, n, &mask);
    if (!items || !table)
        return no_memory(d);
    d->m->consts = items;
    d->m->n_consts = n;
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *at = d->in.p;
        if (!read_const(d, &items[i]))
            return false;
        if (!add_seen(table, mask, at, (size_t)(d->in.p - at))) {
            d->in.p = at;
            return kir_in_fail(&d->in, "constant %u is there already", i);
        }
    }
    return true;
}

static bool read_field_names(struct decoder *d, struct kir_usertype *t)
{
    const char **names;

    if (!read_array(d, "a user type's fields", &t->n_fields))
        return false;
    if (t->n_fields > KIR_MAX_FIELDS)
        return kir_in_fail(&d->in, "a user type has at most %u fields", KIR_MAX_FIELDS);
    names = arena_new_array(d->a, t->n_fields, const char *);
    if (!names)
        return no_memory(d);
    t->field_names = names;
    for (uint32_t i = 0; i < t->n_fields; i++)
        if (!read_name(d, "a field's name", &names[i]))
            return false;
    return true;
}

static bool read_field_types(struct decoder *d, struct kir_usertype *t)
{
    const char **types;
    uint32_t n, len;

    if (!read_array(d, "a user type's field types", &n))
        return false;
    types = arena_new_array(d->a, n, const char *);
    if (!types)
        return no_memory(d);
    t->field_types = types;
    for (uint32_t i = 0; i < n; i++) {
        if (!read_str(d, "a field's type", &types[i], &len))
            return false;
        if (memchr(types[i], 0, len))
            return kir_in_fail(&d->in, "a field's type holds a NUL");
    }
    return n == t->n_fields || kir_in_fail(&d->in, "a user type has %u fields but %u types", t->n_fields, n);
}

static bool read_methods(struct decoder *d, struct kir_usertype *t)
{
    struct kir_method *items;
    uint32_t kind, len;

    if (!read_array(d, "a jitclass's methods", &t->n_methods))
        return false;
    items = arena_new_array(d->a, t->n_methods, struct kir_method);
    if (!items)
        return no_memory(d);
    t->methods = items;
    for (uint32_t i = 0; i < t->n_methods; i++) {
        if (!kir_in_array(&d->in, 3, "a method") || !read_str(d, "a method's name", &items[i].name, &len) ||
            !kir_in_u32(&d->in, "a method's kind", &kind) ||
            !kir_in_u32(&d->in, "a method's function", &items[i].function))
            return false;
        if (kind == 0 || kind >= KIR_M__END || (kind == KIR_M_NEW) != (len == 0) || len > KIR_MAX_NAME ||
            memchr(items[i].name, 0, len))
            return kir_in_fail(&d->in, "this is no method");
        items[i].kind = (enum kir_method_kind)kind;
    }
    return true;
}

static bool read_usertype(struct decoder *d, struct kir_usertype *t)
{
    uint32_t kind, n, length;

    if (!read_array(d, "a user type", &length) || !kir_in_u32(&d->in, "a user type's kind", &kind))
        return false;
    if (kind == 0 || kind >= KIR_UT__END)
        return kir_in_fail(&d->in, "%u is no kind of user type", kind);
    t->kind = (enum kir_usertype_kind)kind;
    if (length != (t->kind == KIR_UT_JITCLASS ? 5 : 4))
        return kir_in_fail(&d->in, "a user type of this kind has not %u parts", length);
    if (!read_name(d, "a user type's name", &t->name) || !read_field_names(d, t))
        return false;
    if (!kir_is_enum(t->kind))
        return read_field_types(d, t) && (t->kind != KIR_UT_JITCLASS || read_methods(d, t));
    if (!read_numbers(d, "an enum's values", &t->field_consts, &n))
        return false;
    return n == t->n_fields || kir_in_fail(&d->in, "an enum has %u members but %u values", t->n_fields, n);
}

static bool read_usertypes(struct decoder *d)
{
    struct kir_usertype *items;
    struct seen *table;
    uint32_t n, mask;

    if (!read_array(d, "the user types", &n))
        return false;
    items = arena_new_array(d->a, n, struct kir_usertype);
    table = new_seen(d, n, &mask);
    if (!items || !table)
        return no_memory(d);
    d->m->usertypes = items;
    d->m->n_usertypes = n;
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *at = d->in.p;
        if (!read_usertype(d, &items[i]))
            return false;
        if (!add_seen(table, mask, at, (size_t)(d->in.p - at))) {
            d->in.p = at;
            return kir_in_fail(&d->in, "user type %u is there already", i);
        }
    }
    return true;
}

static bool read_params(struct decoder *d, struct kir_function *f)
{
    struct kir_param *params;

    if (!read_array(d, "the parameters", &f->n_params))
        return false;
    if (f->n_params > KIR_MAX_PARAMS)
        return kir_in_fail(&d->in, "a function has at most %u parameters", KIR_MAX_PARAMS);
    params = arena_new_array(d->a, f->n_params, struct kir_param);
    if (!params)
        return no_memory(d);
    f->params = params;
    for (uint32_t i = 0; i < f->n_params; i++) {
        uint32_t kind;
        if (!kir_in_array(&d->in, 3, "a parameter") || !read_name(d, "a parameter's name", &params[i].name) ||
            !kir_in_u32(&d->in, "a parameter's kind", &kind) ||
            !kir_in_u32(&d->in, "a parameter's default", &params[i].default_plus_1))
            return false;
        if (kind == 0 || kind >= KIR_P__END)
            return kir_in_fail(&d->in, "%u is no kind of parameter", kind);
        params[i].kind = (enum kir_param_kind)kind;
    }
    return true;
}

static bool cut_nodes(struct decoder *d, struct kir_function *f, const uint32_t *code, uint32_t n_code)
{
    struct kir_node *nodes = arena_new_array(d->a, f->n_nodes, struct kir_node);
    uint32_t at = 0;

    if (!nodes)
        return no_memory(d);
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        const struct kir_opinfo *info = at < n_code ? kir_opinfo(code[at]) : NULL;
        uint32_t n;
        if (at == n_code)
            return kir_in_fail(&d->in, "the code ends before node %u of %u", i, f->n_nodes);
        if (!info)
            return kir_in_fail(&d->in, "node %u: %u is no op", i, code[at]);
        n = kir_operands_length(info->operands, code + at + 1, n_code - at - 1);
        if (n == UINT32_MAX)
            return kir_in_fail(&d->in, "node %u (%s): operands exceed the code", i, info->text);
        nodes[i].op = (uint16_t)code[at];
        nodes[i].args = code + at + 1;
        nodes[i].n_args = n;
        at += 1 + n;
    }
    f->nodes = nodes;
    return at == n_code || kir_in_fail(&d->in, "code goes on after the last node");
}

static bool read_function(struct decoder *d, struct kir_function *f)
{
    const uint32_t *code;
    uint32_t n_code;

    if (!kir_in_array(&d->in, 6, "a function") || !read_params(d, f) ||
        !kir_in_u32(&d->in, "the number of locals", &f->n_locals) ||
        !kir_in_u32(&d->in, "the number of free variables", &f->n_free) ||
        !kir_in_u32(&d->in, "a function's flags", &f->flags) ||
        !kir_in_u32(&d->in, "the number of nodes", &f->n_nodes) ||
        !read_numbers(d, "the code", &code, &n_code))
        return false;
    if (f->n_nodes == 0 || f->n_nodes > n_code)
        return kir_in_fail(&d->in, "%u nodes cannot be in code of %u numbers", f->n_nodes, n_code);
    return cut_nodes(d, f, code, n_code);
}

static bool read_functions(struct decoder *d)
{
    struct kir_function *items;
    uint32_t n;

    if (!read_array(d, "the functions", &n))
        return false;
    if (n == 0)
        return kir_in_fail(&d->in, "a module needs a function");
    items = arena_new_array(d->a, n, struct kir_function);
    if (!items)
        return no_memory(d);
    d->m->functions = items;
    d->m->n_functions = n;
    for (uint32_t i = 0; i < n; i++)
        if (!read_function(d, &items[i])) {
            kiln_err_wrap(d->in.e, "function %u", i);
            return false;
        }
    return true;
}

/* Magic and version first, so that a newer module is told from a broken one. */
static bool read_head(struct decoder *d)
{
    struct kir_item item;
    uint32_t n, version;

    if (!read_array(d, "a module", &n) || !kir_in_kind(&d->in, WIRE_STR, "the first item", &item))
        return false;
    if (item.n != 3 || memcmp(item.p, "KIR", 3))
        return kir_in_fail(&d->in, "this is no KIR module");
    if (!kir_in_u32(&d->in, "the version", &version))
        return false;
    if (version != KIR_VERSION) {
        kiln_err_set(d->in.e, KILN_E_KIR_VERSION, 0, "the module has KIR version %u, this is version %u",
                     version, KIR_VERSION);
        return false;
    }
    if (n != 6)
        return kir_in_fail(&d->in, "a module has 6 items, not %u", n);
    return kir_in_u32(&d->in, "the number of environment slots", &d->m->n_env);
}

int kir_decode_at(struct arena *a, const unsigned char *bytes, size_t len, struct kir_module **ret,
                  struct kir_place *at, struct kiln_err *e)
{
    struct decoder d = { .in = { bytes, bytes, bytes + len, e }, .a = a };
    struct arena scratch;
    int rc;

    *at = (struct kir_place){ KIR_NIL, KIR_NIL };
    if (len > UINT32_MAX)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "a module has less than 4 GB");
    d.m = arena_new(a, struct kir_module);
    if (!d.m)
        return kiln_err_set(e, KILN_E_NOMEM, 0, NULL);
    if (!read_head(&d) || !read_consts(&d) || !read_usertypes(&d) || !read_functions(&d))
        return -e->code;
    if (d.in.p != d.in.end) {
        kir_in_fail(&d.in, "bytes follow the module");
        return -e->code;
    }
    arena_init(&scratch, a->limit);
    rc = kir_check_consts(&scratch, d.m, e);
    if (!rc)
        rc = kir_check_functions(&scratch, d.m, at, e);
    arena_done(&scratch);
    if (rc)
        return rc;
    *ret = d.m;
    return 0;
}

int kir_decode(struct arena *a, const unsigned char *bytes, size_t len, struct kir_module **ret,
               struct kiln_err *e)
{
    struct kir_place at;

    return kir_decode_at(a, bytes, len, ret, &at, e);
}
