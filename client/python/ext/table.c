/* SPDX-License-Identifier: Apache-2.0
 * table.c - a dispatcher's entries by fingerprint. */
#include <string.h>

#include "client/python/ext/dispatch.h"

uint64_t print_hash(const struct print *p)
{
    uint64_t h = UINT64_C(0x9E3779B97F4A7C15) + p->n;
    for (uint32_t i = 0; i < p->n; i++) {
        h = (h ^ p->words[i]) * UINT64_C(0xBF58476D1CE4E5B9);
        h ^= h >> 29;
    }
    return h;
}

static bool same(const struct entry *en, const struct print *p)
{
    return en->n_words == p->n && !memcmp(en->words, p->words, p->n * sizeof *p->words);
}

struct entry *table_find(struct dispatcher *d, const struct print *p)
{
    if (!d->n_entries)
        return NULL;
    uint64_t h = print_hash(p);
    for (struct entry *en = d->buckets[h & (d->n_buckets - 1)]; en; en = en->next)
        if (en->hash == h && same(en, p))
            return en;
    return NULL;
}

static void entry_free(struct entry *en)
{
    Py_DECREF(&en->spec->ob_base);
    PyMem_Free(en->plan);
    PyMem_Free(en);
}

static int grow(struct dispatcher *d)
{
    uint32_t n = d->n_buckets ? d->n_buckets * 2 : 4;
    struct entry **buckets = PyMem_Calloc(n, sizeof *buckets);
    if (!buckets) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 0; i < d->n_buckets; i++)
        for (struct entry *en = d->buckets[i], *next; en; en = next) {
            next = en->next;
            en->next = buckets[en->hash & (n - 1)];
            buckets[en->hash & (n - 1)] = en;
        }
    PyMem_Free(d->buckets);
    d->buckets = buckets;
    d->n_buckets = n;
    return 0;
}

struct entry *table_add(struct dispatcher *d, const struct print *p, struct specialization *s,
                        struct plan *plan)
{
    struct entry *en = PyMem_Malloc(sizeof *en + p->n * sizeof *en->words);
    if (!en || (d->n_entries >= d->n_buckets && grow(d))) {
        if (!en)
            PyErr_NoMemory();
        PyMem_Free(en);
        PyMem_Free(plan);
        return NULL;
    }
    *en = (struct entry){ .hash = print_hash(p), .spec = s, .plan = plan, .n_words = p->n };
    Py_INCREF(&s->ob_base);
    memcpy(en->words, p->words, p->n * sizeof *en->words);
    struct entry **at = &d->buckets[en->hash & (d->n_buckets - 1)], *old = NULL;
    for (struct entry **i = at; *i; i = &(*i)->next)
        if ((*i)->hash == en->hash && same(*i, p)) {
            old = *i;
            *i = old->next;
            d->n_entries--;
            break;
        }
    en->next = *at;
    *at = en;
    d->n_entries++;
    d->last = en;
    if (old) {
        old->next = d->trash;
        d->trash = old;
    }
    return en;
}

void table_sweep(struct dispatcher *d)
{
    while (d->trash) {
        struct entry *en = d->trash;
        d->trash = en->next;
        entry_free(en);
    }
}

void table_clear(struct dispatcher *d)
{
    struct entry **buckets = d->buckets;
    uint32_t n = d->n_buckets;
    d->buckets = NULL;
    d->n_buckets = d->n_entries = 0;
    d->last = NULL;
    for (uint32_t i = 0; i < n; i++)
        for (struct entry *en = buckets[i], *next; en; en = next) {
            next = en->next;
            entry_free(en);
        }
    PyMem_Free(buckets);
    table_sweep(d);
}

int table_choose(struct dispatcher *d, const struct print *p, bool convert, struct specialization **ret_spec,
                 struct plan **ret_plan)
{
    int best = MATCH_NOT;
    *ret_spec = NULL;
    *ret_plan = NULL;
    for (Py_ssize_t i = 0, n = PyList_Size(d->specs); i < n; i++) {
        struct specialization *s = (struct specialization *)PyList_GetItem(d->specs, i);
        if (s->sig->n_params != d->n_params || !specialization_fresh(s))
            continue;
        struct plan *plan;
        int score = plan_make(p, s->sig->params, d->n_params, convert, &s->numbers, &plan);
        if (score < 0) {
            PyMem_Free(*ret_plan);
            *ret_plan = NULL;
            return -1;
        }
        /* Without conversions only an exact fit counts in python semantics: pyint and int64 are two types. */
        if (plan && !convert && !d->numba && score > 0)
            score = MATCH_NOT;
        if (plan && score < best) {
            PyMem_Free(*ret_plan);
            *ret_plan = plan;
            *ret_spec = s;
            best = score;
        } else {
            PyMem_Free(plan);
        }
    }
    return 0;
}
