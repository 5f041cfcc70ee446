# SPDX-License-Identifier: Apache-2.0
"""Lists. Meaning: https://docs.python.org/3/library/stdtypes.html#lists; sorting is by merging, stable."""
import numpy as np
from intrinsics import (like, list_get, list_move, list_push, list_put, list_reserve, list_resize, list_set, list_take,
                        slice_indices)


def append(l, x):
    """list.append"""
    list_push(l, x)


def extend(l, items):
    """list.extend"""
    if isinstance(items, list):  # perhaps the list itself
        n = len(items)
        list_reserve(l, len(l) + n)
        for i in range(n):
            list_push(l, list_get(items, i))
    else:
        for x in items:
            list_push(l, x)


def iadd(l, items):
    """list.__iadd__"""
    extend(l, items)
    return l


def new(items):
    """list(iterable)"""
    out = []
    for x in items:
        out.append(x)
    return out


def add(a, b):
    """list.__add__"""
    out = []
    for x in a:
        out.append(x)
    for x in b:
        out.append(x)
    return out


def mul(l, n):
    """list.__mul__"""
    out = like(l)
    count = len(l)
    if n > 0:
        list_reserve(out, count * n)
    for _ in range(n):
        for i in range(count):
            list_push(out, list_get(l, i))
    return out


def rmul(n, l):
    """list.__rmul__"""
    return mul(l, n)


def imul(l, n):
    """list.__imul__"""
    count = len(l)
    if n <= 0:
        clear(l)
    for _ in range(n - 1):
        for i in range(count):
            list_push(l, list_get(l, i))
    return l


def insert(l, i, x):
    """list.insert"""
    n = len(l)
    if i < 0:
        i = max(i + n, 0)
    i = min(i, n)
    list_reserve(l, n + 1)
    list_move(l, i + 1, i, n - i)
    list_put(l, i, x)
    list_resize(l, n + 1)


def cut(l, begin, n):
    """Remove n items from begin on."""
    for i in range(begin, begin + n):
        list_take(l, i)
    rest = len(l) - begin - n
    list_move(l, begin, begin + n, rest)
    list_resize(l, begin + rest)


def pop(l, i=-1):
    """list.pop"""
    n = len(l)
    if n == 0:
        raise IndexError("pop from empty list")
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError("pop index out of range")
    x = list_take(l, i)
    list_move(l, i, i + 1, n - i - 1)
    list_resize(l, n - 1)
    return x


def clear(l):
    """list.clear"""
    cut(l, 0, len(l))


def find(l, x, begin, end):
    for i in range(begin, end):
        if list_get(l, i) == x:
            return i
    return -1


def clamp(i, n):
    if i < 0:
        return max(i + n, 0)
    return min(i, n)


def index(l, x, start=0, stop=9223372036854775807):
    """list.index"""
    i = find(l, x, clamp(start, len(l)), clamp(stop, len(l)))
    if i < 0:
        raise ValueError("list.index(x): x not in list")
    return i


def remove(l, x):
    """list.remove"""
    i = find(l, x, 0, len(l))
    if i < 0:
        raise ValueError("list.remove(x): x not in list")
    cut(l, i, 1)


def contains(x, l):
    """list.__in__"""
    return find(l, x, 0, len(l)) >= 0


def lacks(x, l):
    """list.__notin__"""
    return find(l, x, 0, len(l)) < 0


def count(l, x):
    """list.count"""
    n = 0
    for v in l:
        if v == x:
            n += 1
    return n


def copy(l):
    """list.copy"""
    n = len(l)
    out = like(l)
    list_reserve(out, n)
    for i in range(n):
        list_push(out, list_get(l, i))
    return out


def reverse(l):
    """list.reverse"""
    i, j = 0, len(l) - 1
    while i < j:
        x, y = list_get(l, i), list_get(l, j)
        list_set(l, i, y)
        list_set(l, j, x)
        i += 1
        j -= 1


def getitem(l, s):
    """l[a:b:c]"""
    start, n, step = slice_indices(s, len(l))
    out = like(l)
    list_reserve(out, n)
    for k in range(n):
        list_push(out, list_get(l, start + k * step))
    return out


def setitem(l, s, values):
    """l[a:b:c] = values"""
    fresh = like(l)
    for x in values:
        list_push(fresh, x)
    start, n, step = slice_indices(s, len(l))
    m = len(fresh)
    if step != 1:
        if m != n:
            raise ValueError(f"attempt to assign sequence of size {m} to extended slice of size {n}")
        for k in range(n):
            list_set(l, start + k * step, list_get(fresh, k))
        return
    cut(l, start, n)
    length = len(l)
    list_reserve(l, length + m)
    list_move(l, start + m, start, length - start)
    for k in range(m):
        list_put(l, start + k, list_get(fresh, k))
    list_resize(l, length + m)


