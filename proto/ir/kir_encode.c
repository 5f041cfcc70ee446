/* SPDX-License-Identifier: Apache-2.0
 * kir_encode.c - tables to bytes, in shortest msgpack forms. */
#include <string.h>

#include "proto/ir/kir_private.h"

#define MAX_BYTES (1ull << 31) /* of the check in kir_verify; any frame is smaller */

/* A head byte and `bytes` of number behind it. */
static void put(struct buf *out, unsigned char head, uint64_t v, unsigned bytes)
{
    unsigned char b[9] = { head };

    for (unsigned i = 0; i < bytes; i++)
        b[1 + i] = (unsigned char)(v >> 8 * (bytes - 1 - i));
    buf_add(out, b, 1 + bytes);
}

static void put_uint(struct buf *out, uint64_t v)
{
    if (v < 0x80)
        buf_byte(out, (unsigned char)v);
    else if (v < 1u << 8)
        put(out, 0xcc, v, 1);
    else if (v < 1u << 16)
        put(out, 0xcd, v, 2);
    else if (v < 1ull << 32)
        put(out, 0xce, v, 4);
    else
        put(out, 0xcf, v, 8);
}

static void put_negative(struct buf *out, int64_t v)
{
    if (v >= -32)
        buf_byte(out, (unsigned char)v);
    else if (v >= INT8_MIN)
        put(out, 0xd0, (uint64_t)v, 1);
    else if (v >= INT16_MIN)
        put(out, 0xd1, (uint64_t)v, 2);
    else if (v >= INT32_MIN)
        put(out, 0xd2, (uint64_t)v, 4);
    else
        put(out, 0xd3, (uint64_t)v, 8);
}

static void put_float(struct buf *out, double f)
{
    uint64_t bits;

    memcpy(&bits, &f, 8);
    put(out, 0xcb, bits, 8);
}

static void put_array(struct buf *out, uint32_t n)
{
    if (n < 16)
        buf_byte(out, (unsigned char)(0x90 | n));
    else if (n < 1u << 16)
        put(out, 0xdc, n, 2);
    else
        put(out, 0xdd, n, 4);
}

static void put_str(struct buf *out, const char *p, uint32_t n)
{
    if (n < 32)
        buf_byte(out, (unsigned char)(0xa0 | n));
    else if (n < 1u << 8)
        put(out, 0xd9, n, 1);
    else if (n < 1u << 16)
        put(out, 0xda, n, 2);
    else
        put(out, 0xdb, n, 4);
    buf_add(out, p, n);
}

static void put_bin(struct buf *out, const void *p, uint32_t n)
{
    if (n < 1u << 8)
        put(out, 0xc4, n, 1);
    else if (n < 1u << 16)
        put(out, 0xc5, n, 2);
    else
        put(out, 0xc6, n, 4);
    buf_add(out, p, n);
}

static void put_numbers(struct buf *out, const uint32_t *items, uint32_t n)
{
    put_array(out, n);
    for (uint32_t i = 0; i < n; i++)
        put_uint(out, items[i]);
}

/* The head of a constant: its array of 1 + n items and its kind. */
static void put_kind(struct buf *out, uint32_t n, enum kir_const_kind kind)
{
    put_array(out, 1 + n);
    put_uint(out, kind);
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
        buf_byte(out, c->b ? 0xc3 : 0xc2);
        break;
    case KIR_K_INT:
        put_kind(out, 1, c->kind);
        if (c->i.is_unsigned || (int64_t)c->i.bits >= 0)
            put_uint(out, c->i.bits);
        else
            put_negative(out, (int64_t)c->i.bits);
        break;
    case KIR_K_FLOAT:
        put_kind(out, 1, c->kind);
        put_float(out, c->f);
        break;
    case KIR_K_COMPLEX:
        put_kind(out, 2, c->kind);
        put_float(out, c->c.re);
        put_float(out, c->c.im);
        break;
    case KIR_K_BIGINT:
    case KIR_K_STR:
    case KIR_K_TYPE:
    case KIR_K_EXCEPTION:
        put_kind(out, 1, c->kind);
        put_str(out, c->s.p, c->s.len);
        break;
    case KIR_K_BYTES:
        put_kind(out, 1, c->kind);
        put_bin(out, c->s.p, c->s.len);
        break;
    case KIR_K_TUPLE:
        put_kind(out, 1, c->kind);
        put_numbers(out, c->items, c->n_items);
        break;
    case KIR_K_SCALAR:
        put_kind(out, 2, c->kind);
        put_str(out, c->s.p, c->s.len);
        put_bin(out, c->data, c->data_len);
        break;
    case KIR_K_ARRAY:
        put_kind(out, 3, c->kind);
        put_str(out, c->s.p, c->s.len);
        put_numbers(out, c->items, c->n_items);
        put_bin(out, c->data, c->data_len);
        break;
    case KIR_K_ENUM:
        put_kind(out, 2, c->kind);
        put_uint(out, c->usertype);
        put_uint(out, c->items[0]);
        break;
    case KIR_K_NAMEDTUPLE:
        put_kind(out, 2, c->kind);
        put_uint(out, c->usertype);
        put_numbers(out, c->items, c->n_items);
        break;
    case KIR_K_USERTYPE:
        put_kind(out, 1, c->kind);
        put_uint(out, c->usertype);
        break;
    }
}

