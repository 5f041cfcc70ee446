# SPDX-License-Identifier: Apache-2.0
"""Python objects that a function reads from outside, as KIR: constants by typed content, library functions and
types by canonical name, arrays as slots of the environment, functions as functions.

A constant's key is a tuple (kind, payload...) that is equal exactly if the constant is: floats are kept as their eight
bytes, so that -0.0 and each NaN are themselves."""
import sys
from struct import pack, unpack
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType

from .. import _kir as K
from ..usertypes import dtype_text, is_enum, is_named_tuple

INT64_MIN, INT64_MAX, UINT64_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
NONE = (K.K_NONE,)

#: tuples with more parts than this are data: pass them as arrays
MAX_TUPLE = 1000

#: names that NumPy's versions give to the same function
RENAMED = {"numpy.amax": "numpy.max", "numpy.amin": "numpy.min", "numpy.around": "numpy.round",
           "numpy.round_": "numpy.round", "numpy.product": "numpy.prod", "numpy.cumproduct": "numpy.cumprod",
           "numpy.alltrue": "numpy.all", "numpy.sometrue": "numpy.any", "numba.prange": "kilnjit.prange",
           "numpy.row_stack": "numpy.vstack"}
#: Numba's own markers: programs that are moved over step by step may still import them
MARKERS = {"numba.misc.special.literal_unroll": "kilnjit.literal_unroll", "numba.misc.special.prange": "kilnjit.prange"}
#: modules whose functions are the library, never code to be compiled
LIBRARY = ("numpy", "math", "cmath", "operator", "builtins", "functools", "itertools", "random", "time", "kilnjit",
           "heapq", "bisect", "copy", "scipy")
#: modules in C behind public ones, whose functions name them
BEHIND = ("_operator.", "_heapq.", "_bisect.", "_functools.")
#: builtin exception classes that compiled code can raise: exceptions.def by way of the extension
_exceptions = None


class NotConstant(Exception):
    """This object has no form in KIR. The message says what it is."""


def int_key(v):
    return (K.K_INT, v) if INT64_MIN <= v <= UINT64_MAX else (K.K_BIGINT, str(v))


def float_key(v):
    return K.K_FLOAT, pack("<d", v)


def complex_key(v):
    return K.K_COMPLEX, pack("<d", v.real), pack("<d", v.imag)


def str_key(v):
    try:
        v.encode("utf-8")
    except UnicodeEncodeError:
        raise NotConstant("a string with lone surrogates") from None
    return K.K_STR, v


def builtin_exceptions():
    global _exceptions
    if _exceptions is None:
        try:
            from .._kiln import EXCEPTIONS
            _exceptions = frozenset(EXCEPTIONS.values())
        except ImportError:  # the frontend alone, in unit tests and at build time
            import builtins
            _exceptions = frozenset(n for n in dir(builtins) if isinstance(getattr(builtins, n), type)
                                    and issubclass(getattr(builtins, n), BaseException))
    return _exceptions


