/* SPDX-License-Identifier: Apache-2.0
 * pool.c - worker processes: started before they are needed, one job at a time, replaced when they die, grow
 * or have done many jobs. What they say is decoded and checked like a client's words. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/server/server.h"
#include "proto/codec/worker.h"
#include "proto/codec/fdpass.h"

#define START_LIMIT_MS 30000 /* a worker that isn't warm by then never will be */
#define RESTART_MS 500       /* pause before a replacement when workers die while starting */
#define START_FAILURES 3     /* of the first worker: then the daemon gives up */

enum worker_state { WORKER_NONE, WORKER_STARTING, WORKER_IDLE, WORKER_BUSY, WORKER_ENDING };

struct worker {
    struct server *server;
    uv_process_t process;
    uv_poll_t poll;
    int fd;
    enum worker_state state;
    bool has_process, has_poll; /* handles that are open */
    uint64_t since_ms, jobs, rss;
    struct flight *flight;
    struct buf in, out;
    size_t out_at;
    struct session *asked; /* referenced: the client that was asked to resolve an overload */
    uint64_t question, question_id; /* our token and the worker's */
    enum kiln_code kill_code; /* why we killed it; 0: we did not */
    char kill_why[120];
};

static const char *const state_names[] = { "none", "starting", "idle", "busy", "ending" };

static void start(struct worker *w);
static void on_io(uv_poll_t *poll, int status, int events);
static bool receive(struct worker *w);

/* ---- ends ---- */

static void ended(struct worker *w)
{
    if (w->has_process || w->has_poll)
        return;
    w->state = WORKER_NONE;
    w->since_ms = uv_now(&w->server->loop);
    if (!w->server->stopping && !w->server->failed_starts)
        start(w); /* otherwise pool_tick does, after a pause */
}

static void poll_closed(uv_handle_t *h)
{
    struct worker *w = h->data;

    close(w->fd);
    w->fd = -1;
    w->has_poll = false;
    buf_done(&w->in);
    buf_done(&w->out);
    ended(w);
}

static void process_closed(uv_handle_t *h)
{
    struct worker *w = h->data;

    w->has_process = false;
    ended(w);
}

static void close_socket(struct worker *w)
{
    if (w->has_poll && !uv_is_closing((uv_handle_t *)&w->poll)) {
        uv_poll_stop(&w->poll);
        uv_close((uv_handle_t *)&w->poll, poll_closed);
    }
}

/* Let a worker go that has no job: it ends when its socket closes. */
static void retire(struct worker *w)
{
    w->state = WORKER_ENDING;
    close_socket(w);
}

/* Tell the requester what became of its compile. */
static void fail_flight(struct worker *w, int64_t status, int signal)
{
    struct server *s = w->server;
    struct flight *f = w->flight;

    w->flight = NULL;
    if (w->asked)
        session_unref(w->asked);
    w->asked = NULL;
    if (!f)
        return;
    f->worker = NULL;
    s->stats.compile_failures++;
    s->stats.worker_deaths++;
    if (w->kill_code)
        flight_fail_with(s, f, w->kill_code, "%s", w->kill_why);
    else if (status == WORKER_EXIT_MEMORY)
        flight_fail_with(s, f, KILN_E_WORKER_MEMORY, "the compile needed more than its memory limit of %llu MiB",
                         (unsigned long long)(s->settings.worker_memory >> 20));
    else if (signal)
        flight_fail_with(s, f, KILN_E_WORKER_DIED, "the compiler process was ended by signal %d (%s)", signal, strsignal(signal));
    else
        flight_fail_with(s, f, KILN_E_WORKER_DIED, "the compiler process ended with status %lld", (long long)status);
}

