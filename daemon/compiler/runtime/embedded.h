/* SPDX-License-Identifier: Apache-2.0
 * embedded.h - what the build compiled for each kind of target and put into the worker (see CMakeLists.txt). */
#ifndef KILN_COMPILER_RUNTIME_EMBEDDED_H
#define KILN_COMPILER_RUNTIME_EMBEDDED_H

#include <stddef.h>

#include "daemon/compiler/target/target.h"

struct embedded {
    const unsigned char *data;
    size_t len; /* 0: there is none */
};

extern const struct embedded runtime_bitcode[STUB__COUNT];  /* kiln_rt_* */
extern const struct embedded runtime_builtins[STUB__COUNT]; /* object file: helpers of code generation */
extern const struct embedded runtime_stubs[STUB__COUNT][3]; /* libc.so.6, libm.so.6, libmvec.so.1 */

#endif
