/* SPDX-License-Identifier: Apache-2.0
 * specialization.c - see specialization.h. */
#include "client/python/ext/specialization.h"

#include "client/python/ext/containers.h"

#include <string.h>

#include "client/python/ext/numpy.h"
#include "client/python/ext/objects.h"
#include "client/python/ext/text.h"

/* What a call has on the stack; larger blocks come from the heap. */
#define BLOCK_BYTES 512
#define MEMS 16

PyTypeObject *specialization_type;

/* ---- calling ----------------------------------------------------------------------------------- */

bool specialization_fresh(const struct specialization *s)
{
    for (uint32_t i = 0; i < s->n_env; i++) {
        uint32_t words[2] = { 0, 0 };
        if (print_array(PyTuple_GetItem(s->env, i), words) < 0)
            PyErr_Clear();
        if (words[0] != s->env_words[2 * i] || words[1] != s->env_words[2 * i + 1])
            return false;
    }
    return true;
}

static int pack_env(const struct specialization *s, unsigned char *block, struct kiln_mem *mems)
{
    PyObject *arrays[64];
    PyObject **all = s->n_env <= 64 ? arrays : PyMem_Malloc(s->n_env * sizeof *all);
    if (!all) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 0; i < s->n_env; i++)
        all[i] = PyTuple_GetItem(s->env, i);
    struct reflected *none; /* only arrays are captured */
    int rc = plan_pack(s->env_plan, all, s->n_env, block, mems, s->keeps, &none);
    if (all != arrays)
        PyMem_Free(all);
    return rc;
}

static inline int32_t run(const struct specialization *s, void *ret, const void *args, const void *env,
                          struct kiln_exc *exc)
{
    int32_t status;
    enum host_state before;
    if (s->release_gil) {
        PyThreadState *state = PyEval_SaveThread();
        before = host_enter(HOST_WITHOUT_GIL);
        status = s->entry(ret, args, env, exc);
        host_enter(before);
        PyEval_RestoreThread(state);
    } else {
        before = host_enter(HOST_WITH_GIL);
        status = s->entry(ret, args, env, exc);
        host_enter(before);
    }
    return status;
}

static inline PyObject *give_back(const struct specialization *s, const unsigned char *ret,
                                  const struct owners *own)
{
    double d;
    int64_t v;
    switch (s->ret->kind) { /* the common ones without a further call */
    case KILN_T_PYFLOAT:
        memcpy(&d, ret, 8);
        return PyFloat_FromDouble(d);
    case KILN_T_PYINT:
        memcpy(&v, ret, 8);
        return PyLong_FromLongLong(v);
    default:
        return unbox(s->ret, ret, own);
    }
}

/* After the call: what it did to lists, then its result or exception. */
static inline PyObject *finish(struct specialization *s, int32_t status, const unsigned char *ret,
                               const struct kiln_exc *exc, const struct owners *own)
{
    PyObject *result = NULL;
    if (__builtin_expect(own->reflected != NULL, 0) && reflect(own->reflected, own)) {
        if (status == KILN_DONE)
            unbox_drop(s->ret, ret, own);
    } else if (__builtin_expect(status == KILN_DONE, 1)) {
        result = give_back(s, ret, own);
    } else {
        raise_compiled(s, status, exc);
    }
    reflected_done(own->reflected);
    return result;
}

/* The arguments and the environment are too large for the stack. */
static PyObject *call_large(struct specialization *s, const struct plan *plan, PyObject *const *values,
                            bool *ret_overflow);

PyObject *specialization_call(struct specialization *s, const struct plan *plan, PyObject *const *values,
                              bool *ret_overflow)
{
    if (__builtin_expect(s->n_env || s->sig->args_size > BLOCK_BYTES || s->ret->size > BLOCK_BYTES ||
                             plan->n_arrays > MEMS,
                         0))
        return call_large(s, plan, values, ret_overflow);
    _Alignas(16) unsigned char block[BLOCK_BYTES], ret[BLOCK_BYTES];
    struct kiln_mem mems[MEMS];
    struct kiln_exc exc;
    struct reflected *reflected;
    int rc = plan_pack(plan, values, s->sig->n_params, block, mems, s->keeps, &reflected);
    if (rc) {
        *ret_overflow = rc > 0;
        return NULL;
    }
    struct owners own = { .mems = mems,
                          .n = plan->n_arrays,
                          .keep = (PyObject *)s,
                          .plain = s->plain,
                          .numbers = &s->numbers,
                          .reflected = reflected };
    Py_INCREF(&s->ob_base); /* other threads may drop it meanwhile, and the plan with it */
    int32_t status = run(s, ret, block, NULL, &exc);
    PyObject *result = finish(s, status, ret, &exc, &own);
    if (plan_holds(plan, s->keeps))
        plan_release(mems, plan->n_arrays);
    Py_DECREF(&s->ob_base);
    return result;
}

