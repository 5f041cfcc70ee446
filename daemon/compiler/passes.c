/* SPDX-License-Identifier: Apache-2.0
 * passes.c - the compiler, as a list. Each pass reads what those before it left in the job. */
#include <stdio.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>

#include "daemon/compiler/compiler.h"
#include "daemon/compiler/runtime/embedded.h"
#include "proto/abi/abi.h"

/* ---- what both kinds of payload share ---- */

static int pass_target(struct job *j, struct kiln_err *e)
{
    return target_find(&j->c->targets, j->req->target, &j->target, e);
}

static int pass_signature(struct job *j, struct kiln_err *e)
{
    const struct type **env = arena_new_array(j->a, j->req->n_env + 1, const struct type *);
    int r;

    j->types = type_table_new(j->a);
    if (!j->types || !env)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "no memory for types");
    r = signature_parse(j->types, j->req->signature, strlen(j->req->signature), &j->sig, e);
    for (uint32_t i = 0; r == 0 && i < j->req->n_env; i++)
        r = type_parse(j->types, j->req->env[i], strlen(j->req->env[i]), &env[i], e);
    j->env = env;
    return r;
}

/* In shared objects the functions of text are machine code that is linked in, under names of their own. */
static void precompiled(struct job *j)
{
    static const char ours[] = "kiln_rt_text_";
    char name[64];

    for (LLVMValueRef f = LLVMGetFirstFunction(j->module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *is = LLVMGetValueName2(f, &n);
        if (!LLVMIsDeclaration(f) || n < sizeof ours || memcmp(is, ours, sizeof ours - 1) != 0)
            continue;
        n = (size_t)snprintf(name, sizeof name, "kiln_text_%s", is + sizeof ours - 1);
        LLVMSetValueName2(f, name, n);
        LLVMSetVisibility(f, LLVMHiddenVisibility);
    }
}

/* The optimizer sees runtime functions as it sees the user's. */
static int pass_runtime(struct job *j, struct kiln_err *e)
{
    const struct embedded *rt = &runtime_bitcode[j->target->stub];
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef runtime;
    bool needed = false;

    if (j->req->emit == EMIT_SO)
        precompiled(j);
    for (LLVMValueRef f = LLVMGetFirstFunction(j->module); f && !needed; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        needed = LLVMIsDeclaration(f) && n > 8 && memcmp(name, "kiln_rt_", 8) == 0;
    }
    if (!needed)
        return 0;
    buffer = LLVMCreateMemoryBufferWithMemoryRange((const char *)rt->data, rt->len, "runtime", 0);
    if (LLVMGetBitcodeModuleInContext2(j->context, buffer, &runtime))
        return kiln_err_set(e, KILN_E_INTERNAL, 0, "runtime bitcode: %s", j->complaint);
    LLVMSetTarget(runtime, LLVMGetTarget(j->module));
    LLVMSetDataLayout(runtime, LLVMGetDataLayoutStr(j->module));
    if (kiln_link_needed(j->module, runtime))
        return kiln_err_set(e, KILN_E_INTERNAL, 0, "linking the runtime: %s", j->complaint);
    for (LLVMValueRef f = LLVMGetFirstFunction(j->module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (n > 8 && memcmp(name, "kiln_rt_", 8) == 0) {
            if (LLVMIsDeclaration(f))
                return kiln_err_set(e, KILN_E_INTERNAL, 0, "the runtime lacks %.*s", (int)n, name);
            LLVMSetLinkage(f, LLVMInternalLinkage);
        }
    }
    return 0;
}

static int pass_text_before(struct job *j, struct kiln_err *e)
{
    if (j->req->emit != EMIT_LLVM)
        return 0;
    return emit_text(j->module, &j->res->object, e) < 0 ? -e->code : JOB_STOP;
}

static int pass_optimize(struct job *j, struct kiln_err *e)
{
    return emit_optimize(j->module, j->target, e);
}

static int pass_text_after(struct job *j, struct kiln_err *e)
{
    if (j->req->emit != EMIT_LLVM_OPT)
        return 0;
    return emit_text(j->module, &j->res->object, e) < 0 ? -e->code : JOB_STOP;
}

static int pass_note(struct job *j, struct kiln_err *e)
{
    return j->req->emit == EMIT_SO ? manifest_note(j, e) : 0;
}

static int pass_emit(struct job *j, struct kiln_err *e)
{
    bool whole = j->req->emit == EMIT_OBJ || j->req->emit == EMIT_ASM;
    int r =
        emit_code(j->module, j->target, j->req->emit == EMIT_ASM, whole ? &j->res->object : &j->object, e);

    if (r == 0 && j->complaint[0])
        return kiln_err_set(e, KILN_E_COMPILE, 0, "code generation: %.200s", j->complaint);
    return r < 0 ? r : whole ? JOB_STOP : 0;
}

static int pass_link(struct job *j, struct kiln_err *e)
{
    int r = link_shared(&j->c->linker, j->target, j->object.data, j->object.len, &j->res->object, e);

    return r < 0 ? r : artifact_check(j->res->object.data, j->res->object.len, e);
}

/* ---- KIR ---- */

static int pass_decode(struct job *j, struct kiln_err *e)
{
    struct kir_module *m;
    int r = kir_decode(j->a, j->req->body, j->req->body_len, &m, e);

    if (r < 0)
        return r;
    j->user = (struct unit){ .mod = m };
    if (m->n_env > j->req->n_env)
        return kiln_err_set(e, KILN_E_INVALID, 0,
                            "the module has %u captured arrays, the request states types of %u", m->n_env,
                            j->req->n_env);
    return 0;
}

static int pass_infer(struct job *j, struct kiln_err *e)
{
    int r = infer_run(j->a, j->types, &j->user, j->c->prelude.mod ? &j->c->prelude : NULL, &j->sig, j->env,
                      j->req->n_env, &j->req->options, &j->program, &j->res->diags, e);

    if (r < 0)
        return r;
    j->ret = j->program->instances[0]->ret;
    j->may_raise = j->program->instances[0]->may_raise;
    j->symbol = j->req->symbol;
    if (j->req->emit != EMIT_TYPED)
        return 0;
    return facts_print(j->program, &j->res->object) < 0
               ? kiln_err_set(e, KILN_E_LIMIT, 0, "the typed text is too large")
               : JOB_STOP;
}

static int pass_lower(struct job *j, struct kiln_err *e)
{
    struct lower_request r = { .key = j->req->key, .symbol = j->req->symbol };

    return lower_run(j->a, j->program, &j->target->lower, &r, j->context, &j->module, &j->res->diags, e);
}

/* Objects with a plain symbol are linked into one program: the names that every artifact has are made theirs.
 */
static int pass_object_names(struct job *j, struct kiln_err *e)
{
    static const char *const names[] = { KILN_SYM_KEY, KILN_SYM_BIND, KILN_SYM_ENTRY };
    char own[300];

    if (!j->symbol || (j->req->emit != EMIT_OBJ && j->req->emit != EMIT_ASM))
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        LLVMValueRef v = LLVMGetNamedFunction(j->module, names[i]);
        int n = snprintf(own, sizeof own, "%s_%s", names[i], j->symbol);
        if (n >= (int)sizeof own)
            return kiln_err_set(e, KILN_E_INVALID, 0, "the symbol's name is longer than 255 bytes");
        LLVMSetValueName2(v ? v : LLVMGetNamedGlobal(j->module, names[i]), own, (size_t)n);
    }
    return 0;
}

/* ---- the lists ---- */

typedef int (*pass_fn)(struct job *j, struct kiln_err *e);

static const pass_fn kir_passes[] = {
    pass_target,       pass_signature,   pass_decode,  pass_infer,    pass_lower,
    pass_object_names, pass_text_before, pass_runtime, pass_optimize, pass_text_after,
    pass_note,         pass_emit,        pass_link,    NULL
};

static const pass_fn foreign_passes[] = { pass_target,  pass_signature,   foreign_parse, foreign_check,
                                          foreign_wrap, pass_text_before, pass_optimize, pass_text_after,
                                          pass_note,    pass_emit,        pass_link,     NULL };

int job_run(struct job *j, struct kiln_err *e)
{
    const pass_fn *pass = j->req->kind == COMPILE_KIR ? kir_passes : foreign_passes;
    int r = 0;

    while (*pass && r == 0)
        r = (*pass++)(j, e);
    return r < 0 ? r : 0;
}
