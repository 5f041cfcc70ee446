# SPDX-License-Identifier: Apache-2.0
"""Arrays made from a rule. Meaning: https://numpy.org/doc/stable/reference/routines.array-creation.html"""
import math

import numpy as np
from intrinsics import layout


def count_of_steps(start, stop, step):
    """How many of start, start + step, ... lie before stop."""
    if step == 0:
        raise ZeroDivisionError("division by zero")
    if isinstance(start + step, (int, np.integer)) and isinstance(stop, (int, np.integer)):
        if step > 0:
            n = (stop - start + step - 1) // step
        else:
            n = (start - stop - step - 1) // -step
    else:
        n = math.ceil((stop - start) / step)
    return max(int(n), 0)


def arange_in(out, start, step):
    for i in range(out.shape[0]):
        out[i] = start + i * step
    return out


def strong(x):
    """A Python number as NumPy's: arange takes 1 for an int64."""
    if isinstance(x, int):
        return np.int64(x)
    if isinstance(x, float):
        return np.float64(x)
    return x


def arange(start, stop=None, step=1, dtype=None):
    """numpy.arange: evenly spaced values in [start, stop); arange(n) begins at 0."""
    if stop is None:
        return arange(0, start, step, dtype)
    n = count_of_steps(start, stop, step)
    if dtype is None:
        return arange_in(np.full(n, strong(start) + strong(stop) * 0 + strong(step) * 0), start, step)
    return arange_in(np.empty(n, dtype), start, step)


def linspace(start, stop, num=50, endpoint=True):
    """numpy.linspace: num numbers from start to stop."""
    if num < 0:
        raise ValueError("Number of samples must be non-negative.")
    out = np.full(num, (start + stop) / 1.0)
    parts = num - 1 if endpoint else num
    for i in range(num):
        out[i] = start + i * ((stop - start) / parts) if parts > 0 else start + 0 * (stop - start)
    if endpoint and num > 1:
        out[num - 1] = stop
    return out


def eye_of(n, m, k, out):
    for i in range(n):
        for j in range(m):
            out[i, j] = 1 if j - i == k else 0
    return out


def eye(N, M=None, k=0, dtype=None):
    """numpy.eye: ones on the k-th diagonal."""
    m = N if M is None else M
    if dtype is None:
        return eye_of(N, m, k, np.empty((N, m)))
    return eye_of(N, m, k, np.empty((N, m), dtype))


def identity(n, dtype=None):
    """numpy.identity: the square matrix with ones on the diagonal."""
    return eye(n, n, 0, dtype)


def copy(a):
    """numpy.copy."""
    if layout(a) == "F":
        return a.T.copy().T
    return a.copy()


FUNCTIONS = {"numpy.arange": arange, "numpy.linspace": linspace, "numpy.eye": eye, "numpy.identity": identity,
             "numpy.copy": copy}
