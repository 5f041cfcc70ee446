/* SPDX-License-Identifier: Apache-2.0
 * start.c - see start.h. Between fork and exec only async-signal-safe calls are made: the process may have
 * any number of threads. */
#include "client/c/src/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/c/src/client.h"
#include "client/c/src/find.h"

static bool runnable(const char *path)
{
    return access(path, X_OK) == 0;
}

/* kilnd relative to the file that holds this code: libkiln.so, the Python extension, or a program. */
static bool beside_us(char *ret, size_t size)
{
    static const char *const steps[] = { "kilnd", "../bin/kilnd", "../../bin/kilnd", "../../../bin/kilnd",
                                         NULL };
    Dl_info info;
    char here[PATH_MAX], *slash;
    if (!dladdr((void *)(uintptr_t)&start_find_daemon, &info) || !info.dli_fname ||
        !realpath(info.dli_fname, here))
        return false;
    slash = strrchr(here, '/');
    if (!slash)
        return false;
    *slash = 0;
    for (unsigned i = 0; steps[i]; i++) {
        int n = snprintf(ret, size, "%s/%s", here, steps[i]);
        if (n > 0 && (size_t)n < size && runnable(ret))
            return true;
    }
    return false;
}

static bool on_path(char *ret, size_t size)
{
    const char *list = getenv("PATH");
    while (list && *list) {
        size_t n = strcspn(list, ":");
        int len = snprintf(ret, size, "%.*s/kilnd", (int)n, list);
        if (n && len > 0 && (size_t)len < size && runnable(ret))
            return true;
        list += n + (list[n] == ':');
    }
    return false;
}

bool start_find_daemon(const char *given, char *ret, size_t size)
{
    const char *named = getenv("KILN_DAEMON");
    if (!named || !*named)
        named = given;
    if (named && *named) {
        int n = snprintf(ret, size, "%s", named);
        return n > 0 && (size_t)n < size && runnable(ret);
    }
    return beside_us(ret, size) || on_path(ret, size);
}

/* What the grandchild tells us through a pipe that exec closes. */
struct report {
    pid_t pid;
    int sys; /* 0, or errno of exec */
};

static void tell(int fd, struct report r)
{
    ssize_t n = write(fd, &r, sizeof r);
    (void)n; /* nobody else to tell */
}

static void close_from(int first, int keep)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, (unsigned)keep - 1, 0) == 0 &&
        syscall(SYS_close_range, (unsigned)keep + 1, ~0u, 0) == 0)
        return;
#endif
    for (int fd = first; fd < 1024; fd++)
        if (fd != keep)
            close(fd);
}

/* In the grandchild. */
static void become_daemon(const char *program, char *const argv[], int to_parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    static const int defaults[] = { SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD,
                                    SIGHUP, SIGUSR1, SIGUSR2, SIGALRM };
    for (unsigned i = 0; i < sizeof defaults / sizeof *defaults; i++)
        signal(defaults[i], SIG_DFL);
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
    }
    int fd = fcntl(to_parent, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        _exit(127);
    close_from(3, fd);
    if (chdir("/"))
        _exit(127);
    tell(fd, (struct report){ .pid = getpid() });
    execv(program, argv);
    tell(fd, (struct report){ .pid = getpid(), .sys = errno });
    _exit(127);
}

int start_daemon(const char *program, const char *path, pid_t *ret_pid, struct kiln_error *e)
{
    char absolute[PATH_MAX], socket_path[PATH_MAX];
    /* The daemon runs in /, so relative names must be made absolute; the socket itself doesn't exist yet. */
    if (!realpath(program, absolute))
        return client_error(e, KILN_E_CONNECT, errno, "cannot start %s: %s", program, strerror(errno));
    if (path[0] == '/' || !getcwd(socket_path, sizeof socket_path - FIND_PATH_MAX - 2)) {
        snprintf(socket_path, sizeof socket_path, "%s", path);
    } else {
        size_t n = strlen(socket_path);
        snprintf(socket_path + n, sizeof socket_path - n, "/%s", path);
    }
    char *argv[] = { absolute, "--socket", socket_path, "--idle-exit", FIND_DAEMON_IDLE_S, NULL };
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return client_error(e, KILN_E_CONNECT, errno, "cannot start %s: %s", program, strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        if (setsid() < 0)
            _exit(127);
        pid_t grandchild = fork();
        if (grandchild == 0)
            become_daemon(absolute, argv, ends[1]);
        _exit(grandchild < 0 ? 127 : 0);
    }
    int sys = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return client_error(e, KILN_E_CONNECT, sys, "cannot start %s: %s", program, strerror(sys));
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    struct report last = { 0 }, r;
    for (;;) {
        ssize_t n = read(ends[0], &r, sizeof r);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t)sizeof r)
            break;
        last = r;
    }
    close(ends[0]);
    if (!last.pid || last.sys)
        return client_error(e, KILN_E_CONNECT, last.sys, "cannot start %s: %s", program,
                            last.sys ? strerror(last.sys) : "the process did not come up");
    *ret_pid = last.pid;
    return 0;
}

bool start_alive(pid_t pid)
{
    if (kill(pid, 0) && errno != EPERM)
        return false;
    /* Where nobody reaps orphans (containers), a process that has left still has its number. */
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return true;
    text[n] = 0;
    const char *state = strrchr(text, ')'); /* behind the name, which may hold anything */
    return !state || state[1] != ' ' || state[2] != 'Z';
}
