/* SPDX-License-Identifier: Apache-2.0
 * type_private.h - between the files of types; not for other folders. */
#ifndef KILN_IR_TYPE_PRIVATE_H
#define KILN_IR_TYPE_PRIVATE_H

#include "proto/ir/type.h"

#define TYPE_MAX_DEPTH                                                                                       \
    64 /* nesting of parentheses in a type text: far past any real type, small for a stack */

/* Types that t is made of when written out, itself included. */
uint32_t type_parts(const struct type *t);
/* Where the table lives. */
struct arena *type_arena(struct type_table *t);
/* After a constructor returned NULL: the type has too many parts. Else memory has run out. */
bool type_was_too_large(const struct type_table *t);
/* Column `text` of types.def. */
const char *type_kind_text(enum type_kind kind);

/* A text under reading, shared by the type and the signature parser. */
struct type_reader {
    struct type_table *table;
    const char *text;
    size_t len, at;
    unsigned depth;
    struct kiln_err *e;
};

/* One type from the reader's position; NULL with *r->e filled. */
const struct type *type_read(struct type_reader *r);
void type_skip_space(struct type_reader *r);
/* The next character is c: step over it. */
bool type_take(struct type_reader *r, char c);
/* "column 7: ..." into *r->e. */
int type_fail(struct type_reader *r, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
