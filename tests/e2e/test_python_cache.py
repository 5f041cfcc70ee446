# SPDX-License-Identifier: Apache-2.0
"""What the cache promises to people who write Python: content decides, nothing else. Each test starts processes of its
own and counts compiles."""
import os
import signal
import subprocess
import sys
import time

import pytest

import rig

SUM = """
import numpy as np
from kilnjit import njit

@njit
def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s

print(total(np.arange(5.0)))
"""


def out(daemon, script, *arguments, **keywords):
    return daemon.python(script, *arguments, **keywords).stdout.split()


def test_second_process_has_it_for_free(daemon):
    assert out(daemon, SUM) == ["10.0"]
    assert out(daemon, SUM) == ["10.0"]
    assert daemon.stats()["compiles"] == 1


def test_comments_formatting_and_names_do_not_matter(daemon):
    out(daemon, SUM)
    other = SUM.replace("s += a[i]", "accumulated = accumulated + 0 * 0 if False else accumulated").replace("s = 0.0", "s = 0.0  # start")
    other = SUM.replace("    s = 0.0", "    # a comment\n    acc   =   0.0").replace("s += a[i]", "acc += (a[i])").replace("return s", "\n    return acc")
    assert out(daemon, other) == ["10.0"]
    assert daemon.stats()["compiles"] == 1


def test_a_constant_does(daemon):
    out(daemon, SUM)
    assert out(daemon, SUM.replace("0.0\n", "1.0\n", 1)) == ["11.0"]
    assert daemon.stats()["compiles"] == 2


def test_same_bytes_with_a_new_time_stamp(daemon):  # T-11
    path = daemon.folder / "again.py"
    path.write_text(SUM)
    out(daemon, path)
    path.write_text(SUM)
    os.utime(path, (1, 1))
    out(daemon, path)
    assert daemon.stats()["compiles"] == 1


def test_one_function_of_ten_changed(daemon):  # T-13
    def module(constant):
        functions = "\n".join(f"@njit\ndef f{i}(x):\n    return x * {i} + {constant if i == 4 else 1}\n" for i in range(10))
        return f"from kilnjit import njit\n{functions}\nprint(sum(f(1.0) for f in [{', '.join(f'f{i}' for i in range(10))}]))\n"
    out(daemon, module(1))
    assert daemon.stats()["compiles"] == 10
    out(daemon, module(7))
    assert daemon.stats()["compiles"] == 11


A = """
import numpy as np
from kilnjit import njit
import b

@njit
def kernel(x):
    out = np.empty(len(x), dtype=np.int64)
    for i in range(len(x)):
        out[i] = x[i] + b.helper()
    return out

print(*kernel(np.arange(2)))
"""


@pytest.mark.parametrize("middle", ["", "def helper():\n    return inner()\n"])
def test_callee_in_another_file_changed(daemon, middle):  # T-05
    main = daemon.folder / "a.py"
    main.write_text(A)
    for value, expected in ((1, ["1", "2"]), (2, ["2", "3"])):
        name = "inner" if middle else "helper"
        (daemon.folder / "c.py").write_text(f"def {name}():\n    return {value}\n")
        (daemon.folder / "b.py").write_text(f"from c import {name}\n{middle}")
        assert out(daemon, main, env={"PYTHONDONTWRITEBYTECODE": "1"}) == expected


def test_closures_that_capture_other_functions(daemon):  # T-01
    script = """
from kilnjit import njit

def make(inner):
    @njit
    def outer(x):
        return inner(x)
    return outer

@njit
def f(x):
    return x + 1000

@njit
def g(x):
    return x + 2000

print(make(f)(10), make(g)(10))
"""
    assert out(daemon, script) == ["1010", "2010"]
    assert out(daemon, script) == ["1010", "2010"]
    assert daemon.stats()["compiles"] == 2


def test_exec_without_a_name(daemon):  # T-03
    script = """
import kilnjit
space = {"njit": kilnjit.njit}
exec("@njit\\ndef f(x):\\n    return x * 2.5\\n", space)
print(space["f"](4.0))
"""
    assert out(daemon, script) == ["10.0"]
    assert out(daemon, script) == ["10.0"]
    assert daemon.stats()["compiles"] == 1


def test_lambdas_of_one_line(daemon):
    script = "from kilnjit import njit\nf, g = njit(lambda x: x + 1), njit(lambda x: x + 2)\nprint(f(1), g(1))\n"
    assert out(daemon, script) == ["2", "3"]
    assert daemon.stats()["compiles"] == 2


