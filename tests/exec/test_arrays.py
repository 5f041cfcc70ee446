# SPDX-License-Identifier: Apache-2.0
"""Arrays: every layout, empty and 0-d ones, negative strides, views, slices, stores, creation."""
import itertools

import numpy as np
import pytest

from same import check, compiled

LINE = np.arange(10.0)
GRID = np.arange(24.0).reshape(4, 6)
LINES = [LINE, LINE[::2], LINE[::-1], LINE[2:8], np.empty(0), np.arange(7, dtype=np.int32), np.arange(5) % 2 == 0,
         np.arange(4) * (1 + 2j), np.arange(6, dtype=np.float32)[::-2]]
GRIDS = [GRID, GRID.T, np.asfortranarray(GRID), GRID[::2, ::-1], GRID[:, 1:4], GRID[:0], GRID[:, :0], GRID.astype(np.int16)]


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = s * 1.25 + a[i, j]
    return s


def rows(a):
    s = 0.0
    for r in a:
        for x in r:
            s = s * 1.25 + x
    return s


def shape(a):
    return a.shape, a.ndim, a.size, len(a), a.nbytes, a.itemsize


@pytest.mark.parametrize("k", range(len(GRIDS)))
def test_grids(k):
    for f in (total, rows, shape):
        check(f, GRIDS[k])


def ends(a):
    return a[0], a[-1], a[len(a) - 1], a[-len(a)]


@pytest.mark.parametrize("k", range(len(LINES)))
def test_ends(k):
    if LINES[k].size:
        check(ends, LINES[k])


def cut(a, i, j, k):
    return a[i:j:k]


@pytest.mark.parametrize("i,j", list(itertools.product((-20, -3, 0, 4, 9, 20), repeat=2)))
def test_slices(i, j):
    for k in (-3, -1, 1, 2, 0):
        check(cut, LINE, i, j, k)
        check(cut, LINE[::-1], i, j, k)


def constant_slices(a):
    return a[2:5], a[:-1], a[::2], a[::-1], a[5:2:-1], a[-3:], a[100:], a[-100:3], a[3:3], a[:], a[8:1:-3]


def test_constant_slices():
    for a in (LINE, LINE[::2], LINE[::-1], np.empty(0)):
        check(constant_slices, a)


def grid_views(a):
    return a[1], a[:, 1], a[1:, ::2], a[..., 0], a[None, :], a[1, ...], a[:, None, :], a[-1, ::-1], a.T


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4])
def test_grid_views(k):
    check(grid_views, GRIDS[k])


def fill(a):
    a[1:4] = 9
    a[::2] = a[1::2]
    a[0] = 5
    a[-1] += 3
    return a[0]


def shift_up(a):
    a[1:] = a[:-1]


def shift_down(a):
    a[:-1] = a[1:]


def reverse(a):
    a[:] = a[::-1]


def spread(a, b):
    a[:] = b
    a[:, 1:3] = b[1:3]
    a[0, :] = 7


def test_stores():
    for a in (LINE, np.arange(20.0)[::2], np.arange(10.0)[::-1], np.arange(8, dtype=np.int64)):
        for f in (fill, shift_up, shift_down, reverse):
            check(f, a)
    for a in (GRID, np.asfortranarray(GRID), GRID.T.copy().T):
        check(spread, a, np.arange(6.0))


def store(a, b):
    a[1:] = b


def test_store_shapes():
    check(store, LINE, np.arange(9.0))
    check(store, LINE, np.arange(1.0))
    check(store, LINE, np.arange(3.0))
    check(store, GRID, np.arange(6))
    check(store, GRID, np.arange(18).reshape(3, 6))
    check(store, GRID, np.arange(3).reshape(3, 1))
    check(store, GRID, np.arange(5))
    check(store, GRID, np.arange(12).reshape(2, 6))


def weave(a):
    a[1::2, ::-1] = a[0::2, :]


def test_overlap():
    check(weave, GRID)
    check(weave, np.asfortranarray(GRID))


def make(n, m):
    a = np.zeros((n, m))
    b = np.ones((n, m), np.int32)
    c = np.full(n, 7.5)
    d = np.empty((m,), dtype=np.float32)
    d[:] = 3
    e = np.zeros(n, np.complex64)
    f = np.full((m, n), 3)
    return a, b, c, d, e, f


def like(a):
    b = np.empty_like(a)
    b[...] = 2
    return np.zeros_like(a), np.ones_like(a), np.full_like(a, 3), b


def test_creation():
    for n, m in ((0, 3), (2, 3), (1, 0), (17, 1)):
        check(make, n, m)
    for a in (LINE, GRID, np.asfortranarray(GRID), np.arange(4, dtype=np.uint8)):
        check(like, a)


def negative(n):
    return np.zeros(n)


def huge(n):
    return np.zeros((n, n))


def test_creation_errors():
    check(negative, -1)
    check(huge, 2**40)


def copy(a):
    b = a.copy()
    b.fill(3)
    a[0] = 1
    return b


def test_copy():
    for a in (LINE, LINE[::-1]):
        check(copy, a)


def back(a, c):
    b = a
    if c:
        b = np.ones(3)
    return b


def walk(a):
    while len(a) > 2:
        a = a[1:]
    return a


def test_returned_arrays():
    check(back, LINE, True)
    check(back, LINE, False)
    check(walk, LINE)
    got = compiled(back)(LINE, False)
    assert np.shares_memory(got, LINE)


def scalar(a):
    return a[()], a.ndim, a.size


def test_zero_dimensions():
    check(scalar, np.array(3.5))


def element(a, i):
    return a[i]


def element2(a, i, j):
    return a[i, j]


def test_boundscheck():
    for i in (0, 9, -1, -10, 10, -11, 2**40):
        check(element, LINE, i, boundscheck=True)
    for i, j in itertools.product((0, 3, 4, -4, -5), (5, 6, -6, -7)):
        check(element2, GRID, i, j, boundscheck=True)


def unpack(a):
    x, y, z = a
    return x + y * 10 + z * 100


def test_unpack():
    for n in (2, 3, 4):
        check(unpack, LINE[:n])


def stencil(u, v):
    n, m = u.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def distance(a, b):
    n = len(a)
    m = len(b)
    d = np.zeros((n + 1, m + 1), np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + c)
    return d[n, m]


def mandelbrot(w, h, limit):
    img = np.empty((h, w), np.int32)
    for y in range(h):
        for x in range(w):
            c = complex(-2 + 3 * x / w, -1.2 + 2.4 * y / h)
            z = 0j
            n = 0
            while n < limit and z.real * z.real + z.imag * z.imag < 4:
                z = z * z + c
                n += 1
            img[y, x] = n
    return img


def test_programs():
    check(stencil, GRID, np.zeros((4, 6)))
    text = lambda s: np.frombuffer(s, np.uint8).copy()  # noqa: E731
    check(distance, text(b"kitten"), text(b"sitting"))
    check(mandelbrot, 24, 12, 60)
