# SPDX-License-Identifier: Apache-2.0
"""A module of the Python frontend as text for goldens: one line a statement, nested as the tree is. Shorter than
`kiln show`'s form and made from the wire form alone, so it needs no build: importing kilnjit loads no extension."""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for _path in (ROOT / "client" / "python", ROOT / "tests" / "vectors"):  # behind the build's package, where there is one
    if str(_path) not in sys.path:
        sys.path.append(str(_path))

import kir_checker  # noqa: E402
from kilnjit import _kir as K  # noqa: E402
from kilnjit.frontend.convert import convert  # noqa: E402

_NAMES = {table: {number: text for text, number in rows.items()}
          for table, rows in ((K.UNARY, K.UNARY_OPS), (K.BINARY, K.BINARY_OPS), (K.AUGASSIGN, K.BINARY_OPS),
                              (K.COMPARE, K.COMPARE_OPS), (K.COMP, K.COMP_KINDS))}


def wire(function, flags=0, **options):
    """The wire form, held against docs/kir.md by the independent checker."""
    made = convert(function, flags, **options).wire
    problem = kir_checker.problem(made)
    assert problem is None, problem
    return made


def constant(module, index):
    kind, *payload = module[3][index]
    name = next(n for n, k in K.CONST_KINDS.items() if k == kind)
    if kind == K.K_TUPLE:
        return f"({', '.join(constant(module, i) for i in payload[0])})"
    if kind in (K.K_INT, K.K_FLOAT, K.K_STR, K.K_BOOL):
        return repr(payload[0])
    return f"{name}:{','.join(map(repr, payload))}" if payload else name


def node(module, f, nodes, n):
    op, operands = nodes[n]
    parts = []
    for letter, values in operands:
        many = []
        for x in values:
            if letter in "etbSghw":
                many.append(node(module, f, nodes, x))
            elif letter in "cs":
                many.append(constant(module, x))
            elif letter == "i":
                many.append(_NAMES.get(op, {}).get(x, str(x)))
            else:
                many.append({"l": "x", "f": "f", "u": "u", "v": "env"}[letter] + str(x))
        parts.append(" ".join(many))
    return f"({' '.join([K.OP_TEXT[op], *filter(None, parts)])})"


def text(function, flags=0, **options):
    """Functions of the module, one line each."""
    module = wire(function, flags, **options)
    lines = []
    for number, f in enumerate(module[5]):
        params = ", ".join(name + (f"={constant(module, default - 1)}" if default else "") for name, _, default in f[0])
        nodes = kir_checker.split(f)
        body = " ".join(node(module, f, nodes, s) for s in nodes[-1][1][0][1])
        lines.append(f"f{number}({params}): {body}")
    return "\n".join(lines)
