/* SPDX-License-Identifier: Apache-2.0
 * List, show and purge. */
#include "cache_rig.h"

struct answer {
    struct rig *g;
    struct kiln_err e;
    uint32_t n;
    bool more;
    struct cache_row rows[16]; /* numbers only: texts are gone with the callback */
    char names[16][32];
    char options[200], ir[32];
    size_t ir_len, manifest_len;
    unsigned char parts[KEY_PARTS_BYTES];
    uint64_t entries, bytes;
};

static void list_done(void *ctx, const struct cache_row *rows, uint32_t n, bool more, const struct kiln_err *e)
{
    struct answer *a = ctx;

    a->g->answers++;
    a->e = e ? *e : (struct kiln_err)KILN_ERR_INIT;
    a->n = n;
    a->more = more;
    for (uint32_t i = 0; i < n && i < 16; i++) {
        a->rows[i] = rows[i];
        snprintf(a->names[i], sizeof a->names[i], "%s", rows[i].entry);
    }
}

static void list(struct rig *g, struct answer *a, struct cache_list_query q)
{
    struct kiln_err e;
    unsigned wanted = g->answers + 1;

    a->g = g;
    assert_int_equal(cache_list(g->c, &q, list_done, a, &e), 0);
    rig_wait(g, wanted);
}

static void show_done(void *ctx, const struct cache_detail *d, const struct kiln_err *e)
{
    struct answer *a = ctx;

    a->g->answers++;
    a->e = e ? *e : (struct kiln_err)KILN_ERR_INIT;
    if (!d)
        return;
    a->rows[0] = d->row;
    snprintf(a->names[0], sizeof a->names[0], "%s", d->row.entry);
    snprintf(a->options, sizeof a->options, "%s", d->options);
    snprintf(a->ir, sizeof a->ir, "%.*s", (int)d->ir_len, (const char *)d->ir);
    a->ir_len = d->ir_len;
    a->manifest_len = d->manifest_len;
    assert_non_null(d->parts);
    memcpy(a->parts, d->parts, KEY_PARTS_BYTES);
}

static void show(struct rig *g, struct answer *a, const unsigned char *key, size_t len)
{
    struct kiln_err e;
    unsigned wanted = g->answers + 1;

    a->g = g;
    assert_int_equal(cache_show(g->c, key, len, show_done, a, &e), 0);
    rig_wait(g, wanted);
}

static void purge_done(void *ctx, uint64_t entries, uint64_t bytes, const struct kiln_err *e)
{
    struct answer *a = ctx;

    a->g->answers++;
    a->e = e ? *e : (struct kiln_err)KILN_ERR_INIT;
    a->entries = entries;
    a->bytes = bytes;
}

static void purge(struct rig *g, struct answer *a, struct cache_purge_query q)
{
    struct kiln_err e;
    unsigned wanted = g->answers + 1;

    a->g = g;
    assert_int_equal(cache_purge(g->c, &q, purge_done, a, &e), 0);
    rig_wait(g, wanted);
    assert_int_equal(a->e.code, 0);
}

static void rows_come_newest_first_in_pages(void **state)
{
    struct answer a;
    struct rig g;
    unsigned char last[HASH_BYTES];

    (void)state;
    rig_init(&g);
    rig_open(&g);
    for (unsigned i = 0; i < 10; i++) {
        g.now++;
        rig_put_now(&g, i, 100 + i);
    }
    list(&g, &a, (struct cache_list_query){ .owner = -1 });
    assert_int_equal(a.n, 10);
    assert_false(a.more);
    assert_string_equal(a.names[0], "function_9");
    assert_int_equal(a.rows[0].bytes, 109);
    assert_int_equal(a.rows[0].created, 1700000010);
    assert_int_equal(a.rows[0].owner, 1000);
    assert_string_equal(a.names[9], "function_0");
    list(&g, &a, (struct cache_list_query){ .owner = -1, .limit = 4 });
    assert_int_equal(a.n, 4);
    assert_true(a.more);
    memcpy(last, a.rows[3].key, HASH_BYTES);
    list(&g, &a, (struct cache_list_query){ .owner = -1, .limit = 6, .after = last });
    assert_int_equal(a.n, 6);
    assert_false(a.more);
    assert_string_equal(a.names[0], "function_5");
    last[0] ^= 1;
    list(&g, &a, (struct cache_list_query){ .owner = -1, .after = last });
    assert_int_equal(a.e.code, KILN_E_NOTFOUND);
    rig_done(&g);
}

