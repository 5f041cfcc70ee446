/* SPDX-License-Identifier: Apache-2.0
 * cabi.c - the plain C symbol: a function that C code declares and calls by its own rules.
 *
 * LLVM's types say how scalars travel, but not structs: their split into registers is the front end's
 * business (LLVM's `byval` and `sret` cover memory). Here are the rules for what Kiln can pass: scalars,
 * complex, tuples and optionals as C structs, arrays as pointers to struct kiln_array.
 *
 *   System V x86-64   up to 16 bytes: each eight bytes in an SSE register if only floats are in them, else in
 *                     an integer register; in memory when too few are left, or when larger
 *   AAPCS64           up to four floats of one type in vector registers; else up to 16 bytes in integer
 *                     registers; larger by reference
 *   AAPCS-VFP (armv7) the same for floats; else words in integer registers and on the stack; results of more
 *                     than four bytes in memory
 *
 * A function that raises returns zero (docs/abi.md): C has no place for an exception. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

enum { FIELDS_MAX = 64, PARTS_MAX = 16 };

struct field {
    uint32_t at, size;
    LLVMTypeRef real; /* half, float or double; NULL for integers and pointers */
};

struct fields {
    struct field f[FIELDS_MAX];
    unsigned n;
    uint32_t size, align;
};

enum how { HOW_NONE, HOW_SCALAR, HOW_PARTS, HOW_BYVAL, HOW_POINTER };

struct pass {
    enum how how;
    LLVMTypeRef part[PARTS_MAX]; /* PARTS: each a parameter, or the fields of the returned struct */
    uint32_t at[PARTS_MAX];
    unsigned n;
    uint32_t size, align;
};

struct regs { /* of x86-64, still free */
    int ints, sse;
};

/* ---- what a struct is made of ---- */

static void field_add(struct lo *lo, struct fields *x, uint32_t at, uint32_t size, LLVMTypeRef real)
{
    if (x->n == FIELDS_MAX) {
        lo_fail(lo, KILN_E_LIMIT, "a C struct of more than %d fields", FIELDS_MAX);
        return;
    }
    x->f[x->n++] = (struct field){ at, size, real };
}

static void fields_walk(struct lo *lo, const struct type *t, uint32_t at, struct fields *x)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct layout l;
    if (lo->failed)
        return;
    switch (t->kind) {
    case TY_NONE:
        return;
    case TY_TUPLE: {
        uint32_t off = 0;
        for (uint32_t i = 0; i < t->n_items; i++) {
            if (type_layout(t->items[i], lo->t->pointer_bytes, &l, &e)) {
                lo_fail(lo, KILN_E_SIGNATURE, "%s", e.msg);
                return;
            }
            off = (off + l.align - 1) / l.align * l.align;
            fields_walk(lo, t->items[i], at + off, x);
            off += l.size;
        }
        return;
    }
    case TY_OPTIONAL:
        fields_walk(lo, t->elem, at, x);
        field_add(lo, x, at + lo_itemsize(lo, t->elem), 1, NULL);
        return;
    case TY_STR:
    case TY_BYTES:
        for (uint32_t i = 0; i < (t->kind == TY_STR ? 4u : 3u); i++)
            field_add(lo, x, at + i * lo->t->pointer_bytes, lo->t->pointer_bytes, NULL);
        return;
    case TY_ARRAY:
        for (uint32_t i = 0; i < 2u + 2u * t->ndim; i++)
            field_add(lo, x, at + i * lo->t->pointer_bytes, lo->t->pointer_bytes, NULL);
        return;
    default:
        if (type_is_complex(t)) {
            uint32_t half = lo_itemsize(lo, t) / 2;
            field_add(lo, x, at, half, lo_reg(lo, t));
            field_add(lo, x, at + half, half, lo_reg(lo, t));
        } else {
            field_add(lo, x, at, lo_itemsize(lo, t), type_is_float(t) ? lo_reg(lo, t) : NULL);
        }
    }
}

static bool is_scalar(const struct type *t)
{
    return t->kind == TY_POINTER || (type_is_number(t) && !type_is_complex(t));
}

static void part_add(struct pass *p, LLVMTypeRef t, uint32_t at)
{
    p->part[p->n] = t;
    p->at[p->n++] = at;
}

