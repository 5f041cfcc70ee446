# SPDX-License-Identifier: Apache-2.0
"""What all connections together may make the daemon hold."""
import socket

import rig
from proto import HEAD, MESSAGES, Connection

MIB = 1 << 20
SMALL = {"kind": "bitcode", "signature": "int64(int64)", "entry": "f", "body": b"define i64 @f(i64 %x) {\n ret i64 %x }", "want_inline": True}


def rss(d):
    return d.kiln_json("status")["rss"]


def push(c, size, announced=60 * MIB):
    """The beginning of a long frame; False if the daemon has had enough."""
    try:
        c.socket.sendall(HEAD.pack(announced, MESSAGES["compile"], 0, 77) + b"\x81" + b"x" * size)
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def test_long_frames_of_many_connections():
    with rig.Daemon("--request-memory", "32M") as d:
        cs = [Connection(d.socket) for _ in range(20)]
        for c in cs:
            push(c, 8 * MIB)
        assert rss(d) < 80 * MIB
        told = 0
        for c in cs:
            c.socket.setblocking(False)
            try:
                kind, m = c.receive(timeout=0.05)
            except socket.timeout:
                continue
            assert kind == "error" and m["code"] == c.code("BUSY") and c.last_id == 77, m
            told += 1
        assert 10 <= told < 20
        with Connection(d.socket) as c:  # small ones are served all the same
            assert c.ask("compile", SMALL)[0] == "artifact"
        for c in cs:
            c.socket.close()
        with Connection(d.socket) as c:  # and large ones again
            kind, m = c.ask("compile", dict(SMALL, body=SMALL["body"] + b"\n; " + b"x" * 10 * MIB))
            assert kind == "artifact", m


def test_a_long_frame_leaves_no_room_behind():
    with rig.Daemon() as d:
        before, cs = rss(d), [Connection(d.socket) for _ in range(12)]
        for c in cs:
            assert c.ask("status", {"unknown": "x" * 10 * MIB})[0] == "state"
        assert rss(d) - before < 30 * MIB
        for c in cs:
            c.socket.close()
