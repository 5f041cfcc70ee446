/* SPDX-License-Identifier: Apache-2.0
 * real.c - functions of two reals that libm lacks: NumPy's logaddexp and logaddexp2. */
#include "rt.h"

#define LOGADDEXP(TYPE, SUFFIX, NAME, EXP, LOG1P, SCALE, LN)                                                          \
    TYPE kiln_rt_##NAME##_##SUFFIX(TYPE x, TYPE y);                                                                   \
    TYPE kiln_rt_##NAME##_##SUFFIX(TYPE x, TYPE y)                                                                    \
    {                                                                                                                 \
        TYPE d = x - y;                                                                                               \
        if (x == y) /* infinities of one sign */                                                                      \
            return x + (TYPE)(LN);                                                                                    \
        if (d > 0)                                                                                                    \
            return x + LOG1P(EXP(-d)) * (TYPE)(SCALE);                                                                \
        if (d <= 0)                                                                                                   \
            return y + LOG1P(EXP(d)) * (TYPE)(SCALE);                                                                 \
        return d; /* nan */                                                                                           \
    }
LOGADDEXP(double, f64, logaddexp, exp, log1p, 1, LN2)
LOGADDEXP(float, f32, logaddexp, expf, log1pf, 1, LN2)
LOGADDEXP(double, f64, logaddexp2, exp2, log1p, 1 / LN2, 1)
LOGADDEXP(float, f32, logaddexp2, exp2f, log1pf, 1 / LN2, 1)
