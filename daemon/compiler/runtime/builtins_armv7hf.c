/* SPDX-License-Identifier: Apache-2.0
 * builtins_armv7hf.c - helpers that ARM code generation calls ("Run-time ABI for the Arm Architecture",
 * sections 4.1.2 and 4.2): conversions and division of 64-bit integers, division where the CPU has none. They
 * follow the base calling convention whatever the float ABI is. */
#include <stdint.h>

#define BASE __attribute__((pcs("aapcs"), visibility("hidden"), used))
typedef int64_t i64;
typedef uint64_t u64;
typedef int32_t i32;
typedef uint32_t u32;

BASE u64 kiln_udivmod64(u64 a, u64 b, u64 *rest);
BASE i64 kiln_divmod64(i64 a, i64 b, i64 *rest);
BASE u32 __aeabi_uidiv(u32 a, u32 b);
BASE i32 __aeabi_idiv(i32 a, i32 b);
BASE double __aeabi_ul2d(u64 v);
BASE double __aeabi_l2d(i64 v);
BASE float __aeabi_ul2f(u64 v);
BASE float __aeabi_l2f(i64 v);
BASE u64 __aeabi_d2ulz(double v);
BASE i64 __aeabi_d2lz(double v);
BASE u64 __aeabi_f2ulz(float v);
BASE i64 __aeabi_f2lz(float v);
BASE u64 kiln_uidivmod(u32 a, u32 b);
BASE u64 kiln_idivmod(i32 a, i32 b);

/* Long division, a bit at a time from the highest that matters. */
u64 kiln_udivmod64(u64 a, u64 b, u64 *rest)
{
    u64 q = 0;
    int shift;

    if (b == 0) {
        *rest = a;
        return 0;
    }
    if (a < b) {
        *rest = a;
        return 0;
    }
    shift = __builtin_clzll(b) - __builtin_clzll(a);
    b <<= shift;
    for (; shift >= 0; shift--, b >>= 1) {
        q <<= 1;
        if (a >= b) {
            a -= b;
            q |= 1;
        }
    }
    *rest = a;
    return q;
}

i64 kiln_divmod64(i64 a, i64 b, i64 *rest)
{
    u64 r, ua = a < 0 ? 0 - (u64)a : (u64)a, ub = b < 0 ? 0 - (u64)b : (u64)b;
    u64 q = kiln_udivmod64(ua, ub, &r);

    *rest = a < 0 ? (i64)(0 - r) : (i64)r;
    return (a < 0) != (b < 0) ? (i64)(0 - q) : (i64)q;
}

u32 __aeabi_uidiv(u32 a, u32 b)
{
    u32 q = 0;
    int shift;

    if (b == 0 || a < b)
        return 0;
    shift = __builtin_clz(b) - __builtin_clz(a);
    b <<= shift;
    for (; shift >= 0; shift--, b >>= 1) {
        q <<= 1;
        if (a >= b) {
            a -= b;
            q |= 1;
        }
    }
    return q;
}

i32 __aeabi_idiv(i32 a, i32 b)
{
    u32 q = __aeabi_uidiv(a < 0 ? 0 - (u32)a : (u32)a, b < 0 ? 0 - (u32)b : (u32)b);

    return (a < 0) != (b < 0) ? (i32)(0 - q) : (i32)q;
}

/* Quotient in r0, remainder in r1: the low and the high word of a 64-bit result. */
u64 kiln_uidivmod(u32 a, u32 b)
{
    u32 q = __aeabi_uidiv(a, b);

    return (u64)(a - q * b) << 32 | q;
}

u64 kiln_idivmod(i32 a, i32 b)
{
    i32 q = __aeabi_idiv(a, b);

    return (u64)((u32)a - (u32)q * (u32)b) << 32 | (u32)q;
}

__asm__(
    ".text\n.arm\n.p2align 2\n"
    ".globl __aeabi_uidivmod\n.hidden __aeabi_uidivmod\n.type __aeabi_uidivmod,%function\n__aeabi_uidivmod: "
    "b kiln_uidivmod\n"
    ".globl __aeabi_idivmod\n.hidden __aeabi_idivmod\n.type __aeabi_idivmod,%function\n__aeabi_idivmod: b "
    "kiln_idivmod\n"
    /* quotient in r0:r1, remainder in r2:r3 */
    ".globl __aeabi_uldivmod\n.hidden __aeabi_uldivmod\n.type __aeabi_uldivmod,%function\n__aeabi_uldivmod:\n"
    "push {r4, lr}\nsub sp, sp, #16\nadd r4, sp, #8\nstr r4, [sp]\nbl kiln_udivmod64\nldrd r2, r3, [sp, #8]\n"
    "add sp, sp, #16\npop {r4, pc}\n"
    ".globl __aeabi_ldivmod\n.hidden __aeabi_ldivmod\n.type __aeabi_ldivmod,%function\n__aeabi_ldivmod:\n"
    "push {r4, lr}\nsub sp, sp, #16\nadd r4, sp, #8\nstr r4, [sp]\nbl kiln_divmod64\nldrd r2, r3, [sp, #8]\n"
    "add sp, sp, #16\npop {r4, pc}\n");

/* 64-bit integers to floats: the two halves are exact in a double; one rounding at the end. For float the
 * value is first made sticky at 2^-38, so that the second rounding can't differ. */
double __aeabi_ul2d(u64 v)
{
    return (double)(u32)(v >> 32) * 4294967296.0 + (double)(u32)v;
}

double __aeabi_l2d(i64 v)
{
    return (double)(i32)(v >> 32) * 4294967296.0 + (double)(u32)v;
}

static u64 sticky(u64 v)
{
    return v >> 53 ? (v & ~(u64)0x7ff) | ((v & 0x7ff) != 0 ? 0x400 : 0) : v;
}

float __aeabi_ul2f(u64 v)
{
    return (float)__aeabi_ul2d(sticky(v));
}

float __aeabi_l2f(i64 v)
{
    return v < 0 ? -__aeabi_ul2f(0 - (u64)v) : __aeabi_ul2f((u64)v);
}

u64 __aeabi_d2ulz(double v)
{
    u32 high;

    if (!(v >= 1))
        return 0;
    if (v >= 18446744073709551616.0)
        return ~(u64)0;
    high = (u32)(v * (1 / 4294967296.0));
    return (u64)high << 32 | (u32)(v - (double)high * 4294967296.0);
}

i64 __aeabi_d2lz(double v)
{
    if (v != v)
        return 0;
    if (v >= 9223372036854775808.0)
        return INT64_MAX;
    if (v < -9223372036854775808.0)
        return INT64_MIN;
    return v < 0 ? (i64)(0 - __aeabi_d2ulz(-v)) : (i64)__aeabi_d2ulz(v);
}

u64 __aeabi_f2ulz(float v)
{
    return __aeabi_d2ulz((double)v);
}

i64 __aeabi_f2lz(float v)
{
    return __aeabi_d2lz((double)v);
}

/* Helpers without the prefix __aeabi_ follow the convention of the target, which here has floats in
 * registers. */
#include "builtins.inc"

BASE float __gnu_h2f_ieee(u32 h);
BASE u32 __gnu_f2h_ieee(float x);
BASE u32 __aeabi_d2h(double x);

float __gnu_h2f_ieee(u32 h)
{
    return float_of_half((uint16_t)h);
}

u32 __gnu_f2h_ieee(float x)
{
    return half_of_double(x);
}

u32 __aeabi_d2h(double x)
{
    return half_of_double(x);
}
