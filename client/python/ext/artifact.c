/* SPDX-License-Identifier: Apache-2.0
 * artifact.c - the types Artifact and Library: answers of the daemon, and loaded code. */
#include <string.h>

#include "client/python/ext/ext.h"

struct artifact {
    PyObject ob_base;
    struct kiln_artifact *a;
};
struct library {
    PyObject ob_base;
    struct kiln_library *lib;
    unsigned char key[KILN_KEY_BYTES];
};

PyTypeObject *artifact_type;
static PyTypeObject *library_type;

/* ---- Artifact ---------------------------------------------------------------------------------- */

PyObject *artifact_wrap(struct kiln_artifact *a)
{
    struct artifact *self = PyObject_New(struct artifact, artifact_type);
    if (!self) {
        kiln_artifact_free(a);
        return NULL;
    }
    self->a = a;
    return (PyObject *)self;
}

struct kiln_artifact *artifact_of(PyObject *o)
{
    return ((struct artifact *)o)->a;
}

PyObject *artifact_from_bytes(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "key", "data", "manifest", NULL };
    Py_buffer key, data, manifest = { .buf = NULL };
    PyObject *given = NULL;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y*y*|O", names, &key, &data, &given))
        return NULL;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_artifact *a = NULL;
    PyObject *result = NULL;
    if (given && given != Py_None && PyObject_GetBuffer(given, &manifest, PyBUF_SIMPLE))
        goto out;
    if (key.len != KILN_KEY_BYTES)
        PyErr_Format(PyExc_ValueError, "a key has %d bytes", KILN_KEY_BYTES);
    else if (kiln_artifact_make(key.buf, data.buf, (size_t)data.len, manifest.buf, (size_t)manifest.len, &a,
                                &e))
        errors_raise(&e);
    else
        result = artifact_wrap(a);
    if (manifest.buf)
        PyBuffer_Release(&manifest);
out:
    PyBuffer_Release(&key);
    PyBuffer_Release(&data);
    return result;
}

static void artifact_dealloc(struct artifact *self)
{
    PyTypeObject *type = Py_TYPE(&self->ob_base);
    kiln_artifact_free(self->a);
    PyObject_Free(&self->ob_base);
    Py_DECREF((PyObject *)type);
}

enum info { INFO_KEY, INFO_SOURCE, INFO_SIZE, INFO_COMPILE_US, INFO_MANIFEST };

static PyObject *artifact_get(struct artifact *self, void *which)
{
    struct kiln_artifact_info i;
    kiln_artifact_info(self->a, &i);
    switch ((enum info)(uintptr_t)which) {
    case INFO_KEY:
        return PyBytes_FromStringAndSize((const char *)i.key, KILN_KEY_BYTES);
    case INFO_SOURCE:
        return PyUnicode_FromString(i.source);
    case INFO_SIZE:
        return PyLong_FromUnsignedLongLong(i.size);
    case INFO_COMPILE_US:
        return PyLong_FromUnsignedLongLong(i.compile_us);
    default:
        return PyBytes_FromStringAndSize(i.manifest, (Py_ssize_t)i.manifest_len);
    }
}

static PyObject *strings(const char *const *items, uint32_t n)
{
    PyObject *list = PyList_New(n);
    for (uint32_t i = 0; list && i < n; i++) {
        PyObject *one = PyUnicode_FromString(items[i]);
        if (!one)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, one);
    }
    return list;
}

static PyObject *artifact_decoded(struct artifact *self, void *unused)
{
    (void)unused;
    struct kiln_error e = KILN_ERROR_INIT;
    const struct kiln_manifest *m;
    if (kiln_artifact_manifest(self->a, &m, &e))
        return errors_raise(&e);
    return Py_BuildValue("{sssssssssssssNsNsNsI}", "entry", m->entry, "signature", m->signature, "ret",
                         m->ret, "target", m->target, "glibc", m->glibc, "symbol", m->symbol, "params",
                         strings(m->params, m->n_params), "env", strings(m->env, m->n_env), "isa",
                         strings(m->isa, m->n_isa), "abi", m->abi);
}

static PyObject *artifact_bytes(struct artifact *self, PyObject *unused)
{
    (void)unused;
    struct kiln_error e = KILN_ERROR_INIT;
    const void *p;
    size_t n;
    if (kiln_artifact_bytes(self->a, &p, &n, &e))
        return errors_raise(&e);
    return PyBytes_FromStringAndSize(p, (Py_ssize_t)n);
}

