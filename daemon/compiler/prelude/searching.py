# SPDX-License-Identifier: Apache-2.0
"""Sorting and searching of one dimension. Meaning: https://numpy.org/doc/stable/reference/routines.sort.html;
nan sorts last. Sorting is by merging: stable, and n log n at worst."""
import numpy as np


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


def sort(a):
    """numpy.sort: a sorted copy."""
    out = a.copy()
    sort_in_place(out)
    return out


def argsort(a):
    """numpy.argsort: the indexes that sort a, equal elements in order."""
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


def searchsorted(a, v, side="left"):
    """numpy.searchsorted of one value: where it belongs in a sorted array."""
    low, high = 0, a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if before(a[middle], v) if side == "left" else not before(v, a[middle]):
            low = middle + 1
        else:
            high = middle
    return np.int64(low)


FUNCTIONS = {"numpy.sort": sort, "ndarray.sort": sort_in_place, "numpy.argsort": argsort, "ndarray.argsort": argsort,
             "numpy.searchsorted": searchsorted, "ndarray.searchsorted": searchsorted}
