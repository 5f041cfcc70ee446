/* SPDX-License-Identifier: Apache-2.0
 * text.c - str and bytes: constants, items, slices, comparisons.
 *
 * A str is {owner, data, length, width}, a bytes object {owner, data, length}: struct kiln_str and kiln_bytes of
 * <kiln/abi.h>. Items and slices without a step share the memory of what they are taken from, so they cost no
 * allocation; a width is therefore wide enough, not always the narrowest. */
#include <string.h>

#include "daemon/compiler/lower/text.h"

enum { TEXT_OWNER, TEXT_DATA, TEXT_LENGTH, TEXT_WIDTH };

static LLVMValueRef width_of(struct fn *f, struct val s)
{
    return s.t->kind == TY_STR ? s.v[TEXT_WIDTH] : lo_int(f->lo, 1);
}

/* ---- constants ---- */

/* The code point at p; KIR's strings are valid UTF-8. */
static uint32_t decode(const unsigned char *p, unsigned *ret_bytes)
{
    unsigned n = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    uint32_t c = n == 1 ? p[0] : p[0] & (0x7Fu >> n);
    for (unsigned i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3F);
    *ret_bytes = n;
    return c;
}

struct val text_const(struct fn *f, const struct type *t, const char *utf8, size_t len)
{
    struct lo *lo = f->lo;
    const unsigned char *p = (const unsigned char *)utf8;
    struct val v = val_new(f, t, t->kind == TY_STR ? 4 : 3);
    size_t n = 0;
    unsigned step, width = 1;
    v.v[TEXT_OWNER] = lo_null(lo);
    if (t->kind == TY_BYTES) {
        v.v[TEXT_DATA] = lo_bytes(lo, "kiln.bytes", utf8, len);
        v.v[TEXT_LENGTH] = lo_int(lo, (int64_t)len);
        return v;
    }
    for (size_t i = 0; i < len; i += step, n++) {
        uint32_t c = decode(p + i, &step);
        width = c > 0xFFFF ? 4 : c > 0xFF && width < 2 ? 2 : width;
    }
    unsigned char *out = lo_alloc(lo, n * width + 1, 1);
    size_t at = 0;
    for (size_t i = 0; i < len && !lo->failed; i += step, at += width) {
        uint32_t c = decode(p + i, &step); /* little-endian, as every target is */
        for (unsigned k = 0; k < width; k++)
            out[at + k] = (unsigned char)(c >> (8 * k));
    }
    v.v[TEXT_DATA] = lo_bytes(lo, "kiln.str", out, lo->failed ? 0 : n * width);
    if (width > 1)
        LLVMSetAlignment(v.v[TEXT_DATA], width);
    v.v[TEXT_LENGTH] = lo_int(lo, (int64_t)n);
    v.v[TEXT_WIDTH] = lo_int(lo, width);
    return v;
}

/* ---- items ---- */

/* The code point at i, as i64. */
static LLVMValueRef code_at(struct fn *f, LLVMValueRef data, LLVMValueRef width, LLVMValueRef i)
{
    struct lo *lo = f->lo;
    LLVMTypeRef types[3] = { lo->i8, lo->i16, lo->i32 };
    if (LLVMIsAConstantInt(width) && LLVMConstIntGetZExtValue(width) <= 1)
        return LLVMBuildZExt(f->b, LLVMBuildLoad2(f->b, lo->i8, LLVMBuildInBoundsGEP2(f->b, lo->i8, data, &i, 1, ""), ""),
                             lo->i64, "");
    LLVMValueRef r = fn_alloca(f, lo->i64, "code");
    LLVMBasicBlockRef out = fn_block(f, "code");
    for (unsigned k = 0; k < 3; k++) {
        LLVMBasicBlockRef here = fn_block(f, "width"), next = k < 2 ? fn_block(f, "wider") : NULL;
        if (next)
            fn_cond(f, LLVMBuildICmp(f->b, LLVMIntEQ, width, lo_int(lo, 1 << k), ""), here, next);
        else
            fn_br(f, here);
        fn_at(f, here);
        LLVMValueRef p = LLVMBuildInBoundsGEP2(f->b, types[k], data, &i, 1, "");
        LLVMBuildStore(f->b, LLVMBuildZExt(f->b, LLVMBuildLoad2(f->b, types[k], p, ""), lo->i64, ""), r);
        fn_br(f, out);
        if (next)
            fn_at(f, next);
    }
    fn_at(f, out);
    return LLVMBuildLoad2(f->b, lo->i64, r, "");
}

