# SPDX-License-Identifier: Apache-2.0
"""Operators and functions on whole arrays, element by element, with broadcasting. Meaning:
https://numpy.org/doc/stable/reference/ufuncs.html and https://numpy.org/doc/stable/user/basics.broadcasting.html

The element's operation is an argument, `op`: each pair of operation and types is a specialization of its own, in which
it is inlined. Arrays of several dimensions are taken apart along the first axis, as in reductions.py. What comes out is
in C order, unless all operands with several dimensions are in Fortran order: then it is in that order too."""
import numpy as np
from intrinsics import dtype_of, layout


def sample(x):
    """A value of an operand's element type: its type alone is looked at."""
    if isinstance(x, np.ndarray):
        return x.dtype.type(0)
    return x


def plain(x):
    """A 0-d array as the number in it."""
    if isinstance(x, np.ndarray):
        if x.ndim == 0:
            return x[()]
    return x


def row(x, i):
    """Row i of an operand, which may have one row for all."""
    if isinstance(x, np.ndarray):
        if x.shape[0] == 1:
            return x[0]
        return x[i]
    return x


def extent(a, b):
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    raise ValueError(f"operands could not be broadcast together: one has {a} where the other has {b}")


def joined(a, b):
    """Shape of the result of two shapes of equal length."""
    if len(a) == 0:
        return ()
    return (extent(a[0], b[0]),) + joined(a[1:], b[1:])


def fill1(op, out, x):
    if out.ndim == 1:
        for i in range(len(out)):
            out[i] = op(x[i])
    else:
        for i in range(len(out)):
            fill1(op, out[i], x[i])


def map1(op, x):
    """op of each element."""
    if isinstance(x, np.ndarray):
        if x.ndim == 0:
            return op(x[()])
        if layout(x) == "F":
            return map1(op, x.T).T
        out = np.empty(x.shape, dtype_of(op(sample(x))))
        fill1(op, out, x)
        return out
    return op(x)


def fill2(op, out, x, y):
    n = len(out)
    if out.ndim > 1:
        for i in range(n):
            fill2(op, out[i], row(x, i), row(y, i))
    elif not isinstance(x, np.ndarray):
        for i in range(n):
            out[i] = op(x, y[i])
    elif not isinstance(y, np.ndarray):
        for i in range(n):
            out[i] = op(x[i], y)
    elif len(x) == n and len(y) == n:
        for i in range(n):
            out[i] = op(x[i], y[i])
    elif len(x) == n:
        for i in range(n):
            out[i] = op(x[i], y[0])
    else:
        for i in range(n):
            out[i] = op(x[0], y[i])


def lifted(x, other):
    """x with axes of length 1 in front, as many as other has more."""
    if x.ndim < other.ndim:
        return lifted(x[None], other)
    return x


def arrays2(op, x, y):
    if layout(x) == "F" and y.ndim < x.ndim:
        return arrays2(op, x.T, lifted(y, x).T).T
    if layout(y) == "F" and x.ndim < y.ndim:
        return arrays2(op, lifted(x, y).T, y.T).T
    if x.ndim < y.ndim:
        return arrays2(op, x[None], y)
    if y.ndim < x.ndim:
        return arrays2(op, x, y[None])
    if layout(x) == "F" and layout(y) == "F":
        return arrays2(op, x.T, y.T).T
    out = np.empty(joined(x.shape, y.shape), dtype_of(op(sample(x), sample(y))))
    fill2(op, out, x, y)
    return out


def map2(op, x, y):
    """op of each pair of elements."""
    x = plain(x)
    y = plain(y)
    if isinstance(x, np.ndarray):
        if isinstance(y, np.ndarray):
            return arrays2(op, x, y)
        if layout(x) == "F":
            return map2(op, x.T, y).T
        out = np.empty(x.shape, dtype_of(op(sample(x), y)))
        fill2(op, out, x, y)
        return out
    if isinstance(y, np.ndarray):
        if layout(y) == "F":
            return map2(op, x, y.T).T
        out = np.empty(y.shape, dtype_of(op(x, sample(y))))
        fill2(op, out, x, y)
        return out
    return op(x, y)


def stored(result, out):
    """The result, in `out` where that is given."""
    if out is None:
        return result
    if kind(result) > kind(out):
        raise TypeError("the result can't be stored in an array of this type: it is of a higher kind")
    out[...] = result
    return out


def kind(a):
    """The order of kinds in which a value may be stored: bool, integer, float, complex."""
    if a.dtype == np.bool_:
        return 0
    if np.issubdtype(a.dtype, np.integer):
        return 1
    if np.issubdtype(a.dtype, np.floating):
        return 2
    return 3


