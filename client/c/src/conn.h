/* SPDX-License-Identifier: Apache-2.0
 * conn.h - one connection, many threads, many requests.
 *
 * There is no thread of our own. Of the threads that wait for answers one, the leader, reads for all; when it
 * has its own answer another takes over. A request whose connection was lost is sent once more over a
 * new one: the daemon may have been restarted, and every request may be repeated. */
#ifndef KILN_CLIENT_CONN_H
#define KILN_CLIENT_CONN_H

#include <pthread.h>
#include <stdatomic.h>

#include <kiln/kiln.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/codec/messages.h"

#define CONN_PROTOCOL 1u      /* the versions that we speak: 1 to 1 */
#define CONN_TIMEOUT_MS 10000 /* to find, start and greet a daemon, by default */
#define CONN_ANSWER_MS 60000  /* for requests that take no compile */
#define CONN_SEND_MS 60000    /* a server that reads nothing for so long is lost */
#define CONN_TRIES 2          /* sendings of one request */
#define CONN_FDS 64           /* descriptors received ahead of their frames; in fact one */

enum pending_state {
    PENDING_LOST, /* to be sent (again) by its owner */
    PENDING_SENT,
    PENDING_DONE,  /* the answer is there */
    PENDING_FAILED /* `failure` says why */
};

/* Frame types of the server's that libkiln asks for, and what carries a request over a reconnect. */
struct kiln_pending {
    struct kiln_connection *c;
    struct kiln_pending *next; /* on the connection's list while SENT */
    pthread_cond_t cond;       /* answered, lost, or: be the leader */
    enum pending_state state;
    uint64_t id;
    unsigned tries;
    bool on_list, waiting, cancelled, body_sent, want_inline;
    struct arena arena; /* of `message`'s parts */
    enum msg_type type, expect;
    void *message;    /* struct msg_*, without body */
    struct span body; /* compile: sent when asked for */
    struct kiln_err failure;
    /* the answer */
    uint16_t answer_type;
    unsigned char *answer; /* malloc */
    uint32_t answer_len;
    int answer_fd; /* -1: none */
};

struct kiln_connection {
    struct kiln_connection *next; /* on the list of all, for forks */
    pthread_mutex_t lock;         /* guards all that follows */
    pthread_cond_t changed;       /* of the flags below */
    bool reading, writing, connecting;
    bool broken;         /* fd is to be closed once nobody uses it */
    int fd;              /* -1: none */
    uint64_t generation; /* counts connections */
    uint64_t last_id;
    bool inline_next; /* a descriptor got lost: ask for bytes */
    struct kiln_pending *pending;
    struct buf in;
    int fds[CONN_FDS];
    unsigned n_fds;
    struct kiln_server server;
    uint64_t max_frame;
    struct kiln_err lost; /* why the last connection ended */
    /* options, unchanging */
    struct kiln_options options;
    struct arena arena;
};

/* A request of this type, whose struct (of msg_desc(type)->size bytes) is in p->arena: make it with
 * pending_new, fill p->message, then pending_send. */
int pending_new(struct kiln_connection *c, enum msg_type type, enum msg_type expect, size_t memory,
                struct kiln_pending **ret, struct kiln_error *e);
int pending_send(struct kiln_pending *p, struct kiln_error *e);
void pending_cond_init(pthread_cond_t *cond); /* waits by the monotonic clock */
/* new + send + wait, then the answer decoded into *ret (of the type `expect`) with parts in arena a. */
int pending_ask(struct kiln_pending *p, struct arena *a, void *ret, struct kiln_error *e);

/* greet.c: a new connection for c->options, greeted. Called without the lock, by one thread at a time. */
struct greeting {
    int fd;
    struct kiln_server server;
    uint64_t max_frame;
};
int conn_greet(const struct kiln_options *o, bool again, struct greeting *ret, struct kiln_error *e);

/* answer.c: the server's ERROR as ours. Returns the negative code. */
int answer_error(struct kiln_error *e, const unsigned char *body, size_t len);

/* resolve.c: answer a RESOLVE frame through the callback; the RESOLVED frame is put in `out`. */
int resolve_answer(const struct kiln_options *o, uint64_t id, const unsigned char *body, size_t len,
                   struct buf *out, struct kiln_err *e);

#endif
