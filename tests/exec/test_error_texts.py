# SPDX-License-Identifier: Apache-2.0
"""What people read when a program can't be compiled: tests/golden/errors/NAME.txt has the program, the call and the text.

    UPDATE_GOLDENS=1 pytest tests/exec/test_error_texts.py     writes what comes out anew

Every text names the user's line; none is longer than ten lines a mistake; no two are the same."""
import linecache
import math
import os
from pathlib import Path

import numpy as np
import pytest

from kilnjit import errors, njit

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "errors"
CASES = sorted(p.stem for p in FOLDER.glob("*.txt"))
UPDATE = os.environ.get("UPDATE_GOLDENS") == "1"


def message_of(program, call):
    file = "<golden>"
    linecache.cache[file] = (len(program), None, program.splitlines(True), file)
    scope = {"np": np, "math": math, "njit": njit}
    exec(compile(program, file, "exec"), scope)
    try:
        scope["f"] = njit(scope["SIGNATURE"])(scope["f"]) if "SIGNATURE" in scope else njit(scope["f"])
        eval(call, scope)
    except (errors.KilnError, TypeError) as e:
        return f"{type(e).__name__}: {e}"
    raise AssertionError("no error")


@pytest.mark.parametrize("name", CASES)
def test_text(name):
    program, rest = (FOLDER / f"{name}.txt").read_text().split("---- ", 1)
    call, _, want = rest.partition("\n")
    got = message_of(program, call)
    if UPDATE:
        (FOLDER / f"{name}.txt").write_text(f"{program}---- {call}\n{got}\n")
    else:
        assert got == want.rstrip("\n")
    assert len(got.splitlines()) <= 10 * (1 + got.count("... and")) + 20 * (name == "several_mistakes")


def test_texts_are_many_and_distinct():
    texts = [(FOLDER / f"{name}.txt").read_text().split("---- ", 1)[1].partition("\n")[2].splitlines()[0] for name in CASES]
    assert len(set(texts)) >= 80
