/* SPDX-License-Identifier: Apache-2.0
 * admin.c - Client's methods beside compile: structs of libkiln as dicts. */
#include <string.h>

#include "client/python/ext/client.h"

/* Call f with the GIL released. Gives -1 with an exception, else 0. */
#define ASK(l, f)                                                                                            \
    do {                                                                                                     \
        int rc_;                                                                                             \
        Py_BEGIN_ALLOW_THREADS rc_ = (f);                                                                    \
        Py_END_ALLOW_THREADS link_unref(l);                                                                  \
        if (rc_)                                                                                             \
            return errors_raise(&e);                                                                         \
    } while (0)

static PyObject *key_bytes(const unsigned char *key)
{
    return PyBytes_FromStringAndSize((const char *)key, KILN_KEY_BYTES);
}

static PyObject *optional_bytes(const void *p, size_t n)
{
    if (p)
        return PyBytes_FromStringAndSize(p, (Py_ssize_t)n);
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject *client_server(struct client *c, PyObject *unused)
{
    (void)unused;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_server s;
    struct link *l = client_link(c);
    if (!l)
        return NULL;
    ASK(l, kiln_server_info(l->c, &s, &e));
    return Py_BuildValue("{sssssIsIsIsIsIsN}", "socket", s.socket, "version", s.version, "protocol",
                         s.protocol, "pid", s.pid, "uid", s.uid, "kir_min", s.kir_min, "kir_max", s.kir_max,
                         "toolchain", key_bytes(s.toolchain));
}

static PyObject *workers(const struct kiln_state *s)
{
    PyObject *list = PyList_New(s->n_workers);
    for (uint32_t i = 0; list && i < s->n_workers; i++) {
        const struct kiln_worker *w = &s->workers[i];
        PyObject *one = Py_BuildValue("{sIsssKsK}", "pid", w->pid, "state", w->state, "jobs",
                                      (unsigned long long)w->jobs, "rss", (unsigned long long)w->rss);
        if (!one)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, one);
    }
    return list;
}

PyObject *client_status(struct client *c, PyObject *unused)
{
    (void)unused;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_state *s;
    struct link *l = client_link(c);
    if (!l)
        return NULL;
    ASK(l, kiln_status(l->c, &s, &e));
    PyObject *dict = Py_BuildValue(
        "{sIsssssssssssKsKsKsKsKsNsNsN}", "pid", s->pid, "version", s->version, "socket", s->socket,
        "cache_dir", s->cache_dir, "llvm", s->llvm, "notice", s->notice, "uptime_s",
        (unsigned long long)s->uptime_s, "connections", (unsigned long long)s->connections, "queued",
        (unsigned long long)s->queued, "queue_limit", (unsigned long long)s->queue_limit, "rss",
        (unsigned long long)s->rss, "draining", PyBool_FromLong(s->draining), "toolchain",
        key_bytes(s->toolchain), "workers", workers(s));
    kiln_result_free(s);
    return dict;
}

PyObject *client_stats(struct client *c, PyObject *unused)
{
    (void)unused;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_counters *s;
    struct link *l = client_link(c);
    if (!l)
        return NULL;
    ASK(l, kiln_stats(l->c, &s, &e));
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict && i < s->n; i++) {
        PyObject *v = PyLong_FromUnsignedLongLong(s->items[i].value);
        if (!v || PyDict_SetItemString(dict, s->items[i].name, v))
            Py_CLEAR(dict);
        Py_XDECREF(v);
    }
    kiln_result_free(s);
    return dict;
}

static PyObject *row_dict(const struct kiln_row *r)
{
    return Py_BuildValue(
        "{sNsssssssssKsKsKsKsKsI}", "key", key_bytes(r->key), "entry", r->entry, "signature", r->signature,
        "target", r->target, "emit", r->emit, "bytes", (unsigned long long)r->bytes, "compile_us",
        (unsigned long long)r->compile_us, "created", (unsigned long long)r->created, "last_used",
        (unsigned long long)r->last_used, "hits", (unsigned long long)r->hits, "owner", r->owner);
}

