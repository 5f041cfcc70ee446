/* SPDX-License-Identifier: Apache-2.0
 * typed.c - see typed.h. */
#include "client/python/ext/typed.h"

#include <stdlib.h>
#include <string.h>

#include "client/python/ext/objects.h"
#include "proto/base/buf.h"

struct container {
    PyObject ob_base;
    struct kiln_mem *mem; /* NULL: no type yet */
    bool is_object;  /* of a jitclass */
    uint32_t number; /* of its type's text, or its class's serial */
    PyObject *keep; /* the code that knows how to give the memory up */
};

static PyTypeObject *container_type;
static PyObject *classes; /* dict: "ListType" -> subclass of Container */
/* Texts of types by number: few, for the life of the process. */
static char **texts;
static uint32_t n_texts;

static bool has_memory(PyObject *o)
{
    return container_type && PyType_IsSubtype(Py_TYPE(o), container_type) && ((struct container *)o)->mem;
}

bool typed_number(PyObject *o, uint32_t *ret)
{
    if (!has_memory(o) || ((struct container *)o)->is_object)
        return false;
    *ret = ((struct container *)o)->number;
    return true;
}

bool typed_object(PyObject *o, uint32_t *ret)
{
    if (!has_memory(o) || !((struct container *)o)->is_object)
        return false;
    *ret = ((struct container *)o)->number;
    return true;
}

/* What a module's number of a user type or function means in this process; UINT32_MAX: nothing that is known. */
static uint32_t serial_of(const char *before, size_t len, uint32_t number, const struct numbers *n)
{
    bool function = len >= 9 && !memcmp(before + len - 9, "function(", 9);
    if (!n || number >= (function ? n->n_functions : n->n_users))
        return UINT32_MAX;
    return (function ? n->functions : n->users)[number];
}

/* A text of a module with serials instead of its numbers; NULL with an exception. */
static char *with_serials(const char *text, const struct numbers *numbers)
{
    static const char *const numbered[] = { "object(", "NamedTuple(", "Enum(", "function(" };
    struct buf b;
    buf_init(&b, 1 << 16);
    for (size_t i = 0; text[i];) {
        bool here = false;
        for (size_t k = 0; text[i] >= '0' && text[i] <= '9' && k < sizeof numbered / sizeof *numbered; k++) {
            size_t n = strlen(numbered[k]);
            here |= i >= n && !memcmp(text + i - n, numbered[k], n);
        }
        if (!here) {
            buf_byte(&b, (unsigned char)text[i++]);
            continue;
        }
        char *end;
        buf_printf(&b, "@%u", serial_of(text, i, (uint32_t)strtoul(text + i, &end, 10), numbers));
        i = (size_t)(end - text);
    }
    buf_byte(&b, 0);
    char *copy = buf_ok(&b) ? PyMem_Malloc(b.len) : NULL;
    if (copy)
        memcpy(copy, b.data, b.len);
    else
        PyErr_NoMemory();
    buf_done(&b);
    return copy;
}

bool typed_same(const char *text, const char *of_module, const struct numbers *numbers)
{
    const char *start = of_module;
    while (*text && *of_module) {
        if (*text == '@') {
            char *end, *end_of_module;
            unsigned long serial = strtoul(text + 1, &end, 10), number = strtoul(of_module, &end_of_module, 10);
            if (end_of_module == of_module ||
                serial_of(start, (size_t)(of_module - start), (uint32_t)number, numbers) != serial)
                return false;
            text = end;
            of_module = end_of_module;
        } else if (*text++ != *of_module++) {
            return false;
        }
    }
    return *text == *of_module;
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

/* The class of Python's that stands for a type: a new number is given to its text, or it is the user's. */
static PyObject *class_of(const struct kiln_type *t, const struct owners *own, uint32_t *ret_number)
{
    if (t->kind == KILN_T_OBJECT) {
        const struct numbers *n = own->numbers;
        *ret_number = n && t->user < n->n_users ? n->users[t->user] : UINT32_MAX;
        const struct object *o = object_at(*ret_number);
        if (!o)
            PyErr_Format(PyExc_SystemError, "the class of a %s is not known", t->text);
        return o ? o->o : NULL;
    }
    PyObject *name = PyUnicode_FromStringAndSize(t->text, (Py_ssize_t)strcspn(t->text, "("));
    PyObject *class = name && classes ? PyDict_GetItemWithError(classes, name) : NULL; /* borrowed */
    if (name && !class && !PyErr_Occurred())
        PyErr_Format(PyExc_SystemError, "kilnjit.typed is not there to take a %s", t->text);
    Py_XDECREF(name);
    char *text = class ? with_serials(t->text, own->numbers) : NULL;
    int rc = text ? number_of(text, ret_number) : -1;
    PyMem_Free(text);
    return rc ? NULL : class;
}

PyObject *typed_wrap(const struct kiln_type *t, struct kiln_mem *mem, const struct owners *own)
{
    uint32_t number;
    PyObject *class = class_of(t, own, &number), *o = class ? PyType_GenericAlloc((PyTypeObject *)class, 0) : NULL;
    if (!o) {
        kiln_mem_unref(mem);
        return NULL;
    }
    struct container *c = (struct container *)o;
    c->mem = mem;
    c->is_object = t->kind == KILN_T_OBJECT;
    c->number = number;
    Py_XINCREF(own->keep);
    c->keep = own->keep;
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
    if (c->is_object)
        return PyUnicode_FromFormat("object(@%u)", (unsigned)c->number);
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
