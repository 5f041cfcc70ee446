/* SPDX-License-Identifier: Apache-2.0
 * source.h - the text behind a KIR module, so that diagnostics can show the line. */
#ifndef KILN_CLI_SOURCE_H
#define KILN_CLI_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/ir/kir.h"

struct source {
    const char *path;
    const char *text; /* NUL-terminated */
    struct kir_positions positions;
};

/* "FILE:4:15: message", the line and a caret, if the node has a place; false if it has none. */
bool source_report(FILE *out, const struct source *s, int32_t function, int32_t node, const char *message,
                   bool caret);

#endif
