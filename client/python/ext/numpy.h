/* SPDX-License-Identifier: Apache-2.0
 * numpy.h - NumPy without its headers, so that one binary serves 1.24 to 2.x.
 *
 * Only what is laid out alike in all of them is read: of an array the fields from data to flags, of its
 * dtype type_num and byte order, of a scalar the value behind the object's head (checked once against
 * the scalar's own bytes). New arrays come from three slots of NumPy's C table that never moved. */
#ifndef KILN_EXT_NUMPY_H
#define KILN_EXT_NUMPY_H

#include "client/python/ext/ext.h"

struct np_descr {
    PyObject ob_base;
    PyTypeObject *typeobj;
    char kind, type, byteorder, flags;
    int type_num;
};

struct np_array {
    PyObject ob_base;
    char *data;
    int nd;
    intptr_t *dimensions, *strides;
    PyObject *base;
    struct np_descr *descr;
    int flags;
};

enum { NP_C = 0x1, NP_F = 0x2, NP_ALIGNED = 0x100, NP_WRITEABLE = 0x400 };
#define NP_MAX_NDIM 32
#define NP_VOID 20 /* type_num of structured dtypes */

/* Rows of types.def that NumPy has, by type_num; longlong counts as int64. */
struct np_kind {
    const char *name; /* canonical text, NULL: not supported */
    uint8_t number;   /* type_num of the canonical type */
    uint8_t size;     /* bytes */
};
#define NP_KINDS 24
extern const struct np_kind np_kinds[NP_KINDS];

/* Whether numpy has been imported by the program, and its types are known here. Never imports it.
 * Cheap when it has been seen. -1 with an exception when something is wrong with it. */
int np_ready(void);
extern PyTypeObject *np_ndarray; /* NULL until np_ready */
/* Exact ndarray, or one of the accepted subclasses. */
bool np_is_array(PyTypeObject *type);
int np_accept(PyTypeObject *type);
/* Canonical type_num of a scalar type, or -1. */
int np_scalar_kind(PyTypeObject *type);
/* Copy the value of a scalar of kind k (np_scalar_kind) to `to`. */
int np_scalar_read(PyObject *o, int k, void *to);

/* Units of time, by position in np_units: of a dtype of kind NP_DATETIME or NP_TIMEDELTA, -1 if it
 * has several at once; of a scalar, with its kind. -1: not so. */
enum { NP_DATETIME = 21, NP_TIMEDELTA = 22, NP_UNITS = 14 };
extern const char *const np_units[NP_UNITS]; /* as type texts have them */
int np_time_unit(PyObject *dtype);
int np_time_scalar(PyObject *o, int *ret_unit);
/* The dtype and the scalar of a type's text: "NPDatetime('ns')". New references. */
PyObject *np_time_dtype(const char *text);
PyObject *np_time_new(const char *text, int64_t count);

/* A scalar of kind k with this value (np_kinds[k].size bytes). NumPy must be known: np_ready() > 0. */
PyObject *np_scalar_new(int k, const void *value);

/* A new array over `data`; takes over `base` even on failure. */
PyObject *np_new(int type_num, int ndim, const intptr_t *shape, const intptr_t *strides, void *data,
                 bool readonly, PyObject *base);


/* Whether this is the class of a record: numpy.void or numpy.record. NumPy must be known. */
bool np_is_record(PyTypeObject *type);
/* Its dtype (borrowed) and whether it may be written; returns the address of its bytes. */
void *np_record_read(PyObject *o, PyObject **ret_dtype, bool *ret_readonly);
/* A record with a copy of these bytes. */
PyObject *np_record_new(PyObject *dtype, const void *data);
/* As np_new, of a structured dtype (borrowed). */
PyObject *np_new_records(PyObject *dtype, int ndim, const intptr_t *shape, const intptr_t *strides, void *data,
                         bool readonly, PyObject *base);

#endif
