# SPDX-License-Identifier: Apache-2.0
"""Arrays made of lists, tuples and other arrays. Meaning:
https://numpy.org/doc/stable/reference/routines.array-creation.html and routines.array-manipulation.html#joining-arrays"""
import numpy as np
from intrinsics import contiguous, depth, dtype_of, layout, static_error
from shaping import atleast_2d, axis_in, moveaxis, swapaxes, with_item


# ---- numpy.array

def extents(x):
    """Shape of the array that holds nested lists and tuples; that of the first item counts."""
    if isinstance(x, np.ndarray):
        return x.shape
    if depth(x) == 1:
        return (len(x),)
    if depth(x) == 0:
        return ()
    if len(x) == 0:
        raise ValueError("an empty list of lists has no shape")
    return (len(x),) + extents(x[0])


def put_all(out, x):
    if isinstance(x, np.ndarray):
        if not same_shape(x.shape, out.shape):
            raise ValueError("setting an array element with a sequence: the lists have different lengths")
        out[...] = x
    elif depth(x) == 1:
        if len(x) != out.shape[0]:
            raise ValueError("setting an array element with a sequence: the lists have different lengths")
        i = 0
        for v in x:
            out[i] = v
            i += 1
    else:
        if len(x) != out.shape[0]:
            raise ValueError("setting an array element with a sequence: the lists have different lengths")
        i = 0
        for v in x:
            put_all(out[i], v)
            i += 1


def same_shape(a, b):
    for k in range(len(a)):
        if a[k] != b[k]:
            return False
    return True


def made(x, dtype):
    if depth(x) == 0:
        return np.full((), x, dtype)
    out = np.empty(extents(x), dtype)
    put_all(out, x)
    return out


def array(object, dtype=None):
    """numpy.array"""
    if isinstance(object, np.ndarray):
        if dtype is None:
            return np.copy(object)
        return object.astype(dtype)
    if isinstance(object, (str, dict)):
        static_error("an array is made of numbers, lists, tuples and arrays")
    if isinstance(object, (list, tuple)) or depth(object) == 0:
        if dtype is None:
            return made(object, dtype_of(object))
        return made(object, dtype)
    return array([v for v in object], dtype)


def asarray(a, dtype=None):
    """numpy.asarray"""
    if isinstance(a, np.ndarray):
        if dtype is None:
            return a
        if a.dtype == dtype:
            return a
    return array(a, dtype)


def ascontiguousarray(a):
    """numpy.ascontiguousarray"""
    if isinstance(a, np.ndarray):
        if a.ndim == 0:
            return contiguous(a, 0, (1,))
        if layout(a) == "C":
            return a
        return a.copy()
    return array(a)


def asfortranarray(a):
    """numpy.asfortranarray"""
    if a.ndim < 2:
        return ascontiguousarray(a)
    if layout(a) == "F":
        return a
    return a.T.copy().T


def fromiter(iterable, dtype):
    """numpy.fromiter"""
    items = [v for v in iterable]
    out = np.empty(len(items), dtype)
    for i in range(len(items)):
        out[i] = items[i]
    return out


# ---- joining

def sequence(arrays):
    """What is joined: a tuple of arrays, or a list of them."""
    if isinstance(arrays, np.ndarray):
        if arrays.ndim < 2:
            raise ValueError("zero-dimensional arrays cannot be concatenated")
    return arrays


def first_of(arrays):
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    return arrays[0]


def concatenate(arrays, axis=0):
    """numpy.concatenate"""
    head = first_of(sequence(arrays))
    k = axis_in(axis, head.ndim)
    total = 0
    for a in arrays:
        if a.ndim != head.ndim:
            static_error("all the input array dimensions must match exactly: one has another number of dimensions")
        for i in range(a.ndim):
            if i != k and a.shape[i] != head.shape[i]:
                raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        total += a.shape[k]
    if all_fortran(arrays):
        return joined(arrays, head.ndim - 1 - k, head, total, True).T
    return joined(arrays, k, head, total, False)


def all_fortran(arrays):
    if isinstance(arrays, tuple):
        if layout(arrays[0]) != "F":
            return False
        if len(arrays) == 1:
            return True
        return all_fortran(arrays[1:])
    return layout(arrays[0]) == "F"


def joined(arrays, k, head, total, turned):
    out = np.empty(replaced(head.T.shape if turned else head.shape, k, total, 0, head.shape), dtype_of(arrays))
    at = 0
    if k == 0:
        for a in arrays:
            n = a.shape[head.ndim - 1] if turned else a.shape[0]
            out[at:at + n] = a.T if turned else a
            at += n
    else:
        rows = moveaxis(out, k, 0)
        for a in arrays:
            b = moveaxis(a.T if turned else a, k, 0)
            n = b.shape[0]
            rows[at:at + n] = b
            at += n
    return out


