/* SPDX-License-Identifier: Apache-2.0
 * sandbox.h - what a worker gives up before it sees the first job. docs/security.md.
 *
 * Four mechanisms, each in a file of its own: resource limits, no new privileges with death of the parent,
 * Landlock (no file can be opened but memory files), seccomp (an allow-list of system calls, no executable
 * memory). The kernel may lack Landlock or seccomp: what is in force is reported, not demanded. */
#ifndef KILN_SANDBOX_H
#define KILN_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

struct sandbox_limits {
    uint64_t memory_bytes; /* of private writable memory; 0: no limit */
};

struct sandbox_report {
    bool limits, landlock, seccomp; /* in force */
};

/* Enter for good. The process must have a single thread and everything open that it will need. KILN_E_IO only
 * when something that every kernel has fails. */
int sandbox_enter(const struct sandbox_limits *l, struct sandbox_report *ret, struct kiln_err *e);

/* The mechanisms. Each returns true when it is in force. */
bool sandbox_rlimits(const struct sandbox_limits *l);
bool sandbox_landlock(void);
bool sandbox_seccomp(void);

#endif
