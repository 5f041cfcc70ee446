/* SPDX-License-Identifier: Apache-2.0
 * diag.c - lists of diagnostics in the job's arena. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/compiler/compile.h"

#define DIAG_TEXT 512 /* a message is a line or two; long types are cut */

static const char *format(struct arena *a, const char *fmt, va_list ap)
{
    char text[DIAG_TEXT];
    int n = vsnprintf(text, sizeof text, fmt, ap);

    if (n < 0)
        n = 0;
    return arena_dup(a, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

struct diagnostic *diag_add(struct diagnostics *d, enum kiln_code code, int32_t function, int32_t node,
                            const char *hint, const char *fmt, ...)
{
    struct diagnostic *items, *item;
    const char *message;
    va_list ap;

    va_start(ap, fmt);
    message = format(d->a, fmt, ap);
    va_end(ap);
    items = message ? arena_grow(d->a, d->items, d->n, &d->cap, sizeof *items) : NULL;
    if (!items)
        return NULL;
    d->items = items;
    item = &items[d->n++];
    *item = (struct diagnostic){ .code = code, .message = message, .function = function, .node = node, .hint = hint };
    return item;
}

void diag_note(struct diagnostics *d, struct diagnostic *to, int32_t function, int32_t node, const char *fmt, ...)
{
    struct note *notes;
    const char *message;
    va_list ap;

    if (!to)
        return;
    va_start(ap, fmt);
    message = format(d->a, fmt, ap);
    va_end(ap);
    notes = arena_new_array(d->a, to->n_notes + 1, struct note);
    if (!message || !notes)
        return;
    if (to->n_notes)
        memcpy(notes, to->notes, to->n_notes * sizeof *notes);
    notes[to->n_notes] = (struct note){ message, function, node };
    to->notes = notes;
    to->n_notes++;
}
