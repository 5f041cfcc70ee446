# SPDX-License-Identifier: Apache-2.0
"""Lists, dicts and sets as arguments and results: compiled code changes the caller's own objects, as Python does."""
import copy
import gc

import numpy as np
import pytest

from kilnjit import _kiln, njit


def made_list(n):
    return [i * 2 for i in range(n)]


def made_others(n):
    return {i: i * .5 for i in range(n)}, {i % 3 for i in range(n)}, [(1, 2.5), (n, 3.5)], [[1], [2, n]], {1: [n]}, [], {(1, 2): (3.5, n)}


def changed(a):
    a.append(4)
    a[0] = 9
    return sum(a)


def returned(a):
    return [x + 1 for x in a], a


def shortened(a):
    a.pop()
    del a[0]
    a.sort(reverse=True)


def dict_changed(d):
    d[5] = 1.5
    del d[1]
    return len(d), 5 in d, d[2]


def dict_read(d):
    return {k: v * 2 for k, v in d.items()}, d.get(3, 0), list(d.keys())


def set_changed(s):
    s.add(99)
    s.discard(1)
    return len(s), 2 in s


def nested_changed(a):
    a[0].append(7)
    a.append([8])
    return len(a), a[0][-1]


def of_arrays(a):
    t = 0.0
    for x in a:
        t += x.sum()
    a.append(np.ones(2))
    return t


def array_put_in(a, x):
    a.append(x)
    return a


def of_tuples(a):
    return [(y, x) for x, y in a]


def same_twice(a, b):
    a.append(1)
    return len(b)


def raises_after(a):
    a.append(5)
    raise ValueError("x")


def outcome(function, arguments):
    try:
        result = function(*arguments)
    except Exception as e:  # noqa: BLE001 - any class is an outcome to compare
        result = type(e).__name__, e.args
    return repr((result, arguments))


@pytest.mark.parametrize("function, arguments", [
    (made_list, (4,)), (made_list, (0,)), (made_others, (5,)), (changed, ([1, 2, 3],)), (changed, ([True, 2],)), (returned, ([1, 2],)),
    (shortened, ([1, 5, 3, 4],)), (shortened, ([1.5, 2.5, 0.0],)), (dict_changed, ({1: 1.0, 2: 2.5},)), (dict_read, ({1: 2, 3: 4},)),
    (dict_read, ({},)), (set_changed, ({1, 2, 3},)), (nested_changed, ([[1], [2]],)), (of_arrays, ([np.zeros(3), np.arange(3.0)],)),
    (array_put_in, ([np.ones(2)], np.zeros(2))), (of_tuples, ([(1, 2.5), (3, 4.5)],)), (raises_after, ([1],)), (changed, ([],)),
])
def test_as_python(function, arguments):
    ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    assert outcome(njit(function), ours) == outcome(function, theirs)


def test_one_object_twice():
    x = [5]
    assert njit(same_twice)(x, x) == 2
    assert x == [5, 1]


def test_the_list_itself_comes_back():
    x, y = [np.ones(2)], np.zeros(2)
    out = njit(array_put_in)(x, y)
    assert out is x and x[1] is y


@pytest.mark.parametrize("wrong", [[1, "a"], [1, None], [[1], 2], [np.ones(2), np.ones((2, 2))], [(1, 2), (1,)]])
def test_items_of_several_types(wrong):
    with pytest.raises(TypeError, match="all items must have the type of the first one"):
        njit(lambda a: len(a))(wrong)


def test_too_large():
    with pytest.raises(OverflowError):
        njit(changed)([1, 1 << 70])


def test_widest_number_wins():
    assert njit(lambda a: a)([1, 2.5]) == [1, 2.5]
    assert njit(lambda a: a[0])([1, 2.5, 3j]) == 1


def test_nothing_leaks():
    functions = [njit(nested_changed), njit(of_arrays), njit(made_others), njit(array_put_in), njit(dict_changed), njit(raises_after)]

    def once():
        functions[0]([[1], [2]])
        functions[1]([np.ones(2)])
        functions[2](3)
        functions[3]([np.ones(2)], np.ones(2))
        functions[4]({1: 2.5, 2: 3.5})
        with pytest.raises(ValueError):
            functions[5]([1])

    once()
    gc.collect()
    before = _kiln.counts()
    for _ in range(300):
        once()
    gc.collect()
    after = _kiln.counts()
    assert after["mem_live"] == before["mem_live"] and after["mem_bytes"] == before["mem_bytes"]
