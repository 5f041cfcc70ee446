# SPDX-License-Identifier: Apache-2.0
"""Reductions along axes, functions that pass nan by, order statistics, choosing, sets, counting: against NumPy."""
import numpy as np
import pytest

from same import check, compiled
from test_array_shapes import layouts

RNG = np.random.default_rng(12)
HOLES = RNG.normal(size=(4, 5))
HOLES[1, 2] = HOLES[3, 0] = np.nan


def exact_axis(a, k):
    return (np.min(a, axis=k), a.max(axis=k), a.argmin(axis=k), np.argmax(a, k), np.any(a, axis=k), np.all(a, k), np.count_nonzero(a, axis=k), np.ptp(a, axis=k) if a.dtype != np.bool_ else a.max(k))


def sum_axis(a, k):
    return np.sum(a, axis=k), a.sum(k), np.prod(a, axis=k), np.cumsum(a, axis=k), np.cumprod(a, k), a.cumsum(k)


def mean_axis(a, k):
    return a.mean(axis=k), np.var(a, axis=k), np.std(a, k), np.std(a, axis=k, ddof=1)


def test_axes():
    for d in (np.float64, np.int64, np.int8, np.bool_, np.float32):
        for a in layouts((4, 6), d) if d in (np.float64, np.int64) else [next(layouts((4, 6), d))]:
            a = a % 5 if d != np.bool_ else a
            for k in (0, 1, -1):
                check(exact_axis, a, k)
                check(sum_axis, a.astype(d) if d != np.float32 else a.astype(np.float64), k)
                if d == np.float64 or d == np.int64:
                    for got, want in zip(compiled(mean_axis)(a, k), mean_axis(a, k)):
                        assert np.allclose(got, want, rtol=1e-14)
    for a in layouts((2, 3, 4), np.float64):
        for k in (0, 1, 2, -2):
            check(exact_axis, a, k)
            check(sum_axis, a, k)
    check(lambda a: (a.sum(axis=0), a.min(axis=0), a.sum(axis=-1)), np.arange(4.0))
    check(lambda a: (a.sum(axis=1, keepdims=True), np.mean(a, axis=0, keepdims=True), np.max(a, 1, keepdims=True)), np.arange(6.0).reshape(2, 3))
    check(lambda a: (np.sum(a, dtype=np.float64), a.sum(dtype=np.int64), np.mean(a, dtype=np.float64)), np.arange(6, dtype=np.int32))
    with pytest.raises(ValueError, match="axis 2 is out of bounds for array of dimension 2"):
        compiled(lambda a: np.sum(a, axis=2))(np.zeros((2, 3)))
    check(lambda a: (np.sum(a, axis=0), np.sum(a, axis=1)), np.zeros((0, 3)))
    check(lambda x: (np.sum(x), np.max(x), np.mean(x)), [1.0, 2.5, 3.0])


def of_nan(a):
    return (np.nansum(a), np.nanprod(a), np.nanmean(a), np.nanvar(a), np.nanstd(a), np.nanmin(a), np.nanmax(a), np.nanargmin(a), np.nanargmax(a), np.nancumsum(a)[-1], np.nancumprod(a)[-1], np.nanmedian(a),
            np.nanpercentile(a, 30.0), np.nanquantile(a, 0.75), np.nanstd(a, ddof=1))


def test_nan():
    for a in (HOLES, HOLES[1], np.arange(6.0), np.array([np.nan, 1.0])):
        check(of_nan, a, close=True)

    def by_axis(a, k):
        return np.nansum(a, axis=k), np.nanmean(a, axis=k), np.nanmin(a, axis=k), np.nanmax(a, k), np.nanmedian(a, axis=k)

    for k in (0, 1):
        for got, want in zip(compiled(by_axis)(HOLES, k), by_axis(HOLES, k)):
            assert np.allclose(got, want, rtol=1e-14)
    check(lambda a: (np.nan_to_num(a), np.nan_to_num(a, nan=5.0), np.nan_to_num(a, posinf=1.0, neginf=-1.0)), np.array([np.nan, np.inf, -np.inf, 1.5]))
    check(lambda a: np.nan_to_num(a), np.array([np.nan, np.inf, 1.5], np.float32))
    check(lambda a: np.nanargmin(a), np.array([np.nan, np.nan]))
    check(lambda a: (np.nansum(a), np.nanmax(a)), np.array([3, 1, 2]))


