/* SPDX-License-Identifier: Apache-2.0
 * target.h - a target by its text: a row of targets.def and extra features. docs/targets.md is the grammar.
 */
#ifndef KILN_COMPILER_TARGET_H
#define KILN_COMPILER_TARGET_H

#include <llvm-c/TargetMachine.h>

#include "daemon/compiler/lower/lower.h"
#include "proto/base/err.h"

#define TARGET_TEXT                                                                                          \
    512 /* bytes of a target's canonical text and of LLVM's list; a request's text has half of it */
#define TARGET_FEATURES 64

enum target_stub { STUB_X86_64, STUB_AARCH64, STUB_ARMV7HF, STUB__COUNT };

struct target {
    char text[TARGET_TEXT];     /* canonical: the name, then features sorted */
    char features[TARGET_TEXT]; /* LLVM's: "+avx512f,+avx512bw" */
    const char *name, *triple, *cpu;
    enum target_stub stub;
    LLVMTargetMachineRef machine;
    char *layout; /* LLVM's data layout */
    struct lower_target lower;
    struct target *next;
};

/* Target machines by text, made when first asked for. Process lifetime. */
struct targets {
    struct target *first;
};

void targets_init(void); /* LLVM's back ends; once a process */
void targets_done(struct targets *t);
/* text "" is TARGET_BASELINE. KILN_E_TARGET names what is known. The target belongs to *t. */
int target_find(struct targets *t, const char *text, const struct target **ret, struct kiln_err *e);
/* The target named by an LLVM triple's architecture, for foreign modules; NULL if it is none of ours. */
const char *target_arch_of(const char *triple);

#define TARGET_BASELINE "x86-64-v2" /* every x86-64 server since 2009 */

#endif
