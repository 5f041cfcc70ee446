/* SPDX-License-Identifier: Apache-2.0
 * emit.h - an LLVM module becomes optimized, then machine code. */
#ifndef KILN_COMPILER_EMIT_H
#define KILN_COMPILER_EMIT_H

#include <llvm-c/Core.h>

#include "daemon/compiler/target/target.h"
#include "proto/base/buf.h"

/* default<O3> with both vectorizers, after functions with one caller were inlined. */
int emit_optimize(LLVMModuleRef m, const struct target *t, struct kiln_err *e);
/* Object file or assembly, appended to out. */
int emit_code(LLVMModuleRef m, const struct target *t, bool assembly, struct buf *out, struct kiln_err *e);
/* Textual LLVM IR. */
int emit_text(LLVMModuleRef m, struct buf *out, struct kiln_err *e);

#endif
