# SPDX-License-Identifier: Apache-2.0
"""Numbering: from trees with symbolic operands to the wire form, in KIR's canonical order (docs/kir.md)."""
from .. import _kir as K
from .tree import LAYOUT, NODE_LETTERS, FunctionTree



def serials(text):
    """The serial numbers that a signature mentions ("@7" where a module's own number will stand), and what lies
    between: [before, (serial, after)...]. Quoted names of fields may hold anything."""
    found, quoted = [text], False
    if "@" not in text:
        return found
    start = at = 0
    found.clear()
    while at < len(text):
        c = text[at]
        at += 1
        if c == "\\" and quoted:
            at += 1
        elif c == "'":
            quoted = not quoted
        elif c == "@" and not quoted:
            found.append(text[start:at - 1])
            start = at
            while text[at:at + 1].isdigit():
                at += 1
            found.append(int(text[start:at]))
            start = at
    return [*found, text[start:]]


class Function:
    """What messages and tracebacks need of one function of a module."""

    __slots__ = ("name", "qualname", "filename", "firstline", "positions", "locals", "globals", "lines")

    def __init__(self, tree):
        self.name, self.qualname, self.filename, self.firstline = tree.name, tree.qualname, tree.filename, tree.firstline
        self.positions = tree.positions
        self.locals = [local.name for local in tree.locals]
        self.globals, self.lines = tree.globals, tree.lines

    def scope(self, more):
        """Globals for a frame that stands for this function: what linecache and debuggers look for, and `more`."""
        found = {name: self.globals[name] for name in ("__name__", "__file__", "__loader__", "__spec__") if name in self.globals}
        return {**found, **more}


class Module:
    """wire: nested lists for _kiln.pack_kir. env: the arrays of the slots. classes: constant index -> exception class of
    the user's. functions: sidecar. frozen: (function, name) -> key of each constant that was read from outside.
    usertypes: the class of each user type. objects: the compiled function that each function of the module is, or
    None. numbers: serial of an object that a signature mentions -> its number here."""

    def __init__(self, wire, env, classes, functions, frozen, entry_flags, usertypes, objects, numbers):
        self.wire, self.env, self.classes, self.functions = wire, env, classes, functions
        self.frozen, self.entry_flags = frozen, entry_flags
        self.usertypes, self.objects, self.numbers = usertypes, objects, numbers

    asked = ""  # the last text that signature() was given

    def signature(self, text):
        """A signature with the module's own numbers."""
        if self.numbers and "@" in text:
            self.asked = text
        return "".join(part if type(part) is str else str(self.numbers[part]) for part in serials(text))