static PyObject *call_large(struct specialization *s, const struct plan *plan, PyObject *const *values,
                            bool *ret_overflow)
{
    /* One block: arguments, environment, result, memory headers; each aligned to 16. */
    size_t args = ((size_t)s->sig->args_size + 15) & ~(size_t)15;
    size_t env = s->env_sig ? ((size_t)s->env_sig->args_size + 15) & ~(size_t)15 : 0;
    size_t ret = ((size_t)s->ret->size + 15) & ~(size_t)15;
    uint32_t n_mems = plan->n_arrays + s->n_env;
    unsigned char *block = PyMem_Malloc(args + env + ret + (n_mems + 1) * sizeof(struct kiln_mem));
    if (!block)
        return PyErr_NoMemory();
    struct kiln_mem *mems = (struct kiln_mem *)(block + args + env + ret);
    struct kiln_exc exc;
    PyObject *result = NULL;
    struct reflected *reflected;
    int rc = plan_pack(plan, values, s->sig->n_params, block, mems, s->keeps, &reflected);
    if (!rc && s->n_env && (rc = pack_env(s, block + args, mems + plan->n_arrays))) {
        reflected_done(reflected);
        if (plan_holds(plan, s->keeps))
            plan_release(mems, plan->n_arrays);
    }
    if (rc) {
        *ret_overflow = rc > 0;
    } else {
        Py_INCREF(&s->ob_base);
        int32_t status = run(s, block + args + env, block, s->n_env ? block + args : NULL, &exc);
        struct owners own = { .mems = mems,
                              .n = n_mems,
                              .keep = (PyObject *)s,
                              .plain = s->plain,
                              .numbers = &s->numbers,
                              .reflected = reflected };
        result = finish(s, status, block + args + env, &exc, &own);
        if (plan_holds(plan, s->keeps))
            plan_release(mems, s->keeps & KEEP_LONG ? n_mems : plan->n_arrays);
        Py_DECREF(&s->ob_base);
    }
    PyMem_Free(block);
    return result;
}

static PyObject *spec_call(struct specialization *s, PyObject *args, PyObject *kwargs)
{
    PyObject *values[PRINT_WORDS];
    Py_ssize_t n = PyTuple_Size(args);
    if (!s->artifact) {
        PyErr_SetString(PyExc_TypeError, "the Specialization was not initialized");
        return NULL;
    }
    if ((kwargs && PyDict_Size(kwargs)) || n != (Py_ssize_t)s->sig->n_params || n > PRINT_WORDS) {
        PyErr_Format(PyExc_TypeError, "%s takes %u positional arguments, got %zd", s->sig->text,
                     s->sig->n_params, n);
        return NULL;
    }
    struct print p = { .n = 0 };
    if (np_ready() < 0)
        return NULL;
    int rc = 0;
    for (Py_ssize_t i = 0; !rc && i < n; i++) {
        values[i] = PyTuple_GetItem(args, i);
        rc = print_value(&p, values[i], true, true, 0);
    }
    struct plan *plan = NULL;
    if (!rc)
        rc = plan_make(&p, s->sig->params, s->sig->n_params, false, &s->numbers, &plan);
    if (rc < 0)
        return NULL;
    if (!plan || !specialization_fresh(s)) {
        PyMem_Free(plan);
        PyErr_Format(PyExc_TypeError, "the arguments are not of the types %s", s->sig->text);
        return NULL;
    }
    bool overflow = false;
    PyObject *result = specialization_call(s, plan, values, &overflow);
    PyMem_Free(plan);
    return result;
}

/* ---- making ------------------------------------------------------------------------------------ */

/* What is put into such a container may outlive every other reference to the code that gives it up again. */
static bool holds_typed(const struct kiln_type *t)
{
    if ((t->kind >= KILN_T_LIST && t->readonly) || t->kind == KILN_T_OBJECT)
        return true;
    for (uint32_t i = 0; i < t->n_items; i++)
        if (holds_typed(&t->items[i]))
            return true;
    return false;
}

static bool holds_array(const struct kiln_type *t)
{
    if (t->kind == KILN_T_ARRAY || t->kind == KILN_T_OBJECT) /* a record is copied; a field may be an array */
        return true;
    for (uint32_t i = 0; i < t->n_items; i++)
        if (holds_array(&t->items[i]))
            return true;
    return false;
}

