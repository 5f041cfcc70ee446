/* SPDX-License-Identifier: Apache-2.0
 * msgpack_write.c - the shortest form of each value, as msgpack's specification numbers them. */
#include <string.h>

#include "proto/codec/msgpack.h"

/* A head byte and an n-byte big-endian number. */
static void head(struct buf *out, unsigned char byte, uint64_t v, unsigned n)
{
    unsigned char b[9];

    b[0] = byte;
    for (unsigned i = 0; i < n; i++)
        b[1 + i] = (unsigned char)(v >> (8 * (n - 1 - i)));
    buf_add(out, b, n + 1);
}

void mp_put_nil(struct buf *out)
{
    buf_byte(out, 0xc0);
}

void mp_put_bool(struct buf *out, bool v)
{
    buf_byte(out, v ? 0xc3 : 0xc2);
}

void mp_put_uint(struct buf *out, uint64_t v)
{
    if (v < 0x80)
        buf_byte(out, (unsigned char)v);
    else if (v <= 0xff)
        head(out, 0xcc, v, 1);
    else if (v <= 0xffff)
        head(out, 0xcd, v, 2);
    else if (v <= 0xffffffff)
        head(out, 0xce, v, 4);
    else
        head(out, 0xcf, v, 8);
}

void mp_put_int(struct buf *out, int64_t v)
{
    if (v >= 0)
        mp_put_uint(out, (uint64_t)v);
    else if (v >= -32)
        buf_byte(out, (unsigned char)(0x100 + v));
    else if (v >= INT8_MIN)
        head(out, 0xd0, (uint64_t)v, 1);
    else if (v >= INT16_MIN)
        head(out, 0xd1, (uint64_t)v, 2);
    else if (v >= INT32_MIN)
        head(out, 0xd2, (uint64_t)v, 4);
    else
        head(out, 0xd3, (uint64_t)v, 8);
}

void mp_put_float(struct buf *out, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    head(out, 0xcb, bits, 8);
}

void mp_put_str(struct buf *out, const char *p, size_t len)
{
    if (len > UINT32_MAX)
        out->failed = true;
    else if (len < 32)
        buf_byte(out, (unsigned char)(0xa0 | len));
    else if (len <= 0xff)
        head(out, 0xd9, len, 1);
    else if (len <= 0xffff)
        head(out, 0xda, len, 2);
    else
        head(out, 0xdb, len, 4);
    buf_add(out, p, len);
}

void mp_put_cstr(struct buf *out, const char *s)
{
    mp_put_str(out, s, strlen(s));
}

void mp_put_bin(struct buf *out, const void *p, size_t len)
{
    if (len > UINT32_MAX)
        out->failed = true;
    else if (len <= 0xff)
        head(out, 0xc4, len, 1);
    else if (len <= 0xffff)
        head(out, 0xc5, len, 2);
    else
        head(out, 0xc6, len, 4);
    buf_add(out, p, len);
}

void mp_put_array(struct buf *out, uint32_t n)
{
    if (n < 16)
        buf_byte(out, (unsigned char)(0x90 | n));
    else if (n <= 0xffff)
        head(out, 0xdc, n, 2);
    else
        head(out, 0xdd, n, 4);
}

void mp_put_map(struct buf *out, uint32_t n)
{
    if (n < 16)
        buf_byte(out, (unsigned char)(0x80 | n));
    else if (n <= 0xffff)
        head(out, 0xde, n, 2);
    else
        head(out, 0xdf, n, 4);
}
