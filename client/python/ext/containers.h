/* SPDX-License-Identifier: Apache-2.0
 * containers.h - Python's lists, dicts and sets at the boundary.
 *
 * An argument is copied into memory that compiled code understands (<kiln/abi.h>), and what compiled code changed is
 * written back into the Python object after the call: Numba calls that a reflected list. A result is made anew, unless it
 * is an argument. */
#ifndef KILN_EXT_CONTAINERS_H
#define KILN_EXT_CONTAINERS_H

#include "client/python/ext/marshal.h"

/* An argument in its two forms, for one call. */
struct reflected {
    struct reflected *next;
    PyObject *object;
    struct kiln_mem *mem;
    const struct kiln_type *type;
    unsigned char *before; /* its lists' bytes as they were packed */
};

/* Fingerprint of a list, dict or set: as print_value. */
int print_container(struct print *p, PyObject *o, bool careful, bool numba, int depth);
bool is_python_container(PyTypeObject *type);

/* Pack o; the new mem goes to *to. As pack_one; the step is S_CONTAINER. */
struct packer;
/* The array that a container's item was packed from, or NULL (plan.c). */
PyObject *packed_item(const struct kiln_mem *mem);
/* The array that is an argument of a call that is going on, or NULL (plan.c). */
PyObject *packed_argument(const struct kiln_mem *mem);
int pack_container(struct packer *k, PyObject *o, const struct step *s, unsigned char *to);

/* After the call: write changes back. 0, or -1 with an exception. */
int reflect(struct reflected *all, const struct owners *own);
/* Give up the arguments' memory. */
void reflected_done(struct reflected *all);

/* The Python object of a list, dict or set at p; takes the reference over. */
PyObject *unbox_container(const struct kiln_type *t, const unsigned char *p, const struct owners *own);

#endif
