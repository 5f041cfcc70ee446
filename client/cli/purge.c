/* SPDX-License-Identifier: Apache-2.0
 * purge.c - kiln purge: remove entries by key, name or age. */
#include <stdlib.h>
#include <string.h>

#include "client/cli/cli.h"

/* Prefixes are resolved first, so that a typing mistake purges nothing. */
static int resolve(struct cli *cli, unsigned char (*keys)[KILN_KEY_BYTES])
{
    for (int i = optind; i < cli->argc; i++) {
        unsigned char *key = keys[i - optind];
        struct kiln_detail *detail;
        size_t n = cli_key(cli->argv[i], key);
        if (!n)
            return cli_usage(cli, "'%s' is no key: at least 8 hexadecimal digits, an even number",
                             cli->argv[i]);
        if (n == KILN_KEY_BYTES)
            continue;
        if (kiln_show(cli->connection, key, n, &detail, &cli->error) < 0)
            return cli_fail(cli, cli->argv[i]);
        memcpy(key, detail->row.key, KILN_KEY_BYTES);
        kiln_result_free(detail);
    }
    return 0;
}

int cmd_purge(struct cli *cli)
{
    static const struct option longs[] = { { "entry", required_argument, NULL, 'e' },
                                           { "unused", required_argument, NULL, 'u' },
                                           { "all", no_argument, NULL, 'a' },
                                           { "dry-run", no_argument, NULL, 'd' },
                                           { NULL, 0, NULL, 0 } };
    struct kiln_purge what = { 0 };
    unsigned char(*keys)[KILN_KEY_BYTES] = NULL;
    uint64_t entries, bytes;
    text size;
    int c, status;

    while ((c = cli_option(cli, "", longs)) != -1) {
        switch (c) {
        case 'e':
            what.entry = optarg;
            break;
        case 'a':
            what.all = true;
            break;
        case 'd':
            what.dry_run = true;
            break;
        case 'u':
            if (!cli_duration(optarg, &what.unused_s))
                return cli_usage(cli, "--unused needs a time such as 12h or 7d, not '%s'", optarg);
            break;
        default:
            return kiln_code_exit(KILN_E_INVALID);
        }
    }
    what.n_keys = (uint32_t)(cli->argc - optind);
    if (!what.n_keys && !what.entry && !what.all && !what.unused_s)
        return cli_usage(cli, "needs to know what to remove: keys, --entry, --unused or --all");
    status = cli_connect(cli, false);
    if (status)
        return status;
    keys = calloc(what.n_keys + 1, sizeof *keys);
    if (!keys)
        return kiln_code_exit(KILN_E_NOMEM);
    status = resolve(cli, keys);
    what.keys = (const unsigned char(*)[KILN_KEY_BYTES])keys;
    if (!status && kiln_purge(cli->connection, &what, &entries, &bytes, &cli->error) < 0)
        status = cli_fail(cli, NULL);
    else if (!status && cli->json)
        status = json_out(json_pack("{s:I, s:I, s:b}", "entries", (json_int_t)entries, "bytes",
                                    (json_int_t)bytes, "dry_run", what.dry_run));
    else if (!status)
        printf("%s %llu entries, %s\n", what.dry_run ? "would remove" : "removed",
               (unsigned long long)entries, human_bytes(bytes, size));
    free(keys);
    return status;
}