def test_globals_are_frozen_until_recompile(daemon):  # T-07
    script = """
from kilnjit import njit
factor = 2

@njit
def f(x):
    return x * factor

print(f(10))
factor = 3
print(f(10))
f.recompile()
print(f(10))
"""
    assert out(daemon, script) == ["20", "20", "30"]


def test_source_that_changed_since_it_was_loaded_is_refused(daemon):
    script = """
import pathlib, sys
from kilnjit import njit
import loaded

pathlib.Path(loaded.__file__).write_text("def f(x):\\n    return x + 2\\n")
try:
    njit(loaded.f)(1)
except Exception as e:
    print(type(e).__name__)
"""
    (daemon.folder / "loaded.py").write_text("def f(x):\n    return x + 1\n")
    assert out(daemon, script) == ["KilnSourceError"]


def test_captured_array_is_live_and_its_content_not_in_the_key(daemon):
    script = """
import sys
import numpy as np
from kilnjit import njit
table = np.full(3, float(sys.argv[1]))

@njit
def f(i):
    return table[i] * 2

print(f(1))
table[1] = 50.0
print(f(1))
"""
    assert out(daemon, script, 4) == ["8.0", "100.0"]
    assert out(daemon, script, 5) == ["10.0", "100.0"]
    assert daemon.stats()["compiles"] == 1


def test_three_hundred_functions_hit_on_the_second_run(daemon):  # T-101
    script = "from kilnjit import njit\n" + "\n".join(f"@njit\ndef f{i}(x):\n    return x * {i}.5\nf{i}(1.0)" for i in range(60))
    daemon.python(script)
    before = daemon.stats()
    assert before["compiles"] == 60
    unrelated = {f"UNRELATED_{i}": str(i) for i in range(50)}
    daemon.python(script, env=unrelated)
    after = daemon.stats()
    assert after["compiles"] == 60 and after["hits_memory"] - before["hits_memory"] == 60


NOTEBOOK_CELLS = ["import numpy as np\nfrom kilnjit import njit",
                  "@njit\ndef scaled(a):\n    # {comment}\n    s = 0.0\n    for x in a:\n        s += x * {constant}\n    return s",
                  "print(scaled(np.ones(4)))"]


def test_notebook_in_two_kernels(daemon):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")

    def run(comment, constant):
        cells = [nbformat.v4.new_code_cell(c.replace("{comment}", comment).replace("{constant}", constant)) for c in NOTEBOOK_CELLS]
        book = nbformat.v4.new_notebook(cells=cells)
        book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        old = {k: os.environ.get(k) for k in ("KILN_SOCKET", "KILN_CACHE_DIR", "PYTHONPATH", "JUPYTER_PATH")}
        share = daemon.folder / "jupyter" / "kernels" / "python3"
        share.mkdir(parents=True, exist_ok=True)
        (share / "kernel.json").write_text('{"argv": ["%s", "-m", "ipykernel_launcher", "-f", "{connection_file}"], '
                                           '"display_name": "Python 3", "language": "python"}' % sys.executable)
        os.environ.update({k: daemon.env[k] for k in ("KILN_SOCKET", "KILN_CACHE_DIR", "PYTHONPATH")}, JUPYTER_PATH=str(share.parents[1]))
        try:
            nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
        finally:
            for k, v in old.items():
                os.environ.pop(k, None)
                if v is not None:
                    os.environ[k] = v
        return book.cells[2].outputs[0].text.strip()

    assert run("first", "2.0") == "8.0"
    assert run("first", "2.0") == "8.0"  # another kernel
    assert daemon.stats()["compiles"] == 1
    assert run("first", "3.0") == "12.0"
    assert daemon.stats()["compiles"] == 2
    assert run("another comment", "3.0") == "12.0"
    assert daemon.stats()["compiles"] == 2


