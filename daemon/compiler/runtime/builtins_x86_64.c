/* SPDX-License-Identifier: Apache-2.0
 * builtins_x86_64.c - see builtins.inc. Half values travel in SSE registers, as _Float16. */
#include "builtins.inc"

HELPER float __extendhfsf2(_Float16 h);
HELPER _Float16 __truncsfhf2(float x);
HELPER _Float16 __truncdfhf2(double x);

static _Float16 as_half(uint16_t bits)
{
    _Float16 h;
    __builtin_memcpy(&h, &bits, sizeof h);
    return h;
}

float __extendhfsf2(_Float16 h)
{
    uint16_t bits;
    __builtin_memcpy(&bits, &h, sizeof bits);
    return float_of_half(bits);
}

_Float16 __truncsfhf2(float x)
{
    return as_half(half_of_double(x));
}

_Float16 __truncdfhf2(double x)
{
    return as_half(half_of_double(x));
}
