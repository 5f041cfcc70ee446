/* SPDX-License-Identifier: Apache-2.0
 * library.c - what library.def lets the compiler do itself: the column `how` is a prefix and a name, and the
 * tables here and in library_ops.c turn the name into code. */
#include <stdio.h>
#include <string.h>

#include "daemon/compiler/lower/lo.h"

static const char *const names[] = {
    NULL,
#define X(ID, name, rule, how) name,
#include "daemon/compiler/library.def"
#undef X
};
static const char *const hows[] = {
    NULL,
#define X(ID, name, rule, how) how,
#include "daemon/compiler/library.def"
#undef X
};

const char *intrinsic_how(uint16_t id)
{
    return id < sizeof(hows) / sizeof(hows[0]) ? hows[id] : NULL;
}

const char *intrinsic_name(uint16_t id)
{
    return id < sizeof(names) / sizeof(names[0]) ? names[id] : NULL;
}

/* Half precision is computed in single precision, as NumPy does. */
static struct val widen_half(struct fn *f, struct val v)
{
    return v.t && v.t->kind == TY_FLOAT16 ? convert(f, v, lo_type(f->lo, TY_FLOAT32)) : v;
}

static struct val call_llvm(struct fn *f, const char *name, const struct val *args, uint32_t n)
{
    char full[40];
    LLVMValueRef in[3];
    snprintf(full, sizeof(full), "llvm.%s", name);
    for (uint32_t i = 0; i < n && i < 3; i++)
        in[i] = args[i].v[0];
    LLVMValueRef r = fast(f, lo_intrinsic(f, full, LLVMTypeOf(in[0]), in, n));
    vector_variants(f, r, full, LLVMTypeOf(in[0]));
    return val_scalar(f, args[0].t, r);
}

LLVMValueRef libm_call(struct fn *f, const char *name, LLVMTypeRef ret, LLVMValueRef *in, unsigned n,
                       bool pure)
{
    struct lo *lo = f->lo;
    char full[40];
    LLVMTypeRef types[3], type;
    for (unsigned i = 0; i < n && i < 3; i++)
        types[i] = LLVMTypeOf(in[i]);
    snprintf(full, sizeof(full), "%s%s", name, types[0] == lo->f32 ? "f" : "");
    LLVMValueRef fn = lo_declare(lo, full, ret, types, n, &type);
    if (pure) /* errno is nobody's here; encoding of the attribute: no access to any location */
        LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, lo_attr(lo, "memory", 0));
    return LLVMBuildCall2(f->b, type, fn, in, n, "");
}

static struct val call_libm(struct fn *f, const char *name, const struct val *args, uint32_t n)
{
    LLVMValueRef in[3];
    for (uint32_t i = 0; i < n && i < 3; i++)
        in[i] = args[i].v[0];
    return val_scalar(f, args[0].t, fast(f, libm_call(f, name, LLVMTypeOf(in[0]), in, n, true)));
}

/* Integers go to the runtime as 64 bits. */
static struct val call_rt(struct fn *f, uint32_t node, const char *name, struct val *args, uint32_t n)
{
    struct lo *lo = f->lo;
    if (type_is_complex(args[0].t))
        return rt_complex(f, name, args[0], n > 1 ? &args[1] : NULL);
    bool is_unsigned = args[0].t->kind == TY_UINT64;
    const struct type *i64 = lo_type(lo, is_unsigned ? TY_UINT64 : TY_INT64);
    char full[24];
    for (uint32_t i = 0; i < n; i++)
        if (!type_is_float(args[i].t))
            args[i] = convert(f, args[i], i64);
    if (is_unsigned) {
        snprintf(full, sizeof(full), "%s_u64", name);
        return val_scalar(f, args[0].t, rt_real(f, full, args, n, LLVMTypeOf(args[0].v[0])));
    }
    if (!strcmp(name, "isqrt"))
        raise_if(f, LLVMBuildICmp(f->b, LLVMIntSLT, args[0].v[0], lo_int(lo, 0), ""), node, EXC(ValueError),
                 "isqrt() argument must be nonnegative");
    return val_scalar(f, args[0].t, rt_real(f, name, args, n, LLVMTypeOf(args[0].v[0])));
}

struct val lower_library_math(struct fn *f, uint32_t node, const char *how, const struct val *in, uint32_t n)
{
    struct val args[3];
    const char *dot = strchr(how, '.');
    if (!n || n > 3 || !dot) {
        lo_fail_at(f, node, "library function with %u arguments", n);
        return val_dead();
    }
    const struct type *half = in[0].t->kind == TY_FLOAT16 ? in[0].t : NULL;
    for (uint32_t i = 0; i < n; i++) {
        args[i] = widen_half(f, in[i]);
        if (!type_is_number(args[i].t)) {
            lo_fail_at(f, node, "library function on something that is no number");
            return val_dead();
        }
    }
    const char *name = dot + 1;
    bool is_float = type_is_float(args[0].t);
    struct val r;
    if (type_is_complex(args[0].t) || !strncmp(how, "rt.", 3)) {
        r = call_rt(f, node, name, args, n);
    } else if (!is_float) { /* floor, ceil, trunc, fabs of integers and the like: they are whole already */
        if (!strcmp(name, "fabs"))
            return lower_intrinsic_op(f, node, "abs", args, n);
        return args[0];
    } else {
        r = !strncmp(how, "llvm.", 5) ? call_llvm(f, name, args, n) : call_libm(f, name, args, n);
    }
    return half ? convert(f, r, half) : r;
}

struct val lower_intrinsic(struct fn *f, uint32_t node, uint16_t id, const struct val *args, uint32_t n)
{
    const char *how = intrinsic_how(id);
    if (!how) {
        lo_fail(f->lo, KILN_E_INTERNAL, "intrinsic %u is not in the table", id);
        return val_dead();
    }
    for (uint32_t i = 0; i < n; i++)
        if (f->dead || !args[i].t)
            return val_dead();
    while (n && args[n - 1].t->kind == TY_NONE) /* optional ones that were left off */
        n--;
    if (!strncmp(how, "list.", 5))
        return lower_list_op(f, node, how + 5, args, n);
    if (!strncmp(how, "text.", 5))
        return lower_text_op(f, node, how + 5, args, n);
    if (!strncmp(how, "rand.", 5))
        return lower_random_op(f, node, how + 5, args, n);
    struct val r = !strncmp(how, "op.", 3) ? lower_intrinsic_op(f, node, how + 3, args, n)
                                           : lower_library_math(f, node, how, args, n);
    if (!f->dead && r.t && type_is_complex(r.t))
        return domain_check_complex(f, node, id, args, r);
    domain_check(f, node, id, args, n, r);
    return r;
}
