/* SPDX-License-Identifier: Apache-2.0
 * lo.h - inside of lower/: the state of one job and of one function under construction.
 *
 * The one decision to know: a value is never an LLVM aggregate. It is a flat list of LLVM scalars, its
 * leaves, given by its type (tinfo): a complex has two, an array of n dimensions owner, data, n shapes and,
 * where the layout is 'A', n strides; a tuple the leaves of its items. Slots are one alloca a leaf, so
 * mem2reg finds everything, functions take and return leaves, and nothing has to be split again.
 *
 * Errors are sticky: lo_fail records the first, building goes on with poison, and lower_run looks once. */
#ifndef KILN_LOWER_LO_H
#define KILN_LOWER_LO_H

#include <llvm-c/Core.h>

#include "daemon/compiler/infer/facts.h"
#include "daemon/compiler/lower/lower.h"
#include "proto/abi/abi.h"

enum {
    /* Levels of expressions and statements inside one another that lowering follows in C recursion: what KIR
     * allows (KIR_MAX_DEPTH). One level takes under 1 KB of stack, of the 8 MB that a thread has. */
    LO_DEPTH_MAX = 3000,
    /* Bytes of stack that recursive functions may use before RecursionError: a quarter of the usual 8 MB of
     * a thread, so that the caller's frames and the C library still fit. */
    LO_STACK_BYTES = 2 << 20,
    /* Leaves of a result that come back in registers. More go through memory: the optimizer's work on a chain
     * of so many parts of one value grows with its square. */
    LO_RET_LEAVES = 32,
};

enum leaf_role { LEAF_SCALAR, LEAF_OWNER, LEAF_DATA, LEAF_SHAPE, LEAF_STRIDE, LEAF_VALID };

/* What a type is made of. */
struct tinfo {
    uint32_t n;       /* leaves */
    uint32_t n_owner; /* of them owners: references that are counted */
    LLVMTypeRef *reg;
    uint8_t *role; /* enum leaf_role */
};

/* A value. own: its references are held by the temporaries own - 1, own, ... (one an owner leaf), which the
 * end of the statement releases unless they move on; 0: borrowed from a slot, a parameter or a constant. */
struct val {
    const struct type *t; /* NULL: control never gets here */
    LLVMValueRef *v;
    uint32_t n, own;
};

struct slot { /* a stack slot of (local, type) */
    struct slot *next;
    const struct type *t;
    LLVMValueRef *leaf; /* allocas */
    bool owned;         /* counts what it holds; not where the local borrows */
};

struct loop { /* innermost first */
    struct loop *up;
    struct bound *bound;         /* what was known outside */
    LLVMBasicBlockRef next, out; /* of continue and break; out skips else */
    uint32_t node, context;
    bool out_used;
    struct final *final; /* around the loop */
};

struct bound { /* a loop variable with a known least value, while its loop is built */
    struct bound *up;
    uint32_t local;
    int64_t min;
};

struct linst { /* an instance's function */
    LLVMValueRef fn;
    LLVMTypeRef type;
    LLVMTypeRef memory; /* of a large result: a struct of its leaves, whose address is the last parameter */
    bool done, raises;  /* raises: true until lowered, then whether it can return a status */
};

struct copyfn { /* kiln.copy for two array types */
    struct copyfn *next;
    const struct type *to, *from;
    LLVMValueRef fn;
    LLVMTypeRef type;
};

struct lo {
    struct arena *a;
    const struct program *p;
    const struct lower_target *t;
    const struct lower_request *r;
    struct diagnostics *d;
    struct kiln_err *e;
    bool failed;
    LLVMContextRef c;
    LLVMModuleRef m;
    LLVMTypeRef i1, i8, i16, i32, i64, f16, f32, f64, ptr, vd,
        iptr;            /* iptr: an integer of a pointer's size */
    struct tinfo **info; /* by type id */
    size_t n_info;
    struct linst *inst; /* by instance id */
    LLVMValueRef host;  /* global: pointer to struct kiln_host */
    struct copyfn *copies;
    LLVMValueRef kept[32]; /* declarations for the vectorizer (vector.c) */
    unsigned n_kept;
    bool raises_text; /* some exception holds text made at run time */
    LLVMValueRef weights_cold, shape_range, md_empty;
    unsigned md_prof, md_range, md_invariant;
};