def orders(a):
    return np.median(a), np.percentile(a, 50), np.percentile(a, 12.5), np.quantile(a, 0.9), np.percentile(a, [0, 25.0, 100]), np.quantile(a, np.array([0.1, 0.5])), np.average(a)


def test_order_statistics():
    for n in (1, 2, 5, 10, 101):
        check(orders, RNG.normal(size=n), close=False) if n < 3 else check(lambda a: orders(a)[:4], RNG.normal(size=n), close=True)
    for got, want in zip(compiled(orders)(HOLES[0]), orders(HOLES[0])):
        assert np.allclose(got, want, rtol=1e-14)
    check(lambda a: (np.median(a), np.median(a, axis=0), np.median(a, axis=1)), np.arange(12.0).reshape(3, 4))
    check(lambda a: np.median(a), np.array([1.0, np.nan, 2.0]))
    check(lambda a: np.median(a), np.array([3, 1, 2, 10]))
    check(lambda a: np.average(a, weights=a), np.array([1.0, 2.0, 3.0]))
    check(lambda a: np.percentile(a, 101.0), np.arange(3.0))


def choices(c, x, y):
    return np.where(c, x, y), np.where(c, x, 0), np.where(c, 1.5, y), np.where(c, 1, 2), np.where(x > y, x, y), np.where(c)[0]


def test_where():
    for d in (np.float64, np.float32, np.int32, np.bool_, np.complex128):
        if d is np.complex128:
            continue
        check(choices, np.array([True, False, True]), np.array([1, 2, 3]).astype(d), np.array([2, 0, 4]).astype(d))
    check(choices, np.array([1.0, 0.0, 2.0]), np.arange(3), np.arange(3) * 0.5)
    for a in layouts((3, 3), np.float64):
        check(lambda c, x, y: (np.where(c > 3, x, y), np.where(c > 3, x[0], y), np.where(c[0] > 1, x, 0.0), np.where(c > 3, x, y[:, None])), a, a * 2, np.arange(3.0))
    check(lambda c: np.where(c > 0, [1, 2, 3], 0), np.array([1, 0, 2]))
    check(lambda c, x: np.where(c, x, -x), True, 2.5)


def clips(a):
    return np.clip(a, 1, 4), a.clip(0.5, 2.5), np.clip(a, None, 3), np.clip(a, 2, None), np.clip(a, a * 0 + 1, 3), np.clip(a, np.array([1.0, 2.0, 3.0]), 4.0)


def test_clip():
    for a in layouts((2, 3), np.float64):
        check(clips, a)
    check(lambda a: (np.clip(a, 1, 3), np.clip(a[0], 1, 3)), np.arange(5))
    check(lambda a: np.clip(a, 1.0, 3.0), np.array([np.nan, 0.0, 5.0]))

    def out(a):
        np.clip(a, 1, 2, a)
        return a

    check(out, np.arange(4.0))


def steps(a):
    return np.diff(a), np.diff(a, 2), np.diff(a, 0), np.diff(a, axis=0), np.ediff1d(a)


def test_differences():
    for a in layouts((4, 6), np.float64):
        check(steps, a)
    check(lambda a: (np.diff(a), np.diff(a, n=2), np.diff(a[:1]), np.diff(a[:0])), np.array([3, 1, 4, 1]))
    check(lambda a: np.diff(a), np.array([True, True, False]))
    check(lambda y, x: (np.trapz(y), np.trapz(y, x), np.trapz(y, dx=0.5)), np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 3.0]))
    check(lambda a, b: np.cross(a, b), np.array([1.0, 2.0, 3.0]), np.array([4, 5, 7]))
    check(lambda a: np.cross(a, a[::-1]), np.arange(9.0).reshape(3, 3) ** 2)
    check(lambda a, b: np.kron(a, b), np.arange(4).reshape(2, 2), np.arange(6.0).reshape(2, 3))
    for a in layouts((3, 4), np.int64):
        check(lambda a: (np.roll(a, 1), np.roll(a, -5), np.roll(a, 1, axis=0), np.roll(a, -1, axis=1), np.roll(a[0], 2)), a)


