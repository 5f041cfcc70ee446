# SPDX-License-Identifier: Apache-2.0
"""From a function object to its syntax tree, verified.

A code object knows its file name and first line. The text is looked for where it may be (linecache for notebook
cells, the file, texts seen by the audit hook, `python -c`, the history of an interactive session), only the function's
own block is parsed, and what was found is *proven*: compiled again, it must equal the loaded code object
(verify.py). So a file that was edited after it was loaded is an error, never another program."""
import sys

from . import audit
from .diagnostics import SourceError
from .scope import children
from .verify import FUTURE, ONLY_AST, matches

#: history lines of an interactive session that are tried, newest first
MAX_HISTORY = 2000
#: distance from a lambda's line up to the start of its statement, before the whole text is parsed
MAX_STATEMENT = 30


class Found:
    """A function's tree: `node` is a FunctionDef or Lambda whose positions are those of `lines` (from line 1)."""

    def __init__(self, node, filename, lines):
        self.node, self.filename, self.lines = node, filename, lines


_files: dict[str, list[str]] = {}  # text as first read: like the loaded modules, a snapshot
_trees: dict[int, tuple] = {}      # id(lines) -> (lines, tree), the last whole text that was parsed


def _decode(raw):
    """Source bytes as text by PEP 263."""
    if raw.startswith(b"\xef\xbb\xbf"):
        return raw[3:].decode("utf-8")
    for line in raw.split(b"\n", 2)[:2]:
        if line.lstrip().startswith(b"#") and b"coding" in line:
            rest = line.split(b"coding", 1)[1].lstrip(b":= \t")
            name = rest.split()[0].decode("ascii", "ignore") if rest.split() else "utf-8"
            name = "".join(c for c in name if c.isalnum() or c in "-_.")
            try:
                return raw.decode(name)
            except (LookupError, UnicodeDecodeError):
                break
    return raw.decode("utf-8")


def _read(filename):
    try:
        with open(filename, "rb") as file:
            text = _decode(file.read())
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    return _lines(text)


def _lines(text):
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    return [line + "\n" for line in lines]


def _candidates(code, namespace):
    """Texts, as lists of lines, that may hold the function; best guess first."""
    filename = code.co_filename
    linecache = sys.modules.get("linecache")
    if linecache is not None and filename in linecache.cache:
        lines = linecache.getlines(filename, namespace)
        if lines:
            yield lines
    if filename[:1] != "<":
        if filename in _files:
            yield _files[filename]
        lines = _read(filename)
        if lines is not None:
            if len(_files) > 64:  # recently used files: a bound on memory, nothing depends on it
                _files.clear()
            _files[filename] = lines
            yield lines
    for text in audit.texts(filename):
        yield _lines(text)
    if filename == "<string>" and "-c" in sys.orig_argv:
        at = sys.orig_argv.index("-c")
        if at + 1 < len(sys.orig_argv):
            yield _lines(sys.orig_argv[at + 1])
    if filename.startswith(("<stdin>", "<python-input")):
        yield from _history(code)
    if linecache is None:
        import linecache
    lines = linecache.getlines(filename, namespace)  # loaders of zip files and the like
    if lines:
        yield lines


def _history(code):
    """Blocks typed into an interactive session: every statement there starts at line 1."""
    readline = sys.modules.get("readline")
    if readline is None:
        return
    total = readline.get_current_history_length()
    typed = [readline.get_history_item(i) or "" for i in range(max(1, total - MAX_HISTORY), total + 1)]
    typed = [part + "\n" for line in typed for part in line.split("\n")]
    first = code.co_firstlineno
    for start in range(len(typed) - 1, -1, -1):
        if start and typed[start - 1].startswith("@"):
            continue
        if typed[start].startswith("@") or "def " in typed[start] or "lambda" in typed[start]:
            at = start - first + 1  # the statement's line 1
            if at >= 0:
                yield typed[at:]


def _indent(line):
    return line[:len(line) - len(line.lstrip(" \t\f"))]


def _parse(text, code):
    return compile(text, code.co_filename, "exec", ONLY_AST | (code.co_flags & FUTURE), True)


def _shift(node, by):
    """Move all positions `by` lines down."""
    todo = [node]
    while todo:
        node = todo.pop()
        if hasattr(node, "lineno"):
            node.lineno += by
            if node.end_lineno is not None:
                node.end_lineno += by
        todo.extend(children(node))


