/* SPDX-License-Identifier: Apache-2.0
 * list.c - room in lists. */
#include "proto/abi/abi.h"
#include "rt.h"

int32_t kiln_rt_list_reserve(const struct kiln_host *host, struct kiln_list_head *l, int64_t itemsize,
                             int64_t n);

/* Room for n items of itemsize bytes; grows by an eighth more, as CPython's lists do, so that appending is
 * linear in all. 0, or 1 when there is no memory. */
int32_t kiln_rt_list_reserve(const struct kiln_host *host, struct kiln_list_head *l, int64_t itemsize,
                             int64_t n)
{
    struct kiln_mem *mem, *old = l->items;
    int64_t cap = n + (n >> 3) + 6;

    if (n <= l->cap)
        return 0;
    if (n > (INT64_MAX >> 2) / (itemsize ? itemsize : 1))
        return 1;
    mem = host->alloc(cap * itemsize);
    if (!mem)
        return 1;
    __builtin_memcpy(mem->data, l->data, (size_t)(l->len * itemsize));
    l->data = mem->data;
    l->items = mem;
    l->cap = cap;
    if (old && __atomic_sub_fetch(&old->refs, 1, __ATOMIC_ACQ_REL) == 0)
        old->release(old);
    return 0;
}
