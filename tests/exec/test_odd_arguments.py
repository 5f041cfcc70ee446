# SPDX-License-Identifier: Apache-2.0
"""Arguments that look like what compiled code takes and are not quite, and what the message says of them."""
import collections

import numpy as np
import pytest

from kilnjit import njit
from kilnjit.errors import KilnTypeError
from same import check, compiled


def same(x):
    return x


def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s


class Whole(int):
    pass


class Real(float):
    pass


class Pair(tuple):
    pass


class Sub(np.ndarray):
    pass


SUBCLASSES = [(Whole(3), r"hint: pass int\(x\)"), (Real(2.5), r"hint: pass float\(x\)"), (Pair((1, 2)), r"hint: pass tuple\(x\)"),
              (Pair(()), r"hint: pass tuple\(x\)"), (np.arange(3.0).view(Sub), r"pass x\.view\(numpy\.ndarray\)"),
              (np.ma.array([1.0], mask=[1]), r"pass x\.view\(numpy\.ndarray\)"),
              (np.arange(3, dtype=">f8" if np.little_endian else "<f8"), r"pass x\.astype\(x\.dtype\.newbyteorder\('='\)\)")]


@pytest.mark.parametrize("value, hint", SUBCLASSES, ids=lambda v: type(v).__name__)
def test_subclasses_are_refused_with_what_to_do(value, hint):
    with pytest.raises(KilnTypeError, match=rf"(?s)argument 'x' of same\(\) .*which compiled code can't take.*test_odd_arguments\.py.*{hint}"):
        compiled(same)(value)


@pytest.mark.parametrize("value", [object(), bytearray(b"x"), 1 << 80, [object()], ({1: object()},), collections.deque(), np.zeros(2, "V8"), np.array(["a"])],
                         ids=lambda v: type(v).__name__)
def test_others_are_refused(value):
    with pytest.raises((KilnTypeError, OverflowError)):
        compiled(same)(value)


def test_a_mapped_file(tmp_path):
    mapped = np.memmap(tmp_path / "m", np.float64, "w+", shape=(5,))
    mapped[:] = range(5)
    assert compiled(total)(mapped) == 10.0
    back = compiled(same)(mapped)
    assert type(back) is np.ndarray and np.shares_memory(back, mapped)
    assert compiled(total)(mapped[::-2]) == 6.0


def endless():
    a, b, c = [1], ([],), {}
    a.append(a)
    b[0].append(b)
    c[1] = c
    return a, b, c


@pytest.mark.parametrize("value", [*endless(), [1, 2, [1]], [[1], 2], {1: 2, 3: {}}, [1, None], [(1,), [1]]], ids=lambda v: type(v).__name__)
def test_containers_that_hold_themselves_or_others(value):
    with pytest.raises(TypeError):
        compiled(same)(value)


def nested(depth):
    value = 1
    for _ in range(depth):
        value = (value,)
    return value


@pytest.mark.parametrize("value", [nested(40), nested(4000), tuple(range(3000)), [nested(30)]], ids=["40", "4000", "wide", "list"])
def test_too_large_for_an_argument(value):
    with pytest.raises(KilnTypeError, match=r"hint: its items need .*16 deep"):
        compiled(same)(value)


def test_no_signature_fits():
    f = njit("int8(int8)")(same)
    with pytest.raises(TypeError, match=r"^same\(\) has no signature for arguments of types \(pyfloat\): there are int8\(int8\)$"):
        f(2.5)


VIEWS = {"negative stride": np.arange(9.0)[::-2], "column": np.arange(9.0).reshape(3, 3)[:, 1], "empty": np.zeros(0),
         "broadcast": np.broadcast_to(np.float64(1.5), (4,)), "unaligned": np.frombuffer(bytes(range(33)), "u1")[1:].view("f8"),
         "overlapping": np.lib.stride_tricks.as_strided(np.arange(3.0), (5,), (0,)), "field": np.ones(4, "i4, f8")["f1"]}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name):
    check(total, VIEWS[name])
