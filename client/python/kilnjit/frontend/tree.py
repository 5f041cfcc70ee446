# SPDX-License-Identifier: Apache-2.0
"""A function of the module while it is built: nodes in post-order with symbolic operands.

Locals, constants, functions and slots get their numbers when the module is finished (module.py), because KIR's order of
numbers is the order of the finished nodes."""
from .. import _kir as K


class Local:
    """A variable: a parameter, a name that the function binds, a comprehension's target or a temporary."""

    __slots__ = ("name", "number")

    def __init__(self, name):
        self.name, self.number = name, -1


class FunctionTree:
    """params: [(name, kind, default)], default a constant's key or None. free: Local objects of enclosing functions,
    in order of first mention. nodes: (op, operands), operands by the letters of ops.def: a node number, a number, a
    Local, a constant's key, a FunctionTree, an ndarray, None for an absent one, or a list of them."""

    def __init__(self, name, filename, flags, pyfunction=None, outer=None, lines=()):
        self.name, self.filename, self.flags = name, filename, flags
        self.pyfunction = pyfunction
        self.qualname = f"{outer.qualname}.<locals>.{name}" if pyfunction is None else pyfunction.__qualname__
        self.globals = outer.globals if pyfunction is None else pyfunction.__globals__
        self.outer = outer          # the tree around, of an inner function
        self.lines = lines          # text, for messages
        self.firstline = 0
        self.params, self.locals, self.free = [], [], []
        self.extra = ()             # keywords that its **kwargs takes
        self.selves = []            # nodes that mean the function itself
        self.is_init = False        # __init__ of a jitclass: returns nothing
        self.forced = {}            # name of a local -> canonical type that its values are cast to
        self.nodes, self.positions = [], []
        self.number = -1

    def emit(self, op, *operands, at):
        """Append a node; `at` is a syntax node or a position."""
        self.nodes.append((op, operands))
        self.positions.append(at if type(at) is tuple else
                              (at.lineno, at.col_offset, at.end_lineno, at.end_col_offset))
        return len(self.nodes) - 1

    def capture(self, local):
        """A variable of an enclosing function that this one mentions."""
        if local not in self.free:
            self.free.append(local)
        return local

    def owns(self, local):
        return any(local is mine for mine in self.locals)


#: node operands by letter, from ops.def
NODE_LETTERS = "etbSghw"
#: op -> [(mark, letter)]: mark is "", "?" or "*"
LAYOUT = {}
for _op, _text in K.OPERANDS.items():
    _rows, _mark = [], ""
    for _c in _text:
        if _c in "?*":
            _mark = _c
        else:
            _rows.append((_mark, _c))
            _mark = ""
    LAYOUT[_op] = tuple(_rows)
del _op, _text, _rows, _mark, _c
