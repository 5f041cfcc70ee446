# SPDX-License-Identifier: Apache-2.0
"""Named tuples, enums, and types, dtypes and compiled functions as arguments, against Python."""
from collections import namedtuple
from enum import Enum, Flag, IntEnum, IntFlag
from typing import NamedTuple

import numpy as np
import pytest
from same import check

from kilnjit import errors, njit, typeof, types

Point = namedtuple("Point", "x y")


class Segment(NamedTuple):
    a: Point
    b: Point
    w: float = 1.5


class Sized(namedtuple("Sized", "n")):
    """A class whose own __new__ takes something else."""

    def __new__(cls, text):
        return super().__new__(cls, len(text))


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3
    ROUGE = 1  # an alias


class Mixed(Enum):
    ONE = 1
    TEXT = "two"


class Real(Enum):
    HALF = 0.5
    TWO = 2


class Shape(IntEnum):
    LINE = 1
    DISC = 20
    NONE = -3


class Mode(IntFlag):
    R = 1
    W = 2


def exactly(function, *arguments, **options):
    """As check, and the results are of the same classes."""
    want, got = function(*arguments), njit(**options)(function)(*arguments)
    assert repr(want) == repr(got) and type(want) is type(got), (want, got)


# -- named tuples


def add(p):
    return p.x + p.y


def swapped(p):
    return Point(p.y, p.x)


def built(x, y):
    return Segment(Point(x, y), Point(y=x, x=y), 2.0), Segment(b=Point(1, 2), a=Point(3, 4))


def nested(s):
    return s.a.x * s.w + s.b.y, s[0][1], s.b[-1]


def unpacked(p):
    x, y = p
    return x - y, p == (x, y), p == Point(x, y), p != Point(y, x), p < (x, y + 1), len(p), p[1:], p + (x,), x in p


def summed(p):
    t = 0.0
    for v in p:
        t += v
    for i, v in enumerate(p):
        t += i * v
    return t


def test_named_tuples():
    check(add, Point(np.float32(2), np.int8(-3)))
    for p in (Point(1, 2.5), Point(-1.5, 2)):
        exactly(add, p)
        exactly(swapped, p)
        exactly(unpacked, p)
        exactly(summed, p)
    exactly(built, 1, 2)
    exactly(built, 1.5, np.int16(2))
    exactly(nested, Segment(Point(1, 2), Point(3, 4.5), 2.5))


def test_named_tuples_of_arrays():
    def scale(p, k):
        for i in range(len(p.x)):
            p.x[i] *= k
            p.y[i] += p.x[i]
        return p

    p = Point(np.arange(4.0), np.ones(4))
    got = njit(scale)(p, 2.0)
    assert type(got) is Point and got.x is p.x and got.y is p.y
    assert np.array_equal(p.y, [1, 3, 5, 7])


def test_own_new_is_not_called():
    def same(s):
        return s

    got = njit(same)(Sized("abc"))
    assert type(got) is Sized and got.n == 3


def test_classes_that_look_the_same():
    """Dispatch is by class: the result is of the class that came in."""
    other = namedtuple("Point", "x y")

    @njit
    def same(p):
        return p

    @njit
    def both(p, q):
        return q, p

    assert type(same(Point(1, 2))) is Point and type(same(other(1, 2))) is other and type(same((1, 2))) is tuple
    q, p = both(Point(1, 2), other(3, 4))
    assert type(p) is Point and type(q) is other
    assert len(same.signatures) == 3


ORIGIN = Point(0, 2.5)
DEEP = (Segment(ORIGIN, Point(3, 4)), (Color.GREEN, (Shape.DISC, None, "x")), 1 + 2j)


def constants(x):
    return ORIGIN.y + x, DEEP[0].b.x, DEEP[1][0], DEEP[1][1][0], DEEP[2], ORIGIN, DEEP[0].w


def test_constants():
    exactly(constants, 1)
    exactly(constants, 1.5)


def either(p, c):
    if c > 0:
        q = Point(p.x, 1)
    else:
        q = Point(0.5, p.y)
    return q


def test_joined():
    got = njit(either)(Point(1, 2), 1)
    assert type(got) is Point and got == (1.0, 1)
    assert njit(either)(Point(1, 2), -1) == (0.5, 2)


def test_signatures():
    """A Type made by typeof names the class."""
    @njit(types.float64(typeof(Point(1.0, 2.0))))
    def eager(p):
        return p.x * p.y

    assert eager(Point(3.0, 2.0)) == 6
    assert eager(Point(3, 2)) == 6  # converted
    with pytest.raises(TypeError):
        eager(namedtuple("Point", "x y")(1.0, 2.0))


def test_asked_again():
    """What names the classes works again: recompile, inspect."""
    def both(p, c):
        return p, c

    f = njit(both)
    assert f(Point(1, 2), Color.RED) == (Point(1, 2), Color.RED) and f(ORIGIN, Shape.DISC)[1] is Shape.DISC
    texts = f.inspect_llvm()
    assert len(texts) == 2 and all("kiln_entry" in t for t in texts.values())
    f.recompile()
    assert len(f.signatures) == 2 and f(Point(1, 2), Color.BLUE)[1] is Color.BLUE
    assert type(f(Point(1, 2), Color.BLUE)[0]) is Point and len(f.signatures) == 2


