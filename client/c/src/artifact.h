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

struct kiln_artifact {
    _Atomic int64_t refs;
    unsigned char key[KILN_KEY_BYTES];
    char source[16];
    uint64_t size, compile_us;
    int fd; /* -1: none; close-on-exec */
    void *manifest;
    size_t manifest_len;
    pthread_mutex_t lock; /* guards what follows */
    void *bytes;          /* from malloc, or a mapping of fd */
    size_t len;
    bool mapped;
    bool decoded;
    struct arena arena; /* of the decoded manifest */
    struct kiln_manifest info;
};

/* Takes fd over (-1: none), copies the rest. bytes NULL: they are behind fd. On failure fd is closed. */
int artifact_new(const unsigned char *key, int fd, const void *bytes, size_t len, const void *manifest,
                 size_t manifest_len, struct kiln_artifact **ret, struct kiln_error *e);

#endif
