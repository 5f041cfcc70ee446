# SPDX-License-Identifier: Apache-2.0
"""Functions typed into Python's interactive session: their text comes from the line editor's history."""
import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest

TYPED = ["from kilnjit import njit", "@njit", "def f(x):", "    y = x * 2", "    ", "    return y + 1", "", "print('got', f(4))",
         "g = njit(lambda x: x - 5)", "print('got', g(7))", "@njit", "def f(x):", "    return x + 100", "", "print('got', f(4))"]


def test_plain_session(daemon):
    pytest.importorskip("readline")
    master, slave = pty.openpty()
    env = {**daemon.env, "TERM": "dumb", "PYTHON_BASIC_REPL": "1", "PYTHONSTARTUP": ""}
    p = subprocess.Popen([sys.executable, "-i", "-q", "-c", "import readline"], env=env, stdin=slave, stdout=slave, stderr=slave,
                         close_fds=True, start_new_session=True)
    os.close(slave)
    seen = ""

    def until(mark, count):
        nonlocal seen
        end = time.monotonic() + 60
        while len(re.findall(mark, seen)) < count and time.monotonic() < end:
            if select.select([master], [], [], 1)[0]:
                try:
                    seen += os.read(master, 65536).decode(errors="replace")
                except OSError:
                    break
        assert len(re.findall(mark, seen)) >= count, seen

    try:
        until(">>>", 1)
        for line in TYPED:
            os.write(master, line.encode() + b"\n")
        until(r"got \d+\r?\n", 3)  # whole lines: they may come in pieces
        os.write(master, b"exit()\n")
        p.wait(timeout=60)
    finally:
        os.close(master)
        if p.poll() is None:
            p.kill()
            p.wait()
    printed = [line.split()[1] for line in seen.replace("\r", "").split("\n") if line.startswith("got ")]
    assert printed == ["9", "2", "104"], seen
