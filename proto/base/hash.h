/* SPDX-License-Identifier: Apache-2.0
 * hash.h - BLAKE2b-256 over typed, length-delimited fields, and hexadecimal.
 *
 * Each field feeds its type, its length and its bytes, so that no two different sequences of fields feed
 * the same bytes ("ab","c" against "a","bc"; a number against its text). */
#ifndef KILN_BASE_HASH_H
#define KILN_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_BYTES 32

struct hash {
    unsigned char state[384] __attribute__((aligned(64))); /* libsodium's, opaque here */
};

void hash_init(struct hash *h);
void hash_bytes(struct hash *h, const void *data, size_t len); /* a field of bytes */
void hash_text(struct hash *h, const char *text);              /* NULL counts as "" */
void hash_number(struct hash *h, uint64_t n);
/* Raw bytes, undelimited: for content that is hashed alone (a file in pieces). */
void hash_raw(struct hash *h, const void *data, size_t len);
void hash_done(struct hash *h, unsigned char ret[HASH_BYTES]);

/* Digest of one block: plain BLAKE2b-256, as any tool computes it. */
void hash_once(const void *data, size_t len, unsigned char ret[HASH_BYTES]);

/* Lower-case hexadecimal; out holds 2 * len + 1. Returns out. */
char *hex_encode(const unsigned char *data, size_t len, char *out);
/* The inverse; false unless text is exactly 2 * len digits. */
bool hex_decode(const char *text, unsigned char *out, size_t len);

#endif
