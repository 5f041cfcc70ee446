/* SPDX-License-Identifier: Apache-2.0
 * lower.h - a typed program (infer/facts.h) becomes one LLVM module.
 *
 * The module holds, with internal linkage, a function for each instance, and exported:
 *   kiln_entry, kiln_bind, kiln_key   as <kiln/abi.h> says
 *   request->symbol                   the plain C function, where asked (docs/abi.md)
 * Everything that it needs from elsewhere is declared and undefined: functions of libm (only those that
 * C names, `sin` and `sinf`), memcpy/memmove/memset through LLVM's intrinsics, and functions of the
 * runtime (daemon/compiler/runtime), which the caller links in as bitcode. On x86-64, where fastmath allows
 * approximate functions: sin cos exp log pow (and with f) of libmvec, _ZGV{b,d,e}N*, since glibc 2.22.
 *
 * Calling convention of runtime functions, the same on every target so that no C ABI matters:
 *   kiln_rt_F_T   T is b, i32, i64, f32, f64, c64 or c128: the operand's type. Real scalars are passed and
 *                 returned by value. Complex values go by pointer: the result is then the first
 *                 parameter, `void kiln_rt_sin_c128(double ret[2], const double a[2])`, and
 *                 `void kiln_rt_pow_c128(double ret[2], const double a[2], const double b[2])`;
 *                 a real result of complex operands is returned: `double kiln_rt_abs_c128(const double
 * a[2])`. Those that library.def names with `rt.`, for i64 (gcd, lcm, isqrt) and c64/c128 (the rest; complex
 *   operands of FLOAT1/FLOAT2 rows too: sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos
 *   atan sinh cosh tanh asinh acosh atanh rint), and beyond the table:
 *     pow_c64 pow_c128        complex power, NumPy's rules
 *     div_c64 div_c128        complex quotient by Smith's method, as NumPy and CPython (no zero check)
 *     abs_c64 abs_c128        hypot of the parts, returned by value
 *   Nothing of the runtime raises; checks that raise are built here. */
#ifndef KILN_COMPILER_LOWER_LOWER_H
#define KILN_COMPILER_LOWER_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "daemon/compiler/infer/facts.h"
#include "proto/base/arena.h"
#include "proto/base/err.h"

/* Which C calling convention the plain symbol follows. */
enum lower_abi {
    LOWER_ABI_SYSV_X86_64,
    LOWER_ABI_AAPCS64,
    LOWER_ABI_AAPCS_VFP,
    LOWER_ABI_NONE /* refuse symbols */
};

struct lower_target {
    const char *triple;
    const char *data_layout; /* LLVM's string, from the target machine */
    unsigned pointer_bytes;  /* 8 or 4 */
    enum lower_abi abi;
    bool gpu;
    bool frame_pointer;         /* keep frame pointers (profilers) */
    const char *cpu, *features; /* NULL, or put on each function as target-cpu and target-features */
};

struct lower_request {
    const unsigned char *key; /* 32 bytes: content of kiln_key */
    const char *symbol;       /* NULL, or the plain C symbol's name */
};

/* Build the module in ctx. Codegen options are taken from p->options and each function's KIR flags.
 * Requires: p is what infer_run made. Ensures: *ret is a module that LLVM's verifier accepts (checked
 * here in debug builds: KILN_E_INTERNAL). The caller owns *ret. Everything temporary comes from a.
 * KILN_E_COMPILE, KILN_E_LIMIT (depth of expressions, size), KILN_E_NOMEM. On failure *ret is NULL.
 * d gets a diagnostic with (function, node) where a mistake of the user is seen only here; may be NULL. */
int lower_run(struct arena *a, const struct program *p, const struct lower_target *t,
              const struct lower_request *r, LLVMContextRef ctx, LLVMModuleRef *ret, struct diagnostics *d,
              struct kiln_err *e);

#endif
