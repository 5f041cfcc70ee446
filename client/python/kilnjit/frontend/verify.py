# SPDX-License-Identifier: Apache-2.0
"""Does a tree compile to the code object that is loaded?

The definition is put into the scopes that it had (a function that owns its free variables, a class for private
names), compiled with the same future flags, and the two code objects are compared in everything that has a
meaning: instructions, constants by typed content, names, flags, inner functions. Not compared: file and lines."""
import _ast
import sys

ONLY_AST = 0x400  # ast.PyCF_ONLY_AST; importing ast takes longer than all of this
FUTURE = 0x1FF0000  # CO_FUTURE_* of every version


def class_of(code):
    """Name of the class that a method's qualified name shows, None if there is none."""
    parts = code.co_qualname.split(".")
    if len(parts) > 1 and parts[-2] != "<locals>":
        return parts[-2]
    # an inner function of a method: private names belong to that class too
    for i in range(len(parts) - 1, 0, -1):
        if parts[i] == "<locals>" and i >= 2 and parts[i - 2] != "<locals>":
            return parts[i - 2]
    return None


class Stripped:
    """While it is entered: the node without what runs outside of the function: decorators, defaults, annotations."""

    def __init__(self, node):
        self.node = node

    def take(self, owner, name, value):
        self.old.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def __enter__(self):
        self.old = []
        node, a = self.node, self.node.args
        for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]:
            self.take(arg, "annotation", None)
        self.take(a, "defaults", [])
        self.take(a, "kw_defaults", [None] * len(a.kwonlyargs))
        if hasattr(node, "decorator_list"):
            self.take(node, "decorator_list", [])
            self.take(node, "returns", None)
            if hasattr(node, "type_params"):
                self.take(node, "type_params", [])

    def __exit__(self, *_):
        for owner, name, value in self.old:
            setattr(owner, name, value)


def _place(kind, **fields):
    node = kind(**{name: value for name, value in fields.items() if name in kind._fields})
    node.lineno = node.end_lineno = 1
    node.col_offset = node.end_col_offset = 0
    return node


def _function(name, params, body):
    def arg(text):
        return _place(_ast.arg, arg=text, annotation=None)

    args = _ast.arguments(posonlyargs=[], args=[arg(p) for p in params], vararg=None, kwonlyargs=[], kw_defaults=[],
                          kwarg=None, defaults=[])
    return _place(_ast.FunctionDef, name=name, args=args, body=body, decorator_list=[], returns=None,
                  type_params=[])


def _names(code):
    """Global names and attributes that a code object mentions, inner functions' included."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            found |= _names(constant)
    return found


def imported_names(tree):
    """Names that the top level of a module imports."""
    found, todo = set(), list(tree.body)
    while todo:
        node = todo.pop()
        if type(node).__name__ in ("Import", "ImportFrom"):
            found.update(a.asname or a.name.partition(".")[0] for a in node.names)
        elif not hasattr(node, "args"):
            for field in ("body", "orelse", "finalbody", "handlers"):
                todo.extend(getattr(node, field, ()))
    return found


def _recompiled(node, code, rewrite=None, imports=()):
    """The code object that the tree gives, None if it gives none. imports: names that the module imports; CPython
    compiles calls of their attributes in another way."""
    is_lambda = code.co_name == "<lambda>"
    inner = [_place(_ast.Expr, value=node)] if is_lambda else [node]
    name = class_of(code)
    if not is_lambda and name is None and code.co_name not in code.co_freevars:
        inner.insert(0, _place(_ast.Global, names=[code.co_name]))  # what calls itself by its global name
    if name is not None:
        inner = [_place(_ast.ClassDef, name=name, bases=[], keywords=[], body=inner, decorator_list=[],
                        type_params=[])]
        if name not in code.co_freevars:
            inner.insert(0, _place(_ast.Global, names=[name]))  # what speaks of its class does so by a global name
    module = _ast.Module(body=[_function("_kiln_outer", [v for v in code.co_freevars if v != "__class__"], inner)],
                         type_ignores=[])
    if imports:
        names = [_place(_ast.alias, name=n, asname=None) for n in sorted(imports)]
        module.body.insert(0, _place(_ast.Import, names=names))
    if rewrite is not None:
        rewrite(module)
    made = _compile(module, code)
    if made is None:
        return None
    for _ in range(2 if name is None else 3):
        found = [c for c in made.co_consts if hasattr(c, "co_code")]
        if not found:
            return None
        made = found[0]
    return made


#: nesting that a text may have and its tree may not, because Python counts the tree's against the recursion limit
DEEP = 20000


def _compile(module, code):
    try:
        return compile(module, code.co_filename, "exec", code.co_flags & FUTURE, True)
    except (SyntaxError, ValueError, TypeError):
        return None
    except RecursionError:
        pass
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(limit, DEEP))
        return compile(module, code.co_filename, "exec", code.co_flags & FUTURE, True)
    except (SyntaxError, ValueError, TypeError, RecursionError):
        return None
    finally:
        sys.setrecursionlimit(limit)


def _same_const(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, frozenset)):
        if len(a) != len(b):
            return False
        if isinstance(a, frozenset):
            return sorted(map(repr, a)) == sorted(map(repr, b))
        return all(map(_same_const, a, b))
    if hasattr(a, "co_code"):
        return same_code(a, b)
    return repr(a) == repr(b) if isinstance(a, (float, complex)) else a == b


FIELDS = ("co_name", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_names", "co_varnames", "co_freevars",
          "co_cellvars", "co_exceptiontable", "co_code")
#: CO_NESTED and the like are facts about the surroundings
FLAGS = ~0x10


def same_code(a, b, positions=False):
    if any(getattr(a, f) != getattr(b, f) for f in FIELDS) or (a.co_flags ^ b.co_flags) & FLAGS & ~FUTURE:
        return False
    if not _same_const(a.co_consts, b.co_consts):
        return False
    return not positions or list(a.co_positions()) == list(b.co_positions())


def _pytest_rewrite(module):
    """pytest compiles test modules with its own form of assert: make that form."""
    from _pytest.assertion.rewrite import rewrite_asserts
    rewrite_asserts(module, b"")


def _rewritten_by_pytest(code):
    return "@pytest_ar" in code.co_names or any(_rewritten_by_pytest(c) for c in code.co_consts if hasattr(c, "co_code"))


def _guesses(code, namespace, whole):
    """Sets of imported names to try: modules among the globals, none, and what the whole text says."""
    mentioned = _names(code)
    module = type(sys)
    yield {n for n in mentioned if type(namespace.get(n)) is module}
    yield set()
    tree = whole()
    if tree is not None:
        yield imported_names(tree) & mentioned


def matches(node, code, namespace, whole, positions=False):
    """True if the tree compiles to this code. whole: makes the tree of the whole text, for the case that it is needed."""
    with Stripped(node):
        return _matches(node, code, namespace, whole, positions)


def _matches(node, code, namespace, whole, positions):
    rewritten = "_pytest.assertion.rewrite" in sys.modules and _rewritten_by_pytest(code)
    for imports in _guesses(code, namespace, whole):
        made = _recompiled(node, code, imports=imports)
        if made is not None and same_code(made, code, positions):
            return True
        if rewritten:
            import copy
            made = _recompiled(copy.deepcopy(node), code, _pytest_rewrite, imports)
            if made is not None and same_code(made, code):
                return True
    return False
