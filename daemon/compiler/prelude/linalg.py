# SPDX-License-Identifier: Apache-2.0
"""Products of vectors and matrices, in loops. Meaning: https://numpy.org/doc/stable/reference/routines.linalg.html"""
import numpy as np
from reductions import zero_for_sum


def check_inner(a, b):
    if a != b:
        raise ValueError("shapes are not aligned: the inner dimensions differ")


def inner(a, b):
    """numpy.inner of vectors."""
    check_inner(a.shape[0], b.shape[0])
    total = a.dtype.type(0) * b.dtype.type(0)
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


def matrix_by_vector(a, v):
    check_inner(a.shape[1], v.shape[0])
    out = np.full(a.shape[0], a.dtype.type(0) * v.dtype.type(0))
    for i in range(a.shape[0]):
        out[i] = inner(a[i], v)
    return out


def vector_by_matrix(v, b):
    check_inner(v.shape[0], b.shape[0])
    out = np.full(b.shape[1], v.dtype.type(0) * b.dtype.type(0))
    for k in range(b.shape[0]):
        for j in range(b.shape[1]):
            out[j] += v[k] * b[k, j]
    return out


def matrix_by_matrix(a, b):
    """Row by row, so that the innermost loop runs along rows of b and of the result."""
    check_inner(a.shape[1], b.shape[0])
    out = np.full((a.shape[0], b.shape[1]), a.dtype.type(0) * b.dtype.type(0))
    for i in range(a.shape[0]):
        for k in range(b.shape[0]):
            x = a[i, k]
            for j in range(b.shape[1]):
                out[i, j] += x * b[k, j]
    return out


def matmul(x1, x2):
    """numpy.matmul and numpy.dot, of one and two dimensions."""
    if x1.ndim == 1 and x2.ndim == 1:
        return inner(x1, x2)
    if x1.ndim == 2 and x2.ndim == 1:
        return matrix_by_vector(x1, x2)
    if x1.ndim == 1 and x2.ndim == 2:
        return vector_by_matrix(x1, x2)
    return matrix_by_matrix(x1, x2)


def vdot(a, b):
    """numpy.vdot of vectors: the first one conjugated."""
    check_inner(a.shape[0], b.shape[0])
    total = a.dtype.type(0) * b.dtype.type(0)
    for i in range(a.shape[0]):
        total += a[i].conjugate() * b[i]
    return total


def outer(a, b):
    """numpy.outer of vectors."""
    out = np.full((a.shape[0], b.shape[0]), a.dtype.type(0) * b.dtype.type(0))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = a[i] * b[j]
    return out


def trace(a):
    """numpy.trace: sum of the diagonal."""
    total = zero_for_sum(a)
    for i in range(min(a.shape[0], a.shape[1])):
        total += a[i, i]
    return total


FUNCTIONS = {"numpy.matmul": matmul, "numpy.dot": matmul, "ndarray.dot": matmul, "numpy.vdot": vdot,
             "numpy.inner": inner, "numpy.outer": outer, "numpy.trace": trace, "ndarray.trace": trace}
