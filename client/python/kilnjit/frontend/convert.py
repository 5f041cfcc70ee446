# SPDX-License-Identifier: Apache-2.0
"""A function and everything that it reaches, as one KIR module.

`convert(function)` is the door. A Converter builds one FunctionTree: expressions.py and statements.py hold its
methods by kind of node; here are scopes, names and functions."""
import builtins
import importlib
import os
from _thread import RLock
from types import FunctionType, ModuleType

from .. import _kir as K
from ..usertypes import field_classes
from . import callables, classes, module, source
from .cells import Cells
from .diagnostics import Refused
from .expressions import Expressions
from .keywords import Keywords
from .patterns import Patterns
from .private import mangle
from .scope import Bindings, parameters
from .statements import Statements
from .tree import FunctionTree, Local
from .values import NotConstant, Values, dtype_text
from .verify import class_of

MISSING = object()

#: One conversion at a time: trees of whole texts are shared, and looked at in a stripped form for a moment.
_lock = RLock()


def _new_lock():
    global _lock
    _lock = RLock()


os.register_at_fork(after_in_child=_new_lock)


class Program:
    """What the functions of one module share."""

    def __init__(self, own=None):
        self.values = Values()
        self.own = own    # (name, function): what a name will mean once the decorator has returned
        self.trees = {}   # (function object, flags) -> FunctionTree
        self.todo = []
        self.given = []   # (serial, object, key or tree) of objects that the signature mentions
        self.classes = {}  # jitclass -> its key
        self.methods = {}  # jitclass -> [(name, kind, tree)]
        self.values.classes = lambda cls: classes.key(self, cls)
        self.frozen = {}  # (function, name) -> value read, for "this global has changed"

    def tree_of(self, function, flags=0, forced=(), extra=()):
        """The tree of a function that is called or passed; its body is converted later. forced: (name, type) of locals
        whose values are cast when they are assigned. extra: keywords that a call gives to its **kwargs."""
        tree = self.trees.get((function, flags, forced, extra))
        if tree is None:
            code = function.__code__
            tree = FunctionTree(code.co_name, code.co_filename, flags, function)
            tree.firstline = code.co_firstlineno
            tree.forced = dict(forced)
            tree.extra = extra
            self.trees[function, flags, forced, extra] = tree
            self.todo.append(tree)
        return tree


def nearest(name, names):
    """A hint that names what was probably meant."""
    import difflib
    close = difflib.get_close_matches(name, names, 1)
    return f"was {close[0]!r} meant?" if close else ""


