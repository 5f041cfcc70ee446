/* SPDX-License-Identifier: Apache-2.0
 * print.c - fingerprints of values, and the type texts that they stand for. */
#include <stdio.h>
#include <string.h>

#include "client/python/ext/containers.h"
#include "client/python/ext/numpy.h"
#include "client/python/ext/objects.h"
#include "client/python/ext/typed.h"
#include "proto/base/buf.h"

int print_array(PyObject *o, uint32_t words[2])
{
    const struct np_array *a = (const struct np_array *)o;
    const struct np_descr *d = a->descr;
    unsigned number = (unsigned)d->type_num;
    const struct object *record = NULL;
    if (a->nd < 0 || a->nd > NP_MAX_NDIM)
        return 0;
    if (number == NP_VOID && !(record = object_of_dtype((PyObject *)a->descr)))
        return PyErr_Occurred() ? -1 : 0;
    int unit = 0;
    if (number == NP_DATETIME || number == NP_TIMEDELTA) {
        unit = d->byteorder == '>' ? -1 : np_time_unit((PyObject *)a->descr);
        if (unit < 0)
            return 0;
    } else if (!record && (number >= NP_KINDS || !np_kinds[number].name || d->byteorder == '>'))
        return 0;
    unsigned c = a->flags & NP_C ? LAYOUT_C : a->flags & NP_F ? LAYOUT_F : LAYOUT_A;
    if (!(a->flags & NP_WRITEABLE))
        c |= FLAG_READONLY;
    if (!(a->flags & NP_ALIGNED))
        c |= FLAG_UNALIGNED;
    c |= (unsigned)unit << UNIT_SHIFT;
    words[0] = WORD(W_ARRAY, record ? NP_VOID : unit || number == NP_DATETIME || number == NP_TIMEDELTA ? number : np_kinds[number].number,
                    a->nd, c);
    words[1] = record ? record->serial : 0;
    return record ? 2 : 1;
}

static int print_items(struct print *p, PyObject *o, bool careful, bool numba, int depth)
{
    Py_ssize_t n = PyTuple_Size(o);
    if (n >= PRINT_WORDS || depth >= TUPLE_DEPTH)
        return 1;
    p->words[p->n++] = WORD_OF_TUPLE(n);
    for (Py_ssize_t i = 0; i < n; i++) {
        int rc = print_value(p, PyTuple_GetItem(o, i), careful, numba, depth + 1);
        if (rc)
            return rc;
    }
    return 0;
}

/* What neither Python nor NumPy has built in: by the object's class, or by the object itself. */
static int print_object(struct print *p, PyObject *o, bool careful, bool numba, int depth)
{
    PyTypeObject *type = Py_TYPE(o);
    if (p->n + 2 > PRINT_WORDS)
        return 1;
    if (np_is_record(type)) {
        PyObject *dtype;
        bool readonly;
        np_record_read(o, &dtype, &readonly);
        const struct object *r = object_of_dtype(dtype);
        if (!r)
            return PyErr_Occurred() ? -1 : 1;
        p->words[p->n++] = WORD(W_RECORD, readonly ? FLAG_READONLY : 0, 0, 0);
        p->words[p->n++] = r->serial;
        return 0;
    }
    const struct object *r = object_learn((PyObject *)type);
    if (!r && PyErr_Occurred())
        return -1;
    if (r && r->kind == O_NAMEDTUPLE) {
        p->words[p->n++] = WORD_OF_SERIAL(W_NAMED, r->serial);
        return print_items(p, o, careful, numba, depth);
    }
    if (r && (r->kind == O_ENUM || r->kind == O_INTENUM)) {
        p->words[p->n++] = WORD_OF_SERIAL(W_ENUM, r->serial);
        return 0;
    }
    r = object_learn(o);
    if (!r)
        return PyErr_Occurred() ? -1 : 1;
    if (r->kind != O_FUNCTION && r->kind != O_TYPE && r->kind != O_RECORD)
        return 1;
    p->words[p->n++] = WORD_OF_SERIAL(r->kind == O_FUNCTION ? W_FUNCTION : W_TYPE, r->serial);
    return 0;
}

