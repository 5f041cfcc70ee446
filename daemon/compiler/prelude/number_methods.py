# SPDX-License-Identifier: Apache-2.0
"""Methods of numbers, and builtins that take them. Meaning: https://docs.python.org/3/library/stdtypes.html#additional-methods-on-integer-types"""
import math

import numpy as np
from intrinsics import as_bytes, bits, list_of, list_push, text_add, text_chr, text_int, text_join, text_round, static_error

FLAGS = 0


def magnitude(x):
    """|x| without a sign: of the least integer too."""
    if isinstance(x, np.unsignedinteger):
        return np.uint64(x)
    v = np.int64(x)
    if v < 0:
        return np.uint64(0) - np.uint64(v)
    return np.uint64(v)


def bit_length(x):
    """int.bit_length"""
    m = magnitude(x)
    n = 0
    for k in (32, 16, 8, 4, 2, 1):
        if (m >> np.uint64(k)) != 0:
            m >>= np.uint64(k)
            n += k
    return n + int(m)


def bit_count(x):
    """int.bit_count"""
    m = magnitude(x)
    m -= (m >> np.uint64(1)) & np.uint64(0x5555555555555555)
    m = (m & np.uint64(0x3333333333333333)) + ((m >> np.uint64(2)) & np.uint64(0x3333333333333333))
    m = (m + (m >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((m * np.uint64(0x0101010101010101)) >> np.uint64(56))


def to_bytes(x, length=1, byteorder="big", signed=False):
    """int.to_bytes"""
    if byteorder != "big" and byteorder != "little":
        raise ValueError("byteorder must be either 'little' or 'big'")
    if length < 0:
        raise ValueError("length argument must be non-negative")
    if x < 0 and not signed:
        raise OverflowError("can't convert negative int to unsigned")
    if length < 8:
        high = 8 * length - (1 if signed and length > 0 else 0)
        m = magnitude(x)
        if x < 0:
            m -= np.uint64(1)
        if length == 0 and x != 0 and x != -1 or length > 0 and (m >> np.uint64(high)) != 0:
            raise OverflowError("int too big to convert")
    out = list_of("")
    v = x if isinstance(x, np.unsignedinteger) else np.int64(x)
    for k in range(length):
        at = length - 1 - k if byteorder == "big" else k
        byte = 255 if x < 0 else 0
        if at < 8:
            byte = int(v >> (8 * at)) & 255
        list_push(out, text_chr(byte))
    return as_bytes(text_join("", out))


def from_bytes(b, byteorder="big", signed=False):
    """int.from_bytes"""
    if byteorder != "big" and byteorder != "little":
        raise ValueError("byteorder must be either 'little' or 'big'")
    n = len(b)
    v = np.int64(0)
    fill = 0
    if n > 0 and signed and b[0 if byteorder == "big" else n - 1] > 127:
        fill = 255
        v = np.int64(-1)
    for k in range(n):
        byte = b[k] if byteorder == "big" else b[n - 1 - k]
        if n - k > 8 and byte != fill:
            raise OverflowError("int.from_bytes() of a value that does not fit 64 bits")
        v = (v << 8) | byte
    if n > 7 and (v < 0) != (fill == 255):
        raise OverflowError("int.from_bytes() of a value that does not fit 64 bits")
    return int(v)


def conjugate(x):
    """int.conjugate, float.conjugate"""
    return +x


def whole_ratio(x):
    """int.as_integer_ratio"""
    return +x, 1


def is_whole(x):
    """int.is_integer"""
    return True


def is_integer(x):
    """float.is_integer"""
    return math.isfinite(x) and math.floor(x) == x if abs(x) < 4503599627370496.0 else math.isfinite(x)


def as_integer_ratio(x):
    """float.as_integer_ratio"""
    v = float(x)
    if v != v:
        raise ValueError("cannot convert NaN to integer ratio")
    if v - v != 0:
        raise OverflowError("cannot convert Infinity to integer ratio")
    m, e = math.frexp(v)
    n = int(m * 9007199254740992.0)
    e -= 53
    if n == 0:
        return 0, 1
    while n % 2 == 0:
        n //= 2
        e += 1
    if e >= 0:
        if bit_length(n) + e > 63:
            raise OverflowError("the ratio does not fit 64 bits")
        return n << e, 1
    if e < -62:
        raise OverflowError("the ratio does not fit 64 bits")
    return n, 1 << -e


def digit(v):
    return text_chr(48 + v if v < 10 else 87 + v)


def hex_text(x):
    """float.hex"""
    v = np.float64(x)
    sign = "-" if math.copysign(1.0, v) < 0 else ""
    if v != v:
        return "nan"
    if v - v != 0:
        return text_add(sign, "inf")
    b = bits(v)
    e = int(b >> 52) & 2047
    m = b & ((1 << 52) - 1)
    if e == 0 and m == 0:
        return text_add(sign, "0x0.0p+0")
    lead = "0"
    if e > 0:
        lead = "1"
    else:
        e = 1
    out = list_of("")
    for part in (sign, "0x", lead, "."):
        list_push(out, part)
    for k in range(12, -1, -1):
        list_push(out, digit(int(m >> (4 * k)) & 15))
    list_push(out, "p+" if e >= 1023 else "p-")
    list_push(out, text_int(abs(e - 1023), False))
    return text_join("", out)


def in_base(x, prefix, shift):
    if not isinstance(x, (int, np.integer)):
        static_error("an integer is needed")
    m = magnitude(x)
    out = list_of("")
    if x < 0:
        list_push(out, "-")
    list_push(out, prefix)
    n = max((bit_length(x) + shift - 1) // shift, 1)
    mask = (1 << shift) - 1
    for k in range(n - 1, -1, -1):
        list_push(out, digit(int(m >> np.uint64(shift * k)) & mask))
    return text_join("", out)


def hexadecimal(x):
    """builtins.hex"""
    return in_base(x, "0x", 4)


def octal(x):
    """builtins.oct"""
    return in_base(x, "0o", 3)


def binary(x):
    """builtins.bin"""
    return in_base(x, "0b", 1)


def power_modulo(a, b, m):
    """pow(a, b, m)"""
    if m == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    size = magnitude(m)
    if b < 0:
        return residue(power_of(np.uint64(inverse(a, size)), magnitude(b), size), m, size)
    base = magnitude(a) % size
    if a < 0 and base != 0:
        base = size - base
    return residue(power_of(base, magnitude(b), size), m, size)


def residue(r, m, size):
    """The result's sign is the modulus's."""
    v = int(r)
    if m < 0 and r != 0:
        v = int(r) - int(size)
    return v


def inverse(a, size):
    """The number whose product with a is 1 modulo size."""
    r = magnitude(a) % size
    if a < 0 and r != 0:
        r = size - r
    s, t = size, r
    u, v = np.uint64(0), np.uint64(1) % size
    while t != 0:
        q = s // t
        s, t = t, s - q * t
        u, v = v, difference(u, product(q % size, v, size), size)
    if s != 1:
        raise ValueError("base is not invertible for the given modulus")
    return u


def difference(a, b, m):
    return a - b if a >= b else a + (m - b)


def product(a, b, m):
    """a * b modulo m; a and b are below m."""
    if m <= np.uint64(4294967296):
        return a * b % m
    total = np.uint64(0)
    while b != 0:
        if b & np.uint64(1):
            total = total + a if total < m - a else total - (m - a)
        a = a + a if a < m - a else a - (m - a)
        b >>= np.uint64(1)
    return total


def power_of(base, e, m):
    total = np.uint64(1) % m
    while e != 0:
        if e & np.uint64(1):
            total = product(total, base, m)
        base = product(base, base, m)
        e >>= np.uint64(1)
    return total


TENS = (1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22)


def round_float(x, n):
    """round(x, n): the decimal value of x rounded half to even. Where scaling by a power of ten cannot be wrong it is used."""
    if n >= 0 and n <= 22:
        scaled = x * TENS[n]
        size = abs(scaled)
        if size < 1e15:
            whole = float(np.rint(scaled))
            if abs(abs(scaled - whole) - 0.5) > size * 4.5e-16:
                return whole / TENS[n]
    r = text_round(x, n)
    if r - r != 0 and x - x == 0:
        raise OverflowError("rounded value too large to represent")
    return r


def round_int(x, n):
    """round(x, n) of an integer: half to even."""
    if n >= 0:
        return x
    if n < -18:
        return x - x
    p = 1
    for _ in range(-n):
        p *= 10
    q, r = x // p, x % p
    if r > p - r or (r == p - r and q % 2 != 0):
        q += 1
    return q * p


def rounded(x, n):
    """round(number, ndigits)"""
    if isinstance(x, int):
        return round_int(int(x), n)
    return round_float(x, n)


FUNCTIONS = {
    "int.bit_length": bit_length, "int.bit_count": bit_count, "int.to_bytes": to_bytes, "int.as_integer_ratio": whole_ratio,
    "int.is_integer": is_whole, "int.from_bytes": from_bytes, "builtins.int.from_bytes": from_bytes, "float.is_integer": is_integer,
    "float.as_integer_ratio": as_integer_ratio, "float.hex": hex_text, "builtins.hex": hexadecimal, "builtins.oct": octal,
    "builtins.bin": binary, "kiln.power_modulo": power_modulo, "kiln.round": rounded,
}
