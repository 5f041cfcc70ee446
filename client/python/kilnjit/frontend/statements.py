# SPDX-License-Identifier: Apache-2.0
"""Statements and assignment targets, as expressions.py."""
from .. import _kir as K
from .expressions import BINARY


class Statements:
    def without_docstring(self, body):
        first = body[0]
        if type(first).__name__ == "Expr" and type(first.value).__name__ == "Constant" and type(first.value.value) is str:
            return body[1:]
        return body

    def statements(self, body):
        """The nodes of some statements; those without a meaning give none."""
        made = []
        for statement in body:
            method = getattr(self, "s_" + type(statement).__name__, None)
            if method is None:
                self.refuse(f"{type(statement).__name__.lower()} statements can't be compiled", statement)
            number = method(statement)
            if number is not None:
                made.extend(number if type(number) is list else [number])
            made += self.write_cells()
        return made

    def block(self, body, at, first=()):
        made = [*first, *self.statements(body)]
        if not made:
            made = [self.tree.emit(K.PASS, at=at)]
        return self.tree.emit(K.BLOCK, made, at=body[0] if body else at)

    def optional_block(self, body, at):
        return self.block(body, at) if body else None

    # -- targets

    def target(self, node):
        kind = type(node).__name__
        if kind == "Name":
            if node.id in self.bindings.globals:
                self.refuse(f"the global {node.id!r} can't be assigned in compiled code", node,
                            "return the value, or use an array of one element")
            if self.is_cell(node.id):
                return self.cell_target(node.id, node)
            local, own = self.variable(node.id)
            if local is None:  # nonlocal: a cell of the Python function around
                self.refuse(f"{node.id!r} belongs to a function that is not compiled and can't be assigned", node,
                            "return the value, or use an array of one element")
            return self.tree.emit(K.LOCAL if own else K.FREE, local, at=node)
        if kind in ("Tuple", "List"):
            return self.tree.emit(K.TUPLE, [self.target(t) for t in node.elts], at=node)
        if kind == "Starred":
            return self.tree.emit(K.STAR, self.target(node.value), at=node)
        if kind == "Attribute":
            return self.tree.emit(K.ATTR, self.expression(node.value), (K.K_STR, node.attr), at=node)
        return self.e_Subscript(node)

    # -- simple statements

    def cast(self, targets, node, value):
        """The value of an assignment, which a call of a type becomes where the option `locals` asks for one. The type
        is emitted first, as the operand that it is, so `value` is a function."""
        for t in targets if self.tree.forced else ():
            text = self.tree.forced.get(t.id) if type(t).__name__ == "Name" else None
            if text is not None:
                kind = self.tree.emit(K.CONST, (K.K_TYPE, text), at=t)
                return self.tree.emit(K.CALL, kind, [value()], [], [], at=node)
        return value()

    def s_Assign(self, node):
        value = self.cast(node.targets, node.value, lambda: self.expression(node.value))
        return self.tree.emit(K.ASSIGN, value, [self.target(t) for t in node.targets], at=node)

    def s_AnnAssign(self, node):
        if node.value is None:
            return None
        value = self.cast([node.target], node.value, lambda: self.expression(node.value))
        return self.tree.emit(K.ASSIGN, value, [self.target(node.target)], at=node)

    def s_AugAssign(self, node):
        if type(node.target).__name__ == "Name" and node.target.id in self.tree.forced:
            def operation():
                old = self.target(node.target)
                return self.tree.emit(K.BINARY, BINARY[type(node.op).__name__], old, self.expression(node.value), at=node)
            value = self.cast([node.target], node, operation)
            return self.tree.emit(K.ASSIGN, value, [self.target(node.target)], at=node)
        if type(node.target).__name__ == "Name" and self.is_cell(node.target.id):
            return self.cell_augmented(node, BINARY[type(node.op).__name__])
        target = self.target(node.target)
        return self.tree.emit(K.AUGASSIGN, BINARY[type(node.op).__name__], target, self.expression(node.value), at=node)

    def s_Expr(self, node):
        if type(node.value).__name__ == "Constant":
            return None
        return self.tree.emit(K.EXPR, self.expression(node.value), at=node)

    def s_Return(self, node):
        if self.tree.is_init and node.value is not None and self.constant_key(node.value) != (K.K_NONE,):
            self.refuse("__init__() should return None, not a value", node)
        return self.tree.emit(K.RETURN, None if node.value is None else self.expression(node.value), at=node)

    def s_Raise(self, node):
        parts = [None if p is None else self.expression(p) for p in (node.exc, node.cause)]
        return self.tree.emit(K.RAISE, *parts, at=node)

    def s_Assert(self, node):
        if not __debug__:  # python -O
            return None
        test = self.expression(node.test)
        return self.tree.emit(K.ASSERT, test, None if node.msg is None else self.expression(node.msg), at=node)

    def s_Delete(self, node):
        targets, todo = [], node.targets[::-1]
        while todo:
            target = todo.pop()
            if type(target).__name__ in ("Tuple", "List"):
                todo += target.elts[::-1]
            else:
                if type(target).__name__ == "Name" and self.is_cell(target.id):
                    self.refuse("a variable that inner functions assign can't be deleted", target)
                targets.append(self.target(target))
        return self.tree.emit(K.DEL, targets, at=node) if targets else None

    def s_Break(self, node):
        return self.tree.emit(K.BREAK, at=node)

    def s_Continue(self, node):
        return self.tree.emit(K.CONTINUE, at=node)

    def s_Pass(self, node):
        return None

    s_Global = s_Nonlocal = s_Import = s_ImportFrom = s_Pass

    def s_FunctionDef(self, node):
        for decorator in node.decorator_list:
            value, _ = self.look(decorator.func if type(decorator).__name__ == "Call" else decorator)
            if not getattr(value, "_kiln_decorator", False):
                self.refuse("this decorator of an inner function can't be compiled", decorator)
        value = self.inner_function(node, node.name)
        if self.is_cell(node.name):
            return self.tree.emit(K.ASSIGN, value, [self.cell_target(node.name, node)], at=node)
        local, own = self.variable(node.name)
        return self.tree.emit(K.ASSIGN, value, [self.tree.emit(K.LOCAL if own else K.FREE, local, at=node)], at=node)

    # -- control

    def s_If(self, node):
        chain = []  # a chain of elif nests to the right and may be long
        while True:
            chain.append((node, self.expression(node.test), self.block(node.body, node)))
            rest = node.orelse
            if len(rest) != 1 or type(rest[0]).__name__ != "If":
                break
            node = rest[0]
        other = self.optional_block(rest, node)
        while True:
            node, test, body = chain.pop()
            made = self.tree.emit(K.IF, test, body, other, at=node)
            if not chain:
                return made
            other = self.tree.emit(K.BLOCK, [made], at=node)

    def s_While(self, node):
        test = self.expression(node.test)
        body = self.block(node.body, node)
        return self.tree.emit(K.WHILE, test, body, self.optional_block(node.orelse, node), at=node)

    def s_For(self, node):
        parallel = False
        if type(node.iter).__name__ == "Call":
            value, _ = self.look(node.iter.func)
            parallel = getattr(value, "_kiln_library", None) == "kilnjit.prange"
        target, iterable = self.target(node.target), self.expression(node.iter)
        body = self.block(node.body, node, self.write_cells())
        return self.tree.emit(K.PARFOR if parallel else K.FOR, target, iterable, body,
                              self.optional_block(node.orelse, node), at=node)

    def s_Try(self, node):
        body = self.block(node.body, node)
        handlers = []
        for h in node.handlers:
            kind = None if h.type is None else self.expression(h.type)
            if h.name is not None and self.is_cell(h.name):
                self.refuse("'as' can't name a variable that inner functions assign", h)
            local = None if h.name is None else self.local(h.name)
            handlers.append(self.tree.emit(K.HANDLER, kind, local, self.block(h.body, h), at=h))
        return self.tree.emit(K.TRY, body, handlers, self.optional_block(node.orelse, node),
                              self.optional_block(node.finalbody, node), at=node)

    def s_With(self, node):
        call = node.items[0].context_expr
        value, _ = self.look(call.func if type(call).__name__ == "Call" else call)
        if getattr(value, "_kiln_objmode", False):
            from .objmode import convert_block
            if len(node.items) > 1:
                self.refuse("objmode stands alone in its 'with'", node)
            return convert_block(self, node, call)
        items = []
        for item in node.items:
            value = self.expression(item.context_expr)
            target = None if item.optional_vars is None else self.target(item.optional_vars)
            items.append(self.tree.emit(K.WITHITEM, value, target, at=item.context_expr))
        return self.tree.emit(K.WITH, items, self.block(node.body, node), at=node)
