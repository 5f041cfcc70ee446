/* SPDX-License-Identifier: Apache-2.0
 * plan.c - making plans, and packing by them. See marshal.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/python/ext/containers.h"
#include "client/python/ext/numpy.h"
#include "client/python/ext/objects.h"
#include "client/python/ext/packer.h"
#include "client/python/ext/typed.h"
#include "client/python/ext/text.h"

/* ---- making ------------------------------------------------------------------------------------ */

struct maker {
    struct step *steps;
    uint32_t n, cap, n_arrays;
    const struct numbers *numbers;
    bool has_text;
    bool convert;
    int score;
};

static struct step *add(struct maker *m, enum step_code code, unsigned number, const struct kiln_type *t)
{
    if (m->n == m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 8;
        struct step *more = PyMem_Realloc(m->steps, cap * sizeof *more);
        if (!more) {
            PyErr_NoMemory();
            return NULL;
        }
        m->steps = more;
        m->cap = cap;
    }
    struct step *s = &m->steps[m->n++];
    *s = (struct step){ .code = (uint8_t)code, .number = (uint8_t)number, .offset = t->offset };
    return s;
}

static int step_if(struct maker *m, enum step_code code, unsigned number, const struct kiln_type *t,
                   int score)
{
    if (score >= MATCH_NOT)
        return MATCH_NOT;
    m->score += score;
    return add(m, code, number, t) ? 0 : -1;
}

static bool is_scalar(const struct kiln_type *t)
{
    return t->kind >= KILN_T_BOOL && t->kind <= KILN_T_PYCOMPLEX;
}

/* Rank of what a number holds: bool, int, float, complex. */
static int rank_of_type(const struct kiln_type *t)
{
    switch (t->kind) {
    case KILN_T_BOOL:
        return 0;
    case KILN_T_INT:
    case KILN_T_UINT:
    case KILN_T_PYINT:
        return 1;
    case KILN_T_FLOAT:
    case KILN_T_PYFLOAT:
        return 2;
    default:
        return 3;
    }
}

static int rank_of_word(uint32_t w)
{
    switch (WORD_TAG(w)) {
    case W_BOOL:
        return 0;
    case W_INT:
    case W_UINT:
        return 1;
    case W_FLOAT:
        return 2;
    case W_COMPLEX:
        return 3;
    default: {
        unsigned k = WORD_A(w);
        return k == 0 ? 0 : k <= 8 ? 1 : k == 11 || k == 12 || k == 23 ? 2 : 3;
    }
    }
}

/* A number to a number of another type: never down from float to int, or complex to real. */
static int convert_number(struct maker *m, uint32_t w, const struct kiln_type *t)
{
    int from = rank_of_word(w), to = rank_of_type(t);
    if (!m->convert || from > to)
        return MATCH_NOT;
    unsigned number = t->numpy >= 0               ? (unsigned)t->numpy
                      : t->kind == KILN_T_PYINT   ? 7
                      : t->kind == KILN_T_PYFLOAT ? 12
                                                  : 15;
    /* Nearer kinds first, then wider types: int64 to float64 before complex128, float64 before float32. */
    return step_if(m, S_CONVERT, number, t, MATCH_SAFE * (1 + (to - from) * 4) + (t->size < 8 ? 2 : 0));
}

/* Elements of this record? A type of Kiln's parser is canonical, so texts tell. */
static bool same_record(uint32_t serial, const struct kiln_type *t)
{
    const char *text = object_at(serial)->text;
    size_t n = strlen(text) - 1; /* flags of a reference come before the last parenthesis */
    return !strncmp(text, t->text, n) && (t->text[n] == ')' || t->text[n] == ';');
}

static int match_record(struct maker *m, uint32_t w, uint32_t serial, const struct kiln_type *t)
{
    bool readonly = WORD_A(w) & FLAG_READONLY;
    if (t->kind != KILN_T_RECORD || !same_record(serial, t) || (readonly && !t->readonly) ||
        (!m->convert && readonly != t->readonly))
        return MATCH_NOT;
    m->n_arrays++;
    return step_if(m, S_RECORD, 0, t, readonly != t->readonly);
}

