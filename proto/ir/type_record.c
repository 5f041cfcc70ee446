/* SPDX-License-Identifier: Apache-2.0
 * type_record.c - records (NumPy's structured dtypes): making, reading and printing them.
 *
 *   record = "Record(" [field {"," field}] ";" size ";" aligned {";" flag} ")"
 *   field  = name "[type=" (type | nested) ";offset=" number "]"
 *   text   = "[char x " number "]" | "[unichr x " number "]"        also as a field's type
 *   nested = "nestedarray(" type ", (" number {"," number} [","] ")" ")"
 *   aligned = "True" | "False"      flag = "readonly" | "unaligned", of a reference
 *
 * as Numba prints them. A name that is no word is quoted: 'a b', with \ before ' and \. The text of a record's
 * fields is the name of its type, so two records are one type exactly if their texts are equal. */
#include <string.h>

#include "proto/ir/type_private.h"

#define MAX_RECORD (1u << 24) /* bytes of one record: far past any real one, and sums of sizes fit 32 bits */
#define MAX_FIELD_NAME 255u

/* ---- making ---- */

static bool is_word(const char *s)
{
    const char *p = s;

    for (; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_'))
            return false;
    return p > s;
}

static void print_name(struct buf *out, const char *s)
{
    if (is_word(s)) {
        buf_str(out, s);
        return;
    }
    buf_byte(out, '\'');
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\')
            buf_byte(out, '\\');
        buf_byte(out, (unsigned char)*s);
    }
    buf_byte(out, '\'');
}

static const char *record_text(struct arena *a, const char *const *names, const struct type *const *types,
                               const uint32_t *offsets, uint32_t n, uint32_t size, bool aligned)
{
    struct buf b;
    char *s = NULL;

    buf_init(&b, 1u << 20);
    for (uint32_t i = 0; i < n; i++) {
        buf_str(&b, i ? "," : "");
        print_name(&b, names[i]);
        buf_str(&b, "[type=");
        type_print(&b, types[i]);
        buf_printf(&b, ";offset=%u]", offsets[i]);
    }
    buf_printf(&b, ";%u;%s", size, aligned ? "True" : "False");
    if (buf_ok(&b))
        s = arena_dup(a, b.data, b.len);
    buf_done(&b);
    return s;
}

const struct type *type_record(struct type_table *t, const char *const *names, const struct type *const *types,
                               const uint32_t *offsets, uint32_t n, uint32_t size, bool aligned)
{
    struct arena *a = type_arena(t);
    struct record *r = arena_new(a, struct record);
    const char **copies = arena_new_array(a, n + 1, const char *);
    const char *text = record_text(a, names, types, offsets, n, size, aligned);

    if (!r || !copies || !text)
        return NULL;
    *r = (struct record){ .size = size, .align = 1, .aligned = aligned, .names = copies };
    for (uint32_t i = 0; i < n; i++) {
        if (aligned && type_element_layout(types[i]).align > r->align)
            r->align = type_element_layout(types[i]).align;
        if (!(copies[i] = arena_dup(a, names[i], strlen(names[i]))))
            return NULL;
    }
    if (n && !(r->offsets = (const void *)arena_dup(a, offsets, n * sizeof *offsets)))
        return NULL;
    return type_intern(
        t, &(struct type){ .kind = TY_RECORD, .name = text, .items = n ? types : NULL, .n_items = n, .record = r });
}

const struct type *type_record_view(struct type_table *t, const struct type *record, bool readonly, bool unaligned)
{
    struct type key = *record;

    if (record->readonly == readonly && record->unaligned == unaligned)
        return record;
    key.readonly = readonly;
    key.unaligned = unaligned;
    return type_intern(t, &key);
}

const struct type *type_nested(struct type_table *t, const struct type *elem, const uint32_t *shape, unsigned ndim)
{
    char text[TYPE_MAX_NDIM * 12 + 1];
    struct buf b;
    const struct type *r = NULL;
    uint32_t count = 1;

    buf_init(&b, sizeof text);
    for (unsigned i = 0; i < ndim; i++) {
        buf_printf(&b, i ? ", %u" : "%u", shape[i]);
        count *= shape[i];
    }
    if (buf_ok(&b))
        r = type_intern(t, &(struct type){ .kind = TY_NESTED, .elem = elem, .name = buf_cstr(&b), .index = count });
    buf_done(&b);
    return r;
}

const struct type *type_chars(struct type_table *t, bool wide, uint32_t n)
{
    return type_intern(t, &(struct type){ .kind = TY_CHARS, .name = wide ? "unichr" : "char", .index = n });
}

