# SPDX-License-Identifier: Apache-2.0
"""A cache that is removed under a running daemon: nothing that is acknowledged afterwards may be lost."""
import os
import shutil
import sqlite3
import time

import pytest

import rig
from proto import Connection
from test_cache import cache_file, compile_one


def rows(path):
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        return db.execute("SELECT count(*) FROM artifact").fetchone()[0]


def until(what):
    end = time.monotonic() + 30
    while not what():
        assert time.monotonic() < end


def stored(d, n):
    """An answer comes before its row is on the disk: wait for that."""
    until(lambda: d.stats()["entries"] >= n)


def remove_all(d):
    shutil.rmtree(d.cache)


def remove_content(d):
    for path in d.cache.iterdir():
        path.unlink()


def remove_database(d):
    for end in ("", "-wal", "-shm"):
        os.unlink(f"{cache_file(d)}{end}")


def move_away(d):
    d.cache.rename(d.folder / "elsewhere")


@pytest.mark.parametrize("how", [remove_all, remove_content, remove_database, move_away])
def test_written_again(how):
    with rig.Daemon() as d:
        with Connection(d.socket) as c:
            compile_one(c, 1)
            stored(d, 1)
            how(d)
            assert compile_one(c, 1)["source"] == "memory"
            for n in range(2, 6):
                assert compile_one(c, n)["source"] == "compiled"
            assert c.ask("list", {})[0] == "rows"
        stored(d, 4)
        assert d.kiln_json("status")["notice"] == ""
        d.end()
        assert rows(cache_file(d)) == 4
        assert {path.name for path in d.cache.iterdir()} <= {"store.db", "store.db-wal", "store.db-shm", "lock"}
        d.start()
        with Connection(d.socket) as c:
            assert [compile_one(c, n)["source"] for n in range(2, 6)] == ["disk"] * 4


def test_taken_by_another_daemon(tmp_path):
    with rig.Daemon() as d:
        with Connection(d.socket) as c:
            compile_one(c, 1)
            stored(d, 1)
            shutil.rmtree(d.cache)
            with rig.Daemon("--cache-dir", str(d.cache), folder=tmp_path) as other:
                with Connection(other.socket) as o:
                    compile_one(o, 7)
                    assert compile_one(c, 2)["source"] == "compiled"
                    assert compile_one(c, 3)["source"] == "compiled"
                    until(lambda: f"pid {other.pid}" in d.kiln_json("status")["notice"])
                    assert compile_one(o, 8)["source"] == "compiled"
                    stored(other, 2)
            assert rows(cache_file(d)) == 2
            assert compile_one(c, 4)["source"] == "compiled"
        stored(d, 3)
        assert d.kiln_json("status")["notice"] == ""
        d.end()
        assert rows(cache_file(d)) == 3
