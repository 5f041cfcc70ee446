/* SPDX-License-Identifier: Apache-2.0
 * msgpack_read.c - one item at a time, every announced size compared with what is left. */
#include <string.h>

#include "proto/codec/msgpack.h"

static uint64_t big_endian(const unsigned char *p, unsigned n)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

static int64_t sign_extend(uint64_t v, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;

    return (int64_t)(v << shift) >> shift;
}

/* How an item's head is read: extra bytes of number, and what the number means. */
enum meaning { M_VALUE, M_SIGNED, M_FLOAT32, M_FLOAT64, M_STR, M_BIN, M_ARRAY, M_MAP, M_BAD };
struct shape {
    unsigned char extra;
    enum meaning meaning;
};
static const struct shape shapes[] = {
    /* 0xc4 */ { 1, M_BIN },     { 2, M_BIN },     { 4, M_BIN },    { 1, M_BAD },    { 2, M_BAD },    { 4, M_BAD },
    /* 0xca */ { 4, M_FLOAT32 }, { 8, M_FLOAT64 }, { 1, M_VALUE },  { 2, M_VALUE },  { 4, M_VALUE },  { 8, M_VALUE },
    /* 0xd0 */ { 1, M_SIGNED },  { 2, M_SIGNED },  { 4, M_SIGNED }, { 8, M_SIGNED }, { 1, M_BAD },    { 2, M_BAD },
    /* 0xd6 */ { 4, M_BAD },     { 8, M_BAD },     { 16, M_BAD },   { 1, M_STR },    { 2, M_STR },    { 4, M_STR },
    /* 0xdc */ { 2, M_ARRAY },   { 4, M_ARRAY },   { 2, M_MAP },    { 4, M_MAP },
};

/* Take n as the count of `kind`, of which each needs `each` more bytes behind `p`. */
static int counted(struct mp_in *in, const unsigned char *p, enum mp_kind kind, uint64_t n, unsigned each,
                   struct mp_item *ret, struct kiln_err *e)
{
    if (n > (uint64_t)(in->end - p) / each)
        return kiln_err_set(e, KILN_E_WIRE_COUNT, 0, "at byte %zu: %llu announced, %zu bytes left", mp_at(in),
                            (unsigned long long)n, (size_t)(in->end - p));
    ret->kind = kind;
    if (kind == MP_STR || kind == MP_BIN) {
        ret->s.p = p;
        ret->s.len = (uint32_t)n;
        p += n;
    } else {
        ret->n = (uint32_t)n;
    }
    in->p = p;
    return 0;
}

int mp_next(struct mp_in *in, struct mp_item *ret, struct kiln_err *e)
{
    const unsigned char *p = in->p;
    const struct shape *shape;
    unsigned char c;
    uint64_t v;

    if (p == in->end)
        return kiln_err_set(e, KILN_E_WIRE_SHORT, 0, "ends at byte %zu", mp_at(in));
    c = *p++;
    if (c < 0x80) {
        *ret = (struct mp_item){ .kind = MP_UINT, .u = c };
    } else if (c >= 0xe0) {
        *ret = (struct mp_item){ .kind = MP_INT, .i = (int64_t)c - 0x100 };
    } else if (c < 0x90) {
        return counted(in, p, MP_MAP, c & 15, 2, ret, e);
    } else if (c < 0xa0) {
        return counted(in, p, MP_ARRAY, c & 15, 1, ret, e);
    } else if (c < 0xc0) {
        return counted(in, p, MP_STR, c & 31, 1, ret, e);
    } else if (c == 0xc0) {
        *ret = (struct mp_item){ .kind = MP_NIL };
    } else if (c == 0xc2 || c == 0xc3) {
        *ret = (struct mp_item){ .kind = MP_BOOL, .b = c == 0xc3 };
    } else if (c == 0xc1) {
        return kiln_err_set(e, KILN_E_WIRE_TYPE, 0, "at byte %zu: 0xc1 is no msgpack", mp_at(in));
    } else {
        shape = &shapes[c - 0xc4];
        if (shape->meaning == M_BAD)
            return kiln_err_set(e, KILN_E_WIRE_TYPE, 0, "at byte %zu: ext types are not used", mp_at(in));
        if (in->end - p < shape->extra)
            return kiln_err_set(e, KILN_E_WIRE_SHORT, 0, "ends inside the item at byte %zu", mp_at(in));
        v = big_endian(p, shape->extra);
        p += shape->extra;
        switch (shape->meaning) {
        case M_STR: return counted(in, p, MP_STR, v, 1, ret, e);
        case M_BIN: return counted(in, p, MP_BIN, v, 1, ret, e);
        case M_ARRAY: return counted(in, p, MP_ARRAY, v, 1, ret, e);
        case M_MAP: return counted(in, p, MP_MAP, v, 2, ret, e);
        case M_SIGNED:
            ret->i = sign_extend(v, shape->extra);
            ret->kind = ret->i < 0 ? MP_INT : MP_UINT; /* a non-negative int64 has the same bits as uint64 */
            break;
        case M_FLOAT32: {
            uint32_t bits = (uint32_t)v;
            float f;
            memcpy(&f, &bits, sizeof f);
            *ret = (struct mp_item){ .kind = MP_FLOAT, .f = f };
            break;
        }
        case M_FLOAT64:
            ret->kind = MP_FLOAT;
            memcpy(&ret->f, &v, sizeof v);
            break;
        default: *ret = (struct mp_item){ .kind = MP_UINT, .u = v }; break;
        }
    }
    in->p = p;
    return 0;
}

