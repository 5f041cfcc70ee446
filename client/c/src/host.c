/* SPDX-License-Identifier: Apache-2.0
 * host.c - the services that compiled code gets from its process: memory, printing, interruption.
 *
 * One static table for the whole process, so that plain C callbacks, which have no context, work too. */
#include <kiln/kiln.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/c/src/client.h"
#include "client/c/src/pool.h"

/* The header takes one cache line, so that data behind it is aligned like the block. */
#define MEM_ALIGN 64

_Static_assert(sizeof(struct kiln_mem) <= MEM_ALIGN, "the header fits before the data");

static _Atomic int64_t mem_live, mem_bytes, mem_total;
static _Atomic int64_t libraries_live, loads_total;
static _Atomic(int32_t (*)(const char *, int64_t)) print_hook;
static _Atomic(int32_t (*)(void)) interrupted_hook;
static _Atomic(kiln_call_python_fn) python_hook;
static _Atomic(int64_t (*)(const void *, int64_t)) hash_hook;

static void mem_release(struct kiln_mem *m)
{
    atomic_fetch_sub_explicit(&mem_live, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&mem_bytes, m->size, memory_order_relaxed);
    free(m);
}

struct kiln_mem *kiln_mem_alloc(int64_t size)
{
    if (size < 0 || (uint64_t)size > (uint64_t)PTRDIFF_MAX - 2 * MEM_ALIGN)
        return NULL;
    size_t rounded = ((size_t)size + MEM_ALIGN - 1) & ~(size_t)(MEM_ALIGN - 1);
    struct kiln_mem *m = aligned_alloc(MEM_ALIGN, MEM_ALIGN + rounded);
    if (!m)
        return NULL;
    *m = (struct kiln_mem){ .refs = 1, .release = mem_release, .data = (char *)m + MEM_ALIGN, .size = size };
    atomic_fetch_add_explicit(&mem_live, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&mem_bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(&mem_total, 1, memory_order_relaxed);
    return m;
}

static int32_t host_print(const char *text, int64_t len)
{
    int32_t (*hook)(const char *, int64_t) = atomic_load_explicit(&print_hook, memory_order_acquire);
    if (hook)
        return hook(text, len);
    return len >= 0 && fwrite(text, 1, (size_t)len, stdout) == (size_t)len ? 0 : KILN_HOST_ERROR;
}

static int32_t host_interrupted(void)
{
    int32_t (*hook)(void) = atomic_load_explicit(&interrupted_hook, memory_order_acquire);
    return hook ? hook() : 0;
}

static int32_t host_call_python(int64_t number, const char *arg_types, const void *args, const char *ret_type, void *ret)
{
    kiln_call_python_fn hook = atomic_load_explicit(&python_hook, memory_order_acquire);
    return hook ? hook(number, arg_types, args, ret_type, ret) : KILN_HOST_ERROR;
}

/* FNV-1a */
static int64_t host_hash(const void *bytes, int64_t size)
{
    int64_t (*hook)(const void *, int64_t) = atomic_load_explicit(&hash_hook, memory_order_acquire);
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    if (hook)
        return hook(bytes, size);
    for (int64_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001B3);
    return (int64_t)h;
}

static const struct kiln_host host = {
    .version = KILN_ABI_VERSION,
    .size = sizeof(struct kiln_host),
    .alloc = kiln_mem_alloc,
    .interrupted = host_interrupted,
    .print = host_print,
    .parallel_for = pool_parallel_for,
    .call_python = host_call_python,
    .hash = host_hash,
    .random = host_random,
};

const struct kiln_host *kiln_host(void)
{
    return &host;
}

void kiln_host_set_print(int32_t (*print)(const char *text, int64_t len))
{
    atomic_store_explicit(&print_hook, print, memory_order_release);
}

void kiln_host_set_interrupted(int32_t (*interrupted)(void))
{
    atomic_store_explicit(&interrupted_hook, interrupted, memory_order_release);
}

void kiln_host_set_hash(int64_t (*hash)(const void *bytes, int64_t size))
{
    atomic_store_explicit(&hash_hook, hash, memory_order_release);
}

uint32_t kiln_host_set_threads(uint32_t n)
{
    return pool_set_threads(n);
}

void host_count_library(int delta)
{
    atomic_fetch_add_explicit(&libraries_live, delta, memory_order_relaxed);
    if (delta > 0)
        atomic_fetch_add_explicit(&loads_total, 1, memory_order_relaxed);
}

void kiln_counts(struct kiln_counts *ret)
{
    *ret = (struct kiln_counts){
        .mem_live = atomic_load(&mem_live),
        .mem_bytes = atomic_load(&mem_bytes),
        .mem_total = atomic_load(&mem_total),
        .libraries_live = atomic_load(&libraries_live),
        .loads_total = atomic_load(&loads_total),
    };
}

void kiln_host_set_python(kiln_call_python_fn call)
{
    atomic_store_explicit(&python_hook, call, memory_order_release);
}