void kir_put_usertype(struct buf *out, const struct kir_usertype *t)
{
    put_array(out, 4);
    put_uint(out, t->kind);
    put_str(out, t->name, (uint32_t)strlen(t->name));
    put_array(out, t->n_fields);
    for (uint32_t i = 0; i < t->n_fields; i++)
        put_str(out, t->field_names[i], (uint32_t)strlen(t->field_names[i]));
    if (t->kind == KIR_UT_ENUM) {
        put_numbers(out, t->field_consts, t->n_fields);
        return;
    }
    put_array(out, t->n_fields);
    for (uint32_t i = 0; i < t->n_fields; i++)
        put_str(out, t->field_types[i], (uint32_t)strlen(t->field_types[i]));
}

static void put_function(struct buf *out, const struct kir_function *f)
{
    uint64_t n_code = 0;

    put_array(out, 6);
    put_array(out, f->n_params);
    for (uint32_t i = 0; i < f->n_params; i++) {
        put_array(out, 3);
        put_str(out, f->params[i].name, (uint32_t)strlen(f->params[i].name));
        put_uint(out, f->params[i].kind);
        put_uint(out, f->params[i].default_plus_1);
    }
    put_uint(out, f->n_locals);
    put_uint(out, f->n_free);
    put_uint(out, f->flags);
    put_uint(out, f->n_nodes);
    for (uint32_t i = 0; i < f->n_nodes; i++)
        n_code += 1ull + f->nodes[i].n_args;
    if (n_code > UINT32_MAX) {
        out->failed = true;
        return;
    }
    put_array(out, (uint32_t)n_code);
    for (uint32_t i = 0; i < f->n_nodes; i++) {
        put_uint(out, f->nodes[i].op);
        for (uint32_t j = 0; j < f->nodes[i].n_args; j++)
            put_uint(out, f->nodes[i].args[j]);
    }
}

int kir_encode(const struct kir_module *m, struct buf *out, struct kiln_err *e)
{
    put_array(out, 6);
    put_str(out, "KIR", 3);
    put_uint(out, KIR_VERSION);
    put_uint(out, m->n_env);
    put_array(out, m->n_consts);
    for (uint32_t i = 0; i < m->n_consts; i++)
        kir_put_const(out, &m->consts[i]);
    put_array(out, m->n_usertypes);
    for (uint32_t i = 0; i < m->n_usertypes; i++)
        kir_put_usertype(out, &m->usertypes[i]);
    put_array(out, m->n_functions);
    for (uint32_t i = 0; i < m->n_functions; i++)
        put_function(out, &m->functions[i]);
    return buf_ok(out) ? 0 : kiln_err_set(e, KILN_E_LIMIT, 0, "the module needs more memory than a request may take");
}

/* By way of the bytes: then no check exists twice, and what is accepted is what can be sent. */
int kir_verify(const struct kir_module *m, struct kiln_err *e)
{
    struct kir_module *again;
    struct arena a;
    struct buf b;
    int rc;

    buf_init(&b, MAX_BYTES);
    arena_init(&a, MAX_BYTES * 8);
    rc = kir_encode(m, &b, e);
    if (!rc)
        rc = kir_decode(&a, b.data, b.len, &again, e);
    arena_done(&a);
    buf_done(&b);
    return rc;
}