static void on_exit_(uv_process_t *process, int64_t status, int signal)
{
    struct worker *w = process->data;
    struct server *s = w->server;

    /* its end may be known before its last words have been read */
    while (w->flight && !w->kill_code && w->has_poll && !uv_is_closing((uv_handle_t *)&w->poll) && receive(w))
        ;
    if (w->state != WORKER_ENDING || w->flight)
        log_event(LOG_WARNING, "worker ended", log_u("pid", process->pid), log_u("status", status), log_u("signal", signal),
                  log_s("state", state_names[w->state]));
    if (w->state == WORKER_STARTING) {
        s->failed_starts++;
        if (!s->ready && s->failed_starts >= START_FAILURES && !s->stopping) {
            log_event(LOG_ERROR, "no worker can be started", log_u("tries", s->failed_starts));
            s->exit_status = 70;
            life_drain(s, true);
        }
    }
    w->state = WORKER_ENDING;
    if (w->flight && status == WORKER_EXIT_FATAL && !w->kill_code) { /* given between its error and its end */
        struct flight *f = w->flight;
        w->flight = NULL;
        f->worker = NULL;
        s->stats.compiles--;
        flight_requeue(s, f);
        pool_feed(s);
    }
    fail_flight(w, status, signal);
    close_socket(w);
    uv_close((uv_handle_t *)process, process_closed);
}

void pool_kill(struct server *s, struct flight *f, enum kiln_code code, const char *why)
{
    struct worker *w = f->worker;

    (void)s;
    if (!w || w->kill_code)
        return;
    w->kill_code = code;
    snprintf(w->kill_why, sizeof w->kill_why, "%s", why);
    uv_process_kill(&w->process, SIGKILL); /* the flight fails when the process has gone */
}

/* A worker that speaks nonsense is not believed again. */
static void distrust(struct worker *w, const char *why)
{
    log_event(LOG_ERROR, "worker talks nonsense and is stopped", log_u("pid", w->process.pid), log_s("error", why));
    if (!w->kill_code) {
        w->kill_code = KILN_E_WORKER_DIED;
        snprintf(w->kill_why, sizeof w->kill_why, "the compiler process sent a malformed answer");
    }
    uv_process_kill(&w->process, SIGKILL);
}

/* ---- start ---- */

static void worker_path(const struct server *s, char *out, size_t cap)
{
    char self[400];
    size_t n = sizeof self;
    char *slash;

    if (*s->settings.worker) {
        snprintf(out, cap, "%s", s->settings.worker);
        return;
    }
    if (uv_exepath(self, &n) != 0)
        strcpy(self, "kilnd");
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    snprintf(out, cap, "%s/kiln-worker", slash ? self : ".");
    if (access(out, X_OK) != 0) /* installed: bin/kilnd and libexec/kiln/kiln-worker */
        snprintf(out, cap, "%s/../libexec/kiln/kiln-worker", slash ? self : ".");
}

static int spawn(struct worker *w, int theirs)
{
    char path[512], memory[32];
    char *args[] = { path, "--memory", memory, NULL };
    uv_stdio_container_t stdio[4] = { { .flags = UV_IGNORE }, { .flags = UV_IGNORE }, { .flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO },
                                      { .flags = UV_INHERIT_FD, .data.fd = theirs } };
    char *environment[] = { "LANG=C.UTF-8", NULL }; /* nothing of ours reaches a compile */
    uv_process_options_t o = { .exit_cb = on_exit_, .file = path, .args = args, .env = environment, .cwd = "/", .stdio_count = 4,
                               .stdio = stdio };

    worker_path(w->server, path, sizeof path);
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)w->server->settings.worker_memory);
    return uv_spawn(&w->server->loop, &w->process, &o);
}

static void start(struct worker *w)
{
    struct server *s = w->server;
    int pair[2], r;

    w->since_ms = uv_now(&s->loop);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        log_event(LOG_ERROR, "worker not started", log_s("error", strerror(errno)));
        s->failed_starts++;
        return;
    }
    w->process.data = w;
    w->poll.data = w;
    r = spawn(w, pair[1]);
    close(pair[1]);
    w->has_process = true;
    if (r != 0) {
        char path[512];
        worker_path(s, path, sizeof path);
        log_event(LOG_ERROR, "worker not started", log_s("program", path), log_s("error", uv_strerror(r)));
        close(pair[0]);
        s->failed_starts++;
        w->state = WORKER_ENDING;
        uv_close((uv_handle_t *)&w->process, process_closed);
        if (!s->ready && s->failed_starts >= START_FAILURES && !s->stopping) {
            s->exit_status = 70;
            life_drain(s, true);
        }
        return;
    }
    s->stats.workers_started++;
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    w->fd = pair[0];
    w->jobs = w->rss = 0;
    w->kill_code = 0;
    w->out_at = 0;
    w->state = WORKER_STARTING;
    buf_init(&w->in, (size_t)LIM_FRAME_BYTES + FRAME_HEAD + 65536);
    buf_init(&w->out, (size_t)LIM_FRAME_BYTES + 65536);
    uv_poll_init(&s->loop, &w->poll, w->fd);
    w->has_poll = true;
    uv_poll_start(&w->poll, UV_READABLE, on_io);
}