def delitem(l, i):
    """del l[i] and del l[a:b:c]"""
    if isinstance(i, (int, np.integer)):
        if i < 0:
            i += len(l)
        if i < 0 or i >= len(l):
            raise IndexError("list assignment index out of range")
        cut(l, i, 1)
    else:
        start, n, step = slice_indices(i, len(l))
        if step == 1:
            cut(l, start, n)
        elif step > 0:
            for k in range(n - 1, -1, -1):
                cut(l, start + k * step, 1)
        else:
            for k in range(n):
                cut(l, start + k * step, 1)


def equal(a, b):
    """list.__eq__"""
    if len(a) != len(b):
        return False
    for i in range(len(a)):
        if list_get(a, i) != list_get(b, i):
            return False
    return True


def unequal(a, b):
    """list.__ne__"""
    return not equal(a, b)


def first_difference(a, b):
    n = min(len(a), len(b))
    for i in range(n):
        if list_get(a, i) != list_get(b, i):
            return i
    return n


def less(a, b):
    """list.__lt__"""
    i = first_difference(a, b)
    if i == len(a) or i == len(b):
        return len(a) < len(b)
    return list_get(a, i) < list_get(b, i)


def less_equal(a, b):
    """list.__le__"""
    i = first_difference(a, b)
    if i == len(a) or i == len(b):
        return len(a) <= len(b)
    return list_get(a, i) <= list_get(b, i)


def greater(a, b):
    """list.__gt__"""
    return less(b, a)


def greater_equal(a, b):
    """list.__ge__"""
    return less_equal(b, a)


def merge_order(keys, order, spare, begin, middle, end):
    for i in range(begin, middle):
        spare[i] = order[i]
    i, j, k = begin, middle, begin
    while i < middle and j < end:
        if list_get(keys, order[j]) < list_get(keys, spare[i]):
            order[k] = order[j]
            j += 1
        else:
            order[k] = spare[i]
            i += 1
        k += 1
    while i < middle:
        order[k] = spare[i]
        i += 1
        k += 1


def sorted_order(keys):
    """The indexes that sort keys, equal ones in order."""
    n, width = len(keys), 1
    order, spare = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    while width < n:
        for begin in range(0, n - width, 2 * width):
            merge_order(keys, order, spare, begin, begin + width, min(begin + 2 * width, n))
        width *= 2
    return order


def keys_of(l, key):
    if key is None:
        return l
    out = []
    for x in l:
        out.append(key(x))
    return out


def sort(l, key=None, reverse=False):
    """list.sort"""
    fresh = copy(l)
    n = len(fresh)
    keys = copy(keys_of(fresh, key))
    if reverse:  # turned round twice, so that equal items keep their order
        turn(keys)
    order = sorted_order(keys)
    for i in range(n):
        k = n - 1 - order[n - 1 - i] if reverse else order[i]
        list_set(l, i, list_get(fresh, k))


def turn(l):
    reverse(l)


def sorted_list(items, key=None, reverse=False):
    """sorted(iterable)"""
    out = new(items)
    sort(out, key, reverse)
    return out


def cell_get(cell):
    """The variable that inner functions assign (frontend/cells.py)."""
    if len(cell) == 0:
        raise UnboundLocalError("cannot access a variable of the function around where it is not associated with a value")
    return cell[0]


def cell_put(cell, value):
    """Assign the variable that inner functions assign."""
    if len(cell) == 0:
        list_push(cell, value)
    else:
        list_set(cell, 0, value)


def rest(items, first, after):
    """*rest in an assignment: the items from `first` on, without the last ones."""
    return [items[i] for i in range(first, len(items) - after)]


def no_keyword(name):
    """kwargs[name] of a call that did not give it (frontend/keywords.py)."""
    raise KeyError(name)


FUNCTIONS = {
    "list.__cell__": cell_put, "kiln.no_keyword": no_keyword, "kiln.cell_get": cell_get, "kiln.rest": rest, "list.append": append, "list.extend": extend, "list.insert": insert, "list.pop": pop, "list.clear": clear,
    "list.index": index, "list.remove": remove, "list.count": count, "list.copy": copy, "list.reverse": reverse,
    "list.sort": sort, "list.__new__": new, "list.__add__": add, "list.__iadd__": iadd, "list.__mul__": mul,
    "list.__rmul__": rmul, "list.__imul__": imul, "list.__getitem__": getitem, "list.__setitem__": setitem,
    "list.__delitem__": delitem, "list.__eq__": equal, "list.__ne__": unequal, "list.__lt__": less,
    "list.__le__": less_equal, "list.__gt__": greater, "list.__ge__": greater_equal, "list.__in__": contains,
    "list.__notin__": lacks, "builtins.sorted": sorted_list,
}
