/* SPDX-License-Identifier: Apache-2.0
 * fuzz_kir.c - KIR from hostile bytes and texts.
 *
 * The first byte chooses: even, the rest is a module in wire form; odd, it is a text form. Whatever is
 * accepted must come out again byte for byte, by way of the encoder and of the text form. */
#include <stdlib.h>
#include <string.h>

#include "proto/ir/kir.h"
#include "proto/ir/type.h"

#define LIMIT (64u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
    if (!condition)
        abort();
}

/* m, which was made of `bytes`, through every form. */
static void check_forms(struct arena *a, const struct kir_module *m, const unsigned char *bytes, size_t len)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct kir_module *again;
    struct buf out, text;

    buf_init(&out, LIMIT);
    buf_init(&text, LIMIT);
    must(kir_encode(m, &out, &e) == 0);
    must(!bytes || (out.len == len && !memcmp(out.data, bytes, len)));
    if (kir_print(m, &text, &e) == 0) { /* a large module's text may be past the limit */
        int rc = kir_parse(a, (const char *)text.data, text.len, &again, &e);
        must(rc == 0 || rc == -KILN_E_NOMEM || rc == -KILN_E_LIMIT);
        if (rc == 0) {
            struct buf second;
            buf_init(&second, LIMIT);
            must(kir_encode(again, &second, &e) == 0);
            must(second.len == out.len && !memcmp(second.data, out.data, out.len));
            buf_done(&second);
        }
    }
    buf_done(&out);
    buf_done(&text);
}

static void fuzz_signature(struct arena *a, const char *text, size_t len)
{
    struct type_table *t = type_table_new(a);
    struct signature s, again;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf out;

    if (!t || signature_parse(t, text, len, &s, &e))
        return;
    buf_init(&out, LIMIT);
    signature_print(&out, &s);
    must(signature_parse(t, (const char *)out.data, out.len, &again, &e) == 0 &&
         again.n_params == s.n_params && again.ret == s.ret);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;

    if (size == 0)
        return 0;
    arena_init(&a, LIMIT);
    if (data[0] % 4 == 3)
        fuzz_signature(&a, (const char *)data + 1, size - 1);
    else if (data[0] % 2) {
        if (kir_parse(&a, (const char *)data + 1, size - 1, &m, &e) == 0)
            check_forms(&a, m, NULL, 0);
    } else if (kir_decode(&a, data + 1, size - 1, &m, &e) == 0) {
        check_forms(&a, m, data + 1, size - 1);
    }
    arena_done(&a);
    return 0;
}
