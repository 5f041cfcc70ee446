/* SPDX-License-Identifier: Apache-2.0
 * text.h - str and bytes as arguments and results. */
#ifndef KILN_EXT_TEXT_H
#define KILN_EXT_TEXT_H

#include "client/python/ext/ext.h"

/* Write o as struct kiln_str (or kiln_bytes) to `to`. owned: in counted memory that may outlive the call, else lent
 * where that is possible. header: of the call, takes over what has to be released; NULL: the value's own reference is
 * the only one. -1 with an exception. */
int text_pack(PyObject *o, bool is_bytes, bool owned, struct kiln_mem *header, unsigned char *to);
/* The Python object of a value whose reference is taken over. */
PyObject *text_unbox(const unsigned char *p, bool is_bytes);
void text_drop(const unsigned char *p);

#endif
