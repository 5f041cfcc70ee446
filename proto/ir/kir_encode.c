/* SPDX-License-Identifier: Apache-2.0
 * kir_encode.c - tables to bytes. The codec's writer makes the shortest forms, which are the canonical ones.
 */
#include "proto/codec/msgpack.h"
#include "proto/ir/kir_private.h"

#define MAX_BYTES (1ull << 31) /* of the check in kir_verify; any frame is smaller */

static void put_numbers(struct buf *out, const uint32_t *items, uint32_t n)
{
    mp_put_array(out, n);
    for (uint32_t i = 0; i < n; i++)
        mp_put_uint(out, items[i]);
}

/* The head of a constant: its array of 1 + n items and its kind. */
static void put_kind(struct buf *out, uint32_t n, enum kir_const_kind kind)
{
    mp_put_array(out, 1 + n);
    mp_put_uint(out, kind);
}

void kir_put_const(struct buf *out, const struct kir_const *c)
{
    switch (c->kind) {
    case KIR_K_NONE:
    case KIR_K_ELLIPSIS:
    case KIR_K__END:
        put_kind(out, 0, c->kind);
        break;
    case KIR_K_BOOL:
        put_kind(out, 1, c->kind);
        mp_put_bool(out, c->b);
        break;
    case KIR_K_INT:
        put_kind(out, 1, c->kind);
        if (c->i.is_unsigned || (int64_t)c->i.bits >= 0)
            mp_put_uint(out, c->i.bits);
        else
            mp_put_int(out, (int64_t)c->i.bits);
        break;
    case KIR_K_FLOAT:
        put_kind(out, 1, c->kind);
        mp_put_float(out, c->f);
        break;
    case KIR_K_COMPLEX:
        put_kind(out, 2, c->kind);
        mp_put_float(out, c->c.re);
        mp_put_float(out, c->c.im);
        break;
    case KIR_K_BIGINT:
    case KIR_K_STR:
    case KIR_K_TYPE:
    case KIR_K_EXCEPTION:
        put_kind(out, 1, c->kind);
        mp_put_str(out, c->s.p, c->s.len);
        break;
    case KIR_K_BYTES:
        put_kind(out, 1, c->kind);
        mp_put_bin(out, c->s.p, c->s.len);
        break;
    case KIR_K_TUPLE:
        put_kind(out, 1, c->kind);
        put_numbers(out, c->items, c->n_items);
        break;
    case KIR_K_SCALAR:
        put_kind(out, 2, c->kind);
        mp_put_str(out, c->s.p, c->s.len);
        mp_put_bin(out, c->data, c->data_len);
        break;
    case KIR_K_ARRAY:
        put_kind(out, 3, c->kind);
        mp_put_str(out, c->s.p, c->s.len);
        put_numbers(out, c->items, c->n_items);
        mp_put_bin(out, c->data, c->data_len);
        break;
    case KIR_K_ENUM:
        put_kind(out, 2, c->kind);
        mp_put_uint(out, c->usertype);
        mp_put_uint(out, c->items[0]);
        break;
    case KIR_K_NAMEDTUPLE:
        put_kind(out, 2, c->kind);
        mp_put_uint(out, c->usertype);
        put_numbers(out, c->items, c->n_items);
        break;
    case KIR_K_USERTYPE:
        put_kind(out, 1, c->kind);
        mp_put_uint(out, c->usertype);
        break;
    }
}

void kir_put_usertype(struct buf *out, const struct kir_usertype *t)
{
    mp_put_array(out, t->kind == KIR_UT_JITCLASS ? 5 : 4);
    mp_put_uint(out, t->kind);
    mp_put_cstr(out, t->name);
    mp_put_array(out, t->n_fields);
    for (uint32_t i = 0; i < t->n_fields; i++)
        mp_put_cstr(out, t->field_names[i]);
    if (kir_is_enum(t->kind)) {
        put_numbers(out, t->field_consts, t->n_fields);
        return;
    }
    mp_put_array(out, t->n_fields);
    for (uint32_t i = 0; i < t->n_fields; i++)
        mp_put_cstr(out, t->field_types[i]);
    if (t->kind != KIR_UT_JITCLASS)
        return;
    mp_put_array(out, t->n_methods);
    for (uint32_t i = 0; i < t->n_methods; i++) {
        mp_put_array(out, 3);
        mp_put_cstr(out, t->methods[i].name);
        mp_put_uint(out, t->methods[i].kind);
        mp_put_uint(out, t->methods[i].function);
    }
}

static void put_function(struct buf *out, const struct kir_function *f)
{
    uint64_t n_code = 0;

    mp_put_array(out, 6);
    mp_put_array(out, f->n_params);
    for (uint32_t i = 0; i < f->n_params; i++) {
        mp_put_array(out, 3);
        mp_put_cstr(out, f->params[i].name);
        mp_put_uint(out, f->params[i].kind);
        mp_put_uint(out, f->params[i].default_plus_1);
    }
    mp_put_uint(out, f->n_locals);
    mp_put_uint(out, f->n_free);
    mp_put_uint(out, f->flags);
    mp_put_uint(out, f->n_nodes);
    for (uint32_t i = 0; i < f->n_nodes; i++)
        n_code += 1ull + f->nodes[i].n_args;
    if (n_code > UINT32_MAX) {
        out->failed = true;
        return;
    }
    mp_put_array(out, (uint32_t)n_code);
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        mp_put_uint(out, f->nodes[i].op);
        for (uint32_t j = 0; j < f->nodes[i].n_args; j++)
            mp_put_uint(out, f->nodes[i].args[j]);
    }
}

int kir_encode(const struct kir_module *m, struct buf *out, struct kiln_err *e)
{
    mp_put_array(out, 6);
    mp_put_str(out, "KIR", 3);
    mp_put_uint(out, KIR_VERSION);
    mp_put_uint(out, m->n_env);
    mp_put_array(out, m->n_consts);
    for (uint32_t i = 0; i < m->n_consts; i++)
        kir_put_const(out, &m->consts[i]);
    mp_put_array(out, m->n_usertypes);
    for (uint32_t i = 0; i < m->n_usertypes; i++)
        kir_put_usertype(out, &m->usertypes[i]);
    mp_put_array(out, m->n_functions);
    for (uint32_t i = 0; i < m->n_functions; i++)
        put_function(out, &m->functions[i]);
    return buf_ok(out)
               ? 0
               : kiln_err_set(e, KILN_E_LIMIT, 0, "the module needs more memory than a request may take");
}

/* By way of the bytes: then no check exists twice, and what is accepted is what can be sent. */
int kir_verify_at(const struct kir_module *m, struct kir_place *at, struct kiln_err *e)
{
    struct kir_module *again;
    struct arena a;
    struct buf b;
    int rc;

    *at = (struct kir_place){ KIR_NIL, KIR_NIL };
    buf_init(&b, MAX_BYTES);
    arena_init(&a, MAX_BYTES * 8);
    rc = kir_encode(m, &b, e);
    if (!rc)
        rc = kir_decode_at(&a, b.data, b.len, &again, at, e);
    arena_done(&a);
    buf_done(&b);
    return rc;
}

int kir_verify(const struct kir_module *m, struct kiln_err *e)
{
    struct kir_place at;

    return kir_verify_at(m, &at, e);
}
