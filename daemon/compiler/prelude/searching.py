# SPDX-License-Identifier: Apache-2.0
"""Sorting and searching. Meaning: https://numpy.org/doc/stable/reference/routines.sort.html;
nan sorts last. Sorting is by merging: stable, and n log n at worst."""
import numpy as np
from shaping import moveaxis


def before(x, y):
    """x comes before y; nan after everything."""
    return x < y or (y != y and x == x)


def insertion(a, begin, end):
    for i in range(begin + 1, end):
        v = a[i]
        j = i
        while j > begin and before(v, a[j - 1]):
            a[j] = a[j - 1]
            j -= 1
        a[j] = v


def merge(a, spare, begin, middle, end):
    """Merge the sorted halves; spare takes the left one."""
    for i in range(begin, middle):
        spare[i] = a[i]
    i, j, k = begin, middle, begin
    while i < middle and j < end:
        if before(a[j], spare[i]):
            a[k] = a[j]
            j += 1
        else:
            a[k] = spare[i]
            i += 1
        k += 1
    while i < middle:
        a[k] = spare[i]
        i += 1
        k += 1


def sort_in_place(a):
    """ndarray.sort."""
    n, width = a.shape[0], 16
    for begin in range(0, n, width):
        insertion(a, begin, min(begin + width, n))
    if n > width:
        spare = np.empty(n, a.dtype)
        while width < n:
            for begin in range(0, n - width, 2 * width):
                if before(a[begin + width], a[begin + width - 1]):
                    merge(a, spare, begin, begin + width, min(begin + 2 * width, n))
            width *= 2


def sort_last(a):
    if a.ndim == 1:
        sort_in_place(a)
    else:
        for i in range(a.shape[0]):
            sort_last(a[i])


def sort(a, axis=-1, kind=None):
    """numpy.sort: a sorted copy."""
    out = np.array(a)
    if axis is None:
        return sort(out.ravel())
    sort_last(moveaxis(out, axis, -1))
    return out


def sort_method(a, axis=-1, kind=None):
    """ndarray.sort"""
    if a.ndim == 1:
        sort_in_place(a)
    else:
        sort_last(moveaxis(a, axis, -1))


def order_last(out, a):
    if a.ndim == 1:
        out[...] = order_of(a)
    else:
        for i in range(a.shape[0]):
            order_last(out[i], a[i])


def argsort(a, axis=-1, kind=None):
    """numpy.argsort"""
    if axis is None:
        return order_of(a.ravel())
    if a.ndim == 1:
        return order_of(a)
    out = np.empty(a.shape, np.int64)
    order_last(moveaxis(out, axis, -1), moveaxis(a, axis, -1))
    return out


def order_of(a):
    """The indexes that sort a vector, equal elements in order."""
    n, width = a.shape[0], 1
    order = np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    spare = np.empty(n, np.int64)
    while width < n:
        for begin in range(0, n - width, 2 * width):
            middle, end = begin + width, min(begin + 2 * width, n)
            for i in range(begin, middle):
                spare[i] = order[i]
            i, j, k = begin, middle, begin
            while i < middle and j < end:
                if before(a[order[j]], a[spare[i]]):
                    order[k] = order[j]
                    j += 1
                else:
                    order[k] = spare[i]
                    i += 1
                k += 1
            while i < middle:
                order[k] = spare[i]
                i += 1
                k += 1
        width *= 2
    return order


def places(a, v, side):
    out = np.empty(v.size, np.int64)
    w = v.ravel()
    for i in range(len(w)):
        out[i] = searchsorted(a, w[i], side)
    return out.reshape(v.shape)


def places_in(a, v, side="left"):
    """numpy.searchsorted"""
    if isinstance(v, (list, tuple)):
        return places(a, np.array(v), side)
    if isinstance(v, np.ndarray):
        if v.ndim > 0:
            return places(a, v, side)
        return searchsorted(a, v[()], side)
    return searchsorted(a, v, side)


def partition(a, kth):
    """numpy.partition: sorted, which is a partition at every place."""
    return sort(a)


def argpartition(a, kth):
    """numpy.argpartition: the order of sorting."""
    return argsort(a)


def searchsorted(a, v, side="left"):
    """Where a value belongs in a sorted vector."""
    low, high = 0, a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if before(a[middle], v) if side == "left" else not before(v, a[middle]):
            low = middle + 1
        else:
            high = middle
    return np.int64(low)


FUNCTIONS = {"numpy.sort": sort, "ndarray.sort": sort_method, "numpy.argsort": argsort, "ndarray.argsort": argsort,
             "numpy.searchsorted": places_in, "ndarray.searchsorted": places_in, "numpy.partition": partition, "numpy.argpartition": argpartition}