static struct val view(struct fn *f, struct val s, LLVMValueRef start, LLVMValueRef n)
{
    struct val v = val_new(f, s.t, s.n);
    LLVMValueRef off = LLVMBuildNSWMul(f->b, start, width_of(f, s), "");
    memcpy(v.v, s.v, s.n * sizeof(*v.v));
    v.v[TEXT_DATA] = LLVMBuildInBoundsGEP2(f->b, f->lo->i8, s.v[TEXT_DATA], &off, 1, "");
    v.v[TEXT_LENGTH] = n;
    v.own = s.own;
    return v;
}

struct val text_item(struct fn *f, struct val s, LLVMValueRef i)
{
    if (s.t->kind == TY_STR) {
        s.own = 0; /* whoever iterates keeps it alive */
        return view(f, s, i, lo_int(f->lo, 1));
    }
    LLVMValueRef code = code_at(f, s.v[TEXT_DATA], lo_int(f->lo, 1), i);
    const struct type *t = lo_type(f->lo, f->lo->p->options.numba ? TY_UINT8 : TY_PYINT);
    return val_scalar(f, t, LLVMBuildIntCast2(f->b, code, lo_reg(f->lo, t), 0, ""));
}

/* Not a view: every step-th item. */
static struct val strided(struct fn *f, struct val s, LLVMValueRef start, LLVMValueRef n, LLVMValueRef step, uint32_t node)
{
    const struct type *pyint = lo_type(f->lo, TY_PYINT), *str = lo_type(f->lo, TY_STR);
    struct val args[4] = { s, val_scalar(f, pyint, start), val_scalar(f, pyint, n), val_scalar(f, pyint, step) };
    return lower_text_op(f, node, s.t->kind == str->kind ? "s(siii)stride" : "b(biii)stride", args, 4);
}

struct val text_subscript(struct fn *f, struct val s, uint32_t index, uint32_t node)
{
    struct lo *lo = f->lo;
    struct val v = eval(f, index);
    LLVMValueRef n = s.v[TEXT_LENGTH], parts[3], start, step, len;
    if (f->dead || !v.t)
        return val_dead();
    if (v.t->kind == TY_SLICE) {
        slice_parts(f, v, parts);
        slice_resolve(f, parts, n, node, &start, &step, &len);
        if (f->dead)
            return val_dead();
        if (LLVMIsAConstantInt(step) && LLVMConstIntGetSExtValue(step) == 1)
            return view(f, s, start, len);
        return strided(f, s, start, len, step, node);
    }
    v = need_value(f, v, node);
    if (!v.t)
        return val_dead();
    LLVMValueRef i = to_index(f, v), neg = LLVMBuildICmp(f->b, LLVMIntSLT, i, lo_int(lo, 0), "");
    i = LLVMBuildSelect(f->b, neg, LLVMBuildAdd(f->b, i, n, ""), i, "");
    raise_if(f, LLVMBuildICmp(f->b, LLVMIntUGE, i, n, ""), node, EXC(IndexError),
             s.t->kind == TY_STR ? "string index out of range" : "index out of range");
    if (f->dead)
        return val_dead();
    return s.t->kind == TY_STR ? view(f, s, i, lo_int(lo, 1)) : text_item(f, s, i);
}

/* ---- comparisons ---- */

