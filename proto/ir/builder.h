/* SPDX-License-Identifier: Apache-2.0
 * builder.h - make a KIR module node by node.
 *
 *   struct kir_builder *b = kir_builder_new();
 *   uint32_t f = kir_b_function(b);                          the first one is the entry
 *   uint32_t x = kir_b_param(b, f, "x", KIR_P_NORMAL, KIR_NIL);
 *   uint32_t body[1];
 *   body[0] = kir_b_return(b, f, kir_b_binary(b, f, KIR_B_ADD, kir_b_local(b, f, x), kir_b_const(b, f,
 * kir_b_int(b, 1)))); kir_b_block(b, f, body, 1); rc = kir_builder_finish(b, &arena, &module, &e);
 *
 * Nodes of a function are made in post-order: operands before their parent, each used once, in order. They
 * keep their numbers, so a table of source positions can be made along the way. Constants, functions,
 * locals, environment slots and user types are handles in any order; finish numbers them canonically,
 * drops what was not used, and verifies.
 *
 * Errors stick: after the first one every call returns KIR_NIL and does nothing, and finish reports it. So
 * callers need no check per call. Not thread-safe. (C evaluates arguments in no fixed order: nest calls only
 * where one argument is a node, as above; else assign to variables first.) */
#ifndef KILN_IR_BUILDER_H
#define KILN_IR_BUILDER_H

#include "proto/ir/kir.h"

struct kir_builder;

