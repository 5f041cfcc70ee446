/* SPDX-License-Identifier: Apache-2.0
 * A life of the cache in which one thing fails: an allocation of ours, of SQLite's, or an operation on a file.
 *
 * Whatever fails: every question gets exactly one answer, nothing wrong is served, nothing leaks, and afterwards
 * the directory opens, is whole, and holds what was acknowledged. */
#include "tests/unit/cache_rig.h"

#include <sqlite3.h>

#include "tests/fault/fault_alloc.h"
#include "tests/fault/fault_vfs.h"

#define ENTRIES 6
#define LEN 5000u

struct life {
    struct rig g;
    unsigned asked;
    bool acknowledged[ENTRIES];
};
struct put {
    struct life *life;
    unsigned n;
};
static struct put put_of[ENTRIES];

static void put_done(void *ctx, const struct kiln_err *e)
{
    struct put *p = ctx;
    struct cache_stats s;

    p->life->g.answers++;
    cache_stats(p->life->g.c, &s);
    p->life->acknowledged[p->n] |= !e && s.on_disk; /* without a directory it is memory's word */
}

static void got(void *ctx, struct cache_artifact *a, const char *source)
{
    struct life *l = ctx;

    (void)source;
    l->g.answers++;
    if (a) {
        cache_artifact_unref(l->g.got);
        l->g.got = cache_artifact_ref(a);
    }
}

static void listed(void *ctx, const struct cache_row *rows, uint32_t n, bool more, const struct kiln_err *e)
{
    struct life *l = ctx;

    (void)more;
    l->g.answers++;
    for (uint32_t i = 0; !e && i < n; i++)
        assert_memory_equal(rows[i].entry, "function_", 9);
}

static void shown(void *ctx, const struct cache_detail *d, const struct kiln_err *e)
{
    struct life *l = ctx;

    l->g.answers++;
    assert_true((d != NULL) != (e != NULL));
    if (d && d->ir_len)
        assert_memory_equal(d->ir, "function_", 9);
}

static void known(void *ctx, const struct cache_known *k, uint32_t n)
{
    struct life *l = ctx;

    l->g.answers++;
    assert_int_equal(n, 1);
    if (k->known)
        assert_int_equal(k->size, LEN);
}

static void purged(void *ctx, uint64_t entries, uint64_t bytes, const struct kiln_err *e)
{
    struct life *l = ctx;

    (void)bytes;
    (void)e;
    l->g.answers++;
    assert_true(entries <= 1);
}

static void put(struct life *l, unsigned n)
{
    static unsigned char blob[LEN];
    struct kiln_err e = KILN_ERR_INIT;
    unsigned char key[HASH_BYTES];
    struct key_parts parts;
    char name[32];

    make_parts(&parts, n, name);
    key_compute(&parts, key);
    make_blob(n, blob, sizeof blob);
    put_of[n] = (struct put){ l, n };
    struct cache_entry entry = { .key = key, .parts = &parts, .blob = blob, .blob_len = sizeof blob,
                                 .manifest = "manifest", .manifest_len = 8, .ir = name, .ir_len = strlen(name) };
    if (cache_put(l->g.c, &entry, put_done, &put_of[n], NULL, &e) == 0)
        l->asked++;
    else
        assert_int_equal(e.code, KILN_E_NOMEM);
}

static void asked(struct life *l, int r)
{
    if (r == 0)
        l->asked++;
    else
        assert_int_equal(r, -KILN_E_NOMEM);
}

