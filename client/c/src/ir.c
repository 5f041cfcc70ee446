/* SPDX-License-Identifier: Apache-2.0
 * ir.c - <kiln/ir.h> over proto/ir's builder: operators by their spelling, results as plain blocks. */
#include <kiln/ir.h>

#include <stdlib.h>
#include <string.h>

#include "client/c/src/client.h"
#include "proto/base/limits.h"
#include "proto/ir/builder.h"

#define MODULE_MEMORY (256u << 20) /* decoded: a small multiple of a frame */

struct kiln_ir {
    struct kir_builder *b;
};

static const struct name {
    const char *text;
    uint32_t number;
} unary_names[] = {
#define KIR_UNARY(NAME, wire, text) { text, wire },
#include "proto/ir/enums.def"
#undef KIR_UNARY
    { NULL, 0 }
}, binary_names[] = {
#define KIR_BINARY(NAME, wire, text) { text, wire },
#include "proto/ir/enums.def"
#undef KIR_BINARY
    { NULL, 0 }
}, compare_names[] = {
#define KIR_COMPARE(NAME, wire, text) { text, wire },
#include "proto/ir/enums.def"
#undef KIR_COMPARE
    { NULL, 0 }
}, op_names[] = {
#define X(NAME, wire, text, class, operands) { text, wire },
#include "proto/ir/ops.def"
#undef X
    { NULL, 0 }
};

/* The number, or KIR_NIL with the error stuck. */
static uint32_t number_of(struct kiln_ir *ir, const struct name *names, const char *what, const char *text)
{
    for (const struct name *n = names; n->text; n++)
        if (!strcmp(n->text, text))
            return n->number;
    return kir_builder_fail(ir->b, KILN_E_KIR_BAD, "unknown %s '%s'", what, text);
}

struct kiln_ir *kiln_ir_new(void)
{
    struct kiln_ir *ir = malloc(sizeof *ir);
    if (ir && !(ir->b = kir_builder_new())) {
        free(ir);
        ir = NULL;
    }
    return ir;
}

void kiln_ir_free(struct kiln_ir *ir)
{
    if (!ir)
        return;
    kir_builder_free(ir->b);
    free(ir);
}

static int encode(const struct kir_module *m, void **ret_body, size_t *ret_len, struct kiln_err *e)
{
    struct buf out;
    buf_init(&out, LIM_FRAME_BYTES);
    int rc = kir_encode(m, &out, e);
    if (!rc && !(*ret_body = buf_take(&out, ret_len)))
        rc = kiln_err_set(e, KILN_E_LIMIT, 0, "the module does not fit a request");
    buf_done(&out);
    return rc;
}

int kiln_ir_finish(struct kiln_ir *ir, void **ret_body, size_t *ret_len, struct kiln_error *e)
{
    struct kiln_err err = KILN_ERR_INIT;
    struct arena a;
    struct kir_module *m;
    *ret_body = NULL;
    *ret_len = 0;
    arena_init(&a, MODULE_MEMORY);
    int rc = kir_builder_finish(ir->b, &a, &m, &err);
    if (!rc)
        rc = encode(m, ret_body, ret_len, &err);
    arena_done(&a);
    return rc ? client_fail(e, &err) : 0;
}

int kiln_ir_text(const void *body, size_t len, char **ret_text, struct kiln_error *e)
{
    struct kiln_err err = KILN_ERR_INIT;
    struct arena a;
    struct kir_module *m;
    struct buf out;
    *ret_text = NULL;
    arena_init(&a, MODULE_MEMORY);
    buf_init(&out, MODULE_MEMORY);
    int rc = kir_decode(&a, body, len, &m, &err);
    if (!rc)
        rc = kir_print(m, &out, &err);
    size_t n;
    buf_byte(&out, 0);
    if (!rc && !(*ret_text = (char *)buf_take(&out, &n)))
        rc = kiln_err_set(&err, KILN_E_NOMEM, 0, "no memory for the text of a module");
    buf_done(&out);
    arena_done(&a);
    return rc ? client_fail(e, &err) : 0;
}

int kiln_ir_parse(const char *text, void **ret_body, size_t *ret_len, struct kiln_error *e)
{
    struct kiln_err err = KILN_ERR_INIT;
    struct arena a;
    struct kir_module *m;
    *ret_body = NULL;
    *ret_len = 0;
    arena_init(&a, MODULE_MEMORY);
    int rc = kir_parse(&a, text, strlen(text), &m, &err);
    if (!rc)
        rc = encode(m, ret_body, ret_len, &err);
    arena_done(&a);
    return rc ? client_fail(e, &err) : 0;
}

