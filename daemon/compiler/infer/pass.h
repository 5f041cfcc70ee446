/* SPDX-License-Identifier: Apache-2.0
 * pass.h - what the files of inference share. See facts.h for what comes out.
 *
 * The pass is forward abstract interpretation over the structured tree: a *state* holds the type of each
 * local, arms work on copies and are joined, loops go round until their head state is stable. Types only
 * grow, so everything ends. A function is walked until its result type is stable (recursion), and once more
 * to *emit*: only that last walk reports diagnostics and records edges, because only then are all types
 * final. `bottom` (kind UNSET) is the type of what is not known yet, or was refused: it makes everything it
 * touches bottom and is silent. */
#ifndef KILN_COMPILER_INFER_PASS_H
#define KILN_COMPILER_INFER_PASS_H

#include "daemon/compiler/infer/facts.h"

/* Limits of a compile, each with a diagnostic. */
#define INFER_MAX_INSTANCES 64   /* of one function: more means types that grow without end */
#define INFER_MAX_DEPTH 200      /* of calls between functions being inferred */
#define INFER_MAX_NESTING 1000   /* of nodes: 8 MB of stack hold several times that */
#define INFER_MAX_ROUNDS 100     /* of a loop or a cycle of functions; types have few steps to climb */
#define INFER_MAX_UNROLL 1000    /* iterations over a tuple of different types */
#define INFER_MAX_DIAGNOSTICS 10 /* independent mistakes of one compile */

struct place {
    uint32_t context, node;
};

#define WHERE_PARAM UINT32_MAX
struct state {
    const struct type **types; /* per local; NULL: nothing bound */
    bool *unset;               /* per local: may be unbound on some path */
    uint32_t *where;           /* per local: node of the last assignment, for notes; WHERE_PARAM: the call */
    bool dead;                 /* control does not get here */
    const struct kir_const **known; /* per local: its value, of the function's own module; NULL: of none */
};

struct jump {
    uint32_t node, context;
    struct state state;
    struct jump *next;
};
struct final;
struct loop {
    struct loop *up;
    struct jump *breaks, *continues;
    struct final *final; /* around the loop */
};
/* A part that an exception may leave to a handler; seen: what variables held there. */
struct guard {
    struct guard *up;
    struct state *seen;
};
/* A finally block around what is being walked. */
struct final {
    struct final *up;
    uint32_t block;
    struct guard *guard; /* around the try statement */
};

/* A remembered loop head, or the contexts of an unrolled loop: kept from walk to walk. */
struct head {
    struct place at;
    struct state state;
    uint32_t contexts, n_contexts;
    struct head *next;
};

enum work_status { WORK_NEW, WORK_OPEN, WORK_PROVISIONAL, WORK_DONE };

/* An instance under construction. `in` is what lowering sees. */
struct work {
    struct instance in;
    enum work_status status;
    uint32_t depth, low; /* on the stack of open instances */
    uint32_t epoch;      /* last round of a cycle in which it was walked */
    struct fact *facts;
    uint32_t cap_contexts;
    struct edge *edges;
    size_t n_edges, cap_edges;
    struct head *heads;
    struct cell *cells; /* container.c */
    const struct type *ret;
    uint32_t ret_node;
    bool returns; /* with a type that is known */
    bool ends;    /* control gets to a return, or to the end */
    bool raises;
    struct conflict {
        const struct type *a, *b;
        uint32_t a_node, b_node;
        bool said;             /* its diagnostic was given */
    } * conflicts;             /* per local */
    const struct work *caller; /* the first one, for notes */
    uint32_t call_node;
    struct work *next;
};

struct pass {
    struct arena *a;
    struct type_table *types;
    const struct unit *user, *prelude;
    const struct type *const *env;
    uint32_t n_env;
    struct compile_options options;
    struct diagnostics *d;
    struct kiln_err *e;
    bool failed; /* out of memory, or a limit: *e is set */
    struct work *works;
    uint32_t n_works;
    uint32_t depth, epoch;
    bool changed; /* a member of the cycle under work got another result */
    const struct type *bottom, *none, *boolean, *pyint, *pyfloat, *pycomplex, *str, *conflict;
};

struct call;
struct walk {
    struct pass *p;
    struct work *w;
    uint32_t context;
    struct state s;
    struct loop *loop;
    struct guard *guard;
    struct final *final;
    uint32_t handling; /* the HANDLER being walked, 0: none (node 0 is never one) */
    bool emit;
    uint32_t nesting;
    uint32_t message; /* 1 + the node of the formatted string that is an exception's message, 0: none */
};

