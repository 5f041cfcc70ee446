# SPDX-License-Identifier: Apache-2.0
"""Text of values and values of text: str(), repr(), format(), print(), int() and float() of text.
Meaning: https://docs.python.org/3/library/functions.html and string.html#formatspec"""
import math

import numpy as np
from intrinsics import (list_of, list_push, text_add, text_bytes_repr, text_complaint, text_float, text_format_float, text_format_int,
                        text_format_str, text_int, text_is_float, text_join, text_parse_float, text_parse_int,
                        text_print, text_repr, text_spec, text_view)

OF_STR, OF_INT, OF_FLOAT = 0, 1, 2


def float_text(x):
    if isinstance(x, np.float32):
        return text_float(x, 1)
    if isinstance(x, np.float16):
        return text_float(x, 2)
    return text_float(x, 0)


def part_text(x):
    """A float as a part of a complex number: 1 and not 1.0"""
    s = float_text(x)
    n = len(s)
    if n > 2 and s[n - 1] == "0" and s[n - 2] == ".":
        return text_view(s, 0, n - 2)
    return s


def complex_text(x):
    re, im = x.real, x.imag
    if re == 0 and math.copysign(1.0, re) > 0:
        return text_add(part_text(im), "j")
    out = list_of("")
    list_push(out, "(")
    list_push(out, part_text(re))
    if not (im < 0 or (im == 0 and math.copysign(1.0, im) < 0)):
        list_push(out, "+")
    list_push(out, part_text(im))
    list_push(out, "j)")
    return text_join("", out)


def joined(items, left, right):
    out = list_of("")
    for x in items:
        list_push(out, representation(x))
    return text_add(text_add(left, text_join(", ", out)), right)


def tuple_text(t):
    if len(t) == 0:
        return "()"
    return joined(t, "(", ",)" if len(t) == 1 else ")")


def dict_text(d):
    out = list_of("")
    for key, value in d.items():
        list_push(out, text_add(text_add(representation(key), ": "), representation(value)))
    return text_add(text_add("{", text_join(", ", out)), "}")


def representation(x):
    """repr(x)"""
    if x is None:
        return "None"
    if isinstance(x, str):
        return text_repr(x, False)
    if isinstance(x, bytes):
        return text_bytes_repr(x)
    if isinstance(x, bool):
        return "True" if x else "False"
    if isinstance(x, np.unsignedinteger):
        return text_int(np.uint64(x), True)
    if isinstance(x, (int, np.integer)):
        return text_int(np.int64(x), False)
    if isinstance(x, (complex, np.complexfloating)):
        return complex_text(x)
    if isinstance(x, tuple):
        return tuple_text(x)
    if isinstance(x, list):
        return joined(x, "[", "]")
    if isinstance(x, dict):
        return dict_text(x)
    if isinstance(x, set):
        if len(x) == 0:
            return "set()"
        return joined(x, "{", "}")
    return float_text(x)


def ascii_representation(x):
    """ascii(x)"""
    if isinstance(x, str):
        return text_repr(x, True)
    # what str makes of it may hold text with other characters
    return escaped(representation(x))


def escaped(s):
    out = list_of("")
    for c in s:
        if ord(c) < 128:
            list_push(out, c)
        else:
            r = text_repr(c, True)
            list_push(out, text_view(r, 1, len(r) - 2))
    return text_join("", out)


def text(x=""):
    """str(x)"""
    if isinstance(x, str):
        return x
    return representation(x)


def printed(*args, sep=" ", end="\n"):
    """builtins.print"""
    out = list_of("")
    for x in args:
        list_push(out, text(x))
    text_print(text_add(text_join(" " if sep is None else sep, out), "\n" if end is None else end))


# ---- format()

def checked(spec, kind, name):
    error = text_spec(spec, kind)
    if error != 0:
        raise ValueError(text_complaint(error, spec, name))


def format_integer(x, spec):
    if len(spec) > 0 and spec[len(spec) - 1] == "c" and (x < 0 or x > 0x10FFFF):
        raise OverflowError("%c arg not in range(0x110000)")
    if isinstance(x, np.unsignedinteger):
        return text_format_int(np.uint64(x), True, spec)
    return text_format_int(np.int64(x), False, spec)


def formatted(x, spec=""):
    """format(x, spec)"""
    if isinstance(x, str):
        checked(spec, OF_STR, "str")
        return text_format_str(x, spec)
    if len(spec) == 0:
        return representation(x)
    if isinstance(x, bool):
        checked(spec, OF_INT, "bool")
        return format_integer(1 if x else 0, spec)
    if isinstance(x, (int, np.integer)):
        checked(spec, OF_INT, "int")
        return format_integer(x, spec)
    checked(spec, OF_FLOAT, "float")
    return text_format_float(x, spec)


# ---- numbers of text

def integer(s, base=10):
    """int(s)"""
    if base != 0 and (base < 2 or base > 36):
        raise ValueError("int() base must be >= 2 and <= 36, or 0")
    status = text_parse_int(s, base, 0)
    if status == 1:
        raise ValueError(f"invalid literal for int() with base {base}: {text_repr(s, False)}")
    if status == 2:
        raise OverflowError("int() of text that does not fit 64 bits")
    return text_parse_int(s, base, 1)


def number(s):
    """float(s)"""
    if not text_is_float(s):
        raise ValueError(f"could not convert string to float: {text_repr(s, False)}")
    return text_parse_float(s)


FUNCTIONS = {
    "builtins.str": text, "builtins.repr": representation, "builtins.ascii": ascii_representation,
    "builtins.format": formatted, "builtins.print": printed, "str.__int__": integer, "str.__float__": number,
}
