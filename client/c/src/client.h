/* SPDX-License-Identifier: Apache-2.0
 * client.h - what libkiln's files share; nothing of it is exported. */
#ifndef KILN_CLIENT_CLIENT_H
#define KILN_CLIENT_CLIENT_H

#include <kiln/kiln.h>

#include "proto/base/err.h"

/* Fill e (may be NULL) from an error of the project's own, or from a printf format; return -code. */
int client_fail(struct kiln_error *e, const struct kiln_err *from);
int client_error(struct kiln_error *e, int code, int sys, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Where a loaded library's key is (32 bytes), for the bindings. */
const unsigned char *library_key(const struct kiln_library *lib);
/* host.c: one library more or fewer. */
void host_count_library(int delta);

/* The calling thread's generator; see struct kiln_host. Never NULL. */
struct kiln_random *host_random(int32_t which);

#endif

