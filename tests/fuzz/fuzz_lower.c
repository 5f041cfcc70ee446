/* SPDX-License-Identifier: Apache-2.0
 * fuzz_lower.c - lowering of whatever inference accepts.
 *
 * Input as for fuzz_infer: a byte of options, a signature up to a newline, then a module in wire or text
 * form. A typed program must become a module that LLVM's verifier accepts, or meet a stated limit; never an
 * internal error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>

#include "daemon/compiler/lower/lower.h"

#define LIMIT (128u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
    if (!condition)
        abort();
}

static void lower(struct arena *a, const struct program *p, unsigned options)
{
    static const unsigned char key[32] = { 0 };
    const struct lower_target t = {
        .triple = "x86_64-unknown-linux-gnu",
        .data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
        .pointer_bytes = 8,
        .abi = LOWER_ABI_SYSV_X86_64,
    };
    const struct lower_request r = { .key = key, .symbol = options & 8 && !p->n_env ? "symbol" : NULL };
    struct kiln_err e = KILN_ERR_INIT;
    struct diagnostics d = { .a = a };
    LLVMContextRef c = LLVMContextCreate();
    LLVMModuleRef m;
    if (lower_run(a, p, &t, &r, c, &m, &d, &e)) {
        if (e.code == KILN_E_INTERNAL)
            fprintf(stderr, "%s\n", e.msg);
        must(e.code != KILN_E_INTERNAL && !m);
    } else {
        char *text = NULL;
        if (LLVMVerifyModule(m, LLVMReturnStatusAction, &text))
            fprintf(stderr, "%s\n", text);
        must(!text || !text[0]);
        LLVMDisposeMessage(text);
        LLVMDisposeModule(m);
    }
    LLVMContextDispose(c);
}

static void compile(struct arena *a, const struct kir_module *m, const char *sig_text, size_t len,
                    unsigned options)
{
    struct type_table *types = type_table_new(a);
    const struct compile_options o = { .numba = options & 2,
                                       .checked = options & 4,
                                       .flags = options & 16
                                                    ? KIR_F_BOUNDSCHECK | KIR_F_NUMPY_ERRORS | KIR_F_FASTMATH
                                                    : 0 };
    const struct unit unit = { .mod = m };
    const struct type *env[4];
    struct diagnostics d = { .a = a };
    struct kiln_err e = KILN_ERR_INIT;
    struct signature sig;
    struct program *p;
    if (!types || signature_parse(types, sig_text, len, &sig, &e))
        return;
    for (unsigned i = 0; i < 4; i++)
        if (type_parse(types, "Array(float64, 1, 'C', readonly=True)", 37, &env[i], &e))
            return;
    if (infer_run(a, types, &unit, NULL, &sig, env, m->n_env, &o, &p, &d, &e) == 0)
        lower(a, p, options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kiln_err e = KILN_ERR_INIT;
    const uint8_t *line;
    struct kir_module *m;
    struct arena a;
    size_t rest;
    int rc;
    if (size < 2 || !(line = memchr(data + 1, '\n', size - 1)))
        return 0;
    rest = size - (size_t)(line + 1 - data);
    arena_init(&a, LIMIT);
    if (rest && line[1] == '(')
        rc = kir_parse(&a, (const char *)line + 1, rest, &m, &e);
    else
        rc = kir_decode(&a, line + 1, rest, &m, &e);
    if (rc == 0 && m->n_env <= 4)
        compile(&a, m, (const char *)data + 1, (size_t)(line - data - 1), data[0]);
    arena_done(&a);
    return 0;
}