class Values:
    """Conversions of one module. `exceptions` collects the user's exception classes by qualified name."""

    def __init__(self):
        self.exceptions = {}
        self.enums = {}  # class -> its key
        self.classes = None  # of a jitclass: its key (classes.py)
        self.numpy = sys.modules.get("numpy")

    float_of = staticmethod(lambda b: unpack("<d", b)[0])

    def key(self, v):
        """Constant key of a value. NotConstant."""
        kind = type(v)
        if v is None:
            return NONE
        if v is Ellipsis:
            return (K.K_ELLIPSIS,)
        if kind is bool:
            return K.K_BOOL, v
        if kind is int:
            return int_key(v)
        if kind is float:
            return float_key(v)
        if kind is complex:
            return complex_key(v)
        if kind is str:
            return str_key(v)
        if kind is bytes:
            return K.K_BYTES, v
        if kind is tuple:
            if len(v) > MAX_TUPLE:
                raise NotConstant(f"a tuple of {len(v)} items (at most {MAX_TUPLE})")
            return K.K_TUPLE, tuple(map(self.key, v))
        if is_named_tuple(kind):
            return K.K_NAMEDTUPLE, self.namedtuple(kind), tuple(map(self.key, v))
        np = self.numpy
        if np is not None:
            if isinstance(v, np.generic):
                return self.scalar(v)
            if isinstance(v, np.dtype):
                text = dtype_text(v)
                if text is None:
                    raise NotConstant(f"the dtype {v}")
                return K.K_TYPE, text
        if isinstance(v, type):
            return self.class_key(v)
        if is_enum(kind):
            return self.member(v, kind)
        text = getattr(v, "_kiln_text", None)  # a type of kilnjit.types
        if isinstance(text, str):
            return K.K_TYPE, text
        raise NotConstant(f"an object of type {kind.__qualname__!r}")

    def member(self, v, kind):
        for number, member in enumerate(kind):
            if member is v:
                return K.K_ENUM, self.enum(kind), number
        raise NotConstant(f"{v!r}, which its enum does not list")

    def scalar(self, v):
        text = dtype_text(v.dtype)
        if text is None or v.dtype.names is not None:
            raise NotConstant(f"a NumPy scalar of dtype {v.dtype}")
        return K.K_SCALAR, text, v.tobytes() if sys.byteorder == "little" else v.byteswap().tobytes()

    def class_key(self, v):
        np = self.numpy
        if np is not None and issubclass(v, np.generic):
            text = dtype_text(np.dtype(v)) if v.__module__ == "numpy" and not v.__subclasses__() else None
            if text is None:
                raise NotConstant(f"the type numpy.{v.__name__}")
            return K.K_TYPE, text
        if issubclass(v, BaseException):
            if v.__module__ == "builtins":
                raise NotConstant(f"the exception class {v.__name__}")
            name = f"{v.__module__}.{v.__qualname__}"
            bases = [c.__name__ if c.__module__ == "builtins" else f"{c.__module__}.{c.__qualname__}"
                     for c in v.__mro__[1:] if issubclass(c, BaseException)]
            name += f"({','.join(bases)})"  # what handlers go by
            other = self.exceptions.setdefault(name, v)
            if other is not v:
                raise NotConstant(f"a second exception class with the name {name}")
            return K.K_EXCEPTION, name
        if "_kiln_class" in vars(v):
            return K.K_USERTYPE, self.classes(v)
        if is_enum(v):
            return K.K_USERTYPE, self.enum(v)
        if is_named_tuple(v):
            return K.K_USERTYPE, self.namedtuple(v)
        raise NotConstant(f"the class {v.__qualname__}")

    # A user type's key: (kind, name, names of fields, texts or constants, class). The class tells apart what is
    # alike; it is not part of the module.

    def namedtuple(self, cls):
        return K.UT_NAMEDTUPLE, cls.__name__, tuple(cls._fields), ("",) * len(cls._fields), cls

    def enum(self, cls):
        found = self.enums.get(cls)
        if found is None:
            members = list(cls)
            ints = issubclass(cls, int)
            try:
                values = tuple(int_key(int(m)) if ints else self.key(m.value) for m in members)
            except NotConstant as error:
                raise NotConstant(f"the enum {cls.__qualname__}, one of whose values is {error}") from None
            if ints and any(v[0] != K.K_INT or v[1] > INT64_MAX for v in values):
                raise NotConstant(f"the enum {cls.__qualname__}, one of whose values needs more than 64 bits")
            found = self.enums[cls] = (K.UT_INTENUM if ints else K.UT_ENUM, cls.__name__, tuple(m.name for m in members),
                                       values, cls)
        return found

    # -- names of the library

    def library(self, v, path=None):
        """Canonical name of a library function or type, None if it is something else. `path`: how the program got
        at it ("numpy.random.rand"), for objects that don't know their own name."""
        name = self._shared_state(v) or self._library(v, path)
        if name is not None and name.startswith(BEHIND):
            name = name[1:]
        if name is not None and name.startswith("numpy.random.mtrand."):
            name = "numpy.random." + name[20:]
        return RENAMED.get(name, name)

    def _shared_state(self, v):
        """random.uniform, numpy.random.rand: methods of an object that the module keeps to itself."""
        owner = getattr(v, "__self__", None)
        if owner is None or isinstance(owner, (ModuleType, type)):
            return None
        for module, attribute in (("random", "_inst"), ("numpy.random.mtrand", "_rand")):
            if owner is getattr(sys.modules.get(module), attribute, self):
                return f"{module.removesuffix('.mtrand')}.{v.__name__}"
        return None

    def _library(self, v, path):
        if getattr(v, "_kiln_library", None):  # prange and friends
            return v._kiln_library
        if getattr(v, "__module__", None) == "numba.misc.special":
            return MARKERS.get(f"numba.misc.special.{getattr(v, '__name__', '')}")
        np = self.numpy
        if np is not None and isinstance(v, np.ufunc):
            return "numpy." + v.__name__ if getattr(np, v.__name__, None) is v else path
        if isinstance(v, type) and "_kiln_class" in vars(v):
            return None
        if isinstance(v, type):
            module = v.__module__
            if module == "builtins":
                if issubclass(v, BaseException) and v.__name__ not in builtin_exceptions():
                    return None
                return "builtins." + v.__qualname__
            if module.partition(".")[0] in LIBRARY and not self._has_key(v):
                return path or f"{module}.{v.__qualname__}"
            return None
        module = getattr(v, "__module__", None) or ""
        root = (module if isinstance(module, str) else "").partition(".")[0]
        if isinstance(v, (BuiltinFunctionType, MethodDescriptorType)):
            owner = getattr(v, "__self__", None)
            if owner is not None and not isinstance(owner, (ModuleType, type)):
                return path  # numpy.random.rand: a method of a hidden object
            if isinstance(v, MethodDescriptorType):
                return f"builtins.{v.__qualname__}"
            module = module or getattr(owner, "__name__", "") or ""
            return self._public(v, f"{module}.{v.__qualname__}", path)
        if root in LIBRARY and callable(v) and hasattr(v, "__name__"):
            return self._public(v, f"{module}.{getattr(v, '__qualname__', v.__name__)}", path, self._borrowed(v))
        return None

    @staticmethod
    def _borrowed(v):
        """functools.wraps gives a program's own function the name of what it wraps, and objects of the library that
        call a program's function (np.vectorize, lru_cache) have its name: their names say nothing."""
        if type(v) is FunctionType:
            return str(v.__globals__.get("__name__")).partition(".")[0] not in LIBRARY
        return type(v).__name__ != "_ArrayFunctionDispatcher"

    def _has_key(self, v):
        try:
            self.class_key(v)
            return True
        except NotConstant:
            return False

    @staticmethod
    def _public(v, name, path, borrowed=False):
        """`module.qualname` if it leads back to the object, else the way that the program took. borrowed: the name
        may be another object's."""
        module, _, last = name.rpartition(".")
        for candidate in (name, "numpy." + last):
            where, _, attribute = candidate.rpartition(".")
            if getattr(sys.modules.get(where), attribute, None) is v:
                return candidate
        if borrowed and (path or "").partition(".")[0] not in LIBRARY:
            return None
        return path or name


def is_plain_function(v):
    return type(v) is FunctionType
