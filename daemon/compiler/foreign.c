/* SPDX-License-Identifier: Apache-2.0
 * foreign.c - LLVM IR from somebody else: read it, hold it against what the request says, wrap it.
 *
 * The module is data until it has been checked: it may be no LLVM IR at all, may lie about its entry, its
 * signature or its data layout, or may want things that an artifact must not have. */
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>

#include "daemon/compiler/compiler.h"
#include "proto/abi/abi.h"

int foreign_parse(struct job *j, struct kiln_err *e)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)j->req->body, j->req->body_len, "module");
    char *message = NULL;

    if (LLVMParseIRInContext(j->context, buffer, &j->module,
                             &message)) { /* bitcode or text; takes the buffer */
        kiln_err_set(e, KILN_E_MODULE_BAD, 0, "%.200s", message ? message : j->complaint);
        LLVMDisposeMessage(message);
        j->module = NULL;
        return -e->code;
    }
    if (j->complaint[0])
        return kiln_err_set(e, KILN_E_MODULE_BAD, 0, "%.200s", j->complaint);
    message = NULL;
    if (LLVMVerifyModule(j->module, LLVMReturnStatusAction, &message)) {
        kiln_err_set(e, KILN_E_MODULE_BAD, 0, "the module is broken: %.200s", message);
        LLVMDisposeMessage(message);
        return -e->code;
    }
    LLVMDisposeMessage(message);
    return 0;
}

/* ---- checks ---- */

static int check_layout(struct job *j, struct kiln_err *e)
{
    const char *triple = LLVMGetTarget(j->module), *layout = LLVMGetDataLayoutStr(j->module);
    const char *arch = *triple ? target_arch_of(triple) : NULL;

    if (*triple && (!arch || strcmp(target_arch_of(j->target->triple), arch) != 0))
        return kiln_err_set(e, KILN_E_MODULE_BAD, 0, "the module is for %.60s, the request for %s", triple,
                            j->target->triple);
    /* typed-pointer producers (clang 14) lack a few entries that don't matter for code: LLVM's own upgrade
     * adds them */
    if (*layout && strcmp(layout, j->target->layout) != 0) {
        LLVMTargetDataRef theirs = LLVMCreateTargetData(layout),
                          ours = LLVMCreateTargetData(j->target->layout);
        bool same =
            LLVMPointerSize(theirs) == LLVMPointerSize(ours) && LLVMByteOrder(theirs) == LLVMByteOrder(ours);
        LLVMTypeRef probes[] = { LLVMInt64TypeInContext(j->context), LLVMDoubleTypeInContext(j->context) };
        for (size_t i = 0; same && i < sizeof probes / sizeof probes[0]; i++)
            same = LLVMABIAlignmentOfType(theirs, probes[i]) == LLVMABIAlignmentOfType(ours, probes[i]);
        LLVMDisposeTargetData(theirs);
        LLVMDisposeTargetData(ours);
        if (!same)
            return kiln_err_set(e, KILN_E_MODULE_BAD, 0,
                                "the module's data layout is '%.80s', the target's is '%.80s'", layout,
                                j->target->layout);
    }
    LLVMSetTarget(j->module, j->target->triple);
    LLVMSetDataLayout(j->module, j->target->layout);
    return 0;
}

/* What a parameter or result of this type looks like in LLVM; NULL when the wrapper can't pass it. */
static LLVMTypeRef llvm_type(struct job *j, const struct type *t)
{
    switch (t->kind) {
    case TY_NONE:
        return LLVMVoidTypeInContext(j->context);
    case TY_BOOL:
    case TY_INT8:
    case TY_UINT8:
        return LLVMInt8TypeInContext(j->context);
    case TY_INT16:
    case TY_UINT16:
        return LLVMInt16TypeInContext(j->context);
    case TY_INT32:
    case TY_UINT32:
        return LLVMInt32TypeInContext(j->context);
    case TY_INT64:
    case TY_UINT64:
    case TY_PYINT:
        return LLVMInt64TypeInContext(j->context);
    case TY_FLOAT32:
        return LLVMFloatTypeInContext(j->context);
    case TY_FLOAT64:
    case TY_PYFLOAT:
        return LLVMDoubleTypeInContext(j->context);
    case TY_POINTER:
        return LLVMPointerTypeInContext(j->context, 0);
    default:
        return NULL;
    }
}