/* Objects of which the type says which they are. */
static int match_object(struct maker *m, uint32_t w, const struct kiln_type *t)
{
    const struct object *o = object_at(WORD_SERIAL(w));
    const struct numbers *n = m->numbers;
    switch (t->kind) {
    case KILN_T_ENUM:
    case KILN_T_INTENUM:
        return n && t->user < n->n_users && n->users[t->user] == o->serial
                   ? step_if(m, S_ENUM, t->kind == KILN_T_INTENUM, t, 0)
                   : MATCH_NOT;
    case KILN_T_FUNCTION:
        return n && t->user < n->n_functions && n->functions[t->user] == o->serial
                   ? step_if(m, S_NONE, 0, t, 0)
                   : MATCH_NOT;
    case KILN_T_OBJECT: {
        if (!n || t->user >= n->n_users || n->users[t->user] != o->serial)
            return MATCH_NOT;
        struct step *s = add(m, S_OBJECT, 0, t);
        if (s)
            s->size = o->serial;
        return s ? 0 : -1;
    }
    case KILN_T_TYPE: {
        size_t len = strlen(t->text);
        char *inner = WORD_TAG(w) == W_TYPE && len > 7 && !strncmp(t->text, "class(", 6) ? strdup(t->text + 6) : NULL;
        bool same = false;
        if (inner) {
            inner[len - 7] = 0; /* the last parenthesis */
            same = typed_same(o->text, inner, n);
        }
        free(inner);
        return same ? step_if(m, S_NONE, 0, t, 0) : MATCH_NOT;
    }
    default:
        return MATCH_NOT;
    }
}

/* The unit of a time's type, as words have it: "NPDatetime('ns')". */
static unsigned unit_in(const char *text)
{
    const char *from = strchr(text, '\'');
    size_t n = from ? strcspn(from + 1, "'") : 0;
    unsigned i = 0;
    while (from && i < NP_UNITS - 1 && (strlen(np_units[i]) != n || strncmp(np_units[i], from + 1, n) != 0))
        i++;
    return i;
}

static bool is_time(unsigned number)
{
    return number == NP_DATETIME || number == NP_TIMEDELTA;
}

static int match_array(struct maker *m, uint32_t w, const struct kiln_type *t)
{
    if (is_time(WORD_A(w)) && (t->kind != KILN_T_ARRAY || unit_in(t->items[0].text) != WORD_C(w) >> UNIT_SHIFT))
        return MATCH_NOT;
    if (t->kind != KILN_T_ARRAY || (unsigned)t->numpy != WORD_A(w) || t->ndim != WORD_B(w))
        return MATCH_NOT;
    unsigned c = WORD_C(w), have = c & LAYOUT_MASK;
    unsigned want = t->layout == 'C' ? LAYOUT_C : t->layout == 'F' ? LAYOUT_F : LAYOUT_A;
    bool readonly = c & FLAG_READONLY, unaligned = c & FLAG_UNALIGNED;
    int score = (have != want) + (readonly != t->readonly) + (unaligned != t->unaligned);
    if (score && !m->convert)
        return MATCH_NOT;
    if ((have != want && want != LAYOUT_A) || (readonly && !t->readonly) || (unaligned && !t->unaligned))
        return MATCH_NOT;
    m->n_arrays++;
    m->score += score;
    struct step *s = add(m, S_ARRAY, t->ndim, t);
    if (s)
        s->size = w;
    return s ? 0 : -1;
}

static int match(struct maker *m, const uint32_t **words, const struct kiln_type *t);

static int match_optional(struct maker *m, const uint32_t **words, const struct kiln_type *t)
{
    bool none = WORD_TAG(**words) == W_NONE;
    struct step *s = add(m, none ? S_ABSENT : S_PRESENT, 0, t);
    if (!s)
        return -1;
    s->size = t->items[0].size;
    if (none) {
        (*words)++;
        return 0;
    }
    m->score += 1;
    return match(m, words, &t->items[0]);
}