def inplace(op, a, b):
    """a op= b. The result is made first, so that overlapping operands give NumPy's answer."""
    result = map2(op, a, b)
    if kind(result) > kind(a):
        raise TypeError("the result can't be stored in an array of this type: it is of a higher kind")
    if result.ndim != a.ndim:
        raise ValueError("the result has more dimensions than the array that is changed")
    a[...] = result
    return a


BINARY = {"add": "x + y", "subtract": "x - y", "multiply": "x * y", "divide": "x / y", "true_divide": "x / y",
          "floor_divide": "x // y", "remainder": "x % y", "mod": "x % y", "power": "x ** y", "left_shift": "x << y",
          "right_shift": "x >> y", "bitwise_and": "x & y", "bitwise_or": "x | y", "bitwise_xor": "x ^ y", "equal": "x == y",
          "not_equal": "x != y", "less": "x < y", "less_equal": "x <= y", "greater": "x > y", "greater_equal": "x >= y",
          "maximum": "np.maximum(x, y)", "minimum": "np.minimum(x, y)", "fmax": "np.fmax(x, y)", "fmin": "np.fmin(x, y)",
          "arctan2": "np.arctan2(x, y)", "hypot": "np.hypot(x, y)", "copysign": "np.copysign(x, y)",
          "logical_and": "np.logical_and(x, y)", "logical_or": "np.logical_or(x, y)", "logical_xor": "np.logical_xor(x, y)"}
INPLACE = tuple(BINARY)[:14]  # those with an operator
UNARY = {"negative": "-x", "positive": "x if isinstance(x, bool) else +x", "invert": "~x"}
UNARY.update((name, f"np.{name}(x)") for name in (
    "sqrt", "cbrt", "square", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos",
    "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "degrees", "rad2deg", "radians", "deg2rad", "floor", "ceil",
    "trunc", "rint", "fabs", "abs", "absolute", "sign", "reciprocal", "conj", "conjugate", "isnan", "isinf", "isfinite", "signbit",
    "logical_not"))


#: operators that NumPy refuses on bools -> its words
REFUSED = {"subtract": "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the "
                       "logical_xor function instead.",
           "negative": "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not "
                       "function instead."}

#: NumPy's meaning where all operands are bool: no arithmetic of integers
BOOLEAN = {"add": "x or y", "multiply": "x and y", "invert": "not x"}


def _refusal(name, operands):
    if name not in REFUSED:
        return []
    kinds = " and ".join(f"dtype_of({x}) == np.bool_" for x in operands.split(", "))
    return [f"    if {kinds}:", f"        raise TypeError({REFUSED[name]!r})"]


def _element(name, operands, text):
    """The text of the function of one element."""
    lines = [f"def element_{name}({operands}):"]
    kinds = " and ".join(f"isinstance({x}, bool)" for x in operands.split(", "))
    if name in BOOLEAN:
        lines += [f"    if {kinds}:", f"        return {BOOLEAN[name]}"]
    return [*lines, f"    return {text}", ""]


def _functions():
    """Canonical name -> function, made from the tables. They are written out as text so that the frontend finds their
    source, as it does for code from exec."""
    import linecache
    lines = []
    for name, text in BINARY.items():
        lines += [*_element(name, "x, y", text),
                  f"def {name}(x, y, out=None):", f'    """numpy.{name} of arrays."""', *_refusal(name, "x, y"),
                  f"    return stored(map2(element_{name}, x, y), out)", ""]
    for name in INPLACE:
        lines += [f"def inplace_{name}(x, y):", f'    """numpy.{name} of arrays, stored in the first."""',
                  *_refusal(name, "x, y"), f"    return inplace(element_{name}, x, y)", ""]
    for name, text in UNARY.items():
        lines += [*_element(name, "x", text),
                  f"def {name}(x, out=None):", f'    """numpy.{name} of an array."""', *_refusal(name, "x"),
                  f"    return stored(map1(element_{name}, x), out)", ""]
    text = "\n".join(lines) + "\n"
    file = "<prelude elementwise>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), globals())
    found = {f"numpy.{name}": globals()[name] for name in (*BINARY, *UNARY)}
    found["builtins.abs"], found["builtins.pow"] = globals()["absolute"], globals()["power"]
    found.update((f"inplace.{name}", globals()[f"inplace_{name}"]) for name in INPLACE)
    return found


FUNCTIONS = _functions()