/* Where an exception goes: sites with a constant description, sites that leave a trace, and where both meet.
 */
struct ways {
    LLVMBasicBlockRef static_bb, trace_bb, fail_bb;
    bool raises; /* something goes there */
};
struct guard { /* the body of a try statement: variables are kept in slots that its handlers know */
    struct guard *up;
    const struct type **types; /* by local; NULL: none */
};
struct final { /* a finally block around what is being built */
    struct final *up;
    uint32_t block;
    struct ways *ways; /* outside of the try statement */
    struct guard *guard;
    struct loop *loop;
    struct caught *caught;
};
struct caught { /* the handler being built */
    struct caught *up;
    uint32_t local;     /* of `as`, KIR_NIL: none */
    LLVMValueRef saved; /* the exception, for `raise` */
};

struct fn {
    struct lo *lo;
    const struct instance *in;
    uint32_t ctx;
    LLVMValueRef fn;
    LLVMBuilderRef b, ab; /* body; allocas (and their null stores), in the entry block */
    LLVMValueRef exc, env;
    LLVMValueRef *captures;    /* leaves of free variables, in order */
    LLVMBasicBlockRef dead_bb; /* where code goes that control cannot reach */
    bool dead;                 /* control cannot get here */
    bool boundscheck, numpy_errors, checked;
    LLVMFastMathFlags fmf;
    /* the ways out */
    LLVMBasicBlockRef ret_bb;
    struct ways *ways; /* of exceptions: out of the function, or to the innermost try statement */
    struct guard *guard;
    struct final *final;
    struct caught *caught;
    LLVMValueRef *ret;                    /* allocas, one a leaf of the result */
    LLVMValueRef desc, node_slot, status; /* alloca: description of a static raise; node to trace; status */
    struct slot **slots;                  /* by local */
    LLVMValueRef *isset;                  /* by local: alloca i1, NULL where no read asks */
    bool *borrows;                        /* by local: holds what outlives the call, uncounted (borrow.c) */
    LLVMValueRef *temps;                  /* allocas of owner pointers; all are released on the way out */
    bool *temp_live;                      /* held by the current statement */
    size_t n_temps, cap_temps, cap_live;
    uint32_t *start; /* by node: first node of its subtree */
    bool *target;    /* by node: stands where something is assigned */
    bool has_walrus;
    struct loop *loop;
    struct bound *bound;
    unsigned depth;
};

