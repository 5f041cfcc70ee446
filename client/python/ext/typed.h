/* SPDX-License-Identifier: Apache-2.0
 * typed.h - containers that Python and compiled code share by reference: kilnjit.typed.
 *
 * The Python object holds the memory; passing it passes the pointer. All that it does is done by compiled functions
 * (kilnjit/typed.py), for only they know the layout of its items. */
#ifndef KILN_EXT_TYPED_H
#define KILN_EXT_TYPED_H

#include "client/python/ext/marshal.h"

/* Whether o is a container with a type; *ret is the number of its type's text. */
bool typed_number(PyObject *o, uint32_t *ret);
const char *typed_text(uint32_t number);
struct kiln_mem *typed_memory(PyObject *o); /* borrowed */
/* Whether o is an object of a jitclass that has been made; *ret is its class's serial. */
bool typed_object(PyObject *o, uint32_t *ret);
/* Whether a type of a module is the one that a text with serials ("ListType(object(@7))") means. */
bool typed_same(const char *text, const char *of_module, const struct numbers *numbers);
/* The Python object of this memory, whose reference is taken over: a container, or an object of a jitclass. */
PyObject *typed_wrap(const struct kiln_type *t, struct kiln_mem *mem, const struct owners *own);
int typed_add(PyObject *module);

#endif
