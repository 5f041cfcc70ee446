/* SPDX-License-Identifier: Apache-2.0
 * Damage is a miss: flipped bytes in rows, broken pages, files that are no database. */
#include "cache_rig.h"

#include <fcntl.h>
#include <sqlite3.h>

static void path_of(const struct rig *g, const char *file, char ret[160])
{
    snprintf(ret, 160, "%s/%s", g->dir, file);
}

/* Change rows behind the cache's back, while it is closed. */
static void sql(const struct rig *g, const char *text)
{
    sqlite3 *db;
    char path[160], *message = NULL;

    path_of(g, "store.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
    sqlite3_close(db);
}

static bool exists(const struct rig *g, const char *file)
{
    char path[160];

    path_of(g, file, path);
    return access(path, F_OK) == 0;
}

/* Whatever the damage: entry 1 is a miss, can be put again, and is found then. */
static void check_miss_and_repair(struct rig *g)
{
    struct cache_stats s;

    assert_string_equal(rig_get(g, 1), "miss");
    cache_stats(g->c, &s);
    assert_true(s.damaged > 0);
    rig_put_now(g, 1, 1000);
    rig_reopen(g);
    assert_string_equal(rig_get(g, 1), "disk");
    rig_check_got(g, 1, 1000);
}

static void damaged_rows_are_misses(void **state)
{
    static const char *const damages[] = {
        "UPDATE content SET blob = x'00' || substr(blob, 2) WHERE id = 1",
        "UPDATE content SET blob = substr(blob, 1, 999) WHERE id = 1",
        "UPDATE content SET manifest = 'manifesT' WHERE id = 1",
        "UPDATE content SET blob = 'text', manifest = 17 WHERE id = 1",
        "DELETE FROM content WHERE id = 1",
        "UPDATE artifact SET sum = zeroblob(32) WHERE id = 1",
        "UPDATE artifact SET sum = 5 WHERE id = 1",
        "UPDATE artifact SET owner = 0 WHERE id = 1",
        "UPDATE artifact SET restricted = 1 WHERE id = 1",
        "UPDATE artifact SET compile_us = 2 WHERE id = 1",
        /* another row's content under this key */
        "UPDATE content SET (manifest, blob) = (SELECT manifest, blob FROM content WHERE id = 2) WHERE id = 1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        struct rig g;
        rig_init(&g);
        rig_open(&g);
        rig_put_now(&g, 1, 1000);
        rig_put_now(&g, 2, 1000);
        rig_close(&g);
        sql(&g, damages[i]);
        rig_open(&g);
        check_miss_and_repair(&g);
        assert_string_equal(rig_get(&g, 2), "disk"); /* the neighbour is whole */
        rig_check_got(&g, 2, 1000);
        assert_false(exists(&g, "store.db.damaged"));
        rig_done(&g);
    }
}

/* A payload that is not what its digest says isn't shown. */
struct shown {
    struct rig *g;
    size_t ir_len;
};
static void show_done(void *ctx, const struct cache_detail *d, const struct kiln_err *e)
{
    struct shown *s = ctx;

    assert_null(e);
    s->g->answers++;
    s->ir_len = d->ir_len;
}

static void a_damaged_payload_is_not_shown(void **state)
{
    unsigned char key[HASH_BYTES];
    struct shown s;
    struct kiln_err e;
    struct rig g;
    unsigned wanted;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    rig_put_now(&g, 1, 10);
    rig_close(&g);
    sql(&g, "UPDATE payload SET body = 'x' || substr(body, 2)");
    rig_open(&g);
    make_key(1, key);
    s = (struct shown){ &g, 99 };
    wanted = g.answers + 1;
    assert_int_equal(cache_show(g.c, key, HASH_BYTES, show_done, &s, &e), 0);
    rig_wait(&g, wanted);
    assert_int_equal(s.ir_len, 0);
    rig_done(&g);
}

static void overwrite(const struct rig *g, long at, size_t len, int byte)
{
    char path[160];
    unsigned char *p = malloc(len);
    FILE *f;

    path_of(g, "store.db", path);
    f = fopen(path, "r+b");
    assert_non_null(f);
    memset(p, byte, len);
    fseek(f, at, SEEK_SET);
    assert_int_equal(fwrite(p, 1, len, f), len);
    fclose(f);
    free(p);
}

static void closed_with_entries(struct rig *g)
{
    rig_init(g);
    rig_open(g);
    for (unsigned i = 0; i < 50; i++)
        rig_put_now(g, i, 1000);
    rig_close(g);
}

static void files_that_are_no_database_are_set_aside(void **state)
{
    char path[160];
    struct rig g;

    (void)state;
    closed_with_entries(&g); /* garbage from the first byte */
    overwrite(&g, 0, 8192, 'x');
    rig_open(&g);
    check_miss_and_repair(&g);
    assert_true(exists(&g, "store.db.damaged"));
    rig_done(&g);

    closed_with_entries(&g); /* cut in the middle of a page, and to a few bytes */
    path_of(&g, "store.db", path);
    assert_int_equal(truncate(path, 10), 0);
    rig_open(&g);
    check_miss_and_repair(&g);
    rig_done(&g);

    closed_with_entries(&g);
    path_of(&g, "store.db", path);
    assert_int_equal(truncate(path, 9000), 0);
    rig_open(&g);
    check_miss_and_repair(&g);
    rig_done(&g);
}

static void another_version_is_set_aside(void **state)
{
    struct rig g;

    (void)state;
    closed_with_entries(&g);
    sql(&g, "PRAGMA user_version = 999");
    rig_open(&g);
    check_miss_and_repair(&g);
    assert_true(exists(&g, "store.db.damaged"));
    rig_done(&g);
}

static void lost_totals_are_damage(void **state)
{
    struct rig g;

    (void)state;
    closed_with_entries(&g);
    sql(&g, "DELETE FROM totals");
    rig_open(&g);
    check_miss_and_repair(&g);
    rig_done(&g);
}

/* Each page in turn is filled with rubbish. Every entry is then right or a miss, and puts work. */
static void any_broken_page_is_survived(void **state)
{
    char path[160];
    struct rig g;
    struct stat st;
    unsigned misses = 0;

    (void)state;
    closed_with_entries(&g);
    path_of(&g, "store.db", path);
    assert_int_equal(stat(path, &st), 0);
    rig_done(&g);
    assert_true(st.st_size > 10 * 4096);
    for (long page = 0; page < st.st_size / 4096; page += page < 12 ? 1 : 5) {
        closed_with_entries(&g);
        overwrite(&g, page * 4096 + (page ? 0 : 100), page ? 4096 : 3996, page & 1 ? 0xff : 0);
        rig_open(&g);
        for (unsigned i = 0; i < 50; i++) {
            if (strcmp(rig_get(&g, i), "miss") == 0)
                misses++;
            else
                rig_check_got(&g, i, 1000);
        }
        for (unsigned i = 0; i < 60; i++)
            rig_put_now(&g, i, 1000);
        rig_reopen(&g);
        for (unsigned i = 0; i < 60; i++) {
            assert_string_equal(rig_get(&g, i), "disk");
            rig_check_got(&g, i, 1000);
        }
        rig_done(&g);
    }
    assert_true(misses > 50); /* it did break something */
}

/* Damage that appears while the cache runs, seen by the reader first. */
static void damage_under_a_running_cache_is_survived(void **state)
{
    struct cache_stats s;
    struct stat st;
    char path[160];
    struct rig g;

    (void)state;
    closed_with_entries(&g);
    path_of(&g, "store.db", path);
    assert_int_equal(stat(path, &st), 0);
    rig_open(&g);
    overwrite(&g, 4096, (size_t)st.st_size - 4096, 0xff);
    for (unsigned i = 0; i < 50; i++)
        if (strcmp(rig_get(&g, i), "miss") != 0)
            rig_check_got(&g, i, 1000);
    for (unsigned i = 0; i < 50; i++)
        rig_put_now(&g, i, 1000);
    cache_stats(g.c, &s);
    assert_true(s.damaged > 0);
    assert_int_equal(s.rebuilds, 1);
    assert_int_equal(s.entries, 50);
    rig_reopen(&g);
    for (unsigned i = 0; i < 50; i++)
        assert_string_equal(rig_get(&g, i), "disk");
    rig_done(&g);
}

/* The files vanish: nothing crashes, and the next start has a working cache. */
static void a_directory_that_is_emptied_is_survived(void **state)
{
    struct rig g;
    char path[160];

    (void)state;
    closed_with_entries(&g);
    rig_open(&g);
    for (size_t i = 0; i < 3; i++) {
        static const char *const files[] = { "store.db", "store.db-wal", "store.db-shm" };
        path_of(&g, files[i], path);
        unlink(path);
    }
    for (unsigned i = 0; i < 50; i++) {
        rig_get(&g, i);
        rig_put(&g, i, 1000, 1000);
    }
    rig_close(&g);
    rig_open(&g);
    rig_put_now(&g, 1, 1000);
    rig_reopen(&g);
    assert_string_equal(rig_get(&g, 1), "disk");
    rig_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_rows_are_misses),
        cmocka_unit_test(a_damaged_payload_is_not_shown),
        cmocka_unit_test(files_that_are_no_database_are_set_aside),
        cmocka_unit_test(another_version_is_set_aside),
        cmocka_unit_test(lost_totals_are_damage),
        cmocka_unit_test(any_broken_page_is_survived),
        cmocka_unit_test(damage_under_a_running_cache_is_survived),
        cmocka_unit_test(a_directory_that_is_emptied_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