static void rows_are_chosen(void **state)
{
    struct answer a;
    struct rig g;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    for (unsigned i = 8; i < 12; i++)
        rig_put_now(&g, i, 100);
    list(&g, &a, (struct cache_list_query){ .owner = -1, .entry = "on_1" });
    assert_int_equal(a.n, 2);
    list(&g, &a, (struct cache_list_query){ .owner = -1, .target = "x86-64-v3" });
    assert_int_equal(a.n, 4);
    list(&g, &a, (struct cache_list_query){ .owner = -1, .target = "x86-64" });
    assert_int_equal(a.n, 0);
    list(&g, &a, (struct cache_list_query){ .owner = 1000 });
    assert_int_equal(a.n, 4);
    list(&g, &a, (struct cache_list_query){ .owner = 1001 });
    assert_int_equal(a.n, 0);
    list(&g, &a, (struct cache_list_query){ .owner = -1, .restricted_to = true, .viewer = 1001 });
    assert_int_equal(a.n, 4); /* none is restricted */
    rig_done(&g);
}

/* The tree of ids is long: a list takes many turns, and finds what is far down. */
static void a_long_list_takes_turns(void **state)
{
    struct answer a;
    struct rig g;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    rig_put_now(&g, 7777777, 10);
    for (unsigned i = 0; i < 11000; i++)
        rig_put(&g, i, 1, 1000);
    cache_flush(g.c);
    rig_wait(&g, g.answers + 11000);
    list(&g, &a, (struct cache_list_query){ .owner = -1, .entry = "7777777" });
    assert_int_equal(a.n, 1);
    list(&g, &a, (struct cache_list_query){ .owner = -1, .entry = "no such name" });
    assert_int_equal(a.n, 0);
    purge(&g, &a, (struct cache_purge_query){ .owner = -1, .entry = "function_1" });
    assert_int_equal(a.entries, 1 + 10 + 100 + 1000 + 1000); /* 1, 1x, 1xx, 1xxx, 10xxx */
    assert_string_equal(rig_get(&g, 1), "miss");
    assert_string_not_equal(rig_get(&g, 2), "miss");
    rig_done(&g);
}

static void uses_are_counted(void **state)
{
    struct answer a;
    struct rig g;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    rig_put_now(&g, 1, 100);
    g.now += 50;
    for (unsigned i = 0; i < 5; i++)
        assert_string_equal(rig_get(&g, 1), "memory");
    list(&g, &a, (struct cache_list_query){ .owner = -1 });
    assert_int_equal(a.rows[0].hits, 5);
    assert_int_equal(a.rows[0].last_used, 1700000050);
    assert_int_equal(a.rows[0].created, 1700000000);
    rig_reopen(&g);
    assert_string_equal(rig_get(&g, 1), "disk");
    rig_reopen(&g); /* closing writes what is pending */
    list(&g, &a, (struct cache_list_query){ .owner = -1 });
    assert_int_equal(a.rows[0].hits, 6);
    rig_done(&g);
}

static void an_entry_is_shown_whole(void **state)
{
    unsigned char key[HASH_BYTES], want[KEY_PARTS_BYTES];
    struct key_parts parts;
    struct kiln_err e;
    struct answer a;
    char name[32];
    struct rig g;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    rig_put_now(&g, 1, 100);
    make_parts(&parts, 1, name);
    key_compute(&parts, key);
    key_digests(&parts, want);
    for (size_t len = 4; len <= HASH_BYTES; len += 28) {
        show(&g, &a, key, len);
        assert_int_equal(a.e.code, 0);
        assert_memory_equal(a.rows[0].key, key, HASH_BYTES);
        assert_string_equal(a.names[0], "function_1");
        assert_string_equal(a.ir, "function_1");
        assert_string_equal(a.options, "kind=kir semantics=python");
        assert_int_equal(a.manifest_len, 8);
        assert_memory_equal(a.parts, want, sizeof want);
    }
    key[0] ^= 1;
    show(&g, &a, key, 4);
    assert_int_equal(a.e.code, KILN_E_NOTFOUND);
    assert_int_equal(cache_show(g.c, key, 0, show_done, &a, &e), -KILN_E_INVALID);
    assert_int_equal(cache_show(g.c, key, 33, show_done, &a, &e), -KILN_E_INVALID);
    for (unsigned i = 2; i < 300; i++) /* of 299 keys, two begin alike */
        rig_put_now(&g, i, 1);
    make_key(2, key);
    for (unsigned first = 0, found = 0; !found; first++) {
        unsigned char byte = (unsigned char)first;
        assert_true(first < 256);
        show(&g, &a, &byte, 1);
        found = a.e.code == KILN_E_INVALID;
    }
    rig_done(&g);
}

