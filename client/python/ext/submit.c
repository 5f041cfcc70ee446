/* SPDX-License-Identifier: Apache-2.0
 * submit.c - compile requests from Python's arguments. */
#include <string.h>

#include "client/python/ext/client.h"

static const char *const emits[] = { "so", "obj", "asm", "llvm", "llvm-opt", "typed" };

static int choose(const char *what, const char *given, const char *const *names, unsigned n, int *ret)
{
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(given, names[i])) {
            *ret = (int)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "unknown %s: '%s'", what, given);
    return -1;
}

static int read_env(struct request *q, PyObject *env)
{
    q->env_items = PySequence_Tuple(env);
    Py_ssize_t n = q->env_items ? PyTuple_Size(q->env_items) : -1;
    if (n < 0)
        return -1;
    q->env = PyMem_Malloc((size_t)(n + 1) * sizeof *q->env);
    if (!q->env) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(q->env[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(q->env_items, i), NULL)))
            return -1;
    q->r.env = q->env;
    q->r.n_env = (uint32_t)n;
    return 0;
}

int request_parse(struct request *q, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "kind",        "body",        "signature",  "digest", "env",
                             "entry",       "target",      "emit",       "flags",  "semantics",
                             "checked",     "debug",       "nocontract", "symbol", "positions",
                             "deadline_ms", "want_inline", "private",    NULL };
    static const char *const kinds[] = { "kir", "bitcode" }, *const semantics[] = { "python", "numba" };
    const char *kind, *emit = "so", *meaning = "python";
    PyObject *digest = NULL, *env = NULL, *positions = NULL;
    int checked = 0, debug = 0, nocontract = 0, want_inline = 0, is_private = 0, number;
    unsigned flags = 0, deadline = 0;
    memset(q, 0, sizeof *q);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sOs|$OOsssIspppzOIpp", names, &kind, &q->body,
                                     &q->r.signature, &digest, &env, &q->r.entry, &q->r.target, &emit, &flags,
                                     &meaning, &checked, &debug, &nocontract, &q->r.symbol, &positions,
                                     &deadline, &want_inline, &is_private))
        return -1;
    if (choose("kind", kind, kinds, 2, &number))
        return -1;
    q->r.kind = (enum kiln_kind)number;
    if (choose("semantics", meaning, semantics, 2, &number))
        return -1;
    q->r.numba = number;
    if (choose("emit", emit, emits, 6, &number))
        return -1;
    q->r.emit = (enum kiln_emit)number;
    q->r.flags = flags;
    q->r.checked = checked;
    q->r.debug = debug;
    q->r.no_contract = nocontract;
    q->r.deadline_ms = deadline;
    q->r.want_inline = want_inline;
    q->r.is_private = is_private;
    if (digest && digest != Py_None) {
        if (PyObject_GetBuffer(digest, &q->digest, PyBUF_SIMPLE))
            return -1;
        if (q->digest.len != KILN_DIGEST_BYTES) {
            PyErr_Format(PyExc_ValueError, "a digest has %d bytes", KILN_DIGEST_BYTES);
            return -1;
        }
        q->r.digest = q->digest.buf;
    }
    if (positions && positions != Py_None) {
        if (PyObject_GetBuffer(positions, &q->positions, PyBUF_SIMPLE))
            return -1;
        q->r.positions = q->positions.buf;
        q->r.positions_len = (size_t)q->positions.len;
    }
    return env && env != Py_None ? read_env(q, env) : 0;
}

void request_done(struct request *q)
{
    if (q->bytes.obj)
        PyBuffer_Release(&q->bytes);
    if (q->digest.obj)
        PyBuffer_Release(&q->digest);
    if (q->positions.obj)
        PyBuffer_Release(&q->positions);
    PyMem_Free(q->env);
    Py_XDECREF(q->env_items);
}

/* The body as bytes: called for, where it is a callable. */
static int read_body(struct request *q)
{
    PyObject *body = q->body, *made = NULL;
    if (PyCallable_Check(body)) {
        made = PyObject_CallNoArgs(body);
        if (!made)
            return -1;
        body = made;
    }
    int rc = PyObject_GetBuffer(body, &q->bytes, PyBUF_SIMPLE); /* keeps the object */
    Py_XDECREF(made);
    if (rc)
        return -1;
    if (!q->bytes.len) {
        PyErr_SetString(PyExc_ValueError, "the body is empty");
        return -1;
    }
    q->r.body = q->bytes.buf;
    q->r.body_len = (size_t)q->bytes.len;
    return 0;
}

struct kiln_pending *request_submit(struct link *l, PyObject *args, PyObject *kwargs, bool now)
{
    struct request q;
    struct kiln_pending *p = NULL;
    struct kiln_error e = KILN_ERROR_INIT;
    /* A body that must be made is made only when the daemon asks for it, which needs its digest. */
    if (request_parse(&q, args, kwargs) == 0 &&
        ((!now && q.r.digest && PyCallable_Check(q.body)) || read_body(&q) == 0)) {
        q.r.send_body = now;
        int rc;
        Py_BEGIN_ALLOW_THREADS rc = kiln_submit_compile(l->c, &q.r, &p, &e);
        Py_END_ALLOW_THREADS if (rc) errors_raise(&e);
    }
    request_done(&q);
    return p;
}
