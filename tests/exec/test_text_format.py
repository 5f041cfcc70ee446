# SPDX-License-Identifier: Apache-2.0
"""str(), repr(), format(), formatted strings, print, int() and float() of text, against CPython."""
import contextlib
import io
import math
import random
import struct

import numpy as np
import pytest

from programs import raises_made
from same import check, compiled

FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 1 / 3, 1e16, 1e17, 9999999999999998.0, 1e15, 123456789.125, 1e-4, 1e-5, 5e-324, 2.2250738585072014e-308,
          1.7976931348623157e308, 2.0 ** -44, 2.0 ** 53, 2.0 ** 60, 9007199254740993.0, 1e22, 1e23, 4.5e15, 0.5, 2.5, 1e21, 1e300, math.pi, math.inf, -math.inf,
          math.nan, 9.5, 99.95, 0.00012345, 123456.0, 999999.5, 1e6, 5e22, 2.0 ** 54 + 4]
INTS = [0, 1, -1, 9, 10, 123, -1234, 1234567, 2 ** 31, -2 ** 63, 2 ** 63 - 1, 65, 0x10FFFF]


def texts(x):
    return str(x), repr(x), f"{x}", f"{x!r}", f"{x!s:>25}", format(x), "%s" if False else str((x,))


def number_text(x):
    return str(x)


@pytest.mark.parametrize("x", FLOATS + INTS + [True, False, "a'b", 'a"b', "a'\"b\\\n\t\x07\u0394\u0300\U0001f600", 1 + 2j, -0.0 - 1j, 1j, complex(math.nan, -0.0), None, (),
                                            (1,), (1, 2.5, "a", None, (True,))])
def test_texts(x):
    if x is None or isinstance(x, (tuple, str)):
        check(lambda x: (str(x), repr(x)), x)
    else:
        check(texts, x)


def test_random_floats():
    """Shortest digits of doubles and singles of every size."""
    random.seed(1)
    f, back = compiled(number_text), compiled(read_float)
    for _ in range(20000):
        x = struct.unpack("<d", struct.pack("<Q", random.getrandbits(64)))[0]
        if x == x:
            s = repr(x)
            assert f(x) == s
            assert back(s) == x
    for _ in range(3000):
        x = random.uniform(-1, 1) * 10 ** random.randint(-8, 8)
        assert f(x) == repr(x) and back(repr(x)) == x
        x = round(x, random.randint(0, 6))
        assert f(x) == repr(x) and back(repr(x)) == x
    for e in range(-1074, 1024):
        assert f(2.0 ** e) == repr(2.0 ** e), e
    for e in range(-323, 309):
        x = float(f"1e{e}")
        assert f(x) == repr(x) and back(f"1e{e}") == x, e


def test_narrow_floats():
    f = compiled(number_text)
    random.seed(2)
    for _ in range(3000):
        x = np.uint32(random.getrandbits(32)).reshape(1).view(np.float32)[0]
        if x == x and (abs(x) < 1e16 and abs(x) > 1e-4):
            assert f(x) == str(x), x
    assert f(np.float32(0.1)) == "0.1"


def formats(x, spec):
    return format(x, spec)


@pytest.mark.parametrize("x", FLOATS)
def test_float_formats(x):
    for spec in ("", ".0f", ".1f", ".3f", "f", "F", "e", ".0e", ".10e", "E", "g", ".3g", "G", ".0g", "#.3g", "#.0f", "%", ".1%", "10.2f", "<10.2f|"[:-1], "^12.3f", "+.2f",
                 " .2f", "010.2f", "=+10.1f", ",.2f", "_.3f", "015,.2f", "*>15.3e", ".25f", ".17g", ".20g", "n", ".5", "10", "z.0f", "z.1f", "+z.1f", "\u0394^12.1f", "012", ".500f",
                 ".400e", "#g", "#", "020,", ",", "_g"):
        check(formats, x, spec)


@pytest.mark.parametrize("x", INTS)
def test_int_formats(x):
    for spec in ("", "d", "b", "o", "x", "X", "#b", "#o", "#x", "#X", "5d", "<8d", "^9d", "08d", "+d", " d", "+08,d", ",", "_", "_b", "_x", "#_x", "020_b", "#020x", "*^20,d",
                 "e", ".2f", "g", "%", "n", "=10", "-", "06,", "07,", "08,", "\U0001f600>30"):
        check(formats, x, spec)
    if 0 <= x <= 0x10FFFF:
        check(formats, x, "c")
        check(formats, x, "*^5c")


@pytest.mark.parametrize("s", ["", "abc", "\u0394\u03b5", "\U0001f600"])
def test_str_formats(s):
    for spec in ("", "s", "10", "<10", ">10", "^10", "*^10s", ".2", ".2s", "10.1", "010", "\u0394>7", ".0"):
        check(formats, s, spec)


def test_bool_formats():
    for spec in ("", "d", "5", "x", "s"):
        check(formats, True, spec)


WRONG = [(1, "s"), (1, "q"), (1, ".2d"), (1, "+c"), (1, "#c"), (1, ",_"), (1, "_,"), (1, ",b"), (1, ",c"), (1, "5.d"), (1, "xx"), (-1, "c"), (1, "zd"),
         (1.5, "d"), (1.5, "s"), (1.5, "x"), (1.5, "."), (1.5, ",n"), ("a", "d"), ("a", "+"), ("a", " "), ("a", "#"), ("a", "=5"), ("a", ","), ("a", "_"), ("a", "z"), ("a", "xs")]