/* A signature from a sequence of str. */
static int parse_types(PyObject *sequence, const char *ret, struct kiln_signature **to)
{
    Py_ssize_t n = PySequence_Size(sequence);
    if (n < 0)
        return -1;
    PyObject *items = PySequence_Tuple(sequence);
    const char **texts = items ? PyMem_Malloc(((size_t)n + 1) * sizeof *texts) : NULL;
    int rc = texts ? 0 : -1;
    for (Py_ssize_t i = 0; !rc && i < n; i++)
        if (!(texts[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(items, i), NULL)))
            rc = -1;
    struct kiln_error e = KILN_ERROR_INIT;
    if (!rc && kiln_signature_make(texts, (uint32_t)n, ret, to, &e)) {
        errors_raise(&e);
        rc = -1;
    }
    if (!texts && !PyErr_Occurred())
        PyErr_NoMemory();
    PyMem_Free(texts);
    Py_XDECREF(items);
    return rc;
}

static int set_env(struct specialization *s, PyObject *types, PyObject *env)
{
    s->env = PySequence_Tuple(env);
    if (!s->env || parse_types(types, NULL, &s->env_sig))
        return -1;
    uint32_t n = s->env_sig->n_params;
    if (PyTuple_Size(s->env) != (Py_ssize_t)n) {
        PyErr_Format(PyExc_ValueError, "env has %zd arrays for %u types", PyTuple_Size(s->env), n);
        return -1;
    }
    if (!n)
        return 0;
    struct print p = { .n = 0 };
    if (np_ready() < 0)
        return -1;
    s->env_words = PyMem_Malloc((size_t)n * 2 * sizeof *s->env_words);
    if (!s->env_words) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(s->env, i);
        uint32_t *words = &s->env_words[2 * i];
        int rc = np_is_array(Py_TYPE(o)) ? print_array(o, words) : 0;
        if (rc < 0)
            return -1;
        if (!rc || p.n + 2 > PRINT_WORDS) {
            PyErr_Format(PyExc_TypeError, "env[%u] is not an array that compiled code can take", i);
            return -1;
        }
        words[1] = rc > 1 ? words[1] : 0;
        for (int k = 0; k < rc; k++)
            p.words[p.n++] = words[k];
    }
    int rc = plan_make(&p, s->env_sig->params, n, true, NULL, &s->env_plan);
    if (rc < 0)
        return -1;
    if (!s->env_plan) {
        PyErr_Format(PyExc_TypeError, "the arrays of env are not of the types %s", s->env_sig->text);
        return -1;
    }
    s->n_env = n;
    return 0;
}

/* Serials of a sequence's objects; an object that is none of objects.h has no serial. */
static int set_numbers(PyObject *tuple, const uint32_t **ret, uint32_t *ret_n)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    uint32_t *serials = PyMem_Malloc(((size_t)n + 1) * sizeof *serials);
    *ret = serials;
    if (!serials) {
        PyErr_NoMemory();
        return -1;
    }
    *ret_n = (uint32_t)n;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        const struct object *o = item == Py_None ? NULL : object_learn(item);
        if (!o && PyErr_Occurred())
            return -1;
        serials[i] = o ? o->serial : UINT32_MAX;
    }
    return 0;
}

