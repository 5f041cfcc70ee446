/* SPDX-License-Identifier: Apache-2.0
 * arena.c - a chain of blocks, newest first; blocks double up to 1 MiB. */
#include "proto/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 16u
#define FIRST_BLOCK 4096u
#define MAX_BLOCK (1u << 20)

struct arena_block {
    struct arena_block *next;
    size_t size, used;
    size_t pad; /* keeps data[] at 16-byte alignment */
    unsigned char data[];
};

_Static_assert(offsetof(struct arena_block, data) % ALIGN == 0, "arena data alignment");

void arena_init(struct arena *a, size_t limit)
{
    a->head = NULL;
    a->used = 0;
    a->limit = limit;
}

static void free_chain(struct arena_block *b)
{
    while (b) {
        struct arena_block *next = b->next;
        free(b);
        b = next;
    }
}

void arena_done(struct arena *a)
{
    free_chain(a->head);
    a->head = NULL;
    a->used = 0;
}

void arena_clear(struct arena *a)
{
    if (a->head) {
        free_chain(a->head->next);
        a->head->next = NULL;
        a->head->used = 0;
    }
    a->used = 0;
}

static struct arena_block *add_block(struct arena *a, size_t need)
{
    size_t size = a->head ? a->head->size * 2 : FIRST_BLOCK;
    struct arena_block *b;

    if (size > MAX_BLOCK)
        size = MAX_BLOCK;
    if (size < need)
        size = need;
    b = malloc(sizeof *b + size);
    if (!b)
        return NULL;
    b->next = a->head;
    b->size = size;
    b->used = 0;
    a->head = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
    struct arena_block *b = a->head;
    size_t need;
    void *p;

    if (size > a->limit || a->used > a->limit - size)
        return NULL;
    need = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (need < size)
        return NULL;
    if (!b || b->size - b->used < need) {
        b = add_block(a, need);
        if (!b)
            return NULL;
    }
    p = b->data + b->used;
    b->used += need;
    a->used += need;
    memset(p, 0, need);
    return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        return NULL;
    return arena_alloc(a, n * size);
}

char *arena_dup(struct arena *a, const void *p, size_t len)
{
    char *s = len < SIZE_MAX ? arena_alloc(a, len + 1) : NULL;

    if (s && len)
        memcpy(s, p, len);
    return s;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *s;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return NULL;
    s = arena_alloc(a, (size_t)n + 1);
    if (!s)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}

void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t size)
{
    size_t wanted;
    void *p;

    if (n < *cap)
        return items;
    wanted = *cap ? *cap * 2 : 8;
    if (wanted < *cap)
        return NULL;
    p = arena_array(a, wanted, size);
    if (!p)
        return NULL;
    if (n)
        memcpy(p, items, n * size);
    *cap = wanted;
    return p;
}
