# SPDX-License-Identifier: Apache-2.0
"""The daemon seen from its protocol: tests/e2e/proto.py speaks it with Python's msgpack alone."""
import os
import signal
import socket
import stat
import struct
import subprocess
import threading
import time
from pathlib import Path

import pytest

import rig
from proto import Connection, slow_module


MODULE = b"""define double @f(double %x) {
  %y = fmul double %x, 2.0
  ret double %y
}
"""


def compile_request(body=MODULE, signature="float64(float64)", **more):
    fields = {"kind": "bitcode", "body": body, "signature": signature, "entry": "f", **more}
    return {k: v for k, v in fields.items() if v is not None}


def test_hello_states_versions_and_limits(daemon):
    with Connection(daemon.socket, hello=False) as c:
        kind, m = c.ask("hello", {"version_min": 1, "version_max": 9})
        assert kind == "welcome" and m["version"] == 1 and m["max_frame"] >= 1 << 20 and m["pid"] == daemon.pid
        assert len(m["toolchain"]) == 32


def test_no_common_version(daemon):
    with Connection(daemon.socket, hello=False) as c:
        kind, m = c.ask("hello", {"version_min": 7, "version_max": 9})
        assert kind == "error" and m["code"] == c.code("VERSION")


def test_a_connection_begins_with_hello(daemon):
    with Connection(daemon.socket, hello=False) as c:
        assert c.ask("status", {})[0] == "error"
        assert c.closed()


def test_unknown_fields_are_skipped_and_unknown_requests_answered(daemon):
    with Connection(daemon.socket) as c:
        kind, m = c.ask("status", {"from_the_future": [1, {"deep": [[]]}]})
        assert kind == "state"
        kind, m = c.ask_raw(999, b"\x80")
        assert kind == "error" and m["code"] == c.code("UNSUPPORTED")
        assert c.ask("status", {})[0] == "state"  # the connection lives on


@pytest.mark.parametrize("frame", [
    struct.pack("<IHHQ", 1 << 31, 4, 0, 1),                 # longer than any frame may be
    struct.pack("<IHHQ", 4, 0, 0, 1) + b"\x80\x80\x80\x80",  # type 0
    struct.pack("<IHHQ", 1, 4, 0x80, 1) + b"\x80",           # unknown flag
])
def test_bad_heads_end_the_connection_and_nothing_else(daemon, frame):
    with Connection(daemon.socket) as c:
        c.socket.sendall(frame)
        kind, m = c.receive()
        assert kind == "error"
        assert c.closed()
    assert daemon.stats()["protocol_errors"] == 1


@pytest.mark.parametrize("body", [
    b"\xdd\xff\xff\xff\xff",                 # an array of four billion
    b"\x81\xa4kind\xdb\xff\xff\xff\xff",     # a string of four billion
    b"\x91" * 1000,                          # a deep nest
    b"\x81\xa4kind\xa3kir",                  # a field is missing
    b"\xc1", b"", b"\x80\x80",
])
def test_bad_bodies_get_an_error(daemon, body):
    with Connection(daemon.socket) as c:
        kind, m = c.ask_raw(4, body)
        assert kind == "error" and m["code"] in (c.code("WIRE_SHORT"), c.code("WIRE_TYPE"), c.code("WIRE_COUNT"), c.code("WIRE_MISSING"))
        assert c.ask("status", {})[0] == "state"


def test_garbage_never_ends_the_daemon(daemon):
    import random
    rng = random.Random(1)
    for _ in range(60):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(daemon.socket))
            s.sendall(rng.randbytes(rng.randrange(1, 300)))
    assert daemon.kiln("status").returncode == 0


def test_digest_first_then_the_body(daemon):
    with Connection(daemon.socket) as c:
        digest = c.digest(MODULE)
        kind, m = c.ask("compile", compile_request(None, digest=digest))
        assert kind == "error" and m["code"] == c.code("NEED_BODY")
        kind, m = c.ask("compile", compile_request())
        assert kind == "artifact" and m["source"] == "compiled"
        fd = c.take_fd()
        assert os.fstat(fd).st_size == m["size"]
        with pytest.raises(OSError):  # sealed
            os.write(fd, b"x")
        os.close(fd)
        kind, m = c.ask("compile", compile_request(None, digest=digest))
        assert kind == "artifact" and m["source"] == "memory"
        os.close(c.take_fd())


def test_a_wrong_digest_is_refused(daemon):
    with Connection(daemon.socket) as c:
        kind, m = c.ask("compile", compile_request(digest=b"\0" * 32))
        assert kind == "error" and m["code"] == c.code("DIGEST")


