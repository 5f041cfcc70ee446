/* SPDX-License-Identifier: Apache-2.0
 * The cache from outside: put and get over restarts, limits, directories that can't be used. */
#include "cache_rig.h"

#include "cache/private.h"

static void a_put_is_found_in_memory_and_after_a_restart(void **state)
{
    struct rig g;
    struct cache_stats s;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    assert_string_equal(cache_notice(g.c), "");
    assert_string_equal(rig_get(&g, 1), "miss");
    rig_put_now(&g, 1, 10000);
    rig_put_now(&g, 2, 0);
    rig_put_now(&g, 3, 3u << 20);
    assert_string_equal(rig_get(&g, 1), "memory");
    rig_check_got(&g, 1, 10000);
    rig_reopen(&g);
    cache_stats(g.c, &s);
    assert_int_equal(s.entries, 3);
    assert_int_equal(s.memory_entries, 0);
    assert_true(s.on_disk);
    assert_string_equal(rig_get(&g, 1), "disk");
    rig_check_got(&g, 1, 10000);
    assert_int_equal(g.got->compile_us, 1000);
    assert_int_equal(g.got->owner, 1000);
    assert_false(g.got->restricted);
    assert_string_equal(rig_get(&g, 1), "memory");
    assert_string_equal(rig_get(&g, 2), "disk");
    rig_check_got(&g, 2, 0);
    assert_string_equal(rig_get(&g, 3), "disk");
    rig_check_got(&g, 3, 3u << 20);
    assert_string_equal(rig_get(&g, 4), "miss");
    rig_done(&g);
}

static void a_second_put_replaces_the_first(void **state)
{
    struct rig g;
    struct cache_stats s;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    rig_put_now(&g, 1, 100);
    rig_put_now(&g, 1, 200);
    rig_reopen(&g);
    assert_string_equal(rig_get(&g, 1), "disk");
    rig_check_got(&g, 1, 200);
    cache_stats(g.c, &s);
    assert_int_equal(s.entries, 1);
    rig_done(&g);
}

static void closing_commits_what_is_queued(void **state)
{
    struct rig g;
    unsigned before;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    before = g.answers;
    for (unsigned i = 0; i < 300; i++)
        rig_put(&g, i, 500, 1000);
    rig_close(&g); /* runs the callbacks too */
    assert_int_equal(g.answers - before, 300);
    assert_int_equal(g.e.code, 0);
    rig_open(&g);
    for (unsigned i = 0; i < 300; i++)
        assert_string_equal(rig_get(&g, i), "disk");
    rig_done(&g);
}

/* A callback that runs while the cache closes may ask again: it is answered, with a miss. */
static void ask_again(void *ctx, const struct kiln_err *e)
{
    struct rig *g = ctx;
    unsigned char key[HASH_BYTES];
    struct kiln_err ignored;

    assert_null(e);
    make_key(99, key);
    assert_int_equal(cache_get(g->c, key, rig_get_done, g, &ignored), 0);
}

static void purged_while_closing(void *ctx, uint64_t entries, uint64_t bytes, const struct kiln_err *e)
{
    (void)bytes;
    assert_null(e);
    assert_int_equal(entries, 1);
    ((struct rig *)ctx)->answers++;
}

static void what_is_asked_while_closing_is_answered(void **state)
{
    struct cache_purge_query all = { .all = true, .owner = -1 };
    struct key_parts parts;
    unsigned char key[HASH_BYTES];
    struct kiln_err e;
    char name[32];
    struct rig g;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    make_parts(&parts, 1, name);
    key_compute(&parts, key);
    struct cache_entry entry = { .key = key, .parts = &parts, .blob = "x", .blob_len = 1 };
    assert_int_equal(cache_put(g.c, &entry, ask_again, &g, NULL, &e), 0);
    assert_int_equal(cache_purge(g.c, &all, purged_while_closing, &g, &e), 0);
    rig_close(&g);
    assert_int_equal(g.answers, 2);
    assert_string_equal(g.source, "miss");
    rig_done(&g);
}

struct known_answer {
    struct rig *g;
    struct cache_known known[4];
};
static void known_done(void *ctx, const struct cache_known *known, uint32_t n)
{
    struct known_answer *a = ctx;

    assert_int_equal(n, 4);
    memcpy(a->known, known, sizeof a->known);
    a->g->answers++;
}

static void many_keys_are_asked_at_once(void **state)
{
    struct rig g;
    struct known_answer a = { .g = &g };
    unsigned char keys[4 * HASH_BYTES];
    struct kiln_err e;
    unsigned wanted;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    rig_put_now(&g, 1, 100);
    rig_reopen(&g);
    rig_put_now(&g, 2, 200);
    for (unsigned i = 0; i < 4; i++)
        make_key(i, keys + i * HASH_BYTES);
    wanted = g.answers + 1;
    assert_int_equal(cache_known(g.c, keys, 4, known_done, &a, &e), 0);
    rig_wait(&g, wanted);
    assert_false(a.known[0].known);
    assert_true(a.known[1].known && a.known[1].size == 100); /* disk */
    assert_true(a.known[2].known && a.known[2].size == 200); /* memory */
    assert_false(a.known[3].known);
    rig_done(&g);
}

