/* SPDX-License-Identifier: Apache-2.0
 * start.h - start kilnd as a process of its own, which outlives us. */
#ifndef KILN_CLIENT_START_H
#define KILN_CLIENT_START_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <kiln/kiln.h>

/* The program: KILN_DAEMON, else `given`, else kilnd beside libkiln (its own folder, ../bin), else PATH.
 * false: there is none. KILN_DAEMON and `given` are not looked behind when they don't exist. */
bool start_find_daemon(const char *given, char *ret, size_t size);

/* Run `program --socket path --idle-exit ...` detached: a session of its own, no terminal, stdio on
 * /dev/null, no descriptor of ours. *ret_pid is not our child. KILN_E_CONNECT when it cannot be run. */
int start_daemon(const char *program, const char *path, pid_t *ret_pid, struct kiln_error *e);
bool start_alive(pid_t pid);

#endif
