# SPDX-License-Identifier: Apache-2.0
"""docs/coverage.md is what daemon/compiler/prelude/coverage.py makes of the tables, and every prelude function says
which function of NumPy or Python it is."""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRELUDE = ROOT / "daemon" / "compiler" / "prelude"


def load(name):
    scope = {"__name__": name, "__file__": str(PRELUDE / f"{name}.py")}
    exec(compile((PRELUDE / f"{name}.py").read_text(), scope["__file__"], "exec"), scope)
    return scope


def test_page_is_current():
    assert load("coverage")["text"]() == (ROOT / "docs" / "coverage.md").read_text()


def test_functions_have_docstrings():
    sys.path.insert(0, str(PRELUDE))
    for area in load("build")["AREAS"]:
        for name, function in load(area)["FUNCTIONS"].items():
            assert function.__doc__, f"{name} of {area}.py has no docstring"
