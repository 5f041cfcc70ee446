/* SPDX-License-Identifier: Apache-2.0
 * artifact.h - an answer of the server: a descriptor or bytes, a manifest, a key. Counted, immutable but
 * for what is made on demand under its lock. */
#ifndef KILN_CLIENT_ARTIFACT_H
#define KILN_CLIENT_ARTIFACT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <kiln/kiln.h>

#include "proto/base/arena.h"

/* A descriptor that an artifact and the mapping of its code share: its number must not come back while the
 * code is mapped (load.c). */
struct shared_fd {
    _Atomic int refs;
    int fd; /* close-on-exec */
};
struct shared_fd *shared_fd_new(int fd); /* takes fd over, closes it when out of memory (NULL) */
struct shared_fd *shared_fd_ref(struct shared_fd *s);
void shared_fd_unref(struct shared_fd *s); /* NULL is fine */

struct kiln_artifact {
    _Atomic int64_t refs;
    unsigned char key[KILN_KEY_BYTES];
    char source[16];
    uint64_t size, compile_us;
    void *manifest;
    size_t manifest_len;
    pthread_mutex_t lock;   /* guards what follows */
    struct shared_fd *file; /* NULL: none, the bytes are here */
    void *bytes;            /* from malloc, or a mapping of fd */
    size_t len;
    bool mapped;
    bool decoded;
    struct arena arena; /* of the decoded manifest */
    struct kiln_manifest info;
};

/* Takes fd over (-1: none), copies the rest. bytes NULL: they are behind fd. On failure fd is closed. */
int artifact_new(const unsigned char *key, int fd, const void *bytes, size_t len, const void *manifest,
                 size_t manifest_len, struct kiln_artifact **ret, struct kiln_error *e);

/* The artifact's descriptor, to be released by the caller; NULL: it has none. */
struct shared_fd *artifact_file(struct kiln_artifact *a);
/* Let go of the descriptor; the bytes are mapped and stay. */
void artifact_drop_file(struct kiln_artifact *a);

#endif
