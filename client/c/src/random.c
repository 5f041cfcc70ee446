/* SPDX-License-Identifier: Apache-2.0
 * random.c - the generators of random numbers that compiled code of this process shares: one pair a thread,
 * seeded from the operating system when it is first used, and again in the child of a fork. */
#include <kiln/kiln.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "client/c/src/client.h"

static _Thread_local struct kiln_random *states; /* two; on the heap, for a thread's own memory is small */
static _Thread_local uint32_t made_in[2];        /* generation that seeded each; 0: none */
static struct kiln_random spare[2];              /* for a thread that gets no memory */
static pthread_key_t key;
static _Atomic uint32_t generation = 1; /* one more in each child */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_fetch_add(&generation, 1);
}

static void prepare(void)
{
    pthread_key_create(&key, free); /* when the thread ends */
    pthread_atfork(NULL, NULL, in_child);
}

static struct kiln_random *make(void)
{
    struct kiln_random *s = calloc(2, sizeof *s);

    if (s)
        pthread_setspecific(key, s);
    return s ? s : spare;
}

/* 624 words from the operating system are as good a state as any; where it has none, time and place must do.
 */
static void seed(struct kiln_random *s, int which)
{
    char *p = (char *)s->word;
    size_t have = 0;

    while (have < sizeof s->word) {
        ssize_t n = getrandom(p + have, sizeof s->word - have, 0);
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    if (have < sizeof s->word) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        uint64_t x = (uint64_t)t.tv_nsec ^ (uint64_t)t.tv_sec << 32 ^ (uint64_t)getpid() << 16 ^
                     (uint64_t)(uintptr_t)s;
        for (uint32_t i = 0; i < 624; i++) {
            x = (x ^ (x >> 29)) * UINT64_C(0xBF58476D1CE4E5B9) + i + (uint64_t)which;
            s->word[i] = (uint32_t)(x >> 32);
        }
    }
    s->word[0] |= UINT32_C(0x80000000); /* never all zero */
    s->at = 624;
    s->seeded = 1;
    s->has_next = 0;
}

struct kiln_random *host_random(int32_t which)
{
    int k = which == 1;
    uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);

    if (made_in[k] != now) {
        pthread_once(&once, prepare);
        if (!states)
            states = make();
        seed(&states[k], k);
        made_in[k] = now;
    }
    return &states[k];
}
