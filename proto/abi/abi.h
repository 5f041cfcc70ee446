/* SPDX-License-Identifier: Apache-2.0
 * <kiln/abi.h> - what a compiled artifact and the process that loads it promise each other.
 *
 * An artifact is an ELF shared object without constructors. It exports
 *   kiln_key    32 bytes, the cache key; compare it with the wanted key after every load
 *   kiln_bind   called once after loading, with the process's table of services
 *   kiln_entry  the compiled function, with the uniform signature below
 * and, where asked for, one plain C symbol. Self-contained; C11 or C++. Append only: `version` and
 * `size` say what a table holds. */
#ifndef KILN_ABI_H
#define KILN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_ABI_VERSION 1u
#define KILN_KEY_BYTES 32
#define KILN_TRACE_MAX 32
#define KILN_EXC_ARGS_MAX 8

/* Reference-counted memory of arrays. refs is changed atomically; whoever takes it to 0 calls
 * release(mem), once. The host's alloc makes them; an argument's is made by the caller for the call. */
struct kiln_mem {
    int64_t refs;
    void (*release)(struct kiln_mem *mem);
    void *data;
    int64_t size; /* bytes at data */
    void *user;   /* the allocator's, or the caller's Python object */
};

/* Values, as laid out in argument blocks, return slots and tuples. C layout rules:
 *   bool 1 byte (0 or 1), intN, uintN, float32, float64 by size; pyint int64_t; pyfloat double
 *   complex64 { float re, im; }, complex128 and pycomplex { double re, im; }
 *   none: an empty struct (size 0, align 1)
 *   tuple: a struct of its items, in order
 *   optional: { T value; uint8_t valid; }
 *   list, dict, set, object of a jitclass: struct kiln_mem *, shared by reference (struct kiln_list_head below)
 *   str: struct kiln_str, bytes: struct kiln_bytes
 *   member of an enum: int32_t, its position; of an enum of integers: int64_t, its value
 *   datetime64, timedelta64: int64_t, a count of the type's unit; INT64_MIN is NaT
 *   record: { struct kiln_mem *owner; void *data; }, owner as for arrays
 *   class, function: an empty struct
 *   array of n dimensions: struct kiln_array with n entries in shape and n in strides:
 *     { struct kiln_mem *owner; void *data; intptr_t shape[n]; intptr_t strides[n]; } - strides in bytes.
 *     owner NULL: borrowed for the call, no part of the result may keep it. */
struct kiln_array {
    struct kiln_mem *owner;
    void *data;
    intptr_t dims[]; /* shape[n], then strides[n] */
};

/* Text: `length` code points of `width` bytes each (1, 2 or 4; each width holds the code points that fit it, lone
 * surrogates too). The width is wide enough, not always the narrowest: a slice shares its string's memory. A string of
 * length 0 may have any data and width. owner NULL: constant data of the artifact, or borrowed for the call. */
struct kiln_str {
    struct kiln_mem *owner;
    const void *data;
    intptr_t length, width;
};
struct kiln_bytes {
    struct kiln_mem *owner;
    const void *data;
    intptr_t length;
};

enum kiln_arg_kind { KILN_ARG_NONE, KILN_ARG_BOOL, KILN_ARG_INT, KILN_ARG_UINT, KILN_ARG_FLOAT, KILN_ARG_STR,
                     KILN_ARG_FORMAT /* see below */, KILN_ARG_MEM /* text made at run time */ };

/* What a list's memory (kiln_mem.data) begins with. `data` is that of `items`; an item has the layout of its type in
 * an array of C. `free` is the allocator's release: the list's own gives up its items first, then calls it.
 * A dict or set holds { free; struct of: list(int64) table, list(int64) hashes, list keys, (dict) list values, int64
 * used }, the struct at offset 8. An object of a jitclass holds { free; struct of its fields } likewise. */
struct kiln_list_head {
    int64_t len, cap;
    void *data;
    struct kiln_mem *items;
    void (*free)(struct kiln_mem *mem);
};

/* One argument of a raised exception. Strings are UTF-8 in the artifact's constant data.
 * FORMAT (only as args[0]): s is a template; the exception's single argument is the text in which each
 * "{}" is replaced, in order, by args[1], args[2], ... (ints in decimal). It keeps formatting out of
 * compiled code: "index {} is out of bounds for axis {} with size {}".
 * MEM: mem->size bytes of UTF-8 (with lone surrogates, if there are any, encoded as Python's "surrogatepass" does) at
 * mem->data. The exception holds a reference: whoever ends it, by turning it into another or by ignoring it, releases
 * the mem of each such argument. */
