# SPDX-License-Identifier: Apache-2.0
"""Objects that hold a call: operator.itemgetter, attrgetter and methodcaller, functools.partial. Each is compiled as a
function that does the same, whose text is written here."""
import linecache
from types import FunctionType

_made = {}  # text -> code object


def function_of(value):
    """The function that does what such an object does; None if it is another kind of object."""
    kind = type(value)
    if kind.__module__ not in ("operator", "functools"):
        return None
    write = _WRITERS.get(kind.__name__)
    if write is None:
        return None
    names = {}
    parameter, text = write(value, names)
    return _function(kind.__name__, parameter, text, names)


def _function(name, parameter, text, names):
    text = f"def {name}({parameter}):\n    return {text}\n"
    file = f"<kilnjit {len(_made)}>"
    code = _made.get(text)
    if code is None:
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        scope = {}
        exec(compile(text, file, "exec"), scope)
        code = _made[text] = scope[name].__code__
    return FunctionType(code, {**names, "__name__": __name__})


def _name(value, names):
    name = f"value{len(names)}"
    names[name] = value
    return name


def _itemgetter(value, names):
    items = [f"x[{_name(item, names)}]" for item in value.__reduce__()[1]]
    return "x", items[0] if len(items) == 1 else f"({', '.join(items)})"


def _attrgetter(value, names):
    parts = [f"x.{name}" for name in value.__reduce__()[1]]
    return "x", parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _arguments(positional, keywords, names):
    return [_name(v, names) for v in positional] + [f"{k}={_name(v, names)}" for k, v in keywords.items()]


def _methodcaller(value, names):
    made, arguments = value.__reduce__()
    keywords = {}
    if type(made).__name__ == "partial":  # with keywords, the name is bound there
        arguments, keywords = (*made.args, *arguments), made.keywords
    name, *positional = arguments
    return "x", f"x.{name}({', '.join(_arguments(positional, keywords, names))})"


def _partial(value, names):
    function = _name(value.func, names)
    bound = _arguments(value.args, value.keywords, names)
    bound.insert(len(value.args), "*args")
    return "*args", f"{function}({', '.join(bound)})"


_WRITERS = {"itemgetter": _itemgetter, "attrgetter": _attrgetter, "methodcaller": _methodcaller, "partial": _partial}
