/* SPDX-License-Identifier: Apache-2.0
 * db.c - one SQLite connection and its prepared statements. Nothing else of the cache knows SQLite's codes. */
#include "cache/private.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/schema/store_sql.h"

#define APPLICATION_ID 0x4b494c4e /* "KILN" */
#define SCHEMA_VERSION 1

static const char *const texts[] = {
#define X(NAME, text) text,
#include "cache/sql.def"
#undef X
};

static int db_fail(struct db *db, int code, struct kiln_err *e)
{
    int primary = code & 0xff;

    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
        db->corrupt = true;
    if (primary == SQLITE_NOMEM)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "the cache's database");
    return kiln_err_set(e, KILN_E_IO, db->h ? sqlite3_system_errno(db->h) : 0, "cache database: %s",
                        db->h && sqlite3_errcode(db->h) ? sqlite3_errmsg(db->h) : sqlite3_errstr(code));
}

static int exec(struct db *db, const char *sql, struct kiln_err *e)
{
    int code = sqlite3_exec(db->h, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? 0 : db_fail(db, code, e);
}

static int pragma_number(struct db *db, const char *sql, int64_t *ret, struct kiln_err *e)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db->h, sql, -1, &s, NULL);

    if (code == SQLITE_OK) {
        code = sqlite3_step(s);
        if (code == SQLITE_ROW)
            *ret = sqlite3_column_int64(s, 0);
        sqlite3_finalize(s);
    }
    return code == SQLITE_ROW ? 0 : db_fail(db, code, e);
}

/* NORMAL in WAL: a commit survives the death of the process, the newest few not always a power cut; the file
 * is consistent after either. The limit on the log's size only says when it is cut back. */
static const char settings[] = "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA foreign_keys=OFF;"
                               "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-1024; PRAGMA busy_timeout=2000;";
static const char writer_settings[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                                      "PRAGMA journal_size_limit=16777216; PRAGMA wal_autocheckpoint=1000;";

static int make_schema(struct db *db, struct kiln_err *e)
{
    int64_t version = 0, application = 0;
    char sql[128];
    int r;

    if ((r = pragma_number(db, "PRAGMA user_version", &version, e)) < 0 ||
        (r = pragma_number(db, "PRAGMA application_id", &application, e)) < 0)
        return r;
    if (version == SCHEMA_VERSION && application == APPLICATION_ID)
        return 0;
    if (version || application) {
        db->corrupt = true; /* another program's, or another version's: not ours to read */
        return kiln_err_set(e, KILN_E_IO, 0, "cache database has schema version %lld, not %d", (long long)version,
                            SCHEMA_VERSION);
    }
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION_ID, SCHEMA_VERSION);
    if ((r = exec(db, "BEGIN IMMEDIATE", e)) < 0)
        return r;
    if ((r = exec(db, schema_sql, e)) < 0 || (r = exec(db, sql, e)) < 0 || (r = exec(db, "COMMIT", e)) < 0) {
        sqlite3_exec(db->h, "ROLLBACK", NULL, NULL, NULL);
        db->corrupt = true; /* tables without a version: begin anew */
    }
    return r;
}

/* Payloads can hold secrets, so the file is the owner's alone, whatever the umask; SQLite gives the log and the
 * shared memory the same mode. */
static int make_private(const char *path, struct kiln_err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), failed = 0;

    if (fd < 0 || fchmod(fd, 0600) < 0)
        failed = errno;
    if (fd >= 0)
        close(fd);
    return failed ? kiln_err_set(e, KILN_E_IO, failed, "cache database '%s': %s", path, strerror(failed)) : 0;
}

