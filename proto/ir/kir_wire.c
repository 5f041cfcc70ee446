/* SPDX-License-Identifier: Apache-2.0
 * kir_wire.c - the strict msgpack reader: shortest forms only, no maps, no extensions, no float 32. */
#include "proto/ir/kir_wire.h"

#include <stdarg.h>
#include <stdio.h>

bool kir_in_fail(struct kir_in *in, const char *fmt, ...)
{
    char msg[160];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    kiln_err_set(in->e, KILN_E_KIR_BAD, 0, "byte %zu: %s", (size_t)(in->p - in->start), msg);
    return false;
}

static uint64_t big_endian(const unsigned char *p, unsigned bytes)
{
    uint64_t v = 0;

    while (bytes--)
        v = v << 8 | *p++;
    return v;
}

/* `bytes` of payload behind the head, as a number that needs them all: at least `least`. */
static bool take_number(struct kir_in *in, unsigned bytes, uint64_t least, uint64_t *ret)
{
    if ((size_t)(in->end - in->p) < 1 + bytes)
        return kir_in_fail(in, "the module ends early");
    *ret = big_endian(in->p + 1, bytes);
    if (*ret < least)
        return kir_in_fail(in, "a number is not in its shortest form");
    in->p += 1 + bytes;
    return true;
}

static bool take_negative(struct kir_in *in, unsigned bytes, uint64_t *ret)
{
    static const int64_t most[] = { [1] = -33, [2] = -129, [4] = -32769, [8] = -2147483649 };
    int64_t v;

    if ((size_t)(in->end - in->p) < 1 + bytes)
        return kir_in_fail(in, "the module ends early");
    v = (int64_t)(big_endian(in->p + 1, bytes) << (64 - 8 * bytes)) >> (64 - 8 * bytes);
    if (v > most[bytes])
        return kir_in_fail(in, "a number is not in its shortest form");
    in->p += 1 + bytes;
    *ret = (uint64_t)v;
    return true;
}

static bool take_bytes(struct kir_in *in, enum kir_wire_kind kind, struct kir_item *ret)
{
    ret->kind = kind;
    if (ret->n > (size_t)(in->end - in->p))
        return kir_in_fail(in, "a length exceeds the bytes that follow");
    ret->p = in->p;
    in->p += ret->n;
    return true;
}

static bool take_array(struct kir_in *in, struct kir_item *ret)
{
    ret->kind = WIRE_ARRAY;
    if (ret->n > (size_t)(in->end - in->p)) /* an item has at least one byte */
        return kir_in_fail(in, "a count exceeds the bytes that follow");
    return true;
}

static bool take_float(struct kir_in *in, struct kir_item *ret)
{
    uint64_t bits = 0; /* gcc cannot see that a failure is not read */

    if (!take_number(in, 8, 0, &bits))
        return false;
    ret->kind = WIRE_FLOAT;
    memcpy(&ret->f, &bits, 8);
    return true;
}

bool kir_in_item(struct kir_in *in, struct kir_item *ret)
{
    unsigned char c;

    if (in->p == in->end)
        return kir_in_fail(in, "the module ends early");
    c = *in->p;
    if (c < 0x80 || c >= 0xe0) {
        ret->kind = c < 0x80 ? WIRE_UINT : WIRE_NINT;
        ret->n = (uint64_t)(int64_t)(signed char)c;
        in->p++;
        return true;
    }
    if ((c & 0xf0) == 0x90) {
        ret->n = c & 15u;
        in->p++;
        return take_array(in, ret);
    }
    if ((c & 0xe0) == 0xa0) {
        ret->n = c & 31u;
        in->p++;
        return take_bytes(in, WIRE_STR, ret);
    }
    ret->kind = WIRE_UINT;
    switch (c) {
    case 0xc0:
        ret->kind = WIRE_NIL;
        in->p++;
        return true;
    case 0xc2:
    case 0xc3:
        ret->kind = WIRE_BOOL;
        ret->n = c & 1u;
        in->p++;
        return true;
    case 0xc4:
        return take_number(in, 1, 0, &ret->n) && take_bytes(in, WIRE_BIN, ret);
    case 0xc5:
        return take_number(in, 2, 1u << 8, &ret->n) && take_bytes(in, WIRE_BIN, ret);
    case 0xc6:
        return take_number(in, 4, 1u << 16, &ret->n) && take_bytes(in, WIRE_BIN, ret);
    case 0xcb:
        return take_float(in, ret);
    case 0xcc:
        return take_number(in, 1, 0x80, &ret->n);
    case 0xcd:
        return take_number(in, 2, 1u << 8, &ret->n);
    case 0xce:
        return take_number(in, 4, 1u << 16, &ret->n);
    case 0xcf:
        return take_number(in, 8, 1ull << 32, &ret->n);
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        ret->kind = WIRE_NINT;
        return take_negative(in, 1u << (c - 0xd0), &ret->n);
    case 0xd9:
        return take_number(in, 1, 32, &ret->n) && take_bytes(in, WIRE_STR, ret);
    case 0xda:
        return take_number(in, 2, 1u << 8, &ret->n) && take_bytes(in, WIRE_STR, ret);
    case 0xdb:
        return take_number(in, 4, 1u << 16, &ret->n) && take_bytes(in, WIRE_STR, ret);
    case 0xdc:
        return take_number(in, 2, 16, &ret->n) && take_array(in, ret);
    case 0xdd:
        return take_number(in, 4, 1u << 16, &ret->n) && take_array(in, ret);
    default:
        return kir_in_fail(in, "KIR has no items of msgpack type 0x%02x", c);
    }
}

bool kir_in_kind(struct kir_in *in, enum kir_wire_kind kind, const char *what, struct kir_item *ret)
{
    static const char *const names[] = {
        "nil", "a bool", "an unsigned number", "a negative number", "a float 64", "a str", "bin", "an array"
    };
    const unsigned char *at = in->p;

    if (!kir_in_item(in, ret))
        return false;
    if (ret->kind == kind)
        return true;
    in->p = at;
    return kir_in_fail(in, "%s must be %s, not %s", what, names[kind], names[ret->kind]);
}

bool kir_in_array(struct kir_in *in, uint32_t n, const char *what)
{
    const unsigned char *at = in->p;
    struct kir_item item;

    if (!kir_in_kind(in, WIRE_ARRAY, what, &item))
        return false;
    if (item.n == n)
        return true;
    in->p = at;
    return kir_in_fail(in, "%s must have %u items, not %u", what, n, (unsigned)item.n);
}

bool kir_in_u32(struct kir_in *in, const char *what, uint32_t *ret)
{
    const unsigned char *at = in->p;
    struct kir_item item;

    if (in->p < in->end && *in->p < 0x80) {
        *ret = *in->p++;
        return true;
    }
    if (!kir_in_kind(in, WIRE_UINT, what, &item))
        return false;
    if (item.n < UINT32_MAX) { /* the last one is KIR_NIL */
        *ret = (uint32_t)item.n;
        return true;
    }
    in->p = at;
    return kir_in_fail(in, "%s is out of range", what);
}

bool kir_in_code(struct kir_in *in, uint32_t n, uint32_t *ret)
{
    const unsigned char *p = in->p, *end = in->end;

    for (uint32_t i = 0; i < n; i++) {
        if (p < end && *p < 0x80) {
            ret[i] = *p++;
            continue;
        }
        in->p = p;
        if (!kir_in_u32(in, "code", &ret[i]))
            return false;
        p = in->p;
    }
    in->p = p;
    return true;
}