class Numbering:
    def __init__(self, values, methods=()):
        self.values, self.methods = values, methods
        self.consts, self.const_numbers = [], {}
        self.usertypes, self.usertype_numbers = [], {}
        self.usertype_classes, self.usertype_names = [], set()
        self.env, self.env_numbers = [], {}
        self.queue = []
        self.texts = []  # rows of classes whose fields' types are still to be written: (row, texts with serials)
        self.classes = {}

    def const(self, key):
        """Number of a constant; what it refers to comes first."""
        number = self.const_numbers.get(key)
        if number is not None:
            return number
        kind, payload = key[0], list(key[1:])
        if kind == K.K_TUPLE:
            payload = [[self.const(item) for item in payload[0]]]
        elif kind == K.K_NAMEDTUPLE:
            usertype = self.usertype(payload[0])
            payload = [usertype, [self.const(item) for item in payload[1]]]
        elif kind in (K.K_ENUM, K.K_USERTYPE):
            payload[0] = self.usertype(payload[0])
        elif kind == K.K_FLOAT:
            payload = [self.values.float_of(payload[0])]
        elif kind == K.K_COMPLEX:
            payload = [self.values.float_of(p) for p in payload]
        elif kind == K.K_TYPE:
            payload = [self.text(payload[0])]
        elif kind == K.K_ARRAY:
            payload = [payload[0], list(payload[1]), payload[2]]
        number = self.const_numbers[key] = len(self.consts)
        self.consts.append([kind, *payload])
        if kind == K.K_EXCEPTION:
            self.classes[number] = self.values.exceptions[payload[0]]
        return number

    def usertype(self, key):
        number = self.usertype_numbers.get(key)
        if number is not None:
            return number
        number = self.usertype_numbers[key] = len(self.usertypes)
        kind, name, fields, rest, cls = key
        first, count = name, 1
        while (name, fields) in self.usertype_names:  # another class that looks the same
            count += 1
            name = f"{first}#{count}"
        self.usertype_names.add((name, fields))
        self.usertype_classes.append(cls)
        row = [kind, name, list(fields), None]
        self.usertypes.append(row)
        if kind in (K.UT_ENUM, K.UT_INTENUM):
            row[3] = [self.const(r) for r in rest]
        elif kind == K.UT_JITCLASS:
            row.append([[name, what, self.function(tree)] for name, what, tree in self.methods[cls]])
            self.texts.append((row, rest))
        else:
            row[3] = list(rest)
        return number

    def text(self, text):
        """A type's text with the module's numbers of classes."""
        if "@" not in text:
            return text
        from .. import _kiln
        return "".join(part if type(part) is str else str(self.usertype_numbers[self.values.class_key(_kiln.object_of(part))[1]])
                       for part in serials(text))

    def function(self, tree):
        if tree.number < 0:
            tree.number = len(self.queue)
            self.queue.append(tree)
        return tree.number

    def slot(self, array):
        number = self.env_numbers.get(id(array))
        if number is None:
            number = self.env_numbers[id(array)] = len(self.env)
            self.env.append(array)
        return number

    def operand(self, tree, letter, x):
        if letter in NODE_LETTERS or letter == "i":
            return x
        if letter == "l":
            if x.number < 0:
                x.number = len(tree.locals)
                tree.locals.append(x)
            return x.number
        if letter in "cs":
            return self.const(x)
        if letter == "f":
            return self.function(x)
        if letter == "u":
            return tree.free.index(x)
        return self.slot(x)

    def emit(self, tree):
        """The wire form of one function; called in the order of numbers."""
        params = [[name, kind, 0 if default is None else self.const(default) + 1]
                  for name, kind, default in tree.params]
        n_params, code, append = len(params), [], None
        append = code.append
        for op, operands in tree.nodes:
            append(op)
            for (mark, letter), x in zip(LAYOUT[op], operands):
                if mark == "*":
                    append(len(x))
                    for item in x:
                        append(self.operand(tree, letter, item))
                elif mark == "?":
                    append(0 if x is None else self.operand(tree, letter, x) + 1)
                else:
                    append(self.operand(tree, letter, x))
        assert len(tree.params) == n_params
        return [params, len(tree.locals), len(tree.free), tree.flags, len(tree.nodes), code]


def finish(entry, values, frozen, given=(), methods=()):
    """The Module whose entry is this tree. methods: of each jitclass. given: (serial, object, constant key or tree) of what the signature
    mentions."""
    flags, entry.flags = entry.flags, 0
    numbering = Numbering(values, methods)
    numbering.function(entry)
    functions = []
    for tree in numbering.queue:  # grows while it is walked
        functions.append(numbering.emit(tree))
    for row, texts in numbering.texts:
        row[3] = [numbering.text(t) for t in texts]
    wire = ["KIR", K.VERSION, len(numbering.env), numbering.consts, numbering.usertypes, functions]
    numbers = {serial: what.number if isinstance(what, FunctionTree) else numbering.usertype(what[1])
               for serial, _, what in given}
    passed = {id(what): o for _, o, what in given}
    return Module(wire, numbering.env, numbering.classes, [Function(t) for t in numbering.queue], frozen, flags,
                  tuple(numbering.usertype_classes), tuple(passed.get(id(t)) for t in numbering.queue), numbers)