@pytest.mark.parametrize("x,spec", WRONG)
def test_wrong_formats(x, spec):
    check(formats, x, spec)


def holes(x, i, s, w):
    return (f"{x:.2f} {i:5d} {s:>{w}} {x:{w}.{i % 4}f} {{}} {s!r:^{w}}", f"{i + 1}{s[:2]}{x * 2:e}", f"", f"plain", f"{i:,}", f"{s}" f"{i}",
            f"{i=}", f"{x!r:>30}")


@pytest.mark.parametrize("arguments", [(1.5, 3, "ab", 8), (-0.001, 1000000, "\u0394", 12), (1e20, 0, "", 5)])
def test_formatted_strings(arguments):
    check(holes, *arguments)


def containers(x, s):
    a = [1, 2, 3]
    d = {s: x, "k": 2.0}
    return str(a), repr([x, 2.0]), str([s, "b"]), str(d), str({1}), str((a, s)), f"{a}", str([[1], [2, 3]]), repr({1: (s, x)}), str([(1, s)]), str([True])


@pytest.mark.parametrize("s", ["a", "it's", "\u0394\n"])
def test_containers(s):
    check(containers, 0.1, s)


def read_int(s):
    return int(s)


def read_based(s, base):
    return int(s, base)


def read_float(s):
    return float(s)


@pytest.mark.parametrize("s", ["0", "12", " -7 ", "+5", "1_000", "\u0661\u0662", "9223372036854775807", "-9223372036854775808", "007", "", " ", "1x", "_1", "1_", "1__0", "--1", "0x10",
                               "1.5", "+", "\n3\t", "1 2", "'"])
def test_read_int(s):
    check(read_int, s)
    for base in (0, 2, 10, 16, 36):
        if len(s) < 12:
            check(read_based, s, base)


@pytest.mark.parametrize("s,base", [("0x1F", 16), ("0b101", 0), ("0o17", 0), ("z", 36), ("0x_1", 0), ("0", 0), ("00", 0), ("01", 0), ("12", 37), ("1", 1), ("ff", 16), ("0b2", 2)])
def test_read_based(s, base):
    check(read_based, s, base)


def test_too_large_ints():
    with pytest.raises(OverflowError):
        compiled(read_int)("9223372036854775808")


@pytest.mark.parametrize("s", ["0", "1.5", "-0.0", ".5", "5.", "1e5", "1E-5", "+1e+10", " 2.5\n", "inf", "-Infinity", "nan", "NaN", "1_0.2_5", "1e400", "-1e400", "1e-400", "5e-324",
                               "2.4703282292062327e-324", "2.4703282292062328e-324", "1.7976931348623157e308", "1.7976931348623159e308", "9007199254740993", "9007199254740992.9999999999999999",
                               "0." + "0" * 400 + "1", "1" + "0" * 400, "1" * 30, "0.1" + "0" * 900 + "1", "\u0661.\u0665", "", ".", "e5", "1e", "1_", "_1", "1__0", "1._5", "1.5x", "--1", "in f", "1e5_0",
                               "0x10", "179769313486231580793728971405301e276", "6.62607004e-34", "4.35", "0.000001", "100000000000000016777215", "8.5", "3.0000000000000004440892098500626"])
def test_read_float(s):
    check(read_float, s)


def shows(x, s):
    print(x, s, 1, True, None, (1, s), [x], sep="-")
    print()
    print("a", end="")
    print(s, x, sep="", end="!\n")
    print("\u0394\U0001f600", f"{x:.2f}")
    print([s], {s: x})


@pytest.mark.parametrize("s", ["text", "", "\u0394" * 500])
def test_print(s):
    ours, theirs = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(theirs):
        shows(1.5, s)
    with contextlib.redirect_stdout(ours):
        compiled(shows)(1.5, s)
    assert ours.getvalue() == theirs.getvalue()


def handled(s, n):
    """Text that exceptions hold, caught, raised again, left by each way."""
    out = []
    for i in range(n):
        try:
            if i % 4 == 0:
                raise ValueError(f"{s}{i}")
            if i % 4 == 1:
                raise KeyError(s)
            out.append(s)
        except ValueError:
            if i % 8 == 0:
                continue
            out.append("v")
        except KeyError:
            if i > 60:
                break
            try:
                raise TypeError(f"{i}{s}")
            except TypeError:
                out.append("t")
        finally:
            out.append("f")
    try:
        try:
            raise IndexError(s + "!")
        except IndexError:
            if n % 2:
                return "".join(out)
            raise
    finally:
        out.append("end")


@pytest.mark.parametrize("n", range(7))
def test_raised_text(n):
    check(raises_made, "a\u0394", n)
    check(handled, "b\u0394", n)
    check(handled, "b\u0394", n + 100)


def test_raised_text_is_given_back():
    import kilnjit
    for function in (raises_made, handled):
        f = compiled(function)
        for n in (1, 2, 3, 4, 5, 80, 81):
            before = kilnjit._kiln.counts()["mem_live"]
            for _ in range(300):
                with contextlib.suppress(Exception):
                    f("text\u0394", n)
            assert kilnjit._kiln.counts()["mem_live"] == before, (function.__name__, n)
