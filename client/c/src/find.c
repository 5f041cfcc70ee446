/* SPDX-License-Identifier: Apache-2.0
 * find.c - see find.h. A directory or a peer of another user is refused, never used. */
#include "client/c/src/find.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "client/c/src/client.h"
#include "client/c/src/start.h"

/* A socket that might have a daemon behind it. */
struct place {
    char path[FIND_PATH_MAX + 1];
    char parent[FIND_PATH_MAX + 1]; /* directory that we may make; "" when it must be there already */
    bool ours;                      /* a per-user daemon may be started here */
};

struct search {
    struct place places[2];
    unsigned n;
    char tried[384]; /* "path: reason; path: reason" for the error */
};

int64_t find_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void note(struct search *s, const char *path, const char *reason)
{
    size_t n = strlen(s->tried);
    snprintf(s->tried + n, sizeof s->tried - n, "%s%s: %s", n ? "; " : "", path, reason);
}

static int add_place(struct search *s, const char *dir, const char *name, bool ours, bool make,
                     struct kiln_error *e)
{
    struct place *p = &s->places[s->n];
    int n = name ? snprintf(p->path, sizeof p->path, "%s/%s", dir, name)
                 : snprintf(p->path, sizeof p->path, "%s", dir);
    if (n < 0 || (size_t)n > FIND_PATH_MAX)
        return client_error(e, KILN_E_INVALID, 0, "socket path is %d bytes long, at most %d fit: %s", n,
                            FIND_PATH_MAX, dir);
    p->parent[0] = 0;
    if (make)
        memcpy(p->parent, dir, strlen(dir) + 1);
    p->ours = ours;
    s->n++;
    return 0;
}

static int make_places(struct search *s, const struct kiln_options *o, struct kiln_error *e)
{
    const char *given = o->socket ? o->socket : getenv("KILN_SOCKET");
    if (given && *given)
        return add_place(s, given, NULL, true, false, e);
    char dir[FIND_PATH_MAX + 64];
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime && *runtime == '/')
        snprintf(dir, sizeof dir, "%s/kiln", runtime);
    else
        snprintf(dir, sizeof dir, "/tmp/kiln-%u", (unsigned)geteuid());
    int rc = add_place(s, dir, "kilnd.sock", true, true, e);
    return rc ? rc : add_place(s, FIND_SYSTEM_SOCKET, NULL, false, false, e);
}

/* A directory that we made must be ours alone: anyone may write to /tmp. 0, or a reason. */
static const char *check_parent(const char *dir)
{
    struct stat st;
    if (lstat(dir, &st))
        return strerror(errno);
    if (!S_ISDIR(st.st_mode))
        return "not a directory";
    if (st.st_uid != geteuid())
        return "the directory belongs to another user";
    if (st.st_mode & 022)
        return "others may write to the directory";
    return NULL;
}

static bool listed(const char *list, uid_t uid)
{
    while (list && *list) {
        size_t n = strcspn(list, ",");
        char name[64];
        if (n > 0 && n < sizeof name) {
            memcpy(name, list, n);
            name[n] = 0;
            char *end;
            unsigned long number = strtoul(name, &end, 10);
            struct passwd entry, *found = NULL;
            char space[1024];
            if (!*end
                    ? number == uid
                    : !getpwnam_r(name, &entry, space, sizeof space, &found) && found && found->pw_uid == uid)
                return true;
        }
        list += n + (list[n] == ',');
    }
    return false;
}

static bool trusted(const struct kiln_options *o, uid_t uid)
{
    if (uid == 0 || uid == geteuid())
        return true;
    for (uint32_t i = 0; i < o->n_trusted_uids; i++)
        if (o->trusted_uids[i] == uid)
            return true;
    return listed(getenv("KILN_TRUSTED_UIDS"), uid) || listed("kiln", uid);
}

/* 0 with *ret_fd; a positive errno when nobody answers there; negative with e filled. */
static int try_place(const struct place *p, const struct kiln_options *o, int *ret_fd, struct kiln_error *e)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    memcpy(a.sun_path, p->path, strlen(p->path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return client_error(e, KILN_E_CONNECT, errno, "no socket: %s", strerror(errno));
    /* A full backlog makes a blocking connect wait: the greeting's deadline is not ours to spend here. */
    struct timeval limit = { .tv_sec = 2 };
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&a, sizeof a)) {
        int sys = errno;
        close(fd);
        return sys;
    }
    struct ucred peer = { .uid = (uid_t)-1 };
    socklen_t len = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) || !trusted(o, peer.uid)) {
        close(fd);
        return client_error(
            e, KILN_E_PEER, 0,
            "%s is served by user %d, who is not trusted (root, yourself, user kiln, KILN_TRUSTED_UIDS)",
            p->path, (int)peer.uid);
    }
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK)) {
        int sys = errno;
        close(fd);
        return client_error(e, KILN_E_CONNECT, sys, "cannot set up the socket: %s", strerror(sys));
    }
    *ret_fd = fd;
    return 0;
}

