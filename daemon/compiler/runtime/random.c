/* SPDX-License-Identifier: Apache-2.0
 * random.c - random numbers from the process's generators: MT19937, with the numbers that CPython's module
 * `random` (which: 0) and NumPy's legacy functions (1) make of its words. M. Matsumoto and T. Nishimura,
 * "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random number generator" (1998). */
#include <stddef.h>

#include "proto/abi/abi.h"
#include "rt.h"

#define RANDOM(name) kiln_rt_random_##name
typedef const struct kiln_host *host_p;

enum { WORDS = 624, AHEAD = 397 };

int64_t RANDOM(seed)(host_p host, int64_t which, int64_t value);
double RANDOM(double)(host_p host, int64_t which);
int64_t RANDOM(word)(host_p host, int64_t which);
double RANDOM(gauss)(host_p host, int64_t which);
int64_t RANDOM(bounded)(host_p host, int64_t which, int64_t most);
int64_t RANDOM(bits)(host_p host, int64_t k);
int64_t RANDOM(below)(host_p host, int64_t n);

static void start(struct kiln_random *s, uint32_t value)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        s->word[i] = value;
        value = UINT32_C(1812433253) * (value ^ (value >> 30)) + i + 1;
    }
    s->at = WORDS;
    s->seeded = 1;
    s->has_next = 0;
}

/* Each word of the key is mixed in, and then once more. */
static void start_from_key(struct kiln_random *s, const uint32_t *key, uint32_t n)
{
    uint32_t *w = s->word, i = 1;

    start(s, 19650218);
    for (uint32_t k = 0; k < WORDS; k++) { /* the keys here are shorter than that */
        w[i] = (w[i] ^ (w[i - 1] ^ (w[i - 1] >> 30)) * UINT32_C(1664525)) + key[k % n] + k % n;
        if (++i == WORDS) {
            w[0] = w[WORDS - 1];
            i = 1;
        }
    }
    for (uint32_t k = 0; k < WORDS - 1; k++) {
        w[i] = (w[i] ^ (w[i - 1] ^ (w[i - 1] >> 30)) * UINT32_C(1566083941)) - i;
        if (++i == WORDS) {
            w[0] = w[WORDS - 1];
            i = 1;
        }
    }
    w[0] = UINT32_C(0x80000000);
}

static struct kiln_random own[2]; /* where the process has none */

static struct kiln_random *state_of(host_p host, int64_t which)
{
    struct kiln_random *s;

    if (host && host->size >= offsetof(struct kiln_host, random) + sizeof host->random && host->random)
        return host->random((int32_t)which);
    s = &own[which == 1];
    if (!s->seeded)
        start(s, 5489);
    return s;
}

static inline uint32_t twist(uint32_t high, uint32_t low)
{
    uint32_t y = (high & UINT32_C(0x80000000)) | (low & UINT32_C(0x7FFFFFFF));

    return (y >> 1) ^ (0 - (low & 1) & UINT32_C(0x9908B0DF));
}

__attribute__((noinline)) static void refill(struct kiln_random *s)
{
    uint32_t *w = s->word;

    for (int i = 0; i < WORDS - AHEAD; i++)
        w[i] = w[i + AHEAD] ^ twist(w[i], w[i + 1]);
    for (int i = WORDS - AHEAD; i < WORDS - 1; i++)
        w[i] = w[i + AHEAD - WORDS] ^ twist(w[i], w[i + 1]);
    w[WORDS - 1] = w[AHEAD - 1] ^ twist(w[WORDS - 1], w[0]);
    s->at = 0;
}

static uint32_t word(struct kiln_random *s)
{
    uint32_t y;

    if (s->at >= WORDS)
        refill(s);
    y = s->word[s->at++];
    y ^= y >> 11;
    y ^= (y << 7) & UINT32_C(0x9D2C5680);
    y ^= (y << 15) & UINT32_C(0xEFC60000);
    return y ^ (y >> 18);
}

static double uniform(struct kiln_random *s)
{
    uint32_t a = word(s) >> 5, b = word(s) >> 6;

    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

/* random.seed of an integer takes its magnitude's words as a key, numpy.random.seed one word as it is. */
int64_t RANDOM(seed)(host_p host, int64_t which, int64_t value)
{
    struct kiln_random *s = state_of(host, which);
    uint32_t key[2] = { (uint32_t)value, (uint32_t)((uint64_t)value >> 32) };

    if (which == 1)
        start(s, (uint32_t)value);
    else
        start_from_key(s, key, key[1] ? 2 : 1);
    return 0;
}

double RANDOM(double)(host_p host, int64_t which)
{
    return uniform(state_of(host, which));
}

int64_t RANDOM(word)(host_p host, int64_t which)
{
    return word(state_of(host, which));
}

/* A number of the standard normal distribution; they come in pairs. Python takes a point on the circle by its
 * angle, NumPy one inside it by trial. */
double RANDOM(gauss)(host_p host, int64_t which)
{
    struct kiln_random *s = state_of(host, which);
    double x, y, r, f;

    if (s->has_next) {
        s->has_next = 0;
        f = s->next;
        s->next = 0;
        return f;
    }
    s->has_next = 1;
    if (which == 0) {
        x = uniform(s) * 6.283185307179586;
        f = sqrt(-2.0 * log(1.0 - uniform(s)));
        s->next = sin(x) * f;
        return cos(x) * f;
    }
    do {
        x = 2.0 * uniform(s) - 1.0;
        y = 2.0 * uniform(s) - 1.0;
        r = x * x + y * y;
    } while (r >= 1.0 || r == 0.0);
    f = sqrt(-2.0 * log(r) / r);
    s->next = f * x;
    return f * y;
}

/* 0 to most, both included; most is unsigned. */
int64_t RANDOM(bounded)(host_p host, int64_t which, int64_t most)
{
    struct kiln_random *s = state_of(host, which);
    uint64_t top = (uint64_t)most, mask = top ? UINT64_MAX >> __builtin_clzll(top) : 0, v;

    if (!top)
        return 0;
    do {
        v = word(s);
        if (top > UINT32_MAX)
            v = v << 32 | word(s);
        v &= mask;
    } while (v > top);
    return (int64_t)v;
}

/* k from 1 to 64 bits, the lower word first. */
static uint64_t bits(struct kiln_random *s, int64_t k)
{
    uint64_t low;

    if (k <= 32)
        return word(s) >> (32 - k);
    low = word(s);
    return (uint64_t)(word(s) >> (64 - k)) << 32 | low;
}

int64_t RANDOM(bits)(host_p host, int64_t k)
{
    return k <= 0 ? 0 : (int64_t)bits(state_of(host, 0), k > 64 ? 64 : k);
}

/* 0 to n - 1, as CPython: as many bits as n has, until they are less. n is positive. */
int64_t RANDOM(below)(host_p host, int64_t n)
{
    struct kiln_random *s = state_of(host, 0);
    int64_t k = 64 - __builtin_clzll((uint64_t)n);
    uint64_t r;

    do
        r = bits(s, k);
    while (r >= (uint64_t)n);
    return (int64_t)r;
}
