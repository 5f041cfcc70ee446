/* SPDX-License-Identifier: Apache-2.0
 * containers.c - see containers.h. */
#include "client/python/ext/containers.h"

#include <string.h>

#include "client/python/ext/numpy.h"
#include "client/python/ext/packer.h"
#include "client/python/ext/typed.h"

#define BOX_FIELDS 8    /* offset of a dict's or set's struct in its memory */
#define EMPTY INT64_MIN /* hash of a deleted item (prelude/hashing.py) */

/* The struct of a dict; a set has no values, and `used` in their place. */
struct box {
    struct kiln_mem *table, *hashes, *keys, *values;
    int64_t used;
};

static struct kiln_list_head *head_of(const struct kiln_mem *mem)
{
    return mem->data;
}

static struct box *box_of(const struct kiln_mem *mem)
{
    return (struct box *)((unsigned char *)mem->data + BOX_FIELDS);
}

static int64_t *used_of(const struct kiln_type *t, const struct kiln_mem *mem)
{
    struct box *b = box_of(mem);
    return t->kind == KILN_T_DICT ? &b->used : (int64_t *)&b->values;
}

bool is_python_container(PyTypeObject *type)
{
    return type == &PyList_Type || type == &PyDict_Type || type == &PySet_Type;
}

/* ---- fingerprints ---- */

static int rank_of(PyTypeObject *type)
{
    return type == &PyBool_Type      ? 1
           : type == &PyLong_Type    ? 2
           : type == &PyFloat_Type   ? 3
           : type == &PyComplex_Type ? 4
                                     : 0;
}

/* The words of what all items have in common: Python's numbers widen, other things are as the first one. */
static int print_items(struct print *p, PyObject *fast, bool careful, bool numba, int depth)
{
    Py_ssize_t n = PyList_Size(fast);
    int most = rank_of(Py_TYPE(PyList_GetItem(fast, 0)));
    PyObject *first = PyList_GetItem(fast, 0);
    for (Py_ssize_t i = 1; most && i < n; i++) {
        PyObject *o = PyList_GetItem(fast, i);
        int rank = rank_of(Py_TYPE(o));
        if (!rank)
            break; /* packing says which one does not fit */
        if (rank > most) {
            most = rank;
            first = o;
        }
    }
    for (Py_ssize_t i = 0; careful && most == 2 && i < n; i++) { /* 64 bits? */
        struct print one = { .n = 0 };
        PyObject *o = PyList_GetItem(fast, i);
        if (Py_TYPE(o) == &PyLong_Type && print_value(&one, o, true, numba, depth + 1) < 0)
            return -1;
    }
    uint32_t at = p->n;
    int rc = print_value(p, first, careful, numba, depth + 1);
    unsigned tag = rc ? 0 : WORD_TAG(p->words[at]);
    return tag == W_ENUM || tag == W_RECORD || tag == W_FUNCTION || tag == W_TYPE ? 1 : rc;
}

int print_container(struct print *p, PyObject *o, bool careful, bool numba, int depth)
{
    PyTypeObject *type = Py_TYPE(o);
    unsigned kind = type == &PyList_Type ? KILN_T_LIST : type == &PySet_Type ? KILN_T_SET : KILN_T_DICT;
    PyObject *items[2] = { NULL, NULL };
    Py_ssize_t n = PyObject_Size(o);
    int rc = 0;
    if (n < 0 || depth >= TUPLE_DEPTH || p->n >= PRINT_WORDS)
        return n < 0 ? -1 : 1;
    p->words[p->n++] = WORD(W_CONTAINER, kind, n == 0, 0);
    if (n == 0)
        return 0;
    if (kind == KILN_T_LIST) {
        Py_INCREF(o);
        items[0] = o;
    } else {
        items[0] = kind == KILN_T_SET ? PySequence_List(o) : PyDict_Keys(o);
        items[1] = kind == KILN_T_DICT ? PyDict_Values(o) : NULL;
        if (!items[0] || (kind == KILN_T_DICT && !items[1]))
            rc = -1;
    }
    for (int i = 0; !rc && i < 2 && items[i]; i++)
        rc = print_items(p, items[i], careful, numba, depth);
    Py_XDECREF(items[0]);
    Py_XDECREF(items[1]);
    return rc;
}

/* ---- memory made here ---- */

static void drop_value(const struct kiln_type *t, const unsigned char *p)
{
    static const struct owners nobody = { .mems = NULL };
    unbox_drop(t, p, &nobody);
}

