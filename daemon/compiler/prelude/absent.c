/* SPDX-License-Identifier: Apache-2.0
 * absent.c - a prelude without functions, for builds that have none. */
#include "daemon/compiler/prelude/prelude.h"

const unsigned char prelude_kir[1] = { 0 };
const size_t prelude_kir_len = 0;
const struct unit_name prelude_names[1] = { { "", 0 } };
const uint32_t prelude_n_names = 0;
