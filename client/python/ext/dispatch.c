/* SPDX-License-Identifier: Apache-2.0
 * dispatch.c - the Dispatcher type: a compiled function as Python sees it.
 *
 * A call with argument types that were met before makes no Python object but the result. */
#include "client/python/ext/dispatch.h"

#include "client/python/ext/numpy.h"

static PyTypeObject *dispatcher_type;
static PyObject *method_type; /* types.MethodType */

/* ---- calling ----------------------------------------------------------------------------------- */

static inline bool same_words(const struct entry *en, const struct print *p)
{
    if (en->n_words != p->n)
        return false;
    for (uint32_t i = 0; i < p->n; i++) /* one to five as a rule: less than a call of memcmp */
        if (en->words[i] != p->words[i])
            return false;
    return true;
}

/* Arguments are in the order of parameters. */
static inline PyObject *call_bound(struct dispatcher *d, PyObject *const *values)
{
    struct print p;
    p.n = 0;
    for (uint32_t i = 0, n = d->n_params; i < n; i++) {
        PyObject *o = values[i];
        PyTypeObject *type = Py_TYPE(o);
        /* n_params is below PRINT_WORDS, but a tuple before may have used the room. */
        if (type == &PyFloat_Type && p.n < PRINT_WORDS) {
            p.words[p.n++] = WORD(W_FLOAT, 0, 0, 0);
        } else if (type == &PyLong_Type && p.n < PRINT_WORDS) {
            p.words[p.n++] = WORD(W_INT, 0, 0, 0);
        } else {
            int rc = print_value(&p, o, false, d->numba, 0);
            if (rc)
                return rc < 0 ? NULL : dispatch_slowly(d, values);
        }
    }
    struct entry *en = d->last;
    if (!en || !same_words(en, &p)) {
        en = table_find(d, &p);
        if (!en)
            return dispatch_slowly(d, values);
        d->last = en;
    }
    if (en->spec->n_env && !specialization_fresh(en->spec))
        return dispatch_slowly(d, values);
    bool overflow = false;
    PyObject *result = specialization_call(en->spec, en->plan, values, &overflow);
    if (__builtin_expect(!result && overflow, 0))
        return dispatch_slowly(d, values);
    return result;
}

static PyObject *dispatcher_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    struct dispatcher *d = (struct dispatcher *)self;
    Py_ssize_t n = EXT_NARGS(nargsf);
    if (__builtin_expect(d->simple && !names && n == (Py_ssize_t)d->n_params, 1))
        return call_bound(d, args);
    if (!d->compile_for) {
        PyErr_SetString(PyExc_TypeError, "the Dispatcher was not initialized");
        return NULL;
    }
    PyObject *values[PRINT_WORDS], *owned;
    if (bind_arguments(d, args, n, names, values, &owned))
        return NULL;
    PyObject *result = call_bound(d, values);
    Py_XDECREF(owned);
    return result;
}