static bool same_shape(LLVMTypeRef have, LLVMTypeRef want, const struct type *t)
{
    if (t->kind == TY_BOOL && LLVMGetTypeKind(have) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(have) == 1)
        return true;
    return have == want;
}

static int bad_type(struct job *j, LLVMTypeRef have, const struct type *t, const char *what, uint32_t i,
                    struct kiln_err *e)
{
    char *text = LLVMPrintTypeToString(have);

    kiln_err_set(e, KILN_E_MODULE_BAD, 0, "%s %u of '%.60s' is %.40s in the module, %.60s in the signature",
                 what, i, j->req->entry, text, type_text(j->a, t));
    LLVMDisposeMessage(text);
    return -e->code;
}

/* These change where an argument travels: with them, a pointer is not what the signature says. */
static int check_attributes(struct job *j, LLVMValueRef f, struct kiln_err *e)
{
    static const char *const refused[] = { "byval", "byref", "sret",      "inalloca",   "preallocated",
                                           "inreg", "nest",  "swiftself", "swifterror", "swiftasync" };

    for (unsigned i = 0; i <= j->sig.n_params; i++) /* index 0 is the result */
        for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(refused[k], strlen(refused[k]));
            if (LLVMGetEnumAttributeAtIndex(f, i, kind))
                return kiln_err_set(e, KILN_E_MODULE_BAD, 0,
                                    "parameter %u of '%.60s' has the attribute %s: structs can't be passed, "
                                    "pointers to them can",
                                    i, j->req->entry, refused[k]);
        }
    return 0;
}

static int check_entry(struct job *j, struct kiln_err *e)
{
    LLVMValueRef f = j->req->entry ? LLVMGetNamedFunction(j->module, j->req->entry) : NULL;
    const struct type *ret = j->sig.ret ? j->sig.ret : type_scalar(j->types, TY_NONE);
    LLVMTypeRef type, params[SIGNATURE_MAX_PARAMS], want;
    int r;

    if (!f)
        return kiln_err_set(e, KILN_E_MODULE_BAD, 0, "the module has no function '%.80s'",
                            j->req->entry ? j->req->entry : "");
    if (LLVMIsDeclaration(f))
        return kiln_err_set(e, KILN_E_MODULE_BAD, 0, "'%.80s' is declared in the module, but not defined",
                            j->req->entry);
    type = LLVMGlobalGetValueType(f);
    if (LLVMIsFunctionVarArg(type))
        return kiln_err_set(e, KILN_E_MODULE_BAD, 0, "'%.80s' takes a variable number of arguments",
                            j->req->entry);
    if (LLVMGetFunctionCallConv(f) != LLVMCCallConv)
        return kiln_err_set(e, KILN_E_MODULE_BAD, 0, "'%.80s' does not use the C calling convention",
                            j->req->entry);
    if (LLVMCountParamTypes(type) != j->sig.n_params)
        return kiln_err_set(e, KILN_E_MODULE_BAD, 0,
                            "'%.80s' has %u parameters in the module, %u in the signature", j->req->entry,
                            LLVMCountParamTypes(type), j->sig.n_params);
    r = check_attributes(j, f, e);
    if (r < 0)
        return r;
    LLVMGetParamTypes(type, params);
    for (uint32_t i = 0; i < j->sig.n_params; i++) {
        want = llvm_type(j, j->sig.params[i]);
        if (!want || j->sig.params[i]->kind == TY_NONE)
            return kiln_err_set(e, KILN_E_SIGNATURE, 0,
                                "parameter %u: %.80s can't be passed to LLVM IR (numbers and pointers can)",
                                i + 1, type_text(j->a, j->sig.params[i]));
        if (!same_shape(params[i], want, j->sig.params[i]))
            return bad_type(j, params[i], j->sig.params[i], "parameter", i + 1, e);
    }
    want = llvm_type(j, ret);
    if (!want)
        return kiln_err_set(e, KILN_E_SIGNATURE, 0,
                            "result: %.80s can't come from LLVM IR (numbers and pointers can)",
                            type_text(j->a, ret));
    if (!same_shape(LLVMGetReturnType(type), want, ret))
        return bad_type(j, LLVMGetReturnType(type), ret, "result", 0, e);
    j->ret = ret;
    return 0;
}

