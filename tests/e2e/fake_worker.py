#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A worker that asks its client for overload 7 at (int64, float64) and returns what it got as the object."""
import socket
import sys

sys.path[:0] = [p for p in __file__.rsplit("/", 1)[:1]] + [__file__.rsplit("/", 2)[0]]
from proto import HEAD, MESSAGES, NAMES, msgpack  # noqa: E402

s = socket.socket(fileno=3)
buffer = b""


def send(name, number, fields):
    body = msgpack.packb(fields, use_bin_type=True)
    s.sendall(HEAD.pack(len(body), MESSAGES[name], 0, number) + body)


def receive():
    global buffer
    while len(buffer) < HEAD.size or len(buffer) < HEAD.size + HEAD.unpack_from(buffer)[0]:
        more = s.recv(1 << 16)
        if not more:
            sys.exit(0)
        buffer += more
    length, kind, _, number = HEAD.unpack_from(buffer)
    body, buffer = buffer[HEAD.size:HEAD.size + length], buffer[HEAD.size + length:]
    return NAMES[kind], number, msgpack.unpackb(body, raw=False)


send("ready", 0, {"toolchain": b"\1" * 32, "llvm": "none", "baseline": "x86-64"})
while True:
    _, job, fields = receive()
    send("resolve", job, {"token": 5, "overload": 7, "types": ["int64", "float64"]})
    name, _, answer = receive()
    assert name == "resolved" and answer["token"] == 5
    send("result", job, {"object": answer.get("body", b"") or answer.get("message", "").encode(), "manifest": b"\x80"})
