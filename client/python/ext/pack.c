/* SPDX-License-Identifier: Apache-2.0
 * pack.c - msgpack of plain Python values, for KIR: shortest forms only, so that equal values are equal
 * bytes. (Python's own msgpack refuses deep nesting, is slower, and is not everywhere.) */
#include <string.h>

#include "client/python/ext/ext.h"
#include "proto/base/buf.h"

#define PACK_BYTES (64u << 20) /* a frame */
#define PACK_DEPTH 64

static void put_big_endian(struct buf *b, uint64_t v, unsigned n)
{
    unsigned char *p = buf_reserve(b, n);
    if (!p)
        return;
    for (unsigned i = 0; i < n; i++)
        p[i] = (unsigned char)(v >> (8 * (n - 1 - i)));
    buf_commit(b, n);
}

static void put_uint(struct buf *b, uint64_t v)
{
    if (v < 128) {
        buf_byte(b, (unsigned char)v);
        return;
    }
    unsigned width = v <= 0xFF ? 1 : v <= 0xFFFF ? 2 : v <= 0xFFFFFFFF ? 4 : 8;
    buf_byte(b, (unsigned char)(0xCC + (width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3)));
    put_big_endian(b, v, width);
}

static void put_negative(struct buf *b, int64_t v)
{
    if (v >= -32) {
        buf_byte(b, (unsigned char)v);
        return;
    }
    unsigned width = v >= INT8_MIN ? 1 : v >= INT16_MIN ? 2 : v >= INT32_MIN ? 4 : 8;
    buf_byte(b, (unsigned char)(0xD0 + (width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3)));
    put_big_endian(b, (uint64_t)v, width);
}

/* Heads with a short form below `fix`, then lengths of 8 (if code8), 16 and 32 bits. */
static void put_head(struct buf *b, uint64_t n, unsigned char fix, unsigned fix_limit, unsigned char code8,
                     unsigned char code16)
{
    if (n < fix_limit) {
        buf_byte(b, (unsigned char)(fix | n));
    } else if (code8 && n <= 0xFF) {
        buf_byte(b, code8);
        put_big_endian(b, n, 1);
    } else if (n <= 0xFFFF) {
        buf_byte(b, code16);
        put_big_endian(b, n, 2);
    } else {
        buf_byte(b, (unsigned char)(code16 + 1));
        put_big_endian(b, n, 4);
    }
}

static int pack_int(struct buf *b, PyObject *o)
{
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) {
        if (v == -1 && PyErr_Occurred())
            return -1;
        if (v >= 0)
            put_uint(b, (uint64_t)v);
        else
            put_negative(b, v);
        return 0;
    }
    unsigned long long u = PyLong_AsUnsignedLongLong(o);
    if (PyErr_Occurred())
        return -1;
    put_uint(b, u);
    return 0;
}

static int pack(struct buf *b, PyObject *o, int depth);

static int pack_list(struct buf *b, PyObject *o, int depth)
{
    bool is_list = PyList_Check(o);
    Py_ssize_t n = is_list ? PyList_Size(o) : PyTuple_Size(o);
    if (depth >= PACK_DEPTH) {
        PyErr_Format(PyExc_ValueError, "nested more than %d levels deep", PACK_DEPTH);
        return -1;
    }
    put_head(b, (uint64_t)n, 0x90, 16, 0, 0xDC);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = is_list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
        if (!item || pack(b, item, depth + 1))
            return -1;
    }
    return 0;
}

static int pack(struct buf *b, PyObject *o, int depth)
{
    Py_ssize_t n;
    if (Py_TYPE(o) == &PyLong_Type)
        return pack_int(b, o);
    if (PyUnicode_Check(o)) {
        const char *p = PyUnicode_AsUTF8AndSize(o, &n);
        if (!p)
            return -1;
        put_head(b, (uint64_t)n, 0xA0, 32, 0xD9, 0xDA);
        buf_add(b, p, (size_t)n);
        return 0;
    }
    if (PyList_Check(o) || PyTuple_Check(o))
        return pack_list(b, o, depth);
    if (o == Py_None) {
        buf_byte(b, 0xC0);
        return 0;
    }
    if (PyBool_Check(o)) {
        buf_byte(b, o == Py_True ? 0xC3 : 0xC2);
        return 0;
    }
    if (PyFloat_Check(o)) {
        double d = PyFloat_AsDouble(o);
        uint64_t bits;
        memcpy(&bits, &d, 8);
        buf_byte(b, 0xCB);
        put_big_endian(b, bits, 8);
        return 0;
    }
    if (PyBytes_Check(o)) {
        char *p;
        if (PyBytes_AsStringAndSize(o, &p, &n))
            return -1;
        put_head(b, (uint64_t)n, 0, 0, 0xC4, 0xC5);
        buf_add(b, p, (size_t)n);
        return 0;
    }
    if (PyLong_Check(o))
        return pack_int(b, o);
    PyErr_Format(PyExc_TypeError, "cannot pack %R", (PyObject *)Py_TYPE(o));
    return -1;
}

PyObject *pack_kir(PyObject *module, PyObject *value)
{
    (void)module;
    struct buf b;
    buf_init(&b, PACK_BYTES);
    PyObject *bytes = NULL;
    if (pack(&b, value, 0) == 0) {
        if (buf_ok(&b))
            bytes = PyBytes_FromStringAndSize((const char *)b.data, (Py_ssize_t)b.len);
        else
            PyErr_Format(PyExc_MemoryError, "more than %u bytes", PACK_BYTES);
    }
    buf_done(&b);
    return bytes;
}