def replaced(shape, i, value, k, n):
    if len(n) == 0:
        return ()
    return (value if k == i else shape[k],) + replaced(shape, i, value, k + 1, n[1:])


def stack(arrays, axis=0):
    """numpy.stack"""
    head = first_of(arrays)
    k = axis_in(axis, head.ndim + 1)
    out = np.empty(with_item(head.shape, k, len(arrays), 0, head.shape + (1,)), dtype_of(arrays))
    rows = moveaxis(out, k, 0)
    i = 0
    for a in arrays:
        if not same_shape(a.shape, head.shape):
            raise ValueError("all input arrays must have the same shape")
        rows[i, ...] = a
        i += 1
    return out


def lines(arrays):
    """Each at least two-dimensional, one-dimensional ones as rows."""
    if isinstance(arrays, tuple):
        if len(arrays) == 0:
            return ()
        return (atleast_2d(arrays[0]),) + lines(arrays[1:])
    return [atleast_2d(a) for a in arrays]


def vstack(tup):
    """numpy.vstack"""
    return concatenate(lines(tup), 0)


def hstack(tup):
    """numpy.hstack"""
    if first_of(tup).ndim == 1:
        return concatenate(tup, 0)
    return concatenate(tup, 1)


def columns(arrays):
    if isinstance(arrays, tuple):
        if len(arrays) == 0:
            return ()
        return (column(arrays[0]),) + columns(arrays[1:])
    return [column(a) for a in arrays]


def column(a):
    if a.ndim == 1:
        return a[:, None]
    return a


def column_stack(tup):
    """numpy.column_stack"""
    return concatenate(columns(tup), 1)


def deep(arrays):
    if isinstance(arrays, tuple):
        if len(arrays) == 0:
            return ()
        return (solid(arrays[0]),) + deep(arrays[1:])
    return [solid(a) for a in arrays]


def solid(a):
    if a.ndim == 1:
        return a[None, :, None]
    if a.ndim == 2:
        return a[:, :, None]
    return a


def dstack(tup):
    """numpy.dstack"""
    return concatenate(deep(tup), 2)


def flat(x):
    if isinstance(x, np.ndarray):
        return x.ravel()
    return np.asarray(x).ravel()


def append(arr, values, axis=None):
    """numpy.append"""
    if axis is None:
        return concatenate((flat(arr), flat(values)), 0)
    return concatenate((arr, np.asarray(values)), axis)


def repeat(a, repeats):
    """numpy.repeat of the flattened array"""
    v = flat(a)
    if isinstance(repeats, np.ndarray):
        if len(repeats) != len(v):
            raise ValueError("operands could not be broadcast together")
        n = 0
        for k in repeats:
            if k < 0:
                raise ValueError("repeats may not contain negative values.")
            n += k
        out = np.empty(n, v.dtype)
        at = 0
        for i in range(len(v)):
            for _ in range(repeats[i]):
                out[at] = v[i]
                at += 1
        return out
    if repeats < 0:
        raise ValueError("repeats may not contain negative values.")
    out = np.empty(len(v) * repeats, v.dtype)
    for i in range(len(v)):
        for k in range(repeats):
            out[i * repeats + k] = v[i]
    return out


def tile(A, reps):
    """numpy.tile of one or two dimensions"""
    a = np.asarray(A)
    if isinstance(reps, tuple):
        if len(reps) == 1:
            return tile(a, reps[0])
        if len(reps) > 2 or a.ndim > 2:
            static_error("more than two dimensions are not compiled by this version")
        return tiled(atleast_2d(a), reps[0], reps[1])
    if a.ndim == 1:
        n = len(a)
        out = np.empty(n * max(reps, 0), a.dtype)
        for k in range(reps):
            out[k * n:(k + 1) * n] = a
        return out
    if a.ndim == 0:
        return np.full(max(reps, 0), a[()])
    if a.ndim == 2:
        return tiled(a, 1, reps)
    static_error("more than two dimensions are not compiled by this version")


def tiled(a, down, across):
    n, m = a.shape
    out = np.empty((n * max(down, 0), m * max(across, 0)), a.dtype)
    for i in range(down):
        for j in range(across):
            out[i * n:(i + 1) * n, j * m:(j + 1) * m] = a
    return out