int pool_start(struct server *s, struct kiln_err *e)
{
    s->workers = calloc(s->settings.workers, sizeof *s->workers);
    if (!s->workers)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "workers");
    for (uint64_t i = 0; i < s->settings.workers; i++) {
        s->workers[i].server = s;
        s->workers[i].fd = -1;
        start(&s->workers[i]);
    }
    return 0;
}

void pool_stop(struct server *s)
{
    for (uint64_t i = 0; s->workers && i < s->settings.workers; i++) {
        struct worker *w = &s->workers[i];
        if (!w->has_process)
            continue;
        w->kill_code = KILN_E_DRAINING;
        snprintf(w->kill_why, sizeof w->kill_why, "the server is shutting down");
        if (w->state != WORKER_ENDING)
            w->state = w->flight ? WORKER_BUSY : WORKER_ENDING;
        uv_process_kill(&w->process, SIGKILL);
    }
}

/* ---- jobs ---- */

static void write_out(struct worker *w)
{
    struct kiln_err e = KILN_ERR_INIT;

    while (w->out_at < w->out.len) {
        ssize_t n = fd_send(w->fd, w->out.data + w->out_at, w->out.len - w->out_at, -1, &e);
        if (n < 0)
            return; /* it has died: its exit says how */
        if (n == 0) {
            uv_poll_start(&w->poll, UV_READABLE | UV_WRITABLE, on_io);
            return;
        }
        w->out_at += (size_t)n;
    }
    buf_clear(&w->out);
    w->out_at = 0;
    uv_poll_start(&w->poll, UV_READABLE, on_io);
}

static void give(struct worker *w, struct flight *f)
{
    struct server *s = w->server;
    struct kiln_err e = KILN_ERR_INIT;
    struct msg_job m;

    MSG_INIT(MSG_JOB, &m);
    m.key = span_of(f->key, HASH_BYTES);
    m.request = f->request;
    m.n_request = 1;
    buf_clear(&w->out);
    if (msg_frame(&w->out, MSG_JOB, 0, ++w->jobs, &m, &e) < 0) {
        flight_fail_with(s, f, (enum kiln_code)e.code, "%s", e.msg);
        return;
    }
    w->flight = f;
    w->state = WORKER_BUSY;
    w->since_ms = uv_now(&s->loop);
    f->worker = w;
    f->state = FLIGHT_RUNNING;
    f->began_ms = uv_now(&s->loop);
    s->stats.compiles++;
    write_out(w);
}

void pool_feed(struct server *s)
{
    for (uint64_t i = 0; i < s->settings.workers && s->queue_first; i++) {
        struct worker *w = &s->workers[i];
        struct flight *f = s->queue_first;
        if (w->state != WORKER_IDLE)
            continue;
        s->queue_first = f->queue_next;
        *(s->queue_first ? &s->queue_first->queue_prev : &s->queue_last) = NULL;
        s->n_queued--;
        f->state = FLIGHT_LOOKUP; /* in no queue; `give` makes it RUNNING, or ends it */
        give(w, f);
    }
}

static void on_ready(struct worker *w, const struct msg_ready *m)
{
    struct server *s = w->server;

    if (m->toolchain.len != HASH_BYTES) {
        distrust(w, "toolchain digest");
        return;
    }
    if (s->ready && memcmp(s->toolchain, m->toolchain.p, HASH_BYTES) != 0)
        log_event(LOG_NOTICE, "the toolchain has changed; new keys from here on");
    memcpy(s->toolchain, m->toolchain.p, HASH_BYTES);
    snprintf(s->llvm, sizeof s->llvm, "%s", span_str(m->llvm));
    snprintf(s->baseline, sizeof s->baseline, "%s", span_str(m->baseline));
    w->state = WORKER_IDLE;
    s->failed_starts = 0;
    if (!s->ready)
        life_ready(s);
}