def test_types_of_classes():
    pair = types.NamedTuple((types.float64, types.float64), Point)
    assert pair == types.NamedUniTuple(types.float64, 2, Point) == typeof(Point(1.0, 2.0), "numba")

    @njit(types.float64(pair, typeof(Color.RED)))
    def eager(p, c):
        return p.x if c is Color.RED else p.y

    assert eager(Point(1.0, 2.0), Color.GREEN) == 2


def test_mistakes():
    def lacks(p):
        return p.z

    def few(x):
        return Point(x)

    def many(x):
        return Point(x, x, x)

    def other(x):
        return Point(x, z=x)

    def twice(x):
        return Point(x, x=x)

    with pytest.raises(errors.KilnError, match="no attribute 'z'"):
        njit(lacks)(Point(1, 2))
    for function, message in ((few, "field 'y' is missing"), (many, "too many arguments"), (other, "no field 'z'"),
                              (twice, "given twice")):
        with pytest.raises(errors.KilnError, match=message):
            njit(function)(1)


def defaults(x):
    return Segment(Point(x, x), Point(1, 1)).w


def test_defaults():
    exactly(defaults, 2)


# -- enums


def compared(c):
    return c == Color.RED, c is Color.BLUE, c != Color.GREEN, c in (Color.RED, Color.BLUE), c == 1, c is None, c


def read(c):
    return c.value, c


def chosen(x):
    c = Color.RED
    if x > 0:
        c = Color.BLUE
    return c, Color.ROUGE, Color["GREEN"], Color.GREEN.value


def branch(c):
    if c is Color.RED:
        return 10
    elif c == Color.GREEN:
        return 20
    return 30


def test_enums():
    for c in Color:
        exactly(compared, c)
        exactly(read, c)
        exactly(branch, c)
    for c in Real:
        assert njit(read)(c) == (float(c.value), c)
    for x in (-1, 1):
        exactly(chosen, x)
    assert njit(lambda c: c)(Mixed.TEXT) is Mixed.TEXT
    assert njit(lambda c, d: c == d)(Mixed.TEXT, Color.RED) is False


def test_enum_mistakes():
    with pytest.raises(errors.KilnError, match="values of different types"):
        njit(lambda c: c.value)(Mixed.ONE)
    with pytest.raises(errors.KilnError, match="can't be called"):
        njit(lambda x: Color(x))(1)
    with pytest.raises(errors.KilnError, match="no attribute 'shade'"):
        njit(lambda x: x.shade)(Color.RED)
    with pytest.raises(errors.KilnError, match="is not defined between"):
        njit(lambda x: x + 1)(Color.RED)


def numbers(s):
    return s + 1, s * 2.5, s == 20, s is Shape.DISC, s > Shape.LINE, -s, s.value, abs(s), bool(s), s


def plain(x):
    return Shape.LINE + x, Shape.DISC // x, x in (Shape.LINE, 7)


def item(a, s):
    return a[s], a[Shape.LINE], (1, 2, 3)[Shape.LINE], a[Shape.LINE:s].sum()


def test_int_enums():
    for s in Shape:
        exactly(numbers, s)
    for x in (1, 2, 7):
        exactly(plain, x)
    check(item, np.arange(30.0), Shape.DISC)
    check(lambda m: (m | 1, m & Mode.W, bool(m & Mode.R), m), Mode.W)
    got = njit(lambda m: m)(Mode.R | Mode.W)
    assert got == 3 and type(got) is Mode
    exactly(numbers, Shape.LINE)
    assert njit(semantics="numba")(numbers)(Shape.DISC) == numbers(Shape.DISC)


def test_optional_enum():
    def maybe(c, x):
        r = None
        if x > 0:
            r = c
        return r

    assert njit(maybe)(Color.RED, 1) is Color.RED and njit(maybe)(Color.RED, -1) is None
    assert njit(maybe)(Shape.DISC, 1) is Shape.DISC and njit(maybe)(Shape.DISC, -1) is None


def test_flags_that_are_no_members():
    class Bits(Flag):
        A = 1
        B = 2

    same = njit(lambda b: b)
    assert same(Bits.A) is Bits.A
    with pytest.raises(ValueError, match="no member"):
        same(Bits.A | Bits.B)


# -- types and functions as arguments


def test_types_as_arguments():
    def zeros(dtype, n):
        return np.zeros(n, dtype)

    def cast(t, x):
        return t(x)

    for t in (np.float32, np.int16, np.dtype("i4"), np.dtype("c16"), np.dtype(bool)):
        check(zeros, t, 3)
    for t in (float, int, np.float32, np.uint8):
        exactly(cast, t, 3)
        check(cast, t, 3.75)


def test_functions_as_arguments():
    @njit
    def square(x):
        return x * x

    @njit
    def half(x):
        return x / 2

    @njit
    def twice(f, x):
        return f(f(x))

    @njit
    def table(fs, x):
        return fs[0](x) + fs[1](x)

    assert (twice(square, 3), twice(half, 3), twice(square, 1.5)) == (81, 0.75, 1.5 ** 4)
    assert table((square, half), 4) == 18 and table((half, square), 4) == 18
    assert len(twice.signatures) == 3
    assert twice(square, 2) == 16
