/* SPDX-License-Identifier: Apache-2.0
 * text.c - making text: joining, repeating, padding, hashing, UTF-8. */
#include "text.h"

int32_t TEXT(concat)(host_p host, struct kiln_str *ret, text_p parts, int64_t n);
int32_t TEXT(add)(host_p host, struct kiln_str *ret, text_p a, text_p b);
int32_t TEXT(repeat)(host_p host, struct kiln_str *ret, text_p s, int64_t n);
int32_t TEXT(stride)(host_p host, struct kiln_str *ret, text_p s, int64_t start, int64_t n, int64_t step);
int32_t TEXT(join)(host_p host, struct kiln_str *ret, text_p sep, const struct kiln_list_head *list);
int32_t TEXT(chr)(host_p host, struct kiln_str *ret, int64_t c);
int32_t TEXT(pad)(host_p host, struct kiln_str *ret, text_p s, int64_t left, int64_t right, text_p fill);
int32_t TEXT(int)(host_p host, struct kiln_str *ret, int64_t v, int64_t is_unsigned);
int64_t TEXT(hash)(host_p host, text_p s);
struct kiln_mem *TEXT(utf8)(host_p host, text_p s);
int32_t TEXT(print)(host_p host, text_p s);

int32_t TEXT(concat)(host_p host, struct kiln_str *ret, text_p parts, int64_t n)
{
    int64_t total = 0, at = 0, only = -1, filled = 0;
    intptr_t width = 1;

    for (int64_t i = 0; i < n; i++) {
        total += parts[i].length;
        if (!parts[i].length)
            continue;
        only = i;
        filled++;
        width = parts[i].width > width ? parts[i].width : width;
    }
    if (filled == 1)
        return text_share(ret, &parts[only], 0, parts[only].length);
    if (text_new(host, ret, total, width))
        return 1;
    for (int64_t i = 0; i < n; i++) {
        text_copy(ret, at, &parts[i], 0, parts[i].length);
        at += parts[i].length;
    }
    return 0;
}

int32_t TEXT(add)(host_p host, struct kiln_str *ret, text_p a, text_p b)
{
    if (!a->length)
        return text_share(ret, b, 0, b->length);
    if (!b->length)
        return text_share(ret, a, 0, a->length);
    if (text_new(host, ret, (int64_t)a->length + b->length, text_wider(a, b)))
        return 1;
    text_copy(ret, 0, a, 0, a->length);
    text_copy(ret, a->length, b, 0, b->length);
    return 0;
}

int32_t TEXT(repeat)(host_p host, struct kiln_str *ret, text_p s, int64_t n)
{
    if (n <= 0 || !s->length)
        return text_new(host, ret, 0, 1);
    if (n == 1)
        return text_share(ret, s, 0, s->length);
    if (n > (INT64_MAX >> 3) / s->length)
        return 1;
    if (text_new(host, ret, s->length * n, s->width))
        return 1;
    for (int64_t i = 0; i < n; i++)
        text_copy(ret, i * s->length, s, 0, s->length);
    return 0;
}

int32_t TEXT(stride)(host_p host, struct kiln_str *ret, text_p s, int64_t start, int64_t n, int64_t step)
{
    if (text_new(host, ret, n, s->width))
        return 1;
    for (int64_t i = 0; i < n; i++)
        text_put(ret, i, text_at(s, start + i * step));
    return 0;
}

int32_t TEXT(join)(host_p host, struct kiln_str *ret, text_p sep, const struct kiln_list_head *list)
{
    text_p items = list->data;
    int64_t n = list->len, total = n ? (n - 1) * sep->length : 0, at = 0;
    intptr_t width = n > 1 ? sep->width : 1;

    if (n == 1)
        return text_share(ret, items, 0, items->length);
    for (int64_t i = 0; i < n; i++) {
        total += items[i].length;
        width = items[i].width > width ? items[i].width : width;
    }
    if (text_new(host, ret, total, width))
        return 1;
    for (int64_t i = 0; i < n; i++) {
        if (i) {
            text_copy(ret, at, sep, 0, sep->length);
            at += sep->length;
        }
        text_copy(ret, at, &items[i], 0, items[i].length);
        at += items[i].length;
    }
    return 0;
}

#define ROW(a) a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7
#define ROWS(a) ROW(a), ROW(a + 8), ROW(a + 16), ROW(a + 24), ROW(a + 32), ROW(a + 40), ROW(a + 48), ROW(a + 56)
static const uint8_t latin[256] = { ROWS(0), ROWS(64), ROWS(128), ROWS(192) };

int32_t TEXT(chr)(host_p host, struct kiln_str *ret, int64_t c)
{
    if (c >= 0 && c < 256) {
        *ret = (struct kiln_str){ NULL, latin + c, 1, 1 };
        return 0;
    }
    if (text_new(host, ret, 1, text_width_for((uint32_t)c)))
        return 1;
    text_put(ret, 0, (uint32_t)c);
    return 0;
}

