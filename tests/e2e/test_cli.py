# SPDX-License-Identifier: Apache-2.0
"""The `kiln` command against a fresh daemon."""
import ctypes
import json
import os
import pwd
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("KILN_TEST_BUILD", "build/release")
KILN = BUILD / "bin" / "kiln"
COMMANDS = ["status", "stats", "ls", "show", "get", "compile", "purge", "stop"]
ROW = ["key", "entry", "signature", "target", "bytes", "compile_ms", "created", "last_used", "hits", "owner"]
COUNTERS = ("requests hits_memory hits_disk misses coalesced compiles compile_failures worker_deaths bytes entries "
            "seconds_saved uptime_s").split()

KIR = """(kir 1
  (function 0 (params (x normal) (y normal 1))
    (block
      (return (binary + (local 0) (local 1))))))
"""
LLVM = """
define double @hypot2(double %x, double %y) {
  %a = fmul double %x, %x
  %b = fmul double %y, %y
  %s = fadd double %a, %b
  ret double %s
}
"""


class Daemon:
    """A kilnd of its own, and the command line pointed at it."""

    def __init__(self, folder):
        self.folder = folder
        self.socket = folder / "kilnd.sock"
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(str(folder / "notify"))
        notify.settimeout(30)
        self.process = subprocess.Popen(
            [BUILD / "bin" / "kilnd", "--socket", self.socket, "--cache-dir", folder / "cache", "--workers", "1"],
            env={**os.environ, "NOTIFY_SOCKET": str(folder / "notify")}, stderr=open(folder / "log", "wb"))
        while b"READY=1" not in notify.recv(4096):
            pass
        notify.close()

    def run(self, *arguments, status=0, text=True, cwd=None, stdin=None):
        done = subprocess.run([KILN, *arguments], capture_output=True, text=text, cwd=cwd or self.folder, input=stdin,
                              env={**os.environ, "KILN_SOCKET": str(self.socket)}, timeout=60)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json").stdout)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    daemon = Daemon(tmp_path_factory.mktemp("cli"))
    yield daemon
    daemon.stop()


@pytest.fixture
def fresh(tmp_path):
    daemon = Daemon(tmp_path)
    yield daemon
    daemon.stop()


@pytest.fixture
def daemon(shared):
    """The shared daemon with an empty cache."""
    shared.run("purge", "--all")
    (shared.folder / "add.kir").write_text(KIR)
    (shared.folder / "hypot.ll").write_text(LLVM)
    return shared


