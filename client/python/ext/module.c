/* SPDX-License-Identifier: Apache-2.0
 * module.c - kilnjit._kiln: constants, small functions, and the types of the other files. */
#include <string.h>

#include "client/python/ext/ext.h"
#include "client/python/ext/marshal.h"
#include "client/python/ext/typed.h"
#include "client/python/ext/numpy.h"
#include "client/python/ext/objects.h"
#include "client/python/ext/specialization.h"

PyObject *ext_missing;

PyTypeObject *ext_add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddObjectRef(module, strrchr(spec->name, '.') + 1, (PyObject *)type)) {
        Py_DECREF((PyObject *)type);
        return NULL;
    }
    return type; /* our reference is kept for the process */
}

static PyObject *digest(PyObject *module, PyObject *data)
{
    (void)module;
    Py_buffer view;
    unsigned char d[KILN_DIGEST_BYTES];
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE))
        return NULL;
    kiln_digest(view.buf, (size_t)view.len, d);
    PyBuffer_Release(&view);
    return PyBytes_FromStringAndSize((const char *)d, sizeof d);
}

static PyObject *type_of(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "value", "numba", NULL };
    PyObject *value;
    int numba = 0;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p", names, &value, &numba))
        return NULL;
    return print_text(value, numba);
}

static PyObject *accept(PyObject *module, PyObject *cls)
{
    (void)module;
    if (!PyType_Check(cls)) {
        PyErr_SetString(PyExc_TypeError, "not a class");
        return NULL;
    }
    if (np_accept((PyTypeObject *)cls))
        return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *target_default(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(kiln_target_default());
}

static PyObject *target_resolve(PyObject *module, PyObject *name)
{
    (void)module;
    const char *text = name == Py_None ? "" : PyUnicode_AsUTF8AndSize(name, NULL);
    return text ? PyUnicode_FromString(kiln_target_resolve(text)) : NULL;
}

static PyObject *counts(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    struct kiln_counts c;
    kiln_counts(&c);
    return Py_BuildValue("{sLsLsLsLsL}", "mem_live", (long long)c.mem_live, "mem_bytes",
                         (long long)c.mem_bytes, "mem_total", (long long)c.mem_total, "libraries_live",
                         (long long)c.libraries_live, "loads_total", (long long)c.loads_total);
}

static PyObject *set_threads(PyObject *module, PyObject *n)
{
    (void)module;
    long v = PyLong_AsLong(n);
    if (v < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "threads are 0 or more");
        return NULL;
    }
    return PyLong_FromUnsignedLong(kiln_host_set_threads(v > 100000 ? 100000 : (uint32_t)v));
}

#define KEYWORDS(f) (PyCFunction)(void (*)(void))(f), METH_VARARGS | METH_KEYWORDS
static PyObject *canonical(PyObject *module, PyObject *text)
{
    const char *s = PyUnicode_AsUTF8AndSize(text, NULL), *one[1] = { s };
    struct kiln_signature *sig;
    struct kiln_error e = KILN_ERROR_INIT;
    (void)module;
    if (!s)
        return NULL;
    if (kiln_signature_make(one, 1, NULL, &sig, &e)) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    PyObject *made = PyUnicode_FromString(sig->params[0].text);
    kiln_result_free(sig);
    return made;
}

static PyMethodDef methods[] = {
    { "set_error_factory", errors_set_factory, METH_O, "How failures become exceptions." },
    { "digest", digest, METH_O, "BLAKE2b-256 of bytes." },
    { "pack_kir", pack_kir, METH_O, "msgpack of nested lists." },
    { "typeof", KEYWORDS(type_of), "Canonical type text of an argument, or None." },
    { "register_python", callback_register, METH_O, "Number by which compiled code calls this function." },
    { "canonical", canonical, METH_O, "The one spelling of a type's text; None if it is no type." },
    { "serial_of", objects_serial_of, METH_O, "The serial number of a class or compiled function." },
    { "object_of", objects_by_serial, METH_O, "The object with this serial number." },
    { "accept_array_type", accept, METH_O, "Treat this subclass of ndarray as a plain array." },
    { "target_default", target_default, METH_NOARGS, "This machine's level." },
    { "target_resolve", target_resolve, METH_O, "Canonical target text." },
    { "counts", counts, METH_NOARGS, "Memory and libraries alive." },
    { "set_threads", set_threads, METH_O, "Threads of parallel loops." },
    { "artifact", KEYWORDS(artifact_from_bytes), "An Artifact from bytes at hand." },
    { NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "kilnjit._kiln",
    .m_doc = "Requests, loading and dispatch; see _kiln.pyi.",
    .m_size = -1,
    .m_methods = methods,
};

static int fill(PyObject *module)
{
    PyObject *builtins = PyImport_ImportModule("builtins");
    PyObject *object = builtins ? PyObject_GetAttrString(builtins, "object") : NULL;
    ext_missing = object ? PyObject_CallNoArgs(object) : NULL;
    Py_XDECREF(object);
    Py_XDECREF(builtins);
    if (!ext_missing || PyModule_AddObjectRef(module, "MISSING", ext_missing) ||
        PyModule_AddStringConstant(module, "VERSION", kiln_version()) ||
        PyModule_AddIntConstant(module, "ABI_VERSION", KILN_ABI_VERSION))
        return -1;
    if (errors_add(module) || raise_add(module) || artifact_add(module) || client_add(module) ||
        unbox_add(module) || typed_add(module) || specialization_add(module) || dispatch_add(module))
        return -1;
    host_install();
    return 0;
}

PyMODINIT_FUNC PyInit__kiln(void);
PyMODINIT_FUNC PyInit__kiln(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && fill(module))
        Py_CLEAR(module);
    return module;
}
