/* SPDX-License-Identifier: Apache-2.0
 * slow.c - a call whose argument types are new: reuse, wait for another thread, or have it compiled. */
#include <string.h>
#include <time.h>

#include "client/python/ext/dispatch.h"
#include "client/python/ext/numpy.h"

#define SIGNAL_MS 50 /* between looks at signals while another thread compiles */

/* ---- compiles in flight ------------------------------------------------------------------------ */

/* Lists and counts are guarded by the GIL; this pair only wakes sleepers. */
static pthread_mutex_t wake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;

static void flight_unref(struct flight *f)
{
    if (--f->refs == 0)
        PyMem_Free(f);
}

static struct flight *flight_find(struct dispatcher *d, const struct print *p)
{
    for (struct flight *f = d->flights; f; f = f->next)
        if (f->print.n == p->n && !memcmp(f->print.words, p->words, p->n * sizeof *p->words))
            return f;
    return NULL;
}

static struct flight *flight_begin(struct dispatcher *d, const struct print *p)
{
    struct flight *f = PyMem_Malloc(sizeof *f);
    if (!f) {
        PyErr_NoMemory();
        return NULL;
    }
    f->next = d->flights;
    f->owner = pthread_self();
    f->done = false;
    f->refs = 1;
    f->print = *p;
    d->flights = f;
    return f;
}

static void flight_end(struct dispatcher *d, struct flight *f)
{
    for (struct flight **at = &d->flights; *at; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    pthread_mutex_lock(&wake_lock);
    f->done = true;
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&wake_lock);
    flight_unref(f);
}

/* Until another thread's compile has ended, well or not. -1: a signal handler raised. */
static int flight_wait(struct flight *f)
{
    int rc = 0;
    f->refs++;
    for (bool done = false; !done && !rc;) {
        Py_BEGIN_ALLOW_THREADS struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += SIGNAL_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_mutex_lock(&wake_lock);
        if (!f->done)
            pthread_cond_timedwait(&wake, &wake_lock, &until);
        done = f->done;
        pthread_mutex_unlock(&wake_lock);
        Py_END_ALLOW_THREADS rc = PyErr_CheckSignals();
    }
    flight_unref(f);
    return rc;
}

/* ---- the slow way ------------------------------------------------------------------------------ */

static PyObject *tuple_of(PyObject *const *values, uint32_t n)
{
    PyObject *t = PyTuple_New(n);
    for (uint32_t i = 0; t && i < n; i++) {
        Py_INCREF(values[i]);
        PyTuple_SetItem(t, i, values[i]);
    }
    return t;
}

static PyObject *texts_of(struct dispatcher *d, PyObject *const *values)
{
    PyObject *t = PyTuple_New(d->n_params);
    for (uint32_t i = 0; t && i < d->n_params; i++) {
        PyObject *text = print_text(values[i], d->numba);
        if (!text)
            Py_CLEAR(t);
        else
            PyTuple_SetItem(t, i, text);
    }
    return t;
}

/* Items of a sequence as text, or an attribute of each; separated. */
static PyObject *joined(PyObject *sequence, const char *attribute, const char *between)
{
    Py_ssize_t n = PySequence_Size(sequence);
    PyObject *parts = n < 0 ? NULL : PyList_New(n), *separator, *r = NULL;
    for (Py_ssize_t i = 0; parts && i < n; i++) {
        PyObject *o = PySequence_GetItem(sequence, i), *value = o;
        if (o && attribute) {
            value = PyObject_GetAttrString(o, attribute);
            Py_DECREF(o);
        }
        PyObject *text = value ? PyObject_Str(value) : NULL;
        Py_XDECREF(value);
        if (!text)
            Py_CLEAR(parts);
        else
            PyList_SetItem(parts, i, text);
    }
    separator = parts ? PyUnicode_FromString(between) : NULL;
    if (separator)
        r = PyUnicode_Join(separator, parts);
    Py_XDECREF(separator);
    Py_XDECREF(parts);
    return r;
}

