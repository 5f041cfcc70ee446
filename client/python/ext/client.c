/* SPDX-License-Identifier: Apache-2.0
 * client.c - the type Client. Its connection is made at the first request; libkiln makes it anew after a
 * fork and after a restart of the daemon. */
#include <stdlib.h>
#include <string.h>

#include "client/python/ext/client.h"

/* ---- the connection ---------------------------------------------------------------------------- */

/* Asked while a connection is made, without the GIL. An exception of a handler stays set in this thread. */
static int interrupted(void *unused)
{
    (void)unused;
    PyGILState_STATE gil = PyGILState_Ensure();
    int raised = PyErr_CheckSignals();
    PyGILState_Release(gil);
    return raised;
}

static PyObject *list_of(const char *const *types, uint32_t n)
{
    PyObject *list = PyList_New(n);
    for (uint32_t i = 0; list && i < n; i++) {
        PyObject *one = PyUnicode_FromString(types[i]);
        if (!one)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, one);
    }
    return list;
}

/* The daemon asks for a user's overload. Any waiting thread, without the GIL. */
static int resolve(void *user, uint64_t overload, const char *const *types, uint32_t n, void **ret,
                   size_t *ret_len, char message[256])
{
    struct link *l = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *list = list_of(types, n);
    PyObject *made =
        list ? PyObject_CallFunction(l->resolve, "KO", (unsigned long long)overload, list) : NULL;
    int rc = made ? 0 : -KILN_E_INVALID;
    *ret = NULL;
    *ret_len = 0;
    char *p;
    Py_ssize_t len;
    if (made && made != Py_None) {
        if (PyBytes_AsStringAndSize(made, &p, &len) == 0 && (*ret = malloc((size_t)len + 1))) {
            memcpy(*ret, p, (size_t)len);
            *ret_len = (size_t)len;
        } else {
            rc = -KILN_E_INVALID;
        }
    }
    if (rc) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyObject *text = value ? PyObject_Str(value) : NULL;
        const char *s = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
        strncpy(message, s ? s : "the overload failed", 255);
        message[255] = 0;
        PyErr_Clear();
        Py_XDECREF(text);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    }
    Py_XDECREF(made);
    Py_XDECREF(list);
    PyGILState_Release(gil);
    return rc;
}

struct link *link_ref(struct link *l)
{
    l->refs++;
    return l;
}

void link_unref(struct link *l)
{
    if (!l || --l->refs)
        return;
    kiln_disconnect(l->c);
    Py_XDECREF(l->resolve);
    PyMem_Free(l);
}

static const char *text_or_null(PyObject *s)
{
    return s && s != Py_None ? PyUnicode_AsUTF8AndSize(s, NULL) : NULL;
}

struct link *client_link(struct client *c)
{
    if (c->link)
        return link_ref(c->link);
    struct link *l = PyMem_Calloc(1, sizeof *l);
    if (!l) {
        PyErr_NoMemory();
        return NULL;
    }
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_options o = {
        .socket = text_or_null(c->socket),
        .no_start = !c->start,
        .daemon = text_or_null(c->daemon),
        .timeout_ms = c->timeout_ms,
        .client_name = "kilnjit " KILN_VERSION,
        .interrupted = interrupted,
    };
    l->refs = 1;
    if (c->resolve && c->resolve != Py_None) {
        o.resolve = resolve;
        o.resolve_user = l;
        l->resolve = c->resolve;
        Py_INCREF(l->resolve);
    }
    if (kiln_connect_lazily(&o, &l->c, &e)) {
        errors_raise(&e);
        link_unref(l);
        return NULL;
    }
    c->link = l;
    return link_ref(l);
}

/* ---- Client ------------------------------------------------------------------------------------ */

