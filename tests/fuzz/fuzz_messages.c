/* SPDX-License-Identifier: Apache-2.0
 * fuzz_messages.c - frames and bodies from a hostile peer.
 *
 * The input is a stream of frames. Whatever is accepted must be written and read again with the same bytes;
 * each body is also skipped as a whole, which must agree with the decoder on where it ends. */
#include <stdlib.h>
#include <string.h>

#include "proto/codec/messages.h"
#include "proto/codec/msgpack.h"

#define LIMIT (16u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
    if (!condition)
        abort();
}

static void body(const struct msg_desc *d, const struct frame *f)
{
    struct kiln_err e = KILN_ERR_INIT;
    unsigned char first[1024], again[1024];
    struct buf one, two;
    struct mp_in in;
    struct arena a;

    must(d->size <= sizeof first);
    arena_init(&a, LIMIT);
    buf_init(&one, LIMIT);
    buf_init(&two, LIMIT);
    if (msg_decode(&a, d, f->body, f->body_len, first, &e) == 0) {
        in = mp_in(f->body, f->body_len);
        must(mp_skip(&in, &e) == 0 && mp_left(&in) == 0);
        msg_encode(d, first, &one);
        must(buf_ok(&one));
        must(msg_decode(&a, d, one.data, one.len, again, &e) == 0 || e.code == KILN_E_LIMIT);
        if (!e.code) {
            msg_encode(d, again, &two);
            must(one.len == two.len && !memcmp(one.data, two.data, one.len));
        }
    } else {
        must(e.code != 0 && e.msg[0]);
    }
    buf_done(&one);
    buf_done(&two);
    arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kiln_err e = KILN_ERR_INIT;
    size_t at = 0, need;
    struct frame f;

    while (frame_next(data + at, size - at, 1 << 20, &f, &need, &e) == 1) {
        const struct msg_desc *d = msg_desc(f.type);
        must(need == FRAME_HEAD + f.body_len && need <= size - at);
        if (d)
            body(d, &f);
        at += need;
    }
    return 0;
}