static int spec_init(struct specialization *s, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "artifact",   "params", "ret",   "env_types", "env",       "nogil", "parallel",
                             "raise_hook", "data",   "numba", "classes",   "functions", "keeps", NULL };
    PyObject *artifact, *params = NULL, *env_types = NULL, *env = NULL, *hook = NULL, *data = NULL,
                        *classes = NULL, *functions = NULL;
    const char *ret = NULL;
    int nogil = 0, parallel = 0, numba = 0, keeps = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|$OzOOppOOpO!O!p", names, artifact_type, &artifact,
                                     &params, &ret, &env_types, &env, &nogil, &parallel, &hook, &data, &numba,
                                     &PyTuple_Type, &classes, &PyTuple_Type, &functions, &keeps))
        return -1;
    if (s->sig) {
        PyErr_SetString(PyExc_TypeError, "a Specialization is made once");
        return -1;
    }
    if (!params || !ret) {
        PyErr_SetString(PyExc_TypeError, "a Specialization needs params and ret");
        return -1;
    }
    struct kiln_signature *sig = NULL;
    if (parse_types(params, ret, &sig))
        return -1;
    s->sig = sig;
    s->ret = sig->ret;
    s->keeps = keeps || holds_array(sig->ret) ? KEEP_ARRAYS : 0;
    s->keeps |= keeps ? KEEP_TEXT : 0;
    bool shares = holds_typed(sig->ret);
    for (uint32_t i = 0; i < sig->n_params; i++)
        shares |= holds_typed(&sig->params[i]);
    for (uint32_t i = 0; i < sig->n_params; i++) /* an array argument may be put into a container */
        s->keeps |= sig->params[i].kind >= KILN_T_LIST && holds_array(&sig->params[i]) ? KEEP_ARRAYS : 0;
    s->keeps |= shares ? KEEP_TEXT : 0;
    s->keeps |= shares && s->keeps & KEEP_ARRAYS ? KEEP_LONG : 0;
    if ((classes && set_numbers(classes, &s->numbers.users, &s->numbers.n_users)) ||
        (functions && set_numbers(functions, &s->numbers.functions, &s->numbers.n_functions)))
        return -1;
    Py_XINCREF(classes);
    s->classes = classes;
    if (env_types && env && set_env(s, env_types, env))
        return -1;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_library *lib;
    if (kiln_load(artifact_of(artifact), &lib, &e)) {
        errors_raise(&e);
        return -1;
    }
    s->entry = kiln_library_entry(lib);
    s->library = library_wrap(lib);
    if (!s->library)
        return -1;
    if (shares)
        Py_INCREF(s->library); /* loaded for good */
    if (!s->entry) {
        PyErr_SetString(PyExc_ValueError, "the artifact has no " KILN_SYM_ENTRY);
        return -1;
    }
    Py_INCREF(artifact);
    s->artifact = artifact;
    if (hook && hook != Py_None) {
        Py_INCREF(hook);
        s->hook = hook;
    }
    s->data = data ? data : Py_None;
    Py_INCREF(s->data);
    s->release_gil = nogil || parallel;
    s->plain = numba;
    return 0;
}

static int spec_traverse(struct specialization *s, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(&s->ob_base));
    Py_VISIT(s->hook);
    Py_VISIT(s->data);
    Py_VISIT(s->env);
    return 0;
}

static int spec_clear(struct specialization *s)
{
    Py_CLEAR(s->hook);
    Py_CLEAR(s->data);
    return 0; /* env stays: the plan reads it; arrays cannot be part of a cycle that needs it cleared */
}

static void spec_dealloc(struct specialization *s)
{
    PyTypeObject *type = Py_TYPE(&s->ob_base);
    PyObject_GC_UnTrack(s);
    spec_clear(s);
    Py_CLEAR(s->env);
    Py_CLEAR(s->library);
    Py_CLEAR(s->artifact);
    PyMem_Free(s->env_plan);
    PyMem_Free(s->env_words);
    PyMem_Free((void *)(uintptr_t)s->numbers.users);
    PyMem_Free((void *)(uintptr_t)s->numbers.functions);
    Py_CLEAR(s->classes);
    kiln_result_free(s->env_sig);
    kiln_result_free((void *)(uintptr_t)s->sig);
    PyObject_GC_Del(&s->ob_base);
    Py_DECREF((PyObject *)type);
}

static PyObject *spec_signature(struct specialization *s, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(s->sig ? s->sig->text : "");
}

static PyObject *spec_repr(struct specialization *s)
{
    return PyUnicode_FromFormat("<kilnjit specialization %s>", s->sig ? s->sig->text : "");
}

static PyMemberDef spec_members[] = {
    { "library", T_OBJECT_EX, offsetof(struct specialization, library), READONLY, "The loaded code." },
    { "artifact", T_OBJECT_EX, offsetof(struct specialization, artifact), READONLY,
      "What it was loaded from." },
    { "data", T_OBJECT, offsetof(struct specialization, data), 0, "The hook's own." },
    { NULL, 0, 0, 0, NULL },
};
static PyGetSetDef spec_getset[] = {
    { "signature", (getter)spec_signature, NULL, "\"ret(params)\"", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};
static PyType_Slot spec_slots[] = {
    { Py_tp_new, PyType_GenericNew },
    { Py_tp_init, spec_init },
    { Py_tp_dealloc, spec_dealloc },
    { Py_tp_traverse, spec_traverse },
    { Py_tp_clear, spec_clear },
    { Py_tp_call, spec_call },
    { Py_tp_repr, spec_repr },
    { Py_tp_members, spec_members },
    { Py_tp_getset, spec_getset },
    { Py_tp_doc, "One loaded specialization: callable with arguments of its types." },
    { 0, NULL },
};
static PyType_Spec spec_spec = {
    .name = "kilnjit._kiln.Specialization",
    .basicsize = sizeof(struct specialization),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = spec_slots,
};

int specialization_add(PyObject *module)
{
    specialization_type = ext_add_type(module, &spec_spec);
    return specialization_type ? 0 : -1;
}
