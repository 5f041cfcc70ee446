/* SPDX-License-Identifier: Apache-2.0
 * kir_private.h - between the files of KIR; not for other folders. */
#ifndef KILN_IR_KIR_PRIVATE_H
#define KILN_IR_KIR_PRIVATE_H

#include "proto/ir/kir.h"

/* A walk over the numbers of a node's operands, counts and absent ones left out:
 *   for (struct kir_walk w = kir_walk(n); kir_walk_next(&w);)  ... w.letter, w.value ... */
struct kir_walk {
    const char *letters; /* not yet entered */
    const uint32_t *args;
    uint32_t at;      /* position in args of what comes next */
    uint32_t left;    /* numbers left in the list under way */
    unsigned entered; /* letters entered */
    char letter;      /* of the current number */
    bool optional;
    unsigned operand;  /* its letter's place, from 0 */
    uint32_t position; /* its place in args */
    uint32_t value;
};

static inline struct kir_walk kir_walk(const struct kir_node *n)
{
    return (struct kir_walk){ .letters = kir_opinfo(n->op)->operands, .args = n->args };
}

static inline bool kir_walk_next(struct kir_walk *w)
{
    while (w->left == 0) {
        char kind;
        if (!*w->letters)
            return false;
        kind = *w->letters == '?' || *w->letters == '*' ? *w->letters++ : 0;
        w->letter = *w->letters++;
        w->operand = w->entered++;
        w->optional = kind == '?';
        if (kind == '*')
            w->left = w->args[w->at++];
        else if (kind == '?' && w->args[w->at] == 0)
            w->at++;
        else
            w->left = 1;
    }
    w->left--;
    w->position = w->at++;
    w->value = w->args[w->position] - w->optional;
    return true;
}

/* Length of the operands at args[0..n), by their letters; UINT32_MAX if they don't fit. */
uint32_t kir_operands_length(const char *letters, const uint32_t *args, uint32_t n);

/* Everything that can be said of constants and user types one by one: texts, lengths, references.
 * The type texts' table lives in a. */
int kir_check_consts(struct arena *a, const struct kir_module *m, struct kiln_err *e);
/* Functions, nodes, canonical order. Scratch memory is taken from a. On failure *at says which node is wrong,
 * if it is one's fault. */
struct kir_place {
    uint32_t function, node; /* KIR_NIL: none */
};
int kir_check_functions(struct arena *a, const struct kir_module *m, struct kir_place *at,
                        struct kiln_err *e);
/* As the public ones, with the place. */
int kir_decode_at(struct arena *a, const unsigned char *bytes, size_t len, struct kir_module **ret,
                  struct kir_place *at, struct kiln_err *e);
int kir_verify_at(const struct kir_module *m, struct kir_place *at, struct kiln_err *e);

/* Append one constant in wire form. */
void kir_put_const(struct buf *out, const struct kir_const *c);
void kir_put_usertype(struct buf *out, const struct kir_usertype *t);

/* Lists of enums.def: an op that has an operand i, or one of these. */
enum { KIR_NAMES_PARAM = KIR__OP_END, KIR_NAMES_CONST, KIR_NAMES_USERTYPE, KIR_NAMES_METHOD };
/* The text of a number of a list, NULL if it has none; and the other way, 0. */
const char *kir_enum_text(unsigned list, uint32_t number);
uint32_t kir_enum_number(unsigned list, const char *text);
const char *kir_flag_text(uint32_t bit);
uint32_t kir_flag_bit(const char *text);

#endif