/* With a tuple and a dict: turned into the other form. */
static PyObject *dispatcher_call_tuple(PyObject *self, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t n = PyTuple_Size(args), more = kwargs ? PyDict_Size(kwargs) : 0, at = 0;
    PyObject **all = PyMem_Malloc((size_t)(n + more + 1) * sizeof *all);
    PyObject *names = more ? PyTuple_New(more) : NULL, *key, *value, *result = NULL;
    if (!all || (more && !names)) {
        if (!all)
            PyErr_NoMemory();
        goto out;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        all[i] = PyTuple_GetItem(args, i);
    for (Py_ssize_t i = 0; more && PyDict_Next(kwargs, &at, &key, &value); i++) {
        Py_INCREF(key);
        PyTuple_SetItem(names, i, key);
        all[n + i] = value;
    }
    result = dispatcher_call(self, all, (size_t)n, names);
out:
    Py_XDECREF(names);
    PyMem_Free(all);
    return result;
}

/* ---- methods ----------------------------------------------------------------------------------- */

static PyObject *dispatcher_add(struct dispatcher *d, PyObject *spec)
{
    if (Py_TYPE(spec) != specialization_type || !((struct specialization *)spec)->artifact ||
        ((struct specialization *)spec)->sig->n_params != d->n_params) {
        PyErr_Format(PyExc_TypeError, "add() takes a Specialization with %u parameters", d->n_params);
        return NULL;
    }
    int known = PySequence_Contains(d->specs, spec);
    if (known < 0 || (!known && PyList_Append(d->specs, spec)))
        return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *dispatcher_find(struct dispatcher *d, PyObject *args)
{
    PyObject *given[PRINT_WORDS], *values[PRINT_WORDS], *owned;
    Py_ssize_t n = PyTuple_Size(args);
    if (n > PRINT_WORDS) {
        PyErr_SetString(PyExc_TypeError, "too many arguments");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        given[i] = PyTuple_GetItem(args, i);
    if (np_ready() < 0 || bind_arguments(d, given, n, NULL, values, &owned))
        return NULL;
    struct print p = { .n = 0 };
    int rc = 0;
    for (uint32_t i = 0; !rc && i < d->n_params; i++)
        rc = print_value(&p, values[i], true, d->numba, 0);
    struct specialization *s = NULL;
    struct plan *plan = NULL;
    if (!rc) {
        struct entry *en = table_find(d, &p);
        if (en && specialization_fresh(en->spec))
            s = en->spec;
        else if (table_choose(d, &p, d->disabled, &s, &plan))
            rc = -1;
    }
    PyMem_Free(plan);
    Py_XDECREF(owned);
    if (rc < 0)
        return NULL;
    PyObject *found = s ? (PyObject *)s : Py_None;
    Py_INCREF(found);
    return found;
}

static PyObject *dispatcher_clear_method(struct dispatcher *d, PyObject *unused)
{
    (void)unused;
    table_clear(d);
    if (PyList_SetSlice(d->specs, 0, PyList_Size(d->specs), NULL))
        return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *dispatcher_disable(struct dispatcher *d, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "off", NULL };
    int off = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p", names, &off))
        return NULL;
    d->disabled = off;
    table_clear(d); /* entries made by the other rule */
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *dispatcher_get(PyObject *self, PyObject *instance, PyObject *type)
{
    (void)type;
    if (!instance || instance == Py_None) {
        Py_INCREF(self);
        return self;
    }
    return PyObject_CallFunctionObjArgs(method_type, self, instance, NULL);
}

static PyObject *dispatcher_getattr(struct dispatcher *d, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr((PyObject *)d, name);
    if (found || !d->owner || d->owner == Py_None || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    /* Protocols look for __names__ on every object: those are never the owner's. */
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text || (text[0] == '_' && text[1] == '_'))
        return NULL;
    PyErr_Clear();
    return PyObject_GetAttr(d->owner, name);
}

/* ---- life -------------------------------------------------------------------------------------- */

static int set_params(struct dispatcher *d, PyObject *params, PyObject *kinds)
{
    d->params = PySequence_Tuple(params);
    if (!d->params)
        return -1;
    Py_ssize_t n = PyTuple_Size(d->params);
    if (n >= PRINT_WORDS || PySequence_Size(kinds) != n) {
        PyErr_Format(PyExc_ValueError, "at most %d parameters, with as many kinds", PRINT_WORDS - 1);
        return -1;
    }
    d->kinds = PyMem_Calloc((size_t)n + 1, 1);
    if (!d->kinds) {
        PyErr_NoMemory();
        return -1;
    }
    d->star = -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(kinds, i);
        long kind = item ? PyLong_AsLong(item) : -1;
        Py_XDECREF(item);
        if (kind < 1 || kind > 4 || !PyUnicode_Check(PyTuple_GetItem(d->params, i))) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "parameters are str with a kind of 1 to 4");
            return -1;
        }
        d->kinds[i] = (uint8_t)kind;
        if (kind == 3)
            d->star = (int32_t)i;
        if (kind <= 2)
            d->n_positional++;
    }
    d->n_params = (uint32_t)n;
    return 0;
}

static int dispatcher_init(struct dispatcher *d, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "name", "params", "kinds", "defaults", "compile_for", "numba", "owner", NULL };
    PyObject *name, *params, *kinds, *defaults, *compile_for, *owner = NULL;
    int numba = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "UOOOO|$pO", names, &name, &params, &kinds, &defaults,
                                     &compile_for, &numba, &owner))
        return -1;
    if (d->compile_for) {
        PyErr_SetString(PyExc_TypeError, "a Dispatcher is made once");
        return -1;
    }
    if (set_params(d, params, kinds))
        return -1;
    d->defaults = PySequence_Tuple(defaults);
    d->specs = PyList_New(0);
    if (!d->defaults || !d->specs)
        return -1;
    if (PyTuple_Size(d->defaults) != (Py_ssize_t)d->n_params) {
        PyErr_SetString(PyExc_ValueError, "defaults are as many as params");
        return -1;
    }
    Py_INCREF(name);
    d->name = name;
    d->numba = numba;
    Py_XINCREF(owner);
    d->owner = owner;
    Py_INCREF(compile_for);
    d->compile_for = compile_for; /* last: it says that the rest is there */
    d->simple = d->n_positional == d->n_params;
    return 0;
}

