/* SPDX-License-Identifier: Apache-2.0
 * ext.h - what the files of kilnjit._kiln share.
 *
 * The extension is built for the stable ABI of Python 3.11, so one binary serves every later Python. It
 * never includes NumPy's headers: numpy.h says which few fields are read. Everything here runs with the
 * GIL held unless said otherwise. Functions follow Python's rule: NULL or -1 with an exception set. */
#ifndef KILN_EXT_EXT_H
#define KILN_EXT_EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stdbool.h>
#include <stdint.h>

#include <kiln/kiln.h>

/* The vectorcall protocol joined the stable ABI in 3.12, unchanged since 3.9: same flag, same signature. */
#define EXT_HAVE_VECTORCALL (1UL << 11)
#define EXT_NARGS(n) ((Py_ssize_t)((n) & ~((size_t)1 << (8 * sizeof(size_t) - 1))))
typedef PyObject *(*ext_vectorcall)(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);

/* module.c */
extern PyObject *ext_missing; /* MISSING */
/* Make a heap type and add it to the module. NULL on failure. */
PyTypeObject *ext_add_type(PyObject *module, PyType_Spec *spec);

/* errors.c */
PyObject *errors_set_factory(PyObject *module, PyObject *factory);
/* Raise e and clear it. Returns NULL. */
PyObject *errors_raise(struct kiln_error *e);
int errors_add(PyObject *module);

/* pack.c */
PyObject *pack_kir(PyObject *module, PyObject *value);

/* client.c */
int client_add(PyObject *module);

/* artifact.c: Artifact and Library. Both wrap a reference that the object takes over, failing or not. */
extern PyTypeObject *artifact_type;
PyObject *artifact_wrap(struct kiln_artifact *a);
PyObject *artifact_from_bytes(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *library_wrap(struct kiln_library *lib);
struct kiln_artifact *artifact_of(PyObject *o);
struct kiln_library *library_of(PyObject *o);
int artifact_add(PyObject *module);

/* specialization.c, dispatch.c */
int specialization_add(PyObject *module);
int dispatch_add(PyObject *module);

/* host.c: Python's print and signals for compiled code */
void host_install(void);
/* While compiled code runs in this thread: whether it holds the GIL. Returns what was before. */
enum host_state { HOST_OUTSIDE, HOST_WITH_GIL, HOST_WITHOUT_GIL };
extern _Thread_local enum host_state host_state_now __attribute__((tls_model("initial-exec")));
static inline enum host_state host_enter(enum host_state s)
{
    enum host_state before = host_state_now;
    host_state_now = s;
    return before;
}
/* Keep the current exception for the thread that called compiled code. */
void host_park(void);
/* callback.c: Python functions that compiled code calls by number */
PyObject *callback_register(PyObject *module, PyObject *function);
int32_t callback_call(int64_t number, const char *arg_types, const void *args, const char *ret_type, void *ret);
/* After KILN_HOST_ERROR: make sure that an exception is set. */
void host_raise(void);

#endif
