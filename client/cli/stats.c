/* SPDX-License-Identifier: Apache-2.0
 * stats.c - kiln stats: the daemon's counters, as one flat object or a column. */
#include <string.h>

#include "client/cli/cli.h"

static const char *human(const struct kiln_counter *c, text out)
{
    size_t n = strlen(c->name);

    if (strcmp(c->name, "bytes") == 0 || (n > 6 && strcmp(c->name + n - 6, "_bytes") == 0))
        return human_bytes(c->value, out);
    if (strcmp(c->name, "uptime_s") == 0 || strcmp(c->name, "seconds_saved") == 0)
        return human_seconds(c->value, out);
    if (n > 3 && strcmp(c->name + n - 3, "_us") == 0)
        return human_time_us(c->value, out);
    snprintf(out, sizeof(text), "%llu", (unsigned long long)c->value);
    return out;
}

int cmd_stats(struct cli *cli)
{
    static const char *const titles[] = { "COUNTER", "VALUE" };
    struct kiln_counters *counters;
    struct table *t;
    text cell;
    int status;

    if (cli->argc > 1)
        return cli_usage(cli, "takes no argument '%s'", cli->argv[1]);
    status = cli_connect(cli, false);
    if (status)
        return status;
    if (kiln_stats(cli->connection, &counters, &cli->error) < 0)
        return cli_fail(cli, NULL);
    if (cli->json) {
        json_t *o = json_object();
        for (uint32_t i = 0; i < counters->n; i++)
            json_object_set_new(o, counters->items[i].name,
                                json_integer((json_int_t)counters->items[i].value));
        status = json_out(o);
    } else {
        t = table_new(titles, 2, "lr");
        for (uint32_t i = 0; t && i < counters->n; i++) {
            table_cell(t, counters->items[i].name);
            table_cell(t, human(&counters->items[i], cell));
        }
        table_print(t, cli->colour);
    }
    kiln_result_free(counters);
    return status;
}
