# SPDX-License-Identifier: Apache-2.0
"""Methods of tuples. Meaning: https://docs.python.org/3/library/stdtypes.html#common-sequence-operations."""


def index(t, x, start=0, stop=9223372036854775807):
    """tuple.index"""
    n = len(t)
    low = max(start + n, 0) if start < 0 else start
    high = stop + n if stop < 0 else stop
    i = 0
    for v in t:
        if low <= i and i < high and v == x:
            return i
        i += 1
    raise ValueError("tuple.index(x): x not in tuple")


def count(t, x):
    """tuple.count"""
    n = 0
    for v in t:
        if v == x:
            n += 1
    return n


FUNCTIONS = {"tuple.index": index, "tuple.count": count}
