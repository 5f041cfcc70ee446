/* SPDX-License-Identifier: Apache-2.0
 * type.c - the table of interned types, and what is known of each kind.
 *
 * A hash table over (kind, parts), where parts are compared by pointer because they are interned
 * themselves. Each entry also knows how many types it is made of when written out: a tuple of the same
 * tuple, nested, would otherwise be exponential to print or lay out while being small in the table. */
#include "proto/ir/type.h"

#include <string.h>

#include "proto/ir/type_private.h"

struct kind_info {
    const char *text;
    enum type_class class;
    unsigned bits;
    int numpy;
};

static const struct kind_info kinds[] = {
#define X(NAME, text, class, bits, numpy) { text, TC_##class, bits, numpy },
#include "proto/ir/types.def"
#undef X
};

struct entry {
    struct type t; /* first: a type's address is its entry's */
    uint32_t hash;
    uint32_t parts;
    struct entry *next; /* of the same slot */
};

struct type_table {
    struct arena *a;
    struct entry **slots; /* n_slots is a power of two */
    uint32_t n_slots, n;
    bool too_large; /* why the last one was not made: this, or memory */
    const struct type *plain[TY__COUNT]; /* kinds without parts, made on demand */
};

struct type_table *type_table_new(struct arena *a)
{
    struct type_table *t = arena_new(a, struct type_table);

    if (!t)
        return NULL;
    t->a = a;
    t->n_slots = 64;
    t->slots = arena_new_array(a, t->n_slots, struct entry *);
    return t->slots ? t : NULL;
}

struct arena *type_arena(struct type_table *t)
{
    return t->a;
}

static uint32_t mix(uint32_t h, uint32_t v)
{
    h ^= v + 0x9e3779b9u + (h << 6) + (h >> 2);
    return h * 0x85ebca6bu;
}

static uint32_t hash_of(const struct type *k)
{
    uint32_t h = mix(0, (uint32_t)k->kind);

    h = mix(h, (uint32_t)k->ndim | (uint32_t)(unsigned char)k->layout << 8 | (uint32_t)k->readonly << 16 |
                   (uint32_t)k->unaligned << 17 | (uint32_t)k->prelude << 18);
    h = mix(h, k->elem ? k->elem->id + 1 : 0);
    h = mix(h, k->index);
    for (uint32_t i = 0; i < k->n_items; i++)
        h = mix(h, k->items[i]->id);
    for (const char *s = k->name; s && *s; s++)
        h = mix(h, (unsigned char)*s);
    return h;
}

static bool same(const struct type *x, const struct type *y)
{
    return x->kind == y->kind && x->ndim == y->ndim && x->layout == y->layout && x->readonly == y->readonly &&
           x->unaligned == y->unaligned && x->prelude == y->prelude && x->elem == y->elem && x->index == y->index &&
           x->n_items == y->n_items && !x->name == !y->name && (!x->name || !strcmp(x->name, y->name)) &&
           (!x->n_items || !memcmp(x->items, y->items, x->n_items * sizeof *x->items));
}

static bool grow(struct type_table *t)
{
    uint32_t n_slots = t->n_slots * 2;
    struct entry **slots = arena_new_array(t->a, n_slots, struct entry *);

    if (!slots)
        return false;
    for (uint32_t i = 0; i < t->n_slots; i++)
        for (struct entry *e = t->slots[i], *next; e; e = next) {
            next = e->next;
            e->next = slots[e->hash & (n_slots - 1)];
            slots[e->hash & (n_slots - 1)] = e;
        }
    t->slots = slots;
    t->n_slots = n_slots;
    return true;
}

bool type_was_too_large(const struct type_table *t)
{
    return t->too_large;
}

uint32_t type_parts(const struct type *t)
{
    return ((const struct entry *)t)->parts;
}

static const struct type *intern(struct type_table *t, const struct type *key)
{
    uint32_t hash = hash_of(key);
    uint64_t parts = 1;
    struct entry *e;

    for (e = t->slots[hash & (t->n_slots - 1)]; e; e = e->next)
        if (e->hash == hash && same(&e->t, key))
            return &e->t;
    if (key->elem)
        parts += type_parts(key->elem);
    for (uint32_t i = 0; i < key->n_items; i++)
        parts += type_parts(key->items[i]);
    t->too_large = parts > TYPE_MAX_PARTS;
    if (t->too_large || (t->n >= t->n_slots && !grow(t)))
        return NULL;
    e = arena_new(t->a, struct entry);
    if (!e)
        return NULL;
    e->t = *key;
    if (key->n_items) {
        e->t.items = (void *)arena_dup(t->a, key->items, key->n_items * sizeof *key->items);
        if (!e->t.items)
            return NULL;
    }
    if (key->name && !(e->t.name = arena_dup(t->a, key->name, strlen(key->name))))
        return NULL;
    e->t.id = t->n++;
    e->hash = hash;
    e->parts = (uint32_t)parts;
    e->next = t->slots[hash & (t->n_slots - 1)];
    t->slots[hash & (t->n_slots - 1)] = e;
    return &e->t;
}

