/* SPDX-License-Identifier: Apache-2.0
 * text.h - for the runtime's text functions: how lower/text_ops.c calls them, and access to code points.
 *
 * Text is read through text_at and written with text_put, whatever its width; where speed asks for it, runs of equal
 * width are copied or compared as bytes. bytes objects come as text of width 1. */
#ifndef KILN_RT_TEXT_H
#define KILN_RT_TEXT_H

#include "proto/abi/abi.h"
#include "rt.h"

/* Never inlined: called from many places, and an artifact's optimizer has enough to do. LONG: not unrolled either. */
#ifdef TEXT_PRECOMPILED /* machine code that shared objects are linked with: optimizing it anew for each would cost more
                         * time than most programs take altogether (passes.c) */
#define TEXT_NAME(name) kiln_text_##name
#define TEXT_LONG
#else
#define TEXT_NAME(name) kiln_rt_text_##name
#define TEXT_LONG __attribute__((noinline, minsize))
#endif
#define TEXT(name) __attribute__((noinline)) TEXT_NAME(name)
typedef const struct kiln_host *host_p;
typedef const struct kiln_str *text_p;

static inline uint32_t text_at(text_p s, int64_t i)
{
    if (s->width <= 1)
        return ((const uint8_t *)s->data)[i];
    return s->width == 2 ? ((const uint16_t *)s->data)[i] : ((const uint32_t *)s->data)[i];
}

static inline void text_put(struct kiln_str *s, int64_t i, uint32_t c)
{
    if (s->width <= 1)
        ((uint8_t *)(uintptr_t)s->data)[i] = (uint8_t)c;
    else if (s->width == 2)
        ((uint16_t *)(uintptr_t)s->data)[i] = (uint16_t)c;
    else
        ((uint32_t *)(uintptr_t)s->data)[i] = c;
}

static inline intptr_t text_width_for(uint32_t c)
{
    return c > 0xFFFF ? 4 : c > 0xFF ? 2 : 1;
}

static inline intptr_t text_wider(text_p a, text_p b)
{
    return a->width > b->width ? a->width : b->width;
}

/* n code points to be filled in; 1 when there is no memory. */
static inline int32_t text_new(host_p host, struct kiln_str *ret, int64_t n, intptr_t width)
{
    if (width < 1)
        width = 1;
    *ret = (struct kiln_str){ NULL, "", 0, 1 };
    if (n <= 0)
        return 0;
    struct kiln_mem *mem = n > (INT64_MAX >> 3) ? NULL : host->alloc(n * width);
    if (!mem)
        return 1;
    *ret = (struct kiln_str){ mem, mem->data, (intptr_t)n, width };
    return 0;
}

/* A part of s, which shares its memory. */
static inline int32_t text_share(struct kiln_str *ret, text_p s, int64_t start, int64_t n)
{
    *ret = *s;
    ret->data = (const char *)s->data + start * s->width;
    ret->length = (intptr_t)n;
    if (ret->owner)
        __atomic_add_fetch(&ret->owner->refs, 1, __ATOMIC_RELAXED);
    return 0;
}

/* Code points [start, start + n) of s to position at of ret, which is wide enough. */
static inline void text_copy(struct kiln_str *ret, int64_t at, text_p s, int64_t start, int64_t n)
{
    if (n <= 0)
        return;
    if (ret->width == s->width) {
        __builtin_memcpy((char *)(uintptr_t)ret->data + at * ret->width, (const char *)s->data + start * s->width,
                         (size_t)(n * s->width));
        return;
    }
    for (int64_t i = 0; i < n; i++)
        text_put(ret, at + i, text_at(s, start + i));
}

static inline int text_is_space(uint32_t c)
{
    if (c < 128)
        return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

/* start and stop as Python's methods take them, clamped to [0, n]; start may end past stop. */
static inline void text_clamp(int64_t n, int64_t *start, int64_t *stop)
{
    if (*stop > n)
        *stop = n;
    else if (*stop < 0)
        *stop = *stop + n < 0 ? 0 : *stop + n;
    if (*start < 0)
        *start = *start + n < 0 ? 0 : *start + n;
}

/* Collects ASCII, for numbers. */
struct text_out {
    char *p;
    int64_t n, cap;
};
static inline void out_char(struct text_out *o, char c)
{
    if (o->n < o->cap)
        o->p[o->n] = c;
    o->n++;
}
static inline int32_t text_of_ascii(host_p host, struct kiln_str *ret, const char *p, int64_t n)
{
    if (text_new(host, ret, n, 1))
        return 1;
    __builtin_memcpy((void *)(uintptr_t)ret->data, p, (size_t)n);
    return 0;
}

/* Decimal digits of v at the end of buf; returns how many. */
static inline int text_digits(uint64_t v, char buf[20])
{
    int n = 0;
    do {
        buf[19 - n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    return n;
}

#endif