int db_open(struct db *db, const char *path, bool create, struct kiln_err *e)
{
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, code, r;
    bool memory = strcmp(path, ":memory:") == 0;

    memset(db, 0, sizeof *db);
    flags |= create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    if (!memory)
        flags |= SQLITE_OPEN_NOFOLLOW;
    if (create && !memory && (r = make_private(path, e)) < 0)
        return r;
    code = sqlite3_open_v2(path, &db->h, flags, NULL);
    if (code != SQLITE_OK) {
        r = db_fail(db, code, e);
        goto out;
    }
    sqlite3_extended_result_codes(db->h, 1);
    sqlite3_db_config(db->h, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    r = exec(db, settings, e);
    if (r == 0 && create) {
        /* before the first page is written, or it has no effect */
        r = exec(db, "PRAGMA auto_vacuum=INCREMENTAL", e);
        if (r == 0 && !memory)
            r = exec(db, writer_settings, e);
        if (r == 0)
            r = make_schema(db, e);
    }
out:
    if (r < 0) {
        bool corrupt = db->corrupt;
        db_close(db);
        db->corrupt = corrupt;
    }
    return r;
}

void db_close(struct db *db)
{
    for (unsigned i = 0; i < SQL__COUNT; i++)
        sqlite3_finalize(db->statements[i]);
    sqlite3_close(db->h);
    memset(db, 0, sizeof *db);
}

struct sqlite3_stmt *db_prepare(struct db *db, enum db_sql sql, struct kiln_err *e)
{
    struct sqlite3_stmt **s = &db->statements[sql];
    int code;

    if (!db->h) {
        kiln_err_set(e, KILN_E_IO, 0, "cache database is not open");
        return NULL;
    }
    if (!*s) {
        code = sqlite3_prepare_v3(db->h, texts[sql], -1, SQLITE_PREPARE_PERSISTENT, s, NULL);
        if (code != SQLITE_OK) {
            db_fail(db, code, e);
            return NULL;
        }
    }
    sqlite3_reset(*s);
    sqlite3_clear_bindings(*s);
    return *s;
}

int db_step(struct db *db, struct sqlite3_stmt *s, struct kiln_err *e)
{
    int code = sqlite3_step(s), r;

    if (code == SQLITE_ROW)
        return 1;
    r = code == SQLITE_DONE ? 0 : db_fail(db, code, e);
    sqlite3_reset(s);
    return r;
}

int db_run(struct db *db, enum db_sql sql, struct kiln_err *e)
{
    struct sqlite3_stmt *s = db_prepare(db, sql, e);

    if (!s)
        return -e->code;
    return db_step(db, s, e);
}

int db_shrink(struct db *db, struct kiln_err *e)
{
    int64_t pages = 0;
    int r;

    if (!db->h)
        return 0;
    if ((r = exec(db, "PRAGMA incremental_vacuum(1000)", e)) < 0)
        return r;
    r = pragma_number(db, "PRAGMA freelist_count", &pages, e);
    return r < 0 ? r : pages > 0 ? RUN_AGAIN : 0;
}

int db_totals(struct db *db, uint64_t *ret_entries, uint64_t *ret_bytes, struct kiln_err *e)
{
    struct sqlite3_stmt *s = db_prepare(db, SQL_TOTALS, e);
    int r = s ? db_step(db, s, e) : -e->code;

    if (r < 0)
        return r;
    if (r == 0) {
        db->corrupt = true;
        return kiln_err_set(e, KILN_E_IO, 0, "cache database has lost its totals");
    }
    *ret_entries = (uint64_t)sqlite3_column_int64(s, 0);
    *ret_bytes = (uint64_t)sqlite3_column_int64(s, 1);
    sqlite3_reset(s);
    return 0;
}

int db_set_aside(const char *path, struct kiln_err *e)
{
    static const char *const ends[] = { "", "-wal", "-shm" };
    char from[4096], to[4096];

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (snprintf(from, sizeof from, "%s%s", path, ends[i]) >= (int)sizeof from ||
            snprintf(to, sizeof to, "%s.damaged%s", path, ends[i]) >= (int)sizeof to)
            return kiln_err_set(e, KILN_E_IO, ENAMETOOLONG, "cache directory name is too long");
        if (rename(from, to) < 0 && errno != ENOENT)
            return kiln_err_set(e, KILN_E_IO, errno, "setting '%s' aside: %s", from, strerror(errno));
    }
    return 0;
}