class Converter(Expressions, Statements, Patterns, Cells, Keywords):
    missing = MISSING

    def __init__(self, program, tree, node, outer=None):
        self.program, self.values = program, program.values
        self.tree, self.node, self.outer = tree, node, outer
        self.function = tree.pyfunction
        self.flags = tree.flags  # as they came: a generator's own flag is added to the tree
        self.bindings = Bindings(node)
        self.names = {}     # bound name -> Local
        self.overlays = []  # names of comprehensions, innermost last
        self.cells = None   # names whose variables are cells, once asked for
        self.written = []   # (name, temporary, place) of cells that the statement assigns
        self.kwargs, self.kwargs_name = {}, None  # keywords.py
        self.own_name = None  # of an inner function: its name, where nothing else is called so

    # -- names

    def refuse(self, message, node=None, hint=""):
        error = Refused(message, node, hint)
        error.tree = self.tree
        raise error

    def local(self, name):
        """The Local of a name that this function binds; None if it is not its own."""
        for overlay in reversed(self.overlays):
            if name in overlay:
                return overlay[name]
        if name in self.names:
            return self.names[name]
        if name in self.bindings.bound and name not in self.bindings.imports:
            self.names[name] = Local(name)
            return self.names[name]
        return None

    def variable(self, name):
        """(Local, owner is this function): a variable of this function or of one around it; (None, False)."""
        if name in self.bindings.globals:
            return None, False
        if name not in self.bindings.nonlocals:
            local = self.local(name)
            if local is not None:
                return local, True
        if self.outer is not None and name not in self.bindings.imports:
            local, _ = self.outer.variable(name)
            if local is not None:
                return self.tree.capture(local), False
        return None, False

    def root_function(self):
        """The Python function whose text this is a part of."""
        root = self
        while root.outer is not None:
            root = root.outer
        return root.function

    def static(self, name):
        """The object that a name means outside of the functions that are converted together; MISSING if none."""
        at = self
        while at is not None:
            if name in at.bindings.imports and name in at.bindings.bound:
                return at.imported(*at.bindings.imports[name])
            if at.outer is None or name in at.bindings.globals:
                break
            at = at.outer
        root = self
        while root.outer is not None:
            root = root.outer
        function = root.function
        code = function.__code__
        if name in code.co_freevars and name not in self.bindings.globals:
            try:
                return function.__closure__[code.co_freevars.index(name)].cell_contents
            except ValueError:  # still empty: the function itself, whose decorator has not returned?
                own = self.program.own
                return own[1] if own is not None and own[0] == name else MISSING
        own = self.program.own
        if own is not None and own[0] == name == own[1].__qualname__ and own[1].__globals__ is function.__globals__:
            return own[1]
        value = function.__globals__.get(name, MISSING)
        if value is MISSING:
            scope = function.__globals__.get("__builtins__", builtins)
            scope = scope if isinstance(scope, dict) else vars(scope)
            value = scope.get(name, MISSING)
        return value

    def imported(self, statement, alias):
        """What an import inside the function binds."""
        try:
            if type(statement).__name__ == "Import":
                made = importlib.import_module(alias.name)
                return made if alias.asname else importlib.import_module(alias.name.split(".")[0])
            root = self
            while root.outer is not None:
                root = root.outer
            package = root.function.__globals__.get("__package__") or None
            made = importlib.import_module("." * statement.level + (statement.module or ""), package)
            if hasattr(made, alias.name):
                return getattr(made, alias.name)
            return importlib.import_module(f"{made.__name__}.{alias.name}")
        except ImportError as error:
            self.refuse(f"cannot import: {error}", statement)

    def look(self, node):
        """(value, path) of an expression that is known without running: a name from outside, or attributes of
        modules and classes. (MISSING, None) if it is none."""
        kind = type(node).__name__
        if kind == "Name":
            if self.is_itself(node.id):
                return MISSING, None
            local, _ = self.variable(node.id)
            if local is not None:
                return MISSING, None
            value = self.static(node.id)
            return value, value.__name__ if isinstance(value, ModuleType) else None
        if kind == "Attribute":
            base, path = self.look(node.value)
            if base is MISSING or not isinstance(base, (ModuleType, type)) and not hasattr(base, "_kiln_namespace"):
                return MISSING, None
            if not hasattr(base, node.attr):
                self.refuse(f"{getattr(base, '__name__', base)} has no attribute {node.attr!r}", node,
                            nearest(node.attr, dir(base)))
            return getattr(base, node.attr), f"{path or getattr(base, '__name__', '')}.{node.attr}"
        return MISSING, None

    def emit_value(self, value, path, node, name=None):
        """A node for an object from outside."""
        tree, values = self.tree, self.values
        jitted = getattr(value, "_kiln_function", None)
        if jitted is not None:
            self.freeze(name, _meaning(jitted[0].__code__))
            return tree.emit(K.FUNC, self.program.tree_of(*jitted), at=node)
        np = values.numpy
        if np is not None and type(value) in (np.ndarray, np.recarray):
            return self.emit_array(value, node)
        if np is not None and isinstance(value, np.void) and value.dtype.names is not None:
            # a copy, as other constants: the one element of an array
            row = np.empty((), value.dtype)
            row[()] = value
            row.setflags(write=False)
            return tree.emit(K.SUBSCRIPT, self.emit_array(row, node), tree.emit(K.TUPLE, [], at=node), at=node)
        made = callables.function_of(value)
        if made is not None:
            self.freeze(name, _meaning(made.__code__))
            return tree.emit(K.FUNC, self.program.tree_of(made, self.flags), at=node)
        library = values.library(value, path)
        if library is not None:
            self.freeze(name, library)
            return tree.emit(K.LIB, (K.K_STR, library), at=node)
        if type(value) is FunctionType:  # a plain one: compiled with the options of whoever calls it
            self.freeze(name, _meaning(value.__code__))
            own = self.program.own
            asked = own[2:] if own is not None and value is own[1] else (self.flags,)
            return tree.emit(K.FUNC, self.program.tree_of(value, *asked), at=node)
        if isinstance(value, ModuleType):
            self.refuse(f"the module {value.__name__} can't be used as a value", node)
        if type(value) is tuple and any(self.is_part(v) for v in value):
            items = [self.emit_value(v, None, node, name) for v in value]
            return tree.emit(K.TUPLE, items, at=node)
        try:
            key = values.key(value)
        except NotConstant as error:
            what = f"{name!r} is {error}" if name else f"this is {error}"
            self.refuse(f"{what}, which compiled code can't use", node,
                        "pass it as an argument, or keep numbers, tuples or arrays")
        self.freeze(name, key)
        if key[0] == K.K_TYPE and "@" in key[1]:  # names classes: the last of a tuple that mentions them first
            named = [tree.emit(K.CONST, (K.K_USERTYPE, classes.key(self.program, c)), at=node) for c in field_classes(key[1])]
            last = tree.emit(K.CONST, key, at=node)
            both = tree.emit(K.TUPLE, [*named, last], at=node)
            return tree.emit(K.SUBSCRIPT, both, tree.emit(K.CONST, (K.K_INT, len(named)), at=node), at=node)
        return tree.emit(K.CONST, key, at=node)

    def freeze(self, name, what):
        """Remember what a name from outside was, for the warning when it changes."""
        if name is not None:
            self.program.frozen[self.tree.name, name] = what

    def is_part(self, value):
        """A tuple with such an item is built by the code: arrays and functions are no constants."""
        return (type(value) is FunctionType or hasattr(value, "_kiln_function") or type(value).__name__ in ("ndarray", "recarray", "void", "record")
                or type(value) is tuple and any(map(self.is_part, value)) or self.values.library(value) is not None)

    def emit_array(self, array, node):
        if dtype_text(array.dtype) is None:
            self.refuse(f"an array of dtype {array.dtype} can't be used in compiled code", node)
        return self.tree.emit(K.ENV, array, at=node)

    # -- functions

    def parameters(self, defaults):
        """Parameters of the tree. defaults: name -> constant key."""
        for arg, kind in parameters(self.node.args):
            if kind == K.P_KWSTAR and self.tree.pyfunction is not None:
                self.keyword_parameter(arg.arg)
                continue
            local = self.names[arg.arg] = Local(arg.arg)
            local.number = len(self.tree.locals)
            self.tree.locals.append(local)
            self.tree.params.append((arg.arg, kind, defaults.get(arg.arg)))

    def body(self):
        """Convert the whole function; the last node is its body."""
        if self.bindings.yields:
            self.tree.flags |= K.F_GENERATOR
        mention = self.mention() if self.tree.number == 0 else None
        first = [*([] if mention is None else [mention]), *self.make_cells()]
        if type(self.node).__name__ == "Lambda":
            value = self.expression(self.node.body)
            made = self.tree.emit(K.RETURN, value, at=self.node.body)
            self.tree.emit(K.BLOCK, [*first, made], at=self.node.body)
        else:
            if type(self.node).__name__ == "AsyncFunctionDef":
                self.refuse("async functions can't be compiled", self.node)
            self.block(self.without_docstring(self.node.body), self.node, first)

    def mention(self):
        """A statement without effect that names what the signature mentions, so that it is part of the module."""
        if not self.program.given:
            return None
        at = self.node if type(self.node).__name__ != "Lambda" else self.node.body
        items = [self.tree.emit(K.FUNC if isinstance(what, FunctionTree) else K.CONST, what, at=at)
                 for _, _, what in self.program.given]
        return self.tree.emit(K.EXPR, self.tree.emit(K.TUPLE, items, at=at), at=at)

    def inner_function(self, node, name):
        """A def or lambda inside: its own tree, and here the value that it makes."""
        inner = FunctionTree(name, self.tree.filename, self.flags, None, self.tree, self.tree.lines)
        inner.firstline = node.lineno
        defaults = self.inner_defaults(node)
        made = Converter(self.program, inner, node, self)
        if type(node).__name__ != "Lambda" and self.binds_once(name):
            made.own_name = name
        made.parameters(defaults)
        made.body()
        mine = [v for v in inner.free if any(v is own for own in self.names.values()) or self.in_overlay(v)]
        others = [v for v in inner.free if not any(v is m for m in mine)]
        inner.free = mine + others
        if inner.free:  # calls of itself pass on what it captured
            for i in inner.selves:
                inner.nodes[i] = (K.CLOSURE, (inner, [], inner.free))
        if not inner.free:
            return self.tree.emit(K.FUNC, inner, at=node)
        return self.tree.emit(K.CLOSURE, inner, mine, [self.tree.capture(v) for v in others], at=node)

    def is_itself(self, name):
        """Inside an inner function: the function's own name."""
        return name == self.own_name and name not in self.bindings.bound

    def binds_once(self, name):
        """A definition is all that this function calls by that name."""
        return name in self.bindings.bound and name not in self.cells_of() and self.bindings.times.get(name) == 1

    def in_overlay(self, local):
        return any(local is v for overlay in self.overlays for v in overlay.values())

    def inner_defaults(self, node):
        """Defaults of an inner function: they run here, so they must be known here."""
        args = node.args
        rows = list(zip([*args.posonlyargs, *args.args][::-1], args.defaults[::-1]))
        rows += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults) if d is not None]
        found = {}
        for arg, default in rows:
            found[arg.arg] = self.constant_key(default)
            if found[arg.arg] is None:
                self.refuse("defaults of inner functions must be constants", default)
        return found

    def constant_key(self, node):
        """Key of an expression that is a constant; None."""
        kind = type(node).__name__
        sign = 1
        if kind == "UnaryOp" and type(node.op).__name__ == "USub":
            node, sign, kind = node.operand, -1, type(node.operand).__name__
        if kind == "Constant" and (sign == 1 or type(node.value) in (int, float, complex)):
            value = node.value if sign == 1 else -node.value
        elif sign == 1:
            value, _ = self.look(node)
        else:
            return None
        try:
            return None if value is MISSING else self.values.key(value)
        except NotConstant:
            return None