static void stored(void *ctx, const struct kiln_err *e)
{
    (void)ctx;
    if (e)
        log_event(LOG_WARNING, "artifact not stored", log_s("error", e->msg));
}

static void on_result(struct worker *w, const struct msg_result *m)
{
    struct server *s = w->server;
    struct flight *f = w->flight;
    struct kiln_err e = KILN_ERR_INIT;
    struct cache_artifact *a = NULL;
    struct cache_entry entry;

    memset(&entry, 0, sizeof entry);
    entry.key = f->key;
    entry.parts = &f->parts;
    entry.blob = m->object.p;
    entry.blob_len = m->object.len;
    entry.manifest = m->manifest.p;
    entry.manifest_len = m->manifest.len;
    entry.ir = f->body;
    entry.ir_len = f->request->body.len;
    entry.compile_us = m->compile_us;
    s->stats.compile_us += m->compile_us;
    if (cache_put(s->cache, &entry, stored, s, &a, &e) < 0) {
        flight_fail_with(s, f, (enum kiln_code)e.code, "%s", e.msg);
        return;
    }
    log_event(LOG_DEBUG, "compiled", log_s("entry", f->parts.entry), log_s("signature", f->parts.signature),
              log_u("us", m->compile_us), log_u("bytes", m->object.len));
    flight_succeed(s, f, a, "compiled");
    cache_artifact_unref(a);
}

/* ---- resolve: a worker's question, answered by one of the clients that wait for it ---- */

static void forget_question(struct worker *w)
{
    if (w->asked)
        session_unref(w->asked);
    w->asked = NULL;
}

static void answer_worker(struct worker *w, const struct msg_resolved *answer)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct msg_resolved m = *answer;

    m.token = w->question_id;
    forget_question(w);
    if (w->out_at == w->out.len)
        buf_clear(&w->out), w->out_at = 0;
    if (msg_frame(&w->out, MSG_RESOLVED, 0, w->jobs, &m, &e) < 0)
        distrust(w, e.msg);
    else
        write_out(w);
}

static void no_answer(struct worker *w, const char *why)
{
    struct msg_resolved m;

    MSG_INIT(MSG_RESOLVED, &m);
    m.message = span_text(why);
    answer_worker(w, &m);
}

static void on_question(struct worker *w, const struct msg_resolve *m)
{
    struct server *s = w->server;
    struct msg_resolve forward = *m;

    if (w->asked) {
        distrust(w, "two questions at once");
        return;
    }
    w->question_id = m->token;
    w->question = forward.token = ++s->questions;
    for (const struct waiter *x = w->flight->waiters; x; x = x->next)
        if (x->session->resolves && !x->session->closed) {
            w->asked = session_ref(x->session);
            session_send(x->session, MSG_RESOLVE, x->id, &forward);
            return;
        }
    no_answer(w, "no client that waits for this compile resolves overloads");
}

bool pool_answered(struct server *s, const struct session *x, const struct msg_resolved *m)
{
    for (uint64_t i = 0; i < s->settings.workers; i++)
        if (s->workers[i].asked == x && s->workers[i].question == m->token) {
            answer_worker(&s->workers[i], m);
            return true;
        }
    return false;
}

void pool_forget(struct server *s, const struct session *x)
{
    for (uint64_t i = 0; s->workers && i < s->settings.workers; i++)
        if (s->workers[i].asked == x)
            no_answer(&s->workers[i], "the client that was asked has left");
}

/* The worker's flight has been answered: the next one, or a successor. */
static void next_job(struct worker *w)
{
    struct server *s = w->server;

    if (w->state != WORKER_BUSY)
        return;
    w->state = WORKER_IDLE;
    w->since_ms = uv_now(&s->loop);
    if (w->jobs >= s->settings.worker_jobs || w->rss > LIM_WORKER_RSS_BYTES) {
        s->stats.workers_recycled++;
        retire(w);
        return;
    }
    pool_feed(s);
}

