/* SPDX-License-Identifier: Apache-2.0
 * unbox.c - results of compiled code as Python objects: weak scalars as Python's, sized ones as NumPy's (in
 * numba semantics all as Python's).
 *
 * A returned array is a view over memory that compiled code allocated, which a Memory object owns: it also
 * keeps the specialization, and so the code, alive. A view of an argument has that argument as its base. */
#include <math.h>
#include <string.h>

#include "client/python/ext/marshal.h"
#include "client/python/ext/numpy.h"

struct memory {
    PyObject ob_base;
    struct kiln_mem *mem; /* NULL: constant data of the artifact */
    PyObject *keep;
};

static PyTypeObject *memory_type;

static void memory_dealloc(struct memory *m)
{
    PyTypeObject *type = Py_TYPE(&m->ob_base);
    kiln_mem_unref(m->mem);
    Py_XDECREF(m->keep);
    PyObject_Free(m);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot memory_slots[] = {
    { Py_tp_dealloc, memory_dealloc },
    { Py_tp_doc, "Memory of a returned array." },
    { 0, NULL },
};
static PyType_Spec memory_spec = {
    .name = "kilnjit._kiln.Memory",
    .basicsize = sizeof(struct memory),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = memory_slots,
};

int unbox_add(PyObject *module)
{
    memory_type = ext_add_type(module, &memory_spec);
    return memory_type ? 0 : -1;
}

static double double_of_half(uint16_t h)
{
    int e = h >> 10 & 31;
    double f = h & 0x3FF, v = e == 31 ? (f != 0 ? NAN : INFINITY)
                              : e     ? ldexp(f + 1024, e - 25)
                                      : ldexp(f, -24);
    return h & 0x8000 ? -v : v;
}

static PyObject *unbox_int(const struct kiln_type *t, const unsigned char *p)
{
    bool is_signed = t->kind != KILN_T_UINT;
    int64_t v = 0;
    memcpy(&v, p, t->size);
    if (is_signed) {
        unsigned up = 64 - t->size * 8;
        return PyLong_FromLongLong((int64_t)((uint64_t)v << up) >> up);
    }
    return PyLong_FromUnsignedLongLong((uint64_t)v);
}

static PyObject *unbox_float(const struct kiln_type *t, const unsigned char *p)
{
    double d = 0;
    float f;
    uint16_t h;
    if (t->size == 8) {
        memcpy(&d, p, 8);
    } else if (t->size == 4) {
        memcpy(&f, p, 4);
        d = f;
    } else {
        memcpy(&h, p, 2);
        d = double_of_half(h);
    }
    return PyFloat_FromDouble(d);
}

static PyObject *unbox_complex(const struct kiln_type *t, const unsigned char *p)
{
    double d[2];
    float f[2];
    if (t->size == 16) {
        memcpy(d, p, 16);
    } else {
        memcpy(f, p, 8);
        d[0] = f[0];
        d[1] = f[1];
    }
    return PyComplex_FromDoubles(d[0], d[1]);
}

/* The argument or captured array that `owner` stands for, or NULL. */
static PyObject *argument_of(const struct kiln_mem *owner, const struct owners *own)
{
    if (owner >= own->mems && owner < own->mems + own->n)
        return owner->user;
    return NULL;
}

static bool same_array(struct np_array *a, const struct kiln_type *t, const struct kiln_array *v)
{
    unsigned n = t->ndim;
    return Py_TYPE(&a->ob_base) == np_ndarray && a->data == v->data && a->nd == (int)n &&
           a->descr->type_num >= 0 && a->descr->type_num < NP_KINDS &&
           np_kinds[a->descr->type_num].number == t->numpy && !(a->flags & NP_WRITEABLE) == t->readonly &&
           !memcmp(a->dimensions, v->dims, n * sizeof *v->dims) &&
           !memcmp(a->strides, v->dims + n, n * sizeof *v->dims);
}

static PyObject *unbox_array(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    const struct kiln_array *v = (const struct kiln_array *)p;
    PyObject *base = argument_of(v->owner, own);
    if (base) {
        Py_INCREF(base);
        if (same_array((struct np_array *)base, t, v))
            return base;
    } else {
        struct memory *m = PyObject_New(struct memory, memory_type);
        if (!m) {
            kiln_mem_unref(v->owner);
            return NULL;
        }
        m->mem = v->owner;
        m->keep = own->keep;
        Py_XINCREF(m->keep);
        base = (PyObject *)m;
    }
    return np_new(t->numpy, (int)t->ndim, v->dims, v->dims + t->ndim, v->data, t->readonly, base);
}

static PyObject *unbox_tuple(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    PyObject *tuple = PyTuple_New(t->n_items);
    uint32_t i = 0;
    for (; tuple && i < t->n_items; i++) {
        PyObject *item = unbox(&t->items[i], p + t->items[i].offset, own);
        if (!item) {
            Py_CLEAR(tuple);
            i++;
            break;
        }
        PyTuple_SetItem(tuple, i, item); /* takes item over */
    }
    for (; i < t->n_items; i++)
        unbox_drop(&t->items[i], p + t->items[i].offset, own);
    return tuple;
}

/* A number of a sized type: as NumPy would return it, so that its type survives into the next call. */
static PyObject *unbox_sized(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    if (!own->plain) {
        int ready = np_ndarray ? 1 : np_ready();
        if (ready)
            return ready > 0 ? np_scalar_new(t->numpy, p) : NULL;
    }
    return t->kind == KILN_T_COMPLEX ? unbox_complex(t, p)
           : t->kind == KILN_T_FLOAT ? unbox_float(t, p)
                                     : unbox_int(t, p);
}

PyObject *unbox(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    switch (t->kind) {
    case KILN_T_NONE:
        Py_INCREF(Py_None);
        return Py_None;
    case KILN_T_BOOL:
        return PyBool_FromLong(*p);
    case KILN_T_PYINT:
        return unbox_int(t, p);
    case KILN_T_PYFLOAT:
        return unbox_float(t, p);
    case KILN_T_PYCOMPLEX:
        return unbox_complex(t, p);
    case KILN_T_INT:
    case KILN_T_UINT:
    case KILN_T_FLOAT:
    case KILN_T_COMPLEX:
        return unbox_sized(t, p, own);
    case KILN_T_ARRAY:
        return unbox_array(t, p, own);
    case KILN_T_TUPLE:
        return unbox_tuple(t, p, own);
    case KILN_T_OPTIONAL:
        if (p[t->items[0].size])
            return unbox(&t->items[0], p, own);
        Py_INCREF(Py_None);
        return Py_None;
    default:
        PyErr_Format(PyExc_SystemError, "a result of type %s cannot be returned", t->text);
        return NULL;
    }
}

void unbox_drop(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    if (t->kind == KILN_T_ARRAY) {
        struct kiln_mem *owner = ((const struct kiln_array *)p)->owner;
        if (!argument_of(owner, own))
            kiln_mem_unref(owner);
    } else if (t->kind == KILN_T_TUPLE) {
        for (uint32_t i = 0; i < t->n_items; i++)
            unbox_drop(&t->items[i], p + t->items[i].offset, own);
    } else if (t->kind == KILN_T_OPTIONAL && p[t->items[0].size]) {
        unbox_drop(&t->items[0], p, own);
    }
}
