/* SPDX-License-Identifier: Apache-2.0
 * type.h - Kiln's types, their text form, and signatures.
 *
 * Types are immutable and interned in a table: two types are equal exactly when their pointers are.
 * The text form is the one in keys, signatures, `kiln ls` and messages; docs/signatures.md is its
 * grammar (Numba's spellings are accepted, one canonical spelling is printed). */
#ifndef KILN_IR_TYPE_H
#define KILN_IR_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"

enum type_kind {
#define X(NAME, text, class, bits, numpy) TY_##NAME,
#include "proto/ir/types.def"
#undef X
    TY__COUNT
};

enum type_class { TC_N, TC_B, TC_I, TC_U, TC_F, TC_C, TC_W, TC_S, TC_V };

struct type {
    enum type_kind kind;
    uint32_t id; /* position in the table: stable within a job, for ordering and hashing */
    /* ARRAY */
    uint8_t ndim;
    char layout; /* 'C', 'F' or 'A'; 0-d and contiguous-both-ways are 'C' */
    bool readonly; /* LIST, DICT, SET: a typed one */
    bool unaligned;
    bool prelude; /* FUNCTION: of the prelude's module, not of the user's */
    /* ARRAY, OPTIONAL, POINTER, RANGE, METHOD, TYPEVALUE, LIST, SET: the type inside */
    const struct type *elem;
    /* TUPLE, SLICE, FUNCTION (captures), ITER, DICT (key, value) */
    uint32_t n_items;
    const struct type *const *items;
    /* FUNCTION: index in the module. TUPLE, ENUM, INTENUM, CLASS: user type index + 1, 0 for a plain tuple. LIST, DICT, SET: while typing,
     * 1 + the place that made it, as long as what it holds may still widen */
    uint32_t index;
    /* LIBRARY, METHOD, ITER, RECORD, NESTED, DATETIME, TIMEDELTA: name; NUL-terminated, owned by the table */
    const char *name;
    /* RECORD; the readonly and unaligned above are those of a reference, a dtype has none */
    const struct record *record;
};

/* Where the fields of a record are: of each the name here, the type in items. Owned by the table. */
struct record {
    uint32_t size, align; /* bytes; align is 1 unless NumPy laid the dtype out with align=True */
    bool aligned;
    const char *const *names;
    const uint32_t *offsets;
};

struct type_table; /* lives in an arena; no free */

/* A new table in a (which must outlive it); NULL when out of memory. */
struct type_table *type_table_new(struct arena *a);

/* Limits. 32 dimensions are NumPy 1's; parts are the types that one is made of when written out, so that
 * printing and laying out are bounded. */
#define TYPE_MAX_NDIM 32u
#define TYPE_MAX_PARTS 4096u
#define SIGNATURE_MAX_PARAMS 255u

/* Interned types. NULL only when out of memory or past a limit. `items` is copied. */
const struct type *type_scalar(struct type_table *t, enum type_kind kind); /* any kind without parts */
const struct type *type_array(struct type_table *t, const struct type *elem, unsigned ndim, char layout,
                              bool readonly, bool unaligned);
const struct type *type_tuple(struct type_table *t, const struct type *const *items, uint32_t n,
                              uint32_t usertype_plus_1);
const struct type *type_of(struct type_table *t, enum type_kind kind, const struct type *elem); /* one part */
const struct type *type_named(struct type_table *t, enum type_kind kind, const char *name,
                              const struct type *elem, const struct type *const *items, uint32_t n);
/* list(a), set(a) or dict(a, b); place: see index, 0 once final. typed: one of kilnjit.typed, which Python code
 * shares by reference (the type's `readonly` field says so). */
const struct type *type_container(struct type_table *t, enum type_kind kind, const struct type *a,
                                  const struct type *b, bool typed, uint32_t place);
