/* SPDX-License-Identifier: Apache-2.0
 * complex128.c - complex functions of two doubles. */
#include "rt.h"

#define REAL double
#define COMPLEX _Complex double
#define FN(F) kiln_rt_##F##_c128
#define M(F) F
#include "complex.inc"
