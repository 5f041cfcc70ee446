/* SPDX-License-Identifier: Apache-2.0
 * request.c - compile, lookup and get: public requests to messages. */
#include <string.h>

#include "client/c/src/artifact.h"
#include "client/c/src/client.h"
#include "client/c/src/conn.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"

static const char *const kinds[] = { "kir", "bitcode" };
static const char *const emits[] = { "so", "obj", "asm", "llvm", "llvm-opt", "typed" };

void kiln_digest(const void *data, size_t len, unsigned char ret[KILN_DIGEST_BYTES])
{
    hash_once(data, len, ret);
}

/* The text, copied into a; *failed is set when there is no memory. */
static struct span text(struct arena *a, const char *s, bool *failed)
{
    if (!s || !*s)
        return (struct span){ NULL, 0 };
    size_t n = strlen(s);
    char *p = arena_dup(a, s, n);
    *failed |= !p;
    return span_of(p, p ? n : 0);
}

static struct span bytes(struct arena *a, const void *p, size_t len, bool *failed)
{
    if (!p || !len)
        return (struct span){ NULL, 0 };
    char *copy = arena_dup(a, p, len);
    *failed |= !copy;
    return span_of(copy, copy ? len : 0);
}

static size_t request_memory(const struct kiln_compile *r)
{
    size_t n = 4096 + r->body_len + r->positions_len + strlen(r->signature ? r->signature : "") * 2;
    for (uint32_t i = 0; i < r->n_env; i++)
        n += strlen(r->env[i]) + 64;
    return n + r->n_env * sizeof(struct span) + strlen(r->entry ? r->entry : "") +
           strlen(r->target ? r->target : "") + strlen(r->symbol ? r->symbol : "");
}

/* Is it a request at all? Asked before anything is read of it. */
static int check(const struct kiln_compile *r, struct kiln_error *e)
{
    if ((unsigned)r->kind > KILN_LLVM || (unsigned)r->emit > KILN_TYPED || !r->signature)
        return client_error(e, KILN_E_INVALID, 0,
                            "a request needs a kind, a signature and a known form of output");
    if (!(r->body && r->body_len) && !r->digest)
        return client_error(e, KILN_E_INVALID, 0, "a request needs a body or its digest");
    if (r->body_len > LIM_FRAME_BYTES)
        return client_error(e, KILN_E_LIMIT, 0, "a body of %zu bytes; at most %llu fit a frame", r->body_len,
                            (unsigned long long)LIM_FRAME_BYTES);
    for (uint32_t i = 0; i < r->n_env; i++)
        if (!r->env || !r->env[i])
            return client_error(e, KILN_E_INVALID, 0, "type %u of the environment is missing", i);
    return 0;
}

/* Everything but the body. */
static int fill(struct arena *a, const struct kiln_compile *r, struct msg_compile *m, struct kiln_error *e)
{
    bool failed = false;
    unsigned char digest[KILN_DIGEST_BYTES];
    if (!r->digest)
        kiln_digest(r->body, r->body_len, digest);
    const char *target = r->target && *r->target ? kiln_target_resolve(r->target) : kiln_target_default();
    MSG_INIT(MSG_COMPILE, m);
    m->kind = span_text(kinds[r->kind]);
    m->digest = bytes(a, r->digest ? r->digest : digest, KILN_DIGEST_BYTES, &failed);
    m->signature = text(a, r->signature, &failed);
    m->entry = text(a, r->entry, &failed);
    m->target = text(a, target, &failed);
    m->emit = span_text(r->emit == KILN_SO ? "" : emits[r->emit]);
    m->flags = r->flags;
    m->semantics = span_text(r->numba ? "numba" : "");
    m->checked = r->checked;
    m->debug = r->debug;
    m->nocontract = r->no_contract;
    m->symbol = text(a, r->symbol, &failed);
    m->positions = bytes(a, r->positions, r->positions_len, &failed);
    m->deadline_ms = r->deadline_ms;
    m->want_inline = r->want_inline;
    m->is_private = r->is_private;
    if (r->n_env) {
        struct span *env = arena_new_array(a, r->n_env, struct span);
        for (uint32_t i = 0; env && i < r->n_env; i++)
            env[i] = text(a, r->env[i], &failed);
        failed |= !env;
        m->env = env;
        m->n_env = r->n_env;
    }
    return failed || !target ? client_error(e, KILN_E_NOMEM, 0, "no memory for a request") : 0;
}