/* ---- constants --------------------------------------------------------------------------------- */

uint32_t kiln_ir_none(struct kiln_ir *ir)
{
    return kir_b_none(ir->b);
}
uint32_t kiln_ir_bool(struct kiln_ir *ir, bool v)
{
    return kir_b_bool(ir->b, v);
}
uint32_t kiln_ir_int(struct kiln_ir *ir, int64_t v)
{
    return kir_b_int(ir->b, v);
}
uint32_t kiln_ir_float(struct kiln_ir *ir, double v)
{
    return kir_b_float(ir->b, v);
}
uint32_t kiln_ir_complex(struct kiln_ir *ir, double re, double im)
{
    return kir_b_complex(ir->b, re, im);
}
uint32_t kiln_ir_str(struct kiln_ir *ir, const char *text)
{
    return kir_b_str(ir->b, text, strlen(text));
}
uint32_t kiln_ir_type(struct kiln_ir *ir, const char *type)
{
    return kir_b_type(ir->b, type);
}
uint32_t kiln_ir_scalar(struct kiln_ir *ir, const char *type, const void *value, size_t size)
{
    return kir_b_scalar(ir->b, type, value, size);
}
uint32_t kiln_ir_tuple_const(struct kiln_ir *ir, const uint32_t *items, uint32_t n)
{
    return kir_b_tuple_const(ir->b, items, n);
}
uint32_t kiln_ir_exception(struct kiln_ir *ir, const char *name)
{
    return kir_b_exception(ir->b, name);
}

/* ---- functions --------------------------------------------------------------------------------- */

uint32_t kiln_ir_function(struct kiln_ir *ir)
{
    return kir_b_function(ir->b);
}
void kiln_ir_flags(struct kiln_ir *ir, uint32_t f, uint32_t flags)
{
    kir_b_flags(ir->b, f, flags);
}
uint32_t kiln_ir_param(struct kiln_ir *ir, uint32_t f, const char *name, uint32_t default_const)
{
    return kir_b_param(ir->b, f, name, KIR_P_NORMAL, default_const);
}
uint32_t kiln_ir_new_local(struct kiln_ir *ir, uint32_t f)
{
    return kir_b_new_local(ir->b, f);
}
uint32_t kiln_ir_new_env(struct kiln_ir *ir)
{
    return kir_b_new_env(ir->b);
}

/* ---- expressions ------------------------------------------------------------------------------- */

