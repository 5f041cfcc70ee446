# SPDX-License-Identifier: Apache-2.0
"""`daemon` is a fresh kilnd for one test. Tests under exec import kilnjit in this process and share one daemon, which is
there before they are collected: modules with eager signatures ask it when they are imported. No test talks to the
user's own daemon."""
import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import rig  # noqa: E402

sys.path.insert(0, rig.PYTHONPATH)
_shared = None


def pytest_configure(config):
    """Whoever asks without a daemon of its own is told so, instead of being served by one that happens to run."""
    for name in [n for n in os.environ if n.startswith("KILN_") and not n.startswith("KILN_TEST_")]:
        del os.environ[name]
    os.environ["KILN_SOCKET"] = "/nonexistent/kilnd.sock"
    # a shell starts background jobs with Ctrl-C ignored, which processes inherit; tests press it
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _share():
    global _shared
    if _shared is None:
        _shared = rig.Daemon(workers=2)
        os.environ.update(KILN_SOCKET=_shared.env["KILN_SOCKET"], KILN_CACHE_DIR=_shared.env["KILN_CACHE_DIR"])


def pytest_collect_file(file_path, parent):
    if "exec" in file_path.parent.parts and file_path.name.startswith("test_"):
        _share()


def pytest_unconfigure(config):
    if _shared is not None:
        _shared.stop()


@pytest.fixture
def daemon():
    with rig.Daemon() as d:
        yield d


@pytest.fixture(scope="session")
def shared_daemon():
    _share()
    return _shared


@pytest.fixture(scope="session")
def build():
    return rig.BUILD
