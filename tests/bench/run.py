# SPDX-License-Identifier: Apache-2.0
"""`make bench`: ratios measured side by side in one run, each beside its bar. Never fails for being slow.

    tests/bench/run.py [compile] [instructions] [fresh] [hit] [dispatch]

Numba is measured where python3-numba is installed; otherwise its rows are left out, with a word."""
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
import rig  # noqa: E402
from corpus import CORPUS, TWINS  # noqa: E402

NUMBA = subprocess.run([sys.executable, "-c", "import numba"], capture_output=True).returncode == 0
#: this machine's OpenBLAS settings and the like must be the same for both sides
ENV = {k: v for k, v in os.environ.items() if not k.startswith("KILN_")}


def row(what, value, bar, unit="x"):
    met = "" if bar is None else f"   bar {bar:g} {unit}   {'reached' if value <= bar else 'NOT reached'}"
    print(f"  {what:64} {value:8.2f} {unit}{met}", flush=True)


def geomean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def tool(name):
    subprocess.run(["cmake", "--build", rig.BUILD, "--target", name], check=True, capture_output=True)
    return next(p for p in rig.BUILD.rglob(name) if p.is_file() and os.access(p, os.X_OK))


def lines(*command, env=ENV):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, env=env, cwd=HERE).stdout.split()


# -- compiling

def kiln_round(folder=None):
    """({name: client seconds}, {name: worker seconds}) of one cold run."""
    with rig.Daemon(workers=1) as d:
        d.env["PYTHONPATH"] += f":{HERE}"
        client = json.loads(d.python(HERE / "kiln_compile.py", *([folder] if folder else [])).stdout.splitlines()[0])
        rows = d.kiln_json("ls")
        worker = {r["entry"]: r["compile_ms"] / 1e3 for r in rows if r["emit"] == "so"}
        if folder:
            (folder / "target").write_text(rows[0]["target"])
        return client, worker, rows[0]["target"]


def llvm_round(alone, folder):
    """{name: seconds} of LLVM alone on the IR that the first round left in `folder`."""
    words = lines(alone, (folder / "target").read_text(), *(folder / f"{name}.llvm.ll" for name in CORPUS))
    return {Path(path).name.removesuffix(".llvm.ll"): float(us) / 1e6 for path, us in zip(words[::2], words[1::2])}


def best(rounds):
    return {name: min(r[name] for r in rounds) for name in rounds[0]}


def bench_compile(folder):
    print(f"\nCompiling {len(CORPUS)} functions")
    alone, rounds = tool("bench_llvm"), []
    for i in range(4):  # in turn, each compiling every function for the first time
        rounds.append((*kiln_round(None if i else folder), llvm_round(alone, folder)))
    client, worker, llvm = (best([r[k] for r in rounds]) for k in (0, 1, 3))
    row("worker time, beside LLVM alone on the same IR (geometric mean)", geomean([worker[n] / llvm[n] for n in CORPUS]), 1.5)
    row("client time beyond LLVM alone (median)", statistics.median((client[n] - llvm[n]) * 1e3 for n in CORPUS), 4.0, "ms")
    row("LLVM alone (median)", statistics.median(llvm.values()) * 1e3, None, "ms")
    if NUMBA:
        numba = json.loads(" ".join(lines(sys.executable, "numba_compile.py")))
        row("client time beside Numba's compile (geometric mean)", geomean([client[n] / numba[n] for n in CORPUS]), 0.1)


# -- optimized instructions beside clang's

def functions_of(text):
    """name -> number of instructions of each function in textual LLVM IR."""
    found, name = {}, None
    for line in text.splitlines():
        start = re.match(r'define .*@"?([\w.]+)"?\(', line)
        if start:
            name = start[1]
            found[name] = 0
        elif line.startswith("}"):
            name = None
        elif name and re.match(r"\s+(%|store|br|ret|call|tail|switch|unreachable|fence|invoke)", line):
            found[name] += 1
    return found


def bench_instructions(folder):
    march = (folder / "target").read_text()
    print("\nOptimized IR beside clang's for the same C")
    clang = functions_of(subprocess.run(["clang-22", "-O3", "-fno-math-errno", "-ffp-contract=off", f"-march={march}", "-S", "-emit-llvm", "-o", "-",
                                         HERE / "twins.c"], check=True, capture_output=True, text=True).stdout)
    ratios = {}
    for name in TWINS:
        ours = functions_of((folder / f"{name}.llvm-opt.ll").read_text())
        ours = sum(n for f, n in ours.items() if f == f"twin_{name}" or re.match(r"kiln\.f\d", f))
        ratios[name] = ours / clang[name]
    print("  " + "  ".join(f"{n} {r:.2f}" for n, r in sorted(ratios.items(), key=lambda x: x[1])))
    row("instructions (geometric mean)", geomean(ratios.values()), 1.3)
    row("instructions (worst)", max(ratios.values()), 1.3)


# -- a fresh process

def fresh(kind, env):
    runs = [lines(sys.executable, "fresh.py", kind, env=env) for _ in range(6)][1:]
    return min(float(r[0]) for r in runs), min(float(r[1]) for r in runs)


def bench_fresh(folder):
    print("\nA fresh process: import and first call of a cached function, beyond numpy's import")
    with rig.Daemon() as d:
        ours = fresh("kilnjit", d.env)
    row("kilnjit", ours[0] * 1e3, None, "ms")
    if NUMBA:
        numba = fresh("numba", {**ENV, "NUMBA_CACHE_DIR": str(folder / "numba")})
        row("beside Numba's with cache=True", ours[0] / numba[0], 1 / 15)
        row("memory beyond python and numpy, Numba", numba[1] / 1024, None, "MB")
    row("memory beyond python and numpy", ours[1] / 1024, 6.0, "MB")


def bench_hit(folder):
    print("\nA hit in a live process")
    with rig.Daemon() as d:
        runs = [tuple(map(float, lines(tool("bench_hit"), 4000, env=d.env))) for _ in range(3)]
    echo, hit = min(runs, key=lambda r: r[1] / r[0])
    row("round trip beside a bare echo that passes a descriptor", hit / echo, 3.0)
    row("round trip", hit, None, "us")


def bench_dispatch(folder):
    print("\nA call from Python")
    with rig.Daemon() as d:
        ours = list(map(float, lines(sys.executable, "dispatch.py", "kilnjit", env=d.env)))
    for name, ns in zip(("scalar", "array"), ours):
        row(f"{name} argument", ns, None, "ns")
    if NUMBA:
        theirs = list(map(float, lines(sys.executable, "dispatch.py", "numba")))
        for name, a, b in zip(("scalar", "array"), ours, theirs):
            row(f"{name} argument, beside Numba", a / b, 0.6)


BENCHES = {"compile": bench_compile, "instructions": bench_instructions, "fresh": bench_fresh, "hit": bench_hit, "dispatch": bench_dispatch}


def main(names):
    unknown = [n for n in names if n not in BENCHES]
    if unknown:
        sys.exit(f"no such benchmark: {unknown[0]} (there are: {', '.join(BENCHES)})")
    print("Ratios of one run on this machine; single times are noise." + ("" if NUMBA else " python3-numba is not installed: its rows are left out."))
    with tempfile.TemporaryDirectory(prefix="kiln-bench-") as folder:
        folder = Path(folder)
        if "instructions" in names and "compile" not in names:
            kiln_round(folder)
        for name in names or BENCHES:
            BENCHES[name](folder)


if __name__ == "__main__":
    main(sys.argv[1:])
