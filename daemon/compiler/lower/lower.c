/* SPDX-License-Identifier: Apache-2.0
 * lower.c - the driver: the module, its instances in an order that puts callees first, the entry. */
#include "daemon/compiler/lower/lower.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <llvm-c/Analysis.h>

#include "daemon/compiler/lower/lo.h"

int lo_fail(struct lo *lo, enum kiln_code code, const char *fmt, ...)
{
    char text[sizeof(lo->e->msg)];
    va_list ap;
    if (lo->failed)
        return -lo->e->code;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    lo->failed = true;
    return kiln_err_set(lo->e, code, 0, "%s", text);
}

int lo_fail_at(struct fn *f, uint32_t node, const char *fmt, ...)
{
    struct lo *lo = f->lo;
    char text[sizeof(lo->e->msg)];
    va_list ap;
    if (lo->failed)
        return -lo->e->code;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (lo->d && f->in)
        diag_add(lo->d, KILN_E_COMPILE, (int32_t)f->in->func, (int32_t)node, NULL, "%s", text);
    return lo_fail(lo, KILN_E_COMPILE, "%s (function %d, node %u)", text, f->in ? (int)f->in->func : -1,
                   node);
}

void *lo_alloc(struct lo *lo, size_t n, size_t size)
{
    static _Thread_local _Alignas(
        16) char spare[1 << 16]; /* keeps code running to where failed is looked at */
    void *p = arena_array(lo->a, n ? n : 1, size);
    if (p)
        return p;
    lo_fail(lo, KILN_E_LIMIT, "memory of the job");
    if (n && size > sizeof(spare) / n)
        return NULL;
    memset(spare, 0, sizeof(spare));
    return spare;
}

static void types_init(struct lo *lo)
{
    LLVMContextRef c = lo->c;
    lo->i1 = LLVMInt1TypeInContext(c);
    lo->i8 = LLVMInt8TypeInContext(c);
    lo->i16 = LLVMInt16TypeInContext(c);
    lo->i32 = LLVMInt32TypeInContext(c);
    lo->i64 = LLVMInt64TypeInContext(c);
    lo->f16 = LLVMHalfTypeInContext(c);
    lo->f32 = LLVMFloatTypeInContext(c);
    lo->f64 = LLVMDoubleTypeInContext(c);
    lo->ptr = LLVMPointerTypeInContext(c, 0);
    lo->vd = LLVMVoidTypeInContext(c);
    lo->iptr = lo->t->pointer_bytes == 4 ? lo->i32 : lo->i64;
}

static void metadata_init(struct lo *lo)
{
    lo->md_prof = LLVMGetMDKindIDInContext(lo->c, "prof", 4);
    lo->md_range = LLVMGetMDKindIDInContext(lo->c, "range", 5);
    lo->md_invariant = LLVMGetMDKindIDInContext(lo->c, "invariant.load", 14);
    lo->md_empty = LLVMMetadataAsValue(lo->c, LLVMMDNodeInContext2(lo->c, NULL, 0));
    LLVMMetadataRef weights[3] = { LLVMMDStringInContext2(lo->c, "branch_weights", 14),
                                   LLVMValueAsMetadata(lo_i32(lo, 1)),
                                   LLVMValueAsMetadata(lo_i32(lo, 1 << 20)) };
    lo->weights_cold = LLVMMetadataAsValue(lo->c, LLVMMDNodeInContext2(lo->c, weights, 3));
    unsigned long long most = lo->iptr == lo->i64 ? INT64_MAX : INT32_MAX;
    LLVMMetadataRef range[2] = { LLVMValueAsMetadata(LLVMConstInt(lo->iptr, 0, 0)),
                                 LLVMValueAsMetadata(LLVMConstInt(lo->iptr, most, 0)) };
    lo->shape_range = LLVMMetadataAsValue(lo->c, LLVMMDNodeInContext2(lo->c, range, 2));
}

/* Callees before callers, so that a caller knows whether a callee can raise; on a cycle whoever comes first
 * assumes that it can. Explicit stack: a chain of calls may be as long as the module. */
static void lower_instances(struct lo *lo)
{
    uint32_t n = lo->p->n_instances, depth = 0;
    struct {
        const struct instance *in;
        size_t at;
    } *stack = lo_alloc(lo, (size_t)n + 1, sizeof(*stack));
    bool *seen = lo_alloc(lo, n, sizeof(*seen));
    if (lo->failed)
        return;
    seen[lo->p->instances[0]->id] = true;
    stack[depth++].in = lo->p->instances[0];
    while (depth && !lo->failed) {
        const struct instance *in = stack[depth - 1].in, *next = NULL;
        size_t total = (size_t)in->n_contexts * in->fn->n_nodes;
        size_t *at = &stack[depth - 1].at;
        while (*at < total && !next) {
            const struct fact *fa = &in->facts[(*at)++];
            if (fa->type && fa->callee && !fa->has_value && !seen[fa->callee->id])
                next = fa->callee;
        }
        if (!next) {
            fn_lower(lo, in);
            depth--;
            continue;
        }
        seen[next->id] = true;
        stack[depth].in = next;
        stack[depth++].at = 0;
    }
    for (uint32_t i = 0; i < n && !lo->failed; i++) /* declared by a call that no reached fact names */
        if (lo->inst[i].fn && !lo->inst[i].done)
            fn_lower(lo, lo->p->instances[i]);
}

static void host_init(struct lo *lo)
{
    lo->host = LLVMAddGlobal(lo->m, lo->ptr, "kiln.host");
    LLVMSetInitializer(lo->host, lo_null(lo));
    LLVMSetLinkage(lo->host, LLVMInternalLinkage);
}

static void verify(struct lo *lo)
{
#ifndef NDEBUG
    char *text = NULL;
    if (LLVMVerifyModule(lo->m, LLVMReturnStatusAction, &text))
        lo_fail(lo, KILN_E_INTERNAL, "module does not verify: %s", text ? text : "");
    LLVMDisposeMessage(text);
#else
    (void)lo;
#endif
}

int lower_run(struct arena *a, const struct program *p, const struct lower_target *t,
              const struct lower_request *r, LLVMContextRef ctx, LLVMModuleRef *ret, struct diagnostics *d,
              struct kiln_err *e)
{
    struct lo lo = { .a = a, .p = p, .t = t, .r = r, .d = d, .e = e, .c = ctx };
    *ret = NULL;
    lo.m = LLVMModuleCreateWithNameInContext("kiln", ctx);
    LLVMSetTarget(lo.m, t->triple);
    LLVMSetDataLayout(lo.m, t->data_layout);
    types_init(&lo);
    metadata_init(&lo);
    lo.inst = lo_alloc(&lo, p->n_instances, sizeof(*lo.inst));
    if (!lo.failed) {
        host_init(&lo);
        lo.raises_text = raise_makes_text(p);
        lower_instances(&lo);
    }
    if (!lo.failed)
        lower_entry(&lo);
    if (!lo.failed && r->symbol)
        lower_symbol(&lo);
    vector_keep(&lo);
    if (!lo.failed)
        verify(&lo);
    if (lo.failed) {
        LLVMDisposeModule(lo.m);
        return -e->code;
    }
    *ret = lo.m;
    return 0;
}
