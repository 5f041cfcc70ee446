# SPDX-License-Identifier: Apache-2.0
"""Reductions with NumPy's arguments: axis, dtype, keepdims. Meaning: as in reductions.py, which does the work on whole
arrays and on the vectors along an axis.

Whether there is an axis is known when compiling, which one it is need not be."""
import math

import numpy as np
from intrinsics import dtype_of, layout, static_error
from reductions import (count_true, deviation_of, every, greatest, index_of_greatest, index_of_least, least, mean_of, product_of, range_of, running_products,
                        running_sums, some, total_of, variance_of)
from searching import sort_in_place
from shaping import axis_in, moveaxis, with_item, without_item


def vector(a):
    """An array as reductions take it: what is no array becomes one, 0-d ones get one axis."""
    if not isinstance(a, np.ndarray):
        return np.asarray(a)
    if a.ndim == 0:
        return a.reshape(1)
    return a


def along(out, f, a, arguments):
    """f of each vector along the last axis of a."""
    if a.ndim == 2:
        for i in range(out.shape[0]):
            out[i] = f(a[i], *arguments)
    else:
        for i in range(out.shape[0]):
            along(out[i], f, a[i], arguments)


def kept(keepdims):
    if not keepdims:
        raise ValueError("leave keepdims out where it is False: how many dimensions the result has is known when compiling")


def reduced(f, a, axis, keepdims, arguments):
    if axis is None:
        if keepdims is not None:
            static_error("keepdims needs an axis here")
        return f(vector(a), *arguments)
    if isinstance(axis, tuple):
        static_error("one axis at a time is compiled by this version")
    v = vector(a)
    k = axis_in(axis, v.ndim)
    if v.ndim == 1:
        if keepdims is not None:
            kept(keepdims)
            return np.full(1, f(v, *arguments))
        return f(v, *arguments)
    rows = moveaxis(v, k, -1)
    out = np.empty(without_item(v.shape, k, 0, v.shape[1:]), dtype_of(f(rows[0, ..., :].reshape(-1), *arguments)))
    along(out, f, rows, arguments)
    if keepdims is not None:
        kept(keepdims)
        return out.reshape(with_item(out.shape, k, 1, 0, v.shape))
    return out


def sum_(a, axis=None, dtype=None, keepdims=None):
    """numpy.sum"""
    if dtype is None:
        return reduced(total_of, a, axis, keepdims, ())
    return reduced(total_of, vector(a).astype(dtype), axis, keepdims, ())


def prod(a, axis=None, dtype=None, keepdims=None):
    """numpy.prod"""
    if dtype is None:
        return reduced(product_of, a, axis, keepdims, ())
    return reduced(product_of, vector(a).astype(dtype), axis, keepdims, ())


def mean(a, axis=None, dtype=None, keepdims=None):
    """numpy.mean"""
    if dtype is None:
        return reduced(mean_of, a, axis, keepdims, ())
    return reduced(mean_of, vector(a).astype(dtype), axis, keepdims, ())


def var(a, axis=None, ddof=0, keepdims=None):
    """numpy.var"""
    return reduced(variance_of, a, axis, keepdims, (ddof,))


def std(a, axis=None, ddof=0, keepdims=None):
    """numpy.std"""
    return reduced(deviation_of, a, axis, keepdims, (ddof,))


def min_(a, axis=None, keepdims=None):
    """numpy.min"""
    return reduced(least, a, axis, keepdims, ())


def max_(a, axis=None, keepdims=None):
    """numpy.max"""
    return reduced(greatest, a, axis, keepdims, ())


def ptp(a, axis=None):
    """numpy.ptp"""
    return reduced(range_of, a, axis, None, ())


def argmin(a, axis=None):
    """numpy.argmin"""
    return reduced(index_of_least, a, axis, None, ())


def argmax(a, axis=None):
    """numpy.argmax"""
    return reduced(index_of_greatest, a, axis, None, ())


def any_(a, axis=None, keepdims=None):
    """numpy.any"""
    return reduced(some, a, axis, keepdims, ())


def all_(a, axis=None, keepdims=None):
    """numpy.all"""
    return reduced(every, a, axis, keepdims, ())


def count_nonzero(a, axis=None):
    """numpy.count_nonzero"""
    return reduced(count_true, a, axis, None, ())


# ---- running ones

