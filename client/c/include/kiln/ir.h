/* SPDX-License-Identifier: Apache-2.0
 * <kiln/ir.h> - build a KIR module from C: for people with a frontend of their own. docs/kir.md explains KIR.
 *
 *   struct kiln_ir *ir = kiln_ir_new();
 *   uint32_t f = kiln_ir_function(ir);                        the first one is the entry
 *   uint32_t x = kiln_ir_param(ir, f, "x", KILN_IR_NIL);
 *   uint32_t a = kiln_ir_local(ir, f, x);
 *   uint32_t b = kiln_ir_const(ir, f, kiln_ir_int(ir, 1));
 *   uint32_t body[] = { kiln_ir_return(ir, f, kiln_ir_binary(ir, f, "+", a, b)) };
 *   kiln_ir_block(ir, f, body, 1);                            a function ends with its body
 *   kiln_ir_finish(ir, &bytes, &len, &e);                     what struct kiln_compile.body wants
 *
 * Nodes of a function are made in post-order: operands before their parent, each used once, in order (C
 * evaluates arguments in no fixed order, so give operands names). Constants, functions, locals, environment
 * slots and nodes are numbers. Errors stick: after the first one every call returns KILN_IR_NIL and does
 * nothing, and finish reports it, so callers need no check per call. One thread at a time. */
#ifndef KILN_IR_H
#define KILN_IR_H

#include <kiln/kiln.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_IR_NIL UINT32_MAX

struct kiln_ir;

/* NULL when out of memory. */
KILN_API struct kiln_ir *kiln_ir_new(void);
KILN_API void kiln_ir_free(struct kiln_ir *ir);
/* The canonical, verified module: *ret_body is from malloc. Afterwards ir can only be freed. */
KILN_API int kiln_ir_finish(struct kiln_ir *ir, void **ret_body, size_t *ret_len, struct kiln_error *e);
/* The text form of a module's bytes; from malloc, NUL-terminated. */
KILN_API int kiln_ir_text(const void *body, size_t len, char **ret_text, struct kiln_error *e);
/* And back: from the text form to bytes. */
KILN_API int kiln_ir_parse(const char *text, void **ret_body, size_t *ret_len, struct kiln_error *e);

/* Constants: numbers for kiln_ir_const and for defaults of parameters. Equal ones are one. */
KILN_API uint32_t kiln_ir_none(struct kiln_ir *ir);
KILN_API uint32_t kiln_ir_bool(struct kiln_ir *ir, bool v);
KILN_API uint32_t kiln_ir_int(struct kiln_ir *ir, int64_t v);
KILN_API uint32_t kiln_ir_float(struct kiln_ir *ir, double v);
KILN_API uint32_t kiln_ir_complex(struct kiln_ir *ir, double re, double im);
KILN_API uint32_t kiln_ir_str(struct kiln_ir *ir, const char *text);
KILN_API uint32_t kiln_ir_type(struct kiln_ir *ir, const char *type); /* a dtype as a value: "float64" */
KILN_API uint32_t kiln_ir_scalar(struct kiln_ir *ir, const char *type, const void *value, size_t size);
KILN_API uint32_t kiln_ir_tuple_const(struct kiln_ir *ir, const uint32_t *items, uint32_t n);
KILN_API uint32_t kiln_ir_exception(struct kiln_ir *ir, const char *name);

/* Functions; parameters are declared before other locals, and are locals. */
KILN_API uint32_t kiln_ir_function(struct kiln_ir *ir);
KILN_API void kiln_ir_flags(struct kiln_ir *ir, uint32_t f, uint32_t flags);
KILN_API uint32_t kiln_ir_param(struct kiln_ir *ir, uint32_t f, const char *name, uint32_t default_const);
KILN_API uint32_t kiln_ir_new_local(struct kiln_ir *ir, uint32_t f);
KILN_API uint32_t kiln_ir_new_env(struct kiln_ir *ir); /* a slot: an array of the caller's */

