/* SPDX-License-Identifier: Apache-2.0
 * result.h - answers that are structs with many parts: one arena each, hidden before the struct, so that
 * one call of kiln_result_free frees all. */
#ifndef KILN_CLIENT_RESULT_H
#define KILN_CLIENT_RESULT_H

#include <stddef.h>

#include "proto/base/arena.h"

/* A zeroed struct of `size` bytes whose parts come from *ret_arena, at most `limit` bytes. NULL: no memory.
 */
void *result_new(size_t size, size_t limit, struct arena **ret_arena);
/* The arena of a result. */
struct arena *result_arena(void *result);

#endif
