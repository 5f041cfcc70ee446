# SPDX-License-Identifier: Apache-2.0
"""The protocol in Python: frames of docs/protocol.md with msgpack bodies, numbers taken from the .def files."""
import array
import hashlib
import re
import socket
import struct

import msgpack

import rig

MESSAGES = {text: int(wire) for _, wire, text in
            re.findall(r"^MESSAGE\((\w+), (\d+), (\w+), \w\)", (rig.ROOT / "proto/codec/messages.def").read_text(), re.M)}
NAMES = {wire: text for text, wire in MESSAGES.items()}
CODES = {name: int(wire) for name, wire in re.findall(r"^X\((\w+),\s*(\d+),", (rig.ROOT / "proto/base/err.def").read_text(), re.M)}
HEAD = struct.Struct("<IHHQ")


class Connection:
    """One client. `ask` sends and waits for the next answer, `send` and `receive` are its halves."""

    def __init__(self, path, hello=True):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.buffer, self.fds, self.next, self.last_id = b"", [], 0, 0
        if hello:
            assert self.ask("hello", {"version_min": 1, "version_max": 1, "client": "tests", "capabilities": ["fd"]})[0] == "welcome"

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.socket.close()
        import os
        for fd in self.fds:
            os.close(fd)

    @staticmethod
    def code(name):
        return CODES[name]

    @staticmethod
    def digest(data):
        return hashlib.blake2b(data, digest_size=32).digest()

    def send_raw(self, kind, body):
        self.next += 1
        self.socket.sendall(HEAD.pack(len(body), kind, 0, self.next) + body)
        return self.next

    def send(self, name, fields):
        return self.send_raw(MESSAGES[name], msgpack.packb({k: v for k, v in fields.items() if v is not None}, use_bin_type=True))

    def more(self):
        room = array.array("i")
        data, control, _, _ = self.socket.recvmsg(1 << 16, socket.CMSG_LEN(4 * room.itemsize))
        for level, kind, raw in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                room.frombytes(raw[:len(raw) - len(raw) % room.itemsize])
        self.fds.extend(room)
        if not data:
            raise ConnectionError("closed")
        self.buffer += data

    def receive(self, timeout=60):
        """(name, fields) of the next frame; its id is last_id."""
        self.socket.settimeout(timeout)
        while len(self.buffer) < HEAD.size or len(self.buffer) < HEAD.size + HEAD.unpack_from(self.buffer)[0]:
            self.more()
        length, kind, flags, self.last_id = HEAD.unpack_from(self.buffer)
        body = self.buffer[HEAD.size:HEAD.size + length]
        self.buffer = self.buffer[HEAD.size + length:]
        return NAMES[kind], msgpack.unpackb(body, raw=False)

    def ask(self, name, fields, timeout=60, expect=1):
        self.send(name, fields)
        for _ in range(expect):
            answer = self.receive(timeout)
        return answer

    def ask_raw(self, kind, body):
        self.send_raw(kind, body)
        return self.receive()

    def take_fd(self):
        return self.fds.pop(0)

    def closed(self):
        try:
            self.more()
        except ConnectionError:
            return True
        return False


def slow_module(statements):
    """LLVM IR whose optimization takes a while: a long chain that can't be folded."""
    lines = ["define double @f(double %x) {", "entry:", "  br label %b0"]
    value = "%x"
    for i in range(statements):
        lines += [f"b{i}:", f"  %v{i} = phi double [ {value}, %{'entry' if i == 0 else f'b{i - 1}'} ], [ %w{i}, %b{i} ]",
                  f"  %u{i} = fmul double %v{i}, 0x3FF00000000{i % 4096:03x}00", f"  %w{i} = fadd double %u{i}, %x",
                  f"  %c{i} = fcmp olt double %w{i}, 1.0e3",
                  f"  br i1 %c{i}, label %b{i}, label %{'end' if i + 1 == statements else f'b{i + 1}'}"]
        value = f"%w{i}"
    lines += ["end:", f"  ret double {value}", "}"]
    return "\n".join(lines).encode()
