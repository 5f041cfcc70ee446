/* SPDX-License-Identifier: Apache-2.0
 * compile.c - the compiler's life: made once a process, then job after job. */
#include "daemon/compiler/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/compiler.h"
#include "daemon/compiler/prelude/prelude.h"
#include "daemon/compiler/runtime/embedded.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"

#define PRELUDE_ARENA (64u << 20)

/* What goes into every key beside the request: LLVM, this build, everything embedded. */
static void identify(struct compiler *c)
{
    unsigned major, minor, patch;
    unsigned char digest[HASH_BYTES];
    char hex[2 * HASH_BYTES + 1];
    struct hash h;

    hash_init(&h);
    for (int s = 0; s < STUB__COUNT; s++) {
        hash_bytes(&h, runtime_bitcode[s].data, runtime_bitcode[s].len);
        hash_bytes(&h, runtime_builtins[s].data, runtime_builtins[s].len);
        for (int i = 0; i < 3; i++)
            hash_bytes(&h, runtime_stubs[s][i].data, runtime_stubs[s][i].len);
    }
    hash_bytes(&h, prelude_kir, prelude_kir_len);
    hash_done(&h, digest);
    hex_encode(digest, 16, hex);
    LLVMGetVersion(&major, &minor, &patch);
    snprintf(c->identity, sizeof c->identity, "kiln %s llvm %u.%u.%u runtime %s", KILN_VERSION, major, minor,
             patch, hex);
}

static int load_prelude(struct compiler *c, struct kiln_err *e)
{
    struct kir_module *m;
    int r;

    arena_init(&c->prelude_arena, PRELUDE_ARENA);
    if (!prelude_kir_len)
        return 0;
    r = kir_decode(&c->prelude_arena, prelude_kir, prelude_kir_len, &m, e);
    if (r < 0)
        return kiln_err_wrap(e, "prelude");
    c->prelude =
        (struct unit){ .mod = m, .prelude = true, .names = prelude_names, .n_names = prelude_n_names };
    return 0;
}

int compiler_new(struct compiler **ret, struct kiln_err *e)
{
    struct compiler *c = calloc(1, sizeof *c);
    int r;

    if (!c)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "compiler");
    targets_init();
    identify(c);
    r = linker_init(&c->linker, e);
    if (r == 0)
        r = load_prelude(c, e);
    if (r < 0) {
        compiler_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

void compiler_free(struct compiler *c)
{
    if (!c)
        return;
    targets_done(&c->targets);
    linker_done(&c->linker);
    arena_done(&c->prelude_arena);
    free(c);
}

const char *compiler_identity(const struct compiler *c)
{
    return c->identity;
}

const char *compiler_baseline(const struct compiler *c)
{
    (void)c;
    return TARGET_BASELINE;
}

static void complain(LLVMDiagnosticInfoRef info, void *user)
{
    struct job *j = user;
    char *text;

    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    text = LLVMGetDiagInfoDescription(info);
    snprintf(j->complaint, sizeof j->complaint, "%s", text);
    LLVMDisposeMessage(text);
}

static void job_done(struct job *j)
{
    if (j->module)
        LLVMDisposeModule(j->module);
    LLVMContextDispose(j->context);
    buf_done(&j->object);
}

int compiler_run(struct compiler *c, struct arena *a, const struct compile_request *req,
                 struct compile_result *ret, struct kiln_err *e)
{
    struct job j = { .c = c, .a = a, .req = req, .res = ret };
    int r;

    buf_init(&ret->object, (size_t)LIM_OUTPUT_BYTES);
    buf_init(&ret->manifest, 1 << 20);
    buf_init(&j.object, (size_t)LIM_OUTPUT_BYTES);
    ret->diags = (struct diagnostics){ .a = a };
    j.context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(j.context, complain, &j);
    r = job_run(&j, e);
    if (r == 0 && !ret->manifest.len) /* shared objects have theirs already: it is in them too */
        r = manifest_write(&j, &ret->manifest, e);
    job_done(&j);
    return r;
}

void compile_result_done(struct compile_result *r)
{
    buf_done(&r->object);
    buf_done(&r->manifest);
}