def test_bytes_inline_on_request(daemon):
    with Connection(daemon.socket) as c:
        kind, m = c.ask("compile", compile_request(want_inline=True))
        assert kind == "artifact" and m["blob"][:4] == b"\x7fELF" and len(m["blob"]) == m["size"]


def test_lookup_of_many(daemon):
    with Connection(daemon.socket) as c:
        c.ask("compile", compile_request(want_inline=True))
        queries = [compile_request(None, digest=c.digest(MODULE)), compile_request(None, digest=b"\1" * 32)]
        kind, m = c.ask("lookup", {"queries": queries})
        assert kind == "found" and [h["known"] for h in m["hits"]] == [True, False], m
        kind, m = c.ask("get", {"key": m["hits"][0]["key"], "want_inline": True})
        assert kind == "artifact" and m["blob"][:4] == b"\x7fELF"


def test_many_requests_in_flight_on_one_connection(daemon):
    with Connection(daemon.socket) as c:
        ids = {}
        for i in range(40):
            body = MODULE.replace(b"2.0", b"%d.0" % (i + 3))
            ids[c.send("compile", compile_request(body, want_inline=True))] = i
        ids[c.send("status", {})] = "status"
        seen = {}
        while len(seen) < 41:
            kind, m = c.receive()
            seen[c.last_id] = kind
        assert seen == {i: "state" if what == "status" else "artifact" for i, what in ids.items()}
        assert daemon.stats()["compiles"] == 40