/* One to four floats of one type and nothing else; 0 if not. */
static unsigned homogeneous(const struct fields *x)
{
    if (!x->n || x->n > 4)
        return 0;
    for (unsigned i = 0; i < x->n; i++)
        if (!x->f[i].real || x->f[i].real != x->f[0].real)
            return 0;
    return x->n;
}

static void pass_homogeneous(const struct fields *x, struct pass *p)
{
    p->how = HOW_PARTS;
    part_add(p, LLVMArrayType2(x->f[0].real, x->n), 0);
}

/* ---- the three conventions ---- */

static void pass_x86_64(struct lo *lo, const struct fields *x, bool is_return, struct regs *r, struct pass *p)
{
    if (x->size > 16) {
        p->how = is_return ? HOW_POINTER : HOW_BYVAL;
        return;
    }
    int ints = 0, sse = 0;
    p->how = HOW_PARTS;
    for (uint32_t at = 0; at < x->size; at += 8) {
        bool real = true;
        uint32_t end = at;
        for (unsigned i = 0; i < x->n; i++) {
            if (x->f[i].at < at || x->f[i].at >= at + 8)
                continue;
            real &= x->f[i].real != NULL;
            if (x->f[i].at + x->f[i].size > end)
                end = x->f[i].at + x->f[i].size;
        }
        uint32_t bytes = x->size - at < 8 ? x->size - at : 8;
        if (real && end > at) {
            part_add(p, end - at > 4 ? lo->f64 : end - at > 2 ? lo->f32 : lo->f16, at);
            sse++;
        } else {
            part_add(p, LLVMIntTypeInContext(lo->c, bytes * 8), at);
            ints++;
        }
    }
    if (is_return)
        return;
    if ((ints && ints > r->ints) || (sse && sse > r->sse)) { /* all or nothing; below zero when scalars used them up */
        p->how = HOW_BYVAL;
        p->n = 0;
        return;
    }
    r->ints -= ints;
    r->sse -= sse;
}

static void pass_aapcs64(struct lo *lo, const struct fields *x, bool is_return, struct pass *p)
{
    (void)is_return;
    if (homogeneous(x)) {
        pass_homogeneous(x, p);
    } else if (x->size > 16) {
        p->how = HOW_POINTER;
    } else {
        p->how = HOW_PARTS;
        if (x->size <= 8)
            part_add(p, lo->i64, 0);
        else
            part_add(p, LLVMArrayType2(lo->i64, 2), 0);
    }
}

static void pass_aapcs_vfp(struct lo *lo, const struct fields *x, bool is_return, struct pass *p)
{
    if (homogeneous(x)) {
        pass_homogeneous(x, p);
    } else if (is_return) {
        p->how = x->size > 4 ? HOW_POINTER : HOW_PARTS;
        if (x->size <= 4)
            part_add(p, lo->i32, 0);
    } else if (x->size > 64) {
        p->how = HOW_BYVAL;
    } else {
        LLVMTypeRef word = x->align >= 8 ? lo->i64 : lo->i32;
        uint32_t bytes = x->align >= 8 ? 8 : 4;
        p->how = HOW_PARTS;
        part_add(p, LLVMArrayType2(word, (x->size + bytes - 1) / bytes), 0);
    }
}

static struct pass pass_of(struct lo *lo, const struct type *t, bool is_return, struct regs *r)
{
    struct pass p = { .how = HOW_NONE };
    struct kiln_err e = KILN_ERR_INIT;
    struct layout l = { 0, 1 };
    if (t->kind == TY_NONE)
        return p;
    if (is_scalar(t)) {
        p.how = HOW_SCALAR;
        part_add(&p, t->kind == TY_BOOL ? lo->i8 : lo_reg(lo, t), 0);
        if (!is_return)
            *(type_is_float(t) ? &r->sse : &r->ints) -= 1;
        return p;
    }
    if (t->kind == TY_ARRAY && !is_return) {
        p.how = HOW_POINTER;
        r->ints -= 1;
        return p;
    }
    struct fields *x = lo_alloc(lo, 1, sizeof(*x));
    fields_walk(lo, t, 0, x);
    if (type_layout(t, lo->t->pointer_bytes, &l, &e)) {
        lo_fail(lo, KILN_E_SIGNATURE, "%s", e.msg);
        return p;
    }
    x->size = p.size = l.size;
    x->align = p.align = l.align;
    if (lo->failed || !x->size)
        return p;
    if (lo->t->abi == LOWER_ABI_SYSV_X86_64)
        pass_x86_64(lo, x, is_return, r, &p);
    else if (lo->t->abi == LOWER_ABI_AAPCS64)
        pass_aapcs64(lo, x, is_return, &p);
    else
        pass_aapcs_vfp(lo, x, is_return, &p);
    return p;
}

