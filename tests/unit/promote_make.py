# SPDX-License-Identifier: Apache-2.0
"""Makes tests/unit/promote.txt, what test_promote holds inference to:  promote_make.py > promote.txt

Each row: operator, two types, the result in Python's rules and in Numba's. The oracles are NumPy (1.24 or later,
in its NumPy 2 mode of weak Python scalars), Python itself for two Python scalars, and Numba's own typing.
Deviations that Kiln chooses are in `deviation`, each with its reason; docs/semantics.md lists them."""
import operator
import warnings

import numpy as np
from numba.core import cpu, types
from numba.core.registry import cpu_target

warnings.simplefilter("ignore")
if hasattr(np, "_set_promotion_state"):
    np._set_promotion_state("weak")

STRONG = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float32", "float64", "complex64", "complex128"]
WEAK = {"pyint": 3, "pyfloat": 2.5, "pycomplex": 2j}
OPS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
       "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
       "<<": operator.lshift, ">>": operator.rshift}
INTS = {"bool", "pyint", *(t for t in STRONG if "int" in t)}


def value(t):
    if t in WEAK:
        return WEAK[t]
    return np.dtype(t).type(2) if t != "bool" else np.bool_(True)


def name(v):
    if isinstance(v, (np.generic, np.ndarray)):
        return v.dtype.name
    return {bool: "bool", int: "pyint", float: "pyfloat", complex: "pycomplex"}[type(v)]


def deviation(op, a, b):
    """A result of Kiln's own choice, or None."""
    if op == "join":
        if {a, b} == {"int64", "uint64"}:
            return "-"  # no integer type holds both; a silent float64 would lose digits
        return None
    if a == "bool" and b == "bool":  # `bool` is Python's and NumPy's: arithmetic is Python's
        return name(OPS[op](True, True))
    if "bool" in (a, b) and {"pyint", "pyfloat", "pycomplex"} & {a, b}:
        other = WEAK[b if a == "bool" else a]
        try:
            return name(OPS[op](True, other) if a == "bool" else OPS[op](other, True))
        except TypeError:
            return "-"
    if op == "/" and a in INTS and b in INTS and not (a in WEAK and b in WEAK):  # NumPy: float16 or float32 for the narrow ones
        return "float64"
    if "bool" in (a, b) and op in ("-", "**", "//", "%") and a != b:
        return python("+", a, b) if op == "-" or {a, b} <= INTS or not ({"complex64", "complex128"} & {a, b}) else None
    return None


def python(op, a, b):
    if op == "join":
        if a in WEAK and b in WEAK:
            return name(value(a) + value(b)) if a != b else a
        if a in WEAK or b in WEAK:
            return python("+", a, b)
        return np.promote_types(a, b).name
    d = deviation(op, a, b)
    if d:
        return d
    try:
        if a in WEAK and b in WEAK:
            return name(OPS[op](value(a), value(b)))
        # arrays of one item: the loop's result type, never a value's
        x = value(a) if a in WEAK else np.array([value(a)])
        y = value(b) if b in WEAK else np.array([value(b)])
        return OPS[op](x, y).dtype.name
    except TypeError:
        return "-"


def numba(op, a, b):
    if (op, a, b) == ("**", "bool", "int32"):
        return "int64"  # Numba: float32, the first overload that bool converts to; every other width gives int64
    x, y = (getattr(types, "boolean" if t == "bool" else t) for t in (a, b))
    context = cpu_target.typing_context
    if op == "join":
        r = context.unify_types(x, y)
    else:
        try:
            sig = context.resolve_function_type(OPS[op], (x, y), {})
        except Exception:
            sig = None
        r = sig and sig.return_type
    return str(r) if r and isinstance(r, (types.Number, types.Boolean)) else "-"


def main():
    print("; operator, two types, result in Python's rules, result in Numba's; - where there is none")
    for op in (*OPS, "join"):
        for a in (*STRONG, *WEAK):
            for b in (*STRONG, *WEAK):
                p = (deviation(op, a, b) if op == "join" else None) or python(op, a, b)
                n = "." if a in WEAK or b in WEAK else numba(op, a, b)
                print(op, a, b, p, n.replace("boolean", "bool"))


if __name__ == "__main__":
    cpu_target.typing_context.refresh()
    main()
