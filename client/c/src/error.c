/* SPDX-License-Identifier: Apache-2.0
 * error.c - struct kiln_error: made from the project's own errors and from the server's. */
#include <kiln/kiln.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/c/src/client.h"
#include "proto/base/err.h"

void kiln_error_clear(struct kiln_error *e)
{
    if (!e)
        return;
    free(e->details);
    *e = (struct kiln_error)KILN_ERROR_INIT;
}

/* Cut at `size` - 1 bytes, never inside a UTF-8 character. */
static void copy_text(char *to, size_t size, const char *from)
{
    size_t n = strlen(from);
    if (n >= size) {
        n = size - 1;
        while (n > 0 && ((unsigned char)from[n] & 0xC0) == 0x80)
            n--;
    }
    memcpy(to, from, n);
    to[n] = 0;
}

int client_fail(struct kiln_error *e, const struct kiln_err *from)
{
    int code = from->code > 0 ? from->code : KILN_E_INTERNAL;
    if (e) {
        kiln_error_clear(e);
        e->code = code;
        e->sys = from->sys;
        copy_text(e->message, sizeof e->message, from->msg[0] ? from->msg : kiln_err_text(code));
    }
    return -code;
}

int client_error(struct kiln_error *e, int code, int sys, const char *fmt, ...)
{
    if (e) {
        char text[1024];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        kiln_error_clear(e);
        e->code = code;
        e->sys = sys;
        copy_text(e->message, sizeof e->message, text);
    }
    return -code;
}

const char *kiln_code_name(int code)
{
    return kiln_err_name(code);
}

const char *kiln_code_text(int code)
{
    return kiln_err_text(code);
}

const char *kiln_code_python(int code)
{
    return kiln_err_python(code);
}

int kiln_code_exit(int code)
{
    return kiln_err_exit(code);
}

const char *kiln_version(void)
{
    return KILN_VERSION;
}
