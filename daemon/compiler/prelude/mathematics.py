# SPDX-License-Identifier: Apache-2.0
"""Functions of math and cmath beyond those of the C library. Meaning: https://docs.python.org/3/library/math.html and
cmath.html. What does not fit 64 bits is an OverflowError."""
import cmath
import math

import numpy as np
from intrinsics import list_get, list_of, list_push, list_resize, list_set, static_error

FLAGS = 0
LARGEST = 9223372036854775807


def whole(x, text):
    if not isinstance(x, (int, np.integer)):
        static_error("integers are needed")
    if x < 0:
        raise ValueError(text)
    return int(x)


def times(a, b):
    """a * b of integers that are not negative."""
    if b != 0 and a > LARGEST // b:
        raise OverflowError("the result does not fit 64 bits")
    return a * b


def factorial(x):
    """math.factorial"""
    n = whole(x, "factorial() not defined for negative values")
    if n > 20:
        raise OverflowError("the result does not fit 64 bits")
    total = 1
    for i in range(2, n + 1):
        total *= i
    return total


def comb(n, k):
    """math.comb"""
    n = whole(n, "n must be a non-negative integer")
    k = whole(k, "k must be a non-negative integer")
    if k > n:
        return 0
    k = min(k, n - k)
    total = 1
    for i in range(1, k + 1):  # total stays whole: divide by what it shares with i first
        g = math.gcd(total, i)
        total = times(total // g, (n - k + i) // (i // g))
    return total


def perm(n, k=None):
    """math.perm"""
    if k is None:
        return factorial(n)
    n = whole(n, "n must be a non-negative integer")
    k = whole(k, "k must be a non-negative integer")
    if k > n:
        return 0
    total = 1
    for i in range(n - k + 1, n + 1):
        total = times(total, i)
    return total


def gcd_of(*integers):
    """math.gcd of any number of arguments"""
    g = 0
    for x in integers:
        g = math.gcd(g, x)
    return g


def lcm_of(*integers):
    """math.lcm of any number of arguments"""
    m = 1
    for x in integers:
        m = math.lcm(m, x)
    return m


def prod(iterable, *, start=1):
    """math.prod"""
    total = start
    for x in iterable:
        total = total * x
    return total


def norm_of(values):
    """The root of the sum of squares, without overflow on the way and with the rounding errors carried along."""
    top = 0.0
    nan = False
    for x in values:
        v = abs(float(x))
        if v != v:
            nan = True
        elif v > top:
            top = v
    if top - top != 0:
        return math.inf
    if nan:
        return math.nan
    if top == 0 or len(values) <= 1:
        return top
    m, e = math.frexp(top)
    if e < -1023:
        return subnormal_norm(values)
    total, rest = 1.0, 0.0
    scale = math.ldexp(1.0, -e)
    for x in values:
        v = abs(float(x)) * scale
        total, rest = add_square(total, rest, v)
    root = math.sqrt(total - 1.0 + rest)
    total, rest = subtract_square(total, rest, root)
    h = total - 1.0 + rest
    root += h / (2.0 * root)
    return root / scale


def subnormal_norm(values):
    total = 0.0
    for x in values:
        v = abs(float(x)) / 2.2250738585072014e-308
        total += v * v
    return math.sqrt(total) * 2.2250738585072014e-308


def halves(x):
    t = x * 134217729.0
    high = t - (t - x)
    return high, x - high


def add_square(total, rest, v):
    """total + rest + v * v, the rounding errors in rest."""
    high, low = halves(v)
    for part in (high * high, 2.0 * high * low, low * low):
        s = total + part
        rest += total - s + part
        total = s
    return total, rest


def subtract_square(total, rest, v):
    high, low = halves(v)
    for part in (-high * high, -2.0 * high * low, -low * low):
        s = total + part
        rest += total - s + part
        total = s
    return total, rest


def hypot_of(*coordinates):
    """math.hypot of any number of arguments"""
    if len(coordinates) == 0:
        return 0.0
    return norm_of(coordinates)


def dist(p, q):
    """math.dist"""
    n = len(p)
    if n != len(q):
        raise ValueError("both points must have the same number of dimensions")
    d = list_of(0.0)
    for a, b in zip(p, q):
        list_push(d, float(a) - float(b))
    return norm_of(d)


def fsum(iterable):
    """math.fsum: the sum of floats, rounded once. `parts` holds numbers that do not overlap, in growing order."""
    parts = list_of(0.0)
    special, infinities = 0.0, 0.0
    for item in iterable:
        x = float(item)
        first = x
        n = 0
        for i in range(len(parts)):
            y = list_get(parts, i)
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0:
                list_set(parts, n, low)
                n += 1
            x = high
        list_resize(parts, n)
        if x != 0:
            if x - x != 0:
                if first - first == 0:
                    raise OverflowError("intermediate overflow in fsum")
                if first == first:
                    infinities += first
                special += first
                list_resize(parts, 0)
            else:
                list_push(parts, x)
    if special != 0:
        if infinities != infinities:
            raise ValueError("-inf + inf in fsum")
        return special
    n = len(parts)
    high = 0.0
    if n > 0:
        n -= 1
        high = list_get(parts, n)
        low = 0.0
        while n > 0:
            x = high
            n -= 1
            y = list_get(parts, n)
            high = x + y
            low = y - (high - x)
            if low != 0:
                break
        if n > 0 and (low < 0 and list_get(parts, n - 1) < 0 or low > 0 and list_get(parts, n - 1) > 0):
            y = low * 2.0  # half-way cases go to even by what is left
            x = high + y
            if y == x - high:
                high = x
    return high


def isclose(a, b, *, rel_tol=1e-9, abs_tol=0.0):
    """math.isclose, cmath.isclose"""
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if isinf(a) or isinf(b):
        return False
    d = abs(b - a)
    return d <= rel_tol * abs(b) or d <= rel_tol * abs(a) or d <= abs_tol


def isinf(x):
    if isinstance(x, (complex, np.complexfloating)):
        return math.isinf(x.real) or math.isinf(x.imag)
    return math.isinf(x)


def ulp(x):
    """math.ulp"""
    v = abs(float(x))
    if v != v or v - v != 0:
        return v
    up = math.nextafter(v, math.inf)
    if up - up != 0:
        return v - math.nextafter(v, 0.0)
    return up - v


def complex_log(z, base):
    """cmath.log with a base"""
    return cmath.log(z) / cmath.log(base)


FUNCTIONS = {
    "math.factorial": factorial, "math.comb": comb, "math.perm": perm, "math.prod": prod, "math.dist": dist, "math.fsum": fsum,
    "math.isclose": isclose, "cmath.isclose": isclose, "math.ulp": ulp, "kiln.gcd_of": gcd_of, "kiln.lcm_of": lcm_of,
    "kiln.hypot_of": hypot_of, "kiln.complex_log": complex_log,
}
