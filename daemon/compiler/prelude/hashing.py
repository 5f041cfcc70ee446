# SPDX-License-Identifier: Apache-2.0
"""Dicts and sets: items in order of insertion, found through a table of their positions by hash.

The table has a power of two of entries: FREE, GONE, or a position in the lists of hashes, keys and values. A deleted
item keeps its position, with the hash EMPTY, until the next squeeze. Hashes are CPython's; the order of a set is that
of insertion too.
Meaning: https://docs.python.org/3/library/stdtypes.html#mapping-types-dict and #set-types-set-frozenset"""
import numpy as np
from intrinsics import bits, jitclass, like, list_get, list_push, list_resize, list_set, list_take, object_hash, view
from intrinsics import as_text, text_hash
from lists import clear as list_clear
from lists import copy as list_copy

FREE, GONE = -1, -2
EMPTY = -(1 << 63)  # no hash of CPython's: they are below 2^61 in size, or of tuples and never this
MODULUS = (1 << 61) - 1


def hash_int(x):
    """x modulo 2^61 - 1, of the magnitude, with the sign; never -1."""
    h = x % MODULUS
    if x < 0:
        h = -(-x % MODULUS) if x != EMPTY else -4
    return -2 if h == -1 else h


def hash_unsigned(x):
    return np.int64(x % np.uint64(MODULUS))


def hash_float(x):
    """CPython's hash of a float: the fraction, scaled by powers of two modulo 2^61 - 1."""
    if x != x:
        return np.int64(0)
    if x - x != 0:
        return np.int64(314159) if x > 0 else np.int64(-314159)
    b = bits(x)
    mantissa, exponent = b & ((1 << 52) - 1), (b >> 52) & 2047
    if exponent == 0:
        exponent = 1
    else:
        mantissa |= 1 << 52
    shift = (exponent - 1075) % 61
    low = mantissa % MODULUS
    h = ((low << shift) & MODULUS) | (low >> (61 - shift)) if shift else low
    if h == MODULUS:
        h = 0
    if b < 0:
        h = -h
    return np.int64(-2) if h == -1 else np.int64(h)


def rotate(x):
    return (x << np.uint64(31)) | (x >> np.uint64(33))


def hash_tuple(t):
    """CPython's xxHash of the items' hashes."""
    acc = np.uint64(2870177450012600261)
    n = np.uint64(0)
    for x in t:
        acc += np.uint64(hash_of(x)) * np.uint64(14029467366897019727)
        acc = rotate(acc) * np.uint64(11400714785074694791)
        n += np.uint64(1)
    acc += n ^ (np.uint64(2870177450012600261) ^ np.uint64(3527539))
    if acc == np.uint64(18446744073709551615):
        return np.int64(1546275796)
    return np.int64(acc)


def hash_of(x):
    """hash(x)"""
    if isinstance(x, bool):
        return np.int64(x)
    if isinstance(x, jitclass):
        return np.int64(hash_int(np.int64(object_hash(x))))
    if isinstance(x, tuple):
        return hash_tuple(x)
    if isinstance(x, str):
        return np.int64(text_hash(x))
    if isinstance(x, bytes):
        return np.int64(text_hash(as_text(x)))
    if isinstance(x, np.unsignedinteger):
        return hash_unsigned(np.uint64(x))
    if isinstance(x, (int, np.integer)):
        return np.int64(hash_int(np.int64(x)))
    if isinstance(x, (complex, np.complexfloating)):
        h = np.uint64(hash_float(x.real)) + np.uint64(1000003) * np.uint64(hash_float(x.imag))
        return np.int64(-2) if h == np.uint64(18446744073709551615) else np.int64(h)
    return hash_float(x)


def same(a, b):
    return a == b


def find(c, key, h):
    """Position of a key, -1 if it is not there."""
    if len(c._table) == 0:
        if len(c._keys) == 0:
            return -1
        index(c)
    table = c._table
    mask = len(table) - 1
    i = h & mask
    perturb = np.uint64(h)
    while True:
        p = list_get(table, i)
        if p == FREE:
            return -1
        if p >= 0 and list_get(c._hashes, p) == h and same(list_get(c._keys, p), key):
            return p
        perturb >>= np.uint64(5)
        i = (i * 5 + np.int64(perturb) + 1) & mask


