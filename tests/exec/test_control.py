# SPDX-License-Identifier: Apache-2.0
"""Statements: loops with else, break and continue, unpacking, joins of types, exceptions, calls."""
import math

import numpy as np
import pytest

from kilnjit import njit
from programs import raises
from same import check, compiled


def while_else(n):
    i = 0
    r = 0
    while i < n:
        i += 1
        if i == 7:
            break
        if i % 3 == 0:
            continue
        r += i
    else:
        r = -r
    return r, i


def endless(n):
    i = 0
    while True:
        if i * i > n:
            return i
        i += 1


def for_else(n, k):
    for i in range(n):
        if i == k:
            break
    else:
        return -1
    return i


def last_value(n):
    for i in range(n):
        i = i * 2
    return i


def nested(n):
    t = 0
    for i in range(n):
        for j in range(i):
            if j == 3:
                continue
            if j > 5:
                break
            t += i * j
        else:
            t += 1000
    return t


def test_loops():
    for n in (0, 3, 6, 7, 20):
        check(while_else, n)
        check(endless, n)
        check(nested, n)
        for k in (0, 3, 100):
            if n:
                check(for_else, n, k)
    check(last_value, 4)


def test_unbound_loop_variable():
    with pytest.raises(UnboundLocalError):
        compiled(last_value)(0)


def ranges(a, b, c):
    s = 0
    n = 0
    for i in range(a, b, c):
        s = s * 31 + i
        n += 1
    return s, n


@pytest.mark.parametrize("a", [-5, 0, 3])
@pytest.mark.parametrize("b", [-4, 0, 7])
@pytest.mark.parametrize("c", [-3, -1, 0, 1, 2, 100])
def test_range(a, b, c):
    check(ranges, a, b, c)


def count(a, b, c):
    n = 0
    last = 0
    for i in range(a, b, c):
        n += 1
        last = i
    return n, last


def test_range_at_the_edge():
    check(count, 2**63 - 5, 2**63 - 1, 3)
    check(count, -2**63 + 3, -2**63, -2)
    check(count, 2**63 - 3, 2**63 - 1, 1)
    check(count, -2**63, 2**63 - 1, 2**62)


def backwards(n):
    s = 0
    for i in range(n - 1, -1, -1):
        s = s * 3 + i
    for i in range(n, -n, -3):
        s = s * 5 - i
    for i in range(1, n, 4):
        s += i
    return s


def test_constant_steps():
    for n in (0, 1, 2, 9):
        check(backwards, n)


def iterate(a, t):
    s = 0.0
    for x in a:
        s = s * 2 + x
    for x in t:
        s = s * 3 + x
    for i, x in enumerate(a):
        s += i * x
    for i, x in enumerate(t, 5):
        s += i * x
    for x, y in zip(a, t):
        s += x * y
    for i, (x, y) in enumerate(zip(a, a)):
        s += i * x * y
    for x in reversed(a):
        s = s * 2 - x
    for i in reversed(range(1, 10, 4)):
        s = s * 2 - i
    return s


def test_iteration():
    a = np.arange(6.0)
    check(iterate, a, (1, 2, 3))
    check(iterate, a[::-2], (1, 2, 3))
    check(iterate, np.empty(0), (1, 2, 3))


def mixed_tuple(a, b, c):
    s = 0.0
    for x in (a, b, c):
        if x > 100:
            continue
        if x < 0:
            break
        s = s * 10 + x
    else:
        s += 0.5
    return s


def test_unrolled():
    for args in ((1, 2.5, True), (200, 2.5, False), (1, -2.5, True), (-1, 1.0, True)):
        check(mixed_tuple, *args)


def joins(c):
    if c > 0:
        x = 1
    else:
        x = 2.5
    y = 0
    for i in range(3):
        y = y + x
    return y


def maybe(c):
    if c:
        x = 1
    return x + 1


def maybe_deleted(c):
    x = 3
    if c:
        del x
    return x


def conditional(x):
    return 1 if x > 0 else (-1 if x < 0 else 0)


def test_joins():
    check(joins, -1)
    assert compiled(joins)(1) == 3
    check(conditional, 1.5)
    check(conditional, -0.0)
    check(conditional, math.nan)
    check(maybe, True)
    for f in (maybe, maybe_deleted):
        with pytest.raises(UnboundLocalError):
            compiled(f)(f is maybe_deleted)


def optional(n):
    if n > 0:
        return n * 2
    return None


def test_optional():
    check(optional, 4)
    check(optional, -4)


def swaps(a, b):
    a, b = b, a
    x, (y, z) = a, (b, a + b)
    *r, q = x, y, z
    return a, b, x, y, z, q, r[0]


def targets(n):
    a = b = n
    a += 1
    t = (a, b)
    i = 0
    i, j = 5, i
    return t[0], t[-1], t, len(t), i, j


def test_tuples():
    check(swaps, 1, 2)
    check(swaps, 1.5, 2)
    check(targets, 3)


def tuple_ops(a, b):
    return a + b, a == b, a < b, a >= b, (a + b)[2], a * 2, 3 in a, b[1:], (a + b)[::-2]


def tuple_item(t, i):
    return t[i]


def test_tuple_operators():
    check(tuple_ops, (1, 2), (1, 3))
    check(tuple_ops, (5, 3), (1, 3))
    for i in (-4, -3, 0, 2, 3):
        check(tuple_item, (1, 2, 3), i)


def walrus(n):
    s = 0
    while (k := n - s) > 3:
        s += k // 2
    return s, k


def test_walrus():
    check(walrus, 100)
    check(walrus, 1)


# ---- calls ----

def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def forever(n):
    return forever(n + 1) + 1


fibonacci = njit(fibonacci)
even = njit(even)
odd = njit(odd)
forever = njit(forever)


def test_recursion():
    assert fibonacci(15) == 610
    assert even(10) and not even(7)
    with pytest.raises(RecursionError):
        forever(1)
    assert fibonacci(10) == 55


# ---- exceptions ----

def test_exceptions():
    for n in range(8):
        check(raises, n)


def keeps(n):
    a = np.zeros(n)
    b = a[1:]
    c = (a, b)
    for i in range(n):
        d = np.ones(i)
        if i == 3:
            continue
        if i == n - 2:
            break
        e = d[::2]
    if n == 7:
        raise ValueError("seven")
    return c[1], e


def test_arrays_on_every_path():
    for n in (5, 7, 9):
        check(keeps, n)


def test_traceback_names_the_line():
    with pytest.raises(KeyError) as caught:
        compiled(raises)(2)
    assert caught.traceback[-1].name == "raises"