def sets(a, b):
    return (np.unique(a), np.union1d(a, b), np.intersect1d(a, b), np.setdiff1d(a, b), np.setxor1d(a, b), np.isin(a, b), np.in1d(a, b), np.isin(a, b, invert=True), np.isin(a, [1, 3]))


def test_sets():
    check(sets, np.array([3, 1, 2, 3, 3, 7]), np.array([2, 3, 9]))
    check(sets, np.array([0.5, 2.0, 0.5]), np.array([2.0]))
    check(sets, np.zeros(0), np.array([2.0]))
    check(lambda a: (np.unique(a), np.isin(a, a[0])), np.arange(6).reshape(2, 3) % 4)
    check(lambda a: np.unique(a), np.array([2.0, np.nan, 1.0, np.nan]))
    check(lambda a: np.unique(a), [3, 1, 3])


def equals(a, b):
    return np.array_equal(a, b), np.allclose(a, b), np.isclose(a, b), np.isclose(a, b, equal_nan=True), np.allclose(a, b, 0.5), np.allclose(a, b, rtol=0.0, atol=3.0), np.array_equal(a, a)


def test_comparing():
    check(equals, np.array([1.0, 2.0, np.nan]), np.array([1.0, 2.0000001, np.nan]))
    check(equals, np.array([1.0, np.inf]), np.array([1.0, np.inf]))
    check(equals, np.arange(4).reshape(2, 2), np.arange(4).reshape(2, 2) + 1)
    check(lambda a, b: (np.array_equal(a, b), np.array_equal(a, a[0])), np.zeros((2, 3)), np.zeros((2, 4)))
    check(lambda a: np.isclose(a, 1.0), np.array([1.0, 1.00000001, 2.0]))


def counts(x, w):
    return np.bincount(x), np.bincount(x, w), np.bincount(x, minlength=12), np.bincount(x, weights=w, minlength=2)


def test_counting():
    check(counts, np.array([0, 3, 3, 7]), np.array([0.5, 1.0, 2.0, 4.0]))
    check(lambda x: np.bincount(x), np.array([0, -1]))
    check(lambda x: np.bincount(x), np.zeros(0, np.int64))
    a = RNG.normal(size=500)
    check(lambda a: np.histogram(a), a)
    check(lambda a: np.histogram(a, 7), a)
    check(lambda a: np.histogram(a, bins=5, range=(-1.0, 1.0)), a)
    check(lambda a, b: np.histogram(a, b), a, np.array([-2.0, -0.5, 0.0, 1.0, 3.0]))
    check(lambda a: np.histogram(a, 4), np.array([1, 1, 2, 5]))
    check(lambda a: np.histogram(a, 3), np.array([2.0, 2.0]))
    check(lambda a, b: (np.digitize(a, b), np.digitize(a, b, right=True), np.digitize(a[0], b), np.digitize(a, b[::-1]), np.digitize(a, b[::-1], True)), np.array([0.2, 1.0, 6.4, 3.0, -1.0]), np.array([0.0, 1.0, 2.5, 4.0]))


def test_interpolation():
    xp, fp = np.array([1.0, 2.0, 4.0, 5.0]), np.array([3.0, 2.0, 0.5, 10.0])
    check(lambda x, xp, fp: np.interp(x, xp, fp), np.array([0.0, 1.0, 1.5, 2.0, 3.3, 5.0, 6.0, np.nan]), xp, fp)
    check(lambda x, xp, fp: (np.interp(x, xp, fp), np.interp(3, xp, fp)), 2.5, xp, fp)
    check(lambda x: np.interp(x, [0.0, 1.0], [10.0, 20.0]), np.array([[0.5, 2.0]]))
    check(lambda x, xp: np.interp(x, xp, xp[:2]), 2.5, xp)

    def slides(a, v):
        return np.convolve(a, v), np.convolve(a, v, "same"), np.convolve(a, v, "valid"), np.correlate(a, v), np.correlate(a, v, "full"), np.correlate(a, v, "same"), np.convolve(v, a), np.correlate(v, a, "full")

    for n, m in ((5, 2), (6, 3), (3, 3), (7, 4), (1, 1)):
        check(slides, np.arange(1.0, n + 1), np.arange(1.0, m + 1) ** 2)
    check(slides, np.arange(5), np.array([1, 2]))


