/* SPDX-License-Identifier: Apache-2.0
 * known.c - what is known of integers before they are computed: constants, and least values, so that an index
 * need not be tested for being negative. */
#include <string.h>

#include "daemon/compiler/lower/lo.h"

bool node_int(struct fn *f, uint32_t node, int64_t *ret)
{
    const struct fact *fa = fact_of(f, node);
    const struct kir_node *n = node_of(f, node);
    const struct kir_const *k = fa->has_value ? fa->value : NULL;
    if (!k && n->op == KIR_CONST)
        k = &f->in->unit->mod->consts[kir_arg(n, 0)];
    if (k && k->kind == KIR_K_INT && !k->i.is_unsigned) {
        *ret = (int64_t)k->i.bits;
        return true;
    }
    if (k && k->kind == KIR_K_BOOL) {
        *ret = k->b;
        return true;
    }
    if (!k && n->op == KIR_UNARY && kir_arg(n, 0) == KIR_U_NEG && node_int(f, kir_arg(n, 1), ret)) {
        *ret = (int64_t)(0 - (uint64_t)*ret);
        return true;
    }
    return false;
}

static bool is_shape(struct fn *f, uint32_t node)
{
    const struct kir_node *n = node_of(f, node);
    const char *how = intrinsic_how(fact_of(f, node)->intrinsic);
    return n->op == KIR_ATTR && how && (!strcmp(how, "op.shape") || !strcmp(how, "op.size"));
}

/* A proven least value; for indexes only: sums that pass the largest integer are no index of anything, so
 * that they may be taken as not wrapping. Depth is bounded, for the answer is worth little effort. */
static bool min_at(struct fn *f, uint32_t node, int64_t *ret, unsigned depth)
{
    const struct kir_node *n = node_of(f, node);
    const struct fact *fa = fact_of(f, node);
    int64_t a, b;
    if (!fa->type || !type_is_integer(fa->type) || depth > 8)
        return false;
    if (node_int(f, node, ret))
        return true;
    if (type_class(fa->type) == TC_U) {
        *ret = 0;
        return true;
    }
    if (type_bits(fa->type) < 64)
        return false;
    switch (n->op) {
    case KIR_LOCAL:
        for (struct bound *x = f->bound; x; x = x->up) {
            if (x->local == kir_arg(n, 0)) {
                *ret = x->min;
                return true;
            }
        }
        return false;
    case KIR_CALL: {
        const char *how = intrinsic_how(fa->intrinsic);
        *ret = 0;
        return how && !strcmp(how, "op.len");
    }
    case KIR_ATTR:
        *ret = 0;
        return is_shape(f, node);
    case KIR_SUBSCRIPT:
        *ret = 0;
        return is_shape(f, kir_arg(n, 0));
    case KIR_BINARY:
        switch (kir_arg(n, 0)) {
        case KIR_B_ADD:
            return min_at(f, kir_arg(n, 1), &a, depth + 1) && min_at(f, kir_arg(n, 2), &b, depth + 1) &&
                   !__builtin_add_overflow(a, b, ret);
        case KIR_B_SUB:
            return min_at(f, kir_arg(n, 1), &a, depth + 1) && node_int(f, kir_arg(n, 2), &b) &&
                   !__builtin_sub_overflow(a, b, ret);
        case KIR_B_MUL:
            return min_at(f, kir_arg(n, 1), &a, depth + 1) && min_at(f, kir_arg(n, 2), &b, depth + 1) &&
                   a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, ret);
        case KIR_B_FLOORDIV:
            *ret = 0;
            return node_int(f, kir_arg(n, 2), &b) && b > 0 && min_at(f, kir_arg(n, 1), &a, depth + 1) &&
                   a >= 0;
        case KIR_B_MOD:
            *ret = 0;
            return node_int(f, kir_arg(n, 2), &b) && b > 0;
        case KIR_B_RSHIFT:
            *ret = 0;
            return min_at(f, kir_arg(n, 1), &a, depth + 1) && a >= 0;
        case KIR_B_BITAND:
            *ret = 0;
            return (node_int(f, kir_arg(n, 1), &a) && a >= 0) || (node_int(f, kir_arg(n, 2), &b) && b >= 0);
        default:
            return false;
        }
    default:
        return false;
    }
}

bool int_min(struct fn *f, uint32_t node, int64_t *ret)
{
    return min_at(f, node, ret, 0);
}