/* Ints past int64: 0 with the tag, or -1. */
static int print_int(PyObject *o, bool numba, uint32_t *ret)
{
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    *ret = WORD(W_INT, 0, 0, 0);
    if (!overflow)
        return v == -1 && PyErr_Occurred() ? -1 : 0;
    if (overflow > 0 && numba) {
        PyLong_AsUnsignedLongLong(o);
        if (!PyErr_Occurred()) {
            *ret = WORD(W_UINT, 0, 0, 0);
            return 0;
        }
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_OverflowError, "int too large for compiled code: integers have 64 bits there");
    return -1;
}

/* Arrays of an accepted class, and objects. */
static int print_other(struct print *p, PyObject *o, bool careful, bool numba, int depth)
{
    uint32_t words[2];
    if (!np_is_array(Py_TYPE(o)))
        return print_object(p, o, careful, numba, depth);
    int n = print_array(o, words);
    if (n <= 0 || p->n + 2 > PRINT_WORDS)
        return n < 0 ? -1 : 1;
    for (int i = 0; i < n; i++)
        p->words[p->n++] = words[i];
    return 0;
}

int print_value(struct print *p, PyObject *o, bool careful, bool numba, int depth)
{
    PyTypeObject *type = Py_TYPE(o);
    uint32_t w;
    if (p->n >= PRINT_WORDS)
        return 1;
    if (type == &PyFloat_Type) {
        w = WORD(W_FLOAT, 0, 0, 0);
    } else if (type == np_ndarray) { /* not NULL: no object has that type */
        uint32_t words[2];
        int n = print_array(o, words);
        if (n <= 0)
            return n < 0 ? -1 : 1;
        w = words[0];
        if (n > 1) {
            if (p->n + 2 > PRINT_WORDS)
                return 1;
            p->words[p->n++] = w;
            w = words[1];
        }
    } else if (type == &PyLong_Type) {
        w = WORD(W_INT, 0, 0, 0);
        if (careful && print_int(o, numba, &w))
            return -1;
    } else if (type == &PyBool_Type) {
        w = WORD(W_BOOL, 0, 0, 0);
    } else if (type == &PyComplex_Type) {
        w = WORD(W_COMPLEX, 0, 0, 0);
    } else if (o == Py_None) {
        w = WORD(W_NONE, 0, 0, 0);
    } else if (type == &PyUnicode_Type) {
        w = WORD(W_STR, 0, 0, 0);
    } else if (type == &PyBytes_Type) {
        w = WORD(W_BYTES, 0, 0, 0);
    } else if (type == &PyTuple_Type) {
        return print_items(p, o, careful, numba, depth);
    } else if (typed_number(o, &w)) {
        w = WORD_OF_SERIAL(W_TYPED, w);
    } else if (typed_object(o, &w)) {
        w = WORD_OF_SERIAL(W_OBJECT, w);
    } else if (is_python_container(type)) {
        return print_container(p, o, careful, numba, depth);
    } else {
        int unit = 0, k = np_ready() > 0 ? np_scalar_kind(type) : -1;
        if (k < 0 && np_ndarray)
            k = np_time_scalar(o, &unit);
        if (k < 0)
            return PyErr_Occurred() ? -1 : print_other(p, o, careful, numba, depth);
        w = WORD(W_SCALAR, k, unit, 0);
    }
    p->words[p->n++] = w;
    return 0;
}

static const char *time_text(unsigned number, unsigned unit, char text[24])
{
    snprintf(text, 24, "NP%s('%s')", number == NP_DATETIME ? "Datetime" : "Timedelta", np_units[unit]);
    return text;
}

static void array_text(struct buf *b, const uint32_t **more)
{
    uint32_t w = (*more)[-1];
    char time[24];
    const char *name = WORD_A(w) == NP_VOID ? object_at(*(*more)++)->text
                       : WORD_A(w) == NP_DATETIME || WORD_A(w) == NP_TIMEDELTA
                           ? time_text(WORD_A(w), WORD_C(w) >> UNIT_SHIFT, time)
                           : np_kinds[WORD_A(w)].name;
    unsigned ndim = WORD_B(w), c = WORD_C(w), layout = c & LAYOUT_MASK;
    if (ndim == 0 || c & (FLAG_READONLY | FLAG_UNALIGNED)) {
        buf_printf(b, "Array(%s, %u, '%c'%s%s)", name, ndim, "CFA"[layout],
                   c & FLAG_READONLY ? ", readonly=True" : "", c & FLAG_UNALIGNED ? ", aligned=False" : "");
        return;
    }
    buf_printf(b, "%s[", name);
    for (unsigned i = 0; i < ndim; i++) {
        bool unit = (layout == LAYOUT_C && i + 1 == ndim) || (layout == LAYOUT_F && i == 0);
        buf_printf(b, "%s%s", i ? ", " : "", unit ? "::1" : ":");
    }
    buf_byte(b, ']');
}

