/* SPDX-License-Identifier: Apache-2.0
 * vector.c - vector variants of math calls, for the loop vectorizer.
 *
 * glibc's libmvec has sin, cos, exp, log and pow since 2.22, good to 4 ulp where libm is good to 1: used only
 * where the user allowed approximate functions (fastmath's `afn`). The attribute names them at the call, so
 * that it holds for this function and this target alone; the declarations must survive until the vectorizer
 * comes, which is what llvm.compiler.used is for. */
#include <stdio.h>
#include <string.h>

#include "daemon/compiler/lower/lo.h"

static const struct {
    const char *intrinsic, *name;
    unsigned n_args;
} functions[] = {
    { "llvm.sin", "sin", 1 }, { "llvm.cos", "cos", 1 }, { "llvm.exp", "exp", 1 },
    { "llvm.log", "log", 1 }, { "llvm.pow", "pow", 2 },
};

static bool has(const struct lower_target *t, const char *feature, const char *cpu)
{
    const char *f = t->features ? t->features : "", *c = t->cpu ? t->cpu : "";
    return strstr(f, feature) || (cpu && !strncmp(c, "x86-64-v", 8) && c[8] >= cpu[0]);
}

/* ISA letters of the vector ABI that the target can run, with bytes of a vector. */
static unsigned isas(const struct lower_target *t, char *letters, unsigned *bytes)
{
    unsigned n = 0;
    letters[n] = 'b';
    bytes[n++] = 16;
    if (has(t, "+avx2", "3")) {
        letters[n] = 'd';
        bytes[n++] = 32;
    }
    if (has(t, "+avx512f", "4")) {
        letters[n] = 'e';
        bytes[n++] = 64;
    }
    return n;
}

static void keep(struct lo *lo, LLVMValueRef fn)
{
    if (lo->n_kept < sizeof(lo->kept) / sizeof(lo->kept[0]))
        lo->kept[lo->n_kept++] = fn;
}

void vector_variants(struct fn *f, LLVMValueRef call, const char *intrinsic, LLVMTypeRef t)
{
    struct lo *lo = f->lo;
    char text[512], letters[3];
    unsigned bytes[3], n, which = 0;
    size_t len = 0;
    if (!(f->fmf & LLVMFastMathApproxFunc) || lo->t->abi != LOWER_ABI_SYSV_X86_64 || lo->t->gpu ||
        (t != lo->f32 && t != lo->f64) || !LLVMIsACallInst(call))
        return;
    while (which < sizeof(functions) / sizeof(functions[0]) && strcmp(functions[which].intrinsic, intrinsic))
        which++;
    if (which == sizeof(functions) / sizeof(functions[0]))
        return;
    n = isas(lo->t, letters, bytes);
    for (unsigned i = 0; i < n; i++) {
        char name[48];
        unsigned lanes = bytes[i] / (t == lo->f64 ? 8 : 4), n_args = functions[which].n_args;
        const char *vs = n_args == 2 ? "vv" : "v";
        snprintf(name, sizeof(name), "_ZGV%cN%u%s_%s%s", letters[i], lanes, vs, functions[which].name,
                 t == lo->f32 ? "f" : "");
        LLVMTypeRef v = LLVMVectorType(t, lanes), args[2] = { v, v };
        if (!LLVMGetNamedFunction(lo->m, name)) {
            LLVMTypeRef type;
            LLVMValueRef fn = lo_declare(lo, name, v, args, n_args, &type);
            LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, lo_attr(lo, "memory", 0));
            keep(lo, fn);
        }
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s_ZGV_LLVM_N%u%s_%s.%s(%s)", i ? "," : "",
                                lanes, vs, intrinsic, t == lo->f64 ? "f64" : "f32", name);
    }
    static const char key[] = "vector-function-abi-variant";
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateStringAttribute(lo->c, key, sizeof(key) - 1, text, (unsigned)len));
}

void vector_keep(struct lo *lo)
{
    if (!lo->n_kept)
        return;
    LLVMValueRef list = LLVMConstArray2(lo->ptr, lo->kept, lo->n_kept);
    LLVMValueRef g = LLVMAddGlobal(lo->m, LLVMTypeOf(list), "llvm.compiler.used");
    LLVMSetInitializer(g, list);
    LLVMSetLinkage(g, LLVMAppendingLinkage);
    LLVMSetSection(g, "llvm.metadata");
}