static void list_drop(struct kiln_mem *mem, const struct kiln_type *elem)
{
    struct kiln_list_head *h = head_of(mem);
    for (int64_t i = 0; elem && i < h->len; i++)
        drop_value(elem, (unsigned char *)h->data + i * elem->size);
    kiln_mem_unref(h->items);
    h->free(mem);
}

/* Compiled code never sees the last reference of these: the call's own is given up after it. */
static void list_release(struct kiln_mem *mem)
{
    list_drop(mem, mem->user);
}

static void box_release(struct kiln_mem *mem)
{
    void (*release)(struct kiln_mem *);
    memcpy(&release, mem->data, sizeof release);
    const struct kiln_type *t = mem->user;
    struct box *b = box_of(mem);
    kiln_mem_unref(b->table);
    kiln_mem_unref(b->hashes);
    kiln_mem_unref(b->keys);
    if (t->kind == KILN_T_DICT)
        kiln_mem_unref(b->values);
    release(mem);
}

/* An empty list with room for n items of elem (NULL: int64). */
static struct kiln_mem *list_new(const struct kiln_type *elem, int64_t n)
{
    uint32_t size = elem ? elem->size : 8;
    struct kiln_mem *mem = kiln_mem_alloc(sizeof(struct kiln_list_head)),
                    *items = n ? kiln_mem_alloc(n * size) : NULL;
    if (!mem || (n && !items)) {
        kiln_mem_unref(mem);
        kiln_mem_unref(items);
        PyErr_NoMemory();
        return NULL;
    }
    *head_of(mem) = (struct kiln_list_head){
        .cap = n, .data = items ? items->data : NULL, .items = items, .free = mem->release
    };
    mem->release = list_release;
    mem->user = (void *)(uintptr_t)elem;
    return mem;
}

static struct kiln_mem *box_new(const struct kiln_type *t, int64_t n)
{
    struct kiln_mem *mem = kiln_mem_alloc(BOX_FIELDS + sizeof(struct box));
    if (!mem) {
        PyErr_NoMemory();
        return NULL;
    }
    memcpy(mem->data, &mem->release, sizeof mem->release);
    memset(box_of(mem), 0, sizeof(struct box));
    mem->release = box_release;
    mem->user = (void *)(uintptr_t)t;
    struct box *b = box_of(mem);
    b->table = list_new(NULL, 0);
    b->hashes = b->table ? list_new(NULL, 0) : NULL;
    b->keys = b->hashes ? list_new(&t->items[0], n) : NULL;
    if (b->keys && t->kind == KILN_T_DICT)
        b->values = list_new(&t->items[1], n);
    if (!b->keys || (t->kind == KILN_T_DICT && !b->values)) {
        kiln_mem_unref(mem);
        return NULL;
    }
    return mem;
}

/* ---- packing ---- */

static int wrong_item(PyObject *container, Py_ssize_t i, PyObject *o)
{
    PyObject *name = PyType_GetName(Py_TYPE(o));
    if (name)
        PyErr_Format(PyExc_TypeError,
                     "item %zd of this %s is of type %U: all items must have the type of the first one", i,
                     Py_TYPE(container) == &PyList_Type   ? "list"
                     : Py_TYPE(container) == &PyDict_Type ? "dict"
                                                          : "set",
                     name);
    Py_XDECREF(name);
    return -1;
}

/* The items of a Python list into a list of ours, each by the steps behind `first`. */
static int pack_items(struct packer *k, PyObject *container, PyObject *from, struct kiln_mem *mem,
                      uint32_t size)
{
    const struct step *first = k->step + 1, *behind = first + k->step->items;
    struct kiln_list_head *h = head_of(mem);
    Py_ssize_t n = PyList_Size(from);
    if (n > h->cap)
        n = (Py_ssize_t)h->cap;
    k->nested++;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyList_GetItem(from, i);
        k->step = first;
        if (!pack_fits(first, o))
            return wrong_item(container, i, o);
        int rc = pack_one(k, o, (unsigned char *)h->data + (size_t)i * size);
        if (rc) {
            if (rc < 0 && PyErr_ExceptionMatches(PyExc_TypeError)) {
                PyErr_Clear();
                return wrong_item(container, i, o);
            }
            return rc;
        }
        h->len++;
    }
    k->nested--;
    k->step = behind;
    return 0;
}

