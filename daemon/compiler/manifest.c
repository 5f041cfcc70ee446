/* SPDX-License-Identifier: Apache-2.0
 * manifest.c - what an artifact says of itself: a msgpack map, docs/manifest.md is its grammar. Nothing in it
 * depends on when or where it was compiled, so that the same key has the same bytes. */
#include <string.h>

#include "daemon/compiler/compiler.h"
#include "proto/abi/abi.h"
#include "proto/codec/msgpack.h"

static void text(struct buf *out, const char *key, const char *value)
{
    mp_put_cstr(out, key);
    mp_put_cstr(out, value ? value : "");
}

static void types(struct buf *out, const char *key, struct arena *a, const struct type *const *list, uint32_t n)
{
    mp_put_cstr(out, key);
    mp_put_array(out, n);
    for (uint32_t i = 0; i < n; i++) {
        const char *s = type_text(a, list[i]);
        mp_put_cstr(out, s ? s : "");
    }
}

/* The level, then each added feature; removed ones ask nothing of the CPU. */
static void isa(struct buf *out, const struct target *t)
{
    const char *p = t->text + strlen(t->name);
    uint32_t n = 1;

    for (const char *q = p; *q; q++)
        n += *q == '+';
    mp_put_cstr(out, "isa");
    mp_put_array(out, n);
    mp_put_cstr(out, t->name);
    while (*p) {
        size_t len = 1 + strcspn(p + 1, "+-");
        if (*p == '+')
            mp_put_str(out, p + 1, len - 1);
        p += len;
    }
}

static const char *signature_text(const struct job *j)
{
    struct buf b;
    const char *s;

    buf_init(&b, 1 << 20);
    signature_print(&b, &j->sig);
    s = arena_dup(j->a, b.data, b.len);
    buf_done(&b);
    return s;
}

int manifest_write(const struct job *j, struct buf *out, struct kiln_err *e)
{
    static const char *const floors[STUB__COUNT] = { "2.2.5", "2.17", "2.4" };
    const char *ret = j->ret ? type_text(j->a, j->ret) : NULL;

    mp_put_map(out, 13);
    mp_put_cstr(out, "abi");
    mp_put_uint(out, KILN_ABI_VERSION);
    mp_put_cstr(out, "key");
    mp_put_bin(out, j->req->key, KILN_KEY_BYTES);
    text(out, "kind", j->req->kind == COMPILE_KIR ? "kir" : "bitcode");
    text(out, "entry", j->req->emit == EMIT_SO ? KILN_SYM_ENTRY : "");
    text(out, "symbol", j->symbol);
    text(out, "signature", signature_text(j));
    types(out, "params", j->a, j->sig.params, j->sig.n_params);
    text(out, "ret", ret);
    types(out, "env", j->a, j->env, j->req->n_env);
    text(out, "target", j->target->text);
    isa(out, j->target);
    text(out, "glibc", floors[j->target->stub]);
    mp_put_cstr(out, "may_raise");
    mp_put_bool(out, j->may_raise);
    return buf_ok(out) ? 0 : kiln_err_set(e, KILN_E_LIMIT, 0, "the manifest is too large");
}
