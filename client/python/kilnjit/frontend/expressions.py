# SPDX-License-Identifier: Apache-2.0
"""Expressions: a method for each kind of syntax node. Each emits its operands in order, then itself, and returns the
number of its node."""
from .. import _kir as K
from .tree import Local
from .values import NotConstant

BINARY = {"Add": K.B_ADD, "Sub": K.B_SUB, "Mult": K.B_MUL, "Div": K.B_DIV, "FloorDiv": K.B_FLOORDIV, "Mod": K.B_MOD,
          "Pow": K.B_POW, "MatMult": K.B_MATMUL, "LShift": K.B_LSHIFT, "RShift": K.B_RSHIFT, "BitAnd": K.B_BITAND,
          "BitOr": K.B_BITOR, "BitXor": K.B_BITXOR}
UNARY = {"USub": K.U_NEG, "UAdd": K.U_POS, "Invert": K.U_INVERT, "Not": K.U_NOT}
COMPARE = {"Eq": K.C_EQ, "NotEq": K.C_NE, "Lt": K.C_LT, "LtE": K.C_LE, "Gt": K.C_GT, "GtE": K.C_GE, "Is": K.C_IS,
           "IsNot": K.C_ISNOT, "In": K.C_IN, "NotIn": K.C_NOTIN}
COMPREHENSION = {"ListComp": K.COMP_LIST, "SetComp": K.COMP_SET, "DictComp": K.COMP_DICT, "GeneratorExp": K.COMP_GEN}


