/* SPDX-License-Identifier: Apache-2.0
 * numpy.c - see numpy.h. */
#include "client/python/ext/numpy.h"

#include <stdio.h>
#include <string.h>

const struct np_kind np_kinds[NP_KINDS] = {
    [0] = { "bool", 0, 1 },      [1] = { "int8", 1, 1 },        [2] = { "uint8", 2, 1 },
    [3] = { "int16", 3, 2 },     [4] = { "uint16", 4, 2 },      [5] = { "int32", 5, 4 },
    [6] = { "uint32", 6, 4 },    [7] = { "int64", 7, 8 },       [8] = { "uint64", 8, 8 },
    [9] = { "int64", 7, 8 },     [10] = { "uint64", 8, 8 },     [11] = { "float32", 11, 4 },
    [12] = { "float64", 12, 8 }, [14] = { "complex64", 14, 8 }, [15] = { "complex128", 15, 16 },
    [23] = { "float16", 23, 2 },
};

PyTypeObject *np_ndarray;

/* Names of the scalar classes, with a value whose bytes are all different where there are that many. */
static const struct {
    const char *name;
    const char *value; /* Python source of the argument */
    uint8_t number;
} scalar_names[] = {
    { "bool_", "True", 0 },
    { "byte", "-85", 1 },
    { "ubyte", "171", 2 },
    { "short", "-21555", 3 },
    { "ushort", "43981", 4 },
    { "intc", "-1430532899", 5 },
    { "uintc", "2864434397", 6 },
    { "int_", "-81985529216486896", 7 },
    { "uint", "81985529216486895", 8 },
    { "longlong", "-81985529216486896", 7 },
    { "ulonglong", "81985529216486895", 8 },
    { "single", "1.7182818", 11 },
    { "double", "2.718281828459045", 12 },
    { "csingle", "(1.7182818+3.1415927j)", 14 },
    { "cdouble", "(2.718281828459045+3.141592653589793j)", 15 },
    { "half", "1.6181641", 23 },
};
#define N_SCALARS (sizeof scalar_names / sizeof *scalar_names)

static struct {
    PyTypeObject *type;
    uint8_t number;
    bool direct;     /* the value lies right behind the head */
    allocfunc alloc; /* the type's own */
} scalars[N_SCALARS];
static unsigned n_scalars;
static uint8_t of_number[NP_KINDS]; /* the first row of `scalars` for a kind */

#define MAX_ACCEPTED 16
static PyTypeObject *accepted[MAX_ACCEPTED];
static unsigned n_accepted;

typedef PyObject *(*array_new_fn)(PyTypeObject *subtype, int nd, const intptr_t *dims, int type_num,
                                  const intptr_t *strides, void *data, int itemsize, int flags,
                                  PyObject *obj);
typedef PyObject *(*new_from_descr_fn)(PyTypeObject *subtype, PyObject *descr, int nd, const intptr_t *dims,
                                       const intptr_t *strides, void *data, int flags, PyObject *obj);
typedef int (*set_base_fn)(PyObject *array, PyObject *base);
enum { SLOT_NEW = 93, SLOT_NEW_FROM_DESCR = 94, SLOT_SET_BASE = 282 };
static array_new_fn array_new;
static new_from_descr_fn new_from_descr;
static set_base_fn set_base;

/* Does an instance hold its value right behind its head? Asked of NumPy itself. */
static int check_direct(PyObject *cls, PyObject *value, unsigned size, bool *ret)
{
    PyObject *one = PyObject_CallFunctionObjArgs(cls, value, NULL);
    PyObject *bytes = one ? PyObject_CallMethod(one, "tobytes", NULL) : NULL;
    char *p;
    Py_ssize_t n;
    int rc = -1;
    if (bytes && PyBytes_AsStringAndSize(bytes, &p, &n) == 0) {
        *ret = (size_t)n == size && !memcmp((char *)one + sizeof(PyObject), p, size);
        rc = 0;
    }
    Py_XDECREF(bytes);
    Py_XDECREF(one);
    return rc;
}

