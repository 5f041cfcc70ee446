/* SPDX-License-Identifier: Apache-2.0
 * loop.h - reading, writing and reconnecting for conn.c and pending.c. All of it wants c->lock held and may
 * let go of it meanwhile. */
#ifndef KILN_CLIENT_LOOP_H
#define KILN_CLIENT_LOOP_H

#include "client/c/src/conn.h"

/* Make sure that there is a connection. One thread connects, the others wait for it. */
int loop_connect_locked(struct kiln_connection *c, struct kiln_error *e);
/* Close the socket and forget what was read. Requires: nobody reads or writes. */
void loop_close_locked(struct kiln_connection *c);
/* The connection is of no use any more: what was sent on it is LOST; its owners are woken. */
void loop_lost_locked(struct kiln_connection *c, const struct kiln_err *why);
/* Write one frame. A failure means that the connection is lost (which is then marked). */
int loop_write_locked(struct kiln_connection *c, const void *data, size_t len, struct kiln_err *e);
/* Be the leader for one round: wait for bytes up to timeout_ms (-1: no limit), hand out the answers in them.
 * Returns 1 when a signal came. */
int loop_read_locked(struct kiln_connection *c, int timeout_ms);
/* Somebody else who waits may be the leader now. */
void loop_hand_over_locked(struct kiln_connection *c);
void loop_unlink_locked(struct kiln_pending *p);

#endif
