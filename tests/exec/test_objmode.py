# SPDX-License-Identifier: Apache-2.0
"""`with objmode`: parts of compiled functions that Python runs."""
import gc

import numpy as np
import pytest

from kilnjit import _kiln, errors, njit, objmode, prange, types

SEEN = []


@njit
def arrays(x):
    with objmode(y="float64[::1]", n="int64"):
        y = np.sort(x)[::-1].copy()
        n = len(y) + len(SEEN)
    return y * 2, n


def test_values_there_and_back():
    x = np.array([3.0, 1.0, 2.0])
    y, n = arrays(x)
    assert y.tolist() == [6.0, 4.0, 2.0] and n == 3
    SEEN.append(1)
    try:
        assert arrays(x)[1] == 4  # Python's globals are live
    finally:
        SEEN.clear()


def test_the_argument_itself_is_seen():
    @njit
    def fill(a):
        with objmode:
            a[0] = 7.0
            SEEN.append(a)
        return a.sum()

    a = np.zeros(3)
    assert fill(a) == 7.0 and SEEN.pop() is a


def test_types_of_all_kinds():
    @njit
    def f(i, t):
        with objmode(a="int64", b="float32", c="complex128", d="bool", e="UniTuple(int64, 2)", g=types.float64[:, :], h="list(int64)",
                     k="optional(int64)"):
            assert t == (1, 2.5)
            a, b, c, d, e, g, h, k = i + 1, 2, 1j, i > 1, (i, 3), np.ones((2, 3)).T, [i, 5], None
        h.append(a)
        return a, b, c, d, e, g.shape, h, k is None

    assert f(4, (1, 2.5)) == (5, 2.0, 1j, True, (4, 3), (3, 2), [4, 5, 5], True)


def test_closures_and_inner_names():
    base = 10

    @njit
    def f(n):
        total = 0
        for i in range(n):
            with objmode(out="int64"):
                values = [base + k for k in range(i)]
                out = sum(values)
            total += out
        return total

    assert f(4) == sum(sum(base + k for k in range(i)) for i in range(4))


def test_exceptions_pass_as_they_are():
    class Own(Exception):
        pass

    @njit
    def f(n, log):
        try:
            with objmode():
                if n:
                    raise Own("x", n)
        except ValueError:
            return 1
        finally:
            log.append(n)
        return 2

    log = [-1]
    assert f(0, log) == 2
    with pytest.raises(Own, match="x") as caught:
        f(3, log)
    assert caught.value.args == ("x", 3) and log == [-1, 0, 3]
    assert "test_objmode.py" in str(caught.traceback[-1].path)


def test_wrong_results_are_type_errors():
    @njit
    def f():
        with objmode(y="int64[:]"):
            y = "text"
        return y

    with pytest.raises(TypeError, match="objmode"):
        f()


def test_mistakes():
    @njit
    def leaves(n):
        with objmode(y="int64"):
            y = 1
            return y

    @njit
    def no_type(n):
        with objmode(y="int65"):
            y = 1
        return y

    for f, words in ((leaves, "left at its end"), (no_type, "int65")):
        with pytest.raises(errors.KilnError, match=words):
            f(1)


def test_without_the_gil_and_in_threads():
    @njit(parallel=True, nogil=True)
    def f(n, out):
        for i in prange(n):
            with objmode(y="int64"):
                y = int(str(i)) * 2
            out[i] = y
        return out.sum()

    assert f(50, np.zeros(50, np.int64)) == sum(range(50)) * 2


def test_plain_python():
    assert arrays.py_func(np.array([1.0, 2.0]))[0].tolist() == [4.0, 2.0]


def test_nothing_leaks():
    def once():
        arrays(np.arange(4.0))

    once()
    gc.collect()
    before = _kiln.counts()
    for _ in range(300):
        once()
    gc.collect()
    after = _kiln.counts()
    assert (after["mem_live"], after["mem_bytes"]) == (before["mem_live"], before["mem_bytes"])