/* One round over all places. 0, 1 when nobody answers, negative when somebody not trusted does. */
static int try_all(struct search *s, const struct kiln_options *o, int *ret_fd, char *ret_path,
                   struct kiln_error *e)
{
    s->tried[0] = 0;
    for (unsigned i = 0; i < s->n; i++) {
        const struct place *p = &s->places[i];
        struct stat st;
        if (p->parent[0] && lstat(p->parent, &st) == 0) {
            const char *reason = check_parent(p->parent);
            if (reason) {
                note(s, p->parent, reason);
                continue;
            }
        }
        int rc = try_place(p, o, ret_fd, e);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            memcpy(ret_path, p->path, sizeof p->path);
            return 0;
        }
        note(s, p->path, strerror(rc));
    }
    return 1;
}

static const char *make_parent(const struct place *p)
{
    if (!p->parent[0])
        return NULL;
    if (mkdir(p->parent, 0700) && errno != EEXIST)
        return strerror(errno);
    return check_parent(p->parent);
}

/* Start a daemon at place p unless somebody else does so at the moment, and wait until it answers. */
static int start_and_wait(struct search *s, const struct place *p, const struct kiln_options *o,
                          int64_t deadline, int *ret_fd, char *ret_path, struct kiln_error *e)
{
    const char *reason = make_parent(p);
    if (reason)
        return client_error(e, KILN_E_CONNECT, 0, "no daemon, and none can be started: %s: %s", p->parent,
                            reason);
    char program[4096];
    if (!start_find_daemon(o->daemon, program, sizeof program))
        return client_error(e, KILN_E_CONNECT, 0,
                            "no daemon answers (%s) and no kilnd to start was found "
                            "(KILN_DAEMON, beside the library, PATH)",
                            s->tried);
    /* The lock keeps a hundred processes that come up together from starting a hundred daemons, which
     * would all but one leave at once. Whoever gets it looks again before starting. */
    char lock_path[FIND_PATH_MAX + 16];
    snprintf(lock_path, sizeof lock_path, "%s.start", p->path);
    int lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0)
        return client_error(e, KILN_E_CONNECT, errno,
                            "no daemon answers (%s) and none can be started: %s: %s", s->tried, lock_path,
                            strerror(errno));
    bool started = false, locked = false;
    pid_t pid = 0;
    int64_t pause = 2, gone_since = 0;
    int rc;
    for (;;) {
        rc = try_all(s, o, ret_fd, ret_path, e);
        if (rc <= 0)
            break;
        int64_t now = find_now_ms();
        if (now >= deadline) {
            rc = client_error(e, KILN_E_CONNECT, 0, "%s did not answer in time (%s)",
                              started ? "the daemon that was started"
                                      : "the daemon that another process is starting",
                              s->tried);
            break;
        }
        if (!locked && flock(lock, LOCK_EX | LOCK_NB) == 0) {
            locked = true;
            continue; /* it may have come up before we got the lock */
        }
        if (locked && !started) {
            rc = start_daemon(program, p->path, &pid, e);
            if (rc)
                break;
            started = true;
        }
        /* A daemon that leaves at once lost a race against one whose socket is about to answer, or cannot
         * run. */
        if (started && !start_alive(pid)) {
            if (!gone_since)
                gone_since = now;
            if (now - gone_since > 1000) {
                rc = client_error(e, KILN_E_CONNECT, 0,
                                  "the daemon that was started (%s --socket %s) left at once; "
                                  "run it by hand to see why",
                                  program, p->path);
                break;
            }
        }
        struct timespec t = { .tv_nsec = pause * 1000000 };
        nanosleep(&t, NULL);
        pause = pause < 20 ? pause * 2 : 20;
    }
    close(lock);
    return rc < 0 ? rc : 0;
}

int find_connect(const struct kiln_options *o, int64_t deadline, int *ret_fd, char *ret_path,
                 struct kiln_error *e)
{
    struct search s = { .n = 0 };
    int rc = make_places(&s, o, e);
    if (rc)
        return rc;
    rc = try_all(&s, o, ret_fd, ret_path, e);
    if (rc <= 0)
        return rc;
    if (!o->no_start)
        for (unsigned i = 0; i < s.n; i++)
            if (s.places[i].ours)
                return start_and_wait(&s, &s.places[i], o, deadline, ret_fd, ret_path, e);
    return client_error(e, KILN_E_CONNECT, 0, "no daemon answers: %s", s.tried);
}
