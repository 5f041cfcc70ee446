/* SPDX-License-Identifier: Apache-2.0
 * msgpack.c - msgpack shown as JSON, for manifests. Bytes and strings that are no text become hexadecimal. */
#include <stdlib.h>

#include "client/cli/cli.h"
#include "proto/codec/msgpack.h"

#define MAX_DEPTH 16 /* a manifest has four levels */

static json_t *value(struct mp_in *in, unsigned depth);

static json_t *hex_json(const unsigned char *p, size_t len)
{
    char *digits = malloc(2 * len + 1);
    json_t *s = digits ? json_string(hex(p, len, digits)) : NULL;

    free(digits);
    return s;
}

static json_t *text_json(const struct mp_item *item)
{
    json_t *s = json_stringn((const char *)item->s.p, item->s.len);

    return s ? s : hex_json(item->s.p, item->s.len);
}

static json_t *array_json(struct mp_in *in, uint32_t n, unsigned depth)
{
    json_t *array = json_array();

    for (uint32_t i = 0; array && i < n; i++)
        if (json_array_append_new(array, value(in, depth + 1)) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* Keys are texts; a number as a key is written as its digits. */
static json_t *map_json(struct mp_in *in, uint32_t n, unsigned depth)
{
    json_t *object = json_object();

    for (uint32_t i = 0; object && i < n; i++) {
        json_t *key = value(in, depth + 1), *v = key ? value(in, depth + 1) : NULL;
        char digits[24];
        const char *name = json_string_value(key);
        int failed;
        if (json_is_integer(key)) {
            snprintf(digits, sizeof digits, "%lld", (long long)json_integer_value(key));
            name = digits;
        }
        failed = !name || json_object_set_new(object, name, v) != 0;
        if (!name)
            json_decref(v);
        json_decref(key);
        if (failed) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *value(struct mp_in *in, unsigned depth)
{
    struct kiln_err e;
    struct mp_item item;

    if (depth > MAX_DEPTH || mp_next(in, &item, &e) < 0)
        return NULL;
    switch (item.kind) {
    case MP_NIL:
        return json_null();
    case MP_BOOL:
        return json_boolean(item.b);
    case MP_UINT:
        return json_integer((json_int_t)item.u);
    case MP_INT:
        return json_integer((json_int_t)item.i);
    case MP_FLOAT:
        return json_real(item.f);
    case MP_STR:
        return text_json(&item);
    case MP_BIN:
        return hex_json(item.s.p, item.s.len);
    case MP_ARRAY:
        return array_json(in, item.n, depth);
    case MP_MAP:
        return map_json(in, item.n, depth);
    }
    return NULL;
}

json_t *msgpack_json(const void *data, size_t len)
{
    struct mp_in in = mp_in(data, len);
    json_t *v = len ? value(&in, 0) : NULL;

    if (v && mp_left(&in)) {
        json_decref(v);
        return NULL;
    }
    return v;
}
