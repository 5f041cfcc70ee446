/* SPDX-License-Identifier: Apache-2.0
 * Descriptors over a socket pair: one, none, too many, and a peer that is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/codec/fdpass.h"

static int ends[2];

static int set_up(void **state)
{
    (void)state;
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends);
}

static int tear_down(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static unsigned open_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void one_descriptor_travels(void **state)
{
    struct stat sent, came;
    struct kiln_err e;
    char data[16];
    int file = open("/dev/null", O_RDONLY), got = 99;

    (void)state;
    assert_int_equal(fd_send(ends[0], "hello", 5, file, &e), 5);
    assert_int_equal(fd_recv(ends[1], data, sizeof data, &got, &e), 5);
    assert_memory_equal(data, "hello", 5);
    assert_true(got >= 0 && got != file);
    assert_true(fcntl(got, F_GETFD) & FD_CLOEXEC);
    fstat(file, &sent);
    fstat(got, &came);
    assert_true(sent.st_rdev == came.st_rdev && sent.st_ino == came.st_ino);
    close(got);
    close(file);
    assert_int_equal(fd_send(ends[0], "x", 1, -1, &e), 1);
    assert_int_equal(fd_recv(ends[1], data, sizeof data, &got, &e), 1);
    assert_int_equal(got, -1);
}

/* A read stops at a message with a descriptor: bytes before it never bring it along. */
static void a_descriptor_comes_with_its_own_bytes(void **state)
{
    int file = open("/dev/null", O_RDONLY), got;
    struct kiln_err e;
    char data[64];

    (void)state;
    fd_send(ends[0], "first", 5, file, &e);
    fd_send(ends[0], "second", 6, file, &e);
    assert_int_equal(fd_recv(ends[1], data, sizeof data, &got, &e), 5);
    assert_true(got >= 0);
    close(got);
    assert_int_equal(fd_recv(ends[1], data, sizeof data, &got, &e), 6);
    assert_true(got >= 0);
    close(got);
    close(file);
}

static void a_blocked_socket_says_so(void **state)
{
    static const char block[65536];
    struct kiln_err e;
    char data[16];
    int got, file = open("/dev/null", O_RDONLY);
    ssize_t n;

    (void)state;
    assert_int_equal(fd_recv(ends[1], data, sizeof data, &got, &e), 0);
    while ((n = fd_send(ends[0], block, sizeof block, -1, &e)) > 0)
        ;
    assert_int_equal(n, 0);
    assert_int_equal(fd_send(ends[0], block, 16, file, &e), 0);
    close(file);
}

static void a_peer_that_is_gone_is_an_error_not_a_signal(void **state)
{
    struct kiln_err e;
    char data[16];
    int got;

    (void)state;
    close(ends[1]);
    ends[1] = -1;
    assert_int_equal(fd_send(ends[0], "x", 1, -1, &e), -KILN_E_CLOSED);
    assert_int_equal(fd_recv(ends[0], data, sizeof data, &got, &e), -KILN_E_CLOSED);
    assert_int_equal(got, -1);
    assert_int_equal(fd_send(ends[1], "x", 1, -1, &e), -KILN_E_IO);
    assert_int_equal(e.sys, EBADF);
}

/* More than one descriptor in a message: refused, and none of them stays open. */
static void many_descriptors_are_refused_and_closed(void **state)
{
    (void)state;
    for (unsigned n = 2; n <= 10; n++) {
        union {
            char bytes[CMSG_SPACE(10 * sizeof(int))];
            struct cmsghdr align;
        } control = { { 0 } };
        struct iovec iov = { (char[]){ 'x' }, 1 };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes,
                            .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        struct kiln_err e;
        unsigned before;
        char data[4];
        int got;
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n * sizeof(int));
        for (unsigned i = 0; i < n; i++)
            memcpy(CMSG_DATA(c) + i * sizeof(int), &ends[0], sizeof(int));
        before = open_descriptors();
        assert_int_equal(sendmsg(ends[0], &m, 0), 1);
        assert_int_equal(fd_recv(ends[1], data, sizeof data, &got, &e), -KILN_E_WIRE_FRAME);
        assert_int_equal(got, -1);
        assert_int_equal(open_descriptors(), before);
    }
}

/* The kernel bounds descriptors in flight by the sender's limit of open files: then the answer is "send the bytes
 * inline", and nothing has been sent. */
static void too_many_in_flight_is_told_apart(void **state)
{
    int file = open("/dev/null", O_RDONLY), got;
    struct kiln_err e = KILN_ERR_INIT;
    struct rlimit old, few;
    unsigned sent = 0;
    ssize_t n;
    char data[1];

    (void)state;
    if (geteuid() == 0 && (setegid(65534) < 0 || seteuid(65534) < 0)) { /* root may have any number in flight */
        close(file);
        skip();
    }
    getrlimit(RLIMIT_NOFILE, &old);
    few = old;
    few.rlim_cur = 64; /* few enough that the socket's buffer is not full first */
    setrlimit(RLIMIT_NOFILE, &few);
    while ((n = fd_send(ends[0], "x", 1, file, &e)) == 1 && sent < 1000)
        sent++;
    setrlimit(RLIMIT_NOFILE, &old);
    if (getuid() == 0)
        assert_true(seteuid(0) == 0 && setegid(0) == 0);
    assert_int_equal(n, -KILN_E_BUSY);
    assert_int_equal(e.sys, ETOOMANYREFS);
    assert_int_equal(fd_send(ends[0], "y", 1, -1, &e), 1); /* bytes alone still go */
    for (unsigned i = 0; i < sent; i++) {
        assert_int_equal(fd_recv(ends[1], data, 1, &got, &e), 1);
        assert_int_equal(data[0], 'x');
        assert_true(got >= 0);
        close(got);
    }
    assert_int_equal(fd_recv(ends[1], data, 1, &got, &e), 1);
    assert_int_equal(data[0], 'y');
    assert_int_equal(got, -1);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_descriptor_travels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_descriptor_comes_with_its_own_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_blocked_socket_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_peer_that_is_gone_is_an_error_not_a_signal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_descriptors_are_refused_and_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_in_flight_is_told_apart, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
