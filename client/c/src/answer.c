/* SPDX-License-Identifier: Apache-2.0
 * answer.c - the server's ERROR message as a struct kiln_error with everything in one block. */
#include <stdlib.h>
#include <string.h>

#include "client/c/src/client.h"
#include "client/c/src/conn.h"

#define ERROR_MEMORY (16u << 20) /* a hundred diagnostics with notes are some 100 KB */

/* Walked twice: with to NULL to count bytes, then to fill. */
struct packer {
    unsigned char *to;
    size_t at;
};

static void *pack(struct packer *k, const void *p, size_t len, size_t align)
{
    k->at = (k->at + align - 1) & ~(align - 1);
    void *here = k->to ? k->to + k->at : NULL;
    if (here && p)
        memcpy(here, p, len);
    k->at += len;
    return here;
}

static const char *pack_text(struct packer *k, struct span s)
{
    char *p = pack(k, NULL, (size_t)s.len + 1, 1);
    if (p) {
        if (s.len)
            memcpy(p, s.p, s.len);
        p[s.len] = 0;
    }
    return p;
}

static void fill(struct packer *k, const struct msg_error *m, struct kiln_error *e)
{
    struct kiln_diagnostic *list = pack(k, NULL, m->n_diagnostics * sizeof *list, 8);
    for (uint32_t i = 0; i < m->n_diagnostics; i++) {
        const struct msg_diagnostic *from = &m->diagnostics[i];
        struct kiln_note *notes = pack(k, NULL, from->n_notes * sizeof *notes, 8);
        for (uint32_t j = 0; j < from->n_notes; j++) {
            const char *text = pack_text(k, from->notes[j].message);
            if (k->to)
                notes[j] = (struct kiln_note){ text, (int32_t)from->notes[j].function,
                                               (int32_t)from->notes[j].node };
        }
        const char *text = pack_text(k, from->message), *hint = pack_text(k, from->hint);
        if (k->to)
            list[i] = (struct kiln_diagnostic){ .code = (int32_t)from->code,
                                                .function = (int32_t)from->function,
                                                .node = (int32_t)from->node,
                                                .message = text,
                                                .hint = hint,
                                                .notes = notes,
                                                .n_notes = from->n_notes };
    }
    const char *hint = m->hint.len ? pack_text(k, m->hint) : NULL;
    if (k->to) {
        e->diagnostics = list;
        e->n_diagnostics = m->n_diagnostics;
        e->hint = hint;
    }
}

int answer_error(struct kiln_error *e, const unsigned char *body, size_t len)
{
    struct kiln_err err = KILN_ERR_INIT;
    struct arena a;
    struct msg_error m;
    arena_init(&a, ERROR_MEMORY);
    int rc = msg_decode(&a, msg_desc(MSG_ERROR), body, len, &m, &err);
    if (rc) {
        arena_done(&a);
        return client_fail(e, &err);
    }
    int code = m.code > 0 && m.code < 1000 ? (int)m.code : KILN_E_INTERNAL;
    if (e) {
        client_error(e, code, 0, "%s", m.message.len ? span_str(m.message) : kiln_err_text(code));
        e->function = (int32_t)m.function;
        e->node = (int32_t)m.node;
        e->retry_ms = (uint32_t)m.retry_ms;
        struct packer count = { .to = NULL };
        fill(&count, &m, e);
        struct packer k = { .to = calloc(1, count.at + 1) };
        if (k.to) { /* without memory the message must do */
            fill(&k, &m, e);
            e->details = k.to;
        }
    }
    arena_done(&a);
    return -code;
}
