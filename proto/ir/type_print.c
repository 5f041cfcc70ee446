/* SPDX-License-Identifier: Apache-2.0
 * type_print.c - the one canonical spelling of each type. */
#include <string.h>

#include "proto/ir/type_private.h"

/* float64[:, ::1]; returns false where only Array(...) can say it. */
static bool print_subscripted(struct buf *out, const struct type *t)
{
    if (t->ndim == 0 || t->readonly || t->unaligned)
        return false;
    type_print(out, t->elem);
    buf_byte(out, '[');
    for (unsigned i = 0; i < t->ndim; i++) {
        bool unit = (t->layout == 'C' && i + 1 == t->ndim) || (t->layout == 'F' && i == 0);
        buf_str(out, i ? ", " : "");
        buf_str(out, unit ? "::1" : ":");
    }
    buf_byte(out, ']');
    return true;
}

static void print_items(struct buf *out, const struct type *t)
{
    for (uint32_t i = 0; i < t->n_items; i++) {
        buf_str(out, i ? ", " : "");
        type_print(out, t->items[i]);
    }
}

static void print_tuple(struct buf *out, const struct type *t)
{
    if (t->index)
        buf_printf(out, "NamedTuple(%u, (", t->index - 1);
    else
        buf_str(out, "Tuple((");
    print_items(out, t);
    buf_str(out, t->n_items == 1 ? ",))" : "))");
}

/* Kinds that only the compiler knows, for its messages. */
static void print_inner(struct buf *out, const struct type *t)
{
    static const char *const names[TY__COUNT] = {
        [TY_RANGE] = "range",       [TY_SLICE] = "slice",         [TY_ELLIPSIS] = "ellipsis",
        [TY_FUNCTION] = "function", [TY_LIBRARY] = "library",     [TY_METHOD] = "method",
        [TY_TYPEVALUE] = "type",    [TY_EXCEPTION] = "exception", [TY_ITER] = "iterator",
        [TY_CONFLICT] = "conflict", [TY_UNSET] = "unset",         [TY_CLASS] = "class",
    };

    buf_printf(out, "<%s", names[t->kind] ? names[t->kind] : "?");
    if (t->kind == TY_FUNCTION)
        buf_printf(out, " %u", t->index);
    if (t->kind == TY_CLASS)
        buf_printf(out, " %u", t->index - 1);
    if (t->name)
        buf_printf(out, " %s", t->name);
    if (t->elem) {
        buf_str(out, " ");
        type_print(out, t->elem);
    }
    if (t->n_items) {
        buf_str(out, " (");
        print_items(out, t);
        buf_byte(out, ')');
    }
    buf_byte(out, '>');
}

void type_print(struct buf *out, const struct type *t)
{
    if (!buf_ok(out))
        return;
    if (!t) {
        buf_str(out, "<none yet>");
        return;
    }
    switch (t->kind) {
    case TY_ARRAY:
        if (print_subscripted(out, t))
            break;
        buf_str(out, "Array(");
        type_print(out, t->elem);
        buf_printf(out, ", %u, '%c'%s%s)", t->ndim, t->layout, t->readonly ? ", readonly=True" : "",
                   t->unaligned ? ", aligned=False" : "");
        break;
    case TY_TUPLE:
        print_tuple(out, t);
        break;
    case TY_OPTIONAL:
        buf_str(out, "optional(");
        type_print(out, t->elem);
        buf_byte(out, ')');
        break;
    case TY_LIST:
    case TY_SET:
        buf_str(out, t->kind == TY_LIST ? (t->readonly ? "ListType(" : "list(") : t->readonly ? "SetType(" : "set(");
        type_print(out, t->elem);
        buf_byte(out, ')');
        break;
    case TY_DICT:
        buf_str(out, t->readonly ? "DictType(" : "dict(");
        print_items(out, t);
        buf_byte(out, ')');
        break;
    case TY_POINTER:
        if (t->elem->kind == TY_NONE) {
            buf_str(out, "voidptr");
            break;
        }
        buf_str(out, "CPointer(");
        type_print(out, t->elem);
        buf_byte(out, ')');
        break;
    case TY_RECORD:
    case TY_NESTED:
    case TY_CHARS:
        type_print_record(out, t);
        break;
    case TY_ENUM:
    case TY_INTENUM:
        buf_printf(out, "%s(%u)", t->kind == TY_ENUM ? "Enum" : "IntEnum", t->index - 1);
        break;
    case TY_DATETIME:
    case TY_TIMEDELTA:
        buf_printf(out, "%s('%s')", t->kind == TY_DATETIME ? "NPDatetime" : "NPTimedelta", t->name);
        break;
    case TY_OBJECT:
        buf_printf(out, "object(%u)", t->index - 1);
        break;
    case TY_TYPEVALUE:
        buf_str(out, "class(");
        type_print(out, t->elem);
        buf_byte(out, ')');
        break;
    case TY_FUNCTION:
        if (t->n_items || t->prelude)
            print_inner(out, t);
        else
            buf_printf(out, "function(%u)", t->index);
        break;
    default:
        if (type_class(t) == TC_V)
            print_inner(out, t);
        else
            buf_str(out, type_kind_text(t->kind));
    }
}

const char *type_text(struct arena *a, const struct type *t)
{
    struct buf b;
    char *s = NULL;

    buf_init(&b, 1u << 20); /* TYPE_MAX_PARTS names fit */
    type_print(&b, t);
    if (buf_ok(&b))
        s = arena_dup(a, b.data, b.len);
    buf_done(&b);
    return s;
}

void signature_print(struct buf *out, const struct signature *sig)
{
    if (sig->ret)
        type_print(out, sig->ret);
    buf_byte(out, '(');
    for (uint32_t i = 0; i < sig->n_params; i++) {
        buf_str(out, i ? ", " : "");
        type_print(out, sig->params[i]);
    }
    buf_byte(out, ')');
}
