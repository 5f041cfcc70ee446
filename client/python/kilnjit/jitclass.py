# SPDX-License-Identifier: Apache-2.0
"""jitclass: classes whose objects live in compiled code's memory, shared with Python by reference.

    @jitclass([("total", float64), ("count", int64)])
    class Mean:
        def __init__(self):
            self.total, self.count = 0.0, 0
        def add(self, x): ...

Here the class stands for the objects: each field is a property, each method a compiled function. In compiled code
the class is called and its objects are used as in Python; their memory is counted, and given up with the last reference."""
import typing
from types import FunctionType

from . import _kiln, _kir as K, types
from .decorators import njit


class Description:
    """What the compiler needs of a class. fields: name -> type. functions: (name, kind of KIR, function)."""

    MISSING = _kiln.MISSING

    def __init__(self, fields, functions):
        self.fields, self.functions = fields, functions
        self.init = next((f for name, kind, f in functions if name == "__init__" and kind == K.M_METHOD), None)
        self.anywhere = self.init or (functions[0][2] if functions else _nowhere)

    def texts(self):
        """Types of the fields, with serial numbers of classes."""
        return [types.canonical(types.defined(str(t))) for t in self.fields.values()]

    def parameters(self):
        """(name, kind, default) of what a call of the class takes."""
        from .function import parameters
        return list(zip(*parameters(self.init)))[1:]


def _nowhere():
    """Stands for the constructor of a class without functions in messages."""


class ClassType:
    """`Class.class_type`, as Numba has it."""

    _kiln_namespace = True  # its attributes are known when compiling

    def __init__(self, cls):
        self._cls = cls

    @property
    def instance_type(self):
        return types.Type(f"object(@{_kiln.serial_of(self._cls)})")


class JitClass(type):
    """The class of classes made by jitclass."""

    def __new__(mcls, name, bases, members):
        if any(isinstance(base, JitClass) for base in bases):
            raise TypeError("cannot subclass from a jitclass")
        return super().__new__(mcls, name, bases, members)

    def __call__(cls, *args, **kwargs):
        return cls._kiln_make(*args, **kwargs)

    def __repr__(cls):
        return f"<jitclass {cls.__module__}.{cls.__qualname__}>"


def jitclass(cls_or_spec=None, spec=None):
    """Compile a class. Use as `@jitclass(spec)` or `@jitclass` where annotations give all fields.

    spec: list of (name, type), or a mapping, of fields; types are those of kilnjit.types, or Python's and typing's
    (int, float, typing.List[int], another jitclass). Annotations of the class add fields. TypeError for a field without
    a type, or a class that inherits from another jitclass. Methods, properties, static methods and
    methods with two underscores (operators, comparisons, items, len, bool, hash, str, conversions) are compiled."""
    if isinstance(cls_or_spec, type) and not isinstance(cls_or_spec, JitClass):
        return _make(cls_or_spec, spec)
    given = cls_or_spec if spec is None else spec
    return lambda cls: _make(cls, given)


def _make(cls, spec):
    if not isinstance(cls, type):
        raise TypeError("class argument is not a type")
    if any(isinstance(base, JitClass) for base in cls.__mro__):
        raise TypeError("cannot subclass from a jitclass")
    fields = _fields(cls, spec)
    functions, members = [], {}
    for name, value in _members(cls).items():
        if name in fields and (callable(value) or isinstance(value, property)):
            raise NameError(f"name shadowing: {name}")
        _member(name, value, functions, members)
    about = Description(fields, functions)
    members.update(_accessors(cls, fields))
    members.update(__slots__=(), __module__=cls.__module__, __qualname__=cls.__qualname__, __doc__=cls.__doc__,
                   _kiln_class=about)
    if "__repr__" not in members:
        members["__repr__"] = _repr
    if "__eq__" not in members:  # an object is itself
        members["__eq__"] = lambda self, other: type(self) is type(other) and self._address == other._address
        members.setdefault("__hash__", lambda self: hash(self._address))
    made = JitClass(cls.__name__, (_kiln.Container,), members)
    made.class_type = ClassType(made)
    made._kiln_make = _maker(made, about)
    return made


def _members(cls):
    """What the class and its plain bases define."""
    found = {}
    for base in reversed(cls.__mro__[:-1]):
        found.update(vars(base))
    for name in ("__dict__", "__weakref__", "__module__", "__doc__", "__annotations__", "__qualname__", "__slots__",
                 "__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__"):
        found.pop(name, None)
    return found


def _member(name, value, functions, members):
    if isinstance(value, staticmethod):
        functions.append((name, K.M_STATIC, _plain(value.__func__)))
        members[name] = staticmethod(_compiled(value.__func__))
    elif isinstance(value, property):
        if value.fdel is not None:
            raise TypeError(f"deleter is not supported: {name}")
        functions.append((name, K.M_GETTER, _plain(value.fget)))
        if value.fset is not None:
            functions.append((name, K.M_SETTER, _plain(value.fset)))
        members[name] = property(_compiled(value.fget), value.fset and _compiled(value.fset), None, value.__doc__)
    elif isinstance(value, FunctionType) or hasattr(value, "_kiln_function"):
        functions.append((name, K.M_METHOD, _plain(value)))
        members[name] = _plain(value) if name == "__init__" else _compiled(value)
    elif isinstance(value, classmethod):
        raise TypeError(f"class method {name!r} can't be compiled: make it a static method")
    else:
        members[name] = value  # a constant of the class


