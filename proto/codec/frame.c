/* SPDX-License-Identifier: Apache-2.0
 * frame.c - heads of frames. */
#include "proto/codec/frame.h"

static uint64_t get(const unsigned char *p, unsigned n)
{
    uint64_t v = 0;

    for (unsigned i = n; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static void put(unsigned char *p, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

int frame_next(const unsigned char *data, size_t len, size_t most, struct frame *ret, size_t *ret_need,
               struct kiln_err *e)
{
    uint64_t body;
    uint16_t type, flags;

    if (ret_need)
        *ret_need = FRAME_HEAD;
    if (len < FRAME_HEAD)
        return 0;
    body = get(data, 4);
    type = (uint16_t)get(data + 4, 2);
    flags = (uint16_t)get(data + 6, 2);
    if (type == 0 || (flags & ~FRAME_FD))
        return kiln_err_set(e, KILN_E_WIRE_FRAME, 0, "type %u with flags 0x%x", type, flags);
    if (body > most)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "a frame of %llu bytes; the limit is %zu", (unsigned long long)body,
                            most);
    if (ret_need)
        *ret_need = FRAME_HEAD + (size_t)body;
    if (len - FRAME_HEAD < body)
        return 0;
    *ret = (struct frame){ type, flags, get(data + 8, 8), data + FRAME_HEAD, (uint32_t)body };
    return 1;
}

size_t frame_begin(struct buf *out, uint16_t type, uint16_t flags, uint64_t id)
{
    unsigned char head[FRAME_HEAD] = { 0 };
    size_t at = out->len;

    put(head + 4, type, 2);
    put(head + 6, flags, 2);
    put(head + 8, id, 8);
    buf_add(out, head, sizeof head);
    return at;
}

void frame_end(struct buf *out, size_t at)
{
    if (!buf_ok(out))
        return;
    if (out->len - at - FRAME_HEAD > UINT32_MAX)
        out->failed = true;
    else
        put(out->data + at, out->len - at - FRAME_HEAD, 4);
}
