/* SPDX-License-Identifier: Apache-2.0
 * kir_private.h - between the files of KIR; not for other folders. */
#ifndef KILN_IR_KIR_PRIVATE_H
#define KILN_IR_KIR_PRIVATE_H

#include "proto/ir/kir.h"

/* Everything that can be said of constants and user types one by one: texts, lengths, references.
 * The type texts' table lives in a. */
int kir_check_consts(struct arena *a, const struct kir_module *m, struct kiln_err *e);
/* Functions, nodes, canonical order. Scratch memory is taken from a. */
int kir_check_functions(struct arena *a, const struct kir_module *m, struct kiln_err *e);

/* Append one constant in wire form. */
void kir_put_const(struct buf *out, const struct kir_const *c);
void kir_put_usertype(struct buf *out, const struct kir_usertype *t);

/* Lists of enums.def: an op that has an operand i, or one of these. */
enum { KIR_NAMES_PARAM = KIR__OP_END, KIR_NAMES_CONST, KIR_NAMES_USERTYPE };
/* The text of a number of a list, NULL if it has none; and the other way, 0. */
const char *kir_enum_text(unsigned list, uint32_t number);
uint32_t kir_enum_number(unsigned list, const char *text);
const char *kir_flag_text(uint32_t bit);
uint32_t kir_flag_bit(const char *text);

#endif
