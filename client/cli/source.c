/* SPDX-License-Identifier: Apache-2.0
 * source.c - a node's line with a caret under its parenthesis. */
#include "client/cli/source.h"

#include <string.h>

#define MAX_LINE 160 /* characters of a line that are shown */

static const char *find_line(const char *text, uint32_t line)
{
    while (--line) {
        text = strchr(text, '\n');
        if (!text)
            return NULL;
        text++;
    }
    return text;
}

bool source_report(FILE *out, const struct source *s, int32_t function, int32_t node, const char *message,
                   bool caret)
{
    const struct kir_function_positions *f;
    struct kir_position at;
    const char *line;
    int length;

    if (!s || function < 0 || node < 0 || (uint32_t)function >= s->positions.n_functions)
        return false;
    f = &s->positions.functions[function];
    if ((uint32_t)node >= f->n)
        return false;
    at = f->nodes[node];
    line = at.line ? find_line(s->text, at.line) : NULL;
    if (!line)
        return false;
    fprintf(out, "%s:%u:%u: %s\n", s->path, at.line, at.column, message);
    length = (int)strcspn(line, "\n");
    if (!caret || at.column > MAX_LINE)
        return true;
    fprintf(out, "    %.*s\n    ", length < MAX_LINE ? length : MAX_LINE, line);
    for (uint32_t i = 1; i < at.column; i++) /* tabs stay tabs, so that the caret stands below */
        fputc(line[i - 1] == '\t' ? '\t' : ' ', out);
    fputs("^\n", out);
    return true;
}
