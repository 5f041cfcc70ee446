/* SPDX-License-Identifier: Apache-2.0
 * types.c - signatures for callers: from text to sizes and offsets of the argument block. */
#include <kiln/kiln.h>

#include <string.h>

#include "client/c/src/client.h"
#include "client/c/src/result.h"
#include "proto/ir/type.h"

#define SIGNATURE_MEMORY (1u << 20) /* of one parsed signature: a type's text is at most some KB */
#define TYPE_DEPTH 32               /* of nested tuples: more is a mistake, and unboxing recurses */

static const int numpy_numbers[] = {
#define X(NAME, text, class, bits, numpy) numpy,
#include "proto/ir/types.def"
#undef X
};

static enum kiln_type_kind public_kind(const struct type *t)
{
    switch (t->kind) {
    case TY_NONE:
        return KILN_T_NONE;
    case TY_PYINT:
        return KILN_T_PYINT;
    case TY_PYFLOAT:
        return KILN_T_PYFLOAT;
    case TY_PYCOMPLEX:
        return KILN_T_PYCOMPLEX;
    case TY_ARRAY:
        return KILN_T_ARRAY;
    case TY_TUPLE:
        return t->index ? KILN_T_NAMEDTUPLE : KILN_T_TUPLE;
    case TY_ENUM:
        return KILN_T_ENUM;
    case TY_INTENUM:
        return KILN_T_INTENUM;
    case TY_RECORD:
        return KILN_T_RECORD;
    case TY_TYPEVALUE:
        return KILN_T_TYPE;
    case TY_FUNCTION:
        return KILN_T_FUNCTION;
    case TY_STR:
        return KILN_T_STR;
    case TY_BYTES:
        return KILN_T_BYTES;
    case TY_OPTIONAL:
        return KILN_T_OPTIONAL;
    case TY_LIST:
        return KILN_T_LIST;
    case TY_SET:
        return KILN_T_SET;
    case TY_DICT:
        return KILN_T_DICT;
    case TY_DATETIME:
        return KILN_T_DATETIME;
    case TY_TIMEDELTA:
        return KILN_T_TIMEDELTA;
    case TY_OBJECT:
        return KILN_T_OBJECT;
    default:
        break;
    }
    switch (type_class(t)) {
    case TC_B:
        return KILN_T_BOOL;
    case TC_I:
        return KILN_T_INT;
    case TC_U:
        return KILN_T_UINT;
    case TC_F:
        return KILN_T_FLOAT;
    case TC_C:
        return KILN_T_COMPLEX;
    default:
        return KILN_T_OTHER;
    }
}

static int convert(struct arena *a, const struct type *t, unsigned depth, struct kiln_type *to,
                   struct kiln_err *e)
{
    if (depth > TYPE_DEPTH)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "a type is nested more than %d deep", TYPE_DEPTH);
    *to = (struct kiln_type){ .kind = public_kind(t),
                              .numpy = numpy_numbers[t->kind],
                              .ndim = t->ndim,
                              .layout = t->layout,
                              .readonly = t->readonly,
                              .unaligned = t->unaligned,
                              .user = t->kind == TY_FUNCTION || !t->index ? t->index : t->index - 1 };
    to->text = type_text(a, t);
    if (!to->text)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "no memory for a signature");
    struct layout layout;
    int rc = type_layout(t, sizeof(void *), &layout, e);
    if (rc)
        return rc;
    to->size = layout.size;
    to->align = layout.align;
    bool container = to->kind == KILN_T_LIST || to->kind == KILN_T_SET || to->kind == KILN_T_DICT;
    bool several = t->kind == TY_TUPLE || t->kind == TY_DICT, record = t->kind == TY_ARRAY && t->elem->kind == TY_RECORD;
    uint32_t n = several ? t->n_items : container || to->kind == KILN_T_ARRAY || to->kind == KILN_T_OPTIONAL;
    if (!n)
        return 0;
    struct kiln_type *items = arena_new_array(a, n, struct kiln_type);
    if (!items)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "no memory for a signature");
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        rc = convert(a, several ? t->items[i] : t->elem, depth + 1, &items[i], e);
        if (rc)
            return rc;
        if (record) /* an element, not a reference to one */
            items[i].size = t->elem->record->size;
        at = container ? 0 : (at + items[i].align - 1) / items[i].align * items[i].align;
        items[i].offset = at; /* a container's items lie in arrays of their own */
        at += items[i].size;
    }
    to->n_items = n;
    to->items = items;
    if (to->kind == KILN_T_ARRAY)
        to->numpy = items[0].numpy;
    return 0;
}

