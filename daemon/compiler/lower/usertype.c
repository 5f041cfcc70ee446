/* SPDX-License-Identifier: Apache-2.0
 * usertype.c - members of enums and named tuples at run time.
 *
 * A member of an enum is its position (32 bits), of an enum of integers its value (64 bits). */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

static const struct kir_usertype *usertype_of(struct fn *f, const struct type *t)
{
    return &f->lo->p->user->mod->usertypes[t->index - 1]; /* inference has looked */
}

struct val lower_enum_const(struct fn *f, const struct kir_module *mod, const struct kir_const *k, const struct type *t)
{
    if (t->kind == TY_ENUM)
        return val_scalar(f, t, lo_i32(f->lo, k->items[0]));
    const struct kir_const *value = &mod->consts[mod->usertypes[k->usertype].field_consts[k->items[0]]];
    if (t->kind == TY_INTENUM)
        return val_scalar(f, t, lo_int(f->lo, (int64_t)value->i.bits));
    return val_const(f, mod, value, t);
}

static struct val value_of(struct fn *f, const struct kir_usertype *u, uint32_t member, bool is_name, const struct type *t)
{
    struct kir_const k = { .kind = KIR_K_STR };
    if (!is_name) {
        const struct kir_module *mod = f->lo->p->user->mod;
        const struct kir_const *value = &mod->consts[u->field_consts[member]];
        return val_const(f, mod, value, t);
    }
    k.s.p = u->field_names[member];
    k.s.len = (uint32_t)strlen(k.s.p);
    return val_const(f, NULL, &k, t);
}

/* x.value and x.name of a member that only the run knows: one of all, by position or value. */
struct val lower_enum_attr(struct fn *f, uint32_t node, struct val v, const char *name)
{
    struct lo *lo = f->lo;
    const struct type *t = fact_of(f, node)->type;
    const struct kir_usertype *u = usertype_of(f, v.t);
    bool is_name = strstr(name, "name") != NULL;
    struct val r = val_zero(f, t);
    if (v.t->kind == TY_INTENUM && !is_name)
        return convert(f, v, t);
    for (uint32_t i = 0; i < u->n_fields && !lo->failed; i++) {
        struct val one = value_of(f, u, i, is_name, t);
        LLVMValueRef is = v.t->kind == TY_ENUM
                              ? lo_i32(lo, i)
                              : lo_int(lo, (int64_t)lo->p->user->mod->consts[u->field_consts[i]].i.bits);
        is = LLVMBuildICmp(f->b, LLVMIntEQ, v.v[0], is, "");
        for (uint32_t k = 0; k < r.n; k++)
            r.v[k] = i ? LLVMBuildSelect(f->b, is, one.v[k], r.v[k], "") : one.v[k];
    }
    return r;
}
