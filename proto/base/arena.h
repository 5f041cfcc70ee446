/* SPDX-License-Identifier: Apache-2.0
 * arena.h - memory that dies together, with a hard limit.
 *
 * Three lifetimes exist in Kiln: process, request (an arena in the session) and job (an arena in the
 * worker). An arena past its limit returns NULL, which the caller reports as KILN_E_LIMIT; it never
 * ends the process. Not thread-safe. */
#ifndef KILN_BASE_ARENA_H
#define KILN_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
    struct arena_block *head; /* newest block */
    size_t used;              /* bytes handed out, for the limit and for statistics */
    size_t limit;             /* hard limit in bytes */
};

/* Caller's storage; limit in bytes. Nothing is allocated before the first use. */
void arena_init(struct arena *a, size_t limit);
void arena_done(struct arena *a);
/* Forget everything, keep one block for reuse. */
void arena_clear(struct arena *a);

/* Zeroed memory aligned to 16 bytes; NULL when the limit or the system's memory is reached. */
void *arena_alloc(struct arena *a, size_t size);
/* As arena_alloc for n items, checked against overflow. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* Copy of len bytes, always NUL-terminated behind them. */
char *arena_dup(struct arena *a, const void *p, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define arena_new_array(a, n, type) ((type *)arena_array((a), (n), sizeof(type)))

/* Grow an arena array by doubling: `items` has `n` used of `*cap`; returns the array with room for one
 * more, or NULL. The old array stays valid (and wasted) in the arena. */
void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t size);

#endif