static int find_scalars(PyObject *numpy)
{
    PyObject *scope = PyDict_New();
    if (!scope)
        return -1;
    for (unsigned i = 0; i < N_SCALARS; i++) {
        PyObject *cls = PyObject_GetAttrString(numpy, scalar_names[i].name);
        PyObject *code = cls ? Py_CompileString(scalar_names[i].value, "<kilnjit>", Py_eval_input) : NULL;
        PyObject *value = code ? PyEval_EvalCode(code, scope, scope) : NULL;
        bool direct = false;
        int rc = value ? check_direct(cls, value, np_kinds[scalar_names[i].number].size, &direct) : -1;
        Py_XDECREF(value);
        Py_XDECREF(code);
        if (rc) {
            Py_XDECREF(cls);
            Py_DECREF(scope);
            return -1;
        }
        scalars[i].type = (PyTypeObject *)cls; /* kept for the process */
        scalars[i].number = scalar_names[i].number;
        scalars[i].direct = direct;
        scalars[i].alloc = (allocfunc)(uintptr_t)PyType_GetSlot((PyTypeObject *)cls, Py_tp_alloc);
    }
    n_scalars = N_SCALARS;
    for (unsigned i = N_SCALARS; i-- > 0;)
        of_number[scalars[i].number] = (uint8_t)i;
    Py_DECREF(scope);
    return 0;
}

/* The table is an attribute of a module whose name changed in NumPy 2. */
static int find_table(PyObject *modules)
{
    static const char *const names[] = { "numpy._core._multiarray_umath", "numpy.core._multiarray_umath" };
    PyObject *capsule = NULL;
    for (unsigned i = 0; i < 2 && !capsule; i++) {
        PyObject *module = PyDict_GetItemString(modules, names[i]); /* borrowed */
        if (module && !(capsule = PyObject_GetAttrString(module, "_ARRAY_API")))
            return -1;
    }
    if (!capsule)
        PyErr_SetString(PyExc_ImportError, "this NumPy has no C interface that Kiln knows");
    if (!capsule)
        return -1;
    void **table = PyCapsule_GetPointer(capsule, NULL);
    Py_DECREF(capsule);
    if (!table)
        return -1;
    array_new = (array_new_fn)(uintptr_t)table[SLOT_NEW];
    new_from_descr = (new_from_descr_fn)(uintptr_t)table[SLOT_NEW_FROM_DESCR];
    set_base = (set_base_fn)(uintptr_t)table[SLOT_SET_BASE];
    return 0;
}

/* numpy.void and numpy.record, as laid out since 1.7. */
struct np_record {
    PyObject ob_base;
    Py_ssize_t size;
    char *data;
    PyObject *dtype;
    int flags;
};
static PyTypeObject *record_types[2];
static PyObject *record_class; /* numpy.record */
static PyObject *dtype_class;

/* Classes of records, if one laid out as here says of itself what NumPy says of it. */
static int find_records(PyObject *numpy)
{
    PyObject *array = PyObject_CallMethod(numpy, "zeros", "i[(ss)]", 1, "x", "i1");
    PyObject *one = array ? PySequence_GetItem(array, 0) : NULL;
    PyObject *cls = one ? PyObject_GetAttrString(numpy, "record") : NULL;
    PyObject *recarray = cls ? PyObject_GetAttrString(numpy, "recarray") : NULL;
    PyObject *memmap = recarray ? PyObject_GetAttrString(numpy, "memmap") : NULL;
    PyObject *dtype = memmap ? PyObject_GetAttrString(numpy, "dtype") : NULL;
    int rc = dtype ? 0 : -1;
    if (!rc) {
        const struct np_array *a = (const struct np_array *)array;
        const struct np_record *r = (const struct np_record *)one;
        if (r->data == a->data && r->dtype == (PyObject *)a->descr && r->flags & NP_WRITEABLE) {
            record_types[0] = Py_TYPE(one);
            record_types[1] = (PyTypeObject *)cls;
            Py_INCREF((PyObject *)record_types[0]);
            Py_INCREF(cls);
        }
        Py_INCREF(cls);
        record_class = cls;
        Py_INCREF(dtype);
        dtype_class = dtype;
        Py_INCREF(recarray);
        Py_INCREF(memmap);
        accepted[n_accepted++] = (PyTypeObject *)recarray; /* the first, of MAX_ACCEPTED */
        accepted[n_accepted++] = (PyTypeObject *)memmap;   /* an array whose memory is a file's */
    }
    Py_XDECREF(dtype);
    Py_XDECREF(memmap);
    Py_XDECREF(recarray);
    Py_XDECREF(cls);
    Py_XDECREF(one);
    Py_XDECREF(array);
    return rc;
}