def test_one_flight_for_sixty_four_processes(daemon):
    script = daemon.folder / "one.py"
    script.write_text("import kilnjit, sys\n@kilnjit.njit\ndef f(a):\n    return a * 3 + 1\nsys.stdin.read(1)\nassert f(4) == 13\n")
    import sys
    clients = [subprocess.Popen([sys.executable, script], env=daemon.env, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(64)]
    for p in clients:
        p.stdin.write(b"x")
        p.stdin.flush()
    for p in clients:
        _, err = p.communicate(timeout=200)
        assert p.returncode == 0, err.decode()
    stats = daemon.stats()
    assert stats["compiles"] == 1
    assert stats["hits_memory"] + stats["coalesced"] >= 63


def test_waiter_that_leaves_cancels_only_itself():
    with rig.Daemon(workers=1) as daemon, Connection(daemon.socket) as a, Connection(daemon.socket) as b:
        request = compile_request(slow_module(400), "float64(float64)", want_inline=True)
        first = a.send("compile", request)
        second = b.send("compile", request)
        a.ask("cancel", {"request": first}, expect=2)
        kind, m = b.receive(timeout=120)
        assert b.last_id == second and kind == "artifact", m
        assert daemon.stats()["compiles"] == 1


def find_busy_worker(daemon, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        busy = [w["pid"] for w in daemon.kiln_json("status")["workers"] if w["state"] == "busy"]
        if busy:
            return busy[0]
    raise AssertionError("no worker became busy")


def test_killed_worker_is_an_error_and_the_next_request_finds_another(daemon):
    with Connection(daemon.socket) as c:
        c.send("compile", compile_request(slow_module(3000)))
        os.kill(find_busy_worker(daemon), signal.SIGKILL)
        kind, m = c.receive(timeout=60)
        assert kind == "error" and m["code"] == c.code("WORKER_DIED") and "signal 9" in m["message"]
        kind, m = c.ask("compile", compile_request(want_inline=True), timeout=60)
        assert kind == "artifact"
        assert daemon.stats()["worker_deaths"] == 1


def test_hanging_worker_meets_the_deadline():
    with rig.Daemon("--deadline", 1) as daemon, Connection(daemon.socket) as c:
        c.send("compile", compile_request(slow_module(3000)))
        os.kill(find_busy_worker(daemon), signal.SIGSTOP)
        kind, m = c.receive(timeout=60)
        assert kind == "error" and m["code"] == c.code("WORKER_TIME") and "1 s" in m["message"]
        kind, m = c.ask("compile", compile_request(want_inline=True), timeout=60)
        assert kind == "artifact"


def test_deadline_of_a_request(daemon):
    with Connection(daemon.socket) as c:
        c.send("compile", compile_request(slow_module(3000), deadline_ms=300))
        os.kill(find_busy_worker(daemon), signal.SIGSTOP)
        kind, m = c.receive(timeout=60)
        assert kind == "error" and m["code"] == c.code("TIMEOUT")
        kind, m = c.ask("compile", compile_request(want_inline=True), timeout=60)
        assert kind == "artifact"


@pytest.mark.skipif(rig.SANITIZED, reason="sanitizers' memory does not fit a limit")
def test_memory_limit_of_a_worker():
    with rig.Daemon("--worker-memory", "96M") as daemon, Connection(daemon.socket) as c:
        c.send("compile", compile_request(MODULE + b";" + b"x" * (50 << 20)))
        kind, m = c.receive(timeout=100)
        assert kind == "error" and m["code"] == c.code("WORKER_MEMORY") and "96 MiB" in m["message"], m
        kind, m = c.ask("compile", compile_request(want_inline=True), timeout=60)
        assert kind == "artifact"


def test_full_queue_is_busy():
    with rig.Daemon("--queue", 2) as daemon, Connection(daemon.socket) as c:
        c.send("compile", compile_request(slow_module(3000)))
        pid = find_busy_worker(daemon)
        os.kill(pid, signal.SIGSTOP)
        for i in range(6):
            c.send("compile", compile_request(MODULE.replace(b"2.0", b"%d.0" % (i + 5)), want_inline=True))
        busy = [c.receive(timeout=30) for _ in range(4)]
        assert all(kind == "error" and m["code"] == c.code("BUSY") and m["retry_ms"] > 0 for kind, m in busy)
        os.kill(pid, signal.SIGCONT)
        assert daemon.stats()["busy"] == 4


def test_sigterm_finishes_what_runs():
    with rig.Daemon() as daemon, Connection(daemon.socket) as c:
        c.send("compile", compile_request(slow_module(300), want_inline=True))
        find_busy_worker(daemon)
        daemon.process.send_signal(signal.SIGTERM)
        kind, m = c.receive(timeout=60)
        assert kind == "artifact", m
        assert daemon.process.wait(timeout=30) == 0
        assert not daemon.socket.exists()


def test_second_sigterm_stops_at_once():
    with rig.Daemon() as daemon, Connection(daemon.socket) as c:
        c.send("compile", compile_request(slow_module(3000)))
        os.kill(find_busy_worker(daemon), signal.SIGSTOP)
        daemon.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(timeout=10) == 0


def test_restart_keeps_the_cache():
    with rig.Daemon() as daemon:
        with Connection(daemon.socket) as c:
            assert c.ask("compile", compile_request(want_inline=True))[1]["source"] == "compiled"
        daemon.end()
        daemon.start()
        with Connection(daemon.socket) as c:
            assert c.ask("compile", compile_request(want_inline=True))[1]["source"] == "disk"
        stats = daemon.stats()
        assert stats["compiles"] == 0 and stats["hits_disk"] == 1 and stats["entries"] == 1


def test_killed_daemon_loses_nothing_committed():
    with rig.Daemon() as daemon:
        for _ in range(3):
            with Connection(daemon.socket) as c:
                for i in range(8):
                    c.ask("compile", compile_request(MODULE.replace(b"2.0", b"%d.25" % i), want_inline=True))
            before = len(daemon.kiln_json("ls"))
            daemon.end(signal.SIGKILL)
            daemon.start()
            assert len(daemon.kiln_json("ls")) >= before
        assert daemon.kiln_json("stats")["damaged"] == 0


def test_racing_starts_end_with_one_daemon(tmp_path):
    import json
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    flags = [rig.BIN / "kilnd", "--socket", tmp_path / "s", "--cache-dir", tmp_path / "cache", "--workers", "1"]
    daemons = [subprocess.Popen(flags, env=env, stderr=subprocess.PIPE) for _ in range(8)]
    try:
        losers = []
        end = time.monotonic() + 60
        while len(losers) < 7 and time.monotonic() < end:
            losers = [d for d in daemons if d.poll() is not None]
            time.sleep(0.02)
        assert [d.returncode for d in losers] == [0] * 7
        winner = next(d for d in daemons if d.poll() is None)
        with Connection(tmp_path / "s") as c:
            assert c.ask("status", {})[1]["pid"] == winner.pid
        assert json.dumps(losers[0].stderr.read().decode())
    finally:
        for d in daemons:
            if d.poll() is None:
                d.terminate()
            d.wait(timeout=30)


def test_socket_activation(tmp_path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "activated"))
    listener.listen()
    pid = os.fork()
    if pid == 0:
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        os.execv(rig.BIN / "kilnd", ["kilnd", "--cache-dir", str(tmp_path / "cache"), "--workers", "1"])
    try:
        listener.close()
        with Connection(tmp_path / "activated") as c:
            kind, m = c.ask("status", {}, timeout=60)
            assert m["pid"] == pid and m["socket"] == str(tmp_path / "activated")
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
    assert (tmp_path / "activated").exists()  # systemd's, not the daemon's to remove


def test_stale_socket_of_a_dead_daemon_is_replaced():
    with rig.Daemon() as daemon:
        daemon.end(signal.SIGKILL)
        assert daemon.socket.exists()
        daemon.start()
        assert daemon.kiln("status").returncode == 0


def test_long_socket_path_is_an_error_that_says_so(tmp_path):
    done = subprocess.run([rig.BIN / "kilnd", "--socket", tmp_path / ("x" * 120)], capture_output=True, text=True, timeout=30)
    assert done.returncode == 78 and "107" in done.stderr


def test_idle_exit():
    with rig.Daemon("--idle-exit", 1) as daemon:
        assert daemon.process.wait(timeout=20) == 0


def test_help_lists_every_flag():
    text = subprocess.run([rig.BIN / "kilnd", "--help"], capture_output=True, text=True, check=True).stdout
    import re
    rows = re.findall(r"^X\((\w+)", (rig.ROOT / "daemon/server/settings.def").read_text(), re.M)
    for name in rows:
        assert "--" + name.replace("_", "-") in text


def test_configuration_file(tmp_path):
    good = tmp_path / "kilnd.conf"
    good.write_text("workers = 3\ncache-bytes = 100M\n[kilnd]\nlog-level = debug\n")
    with rig.Daemon("--config", good) as daemon:  # the flag --workers 1 wins
        assert len(daemon.workers_pids()) == 1
    bad = tmp_path / "bad.conf"
    bad.write_text("workers = 3\nwrokers = 4\n")
    done = subprocess.run([rig.BIN / "kilnd", "--config", bad], capture_output=True, text=True, timeout=30)
    assert done.returncode == 78 and "line 2" in done.stderr and "wrokers" in done.stderr


def test_workers_are_direct_children(daemon):
    for pid in daemon.workers_pids():
        assert int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) == daemon.pid


