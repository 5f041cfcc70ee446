/* SPDX-License-Identifier: Apache-2.0
 * kir_samples.h - helpers of the KIR tests. */
#ifndef KILN_TESTS_KIR_SAMPLES_H
#define KILN_TESTS_KIR_SAMPLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/ir/kir.h"

#define SAMPLE_LIMIT (64u << 20)

/* Parse a text that must be fine. */
static inline struct kir_module *sample_parse(struct arena *a, const char *text)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct kir_module *m = NULL;

    if (kir_parse(a, text, strlen(text), &m, &e))
        fail_msg("%s\nin %s", e.msg, text);
    return m;
}

static inline void sample_encode(const struct kir_module *m, struct buf *out)
{
    struct kiln_err e = KILN_ERR_INIT;

    buf_init(out, SAMPLE_LIMIT);
    if (kir_encode(m, out, &e))
        fail_msg("%s", e.msg);
}

#endif