PyObject *client_list(struct client *c, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "entry", "target", "limit", "after", NULL };
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_list q = { .limit = 0 };
    struct kiln_rows *rows;
    const char *after = NULL;
    Py_ssize_t after_len = 0;
    unsigned limit = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$zzIz#", names, &q.entry, &q.target, &limit, &after,
                                     &after_len))
        return NULL;
    if (after && after_len != KILN_KEY_BYTES) {
        PyErr_Format(PyExc_ValueError, "a key has %d bytes", KILN_KEY_BYTES);
        return NULL;
    }
    q.limit = limit;
    q.after = (const unsigned char *)after;
    struct link *l = client_link(c);
    if (!l)
        return NULL;
    ASK(l, kiln_list(l->c, &q, &rows, &e));
    PyObject *list = PyList_New(rows->n);
    for (uint32_t i = 0; list && i < rows->n; i++) {
        PyObject *one = row_dict(&rows->items[i]);
        if (!one)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, one);
    }
    PyObject *result = list ? Py_BuildValue("(NN)", list, PyBool_FromLong(rows->more)) : NULL;
    kiln_result_free(rows);
    return result;
}

PyObject *client_show(struct client *c, PyObject *key)
{
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_detail *d;
    char *p;
    Py_ssize_t n;
    if (PyBytes_AsStringAndSize(key, &p, &n))
        return NULL;
    struct link *l = client_link(c);
    if (!l)
        return NULL;
    ASK(l, kiln_show(l->c, (unsigned char *)p, (size_t)n, &d, &e));
    PyObject *dict = row_dict(&d->row);
    PyObject *more = Py_BuildValue("{sNsNsNsNss}", "manifest", optional_bytes(d->manifest, d->manifest_len),
                                   "ir", optional_bytes(d->ir, d->ir_len), "ir_digest",
                                   optional_bytes(d->ir_digest, KILN_DIGEST_BYTES), "toolchain",
                                   optional_bytes(d->toolchain, KILN_DIGEST_BYTES), "options", d->options);
    if (!dict || !more || PyDict_Update(dict, more))
        Py_CLEAR(dict);
    Py_XDECREF(more);
    kiln_result_free(d);
    return dict;
}

/* A tuple of keys as one array of bytes. */
static unsigned char *read_keys(PyObject *keys, uint32_t *ret_n)
{
    PyObject *items = PySequence_Tuple(keys);
    Py_ssize_t n = items ? PyTuple_Size(items) : -1;
    unsigned char *all = n >= 0 ? PyMem_Malloc((size_t)(n + 1) * KILN_KEY_BYTES) : NULL;
    if (n >= 0 && !all)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; all && i < n; i++) {
        char *p;
        Py_ssize_t len;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(items, i), &p, &len) || len != KILN_KEY_BYTES) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_ValueError, "a key has %d bytes", KILN_KEY_BYTES);
            PyMem_Free(all);
            all = NULL;
        } else {
            memcpy(all + i * KILN_KEY_BYTES, p, KILN_KEY_BYTES);
        }
    }
    Py_XDECREF(items);
    *ret_n = (uint32_t)n;
    return all;
}

PyObject *client_purge(struct client *c, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "keys", "entry", "all", "unused_s", "dry_run", NULL };
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_purge what = { .n_keys = 0 };
    PyObject *keys = NULL;
    int all = 0, dry = 0;
    unsigned long long unused = 0;
    uint64_t entries = 0, bytes = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OzpKp", names, &keys, &what.entry, &all, &unused, &dry))
        return NULL;
    unsigned char *list = NULL;
    if (keys && !(list = read_keys(keys, &what.n_keys)))
        return NULL;
    what.keys = (const unsigned char(*)[KILN_KEY_BYTES])list;
    what.all = all;
    what.unused_s = unused;
    what.dry_run = dry;
    struct link *l = client_link(c);
    int rc = -1;
    if (l) {
        Py_BEGIN_ALLOW_THREADS rc = kiln_purge(l->c, &what, &entries, &bytes, &e);
        Py_END_ALLOW_THREADS link_unref(l);
        if (rc)
            errors_raise(&e);
    }
    PyMem_Free(list);
    return rc ? NULL : Py_BuildValue("(KK)", (unsigned long long)entries, (unsigned long long)bytes);
}

