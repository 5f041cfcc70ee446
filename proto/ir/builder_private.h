/* SPDX-License-Identifier: Apache-2.0
 * builder_private.h - what a builder holds. */
#ifndef KILN_IR_BUILDER_PRIVATE_H
#define KILN_IR_BUILDER_PRIVATE_H

#include "proto/ir/builder.h"
#include "proto/ir/kir_private.h"

/* A function under construction. Arrays live in the builder's arena. */
struct kir_b_function {
    struct kir_param *params; /* defaults are handles + 1 */
    size_t n_params, cap_params;
    uint32_t n_locals, n_free, flags;
    uint32_t *args; /* operands of all nodes, with handles */
    size_t n_args, cap_args;
    struct kir_b_node {
        uint16_t op;
        uint32_t n_args;
        size_t first; /* in args */
    } * nodes;
    size_t n_nodes, cap_nodes;
    uint32_t *stack; /* nodes without a parent */
    size_t n_stack, cap_stack;
};

/* Wire bytes of a constant or user type -> its handle. */
struct kir_b_key {
    const unsigned char *p;
    uint32_t len, hash, handle;
};
struct kir_b_keys {
    struct kir_b_key *slots;
    uint32_t n, size; /* size: a power of two, at least twice n */
};

struct kir_builder {
    struct arena a;
    struct kiln_err err;
    struct buf text; /* wire bytes of the constant under construction */
    struct kir_const *consts;
    size_t n_consts, cap_consts;
    struct kir_b_keys const_keys;
    struct kir_usertype *usertypes;
    size_t n_usertypes, cap_usertypes;
    struct kir_b_keys usertype_keys;
    struct kir_b_function **functions;
    size_t n_functions, cap_functions;
    uint32_t n_env;
    uint32_t *env_map, *function_map; /* after finish: handle -> number */
};

/* As kir_builder_finish; on failure *at says which function (as a handle) and node is wrong, if one is. */
int kir_builder_finish_at(struct kir_builder *b, struct arena *a, struct kir_module **ret,
                          struct kir_place *at, struct kiln_err *e);

static inline struct kir_node kir_b_node_at(const struct kir_b_function *f, size_t i)
{
    return (struct kir_node){ f->nodes[i].op, f->nodes[i].n_args, f->args + f->nodes[i].first };
}

#endif