static void on_frame(struct worker *w, const struct frame *f)
{
    union {
        struct msg_ready ready;
        struct msg_result result;
        struct msg_error error;
        struct msg_resolve resolve;
    } m;
    const struct msg_desc *d = msg_desc(f->type);
    struct kiln_err e = KILN_ERR_INIT;
    struct arena a;

    arena_init(&a, (size_t)LIM_MSG_ARENA);
    if (!d || (f->type != MSG_READY && f->type != MSG_RESULT && f->type != MSG_ERROR && f->type != MSG_RESOLVE)) {
        distrust(w, "frame type");
    } else if (msg_decode(&a, d, f->body, f->body_len, &m, &e) < 0) {
        distrust(w, e.msg);
    } else if (f->type == MSG_READY) {
        if (w->state == WORKER_STARTING) {
            on_ready(w, &m.ready);
            pool_feed(w->server);
        } else {
            distrust(w, "ready twice");
        }
    } else if (!w->flight || f->id != w->jobs) {
        distrust(w, "an answer without a job");
    } else if (f->type == MSG_RESOLVE) {
        on_question(w, &m.resolve);
    } else if (f->type == MSG_RESULT) {
        struct flight *flight = w->flight;
        w->rss = m.result.rss;
        flight->worker = NULL;
        on_result(w, &m.result);
        w->flight = NULL;
        next_job(w);
    } else {
        struct flight *flight = w->flight;
        w->flight = NULL;
        flight->worker = NULL;
        w->server->stats.compile_failures++;
        flight_fail(w->server, flight, &m.error);
        next_job(w);
    }
    arena_done(&a);
}

static size_t step(const struct worker *w)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct frame f;
    size_t need = 0;

    if (frame_next(w->in.data, w->in.len, (size_t)LIM_FRAME_BYTES, &f, &need, &e) == 0 && need > w->in.len + 65536)
        return need - w->in.len;
    return 65536;
}

/* Read once and see to what came. False: nothing more is to be read now. */
static bool receive(struct worker *w)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct frame f;
    unsigned char *room;
    size_t want = step(w), used = 0;
    ssize_t n;
    int fd = -1, r;

    room = buf_reserve(&w->in, want);
    n = room ? fd_recv(w->fd, room, want, &fd, &e) : -KILN_E_NOMEM;
    if (fd >= 0)
        close(fd);
    if (n < 0) { /* end of stream: the exit callback follows */
        uv_poll_stop(&w->poll);
        return false;
    }
    buf_commit(&w->in, (size_t)n);
    while ((r = frame_next(w->in.data + used, w->in.len - used, (size_t)LIM_FRAME_BYTES, &f, NULL, &e)) == 1) {
        used += FRAME_HEAD + f.body_len;
        on_frame(w, &f);
        if (w->state == WORKER_ENDING || w->state == WORKER_NONE)
            return false;
    }
    if (r < 0)
        distrust(w, e.msg);
    else if (used)
        buf_consume(&w->in, used);
    return n > 0 && r >= 0;
}

static void on_io(uv_poll_t *poll, int status, int events)
{
    struct worker *w = poll->data;

    if (status < 0)
        return;
    if (events & UV_WRITABLE)
        write_out(w);
    if (events & UV_READABLE)
        receive(w);
}

/* ---- time, and what people see ---- */

void pool_tick(struct server *s, uint64_t now_ms)
{
    for (uint64_t i = 0; i < s->settings.workers && !s->stopping; i++) {
        struct worker *w = &s->workers[i];
        if (w->state == WORKER_NONE && now_ms - w->since_ms >= RESTART_MS)
            start(w);
        else if (w->state == WORKER_STARTING && now_ms - w->since_ms > START_LIMIT_MS)
            uv_process_kill(&w->process, SIGKILL);
    }
}

uint32_t pool_describe(struct server *s, struct msg_worker *out, uint32_t most)
{
    uint32_t n = 0;

    for (uint64_t i = 0; i < s->settings.workers && n < most; i++) {
        const struct worker *w = &s->workers[i];
        if (w->has_process && w->state != WORKER_ENDING)
            out[n++] = (struct msg_worker){ .pid = (uint64_t)w->process.pid, .state = span_text(state_names[w->state]), .jobs = w->jobs,
                                            .rss = w->rss };
    }
    return n;
}
