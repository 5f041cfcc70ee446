/* SPDX-License-Identifier: Apache-2.0
 * unbox.c - results of compiled code as Python objects: weak scalars as Python's, sized ones as NumPy's (in
 * numba semantics all as Python's).
 *
 * A returned array is a view over memory that compiled code allocated, which a Memory object owns: it also
 * keeps the specialization, and so the code, alive. A view of an argument has that argument as its base. */
#include <math.h>
#include <string.h>

#include "client/python/ext/containers.h"
#include "client/python/ext/numpy.h"
#include "client/python/ext/objects.h"
#include "client/python/ext/text.h"

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
    PyObject *o = packed_argument(owner); /* of a call around this one */
    return o ? o : packed_item(owner);
}

static bool same_dtype(const struct np_array *a, const struct kiln_type *t)
{
    const struct object *o = a->descr->type_num == NP_VOID ? object_of_dtype((PyObject *)a->descr) : NULL;
    if (!o)
        PyErr_Clear();
    return o && !strcmp(o->text, t->items[0].text);
}

static bool same_unit(const struct np_array *a, const char *text)
{
    int unit = np_time_unit((PyObject *)a->descr);
    const char *from = strchr(text, '\'') + 1;
    size_t n = strcspn(from, "'");
    return unit >= 0 && strlen(np_units[unit]) == n && !strncmp(from, np_units[unit], n);
}

static bool same_array(struct np_array *a, const struct kiln_type *t, const struct kiln_array *v)
{
    unsigned n = t->ndim;
    return Py_TYPE(&a->ob_base) == np_ndarray && a->data == v->data && a->nd == (int)n &&
           a->descr->type_num >= 0 && a->descr->type_num < NP_KINDS &&
           (t->numpy == NP_VOID ? same_dtype(a, t)
            : t->numpy == NP_DATETIME || t->numpy == NP_TIMEDELTA
                ? a->descr->type_num == t->numpy && same_unit(a, t->items[0].text)
                : np_kinds[a->descr->type_num].number == t->numpy) &&
           !(a->flags & NP_WRITEABLE) == t->readonly &&
           !memcmp(a->dimensions, v->dims, n * sizeof *v->dims) &&
           !memcmp(a->strides, v->dims + n, n * sizeof *v->dims);
}

