/* SPDX-License-Identifier: Apache-2.0
 * kir_reader.h - a text form under reading: tokens (kir_lex.c), constants and user types (kir_parse_const.c),
 * nodes and functions (kir_parse.c). Not for other folders.
 *
 * Every function returns false when the reader's error is set. */
#ifndef KILN_IR_KIR_READER_H
#define KILN_IR_KIR_READER_H

#include <string.h>

#include "proto/ir/builder_private.h"
#include "proto/ir/kir_private.h"

enum token { T_END, T_OPEN, T_CLOSE, T_LBRACKET, T_RBRACKET, T_WORD, T_STRING, T_BYTES, T_LABEL };

struct place {
    uint32_t line, column;
};

struct reader {
    const char *text, *p, *end, *line_start;
    uint32_t line;
    struct arena a;
    struct kir_builder *b;
    struct kiln_err *e;
    /* the current token */
    enum token token;
    const char *word;
    uint32_t len;
    struct place at;
    /* label -> handle + 1 */
    uint32_t *labels;
    size_t n_labels;
    uint32_t n_functions, n_locals, n_env, func;
    uint32_t *vals;
    size_t n_vals, cap_vals;
    struct frame {
        enum kir_op op;
        const char *letters; /* not yet begun */
        size_t base, list;   /* in vals; list: of the count under way */
        bool in_list, brackets, unbracketed;
        char letter;
        bool optional; /* how the operand under way goes into its parent's values */
        struct place at;
    } * frames;
    size_t n_frames, cap_frames;
    struct kir_positions *positions;
};

/* "line 3, column 5: ..." at the current token; false. Only the first error counts. */
bool kir_fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool kir_no_memory(struct reader *r);
/* The builder's error, if it has one, at the current token. */
bool kir_builder_ok(struct reader *r);

/* Step to the next token. */
bool kir_next(struct reader *r);
/* The current token is this one: step over it. `what` is for the message. */
bool kir_expect(struct reader *r, enum token token, const char *what);
bool kir_is_word(const struct reader *r, const char *word);
/* The current word with a NUL behind it; "" if it does not fit, as no word that we know. */
const char *kir_word_text(const struct reader *r, char *to, size_t cap);
/* A number below 2^31, from a word or label; a name, from a word or string; a float. Each is stepped over. */
bool kir_read_number(struct reader *r, uint32_t *ret);
bool kir_read_name(struct reader *r, const char **ret, uint32_t *ret_len);
bool kir_read_float(struct reader *r, double *ret);
/* xHEX. */
bool kir_read_hex(struct reader *r, unsigned char **ret, uint32_t *ret_len);

/* A constant, as a handle; depth 0 from outside. */
bool kir_read_const(struct reader *r, unsigned depth, uint32_t *ret);
bool kir_label_const(struct reader *r, uint32_t *ret);
/* (const ...) and (usertype ...) of a module, after the word. */
bool kir_read_table_const(struct reader *r);
/* The function, local or slot (f, l, v) of this number exists from now on. */
bool kir_ensure(struct reader *r, char letter, uint32_t x);
bool kir_read_usertype(struct reader *r, uint32_t number);

#endif
