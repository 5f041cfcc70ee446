# SPDX-License-Identifier: Apache-2.0
"""bytes: what str does with the same values, and letters and spaces of ASCII alone.
Meaning: https://docs.python.org/3/library/stdtypes.html#bytes-and-bytearray-operations"""
import text
from intrinsics import (as_bytes, as_text, list_of, list_push, text_add, text_count, text_find, text_join, text_map,
                        text_repeat, text_replace, text_rfind, text_strip, text_test, text_view)

SPACES = " \t\n\r\x0b\x0c"
ASCII = 16  # with the numbers of runtime/text_case.c


def add(a, b):
    """bytes.__add__"""
    return as_bytes(text_add(as_text(a), as_text(b)))


def mul(s, n):
    """bytes.__mul__"""
    return as_bytes(text_repeat(as_text(s), n))


def rmul(n, s):
    """bytes.__rmul__"""
    return as_bytes(text_repeat(as_text(s), n))


def contains(sub, s):
    """bytes.__in__"""
    if isinstance(sub, bytes):
        return text_find(as_text(s), as_text(sub), 0, text.END) >= 0
    if sub < 0 or sub > 255:
        raise ValueError("byte must be in range(0, 256)")
    for x in s:
        if x == sub:
            return True
    return False


def lacks(sub, s):
    """bytes.__notin__"""
    return not contains(sub, s)


def find(s, sub, start=None, stop=None):
    """bytes.find"""
    return text_find(as_text(s), as_text(sub), text.begin(start), text.end(stop))


def rfind(s, sub, start=None, stop=None):
    """bytes.rfind"""
    return text_rfind(as_text(s), as_text(sub), text.begin(start), text.end(stop))


def index(s, sub, start=None, stop=None):
    """bytes.index"""
    i = find(s, sub, start, stop)
    if i < 0:
        raise ValueError("subsection not found")
    return i


def rindex(s, sub, start=None, stop=None):
    """bytes.rindex"""
    i = rfind(s, sub, start, stop)
    if i < 0:
        raise ValueError("subsection not found")
    return i


def count(s, sub, start=None, stop=None):
    """bytes.count"""
    return text_count(as_text(s), as_text(sub), text.begin(start), text.end(stop))


def startswith(s, prefix, start=None, stop=None):
    """bytes.startswith"""
    return text.starts(as_text(s), as_text(prefix), text.begin(start), text.end(stop))


def endswith(s, suffix, start=None, stop=None):
    """bytes.endswith"""
    return text.ends(as_text(s), as_text(suffix), text.begin(start), text.end(stop))


def replace(s, old, new, count=-1):
    """bytes.replace"""
    return as_bytes(text_replace(as_text(s), as_text(old), as_text(new), count))


def stripped(s, chars, mode):
    if chars is None:
        return as_bytes(text_strip(as_text(s), SPACES, mode))
    return as_bytes(text_strip(as_text(s), as_text(chars), mode))


def strip(s, chars=None):
    """bytes.strip"""
    return stripped(s, chars, 3)


def lstrip(s, chars=None):
    """bytes.lstrip"""
    return stripped(s, chars, 1)


def rstrip(s, chars=None):
    """bytes.rstrip"""
    return stripped(s, chars, 2)


def all_bytes(parts):
    out = list_of(b"")
    for p in parts:
        list_push(out, as_bytes(p))
    return out


def is_space(s, i):
    return text_find(SPACES, text_view(s, i, 1), 0, text.END) >= 0


def split_space(s, most):
    out = list_of(s)
    n, i = len(s), 0
    while i < n and is_space(s, i):
        i += 1
    while i < n:
        j = i
        if most >= 0 and len(out) == most:
            j = n
        while j < n and not is_space(s, j):
            j += 1
        list_push(out, text_view(s, i, j - i))
        i = j
        while i < n and is_space(s, i):
            i += 1
    return out


def split(s, sep=None, maxsplit=-1):
    """bytes.split"""
    if sep is None:
        return all_bytes(split_space(as_text(s), maxsplit))
    return all_bytes(text.split(as_text(s), as_text(sep), maxsplit))


def splitlines(s, keepends=False):
    """bytes.splitlines"""
    return all_bytes(text.lines(as_text(s), keepends, True))


def join(sep, items):
    """bytes.join"""
    out = list_of("")
    for x in items:
        list_push(out, as_text(x))
    return as_bytes(text_join(as_text(sep), out))


def upper(s):
    """bytes.upper"""
    return as_bytes(text_map(as_text(s), ASCII))


def lower(s):
    """bytes.lower"""
    return as_bytes(text_map(as_text(s), ASCII + 1))


def title(s):
    """bytes.title"""
    return as_bytes(text_map(as_text(s), ASCII + 2))


def capitalize(s):
    """bytes.capitalize"""
    return as_bytes(text_map(as_text(s), ASCII + 3))


def swapcase(s):
    """bytes.swapcase"""
    return as_bytes(text_map(as_text(s), ASCII + 4))


def isalpha(s):
    """bytes.isalpha"""
    return text_test(as_text(s), ASCII)


def isdigit(s):
    """bytes.isdigit"""
    return text_test(as_text(s), ASCII + 2)


def islower(s):
    """bytes.islower"""
    return text_test(as_text(s), ASCII + 4)


def isupper(s):
    """bytes.isupper"""
    return text_test(as_text(s), ASCII + 5)


def istitle(s):
    """bytes.istitle"""
    return text_test(as_text(s), ASCII + 7)


def isspace(s):
    """bytes.isspace"""
    return text_test(as_text(s), ASCII + 8)


def isalnum(s):
    """bytes.isalnum"""
    return text_test(as_text(s), ASCII + 9)


def isascii(s):
    """bytes.isascii"""
    return text_test(as_text(s), 11)


METHODS = [find, rfind, index, rindex, count, startswith, endswith, replace, strip, lstrip, rstrip, split, splitlines, join,
           upper, lower, title, capitalize, swapcase, isalpha, isdigit, islower, isupper, istitle, isspace, isalnum, isascii]
FUNCTIONS = {"bytes.__add__": add, "bytes.__mul__": mul, "bytes.__rmul__": rmul, "bytes.__in__": contains,
             "bytes.__notin__": lacks} | {f"bytes.{f.__name__}": f for f in METHODS}
