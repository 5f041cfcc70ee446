/* SPDX-License-Identifier: Apache-2.0
 * specialization.h - loaded code with its signature, as an object that dispatchers share. */
#ifndef KILN_EXT_SPECIALIZATION_H
#define KILN_EXT_SPECIALIZATION_H

#include "client/python/ext/marshal.h"

struct specialization {
    PyObject ob_base;
    kiln_entry_fn entry;
    const struct kiln_signature *sig; /* owned */
    const struct kiln_type *ret;
    PyObject *library, *artifact; /* objects of ours */
    PyObject *hook;               /* NULL or callable */
    PyObject *data;               /* any */
    /* the environment */
    PyObject *env;                  /* tuple of arrays */
    struct kiln_signature *env_sig; /* NULL: none */
    struct plan *env_plan;
    uint32_t *env_words; /* two an array */
    struct numbers numbers;
    PyObject *classes; /* tuple: the class of each user type of the module */
    uint32_t n_env;
    bool release_gil;
    bool plain; /* numba semantics: numbers come back as Python's */
    uint8_t keeps; /* KEEP_*: the result holds arrays, or typed containers hold text: arguments need owners */
};

extern PyTypeObject *specialization_type;

/* Whether the arrays of the environment still have the types that the code was compiled for. */
bool specialization_fresh(const struct specialization *s);

/* Call with n = sig->n_params values (borrowed) that fit `plan`. NULL with an exception. *ret_overflow is
 * set, without an exception, when an int did not fit; may not be NULL. */
PyObject *specialization_call(struct specialization *s, const struct plan *plan, PyObject *const *values,
                              bool *ret_overflow);

/* raise.c: set the Python exception for what compiled code reported. */
void raise_compiled(struct specialization *s, int32_t status, const struct kiln_exc *exc);
int raise_add(PyObject *module);

#endif
