/* SPDX-License-Identifier: Apache-2.0
 * main.c - the table of commands, and the options that all of them take. */
#include "client/cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct command {
    const char *name, *arguments, *summary, *options;
    int (*run)(struct cli *);
};

static const struct command commands[] = {
#define X(name, arguments, summary, options) { #name, arguments, summary, options, cmd_##name },
#include "client/cli/commands.def"
#undef X
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void help(FILE *out)
{
    fputs("usage: kiln [--socket PATH] COMMAND [--json] [arguments]\n\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs(
        "\n  kiln COMMAND --help says more. Without --socket: KILN_SOCKET, then the user's daemon, then the "
        "system's.\n",
        out);
}

static void command_help(FILE *out, const struct command *c)
{
    fprintf(out, "usage: kiln %s%s%s [--json] [--socket PATH]\n%s\n", c->name, *c->arguments ? " " : "",
            c->arguments, c->summary);
    if (*c->options)
        fprintf(out, "\n%s", c->options);
}

int cli_usage(const struct cli *cli, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "kiln %s: ", cli->argv[0]);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    fprintf(stderr, "try: kiln %s --help\n", cli->argv[0]);
    return kiln_code_exit(KILN_E_INVALID);
}

/* Take --json, --socket and --help out of the arguments, wherever they stand; the rest is the command's.
 * Returns -1 to go on, else the exit status. */
static int take_common(struct cli *cli)
{
    int kept = 1;

    for (int i = 1; i < cli->argc; i++) {
        char *a = cli->argv[i];
        if (strcmp(a, "--") == 0) {
            while (i < cli->argc)
                cli->argv[kept++] = cli->argv[i++];
        } else if (strcmp(a, "--json") == 0) {
            cli->json = true;
        } else if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0) {
            command_help(stdout, find(cli->argv[0]));
            return 0;
        } else if (strcmp(a, "--socket") == 0) {
            if (++i == cli->argc)
                return cli_usage(cli, "--socket needs a path");
            cli->socket = cli->argv[i];
        } else if (strncmp(a, "--socket=", 9) == 0) {
            cli->socket = a + 9;
        } else {
            cli->argv[kept++] = a;
        }
    }
    cli->argc = kept;
    cli->argv[kept] = NULL;
    return -1;
}

int main(int argc, char **argv)
{
    struct cli cli = { .error = KILN_ERROR_INIT };
    const struct command *c;
    int status;

    cli.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    while (argc > 1 && argv[1][0] == '-') {
        if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
            help(stdout);
            return 0;
        }
        if (strcmp(argv[1], "--version") == 0) {
            printf("kiln %s\n", kiln_version());
            return 0;
        }
        if (strcmp(argv[1], "--json") == 0) {
            cli.json = true;
            argc--, argv++;
        } else if (strcmp(argv[1], "--socket") == 0 && argc == 2) {
            fprintf(stderr, "kiln: --socket needs a path\n");
            return kiln_code_exit(KILN_E_INVALID);
        } else if (strcmp(argv[1], "--socket") == 0) {
            cli.socket = argv[2];
            argc -= 2, argv += 2;
        } else if (strncmp(argv[1], "--socket=", 9) == 0) {
            cli.socket = argv[1] + 9;
            argc--, argv++;
        } else {
            fprintf(stderr, "kiln: unknown option %s\n", argv[1]);
            help(stderr);
            return kiln_code_exit(KILN_E_INVALID);
        }
    }
    if (argc < 2) {
        help(stderr);
        return kiln_code_exit(KILN_E_INVALID);
    }
    c = find(argv[1]);
    if (!c) {
        fprintf(stderr, "kiln: there is no command '%s'\n", argv[1]);
        help(stderr);
        return kiln_code_exit(KILN_E_INVALID);
    }
    cli.argc = argc - 1;
    cli.argv = argv + 1;
    status = take_common(&cli);
    if (status < 0)
        status = c->run(&cli);
    kiln_disconnect(cli.connection);
    kiln_error_clear(&cli.error);
    if (fflush(stdout) != 0 && status == 0)
        status = kiln_code_exit(KILN_E_IO);
    return status;
}