/* ---- the function ---- */

static void extend_attr(struct lo *lo, LLVMValueRef fn, unsigned index, const struct type *t)
{
    if (lo->t->abi == LOWER_ABI_AAPCS64) /* there whoever uses the value extends it */
        return;
    if (t->kind != TY_BOOL && (!type_is_integer(t) || type_bits(t) >= 32))
        return;
    LLVMAddAttributeAtIndex(fn, index, lo_attr(lo, type_is_signed(t) ? "signext" : "zeroext", 0));
}

static void type_attr(struct lo *lo, LLVMValueRef fn, unsigned index, const char *name, const struct pass *p)
{
    LLVMTypeRef bytes = LLVMArrayType2(lo->i8, p->size);
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(fn, index, LLVMCreateTypeAttribute(lo->c, kind, bytes));
    LLVMAddAttributeAtIndex(
        fn, index,
        lo_attr(lo, "align",
                p->align < lo->t->pointer_bytes && name[0] == 'b' ? lo->t->pointer_bytes : p->align));
}

/* Room for a struct in coerced form: registers may hold more bytes than it has. */
static LLVMValueRef room(struct fn *f, const struct pass *p)
{
    LLVMValueRef m = fn_alloca(f, LLVMArrayType2(f->lo->i8, (p->size + 15) / 8 * 8), "struct");
    LLVMSetAlignment(m, p->align > 8 ? p->align : 8);
    return m;
}

static struct val receive(struct fn *f, const struct type *t, const struct pass *p, unsigned *at)
{
    struct lo *lo = f->lo;
    if (p->how == HOW_NONE)
        return val_zero(f, t);
    if (p->how == HOW_SCALAR) {
        LLVMValueRef x = LLVMGetParam(f->fn, (*at)++);
        if (t->kind == TY_BOOL)
            x = LLVMBuildICmp(f->b, LLVMIntNE, x, LLVMConstNull(lo->i8), "");
        return val_scalar(f, t, x);
    }
    if (p->how != HOW_PARTS)
        return mem_load(f, t, LLVMGetParam(f->fn, (*at)++), false);
    LLVMValueRef m = room(f, p);
    for (unsigned i = 0; i < p->n; i++)
        LLVMBuildStore(f->b, LLVMGetParam(f->fn, (*at)++), at_offset(f, m, p->at[i]));
    return mem_load(f, t, m, false);
}

static LLVMTypeRef return_type(struct lo *lo, const struct pass *p)
{
    if (p->how == HOW_SCALAR || (p->how == HOW_PARTS && p->n == 1))
        return p->part[0];
    if (p->how == HOW_PARTS)
        return LLVMStructTypeInContext(lo->c, (LLVMTypeRef *)p->part, p->n, 0);
    return lo->vd;
}

static void give(struct fn *f, const struct pass *p, struct val v, LLVMTypeRef type)
{
    struct lo *lo = f->lo;
    switch (p->how) {
    case HOW_NONE:
    case HOW_BYVAL:
        LLVMBuildRetVoid(f->b);
        break;
    case HOW_SCALAR:
        LLVMBuildRet(f->b, v.t->kind == TY_BOOL ? LLVMBuildZExt(f->b, v.v[0], lo->i8, "") : v.v[0]);
        break;
    case HOW_POINTER:
        mem_store(f, LLVMGetParam(f->fn, 0), v, false);
        LLVMBuildRetVoid(f->b);
        break;
    case HOW_PARTS: {
        LLVMValueRef m = room(f, p), r = LLVMGetPoison(type);
        mem_store(f, m, v, false);
        for (unsigned i = 0; i < p->n; i++) {
            LLVMValueRef x = LLVMBuildLoad2(f->b, p->part[i], at_offset(f, m, p->at[i]), "");
            r = p->n == 1 ? x : LLVMBuildInsertValue(f->b, r, x, i, "");
        }
        LLVMBuildRet(f->b, r);
        break;
    }
    }
    fn_stop(f);
}

