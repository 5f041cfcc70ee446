# SPDX-License-Identifier: Apache-2.0
"""str. Meaning: https://docs.python.org/3/library/stdtypes.html#text-sequence-type-str"""
import numpy as np
from intrinsics import (list_of, list_push, text_add, text_chr, text_code, text_count, text_find, text_join, text_line,
                        text_map, text_pad, text_repeat, text_replace, text_rfind, text_rskip, text_skip, text_strip,
                        text_tabs, text_test, text_view)

END = 9223372036854775807
LEFT, RIGHT, SPACE = 1, 2, 4  # text_strip


def add(a, b):
    """str.__add__"""
    return text_add(a, b)


def mul(s, n):
    """str.__mul__"""
    return text_repeat(s, n)


def rmul(n, s):
    """str.__rmul__"""
    return text_repeat(s, n)


def contains(sub, s):
    """str.__in__"""
    return text_find(s, sub, 0, END) >= 0


def lacks(sub, s):
    """str.__notin__"""
    return text_find(s, sub, 0, END) < 0


def code(s):
    """ord(s)"""
    if len(s) != 1:
        raise TypeError(f"ord() expected a character, but string of length {len(s)} found")
    if isinstance(s, bytes):
        return s[0]
    return text_code(s, 0)


def character(c):
    """chr(c)"""
    if c < 0 or c > 0x10FFFF:
        raise ValueError("chr() arg not in range(0x110000)")
    return text_chr(c)


# ---- finding

def begin(start):
    if start is None:
        return 0
    return start


def end(stop):
    if stop is None:
        return END
    return stop


def find(s, sub, start=None, stop=None):
    """str.find"""
    return text_find(s, sub, begin(start), end(stop))


def rfind(s, sub, start=None, stop=None):
    """str.rfind"""
    return text_rfind(s, sub, begin(start), end(stop))


def index(s, sub, start=None, stop=None):
    """str.index"""
    i = text_find(s, sub, begin(start), end(stop))
    if i < 0:
        raise ValueError("substring not found")
    return i


def rindex(s, sub, start=None, stop=None):
    """str.rindex"""
    i = text_rfind(s, sub, begin(start), end(stop))
    if i < 0:
        raise ValueError("substring not found")
    return i


def count(s, sub, start=None, stop=None):
    """str.count"""
    return text_count(s, sub, begin(start), end(stop))


def clamped(i, n):
    if i < 0:
        return max(i + n, 0)
    return i


def starts(s, prefix, start, stop):
    n = len(s)
    i = clamped(start, n)
    j = min(clamped(stop, n), n)
    if j - i < len(prefix):
        return False
    return text_view(s, i, len(prefix)) == prefix


def ends(s, suffix, start, stop):
    n = len(s)
    i = clamped(start, n)
    j = min(clamped(stop, n), n)
    if j - i < len(suffix):
        return False
    return text_view(s, j - len(suffix), len(suffix)) == suffix


def startswith(s, prefix, start=None, stop=None):
    """str.startswith"""
    if isinstance(prefix, tuple):
        for p in prefix:
            if starts(s, p, begin(start), end(stop)):
                return True
        return False
    return starts(s, prefix, begin(start), end(stop))


def endswith(s, suffix, start=None, stop=None):
    """str.endswith"""
    if isinstance(suffix, tuple):
        for p in suffix:
            if ends(s, p, begin(start), end(stop)):
                return True
        return False
    return ends(s, suffix, begin(start), end(stop))


def removeprefix(s, prefix):
    """str.removeprefix"""
    if starts(s, prefix, 0, END):
        return s[len(prefix):]
    return s


def removesuffix(s, suffix):
    """str.removesuffix"""
    if len(suffix) > 0 and ends(s, suffix, 0, END):
        return s[:len(s) - len(suffix)]
    return s


def replace(s, old, new, count=-1):
    """str.replace"""
    return text_replace(s, old, new, count)


# ---- splitting and joining

def split_space(s, most):
    out = list_of(s)
    n, i = len(s), text_skip(s, 0, True)
    while i < n:
        if most >= 0 and len(out) == most:
            list_push(out, text_view(s, i, n - i))
            break
        j = text_skip(s, i, False)
        list_push(out, text_view(s, i, j - i))
        i = text_skip(s, j, True)
    return out


def rsplit_space(s, most):
    out = list_of(s)
    i = text_rskip(s, len(s), True)
    while i > 0:
        if most >= 0 and len(out) == most:
            list_push(out, text_view(s, 0, i))
            break
        j = text_rskip(s, i, False)
        list_push(out, text_view(s, j, i - j))
        i = text_rskip(s, j, True)
    out.reverse()
    return out


def split(s, sep=None, maxsplit=-1):
    """str.split"""
    if sep is None:
        return split_space(s, maxsplit)
    if len(sep) == 0:
        raise ValueError("empty separator")
    out = list_of(s)
    i = 0
    while maxsplit < 0 or len(out) < maxsplit:
        j = text_find(s, sep, i, END)
        if j < 0:
            break
        list_push(out, text_view(s, i, j - i))
        i = j + len(sep)
    list_push(out, text_view(s, i, len(s) - i))
    return out


