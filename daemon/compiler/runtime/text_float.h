/* SPDX-License-Identifier: Apache-2.0
 * text_float.h - decimal digits of floats. */
#ifndef KILN_RT_TEXT_FLOAT_H
#define KILN_RT_TEXT_FLOAT_H

#include "text_unicode.h"

#define FLOAT_DIGITS 1120 /* 309 before the point, or 767 significant ones behind it; and half-way points */

/* Shortest digits that read back as the same number of each width; n digits; n digits behind the point. */
enum { FLOAT_SHORTEST, FLOAT_SHORTEST_SINGLE, FLOAT_SHORTEST_HALF, FLOAT_SIGNIFICANT, FLOAT_FIXED };

/* The digits (0 to 9 each) of |v|, finite, correctly rounded, without trailing zeros: |v| is 0.d0d1d2... * 10^point.
 * Returns how many, 0 where a number that is not 0 rounds to it; 0 itself is one digit 0 and point 1. */
int kiln_rt_float_digits(double v, int mode, int64_t n, uint8_t d[FLOAT_DIGITS], int *ret_point);

#endif
