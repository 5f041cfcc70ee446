/* SPDX-License-Identifier: Apache-2.0
 * builder_nodes.c - one function a common op, over kir_b_node. */
#include <stdlib.h>
#include <string.h>

#include "proto/ir/builder.h"

#define NODE(op, ...)                                                                                        \
    kir_b_node(b, f, op, (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

/* KIR_NIL + 1 is 0: absent. */
static uint32_t optional(uint32_t x)
{
    return x + 1;
}

/* `head` numbers, then a list of n, then `tail` more lists that are empty. */
static uint32_t with_list(struct kir_builder *b, uint32_t f, enum kir_op op, const uint32_t *head,
                          uint32_t n_head, const uint32_t *items, uint32_t n, uint32_t n_empty)
{
    size_t total = (size_t)n_head + 1 + n + n_empty;
    uint32_t *args = calloc(total, sizeof *args), node;

    if (!args)
        return kir_builder_fail(b, KILN_E_NOMEM, "out of memory");
    if (n_head)
        memcpy(args, head, n_head * sizeof *args);
    args[n_head] = n;
    if (n)
        memcpy(args + n_head + 1, items, n * sizeof *args);
    node = kir_b_node(b, f, op, args, total);
    free(args);
    return node;
}

uint32_t kir_b_const(struct kir_builder *b, uint32_t f, uint32_t c)
{
    return NODE(KIR_CONST, c);
}

uint32_t kir_b_local(struct kir_builder *b, uint32_t f, uint32_t local)
{
    return NODE(KIR_LOCAL, local);
}

uint32_t kir_b_free(struct kir_builder *b, uint32_t f, uint32_t free_variable)
{
    return NODE(KIR_FREE, free_variable);
}

uint32_t kir_b_env(struct kir_builder *b, uint32_t f, uint32_t env)
{
    return NODE(KIR_ENV, env);
}

uint32_t kir_b_func(struct kir_builder *b, uint32_t f, uint32_t callee)
{
    return NODE(KIR_FUNC, callee);
}

uint32_t kir_b_lib(struct kir_builder *b, uint32_t f, const char *name)
{
    return NODE(KIR_LIB, kir_b_str(b, name, strlen(name)));
}

uint32_t kir_b_unary(struct kir_builder *b, uint32_t f, enum kir_unary op, uint32_t x)
{
    return NODE(KIR_UNARY, op, x);
}

uint32_t kir_b_binary(struct kir_builder *b, uint32_t f, enum kir_binary op, uint32_t x, uint32_t y)
{
    return NODE(KIR_BINARY, op, x, y);
}

uint32_t kir_b_compare(struct kir_builder *b, uint32_t f, enum kir_compare op, uint32_t x, uint32_t y)
{
    return NODE(KIR_COMPARE, 1, op, 2, x, y);
}

uint32_t kir_b_bool_op(struct kir_builder *b, uint32_t f, enum kir_op and_or_or, const uint32_t *items,
                       uint32_t n)
{
    return with_list(b, f, and_or_or, NULL, 0, items, n, 0);
}

uint32_t kir_b_ifexp(struct kir_builder *b, uint32_t f, uint32_t condition, uint32_t then, uint32_t otherwise)
{
    return NODE(KIR_IFEXP, condition, then, otherwise);
}

uint32_t kir_b_call(struct kir_builder *b, uint32_t f, uint32_t callee, const uint32_t *args, uint32_t n)
{
    return with_list(b, f, KIR_CALL, &callee, 1, args, n, 2);
}

uint32_t kir_b_attr(struct kir_builder *b, uint32_t f, uint32_t x, const char *name)
{
    return NODE(KIR_ATTR, x, kir_b_str(b, name, strlen(name)));
}

uint32_t kir_b_subscript(struct kir_builder *b, uint32_t f, uint32_t x, uint32_t index)
{
    return NODE(KIR_SUBSCRIPT, x, index);
}

uint32_t kir_b_slice(struct kir_builder *b, uint32_t f, uint32_t lower, uint32_t upper, uint32_t step)
{
    return NODE(KIR_SLICE, optional(lower), optional(upper), optional(step));
}

uint32_t kir_b_tuple(struct kir_builder *b, uint32_t f, const uint32_t *items, uint32_t n)
{
    return with_list(b, f, KIR_TUPLE, NULL, 0, items, n, 0);
}

uint32_t kir_b_block(struct kir_builder *b, uint32_t f, const uint32_t *items, uint32_t n)
{
    return with_list(b, f, KIR_BLOCK, NULL, 0, items, n, 0);
}

uint32_t kir_b_assign(struct kir_builder *b, uint32_t f, uint32_t value, uint32_t target)
{
    return NODE(KIR_ASSIGN, value, 1, target);
}

uint32_t kir_b_augassign(struct kir_builder *b, uint32_t f, enum kir_binary op, uint32_t target,
                         uint32_t value)
{
    return NODE(KIR_AUGASSIGN, op, target, value);
}

uint32_t kir_b_expr(struct kir_builder *b, uint32_t f, uint32_t value)
{
    return NODE(KIR_EXPR, value);
}

uint32_t kir_b_if(struct kir_builder *b, uint32_t f, uint32_t condition, uint32_t then, uint32_t otherwise)
{
    return NODE(KIR_IF, condition, then, optional(otherwise));
}

uint32_t kir_b_while(struct kir_builder *b, uint32_t f, uint32_t condition, uint32_t body, uint32_t otherwise)
{
    return NODE(KIR_WHILE, condition, body, optional(otherwise));
}

uint32_t kir_b_for(struct kir_builder *b, uint32_t f, uint32_t target, uint32_t iterable, uint32_t body,
                   uint32_t otherwise)
{
    return NODE(KIR_FOR, target, iterable, body, optional(otherwise));
}

uint32_t kir_b_return(struct kir_builder *b, uint32_t f, uint32_t value)
{
    return NODE(KIR_RETURN, optional(value));
}

uint32_t kir_b_break(struct kir_builder *b, uint32_t f)
{
    return kir_b_node(b, f, KIR_BREAK, NULL, 0);
}

uint32_t kir_b_continue(struct kir_builder *b, uint32_t f)
{
    return kir_b_node(b, f, KIR_CONTINUE, NULL, 0);
}

uint32_t kir_b_raise(struct kir_builder *b, uint32_t f, uint32_t exception)
{
    return NODE(KIR_RAISE, optional(exception), 0);
}
