# SPDX-License-Identifier: Apache-2.0
"""A daemon with few descriptors: artifacts in memory, connections and workers share them, and whoever gets none is
told so at once."""
import os
import resource

import rig
from proto import Connection

FEW = [(resource.RLIMIT_NOFILE, 128)]
GREETING = {"version_min": 1, "version_max": 1, "client": "tests", "capabilities": ["fd"]}


def module(i):
    return {"kind": "bitcode", "signature": "int64(int64)", "entry": "f",
            "body": f"define i64 @f(i64 %x) {{ %y = add i64 %x, {i}\n ret i64 %y }}".encode()}


def compile_some(connection, numbers):
    sources = []
    for i in numbers:
        kind, m = connection.ask("compile", module(i))
        assert kind == "artifact" and m["has_fd"], m
        os.close(connection.take_fd())
        sources.append(m["source"])
    return sources


def open_descriptors(d):
    return len(os.listdir(f"/proc/{d.pid}/fd"))


def test_artifacts_in_memory_leave_room():
    with rig.Daemon(limits=FEW) as d:
        with Connection(d.socket) as c:
            assert set(compile_some(c, range(150))) == {"compiled"}
            assert set(compile_some(c, range(150))) == {"disk"}
            assert open_descriptors(d) < 80
        for _ in range(20):
            with Connection(d.socket) as c:
                assert compile_some(c, [149]) == ["memory"]


def test_too_many_connections_are_told_so():
    with rig.Daemon(limits=FEW) as d:
        taken, refused = [], 0
        for _ in range(300):
            c = Connection(d.socket, hello=False)
            try:
                kind, m = c.ask("hello", GREETING, timeout=10)
            except (BrokenPipeError, ConnectionResetError):
                kind, m = c.receive(timeout=10)
            if kind == "welcome":
                taken.append(c)
            else:
                assert kind == "error" and m["code"] == c.code("BUSY") and "connections" in m["message"], m
                refused += 1
                assert c.closed()
                c.socket.close()
        assert len(taken) >= 20 and refused == 300 - len(taken)
        compile_some(taken[0], range(3))
        told = d.kiln("status")
        assert told.returncode == 75 and "connections" in told.stderr, told
        taken.pop().socket.close()
        assert d.stats()["refused"] >= refused  # there is room again
        old = d.workers_pids()
        os.kill(old[0], 9)
        while d.workers_pids() in (old, []):    # and for another worker
            pass
        compile_some(taken[0], range(10, 13))
        for c in taken:
            c.socket.close()


def test_descriptors_that_are_taken_all_the_same():
    """When the process meets its limit nobody waits in vain."""
    with rig.Daemon() as d:
        resource.prlimit(d.pid, resource.RLIMIT_NOFILE, (open_descriptors(d) + 3, 4096))
        taken, refused = [], 0
        for _ in range(20):
            c = Connection(d.socket, hello=False)
            try:
                kind, m = c.ask("hello", GREETING, timeout=10)
            except (BrokenPipeError, ConnectionResetError):
                kind, m = c.receive(timeout=10)
            taken.append(c)
            refused += kind == "error" and m["code"] == c.code("BUSY")
        assert refused >= 16
        kind, _ = taken[0].ask("compile", dict(module(1), want_inline=True))
        assert kind == "artifact"
        for c in taken:
            c.socket.close()
        assert d.kiln_json("status")["connections"] == 1


def test_the_limit_is_raised_as_far_as_it_may_be():
    with rig.Daemon() as d:
        soft, hard = resource.prlimit(d.pid, resource.RLIMIT_NOFILE)
        assert soft == hard
        assert "few descriptors" not in d.log() or hard < 13000