unsigned type_nested_shape(const struct type *t, uint32_t *ret)
{
    unsigned n = 0;

    for (const char *p = t->name; *p && n < TYPE_MAX_NDIM; n++) {
        ret[n] = 0;
        for (; *p >= '0' && *p <= '9'; p++)
            ret[n] = ret[n] * 10 + (uint32_t)(*p - '0');
        while (*p == ',' || *p == ' ')
            p++;
    }
    return n;
}

uint32_t type_record_field(const struct type *record, const char *name, size_t len)
{
    for (uint32_t i = 0; i < record->n_items; i++)
        if (strlen(record->record->names[i]) == len && !memcmp(record->record->names[i], name, len))
            return i;
    return UINT32_MAX;
}

/* ---- printing ---- */

void type_print_record(struct buf *out, const struct type *t)
{
    if (t->kind == TY_CHARS) {
        buf_printf(out, "[%s x %u]", t->name, t->index);
        return;
    }
    if (t->kind == TY_NESTED) {
        buf_str(out, "nestedarray(");
        type_print(out, t->elem);
        buf_printf(out, ", (%s%s))", t->name, strchr(t->name, ',') ? "" : ",");
        return;
    }
    buf_printf(out, "Record(%s%s%s)", t->name, t->readonly ? ";readonly" : "", t->unaligned ? ";unaligned" : "");
}

/* ---- reading ---- */

struct fields {
    const char **names;
    const struct type **types;
    uint32_t *offsets;
    size_t n, cap_names, cap_types, cap_offsets;
};

/* A word, or a quoted text; in the arena. */
static const char *read_name(struct type_reader *r, struct arena *a)
{
    char name[MAX_FIELD_NAME + 2];
    size_t at, n = 0;
    const char *copy;

    if (!type_take(r, '\'')) {
        type_read_word(r, name, sizeof name, &at);
        n = strlen(name);
    } else {
        at = r->at;
        while (r->at < r->len && r->text[r->at] != '\'' && n < sizeof name) {
            if (r->text[r->at] == '\\' && r->at + 1 < r->len)
                r->at++;
            name[n++] = r->text[r->at++];
        }
        if (n < sizeof name && !type_expect(r, '\''))
            return NULL;
    }
    if (!n || n > MAX_FIELD_NAME || memchr(name, 0, n)) {
        type_fail(r, at, "expected the name of a field, of at most %u bytes", MAX_FIELD_NAME);
        return NULL;
    }
    copy = arena_dup(a, name, n);
    if (!copy)
        kiln_err_set(r->e, KILN_E_NOMEM, 0, NULL);
    return copy;
}

/* "type=" and the like. */
static bool read_key(struct type_reader *r, const char *key)
{
    char word[16];
    size_t at;

    type_read_word(r, word, sizeof word, &at);
    if (strcmp(word, key)) {
        type_fail(r, at, "expected '%s=', not '%s'", key, word);
        return false;
    }
    return type_expect(r, '=');
}

static bool may_be_field(const struct type *t)
{
    return (type_numpy(t) >= 0 && !t->readonly && !t->unaligned) || t->kind == TY_NESTED || t->kind == TY_CHARS;
}

/* A type, or "[char x 8]" */
static const struct type *read_field_type(struct type_reader *r)
{
    char word[16];
    size_t at;
    unsigned n;

    if (!type_take(r, '['))
        return type_read(r);
    type_read_word(r, word, sizeof word, &at);
    if (strcmp(word, "char") && strcmp(word, "unichr")) {
        type_fail(r, at, "expected 'char' or 'unichr', not '%s'", word);
        return NULL;
    }
    bool wide = word[0] == 'u';
    type_read_word(r, word, sizeof word, &at);
    if (strcmp(word, "x")) {
        type_fail(r, at, "expected 'x', not '%s'", word);
        return NULL;
    }
    if (!type_read_number(r, MAX_RECORD / 4, &n) || !type_expect(r, ']'))
        return NULL;
    return type_made(r, type_chars(r->table, wide, n));
}

