/* SPDX-License-Identifier: Apache-2.0
 * text.c - str and bytes between Python and compiled code.
 *
 * bytes, and a str of ASCII alone, are lent as they lie in the object: no copy. Other strings are not accessible
 * through the stable ABI in the form they are stored in, so they are copied into memory of our own, which the call's
 * header holds (MEM_HELD). Results are always copies. */
#include "client/python/ext/text.h"

#include "client/python/ext/marshal.h"

#include <string.h>

/* Not ASCII: a copy, in the narrowest width. */
static int fill(struct kiln_str *to, PyObject *o, Py_ssize_t n)
{
    Py_UCS4 *code = PyUnicode_AsUCS4Copy(o), all = 0;
    for (Py_ssize_t i = 0; code && i < n; i++)
        all |= code[i];
    intptr_t width = all > 0xFFFF ? 4 : all > 0xFF ? 2 : 1;
    struct kiln_mem *mem = code ? kiln_mem_alloc((int64_t)n * width) : NULL;
    if (!mem) {
        PyMem_Free(code);
        PyErr_NoMemory();
        return -1;
    }
    if (width == 4)
        memcpy(mem->data, code, (size_t)n * 4);
    for (Py_ssize_t i = 0; width == 2 && i < n; i++)
        ((uint16_t *)mem->data)[i] = (uint16_t)code[i];
    for (Py_ssize_t i = 0; width == 1 && i < n; i++)
        ((uint8_t *)mem->data)[i] = (uint8_t)code[i];
    PyMem_Free(code);
    *to = (struct kiln_str){ mem, mem->data, n, width };
    return 0;
}

static int own_bytes(struct kiln_str *to)
{
    struct kiln_mem *mem = kiln_mem_alloc(to->length);
    if (!mem) {
        PyErr_NoMemory();
        return -1;
    }
    if (to->length)
        memcpy(mem->data, to->data, (size_t)to->length);
    to->owner = mem;
    to->data = mem->data;
    return 0;
}

int text_pack(PyObject *o, bool is_bytes, bool owned, struct kiln_mem *header, unsigned char *to)
{
    struct kiln_str s = { .owner = NULL, .width = 1 };
    int rc = 0;
    if (is_bytes) {
        char *p;
        Py_ssize_t n;
        rc = PyBytes_AsStringAndSize(o, &p, &n);
        s.data = p;
        s.length = n;
    } else {
        Py_ssize_t bytes, n = PyUnicode_GetLength(o);
        const char *utf8 = PyUnicode_AsUTF8AndSize(o, &bytes);
        s.data = utf8;
        s.length = n;
        if (!utf8)
            PyErr_Clear(); /* lone surrogates */
        if (!utf8 || bytes != n)
            rc = fill(&s, o, n);
    }
    if (!rc && owned && !s.owner)
        rc = own_bytes(&s);
    if (header)
        *header = (struct kiln_mem){ .size = MEM_HELD, .data = rc ? NULL : s.owner };
    if (!rc)
        memcpy(to, &s, is_bytes ? sizeof(struct kiln_bytes) : sizeof s);
    return rc;
}

static PyObject *from_wide(const struct kiln_str *s)
{
    int order = -1; /* little-endian */
    if (s->width == 4)
        return PyUnicode_DecodeUTF32(s->data, (Py_ssize_t)s->length * 4, "surrogatepass", &order);
    /* not UTF-16: two code points that look like a pair stay two */
    uint32_t *wide = PyMem_Malloc((size_t)s->length * 4 + 4);
    if (!wide)
        return PyErr_NoMemory();
    for (intptr_t i = 0; i < s->length; i++)
        wide[i] = ((const uint16_t *)s->data)[i];
    PyObject *r = PyUnicode_DecodeUTF32((const char *)wide, (Py_ssize_t)s->length * 4, "surrogatepass", &order);
    PyMem_Free(wide);
    return r;
}

PyObject *text_unbox(const unsigned char *p, bool is_bytes)
{
    struct kiln_str s = { .width = 1 };
    PyObject *r;
    memcpy(&s, p, is_bytes ? sizeof(struct kiln_bytes) : sizeof s);
    if (is_bytes)
        r = PyBytes_FromStringAndSize(s.data, s.length);
    else if (!s.length)
        r = PyUnicode_FromStringAndSize("", 0);
    else
        r = s.width <= 1 ? PyUnicode_DecodeLatin1(s.data, s.length, NULL) : from_wide(&s);
    kiln_mem_unref(s.owner);
    return r;
}

void text_drop(const unsigned char *p)
{
    struct kiln_mem *owner; /* comes first */
    memcpy(&owner, p, sizeof owner);
    kiln_mem_unref(owner);
}
