/* SPDX-License-Identifier: Apache-2.0
 * job.c - frames in, compiles, frames out. */
#include "daemon/worker/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/compiler/target/link.h"
#include "proto/codec/worker.h"
#include "proto/base/limits.h"
#include "proto/codec/fdpass.h"

#define JOB_ARENA (1ull << 30) /* below the process's memory limit, so that the arena's error comes first */

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static int send_all(const unsigned char *p, size_t len, struct kiln_err *e)
{
    while (len) {
        ssize_t n = fd_send(WORKER_SOCKET, p, len, -1, e);
        if (n < 0)
            return (int)n;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int job_send(enum msg_type type, uint64_t id, const void *msg, struct kiln_err *e)
{
    struct buf out;
    int r;

    buf_init(&out, (size_t)LIM_FRAME_BYTES + FRAME_HEAD);
    r = msg_frame(&out, type, 0, id, msg, e);
    if (r == 0)
        r = send_all(out.data, out.len, e);
    buf_done(&out);
    return r;
}

/* ---- answers ---- */

/* The compiler's words, which may quote what is no text. */
static struct span clean(struct arena *a, const char *s)
{
    char *copy = s ? arena_dup(a, s, strlen(s) + 1) : NULL;

    if (copy)
        kiln_text_clean(copy);
    return span_text(copy ? copy : "");
}

static struct msg_diagnostic *diagnostics(struct arena *a, const struct diagnostics *list)
{
    struct msg_diagnostic *out = arena_new_array(a, list->n + 1, struct msg_diagnostic);

    for (size_t i = 0; out && i < list->n; i++) {
        const struct diagnostic *d = &list->items[i];
        struct msg_note *notes = arena_new_array(a, d->n_notes + 1, struct msg_note);
        if (!notes)
            return NULL;
        for (uint32_t k = 0; k < d->n_notes; k++)
            notes[k] = (struct msg_note){ .message = clean(a, d->notes[k].message), .function = d->notes[k].function,
                                          .node = d->notes[k].node };
        out[i] = (struct msg_diagnostic){ .code = d->code, .message = clean(a, d->message), .function = d->function,
                                          .node = d->node, .hint = clean(a, d->hint), .notes = notes,
                                          .n_notes = d->n_notes };
    }
    return out;
}

static int send_error(struct arena *a, uint64_t id, const struct msg_job *job, const struct diagnostics *list,
                      const struct kiln_err *why, struct kiln_err *e)
{
    struct msg_error m;

    MSG_INIT(MSG_ERROR, &m);
    m.code = (uint64_t)why->code;
    m.message = span_text(why->msg);
    m.key = job->key;
    m.diagnostics = list ? diagnostics(a, list) : NULL;
    m.n_diagnostics = m.diagnostics ? (uint32_t)list->n : 0;
    if (m.n_diagnostics) {
        m.function = m.diagnostics[0].function;
        m.node = m.diagnostics[0].node;
        m.hint = m.diagnostics[0].hint;
    }
    return job_send(MSG_ERROR, id, &m, e);
}

static uint64_t resident(void)
{
    struct rusage u;

    return getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)u.ru_maxrss * 1024u : 0;
}

static int send_result(uint64_t id, struct compile_result *r, uint64_t begin, struct kiln_err *e)
{
    struct msg_result m;

    MSG_INIT(MSG_RESULT, &m);
    m.object = span_of(r->object.data, r->object.len);
    m.manifest = span_of(r->manifest.data, r->manifest.len);
    m.rss = resident();
    m.compile_us = now_us() - begin;
    return job_send(MSG_RESULT, id, &m, e);
}

/* ---- requests ---- */

static bool emit_of(const char *name, enum compile_emit *ret)
{
    static const char *const names[EMIT__COUNT] = { "so", "obj", "asm", "llvm", "llvm-opt", "typed" };

    if (!*name)
        name = "so";
    for (int i = 0; i < EMIT__COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            *ret = (enum compile_emit)i;
            return true;
        }
    return false;
}

static int request_of(struct arena *a, const struct msg_job *job, struct compile_request *r, struct kiln_err *e)
{
    const struct msg_compile *m = job->request;
    const char **env;

    if (job->n_request != 1 || job->key.len != sizeof r->key)
        return kiln_err_set(e, KILN_E_INTERNAL, 0, "a job has one request and a key of %zu bytes", sizeof r->key);
    memset(r, 0, sizeof *r);
    if (strcmp(span_str(m->kind), "kir") != 0 && strcmp(span_str(m->kind), "bitcode") != 0)
        return kiln_err_set(e, KILN_E_UNSUPPORTED, 0, "unknown kind of payload '%.40s'", span_str(m->kind));
    r->kind = span_str(m->kind)[0] == 'k' ? COMPILE_KIR : COMPILE_LLVM;
    if (!emit_of(span_str(m->emit), &r->emit) || (r->emit == EMIT_TYPED && r->kind == COMPILE_LLVM))
        return kiln_err_set(e, KILN_E_UNSUPPORTED, 0, "there is no form '%.40s' of this payload", span_str(m->emit));
    env = arena_new_array(a, m->n_env + 1, const char *);
    if (!env)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "environment of %u slots", m->n_env);
    for (uint32_t i = 0; i < m->n_env; i++)
        env[i] = span_str(m->env[i]);
    r->body = (const unsigned char *)m->body.p;
    r->body_len = m->body.len;
    r->signature = span_str(m->signature);
    r->env = env;
    r->n_env = m->n_env;
    r->entry = span_str(m->entry);
    r->target = span_str(m->target);
    r->options = (struct compile_options){ .flags = (uint32_t)m->flags, .numba = strcmp(span_str(m->semantics), "numba") == 0,
                                           .checked = m->checked, .debug = m->debug, .nocontract = m->nocontract };
    r->symbol = m->symbol.len ? span_str(m->symbol) : NULL;
    memcpy(r->key, job->key.p, sizeof r->key);
    r->positions = (const unsigned char *)m->positions.p;
    r->positions_len = m->positions.len;
    return 0;
}

