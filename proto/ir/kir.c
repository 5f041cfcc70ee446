/* SPDX-License-Identifier: Apache-2.0
 * kir.c - the columns of ops.def, and reading a node's operands. */
#include "proto/ir/kir_private.h"

#define E 'E'
#define S 'S'
#define B 'B'
#define G 'G'
#define H 'H'
#define W 'W'
static const struct kir_opinfo infos[KIR__OP_END] = {
#define X(NAME, wire, text, class, operands) [wire] = { #NAME, text, operands, class },
#include "proto/ir/ops.def"
#undef X
};

const struct kir_opinfo *kir_opinfo(unsigned op)
{
    return op < KIR__OP_END && infos[op].name ? &infos[op] : 0;
}

/* Position in args of operand k; *ret_kind is its modifier, 0 for a plain one. */
static uint32_t place(const struct kir_node *n, unsigned k, char *ret_kind)
{
    const char *s = infos[n->op].operands;
    uint32_t at = 0;

    for (;; k--) {
        char kind = *s == '?' || *s == '*' ? *s++ : 0;
        if (k == 0) {
            *ret_kind = kind;
            return at;
        }
        at += kind == '*' ? 1 + n->args[at] : 1;
        s++;
    }
}

uint32_t kir_arg(const struct kir_node *n, unsigned k)
{
    char kind;

    return n->args[place(n, k, &kind)];
}

uint32_t kir_opt(const struct kir_node *n, unsigned k)
{
    char kind;

    return n->args[place(n, k, &kind)] - 1; /* 0 - 1 is KIR_NIL */
}

const uint32_t *kir_list(const struct kir_node *n, unsigned k, uint32_t *ret_n)
{
    char kind;
    uint32_t at = place(n, k, &kind);

    *ret_n = n->args[at];
    return n->args + at + 1;
}

uint32_t kir_operands_length(const char *letters, const uint32_t *args, uint32_t n)
{
    uint32_t at = 0;

    for (; *letters; letters++) {
        bool list = *letters == '*';
        letters += list || *letters == '?';
        if (at == n || (list && args[at] > n - at - 1))
            return UINT32_MAX;
        at += list ? 1 + args[at] : 1;
    }
    return at;
}
