/* SPDX-License-Identifier: Apache-2.0
 * callback.c - Python functions that compiled code calls (`with objmode`), by number.
 *
 * A function stays registered for the life of the process: code that holds its number may be called at any
 * time. */
#include <string.h>

#include "client/python/ext/containers.h"
#include "client/python/ext/marshal.h"
#include "client/python/ext/packer.h"

static PyObject *functions; /* list */

/* Signatures that were met, by their two texts: few, for the life of the process. */
static struct met {
    struct met *next;
    char *args, *ret;
    struct kiln_signature *sig;
} * all;

PyObject *callback_register(PyObject *module, PyObject *function)
{
    (void)module;
    if (!functions && !(functions = PyList_New(0)))
        return NULL;
    Py_ssize_t n = PyList_Size(functions);
    if (PyList_Append(functions, function))
        return NULL;
    return PyLong_FromSsize_t(n);
}

static const struct kiln_signature *signature_of(const char *args, const char *ret)
{
    struct kiln_error e = KILN_ERROR_INIT;
    for (struct met *m = all; m; m = m->next)
        if (!strcmp(m->args, args) && !strcmp(m->ret, ret))
            return m->sig;
    struct met *m = PyMem_Calloc(1, sizeof *m + strlen(args) + strlen(ret) + 2);
    if (!m) {
        PyErr_NoMemory();
        return NULL;
    }
    m->args = strcpy((char *)(m + 1), args);
    m->ret = strcpy(m->args + strlen(args) + 1, ret);
    if (kiln_signature_make((const char *const[]){ args }, 1, ret, &m->sig, &e)) {
        PyMem_Free(m);
        errors_raise(&e);
        return NULL;
    }
    m->next = all;
    all = m;
    return m->sig;
}

/* The results' tuple at ret, as compiled code owns it. */
static int pack_results(PyObject *values, const struct kiln_type *type, void *ret)
{
    struct print p = { .n = 0 };
    struct plan *plan = NULL;
    int rc = print_value(&p, values, true, true, 0);
    if (!rc)
        rc = plan_make(&p, type, 1, true, NULL, &plan);
    if (rc < 0)
        return -1;
    if (!plan) {
        PyErr_Format(PyExc_TypeError, "the objmode block gives %R, which is not of the types %s", values,
                     type->text);
        return -1;
    }
    struct packer k = { .step = plan->steps, .nested = 1 }; /* as if in a container: references are taken */
    rc = pack_one(&k, values, ret);
    reflected_done(k.reflected); /* its own references; the results keep theirs */
    PyMem_Free(plan);
    if (rc > 0)
        PyErr_SetString(PyExc_OverflowError, "int too large for compiled code: integers have 64 bits there");
    return rc ? -1 : 0;
}

static int call(int64_t number, const char *arg_types, const void *args, const char *ret_type, void *ret)
{
    const struct kiln_signature *sig = signature_of(arg_types, ret_type);
    PyObject *function = functions ? PyList_GetItem(functions, (Py_ssize_t)number) : NULL; /* borrowed */
    struct owners own = { .mems = NULL };
    if (!sig || !function) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "objmode without its function");
        return -1;
    }
    unbox_keep(&sig->params[0], args);
    PyObject *values = unbox(&sig->params[0], args, &own);
    PyObject *result = values ? PyObject_CallObject(function, values) : NULL;
    Py_XDECREF(values);
    int rc = result ? pack_results(result, sig->ret, ret) : -1;
    Py_XDECREF(result);
    return rc;
}

int32_t callback_call(int64_t number, const char *arg_types, const void *args, const char *ret_type,
                      void *ret)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    enum host_state before = host_enter(HOST_OUTSIDE);
    int rc = call(number, arg_types, args, ret_type, ret);
    host_enter(before);
    if (rc && before == HOST_OUTSIDE)
        host_park(); /* a thread of a loop: the one that called takes the exception over */
    PyGILState_Release(gil);
    return rc ? KILN_HOST_ERROR : 0;
}
