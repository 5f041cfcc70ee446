/* SPDX-License-Identifier: Apache-2.0
 * text.h - what text.c and text_ops.c share. */
#ifndef KILN_LOWER_TEXT_H
#define KILN_LOWER_TEXT_H

#include "daemon/compiler/lower/lo.h"

LLVMValueRef text_code(struct fn *f, struct val s, LLVMValueRef i); /* the code point at i as i64 */
struct val text_view(struct fn *f, struct val s, LLVMValueRef start, LLVMValueRef n);
struct val text_as(struct fn *f, struct val s, const struct type *t); /* a str as bytes of the same memory, or back */

#endif
