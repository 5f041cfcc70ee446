# SPDX-License-Identifier: Apache-2.0
"""Tuples of every kind, and constants and globals of every kind, against Python."""
import math
import time
import types as python_types
from collections import namedtuple

import numpy as np
import pytest
from same import check

from kilnjit import errors, literal_unroll, njit

Pair = namedtuple("Pair", "a b")


def joined(a, b):
    return a + b, a + (), () + b, a + (1,) + b, (a + b)[1:3], a * 2, 2 * b


def sliced(t):
    return t[1:], t[:-1], t[::2], t[::-1], t[5:], t[-2:], t[1:-1], t[:0], t[3:1:-1], t[-100:100]


def compared(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b


def nested(a, b):
    return ((a, b), b) < ((a, b), a), ((a,), (b,)) == ((b,), (a,)), (a, (b, a)) >= (a, (b, b)), ((a, b), (1, 2)) != ((a, b), (1, 2))


def found(x, t):
    return x in t, x not in t, x in (1, 2.5, -3), (x, 1) in ((1, 1), (2, 1))


def at(t, i):
    return t[i], t[-1], t[i - 1]


def loops(t):
    s = 0.0
    for v in t:
        s += v
    for i, v in enumerate(t):
        s += i * v
    for v, w in zip(t, t[1:]):
        s -= v * w
    for v in reversed(t):
        s = s * 0.5 + v
    return s, len(t), min(t), max(t)


NUMBERS = [(1, 2, 3, 4, 5), (1.5, 2, -3.25, 4), (True, 2, 3.5), (1, 2.5), (0, -0.0, 1e300, 7)]


@pytest.mark.parametrize("t", NUMBERS)
def test_operations(t):
    check(joined, t, (9, 2.5))
    check(sliced, t)
    check(loops, t)
    for x in (1, 2.5, -3, 7):
        check(found, x, t)
    check(lambda u: (lambda a, *b: (a, b))(*u)[0], t)


def test_unpacking():
    def both(t):
        a, *b = t
        *c, d = t
        return a, b[0], len(b), c[-1], len(c), d, (*t, *t)

    check(both, (1, 2.5, 3))
    check(both, (True, 2))


@pytest.mark.parametrize("a,b", [((1, 2), (1, 3)), ((1, 2), (1, 2)), ((1, 2.5), (1.0, 2)), ((1,), (1, 0)), ((), (1,)), ((2, 1), (1, 9)),
                                 ((math.nan, 1), (math.nan, 1)), (((1, 2), 3), ((1, 2.0), 3)), ((1, (2, 3)), (1, (2, 4)))])
def test_comparisons(a, b):
    if not any(x != x for x in a):  # Python compares a NaN with itself by identity
        check(compared, a, b)
    check(nested, 1, 2)
    check(nested, 2.5, 2)


def test_index_at_run_time():
    for i in (0, 1, 2, -1, -2):
        check(at, (1, 2, 3), i)
        check(at, (1.5, 2.5, 3.5), i)
        check(at, ((1, 2), (3, 4), (5, 6)), i)
    with pytest.raises(IndexError, match="tuple index out of range"):
        njit(at)((1, 2, 3), 3)
    with pytest.raises(errors.KilnError, match="different types"):
        njit(lambda t, i: t[i])((1, 2.5), 1)
    rows = (np.arange(3.0), np.ones(3))
    pick = njit(lambda t, i: t[i])
    assert pick(rows, 1) is rows[1] and pick(rows, 0) is rows[0]


def test_methods():
    def methods(t, x):
        return t.index(x), t.count(x), t.index(x, -3), t.count(99)

    for t in ((1, 2, 3, 2), (1.5, 2, True, 2), Pair(2, 2.0), (2,)):
        check(methods, t, 2)
    with pytest.raises(ValueError, match=r"tuple.index\(x\): x not in tuple"):
        njit(methods)((1, 2), 3)


def test_literal_unroll():
    def mixed(x):
        total = 0.0
        for v in literal_unroll([1, 2.5, True]):
            total += v * x
        for name, k in literal_unroll((("a", 1), ("b", 2))):
            if name == "b":
                total += k
        for v in literal_unroll((x, x + 1)):
            total += v
        return total

    check(mixed, 3)


def test_large_tuples():
    """100 tuples of 5 arrays; the time bound is generous, for a busy machine."""
    kinds = [np.float64, np.float32, np.int64]
    rows = tuple(tuple(np.full(2, i + j, kinds[(i + j) % 3]) for j in range(5)) for i in range(100))

    @njit
    def total(t):
        s = 0.0
        for row in t:
            for a in row:
                s += a[0]
        return s

    @njit
    def one(t):
        return t[3][2][0] + t[99][4][1]

    njit(lambda x: x)(1)
    start = time.perf_counter()
    assert total(rows) == sum(a[0] for row in rows for a in row)
    assert one(rows) == 5 + 103
    assert time.perf_counter() - start < 20

    @njit
    def same(t):
        return t

    some = rows[:10]
    assert all(a is b for x, y in zip(same(some), some) for a, b in zip(x, y))

    @njit
    def copies(t):
        return t[0][0] * 2, t

    doubled, kept = copies(rows[:8])
    assert doubled[0] == 0 and kept[7][4] is rows[7][4]


# -- globals


class Settings:
    """A namespace that is no module."""

    STEP = 0.25
    NAMES = ("a", "b")
    DTYPE = np.float32


module = python_types.ModuleType("settings")
module.LIMIT, module.TABLE, module.KIND = 10, np.arange(4.0), np.dtype("i2")
module.inner = python_types.ModuleType("settings.inner")
module.inner.SHAPE = (2, 3)

NOTHING, TEXT, COMPLEX, DTYPE, KIND = None, "text", 1 - 2j, np.dtype("f4"), np.int16
SCALAR, BYTES, BIG = np.float32(1.5), b"ab", 2 ** 63
WITH_ARRAY = (np.arange(3.0), 2, (np.ones(2), "x"), None, Pair(1, (2.5, None)))


def everything(x):
    t = WITH_ARRAY
    return (NOTHING is None, TEXT == "text", len(TEXT), COMPLEX * x, np.zeros(2, DTYPE), np.ones(2, KIND), KIND(x), SCALAR + x,
            t[0].sum() + t[1], t[2][0][1], t[2][1] == "x", t[3] is None, t[4].b[0], t[4].a, t[4].b[1] is None, BIG > x)


def attributes(x):
    return (module.LIMIT + x, module.TABLE[1], module.inner.SHAPE[1], np.zeros(module.inner.SHAPE, module.KIND), Settings.STEP * x,
            np.zeros(2, Settings.DTYPE), Settings.NAMES[1] == "b", math.pi, np.pi, np.inf)


def test_globals():
    check(everything, 3)
    check(attributes, 2)
    check(everything, 3, semantics="numba")


def test_closures_over_everything():
    def make(k, table, pair, function, dtype, text):
        def inner(x):
            return k * x + table[1] + pair.b, function(x), np.zeros(1, dtype), text == "t"
        return inner

    inner = make(2.5, np.arange(3.0), Pair(1, 2), lambda x: x * x, np.float32, "t")
    check(inner, 3)


LIVE = np.zeros(2)


def reads():
    return LIVE[0]


def test_arrays_are_live_and_constants_are_not():
    """Python semantics: an array's content is read at each call; numba semantics: at the first compile."""
    LIVE[0] = 1
    f, g = njit(reads), njit(semantics="numba")(reads)
    assert f() == 1 and g() == 1
    LIVE[0] = 2
    assert f() == 2 and g() == 1
    LIVE[0] = 0


def test_what_is_no_constant():
    class Odd:
        pass

    odd = Odd()

    def uses(x):
        return odd

    def deep(x):
        return (1, (odd, 2))[0]

    things = (1, (odd, 2))

    def kept(x):
        return things[0]

    for f in (uses, deep, kept):
        with pytest.raises(errors.KilnError, match="Odd"):
            njit(f)(1)
