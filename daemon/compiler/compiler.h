/* SPDX-License-Identifier: Apache-2.0
 * compiler.h - private to the compiler: what lives as long as the process, and what as long as a job. */
#ifndef KILN_COMPILER_COMPILER_H
#define KILN_COMPILER_COMPILER_H

#include <llvm-c/Core.h>

#include "daemon/compiler/compile.h"
#include "daemon/compiler/infer/facts.h"
#include "daemon/compiler/target/emit.h"
#include "daemon/compiler/target/link.h"
#include "proto/ir/kir.h"
#include "proto/ir/type.h"

struct compiler {
    struct targets targets;
    struct linker linker;
    struct arena prelude_arena;
    struct unit prelude; /* mod NULL: none */
    char identity[256];
};

/* One compile. Everything of LLVM that a job owns is here and goes with job_done. */
struct job {
    struct compiler *c;
    struct arena *a;
    const struct compile_request *req;
    struct compile_result *res;
    const struct target *target;
    struct type_table *types;
    struct signature sig;
    const struct type *const *env;
    struct unit user;
    struct program *program; /* KIR only */
    LLVMContextRef context;
    LLVMModuleRef module;
    struct buf object;
    const char *symbol; /* plain C symbol of the artifact, or NULL */
    const struct type *ret;
    bool may_raise;
    char complaint[400]; /* LLVM's last error diagnostic */
};

/* passes.c: the flat list of passes for each kind of payload; each returns 0, a negative code, or JOB_STOP when
 * the form that was asked for is complete. */
#define JOB_STOP 1
int job_run(struct job *j, struct kiln_err *e);

/* foreign.c: LLVM IR from somebody else. */
int foreign_parse(struct job *j, struct kiln_err *e);
int foreign_check(struct job *j, struct kiln_err *e);
int foreign_wrap(struct job *j, struct kiln_err *e); /* adds kiln_entry, kiln_bind and kiln_key */

/* manifest.c */
int manifest_write(const struct job *j, struct buf *out, struct kiln_err *e);
/* Write it to the result and put it into the module, as an ELF note. Requires: the module is optimized. */
int manifest_note(struct job *j, struct kiln_err *e);

#endif
