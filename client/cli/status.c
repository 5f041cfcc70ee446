/* SPDX-License-Identifier: Apache-2.0
 * status.c - kiln status: who answers, its workers and its queue. */
#include "client/cli/cli.h"

static json_t *state_json(const struct kiln_state *s)
{
    char digest[2 * KILN_DIGEST_BYTES + 1];
    json_t *workers = json_array();

    for (uint32_t i = 0; i < s->n_workers; i++)
        json_array_append_new(workers,
                              json_pack("{s:i, s:s, s:I, s:I}", "pid", (int)s->workers[i].pid, "state",
                                        s->workers[i].state, "jobs", (json_int_t)s->workers[i].jobs, "rss",
                                        (json_int_t)s->workers[i].rss));
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:o}", "pid",
                     (int)s->pid, "version", s->version, "socket", s->socket, "cache_dir", s->cache_dir,
                     "llvm", s->llvm, "notice", s->notice, "toolchain",
                     hex(s->toolchain, KILN_DIGEST_BYTES, digest), "uptime_s", (json_int_t)s->uptime_s,
                     "connections", (json_int_t)s->connections, "queued", (json_int_t)s->queued,
                     "queue_limit", (json_int_t)s->queue_limit, "rss", (json_int_t)s->rss, "draining",
                     s->draining, "workers", workers);
}

static void print_state(const struct cli *cli, const struct kiln_state *s)
{
    static const char *const titles[] = { "WORKER", "STATE", "JOBS", "MEMORY" };
    struct table *t = table_new(titles, 4, "rlrr");
    text up, rss, cell;

    printf("kilnd %s, pid %u, up %s, %s resident%s\n", s->version, s->pid, human_seconds(s->uptime_s, up),
           human_bytes(s->rss, rss), s->draining ? ", leaving" : "");
    printf("socket     %s\n", s->socket);
    printf("cache      %s\n", *s->cache_dir ? s->cache_dir : "in memory only");
    if (*s->llvm)
        printf("compiler   %s\n", s->llvm);
    printf("clients    %llu connected, %llu of %llu requests queued\n", (unsigned long long)s->connections,
           (unsigned long long)s->queued, (unsigned long long)s->queue_limit);
    if (*s->notice)
        printf("notice     %s\n", s->notice);
    putchar('\n');
    for (uint32_t i = 0; t && i < s->n_workers; i++) {
        snprintf(cell, sizeof cell, "%u", s->workers[i].pid);
        table_cell(t, cell);
        table_cell(t, s->workers[i].state);
        snprintf(cell, sizeof cell, "%llu", (unsigned long long)s->workers[i].jobs);
        table_cell(t, cell);
        table_cell(t, human_bytes(s->workers[i].rss, cell));
    }
    table_print(t, cli->colour);
}

int cmd_status(struct cli *cli)
{
    struct kiln_state *s;
    int status = 0;

    if (cli->argc > 1)
        return cli_usage(cli, "takes no argument '%s'", cli->argv[1]);
    status = cli_connect(cli, false);
    if (status)
        return status;
    if (kiln_status(cli->connection, &s, &cli->error) < 0)
        return cli_fail(cli, NULL);
    if (cli->json)
        status = json_out(state_json(s));
    else
        print_state(cli, s);
    kiln_result_free(s);
    return status;
}
