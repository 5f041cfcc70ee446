/* SPDX-License-Identifier: Apache-2.0
 * messages.c - tables from messages.def, and one encoder and one decoder for all messages. */
#include "proto/codec/messages.h"

#include "proto/base/limits.h"
#include "proto/codec/msgpack.h"

/* ---- tables ---- */
#define F_UINT(name) MSG_F_UINT, NULL, offsetof(T, name), 0
#define F_INT(name) MSG_F_INT, NULL, offsetof(T, name), 0
#define F_BOOL(name) MSG_F_BOOL, NULL, offsetof(T, name), 0
#define F_STR(name) MSG_F_STR, NULL, offsetof(T, name), 0
#define F_BIN(name) MSG_F_BIN, NULL, offsetof(T, name), 0
#define F_STRS(name) MSG_F_STRS, NULL, offsetof(T, name), offsetof(T, n_##name)
#define F_BINS(name) MSG_F_BINS, NULL, offsetof(T, name), offsetof(T, n_##name)
#define F_LIST(record) MSG_F_LIST, &desc_##record F_LIST_NAME /* the field's name follows as its argument */
#define F_LIST_NAME(name) , offsetof(T, name), offsetof(T, n_##name)
#define NEED_REQ true
#define NEED_OPT false

#define MESSAGE(NAME, wire, text, direction) static const struct msg_desc desc_##text;
#define RECORD(NAME, text) static const struct msg_desc desc_##text;
#define FIELD(name, type, need)
#define END(NAME)
#include "proto/codec/messages.def"
#undef MESSAGE
#undef RECORD
#undef FIELD
#undef END

/* Each table is in a function, where T can name the message's struct. */
#define TABLE(text)                                                                                                   \
    static const struct msg_field *fields_##text(void)                                                                \
    {                                                                                                                 \
        typedef struct msg_##text T __attribute__((unused));                                                          \
        static const struct msg_field fields[] = {
#define MESSAGE(NAME, wire, text, direction) TABLE(text)
#define RECORD(NAME, text) TABLE(text)
#define FIELD(name, type, need) { #name, NEED_##need, F_##type(name) },
#define END(NAME)                                                                                                     \
    { NULL, false, MSG_F_UINT, NULL, 0, 0 }                                                                           \
    }                                                                                                                 \
    ;                                                                                                                 \
    return fields;                                                                                                    \
    }
#include "proto/codec/messages.def"
#undef MESSAGE
#undef RECORD
#undef FIELD
#undef END

enum { DIR_C = 'C', DIR_S = 'S', DIR_W = 'W', DIR_K = 'K' };
#define MESSAGE(NAME, wire, text, direction)                                                                          \
    static const struct msg_desc desc_##text = { #text, wire, DIR_##direction, sizeof(struct msg_##text), fields_##text };
#define RECORD(NAME, text)                                                                                            \
    static const struct msg_desc desc_##text = { #text, 0, 0, sizeof(struct msg_##text), fields_##text };
#define FIELD(name, type, need)
#define END(NAME)
#include "proto/codec/messages.def"
#undef MESSAGE
#undef RECORD

static const struct msg_desc *const all[] = {
#define MESSAGE(NAME, wire, text, direction) &desc_##text,
#define RECORD(NAME, text) &desc_##text,
#include "proto/codec/messages.def"
#undef MESSAGE
#undef RECORD
#undef FIELD
#undef END
};
#define N_ALL (sizeof all / sizeof all[0])

const struct msg_desc *msg_desc(unsigned type)
{
    for (size_t i = 0; type && i < N_ALL; i++)
        if (all[i]->type == type)
            return all[i];
    return NULL;
}

