/* SPDX-License-Identifier: Apache-2.0
 * rt.h - for the runtime's sources: compiled to bitcode for each target, without any header of libc.
 *
 * Names and calling convention are in lower/lower.h: kiln_rt_F_T, complex values by pointer, real ones by
 * value, the complex result through the first parameter. Functions of libm that are declared here must be in
 * glibc.def. */
#ifndef KILN_RT_H
#define KILN_RT_H

#include <stdint.h>

#define RT_REAL1(F) double F(double); float F##f(float);
#define RT_REAL2(F) double F(double, double); float F##f(float, float);
#define RT_COMPLEX1(F) _Complex double F(_Complex double); _Complex float F##f(_Complex float);
RT_REAL1(exp) RT_REAL1(exp2) RT_REAL1(log) RT_REAL1(log2) RT_REAL1(log1p) RT_REAL1(expm1) RT_REAL1(sin) RT_REAL1(cos)
RT_REAL1(sqrt) RT_REAL1(fabs) RT_REAL1(rint) RT_REAL2(hypot) RT_REAL2(atan2) RT_REAL2(pow)
RT_COMPLEX1(csqrt) RT_COMPLEX1(cexp) RT_COMPLEX1(clog) RT_COMPLEX1(csin) RT_COMPLEX1(ccos) RT_COMPLEX1(ctan)
RT_COMPLEX1(casin) RT_COMPLEX1(cacos) RT_COMPLEX1(catan) RT_COMPLEX1(csinh) RT_COMPLEX1(ccosh) RT_COMPLEX1(ctanh)
RT_COMPLEX1(casinh) RT_COMPLEX1(cacosh) RT_COMPLEX1(catanh)
_Complex double cpow(_Complex double, _Complex double);
_Complex float cpowf(_Complex float, _Complex float);

#define LN2 0.693147180559945309417232121458
#define LN10 2.30258509299404568401799145468

#endif
