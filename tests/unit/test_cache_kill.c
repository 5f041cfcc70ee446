/* SPDX-License-Identifier: Apache-2.0
 * SIGKILL in the middle of writing: afterwards the database is whole and holds all that was acknowledged. */
#include "cache_rig.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#define ROUNDS 12
#define MOST 4000 /* puts of one child, should the kill come late */

struct ack {
    struct rig *g;
    int pipe;
    unsigned n;
};

static void acknowledge(void *ctx, const struct kiln_err *e)
{
    struct ack *a = ctx;

    a->g->answers++;
    if (!e && write(a->pipe, &a->n, sizeof a->n) != (ssize_t)sizeof a->n)
        _exit(3);
    free(a);
}

/* The child: put without end, say which are committed. */
static void child(struct rig *g, int pipe, unsigned first)
{
    struct kiln_err e = KILN_ERR_INIT;
    unsigned char blob[3000];

    if (cache_open(&g->options, &g->c, &e) != 0)
        _exit(2);
    for (unsigned i = first; i < first + MOST; i++) {
        struct key_parts parts;
        unsigned char key[HASH_BYTES];
        char name[32];
        struct ack *a = malloc(sizeof *a);
        make_parts(&parts, i, name);
        key_compute(&parts, key);
        make_blob(i, blob, sizeof blob);
        *a = (struct ack){ g, pipe, i };
        struct cache_entry entry = { .key = key, .parts = &parts, .blob = blob, .blob_len = sizeof blob,
                                     .manifest = "manifest", .manifest_len = 8, .ir = name, .ir_len = strlen(name) };
        if (cache_put(g->c, &entry, acknowledge, a, NULL, &e) != 0)
            _exit(4);
        if (i % 16 == 0)
            rig_wait(g, i - first > 32 ? i - first - 32 : 0);
        cache_poll(g->c);
    }
    for (;;)
        pause();
}

static void check_integrity(const struct rig *g)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    char path[160];

    snprintf(path, sizeof path, "%s/store.db", g->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(s, 0), "ok");
    sqlite3_finalize(s);
    /* the totals that triggers keep are the sums */
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT (SELECT count(*) FROM artifact) = entries AND"
                                        " (SELECT sum(total) FROM artifact) + (SELECT sum(total) FROM payload) = bytes AND"
                                        " (SELECT count(*) FROM content) = entries FROM totals",
                                        -1, &s, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(s, 0), 1);
    sqlite3_finalize(s);
    sqlite3_close(db);
}

static void acknowledged_entries_survive_sigkill(void **state)
{
    struct rig g;
    unsigned total = 0, first = 0;
    unsigned *acknowledged = calloc(ROUNDS * MOST, sizeof *acknowledged);

    (void)state;
    rig_init(&g);
    srand(20240607);
    for (unsigned round = 0; round < ROUNDS; round++) {
        int pipes[2], status;
        unsigned n, wanted = 1 + (unsigned)rand() % 400, got = 0;
        pid_t pid;
        assert_int_equal(pipe(pipes), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            close(pipes[0]);
            child(&g, pipes[1], first);
        }
        close(pipes[1]);
        /* kill at a point that the number of acknowledgements and a few spins decide */
        while (got < wanted && read(pipes[0], &n, sizeof n) == (ssize_t)sizeof n) {
            acknowledged[total++] = n;
            got++;
        }
        for (volatile int spin = rand() % 200000; spin > 0; spin--)
            ;
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        while (read(pipes[0], &n, sizeof n) == (ssize_t)sizeof n) /* said before the kill */
            acknowledged[total++] = n;
        close(pipes[0]);
        assert_true(got == wanted);
        rig_open(&g);
        assert_string_equal(cache_notice(g.c), "");
        for (unsigned i = total - got; i < total; i++) {
            assert_string_equal(rig_get(&g, acknowledged[i]), "disk");
            rig_check_got(&g, acknowledged[i], 3000);
        }
        rig_close(&g);
        check_integrity(&g);
        first += MOST;
    }
    rig_open(&g);
    for (unsigned i = 0; i < total; i++)
        assert_string_not_equal(rig_get(&g, acknowledged[i]), "miss");
    assert_true(total > ROUNDS);
    rig_done(&g);
    free(acknowledged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acknowledged_entries_survive_sigkill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