static void build_symbol(struct lo *lo, const struct instance *in)
{
    uint32_t n = in->fn->n_params;
    struct regs r = { 6, 8 };
    struct pass ret = pass_of(lo, in->ret, true, &r), *pass = lo_alloc(lo, n + 1, sizeof(*pass));
    LLVMTypeRef *types = lo_alloc(lo, (size_t)n * 2 + 2, sizeof(*types)), rt = return_type(lo, &ret);
    unsigned n_types = 0, at;
    if (ret.how == HOW_POINTER) {
        types[n_types++] = lo->ptr;
        r.ints -= 1;
    }
    for (uint32_t i = 0; i < n && !lo->failed; i++) {
        pass[i] = pass_of(lo, in->params[i], false, &r);
        bool memory = pass[i].how == HOW_BYVAL || pass[i].how == HOW_POINTER;
        if (memory)
            types[n_types++] = lo->ptr;
        for (unsigned k = 0; k < pass[i].n && !memory; k++)
            types[n_types++] = pass[i].part[k];
    }
    if (lo->failed)
        return;
    struct fn f = { .lo = lo };
    f.fn = LLVMAddFunction(lo->m, lo->r->symbol, LLVMFunctionType(rt, types, n_types, 0));
    LLVMSetVisibility(f.fn, LLVMDefaultVisibility);
    lo_target_attrs(lo, f.fn);
    if (ret.how == HOW_POINTER)
        type_attr(lo, f.fn, 1, "sret", &ret);
    else if (ret.how == HOW_SCALAR)
        extend_attr(lo, f.fn, LLVMAttributeReturnIndex, in->ret);
    at = ret.how == HOW_POINTER;
    for (uint32_t i = 0; i < n; i++) {
        if (pass[i].how == HOW_SCALAR)
            extend_attr(lo, f.fn, at + 1, in->params[i]);
        if (pass[i].how == HOW_BYVAL)
            type_attr(lo, f.fn, at + 1, "byval", &pass[i]);
        if (pass[i].how == HOW_PARTS && lo->t->abi == LOWER_ABI_AAPCS64 &&
            LLVMGetTypeKind(pass[i].part[0]) == LLVMArrayTypeKind &&
            LLVMGetElementType(pass[i].part[0]) !=
                lo->i64) /* floats past the registers: 8 bytes a struct at least */
            LLVMAddAttributeAtIndex(f.fn, at + 1, lo_attr(lo, "alignstack", 8));
        at += pass[i].how == HOW_BYVAL || pass[i].how == HOW_POINTER ? 1 : pass[i].n;
    }
    helper_begin(&f);
    f.env = lo_null(lo);
    f.exc = fn_alloca(&f, LLVMArrayType2(lo->i64, sizeof(struct kiln_exc) / 8), "exc");
    struct val *params = lo_alloc(lo, n + 1, sizeof(*params));
    at = ret.how == HOW_POINTER;
    for (uint32_t i = 0; i < n; i++)
        params[i] = receive(&f, in->params[i], &pass[i], &at);
    LLVMValueRef status;
    struct val v = call_entry(&f, params, &status);
    if (status && !lo->failed) {
        LLVMBasicBlockRef raised = fn_block(&f, "raised"), done = fn_block(&f, "done");
        fn_cond(&f, LLVMBuildICmp(f.b, LLVMIntNE, status, lo_i32(lo, 0), ""), raised, done);
        fn_at(&f, raised);
        raise_drop(&f); /* nobody will see it */
        give(&f, &ret, val_zero(&f, in->ret), rt);
        fn_at(&f, done);
    }
    if (!lo->failed)
        give(&f, &ret, v, rt);
    helper_end(&f);
}

void lower_symbol(struct lo *lo)
{
    const struct instance *in = lo->p->instances[0];
    const char *name = lo->r->symbol;
    if (lo->t->abi == LOWER_ABI_NONE) {
        lo_fail(lo, KILN_E_TARGET, "this target has no plain C symbols");
        return;
    }
    if (lo->p->n_env) {
        lo_fail(lo, KILN_E_COMPILE,
                "a plain C symbol cannot use captured arrays: there is nobody to pass them");
        return;
    }
    if (!name[0] || LLVMGetNamedFunction(lo->m, name) || LLVMGetNamedGlobal(lo->m, name) ||
        !strncmp(name, "llvm.", 5)) {
        lo_fail(lo, KILN_E_INVALID, "%s cannot be the name of a plain C symbol", name);
        return;
    }
    build_symbol(lo, in);
}
