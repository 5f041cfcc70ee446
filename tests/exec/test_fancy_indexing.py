# SPDX-License-Identifier: Apache-2.0
"""Indexes that are arrays, masks and lists: reading, writing and `op=`, against NumPy."""
import numpy as np
import pytest

from kilnjit.errors import KilnError
from same import check, compiled
from test_array_shapes import layouts

DTYPES = [np.float64, np.float32, np.int64, np.uint8, np.bool_, np.complex128]


def reads(a, i, m):
    return a[i], a[m], a[i].sum(), a[[0, 2]], a[a > 2] if a.ndim == 1 else a[i]


def writes(a, i, m, x):
    a[i] = x
    a[m] = 1
    a[i] = a[i][::-1].copy()
    a[m] = a[m]
    a[[0, 1]] = 0
    return a


def test_one_dimension():
    i, m = np.array([0, 3, -1, 3, 2]), np.array([True, False, True, True, False, False])
    for d in (np.float64, np.float32, np.int64, np.uint8):
        for a in layouts((6,), d):
            check(reads, a, i, m)
            check(writes, a, i, m, a.dtype.type(5))
    for t in (np.int8, np.int32, np.uint16, np.uint64):
        check(lambda a, i: a[i], np.arange(6.0), np.array([0, 5, 2], t))
    check(lambda a, i: a[i], np.arange(6.0), np.array([[0, 5], [2, -2]]))
    check(lambda a, i: a[i], np.arange(6.0), np.zeros(0, np.int64))
    check(lambda a, m: a[m], np.arange(6.0), np.zeros(6, bool))


def rows(a, i, m, full):
    return a[i], a[m], a[full], a[i, 1], a[1, i[:2]], a[:, i[:2]], a[i, :], a[..., i[:2]], a[i, 1:3], a[1:, [0, 2]], a[m, 1], a[m, :2], a[:, m[:4]], a[i, i], a[i, None], a[i, 0:1]


def test_two_dimensions():
    i, m, full = np.array([0, 2, -1]), np.array([True, False, True, True]), (np.arange(16).reshape(4, 4) % 3 == 0)
    for d in DTYPES:
        a = (np.arange(16).reshape(4, 4) % 7).astype(d)
        check(rows, a, i, m, full)
    for a in layouts((4, 4), np.float64):
        check(rows, a, i, m, full)


def stores(a, i, m, full, v):
    a[i] = v
    a[full] = 7
    a[m] = v[0]
    a[i, 1] = np.array([1.0, 2.0, 3.0])
    a[:, i] = 5
    a[:, i] = np.arange(4.0)[:, None]
    a[m, 1:3] = np.array([8.0, 9.0])
    a[i, i] = -1
    a[full] = a[full] * 2
    a[0, [1, 2]] = 6
    return a


def changes(a, i, m, full):
    a[i] += 1
    a[m] *= 2
    a[full] -= 3
    a[i, 1] += 10
    a[:, [0, 1]] /= 2
    a[i, i] += 0.5
    return a


def test_storing():
    i, m, full = np.array([0, 2, -1]), np.array([True, False, True, True]), (np.arange(16).reshape(4, 4) % 3 == 0)
    for a in layouts((4, 4), np.float64):
        check(stores, a, i, m, full, np.arange(12.0).reshape(3, 4))
        check(changes, a, i, m, full)
    check(lambda a, i: counts(a, i), np.zeros(4), np.array([1, 1, 1, 3]))


def counts(a, i):
    a[i] += 1
    return a


def aliased(a, i):
    a[i] = a[:len(i)]
    a[::-1][i] = a[i]
    return a


def test_aliases():
    check(aliased, np.arange(6.0), np.array([5, 0, 3]))
    check(lambda a: mask_itself(a), np.arange(6) - 3)


def mask_itself(a):
    a[a < 0] = -a[a < 0]
    return a


def test_three_dimensions():
    i = np.array([1, 0])
    for a in layouts((3, 4, 2), np.int64):
        check(lambda a, i: (a[i], a[:, i], a[:, :, i], a[..., i], a[i, 1], a[i, :, 1], a[0, :, i], a[1, i, :], a[0, i], a[:, 1, i], a[i, i, i], a[i, i], a[1:, i, 0], a[a > 5], a[:, i, ...], a[..., i, :]), a, i)
    check(lambda a, m: a[m], np.arange(24).reshape(2, 3, 4), np.array([[True, False, True], [False, True, False]]))


@pytest.mark.parametrize("f", [lambda a, i: a[i], lambda a, i: a[:, i], lambda a, i: a[i, i]])
def test_out_of_bounds(f):
    a = np.arange(9.0).reshape(3, 3)
    check(f, a, np.array([0, 3]))
    check(f, a, np.array([-4, 0]))


def test_errors():
    a = np.arange(6.0)
    check(lambda a, m: a[m], a, np.array([True, False]))
    check(put, a, np.array([True, False, True, False, False, False]), np.arange(3.0))
    check(put, a, np.array([True, False, True, False, False, False]), np.arange(1.0))
    for f, b, text in ((lambda a, i: a[i], np.array([0.5]), "integer"), (lambda a, i: a[i, :, i], np.array([0]), "several index arrays"), (lambda a, i: a[i, i, i, i], np.array([0]), "indexes for an array")):
        with pytest.raises(KilnError, match=text):
            compiled(f)(np.zeros((2, 2, 2)), b)


def put(a, m, v):
    a[m] = v
    return a


def functions(a, i):
    return (np.take(a, i), a.take(i), np.take(a, 1), np.flatnonzero(a > 2), np.nonzero(a > 2)[0], np.extract(a > 2, a), np.compress(a > 2, a), np.delete(a, 1), np.delete(a, i), np.delete(a, slice(1, 3)), np.insert(a, 2, 9.5),
            np.insert(a, -1, np.array([7.0, 8.0])), 3 in a, 99 in a, 99 not in a)


def functions2(a, i):
    x, y = np.nonzero(a > 4)
    return np.take(a, i, axis=0), np.take(a, i, axis=1), np.take(a, i), x, y, np.argwhere(a > 4), np.flatnonzero(a > 4), np.take_along_axis(a, a % 3, 1), np.take_along_axis(a, a % 3, 0)


def test_functions():
    for a in layouts((6,), np.float64):
        check(functions, a, np.array([0, 3, -1]))
    for a in layouts((3, 3), np.int64):
        check(functions2, a, np.array([0, 2]))
    check(lambda a: np.nonzero(a), np.arange(24).reshape(2, 3, 4) % 3)