const struct type *type_scalar(struct type_table *t, enum type_kind kind)
{
    if (!t->plain[kind])
        t->plain[kind] = intern(t, &(struct type){ .kind = kind });
    return t->plain[kind];
}

const struct type *type_intern(struct type_table *t, const struct type *key)
{
    return intern(t, key);
}

const struct type *type_user(struct type_table *t, enum type_kind kind, uint32_t usertype_plus_1)
{
    return intern(t, &(struct type){ .kind = kind, .index = usertype_plus_1 });
}

const struct type *type_array(struct type_table *t, const struct type *elem, unsigned ndim, char layout,
                              bool readonly, bool unaligned)
{
    if (elem && elem->kind == TY_RECORD)
        elem = type_record_view(t, elem, false, false);
    if (!elem || ndim > TYPE_MAX_NDIM)
        return NULL;
    if (ndim == 0 || (ndim == 1 && layout == 'F'))
        layout = 'C';
    return intern(t, &(struct type){ .kind = TY_ARRAY,
                                     .elem = elem,
                                     .ndim = (uint8_t)ndim,
                                     .layout = layout,
                                     .readonly = readonly,
                                     .unaligned = unaligned });
}

const struct type *type_tuple(struct type_table *t, const struct type *const *items, uint32_t n,
                              uint32_t usertype_plus_1)
{
    return intern(t,
                  &(struct type){
                      .kind = TY_TUPLE, .items = n ? items : NULL, .n_items = n, .index = usertype_plus_1 });
}

const struct type *type_of(struct type_table *t, enum type_kind kind, const struct type *elem)
{
    return elem ? intern(t, &(struct type){ .kind = kind, .elem = elem }) : NULL;
}

const struct type *type_named(struct type_table *t, enum type_kind kind, const char *name,
                              const struct type *elem, const struct type *const *items, uint32_t n)
{
    return intern(t, &(struct type){
                         .kind = kind, .name = name, .elem = elem, .items = n ? items : NULL, .n_items = n });
}

const struct type *type_function(struct type_table *t, bool prelude, uint32_t func,
                                 const struct type *const *captures, uint32_t n)
{
    return intern(t, &(struct type){ .kind = TY_FUNCTION,
                                     .prelude = prelude,
                                     .index = func,
                                     .items = n ? captures : NULL,
                                     .n_items = n });
}

const struct type *type_container(struct type_table *t, enum type_kind kind, const struct type *a,
                                  const struct type *b, bool typed, uint32_t place)
{
    const struct type *items[2] = { a, b };

    if (!a || (kind == TY_DICT && !b))
        return NULL;
    if (kind == TY_DICT)
        return intern(t, &(struct type){ .kind = kind, .items = items, .n_items = 2, .readonly = typed, .index = place });
    return intern(t, &(struct type){ .kind = kind, .elem = a, .readonly = typed, .index = place });
}

const char *const type_units[TYPE_UNITS] = { "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "" };

const struct type *type_time(struct type_table *t, bool datetime, const char *unit)
{
    for (unsigned i = 0; i < TYPE_UNITS; i++)
        if (!strcmp(unit, type_units[i]))
            return type_named(t, datetime ? TY_DATETIME : TY_TIMEDELTA, unit, NULL, NULL, 0);
    return NULL;
}

int type_unit(const struct type *t)
{
    int i = 0;

    while (i < TYPE_UNIT_NONE && strcmp(t->name, type_units[i]) != 0)
        i++;
    return i;
}

bool type_is_time(const struct type *t)
{
    return t->kind == TY_DATETIME || t->kind == TY_TIMEDELTA;
}

const char *type_kind_text(enum type_kind kind)
{
    return kinds[kind].text;
}

enum type_class type_class(const struct type *t)
{
    return kinds[t->kind].class;
}

unsigned type_bits(const struct type *t)
{
    return kinds[t->kind].bits;
}

int type_numpy(const struct type *t)
{
    return kinds[t->kind].numpy;
}

bool type_is_number(const struct type *t)
{
    enum type_class c = type_class(t);

    return c >= TC_B && c <= TC_W;
}

bool type_is_integer(const struct type *t)
{
    enum type_class c = type_class(t);

    return c == TC_I || c == TC_U || t->kind == TY_PYINT;
}

bool type_is_float(const struct type *t)
{
    return type_class(t) == TC_F || t->kind == TY_PYFLOAT;
}

bool type_is_complex(const struct type *t)
{
    return type_class(t) == TC_C || t->kind == TY_PYCOMPLEX;
}

bool type_is_weak(const struct type *t)
{
    return type_class(t) == TC_W;
}

bool type_is_signed(const struct type *t)
{
    return type_class(t) == TC_I || t->kind == TY_PYINT;
}
