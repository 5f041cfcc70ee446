# SPDX-License-Identifier: Apache-2.0
"""Operators as functions. Meaning: https://docs.python.org/3/library/operator.html. Division follows the error model of
the caller's module: these functions are the program's operators, not NumPy's."""

FLAGS = 0

BINARY = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
          "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "eq": "==", "ne": "!=",
          "gt": ">", "ge": ">=", "is_": "is", "is_not": "is not"}
#: in-place name -> operator
INPLACE = {"i" + name.rstrip("_"): text for name, text in BINARY.items() if name not in ("lt", "le", "eq", "ne", "gt", "ge", "is_",
                                                                                       "is_not")}
UNARY = {"neg": "-", "pos": "+", "invert": "~", "inv": "~", "not_": "not "}


def truth(a):
    """operator.truth"""
    return bool(a)


def absolute(a):
    """operator.abs"""
    return abs(a)


def index(a):
    """operator.index"""
    return int(a)


def contains(a, b):
    """operator.contains"""
    return b in a


def getitem(a, b):
    """operator.getitem"""
    return a[b]


def setitem(a, b, c):
    """operator.setitem"""
    a[b] = c


def delitem(a, b):
    """operator.delitem"""
    del a[b]


def count_of(a, b):
    """operator.countOf"""
    n = 0
    for x in a:
        if x == b:
            n += 1
    return n


def index_of(a, b):
    """operator.indexOf"""
    i = 0
    for x in a:
        if x == b:
            return i
        i += 1
    raise ValueError("sequence.index(x): x not in sequence")


def called(obj, *args):
    """operator.call"""
    return obj(*args)


def _functions():
    """Written out as text, so that the frontend finds the source of each."""
    import linecache
    lines = []
    for name, text in BINARY.items():
        lines += [f"def {name}(a, b):", f'    """operator.{name}"""', f"    return a {text} b", ""]
    for name, text in INPLACE.items():
        lines += [f"def {name}(a, b):", f'    """operator.{name}"""', f"    a {text}= b", "    return a", ""]
    for name, text in UNARY.items():
        lines += [f"def {name}(a):", f'    """operator.{name}"""', f"    return {text}a", ""]
    text = "\n".join(lines) + "\n"
    file = "<prelude operators>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), globals())
    found = {f"operator.{name}": globals()[name] for name in (*BINARY, *INPLACE, *UNARY)}
    found |= {"operator.truth": truth, "operator.abs": absolute, "operator.index": index, "operator.contains": contains,
              "operator.getitem": getitem, "operator.setitem": setitem, "operator.delitem": delitem, "operator.countOf": count_of,
              "operator.indexOf": index_of, "operator.call": called, "operator.concat": found["operator.add"],
              "operator.iconcat": found["operator.iadd"]}
    return found


FUNCTIONS = _functions()
