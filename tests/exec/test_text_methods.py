# SPDX-License-Identifier: Apache-2.0
"""Methods of str and bytes against CPython: each with empty, ASCII, wide, combining and special-casing text."""
import sys
import unicodedata

import pytest

from same import check, compiled

TEXTS = ["", " ", "a", "hello world", "  two  words ", "Hello World", "UPPER", "a,b,,c,", "tab\there\n\tand\r\nline\x0bmore\x85end",
         "stra\u00dfe \ufb01 \u0130\u0149", "\u03a3\u0391\u03a3 \u03c3\u03b1\u03c2 \u03a3.", "\u01c5 \u01c4\u01c6", "a\u0301e\u0301",
         "\u0661\u0662 \u00b2 \u2167 \u4e00", "\U00010400\U00010428 \U0001f600", "\ud800x", "x\0y", "\u00a0x\u3000\u2028", "ab" * 20, "aaaa", "+12", "-7", "_a1"]


def cases(s):
    return s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase(), s.casefold()


def classes(s):
    return (s.isalpha(), s.isdecimal(), s.isdigit(), s.isnumeric(), s.islower(), s.isupper(), s.isprintable(), s.istitle(),
            s.isspace(), s.isalnum(), s.isidentifier(), s.isascii())


def splits(s):
    return s.split(), s.rsplit(), s.split(None, 1), s.rsplit(None, 1), s.split(None, 0), s.splitlines(), s.splitlines(True)


def strips(s):
    return s.strip(), s.lstrip(), s.rstrip(), s.strip("a \u0130x"), s.lstrip(""), s.rstrip(None)


def pads(s, n):
    return s.center(n), s.ljust(n, "*"), s.rjust(n, "\u0394"), s.zfill(n), s.center(n, "\U0001f600"), s.expandtabs(), s.expandtabs(n)


def reprs(s):
    return repr(s), ascii(s), str(s), f"{s}", f"{s!r}", f"{s!a:>30}", f"<{s:^20}>"


def finds(s, sub):
    return (s.find(sub), s.rfind(sub), s.count(sub), s.startswith(sub), s.endswith(sub), s.removeprefix(sub), s.removesuffix(sub),
            sub in s, s.replace(sub, "<>"), s.replace(sub, "", 1), s.replace(sub, "\u0394\U0001f600"))


def ranges(s, sub, i, j):
    return s.find(sub, i), s.find(sub, i, j), s.rfind(sub, i, j), s.count(sub, i, j), s.startswith(sub, i, j), s.endswith(sub, i, j)


def several(s):
    return s.startswith(("h", "a")), s.endswith(("d", "", "x")), s.startswith(("zz",), 1)


def index(s, sub):
    return s.index(sub), s.rindex(sub)


def separated(s, sep):
    return s.split(sep), s.rsplit(sep), s.split(sep, 1), s.rsplit(sep, 1), s.partition(sep), s.rpartition(sep)


def joins(s, sep):
    return (sep.join(s.split()), sep.join([s, s, s]), sep.join([s]), sep.join(s.split()[:0]), sep.join((s, "b")), sep.join(s),
            "".join({s: 1}), sep.join([c for c in s if c != " "]))


@pytest.mark.parametrize("s", TEXTS)
def test_each(s):
    for function in (cases, classes, splits, strips, reprs, several):
        check(function, s)
    for n in (0, 3, 8, 15):
        check(pads, s, n)
    for sep in ("", ",", " ", "\u0394", "ab"):
        check(separated, s, sep)
        check(joins, s, sep)


@pytest.mark.parametrize("s", TEXTS)
def test_finding(s):
    for sub in ("", "a", "l", "ab", "aa", " ", "\u03c3", "\U0001f600", "\ud800", s, s + "x", s[1:], s[:-1]):
        check(finds, s, sub)
        check(index, s, sub)
        for i, j in ((0, 3), (-3, -1), (2, 1), (-100, 100), (50, 60), (1, 5)):
            check(ranges, s, sub, i, j)


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the tables are Unicode 14's")
def test_every_code_point():
    """Case and class of each character, a plane's worth at a time."""
    one_case, one_test = compiled(cases), compiled(classes)
    for c in range(0, sys.maxunicode + 1, 7):
        if 0xAC00 <= c < 0xD7A0 or 0x3400 <= c < 0x9FFF or 0x20000 <= c < 0xE0000 or c > 0xE0200:
            continue  # long runs of one kind
        s = chr(c)
        assert one_test(s) == classes(s), hex(c)
        assert one_case(s) == cases(s), hex(c)
    for c in range(0x600):
        s = chr(c)
        assert one_test(s) == classes(s) and one_case(s) == cases(s), hex(c)


def fill_character(s):
    return s.center(5, "ab")


def test_wrong_arguments():
    check(fill_character, "x")


BYTES = [b"", b"hello", b"  a b\tc ", b"A,b,,\xe9\xff", b"x\r\ny\nz", bytes(range(256)), b"Title Case", b"123"]


def byte_methods(b):
    return (b.upper(), b.lower(), b.title(), b.capitalize(), b.swapcase(), b.strip(), b.lstrip(b" x"), b.rstrip(), b.split(), b.split(None, 1),
            b.splitlines(), b.splitlines(True))


def byte_tests(b):
    return (b.isalpha(), b.isdigit(), b.islower(), b.isupper(), b.istitle(), b.isspace(), b.isalnum(), b.isascii(), repr(b), str(b), f"{b}", f"{b!r}")


def byte_finds(b, sub):
    return (b.find(sub), b.rfind(sub), b.count(sub), b.startswith(sub), b.endswith(sub), sub in b, 65 in b, 200 not in b, b.replace(sub, b"<>"), b + sub,
            b * 2, 2 * b, b < sub, sub.join([b, b]), b.find(sub, 1, -1))


@pytest.mark.parametrize("b", BYTES)
def test_bytes(b):
    check(byte_methods, b)
    check(byte_tests, b)
    for sub in (b"", b"l", b"\xff", b, b" "):
        check(byte_finds, b, sub)