static int match_tuple(struct maker *m, const uint32_t **words, const struct kiln_type *t)
{
    const struct numbers *numbers = m->numbers;
    bool named = WORD_TAG(**words) == W_NAMED;
    if (named) {
        uint32_t serial = WORD_SERIAL(*(*words)++);
        /* a named tuple is a tuple too, where conversions are made */
        if (t->kind == KILN_T_NAMEDTUPLE
                ? !numbers || t->user >= numbers->n_users || numbers->users[t->user] != serial
                : !m->convert)
            return MATCH_NOT;
    }
    unsigned n = WORD_ITEMS(**words);
    if ((t->kind != KILN_T_TUPLE && (!named || t->kind != KILN_T_NAMEDTUPLE)) || t->n_items != n)
        return MATCH_NOT;
    (*words)++;
    struct step *s = add(m, S_TUPLE, 0, t);
    if (!s)
        return -1;
    s->items = (uint16_t)n;
    for (unsigned i = 0; i < n; i++) {
        int rc = match(m, words, &t->items[i]);
        if (rc)
            return rc;
    }
    return 0;
}

static int match_container(struct maker *m, const uint32_t **words, const struct kiln_type *t)
{
    uint32_t w = *(*words)++, at = m->n;
    if ((uint32_t)t->kind != WORD_A(w) || t->readonly)
        return MATCH_NOT;
    struct step *s = add(m, S_CONTAINER, 0, t);
    if (!s)
        return -1;
    s->type = t;
    for (uint32_t i = 0; i < t->n_items; i++) {
        uint32_t head = m->n;
        int rc = add(m, S_ITEMS, 0, &t->items[i]) ? 0 : -1;
        if (!rc && !WORD_B(w))
            rc = match(m, words, &t->items[i]);
        if (rc)
            return rc;
        m->steps[head].items = (uint16_t)(m->n - head - 1);
    }
    m->steps[at].items = (uint16_t)(m->n - at - 1);
    return 0;
}

/* 0, MATCH_NOT, or -1. Moves *words behind the value when it matches. */
static int match(struct maker *m, const uint32_t **words, const struct kiln_type *t)
{
    if (t->kind == KILN_T_OPTIONAL)
        return match_optional(m, words, t);
    uint32_t w = **words;
    if (WORD_TAG(w) == W_TUPLE || WORD_TAG(w) == W_NAMED)
        return match_tuple(m, words, t);
    if (WORD_TAG(w) == W_TYPED) {
        (*words)++;
        if (t->kind < KILN_T_LIST || !typed_same(typed_text(WORD_SERIAL(w)), t->text, m->numbers))
            return MATCH_NOT;
        struct step *s = add(m, S_TYPED, 0, t);
        if (s)
            s->size = WORD_SERIAL(w);
        return s ? 0 : -1;
    }
    if (WORD_TAG(w) == W_CONTAINER)
        return match_container(m, words, t);
    (*words)++;
    switch (WORD_TAG(w)) {
    case W_NONE:
        return t->kind == KILN_T_NONE ? step_if(m, S_NONE, 0, t, 0) : MATCH_NOT;
    case W_ARRAY:
        if (WORD_A(w) == NP_VOID) {
            uint32_t serial = *(*words)++;
            if (t->kind != KILN_T_ARRAY || t->numpy != NP_VOID || !same_record(serial, &t->items[0]))
                return MATCH_NOT;
        }
        return match_array(m, w, t);
    case W_RECORD:
        return match_record(m, w, *(*words)++, t);
    case W_ENUM:
    case W_FUNCTION:
    case W_TYPE:
    case W_OBJECT:
        return match_object(m, w, t);
    default:
        break;
    }
    if (WORD_TAG(w) == W_STR || WORD_TAG(w) == W_BYTES) {
        bool is_bytes = WORD_TAG(w) == W_BYTES;
        if (t->kind != (is_bytes ? KILN_T_BYTES : KILN_T_STR))
            return MATCH_NOT;
        m->n_arrays++;
        m->has_text = true;
        return step_if(m, S_TEXT, is_bytes, t, 0);
    }
    if (WORD_TAG(w) == W_SCALAR && is_time(WORD_A(w)))
        return t->numpy == (int32_t)WORD_A(w) && t->kind != KILN_T_ARRAY && unit_in(t->text) == WORD_B(w)
                   ? step_if(m, S_SCALAR, WORD_A(w), t, 0)
                   : MATCH_NOT;
    if (!is_scalar(t))
        return MATCH_NOT;
    switch (WORD_TAG(w)) {
    case W_BOOL:
        if (t->kind == KILN_T_BOOL)
            return step_if(m, S_BOOL, 0, t, 0);
        break;
    case W_INT:
        if (t->kind == KILN_T_PYINT || (t->kind == KILN_T_INT && t->size == 8))
            return step_if(m, S_INT, 0, t, t->kind == KILN_T_PYINT ? 0 : MATCH_WEAK);
        break;
    case W_UINT:
        if (t->kind == KILN_T_UINT && t->size == 8)
            return step_if(m, S_UINT, 0, t, 0);
        break;
    case W_FLOAT:
        if (t->kind == KILN_T_PYFLOAT || (t->kind == KILN_T_FLOAT && t->size == 8))
            return step_if(m, S_FLOAT, 0, t, t->kind == KILN_T_PYFLOAT ? 0 : MATCH_WEAK);
        break;
    case W_COMPLEX:
        if (t->kind == KILN_T_PYCOMPLEX || (t->kind == KILN_T_COMPLEX && t->size == 16))
            return step_if(m, S_COMPLEX, 0, t, t->kind == KILN_T_PYCOMPLEX ? 0 : MATCH_WEAK);
        break;
    default: /* W_SCALAR */
        if (t->numpy == (int32_t)WORD_A(w))
            return step_if(m, S_SCALAR, WORD_A(w), t, 0);
    }
    return convert_number(m, w, t);
}

