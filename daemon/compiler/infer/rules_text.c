/* SPDX-License-Identifier: Apache-2.0
 * rules_text.c - typing of what the prelude's text functions are made of (intrinsics.py): the column `how` spells the
 * result and the parameters, see lower/text_ops.c. */
#include <string.h>

#include "daemon/compiler/infer/rules.h"

/* `view` and the like, which need no runtime: the same spelling. */
static const struct {
    const char *name, *form;
} built_in[] = { { "view", "s(sii)" }, { "code", "i(si)" }, { "as_text", "s(b)" }, { "as_bytes", "b(s)" } };

static const struct type *letter_type(struct walk *w, char letter)
{
    switch (letter) {
    case 's':
        return w->p->str;
    case 'b':
        return scalar(w, TY_BYTES);
    case 'f':
        return scalar(w, TY_FLOAT64);
    case '?':
        return w->p->boolean;
    case 'n':
        return w->p->none;
    default:
        return scalar(w, TY_INT64);
    }
}

const struct type *rule_TEXTOP(struct walk *w, struct call *c, const struct library_row *row)
{
    const char *form = row->how + strlen("text."), *names = "a b c d e f";
    const struct type *str = w->p->str, *t;
    struct params p;
    uint32_t n;

    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
        if (strcmp(form, built_in[i].name) == 0)
            form = built_in[i].form;
    n = (uint32_t)strcspn(form + 2, ")");
    for (uint32_t i = 0; i < c->n_args; i++)
        if (is_bottom(c->args[i].type = settled(w, c->args[i].type)))
            return w->p->bottom;
    if (!rule_params(w, c, names, n, &p))
        return w->p->bottom;
    for (uint32_t i = 0; i < n; i++) {
        const struct type *have = p.at[i].type;
        char letter = form[2 + i];
        t = letter_type(w, letter);
        if (letter == 'l' ? have->kind != TY_LIST || have->elem != str : is_text(t) ? have != t : !type_is_number(have))
            return rule_wrong(w, c, &p.at[i], letter == 'l' ? "a list of str" : show(w, t));
        if (letter != 'l')
            p.at[i].type = t;
    }
    w->w->raises |= form[0] == 's' || form[0] == 'b' || form[0] == 'n';
    if (!rule_take(w, c, row, &p))
        return w->p->bottom;
    return form[0] == 'i' && !numba(w) ? w->p->pyint : form[0] == 'f' && !numba(w) ? w->p->pyfloat : letter_type(w, form[0]);
}
