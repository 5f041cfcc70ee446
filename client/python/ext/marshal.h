/* SPDX-License-Identifier: Apache-2.0
 * marshal.h - from Python values to argument blocks and back.
 *
 * A call has three steps: a *fingerprint*, one word or more an argument, says what types the values have; a
 * *plan*, made once for a fingerprint and a signature, says how each value gets into the block; packing
 * follows the plan without looking at types again. */
#ifndef KILN_EXT_MARSHAL_H
#define KILN_EXT_MARSHAL_H

#include "client/python/ext/ext.h"

/* A word: tag, and three small numbers. TUPLE is followed by its items. */
enum word_tag {
    W_NONE = 1,
    W_BOOL,
    W_INT,  /* Python int that fits int64, or not looked at yet */
    W_UINT, /* Python int past int64 that fits uint64: only in a careful fingerprint */
    W_FLOAT,
    W_COMPLEX,
    W_SCALAR, /* NumPy scalar: a = type_num, b = unit of a time */
    W_ARRAY,  /* a = type_num, b = rank, c = layout and flags */
    W_TUPLE,  /* the rest of the word = number of items */
    /* of objects.h: the rest of the word is a serial */
    W_NAMED,    /* named tuple; a W_TUPLE with its items follows */
    W_ENUM,     /* member of an enum */
    W_FUNCTION, /* compiled function */
    W_TYPE,     /* class or dtype */
    W_RECORD,   /* a = flags; the next word is a serial, as behind a W_ARRAY of records */
    W_TYPED,     /* of typed.h: the rest of the word is the number of its type's text */
    W_CONTAINER, /* a = KILN_T_LIST, SET or DICT, b = 1: empty; else the words of an item (key, value) follow */
    W_STR,
    W_BYTES,
    W_OBJECT, /* object of a jitclass: the rest of the word is its class's serial */
};
#define WORD_OF_SERIAL(tag, serial) ((uint32_t)(tag) | (uint32_t)(serial) << 8)
#define WORD_SERIAL(w) ((w) >> 8)
#define WORD(tag, a, b, c) ((uint32_t)(tag) | (uint32_t)(a) << 8 | (uint32_t)(b) << 16 | (uint32_t)(c) << 24)
#define WORD_OF_TUPLE(n) ((uint32_t)W_TUPLE | (uint32_t)(n) << 8)
#define WORD_ITEMS(w) ((w) >> 8)
#define WORD_TAG(w) ((w)&255)
#define WORD_A(w) ((w) >> 8 & 255)
#define WORD_B(w) ((w) >> 16 & 255)
#define WORD_C(w) ((w) >> 24)
enum { LAYOUT_C = 0, LAYOUT_F = 1, LAYOUT_A = 2, LAYOUT_MASK = 3, FLAG_READONLY = 4, FLAG_UNALIGNED = 8,
       UNIT_SHIFT = 4 /* above: the unit of an array of times */ };

#define PRINT_WORDS 1024 /* words of one call; longer tuples are better arrays: code grows with each item */
#define TUPLE_DEPTH 16   /* of nested tuples */

struct print {
    uint32_t n;
    uint32_t words[PRINT_WORDS];
};

/* Add the words of o. 0, or 1 when o has no type (or there are too many words), or -1 with an exception.
 * careful: look at the sizes of ints; OverflowError past 64 bits. numba: uint64 exists for ints. */
int print_value(struct print *p, PyObject *o, bool careful, bool numba, int depth);
/* The words of an array (exact class checked by the caller): returns how many, 1 or 2; 0 when its dtype is not
 * supported; -1 with an exception. */
int print_array(PyObject *o, uint32_t words[2]);
/* Type text of o: a new str, None where it has no type. */
PyObject *print_text(PyObject *o, bool numba);

