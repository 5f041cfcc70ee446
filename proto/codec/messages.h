/* SPDX-License-Identifier: Apache-2.0
 * messages.h - messages as structs, generated from messages.def.
 *
 * struct msg_<text> has a member for each field: UINT uint64_t, INT int64_t, BOOL bool, STR and BIN struct
 * span, STRS and BINS `const struct span *name; uint32_t n_name`, LIST(r) `const struct msg_r *name; uint32_t
 * n_name`. Absent fields are 0, false, empty; an absent INT is -1. To send: zero the struct (MSG_INIT sets the
 * INTs), fill, msg_frame. */
#ifndef KILN_CODEC_MESSAGES_H
#define KILN_CODEC_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/codec/frame.h"

/* Text or bytes that somebody else owns. Decoded text has a NUL behind it. */
struct span {
    const char *p; /* NULL only when len is 0 */
    uint32_t len;
};
static inline struct span span_of(const void *p, size_t len)
{
    return (struct span){ p, (uint32_t)len };
}
static inline struct span span_text(const char *s)
{
    return (struct span){ s, s ? (uint32_t)strlen(s) : 0 };
}
/* Decoded text as a C string: never NULL. */
static inline const char *span_str(struct span s)
{
    return s.p ? s.p : "";
}

#define MSG_C_UINT(name) uint64_t name;
#define MSG_C_INT(name) int64_t name;
#define MSG_C_BOOL(name) bool name;
#define MSG_C_STR(name) struct span name;
#define MSG_C_BIN(name) struct span name;
#define MSG_C_STRS(name)                                                                                              \
    const struct span *name;                                                                                          \
    uint32_t n_##name;
#define MSG_C_BINS(name) MSG_C_STRS(name)
#define MSG_C_LIST(record) const struct msg_##record *MSG_C_LIST_NAME
#define MSG_C_LIST_NAME(name)                                                                                         \
    name;                                                                                                             \
    uint32_t n_##name;

#define MESSAGE(NAME, wire, text, direction) struct msg_##text {
#define RECORD(NAME, text) struct msg_##text {
#define FIELD(name, type, need) MSG_C_##type(name)
#define END(NAME)                                                                                                     \
    char end_; /* a message without fields is a struct all the same */                                                \
    }                                                                                                                 \
    ;
#include "proto/codec/messages.def"
#undef MESSAGE
#undef RECORD
#undef FIELD
#undef END

enum msg_type {
#define MESSAGE(NAME, wire, text, direction) MSG_##NAME = wire,
#define RECORD(NAME, text)
#define FIELD(name, type, need)
#define END(NAME)
#include "proto/codec/messages.def"
#undef MESSAGE
#undef RECORD
#undef FIELD
#undef END
};

/* One field, for the generic encoder, decoder and tools. */
enum msg_field_type { MSG_F_UINT, MSG_F_INT, MSG_F_BOOL, MSG_F_STR, MSG_F_BIN, MSG_F_STRS, MSG_F_BINS, MSG_F_LIST };
struct msg_desc;
struct msg_field {
    const char *name; /* NULL ends the table */
    bool required;
    enum msg_field_type type;
    const struct msg_desc *element; /* LIST */
    size_t offset, n_offset;        /* in the struct; n_offset: of the count, lists only */
};
struct msg_desc {
    const char *name;   /* "compile" */
    uint16_t type;      /* enum msg_type; 0 for a record */
    char direction;     /* C, S, W, K; 0 for a record */
    size_t size;
    const struct msg_field *(*fields)(void);
};
/* NULL for a number that is no message. */
const struct msg_desc *msg_desc(unsigned type);
/* Message or record by name; NULL if there is none. */
const struct msg_desc *msg_desc_named(const char *name);

/* Zero a message, INTs to -1. */
void msg_init(const struct msg_desc *d, void *msg);
#define MSG_INIT(type, msg) msg_init(msg_desc(type), (msg))

/* Append the body. Fails only through buf_ok(out). */
void msg_encode(const struct msg_desc *d, const void *msg, struct buf *out);
/* Append a whole frame. Returns 0, or KILN_E_LIMIT / KILN_E_NOMEM when it does not fit out. */
int msg_frame(struct buf *out, enum msg_type type, uint16_t flags, uint64_t id, const void *msg, struct kiln_err *e);

/* Decode a body into *ret (of d->size). BIN spans point into `data`, which must outlive the message; text is
 * copied to the arena. Unknown fields are skipped, a repeated one and a missing REQ one are errors, bytes behind
 * the body too. WIRE_*, LIMIT (arena). */
int msg_decode(struct arena *a, const struct msg_desc *d, const unsigned char *data, size_t len, void *ret,
               struct kiln_err *e);

#endif