def _plain(function):
    return function._kiln_function[0] if hasattr(function, "_kiln_function") else function


def _compiled(function):
    """To be called from Python, which wants its own numbers: of __len__, __int__ and the like it takes no others."""
    from .function import decorate
    return decorate(_plain(function), {}, plain=True)


# -- fields


def _fields(cls, spec):
    fields = {}
    if spec is None:
        spec = {}
    elif isinstance(spec, (list, tuple)):
        spec = list(spec)
        for row in spec:
            if not isinstance(row, (tuple, list)) or len(row) != 2:
                raise TypeError(f"spec must be a list of (name, type) pairs, not {row!r}")
        if len({name for name, _ in spec}) != len(spec):
            raise TypeError("a field is in the spec twice")
    for name, given in dict(spec).items():
        if not isinstance(name, str):
            raise TypeError("spec keys should be strings, got %r" % (name,))
        fields[name] = _type(name, given, "spec values should be Numba type instances, got %r" % (given,))
    for base in reversed(cls.__mro__[:-1]):
        hints = vars(base).get("__annotations__") or {}
        if hints and any(isinstance(h, str) for h in hints.values()):
            hints = typing.get_type_hints(base)
        for name, hint in hints.items():
            if name not in fields:
                fields[name] = _type(name, hint, f"field {name!r} has the annotation {hint!r}, which is no type of compiled code")
    for name in fields:
        if name.startswith("__") and not name.endswith("__"):
            plain = f"_{cls.__name__.lstrip('_')}{name}"
            fields = {plain if n == name else n: t for n, t in fields.items()}
    return fields


def _type(name, given, message):
    if isinstance(given, (types.Type, types.DeferredType)):
        return given
    found = as_type(given)
    if found is None:
        raise TypeError(message)
    return found


_PLAIN = {int: "int64", float: "float64", complex: "complex128", bool: "bool", str: "unicode_type", bytes: "bytes_type",
          type(None): "none"}


def as_type(hint):
    """The type that an annotation means, as numba.extending.as_numba_type; None if there is none."""
    if isinstance(hint, (types.Type, types.DeferredType)):
        return hint
    if hint is None or (isinstance(hint, type) and hint in _PLAIN):
        return types.Type(_PLAIN[type(None) if hint is None else hint])
    if isinstance(hint, JitClass):
        return hint.class_type.instance_type
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Union and len(inside) == 2 and type(None) in inside:
        one = as_type(next(t for t in inside if t is not type(None)))
        return one and types.Optional(one)
    parts = [as_type(t) for t in inside if t is not Ellipsis]
    if origin is None or None in parts or not parts:
        from .usertypes import type_text
        text = type_text(hint)
        return types.Type(text) if text and not text.startswith("py") else None
    if origin is tuple:
        return types.Tuple(parts)
    made = {list: types.ListType, dict: types.DictType, set: types.SetType}.get(origin)
    return made(*parts) if made else None


def _run(source, cls, **scope):
    """Names that a generated text defines; the frontend finds the text as it does any that was run."""
    scope["__name__"] = cls.__module__
    exec(compile(source, f"<jitclass {cls.__module__}.{cls.__qualname__}>", "exec"), scope)  # noqa: S102
    return scope


_GET = "def get_{0}(self):\n    return self.{0}\n"
_SET = "def set_{0}(self, value):\n    self.{0} = value\n"


def _accessors(cls, fields):
    """A property for each field."""
    source = "".join(text.format(name) for name in fields for text in (_GET, _SET))
    if not source:
        return {}
    scope = _run(source, cls)
    return {name: property(_compiled(scope["get_" + name]), _compiled(scope["set_" + name])) for name in fields}


def _maker(cls, about):
    """The compiled function that a call of the class calls."""
    if about.init is None:
        return njit(_run("def make():\n    return Class()\n", cls, Class=cls)["make"])
    shown, passed, scope = [], [], {"Class": cls}
    star = False
    for name, kind, default in about.parameters():
        mark = "*" if kind == K.P_STAR else ""
        if kind == K.P_KWONLY and not star:
            shown.append("*")
        star = star or bool(mark) or kind == K.P_KWONLY
        text = mark + name
        if default is not about.MISSING:
            scope[f"default_{name}"] = default
            text += f"=default_{name}"
        shown.append(text)
        passed.append(f"{name}={name}" if kind == K.P_KWONLY else mark + name)
    source = f"def make({', '.join(shown)}):\n    return Class({', '.join(passed)})\n"
    return njit(_run(source, cls, **scope)["make"])


def _repr(self):
    return f"<{type(self).__module__}.{type(self).__qualname__} object at 0x{self._address:x}>"
