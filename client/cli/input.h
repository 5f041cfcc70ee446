/* SPDX-License-Identifier: Apache-2.0
 * input.h - the file that `kiln compile` is given, as a payload for the daemon. */
#ifndef KILN_CLI_INPUT_H
#define KILN_CLI_INPUT_H

#include "client/cli/cli.h"
#include "client/cli/source.h"
#include "proto/base/arena.h"

struct input {
    enum kiln_kind kind;
    unsigned char *body; /* heap */
    size_t len;
    bool has_source; /* a text form of KIR was read: its text and positions, in `arena` */
    struct source source;
    struct arena arena;
};

/* Read a file: LLVM bitcode or text, binary KIR, or KIR's text form, told apart by content (`.kir` says KIR).
 * Returns an exit status; messages, with line and column for text, are printed. */
int input_read(struct cli *cli, const char *path, struct input *ret);
/* Safe on a zeroed one. */
void input_done(struct input *in);

#endif
