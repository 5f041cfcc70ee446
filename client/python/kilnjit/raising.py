# SPDX-License-Identifier: Apache-2.0
"""Exceptions of compiled code, with a traceback through the user's own lines.

Compiled code reports its frames as (function, node). For each one a code object is made that has the user's file,
name and line and does nothing but raise; its frame is what tracebacks, debuggers and pytest show."""
from types import TracebackType

from . import _kiln
from .diagnose import place

_codes = {}


class _Here(Exception):
    pass


def _frame(filename, name, line, scope):
    """A traceback entry at this line: (frame, last instruction)."""
    key = filename, name, line
    code = _codes.get(key)
    if code is None:
        if len(_codes) > 1000:
            _codes.clear()
        code = compile("\n" * (line - 1) + "raise _here", filename, "exec").replace(co_name=name)
        _codes[key] = code
    try:
        exec(code, {"__name__": scope.get("__name__"), "__file__": scope.get("__file__"), "_here": _Here})
    except _Here as here:
        entry = here.__traceback__.tb_next
        return entry.tb_frame, entry.tb_lasti


def build(module, trace):
    """The TracebackType of a trace, innermost frame first."""
    made = None
    for function, node in trace:
        at = place(module, function, node)
        if at is None:
            continue
        f, (line, *_) = at
        scope = f.pyfunction.__globals__ if f.pyfunction is not None else {}
        frame, last = _frame(f.filename, f.name, line, scope)
        made = TracebackType(made, frame, last, line)
    return made


def raised(class_id, cls, args, trace, specialization):
    """The extension's hook: the exception object that a call raises."""
    module = specialization.data
    if cls is None:
        cls = module.classes.get(class_id - _kiln.EXC_USER, RuntimeError)
    try:
        error = cls(*args)
    except Exception as failed:  # the class wants other arguments: its own complaint, as in Python
        error = failed
    return error.with_traceback(build(module, trace))
