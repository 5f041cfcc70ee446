# SPDX-License-Identifier: Apache-2.0
"""What a name from outside means: the object that it is bound to, whatever that object says of itself."""
import functools
import math
import warnings

import numpy as np
import pytest

from kilnjit import njit
from kilnjit.errors import KilnWarning
from same import check, compiled


@functools.wraps(math.sin)
def thousandfold(x):
    return x * 1000


@functools.wraps(np.sum)
def five(x):
    return 5.0


@functools.wraps(abs)
def sevenfold(x):
    return x * 7


def uses_borrowed_names(x):
    return thousandfold(x), five(x), sevenfold(x)


def test_borrowed_names_are_not_the_library():
    """functools.wraps copies the name and the module of the library's function."""
    check(uses_borrowed_names, -1.5)


@functools.lru_cache
@functools.wraps(math.sin)
def cached(x):
    return x


@np.vectorize
def sin(x):
    return 3.0


@pytest.mark.parametrize("function", [lambda x: cached(x), lambda x: sin(x)], ids=["lru_cache", "vectorize"])
def test_objects_of_the_library_that_call_the_program(function):
    with pytest.raises(Exception, match="which compiled code can't use"):
        compiled(function)(1.0)


def make(source):
    space = {}
    exec(source, globals(), space)
    return space["helper"]


def caller(x):
    return helper(x)


def warned(function, *arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments)
    return result, [str(w.message) for w in caught if w.category is KilnWarning]


@pytest.mark.parametrize("decorate", [lambda f: f, njit], ids=["plain", "jitted"])
def test_a_function_that_changed_is_named(monkeypatch, decorate):
    text = "def helper(x):\n    return x + 1\n"
    monkeypatch.setitem(globals(), "helper", decorate(make(text)))
    f = njit(caller)
    assert warned(f, 1) == (2, [])
    monkeypatch.setitem(globals(), "helper", decorate(make("\n\n# moved\n" + text)))
    assert warned(f, 1.0) == (2.0, [])  # the same function
    monkeypatch.setitem(globals(), "helper", decorate(make(text.replace("1", "2"))))
    result, messages = warned(f, 1j)
    assert result == 2 + 1j and len(messages) == 1 and "helper changed since the first compile" in messages[0]
    assert warned(f, 1) == (2, [])
    f.recompile()
    assert f(1) == 3


class Secretive:
    __factor = 3

    @njit
    def scaled(__self, __x, *, __more=1):
        __y = __x * Secretive.__factor

        def inner(__z):
            return __z + __y + __more
        return inner(10)

    @staticmethod
    @njit
    def __hidden(x):
        return x + 1

    @staticmethod
    @njit
    def calls(x):
        return Secretive.__hidden(x) + 100


def test_private_names_of_a_class():
    s = Secretive()
    plain = Secretive.scaled.py_func
    for _ in range(2):
        assert Secretive.scaled(1, 2) == plain(1, 2) == 17
        assert Secretive.scaled(1, 2, _Secretive__more=5) == plain(1, 2, _Secretive__more=5) == 21
        Secretive.scaled.recompile()
    assert s.calls(1) == 102
