# SPDX-License-Identifier: Apache-2.0
"""njit and jit."""
import os
from types import FunctionType

from .types import Signature, Type


def _is_signature(x):
    return isinstance(x, (str, Signature)) or (isinstance(x, tuple) and all(isinstance(t, Type) for t in x))


def _text(signature):
    if isinstance(signature, tuple):
        return f"({', '.join(map(str, signature))})"
    return str(signature)


def jit(signature_or_function=None, **options):
    """Compile a function when it is called, for the types of its arguments.

    Use as `@njit`, `@njit(fastmath=True)`, `@njit("float64(float64)")` or with a list of signatures; with signatures
    the code is compiled at once, in the background, and calls convert their arguments.
    Options: fastmath (True or names of LLVM's flags), boundscheck, error_model ("python", "numpy"), nogil, inline,
    semantics ("python", "numba"), checked, debug, parallel, contract, target. TypeError for an unknown one.
    Errors: KilnTypeError and others of kilnjit.errors at the first call. docs/python.md.

    >>> @njit
    ... def add(a, b):
    ...     return a + b
    >>> add(1, 2)
    3
    """
    from .function import decorate

    given = signature_or_function
    if given is None:
        signatures = ()
    elif _is_signature(given):
        signatures = (_text(given),)
    elif isinstance(given, (list, tuple)):
        signatures = tuple(map(_text, given))
    elif hasattr(given, "_kiln_function"):
        raise TypeError(f"{given.__name__} is compiled already")
    elif isinstance(given, FunctionType):
        return given if os.environ.get("KILN_DISABLE_JIT") == "1" else decorate(given, options)
    else:
        raise TypeError(f"njit compiles functions, not {type(given).__name__} objects")

    def wrap(function):
        if not isinstance(function, FunctionType):
            raise TypeError(f"njit compiles functions, not {type(function).__name__} objects")
        return function if os.environ.get("KILN_DISABLE_JIT") == "1" else decorate(function, options, signatures)
    return wrap


def njit(*args, **options):
    """See jit."""
    return jit(*args, **options)


njit.__doc__ = jit.__doc__
jit._kiln_decorator = njit._kiln_decorator = True
