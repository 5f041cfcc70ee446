# SPDX-License-Identifier: Apache-2.0
"""heapq, bisect and functools.reduce. Meaning: https://docs.python.org/3/library/heapq.html, bisect.html and
functools.html. A heap's list holds its items where CPython's has them."""
from intrinsics import list_get, list_push, list_set
from lists import pop as list_pop
from lists import sorted_list


def up(heap, start, at):
    """Move the item at `at` towards `start` until its parent is not larger."""
    item = list_get(heap, at)
    while at > start:
        parent = (at - 1) >> 1
        above = list_get(heap, parent)
        if not item < above:
            break
        list_set(heap, at, above)
        at = parent
    list_set(heap, at, item)


def down(heap, at):
    """Let the item at `at` sink: smaller children move up all the way to a leaf, from where it rises to its place."""
    n, start = len(heap), at
    item = list_get(heap, at)
    child = 2 * at + 1
    while child < n:
        right = child + 1
        if right < n and not list_get(heap, child) < list_get(heap, right):
            child = right
        list_set(heap, at, list_get(heap, child))
        at = child
        child = 2 * at + 1
    list_set(heap, at, item)
    up(heap, start, at)


def heappush(heap, item):
    """heapq.heappush"""
    list_push(heap, item)
    up(heap, 0, len(heap) - 1)


def heappop(heap):
    """heapq.heappop"""
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = list_pop(heap)
    if len(heap) > 0:
        least = list_get(heap, 0)
        list_set(heap, 0, last)
        down(heap, 0)
        return least
    return last


def heapreplace(heap, item):
    """heapq.heapreplace"""
    if len(heap) == 0:
        raise IndexError("index out of range")
    least = list_get(heap, 0)
    list_set(heap, 0, item)
    down(heap, 0)
    return least


def heappushpop(heap, item):
    """heapq.heappushpop"""
    if len(heap) > 0 and list_get(heap, 0) < item:
        return heapreplace(heap, item)
    return item


def heapify(x):
    """heapq.heapify"""
    for i in range(len(x) // 2 - 1, -1, -1):
        down(x, i)


def nlargest(n, iterable, key=None):
    """heapq.nlargest"""
    return sorted_list(iterable, key, True)[:max(n, 0)]


def nsmallest(n, iterable, key=None):
    """heapq.nsmallest"""
    return sorted_list(iterable, key, False)[:max(n, 0)]


def merge(*iterables, key=None, reverse=False):
    """heapq.merge, as a list"""
    out = []
    for it in iterables:
        for x in it:
            out.append(x)
    return sorted_list(out, key, reverse)


def keyed(x, key):
    if key is None:
        return x
    return key(x)


def bounds(lo, hi, n):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        return n
    return hi


def bisect_left(a, x, lo=0, hi=None, *, key=None):
    """bisect.bisect_left"""
    high = bounds(lo, hi, len(a))
    low = lo
    while low < high:
        middle = (low + high) // 2
        if keyed(a[middle], key) < x:
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(a, x, lo=0, hi=None, *, key=None):
    """bisect.bisect_right"""
    high = bounds(lo, hi, len(a))
    low = lo
    while low < high:
        middle = (low + high) // 2
        if x < keyed(a[middle], key):
            high = middle
        else:
            low = middle + 1
    return low


def insort_left(a, x, lo=0, hi=None, *, key=None):
    """bisect.insort_left"""
    a.insert(bisect_left(a, keyed(x, key), lo, hi, key=key), x)


def insort_right(a, x, lo=0, hi=None, *, key=None):
    """bisect.insort_right"""
    a.insert(bisect_right(a, keyed(x, key), lo, hi, key=key), x)


def reduce(function, iterable, *initial):
    """functools.reduce"""
    if len(initial) > 0:
        total = initial[0]
        for x in iterable:
            total = function(total, x)
        return total
    if isinstance(iterable, tuple):
        return reduce(function, iterable[1:], iterable[0])
    first = True
    for x in iterable:
        if first:
            total = x
            first = False
        else:
            total = function(total, x)
    if first:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


FUNCTIONS = {
    "heapq.heappush": heappush, "heapq.heappop": heappop, "heapq.heapreplace": heapreplace, "heapq.heappushpop": heappushpop,
    "heapq.heapify": heapify, "heapq.nlargest": nlargest, "heapq.nsmallest": nsmallest, "heapq.merge": merge,
    "bisect.bisect_left": bisect_left, "bisect.bisect_right": bisect_right, "bisect.bisect": bisect_right,
    "bisect.insort_left": insort_left, "bisect.insort_right": insort_right, "bisect.insort": insort_right,
    "functools.reduce": reduce,
}
