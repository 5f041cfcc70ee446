# SPDX-License-Identifier: Apache-2.0
"""Syntax of functions and assignments, against Python."""
import pytest
from same import check as same

from kilnjit import errors, njit


def counter(n):
    count, total = 0, 0.0

    def step(k):
        nonlocal count, total
        count += 1
        total += k * 0.5
        return count

    for i in range(n):
        step(i)
    last = step(1)
    return count, total, last


def assigned_after(n):
    def set_it(v):
        nonlocal x
        x = v

    set_it(n)
    first = x
    x = first * 2
    set_it(x + 1)
    return first, x


def of_a_parameter(n):
    def double():
        nonlocal n
        n *= 2

    double()
    double()
    return n


def two_levels(n):
    s = 1

    def outer():
        def inner():
            nonlocal s
            s = s + n
            return s
        return inner() + inner()

    return outer(), s


def loop_variable(n):
    i = -1

    def peek():
        nonlocal i
        i = i
        return i

    seen = 0
    for i in range(n):
        seen += peek()
    a, i = 5, 7
    return seen, peek(), a


def shared(n):
    s = 0

    def up():
        nonlocal s
        s += 1

    def down():
        nonlocal s
        s -= 2

    for _ in range(n):
        up()
        up()
        down()
        up()
    return s


@pytest.mark.parametrize("function", [counter, assigned_after, of_a_parameter, two_levels, loop_variable, shared])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_nonlocal(function, n):
    same(function, n)


@njit
def never_assigned(n):
    def g():
        nonlocal x
        if n > 100:
            x = 1

    g()
    if n > 1000:
        x = 2
    return x


def test_a_cell_without_value():
    with pytest.raises(UnboundLocalError):
        never_assigned(1)


def factorial(n):
    base = 1

    def fac(k):
        if k <= 1:
            return base
        return k * fac(k - 1)

    return fac(n)


def fibonacci(n):
    def fib(k):
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n)


def hanoi(n):
    moves = [(0, 0) for _ in range(0)]

    def move(k, a, b, c):
        if k > 0:
            move(k - 1, a, c, b)
            moves.append((a, c))
            move(k - 1, b, a, c)

    move(n, 1, 2, 3)
    return moves


@pytest.mark.parametrize("function", [factorial, fibonacci, hanoi])
def test_inner_functions_call_themselves(function):
    same(function, 5)


def h(x, y=1):
    return x * 10 + y


def takes(a, **kw):
    r = a + len(kw)
    if "x" in kw:
        r += kw["x"]
    if "z" not in kw:
        r += 1000
    if "y" in kw and "x" not in kw:
        return r + h(kw.get("x", 7), **kw)
    return r * 100 + kw.get("q", 3)


def passes_on(a, **kw):
    return takes(a, **kw) + takes(a, x=1)


def keywords(n):
    return takes(n), takes(n, x=2), takes(n, y=5), takes(n, x=1, z=4), takes(x=1, a=n), passes_on(n, z=1, x=n), passes_on(n)


def missing(a, **kw):
    return kw["other"]


def asks(n):
    return missing(n, x=1)


def test_keyword_arguments():
    same(keywords, 5)
    same(asks, 1)
    assert njit(takes)(1) == takes(1)


def rest(n):
    a, *b, c = [1, 2, 3, n]
    d, *e = [n]
    *f, g = range(n)
    (x, *y), z = [n, n, n], 1
    return a, b, c, d, e, f, g, x, y, z


def too_few(n):
    a, b, *c = list(range(n))
    return a, b, c


def text_rest(s):
    a, *b = s
    return a, b


def test_starred_targets():
    same(rest, 5)
    for n in range(4):
        same(too_few, n)
    same(text_rest, "abc")


def sequence(n):
    match [n, 2, 3, 4]:
        case [1, *rest, last]:
            return rest, last, 1
        case [a, *rest]:
            return rest, a, 2


def pair(n):
    match (n, 2):
        case (1, y):
            return y
        case (x, y) if x > 5:
            return x
        case (x, y):
            return x + y


def literal(n):
    match n:
        case 0 | 1:
            return "few"
        case -1:
            return "minus"
        case x if x > 100:
            return "many"
        case _:
            return "some"


@pytest.mark.parametrize("n", [0, 1, -1, 2, 7, 101])
def test_match(n):
    same(pair, n)
    same(literal, n)
    if n >= 0:
        same(sequence, n)


def percent(n, x, s):
    return ("%d" % n, "%5d|%-5d|%05d|%+d" % (n, n, n, n), "%s and %r" % (s, s), "%.3f %e %g" % (x, x, x), "%x %o %X" % (n, n, n),
            "100%% of %s" % s, "%8.2f|%-8.1f|" % (x, x), "%i" % x, "%5s|%-5s|" % (s, s))


def template(n, x, s):
    return ("{}-{}".format(n, s), "{1} {0}".format(n, s), "{:5d}|{:<5}|{:.2f}".format(n, s, x), "{a} {b!r:>6}".format(a=n, b=s),
            "{{}} {}".format(n), "{:{w}.{p}f}".format(x, w=10, p=2), "{0}{0}".format(s))


def union(n):
    a, b = {1: 2, 3: 4}, {3: n}
    return {**a, **b}, {**a}, {5: n, **a, 1: 0}, {**b, 9: 9}


def by_name(a):
    return getattr(a, "size") + getattr(a, "ndim")


def test_formatting():
    for args in [(7, 2.5, "ab"), (-3, -0.125, ""), (0, 1e10, "xyz12345")]:
        same(percent, *args)
        same(template, *args)
    same(union, 6)


def test_getattr():
    import numpy as np
    same(by_name, np.zeros((3, 4)))


def test_what_a_template_lacks():
    with pytest.raises(errors.KilnSyntaxError, match="not all arguments converted"):
        njit(lambda n: "%d" % (n, n))(1)


def indexed(n, i):
    return range(n)[i], range(2, n, 3)[i], range(n, 0, -2)[-1], len(range(2, n, 3))


def test_ranges_are_indexed():
    for n, i in [(10, 0), (10, 2), (10, -1), (7, 1), (5, 4), (5, -6)]:
        same(indexed, n, i)
