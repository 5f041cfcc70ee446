/* SPDX-License-Identifier: Apache-2.0
 * fdpass.c - sendmsg and recvmsg with one descriptor's worth of control data. */
#include "proto/codec/fdpass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

ssize_t fd_send(int socket, const void *data, size_t len, int fd, struct kiln_err *e)
{
    struct iovec iov = { (void *)(size_t)data, len };
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
    union control control;
    ssize_t n;

    if (fd >= 0) {
        memset(&control, 0, sizeof control);
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    do
        n = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        return n;
    if (n == 0 || errno == EAGAIN || errno == EWOULDBLOCK)
        return 0;
    if (fd >= 0 && (errno == ETOOMANYREFS || errno == EPERM || errno == EINVAL))
        return kiln_err_set(e, KILN_E_BUSY, errno, "the kernel takes no more descriptors: %s", strerror(errno));
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
        return kiln_err_set(e, KILN_E_CLOSED, errno, "the peer has closed the connection");
    return kiln_err_set(e, KILN_E_IO, errno, "send: %s", strerror(errno));
}

/* Every descriptor of a control message; a well-behaved peer sends one. */
static unsigned take_fds(struct msghdr *m, int *ret_fd)
{
    unsigned count = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        size_t n;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (count++ == 0)
                *ret_fd = fd;
            else
                close(fd);
        }
    }
    return count;
}

ssize_t fd_recv(int socket, void *data, size_t len, int *ret_fd, struct kiln_err *e)
{
    struct iovec iov = { data, len };
    union control control;
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes,
                        .msg_controllen = sizeof control.bytes };
    unsigned fds;
    ssize_t n;

    *ret_fd = -1;
    do
        n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return 0;
        if (errno == ECONNRESET)
            return kiln_err_set(e, KILN_E_CLOSED, errno, "the peer has closed the connection");
        return kiln_err_set(e, KILN_E_IO, errno, "receive: %s", strerror(errno));
    }
    fds = take_fds(&m, ret_fd);
    if (fds > 1 || (m.msg_flags & MSG_CTRUNC)) {
        if (*ret_fd >= 0)
            close(*ret_fd);
        *ret_fd = -1;
        return kiln_err_set(e, KILN_E_WIRE_FRAME, 0, "more than one descriptor in one message");
    }
    if (n == 0 && len)
        return kiln_err_set(e, KILN_E_CLOSED, 0, "the peer has closed the connection");
    return n;
}
