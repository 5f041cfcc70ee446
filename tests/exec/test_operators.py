# SPDX-License-Identifier: Apache-2.0
"""Operators on edge values: all sign pairs, least and largest integers, NaN, -0.0, infinities."""
import itertools
import math

import numpy as np
import pytest

from same import check, compiled

INTS = [0, 1, -1, 2, -2, 3, -3, 7, -7, 10, -10, 2**31 - 1, -2**31, 2**62, -2**62]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -7.5, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan]


def sub(a, b):
    return a - b


def floordiv(a, b):
    return a // b


def mod(a, b):
    return a % b


def div(a, b):
    return a / b


def both(a, b):
    return divmod(a, b)


def compare(a, b):
    return a < b, a <= b, a > b, a >= b, a == b, a != b


def bits(a, b):
    return a & b, a | b, a ^ b, ~a


@pytest.mark.parametrize("a,b", list(itertools.product(INTS, INTS)))
def test_ints(a, b):
    for f in (floordiv, mod, div, compare, bits):
        check(f, a, b)


@pytest.mark.parametrize("a,b", list(itertools.product(FLOATS, FLOATS)))
def test_floats(a, b):
    for f in (sub, floordiv, mod, div, compare):
        check(f, a, b)


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_widths(name):
    t = np.dtype(name).type
    info = np.iinfo(t)
    values = sorted({int(x) for x in (info.min, info.min + 1, -7, -1, 0, 1, 2, 7, info.max - 1, info.max)
                     if info.min <= x <= info.max})
    for a, b in itertools.product(values, values):
        check(sub, t(a), t(b))
        check(compare, t(a), t(b))
        check(bits, t(a), t(b))
        if b:
            check(floordiv, t(a), t(b))
            check(mod, t(a), t(b))


def add(a, b):
    return a + b


def mul(a, b):
    return a * b


def neg(a):
    return -a, +a, ~a, not a


def test_wraps():
    for a, b in itertools.product([np.int64(2**63 - 1), np.int64(-2**63), np.int64(5)], repeat=2):
        check(add, a, b)
        check(mul, a, b)
        check(sub, a, b)
    check(neg, np.int64(-2**63))


def power(a, b):
    return a ** b


def cube(x):
    return x ** 3


def square(x):
    return x ** 2


def inverse(x):
    return x ** -1


def test_power():
    for a, b in [(2, 10), (-3, 5), (7, 0), (0, 0), (1, 1000), (-1, 7), (2.0, 0.5), (0.5, -2.0), (2.0, 3), (3, 2.0), (0.0, -1.0),
                 (math.nan, 0.0), (-8.0, 3.0), (np.float64(2.0), 7), (np.int64(3), 4), (np.float32(2), np.float32(0.5))]:
        check(power, a, b)
    for x in (3, -2, 1.5, -0.0):
        check(cube, x)
        check(square, x)
    check(inverse, 4.0)
    check(inverse, 2)


def shifts(a, n):
    return a << n, a >> n


def test_shifts():
    for a in (0, 1, -1, 5, -100):
        for n in (0, 1, 3, 31, 40):
            check(shifts, a, n)
    for t in (np.int8, np.int32, np.uint16, np.uint64):
        for n in (0, 1, 7, 8, 16, 31, 32, 63, 64, 100):
            if n <= np.iinfo(t).max:
                check(shifts, t(5), t(n))
                check(shifts, t(np.iinfo(t).max), t(n))


def chain(a, b, c):
    return a < b < c, a < b > c, a == b == c, a <= b != c, a < b <= c < 10


def test_chains():
    for a, b, c in itertools.product((1, 2, 3), repeat=3):
        check(chain, a, b, c)
        check(chain, float(a), b, float(c))


def test_mixed_sign_compare():
    for a in (-1, 0, 5, 2**63 - 1):
        for b in (0, 5, 2**63, 2**64 - 1):
            got = (a < b, a <= b, a > b, a >= b, a == b, a != b)
            from same import compiled
            assert compiled(compare)(np.int64(a), np.uint64(b)) == got
            swapped = (b < a, b <= a, b > a, b >= a, b == a, b != a)
            assert compiled(compare)(np.uint64(b), np.int64(a)) == swapped


def test_zero_division_numpy_model():
    from same import compiled
    f = compiled(div, error_model="numpy")
    assert f(1.0, 0.0) == math.inf and f(-1.0, 0.0) == -math.inf and math.isnan(f(0.0, 0.0))
    g = compiled(floordiv, error_model="numpy")
    assert g(7, 0) == 0
    assert compiled(mod, error_model="numpy")(7, 0) == 0


def complex_ops(a, b):
    return a + b, a - b, a * b, -a, a == b, a != b, a.real, b.imag


def complex_div(a, b):
    return a / b


def test_complex():
    values = [0j, 1 + 2j, -3.5 + 0.25j, complex(math.inf, 1), complex(1, math.nan)]
    for a, b in itertools.product(values, repeat=2):
        check(complex_ops, a, b)
    for a, b in [(1 + 2j, 3 - 1j), (1j, 2 + 0j), (5 + 5j, 0j), (1e300 + 1e300j, 1e300 + 1e-300j)]:
        check(complex_div, a, b)


def logic(a, b):
    return a and b, a or b, not a, a and b or 3, (a or b) and 7


def test_logic():
    for a, b in itertools.product((0, 4, 5), repeat=2):
        check(logic, a, b)
    for a, b in itertools.product((0.0, -0.0, math.nan, 2.5), repeat=2):
        check(logic, a, b)


def boolean(a, b):
    return a + b, a - b, a * b, a & b, a | b, a ^ b, -a, a == b, a < b


def test_bool():
    for a, b in itertools.product((True, False), repeat=2):
        check(boolean, a, b)


def test_numba_integers():
    """What Numba gives where no integer fits: measured with Numba 0.56."""
    power, divide = compiled(lambda x, y: x ** y, semantics="numba"), compiled(lambda x, y: (x // y, x % y), semantics="numba")
    for x, y, want in ((3, -2, 0), (1, -1, 1), (-1, -3, -1), (-1, -2, 1), (-3, -1, 0), (2, -1, 0), (2, 10, 1024)):
        assert power(x, y) == want
    assert compiled(lambda x: x ** -2, semantics="numba")(-1) == 1
    with pytest.raises(ZeroDivisionError):
        power(0, -1)
    assert divide(-2**63, -1) == (0, 0) and divide(-2**63 + 1, -1) == (2**63 - 1, 0)
    assert compiled(lambda x: x // -1, semantics="numba")(-2**63) == 0