int plan_make(const struct print *p, const struct kiln_type *params, uint32_t n, bool convert,
              const struct numbers *numbers, struct plan **ret)
{
    struct maker m = { .convert = convert, .numbers = numbers };
    const uint32_t *w = p->words, *end = p->words + p->n;
    int rc = 0;
    *ret = NULL;
    for (uint32_t i = 0; !rc && i < n; i++)
        rc = w < end ? match(&m, &w, &params[i]) : MATCH_NOT;
    if (!rc && w != end)
        rc = MATCH_NOT;
    if (!rc) {
        struct plan *plan = PyMem_Malloc(sizeof *plan + (m.n + 1) * sizeof *plan->steps);
        if (!plan) {
            PyErr_NoMemory();
            rc = -1;
        } else {
            plan->n_steps = m.n;
            plan->n_arrays = m.n_arrays;
            plan->has_text = m.has_text;
            if (m.n)
                memcpy(plan->steps, m.steps, m.n * sizeof *m.steps);
            *ret = plan;
            rc = m.score;
        }
    }
    PyMem_Free(m.steps);
    return rc;
}

/* ---- packing ----------------------------------------------------------------------------------- */

/* IEEE half from double, rounded to nearest even. */
static uint16_t half_of(double d)
{
    uint16_t sign = signbit(d) ? 0x8000 : 0;
    double v = fabs(d);
    if (isnan(d))
        return sign | 0x7E00;
    if (v >= 65520.0)
        return sign | 0x7C00;
    int e;
    frexp(v, &e); /* v = f * 2^e, f in [0.5, 1) */
    int shift = e - 11 < -24 ? -24 : e - 11;
    double scaled = nearbyint(ldexp(v, -shift)); /* units of the last place */
    if (scaled == 0)
        return sign;
    uint32_t units = (uint32_t)scaled;
    if (shift == -24) /* subnormal, or just grown out of it: the encodings follow each other */
        return (uint16_t)(sign | units);
    return (uint16_t)(sign | (((uint32_t)(shift + 25) << 10) + (units - 0x400)));
}