int mp_skip(struct mp_in *in, struct kiln_err *e)
{
    uint64_t open = 1; /* values still to be read; bounded by the bytes, as each count was checked */
    struct mp_item item;
    int r;

    while (open) {
        r = mp_next(in, &item, e);
        if (r < 0)
            return r;
        open--;
        if (item.kind == MP_ARRAY)
            open += item.n;
        else if (item.kind == MP_MAP)
            open += 2 * (uint64_t)item.n;
    }
    return 0;
}

static const char *const kind_names[] = { "nil",    "bool",   "number", "negative number", "float",
                                          "string", "binary", "array",  "map" };

static int expect(struct mp_in *in, enum mp_kind kind, struct mp_item *ret, struct kiln_err *e)
{
    const unsigned char *at = in->p;
    int r = mp_next(in, ret, e);

    if (r < 0)
        return r;
    if (ret->kind != kind) {
        in->p = at;
        return kiln_err_set(e, KILN_E_WIRE_TYPE, 0, "at byte %zu: %s where %s is expected", mp_at(in),
                            kind_names[ret->kind], kind_names[kind]);
    }
    return 0;
}

int mp_uint(struct mp_in *in, uint64_t *ret, struct kiln_err *e)
{
    struct mp_item item;
    int r = expect(in, MP_UINT, &item, e);

    if (r == 0)
        *ret = item.u;
    return r;
}

int mp_int(struct mp_in *in, int64_t *ret, struct kiln_err *e)
{
    const unsigned char *at = in->p;
    struct mp_item item;
    int r = mp_next(in, &item, e);

    if (r < 0)
        return r;
    if (item.kind == MP_INT || (item.kind == MP_UINT && item.u <= INT64_MAX)) {
        *ret = item.i;
        return 0;
    }
    in->p = at;
    return kiln_err_set(e, item.kind == MP_UINT ? KILN_E_WIRE_RANGE : KILN_E_WIRE_TYPE, 0,
                        "at byte %zu: %s where a signed number is expected", mp_at(in), kind_names[item.kind]);
}

int mp_bool(struct mp_in *in, bool *ret, struct kiln_err *e)
{
    struct mp_item item;
    int r = expect(in, MP_BOOL, &item, e);

    if (r == 0)
        *ret = item.b;
    return r;
}

int mp_str(struct mp_in *in, const char **ret, uint32_t *ret_len, struct kiln_err *e)
{
    const unsigned char *at = in->p;
    struct mp_item item;
    int r = expect(in, MP_STR, &item, e);

    if (r < 0)
        return r;
    if (memchr(item.s.p, 0, item.s.len) || !utf8_valid(item.s.p, item.s.len)) {
        in->p = at;
        return kiln_err_set(e, KILN_E_WIRE_TYPE, 0, "at byte %zu: the string is not UTF-8 text", mp_at(in));
    }
    *ret = (const char *)item.s.p;
    *ret_len = item.s.len;
    return 0;
}

int mp_bin(struct mp_in *in, const unsigned char **ret, uint32_t *ret_len, struct kiln_err *e)
{
    struct mp_item item;
    int r = expect(in, MP_BIN, &item, e);

    if (r == 0) {
        *ret = item.s.p;
        *ret_len = item.s.len;
    }
    return r;
}

int mp_array(struct mp_in *in, uint32_t *ret_n, struct kiln_err *e)
{
    struct mp_item item;
    int r = expect(in, MP_ARRAY, &item, e);

    if (r == 0)
        *ret_n = item.n;
    return r;
}

int mp_map(struct mp_in *in, uint32_t *ret_n, struct kiln_err *e)
{
    struct mp_item item;
    int r = expect(in, MP_MAP, &item, e);

    if (r == 0)
        *ret_n = item.n;
    return r;
}

bool utf8_valid(const unsigned char *p, size_t len)
{
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    size_t i = 0;

    while (i < len) {
        unsigned char c = p[i++];
        unsigned more = c < 0x80 ? 0 : (c & 0xe0) == 0xc0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : (c & 0xf8) == 0xf0 ? 3 : 9;
        uint32_t v = more == 0 ? c : c & (0x3fu >> more);
        if (more > 3 || len - i < more)
            return false;
        for (unsigned k = 0; k < more; k++, i++) {
            if ((p[i] & 0xc0) != 0x80)
                return false;
            v = v << 6 | (p[i] & 0x3f);
        }
        if (v < least[more] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
            return false;
    }
    return true;
}
