/* SPDX-License-Identifier: Apache-2.0
 * slice.c - Python's slice clamping on an axis of n elements.
 *
 * With a step that is known the direction is, and most of the arithmetic folds; `a[i:j]` costs two clamps. */
#include "daemon/compiler/lower/lo.h"

static LLVMValueRef pick(struct fn *f, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, p, a, b, ""), a, b, "");
}

/* Negative counts from the end; then into [low, high]. */
static LLVMValueRef clamp(struct fn *f, LLVMValueRef i, LLVMValueRef n, LLVMValueRef low, LLVMValueRef high)
{
    if (LLVMIsAConstantInt(i) && LLVMConstIntGetSExtValue(i) == 0 && LLVMIsAConstantInt(low) &&
        LLVMConstIntGetSExtValue(low) == 0)
        return i; /* 0 is inside whatever n */
    LLVMValueRef neg = LLVMBuildICmp(f->b, LLVMIntSLT, i, lo_int(f->lo, 0), "");
    LLVMValueRef up = pick(f, LLVMIntSGT, LLVMBuildAdd(f->b, i, n, ""), low);
    return LLVMBuildSelect(f->b, neg, up, pick(f, LLVMIntSLT, i, high), "");
}

static void forward(struct fn *f, LLVMValueRef *parts, LLVMValueRef n, LLVMValueRef step,
                    LLVMValueRef *ret_start, LLVMValueRef *ret_len)
{
    struct lo *lo = f->lo;
    LLVMValueRef zero = lo_int(lo, 0), one = lo_int(lo, 1);
    LLVMValueRef start = parts[0] ? clamp(f, parts[0], n, zero, n) : zero;
    LLVMValueRef stop = parts[1] ? clamp(f, parts[1], n, zero, n) : n;
    LLVMValueRef span = LLVMBuildNSWSub(f->b, stop, start, "");
    bool plain = LLVMIsAConstantInt(step) && LLVMConstIntGetSExtValue(step) == 1;
    *ret_start = start;
    if (plain) {
        *ret_len = parts[0] || parts[1] ? pick(f, LLVMIntSGT, span, zero) : n;
        return;
    }
    LLVMValueRef some = LLVMBuildICmp(f->b, LLVMIntSGT, span, zero, "");
    LLVMValueRef count = LLVMBuildSDiv(f->b, LLVMBuildNSWSub(f->b, span, one, ""), step, "");
    *ret_len = LLVMBuildSelect(f->b, some, LLVMBuildAdd(f->b, count, one, ""), zero, "");
}

static void backward(struct fn *f, LLVMValueRef *parts, LLVMValueRef n, LLVMValueRef back,
                     LLVMValueRef *ret_start, LLVMValueRef *ret_len)
{
    struct lo *lo = f->lo;
    LLVMValueRef zero = lo_int(lo, 0), one = lo_int(lo, 1), before = lo_int(lo, -1);
    LLVMValueRef last = LLVMBuildNSWSub(f->b, n, one, "");
    LLVMValueRef start = parts[0] ? clamp(f, parts[0], n, before, last) : last;
    LLVMValueRef stop = parts[1] ? clamp(f, parts[1], n, before, last) : before;
    LLVMValueRef span = LLVMBuildNSWSub(f->b, start, stop, "");
    LLVMValueRef some = LLVMBuildICmp(f->b, LLVMIntSGT, span, zero, "");
    LLVMValueRef count = LLVMBuildUDiv(f->b, LLVMBuildSub(f->b, span, one, ""), back, "");
    *ret_start = start;
    *ret_len = LLVMBuildSelect(f->b, some, LLVMBuildAdd(f->b, count, one, ""), zero, "");
}

void slice_resolve(struct fn *f, LLVMValueRef *parts, LLVMValueRef n, uint32_t node, LLVMValueRef *ret_start,
                   LLVMValueRef *ret_step, LLVMValueRef *ret_len)
{
    struct lo *lo = f->lo;
    LLVMValueRef step = parts[2] ? parts[2] : lo_int(lo, 1), zero = lo_int(lo, 0);
    *ret_step = step;
    raise_if(f, LLVMBuildICmp(f->b, LLVMIntEQ, step, zero, ""), node, EXC(ValueError),
             "slice step cannot be zero");
    if (LLVMIsAConstantInt(step)) {
        int64_t c = LLVMConstIntGetSExtValue(step);
        if (c > 0)
            forward(f, parts, n, step, ret_start, ret_len);
        else /* as unsigned: the least integer has no positive twin */
            backward(f, parts, n, LLVMConstInt(lo->i64, 0 - (unsigned long long)c, 0), ret_start, ret_len);
        return;
    }
    LLVMValueRef up = LLVMBuildICmp(f->b, LLVMIntSGT, step, zero, "");
    LLVMValueRef down = LLVMBuildNeg(f->b, step, "");
    LLVMValueRef safe_up = LLVMBuildSelect(f->b, up, step, lo_int(lo, 1), "");
    LLVMValueRef safe_down = LLVMBuildSelect(f->b, up, lo_int(lo, 1), down, "");
    LLVMValueRef s1, l1, s2, l2;
    forward(f, parts, n, safe_up, &s1, &l1);
    backward(f, parts, n, safe_down, &s2, &l2);
    *ret_start = LLVMBuildSelect(f->b, up, s1, s2, "");
    *ret_len = LLVMBuildSelect(f->b, up, l1, l2, "");
}