def rsplit(s, sep=None, maxsplit=-1):
    """str.rsplit"""
    if sep is None:
        return rsplit_space(s, maxsplit)
    if len(sep) == 0:
        raise ValueError("empty separator")
    out = list_of(s)
    i = len(s)
    while maxsplit < 0 or len(out) < maxsplit:
        j = text_rfind(s, sep, 0, i)
        if j < 0:
            break
        list_push(out, text_view(s, j + len(sep), i - j - len(sep)))
        i = j
    list_push(out, text_view(s, 0, i))
    out.reverse()
    return out


def lines(s, keepends, of_bytes):
    out = list_of(s)
    i, n = 0, len(s)
    while i < n:
        j = text_line(s, i, of_bytes)
        k = j
        if j < n:
            k += 1
            if k < n and text_code(s, j) == 13 and text_code(s, k) == 10:
                k += 1
        list_push(out, text_view(s, i, (k if keepends else j) - i))
        i = k
    return out


def splitlines(s, keepends=False):
    """str.splitlines"""
    return lines(s, keepends, False)


def join(sep, items):
    """str.join"""
    if isinstance(items, list):
        return text_join(sep, items)
    out = list_of(sep)
    for x in items:
        list_push(out, x)
    return text_join(sep, out)


def partition(s, sep):
    """str.partition"""
    if len(sep) == 0:
        raise ValueError("empty separator")
    i = text_find(s, sep, 0, END)
    if i < 0:
        return s, "", ""
    return s[:i], sep, s[i + len(sep):]


def rpartition(s, sep):
    """str.rpartition"""
    if len(sep) == 0:
        raise ValueError("empty separator")
    i = text_rfind(s, sep, 0, END)
    if i < 0:
        return "", "", s
    return s[:i], sep, s[i + len(sep):]


# ---- stripping and padding

def stripped(s, chars, mode):
    if chars is None:
        return text_strip(s, "", mode | SPACE)
    return text_strip(s, chars, mode)


def strip(s, chars=None):
    """str.strip"""
    return stripped(s, chars, LEFT | RIGHT)


def lstrip(s, chars=None):
    """str.lstrip"""
    return stripped(s, chars, LEFT)


def rstrip(s, chars=None):
    """str.rstrip"""
    return stripped(s, chars, RIGHT)


def one(fill):
    if len(fill) != 1:
        raise TypeError("The fill character must be exactly one character long")
    return fill


def center(s, width, fillchar=" "):
    """str.center"""
    pad = max(width - len(s), 0)
    left = pad // 2 + (pad & width & 1)
    return text_pad(s, left, pad - left, one(fillchar))


def ljust(s, width, fillchar=" "):
    """str.ljust"""
    return text_pad(s, 0, width - len(s), one(fillchar))


def rjust(s, width, fillchar=" "):
    """str.rjust"""
    return text_pad(s, width - len(s), 0, one(fillchar))


def zfill(s, width):
    """str.zfill"""
    if len(s) > 0 and (s[0] == "+" or s[0] == "-"):
        return text_add(text_view(s, 0, 1), text_pad(text_view(s, 1, len(s) - 1), width - len(s), 0, "0"))
    return text_pad(s, width - len(s), 0, "0")


def expandtabs(s, tabsize=8):
    """str.expandtabs"""
    return text_tabs(s, tabsize)


# ---- case, and what text is made of: numbers as in runtime/text_case.c

def upper(s):
    """str.upper"""
    return text_map(s, 0)


def lower(s):
    """str.lower"""
    return text_map(s, 1)


def title(s):
    """str.title"""
    return text_map(s, 2)


def capitalize(s):
    """str.capitalize"""
    return text_map(s, 3)


def swapcase(s):
    """str.swapcase"""
    return text_map(s, 4)


def casefold(s):
    """str.casefold"""
    return text_map(s, 5)


def isalpha(s):
    """str.isalpha"""
    return text_test(s, 0)


def isdecimal(s):
    """str.isdecimal"""
    return text_test(s, 1)


def isdigit(s):
    """str.isdigit"""
    return text_test(s, 2)


def isnumeric(s):
    """str.isnumeric"""
    return text_test(s, 3)


def islower(s):
    """str.islower"""
    return text_test(s, 4)


def isupper(s):
    """str.isupper"""
    return text_test(s, 5)


def isprintable(s):
    """str.isprintable"""
    return text_test(s, 6)


def istitle(s):
    """str.istitle"""
    return text_test(s, 7)


def isspace(s):
    """str.isspace"""
    return text_test(s, 8)


def isalnum(s):
    """str.isalnum"""
    return text_test(s, 9)


def isidentifier(s):
    """str.isidentifier"""
    return text_test(s, 10)


def isascii(s):
    """str.isascii"""
    return text_test(s, 11)


METHODS = [find, rfind, index, rindex, count, startswith, endswith, removeprefix, removesuffix, replace, split, rsplit,
           splitlines, join, partition, rpartition, strip, lstrip, rstrip, center, ljust, rjust, zfill, expandtabs,
           upper, lower, title, capitalize, swapcase, casefold, isalpha, isdecimal, isdigit, isnumeric, islower, isupper,
           isprintable, istitle, isspace, isalnum, isidentifier, isascii]
FUNCTIONS = {
    "str.__add__": add, "str.__mul__": mul, "str.__rmul__": rmul, "str.__in__": contains, "str.__notin__": lacks,
    "builtins.ord": code, "builtins.chr": character,
} | {f"str.{f.__name__}": f for f in METHODS}
