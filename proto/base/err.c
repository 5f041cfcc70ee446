/* SPDX-License-Identifier: Apache-2.0
 * err.c - formatting of errors and the look-up of err.def's columns. */
#include "proto/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct row {
    int wire;
    const char *name, *py, *text;
    int exit;
};

static const struct row rows[] = {
#define X(NAME, wire, py, exit, text) { wire, #NAME, py, text, exit },
#include "proto/base/err.def"
#undef X
};

static const struct row *find(int code)
{
    const size_t n = sizeof rows / sizeof rows[0];

    if (code < 0)
        code = -code;
    for (size_t i = 0; i < n; i++)
        if (rows[i].wire == code)
            return &rows[i];
    return &rows[n - 1];
}

/* vsnprintf cuts in the middle of a UTF-8 character; step back to its first byte. */
static void cut_utf8(char *s, size_t cap, int wanted)
{
    size_t n = cap - 1;

    if (wanted < 0 || (size_t)wanted < cap)
        return;
    while (n > 0 && ((unsigned char)s[n - 1] & 0xC0) == 0x80)
        n--;
    if (n > 0 && ((unsigned char)s[n - 1] & 0x80))
        n--;
    s[n] = '\0';
}

/* Length of the well-formed character at s, 0 if there is none. */
static unsigned character(const unsigned char *s)
{
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    unsigned more = *s < 0x80 ? 0 : (*s & 0xe0) == 0xc0 ? 1 : (*s & 0xf0) == 0xe0 ? 2 : (*s & 0xf8) == 0xf0 ? 3 : 9;
    uint32_t v = more ? *s & (0x3fu >> more) : *s;

    if (more == 9)
        return 0;
    for (unsigned k = 1; k <= more; k++) { /* the NUL at the end is no continuation */
        if ((s[k] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (s[k] & 0x3f);
    }
    return v < least[more] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) ? 0 : more + 1;
}

void kiln_text_clean(char *s)
{
    while (*s) {
        unsigned n = character((const unsigned char *)s);
        if (!n)
            *s = '?';
        s += n ? n : 1;
    }
}

int kiln_err_set(struct kiln_err *e, enum kiln_code code, int sys, const char *fmt, ...)
{
    e->code = code;
    e->sys = sys;
    if (!fmt) {
        snprintf(e->msg, sizeof e->msg, "%s", kiln_err_text(code));
    } else {
        va_list ap;
        va_start(ap, fmt);
        cut_utf8(e->msg, sizeof e->msg, vsnprintf(e->msg, sizeof e->msg, fmt, ap));
        va_end(ap);
        kiln_text_clean(e->msg);
    }
    return -(int)code;
}

int kiln_err_wrap(struct kiln_err *e, const char *fmt, ...)
{
    char old[sizeof e->msg];
    va_list ap;
    int n;

    memcpy(old, e->msg, sizeof old);
    va_start(ap, fmt);
    n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    cut_utf8(e->msg, sizeof e->msg, n);
    n = (int)strlen(e->msg);
    cut_utf8(e->msg, sizeof e->msg,
             n + snprintf(e->msg + n, sizeof e->msg - (size_t)n, ": %s", old));
    kiln_text_clean(e->msg);
    return -e->code;
}

const char *kiln_err_name(int code)
{
    return find(code)->name;
}

const char *kiln_err_text(int code)
{
    return find(code)->text;
}

const char *kiln_err_python(int code)
{
    return find(code)->py;
}

int kiln_err_exit(int code)
{
    return code ? find(code)->exit : 0;
}
