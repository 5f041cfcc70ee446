/* SPDX-License-Identifier: Apache-2.0
 * objects.c - see objects.h. Guarded by the GIL. */
#include "client/python/ext/objects.h"

#include <string.h>

/* ---- tables ------------------------------------------------------------------------------------ */

/* By address: open addressing, at most half full. */
struct slot {
    PyObject *key; /* held; NULL: free */
    uint32_t serial;
    int32_t member; /* position in the enum with this serial, -1: the key is the object itself */
};
static struct slot *slots;
static uint32_t n_slots, n_used;
static struct object **objects;
static uint32_t n_objects, cap_objects;
static PyObject *by_text; /* dict: (kind, text) -> serial, of TYPE and RECORD */

/* Recently met dtypes, by address: programs make equal ones over and over. */
#define DTYPES 64
static struct {
    PyObject *dtype; /* held */
    const struct object *object;
} dtypes[DTYPES];

static uint32_t hash_of(const void *p)
{
    uint64_t h = (uint64_t)(uintptr_t)p >> 4;
    return (uint32_t)((h * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

static struct slot *slot_for(PyObject *key)
{
    for (uint32_t i = hash_of(key) & (n_slots - 1);; i = (i + 1) & (n_slots - 1))
        if (!slots[i].key || slots[i].key == key)
            return &slots[i];
}

static int grow(void)
{
    struct slot *old = slots;
    uint32_t n = n_slots;
    struct slot *more = PyMem_Calloc(n ? n * 2 : 64, sizeof *more);
    if (!more) {
        PyErr_NoMemory();
        return -1;
    }
    slots = more;
    n_slots = n ? n * 2 : 64;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].key)
            *slot_for(old[i].key) = old[i];
    PyMem_Free(old);
    return 0;
}

static int put(PyObject *key, uint32_t serial, int32_t member)
{
    if (n_used * 2 >= n_slots && grow())
        return -1;
    struct slot *s = slot_for(key);
    if (!s->key) {
        Py_INCREF(key);
        n_used++;
    }
    *s = (struct slot){ key, serial, member };
    return 0;
}

const struct object *object_at(uint32_t serial)
{
    return serial < n_objects ? objects[serial] : NULL;
}

const struct object *object_find(PyObject *o)
{
    if (!n_slots)
        return NULL;
    const struct slot *s = slot_for(o);
    return s->key && s->member < 0 ? objects[s->serial] : NULL;
}

int32_t object_member(PyObject *member)
{
    if (!n_slots)
        return -1;
    const struct slot *s = slot_for(member);
    return s->key ? s->member : -1;
}

/* ---- learning ---------------------------------------------------------------------------------- */

static struct object *object_new(PyObject *o, enum object_kind kind)
{
    if (n_objects == cap_objects) {
        uint32_t cap = cap_objects ? cap_objects * 2 : 64;
        struct object **more = PyMem_Realloc(objects, cap * sizeof *more);
        if (!more) {
            PyErr_NoMemory();
            return NULL;
        }
        objects = more;
        cap_objects = cap;
    }
    struct object *r = n_objects < OBJECT_MAX_SERIAL ? PyMem_Calloc(1, sizeof *r) : NULL;
    if (!r) {
        PyErr_NoMemory();
        return NULL;
    }
    Py_INCREF(o);
    *r = (struct object){ .o = o, .kind = kind, .serial = n_objects };
    objects[n_objects++] = r;
    return r;
}

/* Members of an enum: a tuple of them, and one of their values for an enum of integers. */
static int learn_members(struct object *r, PyObject *members, PyObject *values)
{
    Py_ssize_t n = PyTuple_Size(members);
    r->members = PyMem_Calloc((size_t)n + 1, sizeof *r->members);
    r->values = PyMem_Calloc((size_t)n + 1, sizeof *r->values);
    if (!r->members || !r->values) {
        PyErr_NoMemory();
        return -1;
    }
    r->n = (uint32_t)n;
    for (Py_ssize_t i = 0; i < n; i++) {
        r->members[i] = PyTuple_GetItem(members, i);
        if (put(r->members[i], r->serial, (int32_t)i))
            return -1;
        if (values != Py_None) {
            r->values[i] = PyLong_AsLongLong(PyTuple_GetItem(values, i));
            if (r->values[i] == -1 && PyErr_Occurred())
                return -1;
        }
    }
    return 0;
}

/* One entry a text. */
static struct object *object_of_text(PyObject *o, enum object_kind kind, PyObject *text)
{
    struct object *r = NULL;
    PyObject *key = Py_BuildValue("(iO)", (int)kind, text), *serial = NULL;
    if (!by_text)
        by_text = PyDict_New();
    PyObject *known = key && by_text ? PyDict_GetItemWithError(by_text, key) : NULL;
    if (known) {
        r = objects[PyLong_AsUnsignedLong(known)];
    } else if (key && by_text && !PyErr_Occurred() && (r = object_new(o, kind))) {
        serial = PyLong_FromUnsignedLong(r->serial);
        if (serial && !PyDict_SetItem(by_text, key, serial))
            r->text = PyUnicode_AsUTF8AndSize(text, NULL); /* the key keeps it */
        if (!r->text)
            r = NULL;
    }
    Py_XDECREF(serial);
    Py_XDECREF(key);
    return r;
}

static PyObject *ask(const char *what, PyObject *o)
{
    PyObject *module = PyImport_ImportModule("kilnjit.usertypes");
    PyObject *answer = module ? PyObject_CallMethod(module, what, "(O)", o) : NULL;
    Py_XDECREF(module);
    return answer;
}

/* answer: (kind, more...) as usertypes.describe says. */
static struct object *learn(PyObject *o, PyObject *answer)
{
    static const char *const kinds[] = { "namedtuple", "enum", "intenum", "function", "type", "record", "jitclass" };
    PyObject *first = PyTuple_GetItem(answer, 0);
    const char *name = first ? PyUnicode_AsUTF8AndSize(first, NULL) : NULL;
    int kind = 0;
    if (!name)
        return NULL;
    while (strcmp(kinds[kind], name))
        kind++;
    if (kind == O_TYPE || kind == O_RECORD)
        return object_of_text(o, kind, PyTuple_GetItem(answer, 1));
    struct object *r = object_new(o, kind);
    if (r && (kind == O_ENUM || kind == O_INTENUM) &&
        learn_members(r, PyTuple_GetItem(answer, 1), PyTuple_GetItem(answer, 2)))
        return NULL;
    return r;
}

const struct object *object_learn(PyObject *o)
{
    const struct object *r = object_find(o);
    if (r)
        return r;
    PyObject *answer = ask("describe", o);
    if (!answer)
        return NULL;
    if (answer != Py_None) {
        r = learn(o, answer);
        if (r && put(o, r->serial, -1))
            r = NULL;
    }
    Py_DECREF(answer);
    return r;
}

const struct object *object_of_dtype(PyObject *dtype)
{
    unsigned i = hash_of(dtype) % DTYPES;
    if (dtypes[i].dtype == dtype)
        return dtypes[i].object;
    PyObject *answer = ask("describe", dtype);
    const struct object *r = answer && answer != Py_None ? learn(dtype, answer) : NULL;
    Py_XDECREF(answer);
    if (r && r->kind == O_RECORD) {
        PyObject *old = dtypes[i].dtype;
        Py_INCREF(dtype);
        dtypes[i].dtype = dtype;
        dtypes[i].object = r;
        Py_XDECREF(old);
        return r;
    }
    return NULL;
}

const struct object *object_of_record(const char *text)
{
    for (uint32_t i = 0; i < n_objects; i++)
        if (objects[i]->kind == O_RECORD && !strcmp(objects[i]->text, text))
            return objects[i];
    PyObject *str = PyUnicode_FromString(text), *dtype = str ? ask("dtype_of", str) : NULL;
    const struct object *r = dtype ? object_of_text(dtype, O_RECORD, str) : NULL;
    Py_XDECREF(dtype);
    Py_XDECREF(str);
    return r;
}

PyObject *object_member_of(const struct object *o, int64_t value)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (o->values[i] == value) {
            Py_INCREF(o->members[i]);
            return o->members[i];
        }
    return PyObject_CallFunction(o->o, "L", (long long)value);
}

PyObject *objects_by_serial(PyObject *module, PyObject *serial)
{
    (void)module;
    unsigned long n = PyLong_AsUnsignedLong(serial);
    const struct object *r = PyErr_Occurred() ? NULL : n < n_objects ? objects[n] : NULL;
    if (!r) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_KeyError, "no object has this number");
        return NULL;
    }
    Py_INCREF(r->o);
    return r->o;
}

PyObject *objects_serial_of(PyObject *module, PyObject *o)
{
    (void)module;
    const struct object *r = object_learn(o);
    if (!r) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_KeyError, "this object has no number");
        return NULL;
    }
    return PyLong_FromUnsignedLong(r->serial);
}
