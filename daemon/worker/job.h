/* SPDX-License-Identifier: Apache-2.0
 * job.h - one request of the daemon after the other, over WORKER_SOCKET. */
#ifndef KILN_WORKER_JOB_H
#define KILN_WORKER_JOB_H

#include "daemon/compiler/compile.h"
#include "proto/codec/messages.h"

/* Send a whole frame, blocking. */
int job_send(enum msg_type type, uint64_t id, const void *msg, struct kiln_err *e);
/* Wait for a JOB, compile, answer. KILN_E_CLOSED when the daemon has closed the socket. */
int job_serve(struct compiler *c, struct kiln_err *e);
/* A compile for nothing: the first one of a process costs several times the next. */
void job_warm_up(struct compiler *c);

#endif
