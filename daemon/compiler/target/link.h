/* SPDX-License-Identifier: Apache-2.0
 * link.h - the two things that only LLVM's C++ interface does: linking with LLD in the process, and linking
 * of bitcode function by function. */
#ifndef KILN_COMPILER_LINK_H
#define KILN_COMPILER_LINK_H

#include <stddef.h>

#include <llvm-c/Core.h>

#include "daemon/compiler/target/target.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"

/* Stub libraries and builtins as descriptors of this process, made once. */
struct linker {
    int stubs[STUB__COUNT][3]; /* libc, libm, libmvec; -1: none */
    int builtins[STUB__COUNT]; /* helpers that code generation may call; -1: none */
};
int linker_init(struct linker *l, struct kiln_err *e);
void linker_done(struct linker *l);

/* Object file -> shared object, appended to out. An undefined symbol that artifacts may not use is
 * KILN_E_COMPILE with its name. Uses descriptors and the standard output's number; not thread-safe. */
int link_shared(const struct linker *l, const struct target *t, const unsigned char *object, size_t len,
                struct buf *out, struct kiln_err *e);

/* What a linked artifact promises, seen in its own dynamic section: nothing runs when it is loaded or
 * unloaded (no DT_INIT, DT_FINI or their arrays), no library is looked for in other places (RPATH), no code
 * is relocated. KILN_E_MODULE_BAD says what is wrong. */
int artifact_check(const unsigned char *elf, size_t len, struct kiln_err *e);

#ifdef __cplusplus
extern "C" {
#endif
/* LLD with these arguments; what it prints goes to the caller's buffer. 0 when it succeeded. */
int kiln_lld(const char *const *args, size_t n, char *message, size_t cap);
/* What to do when LLVM finds its own state broken (with its reason), and when memory is used up. Neither may
 * return. Once a process. */
void kiln_fatal_handlers(void (*fatal)(const char *reason), void (*out_of_memory)(void));
/* Link into dest what it needs of src (consumed), nothing else. 0 when it succeeded. */
int kiln_link_needed(LLVMModuleRef dest, LLVMModuleRef src);
#ifdef __cplusplus
}
#endif

#endif