static void the_limit_holds(void **state)
{
    struct cache_stats s;
    struct rig g;
    struct stat st;
    char path[128];

    (void)state;
    rig_init(&g);
    g.options.max_bytes = 2u << 20;
    g.options.max_artifacts = 4;
    rig_open(&g);
    for (unsigned i = 0; i < 400; i++) {
        g.now++;
        rig_put_now(&g, i, 20000);
        cache_stats(g.c, &s);
        assert_true(s.bytes <= 2u << 20);
    }
    assert_true(s.evictions >= 290);
    assert_true(s.entries >= 80 && s.entries <= 100);
    assert_int_equal(s.entries + s.evictions, 400);
    assert_string_equal(rig_get(&g, 399), "memory");
    assert_string_equal(rig_get(&g, 390), "disk"); /* equal in all but age: the old went */
    assert_string_equal(rig_get(&g, 0), "miss");
    /* pages are used again: the file does not grow with what passed through it */
    rig_close(&g);
    snprintf(path, sizeof path, "%s/store.db", g.dir);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size < 4 << 20);
    rig_done(&g);
}

static void what_is_dear_stays_longer(void **state)
{
    struct rig g;

    (void)state;
    rig_init(&g);
    g.options.max_bytes = 1u << 20;
    g.options.max_artifacts = 1;
    rig_open(&g);
    rig_put(&g, 0, 20000, 60000000); /* a minute of compiling, the oldest */
    rig_wait(&g, g.answers + 1);
    for (unsigned i = 1; i < 200; i++) {
        g.now++;
        rig_put_now(&g, i, 20000);
    }
    assert_string_equal(rig_get(&g, 0), "disk");
    assert_string_equal(rig_get(&g, 1), "miss");
    rig_done(&g);
}

static void what_is_used_stays_longer(void **state)
{
    struct rig g;

    (void)state;
    rig_init(&g);
    g.options.max_bytes = 1u << 20;
    g.options.max_artifacts = 1;
    rig_open(&g);
    rig_put_now(&g, 0, 20000);
    for (unsigned i = 1; i < 200; i++) {
        g.now += 10;
        rig_put_now(&g, i, 20000);
        assert_string_not_equal(rig_get(&g, 0), "miss");
    }
    assert_string_equal(rig_get(&g, 1), "miss");
    rig_done(&g);
}

static void what_is_larger_than_the_cache_is_refused(void **state)
{
    struct rig g;

    (void)state;
    rig_init(&g);
    g.options.max_bytes = 1u << 20;
    rig_open(&g);
    rig_put_now(&g, 1, 1000);
    rig_put(&g, 2, 900000, 1000);
    rig_wait(&g, g.answers + 1);
    assert_int_equal(g.e.code, KILN_E_LIMIT);
    assert_string_equal(rig_get(&g, 2), "memory"); /* served all the same */
    rig_reopen(&g);
    assert_string_equal(rig_get(&g, 1), "disk");
    rig_done(&g);
}

static void one_daemon_a_directory(void **state)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct cache *second = NULL;
    char pid[32];
    struct rig g;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    assert_int_equal(cache_open(&g.options, &second, &e), -KILN_E_EXISTS);
    snprintf(pid, sizeof pid, "pid %ld", (long)getpid());
    assert_non_null(strstr(e.msg, pid));
    assert_non_null(strstr(e.msg, g.dir));
    rig_close(&g);
    assert_int_equal(cache_open(&g.options, &second, &e), 0); /* free again */
    cache_close(second);
    rig_done(&g);
}

/* Put, get and list work in memory, and the notice says why. */
static void check_memory_only(struct rig *g, const char *why)
{
    struct cache_stats s;

    if (!strstr(cache_notice(g->c), why))
        fail_msg("the notice is '%s', without '%s'", cache_notice(g->c), why);
    rig_put_now(g, 1, 5000);
    assert_string_equal(rig_get(g, 1), "memory");
    rig_check_got(g, 1, 5000);
    rig_put_now(g, 2, 100); /* with one place in L0, 1 is in the database in memory */
    assert_string_equal(rig_get(g, 1), "disk");
    cache_stats(g->c, &s);
    assert_false(s.on_disk);
    assert_int_equal(s.entries, 2);
    assert_int_equal(s.write_errors, 0);
}

