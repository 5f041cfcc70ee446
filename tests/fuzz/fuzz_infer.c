/* SPDX-License-Identifier: Apache-2.0
 * fuzz_infer.c - inference of hostile modules and signatures.
 *
 * Input: a byte of options, a signature up to a newline, then a module: in wire form, or in text form if it
 * begins with '('. Whatever is well-formed must end in a program whose reached nodes all have types, or in a
 * diagnostic. */
#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/infer/facts.h"

#define LIMIT (64u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
    if (!condition)
        abort();
}

static void check_types(const struct program *p)
{
    for (uint32_t i = 0; i < p->n_instances; i++) {
        const struct instance *in = p->instances[i];
        must(in->id == i && in->ret && in->facts);
        for (uint32_t c = 0; c < in->n_contexts; c++)
            for (uint32_t n = 0; n < in->fn->n_nodes; n++) {
                const struct fact *f = fact_at(in, c, n);
                must(!f->has_value || f->value);
                must(!f->callee ||
                     (f->callee->ret && f->n_args == f->callee->fn->n_params + f->callee->fn->n_free));
            }
        for (uint32_t k = 0; k < in->n_edges; k++)
            must(in->edges[k].local < in->fn->n_locals && in->edges[k].from && in->edges[k].to);
    }
}

static void infer(struct arena *a, const struct kir_module *m, const char *sig_text, size_t len,
                  unsigned options)
{
    struct type_table *types = type_table_new(a);
    const struct compile_options o = { .numba = options & 2, .checked = options & 4 };
    const struct unit unit = { .mod = m };
    const struct type *env[4];
    struct diagnostics d = { .a = a };
    struct kiln_err e = KILN_ERR_INIT;
    struct signature sig;
    struct program *p;
    struct buf out;
    int rc;

    if (!types || signature_parse(types, sig_text, len, &sig, &e))
        return;
    for (unsigned i = 0; i < 4; i++)
        if (type_parse(types, "Array(float64, 1, 'C', readonly=True)", 37, &env[i], &e))
            return;
    rc = infer_run(a, types, &unit, NULL, &sig, env, 4, &o, &p, &d, &e);
    must(rc == 0 ? p && !d.n : e.code != 0);
    if (rc)
        return;
    check_types(p);
    buf_init(&out, LIMIT);
    facts_print(p, &out);
    buf_done(&out);
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
    if (rc == 0)
        infer(&a, m, (const char *)data + 1, (size_t)(line - data - 1), data[0]);
    arena_done(&a);
    return 0;
}
