# SPDX-License-Identifier: Apache-2.0
"""Run a function compiled and in Python and compare: values bit for bit, arrays that it changed, exceptions
with class and arguments. A difference names the function, the arguments and both outcomes."""
import numpy as np

from kilnjit import njit

_compiled = {}


def compiled(function, **options):
    key = (function, tuple(sorted(options.items())))
    if key not in _compiled:
        _compiled[key] = njit(**options)(function) if options else njit(function)
    return _compiled[key]


def _copy(value):
    """A copy with the same strides, so that layout and sharing stay what they were."""
    if not isinstance(value, np.ndarray):
        return value
    base = value
    while isinstance(base.base, np.ndarray):
        base = base.base
    if base is value or value.size == 0:
        return value.copy(order="K")
    fresh = base.copy(order="K")
    if fresh.strides != base.strides:
        return value.copy(order="K")
    offset = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(value.shape, value.dtype, fresh, offset, value.strides)


def _outcome(function, arguments):
    try:
        with np.errstate(all="ignore"):
            return "value", function(*arguments)
    except Exception as e:  # noqa: BLE001 - any class is an outcome to compare
        return "raises", (type(e).__name__, e.args)


def equal(a, b):
    if isinstance(a, tuple) or isinstance(b, tuple):
        return (isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)
                and all(equal(x, y) for x, y in zip(a, b)))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind in "fc":
            return bool(np.array_equal(a, b, equal_nan=True)
                        and np.array_equal(np.signbit(a.real), np.signbit(b.real)) or np.array_equal(a, b, equal_nan=True))
        return bool(np.array_equal(a, b))
    if a is None or b is None:
        return a is b
    if isinstance(a, (complex, np.complexfloating)) or isinstance(b, (complex, np.complexfloating)):
        return equal(float(a.real), float(b.real)) and equal(float(a.imag), float(b.imag))
    if isinstance(a, (float, np.floating)) and isinstance(b, (float, np.floating)):
        if a != a or b != b:
            return a != a and b != b
        return a == b and np.signbit(a) == np.signbit(b)
    return a == b


def check(function, *arguments, close=False, **options):
    """Compare one call; `close` allows a relative difference of 1e-14 (libm against NumPy's own loops)."""
    theirs, ours = [_copy(a) for a in arguments], [_copy(a) for a in arguments]
    want = _outcome(function, theirs)
    got = _outcome(compiled(function, **options), ours)
    same = want[0] == got[0] and (np.allclose(want[1], got[1], rtol=1e-14, equal_nan=True)
                                  if close and want[0] == "value" else equal(want[1], got[1]))
    assert same, f"{function.__name__}{arguments!r}: compiled {got!r}, Python {want!r}"
    for mine, other in zip(ours, theirs):
        if isinstance(mine, np.ndarray):
            assert equal(mine, other), f"{function.__name__}{arguments!r} leaves {mine!r}, Python {other!r}"