static void purge_by_key_name_age_and_all(void **state)
{
    struct cache_stats s;
    unsigned char key[HASH_BYTES];
    struct kiln_err e;
    struct answer a;
    struct rig g;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    for (unsigned i = 0; i < 6; i++) {
        rig_put_now(&g, i, 100);
        g.now += 100;
    }
    assert_int_equal(cache_purge(g.c, &(struct cache_purge_query){ .owner = -1 }, purge_done, &a, &e),
                     -KILN_E_INVALID);

    purge(&g, &a, (struct cache_purge_query){ .owner = -1, .all = true, .dry_run = true });
    assert_int_equal(a.entries, 6);
    assert_true(a.bytes > 6 * 100);
    assert_string_equal(rig_get(&g, 0), "memory"); /* and that is a use, 100 s after 5 was put */

    make_key(3, key);
    purge(&g, &a, (struct cache_purge_query){ .owner = -1, .keys = key, .n_keys = 1 });
    assert_int_equal(a.entries, 1);
    assert_string_equal(rig_get(&g, 3), "miss");

    purge(&g, &a, (struct cache_purge_query){ .owner = -1, .entry = "function_4" });
    assert_int_equal(a.entries, 1);
    assert_string_equal(rig_get(&g, 4), "miss");

    purge(&g, &a, (struct cache_purge_query){ .owner = -1, .unused_s = 450 }); /* 1; not 0, which was used */
    assert_int_equal(a.entries, 1);
    assert_string_equal(rig_get(&g, 1), "miss");
    assert_string_equal(rig_get(&g, 0), "memory");

    purge(&g, &a, (struct cache_purge_query){ .owner = 1001, .all = true });
    assert_int_equal(a.entries, 0);
    cache_stats(g.c, &s);
    purge(&g, &a, (struct cache_purge_query){ .owner = -1, .all = true });
    assert_int_equal(a.entries, 3);
    assert_int_equal(a.bytes, s.bytes);
    assert_string_equal(rig_get(&g, 0), "miss");
    cache_stats(g.c, &s);
    assert_int_equal(s.entries, 0);
    assert_int_equal(s.bytes, 0);
    assert_int_equal(s.memory_entries, 0);
    rig_done(&g);
}

static void a_purge_gives_the_disk_back(void **state)
{
    struct answer a;
    struct stat st;
    char path[128];
    struct rig g;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    for (unsigned i = 0; i < 40; i++)
        rig_put_now(&g, i, 200000);
    purge(&g, &a, (struct cache_purge_query){ .owner = -1, .all = true });
    assert_int_equal(a.entries, 40);
    cache_flush(g.c);
    rig_close(&g);
    snprintf(path, sizeof path, "%s/store.db", g.dir);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size < 500000);
    rig_done(&g);
}

/* Two specializations of one function share a payload; it goes with the last of them. */
static void payloads_are_shared_and_counted(void **state)
{
    struct cache_stats one, two, none;
    unsigned char key[HASH_BYTES];
    struct key_parts parts;
    struct kiln_err e;
    struct answer a;
    char name[32], ir[4000];
    struct rig g;

    (void)state;
    rig_init(&g);
    rig_open(&g);
    memset(ir, 'k', sizeof ir);
    make_parts(&parts, 1, name);
    hash_once(ir, sizeof ir, parts.ir);
    for (unsigned i = 0; i < 2; i++) {
        unsigned wanted = g.answers + 1;
        parts.flags = i;
        key_compute(&parts, key);
        struct cache_entry entry = { .key = key, .parts = &parts, .blob = "x", .blob_len = 1, .ir = ir,
                                     .ir_len = sizeof ir };
        assert_int_equal(cache_put(g.c, &entry, rig_put_done, &g, NULL, &e), 0);
        rig_wait(&g, wanted);
        cache_stats(g.c, i ? &two : &one);
    }
    assert_true(one.bytes > 4000);
    assert_true(two.bytes < one.bytes + 2000);
    purge(&g, &a, (struct cache_purge_query){ .owner = -1, .keys = key, .n_keys = 1 });
    parts.flags = 0;
    key_compute(&parts, key);
    show(&g, &a, key, HASH_BYTES);
    assert_int_equal(a.ir_len, 4000);
    purge(&g, &a, (struct cache_purge_query){ .owner = -1, .keys = key, .n_keys = 1 });
    cache_stats(g.c, &none);
    assert_int_equal(none.bytes, 0);
    rig_done(&g);
}

static void memory_only_answers_too(void **state)
{
    struct answer a;
    struct rig g;

    (void)state;
    rig_init(&g);
    g.options.dir = NULL;
    rig_open(&g);
    rig_put_now(&g, 1, 100);
    rig_put_now(&g, 2, 100);
    list(&g, &a, (struct cache_list_query){ .owner = -1 });
    assert_int_equal(a.n, 2);
    show(&g, &a, a.rows[0].key, HASH_BYTES);
    assert_string_equal(a.names[0], "function_2");
    purge(&g, &a, (struct cache_purge_query){ .owner = -1, .all = true });
    assert_int_equal(a.entries, 2);
    assert_string_equal(rig_get(&g, 1), "miss");
    rig_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_newest_first_in_pages),
        cmocka_unit_test(rows_are_chosen),
        cmocka_unit_test(a_long_list_takes_turns),
        cmocka_unit_test(uses_are_counted),
        cmocka_unit_test(an_entry_is_shown_whole),
        cmocka_unit_test(purge_by_key_name_age_and_all),
        cmocka_unit_test(a_purge_gives_the_disk_back),
        cmocka_unit_test(payloads_are_shared_and_counted),
        cmocka_unit_test(memory_only_answers_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
