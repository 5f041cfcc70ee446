/* SPDX-License-Identifier: Apache-2.0
 * compile.h - the compiler as a function: IR + signature + target + options -> object + manifest, or
 * diagnostics. It sees no socket, no file, no clock and no environment. */
#ifndef KILN_COMPILER_COMPILE_H
#define KILN_COMPILER_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"

enum compile_kind { COMPILE_KIR, COMPILE_LLVM /* bitcode of any readable version, or textual IR */ };
enum compile_emit { EMIT_SO, EMIT_OBJ, EMIT_ASM, EMIT_LLVM, EMIT_LLVM_OPT, EMIT_TYPED, EMIT__COUNT };

struct compile_options {
    uint32_t flags; /* KIR_F_* bits for the entry */
    bool numba;     /* semantics="numba" */
    bool checked, debug, nocontract;
};

struct compile_request {
    enum compile_kind kind;
    const unsigned char *body;
    size_t body_len;
    const char *signature;
    const char *const *env; /* types of the environment's slots */
    uint32_t n_env;
    const char *entry;  /* LLVM: the function's name */
    const char *target; /* "" or NULL: baseline. docs/targets.md */
    enum compile_emit emit;
    struct compile_options options;
    const char *symbol; /* NULL, or a plain C symbol to export as well */
    unsigned char key[32]; /* embedded as kiln_key */
    const unsigned char *positions;
    size_t positions_len;
};

struct note {
    const char *message;
    int32_t function, node; /* -1: none */
};

/* A user's mistake. Strings live in the job's arena. */
struct diagnostic {
    enum kiln_code code;
    const char *message;
    int32_t function, node;
    const char *hint; /* NULL or what to write instead */
    const struct note *notes;
    uint32_t n_notes;
};

struct diagnostics {
    struct arena *a;
    struct diagnostic *items;
    size_t n, cap;
};

/* Append; notes may be added to the returned item with diag_note. NULL when out of memory (the list
 * then holds what fits; the first item is never lost). */
struct diagnostic *diag_add(struct diagnostics *d, enum kiln_code code, int32_t function, int32_t node,
                            const char *hint, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void diag_note(struct diagnostics *d, struct diagnostic *to, int32_t function, int32_t node, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

struct compile_result {
    struct buf object;   /* ELF, assembly or text, by request->emit */
    struct buf manifest; /* msgpack, docs/manifest.md */
    struct diagnostics diags; /* filled on failure */
};

struct compiler; /* process lifetime: LLVM initialized, prelude decoded, target machines kept */

int compiler_new(struct compiler **ret, struct kiln_err *e);
void compiler_free(struct compiler *c);
/* One job. `a` is the job's arena. Returns 0, or a negative code with *e filled and, for mistakes of
 * the user, ret->diags. ret's buffers are initialized by the callee; the caller frees with
 * compile_result_done in either case. */
int compiler_run(struct compiler *c, struct arena *a, const struct compile_request *req, struct compile_result *ret,
                 struct kiln_err *e);
void compile_result_done(struct compile_result *r);
/* Everything of the toolchain that changes code, as text, for the key: LLVM version, runtime, prelude. */
const char *compiler_identity(const struct compiler *c);
/* Canonical name of the target used when a request names none. */
const char *compiler_baseline(const struct compiler *c);

#endif
