# SPDX-License-Identifier: Apache-2.0
"""All of math and cmath against CPython: edge values, and in checked mode the exceptions."""
import cmath
import itertools
import linecache
import math

import numpy as np
import pytest

from kilnjit import njit
from same import check, compiled, equal

REALS = [0.0, -0.0, 0.3, -0.3, 1.0, -1.0, 0.5, 2.5, -2.5, 3.0, -3.0, 20.0, 171.7, -171.5, 710.0, -745.5, 1e10, 1e300, -1e300, 5e-324, 1e-310, 2.0**53,
         math.inf, -math.inf, math.nan]
ONE = ("sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p fabs cbrt erf erfc gamma lgamma degrees radians "
       "ulp").split()
TWO = "atan2 pow hypot fmod remainder copysign nextafter log".split()
COMPLEX = "sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh phase polar isnan isinf isfinite".split()
PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, math.inf, -math.inf, math.nan, 1e300, -1e300]


def function(module, name, arguments, scope=globals()):
    text = f"def {name}_({arguments}):\n    return {module}.{name}({arguments})\n"
    file = f"<{module}.{name}({arguments})>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"math": math, "cmath": cmath}
    exec(compile(text, file, "exec"), space)
    return space[f"{name}_"]


def outcome(f, *arguments):
    try:
        return f(*arguments)
    except (ValueError, OverflowError, ZeroDivisionError) as e:
        return type(e).__name__, e.args


def near(a, b):
    """Equal to a few units in the last place: the C library is the system's own in both, apart from CPython's own functions."""
    if isinstance(a, tuple) or isinstance(b, tuple):
        return isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) and all(near(x, y) for x, y in zip(a, b))
    if isinstance(a, str) or isinstance(b, str) or isinstance(a, bool):
        return a == b
    if isinstance(a, complex) or isinstance(b, complex):
        return near(a.real, b.real) and near(a.imag, b.imag)
    return equal(a, b) or (a == a and b == b and abs(a - b) <= 4e-15 * max(abs(a), abs(b)) and math.isfinite(a - b))


@pytest.mark.parametrize("name", ONE)
def test_one_argument(name):
    f = function("math", name, "x")
    checked = njit(checked=True)(f)
    for x in REALS:
        want = outcome(f, x)
        got = outcome(checked, x)
        if name == "lgamma" and not isinstance(want, tuple) and abs(want - got) < 1e-14:
            continue  # CPython's own is less exact near its zeros
        assert near(want, got), f"math.{name}({x!r}): checked {got!r}, Python {want!r}"
        if not isinstance(want, tuple):
            got = compiled(f)(x)
            assert near(want, got), f"math.{name}({x!r}): compiled {got!r}, Python {want!r}"


@pytest.mark.parametrize("name", TWO)
def test_two_arguments(name):
    f = function("math", name, "x, y")
    checked = njit(checked=True)(f)
    for x, y in itertools.product(REALS, REALS):
        want = outcome(f, x, y)
        got = outcome(checked, x, y)
        assert near(want, got), f"math.{name}({x!r}, {y!r}): checked {got!r}, Python {want!r}"
        if not isinstance(want, tuple):
            got = compiled(f)(x, y)
            assert near(want, got), f"math.{name}({x!r}, {y!r}): compiled {got!r}, Python {want!r}"


@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name):
    """The special values of CPython's tables, and its exceptions."""
    f = function("cmath", name, "z")
    for x, y in itertools.product(PARTS, PARTS):
        want, got = outcome(f, complex(x, y)), outcome(compiled(f), complex(x, y))
        assert near(want, got), f"cmath.{name}({complex(x, y)!r}): compiled {got!r}, Python {want!r}"


def more(z, w):
    return cmath.isclose(z, w), cmath.isclose(z, w, rel_tol=0.5), cmath.isclose(z, w, abs_tol=10.0), cmath.log(z, w)


def test_complex_pairs():
    for z, w in itertools.product((1 + 1j, 2 - 3j, 0.5j, complex(math.inf, 1)), (1 + 1j, 2.000000001 - 3j, 7 + 0j)):
        want, got = more(z, w), compiled(more)(z, w)
        assert near(want, got), (z, w, want, got)
    check(lambda r, p: cmath.rect(r, p), 2.0, 0.5)
    check(lambda: (cmath.inf, cmath.infj, cmath.pi, cmath.e, cmath.tau))
    check(lambda z, n: z ** n, 0j, -1)
    check(lambda z, n: z ** n, 0j, 2)
    check(lambda z, n: z ** n, 0j, 1j)
    check(lambda z, n: z ** n, 0j, 0j)


def whole(n):
    return math.floor(n), math.ceil(n), math.trunc(n), math.isnan(n), math.isinf(n), math.isfinite(n)


def split(x):
    return math.frexp(x), math.modf(x), math.ldexp(x, 3), math.ldexp(x, -1080)


