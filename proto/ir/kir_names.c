/* SPDX-License-Identifier: Apache-2.0
 * kir_names.c - texts of the small numbers in nodes, from enums.def. */
#include <string.h>

#include "proto/ir/kir_private.h"

struct names {
    const char *const *texts; /* by number; NULL where there is none */
    uint32_t n;
};

#define KIR_UNARY(NAME, wire, text) [wire] = text,
static const char *const unary[] = {
#include "proto/ir/enums.def"
};
#undef KIR_UNARY
#define KIR_BINARY(NAME, wire, text) [wire] = text,
static const char *const binary[] = {
#include "proto/ir/enums.def"
};
#undef KIR_BINARY
#define KIR_COMPARE(NAME, wire, text) [wire] = text,
static const char *const compare[] = {
#include "proto/ir/enums.def"
};
#undef KIR_COMPARE
#define KIR_COMP(NAME, wire, text) [wire] = text,
static const char *const comp[] = {
#include "proto/ir/enums.def"
};
#undef KIR_COMP
#define KIR_PARAM(NAME, wire, text) [wire] = text,
static const char *const param[] = {
#include "proto/ir/enums.def"
};
#undef KIR_PARAM
#define KIR_KONST(NAME, wire, text) [wire] = text,
static const char *const konst[] = {
#include "proto/ir/enums.def"
};
#undef KIR_KONST
#define KIR_USERTYPE(NAME, wire, text) [wire] = text,
static const char *const usertype[] = {
#include "proto/ir/enums.def"
};
#undef KIR_USERTYPE
#define KIR_METHOD(NAME, wire, text) [wire] = text,
static const char *const method[] = {
#include "proto/ir/enums.def"
};
#undef KIR_METHOD

#define NAMES(array)                                                                                         \
    (struct names)                                                                                           \
    {                                                                                                        \
        array, sizeof array / sizeof array[0]                                                                \
    }

static struct names names_of(unsigned list)
{
    switch (list) {
    case KIR_UNARY:
        return NAMES(unary);
    case KIR_BINARY:
    case KIR_AUGASSIGN:
        return NAMES(binary);
    case KIR_COMPARE:
        return NAMES(compare);
    case KIR_COMP:
        return NAMES(comp);
    case KIR_NAMES_PARAM:
        return NAMES(param);
    case KIR_NAMES_CONST:
        return NAMES(konst);
    case KIR_NAMES_USERTYPE:
        return NAMES(usertype);
    case KIR_NAMES_METHOD:
        return NAMES(method);
    default:
        return (struct names){ NULL, 0 };
    }
}

const char *kir_enum_text(unsigned list, uint32_t number)
{
    struct names n = names_of(list);

    return number < n.n ? n.texts[number] : NULL;
}

uint32_t kir_enum_number(unsigned list, const char *text)
{
    struct names n = names_of(list);

    for (uint32_t i = 1; i < n.n; i++)
        if (n.texts[i] && !strcmp(n.texts[i], text))
            return i;
    return 0;
}

static const struct {
    const char *text;
    uint32_t bit;
} flags[] = {
#define KIR_FLAG(NAME, bit, text) { text, bit },
#include "proto/ir/enums.def"
#undef KIR_FLAG
};

const char *kir_flag_text(uint32_t bit)
{
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].bit == bit)
            return flags[i].text;
    return NULL;
}

uint32_t kir_flag_bit(const char *text)
{
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (!strcmp(flags[i].text, text))
            return flags[i].bit;
    return 0;
}
