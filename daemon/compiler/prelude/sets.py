# SPDX-License-Identifier: Apache-2.0
"""Sets. Meaning: https://docs.python.org/3/library/stdtypes.html#set-types-set-frozenset"""
from hashing import clear, copy, dense, find, forget, hash_of, link, make_room
from intrinsics import like, list_get, list_push


def add(s, x):
    """set.add"""
    h = hash_of(x)
    if find(s, x, h) < 0:
        make_room(s)
        link(s._table, h, len(s._hashes))
        list_push(s._hashes, h)
        list_push(s._keys, x)
        s._used = s._used + 1


def discard(s, x):
    """set.discard"""
    p = find(s, x, hash_of(x))
    if p >= 0:
        forget(s, p)


def remove(s, x):
    """set.remove"""
    p = find(s, x, hash_of(x))
    if p < 0:
        raise KeyError(x)
    forget(s, p)


def pop(s):
    """set.pop"""
    if s._used == 0:
        raise KeyError("pop from an empty set")
    dense(s)
    p = len(s._keys) - 1
    x = list_get(s._keys, p)
    forget(s, p)
    return x


def has(s, x):
    return find(s, x, hash_of(x)) >= 0


def new(items):
    """set(iterable)"""
    out = set()
    for x in items:
        out.add(x)
    return out


def update(s, *others):
    """set.update"""
    for items in others:
        for x in items:
            add(s, x)


def update_operator(s, other):
    """set.__ior__"""
    update(s, other)
    return s


def union(s, *others):
    """set.union, set.__or__"""
    out = copy(s)
    for items in others:
        for x in items:
            add(out, x)
    return out


def intersection(s, other):
    """set.intersection, set.__and__"""
    o = as_set(other)
    out = like(s)
    for x in s:
        if has(o, x):
            add(out, x)
    return out


def difference(s, other):
    """set.difference, set.__sub__"""
    o = as_set(other)
    out = like(s)
    for x in s:
        if not has(o, x):
            add(out, x)
    return out


def symmetric_difference(s, other):
    """set.symmetric_difference, set.__xor__"""
    o = as_set(other)
    out = difference(s, o)
    for x in o:
        if not has(s, x):
            add(out, x)
    return out


def as_set(items):
    if isinstance(items, set):
        return items
    return new(items)


def replace(s, fresh):
    """The items of `fresh`, in the memory of s."""
    clear(s)
    for x in fresh:
        add(s, x)
    return s


def intersection_update(s, other):
    """set.intersection_update"""
    replace(s, intersection(s, other))


def difference_update(s, other):
    """set.difference_update"""
    replace(s, difference(s, other))


def symmetric_difference_update(s, other):
    """set.symmetric_difference_update"""
    replace(s, symmetric_difference(s, other))


def iand(s, other):
    """set.__iand__"""
    return replace(s, intersection(s, other))


def isub(s, other):
    """set.__isub__"""
    return replace(s, difference(s, other))


def ixor(s, other):
    """set.__ixor__"""
    return replace(s, symmetric_difference(s, other))


def isdisjoint(s, other):
    """set.isdisjoint"""
    for x in other:
        if has(s, x):
            return False
    return True


def issubset(s, other):
    """set.issubset"""
    o = as_set(other)
    for x in s:
        if not has(o, x):
            return False
    return True


def issuperset(s, other):
    """set.issuperset"""
    for x in other:
        if not has(s, x):
            return False
    return True


def less_equal(s, o):
    """set.__le__"""
    return issubset(s, o)


def less(s, o):
    """set.__lt__"""
    return len(s) < len(o) and issubset(s, o)


def greater_equal(s, o):
    """set.__ge__"""
    return issubset(o, s)


def greater(s, o):
    """set.__gt__"""
    return less(o, s)


def equal(s, o):
    """set.__eq__"""
    return len(s) == len(o) and issubset(s, o)


def unequal(s, o):
    """set.__ne__"""
    return not equal(s, o)


FUNCTIONS = {
    "set.add": add, "set.discard": discard, "set.remove": remove, "set.pop": pop, "set.update": update,
    "set.union": union, "set.intersection": intersection, "set.difference": difference,
    "set.symmetric_difference": symmetric_difference, "set.intersection_update": intersection_update,
    "set.difference_update": difference_update, "set.symmetric_difference_update": symmetric_difference_update,
    "set.isdisjoint": isdisjoint, "set.issubset": issubset, "set.issuperset": issuperset, "set.__new__": new,
    "set.__or__": union, "set.__and__": intersection, "set.__sub__": difference, "set.__xor__": symmetric_difference,
    "set.__ior__": update_operator, "set.__iand__": iand, "set.__isub__": isub, "set.__ixor__": ixor,
    "set.__le__": less_equal, "set.__lt__": less, "set.__ge__": greater_equal, "set.__gt__": greater,
    "set.__eq__": equal, "set.__ne__": unequal,
}