/* i32 kiln.text.compare(data, length, width, data, length, width): by code points, then by length. */
static LLVMValueRef compare_helper(struct lo *lo, LLVMTypeRef *ret_type)
{
    LLVMTypeRef params[6] = { lo->ptr, lo->i64, lo->i64, lo->ptr, lo->i64, lo->i64 }, type, types[3] = { lo->ptr, lo->ptr, lo->iptr };
    LLVMValueRef fn = LLVMGetNamedFunction(lo->m, "kiln.text.compare"), p[6];
    *ret_type = LLVMFunctionType(lo->i32, params, 6, 0);
    if (fn)
        return fn;
    struct fn f = { .lo = lo, .fn = LLVMAddFunction(lo->m, "kiln.text.compare", *ret_type) };
    LLVMSetLinkage(f.fn, LLVMInternalLinkage);
    lo_target_attrs(lo, f.fn);
    helper_begin(&f);
    for (unsigned i = 0; i < 6; i++)
        p[i] = LLVMGetParam(f.fn, i);
    LLVMValueRef shorter = LLVMBuildICmp(f.b, LLVMIntSLT, p[1], p[4], ""), longer = LLVMBuildICmp(f.b, LLVMIntSGT, p[1], p[4], "");
    LLVMValueRef n = LLVMBuildSelect(f.b, shorter, p[1], p[4], "");
    LLVMValueRef by_len = LLVMBuildSub(f.b, LLVMBuildZExt(f.b, longer, lo->i32, ""), LLVMBuildZExt(f.b, shorter, lo->i32, ""), "");
    LLVMValueRef wide = LLVMBuildICmp(f.b, LLVMIntUGT, LLVMBuildOr(f.b, p[2], p[5], ""), lo_int(lo, 1), "");
    LLVMValueRef iv = fn_alloca(&f, lo->i64, "i"), memcmp_fn = lo_declare(lo, "memcmp", lo->i32, types, 3, &type);
    LLVMBasicBlockRef narrow = fn_block(&f, "narrow"), slow = fn_block(&f, "slow"), head = fn_block(&f, "head");
    LLVMBasicBlockRef body = fn_block(&f, "body"), next = fn_block(&f, "next"), differ = fn_block(&f, "differ"), same = fn_block(&f, "same");
    fn_cond(&f, wide, slow, narrow);
    fn_at(&f, narrow);
    LLVMValueRef args[3] = { p[0], p[3], LLVMBuildIntCast2(f.b, n, lo->iptr, 0, "") };
    LLVMValueRef r = LLVMBuildCall2(f.b, type, memcmp_fn, args, 3, "");
    LLVMBuildRet(f.b, LLVMBuildSelect(f.b, LLVMBuildICmp(f.b, LLVMIntEQ, r, lo_i32(lo, 0), ""), by_len, r, ""));
    fn_at(&f, slow);
    LLVMBuildStore(f.b, lo_int(lo, 0), iv);
    fn_br(&f, head);
    fn_at(&f, head);
    LLVMValueRef i = LLVMBuildLoad2(f.b, lo->i64, iv, "");
    fn_cond(&f, LLVMBuildICmp(f.b, LLVMIntSLT, i, n, ""), body, same);
    fn_at(&f, body);
    LLVMValueRef x = code_at(&f, p[0], p[2], i), y = code_at(&f, p[3], p[5], i);
    fn_cond(&f, LLVMBuildICmp(f.b, LLVMIntEQ, x, y, ""), next, differ);
    fn_at(&f, next);
    LLVMBuildStore(f.b, LLVMBuildNUWAdd(f.b, i, lo_int(lo, 1), ""), iv);
    fn_br(&f, head);
    fn_at(&f, differ);
    LLVMBuildRet(f.b, LLVMBuildSelect(f.b, LLVMBuildICmp(f.b, LLVMIntULT, x, y, ""), lo_i32(lo, -1), lo_i32(lo, 1), ""));
    fn_at(&f, same);
    LLVMBuildRet(f.b, by_len);
    fn_stop(&f);
    helper_end(&f);
    return fn = f.fn;
}

LLVMValueRef text_compare(struct fn *f, struct val a, struct val b, bool equality)
{
    struct lo *lo = f->lo;
    LLVMTypeRef type;
    LLVMValueRef fn = compare_helper(lo, &type);
    LLVMValueRef args[6] = { a.v[TEXT_DATA], a.v[TEXT_LENGTH], width_of(f, a), b.v[TEXT_DATA], b.v[TEXT_LENGTH], width_of(f, b) };
    if (!equality)
        return LLVMBuildCall2(f->b, type, fn, args, 6, "");
    LLVMValueRef r = fn_alloca(f, lo->i32, "equal"); /* most differ in length: no call then */
    LLVMBasicBlockRef look = fn_block(f, "look"), out = fn_block(f, "compared");
    LLVMBuildStore(f->b, lo_i32(lo, 1), r);
    fn_cond(f, LLVMBuildICmp(f->b, LLVMIntEQ, a.v[TEXT_LENGTH], b.v[TEXT_LENGTH], ""), look, out);
    fn_at(f, look);
    LLVMBuildStore(f->b, LLVMBuildCall2(f->b, type, fn, args, 6, ""), r);
    fn_br(f, out);
    fn_at(f, out);
    return LLVMBuildLoad2(f->b, lo->i32, r, "");
}

/* ---- what intrinsics.py names and needs no runtime ---- */

LLVMValueRef text_code(struct fn *f, struct val s, LLVMValueRef i)
{
    return code_at(f, s.v[TEXT_DATA], width_of(f, s), i);
}

struct val text_view(struct fn *f, struct val s, LLVMValueRef start, LLVMValueRef n)
{
    return view(f, s, start, n);
}

/* bytes as the str of its values below 256, or back: the same memory. */
struct val text_as(struct fn *f, struct val s, const struct type *t)
{
    struct val v = val_new(f, t, t->kind == TY_STR ? 4 : 3);
    memcpy(v.v, s.v, 3 * sizeof(*v.v));
    if (v.n == 4)
        v.v[TEXT_WIDTH] = width_of(f, s);
    v.own = s.own;
    return v;
}
