/* SPDX-License-Identifier: Apache-2.0
 * main.c - kiln-worker: the compiler as a process. Warm up, enter the sandbox, then job after job. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/compiler/compile.h"
#include "daemon/sandbox/sandbox.h"
#include "daemon/worker/job.h"
#include "proto/codec/worker.h"
#include "proto/base/hash.h"
#include "proto/codec/messages.h"

/* Digest of this program and of everything that it compiles with: part of every key. */
static int toolchain(const struct compiler *c, unsigned char ret[HASH_BYTES], struct kiln_err *e)
{
    unsigned char block[65536];
    struct hash h;
    ssize_t n;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return kiln_err_set(e, KILN_E_IO, errno, "/proc/self/exe: %s", strerror(errno));
    hash_init(&h);
    hash_text(&h, compiler_identity(c));
    while ((n = read(fd, block, sizeof block)) > 0)
        hash_raw(&h, block, (size_t)n);
    close(fd);
    hash_done(&h, ret);
    return n < 0 ? kiln_err_set(e, KILN_E_IO, errno, "/proc/self/exe: %s", strerror(errno)) : 0;
}

static int ready(const struct compiler *c, struct kiln_err *e)
{
    unsigned char digest[HASH_BYTES];
    struct msg_ready m;
    int r = toolchain(c, digest, e);

    if (r < 0)
        return r;
    MSG_INIT(MSG_READY, &m);
    m.toolchain = span_of(digest, sizeof digest);
    m.llvm = span_text(compiler_identity(c));
    m.baseline = span_text(compiler_baseline(c));
    return job_send(MSG_READY, 0, &m, e);
}

static int run(uint64_t memory, struct kiln_err *e)
{
    struct sandbox_limits limits = { memory };
    struct sandbox_report report;
    struct compiler *c;
    int r = compiler_new(&c, e);

    if (r < 0)
        return r;
    job_warm_up(c);
    r = ready(c, e); /* reads our own file, so before the walls go up */
    if (r == 0)
        r = sandbox_enter(&limits, &report, e);
    while (r == 0)
        r = job_serve(c, e);
    compiler_free(c);
    return r == -KILN_E_CLOSED ? 0 : r; /* the daemon is gone or has had enough of us */
}

int main(int argc, char **argv)
{
    struct kiln_err e = KILN_ERR_INIT;
    uint64_t memory = 0;

    if (argc == 3 && strcmp(argv[1], "--memory") == 0)
        memory = strtoull(argv[2], NULL, 10);
    if (fcntl(WORKER_SOCKET, F_GETFD) < 0) {
        fprintf(stderr, "kiln-worker is started by kilnd\n");
        return 64;
    }
    signal(SIGINT, SIG_IGN);  /* Ctrl-C at kilnd's terminal: the daemon decides */
    signal(SIGPIPE, SIG_IGN);
    if (run(memory, &e) < 0) {
        if (e.code == KILN_E_NOMEM) /* the limit, met outside of LLVM */
            return WORKER_EXIT_MEMORY;
        fprintf(stderr, "<3>kiln-worker failed error=\"%s\"\n", e.msg);
        return 70;
    }
    return 0;
}
