# SPDX-License-Identifier: Apache-2.0
"""Daemons and processes for tests: a fresh kilnd each, ready when it says so, ended by its process id."""
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("KILN_TEST_BUILD", "build/release")
BIN = BUILD / "bin"
#: Python clients load the plain extension: the sanitizers want to be loaded before the interpreter
PYTHONPATH = os.environ.get("KILN_TEST_PYTHONPATH", str(ROOT / "build" / "release" / "python"))
SANITIZED = "asan" in str(BUILD)


class Daemon:
    """A running kilnd in a folder of its own. `with Daemon(...)`, or stop()."""

    def __init__(self, *flags, workers=1, folder=None, env=None, wait=True, limits=()):
        self.own = folder is None
        self.folder = Path(folder or tempfile.mkdtemp(prefix="kiln-test-"))
        self.socket, self.cache = self.folder / "kilnd.sock", self.folder / "cache"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("KILN_")}
        self.env.update(KILN_SOCKET=str(self.socket), KILN_CACHE_DIR=str(self.cache), PYTHONPATH=PYTHONPATH, **(env or {}))
        self.flags, self.workers = list(map(str, flags)), workers
        self.limits = list(limits)  # (resource.RLIMIT_..., number) of the daemon
        self.start(wait)

    def start(self, wait=True):
        """Start it and, by the service manager's protocol, wait until it is ready."""
        path = self.folder / "notify"
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(str(path))
            notify.settimeout(60)
            self.log_path = self.folder / "log"
            self.process = subprocess.Popen(
                [BIN / "kilnd", "--socket", self.socket, "--cache-dir", self.cache, "--workers", str(self.workers), *self.flags],
                env={**self.env, "NOTIFY_SOCKET": str(path)}, stderr=open(self.log_path, "ab"), preexec_fn=self.limit if self.limits else None)
            if wait:
                try:
                    assert notify.recv(64).startswith(b"READY=1"), self.log()
                except TimeoutError:
                    self.stop()
                    raise AssertionError(f"kilnd did not become ready:\n{self.log()}") from None

    def limit(self):
        for what, number in self.limits:
            resource.setrlimit(what, (number, number))

    def log(self):
        return self.log_path.read_text(errors="replace")

    @property
    def pid(self):
        return self.process.pid

    def workers_pids(self):
        return [w["pid"] for w in self.kiln_json("status")["workers"]]

    def stop(self, how=signal.SIGTERM):
        """End it and remove its folder; the exit status."""
        status = self.end(how)
        if self.own:
            shutil.rmtree(self.folder, ignore_errors=True)
        return status

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop()

    # -- clients

    def kiln(self, *arguments, **keywords):
        return subprocess.run([BIN / "kiln", *map(str, arguments)], env=self.env, capture_output=True, text=True, timeout=120, **keywords)

    def kiln_json(self, *arguments):
        done = self.kiln(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def stats(self):
        return self.kiln_json("stats")

    def python(self, script, *arguments, check=True, env=None, **keywords):
        """Run a Python program (a path, or text that is written to a file) as a process of its own."""
        if "\n" in str(script):
            path = self.folder / f"script{len(list(self.folder.glob('script*')))}.py"
            path.write_text(script)
            script = path
        done = subprocess.run([sys.executable, script, *map(str, arguments)], env={**self.env, **(env or {})}, capture_output=True,
                              text=True, timeout=300, **keywords)
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done
