/* SPDX-License-Identifier: Apache-2.0
 * hash.c - libsodium's generic hash behind typed fields. */
#include "proto/base/hash.h"

#include <sodium.h>
#include <string.h>

_Static_assert(sizeof(crypto_generichash_state) <= sizeof(((struct hash *)0)->state), "room for libsodium's state");

enum field_type { FIELD_BYTES = 1, FIELD_TEXT = 2, FIELD_NUMBER = 3 };

static crypto_generichash_state *state_of(struct hash *h)
{
    return (crypto_generichash_state *)(void *)h->state;
}

void hash_init(struct hash *h)
{
    crypto_generichash_init(state_of(h), NULL, 0, HASH_BYTES);
}

void hash_raw(struct hash *h, const void *data, size_t len)
{
    if (len)
        crypto_generichash_update(state_of(h), data, len);
}

static void field(struct hash *h, enum field_type type, const void *data, size_t len)
{
    unsigned char head[9] = { (unsigned char)type };

    for (unsigned i = 0; i < 8; i++)
        head[1 + i] = (unsigned char)((uint64_t)len >> (8 * i));
    hash_raw(h, head, sizeof head);
    hash_raw(h, data, len);
}

void hash_bytes(struct hash *h, const void *data, size_t len)
{
    field(h, FIELD_BYTES, data, len);
}

void hash_text(struct hash *h, const char *text)
{
    field(h, FIELD_TEXT, text ? text : "", text ? strlen(text) : 0);
}

void hash_number(struct hash *h, uint64_t n)
{
    unsigned char le[8];

    for (unsigned i = 0; i < 8; i++)
        le[i] = (unsigned char)(n >> (8 * i));
    field(h, FIELD_NUMBER, le, sizeof le);
}

void hash_done(struct hash *h, unsigned char ret[HASH_BYTES])
{
    crypto_generichash_final(state_of(h), ret, HASH_BYTES);
}

void hash_once(const void *data, size_t len, unsigned char ret[HASH_BYTES])
{
    crypto_generichash(ret, HASH_BYTES, data, len, NULL, 0);
}

char *hex_encode(const unsigned char *data, size_t len, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
    out[2 * len] = '\0';
    return out;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool hex_decode(const char *text, unsigned char *out, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        int high = digit(text[2 * i]);
        int low = high < 0 ? -1 : digit(text[2 * i + 1]);
        if (low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return text[2 * len] == '\0';
}