/* ---- infer.c ---- */
/* Out of memory or another failure without a place; returns bottom. */
const struct type *fail_memory(struct pass *p);
/* A mistake of the user at a node, once per place; recorded only while emitting. Returns bottom. */
const struct type *mistake(struct walk *w, uint32_t node, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The diagnostic that `mistake` just made, for notes; NULL when it made none. */
struct diagnostic *last_mistake(struct walk *w);
void note_here(struct walk *w, struct diagnostic *d, uint32_t node, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
const char *show(struct walk *w, const struct type *t);

static inline const struct kir_node *node_at(const struct walk *w, uint32_t node)
{
    return &w->w->in.fn->nodes[node];
}
static inline struct fact *fact_for(const struct walk *w, uint32_t node)
{
    return &w->w->facts[(size_t)w->context * w->w->in.fn->n_nodes + node];
}
static inline bool is_bottom(const struct type *t)
{
    return t->kind == TY_UNSET;
}
static inline bool numba(const struct walk *w)
{
    return w->p->options.numba;
}
static inline const struct type *scalar(const struct walk *w, enum type_kind kind)
{
    const struct type *t = type_scalar(w->p->types, kind);
    return t ? t : fail_memory(w->p);
}

/* ---- promote.c: the promotion table ---- */
/* Type of an arithmetic result of two numbers (bool counts as an integer of Python); NULL if there is none.
 */
const struct type *promote(struct pass *p, const struct type *a, const struct type *b);
/* np.promote_types of two element types. */
const struct type *promote_elements(struct pass *p, const struct type *a, const struct type *b);
/* Type of a variable that holds one or the other; NULL if there is none. Any types. */
const struct type *join_types(struct pass *p, const struct type *a, const struct type *b);
/* int64 for pyint and so on; other types as they are. */
const struct type *strong(struct pass *p, const struct type *t);
/* Real type of a complex type's parts; a real type itself. */
const struct type *part_type(struct pass *p, const struct type *t);
/* Whether a value of `from` may be stored where `to` is asked (assignment to an element, a stated result). */
bool assignable(struct pass *p, const struct type *from, const struct type *to);

/* ---- state.c ---- */
struct state state_copy(struct walk *w, const struct state *s);
/* Join src into dst (dead states are neutral). Returns whether dst changed. */
bool state_join(struct walk *w, struct state *dst, const struct state *src);
/* Record what control does to slots on its way from `from` to `to`; only while emitting. */
void edges_add(struct walk *w, uint32_t context, uint32_t node, enum edge_arm arm, const struct state *from,
               const struct state *to);
void edges_finish(struct work *w); /* sort, the last of each key wins */
void bind_local(struct walk *w, uint32_t local, const struct type *t, uint32_t where);

/* The value that a local is known to have until it is bound again. */
void know_local(struct walk *w, uint32_t local, const struct kir_const *k);

/* ---- instance.c ---- */
/* The instance of a function at these types, and its result (bottom while a cycle is being worked out). */
const struct type *call_instance(struct walk *w, uint32_t node, const struct unit *unit, uint32_t func,
                                 const struct type *const *params, const struct type *const *captures,
                                 const struct instance **ret);
/* Known only once the instance is finished: each of its paths raises. */
bool instance_never_returns(const struct instance *in);
struct work *instance_entry(struct pass *p, const struct type *const *params);
void instance_ensure(struct pass *p, struct work *w);
void instance_walk(struct pass *p, struct work *w, bool emit);
struct head *head_find(struct walk *w, uint32_t node, bool *ret_new);
/* n new contexts of the instance; returns the first. */
uint32_t contexts_new(struct walk *w, uint32_t n);

/* ---- expr.c ---- */
const struct type *expr(struct walk *w, uint32_t node);
/* The constant that a node is known to be, or NULL. */
const struct kir_const *known(struct walk *w, uint32_t node);
bool known_int(struct walk *w, uint32_t node, int64_t *ret);
const struct type *know_bool(struct walk *w, struct fact *f, bool value);
const struct type *know_int(struct walk *w, struct fact *f, int64_t value);
const struct type *const_type(struct walk *w, const struct kir_module *mod, const struct kir_const *k);
/* Whether evaluating the node does nothing but give a value, so that it may be left out. */
bool is_pure(struct walk *w, uint32_t node);

/* ---- container.c ---- */
/* A list, set (items a) or dict (keys a, values b) made at this place; NULL parts: nothing in it yet. */
const struct type *container_new(struct walk *w, uint32_t node, enum type_kind kind, const struct type *a,
                                 const struct type *b);
/* The same of kilnjit.typed. */
const struct type *container_typed(struct walk *w, uint32_t node, enum type_kind kind, const struct type *a,
                                   const struct type *b);
/* a (and b) are put into a container of type t: its type afterwards, or bottom with a diagnostic. */
const struct type *container_grow(struct walk *w, uint32_t node, const struct type *t, const struct type *a,
                                  const struct type *b);
/* A type without places, as it leaves a function; bottom where what it holds is not known yet. */
const struct type *settled(struct walk *w, const struct type *t);
const struct type *container_join(struct pass *p, const struct type *a, const struct type *b);
bool container_default(struct pass *p, struct work *w);
static inline bool is_container(const struct type *t)
{
    return t->kind == TY_LIST || t->kind == TY_DICT || t->kind == TY_SET;
}

/* ---- protocol.c: what a type's values can do is written in the prelude, by names ---- */
/* "list", "dict", ...: the prelude's prefix of a type's methods; NULL if it has none. */
const char *protocol_prefix(const struct type *t);
bool protocol_has(const struct walk *w, const struct type *t, const char *name);
/* The same with "int", "float" and "complex" for numbers, which have methods but no operators there. */
const char *method_prefix(const struct type *t);
/* A prelude function by its name; NULL. */
const struct unit_name *prelude_find(const struct unit *prelude, const char *name);
/* Operator or statement `name` ("__add__") of type `self` on these operand nodes, in the order of the text;
 * false if the prelude has none. The call is recorded in f. */
bool protocol_call(struct walk *w, uint32_t node, struct fact *f, const struct type *self, const char *name,
                   const uint32_t *nodes, const struct type *const *types, uint32_t n,
                   const struct type **ret);
/* Before method `name` of an open container runs: its arguments widen it. The receiver's type afterwards. */
const struct type *protocol_grow(struct walk *w, const struct call *c, const struct type *self,
                                 const char *name);

/* ---- cond.c ---- */
/* Type a condition; 1 or -1 when it is decided already, else 0. */
int cond(struct walk *w, uint32_t node);
int truth_of(struct walk *w, uint32_t node);
const struct type *and_or(struct walk *w, uint32_t node, struct fact *f, bool as_condition);
const struct type *ifexp(struct walk *w, uint32_t node);
/* What a condition proves of optional locals where it had this outcome: they lose None, or are None. The
 * edges are recorded at `node` (an IF or IFEXP), whose condition it is. */
void narrow(struct walk *w, uint32_t node, uint32_t condition, bool outcome);
/* Both ends of an operand that may not be evaluated meet: the state now and that before it. A walrus in it
 * may bind a local on one path only, but not to another type, for there is no place where a value could move
 * from slot to slot. */
void meet(struct walk *w, uint32_t node, const struct state *other);

/* ---- ops.c ---- */
/* Result of a binary operator at two types; *ret_operand is what both are converted to (NULL: as they are).
 */
const struct type *binary_type(struct walk *w, uint32_t node, struct fact *f, enum kir_binary op,
                               uint32_t left, uint32_t right, const struct type *a, const struct type *b);
/* a += b of an array a: the prelude's function changes it and returns it. */
const struct type *inplace_type(struct walk *w, uint32_t node, struct fact *f, enum kir_binary op,
                                uint32_t left, uint32_t right, const struct type *a, const struct type *b);
const struct type *unary(struct walk *w, uint32_t node, struct fact *f);
const struct type *compare(struct walk *w, uint32_t node, struct fact *f);
const char *binary_text(enum kir_binary op);

/* ---- index.c ---- */
const struct type *subscript(struct walk *w, uint32_t node, struct fact *f, bool store);
const struct type *slice(struct walk *w, uint32_t node);
/* An index of an array that takes elements one by one: arrays and lists, alone or among others. */
bool indexes_elements(const struct type *it);
/* Type of one item when iterating; NULL (with a diagnostic) if it can't be. Tuples of equal items only. */
const struct type *item_type(struct walk *w, uint32_t node, const struct type *t);

/* ---- call.c ---- */
struct call {
    uint32_t node;
    struct fact *f;
    const char *name; /* of what is called, for messages */
    struct arg *args; /* positional, stars spread */
    uint32_t n_args;
    const uint32_t *kw_names; /* constants of the module */
    const uint32_t *kw_nodes;
    uint32_t n_kw;
    bool bottom;
};
const struct type *call(struct walk *w, uint32_t node, struct fact *f);
const struct type *call_function(struct walk *w, struct call *c, const struct unit *unit,
                                 const struct type *callee);
/* Call prelude function `name` with these arguments, if there is one: false if not. */
bool call_prelude(struct walk *w, struct call *c, const char *name, const struct type **ret);
const struct kir_const *const_of(const struct walk *w, uint32_t index);

/* ---- record.c ---- */
/* What an element of the array is as a value: a record is a reference. */
const struct type *element_of(struct walk *w, const struct type *array);
bool is_of_records(const struct type *t); /* a record, or an array of them */
/* Whether base[index] is a field. */
bool is_field_name(const struct type *base, const struct type *index);
const struct type *record_field(struct walk *w, uint32_t node, const struct type *base, const char *name,
                                size_t len);
const struct type *record_subscript(struct walk *w, uint32_t node, const struct type *base, uint32_t index,
                                    bool store);
/* An attribute as a place to store in: the field's type. */
const struct type *record_attr_place(struct walk *w, uint32_t target);
bool record_assignable(struct pass *p, const struct type *from, const struct type *to);
const struct type *record_join(struct pass *p, const struct type *a, const struct type *b);
bool record_comparable(const struct type *a, const struct type *b);

/* ---- usertype.c ---- */
/* The user type of a named tuple, an enum's member or a class; NULL if the type has none. */
const struct kir_usertype *usertype_of(const struct pass *p, const struct type *t);
/* Whether the numbers in a type from outside (a signature, a constant) are those of the module. */
bool type_is_valid(const struct pass *p, const struct type *t);
/* A member of an enum of integers as the integer that it counts as; other types as they are. */
const struct type *number_of(struct walk *w, const struct type *t);
const struct type *usertype_const(struct walk *w, const struct kir_module *mod, const struct kir_const *k);
const struct kir_const *enum_value(const struct kir_module *mod, const struct kir_const *member);
const struct type *class_call(struct walk *w, struct call *c, const struct type *class);
const struct type *class_subscript(struct walk *w, uint32_t node, struct fact *f, const struct type *class,
                                   uint32_t index);
const struct type *enum_attr(struct walk *w, uint32_t node, struct fact *f, const struct type *t,
                             const char *name);

/* ---- object.c: objects of a jitclass ---- */
const struct type *object_call(struct walk *w, struct call *c, const struct type *class);
const struct type *object_called(struct walk *w, struct call *c, const struct type *t); /* by its __call__ */
const struct type *object_attr(struct walk *w, uint32_t node, struct fact *f, const struct type *base,
                               const char *name);
const struct type *object_method_call(struct walk *w, struct call *c, const struct type *method);
void object_store(struct walk *w, uint32_t target, const struct type *base, const char *name, const struct type *t,
                  uint32_t value);
/* target.name op= ...: the type that is read. */
const struct type *object_augmented(struct walk *w, uint32_t target, const struct type *base, const char *name);
/* The class defines what protocol.c calls by this name; and its call. */
bool object_has(const struct walk *w, const struct type *t, const char *name);
bool object_protocol(struct walk *w, struct call *c, const struct type *self, const char *name,
                     const struct type **ret);
bool object_library(struct walk *w, struct call *c, const char *name, const struct type **ret);
void object_truth(struct walk *w, uint32_t node, const struct type *t);

/* ---- library.c ---- */
/* Put the receiver of a method before its arguments. */
bool with_receiver(struct walk *w, struct call *c, const struct type *receiver);
const struct type *library_call(struct walk *w, struct call *c, const char *name);
const struct type *library_attr(struct walk *w, uint32_t node, struct fact *f, const struct type *base,
                                const char *name);
/* An attribute of numpy.finfo or iinfo, which are the type itself here; NULL: it has no such one. */
const struct type *limits_attr(struct walk *w, struct fact *f, const struct type *t, const char *name);
/* The type that a value stands for as a dtype or class; NULL if it is none. */
const struct type *type_meant(struct walk *w, const struct type *t);
/* Whether arrays, numbers, containers of this type have such an attribute or method. */
bool library_has_attr(struct walk *w, const struct type *base, const char *name);
const char *nearest_library_name(struct walk *w, const char *name);
bool is_exception_name(const char *name);

/* ---- try.c ---- */
void guards_see(struct walk *w, uint32_t local);
void try_statement(struct walk *w, uint32_t node);
void leave_through(struct walk *w, uint32_t node, struct final *until);

/* ---- text.c ---- */
const struct type *fstring(struct walk *w, uint32_t node);
/* One hole. As part of a template, a number is left to whoever fills it. */
const struct type *format_part(struct walk *w, uint32_t node, bool in_template);
const struct type *text_subscript_type(struct walk *w, uint32_t node, const struct type *base, uint32_t index,
                                       const struct type *it);
static inline bool is_text(const struct type *t)
{
    return t->kind == TY_STR || t->kind == TY_BYTES;
}

/* ---- comp.c ---- */
const struct type *display(struct walk *w, uint32_t node);
const struct type *comprehension(struct walk *w, uint32_t node);

/* ---- stmt.c, loop.c ---- */
/* Type an iterable; a dict or set yields what its "__iter__" returns, recorded at `loop`. */
const struct type *iterated(struct walk *w, uint32_t loop, uint32_t iterable);
void block(struct walk *w, uint32_t node);
void grow_local(struct walk *w, uint32_t node, const struct type *t);
void assign(struct walk *w, uint32_t target, const struct type *t, uint32_t value);
void for_loop(struct walk *w, uint32_t node);
void while_loop(struct walk *w, uint32_t node);

#endif
