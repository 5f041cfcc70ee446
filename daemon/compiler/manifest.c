/* SPDX-License-Identifier: Apache-2.0
 * manifest.c - what an artifact says of itself: a msgpack map, docs/manifest.md is its grammar. Nothing in it
 * depends on when or where it was compiled, so that the same key has the same bytes. */
#include <stddef.h>
#include <string.h>

#include "daemon/compiler/compiler.h"
#include "proto/abi/abi.h"
#include "proto/codec/msgpack.h"

static void text(struct buf *out, const char *key, const char *value)
{
    mp_put_cstr(out, key);
    mp_put_cstr(out, value ? value : "");
}

static void types(struct buf *out, const char *key, struct arena *a, const struct type *const *list,
                  uint32_t n)
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

/* libmvec came later than the first glibc of x86-64; everything else of glibc.def is as old as that. */
static const char *floor_of(const struct job *j)
{
    static const char *const floors[STUB__COUNT] = { "2.2.5", "2.17", "2.4" };

    for (LLVMValueRef f = j->module ? LLVMGetFirstFunction(j->module) : NULL; f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (n < 4 || memcmp(name, "_ZGV", 4) != 0 || !LLVMIsDeclaration(f))
            continue;
        for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u))
            if (LLVMIsAInstruction(LLVMGetUser(u)))
                return "2.22";
    }
    return floors[j->target->stub];
}

/* Where each argument is in the block that kiln_entry takes, and how large the block and the result are. */
static int layouts(const struct job *j, struct buf *out, struct kiln_err *e)
{
    struct layout l = { 0, 1 };
    uint32_t at = 0, align = 1;

    mp_put_cstr(out, "offsets");
    mp_put_array(out, j->sig.n_params);
    for (uint32_t i = 0; i < j->sig.n_params; i++) {
        if (type_layout(j->sig.params[i], j->target->lower.pointer_bytes, &l, e) < 0)
            return -e->code;
        at = (at + l.align - 1) / l.align * l.align;
        mp_put_uint(out, at);
        at += l.size;
        align = l.align > align ? l.align : align;
    }
    mp_put_cstr(out, "args_bytes");
    mp_put_uint(out, (at + align - 1) / align * align);
    l.size = 0;
    if (j->ret && type_layout(j->ret, j->target->lower.pointer_bytes, &l, e) < 0)
        return -e->code;
    mp_put_cstr(out, "ret_bytes");
    mp_put_uint(out, l.size);
    return 0;
}

int manifest_write(const struct job *j, struct buf *out, struct kiln_err *e)
{
    const char *ret = j->ret ? type_text(j->a, j->ret) : NULL;
    bool laid_out = j->ret && j->req->emit == EMIT_SO;
    int r;

    mp_put_map(out, laid_out ? 17 : 14);
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
    text(out, "glibc", floor_of(j));
    text(out, "compiler", j->c->identity);
    mp_put_cstr(out, "may_raise");
    mp_put_bool(out, j->may_raise);
    r = laid_out ? layouts(j, out, e) : 0;
    if (r < 0)
        return r;
    return buf_ok(out) ? 0 : kiln_err_set(e, KILN_E_LIMIT, 0, "the manifest is too large");
}

int manifest_note(struct job *j, struct kiln_err *e)
{
    static const struct {
        uint32_t name_bytes, content_bytes, type;
        char name[8];
    } head = { 5, 0, 1, "Kiln" }; /* numbers of 32 bits in the byte order of every target: little */
    const struct buf *content = &j->res->manifest;
    uint32_t bytes;
    LLVMValueRef text, g;
    struct buf note;
    int r = manifest_write(j, &j->res->manifest, e);

    if (r < 0)
        return r;
    bytes = (uint32_t)content->len;
    buf_init(&note, 1 << 20);
    buf_add(&note, &head, sizeof head);
    buf_add(&note, content->data, content->len);
    buf_add(&note, "\0\0\0", (4 - bytes % 4) % 4);
    if (!buf_ok(&note)) {
        buf_done(&note);
        return kiln_err_set(e, KILN_E_LIMIT, 0, "the manifest is too large");
    }
    memcpy(note.data + offsetof(__typeof__(head), content_bytes), &bytes, sizeof bytes);
    text = LLVMConstStringInContext2(j->context, (const char *)note.data, note.len, 1);
    buf_done(&note);
    g = LLVMAddGlobal(j->module, LLVMTypeOf(text), "");
    LLVMSetInitializer(g, text);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetAlignment(g, 4);
    LLVMSetSection(g, ".note.kiln");
    return 0;
}
