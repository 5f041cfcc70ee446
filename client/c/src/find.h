/* SPDX-License-Identifier: Apache-2.0
 * find.h - which socket to connect to, whom to trust on it, and starting a per-user daemon.
 *
 * The order: options.socket, or KILN_SOCKET, alone where given; else the user's
 * ($XDG_RUNTIME_DIR/kiln/kilnd.sock, without one /tmp/kiln-<uid>/kilnd.sock), then the system's. Where none
 * answers a daemon is started at the first of them that belongs to the user. */
#ifndef KILN_CLIENT_FIND_H
#define KILN_CLIENT_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <kiln/kiln.h>

#define FIND_PATH_MAX 107 /* bytes of sun_path without its NUL */
#define FIND_SYSTEM_SOCKET "/run/kiln/kilnd.sock"
#define FIND_DAEMON_IDLE_S "600" /* a daemon that a client started leaves after this long without work */

/* Connect to a daemon; *ret_fd is a blocking-free (O_NONBLOCK, close-on-exec) socket whose peer was
 * checked, ret_path (FIND_PATH_MAX + 1 bytes) its path. KILN_E_CONNECT with every place tried,
 * KILN_E_PEER, KILN_E_INVALID for a path that is too long, KILN_E_TIMEOUT. deadline_ms: monotonic. */
int find_connect(const struct kiln_options *o, int64_t deadline_ms, int *ret_fd, char *ret_path,
                 struct kiln_error *e);

/* Monotonic milliseconds. */
int64_t find_now_ms(void);

#endif
