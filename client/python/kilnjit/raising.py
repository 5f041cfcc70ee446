# SPDX-License-Identifier: Apache-2.0
"""Exceptions of compiled code, with a traceback through the user's own lines.

Compiled code reports its frames as (function, node). For each one a code object is made that has the user's file,
name, line and columns and does nothing but raise; its frame is what tracebacks, debuggers and pytest show."""
from types import FunctionType, TracebackType

from . import _kiln
from .diagnose import place, source_line

#: code objects kept: one for each place that ever raised
MAX_CODES = 1000
_codes = {}


class _Here(Exception):
    pass


def _template():
    raise _Here


def _number(value):
    """A number as the location table has it: six bits at a time, least significant first."""
    out = bytearray()
    while value > 63:
        out.append(64 | value & 63)
        value >>= 6
    out.append(value)
    return bytes(out)


def _table(size, position):
    """Location table (CPython's Objects/locations.md) that puts `size` code units at one place: the long form, with line
    deltas from the first line and columns plus one; an entry covers at most eight units."""
    line, column, end_line, end_column = position
    table = b""
    while size > 0:
        units = min(size, 8)
        table += bytes([0x80 | 14 << 3 | units - 1]) + _number(0) + _number(end_line - line) + _number(column + 1) + \
            _number(end_column + 1)
        size -= units
    return table


def _code(f, position):
    key = f.filename, f.name, position
    code = _codes.get(key)
    if code is None:
        if len(_codes) >= MAX_CODES:
            _codes.clear()
        base = _template.__code__
        code = _codes[key] = base.replace(co_filename=f.filename, co_name=f.name, co_qualname=f.qualname,
                                          co_firstlineno=position[0],
                                          co_linetable=_table(len(base.co_code) // 2, position))
    return code


def build(module, trace):
    """The TracebackType of a trace, innermost frame first."""
    made = None
    for function, node in trace:
        at = place(module, function, node)
        if at is None:
            continue
        f, position = at
        try:
            FunctionType(_code(f, position), f.scope({"_Here": _Here}))()
        except _Here as here:
            entry = here.__traceback__.tb_next
            made = TracebackType(made, entry.tb_frame, entry.tb_lasti, position[0])
    return made


def _unbound(module, trace):
    """CPython's message for the variable that stands where the exception was raised."""
    at = place(module, *trace[0]) if trace else None
    if at is None or at[1][0] != at[1][2]:
        return ()
    f, (line, start, _, end) = at
    name = source_line(f, line).encode()[start:end].decode(errors="replace")
    if not name.isidentifier():
        return ()
    return (f"cannot access local variable {name!r} where it is not associated with a value",)


def raised(class_id, cls, args, trace, specialization):
    """The extension's hook: the exception object that a call raises."""
    module = specialization.data
    if cls is None:
        cls = module.classes.get(class_id - _kiln.EXC_USER, RuntimeError)
    if cls is UnboundLocalError:
        args = _unbound(module, trace) or args
    try:
        error = cls(*args)
    except Exception as failed:  # the class wants other arguments: its own complaint, as in Python
        error = failed
    return error.with_traceback(build(module, trace))
