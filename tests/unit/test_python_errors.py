# SPDX-License-Identifier: Apache-2.0
"""kilnjit.errors against proto/base/err.def: every class that the table names exists and is documented."""
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "unit"))
import kir_text  # noqa: E402,F401 - finds the package
from kilnjit import errors  # noqa: E402

ROWS = re.findall(r'^X\((\w+),\s*\d+,\s*"(\w+)"', (ROOT / "proto" / "base" / "err.def").read_text(), re.M)


def test_the_table_was_read():
    assert len(ROWS) > 30


@pytest.mark.parametrize("name,cls", ROWS)
def test_class_of_each_error(name, cls):
    found = getattr(errors, cls)
    assert issubclass(found, errors.KilnError) and found.__doc__


def test_no_class_without_a_row():
    mine = {"KilnError", "KilnSourceError", "KilnSyntaxError"}  # the package's own
    classes = {n for n, c in vars(errors).items() if isinstance(c, type) and issubclass(c, errors.KilnError) and c.__name__ == n}
    assert classes - mine == {cls for _, cls in ROWS}


def test_pythons_own_classes_catch_them():
    for ours, python in (("KilnTypeError", TypeError), ("KilnTimeoutError", TimeoutError), ("KilnConnectError", ConnectionError),
                         ("KilnMemoryError", MemoryError), ("KilnPermissionError", PermissionError), ("KilnValueError", ValueError)):
        assert issubclass(getattr(errors, ours), python)
    assert errors.TypingError is errors.KilnTypeError and errors.NumbaError is errors.KilnError