def sorting(a):
    b, c = a.copy(), a.copy()
    b.sort()
    c.sort(axis=0)
    return np.sort(a), np.sort(a, axis=0), np.sort(a, axis=None), b, c, np.argsort(a, kind="mergesort"), np.argsort(a, axis=0, kind="stable"), a.argsort(), np.sort(a[0]), np.sort(a, kind="quicksort")


def test_sorting():
    for d in (np.float64, np.int64, np.uint8):
        for a in layouts((4, 6), d):
            check(sorting, (a * 7 % 13).astype(d))
    check(lambda a: (np.sort(a), np.sort(a, 0), np.sort(a, 1)), RNG.normal(size=(2, 3, 4)))
    check(lambda a: np.sort(a), [3, 1, 2])
    check(lambda a, v: (np.searchsorted(a, v), np.searchsorted(a, v, side="right"), a.searchsorted(v), np.searchsorted(a, [1.0, 9.0])), np.array([1.0, 2.0, 2.0, 3.0]), np.array([[0.0, 2.0], [2.5, 9.0]]))
    check(lambda a: (np.partition(a, 2)[2], a[np.argpartition(a, 3)[3]]), RNG.permutation(20))


def test_rounding():
    check(lambda a: (np.round(a), np.round(a, 1), np.around(a, 2), a.round(1), abs(a), pow(a, 2), np.round(a, -1)), np.array([0.125, -2.5, 17.349, 1e10, np.inf]))
    check(lambda a: (np.round(a), np.round(a, -1), abs(a)), np.array([[15, -25], [7, 1]]))


def outs(a, b, c):
    np.add(a, b, c)
    np.multiply(c, 2, out=c)
    np.sqrt(c, c)
    return np.negative(c, out=c)


def test_out():
    check(outs, np.arange(4.0), np.arange(4), np.zeros(4))

    def wrong(a):
        return np.divide(a, 2, out=a)

    with pytest.raises(TypeError):
        compiled(wrong)(np.arange(4))


def limits(x):
    return (np.finfo(np.float64).eps, np.finfo(np.float64).max, np.finfo(np.float32).min, np.finfo(np.float32).eps, np.finfo(x.dtype).tiny, np.iinfo(np.int32).max, np.iinfo(np.int8).min, np.iinfo(np.int64).min, np.iinfo(np.uint64).max,
            np.iinfo(np.uint8).bits, np.finfo(np.float64).resolution, np.iinfo(np.int64).max)


def test_limits():
    check(limits, np.zeros(2))
    check(limits, np.zeros(2, np.float32))


def positions(a):
    t = 0.0
    for i, j in np.ndindex(a.shape):
        t = t * 2 + a[i, j]
    for ij in np.ndindex(2, 2):
        t += a[ij] * ij[1]
    for (i, j), v in np.ndenumerate(a):
        t += v * i - j
    x, y = np.broadcast_arrays(a, a[0])
    return t, x, y


def test_positions():
    check(positions, np.arange(6.0).reshape(2, 3))


def systems(a, b, c):
    return np.linalg.solve(a, b), np.linalg.solve(a, c), np.linalg.inv(a), np.linalg.det(a), np.linalg.norm(a), np.linalg.norm(b), np.linalg.norm(b, 1), np.linalg.norm(b, np.inf), np.linalg.norm(b, 3), np.linalg.norm(a, 1), \
        np.linalg.norm(a, np.inf), np.linalg.norm(a, axis=1), np.linalg.norm(a, axis=0)


def test_systems():
    for n in (1, 2, 3, 8):
        for d in (np.float64, np.complex128):
            a = (RNG.normal(size=(n, n)) + 3 * np.eye(n)[::-1]).astype(d)
            b, c = RNG.normal(size=n), RNG.normal(size=(n, 2))
            for got, want in zip(compiled(systems)(a, b, c), systems(a, b, c)):
                assert np.allclose(got, want, rtol=1e-10) and np.asarray(got).dtype == np.asarray(want).dtype
    with pytest.raises(ValueError, match="singular"):
        compiled(lambda a: np.linalg.inv(a))(np.zeros((2, 2)))
    assert compiled(lambda a: np.linalg.det(a))(np.ones((3, 3))) == 0.0
    assert np.allclose(compiled(lambda a, b: np.linalg.solve(a, b))(np.array([[2, 1], [1, 3]]), np.array([3, 5])), [0.8, 1.4])