static PyObject *no_match(struct dispatcher *d, PyObject *const *values)
{
    PyObject *texts = texts_of(d, values);
    PyObject *given = texts ? joined(texts, NULL, ", ") : NULL;
    PyObject *list = given ? joined(d->specs, "signature", "; ") : NULL;
    if (list)
        PyErr_Format(PyExc_TypeError, "%U() has no signature for arguments of types (%U): there are %U", d->name,
                     given, list);
    Py_XDECREF(list);
    Py_XDECREF(given);
    Py_XDECREF(texts);
    return NULL;
}

static PyObject *call_entry(struct entry *en, PyObject *const *values)
{
    bool overflow = false; /* cannot be: the fingerprint was a careful one */
    return specialization_call(en->spec, en->plan, values, &overflow);
}

/* What compile_for gave becomes an entry. */
static struct entry *install(struct dispatcher *d, PyObject *made, const struct print *p, bool typed)
{
    struct specialization *s = (struct specialization *)made;
    struct plan *plan = NULL;
    if (typed && s->artifact && s->sig->n_params == d->n_params &&
        plan_make(p, s->sig->params, d->n_params, true, &s->numbers, &plan) < 0)
        return NULL;
    if (!plan) {
        PyErr_Format(PyExc_TypeError, "compile_for of %U() returned %R, which does not take these arguments",
                     d->name, made);
        return NULL;
    }
    int known = PySequence_Contains(d->specs, made);
    if (known < 0 || (!known && PyList_Append(d->specs, made))) {
        PyMem_Free(plan);
        return NULL;
    }
    return table_add(d, p, s, plan);
}

/* A diagnosis says where in the user's code: the package's own frames above it would only hide that. */
static void hide_frames(void)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (error && PyObject_HasAttrString(error, "diagnostics")) {
        Py_CLEAR(trace);
        PyException_SetTraceback(error, Py_None);
    }
    PyErr_Restore(type, error, trace);
}

/* Have it compiled by the package; others that want the same wait for us. */
static PyObject *compile(struct dispatcher *d, const struct print *p, bool typed, PyObject *const *values)
{
    struct flight *f = typed ? flight_begin(d, p) : NULL;
    if (typed && !f)
        return NULL;
    PyObject *args = tuple_of(values, d->n_params), *texts = args ? texts_of(d, values) : NULL,
             *result = NULL;
    PyObject *made = texts ? PyObject_CallFunctionObjArgs(d->compile_for, args, texts, NULL) : NULL;
    if (texts && !made)
        hide_frames();
    bool loaded = made && Py_TYPE(made) == specialization_type;
    struct entry *en = loaded ? install(d, made, p, typed) : NULL;
    if (f)
        flight_end(d, f); /* the waiters find the entry; the call below may take long */
    if (en)
        result = call_entry(en, values);
    else if (made && !loaded)
        result = PyObject_CallObject(made, args);
    Py_XDECREF(made);
    Py_XDECREF(texts);
    Py_XDECREF(args);
    return result;
}

PyObject *dispatch_slowly(struct dispatcher *d, PyObject *const *values)
{
    table_sweep(d);
    if (np_ready() < 0)
        return NULL;
    for (;;) {
        /* Careful this time: ints past 64 bits, and NumPy that has been imported since. */
        struct print p = { .n = 0 };
        int rc = 0;
        for (uint32_t i = 0; !rc && i < d->n_params; i++)
            rc = print_value(&p, values[i], true, d->numba, 0);
        if (rc < 0)
            return NULL;
        bool typed = rc == 0;
        if (typed) {
            struct entry *en = table_find(d, &p);
            if (en && specialization_fresh(en->spec)) {
                d->last = en;
                return call_entry(en, values);
            }
            struct specialization *s;
            struct plan *plan;
            if (table_choose(d, &p, d->disabled, &s, &plan))
                return NULL;
            if (s) {
                en = table_add(d, &p, s, plan);
                return en ? call_entry(en, values) : NULL;
            }
        }
        if (d->disabled)
            return no_match(d, values);
        struct flight *f = typed ? flight_find(d, &p) : NULL;
        if (!f || pthread_equal(f->owner, pthread_self()))
            return compile(d, &p, typed, values);
        if (flight_wait(f))
            return NULL;
    }
}
