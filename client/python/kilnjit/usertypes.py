# SPDX-License-Identifier: Apache-2.0
"""What Python objects mean as types: classes of named tuples and enums, dtypes and classes as values, structured
dtypes, compiled functions. The extension asks once an object (ext/objects.h)."""
import sys

from . import _kir as K

#: characters of a name that a record's text shows as it is
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def is_named_tuple(cls):
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_enum(cls):
    enum = sys.modules.get("enum")
    return enum is not None and isinstance(cls, enum.EnumMeta)


def field_classes(text):
    """The classes whose objects a type's text mentions."""
    from . import _kiln
    from .frontend.module import serials
    return [_kiln.object_of(n) for n in serials(text)[1::2]]


def describe(o):
    """("namedtuple",), ("jitclass",), ("enum" | "intenum", members, values), ("function",), ("type" | "record", text) or None."""
    if getattr(o, "_kiln_function", None) is not None:
        return ("function",)
    if isinstance(o, type):
        if "_kiln_class" in vars(o):
            return ("jitclass",)
        if is_named_tuple(o):
            return ("namedtuple",)
        if is_enum(o):
            members = tuple(o)
            if issubclass(o, int):
                values = tuple(int(m) for m in members)
                return ("intenum", members, values) if all(-(1 << 63) <= v < 1 << 63 for v in values) else None
            return "enum", members, None
    text = type_text(o)
    if text is None:
        return None
    return ("record" if text.startswith("Record(") else "type"), text


def type_text(o):
    """The type that a dtype, a scalar class of NumPy, a number class of Python or an object of kilnjit.types means."""
    np = sys.modules.get("numpy")
    text = getattr(type(o), "_kiln_text", None) and o._kiln_text
    if text is not None and "@" in text:  # of a class of this process
        return text
    if text is not None:  # of kilnjit.types
        from ._kiln import canonical
        return canonical(text)
    if isinstance(o, type) and o in _PYTHON:
        return _PYTHON[o]
    if np is not None and isinstance(o, np.dtype):
        return dtype_text(o)
    if np is not None and isinstance(o, type) and issubclass(o, np.generic) and not o.__subclasses__():
        return dtype_text(np.dtype(o))
    return None


_PYTHON = {bool: "bool", int: "pyint", float: "pyfloat", complex: "pycomplex"}


def dtype_text(dtype):
    """Canonical text of a NumPy dtype, None if compiled code has no such type."""
    if dtype.names is not None:
        return record_text(dtype)
    if dtype.kind in "mM":
        return time_text(dtype)
    name = dtype.name if dtype.isnative else ""
    if name in ("bool", "bool_"):
        return "bool"
    return name if name in K.TYPES and K.TYPES[name][2] >= 0 else None


def time_text(dtype):
    """datetime64 and timedelta64 of one unit; of several ("10us") there is no type."""
    unit, count = sys.modules["numpy"].datetime_data(dtype)
    if count != 1 or not dtype.isnative:
        return None
    return f"NP{'Datetime' if dtype.kind == 'M' else 'Timedelta'}('{'' if unit == 'generic' else unit}')"


def record_text(dtype):
    """A structured dtype as type_record.c writes it."""
    if not dtype.itemsize or dtype.itemsize > 1 << 24:
        return None
    fields = []
    for name in dtype.names:
        inner, offset = dtype.fields[name][:2]
        text = _field_text(inner)
        if text is None or not name or len(name.encode()) > 255 or "\0" in name:
            return None
        fields.append(f"{_quoted(name)}[type={text};offset={offset}]")
    return f"Record({','.join(fields)};{dtype.itemsize};{bool(dtype.isalignedstruct)})"


def _field_text(dtype):
    if dtype.kind in "SU" and dtype.isnative:  # moved, not read
        return f"[{'char' if dtype.kind == 'S' else 'unichr'} x {dtype.itemsize // (1 if dtype.kind == 'S' else 4)}]"
    if dtype.subdtype is None:
        return dtype_text(dtype)
    inner, shape = dtype.subdtype
    text = dtype_text(inner)
    if text is None:
        return None
    return f"nestedarray({text}, ({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''}))"


def _quoted(name):
    return name if _WORD.issuperset(name) else "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


# -- and back


class _Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def take(self, token):
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def need(self, token):
        if not self.take(token):
            raise ValueError(f"expected {token!r} at {self.text[self.at:]!r}")

    def until(self, stops):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in stops:
            self.at += 1
        return self.text[start:self.at]

    def name(self):
        if not self.take("'"):
            return self.until("[")
        found = []
        while not self.take("'"):
            self.take("\\")
            found.append(self.text[self.at])
            self.at += 1
        return "".join(found)

    def dtype(self):
        import numpy as np
        if self.take("nestedarray("):
            inner = self.dtype()
            self.need(", (")
            shape = tuple(int(n) for n in self.until(")").split(",") if n.strip())
            self.need("))")
            return np.dtype((inner, shape))
        for unit, letter in (("[char x ", "S"), ("[unichr x ", "U")):
            if self.take(unit):
                count = self.until("]")
                self.need("]")
                return np.dtype(letter + count)
        if not self.take("Record("):
            name = self.until(",;)")
            return np.dtype(np.bool_ if name == "bool" else name)
        names, formats, offsets = [], [], []
        while not self.take(";"):
            self.take(",")
            names.append(self.name())
            self.need("[type=")
            formats.append(self.dtype())
            self.need(";offset=")
            offsets.append(int(self.until("]")))
            self.need("]")
        size = int(self.until(";"))
        self.need(";")
        aligned = self.until(";)") == "True"
        while not self.take(")"):
            self.at += 1
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size}, align=aligned)


def dtype_of(text):
    """The NumPy dtype of a record's text."""
    return _Reader(text).dtype()
