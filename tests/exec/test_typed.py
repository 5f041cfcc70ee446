# SPDX-License-Identifier: Apache-2.0
"""kilnjit.typed: containers that Python and compiled code share, against Python's own."""
import gc
import pickle

import numpy as np
import pytest

from kilnjit import _kiln, njit, types, typeof
from kilnjit.typed import Dict, List, Set


@njit
def extend(a, n):
    for i in range(n):
        a.append(i)
    return len(a)


@njit
def made(n):
    a = List()
    for i in range(n):
        a.append(i * 1.5)
    return a


@njit
def counts(values):
    d = Dict.empty(types.int64, types.float64)
    for v in values:
        if v in d:
            d[v] += 1.0
        else:
            d[v] = 1.0
    return d


@njit
def of_arrays(n):
    d = Dict()
    for i in range(n):
        d[i] = np.full(i, 1.0)
    return d


@njit
def read(d):
    t = 0.0
    for k, v in d.items():
        t += k * v.sum()
    return t


@njit
def nested(n):
    a = List()
    for i in range(n):
        a.append(List([i, i + 1]))
    return a


def test_list():
    a = List()
    assert repr(a) == "List[undefined]([])" and len(a) == 0 and not a and list(a) == []
    a.append(3)
    b = [3]
    assert str(typeof(a)) == "ListType(int64)" and repr(a) == "ListType(int64)([3])"
    assert extend(a, 4) == 5
    b.extend(range(4))
    for x in (a, b):
        x.insert(1, 7)
        x.sort(reverse=True)
        x[0] = 9
        del x[-1]
        x.extend((4, 5))
        x.pop(1)
        x.reverse()
        x[1:3] = [8, 8, 8]
        x.remove(9)
    assert list(a) == b and a == b and a[2] == b[2] and a[-1] == b[-1] and list(a[1:4]) == b[1:4]
    assert 8 in a and 99 not in a and a.count(8) == 3 and a.index(8) == b.index(8)
    assert a.copy() == a and a.copy()._address != a._address and a != [1]
    with pytest.raises(IndexError):
        a[100]
    with pytest.raises(ValueError):
        a.remove(100)
    with pytest.raises(TypeError):
        a.append(1.5)
    a.clear()
    assert not a


def test_list_of_other_types():
    assert list(List([1.5, 2])) == [1.5, 2.0]
    assert list(List([(1, 2.5), (3, 4.5)])) == [(1, 2.5), (3, 4.5)]
    arrays = List([np.arange(3.0), np.ones(2)])
    assert str(typeof(arrays)) == "ListType(float64[::1])" and [x.sum() for x in arrays] == [3.0, 2.0]
    inner = List([List([1]), List([2, 3])])
    inner[0].append(5)
    assert [list(x) for x in inner] == [[1, 5], [2, 3]]
    assert len(List.empty_list(types.float64[:, ::1])) == 0 and len(List.empty_list(types.ListType(types.int64))) == 0


def test_list_made_in_compiled_code():
    a = made(4)
    assert type(a) is List and list(a) == [0.0, 1.5, 3.0, 4.5]
    b = nested(3)
    b[1].append(7)
    assert [list(x) for x in b] == [[0, 1], [1, 2, 7], [2, 3]]


def test_shared_by_reference():
    a = List([1])
    back = njit(lambda x: x)(a)
    back.append(2)
    assert list(a) == [1, 2] and back == a and back._address == a._address


def test_dict():
    d, e = Dict.empty(types.int64, types.float64), {}
    for x in (d, e):
        for i in range(20):
            x[i % 7] = i / 2
        del x[3]
        x.update({100: 1.0})
        x.setdefault(5, 0.0)
        x.setdefault(55, 5.0)
        x.pop(0)
    assert d == e and list(d) == list(e) and list(d.items()) == list(e.items()) and sum(d.values()) == sum(e.values())
    assert d.get(1) == e[1] and d.get(77) is None and d.get(77, 2) == 2 and 100 in d and 77 not in d and len(d) == len(e)
    assert d.popitem() == e.popitem() and d.pop(77, 3) == 3 and d.copy() == d
    with pytest.raises(KeyError):
        d[77]
    with pytest.raises(KeyError):
        del d[77]
    assert repr(Dict()) == "Dict[undefined]({})" and Dict({1: 2})[1] == 2
    assert dict(counts(np.array([1, 2, 1, 1]))) == {1: 3.0, 2: 1.0}


def test_dict_of_arrays():
    d = of_arrays(4)
    assert read(d) == 0 * 0 + 1 * 1 + 2 * 2 + 3 * 3.0
    d[2][0] = 100.0
    assert read(d) == 1 + 2 * 101 + 9


def test_set():
    s = Set([3, 1, 3])
    s.add(5)
    s.discard(77)
    s.remove(1)
    assert s == {3, 5} and 3 in s and 1 not in s and len(s) == 2 and s.pop() in (3, 5)
    with pytest.raises(KeyError):
        s.remove(1)
    assert len(Set.empty(types.int64)) == 0 and len(Set.empty(types.UniTuple(types.int64, 2))) == 0


def test_pickle():
    for c in (List([1, 2]), Dict({1: 2.5}), Set([(1, 2)]), List(), List.empty_list(types.float64)):
        back = pickle.loads(pickle.dumps(c))
        assert back == c and back._type == c._type and type(back) is type(c)


def test_not_a_python_list():
    f = njit("int64(ListType(int64))")(lambda a: len(a))
    assert f(List([1, 2])) == 2
    with pytest.raises(TypeError):
        f([1, 2])


def test_nothing_leaks():
    def once():
        a = made(5)
        a.append(2.5)
        b = nested(3)
        b.pop()
        of_arrays(3)
        counts(np.array([1, 2]))
        List([np.ones(2)])

    once()
    gc.collect()
    before = _kiln.counts()
    for _ in range(200):
        once()
    gc.collect()
    after = _kiln.counts()
    assert (after["mem_live"], after["mem_bytes"]) == (before["mem_live"], before["mem_bytes"])


@njit
def put(d, key, a):
    d[key] = a


def test_an_array_argument_that_is_kept_lives_on():
    d = Dict.empty(types.int64, types.float64[::1])
    for i in range(50):
        d[i] = np.full(100, float(i))
        put(d, i + 100, np.full(100, float(i)))
    gc.collect()
    noise = [np.zeros(100) for _ in range(200)]
    assert all(d[i][99] == i and d[i + 100][0] == i for i in range(50)) and noise
    alive = _kiln.counts()["mem_live"]
    d.clear()
    assert _kiln.counts()["mem_live"] <= alive
    rows = List()
    for i in range(20):
        rows.append(np.arange(i, i + 3))
    gc.collect()
    assert [r.tolist() for r in rows] == [[i, i + 1, i + 2] for i in range(20)]
