# SPDX-License-Identifier: Apache-2.0
"""Functions with `**kwargs`: of each call that names what it gives, the function gets a version of its own, whose
parameters have those names. There `kwargs["x"]` is a parameter, `"x" in kwargs` is known and `f(**kwargs)` is written out."""
from types import FunctionType

from .. import _kir as K
from .tree import Local


def takes_keywords(function):
    return type(function) is FunctionType and bool(function.__code__.co_flags & 0x08)


class Keywords:
    def keyword_callee(self, node, names):
        """A node for the function that a call calls, if it has **kwargs; None."""
        value, path = self.look(node.func)
        if value is self.missing or self.values.library(value, path) is not None:
            return None
        asked = getattr(value, "_kiln_function", None) or (value, self.flags)
        if not takes_keywords(asked[0]):
            return None
        code = asked[0].__code__
        own = code.co_varnames[code.co_posonlyargcount:code.co_argcount + code.co_kwonlyargcount]
        extra = tuple(sorted(n for n in names if n not in own))
        return self.tree.emit(K.FUNC, self.program.tree_of(*asked, extra=extra), at=node.func)

    def keyword_parameter(self, name):
        """The parameter **name of the version that is converted."""
        self.kwargs_name = name
        for key in self.tree.extra:
            local = Local(key)
            local.number = len(self.tree.locals)
            self.tree.locals.append(local)
            self.tree.params.append((key, K.P_KWONLY, None))
            self.kwargs[key] = local

    def is_kwargs(self, node):
        return type(node).__name__ == "Name" and node.id == self.kwargs_name

    def keyword_item(self, key, at):
        """kwargs[key]: KeyError when it comes to that, if it was not given."""
        if key in self.kwargs:
            return self.tree.emit(K.LOCAL, self.kwargs[key], at=at)
        function = self.tree.emit(K.LIB, (K.K_STR, "kiln.no_keyword"), at=at)
        return self.tree.emit(K.CALL, function, [self.tree.emit(K.CONST, (K.K_STR, key), at=at)], [], [], at=at)

    def spread_keywords(self, keywords):
        """(name, function that emits the value) of a call's keywords, `**kwargs` written out."""
        rows = []
        for keyword in keywords:
            if keyword.arg is not None:
                rows.append((keyword.arg, lambda value=keyword.value: self.expression(value)))
            elif self.is_kwargs(keyword.value):
                rows += [(n, lambda n=n, at=keyword.value: self.keyword_item(n, at)) for n in self.kwargs]
            else:
                self.refuse("** in a call takes the function's own **kwargs only", keyword.value, "name the keywords")
        return rows

    def keyword_question(self, node):
        """len(kwargs), kwargs["x"], kwargs.get("x", d), "x" in kwargs: the node of what is asked of it; None."""
        if self.kwargs_name is None:
            return None
        kind = type(node).__name__
        if kind == "Subscript" and self.is_kwargs(node.value) and _text(node.slice):
            return self.keyword_item(node.slice.value, node)
        if kind == "Compare" and len(node.ops) == 1 and self.is_kwargs(node.comparators[0]) and _text(node.left):
            known = (node.left.value in self.kwargs) == (type(node.ops[0]).__name__ == "In")
            return self.tree.emit(K.CONST, (K.K_BOOL, known), at=node)
        if kind != "Call" or node.keywords:
            return None
        function = node.func
        if type(function).__name__ == "Name" and function.id == "len" and len(node.args) == 1 and self.is_kwargs(node.args[0]):
            return self.tree.emit(K.CONST, (K.K_INT, len(self.kwargs)), at=node)
        if type(function).__name__ == "Attribute" and function.attr == "get" and self.is_kwargs(function.value) and \
                node.args and _text(node.args[0]):
            if node.args[0].value in self.kwargs:
                return self.keyword_item(node.args[0].value, node)
            return self.expression(node.args[1]) if len(node.args) > 1 else self.tree.emit(K.CONST, (K.K_NONE,), at=node)
        return None


def _text(node):
    return type(node).__name__ == "Constant" and type(node.value) is str
