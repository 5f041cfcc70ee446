# SPDX-License-Identifier: Apache-2.0
"""Numba's type objects as Kiln's texts, and back; values as an entry point of Numba takes them."""
import re

import numpy as np
from numba.core import sigutils, types
from numba.core.typing import templates


class NoType(Exception):
    """This type has no text in Kiln."""


def text(t):
    """Kiln's text of a Numba type. NoType."""
    if isinstance(t, types.Literal):
        return text(t.literal_type)
    if isinstance(t, types.Omitted):
        raise NoType(f"an omitted argument: {t}")
    if t is types.none:
        return "none"
    if isinstance(t, types.Boolean):
        return "bool"
    if isinstance(t, (types.Integer, types.Float, types.Complex)):
        return t.name
    if isinstance(t, types.UnicodeType):
        return "unicode_type"
    if isinstance(t, types.Optional):
        return f"optional({text(t.type)})"
    if isinstance(t, types.Array) and not isinstance(t, types.NestedArray):
        extra = ("" if t.mutable else ", readonly=True") + ("" if t.aligned else ", aligned=False")
        return f"Array({text(t.dtype)}, {t.ndim}, '{t.layout}'{extra})"
    if isinstance(t, types.Record):
        return record_text(t)
    if isinstance(t, types.NestedArray):
        return f"nestedarray({text(t.dtype)}, ({', '.join(map(str, t.shape))}{',' if len(t.shape) == 1 else ''}))"
    if isinstance(t, (types.CharSeq, types.UnicodeCharSeq)):
        return f"[{'char' if isinstance(t, types.CharSeq) else 'unichr'} x {t.count}]"
    if isinstance(t, types.BaseTuple) and not isinstance(t, types.BaseNamedTuple):
        parts = [text(x) for x in t]
        return f"Tuple(({', '.join(parts)}{',' if len(parts) == 1 else ''}))"
    if isinstance(t, types.CPointer):
        return f"CPointer({text(t.dtype)})"
    if isinstance(t, types.Record):
        return str(t)  # printed alike
    if isinstance(t, types.List):
        return f"list({text(t.dtype)})"
    if isinstance(t, types.Set):
        return f"set({text(t.dtype)})"
    if isinstance(t, types.ListType):
        return f"ListType({text(t.item_type)})"
    if isinstance(t, types.DictType):
        return f"DictType({text(t.key_type)}, {text(t.value_type)})"
    raise NoType(f"the type {t}")


def record_text(t):
    """A Numba record type as Kiln writes it; titles are left out."""
    fields = [f"{name}[type={text(field.type)};offset={field.offset}]" for name, field in t.fields.items()]
    return f"Record({','.join(fields)};{t.size};{t.aligned})"


#: names in Kiln's texts that mean something else in Numba's namespace, or nothing
_SPACE = {**vars(types), "bool": types.boolean, "optional": types.Optional, "Tuple": types.Tuple, "pyint": types.int64,
          "pyfloat": types.float64, "pycomplex": types.complex128,
          "Array": lambda dtype, ndim, layout, readonly=False, aligned=True:
              types.Array(dtype, ndim, layout, readonly=readonly, aligned=aligned)}


def numba(kiln_text):
    """The Numba type of Kiln's text. A type that Numba doesn't know is a text still."""
    try:
        return eval(re.sub(r"^(?=\[)", "", kiln_text), {"__builtins__": {}}, _SPACE)
    except Exception:
        return kiln_text


def signature(params, ret):
    """A Numba Signature from Kiln's texts."""
    return templates.signature(numba(ret), *map(numba, params))


def signature_text(given):
    """Kiln's text of what Numba's decorators take: text, a Signature, a tuple of types."""
    args, ret = sigutils.normalize_signature(given)
    return f"{text(ret) if ret is not None else ''}({', '.join(map(text, args))})"


def unbox(value, t):
    """A value as a parameter of exactly this type: entry points convert as C does."""
    if isinstance(t, types.Literal):
        t = t.literal_type
    if isinstance(t, types.Optional):
        return None if value is None else unbox(value, t.type)
    if isinstance(t, types.Boolean):
        return bool(value)
    if isinstance(t, types.Integer):
        if not t.signed and value < 0:
            raise OverflowError(f"can't convert negative value to {t}")
        bits = int(value) & (1 << t.bitwidth) - 1
        if t.signed and bits >> t.bitwidth - 1:
            bits -= 1 << t.bitwidth
        return bits if t is types.int64 else getattr(np, t.name)(bits)
    if isinstance(t, types.Float):
        return float(value) if t is types.float64 else getattr(np, t.name)(value)
    if isinstance(t, types.Complex):
        return complex(value) if t is types.complex128 else getattr(np, t.name)(value)
    if isinstance(t, types.BaseTuple) and type(value) is tuple and len(value) == len(t):
        return tuple(map(unbox, value, t))
    return value
