# SPDX-License-Identifier: Apache-2.0
"""`with objmode(...)`: the block becomes a Python function of its own, called through the host. Compiled code finds it by a
number that lies in a captured array, so the code in the cache is the same for every process and every text of the block."""
import ast

from .. import _kiln
from .. import _kir as K


def names_of(nodes, context):
    """Names in these statements that are read or bound, in order."""
    return list(dict.fromkeys(n.id for node in nodes for n in ast.walk(node)
                              if isinstance(n, ast.Name) and isinstance(n.ctx, context)))


def bound_outside(root, block):
    """Names that a function binds outside of one of its blocks: its parameters and assignments."""
    found = {a.arg for a in ast.walk(root.args) if isinstance(a, ast.arg)}
    todo = list(root.body) if isinstance(root.body, list) else []
    while todo:
        node = todo.pop()
        if node is block:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        todo += ast.iter_child_nodes(node)
    return found


def outputs_of(converter, call):
    """[(name, type text)] of the keywords."""
    found = []
    for keyword in call.keywords if isinstance(call, ast.Call) else ():
        text = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg is None or call.args:
            converter.refuse("objmode takes keywords only", call, 'write objmode(y="float64[:]")')
        if not isinstance(text, str):
            code = compile(ast.Expression(keyword.value), converter.tree.filename, "eval")
            try:
                text = str(eval(code, converter.root_function().__globals__))
            except Exception as error:  # noqa: BLE001 - whatever it is, this is no type
                converter.refuse(f"the type of {keyword.arg!r} can't be found out: {error}", keyword.value, "give it as a text")
        if _kiln.canonical(text) is None:
            converter.refuse(f"{text!r} is no type of compiled code", keyword.value, "docs/signatures.md lists them")
        found.append((keyword.arg, _kiln.canonical(text)))
    return found


def python_function(converter, node, inputs, outputs):
    """The block as a Python function from inputs to a tuple of outputs."""
    root = converter.root_function()
    free = dict(zip(root.__code__.co_freevars, root.__closure__ or ()))
    outer = [n for n in names_of(node.body, ast.Load) if n in free and n not in inputs]
    arguments = ast.arguments(posonlyargs=[], args=[ast.arg(arg=n) for n in [*inputs, *outer]], kwonlyargs=[], kw_defaults=[], defaults=[])
    result = ast.Return(ast.Tuple([ast.Name(n, ast.Load()) for n, _ in outputs], ast.Load()))
    function = ast.FunctionDef(name=converter.tree.name, args=arguments, body=[*node.body, result], decorator_list=[])
    if "type_params" in ast.FunctionDef._fields:
        function.type_params = []
    ast.copy_location(function, node)
    scope = {}
    tree = ast.fix_missing_locations(ast.Module([function], []))
    exec(compile(tree, converter.tree.filename, "exec"), root.__globals__, scope)
    made = scope[converter.tree.name]
    made.__defaults__ = tuple(free[n].cell_contents for n in outer)
    return made


def convert_block(converter, node, call):
    """The statement's node: an assignment of the outputs, or a call alone."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Return, ast.Break, ast.Continue, ast.Yield)) and inner is not node:
            if isinstance(inner, ast.Return) or not any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(node)):
                converter.refuse("an objmode block is left at its end only", inner)
    outputs = outputs_of(converter, call)
    outside = bound_outside(converter.node, node)
    inputs = [n for n in names_of(node.body, ast.Load) if n in outside and converter.variable(n)[0] is not None]
    tree = converter.tree
    import numpy
    number = numpy.array(_kiln.register_python(python_function(converter, node, inputs, outputs)), numpy.int64)
    callee = tree.emit(K.LIB, (K.K_STR, "kilnjit.objmode"), at=node)
    slot = tree.emit(K.ENV, number, at=node)
    text = "Tuple((" + ", ".join(t for _, t in outputs) + ("," if len(outputs) == 1 else "") + "))"
    arguments = [slot, tree.emit(K.CONST, (K.K_STR, text), at=node)]
    for name in inputs:
        arguments.append(converter.e_Name(ast.copy_location(ast.Name(name, ast.Load()), node)))
    made = tree.emit(K.CALL, callee, arguments, [], [], at=node)
    if not outputs:
        return tree.emit(K.EXPR, made, at=node)
    targets = [converter.target(ast.copy_location(ast.Name(n, ast.Store()), node)) for n, _ in outputs]
    return tree.emit(K.ASSIGN, made, [tree.emit(K.TUPLE, targets, at=node)], at=node)
