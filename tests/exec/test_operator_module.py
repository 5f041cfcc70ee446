# SPDX-License-Identifier: Apache-2.0
"""The module operator, functools.partial, and builtins that take functions or several arguments."""
import math
import operator
from collections import namedtuple
from functools import partial

import numpy as np
import pytest

from kilnjit.errors import KilnError
from same import check, compiled

NUMBERS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "le", "eq", "ne", "gt", "ge"]
INTEGERS = ["and_", "or_", "xor"]
INPLACE = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod"]


def _of(name, source="operator.{0}(a, b)"):
    """A function that calls operator.NAME, with a text that can be found."""
    import linecache
    text = f"def call_{name}(a, b):\n    return {source.format(name)}\n"
    file = f"<operator {name} {source}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"operator": operator, "apply": apply}
    exec(compile(text, file, "exec"), scope)
    return scope[f"call_{name}"]


def apply(f, a, b):
    return f(a, b)


@pytest.mark.parametrize("name", NUMBERS + INPLACE)
def test_of_numbers(name):
    for f in (_of(name), _of(name, "apply(operator.{0}, a, b)")):
        for a, b in ((7, 2), (-7, 2), (7, -2), (0, 5), (5, 0), (2.5, -0.5), (1.0, 0.0), (3, 1.5), (2**60, 3)):
            if name in ("truediv", "itruediv") and abs(a) > 2**53:
                continue
            check(f, a, b)
        check(f, np.float32(1.5), np.float32(0.25))
        check(f, np.int32(-7), np.int32(2))


@pytest.mark.parametrize("name", INTEGERS + ["lshift", "rshift", "iand", "ior", "ixor", "ilshift", "irshift"])
def test_of_integers(name):
    f = _of(name)
    for a, b in ((12, 10), (-1, 5), (0, 0), (1, 40)):
        check(f, a, b)
    if "shift" not in name:
        check(f, True, False)
        check(f, np.array([1, 2, 3]), np.array([3, 2, 1]))


def powers(a, b):
    return operator.pow(a, b), operator.ipow(a, b)


def singles(a):
    return operator.neg(a), operator.pos(a), operator.abs(a), operator.not_(a), operator.truth(a)


def whole(a):
    return operator.invert(a), operator.inv(a), operator.index(a)


def is_none(a):
    return operator.is_(a, None), operator.is_not(a, None)


def test_of_one():
    for a in (0, 5, -5, 2.5, -0.0, True):
        check(singles, a)
        check(is_none, a)
    check(is_none, None)
    for a in (0, 7, -8, np.int8(3)):
        check(whole, a)
    for a, b in ((2, 10), (2.0, 0.5), (-3, 3)):
        check(powers, a, b)


def changed(items):
    items = list(items)
    operator.setitem(items, 1, 9)
    operator.iadd(items, [4, 5])
    operator.delitem(items, 0)
    return operator.getitem(items, 1), operator.contains(items, 4), operator.countOf(items, 4), operator.indexOf(items, 5), \
        operator.concat(items, [1])[-1], len(items)


def test_of_sequences():
    check(changed, [1, 2, 3])
    check(lambda t: (operator.getitem(t, 1), operator.contains(t, 3), operator.add(t, t)), (1, 2, 3))
    check(lambda s: (operator.contains(s, "b"), operator.concat(s, "d"), operator.mul(s, 2)), "abc")
    check(lambda t: operator.indexOf(t, 7), (1, 2))
    check(lambda a, b: operator.matmul(a, b), np.arange(4.0).reshape(2, 2), np.arange(2.0))
    check(lambda a, b: operator.iadd(a, b), np.arange(4.0), np.arange(4.0))


second = operator.itemgetter(1)
ends = operator.itemgetter(0, -1)
size_of = operator.attrgetter("size", "ndim")
joined = operator.methodcaller("replace", "a", "b")
above = partial(max, 3)
Point = namedtuple("Point", "x y")
x_of = operator.attrgetter("x")


def getters(t, a, s, p):
    return second(t), ends(t), size_of(a), joined(s), above(t[0]), x_of(p)


def scaled(x, factor=2, shift=0):
    return x * factor + shift


def partials(x):
    return partial_ten(x), above(1, 9)


partial_ten = partial(scaled, factor=10, shift=1)


def keyed(pairs):
    return sorted(pairs, key=second), max(pairs, key=second), min(pairs, key=operator.itemgetter(0))


by_first = operator.itemgetter(0)


def test_getters():
    check(getters, (1, 2.5, 3), np.zeros((2, 3)), "banana", Point(4, 5))
    check(partials, 4)


def least(pairs):
    return sorted(pairs, key=second)[0], max(pairs, key=second), min(pairs, key=by_first)


def test_getters_as_keys():
    check(least, [(1, 5), (2, 3), (0, 9)])


def minmax(a, b, c):
    return min(a, b, c), max(a, b, c), min(a, b, key=abs), max(a, b, c, key=abs), max((a, b, c), key=abs), min((a, b), default=5)


def texts(s, t):
    return min(s, t), max(s, t, "m"), max((s, t)), max(s), min([s, t], key=len)


def test_min_and_max():
    for a, b, c in ((1, -3, 2), (0.0, -0.0, 5.0), (-0.0, 0.0, -7.5), (math.nan, 1.0, 2.0), (1.0, math.nan, 2.0)):
        check(minmax, a, b, c)
    check(texts, "pear", "apple")
    check(lambda t, u: (max(t, u), min(t, u)), (1, 2.5), (1, 2.25))
    check(lambda x: max(x, default=-1), [3, 4])
    check(lambda n: max([i for i in range(n)], default=-1), 0)
    check(lambda x: min(x), np.empty(0, np.int64).tolist() or [5])


def sorts(x):
    return sorted(x), sorted(x, reverse=True), sorted(x, key=operator.neg), sum(x), sum(x, 10), sum(x, 0.5)


def test_sorted_and_sum():
    for x in ([3, 1, 2], [5], [2, 2, -1, 7, 0]):
        check(sorts, x)
    check(lambda t: sum(t), (1, 2.5, True))


def is_callable(f, x):
    return callable(f), callable(x), callable(math.sin), callable(int), callable(None)


def test_callable():
    check(is_callable, compiled(scaled), 3)


def test_wrong_types():
    for f, a, text in ((lambda a: operator.add(a, "x"), 1, "'+' is not defined between"),
                       (lambda a: operator.lt(a, "x"), 1, "'<' is not defined between"),
                       (lambda a: max(a, "x"), 1, "'>' is not defined between"),
                       (lambda a: operator.invert(a), 1.5, "'~' is not defined for")):
        with pytest.raises(KilnError) as e:
            compiled(f)(a)
        assert text in str(e.value), str(e.value)
