/* SPDX-License-Identifier: Apache-2.0
 * msgpack.h - writing msgpack into a buffer, and a bounded pull reader over a span of bytes.
 *
 * The reader never believes a count: an array of n needs at least n more bytes, a map 2 n, a string its
 * length, or the item is refused. It allocates nothing and does not recurse. It takes non-minimal numbers
 * (the writer never makes them) and refuses ext types, which Kiln has no use for. */
#ifndef KILN_CODEC_MSGPACK_H
#define KILN_CODEC_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/buf.h"
#include "proto/base/err.h"

/* ---- writing: failures show in buf_ok ---- */
void mp_put_nil(struct buf *out);
void mp_put_bool(struct buf *out, bool v);
void mp_put_uint(struct buf *out, uint64_t v);
void mp_put_int(struct buf *out, int64_t v);
void mp_put_float(struct buf *out, double v); /* float64, bits kept */
void mp_put_str(struct buf *out, const char *p, size_t len);
void mp_put_cstr(struct buf *out, const char *s);
void mp_put_bin(struct buf *out, const void *p, size_t len);
void mp_put_array(struct buf *out, uint32_t n); /* n items follow */
void mp_put_map(struct buf *out, uint32_t n);   /* n keys and values follow */

/* ---- reading ---- */
enum mp_kind { MP_NIL, MP_BOOL, MP_UINT, MP_INT /* negative */, MP_FLOAT, MP_STR, MP_BIN, MP_ARRAY, MP_MAP };

struct mp_item {
    enum mp_kind kind;
    union {
        bool b;
        uint64_t u;
        int64_t i;
        double f;
        uint32_t n; /* ARRAY: items, MAP: pairs */
        struct {
            const unsigned char *p; /* into the input */
            uint32_t len;
        } s;
    };
};

struct mp_in {
    const unsigned char *start, *p, *end;
};

static inline struct mp_in mp_in(const void *data, size_t len)
{
    const unsigned char *p = data;
    return (struct mp_in){ p, p, p ? p + len : p };
}
static inline size_t mp_left(const struct mp_in *in)
{
    return (size_t)(in->end - in->p);
}
static inline size_t mp_at(const struct mp_in *in)
{
    return (size_t)(in->p - in->start);
}

/* The next item; of arrays and maps only the head. WIRE_SHORT, WIRE_TYPE, WIRE_COUNT; in is unmoved then. */
int mp_next(struct mp_in *in, struct mp_item *ret, struct kiln_err *e);
/* Skip one whole value, however deep. */
int mp_skip(struct mp_in *in, struct kiln_err *e);
/* The next item, which must be of this kind (a UINT where an INT fits is taken by mp_int). */
int mp_uint(struct mp_in *in, uint64_t *ret, struct kiln_err *e);
int mp_int(struct mp_in *in, int64_t *ret, struct kiln_err *e);
int mp_bool(struct mp_in *in, bool *ret, struct kiln_err *e);
int mp_str(struct mp_in *in, const char **ret, uint32_t *ret_len, struct kiln_err *e); /* valid UTF-8 without NUL */
int mp_bin(struct mp_in *in, const unsigned char **ret, uint32_t *ret_len, struct kiln_err *e);
int mp_array(struct mp_in *in, uint32_t *ret_n, struct kiln_err *e);
int mp_map(struct mp_in *in, uint32_t *ret_n, struct kiln_err *e);

/* Whether bytes are well-formed UTF-8 (no surrogates, no overlong forms). */
bool utf8_valid(const unsigned char *p, size_t len);

#endif
