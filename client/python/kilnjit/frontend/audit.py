# SPDX-License-Identifier: Apache-2.0
"""Source texts that no file holds: what `exec`, `eval` and `compile` were given.

Python raises an audit event with the text whenever source is compiled. The hook keeps texts whose file name is
made up ("<string>", "generated-7"), newest last, within a limit of bytes and of texts a name: enough for programs
that generate code, too little to matter in a process that evaluates strings all day. A hook can't be taken out
again, so it returns at once for every other event."""
import sys
from os import stat

#: bytes of all kept texts: a thousand generated functions of 8 KB
MAX_BYTES = 8 << 20
#: one text: longer ones are data, not functions
MAX_TEXT = 1 << 20
#: texts of one name: a cell or expression that is compiled again and again keeps its last ones
MAX_PER_NAME = 256

_texts: dict[str, list[str]] = {}
_total = 0
_order: list[str] = []  # names, oldest first


def _keep(source, name):
    global _total
    text = source if isinstance(source, str) else bytes(source).decode("utf-8", "replace")
    if len(text) > MAX_TEXT or ("def " not in text and "lambda" not in text):
        return
    kept = _texts.get(name)
    if kept is None:
        kept = _texts[name] = []
        _order.append(name)
    elif kept[-1] == text:  # compile() reports its text twice
        return
    kept.append(text)
    _total += len(text)
    if len(kept) > MAX_PER_NAME:
        _total -= len(kept.pop(0))
    while _total > MAX_BYTES and _order:
        _total -= sum(map(len, _texts.pop(_order.pop(0))))


def _hook(event, args):
    if event != "compile":
        return
    try:
        source, name = args
        if type(source) not in (str, bytes, bytearray) or not source:
            return
        if isinstance(name, bytes):
            name = name.decode()
        if name[:1] != "<":
            try:
                stat(name)
                return  # a file: its text can be read when it is wanted
            except OSError:
                pass
        _keep(source, name)
    except Exception:  # noqa: BLE001 - an exception here would fail the program's own compile()
        pass


def install():
    """Add the hook, once a process."""
    if not hasattr(sys, "_kilnjit_audit"):
        sys._kilnjit_audit = True
        sys.addaudithook(_hook)


def texts(name):
    """Kept texts of this file name, newest first."""
    return _texts.get(name, [])[::-1]
