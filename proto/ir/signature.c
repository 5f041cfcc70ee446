/* SPDX-License-Identifier: Apache-2.0
 * signature.c - "ret(args)", "(args)", "(args) -> ret" and bare lists. */
#include <string.h>

#include "proto/ir/type_private.h"

/* Types up to `close` (0: the end of the text); a trailing comma is fine. `first` was read already. */
static int read_params(struct type_reader *r, char close, const struct type *first, struct arena *a,
                       struct signature *s)
{
    const struct type **params = NULL;
    size_t n = 0, cap = 0;

    for (;;) {
        type_skip_space(r);
        if (!first && (close ? type_take(r, close) : r->at >= r->len))
            break;
        if (n == SIGNATURE_MAX_PARAMS)
            return type_fail(r, r->at, "at most %u parameters", SIGNATURE_MAX_PARAMS);
        params = arena_grow(a, params, n, &cap, sizeof *params);
        if (!params)
            return kiln_err_set(r->e, KILN_E_NOMEM, 0, NULL);
        params[n] = first ? first : type_read(r);
        first = NULL;
        if (!params[n++])
            return -r->e->code;
        if (type_take(r, ','))
            continue;
        if (close ? type_take(r, close) : r->at >= r->len)
            break;
        if (r->at >= r->len)
            return type_fail(r, r->at, "expected ',' or '%c' but the text ends", close);
        return type_fail(r, r->at, "expected ','%s before '%.*s'", close ? " or ')'" : "", 1,
                         r->text + r->at);
    }
    s->params = params;
    s->n_params = (uint32_t)n;
    return 0;
}

static int read_signature(struct type_reader *r, struct arena *a, struct signature *s)
{
    const struct type *first;
    int rc;

    type_skip_space(r);
    if (r->at == r->len)
        return 0;
    if (type_take(r, '(')) {
        if ((rc = read_params(r, ')', NULL, a, s)))
            return rc;
        type_skip_space(r);
        if (r->len - r->at >= 2 && !memcmp(r->text + r->at, "->", 2)) {
            r->at += 2;
            if (!(s->ret = type_read(r)))
                return -r->e->code;
        }
        return 0;
    }
    if (!(first = type_read(r)))
        return -r->e->code;
    if (!type_take(r, '('))
        return read_params(r, 0, first, a, s);
    s->ret = first;
    return read_params(r, ')', NULL, a, s);
}

int signature_parse(struct type_table *table, const char *text, size_t len, struct signature *ret_sig,
                    struct kiln_err *e)
{
    struct type_reader r = { .table = table, .text = text, .len = len, .e = e };
    struct signature s = { 0, NULL, NULL };
    int rc;

    e->code = 0;
    if ((rc = read_signature(&r, type_arena(table), &s)))
        return rc;
    type_skip_space(&r);
    if (r.at < len)
        return type_fail(&r, r.at, "unexpected '%.*s' after the signature", 1, text + r.at);
    *ret_sig = s;
    return 0;
}
