/* SPDX-License-Identifier: Apache-2.0
 * artifact.c - a blob in a sealed memfd: every process maps the same pages and nobody can change them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cache/private.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

struct counted {
    struct cache_artifact a;
    atomic_uint refs;
    unsigned char bytes[]; /* manifest, and the blob if there is no memfd */
};

static int write_all(int fd, const unsigned char *p, size_t len)
{
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

static int sealed_memfd(const unsigned char key[HASH_BYTES], const void *blob, size_t len)
{
    char name[32], hex[17];
    int fd;

    snprintf(name, sizeof name, "kiln:%s", hex_encode(key, 8, hex));
    fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 && errno == EACCES) /* vm.memfd_noexec=2 wants it said; mapping as code still works */
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0)
        return -1;
    if (write_all(fd, blob, len) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

struct cache_artifact *artifact_new(const unsigned char key[HASH_BYTES], const void *blob, size_t blob_len,
                                    const void *manifest, size_t manifest_len)
{
    int fd = blob_len ? sealed_memfd(key, blob, blob_len) : -1;
    size_t extra = manifest_len + (fd < 0 ? blob_len : 0);
    struct counted *k = malloc(sizeof *k + extra);

    if (!k) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    memset(k, 0, sizeof *k);
    atomic_init(&k->refs, 1);
    memcpy(k->a.key, key, HASH_BYTES);
    k->a.fd = fd;
    k->a.size = blob_len;
    k->a.manifest = k->bytes;
    k->a.manifest_len = (uint32_t)manifest_len;
    if (manifest_len)
        memcpy(k->bytes, manifest, manifest_len);
    if (fd < 0) {
        k->a.blob = k->bytes + manifest_len;
        if (blob_len)
            memcpy(k->bytes + manifest_len, blob, blob_len);
    }
    return &k->a;
}

struct cache_artifact *cache_artifact_ref(struct cache_artifact *a)
{
    atomic_fetch_add(&((struct counted *)a)->refs, 1);
    return a;
}

void cache_artifact_unref(struct cache_artifact *a)
{
    struct counted *k = (struct counted *)a;

    if (!k || atomic_fetch_sub(&k->refs, 1) != 1)
        return;
    if (a->fd >= 0)
        close(a->fd);
    free(k);
}

const void *artifact_map(const struct cache_artifact *a)
{
    void *p;

    if (a->fd < 0)
        return a->blob;
    p = mmap(NULL, a->size, PROT_READ, MAP_PRIVATE, a->fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

void artifact_unmap(const struct cache_artifact *a, const void *p)
{
    if (p && a->fd >= 0)
        munmap((void *)(size_t)p, a->size);
}

int cache_artifact_read(const struct cache_artifact *a, struct buf *out, struct kiln_err *e)
{
    unsigned char *to = buf_reserve(out, a->size);
    size_t at = 0;

    if (!to)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "an artifact of %llu bytes does not fit the answer",
                            (unsigned long long)a->size);
    if (a->fd < 0 && a->size)
        memcpy(to, a->blob, a->size);
    while (a->fd >= 0 && at < a->size) {
        ssize_t n = pread(a->fd, to + at, a->size - at, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return kiln_err_set(e, KILN_E_IO, errno, "artifact in memory: %s", strerror(errno));
        at += (size_t)n;
    }
    buf_commit(out, a->size);
    return 0;
}
