# SPDX-License-Identifier: Apache-2.0
"""Indexes that take elements one by one: arrays of integers, masks, lists. Meaning:
https://numpy.org/doc/stable/user/basics.indexing.html#advanced-indexing. These indexes are always checked."""
import numpy as np
from intrinsics import index_axis, static_error
from making import array
from shaping import moveaxis


def as_array(i):
    """A list as an index: the array of it."""
    if isinstance(i, (list, tuple)):
        return array(i)
    return i


def at(k, n, axis):
    """Position k of n; negative ones count from the end."""
    if k < 0:
        if k < -n:
            raise IndexError(f"index {k} is out of bounds for axis {axis} with size {n}")
        return np.int64(k) + n
    if k >= n:
        raise IndexError(f"index {k} is out of bounds for axis {axis} with size {n}")
    return np.int64(k)


# ---- by integers

def take_rows(out, a, i, axis):
    n = a.shape[0]
    if i.ndim == 0:
        out[...] = a[at(i[()], n, axis)]
    elif i.ndim == 1:
        for k in range(len(i)):
            out[k] = a[at(i[k], n, axis)]
    else:
        for k in range(len(i)):
            take_rows(out[k], a, i[k], axis)


def taken(a, i, axis):
    """a[i] along the first axis, which is axis `axis` of what the program has."""
    out = np.empty(i.shape + a.shape[1:], a.dtype)
    take_rows(out, a, i, axis)
    return out


def put_rows(a, i, v, axis):
    """a[i] = v along the first axis; v has the shape of a[i], or is a number."""
    n = a.shape[0]
    if i.ndim == 1:
        for k in range(len(i)):
            if isinstance(v, np.ndarray):
                a[at(i[k], n, axis)] = v[k]
            else:
                a[at(i[k], n, axis)] = v
    else:
        for k in range(len(i)):
            if isinstance(v, np.ndarray):
                put_rows(a, i[k], v[k], axis)
            else:
                put_rows(a, i[k], v, axis)


def spread_value(a, i, v):
    """v with the shape of a[i], so that each row can be taken; a copy where v may be part of a."""
    if isinstance(v, np.ndarray):
        out = np.empty(i.shape + a.shape[1:], v.dtype)
        out[...] = v
        return out
    return v


# ---- by masks

def check_mask(a, m, axis):
    for k in range(m.ndim):
        if m.shape[k] != a.shape[k]:
            raise IndexError(f"boolean index did not match indexed array along dimension {k + axis}; dimension is {a.shape[k]} but "
                             f"corresponding boolean dimension is {m.shape[k]}")


def count(m):
    n = 0
    if m.ndim == 1:
        for v in m:
            if v:
                n += 1
    else:
        for row in m:
            n += count(row)
    return n


def gather(out, a, m, k):
    if m.ndim == 1:
        for i in range(len(m)):
            if m[i]:
                out[k] = a[i]
                k += 1
    else:
        for i in range(len(m)):
            k = gather(out, a[i], m[i], k)
    return k


def masked(a, m, axis):
    if m.ndim > a.ndim:
        static_error("too many indices for array: the mask has more dimensions")
    check_mask(a, m, axis)
    out = np.empty((count(m),) + rest(a.shape, m.shape), a.dtype)
    gather(out, a, m, 0)
    return out


def rest(shape, front):
    """shape without as many items as front has."""
    if len(front) == 0:
        return shape
    return rest(shape[1:], front[1:])


def scatter(a, m, v, k):
    if m.ndim == 1:
        for i in range(len(m)):
            if m[i]:
                if isinstance(v, np.ndarray):
                    a[i] = v[k]
                    k += 1
                else:
                    a[i] = v
    else:
        for i in range(len(m)):
            k = scatter(a[i], m[i], v, k)
    return k


def put_masked(a, m, v, axis):
    if m.ndim > a.ndim:
        static_error("too many indices for array: the mask has more dimensions")
    check_mask(a, m, axis)
    if isinstance(v, np.ndarray):
        n = count(m)
        if v.ndim == 0 or a.ndim > m.ndim:
            values = np.empty((n,) + rest(a.shape, m.shape), v.dtype)
            values[...] = v
            scatter(a, m, values, 0)
        elif v.ndim > 1:
            static_error("NumPy boolean array indexing assignment requires a 0 or 1-dimensional input")
        else:
            if v.shape[0] != n and v.shape[0] != 1:
                raise ValueError(f"NumPy boolean array indexing assignment cannot assign {v.shape[0]} input values to the {n} output values where the "
                                 "mask is true")
            if v.shape[0] == 1:
                scatter(a, m, v[0], 0)
            else:
                scatter(a, m, v.copy(), 0)
    else:
        scatter(a, m, v, 0)


# ---- several at once: an index for each of the first axes