static PyObject *artifact_load(struct artifact *self, PyObject *unused)
{
    (void)unused;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_library *lib;
    if (kiln_load(self->a, &lib, &e))
        return errors_raise(&e);
    return library_wrap(lib);
}

static PyGetSetDef artifact_getset[] = {
    { "key", (getter)artifact_get, NULL, "32 bytes.", (void *)INFO_KEY },
    { "source", (getter)artifact_get, NULL, "memory, disk, compiled or joined.", (void *)INFO_SOURCE },
    { "size", (getter)artifact_get, NULL, "Bytes.", (void *)INFO_SIZE },
    { "compile_us", (getter)artifact_get, NULL, "What the compile cost.", (void *)INFO_COMPILE_US },
    { "manifest", (getter)artifact_get, NULL, "As sent.", (void *)INFO_MANIFEST },
    { "info", (getter)artifact_decoded, NULL, "The manifest as a dict.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};
static PyMethodDef artifact_methods[] = {
    { "bytes", (PyCFunction)artifact_bytes, METH_NOARGS, "A copy of the bytes." },
    { "load", (PyCFunction)artifact_load, METH_NOARGS, "Check, map and bind; a Library." },
    { NULL, NULL, 0, NULL },
};
static PyType_Slot artifact_slots[] = {
    { Py_tp_dealloc, artifact_dealloc },
    { Py_tp_getset, artifact_getset },
    { Py_tp_methods, artifact_methods },
    { Py_tp_doc, "An answer of the daemon." },
    { 0, NULL },
};
static PyType_Spec artifact_spec = {
    .name = "kilnjit._kiln.Artifact",
    .basicsize = sizeof(struct artifact),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = artifact_slots,
};

/* ---- Library ----------------------------------------------------------------------------------- */

PyObject *library_wrap(struct kiln_library *lib)
{
    struct library *self = PyObject_New(struct library, library_type);
    if (!self) {
        kiln_library_free(lib);
        return NULL;
    }
    self->lib = lib;
    const unsigned char *key = kiln_library_symbol(lib, KILN_SYM_KEY, NULL);
    memcpy(self->key, key, KILN_KEY_BYTES);
    return (PyObject *)self;
}

static void library_dealloc(struct library *self)
{
    PyTypeObject *type = Py_TYPE(&self->ob_base);
    kiln_library_free(self->lib);
    PyObject_Free(&self->ob_base);
    Py_DECREF((PyObject *)type);
}

static PyObject *library_get_key(struct library *self, void *unused)
{
    (void)unused;
    return PyBytes_FromStringAndSize((const char *)self->key, KILN_KEY_BYTES);
}

static PyObject *library_get_entry(struct library *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong((uintptr_t)kiln_library_entry(self->lib));
}

static PyObject *library_symbol(struct library *self, PyObject *name)
{
    struct kiln_error e = KILN_ERROR_INIT;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text)
        return NULL;
    void *p = kiln_library_symbol(self->lib, text, &e);
    return p ? PyLong_FromUnsignedLongLong((uintptr_t)p) : errors_raise(&e);
}

static PyGetSetDef library_getset[] = {
    { "key", (getter)library_get_key, NULL, "32 bytes.", NULL },
    { "entry", (getter)library_get_entry, NULL, "Address of kiln_entry, 0 if there is none.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};
static PyMethodDef library_methods[] = {
    { "symbol", (PyCFunction)library_symbol, METH_O, "Address of an exported symbol." },
    { NULL, NULL, 0, NULL },
};
static PyType_Slot library_slots[] = {
    { Py_tp_dealloc, library_dealloc },
    { Py_tp_getset, library_getset },
    { Py_tp_methods, library_methods },
    { Py_tp_doc, "Loaded code; unloaded with the last reference." },
    { 0, NULL },
};
static PyType_Spec library_spec = {
    .name = "kilnjit._kiln.Library",
    .basicsize = sizeof(struct library),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = library_slots,
};

int artifact_add(PyObject *module)
{
    artifact_type = ext_add_type(module, &artifact_spec);
    library_type = artifact_type ? ext_add_type(module, &library_spec) : NULL;
    return library_type ? 0 : -1;
}