/* datetime64 or timedelta64 of a unit ("ns"; "": none). NULL where NumPy has no such unit. */
const struct type *type_time(struct type_table *t, bool datetime, const char *unit);
/* Units from years to attoseconds, coarse to fine; then "", that of numbers of no unit. */
#define TYPE_UNITS 14
#define TYPE_UNIT_NONE 13
extern const char *const type_units[TYPE_UNITS];
int type_unit(const struct type *t); /* of a time, as a position in type_units */
const struct type *type_function(struct type_table *t, bool prelude, uint32_t func,
                                 const struct type *const *captures, uint32_t n);

/* Types that only an index tells apart: ENUM, INTENUM, CLASS. */
const struct type *type_user(struct type_table *t, enum type_kind kind, uint32_t usertype_plus_1);
/* A record of n fields. Names are not empty and differ; fields lie inside of size; with `aligned` offsets and
 * size are what the fields' alignment asks for. The caller has checked that (the parser does). */
const struct type *type_record(struct type_table *t, const char *const *names,
                               const struct type *const *types, const uint32_t *offsets, uint32_t n,
                               uint32_t size, bool aligned);
/* The same record seen through a reference with these properties (both false: the dtype itself). */
const struct type *type_record_view(struct type_table *t, const struct type *record, bool readonly,
                                    bool unaligned);
/* An array of fixed shape inside a record. At most TYPE_MAX_NDIM dimensions. */
const struct type *type_nested(struct type_table *t, const struct type *elem, const uint32_t *shape,
                               unsigned ndim);
/* `n` bytes (unit "char") or 4-byte characters ("unichr") inside a record. */
const struct type *type_chars(struct type_table *t, bool wide, uint32_t n);
/* Its dimensions; ret has room for TYPE_MAX_NDIM. Returns how many. */
unsigned type_nested_shape(const struct type *t, uint32_t *ret);
/* Index of a record's field, UINT32_MAX if there is none of that name. */
uint32_t type_record_field(const struct type *record, const char *name, size_t len);

enum type_class type_class(const struct type *t);
unsigned type_bits(const struct type *t);   /* bits of a scalar's value, 0 else */
int type_numpy(const struct type *t);       /* type_num of numpy's dtype, -1 if there is none */
bool type_is_time(const struct type *t);    /* datetime64, timedelta64: no numbers, but elements of arrays */
bool type_is_number(const struct type *t);  /* bool, int, float, complex, weak ones included */
bool type_is_integer(const struct type *t); /* I, U or pyint; not bool */
bool type_is_float(const struct type *t);   /* F or pyfloat */
bool type_is_complex(const struct type *t); /* C or pycomplex */
bool type_is_weak(const struct type *t);
bool type_is_signed(const struct type *t); /* I or pyint */

/* Append the canonical text. Compile-time kinds print in angle brackets, for diagnostics only. */
void type_print(struct buf *out, const struct type *t);
/* The same as a string in arena a; NULL when out of memory. */
const char *type_text(struct arena *a, const struct type *t);
/* Parse one type (Numba's spellings too). KILN_E_SIGNATURE with the column in the message. */
int type_parse(struct type_table *t, const char *text, size_t len, const struct type **ret_type,
               struct kiln_err *e);

/* A signature: parameter types and, where stated, the result's. */
struct signature {
    uint32_t n_params;
    const struct type *const *params;
    const struct type *ret; /* NULL: inferred */
};
/* "(int64, float64[::1])", "float64(int64)", "void(f8[:])" or a bare list "int64, f8[:]". */
int signature_parse(struct type_table *t, const char *text, size_t len, struct signature *ret_sig,
                    struct kiln_err *e);
void signature_print(struct buf *out, const struct signature *sig); /* canonical: "(a, b)" or "ret(a, b)" */

/* Memory layout of a value in argument blocks, return slots and tuples: C rules of an LP64 or ILP32
 * target (pointer_bytes 8 or 4). See <kiln/abi.h>. KILN_E_INVALID for compile-time kinds. */
struct layout {
    uint32_t size, align;
};
int type_layout(const struct type *t, unsigned pointer_bytes, struct layout *ret, struct kiln_err *e);
/* Of an element of an array or a field of a record, in NumPy's memory: numbers, records, nested arrays. */
struct layout type_element_layout(const struct type *t);

#endif
