/* SPDX-License-Identifier: Apache-2.0
 * resolve.c - the one question that the server asks: a user's overload at given types. */
#include <stdlib.h>
#include <string.h>

#include "client/c/src/client.h"
#include "client/c/src/conn.h"

int resolve_answer(const struct kiln_options *o, uint64_t id, const unsigned char *body, size_t len,
                   struct buf *out, struct kiln_err *e)
{
    struct arena a;
    struct msg_resolve m;
    struct msg_resolved r;
    char message[256] = "this client resolves no overloads";
    void *made = NULL;
    size_t made_len = 0;
    arena_init(&a, 4u << 20);
    MSG_INIT(MSG_RESOLVED, &r);
    int rc = msg_decode(&a, msg_desc(MSG_RESOLVE), body, len, &m, e);
    if (rc)
        goto out;
    r.token = m.token;
    if (o->resolve) {
        const char **types = arena_new_array(&a, m.n_types + 1, const char *);
        if (!types) {
            rc = kiln_err_set(e, KILN_E_NOMEM, 0, "no memory to resolve an overload");
            goto out;
        }
        for (uint32_t i = 0; i < m.n_types; i++)
            types[i] = span_str(m.types[i]);
        message[0] = 0;
        if (o->resolve(o->resolve_user, m.overload, types, m.n_types, &made, &made_len, message) == 0)
            message[0] = 0;
    }
    r.body = span_of(made, made_len);
    r.message = span_text(message);
    rc = msg_frame(out, MSG_RESOLVED, 0, id, &r, e);
out:
    free(made);
    arena_done(&a);
    return rc;
}
