# SPDX-License-Identifier: Apache-2.0
"""Syntax that is written with other syntax: `"%d" % n` and `"{}".format(n)` of constant templates are formatted strings,
`{**a, k: v}` is a union, `getattr(x, "name")` an attribute. The new nodes have the places of the old ones."""
import ast
import re
from string import Formatter

#: %[flags][width][.precision]letter
_PERCENT = re.compile(r"%(?:(%)|([-+ #0]*)(\d*)(?:\.(\d+))?([diouxXeEfFgGcrsa]))")


class Untranslated(Exception):
    """There is no formatted string that means the same; the message says why."""


def _at(node, place):
    return ast.fix_missing_locations(ast.copy_location(node, place))


def _hole(value, conversion, spec):
    parts = [ast.Constant(spec)] if spec else None
    return ast.FormattedValue(value, conversion, parts and ast.JoinedStr(parts))


def percent(node):
    """The JoinedStr of `"template" % values`, None if the left side is no constant text."""
    left = node.left
    if type(left).__name__ != "Constant" or type(left.value) is not str:
        return None
    right = node.right
    values = list(right.elts) if type(right).__name__ == "Tuple" else [right]
    if any(type(v).__name__ == "Starred" for v in values):
        raise Untranslated("the number of values must be known when compiling")
    parts, at, text = [], 0, left.value
    while at < len(text):
        mark = text.find("%", at)
        if mark < 0:
            parts.append(ast.Constant(text[at:]))
            break
        if mark > at:
            parts.append(ast.Constant(text[at:mark]))
        found = _PERCENT.match(text, mark)
        if not found:
            raise Untranslated(f"the format {text[mark:mark + 4]!r} is not known")
        at = found.end()
        if found[1]:
            parts.append(ast.Constant("%"))
            continue
        if not values:
            raise Untranslated("not enough arguments for format string")
        parts.append(_percent_hole(values.pop(0), *found.groups()[1:]))
    if values:
        raise Untranslated("not all arguments converted during string formatting")
    return _at(ast.JoinedStr(parts), node)


def _percent_hole(value, flags, width, precision, letter):
    align = "<" if "-" in flags else ">" if letter in "rsac" or "0" not in flags else ""
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and "-" not in flags and letter not in "rsac" else ""
    other = "#" if "#" in flags and letter in "oxXeEfFgG" else ""
    if letter in "rsa":
        spec = (align if width else "") + width + (f".{precision}" if precision else "")
        return _hole(value, ord(letter), spec)
    if letter == "c":
        raise Untranslated("the format '%c' has no formatted string: use chr()")
    if letter in "diu":
        if precision:
            raise Untranslated("a precision of integers has no formatted string")
        value, letter = ast.Call(ast.Name("int", ast.Load()), [value], []), "d"
    elif letter in "oxX" and precision:
        raise Untranslated("a precision of integers has no formatted string")
    spec = (align if width else "") + sign + other + zero + width + (f".{precision}" if precision else "") + letter
    return _hole(value, -1, spec)


def template(node):
    """The JoinedStr of `"template".format(values)`, None if it is none."""
    function = node.func
    if type(function).__name__ != "Attribute" or function.attr != "format" or \
            type(function.value).__name__ != "Constant" or type(function.value.value) is not str:
        return None
    if any(type(a).__name__ == "Starred" for a in node.args) or any(k.arg is None for k in node.keywords):
        raise Untranslated("the number of values must be known when compiling")
    given = {k.arg: k.value for k in node.keywords}
    return _at(ast.JoinedStr(_fill(function.value.value, node.args, given, [0])), node)


def _fill(text, positional, given, count):
    parts = []
    try:
        pieces = list(Formatter().parse(text))
    except ValueError as error:
        raise Untranslated(str(error)) from None
    for literal, name, spec, conversion in pieces:
        if literal:
            parts.append(ast.Constant(literal))
        if name is None:
            continue
        value = _named(name, positional, given, count)
        inner = _fill(spec, positional, given, count) if spec else []
        parts.append(ast.FormattedValue(value, ord(conversion) if conversion else -1,
                                        ast.JoinedStr(inner) if inner else None))
    return parts


def _named(name, positional, given, count):
    first = re.match(r"[^.\[]*", name)[0]
    if first == "":
        first, count[0] = str(count[0]), count[0] + 1
    if first.isdigit():
        if int(first) >= len(positional):
            raise Untranslated(f"Replacement index {first} out of range for positional args tuple")
        value = positional[int(first)]
    elif first in given:
        value = given[first]
    else:
        raise Untranslated(f"the template names {first!r}, which is not given")
    for attribute, index in re.findall(r"\.(\w+)|\[([^\]]*)\]", name[len(re.match(r"[^.\[]*", name)[0]):]):
        if attribute:
            value = ast.Attribute(value, attribute, ast.Load())
        else:
            value = ast.Subscript(value, ast.Constant(int(index) if index.isdigit() else index), ast.Load())
    return value


def union(node):
    """`{**a, k: v, **b}` as `a | {k: v} | b`."""
    parts, run = [], ([], [])
    for key, value in zip(node.keys, node.values):
        if key is not None:
            run[0].append(key)
            run[1].append(value)
            continue
        if run[0]:
            parts.append(ast.Dict(*run))
            run = ([], [])
        parts.append(value)
    if run[0]:
        parts.append(ast.Dict(*run))
    if len(parts) == 1:
        return _at(ast.Call(ast.Attribute(parts[0], "copy", ast.Load()), [], []), node)
    made = parts[0]
    for part in parts[1:]:
        made = ast.BinOp(made, ast.BitOr(), part)
    return _at(made, node)


def attribute(node):
    """`getattr(x, "name")` as x.name, if it is that."""
    if len(node.args) == 2 and not node.keywords and type(node.args[1]).__name__ == "Constant" and \
            type(node.args[1].value) is str and node.args[1].value.isidentifier():
        return _at(ast.Attribute(node.args[0], node.args[1].value, ast.Load()), node)
    return None
