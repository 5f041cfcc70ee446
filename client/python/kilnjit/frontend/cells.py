# SPDX-License-Identifier: Apache-2.0
"""Variables that an inner function assigns (`nonlocal`): cells.

KIR's functions capture values. A variable that is assigned from inside lives in a list of one item instead, which all of
them share: empty while it has no value, read by kiln.cell_get. What is assigned goes through a temporary."""
from .. import _kir as K
from .scope import SCOPES, Bindings, children
from .tree import Local


def assigned_inside(node):
    """Names of the function `node` that functions inside of it declare nonlocal."""
    found = set()
    todo = [(c, ()) for c in _inner(node)]
    while todo:
        inner, hidden = todo.pop()
        bindings = Bindings(inner)
        found |= {name for name in bindings.nonlocals if name not in hidden}
        hidden = (*hidden, *bindings.bound)
        todo += [(c, hidden) for c in _inner(inner)]
    return found


def _inner(node):
    """Functions directly inside."""
    todo = list(node.body) if isinstance(node.body, list) else [node.body]
    while todo:
        n = todo.pop()
        if type(n).__name__ in SCOPES:
            if type(n).__name__ != "ClassDef":
                yield n
            continue
        todo += children(n)


class Cells:
    def cells_of(self):
        """Names of this function that are cells."""
        if self.cells is None:
            inside = assigned_inside(self.node)
            self.cells = inside & self.bindings.bound if inside else inside
        return self.cells

    def is_cell(self, name):
        at = self
        while at is not None:
            if name in at.bindings.bound and not any(name in o for o in at.overlays):
                return name in at.cells_of()
            at = at.outer
        return False

    def cell_node(self, name, at):
        local, own = self.variable(name)
        return self.tree.emit(K.LOCAL if own else K.FREE, local, at=at)

    def make_cells(self):
        """Statements at the beginning of the function: an empty cell each, or one that holds the parameter."""
        made = []
        at = self.node if type(self.node).__name__ != "Lambda" else self.node.body
        for name in sorted(self.cells_of()):
            held = []
            if name in self.names:  # a parameter: the name means the cell from here on
                held = [self.tree.emit(K.LOCAL, self.names.pop(name), at=at)]
            value = self.tree.emit(K.LIST, held, at=at)
            target = self.tree.emit(K.LOCAL, self.local(name), at=at)
            made.append(self.tree.emit(K.ASSIGN, value, [target], at=at))
        return made

    def cell_read(self, name, at):
        function = self.tree.emit(K.LIB, (K.K_STR, "kiln.cell_get"), at=at)
        return self.tree.emit(K.CALL, function, [self.cell_node(name, at)], [], [], at=at)

    def cell_target(self, name, at):
        """A temporary to be assigned; write_cells stores it when the statement is done."""
        temporary = Local("")
        self.written.append((name, temporary, at))
        return self.tree.emit(K.LOCAL, temporary, at=at)

    def write_cells(self):
        """Statements that store what was assigned since the last call."""
        made = []
        for name, temporary, at in self.written:
            method = self.tree.emit(K.ATTR, self.cell_node(name, at), (K.K_STR, "__cell__"), at=at)
            value = self.tree.emit(K.LOCAL, temporary, at=at)
            made.append(self.tree.emit(K.EXPR, self.tree.emit(K.CALL, method, [value], [], [], at=at), at=at))
        self.written = []
        return made

    def cell_augmented(self, node, operator):
        """name op= value"""
        name = node.target.id
        temporary = Local("")
        old = self.cell_read(name, node.target)
        first = self.tree.emit(K.ASSIGN, old, [self.tree.emit(K.LOCAL, temporary, at=node.target)], at=node)
        target = self.tree.emit(K.LOCAL, temporary, at=node.target)
        change = self.tree.emit(K.AUGASSIGN, operator, target, self.expression(node.value), at=node)
        self.written.append((name, temporary, node.target))
        return [first, change, *self.write_cells()]
