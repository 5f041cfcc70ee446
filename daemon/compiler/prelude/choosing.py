# SPDX-License-Identifier: Apache-2.0
"""Functions of three operands, differences, comparisons of whole arrays, interpolation, positions. Meaning:
https://numpy.org/doc/stable/reference/routines.html"""
import numpy as np
from elementwise import joined, lifted, map2, row
from indexing import nonzero
from intrinsics import dtype_of
from searching import searchsorted
from shaping import as_shape, broadcast_to, moveaxis, product


# ---- numpy.where, numpy.clip

def pick(c, x, y):
    return x if c else y


def value_of(x):
    """An element's value, for its type alone."""
    if isinstance(x, np.ndarray):
        return x.dtype.type(0)
    return x


def wide(x, c):
    """As many dimensions as the others; numbers stay numbers."""
    if isinstance(x, np.ndarray):
        return lifted(x, c)
    return x


def shape_with(shape, x):
    if isinstance(x, np.ndarray):
        return joined(shape, x.shape)
    return shape


def fill3(f, out, c, x, y):
    n = len(out)
    if out.ndim > 1:
        for i in range(n):
            fill3(f, out[i], row(c, i), row(x, i), row(y, i))
    else:
        for i in range(n):
            out[i] = f(item(c, i), item(x, i), item(y, i))


def item(x, i):
    if isinstance(x, np.ndarray):
        return x[i if len(x) != 1 else 0]
    return x


def map3(f, c, x, y):
    """f of each three elements."""
    if isinstance(x, np.ndarray):
        if not isinstance(c, np.ndarray):
            return mapped(f, c, x, y, x)
        if x.ndim > c.ndim:
            return map3_of(f, c, x, y, x)
    return map3_of(f, c, x, y, c)


def map3_of(f, c, x, y, most):
    if isinstance(y, np.ndarray):
        if not isinstance(most, np.ndarray):
            return mapped(f, c, x, y, y)
        if y.ndim > most.ndim:
            return mapped(f, c, x, y, y)
    return mapped(f, c, x, y, most)


def mapped(f, c, x, y, most):
    if not isinstance(most, np.ndarray):
        return f(c, x, y)
    if most.ndim == 0:
        return f(number(c), number(x), number(y))
    a, b, d = wide(c, most), wide(x, most), wide(y, most)
    shape = shape_with(shape_with(shape_with(most.shape, a), b), d)
    out = np.empty(shape, dtype_of(f(value_of(c), value_of(x), value_of(y))))
    fill3(f, out, a, b, d)
    return out


def number(x):
    if isinstance(x, np.ndarray):
        return x[()]
    return x


def where(condition, x=None, y=None):
    """numpy.where"""
    if x is None and y is None:
        return nonzero(condition)
    if isinstance(x, (list, tuple)):
        return where(condition, np.asarray(x), y)
    if isinstance(y, (list, tuple)):
        return where(condition, x, np.asarray(y))
    return map3(pick, condition, x, y)


def clipped(x, low, high):
    return np.minimum(np.maximum(x, low), high)


def clip(a, a_min, a_max, out=None):
    """numpy.clip"""
    if out is not None:
        out[...] = clip(a, a_min, a_max)
        return out
    if a_min is None:
        return np.minimum(a, a_max)
    if a_max is None:
        return np.maximum(a, a_min)
    return map3(clipped, a, a_min, a_max)


def round_element(x, decimals):
    return np.round(x, decimals)


def round_(a, decimals=0):
    """numpy.round of an array"""
    if isinstance(a, (list, tuple)):
        return round_(np.asarray(a), decimals)
    return map2(round_element, a, decimals)


# ---- differences and sums

def diff1(a):
    n = max(a.shape[0] - 1, 0)
    return a[1:] - a[:n] if a.dtype != np.bool_ else a[1:] != a[:n]


def diff(a, n=1, axis=-1):
    """numpy.diff"""
    if n < 0:
        raise ValueError("order must be non-negative")
    v = np.copy(a)
    if isinstance(v.dtype.type(0), np.datetime64):  # the first differences are of another type
        if n == 0:
            raise ValueError("differences of datetimes: the order must be positive")
        return diff(moveaxis(diff1(moveaxis(v, axis, 0)), 0, axis), n - 1, axis)
    w = moveaxis(v, axis, 0)
    for _ in range(n):
        w = moveaxis(moveaxis(diff1(w), 0, 0), 0, 0)
    return moveaxis(w, 0, axis).copy()


def ediff1d(ary):
    """numpy.ediff1d"""
    return diff1(ary.ravel())


def trapezoid(y, x=None, dx=1.0):
    """numpy.trapz, numpy.trapezoid of vectors"""
    total = np.float64(0)
    for i in range(len(y) - 1):
        step = dx if x is None else x[i + 1] - x[i]
        total += step * (y[i + 1] + y[i]) / 2.0
    return total


def cross(a, b):
    """numpy.cross of vectors of three, or of rows of them"""
    if a.ndim == 1:
        if len(a) != 3 or len(b) != 3:
            raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
        out = np.empty(3, dtype_of(a[0] * b[0]))
        out[0] = a[1] * b[2] - a[2] * b[1]
        out[1] = a[2] * b[0] - a[0] * b[2]
        out[2] = a[0] * b[1] - a[1] * b[0]
        return out
    out = np.empty(a.shape, dtype_of(a * b))
    for i in range(a.shape[0]):
        out[i] = cross(a[i], b[i])
    return out


def kron(a, b):
    """numpy.kron of matrices"""
    n, m = b.shape
    out = np.empty((a.shape[0] * n, a.shape[1] * m), dtype_of(a * b))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(n):
                for l in range(m):
                    out[i * n + k, j * m + l] = a[i, j] * b[k, l]
    return out