def _parse_block(lines, first, code):
    """The statement that starts at line `first` (from 1) as a tree with the positions of `lines`; None if there
    is none. Lines are taken up to a line that is indented no deeper; where that line is inside brackets or
    quotes the text does not parse, and more are taken."""
    if not 0 < first <= len(lines):
        return None
    base = _indent(lines[first - 1])
    head = "if 1:\n" if base else ""
    at, seen_def = first - 1, False
    taken = []
    while at < len(lines):
        line = lines[at]
        blank = not line.strip() or line.lstrip().startswith("#")
        outside = not blank and len(_indent(line)) <= len(base)
        if outside and seen_def:
            tree = _try(head, taken, code)
            if tree is not None:
                break
        if outside and line.lstrip().startswith(("def ", "async def ", "def\t")):
            seen_def = True
        taken.append(line)
        at += 1
    else:
        tree = _try(head, taken, code)
    if tree is None:
        return None
    node = tree.body[0].body[0] if head else tree.body[0]
    _shift(node, first - 1 - (1 if head else 0))
    return node


def _try(head, taken, code):
    try:
        return _parse(head + "".join(taken), code)
    except (SyntaxError, ValueError):
        return None


def _whole(lines, code):
    kept = _trees.get(id(lines))
    if kept is not None and kept[0] is lines:
        return kept[1]
    try:
        tree = _parse("".join(lines), code)
    except (SyntaxError, ValueError):
        return None
    _trees.clear()
    _trees[id(lines)] = (lines, tree)
    return tree


def _lambdas(tree, line):
    """Lambda nodes that start at this line, in order of the text."""
    found, todo = [], [tree]
    while todo:
        node = todo.pop()
        if type(node).__name__ == "Lambda" and node.lineno == line:
            found.append(node)
        todo.extend(children(node))
    return sorted(found, key=lambda n: n.col_offset)


def _lambda_statement(lines, line, code):
    """The statement around a lambda, by trying starts from its line upwards; then the whole text."""
    if line > len(lines):  # another text of this name
        return
    for start in range(line, max(line - MAX_STATEMENT, 0), -1):
        text = lines[start - 1]
        if not text.strip() or text.lstrip()[0] in "#)]}":
            continue
        head = "if 1:\n" if _indent(text) else ""
        for end in range(line, min(line + MAX_STATEMENT, len(lines)) + 1):
            body = "".join(lines[start - 1:end])
            if body.rstrip().endswith(":"):
                body = body.rstrip() + " pass\n"
            tree = _try(head, [body], code)
            if tree is not None:
                for node in tree.body:
                    _shift(node, start - 1 - (1 if head else 0))
                if _lambdas(tree, line):
                    yield tree
                break
    tree = _whole(lines, code)
    if tree is not None:
        yield tree


def _find_def(lines, code, namespace):
    node = _parse_block(lines, code.co_firstlineno, code)
    if node is None or type(node).__name__ not in ("FunctionDef", "AsyncFunctionDef") or node.name != code.co_name:
        return None
    return node if matches(node, code, namespace, lambda: _whole(lines, code)) else None


def _find_moved(lines, code, namespace):
    """The same function elsewhere in an edited text: lines above it came or went."""
    tree = _whole(lines, code)
    if tree is None:
        return None
    todo = [tree]
    while todo:
        node = todo.pop()
        if type(node).__name__ in ("FunctionDef", "AsyncFunctionDef") and node.name == code.co_name and \
                matches(node, code, namespace, lambda: tree):
            return node
        todo.extend(child for child in children(node) if hasattr(child, "body") or type(child).__name__ == "Match")
    return None


def _find_lambda(lines, code, namespace):
    def whole():
        return _whole(lines, code)

    for tree in _lambda_statement(lines, code.co_firstlineno, code):
        equal = [n for n in _lambdas(tree, code.co_firstlineno) if matches(n, code, namespace, whole)]
        if len(equal) > 1:  # the same code twice on one line: columns tell
            equal = [n for n in equal if matches(n, code, namespace, whole, positions=True)] or equal
        if equal:
            return equal[0]
    return None


def find(function):
    """The verified tree of a Python function. SourceError where there is none."""
    code = function.__code__
    find_in = _find_lambda if code.co_name == "<lambda>" else _find_def
    tried = []
    for lines in _candidates(code, function.__globals__):
        if lines in tried:
            continue
        tried.append(lines)
        node = find_in(lines, code, function.__globals__)
        if node is not None:
            return Found(node, code.co_filename, lines)
    if code.co_name != "<lambda>" and not code.co_filename.startswith("<"):
        for lines in tried:
            node = _find_moved(lines, code, function.__globals__)
            if node is not None:
                return Found(node, code.co_filename, lines)
    where = f"{code.co_filename}:{code.co_firstlineno}"
    if tried:
        raise SourceError(f"the source of {code.co_qualname}() changed since it was loaded ({where})",
                          "load the module again, or restart the program")
    hint = "put the function into a file or a notebook cell; code from exec is found if kilnjit was imported before it ran"
    raise SourceError(f"no source of {code.co_qualname}() can be found ({where})", hint)


__all__ = ["Found", "find"]
