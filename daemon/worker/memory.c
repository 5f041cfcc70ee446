/* SPDX-License-Identifier: Apache-2.0
 * memory.c - an allocation that fails ends the process with a status that says so.
 *
 * LLVM does not look at every malloc: past the limit it would crash here or there. These definitions stand
 * before the C library's for the whole process, shared libraries included. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/codec/worker.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static void *checked(void *p)
{
    if (!p && errno == ENOMEM)
        _exit(WORKER_EXIT_MEMORY);
    return p;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    return checked(__libc_malloc(size));
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    return checked(__libc_calloc(n, size));
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t size)
{
    return size ? checked(__libc_realloc(p, size)) : __libc_realloc(p, size);
}

#endif
