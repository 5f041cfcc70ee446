# SPDX-License-Identifier: Apache-2.0
"""Which names a function binds, and so where each name that it reads comes from.

Python's own rules: a name that is bound anywhere in a function is local to it, unless declared global or nonlocal.
A comprehension's targets are its own; a walrus inside it binds in the function around."""

SCOPES = ("FunctionDef", "AsyncFunctionDef", "Lambda", "ClassDef")
COMPREHENSIONS = ("ListComp", "SetComp", "DictComp", "GeneratorExp")


def children(node):
    """Direct child nodes, in order of the fields."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            for v in value:
                if hasattr(v, "_fields"):
                    yield v
        elif hasattr(value, "_fields"):
            yield value


def parameters(args):
    """(arg node, kind number of KIR) in KIR's order."""
    rows = [(a, 1) for a in args.posonlyargs] + [(a, 2) for a in args.args]
    if args.vararg:
        rows.append((args.vararg, 3))
    rows += [(a, 4) for a in args.kwonlyargs]
    if args.kwarg:
        rows.append((args.kwarg, 5))
    return rows


class Bindings:
    """bound: names local to the function. imports: name -> import statement, for names that only imports bind.
    globals, nonlocals: declared ones, name -> node. yields: it is a generator."""

    def __init__(self, node):
        self.bound, self.imports, self.globals, self.nonlocals = set(), {}, {}, {}
        self.yields = False
        self.times = {}  # name -> how often functions are defined under it, and it is assigned
        others = set()  # bound by something else than an import
        for arg, _ in parameters(node.args):
            others.add(arg.arg)
            self.times[arg.arg] = 1
        body = node.body if isinstance(node.body, list) else [node.body]
        todo = [(n, False) for n in body]
        while todo:
            n, hidden = todo.pop()  # hidden: inside a comprehension, whose Store names are its own
            kind = type(n).__name__
            if kind == "Name":
                if type(n.ctx).__name__ != "Load" and not hidden:
                    others.add(n.id)
                    self.times[n.id] = self.times.get(n.id, 0) + 1
                continue
            if kind in SCOPES:
                if kind != "Lambda":
                    others.add(n.name)
                    self.times[n.name] = self.times.get(n.name, 0) + 1
                # decorators and defaults run out here
                if kind != "ClassDef":
                    outside = [*n.args.defaults, *filter(None, n.args.kw_defaults)]
                    todo += [(d, hidden) for d in outside]
                continue
            if kind in ("Import", "ImportFrom"):
                for alias in n.names:
                    self.imports[alias.asname or alias.name.split(".")[0]] = (n, alias)
                continue
            if kind == "Global":
                self.globals.update((name, n) for name in n.names)
            elif kind == "Nonlocal":
                self.nonlocals.update((name, n) for name in n.names)
            elif kind in ("Yield", "YieldFrom", "Await"):
                self.yields = True
            elif kind == "NamedExpr":
                others.add(n.target.id)
                todo.append((n.value, hidden))
                continue
            elif kind == "ExceptHandler" and n.name:
                others.add(n.name)
            elif kind in ("MatchAs", "MatchStar") and n.name:
                others.add(n.name)
            elif kind == "MatchMapping" and n.rest:
                others.add(n.rest)
            inside = hidden or kind in COMPREHENSIONS
            todo += [(c, inside) for c in children(n)]
        for name in others:
            self.imports.pop(name, None)
        self.bound = (others | set(self.imports)) - set(self.globals) - set(self.nonlocals)