static size_t list_bytes(const struct kiln_mem *list, const struct kiln_type *elem)
{
    return (size_t)head_of(list)->len * elem->size;
}

/* Copy of the items' bytes, to see later what changed. */
static int remember(struct reflected *r)
{
    const struct kiln_type *t = r->type;
    const struct kiln_mem *keys = t->kind == KILN_T_LIST ? r->mem : box_of(r->mem)->keys;
    size_t n = list_bytes(keys, &t->items[0]),
           m = t->kind == KILN_T_DICT ? list_bytes(box_of(r->mem)->values, &t->items[1]) : 0;
    r->before = PyMem_Malloc(sizeof(int64_t) + n + m + 1);
    if (!r->before) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(r->before, &head_of(keys)->len, sizeof(int64_t));
    if (n)
        memcpy(r->before + sizeof(int64_t), head_of(keys)->data, n);
    if (m)
        memcpy(r->before + sizeof(int64_t) + n, head_of(box_of(r->mem)->values)->data, m);
    return 0;
}

static int pack_parts(struct packer *k, struct reflected *r, PyObject *keys, PyObject *values)
{
    const struct kiln_type *t = r->type;
    int rc;
    if (t->kind == KILN_T_LIST)
        return pack_items(k, r->object, keys, r->mem, t->items[0].size);
    rc = pack_items(k, r->object, keys, box_of(r->mem)->keys, t->items[0].size);
    if (!rc && t->kind == KILN_T_DICT)
        rc = pack_items(k, r->object, values, box_of(r->mem)->values, t->items[1].size);
    *used_of(t, r->mem) = head_of(box_of(r->mem)->keys)->len;
    return rc;
}

int pack_container(struct packer *k, PyObject *o, const struct step *s, unsigned char *to)
{
    const struct kiln_type *t = s->type;
    for (struct reflected *r = k->reflected; r; r = r->next)
        if (r->object == o &&
            !strcmp(r->type->text, t->text)) { /* the same object twice is one list in compiled code too */
            if (k->nested)
                kiln_mem_ref(r->mem);
            memcpy(to, &r->mem, sizeof r->mem);
            k->step += s->items;
            return 0;
        }
    struct reflected *r = PyMem_Calloc(1, sizeof *r);
    PyObject *keys = t->kind == KILN_T_LIST  ? o
                     : t->kind == KILN_T_SET ? PySequence_List(o)
                                             : PyDict_Keys(o),
             *values = t->kind == KILN_T_DICT ? PyDict_Values(o) : NULL;
    int rc = -1;
    if (!r)
        PyErr_NoMemory();
    if (r && keys && (values || t->kind != KILN_T_DICT)) {
        Py_ssize_t n = PyList_Size(keys);
        r->mem = t->kind == KILN_T_LIST ? list_new(&t->items[0], n) : box_new(t, n);
    }
    if (r && r->mem) {
        Py_INCREF(o);
        r->object = o;
        r->type = t;
        r->next = k->reflected;
        k->reflected = r;
        rc = pack_parts(k, r, keys, values);
        if (!rc)
            rc = remember(r);
        if (k->nested) /* the container around holds it; from the block it is borrowed */
            kiln_mem_ref(r->mem);
        memcpy(to, &r->mem, sizeof r->mem);
    } else {
        PyMem_Free(r);
    }
    if (t->kind != KILN_T_LIST)
        Py_XDECREF(keys);
    Py_XDECREF(values);
    return rc;
}

/* ---- back to Python ---- */

/* The object of item i; the list keeps its own reference. */
static PyObject *item_of(const struct kiln_mem *list, const struct kiln_type *elem, int64_t i,
                         const struct owners *own)
{
    const unsigned char *p = (const unsigned char *)head_of(list)->data + i * elem->size;
    unbox_keep(elem, p);
    return unbox(elem, p, own);
}

static PyObject *list_object(const struct kiln_mem *mem, const struct kiln_type *elem,
                             const struct owners *own)
{
    int64_t n = head_of(mem)->len;
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t i = 0; list && i < n; i++) {
        PyObject *o = item_of(mem, elem, i, own);
        if (!o)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, o);
    }
    return list;
}