static bool read_field(struct type_reader *r, struct arena *a, struct fields *f)
{
    unsigned offset;
    size_t at = r->at;
    const struct type *t;
    const char *name = read_name(r, a);

    f->names = arena_grow(a, f->names, f->n, &f->cap_names, sizeof *f->names);
    f->types = arena_grow(a, f->types, f->n, &f->cap_types, sizeof *f->types);
    f->offsets = arena_grow(a, f->offsets, f->n, &f->cap_offsets, sizeof *f->offsets);
    if (name && (!f->names || !f->types || !f->offsets))
        kiln_err_set(r->e, KILN_E_NOMEM, 0, NULL);
    if (!name || !f->names || !f->types || !f->offsets || !type_expect(r, '[') || !read_key(r, "type") ||
        !(t = read_field_type(r)) || !type_expect(r, ';') || !read_key(r, "offset") ||
        !type_read_number(r, MAX_RECORD, &offset) || !type_expect(r, ']'))
        return false;
    if (!may_be_field(t)) {
        type_fail(r, at, "fields are numbers of a fixed size, records and nested arrays");
        return false;
    }
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->names[i], name)) {
            type_fail(r, at, "two fields are named '%s'", name);
            return false;
        }
    f->names[f->n] = name;
    f->types[f->n] = t;
    f->offsets[f->n++] = offset;
    return true;
}

static bool fits(struct type_reader *r, size_t at, const struct fields *f, uint32_t size, bool aligned)
{
    uint32_t align = 1;

    for (size_t i = 0; i < f->n; i++) {
        struct layout l = type_element_layout(f->types[i]);
        if (f->offsets[i] > size || l.size > size - f->offsets[i]) {
            type_fail(r, at, "field '%s' reaches past the record's %u bytes", f->names[i], size);
            return false;
        }
        align = l.align > align ? l.align : align;
        if (aligned && f->offsets[i] % l.align) {
            type_fail(r, at, "field '%s' is not aligned", f->names[i]);
            return false;
        }
    }
    if (aligned && size % align) {
        type_fail(r, at, "the size of an aligned record is a multiple of %u", align);
        return false;
    }
    return true;
}

static bool read_flags(struct type_reader *r, bool *readonly, bool *unaligned)
{
    while (type_take(r, ';')) {
        char word[16];
        size_t at;
        type_read_word(r, word, sizeof word, &at);
        if (!strcmp(word, "readonly")) {
            *readonly = true;
        } else if (!strcmp(word, "unaligned")) {
            *unaligned = true;
        } else {
            type_fail(r, at, "expected 'readonly' or 'unaligned', not '%s'", word);
            return false;
        }
    }
    return type_expect(r, ')');
}

const struct type *type_read_record(struct type_reader *r, size_t at)
{
    struct fields f = { 0 };
    struct arena scratch;
    const struct type *t = NULL;
    bool aligned, readonly = false, unaligned = false;
    unsigned size;

    arena_init(&scratch, 1u << 22);
    if (!type_take(r, ';')) {
        do {
            if (f.n >= TYPE_MAX_PARTS) {
                type_fail(r, r->at, "type is too large");
                goto out;
            }
            if (!read_field(r, &scratch, &f))
                goto out;
        } while (type_take(r, ','));
        if (!type_expect(r, ';'))
            goto out;
    }
    if (!type_read_number(r, MAX_RECORD, &size) || !type_expect(r, ';') || !type_read_bool(r, &aligned) ||
        !read_flags(r, &readonly, &unaligned) || !fits(r, at, &f, size, aligned))
        goto out;
    t = type_made(r, type_record(r->table, f.names, f.types, f.offsets, (uint32_t)f.n, size, aligned));
    if (t)
        t = type_made(r, type_record_view(r->table, t, readonly, unaligned));
out:
    arena_done(&scratch);
    return t;
}

const struct type *type_read_nested(struct type_reader *r)
{
    uint32_t shape[TYPE_MAX_NDIM], ndim = 0;
    uint64_t size;
    size_t at = r->at;
    const struct type *elem = type_read(r);

    if (!elem || !type_expect(r, ',') || !type_expect(r, '('))
        return NULL;
    if (type_numpy(elem) < 0 || elem->readonly || elem->unaligned) {
        type_fail(r, at, "nested arrays hold numbers of a fixed size and records");
        return NULL;
    }
    size = type_element_layout(elem).size ? type_element_layout(elem).size : 1;
    do {
        unsigned n;
        if (ndim && type_take(r, ')'))
            goto end;
        if (ndim == TYPE_MAX_NDIM) {
            type_fail(r, r->at, "at most %u dimensions", TYPE_MAX_NDIM);
            return NULL;
        }
        if (!type_read_number(r, MAX_RECORD, &n))
            return NULL;
        shape[ndim++] = n;
        size *= n;
        if (size > MAX_RECORD) {
            type_fail(r, at, "a record of more than %u bytes", MAX_RECORD);
            return NULL;
        }
    } while (type_take(r, ','));
    if (!type_expect(r, ')'))
        return NULL;
end:
    return type_expect(r, ')') ? type_made(r, type_nested(r->table, elem, shape, ndim)) : NULL;
}