@pytest.mark.skipif(rig.SANITIZED, reason="sanitizers need memory of their own")
def test_idle_daemon_is_small(daemon):
    assert daemon.kiln_json("status")["rss"] < 20 << 20


def test_socket_is_for_its_user(daemon):
    assert stat.S_IMODE(os.stat(daemon.socket).st_mode) & 0o077 == 0


def test_unwritable_cache_directory_serves_from_memory(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("not a directory")
    with rig.Daemon("--cache-dir", blocker) as daemon, Connection(daemon.socket) as c:
        assert c.ask("compile", compile_request(want_inline=True))[1]["source"] == "compiled"
        assert c.ask("compile", compile_request(want_inline=True))[1]["source"] == "memory"
        assert daemon.kiln_json("status")["notice"]


def test_slow_reader_is_cut_off_not_waited_for(daemon):
    with Connection(daemon.socket) as slow:
        slow.ask("compile", compile_request(want_inline=True))
        stop = threading.Event()

        def flood():
            try:
                for _ in range(100000):
                    if stop.is_set():
                        break
                    slow.send("compile", compile_request(want_inline=True))
            except OSError:
                pass
        t = threading.Thread(target=flood)
        t.start()
        try:
            for _ in range(20):
                assert daemon.kiln("status").returncode == 0  # others are served
        finally:
            stop.set()
            slow.socket.shutdown(socket.SHUT_RDWR)
            t.join(timeout=60)


def test_same_key_same_bytes(tmp_path):
    """Two workers of two daemons make the same artifact of a function, bit for bit."""
    script = ("import sys\nimport numpy as np\nfrom kilnjit import njit\n@njit\ndef f(a, b):\n    c = np.zeros(len(a))\n    for i in range(len(a)):\n"
              "        c[i] = a[i] ** b if a[i] > 0 else np.sin(a[i]) // 2\n    return c, c.sum()\nf(np.ones(5), 3)\n"
              "(s,) = f.specializations\nopen(sys.argv[1], 'wb').write(s.artifact.key + s.artifact.bytes())\n")
    made = []
    for name in ("a", "b"):
        with rig.Daemon() as daemon:
            daemon.python(script, tmp_path / name)
            made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]


def test_workers_are_replaced_after_many_jobs():
    with rig.Daemon("--worker-jobs", 3) as daemon, Connection(daemon.socket) as c:
        first = daemon.workers_pids()
        for i in range(8):
            kind, m = c.ask("compile", compile_request(MODULE.replace(b"2.0", b"%d.5" % i), want_inline=True))
            assert kind == "artifact", m
        stats = daemon.stats()
        assert stats["workers_recycled"] == 2 and stats["worker_deaths"] == 0
        assert daemon.workers_pids() != first
