# SPDX-License-Identifier: Apache-2.0
"""The daemon speaks of (function, node); here that becomes the user's own lines. A message has ten lines at most."""
import re

from . import errors

MAX_LINES = 10


def place(module, function, node):
    """(Function, (line, column, end_line, end_column)) of a node, or None."""
    if module is None or not 0 <= function < len(module.functions):
        return None
    f = module.functions[function]
    return (f, f.positions[node]) if 0 <= node < len(f.positions) else (f, (f.firstline, 0, f.firstline, 0))


def source_line(f, line):
    return f.lines[line - 1].rstrip("\n") if 0 < line <= len(f.lines) else ""


def _columns(text, start, end):
    """Byte offsets, which Python's trees have, as columns of the text."""
    raw = text.encode()
    return len(raw[:start].decode(errors="replace")), len(raw[:end].decode(errors="replace"))


def excerpt(f, position):
    """Lines: where it is, the text, carets."""
    line, start, end_line, end = position
    text = source_line(f, line)
    lines = [f'  File "{f.filename}", line {line}, in {f.name}']
    if not text.strip():
        return lines
    start, end = _columns(text, start, end if end_line == line else len(text.encode()))
    indent = len(text) - len(text.lstrip())
    lines.append("    " + text.strip())
    lines.append("    " + " " * (start - indent) + "^" * max(end - start, 1))
    return lines


def text_of(module, message, function, node, hint, notes):
    lines = [message]
    at = place(module, function, node)
    if at:
        lines += excerpt(*at)
    room = MAX_LINES - len(lines) - bool(hint)
    for note, note_function, note_node in notes[:max(room, 0)]:
        there = place(module, note_function, note_node)
        where = f" (line {there[1][0]}: {source_line(there[0], there[1][0]).strip()})" if there else ""
        lines.append(f"  note: {note}{where}")
    if hint:
        lines.append(f"  hint: {hint}")
    return lines


def explained(error, module):
    """The same error with the user's lines in its text."""
    if not error.diagnostics:
        told = re.match(r"function (\d+), node (\d+): (.*)", str(error), re.S)  # of a check before the compiler proper
        if told:
            error.args = ("\n".join(text_of(module, told[3], int(told[1]), int(told[2]), None, ())),)
        return error
    blocks, used = [], 0
    for _, message, function, node, hint, notes in error.diagnostics:
        lines = text_of(module, message, function, node, hint, notes)
        left = len(error.diagnostics) - len(blocks)
        if blocks and used + len(lines) + (left > 1) > MAX_LINES:
            blocks.append(f"... and {left} more")
            break
        blocks.append("\n".join(lines))
        used += len(lines)
    error.args = ("\n".join(blocks),)
    return error


def refused(error):
    """A Refused of the frontend as an error with the user's line."""
    lines = [error.message]
    tree, node = error.tree, error.node
    if tree is not None:
        position = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) if node is not None else \
            (tree.firstline, 0, tree.firstline, 0)
        lines += excerpt(tree, position)
    if error.hint:
        lines.append(f"  hint: {error.hint}")
    made = errors.KilnSyntaxError("\n".join(lines))
    made.name, made.message, made.hint = "COMPILE", error.message, error.hint
    return made


def no_source(error):
    made = errors.KilnSourceError(error.message + (f"\n  hint: {error.hint}" if error.hint else ""))
    made.message, made.hint = error.message, error.hint
    return made
