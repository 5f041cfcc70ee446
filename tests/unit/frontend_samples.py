# SPDX-License-Identifier: Apache-2.0
"""Functions for test_frontend.py. A file of their own: pytest rewrites the asserts of test files."""
import cmath
import enum
import math
import operator
from collections import namedtuple

import numpy as np
import numpy.linalg as la
from math import sqrt as root

SCALE = 3
TABLE = np.arange(4.0)
PAIR = (1, 2.5, True, None, "text")
SMALL = np.float32(1.5)
INT8 = np.dtype("int8")
Point = namedtuple("Point", "x y")
ORIGIN = Point(0, 1.5)


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Settings:
    limit = 10

    @staticmethod
    def twice(x):
        return x * 2


class Broken(Exception):
    pass


def helper(x, k=2):
    return x * k


def ping(n):
    return 0 if n == 0 else pong(n - 1)


def pong(n):
    return 1 if n == 0 else ping(n - 1)


def everything(a, b, /, c, *rest, d=1, **unused):
    """Every statement and expression that KIR has."""
    global SCALE
    x: int = 1
    y: float
    x = y = a
    x += 1; x -= 1; x *= 2; x /= 2; x //= 2; x %= 2; x **= 2; x <<= 1; x >>= 1; x &= 1; x |= 1; x ^= 1; x @= x  # noqa: E702
    (p, [q, *r]), s = b
    a[0], a[1:2, ..., ::-1], a.flag = 1, 2, 3
    del x, (p, q), a[0]
    z = -y + +y - ~y if not y else (y and a or b)
    w = a is None is not b < b <= c != d in rest not in (1,) > 2 >= 3 == 4
    t = [i * j for i in a if i if i > 1 for j, k in b]
    t = {i for i in a}, {i: j for i, j in a}, sum(i for i in a), [], {}, {1, 2}, {1: 2}, (), (1,)
    u = f"{a} {b!r:>10} {c:{d}} end"
    v = (n := len(a)) + n
    for i in range(3):
        if i == 1:
            continue
        elif i == 2:
            break
        else:
            pass
    else:
        v = 1
    while v:
        v -= 1
    else:
        v = 2
    try:
        raise ValueError("x") from None
    except (KeyError, Broken) as e:
        raise
    except ValueError:
        pass
    except:  # noqa: E722
        raise RuntimeError
    else:
        v = 3
    finally:
        v = 4
    try:
        v = 5
    finally:
        pass
    with a as m, b:
        pass
    assert v, "message"
    assert v

    def inner(g, h=2):
        nonlocal v
        v = g + h + a + SCALE
        return lambda o: o + g + v

    call = inner(*rest, 1, h=2)
    match a:
        case 0 | 1:
            return 1
        case None:
            return 2
        case "s" if b:
            return 3
        case (1, (n, _), 5):
            return n
        case [_, *_, last]:
            return last
        case other if other:
            return other
        case _:
            pass
    import math as alias
    from numpy import pi
    return alias.sin(pi), z, w, t, u, s, r, m, call, e


def generator(n):
    for i in range(n):
        received = yield i
    yield from range(received)
    yield


def library(x):
    return (np.sin(x), math.sqrt(x), root(x), cmath.exp(x), la.norm(x), np.linalg.norm(x), np.abs(x), np.absolute(x), len(x),
            operator.add(x, x), np.add.reduce(x), np.random.rand(), int(x), ValueError, np.zeros(3, np.float32), np.int_, range)


def constants(x):
    return (SCALE, PAIR, SMALL, ORIGIN, Color.GREEN, Point, Color, math.pi, np.inf, np.float32, Settings.limit, Settings.twice(x), Broken,
            TABLE[x], -9223372036854775808, 18446744073709551615, 1 << 70, 0xFFFFFFFFFFFFFFFFFFFF, 1j, b"by", ..., INT8)


class Klass:
    def method(self, x):
        return x + SCALE


def make(k):
    def f(x):
        return x + k
    return f


def make_pair():
    return lambda x: x + 1, lambda x: x + 2  # two on one line


def multi(f):
    return f


wrapped = multi(
    lambda x:
    x * 3
)


@multi
@multi
def decorated(
    x,
    y="""
not the end
""",
):
    z = (
x
    )
    return z


    # a comment inside


def text_inside(x):
    s = """
def text_inside(x): return 1
"""
    return s, x
