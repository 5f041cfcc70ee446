/* SPDX-License-Identifier: Apache-2.0
 * link.c - objects to shared objects. LLD reads descriptors by /proc/self/fd and writes to standard output,
 * which is a memory file while it runs: no file system is touched. */
#include "daemon/compiler/target/link.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/compiler/runtime/embedded.h"

static int memory_file(const char *name, const unsigned char *data, size_t len)
{
    int fd = memfd_create(name, MFD_CLOEXEC);

    while (fd >= 0 && len) {
        ssize_t n = write(fd, data, len);
        if (n <= 0) {
            close(fd);
            return -1;
        }
        data += n;
        len -= (size_t)n;
    }
    return fd;
}

int linker_init(struct linker *l, struct kiln_err *e)
{
    for (int s = 0; s < STUB__COUNT; s++) {
        for (int i = 0; i < 3; i++) {
            const struct embedded *x = &runtime_stubs[s][i];
            l->stubs[s][i] = x->len ? memory_file("stub", x->data, x->len) : -1;
            if (x->len && l->stubs[s][i] < 0)
                return kiln_err_set(e, KILN_E_IO, 0, "memory file for a stub library");
        }
        l->builtins[s] = runtime_builtins[s].len
                             ? memory_file("builtins", runtime_builtins[s].data, runtime_builtins[s].len)
                             : -1;
    }
    return 0;
}

void linker_done(struct linker *l)
{
    for (int s = 0; s < STUB__COUNT; s++) {
        for (int i = 0; i < 3; i++)
            if (l->stubs[s][i] >= 0)
                close(l->stubs[s][i]);
        if (l->builtins[s] >= 0)
            close(l->builtins[s]);
    }
}

static int read_back(int fd, struct buf *out, struct kiln_err *e)
{
    off_t size = lseek(fd, 0, SEEK_END), at = 0;
    unsigned char *to = size > 0 ? buf_reserve(out, (size_t)size) : NULL;

    if (!to)
        return kiln_err_set(e, size > 0 ? KILN_E_LIMIT : KILN_E_INTERNAL, 0,
                            "the shared object is %lld bytes", (long long)size);
    while (at < size) {
        ssize_t n = pread(fd, to + at, (size_t)(size - at), at);
        if (n <= 0)
            return kiln_err_set(e, KILN_E_IO, 0, "reading the linker's output");
        at += n;
    }
    buf_commit(out, (size_t)size);
    return 0;
}

/* LLD's words, made a sentence for the user: the missing symbol, without our paths. */
static int explain(const char *message, struct kiln_err *e)
{
    const char *undefined = strstr(message, "undefined symbol: ");

    if (undefined) {
        undefined += strlen("undefined symbol: ");
        return kiln_err_set(
            e, KILN_E_COMPILE, 0,
            "the code calls '%.*s', which is not available to artifacts (libc, libm and libmvec in part)",
            (int)strcspn(undefined, "\n"), undefined);
    }
    return kiln_err_set(e, KILN_E_COMPILE, 0, "linker: %.200s", message);
}

int link_shared(const struct linker *l, const struct target *t, const unsigned char *object, size_t len,
                struct buf *out, struct kiln_err *e)
{
    static const char *const options[] = { "ld.lld",
                                           "-shared",
                                           "-Bsymbolic",
                                           "--hash-style=gnu",
                                           "-z",
                                           "now",
                                           "-z",
                                           "relro",
                                           "-z",
                                           "defs",
                                           "-z",
                                           "noexecstack",
                                           "--build-id=none",
                                           "--no-rosegment",
                                           "--gc-sections",
                                           "--as-needed",
                                           "--threads=1",
                                           "--eh-frame-hdr",
                                           "--no-dependent-libraries",
                                           "-O1",
                                           "-soname",
                                           "kiln-artifact",
                                           "-o",
                                           "-" };
    const char *args[48];
    char paths[6][32], message[1024];
    size_t n = 0, p = 0;
    int in, result, saved = -1, r;

    in = memory_file("object", object, len);
    result = memfd_create("artifact", MFD_CLOEXEC);
    if (in < 0 || result < 0) {
        r = kiln_err_set(e, KILN_E_IO, 0, "memory file for the linker");
        goto out;
    }
    for (; n < sizeof options / sizeof options[0]; n++)
        args[n] = options[n];
    snprintf(paths[p], sizeof paths[p], "/proc/self/fd/%d", in);
    args[n++] = paths[p++];
    if (l->builtins[t->stub] >= 0) {
        snprintf(paths[p], sizeof paths[p], "/proc/self/fd/%d", l->builtins[t->stub]);
        args[n++] = "--start-lib";
        args[n++] = paths[p++];
        args[n++] = "--end-lib";
    }
    for (int i = 0; i < 3; i++)
        if (l->stubs[t->stub][i] >= 0) {
            snprintf(paths[p], sizeof paths[p], "/proc/self/fd/%d", l->stubs[t->stub][i]);
            args[n++] = paths[p++];
        }
    saved = dup(STDOUT_FILENO);
    if (dup2(result, STDOUT_FILENO) < 0) {
        r = kiln_err_set(e, KILN_E_IO, 0, "standard output for the linker");
        goto out;
    }
    r = kiln_lld(args, n, message, sizeof message);
    r = r ? explain(message, e) : read_back(result, out, e);
out:
    if (saved >= 0) {
        dup2(saved, STDOUT_FILENO);
        close(saved);
    }
    if (in >= 0)
        close(in);
    if (result >= 0)
        close(result);
    return r;
}
