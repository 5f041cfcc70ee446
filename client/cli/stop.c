/* SPDX-License-Identifier: Apache-2.0
 * stop.c - kiln stop: ask the daemon to leave. */
#include "client/cli/cli.h"

int cmd_stop(struct cli *cli)
{
    static const struct option longs[] = { { "now", no_argument, NULL, 'n' }, { NULL, 0, NULL, 0 } };
    bool now = false;
    int c, status;

    while ((c = cli_option(cli, "", longs)) != -1) {
        if (c != 'n')
            return kiln_code_exit(KILN_E_INVALID);
        now = true;
    }
    if (optind < cli->argc)
        return cli_usage(cli, "takes no argument '%s'", cli->argv[optind]);
    status = cli_connect(cli, false);
    if (status)
        return status;
    if (kiln_stop(cli->connection, now, &cli->error) < 0)
        return cli_fail(cli, NULL);
    return cli->json ? json_out(json_pack("{s:b}", "stopping", 1)) : 0;
}
