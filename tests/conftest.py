# SPDX-License-Identifier: Apache-2.0
"""Fixtures: `daemon` is a fresh kilnd for one test; tests under exec and unit import kilnjit in this process and share
one daemon, started when the first of them needs it."""
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import rig  # noqa: E402

sys.path.insert(0, rig.PYTHONPATH)
IN_PROCESS = ("exec",)


@pytest.fixture
def daemon():
    with rig.Daemon() as d:
        yield d


@pytest.fixture(scope="session")
def shared_daemon():
    with rig.Daemon(workers=2) as d:
        os.environ.update(KILN_SOCKET=d.env["KILN_SOCKET"], KILN_CACHE_DIR=d.env["KILN_CACHE_DIR"])
        yield d


@pytest.fixture(autouse=True)
def _daemon_for_programs(request):
    if Path(str(request.node.fspath)).parent.name in IN_PROCESS:
        request.getfixturevalue("shared_daemon")


@pytest.fixture(scope="session")
def build():
    return rig.BUILD
