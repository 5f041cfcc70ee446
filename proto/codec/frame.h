/* SPDX-License-Identifier: Apache-2.0
 * frame.h - the 16-byte head before each message, little-endian:
 *
 *   u32 length of the body   u16 type (messages.def)   u16 flags   u64 request id
 *
 * Flag bit 0: one descriptor travels with this frame's first byte. Other bits are 0 (refused). */
#ifndef KILN_CODEC_FRAME_H
#define KILN_CODEC_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/buf.h"
#include "proto/base/err.h"

#define FRAME_HEAD 16u
#define FRAME_FD 1u

struct frame {
    uint16_t type, flags;
    uint64_t id;
    const unsigned char *body; /* into the input */
    uint32_t body_len;
};

/* Look for one whole frame at `data`. 1: *ret is filled, FRAME_HEAD + body_len bytes are used; 0: more bytes
 * are needed (nothing is allocated or changed; *ret_need, if not NULL, is how many the frame has in all, once
 * its head is here, else FRAME_HEAD); KILN_E_WIRE_FRAME for a bad head, KILN_E_LIMIT for a body over `most`. */
int frame_next(const unsigned char *data, size_t len, size_t most, struct frame *ret, size_t *ret_need,
               struct kiln_err *e);

/* Begin a frame in out and return its offset; append the body, then end it, which fills in the length. */
size_t frame_begin(struct buf *out, uint16_t type, uint16_t flags, uint64_t id);
void frame_end(struct buf *out, size_t at);

#endif
