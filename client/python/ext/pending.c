/* SPDX-License-Identifier: Apache-2.0
 * pending.c - waiting for artifacts, and the type Pending. */
#include "client/python/ext/client.h"

#define WAIT_MS 50 /* between looks at signals; a signal that comes to this thread ends the wait at once */

/* One answer. 0, or -1 with an exception; *ret_need_body is set instead of raising that one error. */
static int wait_once(struct kiln_pending *p, bool *ret_need_body)
{
    for (;;) {
        struct kiln_error e = KILN_ERROR_INIT;
        int rc;
        Py_BEGIN_ALLOW_THREADS rc = kiln_wait(p, WAIT_MS, &e);
        Py_END_ALLOW_THREADS if (rc == 0) return 0;
        if (rc == -KILN_E_NEED_BODY) {
            kiln_error_clear(&e);
            *ret_need_body = true;
            return -1;
        }
        if (rc < 0) {
            errors_raise(&e);
            return -1;
        }
        if (PyErr_CheckSignals()) {
            kiln_cancel(p);
            return -1;
        }
    }
}

PyObject *wait_for_artifact(struct link *l, struct kiln_pending *p, PyObject *args, PyObject *kwargs)
{
    bool need_body = false;
    int rc = wait_once(p, &need_body);
    if (need_body && args) {
        kiln_pending_free(p);
        need_body = false;
        p = request_submit(l, args, kwargs, true);
        rc = p ? wait_once(p, &need_body) : -1;
    }
    PyObject *result = NULL;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_artifact *a;
    if (!rc) {
        if (kiln_take_artifact(p, &a, &e))
            errors_raise(&e);
        else
            result = artifact_wrap(a);
    } else if (need_body) {
        PyErr_SetString(PyExc_RuntimeError, "the daemon keeps asking for the body");
    }
    kiln_pending_free(p);
    return result;
}

/* ---- Pending ----------------------------------------------------------------------------------- */

struct pending {
    PyObject ob_base;
    struct link *link;
    struct kiln_pending *p; /* NULL once answered, cancelled, or while a thread waits */
    PyObject *result;       /* the artifact */
    bool cancelled;
};

static PyTypeObject *pending_type;

PyObject *pending_wrap(struct link *l, struct kiln_pending *p, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    struct pending *self = PyObject_New(struct pending, pending_type);
    if (!self) {
        kiln_pending_free(p);
        return NULL;
    }
    self->link = link_ref(l);
    self->p = p;
    self->result = NULL;
    self->cancelled = false;
    return (PyObject *)self;
}

static void pending_dealloc(struct pending *self)
{
    PyTypeObject *type = Py_TYPE(&self->ob_base);
    kiln_pending_free(self->p);
    link_unref(self->link);
    Py_XDECREF(self->result);
    PyObject_Free(&self->ob_base);
    Py_DECREF((PyObject *)type);
}

static PyObject *pending_result(struct pending *self, PyObject *unused)
{
    (void)unused;
    if (!self->result && !self->p) {
        PyErr_SetString(PyExc_RuntimeError, self->cancelled
                                                ? "the request was cancelled"
                                                : "the request failed, or another thread waits for it");
        return NULL;
    }
    if (!self->result) {
        struct kiln_pending *p = self->p;
        self->p = NULL; /* one thread at a time */
        PyObject *result = wait_for_artifact(self->link, p, NULL, NULL);
        if (!result)
            return NULL;
        self->result = result;
    }
    Py_INCREF(self->result);
    return self->result;
}

static PyObject *pending_done(struct pending *self, PyObject *unused)
{
    (void)unused;
    int rc = 0;
    if (self->p) {
        struct kiln_pending *p = self->p;
        self->p = NULL;
        Py_BEGIN_ALLOW_THREADS rc = kiln_wait(p, 0, NULL);
        Py_END_ALLOW_THREADS self->p = p;
    }
    return PyBool_FromLong(rc <= 0);
}

static PyObject *pending_cancel(struct pending *self, PyObject *unused)
{
    (void)unused;
    if (self->p) {
        kiln_pending_free(self->p); /* cancels */
        self->p = NULL;
        self->cancelled = true;
    }
    Py_INCREF(Py_None);
    return Py_None;
}

static PyMethodDef pending_methods[] = {
    { "result", (PyCFunction)pending_result, METH_NOARGS, "The Artifact; waits." },
    { "done", (PyCFunction)pending_done, METH_NOARGS, "Whether result() would not wait." },
    { "cancel", (PyCFunction)pending_cancel, METH_NOARGS, "Give it up." },
    { NULL, NULL, 0, NULL },
};
static PyType_Slot pending_slots[] = {
    { Py_tp_dealloc, pending_dealloc },
    { Py_tp_methods, pending_methods },
    { Py_tp_doc, "A request in flight." },
    { 0, NULL },
};
static PyType_Spec pending_spec = {
    .name = "kilnjit._kiln.Pending",
    .basicsize = sizeof(struct pending),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = pending_slots,
};

int pending_add(PyObject *module)
{
    pending_type = ext_add_type(module, &pending_spec);
    return pending_type ? 0 : -1;
}