def link(table, h, p):
    """Enter position p in the first free place of its chain."""
    mask = len(table) - 1
    i = h & mask
    perturb = np.uint64(h)
    while list_get(table, i) >= 0:
        perturb >>= np.uint64(5)
        i = (i * 5 + np.int64(perturb) + 1) & mask
    list_set(table, i, p)


def relink(c, size):
    """A new table of `size` entries."""
    table = like(c._table)
    for _ in range(size):
        list_push(table, FREE)
    for p in range(len(c._hashes)):
        link(table, list_get(c._hashes, p), p)
    c._table = table


def size_for(n):
    size = 8
    while size * 2 < n * 3:
        size *= 2
    return size


def index(c):
    """Hashes and table of what came from outside as keys alone."""
    list_resize(c._hashes, 0)
    for key in c._keys:
        list_push(c._hashes, hash_of(key))
    relink(c, size_for(c._used + 1))


def make_room(c):
    """Room for one more item: a larger table, without the positions of deleted items."""
    if (len(c._hashes) + 1) * 3 > len(c._table) * 2:
        if c._used < len(c._hashes):
            squeeze(c)
        relink(c, size_for((c._used + 1) * 2))


def forget(c, p):
    """Unlink position p. Its key stays where it is until the next squeeze, unless it was the last one."""
    table = c._table
    mask = len(table) - 1
    h = list_get(c._hashes, p)
    i = h & mask
    perturb = np.uint64(h)
    while list_get(table, i) != p:
        perturb >>= np.uint64(5)
        i = (i * 5 + np.int64(perturb) + 1) & mask
    list_set(table, i, GONE)
    list_set(c._hashes, p, EMPTY)
    c._used = c._used - 1
    if p == len(c._hashes) - 1:
        drop_last(c._hashes)
        drop_last(c._keys)
        drop_value(c)


def drop_last(l):
    n = len(l) - 1
    list_take(l, n)
    list_resize(l, n)


def drop_value(c):
    if isinstance(c, dict):
        drop_last(c._values)


def kept(items, hashes):
    out = like(items)
    for p in range(len(hashes)):
        if list_get(hashes, p) != EMPTY:
            list_push(out, list_get(items, p))
    return out


def squeeze(c):
    """Leave out the deleted items."""
    keys = kept(c._keys, c._hashes)
    if isinstance(c, dict):
        c._values = kept(c._values, c._hashes)
    c._hashes = kept(c._hashes, c._hashes)
    c._keys = keys


def dense(c):
    """No deleted items among the keys, so that they can be iterated."""
    if c._used < len(c._hashes):
        squeeze(c)
        relink(c, size_for(c._used + 1))


def clear(c):
    """dict.clear, set.clear"""
    list_clear(c._table)
    list_clear(c._hashes)
    list_clear(c._keys)
    if isinstance(c, dict):
        list_clear(c._values)
    c._used = 0


def copy(c):
    """dict.copy, set.copy"""
    dense(c)
    out = like(c)
    out._table = list_copy(c._table)
    out._hashes = list_copy(c._hashes)
    out._keys = list_copy(c._keys)
    if isinstance(c, dict):
        out._values = list_copy(c._values)
    out._used = c._used
    return out


def contains(key, c):
    """dict.__in__, set.__in__"""
    return find(c, key, hash_of(key)) >= 0


def lacks(key, c):
    """dict.__notin__, set.__notin__"""
    return find(c, key, hash_of(key)) < 0


def iterate(c):
    """dict.__iter__, set.__iter__"""
    dense(c)
    return view(c._keys)


FUNCTIONS = {"builtins.hash": hash_of}
for kind in ("dict", "set"):
    FUNCTIONS |= {f"{kind}.clear": clear, f"{kind}.copy": copy, f"{kind}.__in__": contains, f"{kind}.__notin__": lacks,
                  f"{kind}.__iter__": iterate}
