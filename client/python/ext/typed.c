/* SPDX-License-Identifier: Apache-2.0
 * typed.c - see typed.h. */
#include "client/python/ext/typed.h"

#include <string.h>

struct container {
    PyObject ob_base;
    struct kiln_mem *mem; /* NULL: no type yet */
    uint32_t number;
    PyObject *keep; /* the code that knows how to give the memory up */
};

static PyTypeObject *container_type;
static PyObject *classes; /* dict: "ListType" -> subclass of Container */
/* Texts of types by number: few, for the life of the process. */
static char **texts;
static uint32_t n_texts;

bool typed_number(PyObject *o, uint32_t *ret)
{
    if (!container_type || !PyType_IsSubtype(Py_TYPE(o), container_type) || !((struct container *)o)->mem)
        return false;
    *ret = ((struct container *)o)->number;
    return true;
}

const char *typed_text(uint32_t number)
{
    return number < n_texts ? texts[number] : "";
}

struct kiln_mem *typed_memory(PyObject *o)
{
    return ((struct container *)o)->mem;
}

static int number_of(const char *text, uint32_t *ret)
{
    for (*ret = 0; *ret < n_texts; ++*ret)
        if (!strcmp(texts[*ret], text))
            return 0;
    char **more = PyMem_Realloc(texts, (n_texts + 1) * sizeof *texts), *copy = PyMem_Malloc(strlen(text) + 1);
    if (more)
        texts = more;
    if (!more || !copy) {
        PyMem_Free(copy);
        PyErr_NoMemory();
        return -1;
    }
    texts[n_texts++] = strcpy(copy, text);
    return 0;
}

PyObject *typed_wrap(const struct kiln_type *t, struct kiln_mem *mem, PyObject *keep)
{
    uint32_t number;
    PyObject *name = PyUnicode_FromStringAndSize(t->text, (Py_ssize_t)strcspn(t->text, "(")), *class = NULL;
    if (name && classes)
        class = PyDict_GetItemWithError(classes, name); /* borrowed */
    if (name && !class && !PyErr_Occurred())
        PyErr_Format(PyExc_SystemError, "kilnjit.typed is not there to take a %s", t->text);
    Py_XDECREF(name);
    PyObject *o =
        class && !number_of(t->text, &number) ? PyType_GenericAlloc((PyTypeObject *)class, 0) : NULL;
    if (!o) {
        kiln_mem_unref(mem);
        return NULL;
    }
    struct container *c = (struct container *)o;
    c->mem = mem;
    c->number = number;
    Py_XINCREF(keep);
    c->keep = keep;
    return o;
}

static PyObject *container_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    return PyType_GenericAlloc(type, 0);
}

static void container_dealloc(struct container *c)
{
    PyTypeObject *type = Py_TYPE(&c->ob_base);
    kiln_mem_unref(c->mem);
    Py_XDECREF(c->keep);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(c);
    Py_DECREF((PyObject *)type);
}

/* _become(other): the memory of another one. */
static PyObject *container_become(struct container *c, PyObject *other)
{
    struct container *o = (struct container *)other;
    if (!PyType_IsSubtype(Py_TYPE(other), container_type) || !o->mem) {
        PyErr_SetString(PyExc_TypeError, "a container that has a type is needed");
        return NULL;
    }
    kiln_mem_ref(o->mem);
    kiln_mem_unref(c->mem);
    c->mem = o->mem;
    c->number = o->number;
    Py_XINCREF(o->keep);
    Py_XDECREF(c->keep);
    c->keep = o->keep;
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *container_text(struct container *c, void *unused)
{
    (void)unused;
    if (!c->mem) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    return PyUnicode_FromString(typed_text(c->number));
}

static PyObject *container_address(struct container *c, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(c->mem);
}

static PyObject *register_class(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *class;
    (void)module;
    if (!PyArg_ParseTuple(args, "sO", &name, &class))
        return NULL;
    if (!classes && !(classes = PyDict_New()))
        return NULL;
    if (PyDict_SetItemString(classes, name, class))
        return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}

static PyMethodDef container_methods[] = {
    { "_become", (PyCFunction)container_become, METH_O, "Take the memory of another container." },
    { NULL, NULL, 0, NULL },
};
static PyGetSetDef container_getset[] = {
    { "_type", (getter)container_text, NULL, "Text of its type, None while it has none.", NULL },
    { "_address", (getter)container_address, NULL, "What two objects that share their items have in common.",
      NULL },
    { NULL, NULL, NULL, NULL, NULL },
};
static PyType_Slot container_slots[] = {
    { Py_tp_new, container_new },
    { Py_tp_dealloc, container_dealloc },
    { Py_tp_methods, container_methods },
    { Py_tp_getset, container_getset },
    { Py_tp_doc, "Memory that compiled code and Python share." },
    { 0, NULL },
};
static PyType_Spec container_spec = {
    .name = "kilnjit._kiln.Container",
    .basicsize = sizeof(struct container),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = container_slots,
};
static PyMethodDef functions[] = {
    { "register_typed", register_class, METH_VARARGS, "register_typed(name of the type, class)" },
    { NULL, NULL, 0, NULL },
};

int typed_add(PyObject *module)
{
    container_type = ext_add_type(module, &container_spec);
    return container_type ? PyModule_AddFunctions(module, functions) : -1;
}
