/* SPDX-License-Identifier: Apache-2.0
 * get.c - kiln get: the artifact of an entry, as a file. */
#include <string.h>

#include "client/cli/cli.h"

int cmd_get(struct cli *cli)
{
    static const struct option longs[] = { { "output", required_argument, NULL, 'o' }, { NULL, 0, NULL, 0 } };
    unsigned char key[KILN_KEY_BYTES];
    struct kiln_artifact *a;
    struct kiln_detail *detail;
    const char *out = NULL;
    char name[HEX_KEY + 4];
    const void *bytes;
    size_t len, n;
    int c, status;

    while ((c = cli_option(cli, "o:", longs)) != -1) {
        if (c != 'o')
            return kiln_code_exit(KILN_E_INVALID);
        out = optarg;
    }
    if (optind + 1 != cli->argc)
        return cli_usage(cli, "needs one key");
    n = cli_key(cli->argv[optind], key);
    if (!n)
        return cli_usage(cli, "'%s' is no key: at least 8 hexadecimal digits, an even number",
                         cli->argv[optind]);
    status = cli_connect(cli, false);
    if (status)
        return status;
    if (kiln_show(cli->connection, key, n, &detail, &cli->error) < 0)
        return cli_fail(cli, NULL);
    memcpy(key, detail->row.key, sizeof key);
    if (!out) {
        hex(key, 6, name);
        strcat(name, strcmp(detail->row.emit, "so") == 0 ? ".so" : ".out");
        out = name;
    }
    kiln_result_free(detail);
    if (kiln_get(cli->connection, key, false, &a, &cli->error) < 0)
        return cli_fail(cli, NULL);
    if (kiln_artifact_bytes(a, &bytes, &len, &cli->error) < 0)
        status = cli_fail(cli, NULL);
    else
        status = write_file(cli, out, bytes, len, 0755);
    if (!status && strcmp(out, "-") != 0 && !cli->json)
        printf("%s\n", out);
    if (!status && cli->json && strcmp(out, "-") != 0) {
        char digits[HEX_KEY];
        status = json_out(json_pack("{s:s, s:s, s:I}", "key", hex(key, sizeof key, digits), "file", out,
                                    "bytes", (json_int_t)len));
    }
    kiln_artifact_free(a);
    return status;
}
