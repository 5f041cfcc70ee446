/* SPDX-License-Identifier: Apache-2.0
 * common.c - connecting, failing, and parsing what several commands take. */
#include <stdlib.h>
#include <string.h>

#include "client/cli/cli.h"
#include "client/cli/source.h"

int cli_connect(struct cli *cli, bool may_start)
{
    struct kiln_options options = { .socket = cli->socket, .no_start = !may_start, .client_name = "kiln" };

    if (kiln_connect(&options, &cli->connection, &cli->error) < 0)
        return cli_fail(cli, NULL);
    return 0;
}

/* One diagnostic: at its line of the source, by its numbers, or bare. */
static void report(const struct cli *cli, int32_t function, int32_t node, const char *message,
                   const char *indent, bool caret)
{
    if (source_report(stderr, cli->source, function, node, message, caret))
        return;
    if (function >= 0 && node >= 0)
        fprintf(stderr, "%sfunction %d, node %d: %s\n", indent, (int)function, (int)node, message);
    else if (cli->error.n_diagnostics)
        fprintf(stderr, "%s%s%s%s\n", indent, cli->source ? cli->source->path : "", cli->source ? ": " : "", message);
}

int cli_fail(struct cli *cli, const char *what)
{
    const struct kiln_error *e = &cli->error;

    /* The first diagnostic is the message: say it once, where it stands in the source. */
    if (!cli->source || !e->n_diagnostics || strcmp(e->message, e->diagnostics[0].message))
        fprintf(stderr, "kiln %s: %s%s%s\n", cli->argv[0], what ? what : "", what ? ": " : "",
                e->message[0] ? e->message : kiln_code_text(e->code));
    for (uint32_t i = 0; i < e->n_diagnostics; i++) {
        const struct kiln_diagnostic *d = &e->diagnostics[i];
        report(cli, d->function, d->node, d->message, "  ", true);
        for (uint32_t k = 0; k < d->n_notes; k++)
            report(cli, d->notes[k].function, d->notes[k].node, d->notes[k].message, "    ", false);
        if (d->hint && *d->hint)
            fprintf(stderr, "    hint: %s\n", d->hint);
    }
    if (!e->n_diagnostics)
        report(cli, e->function, e->node, e->message, "  ", true);
    if (!e->n_diagnostics && e->hint && *e->hint)
        fprintf(stderr, "  hint: %s\n", e->hint);
    return kiln_code_exit(e->code);
}

int cli_option(struct cli *cli, const char *shorts, const struct option *longs)
{
    int c;

    opterr = 0;
    c = getopt_long(cli->argc, cli->argv, shorts, longs, NULL);
    if (c == '?' || c == ':') {
        cli_usage(cli, "unknown option or missing value: %s", cli->argv[optind - 1]);
        return '?';
    }
    return c;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

size_t cli_key(const char *s, unsigned char key[KILN_KEY_BYTES])
{
    size_t n = strlen(s);

    if (n < 8 || n > 2 * KILN_KEY_BYTES || n % 2)
        return 0;
    for (size_t i = 0; i < n; i += 2) {
        int high = digit(s[i]), low = digit(s[i + 1]);
        if (high < 0 || low < 0)
            return 0;
        key[i / 2] = (unsigned char)(high << 4 | low);
    }
    return n / 2;
}

bool cli_duration(const char *s, uint64_t *ret)
{
    static const struct {
        char unit;
        uint64_t seconds;
    } units[] = { { '\0', 1 }, { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
    char *end;
    unsigned long long n;

    if (*s < '0' || *s > '9')
        return false;
    n = strtoull(s, &end, 10);
    if (*end && end[1])
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (*end == units[i].unit && n <= UINT64_MAX / units[i].seconds) {
            *ret = n * units[i].seconds;
            return true;
        }
    return false;
}
