/* SPDX-License-Identifier: Apache-2.0
 * settings.c - one table for flags, file and help. */
#include "daemon/server/settings.h"

#include <ctype.h>
#include <ini.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { TEXT, NUMBER, BYTES, LEVEL };

static const struct row {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *argument, *help;
} rows[] = {
#define X(name, kind, default_, argument, help) { #name, kind, offsetof(struct settings, name), argument, help },
#include "daemon/server/settings.def"
#undef X
};
#define N_ROWS (sizeof rows / sizeof rows[0])

static void put_TEXT(char *to, const char *value)
{
    snprintf(to, SETTING_TEXT, "%s", value);
}
static void put_NUMBER(uint64_t *to, uint64_t value)
{
    *to = value;
}
#define put_BYTES put_NUMBER
#define put_LEVEL put_NUMBER
#define target_TEXT(name) s->name
#define target_NUMBER(name) &s->name
#define target_BYTES(name) &s->name
#define target_LEVEL(name) &s->name

static void defaults(struct settings *s)
{
#define X(name, kind, default_, argument, help) put_##kind(target_##kind(name), default_);
#include "daemon/server/settings.def"
#undef X
}

/* --cache-dir and cache-dir are cache_dir */
static const struct row *find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        const char *a = rows[i].name, *b = name;
        while (*a && (*a == *b || (*a == '_' && *b == '-')))
            a++, b++;
        if (!*a && !*b)
            return &rows[i];
    }
    return NULL;
}

static int number(const struct row *row, const char *value, uint64_t *ret, struct kiln_err *e)
{
    char *end;
    unsigned long long n = strtoull(value, &end, 10);
    unsigned shift = 0;

    if (row->kind == BYTES && *end) {
        const char *unit = strchr("KMG", toupper((unsigned char)*end));
        if (unit && *unit) {
            shift = 10 * (unsigned)(unit - "KMG" + 1);
            end++;
            if (strcmp(end, "iB") == 0 || strcmp(end, "B") == 0)
                end = strchr(end, '\0');
        }
    }
    if (!isdigit((unsigned char)*value) || *end || n > UINT64_MAX >> shift)
        return kiln_err_set(e, KILN_E_CONFIG, 0, "%s needs a number%s, not '%.60s'", row->name,
                            row->kind == BYTES ? " (with K, M or G if you like)" : "", value);
    *ret = n << shift;
    return 0;
}

static int set(struct settings *s, const struct row *row, const char *value, struct kiln_err *e)
{
    void *to = (char *)s + row->offset;
    enum log_level level;

    switch (row->kind) {
    case TEXT:
        if (strlen(value) >= SETTING_TEXT)
            return kiln_err_set(e, KILN_E_CONFIG, 0, "%s is longer than %d bytes", row->name, SETTING_TEXT - 1);
        strcpy(to, value);
        return 0;
    case LEVEL:
        if (!log_parse_level(value, &level))
            return kiln_err_set(e, KILN_E_CONFIG, 0, "%s is error, warning, notice, info or debug, not '%.60s'", row->name, value);
        *(uint64_t *)to = level;
        return 0;
    default: return number(row, value, to, e);
    }
}

/* ---- the file ---- */

struct file {
    struct settings *s;
    const char *path;
    struct kiln_err *e;
    bool failed;
};

static int file_line(void *user, const char *section, const char *name, const char *value)
{
    struct file *f = user;
    const struct row *row = find(name);

    if (*section && strcmp(section, "kilnd") != 0)
        return 1; /* somebody else's section */
    if (!row)
        kiln_err_set(f->e, KILN_E_CONFIG, 0, "there is no setting '%.60s'", name);
    else if (set(f->s, row, value, f->e) == 0)
        return 1;
    f->failed = true;
    return 0;
}

static int read_file(struct settings *s, const char *path, struct kiln_err *e)
{
    struct file f = { s, path, e, false };
    int line = ini_parse(path, file_line, &f);

    if (line == 0)
        return 0;
    if (line < 0)
        return kiln_err_set(e, KILN_E_CONFIG, 0, "%s can't be read", path);
    if (!f.failed)
        return kiln_err_set(e, KILN_E_CONFIG, 0, "%s, line %d: not `name = value`", path, line);
    return kiln_err_wrap(e, "%s, line %d", path, line);
}

/* ---- flags ---- */

static void help(void)
{
    printf("usage: kilnd [--config FILE] [--flag VALUE ...]\n\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        char flag[64];
        int n = snprintf(flag, sizeof flag, "--%s %s", rows[i].name, rows[i].argument);
        for (char *p = flag; *p && *p != ' '; p++)
            if (*p == '_')
                *p = '-';
        printf("  %-*s %s\n", n > 26 ? n : 26, flag, rows[i].help);
    }
    printf("  %-26s %s\n  %-26s %s\n  %-26s %s\n", "--config FILE", "settings as `name = value` lines, read before the flags",
           "--version", "print the version", "--help", "print this");
}

/* The value of argument i: behind `=` or the next one, by which *at moves. */
static const char *value_of(int argc, char **argv, int *at)
{
    char *equals = strchr(argv[*at], '=');

    if (equals) {
        *equals = '\0';
        return equals + 1;
    }
    return *at + 1 < argc ? argv[++*at] : NULL;
}

int settings_read(int argc, char **argv, struct settings *ret, enum settings_action *ret_action, struct kiln_err *e)
{
    const char *env, *config = NULL;
    int r = 0;

    defaults(ret);
    *ret_action = SETTINGS_RUN;
    if ((env = getenv("KILN_SOCKET")) && (r = set(ret, find("socket"), env, e)) < 0)
        return r;
    if ((env = getenv("KILN_CACHE_DIR")) && (r = set(ret, find("cache_dir"), env, e)) < 0)
        return r;
    for (int i = 1; i < argc; i++) { /* --config first, whatever its place */
        if (strcmp(argv[i], "--config") == 0 && i + 1 < argc)
            config = argv[i + 1];
        else if (strncmp(argv[i], "--config=", 9) == 0)
            config = argv[i] + 9;
    }
    if (config && (r = read_file(ret, config, e)) < 0)
        return r;
    for (int i = 1; i < argc && r == 0; i++) {
        const char *flag = argv[i], *value;
        const struct row *row;
        if (strcmp(flag, "--help") == 0 || strcmp(flag, "-h") == 0 || strcmp(flag, "--version") == 0) {
            if (flag[2] == 'v')
                printf("kilnd %s\n", KILN_VERSION);
            else
                help();
            *ret_action = SETTINGS_LEAVE;
            return 0;
        }
        value = value_of(argc, argv, &i);
        row = strncmp(flag, "--", 2) == 0 ? find(flag + 2) : NULL;
        if (!row && strcmp(flag, "--config") != 0)
            return kiln_err_set(e, KILN_E_CONFIG, 0, "there is no flag '%.60s' (kilnd --help lists them)", flag);
        if (!value)
            return kiln_err_set(e, KILN_E_CONFIG, 0, "%s needs a value", flag);
        if (row)
            r = set(ret, row, value, e);
    }
    if (r == 0 && ret->workers == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        ret->workers = cores > 0 ? (uint64_t)cores : 1;
    }
    if (r == 0 && ret->workers > 256)
        return kiln_err_set(e, KILN_E_CONFIG, 0, "workers: 256 at most");
    if (r == 0 && strcmp(ret->allow, "user") != 0 && strcmp(ret->allow, "all") != 0)
        return kiln_err_set(e, KILN_E_CONFIG, 0, "allow is user or all, not '%.60s'", ret->allow);
    return r;
}
