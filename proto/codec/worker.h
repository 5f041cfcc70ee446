/* SPDX-License-Identifier: Apache-2.0
 * worker.h - what kilnd and its workers agree on beyond the messages: how a worker is started and ends.
 *
 *   kiln-worker --memory BYTES      with the socket to the daemon as descriptor 3
 *
 * It answers READY, then each JOB with RESULT or ERROR, one at a time. These exit statuses have a meaning: */
#ifndef KILN_CODEC_WORKER_H
#define KILN_CODEC_WORKER_H

#define WORKER_SOCKET 3
#define WORKER_EXIT_MEMORY 86 /* the memory limit was reached */
#define WORKER_EXIT_FATAL 87  /* LLVM found its state broken; an ERROR was sent before */

#endif
