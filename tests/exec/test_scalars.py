# SPDX-License-Identifier: Apache-2.0
"""Casts, math, cmath and NumPy's scalar functions."""
import cmath
import math

import numpy as np

from same import check, compiled

REALS = [0.0, -0.0, 0.3, 1.0, 2.5, 3.5, -2.5, 7.25, 1e10, -1e-5, math.inf, -math.inf, math.nan]


def casts(x):
    return np.int8(x), np.uint8(x), np.int16(x), np.uint16(x), np.int32(x), np.uint32(x), np.int64(x), np.float32(x), np.float64(x)


def test_casts():
    for x in (100.7, -3.2, 0.0, 127.9):
        check(casts, np.float64(x))
    for x in (0, 100, 127):
        check(casts, np.int64(x))
        check(casts, x)


def wide(x):
    return np.int64(x), np.int32(x)


def test_casts_out_of_range():
    """What NumPy gives on x86-64 (docs/abi.md)."""
    from same import compiled
    f = compiled(wide)
    for x in (1e300, -1e300, math.inf, math.nan):
        assert f(np.float64(x)) == (-2**63, -2**31)


def python(x):
    return int(x), float(x), bool(x), round(x), abs(x), math.floor(x), math.ceil(x), math.trunc(x)


def test_python_casts():
    for x in (0.0, -0.0, 2.5, 3.5, -2.5, -7.9, 1e15):
        check(python, x)
    for x in (0, 5, -5):
        check(python, x)


def elementary(x):
    return (math.sqrt(x), math.sin(x), math.cos(x), math.exp(x), math.log(x), math.log2(x), math.log10(x), math.log1p(x),
            math.atan(x), math.fabs(x), math.hypot(x, 2.0), math.atan2(x, 2.0), math.copysign(1.0, x), math.fmod(x, 0.75),
            math.degrees(x), math.radians(x), math.tanh(x), math.asinh(x), math.expm1(x), math.erf(x), math.cbrt(x))


def parts(x):
    return math.frexp(x), math.modf(x), math.ldexp(x, 3), math.isnan(x), math.isinf(x), math.isfinite(x)


def whole(a, b):
    return math.gcd(a, b), min(a, b), max(a, b), min((a, b, 3)), abs(a), divmod(a, 7)


def test_math():
    for x in (0.3, 1.0, 2.5, 7.25, 1e10, 100.0):
        if x < 700:
            check(elementary, x, close=True)
    for x in REALS:
        check(parts, x)
    for a, b in ((12, 18), (-12, 18), (0, 5), (7, 7), (2**40, 6)):
        check(whole, a, b)


def minmax(a, b):
    return min(a, b), max(a, b), np.minimum(a, b), np.maximum(a, b), np.fmin(a, b), np.fmax(a, b)


def test_minimum_and_maximum():
    for a in (1.5, -2.0, math.nan, math.inf):
        for b in (1.5, 0.0, math.nan):
            check(minmax, np.float64(a), np.float64(b))


def numpys(x):
    return np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.sign(x), np.fabs(x), np.isnan(x), np.isinf(x), np.signbit(x), np.square(x)


def test_numpy():
    for x in REALS:
        check(numpys, np.float64(x))
        check(numpys, np.float32(x))


def complexes(z):
    return abs(z), z.conjugate(), z.real, z.imag, cmath.phase(z)


def complex_math(z):
    return cmath.sqrt(z), cmath.exp(z), cmath.log(z), cmath.sin(z), cmath.cos(z), cmath.tanh(z)


def test_complex():
    for z in (1 + 2j, -1.5 + 0.25j, 2 - 3j, 0.5 + 0j):
        check(complexes, z)
        check(complex_math, z, close=True)


def constants():
    return math.pi, math.e, math.tau, math.inf, np.pi, np.e, np.inf


def test_constants():
    check(constants)


def weak(a):
    return a + 1, a * 2.5, a / 2, 1 + a, a // 2


def test_weak_scalars():
    """float32 with Python numbers stays float32; so do the other widths with integers."""
    from same import compiled
    x = compiled(weak)(np.float32(1.5))
    assert all(type(v) is np.float32 for v in x) and x == (2.5, 3.75, 0.75, 2.5, 0.0)


def rounded(i, n):
    return np.around(i, n), round(i, n)


def rect(r, phi):
    return cmath.rect(r, phi)


def test_rounding_integers():
    for i in (-3, 15, 25, -25, 1234, 7, 0):
        for n in (-3, -2, -1, 0, 1, 2):
            check(rounded, i, n)
    assert compiled(lambda i, n: np.around(i, n))(np.int32(-3), -1) == 0


def test_rect_of_nothing():
    for r in (0.0, -0.0, 2.0):
        for phi in (0.0, 1.0, -3.0) + ((math.inf, -math.inf) if r == 0 else ()):
            check(rect, r, phi)