def roll(a, shift, axis=None):
    """numpy.roll"""
    if axis is None:
        return rolled(a.ravel(), shift).reshape(a.shape)
    v = moveaxis(a, axis, 0)
    out = np.empty(a.shape, a.dtype)
    w = moveaxis(out, axis, 0)
    n = v.shape[0]
    for i in range(n):
        w[(i + shift) % n, ...] = v[i]
    return out


def rolled(v, shift):
    n = len(v)
    out = np.empty(n, v.dtype)
    if n > 0:
        k = shift % n
        out[k:] = v[:n - k]
        out[:k] = v[n - k:]
    return out


# ---- comparing whole arrays

def array_equal(a1, a2):
    """numpy.array_equal"""
    x, y = np.asarray(a1), np.asarray(a2)
    if x.ndim != y.ndim:
        return False
    if x.ndim == 0:
        return x[()] == y[()]
    return equal_rows(x, y)


def equal_rows(x, y):
    if x.shape[0] != y.shape[0]:
        return False
    for i in range(x.shape[0]):
        if x.ndim == 1:
            if x[i] != y[i]:
                return False
        elif not equal_rows(x[i], y[i]):
            return False
    return True


def close(a, b, rtol, atol, equal_nan):
    if a != a or b != b:
        return equal_nan and a != a and b != b
    if a == b:
        return True
    if np.isinf(a) or np.isinf(b):
        return False
    return bool(abs(a - b) <= atol + rtol * abs(b))


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """numpy.isclose"""
    return np.asarray(map3(lambda x, y, _: close(x, y, rtol, atol, equal_nan), a, b, 0))


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """numpy.allclose"""
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


# ---- interpolation and products of sequences

def interpolated(x, xp, fp):
    n = len(xp)
    if x != x:
        return x + fp[0] * 0
    if x < xp[0]:
        return np.float64(fp[0])
    if x >= xp[n - 1]:
        return np.float64(fp[n - 1])
    k = searchsorted(xp, x, "right") - 1
    slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
    y = slope * (x - xp[k]) + fp[k]
    if y != y:
        y = slope * (x - xp[k + 1]) + fp[k + 1]
        if y != y and fp[k] == fp[k + 1]:
            y = np.float64(fp[k])
    return np.float64(y)


def interp(x, xp, fp):
    """numpy.interp"""
    if isinstance(xp, (list, tuple)):
        return interp(x, np.asarray(xp), fp)
    if isinstance(fp, (list, tuple)):
        return interp(x, xp, np.asarray(fp))
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    if isinstance(x, np.ndarray):
        out = np.empty(x.size, np.float64)
        v = x.ravel()
        for i in range(len(v)):
            out[i] = interpolated(np.float64(v[i]), xp, fp)
        return out.reshape(x.shape)
    return interpolated(np.float64(x), xp, fp)


def convolve(a, v, mode="full"):
    """numpy.convolve"""
    if len(a) == 0:
        raise ValueError("a cannot be empty")
    if len(v) == 0:
        raise ValueError("v cannot be empty")
    if len(v) > len(a):
        return slid(v, a[::-1], mode)
    return slid(a, v[::-1], mode)


def correlate(a, v, mode="valid"):
    """numpy.correlate"""
    if len(a) == 0:
        raise ValueError("first array argument cannot be empty")
    if len(v) == 0:
        raise ValueError("second array argument cannot be empty")
    if len(v) > len(a):
        return slid(np.conj(v), a, mode)[::-1]
    return slid(a, np.conj(v), mode)


def slid(a, v, mode):
    """The inner products of v and what is below it as it slides over the longer a."""
    n, m = len(a), len(v)
    first, count = 0, n - m + 1
    if mode == "full":
        first, count = -(m - 1), n + m - 1
    elif mode == "same":
        first, count = -(m // 2), n
    elif mode != "valid":
        raise ValueError("mode must be one of 'valid', 'same', or 'full'")
    out = np.zeros(count, dtype_of(a[0] * v[0]))
    for k in range(count):
        total = a.dtype.type(0) * v.dtype.type(0)
        for j in range(max(-(first + k), 0), min(m, n - first - k)):
            total += a[first + k + j] * v[j]
        out[k] = total
    return out


# ---- positions

def position(k, shape):
    """Index of element k in C order."""
    if len(shape) == 0:
        return ()
    n = product(shape[1:])
    return (k // n,) + position(k % n, shape[1:])


def ndindex(*shape):
    """numpy.ndindex, as a list"""
    s = as_shape(shape)
    return [position(k, s) for k in range(product(s))]


def ndenumerate(arr):
    """numpy.ndenumerate, as a list"""
    s = arr.shape
    return [(position(k, s), arr[position(k, s)]) for k in range(arr.size)]


def broadcast_arrays(a, b):
    """numpy.broadcast_arrays of two arrays"""
    if a.ndim < b.ndim:
        return broadcast_arrays(a[None], b)
    if b.ndim < a.ndim:
        return broadcast_arrays(a, b[None])
    shape = joined(a.shape, b.shape)
    return broadcast_to(a, shape), broadcast_to(b, shape)


FUNCTIONS = {f"numpy.{f.__name__}": f for f in (
    where, clip, diff, ediff1d, trapezoid, cross, kron, roll, array_equal, isclose,
    allclose, ndindex, ndenumerate, broadcast_arrays, interp, convolve, correlate)} | {"numpy.trapz": trapezoid, "ndarray.clip": clip, "numpy.round": round_, "ndarray.round": round_}