static int fill(struct arena *a, const struct signature *sig, struct kiln_signature *to, struct kiln_err *e)
{
    struct kiln_type *params = arena_new_array(a, sig->n_params + 1, struct kiln_type);
    if (!params)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "no memory for a signature");
    uint64_t at = 0;
    to->args_align = 1;
    for (uint32_t i = 0; i < sig->n_params; i++) {
        int rc = convert(a, sig->params[i], 0, &params[i], e);
        if (rc)
            return rc;
        at = (at + params[i].align - 1) / params[i].align * params[i].align;
        params[i].offset = (uint32_t)at;
        at += params[i].size;
        if (params[i].align > to->args_align)
            to->args_align = params[i].align;
        if (at > UINT32_MAX)
            return kiln_err_set(e, KILN_E_LIMIT, 0, "the arguments are larger than 4 GB");
    }
    to->args_size = (uint32_t)((at + to->args_align - 1) / to->args_align * to->args_align);
    if (sig->ret) {
        struct kiln_type *ret = &params[sig->n_params];
        int rc = convert(a, sig->ret, 0, ret, e);
        if (rc)
            return rc;
        to->ret = ret;
    }
    to->params = params;
    to->n_params = sig->n_params;
    struct buf text;
    buf_init(&text, SIGNATURE_MEMORY);
    signature_print(&text, sig);
    const char *copy = buf_ok(&text) ? arena_dup(a, text.data, text.len) : NULL;
    buf_done(&text);
    to->text = copy;
    return copy ? 0 : kiln_err_set(e, KILN_E_NOMEM, 0, "no memory for a signature");
}

/* text, or params and result. */
static int make(const char *text, const char *const *params, uint32_t n, const char *result,
                struct kiln_signature **ret, struct kiln_error *e)
{
    struct kiln_err err = KILN_ERR_INIT;
    struct arena *a;
    *ret = NULL;
    struct kiln_signature *to = result_new(sizeof *to, SIGNATURE_MEMORY, &a);
    struct type_table *types = to ? type_table_new(a) : NULL;
    int rc = types ? 0 : kiln_err_set(&err, KILN_E_NOMEM, 0, "no memory for a signature");
    struct signature sig = { .n_params = n };
    if (!rc && text) {
        rc = signature_parse(types, text, strlen(text), &sig, &err);
    } else if (!rc) {
        const struct type **list = arena_new_array(a, n + 1, const struct type *);
        if (!list)
            rc = kiln_err_set(&err, KILN_E_NOMEM, 0, "no memory for a signature");
        for (uint32_t i = 0; !rc && i < n; i++)
            rc = type_parse(types, params[i], strlen(params[i]), &list[i], &err);
        if (!rc && result)
            rc = type_parse(types, result, strlen(result), &list[n], &err);
        if (!rc) {
            sig.params = list;
            sig.ret = result ? list[n] : NULL;
        }
    }
    if (!rc)
        rc = fill(a, &sig, to, &err);
    if (rc) {
        kiln_result_free(to);
        return client_fail(e, &err);
    }
    *ret = to;
    return 0;
}

int kiln_signature_parse(const char *text, struct kiln_signature **ret, struct kiln_error *e)
{
    return make(text, NULL, 0, NULL, ret, e);
}

int kiln_signature_make(const char *const *params, uint32_t n, const char *result,
                        struct kiln_signature **ret, struct kiln_error *e)
{
    return make(NULL, params, n, result, ret, e);
}
