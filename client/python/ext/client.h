/* SPDX-License-Identifier: Apache-2.0
 * client.h - the types Client and Pending, and how their requests are read from Python. */
#ifndef KILN_EXT_CLIENT_H
#define KILN_EXT_CLIENT_H

#include "client/python/ext/ext.h"

/* A connection in use by a Client and its Pendings; closed by the last one. Guarded by the GIL. */
struct link {
    struct kiln_connection *c;
    PyObject *resolve; /* NULL or callable */
    int refs;
};

struct client {
    PyObject ob_base;
    struct link *link; /* NULL once closed: made anew at the next request */
    PyObject *socket, *daemon, *resolve;
    uint32_t timeout_ms;
    bool start;
};

struct link *link_ref(struct link *l);
void link_unref(struct link *l);
/* The client's link, made when there is none. A new reference; NULL with an exception. */
struct link *client_link(struct client *c);

/* A compile request read from Python's arguments (submit.c). Zero it first; request_done in any case. */
struct request {
    struct kiln_compile r;
    PyObject *body; /* as given: bytes-like or callable (borrowed) */
    Py_buffer bytes, digest, positions;
    const char **env;
    PyObject *env_items;
};
int request_parse(struct request *q, PyObject *args, PyObject *kwargs);
void request_done(struct request *q);
/* Parse, get the body where it is needed now, and send. `now`: the body travels with the request. */
struct kiln_pending *request_submit(struct link *l, PyObject *args, PyObject *kwargs, bool now);

/* pending.c */
PyObject *pending_wrap(struct link *l, struct kiln_pending *p, PyObject *args, PyObject *kwargs);
int pending_add(PyObject *module);
/* Wait with the GIL released; signals are looked at. Takes l and p (frees p). */
PyObject *wait_for_artifact(struct link *l, struct kiln_pending *p, PyObject *args, PyObject *kwargs);

/* admin.c: the rest of Client's methods */
PyObject *client_lookup(struct client *c, PyObject *requests);
PyObject *client_get(struct client *c, PyObject *args, PyObject *kwargs);
PyObject *client_server(struct client *c, PyObject *unused);
PyObject *client_status(struct client *c, PyObject *unused);
PyObject *client_stats(struct client *c, PyObject *unused);
PyObject *client_list(struct client *c, PyObject *args, PyObject *kwargs);
PyObject *client_show(struct client *c, PyObject *key);
PyObject *client_purge(struct client *c, PyObject *args, PyObject *kwargs);
PyObject *client_stop(struct client *c, PyObject *args, PyObject *kwargs);

#endif