PyObject *client_stop(struct client *c, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "now", NULL };
    struct kiln_error e = KILN_ERROR_INIT;
    int now = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p", names, &now))
        return NULL;
    struct link *l = client_link(c);
    if (!l)
        return NULL;
    ASK(l, kiln_stop(l->c, now, &e));
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject *client_get(struct client *c, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "key", "want_inline", NULL };
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_artifact *a;
    const char *key;
    Py_ssize_t n;
    int want_inline = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y#|$p", names, &key, &n, &want_inline))
        return NULL;
    if (n != KILN_KEY_BYTES) {
        PyErr_Format(PyExc_ValueError, "a key has %d bytes", KILN_KEY_BYTES);
        return NULL;
    }
    struct link *l = client_link(c);
    if (!l)
        return NULL;
    ASK(l, kiln_get(l->c, (const unsigned char *)key, want_inline, &a, &e));
    return artifact_wrap(a);
}

/* Each request is a mapping of compile()'s keywords; "body" may be left out. */
static int parse_query(PyObject *item, struct request *q, PyObject **ret_kwargs, PyObject *empty)
{
    PyObject *kwargs = PyDict_New();
    *ret_kwargs = kwargs;
    if (!kwargs || PyDict_Update(kwargs, item))
        return -1;
    if (!PyDict_GetItemString(kwargs, "body") && PyDict_SetItemString(kwargs, "body", Py_None))
        return -1;
    if (request_parse(q, empty, kwargs))
        return -1;
    if (!q->r.digest) {
        PyErr_SetString(PyExc_ValueError, "a lookup needs the digest of the body");
        return -1;
    }
    return 0;
}

PyObject *client_lookup(struct client *c, PyObject *requests)
{
    PyObject *items = PySequence_Tuple(requests), *empty = PyTuple_New(0), *result = NULL;
    Py_ssize_t n = items ? PyTuple_Size(items) : 0;
    struct request *q = PyMem_Calloc((size_t)n + 1, sizeof *q);
    PyObject **kwargs = PyMem_Calloc((size_t)n + 1, sizeof *kwargs);
    struct kiln_compile *r = PyMem_Calloc((size_t)n + 1, sizeof *r);
    struct kiln_hit *hits = PyMem_Calloc((size_t)n + 1, sizeof *hits);
    int rc = items && empty && q && kwargs && r && hits ? 0 : -1;
    if (rc && !PyErr_Occurred())
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; !rc && i < n; i++) {
        rc = parse_query(PyTuple_GetItem(items, i), &q[i], &kwargs[i], empty);
        r[i] = q[i].r;
    }
    struct link *l = rc ? NULL : client_link(c);
    if (l) {
        struct kiln_error e = KILN_ERROR_INIT;
        Py_BEGIN_ALLOW_THREADS rc = kiln_lookup(l->c, r, (uint32_t)n, hits, &e);
        Py_END_ALLOW_THREADS link_unref(l);
        if (rc)
            errors_raise(&e);
        else
            result = PyList_New(n);
    }
    for (Py_ssize_t i = 0; result && i < n; i++) {
        PyObject *one = Py_BuildValue("(NNK)", PyBool_FromLong(hits[i].known), key_bytes(hits[i].key),
                                      (unsigned long long)hits[i].size);
        if (!one)
            Py_CLEAR(result);
        else
            PyList_SetItem(result, i, one);
    }
    for (Py_ssize_t i = 0; q && kwargs && i < n; i++) {
        request_done(&q[i]);
        Py_XDECREF(kwargs[i]);
    }
    PyMem_Free(hits);
    PyMem_Free(r);
    PyMem_Free(kwargs);
    PyMem_Free(q);
    Py_XDECREF(empty);
    Py_XDECREF(items);
    return result;
}
