/* SPDX-License-Identifier: Apache-2.0
 * text_unicode.h - what Unicode says of code points.
 *
 * Tables of our own rather than calls of the process's Python: artifacts run in programs without one, without its lock,
 * and mean the same whoever loads them. As ranges they take 25 KB, and only the functions that need them carry them. */
#ifndef KILN_RT_TEXT_UNICODE_H
#define KILN_RT_TEXT_UNICODE_H

#include "text.h"

struct unicode_range { /* first, first + stride, ..., last change by delta */
    uint32_t first, last, stride;
    int32_t delta;
};
struct unicode_several {
    uint32_t from, to[3]; /* to: 0 behind the last */
};


/* In the order of unicode.py. */
enum {
    U_ALPHA = 1,
    U_DECIMAL = 2,
    U_DIGIT = 4,
    U_NUMERIC = 8,
    U_LOWER = 16,
    U_UPPER = 32,
    U_PRINTABLE = 64,
    U_TITLE = 128,
    U_START = 256,
    U_CONTINUE = 512,
    U_IGNORABLE = 1024,
    U_BEFORE_SIGMA = 2048,
    U_CASED = 4096,
};

/* text_case.c */
unsigned kiln_rt_unicode_flags(uint32_t c);
/* Value of a decimal digit, -1 if it is none. */
int kiln_rt_unicode_decimal(uint32_t c);

#endif