/* ---- lower.c ---- */
int lo_fail(struct lo *lo, enum kiln_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int lo_fail_at(struct fn *f, uint32_t node, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void fn_lower(struct lo *lo, const struct instance *in); /* function.c */
struct linst *lo_inst(struct lo *lo, const struct instance *in);
void *lo_alloc(struct lo *lo, size_t n,
               size_t size); /* never NULL: falls back to a static block once failed */

/* ---- type_llvm.c ---- */
const struct tinfo *lo_info(struct lo *lo, const struct type *t);
LLVMTypeRef lo_reg(struct lo *lo, const struct type *t); /* scalar kinds except complex */
LLVMTypeRef lo_mem(struct lo *lo,
                   const struct type *t); /* element in memory: i8 for bool, {T,T} for complex */
const struct type *lo_part(struct lo *lo, const struct type *t); /* float type of a complex type's parts */
const struct type *lo_type(struct lo *lo, enum type_kind kind);
unsigned lo_itemsize(struct lo *lo, const struct type *t);
uint32_t lo_owners_before(const struct tinfo *ti, uint32_t leaf);
LLVMAttributeRef lo_attr(struct lo *lo, const char *name, uint64_t v);
void lo_fnattr(struct lo *lo, LLVMValueRef fn, const char *name);
void lo_paramattr(struct lo *lo, LLVMValueRef fn, unsigned index, const char *name, uint64_t v);
void lo_target_attrs(struct lo *lo, LLVMValueRef fn);
LLVMValueRef lo_int(struct lo *lo, int64_t v); /* i64 */
LLVMValueRef lo_i32(struct lo *lo, int64_t v);
LLVMValueRef lo_bool(struct lo *lo, bool v);
LLVMValueRef lo_null(struct lo *lo);
LLVMValueRef lo_declare(struct lo *lo, const char *name, LLVMTypeRef ret, LLVMTypeRef *args, unsigned n,
                        LLVMTypeRef *ret_type);
LLVMValueRef lo_intrinsic(struct fn *f, const char *name, LLVMTypeRef over, LLVMValueRef *args, unsigned n);
LLVMValueRef lo_bytes(struct lo *lo, const char *name, const void *p, size_t len); /* private constant */

/* ---- value.c ---- */
struct val val_new(struct fn *f, const struct type *t, uint32_t n);
struct val val_scalar(struct fn *f, const struct type *t, LLVMValueRef v);
struct val val_complex(struct fn *f, const struct type *t, LLVMValueRef re, LLVMValueRef im);
struct val val_none(struct fn *f);
struct val val_dead(void);
struct val val_poison(struct fn *f, const struct type *t);
struct val val_zero(struct fn *f, const struct type *t);
struct val val_item(struct fn *f, struct val v, uint32_t i); /* item i of a tuple-like value (shares own) */
struct val val_join(struct fn *f, const struct type *t, const struct val *items,
                    uint32_t n); /* tuple of items */
struct val val_const(struct fn *f, const struct kir_module *mod, const struct kir_const *k,
                     const struct type *t);
struct val mem_load(struct fn *f, const struct type *t, LLVMValueRef p, bool unaligned);
void mem_store(struct fn *f, LLVMValueRef p, struct val v, bool unaligned);
LLVMValueRef at_offset(struct fn *f, LLVMValueRef p, uint64_t bytes);
LLVMValueRef fn_alloca(struct fn *f, LLVMTypeRef t, const char *name);
LLVMBasicBlockRef fn_block(struct fn *f, const char *name);
void fn_at(struct fn *f, LLVMBasicBlockRef bb); /* go on in bb; clears dead */
void fn_stop(struct fn *f);                     /* a terminator was built */
void fn_br(struct fn *f, LLVMBasicBlockRef bb); /* branch, then dead */
void fn_cond(struct fn *f, LLVMValueRef c, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);
void helper_begin(struct fn *f); /* a function that is built without an instance: entry block, builders */
void helper_end(struct fn *f);
LLVMValueRef fast(struct fn *f, LLVMValueRef v); /* put the function's fast-math flags on v */

/* ---- convert.c ---- */
struct val convert(struct fn *f, struct val v, const struct type *to);
LLVMValueRef to_index(struct fn *f, struct val v); /* any integer or bool as i64 */
LLVMValueRef truth(struct fn *f, struct val v);    /* i1 */

/* ---- own.c ---- */
void temp_replace(struct fn *f, LLVMValueRef owner); /* hold it; what a jump out of a loop left there goes */
void temp_hold(struct fn *f, struct val *v);         /* v's owner leaves are new references: hold them */
struct val own_take(struct fn *f,
                    struct val v); /* references now the caller's: moved, or retained if borrowed */
void own_retain(struct fn *f, LLVMValueRef owner);
void own_release(struct fn *f, LLVMValueRef owner);
void own_release_all(struct fn *f, struct val v); /* every owner leaf */
size_t temps_mark(struct fn *f);
void temps_release(struct fn *f,
                   size_t mark);           /* the same on one way out of several: they stay held elsewhere */
void temps_end(struct fn *f, size_t mark); /* release temporaries made since mark */
void own_cleanup(struct fn *f);            /* everything the function holds: on the way out */
struct slot *slot_of(struct fn *f, uint32_t local, const struct type *t);
void slot_write(struct fn *f, uint32_t local, const struct type *t, struct val v);
struct val slot_read(struct fn *f, uint32_t local, const struct type *t);
void slot_drop(struct fn *f, uint32_t local, const struct type *t);
void edges_apply(struct fn *f, uint32_t ctx, uint32_t node, enum edge_arm arm);

void borrow_scan(struct fn *f); /* borrow.c: which locals borrow */

/* ---- raise.c ---- */
#define EXC(name) KILN_EXC_##name
void raise_static(struct fn *f, uint32_t node, uint32_t class_id,
                  const char *msg); /* msg NULL: no arguments */
void raise_if(struct fn *f, LLVMValueRef cond, uint32_t node, uint32_t class_id, const char *msg);
void raise_format(struct fn *f, uint32_t node, uint32_t class_id, const char *fmt, LLVMValueRef *ints,
                  unsigned n);
void raise_format_if(struct fn *f, LLVMValueRef cond, uint32_t node, uint32_t class_id, const char *fmt,
                     LLVMValueRef *ints, unsigned n);
void raise_values(struct fn *f, uint32_t node, uint32_t class_id, const struct val *args,
                  const struct kir_const *const *known, uint32_t n);
void raise_status(struct fn *f, LLVMValueRef status, uint32_t node, bool never_returns); /* after a call */
void raise_exits(struct fn *f); /* build the shared blocks of f->ways, up to fail_bb */
void raise_new_ways(struct fn *f, struct ways *ways);
void raise_again(struct fn *f); /* what is in f->exc and f->status goes on outwards */
LLVMValueRef raise_is_class(struct fn *f,
                            uint32_t node); /* the exception is of the class (or tuple) that a node names */
void raise_drop(struct fn *f);              /* the exception in f->exc ends here: release what it holds */
void raise_hold(struct fn *f, LLVMValueRef saved); /* the references of a copied exception: as temporaries */
void raise_retain(struct fn *f);                   /* f->exc was copied: count what it holds */
bool raise_makes_text(const struct program *p);    /* some exception may hold text that is made at run time */
void lower_raise(struct fn *f, uint32_t node);
void lower_assert(struct fn *f, uint32_t node);
void lo_stack_mark(struct fn *f);                 /* entry: remember where the stack is */
void lo_stack_check(struct fn *f, uint32_t node); /* recursive functions */

/* ---- ops_int.c, ops_float.c, complex.c, ops.c ---- */
struct val op_binary(struct fn *f, enum kir_binary op, struct val a, struct val b, uint32_t node);
struct val op_unary(struct fn *f, enum kir_unary op, struct val a, uint32_t node);
LLVMValueRef op_compare(struct fn *f, enum kir_compare op, struct val a, struct val b);
LLVMValueRef int_binary(struct fn *f, enum kir_binary op, const struct type *t, LLVMValueRef a,
                        LLVMValueRef b, uint32_t node);
LLVMValueRef float_binary(struct fn *f, enum kir_binary op, const struct type *t, LLVMValueRef a,
                          LLVMValueRef b, uint32_t node);
struct val complex_binary(struct fn *f, enum kir_binary op, struct val a, struct val b, uint32_t node);
LLVMValueRef complex_abs(struct fn *f, struct val a);
struct val rt_complex(struct fn *f, const char *name, struct val a, const struct val *b);
LLVMValueRef rt_real(struct fn *f, const char *name, const struct val *args, unsigned n, LLVMTypeRef ret);
LLVMValueRef float_floor_int(struct fn *f, LLVMValueRef x, const struct type *to); /* integral float to int */

static inline const struct kir_node *node_of(const struct fn *f, uint32_t node)
{
    return &f->in->fn->nodes[node];
}

/* ---- expr.c, cond.c, known.c ---- */
struct val eval_and_or(struct fn *f, uint32_t node);
struct val eval_ifexp(struct fn *f, uint32_t node);
struct val eval(struct fn *f, uint32_t node);
struct val eval_as(struct fn *f, uint32_t node, const struct type *t); /* eval and convert */
LLVMValueRef eval_cond(struct fn *f, uint32_t node, int *ret_known);   /* truth; *ret_known 1, -1 or 0 */
struct val need_value(struct fn *f, struct val v, uint32_t node);      /* an optional that must not be None */
struct val aug_value(struct fn *f, uint32_t aug, struct val old, uint32_t value_node); /* old op= value */
const struct fact *fact_of(struct fn *f, uint32_t node);
bool node_int(struct fn *f, uint32_t node, int64_t *ret); /* node has a known integer value */
bool int_min(struct fn *f, uint32_t node, int64_t *ret);  /* a proven lower bound of an integer node */

/* ---- record.c ---- */
unsigned lo_elemsize(struct lo *lo, const struct type *t); /* bytes of an element of an array */
unsigned lo_elemalign(struct lo *lo, const struct type *t, bool unaligned);
struct val record_at(struct fn *f, const struct type *t, LLVMValueRef owner, LLVMValueRef data);
struct val record_element(struct fn *f, struct val a, LLVMValueRef data); /* a reference to an element of a */
bool record_is_field(struct fn *f, struct val base,
                     uint32_t node); /* ATTR or SUBSCRIPT: does it name a field? */
struct val record_read(struct fn *f, struct val base, uint32_t node);
void record_write(struct fn *f, struct val base, uint32_t node, struct val v);
void record_augassign(struct fn *f, uint32_t aug, uint32_t target, struct val base, uint32_t value_node);
void record_store(struct fn *f, struct val to, struct val v); /* all fields: of a record or a tuple */
LLVMValueRef record_equal(struct fn *f, struct val a, struct val b);

/* ---- usertype.c ---- */
struct val lower_enum_const(struct fn *f, const struct kir_module *mod, const struct kir_const *k,
                            const struct type *t);
struct val lower_enum_attr(struct fn *f, uint32_t node, struct val v, const char *name);

/* ---- object.c: objects of a jitclass ---- */
bool object_is_field(struct fn *f, struct val base, uint32_t node); /* ATTR: does it name a field? */
struct val object_read(struct fn *f, struct val base, uint32_t node);
void object_write(struct fn *f, struct val base, uint32_t node, struct val v); /* a field or property */
void object_augassign(struct fn *f, uint32_t aug, uint32_t target, struct val base, uint32_t value_node);
/* What a SUBSCRIPT indexes: a field of an object is borrowed where that is safe. */
struct val eval_indexed(struct fn *f, uint32_t subscript, uint32_t value_node); /* value_node: evaluated before the
                                                                                   item is used; or KIR_NIL */

/* ---- stmt.c, loop.c ---- */
void lower_block(struct fn *f, uint32_t node);
void assign_to(struct fn *f, uint32_t target, struct val v);
void lower_for(struct fn *f, uint32_t node);
void lower_while(struct fn *f, uint32_t node);
/* The value that a loop goes over: the iterable's, or what the prelude's "__iter__" makes of it. */
struct val eval_iterable(struct fn *f, uint32_t loop, uint32_t iterable);
/* Any iterable seen as a sequence: its length and its item at a position. */
LLVMValueRef iter_length(struct fn *f, struct val it, uint32_t node);
struct val iter_item(struct fn *f, struct val it, LLVMValueRef k);

/* ---- try.c ---- */
void lower_try(struct fn *f, uint32_t node);
void finals_run(struct fn *f, uint32_t node, struct final *until); /* finally blocks on the way of a jump */
bool guarded(const struct fn *f, uint32_t local, const struct type *t);
void guards_keep(struct fn *f, uint32_t local, const struct type *t); /* slot (local, t) was written */

/* ---- call.c ---- */
struct val lower_call(struct fn *f, uint32_t node);
struct val emit_call(struct fn *f, uint32_t node, const struct instance *callee, const struct val *captures,
                     const struct val *params);
struct val call_prelude_node(struct fn *f,
                             uint32_t node); /* operator or attribute that is a prelude function */

/* The leaves of what a call of li returned (memory: what was passed as its last argument) and its status. */
struct val call_result(struct fn *f, const struct linst *li, const struct type *t, LLVMValueRef call,
                       LLVMValueRef memory, LLVMValueRef *ret_status);

/* ---- array.c ---- */
LLVMValueRef arr_owner(struct val a);
LLVMValueRef arr_data(struct val a);
LLVMValueRef arr_shape(struct val a, unsigned k);
LLVMValueRef arr_stride(struct fn *f, struct val a, unsigned k); /* bytes; computed unless 'A' */
LLVMValueRef arr_size(struct fn *f, struct val a);               /* number of elements */
struct val arr_make(struct fn *f, const struct type *t, LLVMValueRef owner, LLVMValueRef data,
                    LLVMValueRef *shape, LLVMValueRef *strides);
LLVMValueRef arr_elem(struct fn *f, struct val a, LLVMValueRef *index); /* address */
struct val arr_load(struct fn *f, struct val a, LLVMValueRef *index);
void arr_store(struct fn *f, struct val a, LLVMValueRef *index, struct val v);
LLVMValueRef arr_wrap(struct fn *f, LLVMValueRef i, LLVMValueRef n, unsigned axis, bool nonneg,
                      uint32_t node);
void arr_fill(struct fn *f, struct val a, struct val v);
void arr_assign(struct fn *f, struct val to, struct val v, uint32_t node); /* to[...] = v */
void arr_copy(struct fn *f, struct val to, struct val from, uint32_t node,
              bool checked);                                             /* broadcast; shape check */
LLVMValueRef arr_copy_raw(struct fn *f, struct val to, struct val from); /* shapes fit; true: no memory */
struct val arr_alloc(struct fn *f, const struct type *t, LLVMValueRef *shape, uint32_t node);
LLVMValueRef host_alloc(struct fn *f, LLVMValueRef size); /* struct kiln_mem *, or NULL */
LLVMValueRef new_data(struct fn *f, LLVMValueRef owner);  /* its memory, known not to alias */
struct nest {                                             /* loops over a shape */
    LLVMBasicBlockRef head[64], out[64];
    LLVMValueRef iv[64], index[64];
    unsigned n;
};
void nest_begin(struct fn *f, struct nest *n, unsigned ndim, LLVMValueRef *shape, char layout);
void nest_end(struct fn *f, struct nest *n);

/* ---- list.c: lists, dicts, sets ---- */
struct val container_make(struct fn *f, const struct type *t, uint32_t node); /* empty */
LLVMValueRef container_length(struct fn *f, struct val c);
LLVMValueRef list_length(struct fn *f, struct val l);
struct val list_item(struct fn *f, struct val l, LLVMValueRef i); /* unchecked */
void list_push(struct fn *f, struct val l, struct val v, uint32_t node);
struct val list_subscript(struct fn *f, struct val l, uint32_t index, uint32_t node);
void list_store(struct fn *f, struct val l, uint32_t index, uint32_t node, struct val v);
void list_augassign(struct fn *f, struct val l, uint32_t index, uint32_t aug, uint32_t target,
                    uint32_t value_node);
const struct type *lo_fields(struct lo *lo, const struct type *t); /* of a dict, set or object: box.h */
struct val box_get(struct fn *f, struct val box, int field);
struct val box_peek(struct fn *f, struct val box, int field); /* borrowed: until the next code that may assign it */
void box_set(struct fn *f, struct val box, int field, struct val v);
struct val lower_list_op(struct fn *f, uint32_t node, const char *name, const struct val *a, uint32_t n);

/* ---- objmode.c ---- */
struct val op_objmode(struct fn *f, uint32_t node, const struct val *a, uint32_t n);

/* ---- text.c, text_ops.c: str and bytes ---- */
struct val text_const(struct fn *f, const struct type *t, const char *utf8,
                      size_t len);                                /* bytes: as they are */
struct val text_item(struct fn *f, struct val s, LLVMValueRef i); /* unchecked */
struct val text_subscript(struct fn *f, struct val s, uint32_t index, uint32_t node);
/* <0, 0, >0 as i32; equality: only 0 or not. */
LLVMValueRef text_compare(struct fn *f, struct val a, struct val b, bool equality);
struct val lower_text_op(struct fn *f, uint32_t node, const char *how, const struct val *a, uint32_t n);
struct val lower_random_op(struct fn *f, uint32_t node, const char *how, const struct val *a, uint32_t n);
struct val eval_fstring(struct fn *f, uint32_t node);
bool fstring_is_template(struct fn *f,
                         uint32_t node); /* holes of numbers alone: a message that the client fills */
/* New memory with the text in UTF-8; NULL where there is none. */
LLVMValueRef text_utf8(struct fn *f, struct val s);

/* ---- comp.c ---- */
struct val eval_display(struct fn *f, uint32_t node);
struct val eval_comp(struct fn *f, uint32_t node);

/* ---- index.c, slice.c ---- */
struct val lower_subscript(struct fn *f, uint32_t node);
void store_subscript(struct fn *f, uint32_t node, struct val v);
void augassign_subscript(struct fn *f, uint32_t aug, uint32_t target, uint32_t value_node);
void slice_parts(struct fn *f, struct val slice,
                 LLVMValueRef *ret); /* parts for slice_resolve, of a slice value */
/* A Python slice on an axis of n elements: first index, step, length. parts: lower, upper, step as i64, NULL
 * absent. */
void slice_resolve(struct fn *f, LLVMValueRef *parts, LLVMValueRef n, uint32_t node, LLVMValueRef *ret_start,
                   LLVMValueRef *ret_step, LLVMValueRef *ret_len);

/* ---- library.c, create.c ---- */
struct val lower_intrinsic(struct fn *f, uint32_t node, uint16_t id, const struct val *args, uint32_t n);
struct val lower_create(struct fn *f, uint32_t node, const char *how, const struct val *args, uint32_t n);
struct val lower_intrinsic_op(struct fn *f, uint32_t node, const char *name, const struct val *args,
                              uint32_t n);
LLVMValueRef libm_call(struct fn *f, const char *name, LLVMTypeRef ret, LLVMValueRef *in, unsigned n,
                       bool pure);
const char *intrinsic_how(uint16_t id);
const char *intrinsic_name(uint16_t id);
struct val lower_library_math(struct fn *f, uint32_t node, const char *how, const struct val *args,
                              uint32_t n);

/* ---- domain.c ---- */
/* Checked mode: raise where a function of `math` leaves its domain. */
void domain_check(struct fn *f, uint32_t node, uint16_t id, const struct val *args, uint32_t n, struct val r);
/* The same of cmath, in Python's rules always; the result, with NaN where CPython has it. */
struct val domain_check_complex(struct fn *f, uint32_t node, uint16_t id, const struct val *args,
                                struct val r);

/* ---- vector.c ---- */
void vector_variants(struct fn *f, LLVMValueRef call, const char *intrinsic, LLVMTypeRef t);
void vector_keep(struct lo *lo); /* once, at the end */

/* ---- keep.c ---- */
/* Store a result where the caller wants it, borrowed memory copied. Building goes on where that went well;
 * where memory has run out control is at the end of the block that is returned, with nothing held any more.
 * NULL: cannot happen. */
LLVMBasicBlockRef keep_result(struct fn *f, struct val v, LLVMValueRef place);

/* ---- entry.c, cabi.c ---- */
struct val call_entry(struct fn *f, const struct val *params,
                      LLVMValueRef *ret_status); /* status NULL: cannot raise */
void lower_entry(struct lo *lo);
void lower_symbol(struct lo *lo);

#endif
