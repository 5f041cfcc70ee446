/* SPDX-License-Identifier: Apache-2.0
 * result.c - see result.h. */
#include "client/c/src/result.h"

#include <stdlib.h>

#include <kiln/kiln.h>

struct holder {
    struct arena arena;
    max_align_t body[];
};

void *result_new(size_t size, size_t limit, struct arena **ret_arena)
{
    struct holder *h = calloc(1, sizeof *h + size);
    if (!h)
        return NULL;
    arena_init(&h->arena, limit);
    *ret_arena = &h->arena;
    return h->body;
}

struct arena *result_arena(void *result)
{
    return &((struct holder *)((char *)result - offsetof(struct holder, body)))->arena;
}

void kiln_result_free(void *result)
{
    if (!result)
        return;
    struct arena *a = result_arena(result);
    arena_done(a);
    free((char *)result - offsetof(struct holder, body));
}
