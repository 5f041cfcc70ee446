/* SPDX-License-Identifier: Apache-2.0
 * errors.c - failures of libkiln as Python exceptions, made by the package's factory. */
#include <string.h>

#include "client/python/ext/ext.h"

static PyObject *factory; /* NULL: RuntimeError */

PyObject *errors_set_factory(PyObject *module, PyObject *made)
{
    (void)module;
    if (made != Py_None && !PyCallable_Check(made)) {
        PyErr_SetString(PyExc_TypeError, "the factory must be callable or None");
        return NULL;
    }
    PyObject *old = factory;
    factory = made == Py_None ? NULL : made;
    Py_XINCREF(factory);
    Py_XDECREF(old);
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *text(const char *s)
{
    size_t n = s ? strlen(s) : 0;
    return PyUnicode_DecodeUTF8(s ? s : "", (Py_ssize_t)n, "replace");
}

static PyObject *notes_of(const struct kiln_diagnostic *d)
{
    PyObject *list = PyList_New(d->n_notes);
    for (uint32_t i = 0; list && i < d->n_notes; i++) {
        PyObject *one = Py_BuildValue("(Nii)", text(d->notes[i].message), (int)d->notes[i].function,
                                      (int)d->notes[i].node);
        if (!one)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, one);
    }
    return list;
}

static PyObject *diagnostics_of(const struct kiln_error *e)
{
    PyObject *list = PyList_New(e->n_diagnostics);
    for (uint32_t i = 0; list && i < e->n_diagnostics; i++) {
        const struct kiln_diagnostic *d = &e->diagnostics[i];
        PyObject *notes = notes_of(d);
        PyObject *one = notes ? Py_BuildValue("(iNiiNN)", (int)d->code, text(d->message), (int)d->function,
                                              (int)d->node, text(d->hint), notes)
                              : NULL;
        if (!one)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, one);
    }
    return list;
}

PyObject *errors_raise(struct kiln_error *e)
{
    if (PyErr_Occurred()) { /* a signal handler's: that is why the request failed */
        kiln_error_clear(e);
        return NULL;
    }
    if (!factory) {
        PyErr_Format(PyExc_RuntimeError, "%s: %s", kiln_code_name(e->code), e->message);
        kiln_error_clear(e);
        return NULL;
    }
    PyObject *list = diagnostics_of(e);
    PyObject *made =
        list ? PyObject_CallFunction(factory, "iNNiiNNIi", (int)e->code, text(kiln_code_name(e->code)),
                                     text(e->message), (int)e->function, (int)e->node, text(e->hint), list,
                                     (unsigned)e->retry_ms, (int)e->sys)
             : NULL;
    kiln_error_clear(e);
    if (made && PyObject_IsInstance(made, PyExc_BaseException) == 1)
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "the error factory must return an exception");
    Py_XDECREF(made);
    return NULL;
}

int errors_add(PyObject *module)
{
    static const struct {
        const char *name, *python, *text;
        int number;
    } rows[] = {
#define X(NAME, wire, py, exit, text) { #NAME, py, text, wire },
#include <kiln/err.def>
#undef X
    };
    PyObject *codes = PyDict_New();
    int rc = codes ? 0 : -1;
    for (unsigned i = 0; !rc && i < sizeof rows / sizeof *rows; i++) {
        PyObject *row = Py_BuildValue("(iss)", rows[i].number, rows[i].python, rows[i].text);
        rc = row ? PyDict_SetItemString(codes, rows[i].name, row) : -1;
        Py_XDECREF(row);
    }
    if (!rc)
        rc = PyModule_AddObjectRef(module, "CODES", codes);
    Py_XDECREF(codes);
    return rc;
}
