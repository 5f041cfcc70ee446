# SPDX-License-Identifier: Apache-2.0
"""Reductions over whole arrays. Meaning: https://numpy.org/doc/stable/reference/routines.math.html and
routines.statistics.html, routines.logic.html, routines.sort.html; sums of floats are pairwise, as NumPy's are.

Arrays of several dimensions are taken apart along the first axis: `row` below is one dimension less, so each call
is another specialization and the loops over the last axis are the ones that run."""
import numpy as np


def zero_for_sum(a):
    """What a sum starts from: integers add up in 64 bits, the rest in the array's own type."""
    if np.issubdtype(a.dtype, np.unsignedinteger):
        return np.uint64(0)
    if a.dtype == np.bool_ or np.issubdtype(a.dtype, np.integer):
        return np.int64(0)
    return a.dtype.type(0)


def pairwise(a, begin, n):
    """Sum of a[begin:begin + n]; the rounding error grows with log(n)."""
    if n < 8:
        total = a.dtype.type(0)
        for i in range(begin, begin + n):
            total += a[i]
        return total
    if n <= 128:
        s0 = a[begin]
        s1 = a[begin + 1]
        s2 = a[begin + 2]
        s3 = a[begin + 3]
        s4 = a[begin + 4]
        s5 = a[begin + 5]
        s6 = a[begin + 6]
        s7 = a[begin + 7]
        whole = n - n % 8
        for i in range(begin + 8, begin + whole, 8):
            s0 += a[i]
            s1 += a[i + 1]
            s2 += a[i + 2]
            s3 += a[i + 3]
            s4 += a[i + 4]
            s5 += a[i + 5]
            s6 += a[i + 6]
            s7 += a[i + 7]
        total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
        for i in range(begin + whole, begin + n):
            total += a[i]
        return total
    half = n // 2
    half -= half % 8
    return pairwise(a, begin, half) + pairwise(a, begin + half, n - half)


def total_of(a):
    """numpy.sum: the sum of all elements."""
    total = zero_for_sum(a)
    if a.ndim == 0:
        return total + a[()]
    if a.ndim == 1:
        if np.issubdtype(a.dtype, np.inexact):
            return pairwise(a, 0, a.shape[0])
        for v in a:
            total += v
    else:
        for row in a:
            total += total_of(row)
    return total


def product_of(a):
    """numpy.prod: the product of all elements."""
    total = zero_for_sum(a) + 1
    if a.ndim == 1:
        for v in a:
            total *= v
    else:
        for row in a:
            total *= product_of(row)
    return total


def total_as_floats(a):
    """The sum of integers as NumPy's mean takes it: in float64, so that it does not wrap."""
    if a.ndim == 1:
        floats = np.empty(a.shape[0], np.float64)
        for i in range(a.shape[0]):
            floats[i] = a[i]
        return pairwise(floats, 0, a.shape[0])
    total = np.float64(0)
    if a.ndim == 0:
        return total + a[()]
    for row in a:
        total += total_as_floats(row)
    return total


def mean_of(a):
    """numpy.mean: sum divided by count; nan of no elements."""
    if np.issubdtype(a.dtype, np.inexact):
        return total_of(a) / a.size
    return total_as_floats(a) / a.size


def squares_about(a, mean):
    """Sum of the squared distances from the mean."""
    if np.issubdtype(a.dtype, np.inexact):
        total = (a.dtype.type(0) * a.dtype.type(0)).real
    else:
        total = np.float64(0)
    if a.ndim == 1:
        for v in a:
            d = v - mean
            total += d.real * d.real + d.imag * d.imag
    else:
        for row in a:
            total += squares_about(row, mean)
    return total


def variance_of(a, ddof=0):
    """numpy.var: mean squared distance from the mean, divided by size - ddof."""
    return squares_about(a, mean_of(a)) / max(a.size - ddof, 0)


def deviation_of(a, ddof=0):
    """numpy.std: the square root of the variance."""
    return np.sqrt(variance_of(a, ddof))


def least(a):
    """numpy.min: the least element; nan if there is one."""
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    if a.ndim == 1:
        m = a[0]
        for v in a:
            m = np.minimum(m, v)
    else:
        m = least(a[0])
        for row in a:
            m = np.minimum(m, least(row))
    return m


def greatest(a):
    """numpy.max: the greatest element; nan if there is one."""
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    if a.ndim == 1:
        m = a[0]
        for v in a:
            m = np.maximum(m, v)
    else:
        m = greatest(a[0])
        for row in a:
            m = np.maximum(m, greatest(row))
    return m


def range_of(a):
    """numpy.ptp: greatest minus least."""
    return greatest(a) - least(a)


def find_least(a):
    """(least element, its index in the flattened array); the first nan counts as least."""
    if a.ndim == 1:
        best, at = a[0], 0
        for i in range(a.shape[0]):
            v = a[i]
            if best == best and (v < best or v != v):
                best, at = v, i
    else:
        best, at = find_least(a[0])
        n = a.size // a.shape[0]
        for k in range(1, a.shape[0]):
            v, i = find_least(a[k])
            if best == best and (v < best or v != v):
                best, at = v, k * n + i
    return best, at


def find_greatest(a):
    """(greatest element, its index in the flattened array); the first nan counts as greatest."""
    if a.ndim == 1:
        best, at = a[0], 0
        for i in range(a.shape[0]):
            v = a[i]
            if best == best and (v > best or v != v):
                best, at = v, i
    else:
        best, at = find_greatest(a[0])
        n = a.size // a.shape[0]
        for k in range(1, a.shape[0]):
            v, i = find_greatest(a[k])
            if best == best and (v > best or v != v):
                best, at = v, k * n + i
    return best, at


def index_of_least(a):
    """numpy.argmin: index of the first least element of the flattened array."""
    if a.size == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    return np.int64(find_least(a)[1])


def index_of_greatest(a):
    """numpy.argmax: index of the first greatest element of the flattened array."""
    if a.size == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    return np.int64(find_greatest(a)[1])


def some(a):
    """numpy.any: is an element true?"""
    for v in a:
        if a.ndim == 1:
            if v:
                return True
        elif some(v):
            return True
    return False


def every(a):
    """numpy.all: is every element true?"""
    for v in a:
        if a.ndim == 1:
            if not v:
                return False
        elif not every(v):
            return False
    return True


def count_true(a):
    """numpy.count_nonzero."""
    n = np.int64(0)
    for v in a:
        if a.ndim == 1:
            if v:
                n += 1
        else:
            n += count_true(v)
    return n


def running(out, a, total, at):
    """Write the running sums of a, which continue `total`, from out[at] on; returns (total, at)."""
    if a.ndim == 1:
        for v in a:
            total += v
            out[at] = total
            at += 1
    else:
        for row in a:
            total, at = running(out, row, total, at)
    return total, at


def running_sums(a):
    """numpy.cumsum of the flattened array."""
    zero = zero_for_sum(a)
    out = np.full(a.size, zero)
    running(out, a, zero, 0)
    return out


def multiplied(out, a, total, at):
    if a.ndim == 1:
        for v in a:
            total *= v
            out[at] = total
            at += 1
    else:
        for row in a:
            total, at = multiplied(out, row, total, at)
    return total, at


def running_products(a):
    """numpy.cumprod of the flattened array."""
    one = zero_for_sum(a) + 1
    out = np.full(a.size, one)
    multiplied(out, a, one, 0)
    return out


FUNCTIONS = {}