def length(index):
    """How many elements indexes of one dimension take together."""
    n = 1
    for i in index:
        if isinstance(i, np.ndarray):
            if i.ndim != 1:
                static_error("several indexes of more than one dimension are not compiled by this version")
            k = i.shape[0]
            if k != n and n != 1 and k != 1:
                raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes ({n},) ({k},)")
            if k != 1:
                n = k
    return n


def arrays_of(index):
    """Lists as arrays, masks as the positions of their true values."""
    if len(index) == 0:
        return ()
    return (position_array(index[0]),) + arrays_of(index[1:])


def position_array(i):
    if isinstance(i, list):
        return position_array(array(i))
    if isinstance(i, np.ndarray):
        if i.dtype == np.bool_:
            if i.ndim != 1:
                static_error("a mask among several indexes has one dimension")
            out = np.empty(count(i), np.int64)
            k = 0
            for j in range(len(i)):
                if i[j]:
                    out[k] = j
                    k += 1
            return out
    return i


def one_of(i, k):
    if isinstance(i, np.ndarray):
        return i[0 if i.shape[0] == 1 else k]
    return i


def descend(a, index, k, axis):
    """a[i0[k], i1[k], ...]"""
    if len(index) == 1:
        return a[at(one_of(index[0], k), a.shape[0], axis)]
    return descend(a[at(one_of(index[0], k), a.shape[0], axis)], index[1:], k, axis + 1)


def store(a, index, k, v, axis):
    i = at(one_of(index[0], k), a.shape[0], axis)
    if len(index) == 1:
        a[i] = v
    else:
        store(a[i], index[1:], k, v, axis + 1)


def zipped(a, index):
    n = length(index)
    out = np.empty((n,) + rest(a.shape, index), a.dtype)
    for k in range(n):
        out[k] = descend(a, index, k, 0)
    return out


def put_zipped(a, index, v):
    n = length(index)
    if isinstance(v, np.ndarray):
        values = np.empty((n,) + rest(a.shape, index), v.dtype)
        values[...] = v
        for k in range(n):
            store(a, index, k, values[k], 0)
    else:
        for k in range(n):
            store(a, index, k, v, 0)


# ---- one array among slices

def plain(index):
    """The index with `:` where its array stands."""
    if len(index) == 0:
        return ()
    if isinstance(index[0], (np.ndarray, list)):
        return (slice(None),) + index[1:]
    return (index[0],) + plain(index[1:])


def the_array(index):
    if isinstance(index[0], (np.ndarray, list)):
        return index[0]
    return the_array(index[1:])


def among(a, index):
    i = position_array(the_array(index))
    check_among(a, index)
    view = a[plain(index)]
    k = index_axis(a, index)
    if k >= 100:
        return taken(moveaxis(view, k - 100, 0), i, k - 100)
    if k == 0:
        return taken(view, i, 0)
    if i.ndim != 1:
        static_error("an index of several dimensions stands first")
    return moveaxis(taken(moveaxis(view, k, 0), i, k), 0, k)


def check_among(a, index):
    m = the_array(index)
    if isinstance(m, np.ndarray):
        if m.dtype == np.bool_:
            k = index_axis(a, index) % 100
            n = a[plain(index)].shape[k]
            if m.shape[0] != n:
                raise IndexError(f"boolean index did not match indexed array along dimension {k}; dimension is {n} but corresponding boolean "
                                 f"dimension is {m.shape[0]}")


def put_among(a, index, v):
    i = position_array(the_array(index))
    check_among(a, index)
    view = a[plain(index)]
    k = index_axis(a, index)
    rows = moveaxis(view, k % 100, 0)
    if isinstance(v, np.ndarray):
        whole = np.empty(i.shape + rows.shape[1:], v.dtype)
        moveaxis(whole, 0, k if k < 100 else 0)[...] = v
        put_rows(rows, i, whole, k % 100)
    else:
        put_rows(rows, i, v, k % 100)


# ---- what the compiler calls

def getitem(a, index):
    """ndarray.__getitem__"""
    if isinstance(index, list):
        return getitem(a, array(index))
    if isinstance(index, np.ndarray):
        if index.dtype == np.bool_:
            return masked(a, index, 0)
        if not isinstance(index.dtype.type(0), np.integer):
            static_error("arrays used as indices must be of integer (or boolean) type")
        return taken(a, index, 0)
    if len(index) == 1:
        return getitem(a, index[0])
    if index_axis(a, index) < 0:
        return zipped(a, arrays_of(index))
    return among(a, index)