/* Things that run or bind before anybody asked. */
static int check_globals(struct job *j, struct kiln_err *e)
{
    static const char *const refused[] = { "llvm.global_ctors", "llvm.global_dtors" };
    static const char *const reserved[] = { KILN_SYM_KEY, KILN_SYM_BIND, KILN_SYM_ENTRY };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        LLVMValueRef g = LLVMGetNamedGlobal(j->module, refused[i]);
        LLVMValueRef list = g ? LLVMGetInitializer(g) : NULL;
        if (list && !LLVMIsNull(list))
            return kiln_err_set(
                e, KILN_E_MODULE_BAD, 0,
                "the module has constructors or destructors; artifacts run nothing when loaded");
    }
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (LLVMGetNamedFunction(j->module, reserved[i]) || LLVMGetNamedGlobal(j->module, reserved[i]) ||
            LLVMGetNamedGlobalAlias(j->module, reserved[i], strlen(reserved[i])))
            return kiln_err_set(e, KILN_E_MODULE_BAD, 0,
                                "'%s' is a name of the artifact's own, the module must not use it",
                                reserved[i]);
    if (LLVMGetFirstGlobalIFunc(j->module))
        return kiln_err_set(e, KILN_E_MODULE_BAD, 0,
                            "the module has indirect functions (ifunc); artifacts run nothing when loaded");
    {
        size_t n;
        const char *assembly = LLVMGetModuleInlineAsm(j->module, &n);
        if (assembly && n)
            return kiln_err_set(e, KILN_E_MODULE_BAD, 0, "the module has assembly at its top level");
    }
    return 0;
}

/* Features beyond the target would trap on a client's CPU: functions are compiled for the target alone. */
static void set_features(struct job *j, LLVMValueRef f)
{
    static const char *const names[] = { "target-cpu", "target-features", "tune-cpu" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, names[i], (unsigned)strlen(names[i]));
    LLVMAddTargetDependentFunctionAttr(f, "target-cpu", j->target->cpu);
    if (*j->target->features)
        LLVMAddTargetDependentFunctionAttr(f, "target-features", j->target->features);
}

/* Nothing but the entry is exported. LLVM's own lists keep their linkage: it means something else there. */
static void make_internal(LLVMValueRef g)
{
    size_t n;
    const char *name = LLVMGetValueName2(g, &n);

    if (LLVMIsDeclaration(g) || (n > 5 && memcmp(name, "llvm.", 5) == 0))
        return;
    LLVMSetVisibility(g, LLVMDefaultVisibility);
    LLVMSetDLLStorageClass(g, LLVMDefaultStorageClass);
    LLVMSetLinkage(g, LLVMInternalLinkage);
}

static void export(LLVMValueRef f)
{
    LLVMSetLinkage(f, LLVMExternalLinkage);
    LLVMSetVisibility(f, LLVMDefaultVisibility);
    LLVMSetDLLStorageClass(f, LLVMDefaultStorageClass);
}

