/* SPDX-License-Identifier: Apache-2.0
 * listen.c - the socket. Two daemons that start at once end as one: a lock file beside the socket is held for
 * life, and only its holder removes a stale socket and binds. systemd may hand the socket over instead. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/server/server.h"

#define ACTIVATION_FD 3 /* SD_LISTEN_FDS_START */

/* The socket's place when none was named: systemd's folder for users, else one of our own that nobody else
 * can have made. */
static int default_path(struct settings *s, struct kiln_err *e)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char dir[SETTING_TEXT - 16];
    struct stat st;

    if (*s->socket)
        return 0;
    if (runtime && *runtime == '/')
        snprintf(dir, sizeof dir, "%s/kiln", runtime);
    else
        snprintf(dir, sizeof dir, "/tmp/kiln-%u", (unsigned)geteuid());
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return kiln_err_set(e, KILN_E_IO, errno, "%s: %s", dir, strerror(errno));
    if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return kiln_err_set(e, KILN_E_DENIED, 0, "%s must be a directory of this user that nobody else can enter (mode 0700)", dir);
    snprintf(s->socket, sizeof s->socket, "%s/kilnd.sock", dir);
    return 0;
}

static int lock(struct server *s, struct kiln_err *e)
{
    char path[SETTING_TEXT + 8];

    snprintf(path, sizeof path, "%s.lock", s->settings.socket);
    s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->lock_fd < 0)
        return kiln_err_set(e, KILN_E_IO, errno, "%s: %s", path, strerror(errno));
    if (flock(s->lock_fd, LOCK_EX | LOCK_NB) != 0)
        return kiln_err_set(e, KILN_E_EXISTS, 0, "a daemon serves %s already", s->settings.socket);
    return 0;
}

static int bind_socket(struct server *s, struct kiln_err *e)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    mode_t old;
    int r;

    if (strlen(s->settings.socket) > LIM_SOCKET_PATH)
        return kiln_err_set(e, KILN_E_CONFIG, 0, "the socket's path has %zu bytes, the system allows %llu: %.60s...", strlen(s->settings.socket),
                            (unsigned long long)LIM_SOCKET_PATH, s->settings.socket);
    r = lock(s, e);
    if (r < 0)
        return r;
    strcpy(a.sun_path, s->settings.socket);
    s->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listen_fd < 0)
        return kiln_err_set(e, KILN_E_IO, errno, "socket: %s", strerror(errno));
    unlink(s->settings.socket); /* left by a daemon that died: we have its lock */
    old = umask(strcmp(s->settings.allow, "all") == 0 ? 0 : 0177);
    r = bind(s->listen_fd, (struct sockaddr *)&a, sizeof a);
    umask(old);
    if (r != 0 || listen(s->listen_fd, SOMAXCONN) != 0)
        return kiln_err_set(e, KILN_E_IO, errno, "%s: %s", s->settings.socket, strerror(errno));
    return 0;
}

/* systemd's LISTEN_PID and LISTEN_FDS (sd_listen_fds(3)): true when the socket is ours already. */
static bool activation(struct server *s)
{
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    struct sockaddr_un a;
    socklen_t len = sizeof a;

    if (!pid || !fds || strtol(pid, NULL, 10) != (long)getpid() || strtol(fds, NULL, 10) < 1)
        return false;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    if (getsockname(ACTIVATION_FD, (struct sockaddr *)&a, &len) != 0 || a.sun_family != AF_UNIX)
        return false;
    /* out of the way of the workers' descriptor 3 */
    s->listen_fd = fcntl(ACTIVATION_FD, F_DUPFD_CLOEXEC, 10);
    close(ACTIVATION_FD);
    if (s->listen_fd < 0)
        return false;
    fcntl(s->listen_fd, F_SETFL, O_NONBLOCK);
    if (len > offsetof(struct sockaddr_un, sun_path) && a.sun_path[0])
        snprintf(s->settings.socket, sizeof s->settings.socket, "%.*s", (int)sizeof a.sun_path, a.sun_path);
    return true;
}

static bool allowed(const struct server *s, uid_t uid)
{
    return uid == 0 || uid == geteuid() || strcmp(s->settings.allow, "all") == 0;
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    struct server *s = poll->data;

    (void)events;
    if (status < 0)
        return;
    for (unsigned i = 0; i < 64; i++) { /* a burst, but not the loop's whole turn */
        struct ucred peer;
        socklen_t len = sizeof peer;
        bool spare = false;
        int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
            spare = true;
            fd = descriptors_accept(s);
        }
        if (fd < 0) {
            /* a connection that can't be taken would wake us again at once: look later (listen_again) */
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                uv_poll_stop(&s->listener);
            descriptors_spare(s);
            return;
        }
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 || !allowed(s, peer.uid)) {
            s->stats.refused++;
            session_refuse(fd, KILN_E_DENIED, "this daemon is for its own user");
        } else if (spare || s->n_sessions >= s->max_sessions) {
            s->stats.refused++;
            session_refuse(fd, KILN_E_BUSY, "the daemon has as many connections as it can take");
        } else {
            session_start(s, fd, peer.uid, peer.pid);
        }
        descriptors_spare(s);
    }
}

void listen_again(struct server *s)
{
    if (s->listen_fd >= 0 && !uv_is_closing((uv_handle_t *)&s->listener) && !uv_is_active((uv_handle_t *)&s->listener))
        uv_poll_start(&s->listener, UV_READABLE, on_connection);
}

int listen_start(struct server *s, struct kiln_err *e)
{
    int r;

    s->lock_fd = -1;
    s->activated = activation(s);
    if (!s->activated) {
        r = default_path(&s->settings, e);
        if (r == 0)
            r = bind_socket(s, e);
        if (r < 0)
            return r;
    }
    uv_poll_init(&s->loop, &s->listener, s->listen_fd);
    s->listener.data = s;
    uv_poll_start(&s->listener, UV_READABLE, on_connection);
    return 0;
}

static void closed(uv_handle_t *h)
{
    struct server *s = h->data;

    close(s->listen_fd);
    s->listen_fd = -1;
}

void listen_stop(struct server *s)
{
    if (s->listen_fd < 0 || uv_is_closing((uv_handle_t *)&s->listener))
        return;
    if (!s->activated)
        unlink(s->settings.socket);
    uv_close((uv_handle_t *)&s->listener, closed);
}
