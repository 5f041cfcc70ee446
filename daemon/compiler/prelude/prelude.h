/* SPDX-License-Identifier: Apache-2.0
 * prelude.h - the library written in the language, as the build embedded it (prelude/build.py). */
#ifndef KILN_COMPILER_PRELUDE_H
#define KILN_COMPILER_PRELUDE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/compiler/infer/facts.h"

extern const unsigned char prelude_kir[]; /* one module; function 0 is only there to reach the others */
extern const size_t prelude_kir_len;      /* 0: none */
extern const struct unit_name prelude_names[];
extern const uint32_t prelude_n_names;

#endif
