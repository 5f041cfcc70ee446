/* SPDX-License-Identifier: Apache-2.0
 * integer.c - integer functions of math and NumPy. */
#include "rt.h"

int64_t kiln_rt_gcd_i64(int64_t a, int64_t b);
int64_t kiln_rt_lcm_i64(int64_t a, int64_t b);
int64_t kiln_rt_isqrt_i64(int64_t n);

static uint64_t magnitude(int64_t a)
{
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

int64_t kiln_rt_gcd_i64(int64_t a, int64_t b)
{
    uint64_t x = magnitude(a), y = magnitude(b);

    while (y) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return (int64_t)x;
}

int64_t kiln_rt_lcm_i64(int64_t a, int64_t b)
{
    uint64_t g = (uint64_t)kiln_rt_gcd_i64(a, b);

    return g ? (int64_t)(magnitude(a) / g * magnitude(b)) : 0;
}

/* The double's root is right to one; n is not negative. */
int64_t kiln_rt_isqrt_i64(int64_t n)
{
    uint64_t x = (uint64_t)n, r = (uint64_t)__builtin_sqrt((double)x);

    while (r > 3037000499u || r * r > x)
        r--;
    while (r < 3037000499u && (r + 1) * (r + 1) <= x)
        r++;
    return (int64_t)r;
}
