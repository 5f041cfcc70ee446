/* SPDX-License-Identifier: Apache-2.0
 * complex64.c - complex functions of two floats. */
#include "rt.h"

#define REAL float
#define COMPLEX _Complex float
#define FN(F) kiln_rt_##F##_c64
#define M(F) F##f
#include "complex.inc"