static int convert_int(PyObject *o, unsigned number, unsigned char *to)
{
    PyObject *index = PyNumber_Index(o);
    if (!index && number == 0) /* never: bool takes bools only */
        return -1;
    if (!index)
        return -1;
    unsigned bits = np_kinds[number].size * 8u;
    bool is_signed = number == 1 || number == 3 || number == 5 || number == 7;
    int64_t v = 0;
    uint64_t u = 0;
    bool fits;
    if (is_signed) {
        int overflow;
        v = PyLong_AsLongLongAndOverflow(index, &overflow);
        fits =
            !overflow && (bits == 64 || (v >= -((int64_t)1 << (bits - 1)) && v < (int64_t)1 << (bits - 1)));
    } else {
        u = PyLong_AsUnsignedLongLong(index);
        fits = !PyErr_Occurred() && (bits == 64 || u < (uint64_t)1 << bits);
        PyErr_Clear();
        v = (int64_t)u;
    }
    Py_DECREF(index);
    if (!fits) {
        PyErr_Format(PyExc_OverflowError, "int does not fit %s", np_kinds[number].name);
        return -1;
    }
    memcpy(to, &v, np_kinds[number].size); /* little-endian, as everywhere that artifacts are loaded */
    return 0;
}

static int convert_scalar(PyObject *o, unsigned number, unsigned char *to)
{
    if (number == 0) {
        int truth = PyObject_IsTrue(o);
        *to = truth > 0;
        return truth < 0 ? -1 : 0;
    }
    if (number <= 8) {
        /* numpy.bool_ has no __index__ */
        if (np_scalar_kind(Py_TYPE(o)) == 0) {
            memset(to, 0, np_kinds[number].size);
            return np_scalar_read(o, 0, to);
        }
        return convert_int(o, number, to);
    }
    double re, im = 0;
    if (number == 14 || number == 15) {
        PyObject *c = PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, o, NULL);
        if (!c)
            return -1;
        re = PyComplex_RealAsDouble(c);
        im = PyComplex_ImagAsDouble(c);
        Py_DECREF(c);
    } else {
        re = PyFloat_AsDouble(o);
        if (re == -1 && PyErr_Occurred())
            return -1;
    }
    float narrow[2] = { (float)re, (float)im };
    double wide[2] = { re, im };
    uint16_t half;
    switch (number) {
    case 23:
        half = half_of(re);
        memcpy(to, &half, 2);
        return 0;
    case 11:
        memcpy(to, narrow, 4);
        return 0;
    case 12:
        memcpy(to, wide, 8);
        return 0;
    case 14:
        memcpy(to, narrow, 8);
        return 0;
    default:
        memcpy(to, wide, 16);
        return 0;
    }
}

static void argument_released(struct kiln_mem *mem)
{
    /* The caller's own reference is never given up by compiled code: nothing to do. */
    (void)mem;
}

/* Memory of an array that a container holds: keeps the object. */
static void item_released(struct kiln_mem *mem)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)mem->user);
    PyGILState_Release(gil);
    free(mem);
}

PyObject *packed_item(const struct kiln_mem *mem)
{
    return mem && mem->release == item_released ? mem->user : NULL;
}

PyObject *packed_argument(const struct kiln_mem *mem)
{
    return mem && mem->release == argument_released ? mem->user : NULL;
}

static struct kiln_mem *item_memory(PyObject *o, void *data)
{
    struct kiln_mem *mem = malloc(sizeof *mem);
    if (!mem) {
        PyErr_NoMemory();
        return NULL;
    }
    Py_INCREF(o);
    *mem = (struct kiln_mem){ .refs = 1, .release = item_released, .data = data, .user = o };
    return mem;
}

static int pack_array_item(PyObject *o, unsigned ndim, unsigned char *to)
{
    const struct np_array *a = (const struct np_array *)o;
    struct kiln_array *view = (struct kiln_array *)to;
    struct kiln_mem *mem = item_memory(o, a->data);
    if (!mem)
        return -1;
    view->owner = mem;
    view->data = a->data;
    for (unsigned i = 0; i < ndim; i++) {
        view->dims[i] = a->dimensions[i];
        view->dims[ndim + i] = a->strides[i];
    }
    return 0;
}