static void words_text(struct buf *b, const uint32_t **w, bool numba);

static void items_text(struct buf *b, const uint32_t **w, unsigned n, bool numba)
{
    for (unsigned i = 0; i < n; i++) {
        buf_str(b, i ? ", " : "");
        words_text(b, w, numba);
    }
    buf_str(b, n == 1 ? ",))" : "))");
}

/* The canonical text of the value whose words begin at *w; moves *w behind it. */
static void words_text(struct buf *b, const uint32_t **w, bool numba)
{
    uint32_t v = *(*w)++;
    switch (WORD_TAG(v)) {
    case W_NONE:
        buf_str(b, "none");
        break;
    case W_BOOL:
        buf_str(b, "bool");
        break;
    case W_INT:
        buf_str(b, numba ? "int64" : "pyint");
        break;
    case W_UINT:
        buf_str(b, "uint64");
        break;
    case W_FLOAT:
        buf_str(b, numba ? "float64" : "pyfloat");
        break;
    case W_COMPLEX:
        buf_str(b, numba ? "complex128" : "pycomplex");
        break;
    case W_SCALAR:
        buf_str(b, WORD_A(v) == NP_DATETIME || WORD_A(v) == NP_TIMEDELTA
                       ? time_text(WORD_A(v), WORD_B(v), (char[24]){ 0 })
                       : np_kinds[WORD_A(v)].name);
        break;
    case W_ARRAY:
        array_text(b, w);
        break;
    case W_STR:
        buf_str(b, "unicode_type");
        break;
    case W_BYTES:
        buf_str(b, "bytes_type");
        break;
    case W_NAMED:
        buf_printf(b, "NamedTuple(@%u, (", WORD_SERIAL(v));
        v = *(*w)++;
        items_text(b, w, WORD_ITEMS(v), numba);
        break;
    case W_ENUM:
        buf_printf(b, "%s(@%u)", object_at(WORD_SERIAL(v))->kind == O_INTENUM ? "IntEnum" : "Enum",
                   WORD_SERIAL(v));
        break;
    case W_OBJECT:
        buf_printf(b, "object(@%u)", WORD_SERIAL(v));
        break;
    case W_FUNCTION:
        buf_printf(b, "function(@%u)", WORD_SERIAL(v));
        break;
    case W_TYPE:
        buf_printf(b, "class(%s)", object_at(WORD_SERIAL(v))->text);
        break;
    case W_RECORD: {
        const char *text = object_at(*(*w)++)->text;
        buf_printf(b, "%.*s%s)", (int)strlen(text) - 1, text, WORD_A(v) & FLAG_READONLY ? ";readonly" : "");
        break;
    }
    case W_TYPED:
        buf_str(b, typed_text(WORD_SERIAL(v)));
        break;
    case W_CONTAINER: {
        unsigned kind = WORD_A(v);
        const char *nothing = numba ? "int64" : "pyint"; /* of an empty one nothing is known */
        buf_str(b, kind == KILN_T_LIST ? "list(" : kind == KILN_T_SET ? "set(" : "dict(");
        for (int i = 0; i < (kind == KILN_T_DICT ? 2 : 1); i++) {
            buf_str(b, i ? ", " : "");
            if (WORD_B(v))
                buf_str(b, nothing);
            else
                words_text(b, w, numba);
        }
        buf_byte(b, ')');
        break;
    }
    default: { /* W_TUPLE */
        buf_str(b, "Tuple((");
        items_text(b, w, WORD_ITEMS(v), numba);
    }
    }
}

PyObject *print_text(PyObject *o, bool numba)
{
    struct print p = { .n = 0 };
    if (np_ready() < 0)
        return NULL;
    int rc = print_value(&p, o, true, numba, 0);
    if (rc < 0)
        return NULL;
    if (rc > 0) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    struct buf b;
    buf_init(&b, 1u << 20);
    const uint32_t *w = p.words;
    words_text(&b, &w, numba);
    PyObject *text =
        buf_ok(&b) ? PyUnicode_FromStringAndSize((const char *)b.data, (Py_ssize_t)b.len) : PyErr_NoMemory();
    buf_done(&b);
    return text;
}