def each(out, f, a):
    if a.ndim == 1:
        out[...] = f(a)
    else:
        for i in range(a.shape[0]):
            each(out[i], f, a[i])


def running(f, a, axis):
    if axis is None:
        return f(vector(a))
    v = vector(a)
    out = np.empty(v.shape, dtype_of(f(v)))
    each(moveaxis(out, axis, -1), f, moveaxis(v, axis, -1))
    return out


def cumsum(a, axis=None):
    """numpy.cumsum"""
    return running(running_sums, a, axis)


def cumprod(a, axis=None):
    """numpy.cumprod"""
    return running(running_products, a, axis)


# ---- without nan

def some_nan(a):
    return np.issubdtype(a.dtype, np.inexact)


def without_nan(a):
    """The elements that are not nan, as a vector."""
    v = a.ravel()
    if np.issubdtype(a.dtype, np.inexact):
        return v[~np.isnan(v)]
    return v


def nan_replaced(a, by):
    """A copy with `by` for nan."""
    if np.issubdtype(a.dtype, np.inexact):
        out = a.copy().ravel()
        for i in range(len(out)):
            if np.isnan(out[i]):
                out[i] = by
        return out.reshape(a.shape)
    return a


def nan_total(a):
    return total_of(nan_replaced(a, 0))


def nan_product(a):
    return product_of(nan_replaced(a, 1))


def nan_mean(a):
    if np.issubdtype(a.dtype, np.inexact):
        return total_of(nan_replaced(a, 0)) / len(without_nan(a))
    return mean_of(a)


def nan_variance(a, ddof=0):
    v = without_nan(a)
    if len(v) - ddof <= 0:
        return np.full(1, variance_of(a, ddof))[0] * math.nan
    return variance_of(v, ddof)


def nan_deviation(a, ddof=0):
    return np.sqrt(nan_variance(a, ddof))


def nan_least(a):
    v = without_nan(a)
    if len(v) == 0 and a.size > 0:
        return first_element(a)
    return least(v)


def nan_greatest(a):
    v = without_nan(a)
    if len(v) == 0 and a.size > 0:
        return first_element(a)
    return greatest(v)


def first_element(a):
    return a.ravel()[0]


def nan_index_of_least(a):
    v = a.ravel()
    found = -1
    for i in range(len(v)):
        if not np.isnan(v[i]) and (found < 0 or v[i] < v[found]):
            found = i
    if found < 0:
        raise ValueError("All-NaN slice encountered")
    return np.int64(found)


def nan_index_of_greatest(a):
    v = a.ravel()
    found = -1
    for i in range(len(v)):
        if not np.isnan(v[i]) and (found < 0 or v[i] > v[found]):
            found = i
    if found < 0:
        raise ValueError("All-NaN slice encountered")
    return np.int64(found)


def nansum(a, axis=None):
    """numpy.nansum"""
    return reduced(nan_total, a, axis, None, ())


def nanprod(a, axis=None):
    """numpy.nanprod"""
    return reduced(nan_product, a, axis, None, ())


def nanmean(a, axis=None):
    """numpy.nanmean"""
    return reduced(nan_mean, a, axis, None, ())


def nanvar(a, axis=None, ddof=0):
    """numpy.nanvar"""
    return reduced(nan_variance, a, axis, None, (ddof,))


def nanstd(a, axis=None, ddof=0):
    """numpy.nanstd"""
    return reduced(nan_deviation, a, axis, None, (ddof,))


def nanmin(a, axis=None):
    """numpy.nanmin"""
    return reduced(nan_least, a, axis, None, ())


def nanmax(a, axis=None):
    """numpy.nanmax"""
    return reduced(nan_greatest, a, axis, None, ())


def nanargmin(a, axis=None):
    """numpy.nanargmin"""
    return reduced(nan_index_of_least, a, axis, None, ())


def nanargmax(a, axis=None):
    """numpy.nanargmax"""
    return reduced(nan_index_of_greatest, a, axis, None, ())


def nancumsum(a):
    """numpy.nancumsum"""
    return running_sums(nan_replaced(vector(a), 0))


def nancumprod(a):
    """numpy.nancumprod"""
    return running_products(nan_replaced(vector(a), 1))