/* Open, put, ask everything, close; twice, so that rows are read from the disk too. */
static void live(struct life *l)
{
    struct kiln_err e = KILN_ERR_INIT;
    unsigned char key[HASH_BYTES];

    for (unsigned round = 0; round < 2; round++) {
        l->asked = l->g.answers = 0;
        if (cache_open(&l->g.options, &l->g.c, &e) != 0) {
            assert_int_equal(e.code, KILN_E_NOMEM);
            continue;
        }
        for (unsigned i = round; i < ENTRIES - 2 + round; i++)
            put(l, i);
        rig_wait(&l->g, l->asked);
        for (unsigned i = 0; i < ENTRIES; i++) {
            make_key(i, key);
            asked(l, cache_get(l->g.c, key, got, l, &e));
            rig_wait(&l->g, l->asked);
            if (l->g.got)
                assert_int_equal(l->g.got->size, LEN);
            asked(l, cache_known(l->g.c, key, 1, known, l, &e));
        }
        make_key(1, key);
        asked(l, cache_show(l->g.c, key, HASH_BYTES, shown, l, &e));
        asked(l, cache_list(l->g.c, &(struct cache_list_query){ .owner = -1 }, listed, l, &e));
        rig_wait(&l->g, l->asked);
        make_key(ENTRIES - 1, key); /* is put in the second round only: gone at the end either way */
        asked(l, cache_purge(l->g.c, &(struct cache_purge_query){ .owner = -1, .keys = key, .n_keys = 1 }, purged, l, &e));
        rig_wait(&l->g, l->asked);
        cache_close(l->g.c);
        l->g.c = NULL;
        assert_int_equal(l->g.answers, l->asked);
    }
    cache_artifact_unref(l->g.got);
    l->g.got = NULL;
}

static void check_after(struct life *l)
{
    char path[160], query[] = "PRAGMA integrity_check";
    sqlite3_stmt *s;
    sqlite3 *db;

    rig_open(&l->g);
    assert_string_equal(cache_notice(l->g.c), "");
    for (unsigned i = 0; i < ENTRIES - 1; i++) {
        const char *source = rig_get(&l->g, i);
        if (strcmp(source, "miss") != 0)
            rig_check_got(&l->g, i, LEN);
        else if (l->acknowledged[i])
            fail_msg("entry %u was acknowledged and is gone", i);
    }
    cache_close(l->g.c);
    l->g.c = NULL;
    snprintf(path, sizeof path, "%s/store.db", l->g.dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(s, 0), "ok");
    sqlite3_finalize(s);
    sqlite3_close(db);
}

enum what { OURS, SQLITE, FILES, FULL, FILES_FOR_GOOD, FULL_FOR_GOOD };

static void arm(enum what what, long n)
{
    switch (what) {
    case OURS: fault_alloc_arm(n); break;
    case SQLITE: fault_sqlite_arm(n); break;
    default: fault_vfs_arm(n, what == FULL || what == FULL_FOR_GOOD, what >= FILES_FOR_GOOD); break;
    }
}

static bool disarm(enum what what)
{
    return what == OURS ? fault_alloc_disarm() : what == SQLITE ? fault_sqlite_disarm() : fault_vfs_disarm();
}

/* Fault n, n + step, ... until one is not reached. */
static void fail_in_turn(enum what what, long dense, long step)
{
    long before = fault_alloc_live(), n = 0, faults = 0;

    for (;; n += n < dense ? 1 : step) {
        struct life l;
        bool happened;
        memset(&l, 0, sizeof l);
        rig_init(&l.g);
        arm(what, n);
        live(&l);
        happened = disarm(what);
        check_after(&l);
        rig_done(&l.g);
        if (fault_alloc_live() != before)
            fail_msg("fault %ld leaks %ld blocks", n, fault_alloc_live() - before);
        if (!happened)
            break;
        faults++;
    }
    print_message("%ld faults in turn\n", faults);
    assert_true(faults > 20);
}

static void our_allocations(void **state)
{
    (void)state;
    fail_in_turn(OURS, 100000, 1);
}

static void sqlites_allocations(void **state)
{
    (void)state;
    fail_in_turn(SQLITE, 100, 23);
}

static void file_operations(void **state)
{
    (void)state;
    fail_in_turn(FILES, 100, 3);
}

static void file_operations_from_then_on(void **state)
{
    (void)state;
    fail_in_turn(FILES_FOR_GOOD, 100, 3);
}

static void a_full_disk(void **state)
{
    (void)state;
    fail_in_turn(FULL, 60, 5);
}

static void a_full_disk_from_then_on(void **state)
{
    (void)state;
    fail_in_turn(FULL_FOR_GOOD, 60, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_allocations),
        cmocka_unit_test(sqlites_allocations),
        cmocka_unit_test(file_operations),
        cmocka_unit_test(file_operations_from_then_on),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(a_full_disk_from_then_on),
    };
    fault_sqlite_install();
    fault_vfs_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