int foreign_check(struct job *j, struct kiln_err *e)
{
    int r = check_layout(j, e);

    if (r == 0)
        r = check_globals(j, e);
    if (r == 0)
        r = check_entry(j, e);
    if (r < 0)
        return r;
    for (LLVMValueRef f = LLVMGetFirstFunction(j->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        set_features(j, f);
        if (f != LLVMGetNamedFunction(j->module, j->req->entry))
            make_internal(f);
        else
            export(f);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(j->module); g; g = LLVMGetNextGlobal(g))
        make_internal(g);
    for (LLVMValueRef g = LLVMGetFirstGlobalAlias(j->module); g; g = LLVMGetNextGlobalAlias(g))
        make_internal(g);
    if (!j->req->options.debug)
        LLVMStripModuleDebugInfo(j->module);
    j->symbol = j->req->entry;
    j->may_raise = false;
    return 0;
}

/* ---- the wrapper ---- */

static LLVMValueRef at_offset(LLVMBuilderRef b, LLVMContextRef ctx, LLVMValueRef base, uint32_t offset)
{
    LLVMValueRef at = LLVMConstInt(LLVMInt64TypeInContext(ctx), offset, 0);

    return LLVMBuildGEP2(b, LLVMInt8TypeInContext(ctx), base, &at, 1, "");
}

static int wrap_entry(struct job *j, LLVMBuilderRef b, struct kiln_err *e)
{
    LLVMValueRef f = LLVMGetNamedFunction(j->module, j->req->entry), args[SIGNATURE_MAX_PARAMS], r;
    LLVMTypeRef type = LLVMGlobalGetValueType(f), ptr = LLVMPointerTypeInContext(j->context, 0);
    LLVMTypeRef four[] = { ptr, ptr, ptr, ptr }, params[SIGNATURE_MAX_PARAMS];
    LLVMTypeRef entry_type = LLVMFunctionType(LLVMInt32TypeInContext(j->context), four, 4, 0);
    LLVMValueRef entry = LLVMAddFunction(j->module, KILN_SYM_ENTRY, entry_type);
    uint32_t at = 0;

    set_features(j, entry);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(j->context, entry, "entry"));
    LLVMGetParamTypes(type, params);
    for (uint32_t i = 0; i < j->sig.n_params; i++) {
        struct layout l;
        if (type_layout(j->sig.params[i], j->target->lower.pointer_bytes, &l, e) < 0)
            return -e->code;
        at = (at + l.align - 1) / l.align * l.align;
        args[i] = LLVMBuildLoad2(b, llvm_type(j, j->sig.params[i]),
                                 at_offset(b, j->context, LLVMGetParam(entry, 1), at), "");
        if (LLVMTypeOf(args[i]) != params[i])
            args[i] = LLVMBuildTrunc(b, args[i], params[i], "");
        at += l.size;
    }
    r = LLVMBuildCall2(b, type, f, args, j->sig.n_params, "");
    for (unsigned i = 0; i <= j->sig.n_params; i++) { /* sign and zero extension belong to the call too */
        static const char *const kinds[] = { "zeroext", "signext" };
        unsigned index = i == j->sig.n_params ? LLVMAttributeReturnIndex : i + 1;
        for (size_t k = 0; k < 2; k++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(kinds[k], strlen(kinds[k]));
            if (LLVMGetEnumAttributeAtIndex(f, index, kind))
                LLVMAddCallSiteAttribute(r, index, LLVMCreateEnumAttribute(j->context, kind, 0));
        }
    }
    if (j->ret->kind != TY_NONE) {
        if (LLVMTypeOf(r) != llvm_type(j, j->ret))
            r = LLVMBuildZExt(b, r, llvm_type(j, j->ret), "");
        LLVMBuildStore(b, r, LLVMGetParam(entry, 0));
    }
    LLVMBuildRet(b, LLVMConstInt(LLVMInt32TypeInContext(j->context), KILN_DONE, 0));
    return 0;
}

int foreign_wrap(struct job *j, struct kiln_err *e)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(j->context, 0);
    LLVMValueRef key, bind, bytes;
    LLVMBuilderRef b;
    char *message = NULL;
    int r;

    if (j->req->emit != EMIT_SO)
        return 0; /* an object, assembly or IR is the user's own code alone */
    bytes = LLVMConstStringInContext2(j->context, (const char *)j->req->key, KILN_KEY_BYTES, 1);
    key = LLVMAddGlobal(j->module, LLVMTypeOf(bytes), KILN_SYM_KEY);
    LLVMSetInitializer(key, bytes);
    LLVMSetGlobalConstant(key, 1);
    bind = LLVMAddFunction(j->module, KILN_SYM_BIND,
                           LLVMFunctionType(LLVMVoidTypeInContext(j->context), &ptr, 1, 0));
    b = LLVMCreateBuilderInContext(j->context);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(j->context, bind, "entry"));
    LLVMBuildRetVoid(b);
    r = wrap_entry(j, b, e);
    LLVMDisposeBuilder(b);
    if (r < 0)
        return r;
    if (LLVMVerifyModule(j->module, LLVMReturnStatusAction, &message))
        r = kiln_err_set(e, KILN_E_MODULE_BAD, 0, "the module can't be wrapped: %.200s", message);
    LLVMDisposeMessage(message);
    return r;
}
