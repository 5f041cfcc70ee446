# SPDX-License-Identifier: Apache-2.0
"""heapq, bisect and functools.reduce against CPython: the heap's list is the same item by item."""
import bisect
import heapq
import operator
from functools import reduce

import numpy as np
import pytest

from kilnjit.typed import List
from same import check, compiled


def heaps(items):
    h = []
    for x in items:
        heapq.heappush(h, x)
    pushed = list(h)
    a = heapq.heappop(h)
    b = heapq.heapreplace(h, items[0])
    c = heapq.heappushpop(h, items[1])
    d = heapq.heappushpop(h, items[2])
    g = list(items)
    heapq.heapify(g)
    out = []
    while len(g) > 0:
        out.append(heapq.heappop(g))
    return pushed, a, b, c, d, h, out


def best(items, n):
    return heapq.nlargest(n, items), heapq.nsmallest(n, items), heapq.nlargest(n, items, key=operator.neg), heapq.nsmallest(n, items, key=abs)


def test_heaps():
    rng = np.random.default_rng(1)
    for n in (3, 4, 7, 8, 31, 200):
        items = [int(x) for x in rng.integers(-50, 50, size=n)]
        check(heaps, items)
        for k in (-1, 0, 1, 3, n, n + 5):
            check(best, items, k)
        check(heaps, [float(x) for x in rng.normal(size=n)])
    check(heaps, [(3, 1.5), (1, 2.0), (2, 0.5), (1, 1.0)])
    check(heaps, ["pear", "apple", "fig", "kiwi"])




def test_empty():
    check(lambda a: heapq.heappop(list(a)), [1])
    check(lambda n: heapq.heappop([i for i in range(n)]), 0)
    check(lambda n: heapq.heapreplace([i for i in range(n)], 1), 0)
    check(lambda n: heapq.heappushpop([i for i in range(n)], 1), 0)


def test_typed_list():
    h = List([5, 1, 4])

    def f(h):
        heapq.heapify(h)
        heapq.heappush(h, 0)
        return heapq.heappop(h)

    assert compiled(f)(h) == 0 and list(h) == [1, 5, 4] and f([5, 1, 4]) == 0


def test_merge():
    check(lambda a, b: list(heapq.merge(a, b)), [1, 3, 5], [2, 3, 8])


def searches(a, x, lo, hi):
    return (bisect.bisect_left(a, x), bisect.bisect_right(a, x), bisect.bisect(a, x), bisect.bisect_left(a, x, lo), bisect.bisect_right(a, x, lo, hi),
            bisect.bisect_left(a, x, lo=lo, hi=hi), bisect.bisect_left(a, -x, key=operator.neg), bisect.bisect(a, x, hi=hi))


def inserts(a, x):
    a, b, c = list(a), list(a), list(a)
    bisect.insort(a, x)
    bisect.insort_left(b, x)
    bisect.insort_right(c, x, 1)
    return a, b, c


def test_bisect():
    for a in ([], [1], [1, 2, 2, 3, 7], list(range(0, 100, 3))):
        a = a or [5]
        for x in (-1, 0, 1, 2, 3, 50, 200):
            for lo, hi in ((0, len(a)), (1, len(a)), (0, 1), (-1, 1)):
                check(searches, a, x, lo, hi)
            check(inserts, a, x)
    check(lambda a, x: (bisect.bisect(a, x), bisect.bisect_left(a, x)), np.array([0.5, 1.5, 1.5, 2.0]), 1.5)
    check(lambda a, x: bisect.bisect(a, x), (1, 4, 9), 4)
    check(lambda a, x: bisect.bisect(a, x), "abd", "c")


def reduced(items):
    return (reduce(operator.add, items), reduce(operator.mul, items, 1), reduce(lambda a, b: a if a > b else b, items), reduce(max, items),
            reduce(lambda n, _: n + 1, items, 0))


def test_reduce():
    check(reduced, [3, 1, 2])
    check(reduced, [2.5])
    check(reduced, (1, 2, 3))
    check(reduced, np.array([1.0, 2.0]))
    check(lambda n: reduce(operator.add, range(n)), 5)
    check(lambda n: reduce(operator.add, [i for i in range(n)]), 0)
    check(lambda n: reduce(operator.add, [i for i in range(n)], 7), 0)
    check(lambda s: reduce(lambda a, b: b + a, s), "abc")
    check(lambda t: reduce(operator.add, t), (1, 2.5, True))
    check(lambda t: reduce(lambda a, x: a + x * 0.5, t, 0), [1, 2])