def array_split(ary, indices_or_sections):
    """numpy.array_split along the first axis"""
    out = [ary[:0]]
    out.pop()
    n = ary.shape[0]
    if isinstance(indices_or_sections, (int, np.integer)):
        if indices_or_sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, more = n // indices_or_sections, n % indices_or_sections
        at = 0
        for k in range(indices_or_sections):
            end = at + each + (1 if k < more else 0)
            out.append(ary[at:end])
            at = end
    else:
        at = 0
        for k in indices_or_sections:
            out.append(ary[at:k])
            at = k
        out.append(ary[at:])
    return out


def split(ary, indices_or_sections):
    """numpy.split along the first axis"""
    if isinstance(indices_or_sections, (int, np.integer)):
        if ary.shape[0] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections)


def meshgrid(x, y, indexing="xy"):
    """numpy.meshgrid of two vectors"""
    n, m = len(x), len(y)
    if indexing == "xy":
        a, b = np.empty((m, n), x.dtype), np.empty((m, n), y.dtype)
        for i in range(m):
            for j in range(n):
                a[i, j] = x[j]
                b[i, j] = y[i]
        return a, b
    a, b = np.empty((n, m), x.dtype), np.empty((n, m), y.dtype)
    for i in range(n):
        for j in range(m):
            a[i, j] = x[i]
            b[i, j] = y[j]
    return a, b


def diag(v, k=0):
    """numpy.diag"""
    if v.ndim == 1:
        n = len(v) + abs(k)
        out = np.zeros((n, n), v.dtype)
        for i in range(len(v)):
            out[i + max(-k, 0), i + max(k, 0)] = v[i]
        return out
    static_error("numpy.diag of a matrix: use numpy.diagonal")


def diagonal(a, offset=0):
    """numpy.diagonal, a copy"""
    n = max(min(a.shape[0] + min(offset, 0), a.shape[1] - max(offset, 0)), 0)
    out = np.empty(n, a.dtype)
    for i in range(n):
        out[i] = a[i + max(-offset, 0), i + max(offset, 0)]
    return out


def diag_any(v, k=0):
    """numpy.diag"""
    if v.ndim == 1:
        return diag(v, k)
    return diagonal(v, k)


def diagflat(v, k=0):
    """numpy.diagflat"""
    return diag(flat(v), k)


def tri(N, M=None, k=0, dtype=np.float64):
    """numpy.tri"""
    out = np.empty((N, N if M is None else M), dtype)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 1 if j - i <= k else 0
    return out


def tril(m, k=0):
    """numpy.tril"""
    out = np.zeros(m.shape, m.dtype)
    for i in range(m.shape[0]):
        for j in range(min(max(i + k + 1, 0), m.shape[1])):
            out[i, j] = m[i, j]
    return out


def triu(m, k=0):
    """numpy.triu"""
    out = np.zeros(m.shape, m.dtype)
    for i in range(m.shape[0]):
        for j in range(max(i + k, 0), m.shape[1]):
            out[i, j] = m[i, j]
    return out


def fill_diagonal(a, val):
    """numpy.fill_diagonal"""
    for i in range(min(a.shape[0], a.shape[1])):
        a[i, i] = val


def logspace(start, stop, num=50):
    """numpy.logspace"""
    out = np.linspace(start, stop, num)
    for i in range(num):
        out[i] = 10.0 ** out[i]
    return out


def vander(x, N=None):
    """numpy.vander"""
    n = len(x) if N is None else N
    out = np.empty((len(x), n), dtype_of(x[0] * 1))
    for i in range(len(x)):
        p = x[i] * 0 + 1
        for j in range(n - 1, -1, -1):
            out[i, j] = p
            p = p * x[i]
    return out


FUNCTIONS = {
    "numpy.array": array, "numpy.asarray": asarray, "numpy.ascontiguousarray": ascontiguousarray, "numpy.asfortranarray": asfortranarray, "numpy.fromiter": fromiter,
    "numpy.concatenate": concatenate, "numpy.stack": stack, "numpy.vstack": vstack, "numpy.hstack": hstack, "numpy.dstack": dstack,
    "numpy.column_stack": column_stack, "numpy.append": append, "numpy.repeat": repeat, "ndarray.repeat": repeat, "numpy.tile": tile,
    "numpy.array_split": array_split, "numpy.split": split, "numpy.meshgrid": meshgrid, "numpy.diag": diag_any, "numpy.diagonal": diagonal,
    "ndarray.diagonal": diagonal, "numpy.diagflat": diagflat, "numpy.tri": tri, "numpy.tril": tril, "numpy.triu": triu, "numpy.fill_diagonal": fill_diagonal,
    "numpy.logspace": logspace, "numpy.vander": vander,
}
