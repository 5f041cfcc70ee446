# SPDX-License-Identifier: Apache-2.0
"""Names with two underscores inside a class: Python compiles `__x` in class C as `_C__x`, and so do we, in the tree.

It is done after the tree has been proven, and doing it twice changes nothing."""
from .scope import children


def _is_private(name):
    return name[:2] == "__" and name[-2:] != "__" and "." not in name


def mangle(root, cls):
    """Rename in a function of the class `cls`. The function's own name stays."""
    prefix = "_" + cls.lstrip("_")
    if prefix == "_":
        return  # a class whose name is underscores alone hides nothing
    todo = [root]
    while todo:
        node = todo.pop()
        if type(node).__name__ != "Constant":
            for field in node._fields:
                value = getattr(node, field, None)
                if type(value) is str and _is_private(value) and not (node is root and field == "name"):
                    setattr(node, field, prefix + value)
                elif type(value) is list and value and type(value[0]) is str:
                    value[:] = [prefix + v if _is_private(v) else v for v in value]
        todo.extend(children(node))
