/* SPDX-License-Identifier: Apache-2.0
 * Finding a daemon, trusting it, starting one. Called as `test_client_find --socket PATH ...` this program is
 * the daemon that is started: one that writes a line to KILN_TEST_STARTS, serves, and leaves when asked. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

#include <kiln/kiln.h>

#include "tests/unit/fake_server.h"

static char dir[] = "/tmp/kiln-test-XXXXXX";

static char *in_dir(const char *name)
{
    static char paths[4][256];
    static int n;
    char *p = paths[n++ % 4];
    snprintf(p, sizeof paths[0], "%s/%s", dir, name);
    return p;
}

static int daemon_main(int argc, char **argv)
{
    static struct fake f;
    const char *path = NULL, *idle = NULL;
    for (int i = 1; i + 1 < argc; i++) {
        if (!strcmp(argv[i], "--socket"))
            path = argv[i + 1];
        if (!strcmp(argv[i], "--idle-exit"))
            idle = argv[i + 1];
    }
    if (!path || !idle)
        return 1;
    int starts = open(getenv("KILN_TEST_STARTS"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    char lock_path[300];
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    int lock = open(lock_path, O_RDWR | O_CREAT, 0600);
    if (starts < 0 || flock(lock, LOCK_EX | LOCK_NB)) /* as the real one: the second leaves */
        return 1;
    char line[32];
    int n = snprintf(line, sizeof line, "%d %d\n", (int)getpid(), (int)getsid(0));
    if (write(starts, line, (size_t)n) != n || fake_start(&f, path))
        return 1;
    /* Leaves when its folder's test is over, and in any case soon. */
    for (int i = 0; i < 600 && access(path, F_OK) == 0; i++) {
        struct timespec t = { .tv_nsec = 50000000 };
        nanosleep(&t, NULL);
    }
    return 0;
}

static int lines_of(const char *path, int *ret_pid, int *ret_sid)
{
    FILE *f = fopen(path, "r");
    int n = 0;
    while (f && fscanf(f, "%d %d", ret_pid, ret_sid) == 2)
        n++;
    if (f)
        fclose(f);
    return n;
}

