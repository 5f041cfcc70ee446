/* SPDX-License-Identifier: Apache-2.0
 * raise.c - exceptions of compiled code as Python exceptions. The class, the arguments and the trace are
 * put together here; the package's hook knows files and lines and makes the traceback. */
#include <string.h>

#include "client/python/ext/specialization.h"
#include "proto/base/buf.h"

#define MESSAGE_MAX (1u << 16) /* of a message made from a template */

static const struct {
    uint32_t number;
    const char *name;
} classes[] = {
#define X(NAME, number, parent) { number, #NAME },
#include <kiln/exceptions.def>
#undef X
};
#define N_CLASSES (sizeof classes / sizeof *classes)

static PyObject *found[N_CLASSES]; /* for the process */

/* Borrowed, or NULL without an exception for classes of the user's. */
static PyObject *class_of(uint32_t id)
{
    for (unsigned i = 0; i < N_CLASSES; i++)
        if (classes[i].number == id)
            return found[i];
    return NULL;
}

static PyObject *argument(const struct kiln_exc_arg *a)
{
    switch (a->kind) {
    case KILN_ARG_BOOL:
        return PyBool_FromLong(a->i != 0);
    case KILN_ARG_INT:
        return PyLong_FromLongLong(a->i);
    case KILN_ARG_UINT:
        return PyLong_FromUnsignedLongLong(a->u);
    case KILN_ARG_FLOAT:
        return PyFloat_FromDouble(a->f);
    case KILN_ARG_STR:
    case KILN_ARG_FORMAT:
        return PyUnicode_DecodeUTF8(a->s, a->len, "replace");
    case KILN_ARG_MEM:
        if (a->mem)
            return PyUnicode_DecodeUTF8(a->mem->data, (Py_ssize_t)a->mem->size, "surrogatepass");
        Py_INCREF(Py_None); /* there was no memory for it */
        return Py_None;
    default:
        Py_INCREF(Py_None);
        return Py_None;
    }
}

static void add_text(struct buf *b, const struct kiln_exc_arg *a)
{
    PyObject *value = argument(a);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    Py_ssize_t len;
    const char *p = text ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
    if (p)
        buf_add(b, p, (size_t)len);
    else
        PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(value);
}

/* "{}" by the arguments that follow. */
static PyObject *fill_template(const struct kiln_exc *exc, uint32_t n)
{
    struct buf b;
    buf_init(&b, MESSAGE_MAX);
    const char *s = exc->args[0].s;
    uint32_t len = exc->args[0].len, next = 1;
    for (uint32_t i = 0; i < len; i++) {
        if (s[i] == '{' && i + 1 < len && s[i + 1] == '}' && next < n) {
            add_text(&b, &exc->args[next++]);
            i++;
        } else {
            buf_byte(&b, (unsigned char)s[i]);
        }
    }
    PyObject *text = PyUnicode_DecodeUTF8((const char *)b.data, (Py_ssize_t)b.len, "replace");
    buf_done(&b);
    PyObject *args = text ? PyTuple_New(1) : NULL;
    if (args)
        PyTuple_SetItem(args, 0, text);
    else
        Py_XDECREF(text);
    return args;
}

static PyObject *arguments(const struct kiln_exc *exc)
{
    uint32_t n = exc->n_args < KILN_EXC_ARGS_MAX ? exc->n_args : KILN_EXC_ARGS_MAX;
    if (n && exc->args[0].kind == KILN_ARG_FORMAT)
        return fill_template(exc, n);
    PyObject *args = PyTuple_New(n);
    for (uint32_t i = 0; args && i < n; i++) {
        PyObject *one = argument(&exc->args[i]);
        if (!one)
            Py_CLEAR(args);
        else
            PyTuple_SetItem(args, i, one);
    }
    return args;
}

/* What the exception holds. */
static void release_arguments(const struct kiln_exc *exc)
{
    for (uint32_t i = 0; i < exc->n_args && i < KILN_EXC_ARGS_MAX; i++)
        if (exc->args[i].kind == KILN_ARG_MEM)
            kiln_mem_unref(exc->args[i].mem);
}

static PyObject *trace_list(const struct kiln_exc *exc)
{
    uint32_t n = exc->n_trace < KILN_TRACE_MAX ? exc->n_trace : KILN_TRACE_MAX;
    PyObject *list = PyList_New(n);
    for (uint32_t i = 0; list && i < n; i++) {
        PyObject *pair = Py_BuildValue("(II)", exc->trace[i].function, exc->trace[i].node);
        if (!pair)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, pair);
    }
    return list;
}

static PyObject *make(struct specialization *s, const struct kiln_exc *exc)
{
    PyObject *cls = class_of(exc->class_id); /* borrowed */
    PyObject *args = arguments(exc);
    if (!args)
        return NULL;
    PyObject *made = NULL;
    if (s->hook) {
        PyObject *trace = trace_list(exc);
        if (trace)
            made =
                PyObject_CallFunction(s->hook, "IOOOO", exc->class_id, cls ? cls : Py_None, args, trace, s);
        Py_XDECREF(trace);
    } else {
        made = PyObject_CallObject(cls ? cls : PyExc_RuntimeError, args);
    }
    Py_DECREF(args);
    return made;
}

void raise_compiled(struct specialization *s, int32_t status, const struct kiln_exc *exc)
{
    if (status == KILN_HOST_ERROR) {
        host_raise();
        return;
    }
    if (status != KILN_RAISED) {
        PyErr_Format(PyExc_SystemError, "compiled code returned the unknown status %d", (int)status);
        return;
    }
    PyObject *e = PyErr_Occurred() ? NULL /* a signal handler raised: that is what stopped the code */ : make(s, exc);
    release_arguments(exc);
    if (!e)
        return;
    if (PyObject_IsInstance(e, PyExc_BaseException) == 1)
        PyErr_SetObject((PyObject *)Py_TYPE(e), e); /* keeps e.__traceback__ */
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "raise_hook must return an exception");
    Py_DECREF(e);
}

int raise_add(PyObject *module)
{
    PyObject *builtins = PyImport_ImportModule("builtins");
    PyObject *names = builtins ? PyDict_New() : NULL;
    int rc = names ? 0 : -1;
    for (unsigned i = 0; !rc && i < N_CLASSES; i++) {
        PyObject *number = PyLong_FromUnsignedLong(classes[i].number);
        PyObject *name = PyUnicode_FromString(classes[i].name);
        found[i] = PyObject_GetAttrString(builtins, classes[i].name);
        rc = number && name && found[i] ? PyDict_SetItem(names, number, name) : -1;
        Py_XDECREF(number);
        Py_XDECREF(name);
    }
    Py_XDECREF(builtins);
    if (!rc && PyModule_AddObjectRef(module, "EXCEPTIONS", names))
        rc = -1;
    Py_XDECREF(names);
    return rc ? rc : PyModule_AddIntConstant(module, "EXC_USER", KILN_EXC_USER);
}
