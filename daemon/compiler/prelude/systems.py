# SPDX-License-Identifier: Apache-2.0
"""Norms, and systems of linear equations by elimination with pivots. Meaning:
https://numpy.org/doc/stable/reference/routines.linalg.html. Results are LAPACK's to rounding."""
import math

import numpy as np
from intrinsics import dtype_of, static_error
from reductions import greatest, least, total_of


def as_floats(a):
    """A copy in C order, of floats or complex numbers."""
    if np.issubdtype(a.dtype, np.inexact):
        return a.copy()
    return a.astype(np.float64)


def squares(a):
    total = (a.dtype.type(0) * a.dtype.type(0)).real
    for v in a:
        total += v.real * v.real + v.imag * v.imag
    return total


def vector_norm(v, ord):
    if ord == 2:
        return np.sqrt(squares(v))
    if ord == math.inf:
        return greatest(np.abs(v)) if len(v) > 0 else total_of(np.abs(v))
    if ord == -math.inf:
        return least(np.abs(v))
    if ord == 1:
        return total_of(np.abs(v))
    if ord == 0:
        return total_of(np.abs(v)) * 0 + np.count_nonzero(v)
    return total_of(np.abs(v) ** ord) ** (1.0 / ord)


def norm(x, ord=None, axis=None):
    """numpy.linalg.norm of vectors, and of matrices without ord or with 1, -1, inf, -inf"""
    a = as_floats(x)
    if axis is not None:
        if a.ndim != 2:
            static_error("an axis of a matrix is compiled by this version")
        rows = a if axis == 1 or axis == -1 else a.T.copy()
        out = np.empty(rows.shape[0], dtype_of(vector_norm(rows[0], 2)))
        for i in range(rows.shape[0]):
            out[i] = vector_norm(rows[i], 2 if ord is None else ord)
        return out
    if ord is None:
        return np.sqrt(squares(a.ravel()))
    if a.ndim == 1:
        return vector_norm(a, ord)
    if a.ndim > 2:
        static_error("norms of more than two dimensions take no ord")
    sums = np.abs(a).sum(0) if abs(ord) == 1 else np.abs(a).sum(1)
    if ord != 1 and ord != -1 and ord != math.inf and ord != -math.inf:
        raise ValueError("this norm of matrices is not compiled by this version")
    return greatest(sums) if ord > 0 else least(sums)


def square(a):
    if a.ndim != 2:
        static_error("a matrix is needed")
    if a.shape[0] != a.shape[1]:
        raise ValueError("Last 2 dimensions of the array must be square")


def eliminate(a, b):
    """Bring a to the triangle, doing the same to b; the sign of the exchange of rows, 0 where a is singular."""
    n = a.shape[0]
    sign = 1
    for k in range(n):
        p, size = k, abs(a[k, k])
        for i in range(k + 1, n):
            if abs(a[i, k]) > size:
                p, size = i, abs(a[i, k])
        if size == 0:
            return 0
        if p != k:
            sign = -sign
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            for j in range(b.shape[1]):
                b[k, j], b[p, j] = b[p, j], b[k, j]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= f * a[k, j]
            for j in range(b.shape[1]):
                b[i, j] -= f * b[k, j]
    return sign


def solved(a, b):
    """x with a @ x == b; b has columns and is overwritten."""
    n = a.shape[0]
    if eliminate(a, b) == 0:
        raise ValueError("Matrix is singular to machine precision.")
    for j in range(b.shape[1]):
        for i in range(n - 1, -1, -1):
            total = b[i, j]
            for k in range(i + 1, n):
                total -= a[i, k] * b[k, j]
            b[i, j] = total / a[i, i]
    return b


def solve(a, b):
    """numpy.linalg.solve"""
    square(a)
    if b.shape[0] != a.shape[0]:
        raise ValueError("Incompatible inputs for linear system solving.")
    m = as_floats(a)
    out = np.empty(b.shape, dtype_of(m * as_floats(b)) if b.ndim == 2 else dtype_of(m[0] * as_floats(b)))
    out[...] = b
    if b.ndim == 1:
        return solved(m.astype(out.dtype), out.reshape(-1, 1)).reshape(-1)
    return solved(m.astype(out.dtype), out)


def inv(a):
    """numpy.linalg.inv"""
    square(a)
    m = as_floats(a)
    return solved(m, np.eye(m.shape[0], dtype=m.dtype))


def det(a):
    """numpy.linalg.det"""
    square(a)
    m = as_floats(a)
    sign = eliminate(m, m[:, :0])
    total = m.dtype.type(sign)
    for i in range(m.shape[0]):
        total *= m[i, i]
    return total


FUNCTIONS = {"numpy.linalg.norm": norm, "numpy.linalg.solve": solve, "numpy.linalg.inv": inv, "numpy.linalg.det": det}
