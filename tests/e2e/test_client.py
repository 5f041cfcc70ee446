# SPDX-License-Identifier: Apache-2.0
"""The extension's Client against a real daemon: signals, threads, forks, losses, eager requests."""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from kilnjit import _kiln

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("KILN_TEST_BUILD", "build/release")
pytestmark = pytest.mark.skipif(not (BUILD / "bin" / "kilnd").exists(), reason="kilnd is not built")


class Daemon:
    def __init__(self, folder, workers=1):
        self.folder, self.socket, self.workers = folder, str(folder / "s"), workers
        self.start()

    def start(self):
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = self.folder / f"notify{time.monotonic_ns()}"
        notify.bind(str(path))
        notify.settimeout(30)
        self.process = subprocess.Popen(
            [BUILD / "bin" / "kilnd", "--socket", self.socket, "--cache-dir", self.folder / "cache", "--workers",
             str(self.workers)], env={**os.environ, "NOTIFY_SOCKET": str(path)}, stderr=subprocess.DEVNULL)
        while b"READY=1" not in notify.recv(4096):
            pass
        notify.close()

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(30)

    def client(self, **options):
        return _kiln.Client(self.socket, start=False, **options)


@pytest.fixture
def daemon(tmp_path):
    d = Daemon(tmp_path)
    yield d
    if d.process.poll() is None:
        d.stop()


def module(name, constant):
    return f"define i64 @{name}(i64 %x) {{ %y = add i64 %x, {constant}\n ret i64 %y }}".encode()


def request(name="f", constant=1, **more):
    return {"kind": "bitcode", "body": module(name, constant), "signature": "int64(int64)", "entry": name, **more}


def call(artifact, value):
    spec = _kiln.Specialization(artifact, params=["int64"], ret="int64")
    return spec(value)


def test_compile_load_call(daemon):
    client = daemon.client()
    first = client.compile(**request(constant=5))
    assert first.source == "compiled" and first.compile_us > 0 and call(first, 10) == 15
    again = client.compile(**request(constant=5))
    assert again.source == "memory" and again.key == first.key and call(again, 10) == 15
    assert first.info["params"] == ["int64"] and first.info["ret"] == "int64"
    stats = client.stats()
    assert stats["compiles"] == 1 and stats["hits_memory"] == 1


def test_bodies_are_made_when_asked_for(daemon):
    client, made = daemon.client(), []

    def body():
        made.append(1)
        return module("f", 7)

    digest = _kiln.digest(module("f", 7))
    for _ in range(2):
        assert call(client.compile(**request(body=body, digest=digest)), 1) == 8
    assert made == [1]
    with pytest.raises(OSError, match="no body"):
        client.compile(**request(body=lambda: (_ for _ in ()).throw(OSError("no body")), digest=bytes(32)))


def test_wrong_requests(daemon):
    client = daemon.client()
    for wrong, error in [({"kind": "fortran"}, ValueError), ({"semantics": "c"}, ValueError), ({"emit": "exe"}, ValueError),
                         ({"digest": b"short"}, ValueError), ({"body": 3}, TypeError), ({"body": b""}, ValueError),
                         ({"env": [3]}, TypeError), ({"nonsense": 1}, TypeError)]:
        with pytest.raises(error):
            client.compile(**request(**wrong))
    with pytest.raises(Exception) as caught:
        client.compile(**request(body=b"this is no module"))
    assert "MODULE_BAD" in str(caught.value) or type(caught.value).__name__ == "KilnModuleError"
    with pytest.raises(Exception):
        client.compile(**request(digest=bytes(32)))  # not the digest of this body


def test_lookup_get_list_show_purge(daemon):
    client = daemon.client()
    artifacts = [client.compile(**request(f"f{i}", i)) for i in range(3)]
    queries = [{**request(f"f{i}", i), "digest": _kiln.digest(module(f"f{i}", i))} for i in range(5)]
    for q in queries:
        q.pop("body")
    hits = client.lookup(queries)
    assert [known for known, _, _ in hits] == [True] * 3 + [False] * 2
    assert [key for _, key, _ in hits[:3]] == [a.key for a in artifacts]
    assert hits[0][2] == artifacts[0].size
    assert client.get(artifacts[1].key).bytes() == artifacts[1].bytes()
    assert client.get(artifacts[1].key, want_inline=True).bytes() == artifacts[1].bytes()
    rows, more = client.list()
    assert {r["entry"] for r in rows} == {"f0", "f1", "f2"} and not more
    assert client.list(entry="f1")[0][0]["key"] == artifacts[1].key
    first, more = client.list(limit=2)
    assert len(first) == 2 and more
    assert client.list(limit=2, after=first[-1]["key"])[0][0]["key"] not in [r["key"] for r in first]
    detail = client.show(artifacts[0].key[:6])
    assert detail["entry"] == "f0" and detail["manifest"] == artifacts[0].manifest and detail["ir"] == module("f0", 0)
    assert client.purge(entry="f0", dry_run=True)[0] == 1
    assert client.purge(keys=[artifacts[0].key])[0] == 1
    assert client.purge(all=True)[0] == 2
    assert client.list() == ([], False)
    with pytest.raises(Exception):
        client.purge()
    with pytest.raises(Exception):
        client.get(artifacts[0].key)