static int client_init(struct client *c, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "socket", "start", "timeout_ms", "daemon", "resolve", NULL };
    PyObject *socket = NULL, *daemon = NULL, *given = NULL;
    unsigned timeout = 0;
    int start = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$pIOO", names, &socket, &start, &timeout, &daemon,
                                     &given))
        return -1;
    if (c->link) {
        PyErr_SetString(PyExc_TypeError, "a Client is made once");
        return -1;
    }
    if ((socket && socket != Py_None && !PyUnicode_Check(socket)) ||
        (daemon && daemon != Py_None && !PyUnicode_Check(daemon))) {
        PyErr_SetString(PyExc_TypeError, "socket and daemon are str or None");
        return -1;
    }
    Py_XINCREF(socket);
    Py_XINCREF(daemon);
    Py_XINCREF(given);
    Py_CLEAR(c->socket);
    Py_CLEAR(c->daemon);
    Py_CLEAR(c->resolve);
    c->socket = socket;
    c->daemon = daemon;
    c->resolve = given;
    c->start = start;
    c->timeout_ms = timeout;
    return 0;
}

static int client_traverse(struct client *c, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(&c->ob_base));
    Py_VISIT(c->resolve);
    return 0;
}

static int client_clear(struct client *c)
{
    Py_CLEAR(c->resolve);
    return 0;
}

static void client_dealloc(struct client *c)
{
    PyTypeObject *type = Py_TYPE(&c->ob_base);
    PyObject_GC_UnTrack(c);
    link_unref(c->link);
    Py_CLEAR(c->socket);
    Py_CLEAR(c->daemon);
    Py_CLEAR(c->resolve);
    PyObject_GC_Del(c);
    Py_DECREF((PyObject *)type);
}

static PyObject *client_compile(struct client *c, PyObject *args, PyObject *kwargs)
{
    struct link *l = client_link(c);
    if (!l)
        return NULL;
    struct kiln_pending *p = request_submit(l, args, kwargs, false);
    PyObject *result = p ? wait_for_artifact(l, p, args, kwargs) : NULL;
    link_unref(l);
    return result;
}

static PyObject *client_submit(struct client *c, PyObject *args, PyObject *kwargs)
{
    struct link *l = client_link(c);
    if (!l)
        return NULL;
    struct kiln_pending *p = request_submit(l, args, kwargs, true);
    PyObject *result = p ? pending_wrap(l, p, args, kwargs) : NULL;
    link_unref(l);
    return result;
}

static PyObject *client_close(struct client *c, PyObject *unused)
{
    (void)unused;
    struct link *l = c->link;
    c->link = NULL;
    link_unref(l);
    Py_INCREF(Py_None);
    return Py_None;
}

#define KEYWORDS(f) (PyCFunction)(void (*)(void))(f), METH_VARARGS | METH_KEYWORDS
static PyMethodDef client_methods[] = {
    { "compile", KEYWORDS(client_compile), "Compile or fetch; an Artifact." },
    { "submit", KEYWORDS(client_submit), "Send a compile request; a Pending." },
    { "lookup", (PyCFunction)client_lookup, METH_O, "Whether the daemon has these." },
    { "get", KEYWORDS(client_get), "An Artifact by key." },
    { "server", (PyCFunction)client_server, METH_NOARGS, "Who answers." },
    { "status", (PyCFunction)client_status, METH_NOARGS, "The daemon's state." },
    { "stats", (PyCFunction)client_stats, METH_NOARGS, "The daemon's counters." },
    { "list", KEYWORDS(client_list), "Entries of the cache." },
    { "show", (PyCFunction)client_show, METH_O, "One entry in detail." },
    { "purge", KEYWORDS(client_purge), "Remove entries." },
    { "stop", KEYWORDS(client_stop), "Ask the daemon to leave." },
    { "close", (PyCFunction)client_close, METH_NOARGS, "Close the connection." },
    { NULL, NULL, 0, NULL },
};
static PyType_Slot client_slots[] = {
    { Py_tp_new, PyType_GenericNew },
    { Py_tp_init, client_init },
    { Py_tp_dealloc, client_dealloc },
    { Py_tp_traverse, client_traverse },
    { Py_tp_clear, client_clear },
    { Py_tp_methods, client_methods },
    { Py_tp_doc, "A connection to the daemon." },
    { 0, NULL },
};
static PyType_Spec client_spec = {
    .name = "kilnjit._kiln.Client",
    .basicsize = sizeof(struct client),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = client_slots,
};

int client_add(PyObject *module)
{
    return ext_add_type(module, &client_spec) ? pending_add(module) : -1;
}