static int make_dir(void **state)
{
    (void)state;
    memcpy(dir + sizeof dir - 7, "XXXXXX", 6);
    unsetenv("KILN_SOCKET");
    unsetenv("KILN_DAEMON");
    unsetenv("KILN_TRUSTED_UIDS");
    if (!mkdtemp(dir))
        return -1;
    setenv("XDG_RUNTIME_DIR", dir, 1);
    setenv("KILN_TEST_STARTS", in_dir("starts"), 1);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static void use_this_program_as_daemon(void)
{
    char self[256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = 0;
    setenv("KILN_DAEMON", self, 1);
}

static void nobody_answers(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_options o = { .no_start = true };
    struct kiln_connection *c;
    assert_int_equal(kiln_connect(&o, &c, &e), -KILN_E_CONNECT);
    assert_non_null(strstr(e.message, dir)); /* what was tried */
    assert_non_null(strstr(e.message, "/run/kiln"));
    setenv("KILN_SOCKET", in_dir("other"), 1);
    assert_int_equal(kiln_connect(&o, &c, &e), -KILN_E_CONNECT);
    assert_null(strstr(e.message, "/run/kiln")); /* alone when named */
    unsetenv("KILN_SOCKET");
    setenv("KILN_DAEMON", in_dir("no-such-program"), 1);
    assert_int_equal(kiln_connect(NULL, &c, &e), -KILN_E_CONNECT);
    setenv("KILN_DAEMON", "/bin/false", 1); /* leaves at once */
    assert_int_equal(kiln_connect(NULL, &c, &e), -KILN_E_CONNECT);
    assert_non_null(strstr(e.message, "left at once"));
    kiln_error_clear(&e);
}

static void long_paths_are_refused(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c;
    char path[200];
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[108] = 0;
    struct kiln_options o = { .socket = path };
    assert_int_equal(kiln_connect(&o, &c, &e), -KILN_E_INVALID);
    assert_non_null(strstr(e.message, "108"));
    setenv("KILN_SOCKET", path, 1);
    assert_int_equal(kiln_connect(NULL, &c, &e), -KILN_E_INVALID);
    kiln_error_clear(&e);
}

static void the_user_comes_before_the_system(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_options o = { .no_start = true };
    struct kiln_connection *c;
    struct kiln_server s;
    static struct fake f;
    mkdir(in_dir("kiln"), 0700);
    assert_int_equal(fake_start(&f, in_dir("kiln/kilnd.sock")), 0);
    assert_int_equal(kiln_connect(&o, &c, &e), 0);
    assert_int_equal(kiln_server_info(c, &s, &e), 0);
    assert_string_equal(s.socket, in_dir("kiln/kilnd.sock"));
    kiln_disconnect(c);
    /* A directory that others may write to is not ours, whatever lies in it. */
    chmod(in_dir("kiln"), 0777);
    assert_int_equal(kiln_connect(&o, &c, &e), -KILN_E_CONNECT);
    assert_non_null(strstr(e.message, "others may write"));
    fake_stop(&f);
    kiln_error_clear(&e);
}

static void other_users_are_not_trusted(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can be somebody else */
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_options o = { .socket = in_dir("s"), .no_start = true };
    struct kiln_connection *c;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    chmod(dir, 0777);
    pid_t child = fork();
    if (child == 0) {
        static struct fake f;
        if (setuid(65534) || fake_start(&f, o.socket) || write(ready[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(kiln_connect(&o, &c, &e), -KILN_E_PEER);
    assert_non_null(strstr(e.message, "65534"));
    uint32_t trusted = 65534;
    o.trusted_uids = &trusted;
    o.n_trusted_uids = 1;
    assert_int_equal(kiln_connect(&o, &c, &e), 0);
    kiln_disconnect(c);
    o.n_trusted_uids = 0;
    setenv("KILN_TRUSTED_UIDS", "12,65534", 1);
    assert_int_equal(kiln_connect(&o, &c, &e), 0);
    kiln_disconnect(c);
    setenv("KILN_TRUSTED_UIDS", "root,nobody", 1); /* names do too */
    assert_int_equal(kiln_connect(&o, &c, &e), 0);
    kiln_disconnect(c);
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    kiln_error_clear(&e);
}

static void a_daemon_is_started(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c;
    struct kiln_server s;
    struct stat st;
    int pid = 0, sid = 0;
    use_this_program_as_daemon();
    if (kiln_connect(NULL, &c, &e))
        fail_msg("%s", e.message);
    assert_int_equal(kiln_server_info(c, &s, &e), 0);
    assert_int_equal(lines_of(in_dir("starts"), &pid, &sid), 1);
    assert_int_equal(s.pid, pid);
    assert_int_not_equal(getsid(0), sid); /* no part of our session */
    assert_int_equal(stat(in_dir("kiln"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* not our child either */
    kiln_disconnect(c);
    unlink(in_dir("kiln/kilnd.sock"));
}

static void a_named_socket_gets_a_daemon_too(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c;
    int pid, sid;
    use_this_program_as_daemon();
    setenv("KILN_SOCKET", in_dir("named"), 1);
    if (kiln_connect(NULL, &c, &e))
        fail_msg("%s", e.message);
    assert_int_equal(lines_of(in_dir("starts"), &pid, &sid), 1);
    kiln_disconnect(c);
    unlink(in_dir("named"));
    setenv("KILN_SOCKET", in_dir("no/such/folder/named"), 1);
    assert_int_equal(kiln_connect(NULL, &c, &e), -KILN_E_CONNECT);
    kiln_error_clear(&e);
}

#define RACERS 16
static void racing_starts_end_with_one(void **state)
{
    (void)state;
    int pid, sid, go[2];
    use_this_program_as_daemon();
    assert_int_equal(pipe(go), 0);
    pid_t children[RACERS];
    for (int i = 0; i < RACERS; i++)
        if ((children[i] = fork()) == 0) {
            struct kiln_connection *c;
            char byte;
            close(go[1]);
            if (read(go[0], &byte, 1) != 0) /* until the parent lets all go */
                _exit(2);
            _exit(kiln_connect(NULL, &c, NULL) ? 1 : 0);
        }
    close(go[0]);
    close(go[1]);
    for (int i = 0; i < RACERS; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_int_equal(lines_of(in_dir("starts"), &pid, &sid), 1);
    unlink(in_dir("kiln/kilnd.sock"));
}

static int never(void *user)
{
    ++*(int *)user;
    return 1;
}

static void connecting_can_be_interrupted(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c;
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int asked = 0;
    struct kiln_options o = { .socket = in_dir("deaf"), .interrupted = never, .interrupted_user = &asked };
    memcpy(a.sun_path, o.socket, strlen(o.socket) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0); /* takes connections, says nothing */
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(kiln_connect(&o, &c, &e), -KILN_E_CANCELLED);
    assert_true(asked > 0);
    o.interrupted = NULL;
    o.timeout_ms = 100;
    assert_int_equal(kiln_connect(&o, &c, &e), -KILN_E_TIMEOUT);
    close(fd);
    kiln_error_clear(&e);
}

#define T(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)
int main(int argc, char **argv)
{
    if (argc > 1)
        return daemon_main(argc, argv);
    const struct CMUnitTest tests[] = {
        T(nobody_answers),
        T(long_paths_are_refused),
        T(the_user_comes_before_the_system),
        T(other_users_are_not_trusted),
        T(a_daemon_is_started),
        T(a_named_socket_gets_a_daemon_too),
        T(racing_starts_end_with_one),
        T(connecting_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
