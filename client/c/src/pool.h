/* SPDX-License-Identifier: Apache-2.0
 * pool.h - the threads of parallel loops.
 *
 * [0, n) is cut into chunks by n and n_chunks alone, never by the number of threads, so results don't
 * depend on it. One loop uses the pool at a time; a loop inside a loop, or beside one, runs in its caller. */
#ifndef KILN_CLIENT_POOL_H
#define KILN_CLIENT_POOL_H

#include <stdint.h>

/* Threads that one loop may use: past this the chunks, not the threads, are the limit. */
#define POOL_MAX_THREADS 256

/* struct kiln_host.parallel_for. The status of the first failed chunk (by number), or 0; after a failure
 * no further chunk is begun. */
int32_t pool_parallel_for(int32_t (*body)(void *ctx, int64_t begin, int64_t end, int64_t chunk), void *ctx,
                          int64_t n, int64_t n_chunks);
/* n threads, caller included; 0: KILN_NUM_THREADS, or the CPUs of this process. Returns the number. */
uint32_t pool_set_threads(uint32_t n);

#endif
