/* SPDX-License-Identifier: Apache-2.0
 * life.c - from the first worker's warmth to the last answer: the loop, signals, ticks, draining. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/server/server.h"

#define TICK_MS 50 /* deadlines are seconds; a tenth of a second late is fine */

void life_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    size_t n = path ? strlen(path) : 0;
    int fd;

    if (n < 2 || n >= sizeof a.sun_path)
        return;
    memcpy(a.sun_path, path, n);
    if (a.sun_path[0] == '@')
        a.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
        log_event(LOG_WARNING, "service manager not told", log_s("error", strerror(errno)));
    close(fd);
}

void life_ready(struct server *s)
{
    s->ready = true;
    s->idle_since_ms = uv_now(&s->loop);
    log_event(LOG_INFO, "ready", log_s("socket", s->settings.socket), log_s("cache", s->settings.cache_dir), log_u("workers", s->settings.workers),
              log_s("compiler", s->llvm));
    life_notify("READY=1");
    for (struct session *x = s->sessions, *next; x; x = next) { /* early birds */
        next = x->next;
        session_read(x);
    }
}

/* ---- leaving ---- */

static void close_handle(uv_handle_t *h)
{
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

static void stop(struct server *s)
{
    if (s->stopping)
        return;
    s->stopping = true;
    listen_stop(s);
    while (s->sessions)
        session_close(s->sessions);
    pool_stop(s);
    close_handle((uv_handle_t *)&s->tick);
    close_handle((uv_handle_t *)&s->on_term);
    close_handle((uv_handle_t *)&s->on_int);
}

void life_drain(struct server *s, bool now)
{
    if (now) {
        stop(s);
        return;
    }
    if (s->draining)
        return;
    log_event(LOG_INFO, "draining", log_u("flights", s->n_flights));
    life_notify("STOPPING=1");
    s->draining = true;
    s->drain_until_ms = uv_now(&s->loop) + LIM_DRAIN_MS;
    listen_stop(s);
}

static void on_signal(uv_signal_t *h, int number)
{
    struct server *s = h->data;

    log_event(LOG_NOTICE, "signal", log_u("number", number));
    life_drain(s, s->draining);
}

/* ---- ticks ---- */

static bool answers_pending(const struct server *s)
{
    for (const struct session *x = s->sessions; x; x = x->next)
        if (x->out_first)
            return true;
    return false;
}

static void on_tick(uv_timer_t *h)
{
    struct server *s = h->data;
    uint64_t now = uv_now(&s->loop);

    flights_tick(s, now);
    pool_tick(s, now);
    listen_again(s);
    if (s->draining && ((s->n_flights == 0 && !answers_pending(s)) || now >= s->drain_until_ms)) {
        stop(s);
    } else if (s->settings.idle_exit && s->ready && !s->draining && s->n_sessions == 0 && s->n_flights == 0 &&
               now - s->idle_since_ms >= s->settings.idle_exit * 1000) {
        log_event(LOG_INFO, "idle, leaving");
        stop(s);
    }
}

static void on_wake(uv_async_t *h)
{
    struct server *s = h->data;

    cache_poll(s->cache);
}

static void wake(void *ctx)
{
    struct server *s = ctx;

    uv_async_send(&s->wake);
}

/* ---- the whole life ---- */

/* $XDG_CACHE_HOME/kiln, else ~/.cache/kiln, else memory only. */
static void default_cache_dir(struct settings *s)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (*s->cache_dir)
        return;
    if (xdg && *xdg == '/')
        snprintf(s->cache_dir, sizeof s->cache_dir, "%s/kiln", xdg);
    else if (home && *home == '/')
        snprintf(s->cache_dir, sizeof s->cache_dir, "%s/.cache/kiln", home);
}

static int open_cache(struct server *s, struct kiln_err *e)
{
    struct cache_options o = { .dir = s->settings.cache_dir, .max_bytes = s->settings.cache_bytes,
                               .max_artifacts = (uint32_t)s->settings.memory_artifacts, .wake = wake, .ctx = s };
    const char *notice;
    int r;

    default_cache_dir(&s->settings);
    r = cache_open(&o, &s->cache, e);
    if (r < 0)
        return r;
    notice = cache_notice(s->cache);
    if (*notice)
        log_event(LOG_WARNING, "cache", log_s("notice", notice));
    return 0;
}

static void start_handles(struct server *s)
{
    s->wake.data = s->tick.data = s->on_term.data = s->on_int.data = s;
    uv_async_init(&s->loop, &s->wake, on_wake);
    uv_timer_init(&s->loop, &s->tick);
    uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS);
    uv_signal_init(&s->loop, &s->on_term);
    uv_signal_start(&s->on_term, on_signal, SIGTERM);
    uv_signal_init(&s->loop, &s->on_int);
    uv_signal_start(&s->on_int, on_signal, SIGINT);
}

int life_run(struct server *s, struct kiln_err *e)
{
    int r;

    signal(SIGPIPE, SIG_IGN);
    s->listen_fd = -1;
    descriptors_plan(s);
    uv_loop_init(&s->loop);
    s->started_ms = uv_now(&s->loop);
    r = listen_start(s, e);
    if (r < 0) {
        uv_loop_close(&s->loop);
        return r;
    }
    s->started = true;
    start_handles(s);
    r = open_cache(s, e);
    if (r == 0)
        r = pool_start(s, e);
    if (r < 0)
        stop(s);
    uv_unref((uv_handle_t *)&s->wake);
    uv_run(&s->loop, UV_RUN_DEFAULT); /* ends when everything else is closed */
    cache_close(s->cache);
    close_handle((uv_handle_t *)&s->wake); /* the cache's threads, its last users, have ended */
    uv_run(&s->loop, UV_RUN_DEFAULT);
    uv_loop_close(&s->loop);
    if (r == 0)
        log_event(LOG_INFO, "left");
    return r;
}
