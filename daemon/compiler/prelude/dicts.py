# SPDX-License-Identifier: Apache-2.0
"""Dicts. Meaning: https://docs.python.org/3/library/stdtypes.html#mapping-types-dict"""
from hashing import dense, find, forget, hash_of, link, make_room
from intrinsics import list_get, list_push, list_set, view


def put(d, key, value, h):
    """Enter a key that is not there."""
    make_room(d)
    link(d._table, h, len(d._hashes))
    list_push(d._hashes, h)
    list_push(d._keys, key)
    list_push(d._values, value)
    d._used = d._used + 1


def setitem(d, key, value):
    """dict.__setitem__"""
    h = hash_of(key)
    p = find(d, key, h)
    if p >= 0:
        list_set(d._values, p, value)
    else:
        put(d, key, value, h)


def getitem(d, key):
    """dict.__getitem__"""
    p = find(d, key, hash_of(key))
    if p < 0:
        raise KeyError(key)
    return list_get(d._values, p)


def delitem(d, key):
    """dict.__delitem__"""
    p = find(d, key, hash_of(key))
    if p < 0:
        raise KeyError(key)
    forget(d, p)


def get(d, key, default=None):
    """dict.get"""
    p = find(d, key, hash_of(key))
    if p < 0:
        return default
    return list_get(d._values, p)


def setdefault(d, key, default=None):
    """dict.setdefault"""
    h = hash_of(key)
    p = find(d, key, h)
    if p >= 0:
        return list_get(d._values, p)
    put(d, key, default, h)
    return list_get(d._values, len(d._values) - 1)


def pop(d, key, *default):
    """dict.pop"""
    p = find(d, key, hash_of(key))
    if p < 0:
        if len(default) == 0:
            raise KeyError(key)
        return default[0]
    value = list_get(d._values, p)
    forget(d, p)
    return value


def popitem(d):
    """dict.popitem"""
    if d._used == 0:
        raise KeyError("popitem(): dictionary is empty")
    dense(d)
    p = len(d._keys) - 1
    item = list_get(d._keys, p), list_get(d._values, p)
    forget(d, p)
    return item


def keys(d):
    """dict.keys"""
    dense(d)
    return view(d._keys)


def values(d):
    """dict.values"""
    dense(d)
    return view(d._values)


def items(d):
    """dict.items"""
    dense(d)
    return zip(d._keys, d._values)


def update(d, other):
    """dict.update"""
    if isinstance(other, dict):
        dense(other)
        for i in range(len(other._keys)):
            setitem(d, list_get(other._keys, i), list_get(other._values, i))
    else:
        for key, value in other:
            setitem(d, key, value)


def new(pairs):
    """dict(pairs) and dict(d)"""
    out = {}
    if isinstance(pairs, dict):
        for key, value in items(pairs):
            out[key] = value
    else:
        for key, value in pairs:
            out[key] = value
    return out


def union(a, b):
    """dict.__or__"""
    out = {}
    for key, value in items(a):
        out[key] = value
    for key, value in items(b):
        out[key] = value
    return out


def equal(a, b):
    """dict.__eq__"""
    if a._used != b._used:
        return False
    for key, value in items(a):
        p = find(b, key, hash_of(key))
        if p < 0 or list_get(b._values, p) != value:
            return False
    return True


def unequal(a, b):
    """dict.__ne__"""
    return not equal(a, b)


FUNCTIONS = {
    "dict.__setitem__": setitem, "dict.__getitem__": getitem, "dict.__delitem__": delitem, "dict.get": get,
    "dict.setdefault": setdefault, "dict.pop": pop, "dict.popitem": popitem, "dict.keys": keys, "dict.values": values,
    "dict.items": items, "dict.update": update, "dict.__new__": new, "dict.__or__": union, "dict.__eq__": equal,
    "dict.__ne__": unequal,
}
