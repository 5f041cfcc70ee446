# SPDX-License-Identifier: Apache-2.0
"""Shapes, joining and np.array, against NumPy: dtypes by layouts; views share memory where NumPy's do."""
import itertools

import numpy as np
import pytest

from kilnjit.errors import KilnError
from same import check, compiled

RNG = np.random.default_rng(11)
DTYPES = [np.float64, np.float32, np.int64, np.int8, np.uint16, np.bool_, np.complex128]


def layouts(shape, dtype):
    """The same numbers in C order, Fortran order, with steps, and turned round."""
    n = int(np.prod(shape))
    a = np.arange(n).reshape(shape).astype(dtype)
    wide = np.zeros(tuple(2 * k for k in shape), dtype)
    wide[tuple(slice(None, None, 2) for _ in shape)] = a
    yield a
    yield np.asfortranarray(a)
    yield wide[tuple(slice(None, None, 2) for _ in shape)]
    yield a[tuple(slice(None, None, -1) for _ in shape)]
    yield a.transpose(tuple(range(1, len(shape))) + (0,)).copy().transpose((len(shape) - 1,) + tuple(range(len(shape) - 1)))


def matrices():
    """All layouts of one type, all types in one layout."""
    return [(np.float64, a) for a in layouts((4, 6), np.float64)] + [(d, next(layouts((4, 6), d))) for d in DTYPES[1:]]


def shapes2(a):
    return (a.reshape(6, 4), a.reshape((2, 12)), a.reshape(-1), a.reshape(3, -1), np.reshape(a, (2, 3, 4)), a.ravel(), a.flatten(), np.ravel(a), a.transpose(), np.transpose(a, (1, 0)),
            a.swapaxes(0, 1), np.swapaxes(a, 0, -1), np.moveaxis(a, 0, 1), np.expand_dims(a, 0), np.expand_dims(a, -1), np.expand_dims(a, 1), np.flip(a), np.flip(a, 0), np.flip(a, -1), np.fliplr(a),
            np.flipud(a), np.rot90(a), np.rot90(a, 2), np.rot90(a, -1), np.atleast_1d(a), np.atleast_2d(a), np.atleast_3d(a), np.squeeze(a[None], 0), np.squeeze(a[:, :1], 1), np.shape(a), np.size(a), np.ndim(a))


def test_shapes():
    for _, a in matrices():
        check(shapes2, a)


def shapes3(a):
    return (a.reshape(4, 6), a.reshape(24), a.transpose(1, 2, 0), a.transpose((2, 0, 1)), np.moveaxis(a, 2, 0), np.moveaxis(a, 0, 2), np.swapaxes(a, 0, 2), np.expand_dims(a, 2), a.ravel(), np.flip(a, 1),
            np.squeeze(a[:, :1], axis=1), a.reshape(2, 12), a.reshape(6, 4), a.reshape(2, 2, 2, 3))


def test_three_dimensions():
    for a in layouts((2, 3, 4), np.float64):
        check(shapes3, a)


def reshaped(a, n, m):
    b = a.reshape(n, m)
    b[0, 0] = -1
    return b


