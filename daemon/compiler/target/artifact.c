/* SPDX-License-Identifier: Apache-2.0
 * artifact.c - the last look at a shared object. Sections and assembly of foreign modules can say things that
 * LLVM IR can't be searched for; the dynamic section is what the loader will obey, so that is what is read.
 */
#include <elf.h>
#include <string.h>

#include "daemon/compiler/target/link.h"

struct place {
    uint64_t offset, size;
};

/* One walker for both classes of ELF file: every field that is wanted, widened. */
#define READER(CLASS)                                                                                        \
    static bool find_##CLASS(const unsigned char *p, size_t len, struct place *ret)                          \
    {                                                                                                        \
        Elf##CLASS##_Ehdr h;                                                                                 \
        Elf##CLASS##_Phdr s;                                                                                 \
        if (len < sizeof h)                                                                                  \
            return false;                                                                                    \
        memcpy(&h, p, sizeof h);                                                                             \
        for (unsigned i = 0; i < h.e_phnum; i++) {                                                           \
            if (h.e_phoff > len || (len - h.e_phoff) / sizeof s <= i)                                        \
                return false;                                                                                \
            memcpy(&s, p + h.e_phoff + i * sizeof s, sizeof s);                                              \
            if (s.p_type == PT_DYNAMIC && s.p_offset <= len && s.p_filesz <= len - s.p_offset) {             \
                *ret = (struct place){ s.p_offset, s.p_filesz };                                             \
                return true;                                                                                 \
            }                                                                                                \
        }                                                                                                    \
        return false;                                                                                        \
    }                                                                                                        \
    static const char *wrong_##CLASS(const unsigned char *p, const struct place *d)                          \
    {                                                                                                        \
        Elf##CLASS##_Dyn x;                                                                                  \
        for (uint64_t at = 0; at + sizeof x <= d->size; at += sizeof x) {                                    \
            memcpy(&x, p + d->offset + at, sizeof x);                                                        \
            const char *what = wrong_tag(x.d_tag, x.d_un.d_val);                                             \
            if (what)                                                                                        \
                return what;                                                                                 \
        }                                                                                                    \
        return NULL;                                                                                         \
    }

static const char *wrong_tag(int64_t tag, uint64_t value)
{
    switch (tag) {
    case DT_INIT:
    case DT_INIT_ARRAY:
    case DT_PREINIT_ARRAY:
        return "has code that runs when it is loaded";
    case DT_FINI:
    case DT_FINI_ARRAY:
        return "has code that runs when it is unloaded";
    case DT_RPATH:
    case DT_RUNPATH:
        return "has a search path for libraries";
    case DT_AUXILIARY:
    case DT_FILTER:
        return "filters another library";
    case DT_TEXTREL:
        return "has relocations in its code";
    case DT_FLAGS:
        return value & DF_TEXTREL ? "has relocations in its code" : NULL;
    default:
        return NULL;
    }
}

READER(32)
READER(64)

int artifact_check(const unsigned char *elf, size_t len, struct kiln_err *e)
{
    struct place dynamic;
    const char *wrong;

    if (len < EI_NIDENT || memcmp(elf, ELFMAG, SELFMAG) != 0)
        return kiln_err_set(e, KILN_E_INTERNAL, 0, "the linker made no ELF file");
    if (elf[EI_CLASS] == ELFCLASS64)
        wrong = find_64(elf, len, &dynamic) ? wrong_64(elf, &dynamic) : "has no dynamic section";
    else
        wrong = find_32(elf, len, &dynamic) ? wrong_32(elf, &dynamic) : "has no dynamic section";
    return wrong ? kiln_err_set(e, KILN_E_MODULE_BAD, 0, "the module %s; artifacts must not", wrong) : 0;
}
