# SPDX-License-Identifier: Apache-2.0
"""The one message that runs from a worker to a client, relayed by the daemon. The worker is a stand-in that asks."""
import pytest

import rig
from proto import Connection

REQUEST = {"kind": "kir", "body": b"x", "signature": "(int64)", "want_inline": True}


@pytest.fixture
def asking():
    with rig.Daemon("--worker", rig.ROOT / "tests/e2e/fake_worker.py") as d:
        yield d


def resolving(daemon):
    c = Connection(daemon.socket, hello=False)
    assert c.ask("hello", {"version_min": 1, "version_max": 1, "capabilities": ["resolve"]})[0] == "welcome"
    return c


def test_question_and_answer(asking):
    with resolving(asking) as c:
        request = c.send("compile", REQUEST)
        kind, m = c.receive()
        assert kind == "resolve" and c.last_id == request
        assert m["overload"] == 7 and m["types"] == ["int64", "float64"]
        c.send("resolved", {"token": m["token"], "body": b"the overload's KIR"})
        kind, m = c.receive()
        assert kind == "artifact" and m["blob"] == b"the overload's KIR"


def test_client_that_cannot_answer(asking):
    with Connection(asking.socket) as c:
        kind, m = c.ask("compile", REQUEST)
        assert kind == "artifact" and b"no client" in m["blob"]


def test_client_that_leaves_instead(asking):
    with resolving(asking) as c, Connection(asking.socket) as other:
        c.send("compile", REQUEST)
        assert c.receive()[0] == "resolve"
        other.send("compile", REQUEST)  # joins
        c.socket.close()
        kind, m = other.receive()
        assert kind == "artifact" and b"has left" in m["blob"]


def test_answer_that_nobody_asked_for(asking):
    with resolving(asking) as c:
        kind, m = c.ask("resolved", {"token": 99, "body": b""})
        assert kind == "error" and m["code"] == c.code("NOTFOUND")
