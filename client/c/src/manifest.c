/* SPDX-License-Identifier: Apache-2.0
 * manifest.c - see manifest.h. */
#include "client/c/src/manifest.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "client/c/src/client.h"
#include "proto/codec/msgpack.h"

/* Text fields and lists of texts of struct kiln_manifest, by their name in the map. */
#define TEXT(name)                                                                                           \
    {                                                                                                        \
#name, offsetof(struct kiln_manifest, name), 0                                                       \
    }
#define LIST(name)                                                                                           \
    {                                                                                                        \
#name, offsetof(struct kiln_manifest, name), offsetof(struct kiln_manifest, n_##name)                \
    }
static const struct {
    const char *name;
    size_t at, n_at; /* n_at 0: one text */
} fields[] = {
    TEXT(entry),  TEXT(signature), TEXT(ret), TEXT(target), TEXT(glibc),
    TEXT(symbol), LIST(params),    LIST(env), LIST(isa),
};

static const char *text(struct arena *a, struct mp_in *in, struct kiln_err *e)
{
    const char *p;
    uint32_t n;
    if (mp_str(in, &p, &n, e))
        return NULL;
    char *copy = arena_dup(a, p, n);
    if (!copy)
        kiln_err_set(e, KILN_E_LIMIT, 0, "the manifest needs too much memory");
    return copy;
}

static int list(struct arena *a, struct mp_in *in, const char *const **ret, uint32_t *ret_n,
                struct kiln_err *e)
{
    uint32_t n;
    int rc = mp_array(in, &n, e);
    if (rc)
        return rc;
    const char **items = arena_new_array(a, n + 1, const char *);
    if (!items)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "the manifest needs too much memory");
    for (uint32_t i = 0; i < n; i++)
        if (!(items[i] = text(a, in, e)))
            return -e->code;
    *ret = items;
    *ret_n = n;
    return 0;
}

static int field(struct arena *a, struct mp_in *in, struct kiln_manifest *to, struct kiln_err *e)
{
    const char *name;
    uint32_t len;
    int rc = mp_str(in, &name, &len, e);
    if (rc)
        return rc;
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strlen(fields[i].name) != len || memcmp(fields[i].name, name, len))
            continue;
        char *at = (char *)to + fields[i].at;
        if (fields[i].n_at)
            return list(a, in, (const char *const **)at, (uint32_t *)((char *)to + fields[i].n_at), e);
        const char *value = text(a, in, e);
        if (!value)
            return -e->code;
        *(const char **)at = value;
        return 0;
    }
    if (len == 3 && !memcmp(name, "abi", 3)) {
        uint64_t v;
        rc = mp_uint(in, &v, e);
        to->abi = (uint32_t)v;
        return rc;
    }
    return mp_skip(in, e);
}

int manifest_decode(struct arena *a, const void *bytes, size_t len, struct kiln_manifest *ret,
                    struct kiln_error *e)
{
    struct kiln_err err = KILN_ERR_INIT;
    *ret = (struct kiln_manifest){
        .entry = "", .signature = "", .ret = "", .target = "", .glibc = "", .symbol = ""
    };
    if (!bytes || !len)
        return 0;
    struct mp_in in = mp_in(bytes, len);
    uint32_t n;
    int rc = mp_map(&in, &n, &err);
    for (uint32_t i = 0; !rc && i < n; i++)
        rc = field(a, &in, ret, &err);
    if (rc) {
        kiln_err_wrap(&err, "manifest");
        return client_fail(e, &err);
    }
    return 0;
}

/* One note: name "Kiln", type 1. */
static const void *scan_notes(const unsigned char *p, size_t len, size_t *ret_len)
{
    while (len >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr h;
        memcpy(&h, p, sizeof h);
        size_t name = ((size_t)h.n_namesz + 3) & ~(size_t)3, desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
        if (name > len - sizeof h || desc > len - sizeof h - name)
            return NULL;
        if (h.n_namesz == 5 && h.n_type == 1 && !memcmp(p + sizeof h, "Kiln", 5)) {
            *ret_len = h.n_descsz;
            return p + sizeof h + name;
        }
        p += sizeof h + name + desc;
        len -= sizeof h + name + desc;
    }
    return NULL;
}

void manifest_find(const void *elf, size_t len, const void **ret, size_t *ret_len)
{
    const unsigned char *p = elf;
    Elf64_Ehdr h;
    *ret = NULL;
    *ret_len = 0;
    if (len < sizeof h)
        return;
    memcpy(&h, p, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shoff > len ||
        (len - h.e_shoff) / sizeof(Elf64_Shdr) < h.e_shnum)
        return;
    for (unsigned i = 0; !*ret && i < h.e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, p + h.e_shoff + i * sizeof s, sizeof s);
        if (s.sh_type == SHT_NOTE && s.sh_offset <= len && s.sh_size <= len - s.sh_offset)
            *ret = scan_notes(p + s.sh_offset, s.sh_size, ret_len);
    }
}
