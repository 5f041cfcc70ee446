# SPDX-License-Identifier: Apache-2.0
"""Types as objects: `types.float64`, `types.float64[:, ::1]`, `types.int64(types.float64)`.

They are texts (docs/signatures.md) with Python's syntax around: str() of one is what signatures and `kiln ls`
show. Names are Numba's."""
import re


class Type:
    """A type. Indexing with slices makes an array type, calling makes a signature with this result."""

    __slots__ = ("_kiln_text",)

    def __init__(self, text):
        self._kiln_text = text

    def __getitem__(self, index):
        parts = index if type(index) is tuple else (index,)
        if not all(type(p) is slice and p.start is None and p.stop is None and p.step in (None, 1) for p in parts):
            raise TypeError("array types are written with slices: float64[:], float64[:, ::1]")
        return Type(f"{self}[{', '.join('::1' if p.step else ':' for p in parts)}]")

    def __call__(self, *params):
        return Signature(self, params)

    def __str__(self):
        return self._kiln_text

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, Type) and other._kiln_text == self._kiln_text

    def __hash__(self):
        return hash(self._kiln_text)


class Signature:
    """A result type and parameter types."""

    __slots__ = ("return_type", "args")

    def __init__(self, return_type, args):
        self.return_type, self.args = return_type, tuple(args)

    def __str__(self):
        return f"{self.return_type or ''}({', '.join(map(str, self.args))})"

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, Signature) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


def Array(dtype, ndim, layout, readonly=False, aligned=True):
    """Array of `ndim` dimensions, layout 'C', 'F' or 'A'."""
    extra = (", readonly=True" if readonly else "") + ("" if aligned else ", aligned=False")
    return Type(f"Array({dtype}, {ndim}, '{layout}'{extra})")


def Tuple(items):
    return Type(f"Tuple(({', '.join(map(str, items))}{',' if len(items) == 1 else ''}))")


def UniTuple(item, count):
    return Type(f"UniTuple({item}, {count})")


def Optional(inner):
    return Type(f"optional({inner})")


def List(item):
    """A list of Python's, copied in and written back (a reflected list)."""
    return Type(f"list({item})")


def ListType(item):
    """A kilnjit.typed.List."""
    return Type(f"ListType({item})")


def SetType(item):
    """A kilnjit.typed.Set."""
    return Type(f"SetType({item})")


def DictType(key, value):
    """A kilnjit.typed.Dict."""
    return Type(f"DictType({key}, {value})")


def NPDatetime(unit=""):
    """numpy.datetime64 of a unit: "ns", "D", ..."""
    return Type(f"NPDatetime('{unit}')")


def NPTimedelta(unit=""):
    """numpy.timedelta64 of a unit."""
    return Type(f"NPTimedelta('{unit}')")


def CPointer(inner):
    return Type(f"CPointer({inner})")


def from_dtype(dtype):
    """The type of an element of this NumPy dtype: a number or, of a structured dtype, a record. TypeError if there is
    none. `from_dtype(dt)[:]` is an array type."""
    import numpy
    from .usertypes import dtype_text
    text = dtype_text(numpy.dtype(dtype))
    if text is None:
        raise TypeError(f"arrays of dtype {dtype} have no type in compiled code")
    return Type(text)


class Record:
    """Makers of record types, as Numba's."""

    @staticmethod
    def make_c_struct(fields):
        """A record laid out as C lays out a struct of these (name, type) pairs."""
        from .usertypes import dtype_of
        names, kinds = zip(*((name, dtype_of(str(kind))) for name, kind in fields))
        import numpy
        return from_dtype(numpy.dtype({"names": names, "formats": kinds}, align=True))


def NamedTuple(items, cls):
    """A named tuple of this class with these types of fields."""
    from ._kiln import typeof
    items = ", ".join(map(str, items)) + ("," if len(items) == 1 else "")
    number = typeof(tuple.__new__(cls, (None,) * len(cls._fields))).partition(",")[0]
    return Type(f"{number}, ({items}))")


def NamedUniTuple(item, count, cls):
    """A named tuple whose `count` fields are all of one type."""
    return NamedTuple((item,) * count, cls)


optional = Optional


class DeferredType:
    """A type that is told later, for fields of a class's own type: `t = deferred_type(); ...; t.define(type)`."""

    _all = []

    def __init__(self):
        self._number = len(self._all)
        self._all.append(self)

    def define(self, meant):
        self._meant = meant

    def get(self):
        if not hasattr(self, "_meant"):
            raise TypeError("a deferred type was used before its define() was called")
        return self._meant

    @property
    def _kiln_text(self):
        return defined(str(self))

    def __str__(self):
        return str(self._meant) if hasattr(self, "_meant") else f"<deferred {self._number}>"


def deferred_type():
    return DeferredType()


def canonical(text):
    """The canonical text of a type, which may mention classes by their serial numbers."""
    from ._kiln import canonical as of
    return _NUMBERED.sub(r"\1(@\2", of(_SERIAL.sub(r"\1(\2", text))) if "@" in text else of(text)


_SERIAL = re.compile(r"\b(object|NamedTuple|Enum|IntEnum|function)\(@(\d+)")
_NUMBERED = re.compile(r"\b(object|NamedTuple|Enum|IntEnum|function)\((\d+)")


def defined(text):
    """A type's text, with what deferred types mean by now. TypeError if one was not told."""
    while "<deferred " in text:
        before, _, rest = text.partition("<deferred ")
        number, _, after = rest.partition(">")
        text = f"{before}{DeferredType._all[int(number)].get()}{after}"
    return text
_names = {
    "none": "none", "void": "none", "boolean": "bool", "bool_": "bool", "b1": "bool",
    "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "i1": "int8", "i2": "int16", "i4": "int32",
    "i8": "int64", "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "u1": "uint8",
    "u2": "uint16", "u4": "uint32", "u8": "uint64", "intp": "int64", "uintp": "uint64", "int_": "int64", "uint": "uint64",
    "intc": "int32", "uintc": "uint32", "char": "int8", "uchar": "uint8", "byte": "uint8", "short": "int16",
    "ushort": "uint16", "long_": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64",
    "ssize_t": "int64", "size_t": "uint64", "float16": "float16",
    "float32": "float32", "float64": "float64", "f4": "float32", "f8": "float64", "float_": "float32",
    "double": "float64", "complex64": "complex64", "complex128": "complex128", "c8": "complex64", "c16": "complex128",
    "pyint": "pyint", "pyfloat": "pyfloat", "pycomplex": "pycomplex", "unicode_type": "unicode_type",
    "string": "unicode_type", "voidptr": "voidptr",
}
for _name, _text in _names.items():
    globals()[_name] = Type(_text)
del _name, _text
__all__ = [*_names, "Array", "CPointer", "NamedTuple", "NamedUniTuple", "Record", "from_dtype", "Optional", "Signature", "Tuple", "Type", "UniTuple", "optional"]
