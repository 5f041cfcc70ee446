/* SPDX-License-Identifier: Apache-2.0
 * kir_consts.c - checks of constants and user types, one by one. Their order is kir_check.c's business.
 *
 * Type texts must be canonical, for two spellings of a type would be two modules: each is parsed, printed
 * again and compared. */
#include <stdlib.h>
#include <string.h>

#include "proto/ir/kir_private.h"
#include "proto/ir/type.h"

struct consts {
    struct arena *a;
    const struct kir_module *m;
    struct type_table *types; /* made at the first text */
    struct buf text;
    struct kiln_err *e;
};

static int bad(struct consts *k, uint32_t i, const char *why)
{
    return kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "constant %u: %s", i, why);
}

/* The type of a canonical text; NULL with *k->e filled. */
static const struct type *canonical(struct consts *k, const char *text, size_t len)
{
    const struct type *t;

    if (!k->types && !(k->types = type_table_new(k->a))) {
        kiln_err_set(k->e, KILN_E_LIMIT, 0, NULL);
        return NULL;
    }
    if (type_parse(k->types, text, len, &t, k->e)) {
        if (k->e->code == KILN_E_SIGNATURE)
            k->e->code = KILN_E_KIR_BAD;
        return NULL;
    }
    buf_clear(&k->text);
    type_print(&k->text, t);
    if (!buf_ok(&k->text)) {
        kiln_err_set(k->e, KILN_E_NOMEM, 0, NULL);
        return NULL;
    }
    if (k->text.len == len && !memcmp(k->text.data, text, len))
        return t;
    kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "type '%s' is written '%s'", text, buf_cstr(&k->text));
    return NULL;
}

/* The size in bytes of a type that NumPy has; 0 with *k->e filled. */
static uint32_t element_size(struct consts *k, const struct kir_const *c)
{
    const struct type *t = canonical(k, c->s.p, c->s.len);

    if (!t)
        return 0;
    if (type_numpy(t) < 0 || t->kind == TY_RECORD) { /* records are environment slots */
        kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "'%s' is no type of a NumPy scalar", c->s.p);
        return 0;
    }
    return type_bits(t) / 8;
}

static bool bools_valid(const struct kir_const *c)
{
    if (strcmp(c->s.p, "bool"))
        return true;
    for (uint32_t i = 0; i < c->data_len; i++)
        if (c->data[i] > 1)
            return false;
    return true;
}

static int check_scalar(struct consts *k, uint32_t i, const struct kir_const *c)
{
    uint32_t size = element_size(k, c);

    if (!size)
        return kiln_err_wrap(k->e, "constant %u", i);
    if (c->data_len != size)
        return bad(k, i, "a scalar's value has not the size of its type");
    return bools_valid(c) ? 0 : bad(k, i, "a bool is a byte 0 or 1");
}

static int check_array(struct consts *k, uint32_t i, const struct kir_const *c)
{
    uint64_t bytes = element_size(k, c);
    bool empty = false;

    if (!bytes)
        return kiln_err_wrap(k->e, "constant %u", i);
    if (c->n_items > TYPE_MAX_NDIM)
        return bad(k, i, "an array has at most 32 dimensions");
    for (uint32_t d = 0; d < c->n_items; d++) {
        empty |= c->items[d] == 0;
        if (bytes <= UINT32_MAX)
            bytes *= c->items[d] ? c->items[d] : 1;
    }
    if (c->data_len != (empty ? 0 : bytes))
        return bad(k, i, "an array's content has not the size that its dimensions say");
    return bools_valid(c) ? 0 : bad(k, i, "a bool is a byte 0 or 1");
}

static int check_bigint(struct consts *k, uint32_t i, const struct kir_const *c)
{
    bool negative = c->s.len && c->s.p[0] == '-';
    const char *digits = c->s.p + negative,
               *limit = negative ? "9223372036854775808" : "18446744073709551615";
    size_t n = c->s.len - negative;

    if (n == 0 || strspn(digits, "0123456789") != n || digits[0] == '0')
        return bad(k, i, "a bigint is decimal digits without a leading zero");
    if (n < strlen(limit) || (n == strlen(limit) && strcmp(digits, limit) <= 0))
        return bad(k, i, "an integer that fits 64 bits is of kind int");
    return 0;
}

static int check_items(struct consts *k, uint32_t i, const struct kir_const *c)
{
    for (uint32_t j = 0; j < c->n_items; j++)
        if (c->items[j] >= i)
            return bad(k, i, "items of a tuple come before it");
    return 0;
}