int32_t TEXT(pad)(host_p host, struct kiln_str *ret, text_p s, int64_t left, int64_t right, text_p fill)
{
    uint32_t c = text_at(fill, 0);
    intptr_t width = text_width_for(c);

    left = left < 0 ? 0 : left;
    right = right < 0 ? 0 : right;
    if (!left && !right)
        return text_share(ret, s, 0, s->length);
    if (left > (INT64_MAX >> 4) || right > (INT64_MAX >> 4) ||
        text_new(host, ret, left + s->length + right, s->width > width ? s->width : width))
        return 1;
    for (int64_t i = 0; i < left; i++)
        text_put(ret, i, c);
    text_copy(ret, left, s, 0, s->length);
    for (int64_t i = 0; i < right; i++)
        text_put(ret, left + s->length + i, c);
    return 0;
}

int32_t TEXT(int)(host_p host, struct kiln_str *ret, int64_t v, int64_t is_unsigned)
{
    char buf[21];
    int negative = v < 0 && !is_unsigned, n = text_digits(negative ? 0 - (uint64_t)v : (uint64_t)v, buf + 1);

    if (negative)
        buf[20 - n++] = '-';
    return text_of_ascii(host, ret, buf + 21 - n, n);
}

/* ---- hash ---- */

static int64_t own_hash(text_p s)
{
    uint64_t h = 0x9E3779B97F4A7C15u ^ (uint64_t)s->length;

    for (intptr_t i = 0; i < s->length; i++) {
        h = (h ^ text_at(s, i)) * 0xBF58476D1CE4E5B9u;
        h ^= h >> 29;
    }
    return (int64_t)(h ^ h >> 32);
}

/* INT64_MIN marks what is no hash in prelude/hashing.py, -1 is none of Python's. */
int64_t TEXT(hash)(host_p host, text_p s)
{
    uint32_t all = 0;
    uint8_t small[256];
    struct kiln_str narrow = { NULL, small, s->length, 1 };
    struct kiln_mem *mem = NULL;
    int64_t h;

    if (!s->length)
        return 0;
    if (!host || host->size < offsetof(struct kiln_host, hash) + sizeof host->hash || !host->hash) {
        h = own_hash(s);
    } else {
        for (intptr_t i = 0; i < s->length && s->width > 1; i++)
            all |= text_at(s, i);
        narrow.width = text_width_for(all);
        if (narrow.width == s->width || s->width <= 1) {
            h = host->hash(s->data, (int64_t)s->length * s->width);
        } else {
            int64_t size = s->length * narrow.width;
            if (size > (int64_t)sizeof small && (mem = host->alloc(size)))
                narrow.data = mem->data;
            if (size > (int64_t)sizeof small && !mem)
                return own_hash(s); /* no memory: a wrong hash finds nothing, and the next allocation says why */
            text_copy(&narrow, 0, s, 0, s->length);
            h = host->hash(narrow.data, size);
            if (mem)
                mem->release(mem);
        }
    }
    return h == INT64_MIN ? 1 : h == -1 ? -2 : h;
}

/* ---- UTF-8 ---- */

static int utf8_put(uint8_t *p, uint32_t c)
{
    if (c < 0x80) {
        p[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        p[0] = (uint8_t)(0xC0 | c >> 6);
        p[1] = (uint8_t)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        p[0] = (uint8_t)(0xE0 | c >> 12);
        p[1] = (uint8_t)(0x80 | (c >> 6 & 63));
        p[2] = (uint8_t)(0x80 | (c & 63));
        return 3;
    }
    p[0] = (uint8_t)(0xF0 | c >> 18);
    p[1] = (uint8_t)(0x80 | (c >> 12 & 63));
    p[2] = (uint8_t)(0x80 | (c >> 6 & 63));
    p[3] = (uint8_t)(0x80 | (c & 63));
    return 4;
}

struct kiln_mem *TEXT(utf8)(host_p host, text_p s)
{
    uint8_t one[4];
    int64_t size = 0;
    struct kiln_mem *mem;

    for (intptr_t i = 0; i < s->length; i++)
        size += utf8_put(one, text_at(s, i));
    mem = host->alloc(size);
    if (!mem)
        return NULL;
    uint8_t *p = mem->data;
    for (intptr_t i = 0; i < s->length; i++)
        p += utf8_put(p, text_at(s, i));
    return mem;
}

/* One call for the whole text, so that lines of several threads do not mix; in pieces only where memory ended. */
int32_t TEXT(print)(host_p host, text_p s)
{
    uint8_t piece[256];
    int64_t n = 0;
    struct kiln_mem *mem = s->length > 32 ? TEXT_NAME(utf8)(host, s) : NULL;
    int32_t rc = 0;

    if (mem) {
        rc = host->print(mem->data, mem->size);
        mem->release(mem);
        return rc;
    }
    for (intptr_t i = 0; i < s->length && !rc; i++) {
        n += utf8_put(piece + n, text_at(s, i));
        if (n > 250 || i + 1 == s->length) {
            rc = host->print((const char *)piece, n);
            n = 0;
        }
    }
    return rc;
}
