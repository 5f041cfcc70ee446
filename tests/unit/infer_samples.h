/* SPDX-License-Identifier: Apache-2.0
 * infer_samples.h - inference of a text and a signature, for tests. */
#ifndef KILN_TESTS_INFER_SAMPLES_H
#define KILN_TESTS_INFER_SAMPLES_H

#include "tests/unit/kir_samples.h"

#include "daemon/compiler/infer/facts.h"

struct inferred {
    struct arena a;
    struct unit unit;
    struct diagnostics d;
    struct program *p; /* NULL: see d and e */
    struct kiln_err e;
};

/* Types a module at a signature; env: the slots' types, split at ';', or NULL. */
static inline void infer_text(struct inferred *r, const char *text, const char *sig_text,
                              const char *env_text, struct compile_options options)
{
    const struct type *env[8];
    struct signature sig;
    struct type_table *types;
    uint32_t n_env = 0;

    *r = (struct inferred){ .e = KILN_ERR_INIT };
    arena_init(&r->a, SAMPLE_LIMIT);
    r->d.a = &r->a;
    r->unit.mod = sample_parse(&r->a, text);
    types = type_table_new(&r->a);
    assert_non_null(types);
    while (env_text && *env_text) {
        size_t n = strcspn(env_text, ";");
        assert_true(n_env < 8);
        if (type_parse(types, env_text, n, &env[n_env++], &r->e))
            fail_msg("%s", r->e.msg);
        env_text += n + (env_text[n] == ';');
    }
    if (signature_parse(types, sig_text, strlen(sig_text), &sig, &r->e))
        fail_msg("%s: %s", sig_text, r->e.msg);
    infer_run(&r->a, types, &r->unit, NULL, &sig, env, n_env, &options, &r->p, &r->d, &r->e);
    assert_true(r->p || r->d.n || r->e.code);
}

/* What came out: facts, or diagnostics one a paragraph. */
static inline void infer_print(const struct inferred *r, struct buf *out)
{
    if (r->p) {
        facts_print(r->p, out);
        return;
    }
    if (!r->d.n)
        buf_printf(out, "failure: %s\n", r->e.msg);
    for (size_t i = 0; i < r->d.n; i++) {
        const struct diagnostic *d = &r->d.items[i];
        buf_printf(out, "error at function %d %%%d: %s\n", d->function, d->node, d->message);
        if (d->hint)
            buf_printf(out, "  hint: %s\n", d->hint);
        for (uint32_t k = 0; k < d->n_notes; k++)
            buf_printf(out, "  note at function %d %%%d: %s\n", d->notes[k].function, d->notes[k].node,
                       d->notes[k].message);
    }
}

#endif
