# SPDX-License-Identifier: Apache-2.0
"""python -O: assertions are not compiled, in compiled code as in Python's own."""
import subprocess
import sys

import pytest

SCRIPT = """
from kilnjit import njit

@njit
def checked(x):
    assert x > 0, "positive numbers"
    if __debug__:
        return x
    return -x * 10

try:
    print(checked(-1))
except AssertionError as error:
    print("AssertionError", error)
"""


@pytest.mark.parametrize("flags, output", [([], "AssertionError positive numbers\n"), (["-O"], "10\n"), (["-OO"], "10\n")])
def test_assertions(daemon, flags, output):
    path = daemon.folder / "checked.py"
    path.write_text(SCRIPT)
    for _ in range(2):
        done = subprocess.run([sys.executable, *flags, path], env=daemon.env, capture_output=True, text=True, timeout=60)
        assert done.stdout == output, done.stderr
