/* SPDX-License-Identifier: Apache-2.0
 * print.c - units, aligned tables, files. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/cli/cli.h"

const char *hex(const unsigned char *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    out[2 * n] = '\0';
    return out;
}

const char *human_bytes(uint64_t bytes, text out)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double n = (double)bytes;
    unsigned u = 0;

    while (n >= 1024 && u < 4) {
        n /= 1024;
        u++;
    }
    snprintf(out, sizeof(text), u ? "%.1f %s" : "%.0f %s", n, units[u]);
    return out;
}

const char *human_time_us(uint64_t us, text out)
{
    if (us < 1000)
        snprintf(out, sizeof(text), "%u us", (unsigned)us);
    else if (us < 1000000)
        snprintf(out, sizeof(text), "%.1f ms", (double)us / 1e3);
    else
        snprintf(out, sizeof(text), "%.2f s", (double)us / 1e6);
    return out;
}

const char *human_seconds(uint64_t s, text out)
{
    if (s < 60)
        snprintf(out, sizeof(text), "%u s", (unsigned)s);
    else if (s < 3600)
        snprintf(out, sizeof(text), "%u min", (unsigned)(s / 60));
    else if (s < 86400)
        snprintf(out, sizeof(text), "%u h %u min", (unsigned)(s / 3600), (unsigned)(s % 3600 / 60));
    else
        snprintf(out, sizeof(text), "%u d %u h", (unsigned)(s / 86400 % 1000000),
                 (unsigned)(s % 86400 / 3600));
    return out;
}

const char *human_age(uint64_t unix_seconds, text out)
{
    uint64_t now = (uint64_t)time(NULL);
    text age;

    if (unix_seconds == 0)
        snprintf(out, sizeof(text), "-");
    else if (unix_seconds + 1 >= now)
        snprintf(out, sizeof(text), "now");
    else
        snprintf(out, sizeof(text), "%.18s ago", human_seconds(now - unix_seconds, age));
    return out;
}

const char *human_user(uint32_t uid, text out)
{
    struct passwd *user = getpwuid(uid);

    if (user)
        snprintf(out, sizeof(text), "%.23s", user->pw_name);
    else
        snprintf(out, sizeof(text), "%u", uid);
    return out;
}

struct table {
    unsigned columns;
    const char *align;
    char **cells; /* the titles first */
    size_t n, cap;
};

void table_cell(struct table *t, const char *cell)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;
        char **cells = realloc(t->cells, cap * sizeof *cells);
        if (!cells)
            return;
        t->cells = cells;
        t->cap = cap;
    }
    t->cells[t->n] = strdup(cell);
    if (t->cells[t->n])
        t->n++;
}

struct table *table_new(const char *const *titles, unsigned n, const char *align)
{
    struct table *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->columns = n;
    t->align = align;
    for (unsigned i = 0; i < n; i++)
        table_cell(t, titles[i]);
    return t;
}

void table_print(struct table *t, bool colour)
{
    size_t rows;

    if (!t)
        return;
    rows = t->n / t->columns;
    for (size_t r = 0; r < rows; r++) {
        if (r == 0 && colour)
            fputs("\033[1m", stdout);
        for (unsigned c = 0; c < t->columns; c++) {
            size_t width = 0;
            const char *cell = t->cells[r * t->columns + c];
            for (size_t i = 0; i < rows; i++) {
                size_t w = strlen(t->cells[i * t->columns + c]);
                if (w > width)
                    width = w;
            }
            if (c + 1 == t->columns && t->align[c] == 'l')
                printf("%s", cell);
            else
                printf(t->align[c] == 'r' ? "%*s" : "%-*s", (int)width, cell);
            if (c + 1 < t->columns)
                fputs("  ", stdout);
        }
        if (r == 0 && colour)
            fputs("\033[0m", stdout);
        putchar('\n');
    }
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i]);
    free(t->cells);
    free(t);
}

int write_file(const struct cli *cli, const char *path, const void *data, size_t len, unsigned mode)
{
    const char *p = data;
    bool to_stdout = strcmp(path, "-") == 0;
    int fd = to_stdout ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    fflush(stdout);
    while (fd >= 0 && len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        p += n;
        len -= (size_t)n;
    }
    if (fd < 0 || len || (!to_stdout && close(fd) != 0)) {
        fprintf(stderr, "kiln %s: %s: %s\n", cli->argv[0], path, strerror(errno));
        return kiln_code_exit(KILN_E_IO);
    }
    return 0;
}
