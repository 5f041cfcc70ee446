/* SPDX-License-Identifier: Apache-2.0
 * ls.c - kiln ls: the cache's entries, page after page. */
#include <stdlib.h>
#include <string.h>

#include "client/cli/cli.h"

static void add_row(struct table *t, const struct kiln_row *r)
{
    char key[HEX_KEY];
    text cell;

    hex(r->key, 6, key); /* enough digits to name one */
    table_cell(t, key);
    table_cell(t, *r->entry ? r->entry : "-");
    table_cell(t, r->signature);
    table_cell(t, r->target);
    table_cell(t, human_bytes(r->bytes, cell));
    table_cell(t, human_time_us(r->compile_us, cell));
    snprintf(cell, sizeof cell, "%llu", (unsigned long long)r->hits);
    table_cell(t, cell);
    table_cell(t, human_age(r->last_used, cell));
    table_cell(t, human_user(r->owner, cell));
}

/* Fetch pages until the daemon has no more, or `most` rows (0: all) were given to `each`. */
static int pages(struct cli *cli, struct kiln_list query, uint64_t most, json_t *array, struct table *t)
{
    unsigned char last[KILN_KEY_BYTES];
    uint64_t seen = 0;
    bool more = true;

    while (more && (!most || seen < most)) {
        struct kiln_rows *rows;
        query.limit = most ? (uint32_t)(most - seen) : 0;
        if (kiln_list(cli->connection, &query, &rows, &cli->error) < 0)
            return cli_fail(cli, NULL);
        for (uint32_t i = 0; i < rows->n && (!most || seen < most); i++, seen++) {
            if (array)
                json_array_append_new(array, row_json(&rows->items[i]));
            else
                add_row(t, &rows->items[i]);
        }
        more = rows->more && rows->n;
        if (more) {
            memcpy(last, rows->items[rows->n - 1].key, sizeof last);
            query.after = last;
        }
        kiln_result_free(rows);
    }
    return 0;
}

int cmd_ls(struct cli *cli)
{
    static const struct option longs[] = { { "entry", required_argument, NULL, 'e' },
                                           { "target", required_argument, NULL, 't' },
                                           { "limit", required_argument, NULL, 'n' },
                                           { NULL, 0, NULL, 0 } };
    static const char *const titles[] = { "KEY",     "ENTRY", "SIGNATURE", "TARGET", "SIZE",
                                          "COMPILE", "HITS",  "USED",      "OWNER" };
    struct kiln_list query = { NULL, NULL, 0, NULL };
    unsigned long most = 0;
    json_t *array = NULL;
    struct table *t = NULL;
    char *end;
    int c, status;

    while ((c = cli_option(cli, "n:", longs)) != -1) {
        switch (c) {
        case 'e':
            query.entry = optarg;
            break;
        case 't':
            query.target = optarg;
            break;
        case 'n':
            most = strtoul(optarg, &end, 10);
            if (*end || end == optarg || most == 0 || most > UINT32_MAX)
                return cli_usage(cli, "--limit needs a positive number, not '%s'", optarg);
            break;
        default:
            return kiln_code_exit(KILN_E_INVALID);
        }
    }
    if (optind < cli->argc)
        return cli_usage(cli, "takes no argument '%s'", cli->argv[optind]);
    status = cli_connect(cli, false);
    if (status)
        return status;
    if (cli->json)
        array = json_array();
    else
        t = table_new(titles, 9, "llllrrrll");
    if (!array && !t)
        return kiln_code_exit(KILN_E_NOMEM);
    status = pages(cli, query, most, array, t);
    if (t)
        table_print(t, cli->colour);
    else if (status)
        json_decref(array);
    else
        status = json_out(array);
    return status;
}