uint32_t kiln_ir_const(struct kiln_ir *ir, uint32_t f, uint32_t c)
{
    return kir_b_const(ir->b, f, c);
}
uint32_t kiln_ir_local(struct kiln_ir *ir, uint32_t f, uint32_t local)
{
    return kir_b_local(ir->b, f, local);
}
uint32_t kiln_ir_env(struct kiln_ir *ir, uint32_t f, uint32_t env)
{
    return kir_b_env(ir->b, f, env);
}
uint32_t kiln_ir_func(struct kiln_ir *ir, uint32_t f, uint32_t callee)
{
    return kir_b_func(ir->b, f, callee);
}
uint32_t kiln_ir_lib(struct kiln_ir *ir, uint32_t f, const char *name)
{
    return kir_b_lib(ir->b, f, name);
}
uint32_t kiln_ir_unary(struct kiln_ir *ir, uint32_t f, const char *op, uint32_t x)
{
    uint32_t n = number_of(ir, unary_names, "unary operator", op);
    return n == KIR_NIL ? n : kir_b_unary(ir->b, f, (enum kir_unary)n, x);
}
uint32_t kiln_ir_binary(struct kiln_ir *ir, uint32_t f, const char *op, uint32_t x, uint32_t y)
{
    uint32_t n = number_of(ir, binary_names, "operator", op);
    return n == KIR_NIL ? n : kir_b_binary(ir->b, f, (enum kir_binary)n, x, y);
}
uint32_t kiln_ir_compare(struct kiln_ir *ir, uint32_t f, const char *op, uint32_t x, uint32_t y)
{
    uint32_t n = number_of(ir, compare_names, "comparison", op);
    return n == KIR_NIL ? n : kir_b_compare(ir->b, f, (enum kir_compare)n, x, y);
}
uint32_t kiln_ir_and(struct kiln_ir *ir, uint32_t f, const uint32_t *items, uint32_t n)
{
    return kir_b_bool_op(ir->b, f, KIR_AND, items, n);
}
uint32_t kiln_ir_or(struct kiln_ir *ir, uint32_t f, const uint32_t *items, uint32_t n)
{
    return kir_b_bool_op(ir->b, f, KIR_OR, items, n);
}
uint32_t kiln_ir_ifexp(struct kiln_ir *ir, uint32_t f, uint32_t condition, uint32_t then, uint32_t otherwise)
{
    return kir_b_ifexp(ir->b, f, condition, then, otherwise);
}
uint32_t kiln_ir_call(struct kiln_ir *ir, uint32_t f, uint32_t callee, const uint32_t *args, uint32_t n)
{
    return kir_b_call(ir->b, f, callee, args, n);
}
uint32_t kiln_ir_attr(struct kiln_ir *ir, uint32_t f, uint32_t x, const char *name)
{
    return kir_b_attr(ir->b, f, x, name);
}
uint32_t kiln_ir_subscript(struct kiln_ir *ir, uint32_t f, uint32_t x, uint32_t index)
{
    return kir_b_subscript(ir->b, f, x, index);
}
uint32_t kiln_ir_slice(struct kiln_ir *ir, uint32_t f, uint32_t lower, uint32_t upper, uint32_t step)
{
    return kir_b_slice(ir->b, f, lower, upper, step);
}
uint32_t kiln_ir_tuple(struct kiln_ir *ir, uint32_t f, const uint32_t *items, uint32_t n)
{
    return kir_b_tuple(ir->b, f, items, n);
}

/* ---- statements -------------------------------------------------------------------------------- */

uint32_t kiln_ir_block(struct kiln_ir *ir, uint32_t f, const uint32_t *items, uint32_t n)
{
    return kir_b_block(ir->b, f, items, n);
}
uint32_t kiln_ir_assign(struct kiln_ir *ir, uint32_t f, uint32_t value, uint32_t target)
{
    return kir_b_assign(ir->b, f, value, target);
}
uint32_t kiln_ir_augassign(struct kiln_ir *ir, uint32_t f, const char *op, uint32_t target, uint32_t value)
{
    uint32_t n = number_of(ir, binary_names, "operator", op);
    return n == KIR_NIL ? n : kir_b_augassign(ir->b, f, (enum kir_binary)n, target, value);
}
uint32_t kiln_ir_expr(struct kiln_ir *ir, uint32_t f, uint32_t value)
{
    return kir_b_expr(ir->b, f, value);
}
uint32_t kiln_ir_if(struct kiln_ir *ir, uint32_t f, uint32_t condition, uint32_t then, uint32_t otherwise)
{
    return kir_b_if(ir->b, f, condition, then, otherwise);
}
uint32_t kiln_ir_while(struct kiln_ir *ir, uint32_t f, uint32_t condition, uint32_t body, uint32_t otherwise)
{
    return kir_b_while(ir->b, f, condition, body, otherwise);
}
uint32_t kiln_ir_for(struct kiln_ir *ir, uint32_t f, uint32_t target, uint32_t iterable, uint32_t body,
                     uint32_t otherwise)
{
    return kir_b_for(ir->b, f, target, iterable, body, otherwise);
}
uint32_t kiln_ir_return(struct kiln_ir *ir, uint32_t f, uint32_t value)
{
    return kir_b_return(ir->b, f, value);
}
uint32_t kiln_ir_break(struct kiln_ir *ir, uint32_t f)
{
    return kir_b_break(ir->b, f);
}
uint32_t kiln_ir_continue(struct kiln_ir *ir, uint32_t f)
{
    return kir_b_continue(ir->b, f);
}
uint32_t kiln_ir_raise(struct kiln_ir *ir, uint32_t f, uint32_t exception)
{
    return kir_b_raise(ir->b, f, exception);
}

uint32_t kiln_ir_node(struct kiln_ir *ir, uint32_t f, const char *op, const uint32_t *args, size_t n)
{
    uint32_t number = number_of(ir, op_names, "node", op);
    return number == KIR_NIL ? number : kir_b_node(ir->b, f, (enum kir_op)number, args, n);
}
