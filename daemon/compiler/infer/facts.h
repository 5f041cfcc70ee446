/* SPDX-License-Identifier: Apache-2.0
 * facts.h - what inference found out, and lowering reads. The KIR tree itself is never changed.
 *
 * An instance is a function at given argument types. It owns a table of facts by (context, node): a
 * context is one unrolled iteration of a loop over a heterogeneous tuple, or one copy of a finally
 * block; most functions have context 0 alone.
 *
 * Made precise, node by node (what lowering counts on):
 *   - A node with has_value is never evaluated, nor are its operands: set it only where they have no effect.
 *   - LOCAL as a target: fact.type is the slot that is written; the value is converted to it. AUGASSIGN: the
 *     target's fact.type is what is read (slot or element), AUGASSIGN's own fact.type is the result of the
 *     operation: the slot written for a local, converted to the element type for a subscript.
 *   - BINARY (AUGASSIGN, UNARY): the operation is done on values of type fact.operand and its result, whose type
 *     follows from operator and operand, is converted to fact.type. `/` has a float or complex operand type.
 *     IFEXP, AND, OR: each operand's value is converted to fact.type; truth is taken of the operand's own type.
 *   - COMPARE of one operator: fact.operand; of several: fact.operands[i] (an entry may be NULL). NULL: both sides
 *     as they are (int64 with uint64 exactly, tuples item by item, None, optional).
 *   - CALL of an instance: args[0..n_params) are the parameters, then args of kind ARG_CAPTURE, fn->n_free of them
 *     (`node` is the callee expression, of type FUNCTION). KIR nodes of arguments are evaluated in order whatever
 *     order args has. The value has type callee->ret and is converted to fact.type.
 *   - CALL of an intrinsic: args in the order of the intrinsic's parameters; an absent optional one is ARG_NONE with
 *     type NONE (or left off at the end). For a method args[0] is the receiver: `node` is the ATTR. A dtype or type
 *     argument has a TYPEVALUE type and is not evaluated. args[i].type is what the argument is converted to.
 *   - ATTR done by the compiler: intrinsic set; the operand is evaluated as it is.
 *   - SUBSCRIPT: index nodes (SLICE, TUPLE of them, Ellipsis, None) have facts of their own; index integers are
 *     converted to 64 bits by their signedness. A tuple's index, where not has_value, indexes equal items.
 *   - FOR unrolled (contexts != 0): target and body have facts in contexts + k; iterable, else and the FOR itself in
 *     the context of the FOR. EDGE_ENTRY (before iteration 0) and EDGE_EXIT are keyed by the outer context,
 *     EDGE_BACK (end of iteration k) by contexts + k.
 *   - RETURN: the value is converted to instance.ret.
 *   - WALRUS inside an operand that may not be evaluated (AND, OR, IFEXP, a chain of comparisons): the local has
 *     the same type on both paths or none on one of them, so there is no edge; reads after it say maybe_unset.
 *   - A CALL whose callee never returns has the type <unset>: what follows in the block has no facts.
 *   - An operator, SUBSCRIPT, COMPARE or FOR with a callee is done by that function of the prelude. SUBSCRIPT as a target:
 *     args[2] has the type of what is stored, but no node. FOR: the callee's result is what is iterated.
 *   - LIST, SET, DICT, COMP: fact.type is the container's; callee, where there is one, is the function that puts one item
 *     (or pair) into it.
 *   - ATTR of a dict or set: a field of box.h.
 *   - ITER: name "enumerate": items[0] the iterable, items[1] the type of start (only if given); "zip": the
 *     iterables; "reversed": items[0]. The FOR's target has the type of one item.
 *
 * Locals are flow-typed: `local 3` may be pyint at one place and float64 at another. Lowering keeps one
 * stack slot per (local, type). Where control flow joins, the edges below say which values move from one
 * slot to another; apart from them, a read of (local, type) always follows a write of the same pair. */
#ifndef KILN_COMPILER_INFER_FACTS_H
#define KILN_COMPILER_INFER_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/compiler/compile.h"
#include "proto/ir/kir.h"
#include "proto/ir/type.h"

/* A module under compilation: the user's, or the prelude's (whose frames stay out of tracebacks). */
struct unit_name {
    const char *name; /* canonical: "numpy.sum", "ndarray.sum" for a method */
    uint32_t function;
};
struct unit {
    const struct kir_module *mod;
    bool prelude;
    const struct unit_name *names; /* the prelude's functions by name */
    uint32_t n_names;
};

/* What the compiler does itself: rows of library.def. */
enum intrinsic {
    LIB__NONE = 0,
#define X(ID, name, rule, how) LIB_##ID,
#include "daemon/compiler/library.def"
#undef X
    LIB__COUNT
};

struct instance;

/* How one parameter of a callee gets its value. */
enum arg_from {
    ARG_NODE,   /* the value of `node` in the caller's context */
    ARG_CONST,  /* constant `index` of the callee's unit (a default) */
    ARG_PACK,   /* *args: a tuple of `n` arguments from `pack` */
    ARG_ITEM,   /* item `index` of the tuple that `node` (a starred argument) yields */
    ARG_NONE,   /* parameter of type none, nothing passed */
    ARG_CAPTURE /* captured variable `index` of the function value `node` */
};
struct arg {
    enum arg_from from;
    const struct type *type; /* what the callee expects; the value is converted to it */
    uint32_t node, index;
    const struct arg *pack;
    uint32_t n;
};

