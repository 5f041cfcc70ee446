# SPDX-License-Identifier: Apache-2.0
"""Numba-style compilation of numeric Python through a Kiln daemon. docs/python.md is the guide.

Importing is cheap: what is needed only to compile is imported at the first compile."""
from . import types
from .decorators import jit, njit
from .frontend import audit
from .objmode import objmode
from .parallel import literal_unroll, prange
from .types import deferred_type

__version__ = "0.1.0"
__all__ = ["deferred_type", "errors", "experimental", "from_dtype", "jit", "literal_unroll", "njit", "objmode", "prange", "typeof", "types"]

audit.install()


def typeof(value, semantics="python"):
    """The type that compiled code sees in a value, as an object of kilnjit.types. TypeError if it has none."""
    from ._kiln import typeof as text_of
    text = text_of(value, semantics == "numba")
    if text is None:
        raise TypeError(f"values of type {type(value).__name__} have no type in compiled code")
    return types.Type(text)


def __getattr__(name):
    if name in ("errors", "typed", "experimental"):
        import importlib
        return importlib.import_module("kilnjit." + name)
    if name == "from_dtype":
        return types.from_dtype
    raise AttributeError(f"module 'kilnjit' has no attribute {name!r}")