def test_views_share_memory():
    """What is a view in NumPy is one here: writing through it shows in the array, which check() compares."""
    base = np.arange(48.0)
    for a in (base, base[::2], base.reshape(6, 8), base.reshape(6, 8)[:, ::2], base.reshape(6, 8)[::2], np.asfortranarray(base.reshape(6, 8)), base.reshape(6, 8).T, base.reshape(2, 3, 8).transpose(1, 0, 2),
              base.reshape(2, 24)[:, 3:9], base.reshape(1, 48), base.reshape(48, 1)[::3]):
        for n in (1, 2, 3, 4, 6, 12):
            if a.size % n == 0:
                check(reshaped, a, n, a.size // n)

    def raveled(a):
        b = a.ravel()
        b[0] = -5
        c = a.flatten()
        c[1] = -7
        return b, c

    for a in (base, base[::2], base.reshape(6, 8), np.asfortranarray(base.reshape(6, 8)), base.reshape(6, 8).T):
        check(raveled, a)

    def through(a):
        np.swapaxes(a, 0, 1)[1, 0] = 100.0
        np.flip(a)[0, 0] = 200.0
        np.expand_dims(a, 1)[0, 0, 2] = 300.0
        a.T[2, 1] = 400.0

    check(through, base.reshape(6, 8).copy())


def test_reshape_errors():
    a = np.arange(6)
    for f in (lambda a: a.reshape(4, 2), lambda a: a.reshape(-1, 4), lambda a: a.reshape(0, -1), lambda a: a.reshape(-1, -1), lambda a: np.swapaxes(a, 0, 1), lambda a: np.expand_dims(a, 3)):
        with pytest.raises(ValueError):
            compiled(f)(a)
    check(lambda a: (a[:0].reshape(0, 3), a[:0].reshape(2, 0), a[:0].reshape(-1, 3)), a)
    check(lambda a: a.reshape(2, 3)[1, 1].reshape(1) if False else a.reshape(1, 1, 6), a)


def test_broadcast():
    def spread(a):
        return np.broadcast_to(a, (3, 4)), np.broadcast_to(a, (2, 3, 4)), np.broadcast_to(2.5, (2,)), np.broadcast_to(a[:1], (5, 4))

    check(spread, np.arange(4.0))
    check(lambda a: np.broadcast_to(a, (4, 3)), np.arange(4.0).reshape(4, 1))
    with pytest.raises(ValueError):
        compiled(lambda a: np.broadcast_to(a, (3, 5)))(np.arange(4.0))
    with pytest.raises(KilnError, match="read-only"):
        @compiled
        def writes(a):
            b = np.broadcast_to(a, (3, 4))
            b[0, 0] = 1
        writes(np.arange(4.0))


def converted(a):
    return (a.astype(np.float64), a.astype(np.float32), a.astype(np.int64), a.astype(np.int16), a.astype(np.uint8), a.astype(np.bool_), a.astype(np.complex128))


def test_astype():
    for d, a in matrices():
        if d is not np.complex128:
            check(converted, a)
            for ours, theirs in zip(compiled(converted)(a), converted(a)):
                if a.flags.c_contiguous or a.flags.f_contiguous:
                    assert ours.strides == theirs.strides
    check(lambda a: a.astype(np.int64), np.array([1.7, -1.7, 0.0, -0.5]))
    check(lambda a: a.astype(np.bool_), np.array([0.0, -0.0, np.nan, 3.0]))


def from_lists(n):
    return (np.array([1, 2, 3]), np.array([1, 2.5]), np.array([[1, 2], [3, 4]]), np.array((1, 2)), np.array(((1, 2.5), (3, 4))), np.array([(1, 2), (3, 4)]), np.array([n, n + 1], dtype=np.float32),
            np.array([i * 0.5 for i in range(n)]), np.array([[i + j for j in range(3)] for i in range(4)]), np.array([True, False]), np.array([1j, 2.0]), np.array(2.5), np.array([[[1], [2]]]),
            np.asarray([1, 2]), np.asarray((1.0, n)), np.ascontiguousarray([1, 2]), np.array(range(n)) if False else np.array([n]))


def from_arrays(a):
    b = np.asarray(a)
    b[0] = 7
    c = np.array(a)
    c[1] = 8
    d = np.asarray(a, dtype=np.float32)
    e = np.asarray(a, np.float64)
    e[1] = 9
    return b, c, d, e, np.array([a, a]), np.array((a, c)), np.ascontiguousarray(a), np.array(a, dtype=np.int32), np.asfortranarray(np.array([a, a]))


def test_array():
    check(from_lists, 3)
    check(from_arrays, np.arange(4.0))
    check(from_arrays, np.arange(8.0)[::2])
    check(lambda x: np.array(x), [1.5, 2.5])
    check(lambda x: np.array(x), [[1, 2, 3], [4, 5, 6]])
    check(lambda n: np.array([0.5 for _ in range(n)]), 0)
    with pytest.raises(ValueError, match="different lengths"):
        compiled(lambda x: np.array(x))([[1, 2], [3]])
    with pytest.raises(KilnError, match="numpy.array"):
        compiled(lambda x: np.array(x))("text")


def joins(a, b):
    return (np.concatenate((a, b)), np.concatenate((a, b), axis=0), np.concatenate((a, b), axis=1), np.concatenate((a, b, a), -1), np.stack((a, b)), np.stack((a, b), axis=1), np.stack((a, b), -1),
            np.vstack((a, b)), np.hstack((a, b)), np.dstack((a, b)), np.column_stack((a, b)), np.append(a, b), np.append(a, b, axis=0), np.concatenate([a, a + a]))


def test_joining():
    for first, second in itertools.product(DTYPES[::2], (np.float32, np.int64)):
        check(lambda a, b: (np.concatenate((a, b)), np.stack((a, b), 1)), next(layouts((2, 3), first)), next(layouts((2, 3), second)))
    for a in list(layouts((2, 3), np.float64))[:3]:
        check(joins, a, np.ones((2, 3), np.int32))

    def of_vectors(a, b):
        return np.concatenate((a, b)), np.stack((a, a)), np.vstack((a, a)), np.hstack((a, b)), np.column_stack((a, a)), np.append(a, 5), np.append(a, [1.0, 2.0]), np.dstack((a, a)), np.append(a, b)

    check(of_vectors, np.arange(3.0), np.arange(2))
    check(of_vectors, np.arange(6.0)[::2], np.arange(0))
    for f in (lambda a, b: np.concatenate((a, b)), lambda a, b: np.stack((a, b))):
        with pytest.raises(ValueError):
            compiled(f)(np.zeros((2, 3)), np.zeros((2, 4)))
    with pytest.raises(ValueError):
        compiled(lambda a: np.concatenate((a, a), axis=2))(np.zeros((2, 3)))
    assert compiled(lambda a: np.concatenate((a, a)))(np.zeros((2, 3), order="F")).flags.f_contiguous


def parts(a, b, n):
    x, y = np.meshgrid(a, a[:2])
    u, v = np.meshgrid(a, a[:2], indexing="ij")
    return (np.repeat(a, 2), np.repeat(a, 0), a.repeat(n), np.repeat(a, np.arange(len(a))), np.tile(a, 2), np.tile(a, (2, 3)), np.tile(b, 2), np.tile(b, (3, 1)), np.diag(a), np.diag(a, 1), np.diag(a, -2), np.diag(b),
            np.diag(b, 1), np.diag(b, -1), np.diagonal(b), np.tril(b), np.triu(b), np.tril(b, 1), np.triu(b, -1), np.tri(3), np.tri(2, 4, 1), np.diagflat(b), x, y, u, v)


def test_parts():
    for d in (np.float64, np.int8, np.bool_, np.complex128):
        check(parts, np.arange(4).astype(d), np.arange(6).reshape(2, 3).astype(d), 3)


def pieces(a, n):
    total = 0.0
    sizes = 0
    for p in np.array_split(a, n):
        total = total * 3 + p.sum()
        sizes = sizes * 10 + len(p)
    for p in np.array_split(a, [1, 4]):
        total = total * 3 + p.sum()
    for p in np.split(a, 2):
        total += p[0]
    return total, sizes


def test_splitting():
    for n in (1, 2, 3, 5):
        check(pieces, np.arange(10.0), n)
    with pytest.raises(ValueError, match="equal division"):
        compiled(lambda a: len(np.split(a, 3)))(np.arange(10.0))


def test_items():
    check(lambda a: (a.item(), a.reshape(1, 1).item()), np.array([2.5]))
    check(lambda a: a.item(2), np.arange(4))
    check(lambda a: a.item(1, 2), np.arange(6.0).reshape(2, 3))

    def filled(a):
        np.fill_diagonal(a, 5)
        return a

    check(filled, np.zeros((3, 4)))
    check(lambda a: np.vander(a, 3), np.array([1.0, 2.0, 3.0]))