def _meaning(code):
    """What two code objects that do the same have in common, wherever they stand."""
    parts = [_meaning(c) if hasattr(c, "co_code") else (type(c), repr(c)) for c in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, tuple(parts)


def _defaults(program, tree):
    """Defaults of a function that is called from compiled code, as constants."""
    function = tree.pyfunction
    code = function.__code__
    names = code.co_varnames[:code.co_argcount]
    given = dict(zip(names[::-1], (function.__defaults__ or ())[::-1]))
    given.update(function.__kwdefaults__ or {})
    found = {}
    for name, value in given.items():
        try:
            found[name] = program.values.key(value)
        except NotConstant:
            continue  # a call that leaves it out is told that the argument is missing
    return found


def convert(function, flags=0, own_name=False, forced=(), given=()):
    """given: (serial, object) of classes and compiled functions that the signature mentions. The Module of a function. SourceError, Refused. own_name: the function is just being decorated, so its global
    name is not bound to it yet and still means the function."""
    own = (function.__name__, function, flags, forced) if own_name else None
    with _lock:
        return _convert(Program(own), function, flags, forced, given)


def _convert(program, function, flags, forced, given):
    entry = program.tree_of(function, flags, forced)
    entry.number = 0
    for serial, o in given:
        jitted = getattr(o, "_kiln_function", None)
        what = program.tree_of(*jitted) if jitted is not None else program.values.class_key(o)
        program.given.append((serial, o, what))
    while program.todo:
        tree = program.todo.pop(0)
        found = source.find(tree.pyfunction)
        tree.lines = found.lines
        cls = class_of(tree.pyfunction.__code__)
        if cls is not None:
            mangle(found.node, cls)
        made = Converter(program, tree, found.node)
        made.parameters(_defaults(program, tree))
        try:
            made.body()
        except RecursionError:
            made.refuse("the function's text is nested too deeply", None, "split it into several functions")
    entry.number = -1
    return module.finish(entry, program.values, program.frozen, program.given, program.methods)


__all__ = ["convert"]