bool np_is_record(PyTypeObject *type)
{
    return type == record_types[0] || type == record_types[1];
}

void *np_record_read(PyObject *o, PyObject **ret_dtype, bool *ret_readonly)
{
    const struct np_record *r = (const struct np_record *)o;
    *ret_dtype = r->dtype;
    *ret_readonly = !(r->flags & NP_WRITEABLE);
    return r->data;
}

PyObject *np_record_new(PyObject *dtype, const void *data)
{
    /* numpy.record has its fields as attributes, and is a numpy.void */
    PyObject *as = PyObject_CallFunction(dtype_class, "((OO))", record_class, dtype);
    PyObject *view = as ? np_new_records(as, 0, NULL, NULL, (void *)(uintptr_t)data, true, NULL) : NULL;
    PyObject *copy = view ? PyObject_CallMethod(view, "copy", NULL) : NULL;
    PyObject *r = copy ? PyObject_CallMethod(copy, "__getitem__", "(())") : NULL;
    Py_XDECREF(copy);
    Py_XDECREF(view);
    Py_XDECREF(as);
    return r;
}

/* ---- datetime64, timedelta64 ---- */

/* NumPy's numbers of units leave out one that is gone. */
const char *const np_units[NP_UNITS] = { "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "" };

struct np_time {
    PyObject ob_base;
    int64_t count;
    int unit, multiple;
};
static PyTypeObject *time_types[2]; /* NULL: laid out otherwise than here */
static PyObject *time_data;         /* numpy.datetime_data */

static int find_times(PyObject *numpy)
{
    static const char *const names[] = { "datetime64", "timedelta64" };
    time_data = PyObject_GetAttrString(numpy, "datetime_data");
    for (int i = 0; time_data && i < 2; i++) {
        PyObject *cls = PyObject_GetAttrString(numpy, names[i]);
        PyObject *one = cls ? PyObject_CallFunction(cls, "is", 123456789, "us") : NULL;
        if (!one) {
            Py_XDECREF(cls);
            return -1;
        }
        const struct np_time *t = (const struct np_time *)one;
        if (t->count == 123456789 && t->unit == 9 && t->multiple == 1)
            time_types[i] = (PyTypeObject *)cls; /* kept for the process */
        else
            Py_DECREF(cls);
        Py_DECREF(one);
    }
    return time_data ? 0 : -1;
}

int np_time_scalar(PyObject *o, int *ret_unit)
{
    const struct np_time *t = (const struct np_time *)o;
    int k = Py_TYPE(o) == time_types[0] ? 0 : Py_TYPE(o) == time_types[1] ? 1 : -1;
    if (k < 0 || t->multiple != 1 || t->unit < 0 || t->unit > NP_UNITS)
        return -1;
    *ret_unit = t->unit > 2 ? t->unit - 1 : t->unit;
    return k ? NP_TIMEDELTA : NP_DATETIME;
}

/* Asked of NumPy once a dtype: the latest are remembered. */
#define TIME_DTYPES 16
static struct {
    PyObject *dtype; /* held */
    int unit;
} time_dtypes[TIME_DTYPES];

int np_time_unit(PyObject *dtype)
{
    unsigned slot = (unsigned)((uintptr_t)dtype >> 5) % TIME_DTYPES;
    if (time_dtypes[slot].dtype == dtype)
        return time_dtypes[slot].unit;
    PyObject *data = time_data ? PyObject_CallFunctionObjArgs(time_data, dtype, NULL) : NULL;
    PyObject *name = data ? PyUnicode_AsUTF8String(PyTuple_GetItem(data, 0)) : NULL;
    int unit = -1;
    if (name && PyLong_AsLong(PyTuple_GetItem(data, 1)) == 1)
        for (int i = 0; i < NP_UNITS; i++)
            if (!strcmp(PyBytes_AsString(name), i < NP_UNITS - 1 ? np_units[i] : "generic"))
                unit = i;
    PyErr_Clear();
    Py_XDECREF(name);
    Py_XDECREF(data);
    PyObject *old = time_dtypes[slot].dtype;
    Py_INCREF(dtype);
    time_dtypes[slot].dtype = dtype;
    time_dtypes[slot].unit = unit;
    Py_XDECREF(old);
    return unit;
}

/* "NPDatetime('ns')": its unit, "generic" where it is empty. */
static void unit_of_text(const char *text, char unit[8])
{
    const char *from = strchr(text, '\'');
    size_t n = from ? strcspn(from + 1, "'") : 0;
    if (!n || n > 7) {
        strcpy(unit, "generic");
        return;
    }
    memcpy(unit, from + 1, n);
    unit[n] = 0;
}

PyObject *np_time_dtype(const char *text)
{
    char unit[8], name[20];
    unit_of_text(text, unit);
    snprintf(name, sizeof name, strcmp(unit, "generic") ? "%s8[%s]" : "%s8", text[2] == 'D' ? "M" : "m", unit);
    return PyObject_CallFunction(dtype_class, "s", name);
}

PyObject *np_time_new(const char *text, int64_t count)
{
    char unit[8];
    PyObject *cls = (PyObject *)time_types[text[2] == 'D' ? 0 : 1];
    unit_of_text(text, unit);
    if (!cls) {
        PyErr_SetString(PyExc_RuntimeError, "a time is returned, but this NumPy lays times out in a way that Kiln does not know");
        return NULL;
    }
    if (count == INT64_MIN)
        return PyObject_CallFunction(cls, "ss", "NaT", unit);
    return PyObject_CallFunction(cls, "Ls", (long long)count, unit);
}

int np_ready(void)
{
    if (np_ndarray)
        return 1;
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    PyObject *numpy = modules ? PyDict_GetItemString(modules, "numpy") : NULL;
    PyObject *cls = numpy ? PyObject_GetAttrString(numpy, "ndarray") : NULL;
    if (!cls) { /* not imported, or in the middle of being so */
        PyErr_Clear();
        return 0;
    }
    if (find_table(modules) || find_scalars(numpy) || find_records(numpy) || find_times(numpy)) {
        Py_DECREF(cls);
        return -1;
    }
    np_ndarray = (PyTypeObject *)cls; /* kept for the process */
    return 1;
}

bool np_is_array(PyTypeObject *type)
{
    if (type == np_ndarray)
        return type != NULL;
    for (unsigned i = 0; i < n_accepted; i++)
        if (type == accepted[i])
            return true;
    return false;
}

int np_accept(PyTypeObject *type)
{
    int ready = np_ready();
    if (ready < 0)
        return -1;
    if (!ready || !PyType_IsSubtype(type, np_ndarray)) {
        PyErr_SetString(PyExc_TypeError, "not a subclass of numpy.ndarray");
        return -1;
    }
    if (np_is_array(type))
        return 0;
    if (n_accepted == MAX_ACCEPTED) {
        PyErr_Format(PyExc_ValueError, "at most %d array classes can be accepted", MAX_ACCEPTED);
        return -1;
    }
    Py_INCREF((PyObject *)type);
    accepted[n_accepted++] = type;
    return 0;
}

static int scalar_index(PyTypeObject *type)
{
    for (unsigned i = 0; i < n_scalars; i++)
        if (scalars[i].type == type)
            return (int)i;
    return -1;
}

int np_scalar_kind(PyTypeObject *type)
{
    int i = scalar_index(type);
    return i < 0 ? -1 : scalars[i].number;
}

/* A copy of a size that the compiler knows takes an instruction, of an unknown one twenty nanoseconds. */
static inline void copy_value(void *to, const void *from, size_t size)
{
    if (size == 8)
        memcpy(to, from, 8);
    else if (size == 4)
        memcpy(to, from, 4);
    else if (size == 16)
        memcpy(to, from, 16);
    else if (size == 2)
        memcpy(to, from, 2);
    else
        memcpy(to, from, 1);
}

int np_scalar_read(PyObject *o, int k, void *to)
{
    if (k == NP_DATETIME || k == NP_TIMEDELTA) {
        memcpy(to, &((const struct np_time *)o)->count, 8);
        return 0;
    }
    int i = scalar_index(Py_TYPE(o));
    size_t size = np_kinds[k].size;
    if (i >= 0 && scalars[i].direct) {
        copy_value(to, (char *)o + sizeof(PyObject), size);
        return 0;
    }
    Py_buffer view;
    if (PyObject_GetBuffer(o, &view, PyBUF_SIMPLE))
        return -1;
    int rc = 0;
    if ((size_t)view.len != size) {
        PyErr_SetString(PyExc_SystemError, "a NumPy scalar of unexpected size");
        rc = -1;
    } else {
        memcpy(to, view.buf, size);
    }
    PyBuffer_Release(&view);
    return rc;
}

PyObject *np_scalar_new(int k, const void *value)
{
    unsigned i = of_number[k];
    size_t size = np_kinds[k].size;
    if (scalars[i].direct && scalars[i].alloc) {
        PyObject *o = scalars[i].alloc(scalars[i].type, 0);
        if (o)
            copy_value((char *)o + sizeof(PyObject), value, size);
        return o;
    }
    /* By NumPy's own means: ndarray((), dtype, bytes)[()] */
    PyObject *a =
        PyObject_CallFunction((PyObject *)np_ndarray, "(())sy#", np_kinds[k].name, value, (Py_ssize_t)size);
    PyObject *o = a ? PyObject_CallMethod(a, "__getitem__", "(())") : NULL;
    Py_XDECREF(a);
    return o;
}

static PyObject *with_base(PyObject *a, PyObject *base)
{
    if (!a) {
        Py_XDECREF(base);
        return NULL;
    }
    if (base && set_base(a, base)) { /* takes base over */
        Py_DECREF(a);
        return NULL;
    }
    return a;
}

PyObject *np_new_records(PyObject *dtype, int ndim, const intptr_t *shape, const intptr_t *strides, void *data,
                         bool readonly, PyObject *base)
{
    static char nothing[16]; /* NumPy allocates for itself when data is NULL */
    Py_INCREF(dtype);        /* taken over by NumPy */
    return with_base(new_from_descr(np_ndarray, dtype, ndim, shape, strides, data ? data : nothing,
                                    readonly ? 0 : NP_WRITEABLE, NULL),
                     base);
}

PyObject *np_new(int type_num, int ndim, const intptr_t *shape, const intptr_t *strides, void *data,
                 bool readonly, PyObject *base)
{
    int ready = np_ready();
    if (ready <= 0) {
        if (!ready)
            PyErr_SetString(PyExc_RuntimeError, "an array is returned, but numpy is not imported");
        Py_XDECREF(base);
        return NULL;
    }
    static char nothing[16]; /* NumPy allocates for itself when data is NULL */
    PyObject *a = array_new(np_ndarray, ndim, shape, type_num, strides, data ? data : nothing, 0,
                            readonly ? 0 : NP_WRITEABLE, NULL);
    return with_base(a, base);
}
