/* SPDX-License-Identifier: Apache-2.0
 * dispatch.h - the parts of a Dispatcher: table of specializations, compiles in flight. */
#ifndef KILN_EXT_DISPATCH_H
#define KILN_EXT_DISPATCH_H

#include <pthread.h>

#include "client/python/ext/ext.h"
#include "client/python/ext/marshal.h"
#include "client/python/ext/specialization.h"

/* A fingerprint that has been met, and what serves it. */
struct entry {
    struct entry *next; /* in its bucket */
    uint64_t hash;
    struct specialization *spec; /* owned */
    struct plan *plan;           /* owned */
    uint32_t n_words;
    uint32_t words[];
};

/* A compile that other threads wait for. On the dispatcher's list while it goes on. */
struct flight {
    struct flight *next;
    pthread_t owner;
    bool done;
    int refs;
    struct print print;
};

struct dispatcher {
    PyObject ob_base;
    ext_vectorcall call;
    PyObject *name;
    PyObject *params;   /* tuple of interned str */
    PyObject *defaults; /* tuple, MISSING where there is none */
    PyObject *compile_for;
    PyObject *owner;
    PyObject *dict, *weak;
    PyObject *specs; /* list of Specialization, in order of installation */
    uint8_t *kinds;  /* KIR's kinds of parameters */
    uint32_t n_params;
    uint32_t n_positional; /* parameters that positional arguments fill */
    int32_t star;          /* index of *args, or -1 */
    bool numba, disabled,
        simple;         /* simple: exactly n_params positional arguments and nothing else is the fast way */
    struct entry *last; /* most recent hit, NULL if none */
    struct entry **buckets;
    struct entry *trash; /* replaced entries, see table_sweep */
    uint32_t n_buckets, n_entries;
    struct flight *flights;
};

/* table.c */
uint64_t print_hash(const struct print *p);
struct entry *table_find(struct dispatcher *d, const struct print *p);
/* Install; takes plan over, also on failure. An entry of the same fingerprint is replaced. NULL: exception.
 */
struct entry *table_add(struct dispatcher *d, const struct print *p, struct specialization *s,
                        struct plan *plan);
void table_clear(struct dispatcher *d);
/* Free entries that were replaced: not done at once, since that may run any Python code. */
void table_sweep(struct dispatcher *d);
/* The specialization whose parameters take these values as they are (weak scalars count as such), or with
 * `convert` best. 0 with *ret_spec (borrowed; NULL: none) and *ret_plan, or -1. */
int table_choose(struct dispatcher *d, const struct print *p, bool convert, struct specialization **ret_spec,
                 struct plan **ret_plan);

/* bind.c: arguments in the order of parameters. values has room for n_params. *ret_owned: a tuple made for
 * *args, to be released after the call, or NULL. */
int bind_arguments(struct dispatcher *d, PyObject *const *args, Py_ssize_t n_args, PyObject *names,
                   PyObject **values, PyObject **ret_owned);

/* slow.c: no entry serves these values: find, compile or convert, then call. */
PyObject *dispatch_slowly(struct dispatcher *d, PyObject *const *values);

#endif