def test_interrupt_during_a_compile(daemon):  # T-43
    script = """
import os, signal, sys, time
from kilnjit import njit

@njit
def f(x):
    return x + 1

print("ready", flush=True)
sys.stdin.readline()
begin = time.monotonic()
try:
    f(1)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - float(sys.stdin.readline()) < 5, flush=True)
print(f(1))
"""
    path = daemon.folder / "interrupt.py"
    path.write_text(script)
    worker = daemon.workers_pids()[0]
    os.kill(worker, signal.SIGSTOP)  # the compile can't end by itself
    p = subprocess.Popen([sys.executable, path], env=daemon.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert p.stdout.readline() == "ready\n"
        p.stdin.write("go\n")
        p.stdin.flush()
        end = time.monotonic() + 30
        while daemon.stats()["compiles"] == 0 and time.monotonic() < end:
            pass
        p.send_signal(signal.SIGINT)
        sent = time.monotonic()
        p.stdin.write(f"{sent}\n")
        p.stdin.flush()
        assert p.stdout.readline().startswith("interrupted True")
    finally:
        os.kill(worker, signal.SIGCONT)
    assert p.stdout.readline() == "2\n"
    assert p.wait(timeout=60) == 0


def test_client_starts_a_daemon_and_races_end_with_one(tmp_path):
    env = {k: v for k, v in os.environ.items() if not k.startswith("KILN_")}
    env.update(XDG_RUNTIME_DIR=str(tmp_path / "run"), XDG_CACHE_HOME=str(tmp_path / "cache"), PYTHONPATH=rig.PYTHONPATH,
               KILN_DAEMON=str(rig.BIN / "kilnd"), HOME=str(tmp_path))
    (tmp_path / "run").mkdir(mode=0o700)
    path = tmp_path / "s.py"
    path.write_text(SUM)
    clients = [subprocess.Popen([sys.executable, path], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(6)]
    results = [c.communicate(timeout=120) for c in clients]
    assert all(o == b"10.0\n" for o, _ in results), results
    kiln = lambda *a: subprocess.run([rig.BIN / "kiln", *a], env=env, capture_output=True, text=True)  # noqa: E731
    import json
    stats = json.loads(kiln("stats", "--json").stdout)
    assert stats["compiles"] == 1 and stats["connections"] >= 6
    assert kiln("stop").returncode == 0


def test_fallback_to_python_with_one_warning(tmp_path):
    env = {k: v for k, v in os.environ.items() if not k.startswith("KILN_")}
    env.update(KILN_SOCKET=str(tmp_path / "nobody"), PYTHONPATH=rig.PYTHONPATH, KILN_DAEMON="/nonexistent/kilnd")
    path = tmp_path / "s.py"
    path.write_text(SUM + "\n@njit\ndef other(x):\n    return x\nprint(other(3))\n")
    run = lambda **more: subprocess.run([sys.executable, path], env={**env, **more}, capture_output=True, text=True, timeout=100)  # noqa: E731
    fallen = run(KILN_FALLBACK="python")
    assert fallen.stdout.split() == ["10.0", "3"] and fallen.stderr.count("KilnWarning") == 1, fallen.stderr
    failed = run()
    assert failed.returncode != 0 and "KilnConnectError" in failed.stderr


def test_fork_gets_its_own_connection(daemon):
    script = """
import os
from kilnjit import njit

@njit
def f(x):
    return x + 1

@njit
def g(x):
    return x + 2

assert f(1) == 2
pid = os.fork()
assert g(1) == 3 and f(1.5) == 2.5
if pid == 0:
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
print("both")
"""
    assert out(daemon, script) == ["both"]


def test_first_call_from_many_threads_compiles_once(daemon):
    script = """
import threading
from kilnjit import njit

@njit
def f(x):
    return x * 2

results = []
threads = [threading.Thread(target=lambda: results.append(f(21))) for _ in range(16)]
[t.start() for t in threads]
[t.join() for t in threads]
assert results == [42] * 16
print("ok")
"""
    assert out(daemon, script) == ["ok"]
    assert daemon.stats()["compiles"] == 1


def test_client_survives_a_restart_of_the_daemon():
    with rig.Daemon() as daemon:
        script = """
import sys
from kilnjit import njit

@njit
def f(x):
    return x + 1

@njit
def g(x):
    return x + 2

print(f(1), flush=True)
sys.stdin.readline()
print(f(1), g(1))
"""
        path = daemon.folder / "restart.py"
        path.write_text(script)
        p = subprocess.Popen([sys.executable, path], env=daemon.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert p.stdout.readline() == "2\n"
        daemon.end(signal.SIGKILL)
        daemon.start()
        p.stdin.write("\n")
        p.stdin.flush()
        assert p.communicate(timeout=60)[0] == "2 3\n"


def test_pickle_is_by_reference(daemon):
    (daemon.folder / "mod.py").write_text("from kilnjit import njit\n\n@njit\ndef f(x):\n    return x + 1\n")
    assert out(daemon, "import pickle\nimport mod\nassert pickle.loads(pickle.dumps(mod.f)) is mod.f\nprint('same')\n") == ["same"]
