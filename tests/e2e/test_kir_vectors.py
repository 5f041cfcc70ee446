# SPDX-License-Identifier: Apache-2.0
"""Every KIR vector through a daemon: broken modules are refused with KIR's exit status, good ones compile or get a
diagnosis, and no worker dies of any of them."""
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "vectors")]
from kir_checker import vectors  # noqa: E402
from test_cli import KILN, Daemon  # noqa: E402

ALL = list(vectors())


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    daemon = Daemon(tmp_path_factory.mktemp("vectors"))
    yield daemon
    daemon.stop()


@pytest.fixture
def alive(daemon):
    """The daemon; afterwards the worker must be the one that was there before."""
    before = daemon.json("status")["workers"]
    yield daemon
    after = daemon.json("status")["workers"]
    assert [w["pid"] for w in after] == [w["pid"] for w in before], (daemon.folder / "log").read_text()[-2000:]
    assert daemon.json("stats")["worker_deaths"] == 0


def compiled(daemon, data, signature, n_env=0):
    """(exit status, messages) of one compile."""
    (daemon.folder / "vector.kir").write_bytes(data)
    done = subprocess.run([KILN, "compile", "vector.kir", "--sig", signature, "-o", "out.so", "--socket", daemon.socket,
                           *["--env=float64[::1]"] * n_env],
                          cwd=daemon.folder, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def test_bad_modules(alive):
    for kind, name, _, data, error in ALL:
        if kind != "bad" or data[1:5] != b"\xa3KIR":
            continue  # what does not begin like KIR is read as text here
        status, message = compiled(alive, data, "()")
        assert status == 65, (name, status, message)
        assert error.split(" ", 1)[1] in message, (name, message)


@pytest.mark.parametrize("argument", ["int64", "float64[::1]", "pyfloat", "Tuple((int64, float64))"])
def test_good_modules(alive, argument):
    good, wrong = 0, []
    for kind, name, _, data, _ in ALL:
        if kind != "ok":
            continue
        for n in range(6):
            signature = "(" + ", ".join([argument] * n) + ")"
            status, message = compiled(alive, data, signature, msgpack.unpackb(data)[2])
            if status not in (0, 65):
                wrong.append((name, signature, status, message))
            good += status == 0
    assert not wrong
    assert good > 5
