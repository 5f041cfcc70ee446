/* SPDX-License-Identifier: Apache-2.0
 * kir.h - a KIR module in memory: flat tables, read-only after decoding.
 *
 * docs/kir.md explains the IR; ops.def and enums.def are its tables. A module holds the entry
 * function (number 0) and everything that it reaches. Nothing in it names a file, a line, a local
 * variable or an address, so the same program always has the same bytes and the same digest. */
#ifndef KILN_IR_KIR_H
#define KILN_IR_KIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"

#define KIR_VERSION 1u
/* Limits of a module. Nesting of one function's tree: so deep that no program meets it (CPython's own parser
 * stops earlier), so shallow that passes may recurse over a verified module on an 8 MB stack. */
#define KIR_MAX_DEPTH 3000u
#define KIR_MAX_PARAMS 255u  /* as in signatures */
#define KIR_MAX_NAME 255u    /* bytes of a name in a node: checked at each use, so it must be short */
#define KIR_MAX_FIELDS 4096u /* of a user type */
#define KIR_MAX_METHODS 1000u /* of a class */

enum kir_op {
#define X(NAME, wire, text, class, operands) KIR_##NAME = wire,
#include "proto/ir/ops.def"
#undef X
    KIR__OP_END = 51
};

#define KIR_UNARY(NAME, wire, text) KIR_U_##NAME = wire,
enum kir_unary {
#include "proto/ir/enums.def"
    KIR_U__END
};
#undef KIR_UNARY
#define KIR_BINARY(NAME, wire, text) KIR_B_##NAME = wire,
enum kir_binary {
#include "proto/ir/enums.def"
    KIR_B__END
};
#undef KIR_BINARY
#define KIR_COMPARE(NAME, wire, text) KIR_C_##NAME = wire,
enum kir_compare {
#include "proto/ir/enums.def"
    KIR_C__END
};
#undef KIR_COMPARE
#define KIR_COMP(NAME, wire, text) KIR_COMP_##NAME = wire,
enum kir_comp {
#include "proto/ir/enums.def"
    KIR_COMP__END
};
#undef KIR_COMP
#define KIR_PARAM(NAME, wire, text) KIR_P_##NAME = wire,
enum kir_param_kind {
#include "proto/ir/enums.def"
    KIR_P__END
};
#undef KIR_PARAM
#define KIR_KONST(NAME, wire, text) KIR_K_##NAME = wire,
enum kir_const_kind {
#include "proto/ir/enums.def"
    KIR_K__END
};
#undef KIR_KONST
#define KIR_USERTYPE(NAME, wire, text) KIR_UT_##NAME = wire,
enum kir_usertype_kind {
#include "proto/ir/enums.def"
    KIR_UT__END
};
#undef KIR_USERTYPE
#define KIR_METHOD(NAME, wire, text) KIR_M_##NAME = wire,
enum kir_method_kind {
#include "proto/ir/enums.def"
    KIR_M__END
};
#undef KIR_METHOD
#define KIR_FLAG(NAME, bit, text) KIR_F_##NAME = bit,
enum kir_flag {
#include "proto/ir/enums.def"
};
#undef KIR_FLAG
#define KIR_F_FASTMATH 0x7F00u /* all fast-math bits */

struct kir_const {
    enum kir_const_kind kind;
    union {
        bool b;
        struct {
            uint64_t bits;    /* two's complement */
            bool is_unsigned; /* the value is past INT64_MAX */
        } i;
        double f;
        struct {
            double re, im;
        } c;
        struct { /* STR, BYTES, BIGINT, TYPE, EXCEPTION, SCALAR's and ARRAY's type: UTF-8, NUL behind it */
            const char *p;
            uint32_t len;
        } s;
    };
    /* SCALAR, ARRAY: content */
    const unsigned char *data;
    uint32_t data_len;
    /* TUPLE and NAMEDTUPLE: constant indexes; ARRAY: dimensions */
    const uint32_t *items;
    uint32_t n_items;
    /* ENUM, NAMEDTUPLE, USERTYPE: user type; ENUM: items[0] is the member's index */
    uint32_t usertype;
};

