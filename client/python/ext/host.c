/* SPDX-License-Identifier: Apache-2.0
 * host.c - what compiled code may ask of Python while it runs: print, and whether Ctrl-C was pressed.
 *
 * The thread that made the call may or may not hold the GIL, and says so in host_state_now; threads of
 * parallel loops never do, so functions with such loops are called with the GIL released. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>

#include "client/python/ext/ext.h"

#define LOOK_NS 50000000 /* between looks at signals from code that runs without the GIL */

_Thread_local enum host_state host_state_now;
static _Thread_local int64_t looked;
/* What a print in another thread of a loop raised; guarded by the GIL. */
static PyObject *pending[3];

void host_raise(void)
{
    if (PyErr_Occurred())
        return;
    if (pending[0]) {
        PyErr_Restore(pending[0], pending[1], pending[2]);
        pending[0] = pending[1] = pending[2] = NULL;
        return;
    }
    PyErr_SetString(PyExc_RuntimeError, "a service of the process failed while compiled code ran");
}

void host_park(void)
{
    PyObject *e[3];
    PyErr_Fetch(&e[0], &e[1], &e[2]);
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(pending[i]);
        pending[i] = e[i];
    }
}

static int write_text(const char *text, int64_t len)
{
    PyObject *out = PySys_GetObject("stdout"); /* borrowed */
    if (!out || out == Py_None)
        return 0;
    Py_INCREF(out);
    PyObject *s = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogatepass");
    PyObject *done = s ? PyObject_CallMethod(out, "write", "O", s) : NULL;
    Py_DECREF(out);
    Py_XDECREF(s);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static int32_t print(const char *text, int64_t len)
{
    if (host_state_now == HOST_WITH_GIL)
        return write_text(text, len) ? KILN_HOST_ERROR : 0;
    PyGILState_STATE gil = PyGILState_Ensure();
    enum host_state before = host_enter(HOST_WITH_GIL);
    int rc = write_text(text, len);
    host_enter(before);
    if (rc && before == HOST_OUTSIDE)
        host_park(); /* this thread state goes away */
    PyGILState_Release(gil);
    return rc ? KILN_HOST_ERROR : 0;
}

static int32_t interrupted(void)
{
    if (host_state_now == HOST_WITH_GIL)
        return PyErr_CheckSignals() != 0;
    if (host_state_now == HOST_OUTSIDE) /* signals are the calling thread's */
        return 0;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    if (now - looked < LOOK_NS)
        return 0;
    looked = now;
    PyGILState_STATE gil = PyGILState_Ensure();
    int raised = PyErr_CheckSignals() != 0; /* stays in this thread's state */
    PyGILState_Release(gil);
    return raised;
}

/* CPython's own hash of bytes, which is that of str as well: the function itself where this Python shows it
 * (it needs no GIL), else by way of a bytes object. */
struct hash_function {
    Py_hash_t (*hash)(const void *, Py_ssize_t);
    const char *name;
    int hash_bits, seed_bits;
};
static const struct hash_function *hash_function;

static int64_t hash(const void *bytes, int64_t size)
{
    if (!size)
        return 0;
    if (hash_function) {
        Py_hash_t h = hash_function->hash(bytes, (Py_ssize_t)size);
        return h == -1 ? -2 : h;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *o = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    Py_hash_t h = o ? PyObject_Hash(o) : 0;
    if (!o)
        PyErr_Clear();
    Py_XDECREF(o);
    PyGILState_Release(gil);
    return h;
}

void host_install(void)
{
    const struct hash_function *(*find)(void);
    *(void **)&find = dlsym(RTLD_DEFAULT, "PyHash_GetFuncDef");
    hash_function = find ? find() : NULL;
    kiln_host_set_hash(hash);
    kiln_host_set_print(print);
    kiln_host_set_interrupted(interrupted);
    kiln_host_set_python(callback_call);
}
