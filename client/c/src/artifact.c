/* SPDX-License-Identifier: Apache-2.0
 * artifact.c - see artifact.h. */
#include "client/c/src/artifact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/c/src/client.h"
#include "client/c/src/manifest.h"

struct shared_fd *shared_fd_new(int fd)
{
    struct shared_fd *s = malloc(sizeof *s);
    if (!s) {
        close(fd);
        return NULL;
    }
    s->refs = 1;
    s->fd = fd;
    return s;
}

struct shared_fd *shared_fd_ref(struct shared_fd *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void shared_fd_unref(struct shared_fd *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    close(s->fd);
    free(s);
}

struct shared_fd *artifact_file(struct kiln_artifact *a)
{
    pthread_mutex_lock(&a->lock);
    struct shared_fd *s = a->file ? shared_fd_ref(a->file) : NULL;
    pthread_mutex_unlock(&a->lock);
    return s;
}

void artifact_drop_file(struct kiln_artifact *a)
{
    pthread_mutex_lock(&a->lock);
    struct shared_fd *s = a->bytes ? a->file : NULL;
    if (s)
        a->file = NULL;
    pthread_mutex_unlock(&a->lock);
    shared_fd_unref(s);
}

int artifact_new(const unsigned char *key, int fd, const void *bytes, size_t len, const void *manifest,
                 size_t manifest_len, struct kiln_artifact **ret, struct kiln_error *e)
{
    *ret = NULL;
    struct kiln_artifact *a = calloc(1, sizeof *a);
    if (!a) {
        if (fd >= 0)
            close(fd);
        return client_error(e, KILN_E_NOMEM, 0, "no memory for an artifact");
    }
    a->refs = 1;
    pthread_mutex_init(&a->lock, NULL);
    arena_init(&a->arena, MANIFEST_MEMORY);
    memcpy(a->key, key, KILN_KEY_BYTES);
    a->size = len;
    int rc = 0;
    if (fd >= 0 && !(a->file = shared_fd_new(fd)))
        rc = client_error(e, KILN_E_NOMEM, 0, "no memory for an artifact");
    if (!rc && bytes && !(a->bytes = malloc(len ? len : 1)))
        rc = client_error(e, KILN_E_NOMEM, 0, "no memory for an artifact of %zu bytes", len);
    if (!rc && manifest_len && !(a->manifest = malloc(manifest_len)))
        rc = client_error(e, KILN_E_NOMEM, 0, "no memory for a manifest of %zu bytes", manifest_len);
    if (rc) {
        kiln_artifact_free(a);
        return rc;
    }
    if (bytes) {
        memcpy(a->bytes, bytes, len);
        a->len = len;
    }
    if (manifest_len)
        memcpy(a->manifest, manifest, manifest_len);
    a->manifest_len = manifest_len;
    *ret = a;
    return 0;
}

int kiln_artifact_make(const unsigned char key[KILN_KEY_BYTES], const void *bytes, size_t len,
                       const void *manifest, size_t manifest_len, struct kiln_artifact **ret,
                       struct kiln_error *e)
{
    *ret = NULL;
    if (!key || !bytes)
        return client_error(e, KILN_E_INVALID, 0, "an artifact needs a key and bytes");
    return artifact_new(key, -1, bytes, len, manifest, manifest ? manifest_len : 0, ret, e);
}

struct kiln_artifact *kiln_artifact_ref(struct kiln_artifact *a)
{
    atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

void kiln_artifact_free(struct kiln_artifact *a)
{
    if (!a || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1)
        return;
    shared_fd_unref(a->file);
    if (a->mapped)
        munmap(a->bytes, a->len);
    else
        free(a->bytes);
    free(a->manifest);
    arena_done(&a->arena);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

void kiln_artifact_info(const struct kiln_artifact *a, struct kiln_artifact_info *ret)
{
    *ret = (struct kiln_artifact_info){
        .key = a->key,
        .source = a->source,
        .size = a->size,
        .compile_us = a->compile_us,
        .manifest = a->manifest,
        .manifest_len = a->manifest_len,
    };
}

static int map_bytes(struct kiln_artifact *a, struct kiln_error *e)
{
    struct stat st;
    if (!a->file || fstat(a->file->fd, &st) || st.st_size <= 0)
        return client_error(e, KILN_E_LOAD, errno, "the artifact's descriptor cannot be read");
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, a->file->fd, 0);
    if (p == MAP_FAILED)
        return client_error(e, KILN_E_LOAD, errno, "cannot map the artifact: %s", strerror(errno));
    a->bytes = p;
    a->len = (size_t)st.st_size;
    a->mapped = true;
    return 0;
}

int kiln_artifact_bytes(struct kiln_artifact *a, const void **ret, size_t *ret_len, struct kiln_error *e)
{
    pthread_mutex_lock(&a->lock);
    int rc = a->bytes ? 0 : map_bytes(a, e);
    *ret = a->bytes;
    *ret_len = a->len;
    pthread_mutex_unlock(&a->lock);
    return rc;
}

int kiln_artifact_manifest(struct kiln_artifact *a, const struct kiln_manifest **ret, struct kiln_error *e)
{
    *ret = NULL;
    const void *bytes = a->manifest;
    size_t len = a->manifest_len;
    if (!bytes) {
        const void *elf;
        size_t elf_len;
        int rc = kiln_artifact_bytes(a, &elf, &elf_len, e);
        if (rc)
            return rc;
        manifest_find(elf, elf_len, &bytes, &len);
    }
    pthread_mutex_lock(&a->lock);
    int rc = a->decoded ? 0 : manifest_decode(&a->arena, bytes, len, &a->info, e);
    a->decoded = !rc;
    pthread_mutex_unlock(&a->lock);
    if (!rc)
        *ret = &a->info;
    return rc;
}
