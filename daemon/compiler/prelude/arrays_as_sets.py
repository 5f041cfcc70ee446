# SPDX-License-Identifier: Apache-2.0
"""Arrays as sets, and counting of values. Meaning: https://numpy.org/doc/stable/reference/routines.set.html and
routines.statistics.html#histograms"""
import math

import numpy as np
from indexing import masked
from making import concatenate, flat
from searching import searchsorted, sort_in_place


# ---- sorted values and sets

def sorted_values(a):
    v = a.ravel().copy()
    sort_in_place(v)
    return v


def unique(ar):
    """numpy.unique: the sorted values"""
    v = sorted_values(np.asarray(ar))
    n = 0
    for i in range(len(v)):
        if i == 0 or v[i] != v[n - 1] and not (v[i] != v[i] and v[n - 1] != v[n - 1]):
            v[n] = v[i]
            n += 1
    return v[:n].copy()


def has(v, x):
    """Is x among sorted values?"""
    i = searchsorted(v, x)
    return i < len(v) and v[i] == x


def is_in(element, test_elements, invert):
    v = sorted_values(np.asarray(test_elements))
    if isinstance(element, np.ndarray):
        out = np.empty(element.size, np.bool_)
        e = element.ravel()
        for i in range(len(e)):
            out[i] = has(v, e[i]) != invert
        return out.reshape(element.shape)
    return np.full((), has(v, element) != invert)


def isin(element, test_elements, assume_unique=False, invert=False):
    """numpy.isin"""
    if isinstance(element, (list, tuple)):
        return is_in(np.asarray(element), test_elements, invert)
    return is_in(element, test_elements, invert)


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """numpy.in1d"""
    return is_in(np.asarray(ar1).ravel(), ar2, invert)


def union1d(ar1, ar2):
    """numpy.union1d"""
    return unique(concatenate((flat(ar1), flat(ar2)), 0))


def intersect1d(ar1, ar2, assume_unique=False):
    """numpy.intersect1d"""
    u, v = unique(ar1), unique(ar2)
    return masked(u, is_in(u, v, False), 0)


def setdiff1d(ar1, ar2, assume_unique=False):
    """numpy.setdiff1d"""
    u = unique(ar1)
    return masked(u, is_in(u, ar2, True), 0)


def setxor1d(ar1, ar2, assume_unique=False):
    """numpy.setxor1d"""
    u, v = unique(ar1), unique(ar2)
    return unique(concatenate((masked(u, is_in(u, v, True), 0), masked(v, is_in(v, u, True), 0)), 0))


# ---- counting

def bincount(x, weights=None, minlength=0):
    """numpy.bincount"""
    n = int(minlength)
    for v in x:
        if v < 0:
            raise ValueError("'list' argument must have no negative elements")
        n = max(n, int(v) + 1)
    if weights is None:
        out = np.zeros(n, np.int64)
        for v in x:
            out[v] += 1
        return out
    if len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(n, np.float64)
    for i in range(len(x)):
        sums[x[i]] += weights[i]
    return sums


def edges_of(a, bins, low, high):
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    return np.linspace(low, high, bins + 1)


def histogram(a, bins=10, range=None):
    """numpy.histogram: counts and edges"""
    v = np.asarray(a).ravel()
    if isinstance(bins, (int, np.integer)):
        low, high = 0.0, 1.0
        if range is None:
            if len(v) > 0:
                low, high = float(np.min(v)), float(np.max(v))
        else:
            low, high = float(range[0]), float(range[1])
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
        if low == high:
            low -= 0.5
            high += 0.5
        edges = edges_of(v, bins, low, high)
        return even_counts(v, edges, bins, low, high), edges
    edges = np.asarray(bins)
    return uneven_counts(v, edges), edges


def even_counts(v, edges, bins, low, high):
    counts = np.zeros(bins, np.int64)
    scale = bins / (high - low)
    for x in v:
        if x >= low and x <= high:
            k = int((x - low) * scale)
            if k == bins:
                k -= 1
            if x < edges[k]:
                k -= 1
            elif x >= edges[k + 1] and k != bins - 1:
                k += 1
            counts[k] += 1
    return counts


def uneven_counts(v, edges):
    n = len(edges) - 1
    counts = np.zeros(n, np.int64)
    for x in v:
        if x >= edges[0] and x <= edges[n]:
            k = searchsorted(edges, x, "right") - 1
            counts[min(k, n - 1)] += 1
    return counts


def digitize(x, bins, right=False):
    """numpy.digitize of ascending bins"""
    if isinstance(x, np.ndarray):
        out = np.empty(x.size, np.int64)
        v = x.ravel()
        for i in range(len(v)):
            out[i] = digitize(v[i], bins, right)
        return out.reshape(x.shape)
    n = len(bins)
    if n > 1 and bins[0] > bins[n - 1]:
        return n - (searchsorted(bins[::-1], x, "left") if right else searchsorted(bins[::-1], x, "right"))
    if right:
        return searchsorted(bins, x, "left")
    return searchsorted(bins, x, "right")


FUNCTIONS = {f"numpy.{f.__name__}": f for f in (unique, isin, in1d, union1d, intersect1d, setdiff1d, setxor1d, bincount, histogram, digitize)}