/* NULL when out of memory. */
struct kir_builder *kir_builder_new(void);
void kir_builder_free(struct kir_builder *b);
/* The first error so far: 0 or a negative code, *e filled. */
int kir_builder_error(const struct kir_builder *b, struct kiln_err *e);
/* Make an error stick, for layers above: only the first one counts. Returns KIR_NIL. */
uint32_t kir_builder_fail(struct kir_builder *b, enum kiln_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The canonical, verified module, in a; it needs neither builder nor anything that was passed in. The
 * builder can only be freed afterwards. */
int kir_builder_finish(struct kir_builder *b, struct arena *a, struct kir_module **ret, struct kiln_err *e);

/* Constants; equal ones are one handle. Everything is copied. */
uint32_t kir_b_none(struct kir_builder *b);
uint32_t kir_b_ellipsis(struct kir_builder *b);
uint32_t kir_b_bool(struct kir_builder *b, bool v);
uint32_t kir_b_int(struct kir_builder *b, int64_t v);
uint32_t kir_b_uint(struct kir_builder *b, uint64_t v);
uint32_t kir_b_bigint(struct kir_builder *b, const char *digits); /* any integer; becomes an int if it fits */
uint32_t kir_b_float(struct kir_builder *b, double v);
uint32_t kir_b_complex(struct kir_builder *b, double re, double im);
uint32_t kir_b_str(struct kir_builder *b, const char *p, size_t len);
uint32_t kir_b_bytes(struct kir_builder *b, const void *p, size_t len);
uint32_t kir_b_tuple_const(struct kir_builder *b, const uint32_t *items, uint32_t n);
uint32_t kir_b_scalar(struct kir_builder *b, const char *type, const void *p, size_t len);
uint32_t kir_b_type(struct kir_builder *b, const char *type);
uint32_t kir_b_array(struct kir_builder *b, const char *type, const uint32_t *dims, uint32_t ndim,
                     const void *p, size_t len);
uint32_t kir_b_exception(struct kir_builder *b, const char *name);
uint32_t kir_b_enum_member(struct kir_builder *b, uint32_t usertype, uint32_t member);
uint32_t kir_b_namedtuple(struct kir_builder *b, uint32_t usertype, const uint32_t *items, uint32_t n);
uint32_t kir_b_usertype_const(struct kir_builder *b, uint32_t usertype);
/* Any constant, as a struct: its items and user type are handles. */
uint32_t kir_b_any_const(struct kir_builder *b, const struct kir_const *c);
/* A user type; for an enum `consts` are the members' values, else `types` the fields' type texts ("" where
 * not stated). */
uint32_t kir_b_usertype(struct kir_builder *b, enum kir_usertype_kind kind, const char *name,
                        uint32_t n_fields, const char *const *names, const char *const *types,
                        const uint32_t *consts);

/* The methods of a class, once: functions are handles. */
void kir_b_methods(struct kir_builder *b, uint32_t usertype, const struct kir_method *methods, uint32_t n);

/* Functions. Parameters are declared first; a default is a constant or KIR_NIL. */
uint32_t kir_b_function(struct kir_builder *b);
void kir_b_flags(struct kir_builder *b, uint32_t f, uint32_t flags);
uint32_t kir_b_param(struct kir_builder *b, uint32_t f, const char *name, enum kir_param_kind kind,
                     uint32_t default_const);
uint32_t kir_b_new_local(struct kir_builder *b, uint32_t f);
uint32_t kir_b_new_free(struct kir_builder *b, uint32_t f); /* one more free variable; its number */
uint32_t kir_b_new_env(struct kir_builder *b);              /* one more environment slot */
/* After finish: the slot's number in the module, KIR_NIL if it was not used. */
uint32_t kir_b_env_number(const struct kir_builder *b, uint32_t env);
/* After finish: a function's number in the module, KIR_NIL if it is not reached. */
uint32_t kir_b_function_number(const struct kir_builder *b, uint32_t f);

/* One node, from operands as kir.h describes them in struct kir_node (with handles for numbers). The other
 * functions below are all made of this one. */
uint32_t kir_b_node(struct kir_builder *b, uint32_t f, enum kir_op op, const uint32_t *args, size_t n_args);

uint32_t kir_b_const(struct kir_builder *b, uint32_t f, uint32_t c);
uint32_t kir_b_local(struct kir_builder *b, uint32_t f, uint32_t local); /* as value or target */
uint32_t kir_b_free(struct kir_builder *b, uint32_t f, uint32_t free);
uint32_t kir_b_env(struct kir_builder *b, uint32_t f, uint32_t env);
uint32_t kir_b_func(struct kir_builder *b, uint32_t f, uint32_t callee);
uint32_t kir_b_lib(struct kir_builder *b, uint32_t f, const char *name);
uint32_t kir_b_unary(struct kir_builder *b, uint32_t f, enum kir_unary op, uint32_t x);
uint32_t kir_b_binary(struct kir_builder *b, uint32_t f, enum kir_binary op, uint32_t x, uint32_t y);
uint32_t kir_b_compare(struct kir_builder *b, uint32_t f, enum kir_compare op, uint32_t x, uint32_t y);
uint32_t kir_b_bool_op(struct kir_builder *b, uint32_t f, enum kir_op and_or_or, const uint32_t *items,
                       uint32_t n);
uint32_t kir_b_ifexp(struct kir_builder *b, uint32_t f, uint32_t condition, uint32_t then,
                     uint32_t otherwise);
uint32_t kir_b_call(struct kir_builder *b, uint32_t f, uint32_t callee, const uint32_t *args, uint32_t n);
uint32_t kir_b_attr(struct kir_builder *b, uint32_t f, uint32_t x, const char *name);
uint32_t kir_b_subscript(struct kir_builder *b, uint32_t f, uint32_t x, uint32_t index);
uint32_t kir_b_slice(struct kir_builder *b, uint32_t f, uint32_t lower, uint32_t upper,
                     uint32_t step); /* each may be KIR_NIL */
uint32_t kir_b_tuple(struct kir_builder *b, uint32_t f, const uint32_t *items, uint32_t n);
uint32_t kir_b_block(struct kir_builder *b, uint32_t f, const uint32_t *items, uint32_t n);
uint32_t kir_b_assign(struct kir_builder *b, uint32_t f, uint32_t value, uint32_t target);
uint32_t kir_b_augassign(struct kir_builder *b, uint32_t f, enum kir_binary op, uint32_t target,
                         uint32_t value);
uint32_t kir_b_expr(struct kir_builder *b, uint32_t f, uint32_t value);
uint32_t kir_b_if(struct kir_builder *b, uint32_t f, uint32_t condition, uint32_t then,
                  uint32_t otherwise); /* or KIR_NIL */
uint32_t kir_b_while(struct kir_builder *b, uint32_t f, uint32_t condition, uint32_t body,
                     uint32_t otherwise);
uint32_t kir_b_for(struct kir_builder *b, uint32_t f, uint32_t target, uint32_t iterable, uint32_t body,
                   uint32_t otherwise);
uint32_t kir_b_return(struct kir_builder *b, uint32_t f, uint32_t value); /* or KIR_NIL */
uint32_t kir_b_break(struct kir_builder *b, uint32_t f);
uint32_t kir_b_continue(struct kir_builder *b, uint32_t f);
uint32_t kir_b_raise(struct kir_builder *b, uint32_t f, uint32_t exception); /* or KIR_NIL */

#endif