struct fact {
    const struct type *type; /* of the value; NULL: never reached, not lowered */
    /* Operators: the type that both operands are converted to before the operation (BINARY, AUGASSIGN,
     * UNARY, single COMPARE); NULL: operands are used as they are. SUBSCRIPT/ASSIGN: unused. */
    const struct type *operand;
    /* COMPARE with several operators: operand type of each; else NULL. */
    const struct type *const *operands;
    /* CALL of a function (or an operator, attribute or library function that is a prelude function). */
    const struct instance *callee;
    const struct instance *getter; /* AUGASSIGN's target: what reads the item that callee writes */
    const struct instance *tested; /* a condition that is an object: its __bool__ or __len__ */
    bool negated;                  /* COMPARE: the callee's result is turned round (`!=` by __eq__) */
    const struct arg *args; /* bound in the order of the callee's locals; for intrinsics, of its parameters */
    uint32_t n_args;
    uint16_t intrinsic; /* enum intrinsic: CALL or ATTR done by the compiler itself; 0 none */
    int8_t truth;       /* conditions: 1 and -1 decided by types alone (dead arm not typed), 0 at run time */
    bool maybe_unset;   /* LOCAL: may be unbound here: check, raise UnboundLocalError */
    bool current;       /* LOCAL, a function that CLOSURE made here: its variables are read anew (closure_node) */
    bool has_value;     /* type is a scalar or tuple whose value is known: see value */
    const struct kir_const *value;      /* the known value (interned in the job's arena) */
    const struct kir_module *value_mod; /* module whose constant table value->items index */
    uint32_t contexts;  /* unrolled FOR, COMP: first context; iteration k is contexts + k. 0: not unrolled */
    uint32_t n_contexts;
};

/* A value that changes its slot when control takes an edge. Sorted by (context, node, arm). */
enum edge_arm {
    EDGE_THEN,      /* end of the then arm of IF or IFEXP-like */
    EDGE_ELSE,      /* end of the else arm, or the false path without one */
    EDGE_ENTRY,     /* before the first test of a loop */
    EDGE_BACK,      /* end of the loop's body */
    EDGE_EXIT,      /* the loop ends by itself, after its else block */
    EDGE_JUMP,      /* at this BREAK, CONTINUE or RETURN */
    EDGE_TRY,       /* end of a try body (with else block) */
    EDGE_HANDLER,   /* end of this HANDLER */
    EDGE_RAISE,     /* entry of this HANDLER or finally block from anywhere inside the body */
    EDGE_TRUE,      /* IF, IFEXP: on the way into the then arm. What the condition proves: optional(T) moves to T */
    EDGE_FALSE      /* IF, IFEXP: on the way into the else arm, or past it where there is none */
};
struct edge {
    uint32_t context, node;
    enum edge_arm arm;
    uint32_t local;
    const struct type *from, *to; /* to CONFLICT or UNSET: the value is dropped (released) */
};

struct instance {
    uint32_t id; /* dense, 0 is the entry */
    const struct unit *unit;
    uint32_t func;
    const struct kir_function *fn;
    const struct type *const *params; /* one a parameter (fn->n_params): the types locals start with */
    const struct type *const *captures; /* fn->n_free: types of free variables */
    const struct type *ret; /* NONE for procedures; never NULL in a finished program */
    bool recursive;   /* part of a cycle of calls: needs a stack check */
    bool may_raise;   /* false: status need not be tested */
    bool no_return;   /* every path raises */
    uint32_t n_contexts;
    struct fact *facts; /* [context * fn->n_nodes + node] */
    const struct edge *edges;
    uint32_t n_edges;
};

struct program {
    struct type_table *types;
    const struct unit *user, *prelude;
    struct instance *const *instances; /* callees may come after callers */
    uint32_t n_instances;
    const struct type *const *env; /* types of the environment's slots */
    uint32_t n_env;
    struct compile_options options;
};

/* The CLOSURE of fn that makes functions of this type; KIR_NIL if none does (it came from elsewhere), or several. */
uint32_t closure_node(const struct kir_function *fn, const struct type *t, bool prelude);

static inline const struct fact *fact_at(const struct instance *in, uint32_t context, uint32_t node)
{
    return &in->facts[(size_t)context * in->fn->n_nodes + node];
}

/* The edges of (context, node, arm); *ret_n their number. */
const struct edge *edges_at(const struct instance *in, uint32_t context, uint32_t node, enum edge_arm arm,
                            uint32_t *ret_n);

/* Infer every type of the entry at `sig` and of all that it calls.
 * Requires: a verified module, a parsed signature. Ensures: every reached node has a type; instances
 * are final. On failure d holds at least one diagnostic, or *e says why none could be made. */
int infer_run(struct arena *a, struct type_table *types, const struct unit *user, const struct unit *prelude,
              const struct signature *sig, const struct type *const *env, uint32_t n_env,
              const struct compile_options *options, struct program **ret, struct diagnostics *d,
              struct kiln_err *e);

/* The text form of the tree with its types, for --emit typed and goldens. */
int facts_print(const struct program *p, struct buf *out);

#endif
