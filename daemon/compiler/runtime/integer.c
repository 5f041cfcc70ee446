/* SPDX-License-Identifier: Apache-2.0
 * integer.c - integer functions of math and NumPy. */
#include "rt.h"

uint64_t kiln_rt_gcd_u64_i64(uint64_t x, uint64_t y);
uint64_t kiln_rt_lcm_u64_i64(uint64_t a, uint64_t b);
uint64_t kiln_rt_isqrt_u64_i64(uint64_t x);
int64_t kiln_rt_gcd_i64(int64_t a, int64_t b);
int64_t kiln_rt_lcm_i64(int64_t a, int64_t b);
int64_t kiln_rt_isqrt_i64(int64_t n);

static uint64_t magnitude(int64_t a)
{
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

uint64_t kiln_rt_gcd_u64_i64(uint64_t x, uint64_t y)
{
    while (y) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return x;
}

uint64_t kiln_rt_lcm_u64_i64(uint64_t a, uint64_t b)
{
    uint64_t g = kiln_rt_gcd_u64_i64(a, b);

    return g ? a / g * b : 0;
}

int64_t kiln_rt_gcd_i64(int64_t a, int64_t b)
{
    return (int64_t)kiln_rt_gcd_u64_i64(magnitude(a), magnitude(b));
}

int64_t kiln_rt_lcm_i64(int64_t a, int64_t b)
{
    return (int64_t)kiln_rt_lcm_u64_i64(magnitude(a), magnitude(b));
}

/* The double's root is right to one. */
uint64_t kiln_rt_isqrt_u64_i64(uint64_t x)
{
    uint64_t r = (uint64_t)__builtin_sqrt((double)x);

    while (r > UINT32_MAX || r * r > x)
        r--;
    while (r < UINT32_MAX && (r + 1) * (r + 1) <= x)
        r++;
    return r;
}

/* n is not negative. */
int64_t kiln_rt_isqrt_i64(int64_t n)
{
    return (int64_t)kiln_rt_isqrt_u64_i64((uint64_t)n);
}
