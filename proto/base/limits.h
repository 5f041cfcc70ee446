/* SPDX-License-Identifier: Apache-2.0
 * limits.h - LIM_NAME constants of limits.def. */
#ifndef KILN_BASE_LIMITS_H
#define KILN_BASE_LIMITS_H

#include <stdint.h>

#define X(NAME, value, unit, reason) static const uint64_t LIM_##NAME __attribute__((unused)) = (value);
#include "proto/base/limits.def"
#undef X

#endif
