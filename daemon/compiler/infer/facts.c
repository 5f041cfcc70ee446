/* SPDX-License-Identifier: Apache-2.0
 * facts.c - a typed program as text: for --emit typed and golden tests. */
#include "daemon/compiler/infer/facts.h"

#include "daemon/compiler/infer/rules.h"

static const char *const intrinsic_names[] = {
    NULL,
#define X(ID, name, rule, how) name,
#include "daemon/compiler/library.def"
#undef X
};

static const char *const arm_names[] = { "then", "else",    "entry", "back", "exit", "jump",
                                         "try",  "handler", "raise", "true", "false" };

static void print_fact(struct buf *out, const struct instance *in, uint32_t node, const struct fact *f)
{
    buf_printf(out, "    %%%u %s : ", node, kir_opinfo(in->fn->nodes[node].op)->text);
    type_print(out, f->type);
    if (f->operand && f->operand != f->type) {
        buf_str(out, " from ");
        type_print(out, f->operand);
    }
    if (f->callee)
        buf_printf(out, " calls #%u", f->callee->id);
    if (f->intrinsic)
        buf_printf(out, " = %s", intrinsic_names[f->intrinsic]);
    if (f->truth)
        buf_str(out, f->truth > 0 ? " always" : " never");
    if (f->maybe_unset)
        buf_str(out, " may be unset");
    if (f->contexts)
        buf_printf(out, " unrolled %u", f->n_contexts);
    buf_byte(out, '\n');
}

static void print_instance(struct buf *out, const struct instance *in)
{
    buf_printf(out, "#%u function %u%s (", in->id, in->func, in->unit->prelude ? " of the prelude" : "");
    for (uint32_t i = 0; i < in->fn->n_params; i++) {
        buf_printf(out, "%s%s: ", i ? ", " : "", in->fn->params[i].name);
        type_print(out, in->params[i]);
    }
    buf_str(out, ") -> ");
    type_print(out, in->ret);
    buf_printf(out, "%s%s%s\n", in->recursive ? " recursive" : "", in->may_raise ? " raises" : "",
               in->no_return ? " never returns" : "");
    for (uint32_t c = 0; c < in->n_contexts; c++) {
        if (c)
            buf_printf(out, "  context %u\n", c);
        for (uint32_t i = 0; i < in->fn->n_nodes; i++) {
            char class = kir_opinfo(in->fn->nodes[i].op)->class;
            if (fact_at(in, c, i)->type && class != 'S' && class != 'B')
                print_fact(out, in, i, fact_at(in, c, i));
        }
    }
    for (uint32_t i = 0; i < in->n_edges; i++) {
        const struct edge *x = &in->edges[i];
        buf_printf(out, "    edge %%%u %s local %u: ", x->node, arm_names[x->arm], x->local);
        type_print(out, x->from);
        buf_str(out, " -> ");
        type_print(out, x->to);
        buf_byte(out, '\n');
    }
}

int facts_print(const struct program *p, struct buf *out)
{
    for (uint32_t i = 0; i < p->n_instances; i++)
        print_instance(out, p->instances[i]);
    return buf_ok(out) ? 0 : -KILN_E_LIMIT;
}

uint32_t closure_node(const struct kir_function *fn, const struct type *t, bool prelude)
{
    uint32_t found = KIR_NIL;

    if (t->prelude != prelude)
        return KIR_NIL;
    for (uint32_t i = 0; i < fn->n_nodes; i++) {
        if (fn->nodes[i].op != KIR_CLOSURE || kir_arg(&fn->nodes[i], 0) != t->index)
            continue;
        if (found != KIR_NIL)
            return KIR_NIL;
        found = i;
    }
    return found;
}
