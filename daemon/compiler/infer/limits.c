/* SPDX-License-Identifier: Apache-2.0
 * limits.c - numpy.finfo and numpy.iinfo: what is known of a type when compiling. */
#include <string.h>

#include "daemon/compiler/infer/rules.h"

static const struct {
    const char *name;
    double of32, of64;
} floats[] = {
    { "eps", 0x1p-23, 0x1p-52 },
    { "epsneg", 0x1p-24, 0x1p-53 },
    { "max", 0x1.fffffep127, 0x1.fffffffffffffp1023 },
    { "min", -0x1.fffffep127, -0x1.fffffffffffffp1023 },
    { "tiny", 0x1p-126, 0x1p-1022 },
    { "smallest_normal", 0x1p-126, 0x1p-1022 },
    { "smallest_subnormal", 0x1p-149, 0x1p-1074 },
    { "resolution", 1e-6, 1e-15 },
};

const struct type *rule_LIMITS(struct walk *w, struct call *c, const struct library_row *row)
{
    bool floating = row->id == LIB_N_FINFO;
    const struct type *t;
    struct params p;

    if (!rule_params(w, c, "type", 1, &p))
        return w->p->bottom;
    t = type_meant(w, p.at[0].type);
    t = strong(w->p, t ? t : p.at[0].type);
    if (floating && type_is_complex(t))
        t = part_type(w->p, t);
    if (floating ? t->kind != TY_FLOAT32 && t->kind != TY_FLOAT64 : !type_is_integer(t))
        return rule_wrong(w, c, &p.at[0], floating ? "float32 or float64" : "an integer type");
    t = type_of(w->p->types, TY_TYPEVALUE, t);
    return !t ? fail_memory(w->p) : rule_take(w, c, row, &p) ? t : w->p->bottom;
}

static const struct type *known_value(struct walk *w, struct fact *f, struct kir_const value,
                                      const struct type *t)
{
    struct kir_const *k = arena_new(w->p->a, struct kir_const);

    if (!k)
        return fail_memory(w->p);
    *k = value;
    f->has_value = true;
    f->value = k;
    f->value_mod = w->w->in.unit->mod;
    return t;
}

const struct type *limits_attr(struct walk *w, struct fact *f, const struct type *t, const char *name)
{
    bool floating = t->kind == TY_FLOAT32 || t->kind == TY_FLOAT64;

    if ((floating || type_is_integer(t)) && strcmp(name, "bits") == 0)
        return know_int(w, f, type_bits(t));
    for (size_t i = 0; floating && i < sizeof floats / sizeof floats[0]; i++)
        if (strcmp(name, floats[i].name) == 0)
            return known_value(
                w, f,
                (struct kir_const){ .kind = KIR_K_FLOAT,
                                    .f = t->kind == TY_FLOAT32 ? floats[i].of32 : floats[i].of64 },
                t);
    if (!type_is_integer(t) || (strcmp(name, "max") != 0 && strcmp(name, "min") != 0))
        return NULL;
    unsigned bits = type_bits(t);
    bool is_signed = type_is_signed(t), max = name[1] == 'a';
    uint64_t value = max         ? UINT64_MAX >> (64 - bits + is_signed)
                     : is_signed ? ~(UINT64_MAX >> (65 - bits))
                                 : 0;
    if (!is_signed && bits == 64 && max) /* no int of Python's here holds it */
        return known_value(
            w, f, (struct kir_const){ .kind = KIR_K_INT, .i = { .bits = value, .is_unsigned = true } },
            scalar(w, TY_UINT64));
    return know_int(w, f, (int64_t)value);
}
