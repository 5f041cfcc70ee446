# SPDX-License-Identifier: Apache-2.0
"""The daemon's cache through its protocol: damage, a directory in use, the limit, what is private."""
import os
import signal
import sqlite3
import subprocess

import pytest

import rig
from proto import Connection



def module(n):
    """Textual LLVM IR that no other n has."""
    return f"define double @f(double %x) {{\n  %y = fmul double %x, {n + 2}.0\n  ret double %y\n}}\n".encode()


def compile_one(c, n, **more):
    kind, m = c.ask("compile", {"kind": "bitcode", "body": module(n), "signature": "float64(float64)", "entry": "f",
                                "want_inline": True, **more})
    assert kind == "artifact", m
    return m


def cache_file(d):
    return d.cache / "store.db"


def test_flipped_bytes_are_a_miss_and_are_compiled_again():
    with rig.Daemon() as d:
        with Connection(d.socket) as c:
            first = compile_one(c, 1)
        d.end()
        with sqlite3.connect(cache_file(d)) as db:
            db.execute("UPDATE content SET blob = x'00' || substr(blob, 2)")
        d.start()
        with Connection(d.socket) as c:
            again = compile_one(c, 1)
            assert again["source"] == "compiled" and again["blob"] == first["blob"] and again["key"] == first["key"]
        assert d.stats()["damaged"] == 1


@pytest.mark.parametrize("damage", [
    lambda p: p.write_bytes(b"not a database at all" * 1000),
    lambda p: p.write_bytes(b""),
    lambda p: os.truncate(p, 5000),
    lambda p: p.write_bytes(p.read_bytes()[:4096] + os.urandom(p.stat().st_size - 4096)),
], ids=["garbage", "empty", "cut", "pages"])
def test_a_broken_database_is_set_aside(damage):
    with rig.Daemon() as d:
        with Connection(d.socket) as c:
            compile_one(c, 1)
        d.end()
        damage(cache_file(d))
        d.start()
        with Connection(d.socket) as c:
            assert compile_one(c, 1)["source"] == "compiled"
        d.end()
        d.start()
        with Connection(d.socket) as c:
            assert compile_one(c, 1)["source"] == "disk"


def test_a_second_daemon_on_the_directory_says_who_has_it(tmp_path):
    with rig.Daemon() as d:
        with Connection(d.socket) as c:
            compile_one(c, 1)
        where = cache_file(d).parent
        done = subprocess.run([rig.BIN / "kilnd", "--socket", str(tmp_path / "s"), "--cache-dir", str(where), "--workers", "1"],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode != 0
        assert str(where) in done.stderr and f"pid {d.pid}" in done.stderr
        with Connection(d.socket) as c:
            assert compile_one(c, 1)["source"] == "memory"


def test_the_limit_holds():
    limit = 64 << 10
    with rig.Daemon("--cache-bytes", str(limit), "--memory-artifacts", "2") as d:
        with Connection(d.socket) as c:
            for n in range(40):
                compile_one(c, n)
        d.end()
        with sqlite3.connect(cache_file(d)) as db:
            entries, size = db.execute("SELECT entries, bytes FROM totals").fetchone()
            assert db.execute("SELECT count(*) FROM artifact").fetchone()[0] == entries
        assert 0 < entries < 40 and size <= limit


def test_nobody_else_may_read_the_database():
    with rig.Daemon() as d:
        with Connection(d.socket) as c:
            compile_one(c, 1)
        for path in cache_file(d).parent.iterdir():
            assert path.stat().st_mode & 0o077 == 0, path


def test_killed_while_writing_the_database_is_whole():
    with rig.Daemon() as d:
        for round_ in range(3):
            with Connection(d.socket) as c:
                for n in range(20):
                    c.send("compile", {"kind": "bitcode", "body": module(100 * round_ + n), "entry": "f", "want_inline": True,
                                       "signature": "float64(float64)"})
                for _ in range(5 + 4 * round_):
                    c.receive()
                d.end(signal.SIGKILL)
            with sqlite3.connect(cache_file(d)) as db:
                assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
                rows = db.execute("SELECT count(*) FROM artifact").fetchone()[0]
                assert rows == db.execute("SELECT entries FROM totals").fetchone()[0]
            d.start()
            assert len(d.kiln_json("ls")) == rows
