/* SPDX-License-Identifier: Apache-2.0
 * emit.c - passes and code generation through LLVM's C API. Nothing here maps executable memory. */
#include "daemon/compiler/target/emit.h"

#include <stdbool.h>
#include <string.h>

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#define SINGLE_MAX_BLOCKS                                                                                    \
    300 /* a larger function is left to the inliner: some passes are not linear in its size */

/* The only use is a call from another function. */
static bool called_once(LLVMValueRef f)
{
    LLVMUseRef use = LLVMGetFirstUse(f);
    LLVMValueRef call = use && !LLVMGetNextUse(use) ? LLVMGetUser(use) : NULL;

    return call && LLVMIsACallInst(call) && LLVMGetCalledValue(call) == f &&
           LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)) != f;
}

/* A function with one caller is inlined in the end anyway. Doing it first saves optimizing it twice, alone
 * and in its caller: a sixth of the optimizer's time over the benchmark's corpus. */
static void mark_single(LLVMModuleRef m)
{
    unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", 12),
             never = LLVMGetEnumAttributeKindForName("noinline", 8);
    LLVMContextRef ctx = LLVMGetModuleContext(m);

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) != LLVMInternalLinkage || !called_once(f) ||
            LLVMCountBasicBlocks(f) > SINGLE_MAX_BLOCKS ||
            LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, never))
            continue;
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(ctx, always, 0));
    }
}

int emit_optimize(LLVMModuleRef m, const struct target *t, struct kiln_err *e)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed;
    char *message;

    LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, 1);
    LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
    LLVMPassBuilderOptionsSetLoopUnrolling(options, 1);
    mark_single(m);
    failed = LLVMRunPasses(m, "always-inline,default<O3>", t->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!failed)
        return 0;
    message = LLVMGetErrorMessage(failed);
    kiln_err_set(e, KILN_E_INTERNAL, 0, "optimizer: %s", message);
    LLVMDisposeErrorMessage(message);
    return -e->code;
}

int emit_code(LLVMModuleRef m, const struct target *t, bool assembly, struct buf *out, struct kiln_err *e)
{
    LLVMMemoryBufferRef code = NULL;
    char *message = NULL;

    if (LLVMTargetMachineEmitToMemoryBuffer(t->machine, m, assembly ? LLVMAssemblyFile : LLVMObjectFile,
                                            &message, &code)) {
        kiln_err_set(e, KILN_E_COMPILE, 0, "code generation: %s", message);
        LLVMDisposeMessage(message);
        return -e->code;
    }
    buf_add(out, LLVMGetBufferStart(code), LLVMGetBufferSize(code));
    LLVMDisposeMemoryBuffer(code);
    return buf_ok(out) ? 0
                       : kiln_err_set(e, KILN_E_LIMIT, 0, "the code is larger than %zu bytes", out->limit);
}

int emit_text(LLVMModuleRef m, struct buf *out, struct kiln_err *e)
{
    char *text = LLVMPrintModuleToString(m);

    buf_add(out, text, strlen(text));
    LLVMDisposeMessage(text);
    return buf_ok(out) ? 0 : kiln_err_set(e, KILN_E_LIMIT, 0, "the IR is larger than %zu bytes", out->limit);
}