/* What the fatal handlers need to say which request ends with the process. */
static struct {
    const struct msg_job *job;
    uint64_t id;
} running;

static void fatal(const char *reason)
{
    struct kiln_err why = KILN_ERR_INIT, e = KILN_ERR_INIT;
    struct msg_error m;

    if (running.job) {
        kiln_err_set(&why, KILN_E_COMPILE, 0, "LLVM: %.200s", reason);
        MSG_INIT(MSG_ERROR, &m);
        m.code = (uint64_t)why.code;
        m.message = span_text(why.msg);
        m.key = running.job->key;
        job_send(MSG_ERROR, running.id, &m, &e);
    }
    _exit(WORKER_EXIT_FATAL);
}

static void out_of_memory(void)
{
    _exit(WORKER_EXIT_MEMORY);
}

static int compile(struct compiler *c, struct arena *a, uint64_t id, const struct msg_job *job, struct kiln_err *e)
{
    struct kiln_err why = KILN_ERR_INIT;
    struct compile_request request;
    struct compile_result result;
    uint64_t begin = now_us();
    int r = request_of(a, job, &request, &why);

    if (r < 0)
        return send_error(a, id, job, NULL, &why, e);
    running.job = job;
    running.id = id;
    r = compiler_run(c, a, &request, &result, &why);
    running.job = NULL;
    r = r < 0 ? send_error(a, id, job, &result.diags, &why, e) : send_result(id, &result, begin, e);
    compile_result_done(&result);
    return r;
}

/* Fill `in` until one whole frame is there. */
static int receive(struct buf *in, struct frame *ret, struct kiln_err *e)
{
    size_t need = 0;

    for (;;) {
        int fd, r = frame_next(in->data, in->len, (size_t)LIM_FRAME_BYTES + 4096, ret, &need, e);
        unsigned char *room;
        ssize_t n;
        if (r != 0)
            return r < 0 ? r : 0;
        room = buf_reserve(in, need - in->len);
        if (!room)
            return kiln_err_set(e, KILN_E_NOMEM, 0, "a job of %zu bytes", need);
        n = fd_recv(WORKER_SOCKET, room, need - in->len, &fd, e);
        if (fd >= 0)
            close(fd);
        if (n < 0)
            return (int)n;
        buf_commit(in, (size_t)n);
    }
}

int job_serve(struct compiler *c, struct kiln_err *e)
{
    struct arena a;
    struct msg_job job;
    struct frame f;
    struct buf in;
    int r;

    arena_init(&a, JOB_ARENA);
    buf_init(&in, (size_t)LIM_FRAME_BYTES + 8192);
    r = receive(&in, &f, e);
    if (r == 0 && f.type != MSG_JOB)
        r = kiln_err_set(e, KILN_E_UNSUPPORTED, 0, "a worker takes jobs only, not frame type %u", f.type);
    if (r == 0)
        r = msg_decode(&a, msg_desc(MSG_JOB), f.body, f.body_len, &job, e);
    if (r == 0)
        r = compile(c, &a, f.id, &job, e);
    buf_done(&in);
    arena_done(&a);
    return r;
}

void job_warm_up(struct compiler *c)
{
    static const char module[] =
        "define double @warm(ptr %p, i64 %n) {\n"
        "entry:\n  br label %loop\n"
        "loop:\n  %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n  %s = phi double [ 0.0, %entry ], [ %t, %loop ]\n"
        "  %q = getelementptr double, ptr %p, i64 %i\n  %v = load double, ptr %q\n  %t = fadd double %s, %v\n"
        "  %j = add nsw i64 %i, 1\n  %c = icmp slt i64 %j, %n\n  br i1 %c, label %loop, label %done\n"
        "done:\n  ret double %t\n}\n";
    struct compile_request r = { .kind = COMPILE_LLVM, .body = (const unsigned char *)module, .body_len = sizeof module - 1,
                                 .signature = "float64(CPointer(float64), int64)", .entry = "warm" };
    struct kiln_err e = KILN_ERR_INIT;
    struct compile_result result;
    struct arena a;

    kiln_fatal_handlers(fatal, out_of_memory);
    arena_init(&a, JOB_ARENA);
    compiler_run(c, &a, &r, &result, &e);
    compile_result_done(&result);
    arena_done(&a);
}