static PyObject *dispatcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *self = PyType_GenericNew(type, args, kwargs);
    if (self)
        ((struct dispatcher *)self)->call =
            dispatcher_call; /* binds slowly, and so refuses, until initialized */
    return self;
}

static int dispatcher_traverse(struct dispatcher *d, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(&d->ob_base));
    Py_VISIT(d->defaults);
    Py_VISIT(d->compile_for);
    Py_VISIT(d->owner);
    Py_VISIT(d->dict);
    Py_VISIT(d->specs);
    for (uint32_t i = 0; i < d->n_buckets; i++)
        for (struct entry *en = d->buckets[i]; en; en = en->next)
            Py_VISIT(&en->spec->ob_base);
    for (struct entry *en = d->trash; en; en = en->next)
        Py_VISIT(&en->spec->ob_base);
    return 0;
}

static int dispatcher_tp_clear(struct dispatcher *d)
{
    table_clear(d);
    d->simple = false;
    Py_CLEAR(d->compile_for);
    Py_CLEAR(d->owner);
    Py_CLEAR(d->dict);
    Py_CLEAR(d->specs);
    return 0;
}

static void dispatcher_dealloc(struct dispatcher *d)
{
    PyTypeObject *type = Py_TYPE(&d->ob_base);
    PyObject_GC_UnTrack(d);
    if (d->weak)
        PyObject_ClearWeakRefs((PyObject *)d);
    dispatcher_tp_clear(d);
    Py_CLEAR(d->defaults);
    Py_CLEAR(d->params);
    Py_CLEAR(d->name);
    PyMem_Free(d->kinds);
    PyObject_GC_Del(d);
    Py_DECREF((PyObject *)type);
}

static PyObject *dispatcher_repr(struct dispatcher *d)
{
    return PyUnicode_FromFormat("<kilnjit function %S>", d->name ? d->name : Py_None);
}

static PyMethodDef dispatcher_methods[] = {
    { "add", (PyCFunction)dispatcher_add, METH_O, "Install a Specialization." },
    { "find", (PyCFunction)dispatcher_find, METH_VARARGS,
      "The Specialization that these arguments would use, or None." },
    { "clear", (PyCFunction)dispatcher_clear_method, METH_NOARGS, "Drop all specializations." },
    { "disable", (PyCFunction)(void (*)(void))dispatcher_disable, METH_VARARGS | METH_KEYWORDS,
      "Make no new specializations; convert arguments instead." },
    { NULL, NULL, 0, NULL },
};
static PyMemberDef dispatcher_members[] = {
    { "owner", T_OBJECT, offsetof(struct dispatcher, owner), 0,
      "Where attributes are looked up that are not found here." },
    { "specializations", T_OBJECT_EX, offsetof(struct dispatcher, specs), READONLY,
      "In order of installation." },
    { "__vectorcalloffset__", T_PYSSIZET, offsetof(struct dispatcher, call), READONLY, NULL },
    { "__dictoffset__", T_PYSSIZET, offsetof(struct dispatcher, dict), READONLY, NULL },
    { "__weaklistoffset__", T_PYSSIZET, offsetof(struct dispatcher, weak), READONLY, NULL },
    { NULL, 0, 0, 0, NULL },
};
static PyGetSetDef dispatcher_getset[] = {
    { "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};
static PyType_Slot dispatcher_slots[] = {
    { Py_tp_new, dispatcher_new },          { Py_tp_init, dispatcher_init },
    { Py_tp_dealloc, dispatcher_dealloc },  { Py_tp_traverse, dispatcher_traverse },
    { Py_tp_clear, dispatcher_tp_clear },   { Py_tp_call, dispatcher_call_tuple },
    { Py_tp_getattro, dispatcher_getattr }, { Py_tp_descr_get, dispatcher_get },
    { Py_tp_repr, dispatcher_repr },        { Py_tp_methods, dispatcher_methods },
    { Py_tp_members, dispatcher_members },  { Py_tp_getset, dispatcher_getset },
    { Py_tp_doc, "A compiled function." },  { 0, NULL },
};
static PyType_Spec dispatcher_spec = {
    .name = "kilnjit._kiln.Dispatcher",
    .basicsize = sizeof(struct dispatcher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | EXT_HAVE_VECTORCALL,
    .slots = dispatcher_slots,
};

int dispatch_add(PyObject *module)
{
    PyObject *types = PyImport_ImportModule("types");
    method_type = types ? PyObject_GetAttrString(types, "MethodType") : NULL;
    Py_XDECREF(types);
    dispatcher_type = method_type ? ext_add_type(module, &dispatcher_spec) : NULL;
    return dispatcher_type ? 0 : -1;
}
