/* SPDX-License-Identifier: Apache-2.0
 * evict.c - keep the store under its limit.
 *
 * What goes first is large, long unused and cheap to compile again: score = bytes x age / compile time. Scoring
 * every row would be a scan, so each round scores a sample that two indexes give: the longest unused and the
 * largest. Rows that the sample misses are younger or smaller than those it has. */
#include <sqlite3.h>
#include <string.h>

#include "cache/private.h"

#define OLDEST 48
#define LARGEST 16
#define SAMPLE (OLDEST + LARGEST)
/* Added to the compile time: an artifact is never free, and division by nearly nothing would decide alone. */
#define BASE_US 1000.0
/* Freed beyond the limit at one go, so that the next puts need no eviction; some hundred rows, tens of ms. */
#define SLACK_BYTES (4u << 20)

struct candidate {
    int64_t id;
    uint64_t total;
    double score;
};

static int sample(struct db *db, enum db_sql sql, int most, uint64_t now, struct candidate *ret, unsigned *n,
                  struct kiln_err *e)
{
    sqlite3_stmt *s = db_prepare(db, sql, e);
    int r;

    if (!s)
        return -e->code;
    sqlite3_bind_int(s, 1, most);
    while ((r = db_step(db, s, e)) > 0) {
        struct candidate k = { sqlite3_column_int64(s, 0), (uint64_t)sqlite3_column_int64(s, 1), 0 };
        uint64_t used = (uint64_t)sqlite3_column_int64(s, 2);
        unsigned i = 0;
        while (i < *n && ret[i].id != k.id)
            i++;
        if (i < *n)
            continue;
        k.score = (double)k.total * ((double)(now > used ? now - used : 0) + 1.0) /
                  ((double)sqlite3_column_int64(s, 3) + BASE_US);
        ret[(*n)++] = k;
    }
    return r;
}

/* Worst first: the sample is small. */
static void sort(struct candidate *c, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        struct candidate k = c[i];
        unsigned j = i;
        for (; j > 0 && c[j - 1].score < k.score; j--)
            c[j] = c[j - 1];
        c[j] = k;
    }
}

static int delete_id(struct db *db, int64_t id, struct kiln_err *e)
{
    sqlite3_stmt *s = db_prepare(db, SQL_DELETE_ID, e);

    if (!s)
        return -e->code;
    sqlite3_bind_int64(s, 1, id);
    return db_step(db, s, e);
}

int evict(struct cache *c, struct db *db, struct kiln_err *e)
{
    uint64_t now = c->now(c->ctx), entries, bytes, goal, evicted = 0;
    int r = db_totals(db, &entries, &bytes, e);

    if (r < 0 || bytes <= c->max_bytes)
        return r;
    goal = c->max_bytes - (c->max_bytes / 64 < SLACK_BYTES ? c->max_bytes / 64 : SLACK_BYTES);
    while (bytes > goal) {
        struct candidate found[SAMPLE];
        unsigned n = 0;
        if ((r = sample(db, SQL_OLDEST, OLDEST, now, found, &n, e)) < 0 ||
            (r = sample(db, SQL_LARGEST, LARGEST, now, found, &n, e)) < 0)
            return r;
        if (n == 0)
            break; /* all that is left is pinned */
        sort(found, n);
        /* Half a sample at most, so that the next round can see what moved up. */
        for (unsigned i = 0; i < (n + 1) / 2 && bytes > goal; i++) {
            if ((r = delete_id(db, found[i].id, e)) < 0)
                return r;
            evicted++;
            if ((r = db_totals(db, &entries, &bytes, e)) < 0)
                return r;
        }
    }
    atomic_fetch_add(&c->evictions, evicted);
    return 0;
}