int kiln_submit_compile(struct kiln_connection *c, const struct kiln_compile *r, struct kiln_pending **ret,
                        struct kiln_error *e)
{
    struct kiln_pending *p;
    *ret = NULL;
    int rc = check(r, e);
    if (rc)
        return rc;
    rc = pending_new(c, MSG_COMPILE, MSG_ARTIFACT, request_memory(r) * 2 + 8192, &p, e);
    if (rc)
        return rc;
    rc = fill(&p->arena, r, p->message, e);
    if (!rc) {
        bool failed = false;
        p->body = bytes(&p->arena, r->body, r->body_len, &failed);
        p->body_sent = r->send_body && p->body.len;
        p->want_inline = r->want_inline;
        rc = failed ? client_error(e, KILN_E_NOMEM, 0, "no memory for a request") : pending_send(p, e);
    }
    if (rc) {
        kiln_pending_free(p);
        return rc;
    }
    *ret = p;
    return 0;
}

static int finish(struct kiln_pending *p, struct kiln_artifact **ret, struct kiln_error *e)
{
    int rc;
    while ((rc = kiln_wait(p, -1, e)) > 0)
        ; /* a signal: nobody asked us to stop */
    if (!rc)
        rc = kiln_take_artifact(p, ret, e);
    kiln_pending_free(p);
    return rc;
}

int kiln_compile(struct kiln_connection *c, const struct kiln_compile *r, struct kiln_artifact **ret,
                 struct kiln_error *e)
{
    struct kiln_pending *p;
    *ret = NULL;
    int rc = kiln_submit_compile(c, r, &p, e);
    return rc ? rc : finish(p, ret, e);
}

int kiln_get(struct kiln_connection *c, const unsigned char key[KILN_KEY_BYTES], bool want_inline,
             struct kiln_artifact **ret, struct kiln_error *e)
{
    struct kiln_pending *p;
    *ret = NULL;
    int rc = pending_new(c, MSG_GET, MSG_ARTIFACT, 4096, &p, e);
    if (rc)
        return rc;
    struct msg_get *m = p->message;
    bool failed = false;
    m->key = bytes(&p->arena, key, KILN_KEY_BYTES, &failed);
    p->want_inline = want_inline;
    rc = failed ? client_error(e, KILN_E_NOMEM, 0, "no memory for a request") : pending_send(p, e);
    if (rc) {
        kiln_pending_free(p);
        return rc;
    }
    return finish(p, ret, e);
}

int kiln_lookup(struct kiln_connection *c, const struct kiln_compile *requests, uint32_t n,
                struct kiln_hit *hits, struct kiln_error *e)
{
    struct kiln_pending *p;
    if (n > LIM_LOOKUP_QUERIES)
        return client_error(e, KILN_E_LIMIT, 0, "a lookup of %u entries; at most %llu", n,
                            (unsigned long long)LIM_LOOKUP_QUERIES);
    size_t memory = n * sizeof(struct msg_compile) + 4096;
    int rc = 0;
    for (uint32_t i = 0; !rc && i < n; i++) {
        rc = check(&requests[i], e);
        memory += rc ? 0 : request_memory(&requests[i]) + 8192;
    }
    if (rc)
        return rc;
    rc = pending_new(c, MSG_LOOKUP, MSG_FOUND, memory, &p, e);
    if (rc)
        return rc;
    struct msg_lookup *m = p->message;
    struct msg_compile *list = arena_new_array(&p->arena, n + 1, struct msg_compile);
    if (!list)
        rc = client_error(e, KILN_E_NOMEM, 0, "no memory for a lookup");
    for (uint32_t i = 0; !rc && i < n; i++)
        rc = fill(&p->arena, &requests[i], &list[i], e);
    m->queries = list;
    m->n_queries = n;
    struct arena a;
    struct msg_found found;
    arena_init(&a, 16u << 20);
    if (!rc)
        rc = pending_ask(p, &a, &found, e);
    if (!rc && found.n_hits != n)
        rc = client_error(e, KILN_E_WIRE_COUNT, 0, "the daemon answered %u of %u queries", found.n_hits, n);
    for (uint32_t i = 0; !rc && i < n; i++) {
        const struct msg_hit *h = &found.hits[i];
        hits[i] = (struct kiln_hit){ .known = h->known, .size = h->size };
        if (h->key.len == KILN_KEY_BYTES)
            memcpy(hits[i].key, h->key.p, KILN_KEY_BYTES);
        else if (h->known)
            rc = client_error(e, KILN_E_WIRE_RANGE, 0, "the daemon sent a key of %u bytes", h->key.len);
    }
    arena_done(&a);
    kiln_pending_free(p);
    return rc;
}
