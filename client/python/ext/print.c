/* SPDX-License-Identifier: Apache-2.0
 * print.c - fingerprints of values, and the type texts that they stand for. */
#include <string.h>

#include "client/python/ext/marshal.h"
#include "client/python/ext/numpy.h"
#include "proto/base/buf.h"

uint32_t print_array(PyObject *o)
{
    const struct np_array *a = (const struct np_array *)o;
    const struct np_descr *d = a->descr;
    unsigned number = (unsigned)d->type_num;
    if (number >= NP_KINDS || !np_kinds[number].name || d->byteorder == '>' || a->nd < 0 ||
        a->nd > NP_MAX_NDIM)
        return 0;
    unsigned c = a->flags & NP_C ? LAYOUT_C : a->flags & NP_F ? LAYOUT_F : LAYOUT_A;
    if (!(a->flags & NP_WRITEABLE))
        c |= FLAG_READONLY;
    if (!(a->flags & NP_ALIGNED))
        c |= FLAG_UNALIGNED;
    return WORD(W_ARRAY, np_kinds[number].number, a->nd, c);
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

int print_value(struct print *p, PyObject *o, bool careful, bool numba, int depth)
{
    PyTypeObject *type = Py_TYPE(o);
    uint32_t w;
    if (p->n >= PRINT_WORDS)
        return 1;
    if (type == &PyFloat_Type) {
        w = WORD(W_FLOAT, 0, 0, 0);
    } else if (type == np_ndarray) { /* not NULL: no object has that type */
        w = print_array(o);
        if (!w)
            return 1;
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
    } else if (type == &PyTuple_Type) {
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
    } else {
        int ready = np_ready();
        if (ready <= 0)
            return ready ? -1 : 1;
        int k = np_scalar_kind(type);
        w = k >= 0 ? WORD(W_SCALAR, k, 0, 0) : np_is_array(type) ? print_array(o) : 0;
        if (!w)
            return 1;
    }
    p->words[p->n++] = w;
    return 0;
}

static void array_text(struct buf *b, uint32_t w)
{
    const char *name = np_kinds[WORD_A(w)].name;
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
        buf_str(b, np_kinds[WORD_A(v)].name);
        break;
    case W_ARRAY:
        array_text(b, v);
        break;
    default: { /* W_TUPLE */
        unsigned n = WORD_ITEMS(v);
        buf_str(b, "Tuple((");
        for (unsigned i = 0; i < n; i++) {
            buf_str(b, i ? ", " : "");
            words_text(b, w, numba);
        }
        buf_str(b, n == 1 ? ",))" : "))");
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
