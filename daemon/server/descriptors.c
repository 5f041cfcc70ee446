/* SPDX-License-Identifier: Apache-2.0
 * descriptors.c - who may have how many of the process's descriptors. Connections and artifacts in memory are what
 * takes them; each gets a share that leaves room for the rest, so that nobody meets a refusal of the kernel where
 * it would hurt: a worker that can't be started, a database that can't be opened. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/server/server.h"

#define OURS 40u    /* the loop, the log, the database and its journal, the listener */
#define A_WORKER 4u /* its socket, and both ends while it is started */
#define LEAST 4u    /* connections, and artifacts, however few descriptors there are */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void descriptors_plan(struct server *s)
{
    struct rlimit r = { 1024, 1024 };
    uint64_t ours = OURS + A_WORKER * s->settings.workers, rest;

    /* more than select() can hold is no danger here, and workers set their own limit */
    if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
        getrlimit(RLIMIT_NOFILE, &r);
    }
    rest = r.rlim_cur > ours ? r.rlim_cur - ours : 0;
    s->max_sessions = (uint32_t)least(LIM_CONNECTIONS, rest / 2 > LEAST ? rest / 2 : LEAST);
    if (!s->settings.memory_artifacts)
        s->settings.memory_artifacts = LIM_MEMORY_ARTIFACTS;
    s->settings.memory_artifacts = least(s->settings.memory_artifacts, rest / 3 > LEAST ? rest / 3 : LEAST);
    if (s->max_sessions < LIM_CONNECTIONS)
        log_event(LOG_NOTICE, "few descriptors", log_u("limit", (uint64_t)r.rlim_cur), log_u("connections", s->max_sessions),
                  log_u("artifacts in memory", s->settings.memory_artifacts));
    s->spare_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
}

int descriptors_accept(struct server *s)
{
    int fd;

    if (s->spare_fd >= 0)
        close(s->spare_fd);
    fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    s->spare_fd = -1;
    return fd;
}

void descriptors_spare(struct server *s)
{
    if (s->spare_fd < 0)
        s->spare_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
}
