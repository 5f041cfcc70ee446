# SPDX-License-Identifier: Apache-2.0
"""Writes docs/coverage.md, the list of what is compiled, from library.def and the prelude:  coverage.py [OUT]"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by daemon/compiler/prelude/coverage.py; don't edit. -->
# What is compiled

What it means, and which types come out: [semantics.md](semantics.md).

- **Statements**: assignment (several targets, tuples, one starred target), augmented assignment, `if`, `while` and `for` with `else`, `break`, `continue`, `return`, `raise` of an exception class
  or a call of one, `assert`, `try` with `except`, `else` and `finally`, `del` of a variable or item, `with objmode`, `pass`, inner functions and lambdas, calls of jitted functions.
- **Expressions**: all operators on numbers, comparison chains, `and or not`, conditional expressions, `:=`, tuples (indexing, slices by constants, `+`, `*`, comparison, `in`), f-strings in exceptions, `*args` in calls.
- **Loops** over `range`, arrays, tuples, `enumerate`, `zip`, `reversed`.
- **Arrays**: reading and writing elements, slices and views with `...` and `None`, arrays of integers, masks and lists as indexes, filling a view with a number or an array.
- **Lists, dicts, sets**: displays, comprehensions, generator expressions as arguments, indexing, slices, operators, methods (below), of items of one type, nested.
- **Whole arrays**: operators, comparisons, `+=` and the like, and the functions listed below, element by element with broadcasting.
- **Not yet**: generators, text beyond constants, `**kwargs`, functions beyond those listed here, `+=` on a part of an array.

Names marked \\* are functions of the prelude, written in Python; the others are built into the compiler.

"""


def rows():
    """Name -> whether the prelude has it."""
    sys.path.insert(0, str(ROOT / "daemon/compiler/prelude"))
    found = {}
    for name in re.findall(r'^X\(\w+,\s*"([^"]+)"', (ROOT / "daemon/compiler/library.def").read_text(), re.M):
        if name.startswith("kiln."):
            continue
        found[name.replace(".", "array.", 1) if name[0] == "." else name] = False
    for path in sorted((ROOT / "daemon/compiler/prelude").glob("*.py")):
        if path.name in ("build.py", "coverage.py", "intrinsics.py"):
            continue
        scope = {"__name__": path.stem}
        exec(compile(path.read_text(), str(path), "exec"), scope)
        for name in scope["FUNCTIONS"]:
            if name.startswith(("inplace.", "kiln.")) or "__" in name or path.stem == "typed":
                continue  # operators, not functions that a program names
            name = re.sub(r"^ndarray\.(.*)", r"array.\1()", name)
            name = re.sub(r"^(list|dict|set|tuple|str|bytes|int|float|complex)\.(.*)", r"\1.\2()", name)
            found.setdefault(name, True)
    return found


def text():
    out, areas = HEAD, {}
    for name, prelude in rows().items():
        areas.setdefault(name.partition(".")[0], []).append(f"`{name.partition('.')[2]}`" + ("\\*" if prelude else ""))
    for area in sorted(areas):
        out += f"## {area}\n\n{', '.join(sorted(areas[area], key=str.lower))}\n\n"
    return out.rstrip() + "\n"


if __name__ == "__main__":
    (Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "coverage.md").write_text(text())