/* Expressions. Operators as in Python: "+" "//" "**" "@" "<<", "<=" "is" "not-in", "-" "~" "not". */
KILN_API uint32_t kiln_ir_const(struct kiln_ir *ir, uint32_t f, uint32_t c);
KILN_API uint32_t kiln_ir_local(struct kiln_ir *ir, uint32_t f, uint32_t local); /* value or target */
KILN_API uint32_t kiln_ir_env(struct kiln_ir *ir, uint32_t f, uint32_t env);
KILN_API uint32_t kiln_ir_func(struct kiln_ir *ir, uint32_t f, uint32_t callee);
KILN_API uint32_t kiln_ir_lib(struct kiln_ir *ir, uint32_t f,
                              const char *name); /* "numpy.exp", "builtins.len" */
KILN_API uint32_t kiln_ir_unary(struct kiln_ir *ir, uint32_t f, const char *op, uint32_t x);
KILN_API uint32_t kiln_ir_binary(struct kiln_ir *ir, uint32_t f, const char *op, uint32_t x, uint32_t y);
KILN_API uint32_t kiln_ir_compare(struct kiln_ir *ir, uint32_t f, const char *op, uint32_t x, uint32_t y);
KILN_API uint32_t kiln_ir_and(struct kiln_ir *ir, uint32_t f, const uint32_t *items, uint32_t n);
KILN_API uint32_t kiln_ir_or(struct kiln_ir *ir, uint32_t f, const uint32_t *items, uint32_t n);
KILN_API uint32_t kiln_ir_ifexp(struct kiln_ir *ir, uint32_t f, uint32_t condition, uint32_t then,
                                uint32_t otherwise);
KILN_API uint32_t kiln_ir_call(struct kiln_ir *ir, uint32_t f, uint32_t callee, const uint32_t *args,
                               uint32_t n);
KILN_API uint32_t kiln_ir_attr(struct kiln_ir *ir, uint32_t f, uint32_t x, const char *name);
KILN_API uint32_t kiln_ir_subscript(struct kiln_ir *ir, uint32_t f, uint32_t x, uint32_t index);
KILN_API uint32_t kiln_ir_slice(struct kiln_ir *ir, uint32_t f, uint32_t lower, uint32_t upper,
                                uint32_t step); /* or NIL */
KILN_API uint32_t kiln_ir_tuple(struct kiln_ir *ir, uint32_t f, const uint32_t *items, uint32_t n);

/* Statements; blocks hold them. `otherwise` and a returned value may be KILN_IR_NIL. */
KILN_API uint32_t kiln_ir_block(struct kiln_ir *ir, uint32_t f, const uint32_t *items, uint32_t n);
KILN_API uint32_t kiln_ir_assign(struct kiln_ir *ir, uint32_t f, uint32_t value, uint32_t target);
KILN_API uint32_t kiln_ir_augassign(struct kiln_ir *ir, uint32_t f, const char *op, uint32_t target,
                                    uint32_t value);
KILN_API uint32_t kiln_ir_expr(struct kiln_ir *ir, uint32_t f, uint32_t value);
KILN_API uint32_t kiln_ir_if(struct kiln_ir *ir, uint32_t f, uint32_t condition, uint32_t then,
                             uint32_t otherwise);
KILN_API uint32_t kiln_ir_while(struct kiln_ir *ir, uint32_t f, uint32_t condition, uint32_t body,
                                uint32_t otherwise);
KILN_API uint32_t kiln_ir_for(struct kiln_ir *ir, uint32_t f, uint32_t target, uint32_t iterable,
                              uint32_t body, uint32_t otherwise);
KILN_API uint32_t kiln_ir_return(struct kiln_ir *ir, uint32_t f, uint32_t value);
KILN_API uint32_t kiln_ir_break(struct kiln_ir *ir, uint32_t f);
KILN_API uint32_t kiln_ir_continue(struct kiln_ir *ir, uint32_t f);
KILN_API uint32_t kiln_ir_raise(struct kiln_ir *ir, uint32_t f, uint32_t exception);

/* Any node by its name in the text form ("with", "comp", ...) and its operands as numbers, as docs/kir.md
 * lists them: for what has no function above. */
KILN_API uint32_t kiln_ir_node(struct kiln_ir *ir, uint32_t f, const char *op, const uint32_t *args,
                               size_t n);

#ifdef __cplusplus
}
#endif
#endif
