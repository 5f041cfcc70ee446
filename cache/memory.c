/* SPDX-License-Identifier: Apache-2.0
 * memory.c - L0: a chained hash table over keys, which are uniform already, with a list by last use. */
#include <stdlib.h>
#include <string.h>

#include "cache/private.h"

int memory_init(struct memory *m, uint64_t max_n, uint64_t max_bytes, struct kiln_err *e)
{
    memset(m, 0, sizeof *m);
    m->max_n = max_n;
    m->max_bytes = max_bytes;
    m->n_buckets = 64;
    while (m->n_buckets < max_n && m->n_buckets < (1u << 20))
        m->n_buckets *= 2;
    m->buckets = calloc(m->n_buckets, sizeof *m->buckets);
    return m->buckets ? 0 : kiln_err_set(e, KILN_E_NOMEM, 0, "the memory tier");
}

void memory_done(struct memory *m)
{
    memory_clear(m);
    free(m->buckets);
    m->buckets = NULL;
}

static struct memory_node **slot(struct memory *m, const unsigned char *key)
{
    uint64_t h;
    struct memory_node **at;

    memcpy(&h, key, sizeof h);
    at = &m->buckets[h & (m->n_buckets - 1)];
    while (*at && memcmp((*at)->artifact->key, key, HASH_BYTES) != 0)
        at = &(*at)->chain;
    return at;
}

static void unlink_age(struct memory *m, struct memory_node *n)
{
    *(n->newer ? &n->newer->older : &m->newest) = n->older;
    *(n->older ? &n->older->newer : &m->oldest) = n->newer;
}

static void link_newest(struct memory *m, struct memory_node *n)
{
    n->newer = NULL;
    n->older = m->newest;
    *(m->newest ? &m->newest->newer : &m->oldest) = n;
    m->newest = n;
}

/* What an artifact holds of memory, roughly. */
static uint64_t weight(const struct cache_artifact *a)
{
    return a->size + a->manifest_len + 512;
}

static void remove_at(struct memory *m, struct memory_node **at)
{
    struct memory_node *n = *at;

    *at = n->chain;
    unlink_age(m, n);
    m->n--;
    m->bytes -= weight(n->artifact);
    cache_artifact_unref(n->artifact);
    free(n);
}

struct memory_node *memory_find(struct memory *m, const unsigned char *key)
{
    struct memory_node *n = *slot(m, key);

    if (n && n != m->newest) {
        unlink_age(m, n);
        link_newest(m, n);
    }
    return n;
}

struct memory_node *memory_add(struct memory *m, struct cache_artifact *a)
{
    struct memory_node **at = slot(m, a->key), *n;

    if (*at)
        remove_at(m, at);
    if (weight(a) > m->max_bytes || m->max_n == 0)
        return NULL;
    n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    while (m->oldest && (m->n >= m->max_n || m->bytes + weight(a) > m->max_bytes))
        remove_at(m, slot(m, m->oldest->artifact->key));
    n->artifact = cache_artifact_ref(a);
    at = slot(m, a->key);
    n->chain = *at;
    *at = n;
    link_newest(m, n);
    m->n++;
    m->bytes += weight(a);
    return n;
}

void memory_remove(struct memory *m, const unsigned char *key)
{
    struct memory_node **at = slot(m, key);

    if (*at)
        remove_at(m, at);
}

void memory_clear(struct memory *m)
{
    while (m->oldest)
        remove_at(m, slot(m, m->oldest->artifact->key));
}
