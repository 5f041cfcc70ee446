/* SPDX-License-Identifier: Apache-2.0
 * fdpass.h - bytes and at most one descriptor over a Unix socket (SCM_RIGHTS). */
#ifndef KILN_CODEC_FDPASS_H
#define KILN_CODEC_FDPASS_H

#include <stddef.h>
#include <sys/types.h>

#include "proto/base/err.h"

/* Send up to len bytes, with descriptor fd (-1: none) attached to the first of them. Never raises SIGPIPE.
 * Returns the bytes sent (at least 1; the descriptor went with them), 0 when the socket would block,
 * KILN_E_BUSY when the kernel refuses the descriptor (too many in flight, ETOOMANYREFS): nothing was sent,
 * send the bytes inline; KILN_E_CLOSED when the peer is gone, KILN_E_IO. */
ssize_t fd_send(int socket, const void *data, size_t len, int fd, struct kiln_err *e);

/* Receive up to len bytes. *ret_fd: the descriptor that came along (close-on-exec, the caller's), or -1; more
 * than one, or a truncated control message, is KILN_E_WIRE_FRAME and all of them are closed. Returns the bytes,
 * 0 when the socket would block, KILN_E_CLOSED at end of stream, KILN_E_IO. */
ssize_t fd_recv(int socket, void *data, size_t len, int *ret_fd, struct kiln_err *e);

#endif
