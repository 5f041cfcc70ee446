/* SPDX-License-Identifier: Apache-2.0
 * buf.h - a growing byte buffer with a hard limit. One failed append makes every later one fail and
 * is seen once, at the end, by buf_ok: writers need no check per call. Not thread-safe. */
#ifndef KILN_BASE_BUF_H
#define KILN_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    unsigned char *data; /* heap; owned */
    size_t len, cap, limit;
    bool failed; /* the limit or the system's memory was reached */
};

/* Caller's storage; limit in bytes. */
void buf_init(struct buf *b, size_t limit);
void buf_done(struct buf *b);
void buf_clear(struct buf *b);

void buf_add(struct buf *b, const void *p, size_t len);
void buf_byte(struct buf *b, unsigned char c);
void buf_str(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Room for len bytes at the end, not yet counted; NULL on failure. Follow with buf_commit. */
unsigned char *buf_reserve(struct buf *b, size_t len);
void buf_commit(struct buf *b, size_t len);
/* Drop the first len bytes. */
void buf_consume(struct buf *b, size_t len);

static inline bool buf_ok(const struct buf *b)
{
    return !b->failed;
}
/* NUL-terminated view of the content (the NUL is not counted); "" on failure. */
const char *buf_cstr(struct buf *b);
/* Hand the heap block to the caller (free() it); the buffer is empty afterwards. NULL on failure. */
unsigned char *buf_take(struct buf *b, size_t *ret_len);

#endif
