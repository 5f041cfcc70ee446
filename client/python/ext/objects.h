/* SPDX-License-Identifier: Apache-2.0
 * objects.h - Python objects that are types, or whose identity is part of a type: classes of named tuples, enums,
 * dtypes and classes passed as values, compiled functions passed as values.
 *
 * Each gets a serial number in this process when it is first met; fingerprints hold serials, and type texts
 * hold "@serial" where a module's own number will stand (function.py puts it there). What an object is, is
 * asked of kilnjit.usertypes once. Objects stay alive from then on, so that a serial never changes its meaning. */
#ifndef KILN_EXT_OBJECTS_H
#define KILN_EXT_OBJECTS_H

#include "client/python/ext/ext.h"

enum object_kind {
    O_NAMEDTUPLE, /* a class */
    O_ENUM,       /* a class */
    O_INTENUM,    /* a class */
    O_FUNCTION,   /* a Dispatcher */
    O_TYPE,       /* text: the type that it means; several objects may share a serial */
    O_RECORD,     /* text: a structured dtype; o is the dtype that results have */
    O_CLASS,      /* a jitclass */
};
struct object {
    PyObject *o;
    enum object_kind kind;
    uint32_t serial;
    const char *text;   /* TYPE, RECORD; else NULL */
    uint32_t n;         /* ENUM, INTENUM: members */
    PyObject **members; /* borrowed from the class */
    int64_t *values;    /* INTENUM */
};

#define OBJECT_MAX_SERIAL ((1u << 24) - 1) /* what a word has room for */

/* The object's entry, NULL if it was not met before. */
const struct object *object_find(PyObject *o);
/* The same, and asked of the package if it was not. NULL without an exception when it is no such object. */
const struct object *object_learn(PyObject *o);
/* A structured dtype: found without keeping each of the many equal ones that programs make. */
const struct object *object_of_dtype(PyObject *dtype);
/* By what texts say: a record's text, made known if it is new. NULL with an exception. */
const struct object *object_of_record(const char *text);
const struct object *object_at(uint32_t serial);
/* Position of a member in its enum, -1 if it is none. */
int32_t object_member(PyObject *member);
/* The member of an INTENUM with this value: a new reference, by the class itself where it is no member's (flags). */
PyObject *object_member_of(const struct object *o, int64_t value);

/* _kiln.object_of(serial), and the other way round: KeyError for what has none. */
PyObject *objects_by_serial(PyObject *module, PyObject *serial);
PyObject *objects_serial_of(PyObject *module, PyObject *o);

#endif
