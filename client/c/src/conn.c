/* SPDX-License-Identifier: Apache-2.0
 * conn.c - see conn.h. Names ending in _locked want c->lock held, and may let go of it meanwhile. */
#include "client/c/src/conn.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client/c/src/client.h"
#include "client/c/src/find.h"
#include "client/c/src/loop.h"
#include "proto/base/limits.h"

/* ---- forks ------------------------------------------------------------------------------------- */

/* All connections, so that a fork finds each in order, and the child can begin anew. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kiln_connection *all;

static void before_fork(void)
{
    pthread_mutex_lock(&all_lock);
    for (struct kiln_connection *c = all; c; c = c->next)
        pthread_mutex_lock(&c->lock);
}

static void after_fork_parent(void)
{
    for (struct kiln_connection *c = all; c; c = c->next)
        pthread_mutex_unlock(&c->lock);
    pthread_mutex_unlock(&all_lock);
}

static void after_fork_child(void)
{
    for (struct kiln_connection *c = all; c; c = c->next) {
        /* The threads that read or wrote are the parent's: only the descriptors were inherited. */
        c->reading = c->writing = c->connecting = false;
        pthread_cond_init(&c->changed, NULL);
        for (struct kiln_pending *p = c->pending; p; p = p->next) {
            p->waiting = false;
            pending_cond_init(&p->cond);
        }
        c->broken = true; /* no shutdown: the parent goes on using the connection */
        struct kiln_err e = KILN_ERR_INIT;
        kiln_err_set(&e, KILN_E_CLOSED, 0, "the process was forked");
        loop_lost_locked(c, &e);
        loop_close_locked(c);
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_unlock(&all_lock);
}

static void register_fork(void)
{
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* ---- life -------------------------------------------------------------------------------------- */

static const char *copy(struct arena *a, const char *s, bool *failed)
{
    if (!s)
        return NULL;
    char *p = arena_dup(a, s, strlen(s));
    *failed |= !p;
    return p;
}

static bool copy_options(struct kiln_connection *c, const struct kiln_options *o)
{
    bool failed = false;
    c->options = *o;
    c->options.socket = copy(&c->arena, o->socket, &failed);
    c->options.daemon = copy(&c->arena, o->daemon, &failed);
    c->options.client_name = copy(&c->arena, o->client_name, &failed);
    if (o->n_trusted_uids) {
        uint32_t *uids = arena_new_array(&c->arena, o->n_trusted_uids, uint32_t);
        failed |= !uids;
        if (uids)
            memcpy(uids, o->trusted_uids, o->n_trusted_uids * sizeof *uids);
        c->options.trusted_uids = uids;
    }
    return !failed;
}

int kiln_connect_lazily(const struct kiln_options *options, struct kiln_connection **ret,
                        struct kiln_error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const struct kiln_options defaults;
    *ret = NULL;
    if (options && options->socket && strlen(options->socket) > FIND_PATH_MAX)
        return client_error(e, KILN_E_INVALID, 0, "socket path is %zu bytes long, at most %d fit: %s",
                            strlen(options->socket), FIND_PATH_MAX, options->socket);
    struct kiln_connection *c = calloc(1, sizeof *c);
    if (!c)
        return client_error(e, KILN_E_NOMEM, 0, "no memory for a connection");
    arena_init(&c->arena, 1 << 20);
    if (!copy_options(c, options ? options : &defaults)) {
        arena_done(&c->arena);
        free(c);
        return client_error(e, KILN_E_NOMEM, 0, "no memory for a connection");
    }
    c->fd = -1;
    buf_init(&c->in, LIM_FRAME_BYTES + FRAME_HEAD + 65536);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    pthread_once(&once, register_fork);
    pthread_mutex_lock(&all_lock);
    c->next = all;
    all = c;
    pthread_mutex_unlock(&all_lock);
    *ret = c;
    return 0;
}

int kiln_connect(const struct kiln_options *options, struct kiln_connection **ret, struct kiln_error *e)
{
    int rc = kiln_connect_lazily(options, ret, e);
    if (rc)
        return rc;
    struct kiln_server server;
    rc = kiln_server_info(*ret, &server, e);
    if (rc) {
        kiln_disconnect(*ret);
        *ret = NULL;
    }
    return rc;
}

void kiln_disconnect(struct kiln_connection *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&all_lock);
    for (struct kiln_connection **at = &all; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    pthread_mutex_unlock(&all_lock);
    pthread_mutex_lock(&c->lock);
    loop_close_locked(c);
    pthread_mutex_unlock(&c->lock);
    buf_done(&c->in);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    arena_done(&c->arena);
    free(c);
}

int kiln_server_info(struct kiln_connection *c, struct kiln_server *ret, struct kiln_error *e)
{
    pthread_mutex_lock(&c->lock);
    int rc = loop_connect_locked(c, e);
    if (!rc)
        *ret = c->server;
    pthread_mutex_unlock(&c->lock);
    return rc;
}
