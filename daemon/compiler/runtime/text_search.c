/* SPDX-License-Identifier: Apache-2.0
 * text_search.c - finding, counting, replacing, stripping. */
#include "text.h"

int64_t TEXT(find)(host_p host, text_p s, text_p sub, int64_t start, int64_t stop);
int64_t TEXT(rfind)(host_p host, text_p s, text_p sub, int64_t start, int64_t stop);
int64_t TEXT(count)(host_p host, text_p s, text_p sub, int64_t start, int64_t stop);
int32_t TEXT(replace)(host_p host, struct kiln_str *ret, text_p s, text_p old, text_p new, int64_t count);
int32_t TEXT(strip)(host_p host, struct kiln_str *ret, text_p s, text_p chars, int64_t mode);
int64_t TEXT(skip)(host_p host, text_p s, int64_t i, int64_t space);
int64_t TEXT(rskip)(host_p host, text_p s, int64_t i, int64_t space);
int64_t TEXT(line)(host_p host, text_p s, int64_t i, int64_t bytes);
int32_t TEXT(tabs)(host_p host, struct kiln_str *ret, text_p s, int64_t size);

static int matches(text_p s, int64_t at, text_p sub)
{
    if (s->width == sub->width)
        return !__builtin_memcmp((const char *)s->data + at * s->width, sub->data, (size_t)(sub->length * sub->width));
    for (intptr_t k = 0; k < sub->length; k++)
        if (text_at(s, at + k) != text_at(sub, k))
            return 0;
    return 1;
}

/* First match in [start, stop), -1 if there is none; sub is not empty. */
static int64_t forward(text_p s, text_p sub, int64_t start, int64_t stop)
{
    int64_t last = stop - sub->length;
    uint32_t first = text_at(sub, 0);

    if (s->width <= 1) {
        const uint8_t *p = s->data;
        for (int64_t i = start; i <= last; i++)
            if (p[i] == first && matches(s, i, sub))
                return i;
        return -1;
    }
    for (int64_t i = start; i <= last; i++)
        if (text_at(s, i) == first && matches(s, i, sub))
            return i;
    return -1;
}

int64_t TEXT(find)(host_p host, text_p s, text_p sub, int64_t start, int64_t stop)
{
    (void)host;
    text_clamp(s->length, &start, &stop);
    if (stop - start < sub->length)
        return -1;
    return sub->length ? forward(s, sub, start, stop) : start;
}

int64_t TEXT(rfind)(host_p host, text_p s, text_p sub, int64_t start, int64_t stop)
{
    (void)host;
    text_clamp(s->length, &start, &stop);
    for (int64_t i = stop - sub->length; i >= start; i--)
        if (matches(s, i, sub))
            return i;
    return -1;
}

int64_t TEXT(count)(host_p host, text_p s, text_p sub, int64_t start, int64_t stop)
{
    int64_t n = 0;

    (void)host;
    text_clamp(s->length, &start, &stop);
    if (stop - start < sub->length)
        return 0;
    if (!sub->length)
        return stop - start + 1;
    for (int64_t i = start; (i = forward(s, sub, i, stop)) >= 0; i += sub->length)
        n++;
    return n;
}

/* new between all code points, count times at most. */
static int32_t interleave(host_p host, struct kiln_str *ret, text_p s, text_p new, int64_t n)
{
    int64_t at = 0;

    if (text_new(host, ret, s->length + n * new->length, text_wider(s, new)))
        return 1;
    for (intptr_t i = 0; i <= s->length; i++) {
        if (i < n) {
            text_copy(ret, at, new, 0, new->length);
            at += new->length;
        }
        if (i < s->length)
            text_put(ret, at++, text_at(s, i));
    }
    return 0;
}

int32_t TEXT(replace)(host_p host, struct kiln_str *ret, text_p s, text_p old, text_p new, int64_t count)
{
    int64_t n = count ? TEXT_NAME(count)(host, s, old, 0, s->length) : 0, at = 0, from = 0;

    if (count >= 0 && n > count)
        n = count;
    if (!n)
        return text_share(ret, s, 0, s->length);
    if (!old->length)
        return interleave(host, ret, s, new, n);
    if (text_new(host, ret, s->length + n * ((int64_t)new->length - old->length), text_wider(s, new)))
        return 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = forward(s, old, from, s->length);
        text_copy(ret, at, s, from, i - from);
        at += i - from;
        text_copy(ret, at, new, 0, new->length);
        at += new->length;
        from = i + old->length;
    }
    text_copy(ret, at, s, from, s->length - from);
    return 0;
}

enum { STRIP_LEFT = 1, STRIP_RIGHT = 2, STRIP_SPACE = 4 };

static int is_stripped(uint32_t c, text_p chars, int64_t mode)
{
    if (mode & STRIP_SPACE)
        return text_is_space(c);
    for (intptr_t i = 0; i < chars->length; i++)
        if (text_at(chars, i) == c)
            return 1;
    return 0;
}

int32_t TEXT(strip)(host_p host, struct kiln_str *ret, text_p s, text_p chars, int64_t mode)
{
    int64_t start = 0, stop = s->length;

    (void)host;
    while (mode & STRIP_LEFT && start < stop && is_stripped(text_at(s, start), chars, mode))
        start++;
    while (mode & STRIP_RIGHT && start < stop && is_stripped(text_at(s, stop - 1), chars, mode))
        stop--;
    return text_share(ret, s, start, stop - start);
}

/* The first position from i on where being whitespace is not `space`; the length if there is none. */
int64_t TEXT(skip)(host_p host, text_p s, int64_t i, int64_t space)
{
    (void)host;
    while (i < s->length && text_is_space(text_at(s, i)) == space)
        i++;
    return i;
}

/* The same before i, downwards: the position behind the first one. */
int64_t TEXT(rskip)(host_p host, text_p s, int64_t i, int64_t space)
{
    (void)host;
    while (i > 0 && text_is_space(text_at(s, i - 1)) == space)
        i--;
    return i;
}

/* Where the line that i is in ends. */
int64_t TEXT(line)(host_p host, text_p s, int64_t i, int64_t bytes)
{
    (void)host;
    for (; i < s->length; i++) {
        uint32_t c = text_at(s, i);
        if (c == '\n' || c == '\r')
            break;
        if (!bytes && (c == 11 || c == 12 || (c >= 28 && c <= 30) || c == 0x85 || c == 0x2028 || c == 0x2029))
            break;
    }
    return i;
}

/* str.expandtabs: columns begin anew after each line. */
int32_t TEXT(tabs)(host_p host, struct kiln_str *ret, text_p s, int64_t size)
{
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0, column = 0;
        for (intptr_t i = 0; i < s->length; i++) {
            uint32_t c = text_at(s, i);
            if (c != '\t') {
                if (pass)
                    text_put(ret, at, c);
                at++;
                column = c == '\n' || c == '\r' ? 0 : column + 1;
                continue;
            }
            int64_t n = size > 0 ? size - column % size : 0;
            column += n;
            if (at > (INT64_MAX >> 4) - n)
                return 1;
            for (; pass && n > 0; n--)
                text_put(ret, at++, ' ');
            at += n;
        }
        if (!pass && text_new(host, ret, at, s->width))
            return 1;
    }
    return 0;
}
