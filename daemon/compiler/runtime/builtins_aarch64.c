/* SPDX-License-Identifier: Apache-2.0
 * builtins_aarch64.c - see builtins.inc. Half precision is converted by instructions. */
#define HALF_BY_HARDWARE
#include "builtins.inc"