class Expressions:
    def expression(self, node):
        method = getattr(self, "e_" + type(node).__name__, None)
        if method is None:
            self.refuse(f"{type(node).__name__.lower()} expressions can't be compiled", node)
        return method(node)

    def expressions(self, nodes):
        return [self.expression(n) for n in nodes]

    def e_Constant(self, node):
        try:
            return self.tree.emit(K.CONST, self.values.key(node.value), at=node)
        except NotConstant as error:
            self.refuse(f"{error} can't be compiled", node)

    def e_Name(self, node):
        if self.is_itself(node.id):
            self.tree.selves.append(self.tree.emit(K.FUNC, self.tree, at=node))
            return self.tree.selves[-1]
        if node.id == self.kwargs_name:
            self.refuse(f"**{node.id} is no value in compiled code", node,
                        f'use {node.id}["name"], {node.id}.get("name"), "name" in {node.id} or f(**{node.id})')
        if self.is_cell(node.id):
            return self.cell_read(node.id, node)
        local, own = self.variable(node.id)
        if local is not None:
            return self.tree.emit(K.LOCAL if own else K.FREE, local, at=node)
        value, path = self.look(node)
        if value is self.missing:
            self.refuse(f"name {node.id!r} is not defined", node)
        return self.emit_value(value, path, node, node.id)

    def e_Attribute(self, node):
        value, path = self.look(node)
        if value is not self.missing:
            return self.emit_value(value, path, node, path)
        return self.tree.emit(K.ATTR, self.expression(node.value), (K.K_STR, node.attr), at=node)

    def e_UnaryOp(self, node):
        inner = node.operand
        if type(node.op).__name__ == "USub" and type(inner).__name__ == "Constant" and inner.value == 1 << 63:
            return self.tree.emit(K.CONST, (K.K_INT, -1 << 63), at=node)  # the one int64 that has no positive half
        return self.tree.emit(K.UNARY, UNARY[type(node.op).__name__], self.expression(inner), at=node)

    def e_BinOp(self, node):
        chain = []  # a + b + c + ... leans to the left and may be long
        while type(node).__name__ == "BinOp":
            chain.append(node)
            node = node.left
        if type(chain[-1].op).__name__ == "Mod" and type(node).__name__ == "Constant" and type(node.value) is str:
            left = self.sugar("percent", chain.pop())
        else:
            left = self.expression(node)
        for node in reversed(chain):
            left = self.tree.emit(K.BINARY, BINARY[type(node.op).__name__], left, self.expression(node.right), at=node)
        return left

    def e_BoolOp(self, node):
        op = K.AND if type(node.op).__name__ == "And" else K.OR
        return self.tree.emit(op, self.expressions(node.values), at=node)

    def e_Compare(self, node):
        asked = self.keyword_question(node)
        if asked is not None:
            return asked
        operators = [COMPARE[type(op).__name__] for op in node.ops]
        return self.tree.emit(K.COMPARE, operators, self.expressions([node.left, *node.comparators]), at=node)

    def e_IfExp(self, node):
        parts = self.expressions([node.test, node.body, node.orelse])
        return self.tree.emit(K.IFEXP, *parts, at=node)

    def time_constant(self, node):
        """np.datetime64("2020-01-01") and the like, of constants: the value. None if it is another call."""
        np = self.values.numpy
        if np is None or node.keywords or not node.args or any(type(a).__name__ != "Constant" for a in node.args):
            return None
        value, _ = self.look(node.func)
        if value is not np.datetime64 and value is not np.timedelta64:
            return None
        try:
            return value(*(a.value for a in node.args))
        except (ValueError, TypeError) as error:
            self.refuse(f"{value.__name__}: {error}", node)

    def sugar(self, what, node):
        """The nodes of what a piece of syntax stands for; None if it stands for itself."""
        from . import sugar
        try:
            written = getattr(sugar, what)(node)
        except sugar.Untranslated as error:
            self.refuse(str(error), node)
        return None if written is None else self.expression(written)

    def e_Call(self, node):
        constant = self.time_constant(node)
        if constant is not None:
            return self.emit_value(constant, None, node)
        function = node.func
        if type(function).__name__ == "Attribute" and function.attr == "format" and \
                type(function.value).__name__ == "Constant" and type(function.value.value) is str:
            return self.sugar("template", node)
        if type(function).__name__ == "Name" and function.id == "getattr" and self.look(function)[0] is getattr:
            made = self.sugar("attribute", node)
            if made is not None:
                return made
        asked = self.keyword_question(node)
        if asked is not None:
            return asked
        keywords = self.spread_keywords(node.keywords)
        callee = self.keyword_callee(node, [name for name, _ in keywords])
        callee = self.expression(function) if callee is None else callee
        if len(node.args) == 1 and type(node.args[0]).__name__ == "List" and self.is_unroll(node.func):
            positional = [self.e_Tuple(node.args[0])]  # a list of constants may hold different types there
        else:
            positional = self.expressions(node.args)
        values = [emit() for _, emit in keywords]
        names = [name for name, _ in keywords]
        for name, value in self.field_defaults(node, names):
            names.append(name)
            values.append(self.emit_value(value, None, node))
        return self.tree.emit(K.CALL, callee, positional, [(K.K_STR, n) for n in names], values, at=node)

    def is_unroll(self, node):
        value, path = self.look(node)
        return value is not self.missing and self.values.library(value, path) == "kilnjit.literal_unroll"

    def field_defaults(self, node, given):
        """(name, value) of the fields with a default that a call of a named tuple's class leaves out."""
        cls, _ = self.look(node.func)
        defaults = getattr(cls, "_field_defaults", None) if isinstance(cls, type) else None
        if not defaults or any(type(a).__name__ == "Starred" for a in node.args):
            return []
        return [(n, defaults[n]) for n in cls._fields[len(node.args):] if n in defaults and n not in given]

    def e_Subscript(self, node):
        asked = self.keyword_question(node)
        if asked is not None:
            return asked
        base, index = self.expression(node.value), self.expression(node.slice)
        return self.tree.emit(K.SUBSCRIPT, base, index, at=node)

    def e_Slice(self, node):
        parts = [None if p is None else self.expression(p) for p in (node.lower, node.upper, node.step)]
        return self.tree.emit(K.SLICE, *parts, at=node)

    def e_Tuple(self, node):
        value = self.literal(node)
        if value is not None and len(value) <= 1000:
            return self.tree.emit(K.CONST, self.values.key(value), at=node)
        return self.tree.emit(K.TUPLE, self.expressions(node.elts), at=node)

    def literal(self, node):
        """The tuple of a display of constants, one text at least among them (names of fields, as a rule); else None."""
        values, text = [], False
        for item in node.elts:
            kind = type(item).__name__
            value = item.value if kind == "Constant" else self.literal(item) if kind == "Tuple" else None
            if value is None or value is Ellipsis:
                return None
            text = text or type(value) in (str, tuple)
            values.append(value)
        return tuple(values) if text else None

    def e_List(self, node):
        return self.tree.emit(K.LIST, self.expressions(node.elts), at=node)

    def e_Set(self, node):
        return self.tree.emit(K.SET, self.expressions(node.elts), at=node)

    def e_Dict(self, node):
        if None in node.keys:
            return self.sugar("union", node)
        return self.tree.emit(K.DICT, self.expressions(node.keys), self.expressions(node.values), at=node)

    def e_Starred(self, node):
        return self.tree.emit(K.STAR, self.expression(node.value), at=node)

    def e_Lambda(self, node):
        return self.inner_function(node, "<lambda>")

    def e_NamedExpr(self, node):
        value = self.expression(node.value)
        overlays, self.overlays = self.overlays, []  # binds in the function, not in a comprehension
        local, own = self.variable(node.target.id)
        cell = self.is_cell(node.target.id)
        self.overlays = overlays
        if cell:
            self.refuse("':=' can't assign a variable that inner functions assign", node.target, "use a statement")
        if local is None or not own:
            self.refuse("this name can't be assigned here", node.target)
        return self.tree.emit(K.WALRUS, local, value, at=node)

    # -- comprehensions: their targets are variables of their own

    def comprehension(self, node, key, element):
        overlay = {}
        for generator in node.generators:
            if generator.is_async:
                self.refuse("async comprehensions can't be compiled", node)
            self.target_names(generator.target, overlay)
        self.overlays.append(overlay)
        key = None if key is None else self.expression(key)
        element = self.expression(element)
        clauses = []
        for number, generator in enumerate(node.generators):
            target = self.target(generator.target)
            if number == 0:  # runs outside
                self.overlays.pop()
                iterable = self.expression(generator.iter)
                self.overlays.append(overlay)
            else:
                iterable = self.expression(generator.iter)
            conditions = self.expressions(generator.ifs)
            clauses.append(self.tree.emit(K.COMPFOR, target, iterable, conditions, at=generator.target))
        self.overlays.pop()
        return self.tree.emit(K.COMP, COMPREHENSION[type(node).__name__], key, element, clauses, at=node)

    def target_names(self, node, overlay):
        kind = type(node).__name__
        if kind == "Name":
            overlay.setdefault(node.id, Local(node.id))
        elif kind in ("Tuple", "List"):
            for item in node.elts:
                self.target_names(item, overlay)
        elif kind == "Starred":
            self.target_names(node.value, overlay)

    def e_ListComp(self, node):
        return self.comprehension(node, None, node.elt)

    e_SetComp = e_GeneratorExp = e_ListComp

    def e_DictComp(self, node):
        return self.comprehension(node, node.key, node.value)

    # -- text and generators

    def e_JoinedStr(self, node):
        return self.tree.emit(K.FSTRING, self.expressions(node.values), at=node)

    def e_FormattedValue(self, node):
        value = self.expression(node.value)
        spec = None if node.format_spec is None else self.expression(node.format_spec)
        return self.tree.emit(K.FORMAT, value, max(node.conversion, 0), spec, at=node)

    def e_Yield(self, node):
        return self.tree.emit(K.YIELD, None if node.value is None else self.expression(node.value), at=node)

    def e_YieldFrom(self, node):
        return self.tree.emit(K.YIELDFROM, self.expression(node.value), at=node)
