# SPDX-License-Identifier: Apache-2.0
"""Builtins that go through any iterable. Meaning: https://docs.python.org/3/library/functions.html. Whole arrays are
reduced as NumPy does it."""
import numpy as np
from reductions import every, greatest, least, some


def total(items, start=0):
    """builtins.sum"""
    t = start
    for v in items:
        t = t + v
    return t


def any_of(items):
    """builtins.any"""
    if isinstance(items, np.ndarray):
        return some(items)
    for v in items:
        if v:
            return True
    return False


def all_of(items):
    """builtins.all"""
    if isinstance(items, np.ndarray):
        return every(items)
    for v in items:
        if not v:
            return False
    return True


def ranked(x, key):
    if key is None:
        return x
    return key(x)


def smallest(items, key=None, default="none"):
    """builtins.min of one iterable"""
    if isinstance(items, np.ndarray) and key is None and isinstance(default, str):
        return least(items)
    if isinstance(items, tuple) and len(items) > 0:
        return min_of(*items, key=key)
    found = False
    for x in items:
        if not found:
            best = x
            found = True
        elif ranked(x, key) < ranked(best, key):
            best = x
    if not found:
        if isinstance(default, str):
            raise ValueError("min() arg is an empty sequence")
        return default
    return best


def largest(items, key=None, default="none"):
    """builtins.max of one iterable"""
    if isinstance(items, np.ndarray) and key is None and isinstance(default, str):
        return greatest(items)
    if isinstance(items, tuple) and len(items) > 0:
        return max_of(*items, key=key)
    found = False
    for x in items:
        if not found:
            best = x
            found = True
        elif ranked(x, key) > ranked(best, key):
            best = x
    if not found:
        if isinstance(default, str):
            raise ValueError("max() arg is an empty sequence")
        return default
    return best


def min_of(*items, key=None):
    """builtins.min of several arguments"""
    best = items[0]
    for x in items[1:]:
        if ranked(x, key) < ranked(best, key):
            best = x
    return best


def max_of(*items, key=None):
    """builtins.max of several arguments"""
    best = items[0]
    for x in items[1:]:
        if ranked(x, key) > ranked(best, key):
            best = x
    return best


FUNCTIONS = {"kiln.min_of": min_of, "kiln.max_of": max_of, "builtins.sum": total, "builtins.any": any_of, "builtins.all": all_of, "builtins.min": smallest,
             "builtins.max": largest}
