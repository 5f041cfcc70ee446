/* SPDX-License-Identifier: Apache-2.0
 * key.c - feeds the components of key.def, once into one hash (the key), once each into its own. */
#include "cache/key.h"

#include <string.h>

#define KEY_VERSION 1 /* raise with any change of key.def or of how a component is fed */

static const char *or_default(const char *text, const char *otherwise)
{
    return text && *text ? text : otherwise;
}

bool key_is_foreign(const struct key_parts *p)
{
    return !p->kind || strcmp(p->kind, "kir") != 0;
}

bool key_is_restricted(const struct key_parts *p)
{
    return p->is_private || key_is_foreign(p);
}

static void feed_env(struct hash *h, const struct key_parts *p)
{
    hash_number(h, p->n_env);
    for (uint32_t i = 0; i < p->n_env; i++)
        hash_text(h, p->env[i]);
}

/* Positions are embedded by debug builds alone; elsewhere they must not part two equal functions. */
static void feed_debug(struct hash *h, const struct key_parts *p)
{
    hash_number(h, p->debug);
    hash_bytes(h, p->positions, p->debug ? p->positions_len : 0);
}

static void feed_owner(struct hash *h, const struct key_parts *p)
{
    hash_number(h, key_is_restricted(p));
    hash_number(h, key_is_restricted(p) ? p->owner : 0);
}

static void feed(enum key_component component, struct hash *h, const struct key_parts *p)
{
    switch (component) {
#define X(NAME, text, feed_it)                                                                                        \
    case KEY_##NAME:                                                                                                  \
        feed_it;                                                                                                      \
        break;
#include "cache/key.def"
#undef X
    case KEY__COUNT: break;
    }
}

void key_compute(const struct key_parts *p, unsigned char ret[HASH_BYTES])
{
    struct hash h;

    hash_init(&h);
    hash_text(&h, "kiln key");
    hash_number(&h, KEY_VERSION);
    for (unsigned i = 0; i < KEY__COUNT; i++)
        feed((enum key_component)i, &h, p);
    hash_done(&h, ret);
}

void key_digests(const struct key_parts *p, unsigned char ret[KEY_PARTS_BYTES])
{
    unsigned char whole[HASH_BYTES];
    struct hash h;

    for (unsigned i = 0; i < KEY__COUNT; i++) {
        hash_init(&h);
        feed((enum key_component)i, &h, p);
        hash_done(&h, whole);
        memcpy(ret + i * KEY_PART_BYTES, whole, KEY_PART_BYTES);
    }
}

const char *key_component_name(unsigned component)
{
    static const char *const names[] = {
#define X(NAME, text, feed) text,
#include "cache/key.def"
#undef X
    };

    return component < KEY__COUNT ? names[component] : NULL;
}

void key_options_text(const struct key_parts *p, struct buf *out)
{
    buf_printf(out, "kind=%s semantics=%s", or_default(p->kind, "bitcode"), or_default(p->semantics, "python"));
    if (p->flags)
        buf_printf(out, " flags=0x%llx", (unsigned long long)p->flags);
    if (p->checked)
        buf_str(out, " checked");
    if (p->debug)
        buf_str(out, " debug");
    if (p->nocontract)
        buf_str(out, " nocontract");
    if (p->symbol && *p->symbol)
        buf_printf(out, " symbol=%s", p->symbol);
    if (p->is_private)
        buf_str(out, " private");
    for (uint32_t i = 0; i < p->n_env; i++)
        buf_printf(out, "%s%s", i ? ", " : " env=", p->env[i]);
}
