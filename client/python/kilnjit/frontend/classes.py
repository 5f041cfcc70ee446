# SPDX-License-Identifier: Apache-2.0
"""Classes of a jitclass in a module: their fields, their functions, and the function that makes an object of one.

Each class's functions become functions of the module, whichever of them a program uses: they are part of what the class
is. Types of fields name other classes by serial numbers ("object(@7)"), which the module replaces by its own."""
from .. import _kir as K
from ..usertypes import field_classes
from .tree import FunctionTree, Local


def key(program, cls):
    """The user type's key."""
    found = program.classes.get(cls)
    if found is None:
        about = cls._kiln_class
        found = program.classes[cls] = (K.UT_JITCLASS, cls.__name__, tuple(about.fields), tuple(about.texts()), cls)
        program.methods[cls] = methods(program, cls, about, found)
    return found


def methods(program, cls, about, usertype):
    """(name, kind, tree) of each function of the class."""
    rows = [(name, kind, program.tree_of(function)) for name, kind, function in about.functions]
    init = next((tree for name, kind, tree in rows if name == "__init__" and kind == K.M_METHOD), None)
    if init is not None:
        init.is_init = True
    return [("", K.M_NEW, maker(program, cls, about, usertype, init)), *rows]


def maker(program, cls, about, usertype, init):
    """What a call of the class calls: takes what __init__ takes, makes an object, lets __init__ fill it."""
    function = about.init if init is not None else about.anywhere
    tree = FunctionTree(cls.__name__, function.__code__.co_filename, 0, function)
    tree.firstline = function.__code__.co_firstlineno
    at = (tree.firstline, 0, tree.firstline, 0)
    others = [key(program, other) for text in about.texts() for other in field_classes(text)]
    emit = tree.emit
    names = about.parameters() if init is not None else []
    given = []
    for name, kind, default in names:
        local = Local(name)
        local.number = len(tree.locals)
        tree.locals.append(local)
        tree.params.append((name, kind, None if default is about.MISSING else program.values.key(default)))
        given.append((name, kind, local))
    mention = emit(K.EXPR, emit(K.TUPLE, [emit(K.CONST, (K.K_USERTYPE, other), at=at) for other in others], at=at), at=at)
    made = Local("self")
    new = emit(K.LIB, (K.K_STR, "kiln.new_object"), at=at)
    new = emit(K.CALL, new, [emit(K.CONST, (K.K_USERTYPE, usertype), at=at)], [], [], at=at)
    steps = [mention, emit(K.ASSIGN, new, [emit(K.LOCAL, made, at=at)], at=at)]
    if init is not None:
        callee = emit(K.FUNC, init, at=at)
        positional, keywords, values = [emit(K.LOCAL, made, at=at)], [], []
        for name, kind, local in given:
            if kind == K.P_KWONLY:
                continue
            value = emit(K.LOCAL, local, at=at)
            positional.append(emit(K.STAR, value, at=at) if kind == K.P_STAR else value)
        for name, kind, local in given:
            if kind == K.P_KWONLY:
                keywords.append((K.K_STR, name))
                values.append(emit(K.LOCAL, local, at=at))
        call = emit(K.CALL, callee, positional, keywords, values, at=at)
        steps.append(emit(K.EXPR, call, at=at))
    steps.append(emit(K.RETURN, emit(K.LOCAL, made, at=at), at=at))
    emit(K.BLOCK, steps, at=at)
    return tree
