# SPDX-License-Identifier: Apache-2.0
"""Methods of numbers and builtins of one number, against CPython."""
import math

import numpy as np
import pytest

from kilnjit.errors import KilnError
from same import check, compiled

INTS = [0, 1, -1, 2, 3, 7, 8, 255, 256, -128, 2**31, -2**31, 2**62, 2**63 - 1, -2**63]
REALS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e300, 5e-324, 2.2250738585072014e-308, 2**51 + 0.5, 2.0**53, -7.0, math.inf, -math.inf, math.nan]


def bits(x):
    return x.bit_length(), x.bit_count(), x.conjugate(), x.real, x.imag


def texts(x):
    return bin(x), oct(x), hex(x)


def ratio(x):
    return x.as_integer_ratio()


def test_integers():
    for x in INTS:
        check(bits, x)
        check(texts, x)
        check(ratio, x)
    for t in (np.int8, np.uint8, np.uint64, np.int32):
        assert compiled(lambda x: (x.bit_length(), x.bit_count()))(t(100)) == (7, 3)
        check(texts, t(100))
    check(texts, np.uint64(2**64 - 1))
    check(bits, True)


def as_bytes(x, n, order, signed):
    return x.to_bytes(n, order, signed=signed)


def test_bytes():
    for x in INTS:
        for n in (0, 1, 2, 4, 7, 8, 9, 16):
            for order in ("big", "little"):
                for signed in (False, True):
                    check(as_bytes, x, n, order, signed)
    check(as_bytes, 5, -1, "big", False)
    check(as_bytes, 5, 1, "middle", False)
    check(lambda x: x.to_bytes(2, "big"), 1000)
    check(lambda x: x.to_bytes(3, byteorder="little"), 1000)


def back(b, order, signed):
    return int.from_bytes(b, order, signed=signed)


def test_from_bytes():
    for b in (b"", b"\x00", b"\xff", b"\x01\x02", b"\xff\xfe\x80", b"\x7f" + b"\xff" * 7, b"\x80" + b"\0" * 7, b"\0" * 9 + b"\x05"):
        for order in ("big", "little"):
            for signed in (False, True):
                want = int.from_bytes(b, order, signed=signed)
                if -2**63 <= want < 2**63:
                    check(back, b, order, signed)
                else:
                    with pytest.raises(OverflowError):
                        compiled(back)(b, order, signed)


def floats(x):
    return x.is_integer(), x.hex(), x.conjugate(), x.real, x.imag


def test_floats():
    for x in REALS:
        check(floats, x)
    for x in REALS:
        try:
            n, d = x.as_integer_ratio()
        except (ValueError, OverflowError):
            check(ratio, x)
            continue
        if abs(n) < 2**63 and d < 2**63:
            check(ratio, x)
        else:
            with pytest.raises(OverflowError):
                compiled(ratio)(x)
    check(lambda x: x.is_integer(), np.float64(3.0))


def test_complex():
    for z in (1 + 2j, complex(-0.0, 0.0), complex(math.inf, math.nan)):
        check(lambda z: (z.real, z.imag, z.conjugate()), z)


def modular(a, b, m):
    return pow(a, b, m)


def test_power_with_modulus():
    for a in (0, 1, 2, 3, 10, -7, 2**62, -2**63, 2**63 - 1):
        for b in (0, 1, 2, 5, 100, 2**63 - 1, -1, -3):
            for m in (1, -1, 2, 7, -7, 10, 97, 2**31, 2**61 - 1, 2**63 - 1, -2**63, 0):
                check(modular, a, b, m)


def rounds(x, n):
    return round(x, n)


def test_round_is_exact():
    """As CPython's, which rounds the decimal value: 2.675 is less than it looks."""
    for x in (2.675, 1.005, 0.15, 0.25, 0.35, -2.675, 1e22, 123456.789, 5e-324, 1.7976931348623157e308, 0.5, 1.5, 2.5, 1e16 + 2, 4503599627370497.5,
              math.inf, -math.inf, math.nan, -0.0, 0.045, 8.325, 1234.5675):
        for n in (0, 1, 2, 3, 4, 10, 15, 17, 20, 22, 23, 30, 323, 324, 400, -1, -2, -5, -300, -308, -309, -400):
            check(rounds, x, n)
    rng = np.random.default_rng(5)
    for x in rng.integers(0, 10**6, size=300) / 1000 + 0.0005:
        check(rounds, float(x), 3)
        check(rounds, float(x), 2)


def test_round_of_integers():
    for x in INTS:
        for n in (0, 1, -1, -2, -10, -18):
            want = round(x, n)
            if -2**63 <= want < 2**63:
                check(rounds, x, n)


def divided(a, b):
    return divmod(a, b)


def test_divmod():
    for a, b in ((7, 2), (-7, 2), (7, -2), (7, 0), (7.5, 2), (-7.5, 0.5), (1.0, 0.0), (math.inf, 2.0), (True, 2)):
        check(divided, a, b)


def test_wrong_types():
    for f, a, text in ((lambda a: hex(a), 1.5, ""), (lambda a: a.bit_length(), 1.5, "bit_length"), (lambda a: pow(a, 2, 3), 1.5, "integers"),
                       (lambda a: a.is_integer(), "x", "is_integer")):
        with pytest.raises((KilnError, TypeError)) as e:
            compiled(f)(a)
        assert text in str(e.value), str(e.value)
