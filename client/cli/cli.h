/* SPDX-License-Identifier: Apache-2.0
 * cli.h - what the commands share: their arguments, the connection, and how things are printed. */
#ifndef KILN_CLI_H
#define KILN_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <kiln/kiln.h>

struct cli {
    int argc;
    char **argv;        /* argv[0] is the command's name; main has taken the common options out */
    const char *socket; /* --socket, or NULL */
    bool json;          /* --json */
    bool colour;        /* stdout is a terminal and NO_COLOR is not set */
    struct kiln_connection *connection;
    struct kiln_error error;
    const struct source *source; /* what diagnostics are about, where its text is known */
};

#define X(name, arguments, summary, options) int cmd_##name(struct cli *cli);
#include "client/cli/commands.def"
#undef X

/* Each returns an exit status: 0, or one of err.def's. A failing call has printed its message. */

/* Connect to a daemon that runs; the command line starts none, but for `compile`. */
int cli_connect(struct cli *cli, bool may_start);
/* Print cli->error (with diagnostics, at their place in cli->source) after `what` and return its exit status.
 */
int cli_fail(struct cli *cli, const char *what);
/* Print "kiln COMMAND: message" and the usage line; returns the exit status of INVALID. */
int cli_usage(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Options of a command. Returns getopt_long's value; '?' after a message was printed. */
int cli_option(struct cli *cli, const char *shorts, const struct option *longs);

/* Parse hexadecimal of at least 8 digits into key; returns the number of bytes, 0 if it is none. */
size_t cli_key(const char *text, unsigned char key[KILN_KEY_BYTES]);
/* "90", "30s", "15m", "12h", "7d" in seconds; false if it is none. */
bool cli_duration(const char *text, uint64_t *ret_seconds);

/* ---- print.c ---- */
#define HEX_KEY (2 * KILN_KEY_BYTES + 1)
const char *hex(const unsigned char *bytes, size_t n, char *out); /* out holds 2 n + 1 */
/* Human text in a small caller's buffer, returned. */
typedef char text[24];
const char *human_bytes(uint64_t bytes, text out);      /* "1.5 MiB" */
const char *human_time_us(uint64_t us, text out);       /* "12.3 ms" */
const char *human_age(uint64_t unix_seconds, text out); /* "3 h ago" */
const char *human_seconds(uint64_t seconds, text out);  /* "2 d 3 h" */

const char *human_user(uint32_t uid, text out);         /* the name, or the number */

/* A table on stdout: columns as wide as their widest cell; the last is not padded. */
struct table;
struct table *table_new(const char *const *titles, unsigned n, const char *align /* 'l' or 'r' each */);
void table_cell(struct table *t, const char *cell); /* copied; row after row */
void table_print(struct table *t, bool colour);     /* and free it */

/* Print and free a JSON value; returns 0, or the status of an I/O error. */
int json_out(json_t *value);
/* Write a file, or stdout for "-". Returns an exit status, message printed. */
int write_file(const struct cli *cli, const char *path, const void *data, size_t len, unsigned mode);
/* A row as `ls --json` gives it. */
json_t *row_json(const struct kiln_row *row);
/* msgpack as JSON: bytes become hexadecimal. NULL when it is malformed. */
json_t *msgpack_json(const void *data, size_t len);

#endif