static PyObject *unbox_array(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    const struct kiln_array *v = (const struct kiln_array *)p;
    PyObject *base = argument_of(v->owner, own);
    if (base) {
        Py_INCREF(base);
        if (packed_item(v->owner))
            kiln_mem_unref(v->owner);
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
    if (t->numpy == NP_DATETIME || t->numpy == NP_TIMEDELTA) {
        PyObject *dtype = np_time_dtype(t->items[0].text), *a;
        if (!dtype) {
            Py_DECREF(base);
            return NULL;
        }
        a = np_new_records(dtype, (int)t->ndim, v->dims, v->dims + t->ndim, v->data, t->readonly, base);
        Py_DECREF(dtype);
        return a;
    }
    if (t->numpy == NP_VOID) {
        const struct object *o = object_of_record(t->items[0].text);
        if (!o) {
            Py_DECREF(base);
            return NULL;
        }
        return np_new_records(o->o, (int)t->ndim, v->dims, v->dims + t->ndim, v->data, t->readonly, base);
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

static void drop_flag(char *text, const char *flag)
{
    size_t n = strlen(text), k = strlen(flag);
    if (n > k && !strcmp(text + n - k, flag))
        strcpy(text + n - k, ")");
}

/* A record is a copy, as in Numba. */
static PyObject *unbox_record(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    const struct kiln_array *v = (const struct kiln_array *)p;
    char *text = PyMem_Malloc(strlen(t->text) + 1);
    PyObject *r = NULL;
    if (text) { /* of the dtype: without the flags of a reference */
        strcpy(text, t->text);
        drop_flag(text, ";unaligned)");
        drop_flag(text, ";readonly)");
        const struct object *o = object_of_record(text);
        r = o ? np_record_new(o->o, v->data) : NULL;
        PyMem_Free(text);
    } else {
        PyErr_NoMemory();
    }
    if (!argument_of(v->owner, own))
        kiln_mem_unref(v->owner);
    return r;
}

static PyObject *class_of(const struct kiln_type *t, const struct owners *own)
{
    const struct numbers *n = own->numbers;
    const struct object *o = n && t->user < n->n_users ? object_at(n->users[t->user]) : NULL;
    if (!o)
        PyErr_Format(PyExc_SystemError, "a result of type %s, whose class is not known", t->text);
    return o ? o->o : NULL;
}

/* tuple.__new__(cls, items): the class's own __new__ may want other arguments, or do more. */
static PyObject *unbox_named(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    PyObject *cls = class_of(t, own), *items = unbox_tuple(t, p, own), *r = NULL;
    newfunc make = (newfunc)(uintptr_t)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    PyObject *args = cls && items ? PyTuple_Pack(1, items) : NULL;
    if (args)
        r = make((PyTypeObject *)cls, args, NULL);
    Py_XDECREF(args);
    Py_XDECREF(items);
    return r;
}

static PyObject *unbox_enum(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    PyObject *cls = class_of(t, own);
    const struct object *o = cls ? object_find(cls) : NULL;
    int64_t value;
    int32_t i;
    if (!o)
        return NULL;
    if (t->kind == KILN_T_INTENUM) {
        memcpy(&value, p, 8);
        return object_member_of(o, value);
    }
    memcpy(&i, p, 4);
    if (i < 0 || (uint32_t)i >= o->n) {
        PyErr_Format(PyExc_SystemError, "a result of type %s out of its range", t->text);
        return NULL;
    }
    Py_INCREF(o->members[i]);
    return o->members[i];
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
    case KILN_T_DATETIME:
    case KILN_T_TIMEDELTA: {
        int64_t count;
        memcpy(&count, p, 8);
        return np_time_new(t->text, count);
    }
    case KILN_T_ARRAY:
        return unbox_array(t, p, own);
    case KILN_T_TUPLE:
        return unbox_tuple(t, p, own);
    case KILN_T_OPTIONAL:
        if (p[t->items[0].size])
            return unbox(&t->items[0], p, own);
        Py_INCREF(Py_None);
        return Py_None;
    case KILN_T_RECORD:
        return unbox_record(t, p, own);
    case KILN_T_STR:
    case KILN_T_BYTES:
        return text_unbox(p, t->kind == KILN_T_BYTES);
    case KILN_T_NAMEDTUPLE:
        return unbox_named(t, p, own);
    case KILN_T_ENUM:
    case KILN_T_INTENUM:
        return unbox_enum(t, p, own);
    case KILN_T_LIST:
    case KILN_T_SET:
    case KILN_T_DICT:
    case KILN_T_OBJECT:
        return unbox_container(t, p, own);
    default:
        PyErr_Format(PyExc_SystemError, "a result of type %s cannot be returned", t->text);
        return NULL;
    }
}

void unbox_keep(const struct kiln_type *t, const unsigned char *p)
{
    struct kiln_mem *mem;
    switch (t->kind) {
    case KILN_T_ARRAY: /* begins with its owner */
    case KILN_T_STR:
    case KILN_T_BYTES:
    case KILN_T_LIST:
    case KILN_T_SET:
    case KILN_T_DICT:
    case KILN_T_OBJECT:
        memcpy(&mem, p, sizeof mem);
        kiln_mem_ref(mem);
        break;
    case KILN_T_TUPLE:
        for (uint32_t i = 0; i < t->n_items; i++)
            unbox_keep(&t->items[i], p + t->items[i].offset);
        break;
    case KILN_T_OPTIONAL:
        if (p[t->items[0].size])
            unbox_keep(&t->items[0], p);
        break;
    default:
        break;
    }
}

void unbox_drop(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    if (t->kind == KILN_T_ARRAY || t->kind == KILN_T_RECORD) {
        struct kiln_mem *owner = ((const struct kiln_array *)p)->owner;
        if (owner < own->mems || owner >= own->mems + own->n)
            kiln_mem_unref(owner);
    } else if (t->kind == KILN_T_LIST || t->kind == KILN_T_SET || t->kind == KILN_T_DICT || t->kind == KILN_T_OBJECT) {
        struct kiln_mem *mem;
        memcpy(&mem, p, sizeof mem);
        kiln_mem_unref(mem);
    } else if (t->kind == KILN_T_STR || t->kind == KILN_T_BYTES) {
        text_drop(p);
    } else if (t->kind == KILN_T_TUPLE || t->kind == KILN_T_NAMEDTUPLE) {
        for (uint32_t i = 0; i < t->n_items; i++)
            unbox_drop(&t->items[i], p + t->items[i].offset, own);
    } else if (t->kind == KILN_T_OPTIONAL && p[t->items[0].size]) {
        unbox_drop(&t->items[0], p, own);
    }
}