struct kiln_exc_arg {
    uint32_t kind; /* enum kiln_arg_kind */
    uint32_t len;  /* bytes of s */
    union {
        int64_t i;
        uint64_t u;
        double f;
        const char *s;
        struct kiln_mem *mem;
    };
};

/* Where an exception passed: node of function, both as in the KIR module. */
struct kiln_trace {
    uint32_t function, node;
};

enum {
#define X(NAME, number, parent) KILN_EXC_##NAME = number,
#include "exceptions.def"
#undef X
    KILN_EXC_USER = 256 /* + index of the EXCEPTION constant in the module */
};

/* Filled by compiled code when it returns KILN_RAISED; caller's storage, needs no initialization. */
struct kiln_exc {
    uint32_t class_id; /* KILN_EXC_* */
    uint32_t n_args;
    uint32_t n_trace;  /* frames, innermost first; may exceed KILN_TRACE_MAX: the rest was dropped */
    uint32_t pad;
    struct kiln_exc_arg args[KILN_EXC_ARGS_MAX];
    struct kiln_trace trace[KILN_TRACE_MAX];
};

enum kiln_status { KILN_DONE = 0, KILN_RAISED = 1, KILN_HOST_ERROR = 2 /* a host callback failed and keeps the error */ };

/* State of a generator of random numbers: the Mersenne Twister MT19937, and the second of a pair of normal numbers. */
struct kiln_random {
    uint32_t word[624];
    uint32_t at;     /* next word to use; 624: all are used */
    uint32_t seeded; /* 0: not yet */
    uint32_t has_next, pad;
    double next;
};

/* Services of the process, bound once at load. Every function may be called from any thread. */
struct kiln_host {
    uint32_t version; /* KILN_ABI_VERSION */
    uint32_t size;    /* sizeof(struct kiln_host) of whoever made it */
    /* Memory of `size` bytes aligned to 64, refs 1, not cleared; NULL when there is none. */
    struct kiln_mem *(*alloc)(int64_t size);
    /* Nonzero when the process wants compiled code to stop (Ctrl-C): it then raises KeyboardInterrupt. */
    int32_t (*interrupted)(void);
    /* Write text (UTF-8) as Python's print would. 0, or KILN_HOST_ERROR. */
    int32_t (*print)(const char *text, int64_t len);
    /* Run body(ctx, begin, end, chunk) for [0, n) cut into n_chunks; first nonzero status or 0. */
    int32_t (*parallel_for)(int32_t (*body)(void *ctx, int64_t begin, int64_t end, int64_t chunk), void *ctx,
                            int64_t n, int64_t n_chunks);
    /* Call function `number` of the host's language. args: a value of type arg_types, a tuple (text of a type), borrowed;
     * ret: room for one of type ret_type, whose references are then the caller's. 0, or KILN_HOST_ERROR. */
    int32_t (*call_python)(int64_t number, const char *arg_types, const void *args, const char *ret_type, void *ret);
    /* hash() of these bytes (of a str: its code points in the narrowest width) as the process has it, so that compiled
     * code and Python agree; NULL: compiled code uses a hash of its own. */
    int64_t (*hash)(const void *bytes, int64_t size);
    /* The calling thread's generator of random numbers, seeded from the operating system: 0 that of Python's module
     * `random`, 1 that of numpy.random's functions. All artifacts of a process share them. NULL: the artifact has its own. */
    struct kiln_random *(*random)(int32_t which);
};

/* args: the block of arguments (each at its natural alignment, in order, as one C struct); env: the
 * block of captured arrays, same rules, NULL if there are none; ret: the return slot. A returned
 * array's owner is a reference that the caller now holds. */
typedef int32_t (*kiln_entry_fn)(void *ret, const void *args, const void *env, struct kiln_exc *exc);
typedef void (*kiln_bind_fn)(const struct kiln_host *host);

#define KILN_SYM_KEY "kiln_key"
#define KILN_SYM_BIND "kiln_bind"
#define KILN_SYM_ENTRY "kiln_entry"

#ifdef __cplusplus
}
#endif
#endif