# -- without a daemon


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_every_option(command):
    done = subprocess.run([KILN, command, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith(f"usage: kiln {command}")
    source = (ROOT / "client" / "cli" / f"{command}.c").read_text()
    for option in re.findall(r'\{ "([a-z-]+)", (?:no|required)_argument', source):
        assert option == "output" or f"--{option}" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_page_has_a_section(command):
    assert f"\n## kiln {command}\n" in (ROOT / "docs" / "cli.md").read_text()


def test_page_has_every_exit_status():
    page = (ROOT / "docs" / "cli.md").read_text()
    rows = re.findall(r'^X\(\w+, +\d+, +"\w+", +(\d+),', (ROOT / "proto" / "base" / "err.def").read_text(), flags=re.M)
    for status in set(rows):
        assert re.search(rf"^\|[ \d,]*\b{status}\b", page, flags=re.M), status


@pytest.mark.parametrize("arguments", [
    [], ["frob"], ["--frob"], ["ls", "--frob"], ["ls", "extra"], ["ls", "--limit", "0"], ["show"], ["show", "12"],
    ["show", "nothexadecimal"], ["get"], ["purge"], ["purge", "--unused", "soon"], ["compile"], ["compile", "f.kir"],
    ["compile", "f.kir", "--sig", "()", "--emit", "exe"], ["compile", "f.kir", "--sig", "()", "--semantics", "perl"],
    ["compile", "f.kir", "--sig", "()", "--flags", "odd"], ["status", "--socket"], ["--socket"],
])
def test_wrong_arguments(arguments):
    done = subprocess.run([KILN, *arguments], capture_output=True, text=True)
    assert done.returncode == 64
    assert done.stderr.startswith(("kiln", "usage")) and not done.stdout


def test_no_daemon(tmp_path):
    for command in ["status", "stats", "ls", "stop"]:
        done = subprocess.run([KILN, command, "--socket", tmp_path / "none.sock"], capture_output=True, text=True)
        assert done.returncode == 69
        assert "none.sock" in done.stderr


# -- with one


def test_status(daemon):
    state = daemon.json("status")
    assert state["pid"] == daemon.process.pid
    assert state["socket"] == str(daemon.socket)
    assert len(state["workers"]) == 1
    human = daemon.run("status").stdout
    assert f"pid {daemon.process.pid}" in human and str(daemon.socket) in human and "\033" not in human


def test_stats(daemon):
    before = daemon.json("stats")
    assert set(COUNTERS) <= set(before)
    assert all(isinstance(v, (int, float)) for v in before.values())
    daemon.run("compile", "add.kir", "--sig", "(int64, int64)", "-o", "stats.so")
    daemon.run("compile", "add.kir", "--sig", "(int64, int64)", "-o", "stats.so")
    after = daemon.json("stats")
    assert after["compiles"] == before["compiles"] + 1
    assert after["hits_memory"] == before["hits_memory"] + 1
    assert after["entries"] == 1 and after["bytes"] > 0
    assert re.search(r"^compiles +\d+$", daemon.run("stats").stdout, flags=re.M)


def test_compile_and_list(daemon):
    made = daemon.json("compile", "add.kir", "--sig", "(f8, f8)", "--entry", "add", "-o", "add.so")
    assert made["source"] == "compiled" and made["file"] == "add.so"
    assert (daemon.folder / "add.so").read_bytes()[:4] == b"\x7fELF"
    rows = daemon.json("ls")
    assert len(rows) == 1
    assert set(ROW) <= set(rows[0])
    assert rows[0]["key"] == made["key"] and rows[0]["entry"] == "add"
    assert rows[0]["signature"] == "(float64, float64)"
    assert rows[0]["owner"] == os.getuid() and rows[0]["bytes"] == made["bytes"]
    again = daemon.json("compile", "add.kir", "--sig", "float64,float64", "--entry", "add", "-o", "add.so")
    assert again["source"] == "memory" and again["key"] == made["key"]
    human = daemon.run("ls").stdout.splitlines()
    assert human[0].split() == ["KEY", "ENTRY", "SIGNATURE", "TARGET", "SIZE", "COMPILE", "HITS", "USED", "OWNER"]
    assert human[1].startswith(made["key"][:12]) and "add" in human[1]
    assert human[1].split()[-1] == pwd.getpwuid(os.getuid()).pw_name
    assert daemon.json("ls", "--entry", "nothing") == []
    assert len(daemon.json("ls", "--entry", "ad")) == 1


def test_show_and_get(daemon):
    made = daemon.json("compile", "add.kir", "--sig", "(f8, f8)", "-o", "add.so")
    shown = daemon.json("show", made["key"][:10])
    assert set(ROW) <= set(shown)
    assert shown["key"] == made["key"]
    assert shown["ir"] == KIR, "the owner sees the IR as text"
    assert isinstance(shown["manifest"], dict) and shown["manifest"]
    assert shown["options"] is not None
    human = daemon.run("show", made["key"]).stdout
    assert "manifest" in human and "(binary + (local 0) (local 1))" in human
    daemon.run("get", made["key"][:12], "-o", "got.so")
    assert (daemon.folder / "got.so").read_bytes() == (daemon.folder / "add.so").read_bytes()
    raw = daemon.run("get", made["key"], "-o", "-", text=False).stdout
    assert raw == (daemon.folder / "add.so").read_bytes()
    named = daemon.run("get", made["key"]).stdout.strip()
    assert (daemon.folder / named).exists()
    assert "no entry" in daemon.run("show", "00" * 8, status=66).stderr
    daemon.run("get", "00" * 32, "-o", "none", status=66)


def test_binary_kir_is_the_same_entry(daemon):
    text = daemon.json("compile", "add.kir", "--sig", "(i8, i8)", "-o", "a.so")
    data = bytes.fromhex("96a34b49520100919204019091969293a178020093a1790201020000059d02000201080100012a03200103")
    (daemon.folder / "binary.kir").write_bytes(data)
    binary = daemon.json("compile", "binary.kir", "--sig", "(i8, i8)", "-o", "b.so")
    assert binary["key"] == text["key"] and binary["source"] == "memory"
    stdin = daemon.run("compile", "-", "--sig", "(i8, i8)", "-o", "c.so", "--json", text=False, stdin=data)
    assert json.loads(stdin.stdout)["key"] == text["key"]


@pytest.mark.parametrize("form,mark", [("so", b"\x7fELF"), ("obj", b"\x7fELF"), ("asm", b".text"),
                                       ("llvm", b"define "), ("llvm-opt", b"define "), ("typed", b"float64")])
def test_forms(daemon, form, mark):
    out = daemon.run("compile", "add.kir", "--sig", "(f8, f8)", "--emit", form, "-o", "-", text=False).stdout
    assert mark in out


def test_default_output(daemon, tmp_path):
    (tmp_path / "thing.kir").write_text(KIR)
    daemon.run("compile", "thing.kir", "--sig", "(f8, f8)", cwd=tmp_path)
    daemon.run("compile", "thing.kir", "--sig", "(f8, f8)", "--emit", "asm", cwd=tmp_path)
    assert {p.name for p in tmp_path.iterdir()} >= {"thing.kir", "thing.so", "thing.s"}


def test_foreign_llvm_runs(daemon):
    daemon.run("compile", "hypot.ll", "--entry", "hypot2", "--sig", "f8(f8, f8)", "--symbol", "hypot2", "-o", "h.so")
    function = ctypes.CDLL(str(daemon.folder / "h.so")).hypot2
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 2
    assert function(3.0, 4.0) == 25.0


def test_options_are_in_the_key(daemon):
    base = ["compile", "add.kir", "--sig", "(f8, f8)", "-o", "o.so"]
    variants = [[], ["--fastmath"], ["--flags", "nnan"], ["--checked"], ["--semantics", "numba"], ["--debug"],
                ["--no-contract"], ["--symbol", "s"]]
    keys = [daemon.json(*base, *v)["key"] for v in variants]
    assert len(set(keys)) == len(keys)
    assert daemon.json(*base, "--semantics", "python")["key"] == keys[0]


def test_type_error_shows_the_line(daemon):
    (daemon.folder / "wrong.kir").write_text(KIR)
    done = daemon.run("compile", "wrong.kir", "--sig", "(Tuple((i8, i8)), f8)", status=65)
    assert re.search(r"^wrong.kir:4:15: ", done.stderr, flags=re.M)
    lines = done.stderr.splitlines()
    caret = next(i for i, line in enumerate(lines) if line.strip() == "^")
    assert lines[caret - 1].strip() == "(return (binary + (local 0) (local 1))))))"
    assert lines[caret - 1][lines[caret].index("^"):].startswith("(binary")
    assert sum("wrong.kir" in line for line in lines) == 1, "said once"


@pytest.mark.parametrize("name,content,arguments,status,message", [
    ("bad.kir", "(kir 1\n  (functio", ["--sig", "()"], 65, "bad.kir: line 2, column 4"),
    ("bad.kir", KIR, ["--sig", "(flaot64)"], 65, "did you mean 'float64'?"),
    ("bad.kir", KIR, ["--sig", "(f8, f8)", "--target", "z80"], 65, "z80"),
    ("bad.ll", "define double @f(", ["--entry", "f", "--sig", "f8()"], 65, "bad.ll"),
    ("bad.ll", LLVM, ["--entry", "other", "--sig", "f8(f8, f8)"], 65, "other"),
    ("bad.ll", LLVM, ["--sig", "f8(f8, f8)"], 64, "--entry"),
    ("bad.kir", "", ["--sig", "()"], 64, "empty"),
])
def test_bad_input(daemon, name, content, arguments, status, message):
    (daemon.folder / name).write_text(content)
    done = daemon.run("compile", name, *arguments, "-o", "bad.so", status=status)
    assert message in done.stderr
    assert not (daemon.folder / "bad.so").exists()


def test_files_that_fail(daemon):
    assert "nothing.kir" in daemon.run("compile", "nothing.kir", "--sig", "()", status=74).stderr
    daemon.run("compile", "add.kir", "--sig", "(f8, f8)", "-o", "no/such/folder.so", status=74)


def test_purge(daemon):
    keys = [daemon.json("compile", "add.kir", "--sig", s, "--entry", e, "-o", "p.so")["key"]
            for s, e in [("(f8, f8)", "one"), ("(f4, f4)", "one"), ("(i8, i8)", "two")]]
    dry = daemon.json("purge", "--all", "--dry-run")
    assert dry["entries"] == 3 and dry["bytes"] > 0 and dry["dry_run"] is True
    assert len(daemon.json("ls")) == 3
    assert daemon.json("purge", "--unused", "1h")["entries"] == 0
    assert daemon.json("purge", keys[0][:12])["entries"] == 1
    assert {r["key"] for r in daemon.json("ls")} == set(keys[1:])
    daemon.run("purge", "00" * 8, status=66)
    assert daemon.json("purge", "--entry", "one")["entries"] == 1
    assert "removed 1 entries" in daemon.run("purge", "--all").stdout
    assert daemon.json("ls") == []


def test_stop(fresh):
    fresh.run("stop")
    assert fresh.process.wait(30) == 0
    fresh.run("status", status=69)


def test_stop_now(fresh):
    fresh.run("stop", "--now")
    assert fresh.process.wait(30) == 0
