# SPDX-License-Identifier: Apache-2.0
"""NumPy functions of the prelude, against NumPy: every element type, every layout, empty arrays, nan."""
import numpy as np
import pytest

from same import check

RNG = np.random.default_rng(3)
FLOATS = [RNG.normal(size=n) for n in (1, 7, 8, 9, 130, 1000)] + [RNG.normal(size=(5, 40)), RNG.normal(size=300)[::-3],
          RNG.normal(size=(3, 4, 5)).transpose(2, 0, 1), np.array([1.0, np.nan, 2.0]), RNG.normal(size=64).astype(np.float32)]
INTS = [RNG.integers(-100, 100, size=n).astype(t) for n in (1, 9, 77, (4, 5)) for t in (np.int8, np.int32, np.int64, np.uint16, bool)]


def sums(a):
    return np.sum(a), a.sum(), a.prod(), np.cumsum(a), np.count_nonzero(a), bool(np.any(a)), bool(a.all())


def extremes(a):
    return np.min(a), a.max(), a.argmin(), np.argmax(a)


def moments(a):
    return a.mean(), np.var(a), np.std(a), np.var(a, ddof=1)


@pytest.mark.parametrize("a", INTS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_integers(a):
    check(sums, a)
    check(extremes, a)
    check(moments, a, close=True)


def float_sum(a):
    return np.sum(a), np.cumsum(a)[-1]


@pytest.mark.parametrize("k", range(len(FLOATS)))
def test_floats(k):
    a = FLOATS[k]
    check(extremes, a)
    if a.dtype == np.float64:
        check(moments, a, close=True)
        check(float_sum, np.abs(a), close=True)


def test_sum_is_pairwise():
    """A plain loop over a million float32 would be off in the third digit."""
    check(lambda a: abs(a.sum() - np.float32(100000)) < 1, np.full(1_000_000, 0.1, np.float32))


def test_of_nothing():
    for a in (np.empty(0), np.empty((0, 3)), np.empty((3, 0))):
        check(lambda x: (x.sum(), x.prod(), x.mean(), bool(x.any()), bool(x.all())), a)
        check(lambda x: x.min(), a)
        check(lambda x: x.argmax(), a)


def aranges(n):
    return np.arange(n), np.arange(2, n), np.arange(n, -3, -2), np.arange(0.0, 2.0, 0.25), np.arange(5, dtype=np.float32)


def lines(a, b):
    return np.linspace(a, b, 5), np.linspace(a, b, 1), np.linspace(a, b, 0)


def eyes(n):
    return np.eye(n), np.eye(n, 3, 1), np.eye(n, dtype=np.int8), np.identity(n)


def test_creation():
    for n in (0, 1, 2, 9):
        check(aranges, n)
        check(eyes, n)
    check(aranges, np.int32(7))
    for a, b in ((0, 1), (0.0, 1.0), (-3.0, 7)):
        check(lines, a, b, close=False)


def products(a, v, w):
    return a @ v, w @ a, a @ a.T, v @ v, np.dot(w, w), np.outer(v, w), np.vdot(v, v), np.trace(a)


def test_products():
    a = RNG.integers(-9, 9, size=(3, 4)).astype(float)  # exact, whatever the order
    check(products, a, np.arange(4.0), np.arange(3.0))
    b = a.astype(np.int64)
    check(products, b, np.arange(4), np.arange(3))
    check(products, np.asfortranarray(a), np.arange(8.0)[::2], np.arange(3.0)[::-1])


def sorts(a, v):
    b = a.copy()
    b.sort()
    return np.sort(a), b, np.searchsorted(b, v), b.searchsorted(v, side="right")


def test_sorting():
    for n in (0, 1, 15, 16, 17, 100, 1000):
        check(sorts, RNG.normal(size=n), 0.1)
        check(sorts, RNG.integers(-20, 20, size=n), 3)
    check(sorts, np.array([3.0, np.nan, -np.inf, 0.0, np.nan, 1.0]), 0.5)
    check(lambda a: np.argsort(a), RNG.permutation(200))


def rounds(x):
    return np.round(x), np.round(x, 1), np.clip(x, 0.0, 2.0)


def test_numbers():
    for x in (0.25, 1.5, -2.5, 2.75, np.float64(0.15)):
        check(rounds, np.float64(x))


def totals(t):
    return sum(t), min(t), max(t)


def test_builtins():
    check(totals, (1, 2, 3))
    check(totals, (1.5, 2.5))
    check(lambda a: (sum(a), min(a), max(a)), np.array([3, 1, 2]))


def unrolled(t, u):
    total = 0.0
    for i, (a, b) in enumerate(zip(t, u)):
        if i == 1:
            continue
        total += a * b
    for v in reversed(t):
        total = total * 2 + v
    return total


def test_loops_over_mixed_tuples():
    check(unrolled, (1, 2.5, True), (2, 3, 4.5))
    check(unrolled, (1, 2.5), (2, 3, 4.5))


def narrowed(x, y):
    a = None
    b = None
    if y > 0:
        a = x[1:]
        b = y
    if a is None or b is None:
        return 0.0
    c = a[0]
    if not (b is None):
        c += b
    return c + (0 if b is None else b)


def best(x):
    r = None
    for v in x:
        if r is None or v > r:
            r = v
    return r


def test_optional():
    check(narrowed, np.arange(3.0), 2.0)
    check(narrowed, np.arange(3.0), -2.0)
    check(best, np.array([1.0, 5.0, 2.0]))
    check(best, np.empty(0))


def test_means_of_large_integers():
    for a in (np.full(10, 2**60), np.full((2, 5), 2**62), np.array([True, False, True]), np.arange(1000, dtype=np.uint64) + 2**60):
        check(lambda x: (x.mean(), x.var(), x.std()), a, close=True)
