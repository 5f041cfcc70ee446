/* SPDX-License-Identifier: Apache-2.0
 * bind.c - calls with keywords, defaults and *args: who gets which parameter, by Python's rules. */
#include <string.h>

#include "client/python/ext/dispatch.h"

enum { KIND_POSONLY = 1, KIND_NORMAL, KIND_STAR, KIND_KWONLY }; /* KIR_PARAM in proto/ir/enums.def */

static int find_name(struct dispatcher *d, PyObject *name, bool *ret_posonly)
{
    *ret_posonly = false;
    for (uint32_t i = 0; i < d->n_params; i++) {
        PyObject *param = PyTuple_GetItem(d->params, i);
        if (param == name || PyUnicode_Compare(param, name) == 0) {
            if (d->kinds[i] == KIND_NORMAL || d->kinds[i] == KIND_KWONLY)
                return (int)i;
            *ret_posonly = d->kinds[i] == KIND_POSONLY;
            return -1;
        }
    }
    return -1;
}

static int wrong_count(struct dispatcher *d, Py_ssize_t given)
{
    uint32_t least = 0;
    for (uint32_t i = 0; i < d->n_positional; i++)
        least += PyTuple_GetItem(d->defaults, i) == ext_missing;
    if (least == d->n_positional)
        PyErr_Format(PyExc_TypeError, "%U() takes %u positional argument%s but %zd %s given", d->name,
                     d->n_positional, d->n_positional == 1 ? "" : "s", given, given == 1 ? "was" : "were");
    else
        PyErr_Format(PyExc_TypeError, "%U() takes from %u to %u positional arguments but %zd were given",
                     d->name, least, d->n_positional, given);
    return -1;
}

static int missing(struct dispatcher *d, PyObject *const *values)
{
    for (uint32_t i = 0; i < d->n_params; i++)
        if (!values[i]) {
            PyErr_Format(PyExc_TypeError, "%U() missing required %sargument: %R", d->name,
                         d->kinds[i] == KIND_KWONLY ? "keyword-only " : "positional ",
                         PyTuple_GetItem(d->params, i));
            return -1;
        }
    return 0;
}

int bind_arguments(struct dispatcher *d, PyObject *const *args, Py_ssize_t n_args, PyObject *names,
                   PyObject **values, PyObject **ret_owned)
{
    *ret_owned = NULL;
    memset(values, 0, d->n_params * sizeof *values);
    Py_ssize_t taken = n_args < (Py_ssize_t)d->n_positional ? n_args : (Py_ssize_t)d->n_positional;
    for (Py_ssize_t i = 0; i < taken; i++) /* positional parameters come first */
        values[i] = args[i];
    if (d->star >= 0) {
        PyObject *rest = PyTuple_New(n_args - taken);
        if (!rest)
            return -1;
        for (Py_ssize_t i = taken; i < n_args; i++) {
            Py_INCREF(args[i]);
            PyTuple_SetItem(rest, i - taken, args[i]);
        }
        values[d->star] = *ret_owned = rest;
    } else if (n_args > taken) {
        return wrong_count(d, n_args);
    }
    for (Py_ssize_t i = 0, n = names ? PyTuple_Size(names) : 0; i < n; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        bool posonly;
        int at = find_name(d, name, &posonly);
        if (at < 0) {
            PyErr_Format(PyExc_TypeError,
                         posonly ? "%U() got a positional-only argument passed as keyword: %R"
                                 : "%U() got an unexpected keyword argument %R",
                         d->name, name);
            goto fail;
        }
        if (values[at]) {
            PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument %R", d->name, name);
            goto fail;
        }
        values[at] = args[n_args + i];
    }
    for (uint32_t i = 0; i < d->n_params; i++)
        if (!values[i]) {
            PyObject *value = PyTuple_GetItem(d->defaults, i);
            values[i] = value == ext_missing ? NULL : value;
        }
    if (missing(d, values) == 0)
        return 0;
fail:
    Py_CLEAR(*ret_owned);
    return -1;
}
