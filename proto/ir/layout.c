/* SPDX-License-Identifier: Apache-2.0
 * layout.c - sizes of values in memory, as <kiln/abi.h> lists them. */
#include "proto/ir/type_private.h"

#define MAX_SIZE (1u << 24) /* bytes of one value; TYPE_MAX_PARTS arrays of 32 dimensions are 2 MB */

static uint32_t round_up(uint32_t size, uint32_t align)
{
    return (size + align - 1) & ~(align - 1);
}

static struct layout layout_scalar(const struct type *t)
{
    uint32_t bytes = type_bits(t) / 8;

    return (struct layout){ bytes, type_is_complex(t) ? bytes / 2 : bytes };
}

static int layout_tuple(const struct type *t, unsigned pointer_bytes, struct layout *ret, struct kiln_err *e)
{
    struct layout all = { 0, 1 }, one;
    int rc;

    for (uint32_t i = 0; i < t->n_items; i++) {
        if ((rc = type_layout(t->items[i], pointer_bytes, &one, e)))
            return rc;
        if (one.align > all.align)
            all.align = one.align;
        all.size = round_up(all.size, one.align) + one.size;
        if (all.size > MAX_SIZE)
            return kiln_err_set(e, KILN_E_LIMIT, 0, "a value of more than %u bytes", MAX_SIZE);
    }
    all.size = round_up(all.size, all.align);
    *ret = all;
    return 0;
}

struct layout type_element_layout(const struct type *t)
{
    if (t->kind == TY_RECORD)
        return (struct layout){ t->record->size, t->record->align };
    if (t->kind == TY_NESTED) {
        struct layout one = type_element_layout(t->elem);
        return (struct layout){ one.size * t->index, one.align };
    }
    if (t->kind == TY_CHARS) {
        uint32_t unit = t->name[0] == 'u' ? 4 : 1;
        return (struct layout){ unit * t->index, unit };
    }
    return layout_scalar(t);
}

int type_layout(const struct type *t, unsigned pointer_bytes, struct layout *ret, struct kiln_err *e)
{
    int rc;

    switch (type_class(t)) {
    case TC_N:
        *ret = (struct layout){ 0, 1 };
        return 0;
    case TC_B:
    case TC_I:
    case TC_U:
    case TC_F:
    case TC_C:
    case TC_W:
        *ret = layout_scalar(t);
        return 0;
    default:
        break;
    }
    switch (t->kind) {
    case TY_ARRAY: /* owner, data, shape[n], strides[n] */
        *ret = (struct layout){ (2u + 2u * t->ndim) * pointer_bytes, pointer_bytes };
        return 0;
    case TY_POINTER:
    case TY_LIST: /* struct kiln_mem * */
    case TY_DICT:
    case TY_SET:
    case TY_OBJECT:
        *ret = (struct layout){ pointer_bytes, pointer_bytes };
        return 0;
    case TY_STR: /* owner, data, length, width */
        *ret = (struct layout){ 4 * pointer_bytes, pointer_bytes };
        return 0;
    case TY_BYTES: /* owner, data, length */
        *ret = (struct layout){ 3 * pointer_bytes, pointer_bytes };
        return 0;
    case TY_RECORD: /* owner, data */
        *ret = (struct layout){ 2 * pointer_bytes, pointer_bytes };
        return 0;
    case TY_ENUM: /* position of the member */
        *ret = (struct layout){ 4, 4 };
        return 0;
    case TY_DATETIME: /* its count */
    case TY_TIMEDELTA:
    case TY_INTENUM: /* its value */
        *ret = (struct layout){ 8, 8 };
        return 0;
    case TY_TYPEVALUE:
        *ret = (struct layout){ 0, 1 };
        return 0;
    case TY_TUPLE:
        return layout_tuple(t, pointer_bytes, ret, e);
    case TY_OPTIONAL:
        if ((rc = type_layout(t->elem, pointer_bytes, ret, e)))
            return rc;
        ret->size = round_up(ret->size + 1, ret->align);
        return 0;
    case TY_FUNCTION:
        if (!t->n_items && !t->prelude) { /* which one is part of the type */
            *ret = (struct layout){ 0, 1 };
            return 0;
        } /* fall through */
    default: {
        struct buf b;
        buf_init(&b, 256);
        type_print(&b, t);
        rc = kiln_err_set(e, KILN_E_INVALID, 0, "a value of type %s has no layout in memory", buf_cstr(&b));
        buf_done(&b);
        return rc;
    }
    }
}