/* One step of a plan, for one value. */
enum step_code {
    S_NONE,
    S_BOOL,
    S_INT,
    S_UINT,
    S_FLOAT,
    S_COMPLEX,
    S_SCALAR,  /* number: type_num */
    S_ARRAY,   /* number: rank */
    S_TUPLE,   /* number: items, whose steps follow */
    S_ABSENT,  /* None for an optional; size: of the value */
    S_PRESENT, /* a value for an optional, whose step follows; size: of the value */
    S_CONVERT, /* number: type_num of the scalar to convert to */
    S_RECORD,
    S_ENUM,
    S_CONTAINER, /* type; items: steps behind it, S_ITEMS once or (dict) twice, each with an item's */
    S_ITEMS,   /* items: steps of one item */
    S_TYPED,   /* size: number of the type's text */
    S_OBJECT,  /* size: serial of the class */
    S_TEXT, /* number: 1 bytes, 0 str */
};
struct step {
    uint8_t code;
    uint8_t number;
    uint16_t items;
    uint32_t offset; /* from the beginning of what holds it */
    uint32_t size;   /* optionals: bytes of the value, behind which the flag lies; arrays: their word */
    const struct kiln_type *type; /* containers: the signature's */
};
struct plan {
    uint32_t n_steps, n_arrays; /* n_arrays: memory headers that a call needs */
    bool has_text;              /* some of the headers hold text */
    struct step steps[];
};

/* How far the values are from what the signature says. Lower is better. */
enum match { MATCH_EXACT = 0, MATCH_WEAK = 1, MATCH_SAFE = 16, MATCH_NOT = 1 << 20 };

/* What numbers of a module's user types and functions mean in this process: serials, UINT32_MAX where unknown. */
struct numbers {
    const uint32_t *users, *functions;
    uint32_t n_users, n_functions;
};

/* The plan for values of this fingerprint and a signature of as many parameters, in *ret (PyMem_Free).
 * MATCH_NOT and NULL when they don't fit; convert: numbers may be converted, layouts and flags relaxed
 * (else only weak scalars meet their typed ones). -1 with an exception. */
int plan_make(const struct print *p, const struct kiln_type *params, uint32_t n, bool convert,
              const struct numbers *numbers, struct plan **ret);

/* Pack n values (borrowed) into block. mems: n_arrays headers, filled for arrays, whose `user` is the
 * array object (borrowed); keep: which arguments need owners, for what is made of them may last. *ret_reflected: the lists, dicts and sets among
 * the values, to be given to reflect() and reflected_done() after the call. Returns 0, 1 when an int does not fit
 * int64 (take a careful fingerprint), -1 with an exception. */
struct reflected; /* containers.h */
enum {
    KEEP_ARRAYS = 1,
    KEEP_TEXT = 2,
    KEEP_LONG = 4 /* arrays and records too may outlive the call: in a container or object that is shared */
};
/* The size of a header that stands for memory of its own, at data, which has to be given up after the call. */
#define MEM_HELD INT64_C(-2)
int plan_pack(const struct plan *plan, PyObject *const *values, uint32_t n, unsigned char *block,
              struct kiln_mem *mems, unsigned keep, struct reflected **ret_reflected);

/* Whether headers of a call hold memory of their own, which plan_release gives up after the call. */
static inline bool plan_holds(const struct plan *plan, unsigned keep)
{
    return plan->has_text || keep & KEEP_LONG;
}
void plan_release(struct kiln_mem *mems, uint32_t n);

/* What results are made of. */
struct owners {
    const struct kiln_mem *mems; /* of the arguments and the environment: not to be released */
    uint32_t n;
    PyObject *keep; /* whom returned memory keeps alive: the specialization */
    const struct numbers *numbers;
    bool plain;     /* sized numbers become Python's own, else NumPy's scalars */
    struct reflected *reflected; /* the call's containers */
};
/* A Python object of the value at p. Takes over the references in it. */
PyObject *unbox(const struct kiln_type *t, const unsigned char *p, const struct owners *own);
/* Take further references on everything in the value at p. */
void unbox_keep(const struct kiln_type *t, const unsigned char *p);
/* Release the references of the value at p, which is not wanted. */
void unbox_drop(const struct kiln_type *t, const unsigned char *p, const struct owners *own);
int unbox_add(PyObject *module);

#endif