/* Put the items of a dict or set into an empty object. */
static int fill_box(PyObject *to, const struct kiln_mem *mem, const struct kiln_type *t,
                    const struct owners *own)
{
    const struct box *b = box_of(mem);
    const struct kiln_list_head *hashes = head_of(b->hashes);
    for (int64_t i = 0; i < head_of(b->keys)->len; i++) {
        if (i < hashes->len && ((const int64_t *)hashes->data)[i] == EMPTY)
            continue;
        PyObject *key = item_of(b->keys, &t->items[0], i, own), *value = NULL;
        int rc = key ? 0 : -1;
        if (!rc && t->kind == KILN_T_DICT) {
            value = item_of(b->values, &t->items[1], i, own);
            rc = value ? PyDict_SetItem(to, key, value) : -1;
        } else if (!rc) {
            rc = PySet_Add(to, key);
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
        if (rc)
            return -1;
    }
    return 0;
}

static struct reflected *reflected_of(const struct kiln_mem *mem, const struct owners *own)
{
    struct reflected *r = own->reflected;
    while (r && r->mem != mem)
        r = r->next;
    return r;
}

PyObject *unbox_container(const struct kiln_type *t, const unsigned char *p, const struct owners *own)
{
    struct kiln_mem *mem;
    memcpy(&mem, p, sizeof mem);
    struct reflected *r = reflected_of(mem, own);
    PyObject *o;
    if (t->readonly || t->kind == KILN_T_OBJECT)
        return typed_wrap(t, mem, own);
    if (r) {
        Py_INCREF(r->object);
        o = r->object;
    } else if (t->kind == KILN_T_LIST) {
        o = list_object(mem, &t->items[0], own);
    } else {
        o = t->kind == KILN_T_DICT ? PyDict_New() : PySet_New(NULL);
        if (o && fill_box(o, mem, t, own))
            Py_CLEAR(o);
    }
    kiln_mem_unref(mem);
    return o;
}

/* A list: items whose bytes are the same keep their objects. */
static int reflect_list(struct reflected *r, const struct owners *own)
{
    const struct kiln_type *elem = &r->type->items[0];
    const struct kiln_list_head *h = head_of(r->mem);
    int64_t before;
    memcpy(&before, r->before, sizeof before);
    int64_t n = h->len, common = n < before ? n : before;
    const unsigned char *old = r->before + sizeof before, *now = h->data;
    if (n == before && !memcmp(old, now, (size_t)n * elem->size))
        return 0;
    for (int64_t i = 0; i < common; i++) {
        if (!memcmp(old + i * elem->size, now + i * elem->size, elem->size))
            continue;
        PyObject *o = item_of(r->mem, elem, i, own);
        if (!o || PyList_SetItem(r->object, (Py_ssize_t)i, o))
            return -1;
    }
    if (n < before)
        return PyList_SetSlice(r->object, (Py_ssize_t)n, (Py_ssize_t)before, NULL);
    for (int64_t i = common; i < n; i++) {
        PyObject *o = item_of(r->mem, elem, i, own);
        int rc = o ? PyList_Append(r->object, o) : -1;
        Py_XDECREF(o);
        if (rc)
            return -1;
    }
    return 0;
}

static int reflect_box(struct reflected *r, const struct owners *own)
{
    const struct kiln_type *t = r->type;
    const struct box *b = box_of(r->mem);
    const struct kiln_list_head *keys = head_of(b->keys);
    int64_t before;
    memcpy(&before, r->before, sizeof before);
    size_t n = list_bytes(b->keys, &t->items[0]),
           m = t->kind == KILN_T_DICT ? list_bytes(b->values, &t->items[1]) : 0;
    bool same = keys->len == before && *used_of(t, r->mem) == before &&
                !memcmp(r->before + sizeof before, keys->data ? keys->data : r->before, n) &&
                (!m || !memcmp(r->before + sizeof before + n, head_of(b->values)->data, m));
    if (same)
        return 0;
    if (t->kind == KILN_T_DICT)
        PyDict_Clear(r->object);
    else if (PySet_Clear(r->object))
        return -1;
    return fill_box(r->object, r->mem, t, own);
}

int reflect(struct reflected *all, const struct owners *own)
{
    for (struct reflected *r = all; r; r = r->next)
        if (r->before && (r->type->kind == KILN_T_LIST ? reflect_list(r, own) : reflect_box(r, own)))
            return -1;
    return 0;
}

void reflected_done(struct reflected *all)
{
    while (all) {
        struct reflected *r = all;
        all = r->next;
        kiln_mem_unref(r->mem);
        Py_DECREF(r->object);
        PyMem_Free(r->before);
        PyMem_Free(r);
    }
}