def test_eager_requests_overlap(daemon):
    client = daemon.client()
    pending = [client.submit(**request(f"f{i}", i)) for i in range(20)]
    for i, p in reversed(list(enumerate(pending))):
        assert call(p.result(), 100) == 100 + i
        assert p.done() and p.result() is p.result()
    gone = client.submit(**request("g", 1))
    gone.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        gone.result()
    del pending
    assert client.stats()["compiles"] >= 20


def test_same_request_from_many_threads(daemon):
    client, keys = daemon.client(), []
    threads = [threading.Thread(target=lambda: keys.append(client.compile(**request("same", 3)).key)) for _ in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(keys) == 16 and len(set(keys)) == 1
    stats = client.stats()
    assert stats["compiles"] == 1 and stats["connections"] == 1


def test_many_requests_of_many_threads(daemon):
    client, wrong = daemon.client(), []

    def work(thread):
        for i in range(20):
            constant = thread * 1000 + i % 5
            if call(client.compile(**request(f"t{thread}_{i % 5}", constant)), 1) != constant + 1:
                wrong.append((thread, i))

    threads = [threading.Thread(target=work, args=(t,)) for t in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == [] and client.stats()["compiles"] == 30


def worker_pid(client):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        idle = [w["pid"] for w in client.status()["workers"] if w["state"] == "idle"]
        if idle:
            return idle[0]
        time.sleep(0.01)
    raise AssertionError("no worker came up")


def test_ctrl_c_ends_a_compile_at_once(daemon):
    client = daemon.client()
    pid = worker_pid(client)
    os.kill(pid, signal.SIGSTOP)  # a compile that takes for ever
    sent = []

    def press():
        time.sleep(0.2)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            client.compile(**request("slow", 1))
        took = time.monotonic() - sent[0]
    finally:
        os.kill(pid, signal.SIGCONT)
    thread.join()
    assert took < 0.2
    assert call(client.compile(**request("next", 1)), 1) == 2  # the connection goes on


def test_a_handler_that_does_not_raise(daemon):
    client = daemon.client()
    pid = worker_pid(client)
    os.kill(pid, signal.SIGSTOP)
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: (seen.append(1), os.kill(pid, signal.SIGCONT)))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        assert call(client.compile(**request("patient", 4)), 1) == 5
    finally:
        signal.signal(signal.SIGALRM, before)
        os.kill(pid, signal.SIGCONT)
    assert seen == [1]


def test_forks(daemon):
    client = daemon.client()
    assert call(client.compile(**request("parent", 1)), 1) == 2
    children = []
    for i in range(4):
        child = os.fork()
        if child == 0:
            ok = call(client.compile(**request(f"child{i}", i)), 1) == 1 + i and call(client.compile(**request("parent", 1)), 1) == 2
            os._exit(0 if ok else 1)
        children.append(child)
    assert call(client.compile(**request("parent", 2)), 1) == 3
    assert [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children] == [0] * 4
    assert client.stats()["connections"] == 5


def test_a_fork_while_another_thread_waits(daemon):
    client = daemon.client()
    pid = worker_pid(client)
    os.kill(pid, signal.SIGSTOP)
    results = []
    thread = threading.Thread(target=lambda: results.append(call(client.compile(**request("waiting", 1)), 1)))
    thread.start()
    try:
        while client.status()["queued"] == 0 and not any(w["state"] == "busy" for w in client.status()["workers"]):
            time.sleep(0.01)
        child = os.fork()
        if child == 0:
            os._exit(0 if client.stats()["requests"] > 0 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        os.kill(pid, signal.SIGCONT)
    thread.join()
    assert results == [2]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_restarted_daemon_is_not_noticed(daemon, how):
    client = daemon.client()
    assert client.compile(**request("kept", 9)).source == "compiled"
    while not client.list(entry="kept")[0]:  # written behind the answer; a kill in between loses only work
        time.sleep(0.01)
    daemon.stop(how)
    daemon.start()
    again = client.compile(**request("kept", 9))
    assert again.source == "disk" and call(again, 1) == 10


def test_a_daemon_that_is_gone(daemon):
    client = daemon.client()
    client.stats()
    daemon.stop()
    with pytest.raises(Exception) as caught:
        client.stats()
    assert "no daemon answers" in str(caught.value)


def test_close_and_go_on(daemon):
    client = daemon.client()
    pending = client.submit(**request("f", 2))
    client.close()
    assert call(pending.result(), 1) == 3  # its connection stays until it is done
    del pending
    assert client.stats()["connections"] >= 1


def test_stop(daemon):
    client = daemon.client()
    client.stop()
    assert daemon.process.wait(30) == 0


def test_few_descriptors():
    """In a process with 64 descriptors 200 artifacts can be loaded all the same."""
    script = """
import resource, sys, os
sys.path.insert(0, sys.argv[2])
from kilnjit import _kiln
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
client = _kiln.Client(sys.argv[1], start=False)
kept = []
for i in range(200):
    body = f"define i64 @f(i64 %x) {{ %y = add i64 %x, {i}\\n ret i64 %y }}".encode()
    a = client.compile("bitcode", body, "int64(int64)", entry="f")
    kept.append(_kiln.Specialization(a, params=["int64"], ret="int64"))
assert [s(1) for s in kept] == [i + 1 for i in range(200)]
assert len(os.listdir("/proc/self/fd")) < 40
print("all")
"""
    package = str(Path(_kiln.__file__).parents[1])
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(Path(folder))
        try:
            done = subprocess.run([sys.executable, "-c", script, daemon.socket, package],
                                  capture_output=True, text=True, timeout=120)
        finally:
            daemon.stop()
    assert done.stdout == "all\n", done.stderr
