/* SPDX-License-Identifier: Apache-2.0
 * kir_text.h - what printer and parser of the text form agree on. Not for other folders. */
#ifndef KILN_IR_KIR_TEXT_H
#define KILN_IR_KIR_TEXT_H

#include <stdbool.h>
#include <string.h>

/* Characters of a word: names, dotted names. */
static inline bool kir_text_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* An op whose only list is its last operand writes it without brackets: (block S S), (tuple e e). */
static inline bool kir_text_last_list_only(const char *operands)
{
    const char *star = strchr(operands, '*');

    return star && !star[2];
}

#endif
