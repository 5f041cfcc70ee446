/* SPDX-License-Identifier: Apache-2.0
 * err.h - how Kiln's functions fail: a negative code returned, details by value.
 *
 * A function that can fail takes `struct kiln_err *e` last (never NULL), returns 0 or a negative
 * code, and fills *e only on failure. Callers add context with kiln_err_wrap, never a new code. */
#ifndef KILN_BASE_ERR_H
#define KILN_BASE_ERR_H

#include <stdint.h>

#ifndef KILN_CODES /* <kiln/kiln.h> defines the same list for libkiln's users */
#define KILN_CODES
enum kiln_code {
    KILN_OK = 0,
#define X(NAME, wire, py, exit, text) KILN_E_##NAME = wire,
#include "proto/base/err.def"
#undef X
};
#endif

struct kiln_err {
    int32_t code;  /* KILN_E_*, positive; 0 when nothing failed */
    int32_t sys;   /* errno at the failure, 0 if none */
    char msg[256]; /* details, UTF-8 whatever it was made from, cut at a character boundary */
};

#define KILN_ERR_INIT { 0, 0, "" }

/* Fill e and return -code, so that a caller can write `return kiln_err_set(e, KILN_E_IO, errno, "...")`.
 * The message is formatted as by printf; NULL means the code's own text. */
int kiln_err_set(struct kiln_err *e, enum kiln_code code, int sys, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Put "context: " before the message, keep the code. Returns -e->code. */
int kiln_err_wrap(struct kiln_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Make text valid UTF-8: bytes that are none become '?'. For words of others (LLVM quotes what it was given) that go
 * into a message of the protocol. */
void kiln_text_clean(char *s);

/* The table's columns for a code; unknown codes give "INTERNAL"'s row. Static strings. */
const char *kiln_err_name(int code);
const char *kiln_err_text(int code);
const char *kiln_err_python(int code);
int kiln_err_exit(int code);

#endif
