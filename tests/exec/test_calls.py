# SPDX-License-Identifier: Apache-2.0
"""Calls: defaults, keywords, stars, functions as values, closures, captured arrays and constants."""
import math

import numpy as np
import pytest

from kilnjit import njit
from same import check, compiled

TABLE = np.arange(5.0) * 1.5
SCALE = 3
NAMES = (1, 2.5, True)


@njit
def defaults(a, b=2, *, c=10):
    return a * 100 + b * 10 + c


@njit
def star(*a):
    s = 0
    for x in a:
        s = s * 10 + x
    return s


def many(x, t):
    return (defaults(x), defaults(x, 3), defaults(x, c=1), defaults(c=5, a=x), defaults(x, b=x + 1), star(*t), star(1, *t),
            star())


def test_arguments():
    got = compiled(many)(1, (4, 5))
    assert got == (130, 140, 121, 125, 130, 45, 145, 0)


def order(log, x):
    log[int(log[0])] = x
    log[0] += 1
    return x


order = njit(order)


def evaluates(log):
    return defaults(order(log, 1), c=order(log, 2), b=order(log, 3))


def test_order_of_arguments():
    log = np.zeros(6)
    log[0] = 1
    assert compiled(evaluates)(log) == 100 + 30 + 2
    assert list(log) == [4, 1, 2, 3, 0, 0]


def captured(i):
    return TABLE[i] * SCALE + NAMES[1] + len(NAMES)


def test_captured():
    for i in range(5):
        check(captured, i)


def make_adder(k, weights):
    def add(x):
        return x * k + weights[0]
    return add


def test_closure_from_outside():
    f = make_adder(2, np.array([10.0]))
    g = make_adder(2.5, np.array([-1.0]))
    assert njit(f)(3) == 16.0
    assert njit(g)(3) == 6.5


def inner(x, k):
    s = x * 2

    def g(a):
        return a * s + k

    return g(1), g(x), g(2.5)


def apply(h, v):
    return h(v)


apply = njit(apply)


def passed(x):
    k = x + 1
    return apply(lambda z: z * k, x), apply(math.sqrt, x * x)


def test_functions_as_values():
    check(inner, 3, 4)
    check(inner, 1.5, 2)
    assert compiled(passed)(3.0) == (12.0, 3.0)


def inner_array(n):
    a = np.ones(n)

    def total(b):
        s = 0.0
        for i in range(n):
            s += a[i] * b
        return s

    return total(2), a


def test_closure_over_an_array():
    check(inner_array, 4)


@njit
def fails(i):
    if i > 2:
        raise ValueError("too far", i)
    return i


@njit
def middle(i):
    return fails(i + 1) * 2


def outer(i):
    return middle(i) + 1


def test_exception_through_calls():
    f = compiled(outer)
    assert f(1) == 5
    with pytest.raises(ValueError) as caught:
        f(5)
    assert caught.value.args == ("too far", 6)
    assert [t.name for t in caught.traceback][-3:] == ["outer", "middle", "fails"]


def swap_arrays(a, b):
    a, b = b, a
    c = (a, b)
    x, y = c
    return x, y, c[0]


def halves(a):
    n = len(a) // 2
    return a[:n], a[n:]


@njit
def split(a):
    n = len(a) // 2
    return a[:n], a[n:]


def merge_sort(a):
    if len(a) < 2:
        return a.copy()
    left, right = split(a)
    left = merge_sort(left)
    right = merge_sort(right)
    out = np.empty(len(a))
    i = 0
    j = 0
    for k in range(len(a)):
        if j == len(right) or (i < len(left) and left[i] <= right[j]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return out


merge_sort = njit(merge_sort)


def test_arrays_in_and_out():
    check(swap_arrays, np.arange(3.0), np.arange(4.0))
    check(halves, np.arange(5.0))
    a = np.random.RandomState(3).uniform(size=257)
    assert np.array_equal(merge_sort(a), np.sort(a))


def fast(a):
    s = 0.0
    for i in range(len(a)):
        s += math.exp(a[i]) + math.sin(a[i]) ** 2
    return s


def test_fastmath_is_close():
    a = np.linspace(-1, 1, 1001)
    assert np.isclose(compiled(fast, fastmath=True)(a), compiled(fast)(a), rtol=1e-12)


# -- cells: an inner function sees what its variables hold when it is called

def rebound(x):
    y = x + 1

    def inner(x):
        return x * y
    y = inner(x)
    return y + inner(x)


def in_a_loop(n):
    s, k = 0, 0
    f = lambda x: x + k  # noqa: E731
    for i in range(n):
        k = i
        s += f(1)
    return s


def other_type(n):
    z = 1
    f = lambda x: x + z  # noqa: E731
    t = f(n)
    z = 2.5
    return t, f(n)


def rebound_array(n):
    a = np.ones(3)
    f = lambda: a.sum()  # noqa: E731
    t = f()
    a = np.full(n, 2.0)
    return t, f()


def on_one_path(n):
    z = 1
    def f(x): return x + z
    if n > 2:
        z = 5
    return f(1)


def made_elsewhere(n):
    def make(m):
        def g(x):
            return x * m
        return g
    h = make(n)
    k = make(3)
    return h(2) + k(2)


@pytest.mark.parametrize("function", [rebound, in_a_loop, other_type, rebound_array, on_one_path, made_elsewhere])
def test_cells(function):
    for n in (1, 2, 5):
        check(function, n)


def test_eager_inner_function_that_calls_itself():
    def make():
        @njit("int64(int64)")
        def fact(n):
            return 1 if n < 2 else n * fact(n - 1)
        return fact
    assert make()(10) == 3628800
