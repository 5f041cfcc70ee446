/* SPDX-License-Identifier: Apache-2.0
 * Each allocation of encoding and decoding gets its turn to fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "proto/codec/messages.h"
#include "tests/fault/fault_alloc.h"

/* A message with every kind of field, lists in lists, and more text than a first block of the arena holds. */
static int round_trip(struct kiln_err *e)
{
    static char text[6000];
    struct span words[3] = { span_text("one"), span_text("two"), span_text("three") };
    struct msg_compile queries[40];
    struct msg_lookup lookup, *back;
    struct arena a;
    struct frame f;
    struct buf b;
    int r;

    memset(text, 't', sizeof text - 1);
    MSG_INIT(MSG_LOOKUP, &lookup);
    for (unsigned i = 0; i < 40; i++) {
        MSG_INIT(MSG_COMPILE, &queries[i]);
        queries[i].kind = span_text("kir");
        queries[i].signature = i == 20 ? span_of(text, sizeof text - 1) : span_text("int64(int64)");
        queries[i].env = words;
        queries[i].n_env = 3;
        queries[i].body = span_text("bytes");
    }
    lookup.queries = queries;
    lookup.n_queries = 40;
    buf_init(&b, 1 << 20);
    arena_init(&a, 1 << 20);
    r = msg_frame(&b, MSG_LOOKUP, 0, 1, &lookup, e);
    if (r == 0) {
        assert_int_equal(frame_next(b.data, b.len, 1 << 20, &f, NULL, e), 1);
        back = arena_alloc(&a, sizeof *back);
        r = back ? msg_decode(&a, msg_desc(MSG_LOOKUP), f.body, f.body_len, back, e) :
                   kiln_err_set(e, KILN_E_LIMIT, 0, "arena");
        if (r == 0) {
            assert_int_equal(back->n_queries, 40);
            assert_int_equal(back->queries[20].signature.len, sizeof text - 1);
            assert_string_equal(back->queries[39].env[2].p, "three");
        }
    }
    arena_done(&a);
    buf_done(&b);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    long before = fault_alloc_live(), n;

    (void)state;
    for (n = 0;; n++) {
        struct kiln_err e = KILN_ERR_INIT;
        int r;
        fault_alloc_arm(n);
        r = round_trip(&e);
        if (!fault_alloc_disarm()) {
            assert_int_equal(r, 0);
            break;
        }
        assert_int_equal(r, -KILN_E_LIMIT);
        assert_int_equal(fault_alloc_live(), before);
    }
    assert_int_equal(fault_alloc_live(), before);
    assert_true(n >= 8);
    print_message("%ld allocations failed in turn\n", n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