static int check_user(struct consts *k, uint32_t i, const struct kir_const *c)
{
    const struct kir_usertype *t;

    if (c->usertype >= k->m->n_usertypes)
        return bad(k, i, "there is no such user type");
    t = &k->m->usertypes[c->usertype];
    if (c->kind == KIR_K_ENUM && (!kir_is_enum(t->kind) || c->items[0] >= t->n_fields))
        return bad(k, i, "there is no such enum member");
    if (c->kind != KIR_K_NAMEDTUPLE)
        return 0;
    if (t->kind != KIR_UT_NAMEDTUPLE || c->n_items != t->n_fields)
        return bad(k, i, "a named tuple has an item for each field of its type");
    return check_items(k, i, c);
}

static int check_const(struct consts *k, uint32_t i, const struct kir_const *c)
{
    switch (c->kind) {
    case KIR_K_BIGINT:
        return check_bigint(k, i, c);
    case KIR_K_TUPLE:
        return check_items(k, i, c);
    case KIR_K_SCALAR:
        return check_scalar(k, i, c);
    case KIR_K_ARRAY:
        return check_array(k, i, c);
    case KIR_K_TYPE:
        return canonical(k, c->s.p, c->s.len) ? 0 : kiln_err_wrap(k->e, "constant %u", i);
    case KIR_K_EXCEPTION:
        return c->s.len && !memchr(c->s.p, 0, c->s.len) ? 0 : bad(k, i, "an exception needs a name");
    case KIR_K_ENUM:
    case KIR_K_NAMEDTUPLE:
    case KIR_K_USERTYPE:
        return check_user(k, i, c);
    default:
        return 0;
    }
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static int check_field_names(struct consts *k, uint32_t i, const struct kir_usertype *t)
{
    const char **sorted = arena_new_array(k->a, t->n_fields, const char *);

    if (!sorted)
        return kiln_err_set(k->e, KILN_E_LIMIT, 0, NULL);
    if (t->n_fields)
        memcpy(sorted, t->field_names, t->n_fields * sizeof *sorted);
    qsort(sorted, t->n_fields, sizeof *sorted, by_text);
    for (uint32_t j = 1; j < t->n_fields; j++)
        if (!strcmp(sorted[j - 1], sorted[j]))
            return kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "user type %u: two fields are named '%s'", i,
                                sorted[j]);
    return 0;
}

static bool is_int64(const struct kir_const *c)
{
    return c->kind == KIR_K_INT && !c->i.is_unsigned;
}

/* Each function of a class has a name of its own; a getter and a setter share one; one makes objects. */
static int check_methods(struct consts *k, uint32_t i, const struct kir_usertype *t)
{
    for (uint32_t j = 0; j < t->n_methods; j++)
        for (uint32_t l = 0; l < j; l++) {
            const struct kir_method *a = &t->methods[l], *b = &t->methods[j];
            bool property = (a->kind == KIR_M_GETTER && b->kind == KIR_M_SETTER) ||
                            (a->kind == KIR_M_SETTER && b->kind == KIR_M_GETTER);
            if (!strcmp(a->name, b->name) && !property)
                return kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "user type %u: two methods are named '%s'", i,
                                    a->name);
        }
    return 0;
}

static int check_usertype(struct consts *k, uint32_t i, const struct kir_usertype *t)
{
    int rc = check_field_names(k, i, t);

    if (!rc && t->n_methods > KIR_MAX_METHODS)
        return kiln_err_set(k->e, KILN_E_LIMIT, 0, "user type %u: a class has at most %u methods", i,
                            KIR_MAX_METHODS);
    if (!rc)
        rc = check_methods(k, i, t);
    for (uint32_t j = 0; !rc && j < t->n_fields; j++) {
        if (kir_is_enum(t->kind)) {
            if (t->field_consts[j] < k->m->n_consts && t->kind == KIR_UT_INTENUM &&
                !is_int64(&k->m->consts[t->field_consts[j]]))
                rc = kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "user type %u: '%s' is no integer of 64 bits", i,
                                  t->field_names[j]);
            else if (t->field_consts[j] >= k->m->n_consts)
                rc = kiln_err_set(k->e, KILN_E_KIR_BAD, 0, "user type %u: there is no constant %u", i,
                                  t->field_consts[j]);
        } else if (*t->field_types[j] && !canonical(k, t->field_types[j], strlen(t->field_types[j]))) {
            rc = kiln_err_wrap(k->e, "user type %u", i);
        }
    }
    return rc;
}

int kir_check_consts(struct arena *a, const struct kir_module *m, struct kiln_err *e)
{
    struct consts k = { .a = a, .m = m, .e = e };
    int rc = 0;

    buf_init(&k.text, 1u << 20);
    for (uint32_t i = 0; !rc && i < m->n_consts; i++)
        rc = check_const(&k, i, &m->consts[i]);
    for (uint32_t i = 0; !rc && i < m->n_usertypes; i++)
        rc = check_usertype(&k, i, &m->usertypes[i]);
    buf_done(&k.text);
    return rc;
}