bool pack_fits(const struct step *s, PyObject *o)
{
    uint32_t words[2];
    switch (s->code) {
    case S_BOOL:
        return PyBool_Check(o);
    case S_INT:
    case S_UINT:
        return PyLong_Check(o);
    case S_FLOAT:
        return PyFloat_Check(o) || PyLong_Check(o);
    case S_COMPLEX:
        return PyComplex_Check(o) || PyFloat_Check(o) || PyLong_Check(o);
    case S_SCALAR:
        return np_scalar_kind(Py_TYPE(o)) == s->number;
    case S_ARRAY:
        return np_is_array(Py_TYPE(o)) && print_array(o, words) == 1 && words[0] == s->size;
    case S_TUPLE:
        return PyTuple_Check(o) && PyTuple_Size(o) == s->items;
    case S_CONTAINER:
        return Py_TYPE(o) == (s->type->kind == KILN_T_LIST  ? &PyList_Type
                              : s->type->kind == KILN_T_SET ? &PySet_Type
                                                            : &PyDict_Type);
    case S_TYPED:
        return typed_number(o, words) && words[0] == s->size;
    case S_OBJECT:
        return typed_object(o, words) && words[0] == s->size;
    case S_NONE:
    case S_ABSENT:
        return o == Py_None;
    case S_PRESENT:
        return pack_fits(s + 1, o);
    case S_TEXT:
        return Py_TYPE(o) == (s->number ? &PyBytes_Type : &PyUnicode_Type);
    default: /* S_CONVERT */
        return PyNumber_Check(o);
    }
}

static inline int pack_array(struct packer *k, PyObject *o, unsigned ndim, unsigned char *to)
{
    const struct np_array *a = (const struct np_array *)o;
    struct kiln_array *view = (struct kiln_array *)to;
    view->owner = NULL;
    if (k->keep_long) {
        int rc = pack_array_item(o, ndim, to);
        *k->mem++ = (struct kiln_mem){ .size = MEM_HELD, .data = rc ? NULL : view->owner };
        return rc;
    }
    if (k->keep) {
        /* So many references that compiled code, however it counts, never sees the last. */
        *k->mem = (struct kiln_mem){
            .refs = INT64_C(1) << 32, .release = argument_released, .data = a->data, .user = o
        };
        view->owner = k->mem++;
    }
    view->data = a->data;
    intptr_t *dims = view->dims;
    for (unsigned i = 0; i < ndim; i++) {
        dims[i] = a->dimensions[i];
        dims[ndim + i] = a->strides[i];
    }
    return 0;
}

static int pack_record(struct packer *k, PyObject *o, unsigned char *to)
{
    PyObject *dtype;
    bool readonly;
    struct kiln_array view = { .owner = NULL, .data = np_record_read(o, &dtype, &readonly) };
    if (k->keep_long) {
        view.owner = item_memory(o, view.data);
        *k->mem++ = (struct kiln_mem){ .size = MEM_HELD, .data = view.owner };
        if (!view.owner)
            return -1;
    } else if (k->keep) {
        *k->mem = (struct kiln_mem){
            .refs = INT64_C(1) << 32, .release = argument_released, .data = view.data, .user = o
        };
        view.owner = k->mem++;
    }
    memcpy(to, &view, sizeof view);
    return 0;
}

static int pack_enum(PyObject *o, bool is_int, unsigned char *to)
{
    if (is_int) {
        long long v = PyLong_AsLongLong(o);
        if (v == -1 && PyErr_Occurred())
            return -1;
        memcpy(to, &v, 8);
        return 0;
    }
    int32_t i = object_member(o);
    if (i < 0) {
        PyErr_Format(PyExc_ValueError, "%R is no member that its enum lists", o);
        return -1;
    }
    memcpy(to, &i, 4);
    return 0;
}