def setitem(a, index, v):
    """ndarray.__setitem__"""
    if isinstance(v, (list, tuple)):
        setitem(a, index, array(v))
    elif isinstance(index, list):
        setitem(a, array(index), v)
    elif isinstance(index, np.ndarray):
        if index.dtype == np.bool_:
            put_masked(a, index, v, 0)
        else:
            put_rows(a, index, spread_value(a, index, v), 0)
    elif len(index) == 1:
        setitem(a, index[0], v)
    elif index_axis(a, index) < 0:
        put_zipped(a, arrays_of(index), v)
    else:
        put_among(a, index, v)


# ---- functions

def take(a, indices, axis=None):
    """numpy.take"""
    if isinstance(indices, (list, tuple)):
        return take(a, array(indices), axis)
    if axis is None:
        if isinstance(indices, np.ndarray):
            return taken(a.ravel(), indices, 0)
        return a.ravel()[at(indices, a.size, 0)]
    if isinstance(indices, np.ndarray):
        out = taken(moveaxis(a, axis, 0), indices, axis)
        if indices.ndim != 1:
            static_error("indices of one dimension are needed along an axis")
        return moveaxis(out, 0, axis).copy()
    return moveaxis(a, axis, 0)[at(indices, a.shape[axis], axis)].copy()


def contains(x, a):
    """x in a"""
    for v in a:
        if a.ndim == 1:
            if v == x:
                return True
        elif contains(x, v):
            return True
    return False


def lacks(x, a):
    """x not in a"""
    return not contains(x, a)


def nonzero(a):
    """numpy.nonzero"""
    out = np.empty((a.ndim, true_count(a)), np.int64)
    list_true(out, a, 0, 0)
    return rows_of(out, a.shape, 0)


def true_count(a):
    n = 0
    for v in a:
        if a.ndim == 1:
            if v:
                n += 1
        else:
            n += true_count(v)
    return n


def list_true(out, a, axis, k):
    """Positions of true elements from column k on; the rows above `axis` are filled when a row is done."""
    if a.ndim == 1:
        for i in range(len(a)):
            if a[i]:
                out[axis, k] = i
                k += 1
    else:
        for i in range(a.shape[0]):
            first = k
            k = list_true(out, a[i], axis + 1, k)
            for j in range(first, k):
                out[axis, j] = i
    return k


def rows_of(out, shape, k):
    if len(shape) == 0:
        return ()
    return (out[k],) + rows_of(out, shape[1:], k + 1)


def flatnonzero(a):
    """numpy.flatnonzero"""
    return nonzero(a.ravel())[0]


def argwhere(a):
    """numpy.argwhere"""
    out = np.empty((a.ndim, true_count(a)), np.int64)
    list_true(out, a, 0, 0)
    return out.T.copy()


def compress(condition, a):
    """numpy.compress of a vector"""
    return a[:len(condition)][condition]


def extract(condition, arr):
    """numpy.extract"""
    return arr.ravel()[condition.ravel()]


def delete(arr, obj):
    """numpy.delete from the flattened array"""
    v = arr.ravel()
    keep = np.ones(len(v), np.bool_)
    if isinstance(obj, (int, np.integer)):
        keep[at(obj, len(v), 0)] = False
    elif isinstance(obj, slice):
        keep[obj] = False
    else:
        for k in obj:
            keep[at(k, len(v), 0)] = False
    return masked(v, keep, 0)


def insert(arr, obj, values):
    """numpy.insert of one place in the flattened array"""
    v = arr.ravel()
    i = obj + len(v) if obj < 0 else obj
    if i < 0 or i > len(v):
        raise IndexError(f"index {obj} is out of bounds for axis 0 with size {len(v)}")
    fresh = np.asarray(values)
    n = fresh.size
    out = np.empty(len(v) + n, v.dtype)
    out[:i] = v[:i]
    out[i:i + n] = fresh
    out[i + n:] = v[i:]
    return out


def take_along_axis(arr, indices, axis):
    """numpy.take_along_axis of arrays of equal shapes but for that axis"""
    out = np.empty(indices.shape, arr.dtype)
    along(moveaxis(out, axis, -1), moveaxis(arr, axis, -1), moveaxis(indices, axis, -1))
    return out


def along(out, a, i):
    if out.ndim == 1:
        for k in range(len(out)):
            out[k] = a[at(i[k], a.shape[0], 0)]
    else:
        for k in range(out.shape[0]):
            along(out[k], a[k], i[k])


FUNCTIONS = {
    "ndarray.__getitem__": getitem, "ndarray.__setitem__": setitem, "ndarray.__in__": contains, "ndarray.__notin__": lacks,
    "numpy.take": take, "ndarray.take": take, "numpy.nonzero": nonzero, "ndarray.nonzero": nonzero, "numpy.flatnonzero": flatnonzero,
    "numpy.argwhere": argwhere, "numpy.compress": compress, "numpy.extract": extract, "numpy.delete": delete, "numpy.insert": insert,
    "numpy.take_along_axis": take_along_axis,
}
