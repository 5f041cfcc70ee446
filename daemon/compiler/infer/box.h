/* SPDX-License-Identifier: Apache-2.0
 * box.h - values that live in counted memory of their own and are shared by reference: what their memory holds.
 *
 * A list is known to the compiler (struct kiln_list_head of <kiln/abi.h>). A dict and a set are structs of lists, and
 * everything they do is written in prelude/hashing.py over the fields named here, which only the prelude can see. */
#ifndef KILN_COMPILER_INFER_BOX_H
#define KILN_COMPILER_INFER_BOX_H

#include <string.h>

#include "proto/ir/type.h"

/* The struct in t's memory, as a tuple type; NULL if t is no such type. */
const struct type *box_fields(struct type_table *types, const struct type *t);
/* The same of an object of a jitclass, whose class the user's module describes (the index is valid there). NULL: a
 * field has no type. */
struct kir_module;
const struct type *object_fields(struct type_table *types, const struct kir_module *mod, const struct type *t);
/* Index of an object's field; -1 if it has none of that name. */
int object_field(const struct kir_module *mod, const struct type *t, const char *name);
/* Whether a field that was never assigned holds nothing that could be used. Other types hold zero, "" or None. */
bool object_unset(const struct type *t);
/* Index of a field; -1 if there is none of that name. */
int box_field(const struct type *t, const char *name, size_t len);

#endif
