/* SPDX-License-Identifier: Apache-2.0
 * bench_hit.c - a hit in a live process beside a bare echo that passes a descriptor: bench_hit [ROUNDS]
 * Needs a daemon (KILN_SOCKET). Prints `echo_us hit_us`, medians, measured in turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kiln/kiln.h>

#include "proto/base/err.h"
#include "proto/codec/fdpass.h"

#define REQUEST 256 /* bytes, about what a compile request by digest has */
#define ANSWER 64

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void echo(int socket)
{
    struct kiln_err e = KILN_ERR_INIT;
    char request[REQUEST], answer[ANSWER] = { 0 };
    int file = memfd_create("echo", MFD_CLOEXEC), fd;

    while (fd_recv(socket, request, sizeof request, &fd, &e) > 0)
        if (fd_send(socket, answer, sizeof answer, file, &e) <= 0)
            break;
    _exit(0);
}

static double ask_echo(int socket)
{
    struct kiln_err e = KILN_ERR_INIT;
    char request[REQUEST] = { 0 }, answer[ANSWER];
    double begin = now_us();
    int fd = -1;

    if (fd_send(socket, request, sizeof request, -1, &e) <= 0 || fd_recv(socket, answer, sizeof answer, &fd, &e) <= 0)
        exit(70);
    begin = now_us() - begin;
    close(fd);
    return begin;
}

static const char module[] = "define double @f(double %x) {\n  %y = fmul double %x, 2.0\n  ret double %y\n}\n";

static double ask_kiln(struct kiln_connection *c, const struct kiln_compile *r)
{
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_artifact *a;
    double begin = now_us();

    if (kiln_compile(c, r, &a, &e) < 0) {
        fprintf(stderr, "%s\n", e.message);
        exit(70);
    }
    begin = now_us() - begin;
    kiln_artifact_free(a);
    return begin;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 5000, pair[2];
    double *echoes = calloc((size_t)n, sizeof *echoes), *hits = calloc((size_t)n, sizeof *hits);
    struct kiln_compile r = { .kind = KILN_LLVM, .body = module, .body_len = sizeof module - 1, .entry = "f",
                              .signature = "float64(float64)" };
    unsigned char digest[KILN_DIGEST_BYTES];
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c;
    pid_t child;

    if (n < 1 || !echoes || !hits || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return 64;
    child = fork();
    if (child == 0) {
        close(pair[0]);
        echo(pair[1]);
    }
    close(pair[1]);
    if (kiln_connect(NULL, &c, &e) < 0) {
        fprintf(stderr, "%s\n", e.message);
        return 69;
    }
    kiln_digest(r.body, r.body_len, digest);
    r.digest = digest;
    ask_kiln(c, &r); /* compiled here, hits from now on */
    for (int i = 0; i < n; i++) {
        echoes[i] = ask_echo(pair[0]);
        hits[i] = ask_kiln(c, &r);
    }
    qsort(echoes, (size_t)n, sizeof *echoes, by_value);
    qsort(hits, (size_t)n, sizeof *hits, by_value);
    printf("%.2f %.2f\n", echoes[n / 2], hits[n / 2]);
    kiln_disconnect(c);
    close(pair[0]);
    waitpid(child, NULL, 0);
    free(echoes);
    free(hits);
    return 0;
}
