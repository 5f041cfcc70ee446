/* SPDX-License-Identifier: Apache-2.0
 * server.h - the daemon's parts and what they know of each other.
 *
 *   listen.c   the socket: lock, activation, accepting
 *   descriptors.c  shares of the process's descriptors
 *   session.c  a connection: frames in, frames out
 *   dispatch.c which function answers which message
 *   compile.c  COMPILE, LOOKUP, CANCEL, GET: key, tiers, flights
 *   flight.c   a compile under way and who waits for it
 *   pool.c     worker processes
 *   admin.c    STATUS, STATS, LIST, SHOW, PURGE, STOP
 *   life.c     signals, ticks, draining, idle exit
 *
 * Everything runs in the loop's thread. Lifetimes: the server's is the process; a session lives until it is
 * closed and nothing refers to it; a flight until its last waiter is answered and its worker is done. */
#ifndef KILN_SERVER_H
#define KILN_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <uv.h>

#include "cache/cache.h"
#include "daemon/server/settings.h"
#include "proto/base/hash.h"
#include "proto/codec/messages.h"

struct stats {
#define X(name, meaning) uint64_t name;
#define G(name, meaning)
#include "daemon/server/stats.def"
#undef X
#undef G
};

struct session;
struct flight;
struct worker;

struct server {
    struct settings settings;
    uv_loop_t loop;
    uv_poll_t listener;
    int listen_fd, lock_fd;
    bool started;   /* the socket is ours: what fails from here on is no lost race */
    bool activated; /* the socket is systemd's: leave its file alone */
    uv_async_t wake;
    uv_timer_t tick;
    uv_signal_t on_term, on_int;
    struct cache *cache;
    struct stats stats;
    uint64_t started_ms;
    /* sessions */
    struct session *sessions;
    uint32_t n_sessions, max_sessions;
    uint64_t held; /* bytes of requests and answers under way: settings.request_memory */
    int spare_fd; /* given up to tell a client that there are no descriptors left */
    uint64_t idle_since_ms;
    /* flights: in lists by state, few hundred at most in use */
    struct flight *flights[1024]; /* by first bytes of the key */
    struct flight *queue_first, *queue_last;
    uint64_t n_queued, n_flights;
    /* workers */
    struct worker *workers; /* settings.workers of them */
    bool ready;             /* a worker has said what the toolchain is */
    unsigned char toolchain[HASH_BYTES];
    char llvm[256], baseline[128];
    unsigned failed_starts;
    uint64_t questions; /* resolve: tokens given out */
    /* leaving */
    bool draining, stopping;
    uint64_t drain_until_ms;
    int exit_status;
};

/* ---- session.c ---- */
struct session {
    struct server *server;
    struct session *next, **link;
    uv_poll_t poll;
    int fd;
    uint32_t refs;
    uid_t uid;
    pid_t pid;
    bool greeted, closed, takes_fds, resolves;
    uint32_t inflight;
    struct buf in;
    struct chunk *out_first, *out_last;
    size_t out_bytes;
    uint64_t held; /* its part of the server's */
};