static void without_a_directory_memory_serves(void **state)
{
    struct rig g;

    (void)state;
    rig_init(&g);
    g.options.dir = NULL;
    g.options.max_artifacts = 1;
    rig_open(&g);
    check_memory_only(&g, "");
    assert_string_equal(cache_notice(g.c), "");
    rig_done(&g);
}

static void a_directory_that_cannot_be_used_leaves_memory(void **state)
{
    char path[128];
    struct rig g;

    (void)state;
    rig_init(&g);
    g.options.max_artifacts = 1;
    snprintf(path, sizeof path, "%s/file", g.dir);
    fclose(fopen(path, "w"));
    strcat(path, "/below");
    g.options.dir = path;
    rig_open(&g);
    check_memory_only(&g, "cannot be made");
    rig_close(&g);

    g.options.dir = "/proc/kiln";
    rig_open(&g);
    check_memory_only(&g, "cannot be made");
    rig_close(&g);

    g.options.dir = g.dir;
    chmod(g.dir, 0777);
    rig_open(&g);
    check_memory_only(&g, "written by everybody");
    rig_close(&g);

    if (geteuid() != 0) { /* root writes anywhere */
        chmod(g.dir, 0500);
        rig_open(&g);
        check_memory_only(&g, "not writable");
        rig_close(&g);
    }
    rig_done(&g);
}

static void a_missing_directory_is_made(void **state)
{
    char path[128], parent[128];
    struct stat st;
    struct rig g;

    (void)state;
    rig_init(&g);
    snprintf(parent, sizeof parent, "%s/a", g.dir);
    snprintf(path, sizeof path, "%s/a/b", g.dir);
    g.options.dir = path;
    rig_open(&g);
    rig_put_now(&g, 1, 10);
    rig_close(&g);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    remove_dir(path);
    remove_dir(parent);
    rig_done(&g);
}

/* Code and constants in it can be secret. */
static void nobody_else_may_read_the_files(void **state)
{
    static const char *const files[] = { "store.db", "store.db-wal", "store.db-shm", "lock" };
    mode_t old = umask(0);
    struct stat st;
    char path[160];
    struct rig g;

    (void)state;
    rig_init(&g);
    chmod(g.dir, 0755);
    rig_open(&g);
    rig_put_now(&g, 1, 100);
    for (unsigned round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
            snprintf(path, sizeof path, "%s/%s", g.dir, files[i]);
            assert_int_equal(stat(path, &st), 0);
            assert_int_equal(st.st_mode & 0777, 0600);
        }
        rig_close(&g);
        snprintf(path, sizeof path, "%s/store.db", g.dir);
        chmod(path, 0666); /* and it is made so again */
        rig_open(&g);
        assert_string_equal(rig_get(&g, 1), "disk");
    }
    umask(old);
    rig_done(&g);
}

/* A link in the place of the file leads nowhere. */
static void links_are_not_followed(void **state)
{
    char path[160], target[160];
    struct rig g;

    (void)state;
    rig_init(&g);
    snprintf(path, sizeof path, "%s/store.db", g.dir);
    snprintf(target, sizeof target, "%s/elsewhere", g.dir);
    assert_int_equal(symlink(target, path), 0);
    rig_open(&g);
    assert_non_null(strstr(cache_notice(g.c), "memory only"));
    assert_int_equal(access(target, F_OK), -1);
    rig_done(&g);
}

static void network_file_systems_are_known(void **state)
{
    (void)state;
    assert_string_equal(dir_network_name(0x6969), "NFS");
    assert_string_equal(dir_network_name(0xFF534D42), "CIFS");
    assert_string_equal(dir_network_name((uint64_t)(int32_t)0xFF534D42), "CIFS"); /* as statfs gives it where long is 32 bits */
    assert_null(dir_network_name(0xEF53)); /* ext4 */
    assert_null(dir_network_name(0x01021994)); /* tmpfs */
    assert_null(dir_network_name(0x58465342)); /* xfs */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_put_is_found_in_memory_and_after_a_restart),
        cmocka_unit_test(a_second_put_replaces_the_first),
        cmocka_unit_test(closing_commits_what_is_queued),
        cmocka_unit_test(what_is_asked_while_closing_is_answered),
        cmocka_unit_test(many_keys_are_asked_at_once),
        cmocka_unit_test(the_limit_holds),
        cmocka_unit_test(what_is_dear_stays_longer),
        cmocka_unit_test(what_is_used_stays_longer),
        cmocka_unit_test(what_is_larger_than_the_cache_is_refused),
        cmocka_unit_test(one_daemon_a_directory),
        cmocka_unit_test(without_a_directory_memory_serves),
        cmocka_unit_test(a_directory_that_cannot_be_used_leaves_memory),
        cmocka_unit_test(a_missing_directory_is_made),
        cmocka_unit_test(nobody_else_may_read_the_files),
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(network_file_systems_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