def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    """numpy.nan_to_num of an array of floats"""
    if not np.issubdtype(x.dtype, np.floating):
        return np.copy(x)
    out = x.copy()
    v = out.ravel()
    high = x.dtype.type(3.4028234663852886e38) if x.dtype == np.float32 else x.dtype.type(1.7976931348623157e308)
    top = high if posinf is None else x.dtype.type(posinf)
    low = -high if neginf is None else x.dtype.type(neginf)
    for i in range(len(v)):
        if np.isnan(v[i]):
            v[i] = nan
        elif np.isinf(v[i]):
            v[i] = top if v[i] > 0 else low
    return out


# ---- order statistics

def middle(v):
    """The median of a vector of numbers that are sorted here."""
    n = len(v)
    if n == 0:
        return np.float64(math.nan) * half(v)
    w = v.copy()
    sort_in_place(w)
    if w[n - 1] != w[n - 1]:
        return half(v) * math.nan
    if n % 2 == 1:
        return w[n // 2] * half(v)
    return (w[n // 2 - 1] + w[n // 2]) / half_two(v)


def half(v):
    """1 in the type of a mean."""
    if v.dtype == np.float32:
        return np.float32(1)
    return np.float64(1)


def half_two(v):
    if v.dtype == np.float32:
        return np.float32(2)
    return np.float64(2)


def middle_of(a):
    return middle(a.ravel())


def middle_without_nan(a):
    return middle(without_nan(a))


def median(a, axis=None):
    """numpy.median"""
    return reduced(middle_of, a, axis, None, ())


def nanmedian(a, axis=None):
    """numpy.nanmedian"""
    return reduced(middle_without_nan, a, axis, None, ())


def at_quantile(w, q):
    """Linear between the two nearest of sorted numbers."""
    n = len(w)
    if q < 0 or q > 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    if n == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    if w[n - 1] != w[n - 1]:
        return np.float64(math.nan)
    place = (n - 1) * float(q)
    low = int(math.floor(place))
    high = min(low + 1, n - 1)
    t = place - low
    a, b = np.float64(w[low]), np.float64(w[high])
    if t >= 0.5:
        return b - (b - a) * (1 - t)
    return a + (b - a) * t


def quantiles(v, q):
    w = v.copy()
    sort_in_place(w)
    if isinstance(q, np.ndarray):
        out = np.empty(len(q), np.float64)
        for i in range(len(q)):
            out[i] = at_quantile(w, q[i])
        return out
    return at_quantile(w, q)


def quantile(a, q):
    """numpy.quantile"""
    if isinstance(q, (list, tuple)):
        return quantile(a, np.asarray(q))
    return quantiles(vector(a).ravel(), q)


def nanquantile(a, q):
    """numpy.nanquantile"""
    if isinstance(q, (list, tuple)):
        return nanquantile(a, np.asarray(q))
    return quantiles(without_nan(vector(a)), q)


def hundredths(q):
    if isinstance(q, (list, tuple)):
        return hundredths(np.asarray(q))
    if isinstance(q, np.ndarray):
        out = np.empty(len(q), np.float64)
        for i in range(len(q)):
            out[i] = percent(q[i])
        return out
    return percent(q)


def percent(q):
    if q < 0 or q > 100:
        raise ValueError("Percentiles must be in the range [0, 100]")
    return q / 100


def percentile(a, q):
    """numpy.percentile"""
    return quantiles(vector(a).ravel(), hundredths(q))


def nanpercentile(a, q):
    """numpy.nanpercentile"""
    return quantiles(without_nan(vector(a)), hundredths(q))


def average(a, weights=None):
    """numpy.average"""
    if weights is None:
        return mean_of(vector(a))
    total = total_of(vector(weights))
    if total == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return total_of(a * weights) / total


BOTH = {"sum": sum_, "prod": prod, "mean": mean, "var": var, "std": std, "min": min_, "max": max_, "ptp": ptp, "argmin": argmin, "argmax": argmax,
        "any": any_, "all": all_, "cumsum": cumsum, "cumprod": cumprod}
NUMPY = [nansum, nanprod, nanmean, nanvar, nanstd, nanmin, nanmax, nanargmin, nanargmax, nancumsum, nancumprod, nan_to_num, median, nanmedian, quantile, nanquantile,
         percentile, nanpercentile, average, count_nonzero]
FUNCTIONS = {f"{owner}.{name}": f for name, f in BOTH.items() for owner in ("numpy", "ndarray")} | {f"numpy.{f.__name__}": f for f in NUMPY}