void session_start(struct server *s, int fd, uid_t uid, pid_t pid);
/* Tell a peer that gets no session why, and close. */
void session_refuse(int fd, enum kiln_code code, const char *why);
struct session *session_ref(struct session *x);
void session_unref(struct session *x);
/* Close: waiters of the session are forgotten; the struct lives while it is referenced. */
void session_close(struct session *x);
/* Queue a frame; nothing happens on a closed session. */
void session_send(struct session *x, enum msg_type type, uint64_t id, const void *msg);
void session_error(struct session *x, uint64_t id, enum kiln_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void session_fail(struct session *x, uint64_t id, const struct kiln_err *e);
void session_artifact(struct session *x, uint64_t id, struct cache_artifact *a, const char *source, bool want_inline);
/* Go through what has come in; called again when the server has become ready. */
void session_read(struct session *x);

/* ---- dispatch.c ---- */
/* Answer one frame. False: the session was closed. */
bool dispatch(struct session *x, const struct frame *f);

/* ---- compile.c, admin.c: handlers ---- */
typedef void (*handler)(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_compile(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_lookup(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_get(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_resolved(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_cancel(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_status(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_stats(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_list(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_show(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_purge(struct session *x, uint64_t id, const void *msg, const struct frame *f);
void on_stop(struct session *x, uint64_t id, const void *msg, const struct frame *f);

/* A question to the cache whose answer comes later. */
struct pending {
    struct session *session; /* referenced */
    uint64_t id;
    bool want_inline;
};
struct pending *pending_new(struct session *x, uint64_t id);
void pending_free(struct pending *p);
/* May this user see and remove everything? */
bool is_administrator(const struct session *x);

/* ---- flight.c ---- */
enum flight_state { FLIGHT_LOOKUP, FLIGHT_QUEUED, FLIGHT_RUNNING };
struct waiter {
    struct waiter *next;
    struct session *session; /* referenced */
    uint64_t id, deadline_ms; /* of the loop's clock */
    bool want_inline, joined;
};
struct flight {
    struct flight *next;                    /* in its bucket */
    struct flight *queue_prev, *queue_next; /* while queued */
    unsigned char key[HASH_BYTES];
    enum flight_state state;
    struct waiter *waiters;
    struct worker *worker;
    uint64_t began_ms;
    struct arena arena;     /* the request, copied */
    struct msg_compile *request;
    struct key_parts parts;
    unsigned char *body;
};

struct flight *flight_find(struct server *s, const unsigned char key[HASH_BYTES]);
/* A new flight for a request; everything of m and parts is copied. NULL when out of memory. */
struct flight *flight_new(struct server *s, const unsigned char key[HASH_BYTES], const struct msg_compile *m,
                          const struct key_parts *parts);
bool flight_give_body(struct server *s, struct flight *f, const struct msg_compile *m);
bool flight_join(struct server *s, struct flight *f, struct session *x, uint64_t id, const struct msg_compile *m, bool joined);
/* To a worker, now or later; or `busy` to everybody. */
void flight_queue(struct server *s, struct flight *f);
/* Back to the head of the queue: its worker went before it began. */
void flight_requeue(struct server *s, struct flight *f);
/* Answer all waiters and end the flight. */
void flight_succeed(struct server *s, struct flight *f, struct cache_artifact *a, const char *source);
void flight_fail(struct server *s, struct flight *f, const struct msg_error *m);
void flight_fail_with(struct server *s, struct flight *f, enum kiln_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A session or one request of it has gone. */
void flights_forget(struct server *s, struct session *x, uint64_t id, bool all);
void flights_tick(struct server *s, uint64_t now_ms);

/* ---- pool.c ---- */
int pool_start(struct server *s, struct kiln_err *e);
void pool_stop(struct server *s); /* ends all workers */
/* Give queued flights to idle workers. */
void pool_feed(struct server *s);
/* Kill the worker of a running flight, which is then failed with this error. */
void pool_kill(struct server *s, struct flight *f, enum kiln_code code, const char *why);
/* A client's answer to a worker's question; false: nobody asked it that. */
bool pool_answered(struct server *s, const struct session *x, const struct msg_resolved *m);
/* The session closes: whoever waits for its answer gets none. */
void pool_forget(struct server *s, const struct session *x);
void pool_tick(struct server *s, uint64_t now_ms);
uint32_t pool_describe(struct server *s, struct msg_worker *out, uint32_t most);

/* ---- listen.c ---- */
int listen_start(struct server *s, struct kiln_err *e);
void listen_stop(struct server *s);
/* Look for connections again, after the system had no descriptors. */
void listen_again(struct server *s);

/* ---- descriptors.c ---- */
/* Raise the limit, and share what it allows: max_sessions, settings.memory_artifacts. */
void descriptors_plan(struct server *s);
/* Accept with the spare descriptor's room, when the process has no other; then get a spare one again. */
int descriptors_accept(struct server *s);
void descriptors_spare(struct server *s);

/* ---- life.c ---- */
int life_run(struct server *s, struct kiln_err *e);
void life_ready(struct server *s); /* the first worker is warm */
void life_drain(struct server *s, bool now);
void life_notify(const char *state); /* systemd's protocol, if it is there */

#endif
