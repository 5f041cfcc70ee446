/* SPDX-License-Identifier: Apache-2.0
 * buf.c - growth by doubling up to the limit. */
#include "proto/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *b, size_t limit)
{
    memset(b, 0, sizeof *b);
    b->limit = limit;
}

void buf_done(struct buf *b)
{
    free(b->data);
    buf_init(b, b->limit);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
}

unsigned char *buf_reserve(struct buf *b, size_t len)
{
    size_t need, cap;
    unsigned char *p;

    if (b->failed || len > b->limit || b->len > b->limit - len) {
        b->failed = true;
        return NULL;
    }
    need = b->len + len;
    if (need <= b->cap && b->data)
        return b->data + b->len;
    cap = b->cap ? b->cap : 64;
    while (cap < need)
        cap = cap > b->limit / 2 ? need : cap * 2;
    p = realloc(b->data, cap);
    if (!p) {
        b->failed = true;
        return NULL;
    }
    b->data = p;
    b->cap = cap;
    return p + b->len;
}

void buf_commit(struct buf *b, size_t len)
{
    b->len += len;
}

void buf_add(struct buf *b, const void *p, size_t len)
{
    unsigned char *to = buf_reserve(b, len);

    if (to && len) {
        memcpy(to, p, len);
        b->len += len;
    }
}

void buf_byte(struct buf *b, unsigned char c)
{
    buf_add(b, &c, 1);
}

void buf_str(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    unsigned char *to;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
        return;
    }
    to = buf_reserve(b, (size_t)n + 1);
    if (!to)
        return;
    va_start(ap, fmt);
    vsnprintf((char *)to, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

void buf_consume(struct buf *b, size_t len)
{
    b->len -= len;
    if (b->len)
        memmove(b->data, b->data + len, b->len);
}

const char *buf_cstr(struct buf *b)
{
    unsigned char *to = buf_reserve(b, 1);

    if (!to)
        return "";
    *to = '\0';
    return (const char *)b->data;
}

unsigned char *buf_take(struct buf *b, size_t *ret_len)
{
    unsigned char *p = b->failed ? NULL : b->data;

    *ret_len = p ? b->len : 0;
    if (!p)
        free(b->data);
    buf_init(b, b->limit);
    return p;
}
