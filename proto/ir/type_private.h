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

/* The entry of the table for a key whose parts are interned already. */
const struct type *type_intern(struct type_table *t, const struct type *key);
/* Append "Record(...)" or "nestedarray(...)". */
void type_print_record(struct buf *out, const struct type *t);

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
/* The parser's pieces: each false, with *r->e filled, when the text has something else there. */
bool type_expect(struct type_reader *r, char c);
bool type_read_number(struct type_reader *r, unsigned max, unsigned *ret);
bool type_read_bool(struct type_reader *r, bool *ret);
/* A word of letters, digits and underscores, "" if there is none. */
void type_read_word(struct type_reader *r, char *word, size_t cap, size_t *ret_at);
/* t, or NULL with the reason why it was not made. */
const struct type *type_made(struct type_reader *r, const struct type *t);
/* type_record.c: behind "Record(" and "nestedarray(". */
const struct type *type_read_record(struct type_reader *r, size_t at);
const struct type *type_read_nested(struct type_reader *r);
/* "column 7: ..." into *r->e. */
int type_fail(struct type_reader *r, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
