/* SPDX-License-Identifier: Apache-2.0
 * key.h - the cache key: BLAKE2b-256 over everything that decides what code comes out.
 *
 * The list of components is key.def. Texts are typed and length-delimited in the hash, so no two different
 * requests feed the same bytes. An artifact that only its sender may have (foreign LLVM code, or `is_private`)
 * has the sender's uid in its key: another user cannot even ask for it. */
#ifndef KILN_CACHE_KEY_H
#define KILN_CACHE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/buf.h"
#include "proto/base/hash.h"

enum key_component {
#define X(NAME, text, feed) KEY_##NAME,
#include "cache/key.def"
#undef X
    KEY__COUNT
};

/* Bytes of a stored component digest: they are compared, never trusted, so half of the hash does. */
#define KEY_PART_BYTES 16
#define KEY_PARTS_BYTES (KEY__COUNT * KEY_PART_BYTES)

/* The request as the key sees it. Borrowed; texts are NUL-terminated, NULL counts as "". */
struct key_parts {
    unsigned char ir[HASH_BYTES]; /* BLAKE2b-256 of the payload, computed or checked by the server */
    const char *kind;             /* "kir" or "bitcode" */
    const char *signature;        /* canonical text */
    const char *const *env;       /* types of the environment's slots */
    uint32_t n_env;
    const char *entry;            /* in the key for foreign code only; else for display */
    const char *target;           /* canonical: the server resolves "" before */
    const char *emit;             /* NULL or "": so */
    uint64_t flags;
    const char *semantics;        /* NULL or "": python */
    bool checked, debug, nocontract;
    const char *symbol;
    const void *positions; /* with debug only */
    size_t positions_len;
    const void *toolchain;
    size_t toolchain_len;
    bool is_private;
    uint32_t owner; /* uid of the sender; in the key when key_is_restricted */
};

/* Foreign LLVM code, as opposed to KIR. */
bool key_is_foreign(const struct key_parts *p);
/* Served to its owner only: foreign, or private by wish. */
bool key_is_restricted(const struct key_parts *p);

void key_compute(const struct key_parts *p, unsigned char ret[HASH_BYTES]);
/* A digest of each component, KEY_PART_BYTES each in the order of key.def: what `explain` compares. */
void key_digests(const struct key_parts *p, unsigned char ret[KEY_PARTS_BYTES]);
/* "ir", "kind", ...; NULL past the end. */
const char *key_component_name(unsigned component);
/* Options as `kiln show` prints them: "semantics=python flags=0x1 checked debug"; appended to out. */
void key_options_text(const struct key_parts *p, struct buf *out);

#endif