int pack_one(struct packer *k, PyObject *o, unsigned char *at)
{
    const struct step *s = k->step++;
    unsigned char *to = at + s->offset;
    switch (s->code) {
    case S_FLOAT: {
        double d = PyFloat_AsDouble(o);
        memcpy(to, &d, 8);
        return 0;
    }
    case S_INT: {
        int overflow;
        long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (overflow)
            return 1;
        memcpy(to, &v, 8);
        return 0;
    }
    case S_ARRAY:
        if (k->nested)
            return pack_array_item(o, s->number, to);
        return pack_array(k, o, s->number, to);
        return 0;
    case S_CONTAINER:
        return pack_container(k, o, s, to);
    case S_TYPED:
    case S_OBJECT: {
        struct kiln_mem *mem = typed_memory(o);
        if (k->nested)
            kiln_mem_ref(mem);
        memcpy(to, &mem, sizeof mem);
        return 0;
    }
    case S_BOOL:
        *to = o == Py_True;
        return 0;
    case S_COMPLEX: {
        double c[2] = { PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o) };
        memcpy(to, c, 16);
        return 0;
    }
    case S_SCALAR:
        return np_scalar_read(o, s->number, to);
    case S_UINT: {
        unsigned long long v = PyLong_AsUnsignedLongLong(o);
        memcpy(to, &v, 8);
        return 0;
    }
    case S_TUPLE:
        for (unsigned i = 0, n = s->items; i < n; i++) {
            PyObject *item = PyTuple_GetItem(o, i);
            if (k->nested && !pack_fits(k->step, item)) {
                PyErr_SetString(PyExc_TypeError, "an item of another type");
                return -1;
            }
            int rc = pack_one(k, item, to);
            if (rc)
                return rc;
        }
        return 0;
    case S_ABSENT:
        memset(to, 0, s->size + 1);
        return 0;
    case S_PRESENT:
        to[s->size] = 1;
        return pack_one(k, o, to);
    case S_CONVERT:
        return convert_scalar(o, s->number, to);
    case S_RECORD:
        return pack_record(k, o, to);
    case S_ENUM:
        return pack_enum(o, s->number, to);
    case S_TEXT:
        return text_pack(o, s->number, k->nested || k->keep_text, k->nested ? NULL : k->mem++, to);
    default: /* S_NONE */
        return 0;
    }
}

void plan_release(struct kiln_mem *mems, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (mems[i].size == MEM_HELD)
            kiln_mem_unref(mems[i].data);
}

static int pack_failed(struct packer *k, const struct plan *plan, unsigned keep, struct kiln_mem *mems, int rc)
{
    reflected_done(k->reflected);
    if (plan_holds(plan, keep))
        plan_release(mems, plan->n_arrays);
    return rc;
}

int plan_pack(const struct plan *plan, PyObject *const *values, uint32_t n, unsigned char *block,
              struct kiln_mem *mems, unsigned keep, struct reflected **ret_reflected)
{
    struct packer k = {
        .step = plan->steps, .mem = mems, .keep = keep & KEEP_ARRAYS, .keep_text = keep & KEEP_TEXT,
        .keep_long = keep & KEEP_LONG
    };
    bool holds = plan_holds(plan, keep);
    *ret_reflected = NULL;
    for (uint32_t i = 0; holds && i < plan->n_arrays; i++)
        mems[i].size = 0; /* not all are used, and plan_release looks at all */
    for (uint32_t i = 0; i < n; i++) {
        /* The common kinds without a call; pack_one has all of them. */
        const struct step *s = k.step;
        PyObject *o = values[i];
        if (s->code == S_FLOAT) {
            double d = PyFloat_AsDouble(o);
            memcpy(block + s->offset, &d, 8);
            k.step++;
        } else if (s->code == S_ARRAY) {
            int rc = pack_array(&k, o, s->number, block + s->offset);
            k.step++;
            if (__builtin_expect(rc, 0))
                return pack_failed(&k, plan, keep, mems, rc);
        } else {
            int rc = pack_one(&k, o, block);
            if (rc)
                return pack_failed(&k, plan, keep, mems, rc);
        }
    }
    *ret_reflected = k.reflected;
    return 0;
}