def test_parts():
    for x in REALS:
        check(split, x)
        if math.isfinite(x) and abs(x) < 2**63:
            check(whole, x)
    for x, e in ((1.0, 5000), (0.0, 5000), (1.0, -5000), (math.inf, 3), (1.0, 1023), (1.0, 1024), (-1.0, 2**40)):
        check(lambda x, e: math.ldexp(x, e), x, e, checked=True)


def test_factorials():
    for n in (-1, 0, 1, 5, 20):
        check(lambda n: math.factorial(n), n)
    for n, k in itertools.product((-1, 0, 1, 5, 10, 30, 61, 66), (-1, 0, 1, 2, 5, 15, 30, 33)):
        want = outcome(math.comb, n, k)
        if isinstance(want, tuple) or want < 2**63:
            check(lambda n, k: math.comb(n, k), n, k)
        want = outcome(math.perm, n, k)
        if isinstance(want, tuple) or want < 2**63:
            check(lambda n, k: math.perm(n, k), n, k)
    check(lambda n: math.perm(n), 6)
    for f, n in ((lambda n: math.factorial(n), 21), (lambda n: math.perm(n, 20), 60), (lambda n: math.comb(n, 34), 68)):
        with pytest.raises(OverflowError):
            compiled(f)(n)


def divisors(a, b, c):
    return math.gcd(a, b), math.lcm(a, b), math.gcd(a, b, c), math.lcm(a, b, c), math.gcd(a), math.lcm(a), math.gcd(), math.lcm()


def test_divisors():
    for a, b, c in ((12, 18, 10), (-12, 18, 0), (0, 0, 0), (7, 0, 3), (2**40, 6, 9)):
        check(divisors, a, b, c)
    big = np.uint64(2**63 + 2**10)
    for f in (lambda a, b: math.gcd(a, b), lambda a, b: np.gcd(a, b)):
        assert compiled(f)(big, np.uint64(2**9 * 3)) == math.gcd(2**63 + 2**10, 2**9 * 3)
    assert compiled(lambda a, b: np.lcm(a, b))(np.uint64(2**63), np.uint64(2**62)) == 2**63
    for n in (0, 1, 2, 3, 4, 10**10, 2**62, 2**63 - 1, -1):
        check(lambda n: math.isqrt(n), n)
    assert compiled(lambda n: math.isqrt(n))(np.uint64(2**64 - 1)) == 2**32 - 1


def sums(x):
    return math.fsum(x), math.prod(x), math.prod(x, start=2)


def test_sums():
    rng = np.random.default_rng(7)
    for x in ([0.1] * 10, [1e100, 1.0, -1e100], [], [1e16, 1.0, 1e-16], [1e308, 1e308, -1e308], [math.inf, 1.0], [math.inf, -math.inf], [math.nan, 1.0],
              list(rng.normal(size=200) * 10.0 ** rng.integers(-20, 20, size=200)), [2.0**53, 1.0, 2.0**-60], [-0.0], [1.0, 2.0**-53, 2.0**-106]):
        check(sums, x or [0.0][:0] or [5.0])
    for x in ([1e308, 1e308], ):
        check(lambda x: math.fsum(x), x)
    check(lambda a: math.fsum(a), np.array([0.1] * 10))
    check(lambda a: (math.prod(a), math.prod((1, 2.5))), [1, 2, 3])


def distances(p, q):
    return math.dist(p, q), math.hypot(*p), math.hypot(p[0], q[0], q[1])


def test_distances():
    rng = np.random.default_rng(8)
    for _ in range(300):
        p, q = (tuple(float(x) for x in rng.normal(size=3) * 10.0 ** rng.integers(-3, 3)) for _ in range(2))
        check(distances, p, q)
    for p, q in (((1e200, 1e200, 0.0), (-1e200, 0.0, 1.0)), ((math.inf, math.nan, 1.0), (0.0, 0.0, 0.0)), ((3e-320, 4e-320, 0.0), (0.0, 0.0, 0.0)),
                 ((math.nan, 1.0, 0.0), (0.0, 0.0, 0.0))):
        check(distances, p, q)
    check(lambda p, q: math.dist(p, q), (1, 2), (3, 5))
    check(lambda p, q: math.dist(p, q), [1.0, 2.0], [3.0, 5.5])
    check(lambda p, q: math.dist(p, q), [1.0, 2.0], [3.0])
    check(lambda: math.hypot())
    check(lambda x: math.hypot(x), -3.0)


def close(a, b):
    return math.isclose(a, b), math.isclose(a, b, rel_tol=0.1), math.isclose(a, b, abs_tol=0.5, rel_tol=0.0)


def test_isclose():
    for a, b in itertools.product((0.0, 1.0, 1.0000000001, 1.2, math.inf, -math.inf, math.nan), repeat=2):
        check(close, a, b)
    check(lambda a: math.isclose(a, a, rel_tol=-1.0), 1.0)
    check(lambda: (math.pi, math.e, math.tau, math.inf))
