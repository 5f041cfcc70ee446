# SPDX-License-Identifier: Apache-2.0
"""Nanoseconds of a call from Python: dispatch.py numba|kilnjit. Prints scalar and array call, best of several rounds."""
import sys
import timeit

import numpy as np

jit = __import__(sys.argv[1]).njit


@jit
def scalar(x):
    return x + 1.0


@jit
def array(a):
    return a[0]


a = np.ones(8)
scalar(1.0)
array(a)
n = 200_000
empty = min(timeit.repeat("pass", number=n, repeat=7))
for statement in ("f(1.0)", "g(a)"):
    took = min(timeit.repeat(statement, number=n, repeat=7, globals={"f": scalar, "g": array, "a": a})) - empty
    print(took / n * 1e9)