static inline bool kir_is_enum(enum kir_usertype_kind kind)
{
    return kind == KIR_UT_ENUM || kind == KIR_UT_INTENUM;
}

struct kir_method {
    const char *name; /* NUL-terminated; "" of NEW */
    enum kir_method_kind kind;
    uint32_t function;
};

struct kir_usertype {
    enum kir_usertype_kind kind;
    const char *name; /* NUL-terminated */
    uint32_t n_fields;
    const char *const *field_names;
    const char *const *field_types; /* canonical type texts, "" where not stated */
    const uint32_t *field_consts;   /* ENUM: constant index of each member's value */
    uint32_t n_methods;             /* JITCLASS */
    const struct kir_method *methods;
};

struct kir_param {
    const char *name;
    enum kir_param_kind kind;
    uint32_t default_plus_1; /* constant index + 1; 0: no default */
};

/* One node. Operand letters of ops.def in order; `args` holds, for each letter: `x` one number, `?x` 0
 * or number + 1, `*x` a count and its numbers. kir_node_* below read them. */
struct kir_node {
    uint16_t op;
    uint32_t n_args;
    const uint32_t *args;
};

struct kir_function {
    uint32_t n_params, n_locals, n_free, flags; /* locals 0..n_params-1 are the parameters */
    const struct kir_param *params;
    uint32_t n_nodes; /* at least 1; the last one is the body */
    const struct kir_node *nodes;
};

struct kir_module {
    uint32_t n_consts, n_usertypes, n_functions, n_env; /* n_env: environment slots used */
    const struct kir_const *consts;
    const struct kir_usertype *usertypes;
    const struct kir_function *functions; /* 0 is the entry */
};

/* Columns of ops.def. NULL for a number that is no op. */
struct kir_opinfo {
    const char *name, *text, *operands;
    char class;
};
const struct kir_opinfo *kir_opinfo(unsigned op);

/* Decode and verify (everything ops.def, enums.def and docs/kir.md demand). The module points into `a`
 * and, for strings and data, into `bytes`, which must outlive it. No count is trusted before it was
 * compared with the bytes left. KILN_E_KIR_BAD with the place, KILN_E_KIR_VERSION, KILN_E_LIMIT. */
int kir_decode(struct arena *a, const unsigned char *bytes, size_t len, struct kir_module **ret,
               struct kiln_err *e);
/* Encode canonically: decode(encode(m)) is m, and encode(decode(b)) is b for canonical b. */
int kir_encode(const struct kir_module *m, struct buf *out, struct kiln_err *e);
/* Checks of kir_decode on a module made in memory (builder, text). */
int kir_verify(const struct kir_module *m, struct kiln_err *e);

/* Text form, for people, goldens and `kiln show`: both ways. kir_parse reads what kir_print writes. */
int kir_print(const struct kir_module *m, struct buf *out, struct kiln_err *e);
int kir_parse(struct arena *a, const char *text, size_t len, struct kir_module **ret, struct kiln_err *e);

/* As kir_parse, and where each node's parenthesis stands, for messages: functions[f].nodes[n], in a. */
struct kir_position {
    uint32_t line, column; /* from 1 */
};
struct kir_function_positions {
    struct kir_position *nodes;
    uint32_t n, cap;
};
struct kir_positions {
    struct kir_function_positions *functions;
    uint32_t n_functions, cap_functions;
    struct arena *a;
};
int kir_parse_positions(struct arena *a, const char *text, size_t len, struct kir_module **ret,
                        struct kir_positions *positions, struct kiln_err *e);

/* Reading a node: operand k as counted by the letters of ops.def.
 *   kir_arg   the number of a plain operand
 *   kir_opt   the number of a `?` operand, or KIR_NIL
 *   kir_list  the numbers of a `*` operand; *ret_n their count */
#define KIR_NIL UINT32_MAX
uint32_t kir_arg(const struct kir_node *n, unsigned k);
uint32_t kir_opt(const struct kir_node *n, unsigned k);
const uint32_t *kir_list(const struct kir_node *n, unsigned k, uint32_t *ret_n);

#endif
