# SPDX-License-Identifier: Apache-2.0
"""Programs that are large or never settle: compiled, or refused with the limit that they met, and the next one compiles."""
import linecache

import numpy as np
import pytest

from kilnjit import errors, njit


def make(text):
    file = f"<large {len(text)} {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"np": np}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


def statements(n):
    return "def f(x):\n    a = x\n" + "".join(f"    a = a + {i}\n" for i in range(n)) + "    return a\n"


COMPILED = {
    "5,000 statements": (statements(5000), (1,)),
    "20,000 statements": (statements(20000), (1,)),
    "1,600 ifs": ("def f(x):\n    a = x\n" + "".join(f"    if a > {i}:\n        a = a + {i}\n" for i in range(1600)) + "    return a\n", (1,)),
    "90 parentheses": ("def f(x):\n    return " + "(" * 90 + "x" + "+1)" * 90 + "\n", (1,)),
    "a tuple of 1,000": ("def f(x):\n    t = (" + "x," * 1000 + ")\n    return t[5]\n", (3,)),
    "150 functions deep": ("".join(f"def g{i}(x): return g{i + 1}(x) + 1\n" for i in range(150))
                           + "def g150(x): return x\ndef f(x): return g0(x)\n", (1,)),
}
LIMITS = {
    "nesting": ("def f(x):\n    if x == 0:\n        return 0\n"
                + "".join(f"    elif x == {i}:\n        return {i}\n" for i in range(1, 2000)) + "    return -1\n", (7,),
                "nested more than.*\n  File"),
    "a tuple of 5,000": ("def f(x):\n    t = (" + "x," * 5000 + ")\n    return t[0]\n", (1,), "too large to compile"),
    "a type that grows in a loop": ("def f(n):\n    t = (1,)\n    while n:\n        t = (t,)\n        n -= 1\n    return 1\n", (3,),
                                    "different type on two paths"),
    "a type that grows in calls": ("def g(t, n):\n    return g((t,), n - 1) if n else 0\ndef f(n):\n    return g(1, n)\n", (3,),
                                   "more than 64 combinations"),
    "many instances": ("def g(t): return len(t)\ndef f(x):\n    return " + "+".join(f"g(({'x,' * i}))" for i in range(1, 100)) + "\n", (1,),
                       "more than 64 combinations"),
    "an error 190 calls deep": ("".join(f"def g{i}(x): return g{i + 1}(x)\n" for i in range(190))
                                + "def g190(x): return x.foo\ndef f(x): return g0(x)\n", (1,), "has no attribute 'foo'"),
}


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name):
    text, arguments = COMPILED[name]
    f = make(text)
    assert njit(f)(*arguments) == f(*arguments)


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name):
    text, arguments, words = LIMITS[name]
    with pytest.raises(errors.KilnError, match=words) as caught:
        njit(make(text))(*arguments)
    assert len(str(caught.value).splitlines()) <= 10
    assert njit(lambda x: x + 1)(1) == 2


def test_a_hundred_tuples_of_five_arrays():
    value = tuple(tuple(np.full(2, float(i + j)) for j in range(5)) for i in range(100))

    @njit
    def f(t):
        s = 0.0
        for row in t:
            for a in row:
                s += a[0]
        return s

    assert f(value) == sum(a[0] for row in value for a in row)
