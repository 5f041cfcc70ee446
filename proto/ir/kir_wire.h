/* SPDX-License-Identifier: Apache-2.0
 * kir_wire.h - reading KIR's msgpack. Not for other folders.
 *
 * KIR has its own reader, not the codec's, because it must do the opposite of being tolerant: of the several
 * msgpack forms of a number or length only the shortest is taken, so that a module has one encoding and
 * one digest; and because the code array is most of a module and is read in one loop without calls. */
#ifndef KILN_IR_KIR_WIRE_H
#define KILN_IR_KIR_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/err.h"

struct kir_in {
    const unsigned char *start, *p, *end;
    struct kiln_err *e;
};

enum kir_wire_kind { WIRE_NIL, WIRE_BOOL, WIRE_UINT, WIRE_NINT, WIRE_FLOAT, WIRE_STR, WIRE_BIN, WIRE_ARRAY };

struct kir_item {
    enum kir_wire_kind kind;
    uint64_t n; /* BOOL, UINT: the value; NINT: its two's complement; STR, BIN: bytes; ARRAY: items */
    double f;
    const unsigned char *p; /* STR, BIN */
};

/* The next item; content of strings is stepped over, of arrays not. An array's count is no larger than the
 * bytes that follow. False with *in->e filled. */
bool kir_in_item(struct kir_in *in, struct kir_item *ret);
/* As kir_in_item, and of this kind. */
bool kir_in_kind(struct kir_in *in, enum kir_wire_kind kind, const char *what, struct kir_item *ret);
/* An array of exactly n items. */
bool kir_in_array(struct kir_in *in, uint32_t n, const char *what);
/* A number of 32 bits. */
bool kir_in_u32(struct kir_in *in, const char *what, uint32_t *ret);
/* n numbers of 32 bits. */
bool kir_in_code(struct kir_in *in, uint32_t n, uint32_t *ret);
/* KILN_E_KIR_BAD, "byte 12: ..."; false. */
bool kir_in_fail(struct kir_in *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
