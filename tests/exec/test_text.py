# SPDX-License-Identifier: Apache-2.0
"""str and bytes inside compiled code and at its boundary, against CPython: empty, each width, lone surrogates, NUL."""
import gc

import pytest

import kilnjit
from same import check, compiled

TEXTS = ["", "a", "hello world", "x\0y\0", "caf\u00e9 \u00ff", "\u0394\u03b5\u03bb\u03c4\u03b1 ab", "a\u0301e\u0301", "\U0001f600 smile \U0010ffff",
         "\ud800", "\ud83d\ude00 two", "mixed \u00e9\u0394\U0001f600"]


def same(s):
    return s


def add(a, b):
    return a + b


def repeat(s, n):
    return s * n, n * s, s * -1


def compare(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b, a in b, a not in b


def constants(s):
    return s + "\u00e9", "\u0394" + s, s + "\U0001f600\0", s == "a", s == "\u0394\u03b5\u03bb\u03c4\u03b1 ab", len("\U0001f600\u0394"), s < "b"


def index(s, i):
    return s[i], len(s)


def slices(s, i, j):
    return s[i:j], s[i:], s[:j], s[::-1], s[i:j:2], s[j:i:-1], s[:], s[-3:]


def items(s):
    out = []
    for c in s:
        out.append(c + c)
    n = 0
    for i, c in enumerate(s):
        n += i * ord(c)
    t = ""
    for c in reversed(s):
        t += c
    for a, b in zip(s, t):
        n += a == b
    return len(out), n, t, t[::-1] == s


def truths(s):
    return bool(s), not s, 1 if s else 2, s or "none", s and "some"


def codes(s):
    n = 0
    for c in s:
        n = n * 31 % 1000003 + ord(c)
        assert chr(ord(c)) == c
    return n


def one_code(s):
    return ord(s)


def char(c):
    return chr(c)


def hashes(s):
    return hash(s), hash(s[1:]), hash((s, 1)), hash(s + "")


def counted(s):
    d = {}
    for c in s:
        if c in d:
            d[c] += 1
        else:
            d[c] = 1
    keys = ""
    for k in d:
        keys = keys + k
    seen = set()
    for c in s:
        seen.add(c)
    return keys, len(seen), len(d), d["a"] if "a" in d else -1


def in_containers(a, b):
    words = [a, b, a + b, "const"]
    words.append(b)
    words.sort()
    pairs = [(a, 1), (b, 2)]
    d = {a: b, "k": a}
    best = max(words)
    return words[0], words[-1], words.index("const"), words.count(b), pairs[1], d["k"], best, min(words), a in words


def in_tuple(t):
    a, b = t
    return b, (a, b + a), t


def optional(s, n):
    x = None
    if n > 0:
        x = s
    return x


def branches(s, n):
    r = s if n > 0 else "no"
    while len(r) < n:
        r += s[:1] + "."
    return r


def raises(s, n):
    if n == 1:
        raise ValueError(s)
    if n == 2:
        raise KeyError(s, n)
    if n == 3:
        raise RuntimeError("only " + s)
    return n


@pytest.mark.parametrize("s", TEXTS)
def test_each(s):
    for function in (same, constants, items, truths, codes, hashes, counted):
        check(function, s)
    for n in (0, 1, 2, 5):
        check(repeat, s, n)
        check(optional, s, n)
        check(branches, s, n) if s else None
        check(raises, s, n)
    for i in range(-4, 5):
        check(index, s, i)
        for j in (-2, 0, 1, 3, 100):
            check(slices, s, i, j)


@pytest.mark.parametrize("a", TEXTS)
def test_pairs(a):
    for b in TEXTS:
        check(add, a, b)
        check(compare, a, b)
        check(in_containers, a, b)
        check(in_tuple, (a, b))


@pytest.mark.parametrize("c", [0, 65, 255, 256, 0xD800, 0xFFFF, 0x10000, 0x10FFFF, -1, 0x110000])
def test_chr(c):
    check(char, c)


@pytest.mark.parametrize("s", ["", "ab", "a", "\U0001f600"])
def test_ord(s):
    check(one_code, s)


def test_views_compare_by_content():
    check(compare, "\U0001f600abc"[1:], "abc")
    wide = compiled(slices)("\U0001f600abc", 1, 4)
    assert wide[0] == "abc" and hash(wide[0]) == hash("abc")


BYTES = [b"", b"a", b"hello", b"\0\xff\0", bytes(range(256))]


def of_bytes(b, i):
    t = 0
    for x in b:
        t += x
    return t, len(b), b[i:], b[::-1], b[i::2], b == b"hello", b < b"b", hash(b), bool(b), b


def byte_at(b, i):
    return b[i], b[-1]


@pytest.mark.parametrize("b", BYTES)
def test_bytes(b):
    for i in (-1, 0, 3):
        check(of_bytes, b, i)
        check(byte_at, b, i)


def make_words(s, n):
    words = [s + str_of(i) for i in range(n)]
    d = {w: w + w for w in words}
    return d[words[-1]]


def str_of(i):
    return chr(65 + i % 26)


def test_memory_is_given_back():
    """Strings made, kept, dropped, returned, raised: nothing stays."""
    names = [(make_words, ("\u0394x", 20)), (raises, ("abc\u0394", 2)), (same, ("\u0394\u0394",)), (in_tuple, (("\u0394", "b"),)), (counted, ("hello",))]
    for function, arguments in names:
        compiled_one = compiled(function)
        for _ in range(3):
            before = kilnjit._kiln.counts()["mem_live"]
            for _ in range(200):
                try:
                    compiled_one(*arguments)
                except KeyError:
                    pass
            gc.collect()
            assert kilnjit._kiln.counts()["mem_live"] == before, function.__name__


def test_eager_signature():
    f = kilnjit.njit("unicode_type(unicode_type, int64)")(branches)
    assert f("xy", 5) == branches("xy", 5)