const struct msg_desc *msg_desc_named(const char *name)
{
    for (size_t i = 0; i < N_ALL; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

/* ---- access by table ---- */
static void *at(const void *msg, size_t offset)
{
    return (unsigned char *)(size_t)msg + offset;
}

static uint32_t count_of(const struct msg_field *f, const void *msg)
{
    return *(uint32_t *)at(msg, f->n_offset);
}

void msg_init(const struct msg_desc *d, void *msg)
{
    memset(msg, 0, d->size);
    for (const struct msg_field *f = d->fields(); f->name; f++)
        if (f->type == MSG_F_INT)
            *(int64_t *)at(msg, f->offset) = -1;
}

/* ---- encoding ---- */
static bool is_default(const struct msg_field *f, const void *msg)
{
    switch (f->type) {
    case MSG_F_UINT: return *(uint64_t *)at(msg, f->offset) == 0;
    case MSG_F_INT: return *(int64_t *)at(msg, f->offset) == -1;
    case MSG_F_BOOL: return !*(bool *)at(msg, f->offset);
    case MSG_F_STR:
    case MSG_F_BIN: return ((struct span *)at(msg, f->offset))->len == 0;
    default: return count_of(f, msg) == 0;
    }
}

static void encode_field(const struct msg_field *f, const void *msg, struct buf *out)
{
    const struct span *spans;
    const unsigned char *element;
    uint32_t n;

    switch (f->type) {
    case MSG_F_UINT: mp_put_uint(out, *(uint64_t *)at(msg, f->offset)); break;
    case MSG_F_INT: mp_put_int(out, *(int64_t *)at(msg, f->offset)); break;
    case MSG_F_BOOL: mp_put_bool(out, *(bool *)at(msg, f->offset)); break;
    case MSG_F_STR:
        spans = at(msg, f->offset);
        mp_put_str(out, spans->p, spans->len);
        break;
    case MSG_F_BIN:
        spans = at(msg, f->offset);
        mp_put_bin(out, spans->p, spans->len);
        break;
    case MSG_F_STRS:
    case MSG_F_BINS:
        spans = *(const struct span *const *)at(msg, f->offset);
        n = count_of(f, msg);
        mp_put_array(out, n);
        for (uint32_t i = 0; i < n; i++) {
            if (f->type == MSG_F_STRS)
                mp_put_str(out, spans[i].p, spans[i].len);
            else
                mp_put_bin(out, spans[i].p, spans[i].len);
        }
        break;
    case MSG_F_LIST:
        element = *(const unsigned char *const *)at(msg, f->offset);
        n = count_of(f, msg);
        mp_put_array(out, n);
        for (uint32_t i = 0; i < n; i++)
            msg_encode(f->element, element + i * f->element->size, out);
        break;
    }
}

void msg_encode(const struct msg_desc *d, const void *msg, struct buf *out)
{
    uint32_t n = 0;

    for (const struct msg_field *f = d->fields(); f->name; f++)
        n += f->required || !is_default(f, msg);
    mp_put_map(out, n);
    for (const struct msg_field *f = d->fields(); f->name; f++) {
        if (!f->required && is_default(f, msg))
            continue;
        mp_put_cstr(out, f->name);
        encode_field(f, msg, out);
    }
}

int msg_frame(struct buf *out, enum msg_type type, uint16_t flags, uint64_t id, const void *msg, struct kiln_err *e)
{
    const struct msg_desc *d = msg_desc(type);
    size_t start = frame_begin(out, (uint16_t)type, flags, id);

    msg_encode(d, msg, out);
    frame_end(out, start);
    if (!buf_ok(out))
        return kiln_err_set(e, KILN_E_LIMIT, 0, "a %s message does not fit %zu bytes", d->name, out->limit);
    return 0;
}

/* ---- decoding ---- */
static int decode_map(struct arena *a, const struct msg_desc *d, struct mp_in *in, void *ret, unsigned depth,
                      struct kiln_err *e);

static int no_room(struct kiln_err *e)
{
    return kiln_err_set(e, KILN_E_LIMIT, 0, "the message needs more memory than a request may use");
}

static int decode_text(struct arena *a, struct mp_in *in, struct span *ret, struct kiln_err *e)
{
    const char *p;
    uint32_t n;
    int r = mp_str(in, &p, &n, e);

    if (r < 0)
        return r;
    ret->p = arena_dup(a, p, n);
    ret->len = n;
    return ret->p ? 0 : no_room(e);
}

static int decode_bytes(struct mp_in *in, struct span *ret, struct kiln_err *e)
{
    const unsigned char *p;
    int r = mp_bin(in, &p, &ret->len, e);

    if (r == 0)
        ret->p = (const char *)p;
    return r;
}

static int decode_spans(struct arena *a, const struct msg_field *f, struct mp_in *in, void *msg, struct kiln_err *e)
{
    struct span *spans;
    uint32_t n;
    int r = mp_array(in, &n, e);

    if (r < 0)
        return r;
    spans = arena_new_array(a, n, struct span);
    if (!spans)
        return no_room(e);
    for (uint32_t i = 0; i < n; i++) {
        r = f->type == MSG_F_STRS ? decode_text(a, in, &spans[i], e) : decode_bytes(in, &spans[i], e);
        if (r < 0)
            return r;
    }
    *(const struct span **)at(msg, f->offset) = spans;
    *(uint32_t *)at(msg, f->n_offset) = n;
    return 0;
}

static int decode_list(struct arena *a, const struct msg_field *f, struct mp_in *in, void *msg, unsigned depth,
                       struct kiln_err *e)
{
    unsigned char *items;
    uint32_t n;
    int r = mp_array(in, &n, e);

    if (r < 0)
        return r;
    items = arena_array(a, n, f->element->size);
    if (!items)
        return no_room(e);
    for (uint32_t i = 0; i < n; i++) {
        r = decode_map(a, f->element, in, items + i * f->element->size, depth + 1, e);
        if (r < 0)
            return kiln_err_wrap(e, "item %u", i);
    }
    *(void **)at(msg, f->offset) = items;
    *(uint32_t *)at(msg, f->n_offset) = n;
    return 0;
}

static int decode_field(struct arena *a, const struct msg_field *f, struct mp_in *in, void *msg, unsigned depth,
                        struct kiln_err *e)
{
    switch (f->type) {
    case MSG_F_UINT: return mp_uint(in, at(msg, f->offset), e);
    case MSG_F_INT: return mp_int(in, at(msg, f->offset), e);
    case MSG_F_BOOL: return mp_bool(in, at(msg, f->offset), e);
    case MSG_F_STR: return decode_text(a, in, at(msg, f->offset), e);
    case MSG_F_BIN: return decode_bytes(in, at(msg, f->offset), e);
    case MSG_F_STRS:
    case MSG_F_BINS: return decode_spans(a, f, in, msg, e);
    case MSG_F_LIST: return decode_list(a, f, in, msg, depth, e);
    }
    return kiln_err_set(e, KILN_E_INTERNAL, 0, "field table");
}

static const struct msg_field *find_field(const struct msg_desc *d, const char *name, uint32_t len, unsigned *ret_bit)
{
    unsigned bit = 0;

    for (const struct msg_field *f = d->fields(); f->name; f++, bit++)
        if (strlen(f->name) == len && memcmp(f->name, name, len) == 0) {
            *ret_bit = bit;
            return f;
        }
    return NULL;
}

/* Depth is bounded by messages.def: records hold records three levels down at most. */
static int decode_map(struct arena *a, const struct msg_desc *d, struct mp_in *in, void *ret, unsigned depth,
                      struct kiln_err *e)
{
    uint64_t seen = 0;
    unsigned bit = 0;
    uint32_t n;
    int r = mp_map(in, &n, e);

    if (r < 0)
        return kiln_err_wrap(e, "%s", d->name);
    if (depth > LIM_MSG_DEPTH)
        return kiln_err_set(e, KILN_E_WIRE_DEPTH, 0, "%s: more than %u levels", d->name, (unsigned)LIM_MSG_DEPTH);
    msg_init(d, ret);
    for (uint32_t i = 0; i < n; i++) {
        const struct msg_field *f;
        const char *name;
        uint32_t len;
        r = mp_str(in, &name, &len, e);
        if (r < 0)
            return kiln_err_wrap(e, "%s", d->name);
        f = find_field(d, name, len, &bit);
        if (!f) {
            r = mp_skip(in, e);
            if (r < 0)
                return kiln_err_wrap(e, "%s", d->name);
            continue;
        }
        if (seen >> bit & 1)
            return kiln_err_set(e, KILN_E_WIRE_RANGE, 0, "%s: field '%s' stands twice", d->name, f->name);
        seen |= (uint64_t)1 << bit;
        r = decode_field(a, f, in, ret, depth, e);
        if (r < 0)
            return kiln_err_wrap(e, "%s.%s", d->name, f->name);
    }
    bit = 0;
    for (const struct msg_field *f = d->fields(); f->name; f++, bit++)
        if (f->required && !(seen >> bit & 1))
            return kiln_err_set(e, KILN_E_WIRE_MISSING, 0, "%s: field '%s' is missing", d->name, f->name);
    return 0;
}

int msg_decode(struct arena *a, const struct msg_desc *d, const unsigned char *data, size_t len, void *ret,
               struct kiln_err *e)
{
    struct mp_in in = mp_in(data, len);
    int r = decode_map(a, d, &in, ret, 1, e);

    if (r == 0 && mp_left(&in))
        return kiln_err_set(e, KILN_E_WIRE_COUNT, 0, "%s: %zu bytes behind the body", d->name, mp_left(&in));
    return r;
}
