# SPDX-License-Identifier: Apache-2.0
"""Numba's own tests (Debian's python3-numba) against Kiln, beside what the real Numba passes.

    run.py [MODULE ...] [--update] [--real] [--jobs N] [--junit-xml FILE] [--json FILE] [--verbose]

Without modules: those of files.txt. passes/MODULE.txt has the tests that pass; one of them that doesn't is a failure, and
the exit status says so. --update adds new passes (and, with --drop, takes out what fails). --real runs the real Numba and
rewrites real.txt. skip.txt has tests left out, with the reason. Outcomes: passed, failed, skipped, and idle: nothing that
the test compiled was Kiln's (object mode, tests of Numba's inner parts), so that passing says nothing.

Each module runs in a process of its own with 3 GB of address space; a process that dies or hangs costs the test that it
was in, and goes on behind it."""
import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import rig  # noqa: E402

OUTCOMES = ("passed", "failed", "skipped", "idle")
TEST_SECONDS, FILE_SECONDS, RESTARTS = 20, 150, 12
REAL_SECONDS, REAL_FILE_SECONDS = 120, 1200
TOTAL_SECONDS = 840


#: set when this program is told to end: the processes that it started go first
stopped = []


def lines(path):
    """Lines of a table without comments."""
    text = path.read_text() if path.exists() else ""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def listed():
    """{module: one of how many tests} of files.txt: `module` or `module /8`."""
    rows = (line.split() for line in lines(HERE / "files.txt"))
    return {row[0]: int(row[1][1:]) if len(row) > 1 else 1 for row in rows}


def skips():
    """{module: {id: reason}} of skip.txt: `module id reason`."""
    table = {}
    for line in lines(HERE / "skip.txt"):
        module, name, reason = line.split(None, 2)
        table.setdefault(module, {})[name] = reason
    return table


def read_real():
    """{module: (collected, passed, ids that the real one doesn't pass)}."""
    table = {}
    for line in lines(HERE / "real.txt"):
        if line.startswith("- "):
            table[module][2].add(line[2:])
        else:
            module, collected, passed = line.split()
            table[module] = int(collected), int(passed), set()
    return table


def write_real(table):
    with open(HERE / "real.txt", "w") as out:
        out.write("# What Debian's Numba 0.56.4 itself does with its tests; made by run.py --real.\n"
                  "# module, tests, passed; below it the tests that don't pass\n")
        for module, (collected, passed, others) in sorted(table.items()):
            out.write(f"{module} {collected} {passed}\n" + "".join(f"- {name}\n" for name in sorted(others)))


class Process:
    """one.py on one module until all tests have an outcome."""

    def __init__(self, module, env, folder, real, leave, seconds, limit, every):
        self.every, self.cut = every, False
        self.module, self.env, self.real, self.seconds, self.limit = module, env, real, seconds, limit
        self.output, self.leave_path = Path(folder) / f"{module}.jsonl", Path(folder) / f"{module}.leave"
        self.leave, self.rows = set(leave), {}

    def read(self):
        """(test that is running, True at the end); fills rows."""
        running, ended = None, False
        for line in self.output.read_text().splitlines() if self.output.exists() else ():
            row = json.loads(line)
            if row["outcome"] == "started":
                running = row["id"]
            elif row["outcome"] == "end":
                ended = True
            else:
                self.rows[row["id"]] = row
                running = None
        return running, ended

    def once(self, deadline):
        """One process; why it ended early, or None."""
        self.output.unlink(missing_ok=True)
        self.leave_path.write_text("\n".join(self.leave | set(self.rows)))
        command = [sys.executable, str(HERE / "one.py"), self.module, str(self.output), "--leave", str(self.leave_path),
                   "--seconds", str(self.seconds), "--every", str(self.every)] + (["--real"] if self.real else [])
        log = open(self.output.with_suffix(".log"), "ab")
        process = subprocess.Popen(command, env=self.env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        grown, size, why = time.monotonic(), -1, None
        while process.poll() is None:
            time.sleep(0.1)
            now = time.monotonic()
            if self.output.exists() and self.output.stat().st_size != size:
                grown, size = now, self.output.stat().st_size
            if stopped:
                why = "stopped"
            elif now - grown > self.seconds + 10:
                why = "hangs"
            elif now > deadline:
                why = "the time of this file is over"
            if why:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
        running, ended = self.read()
        if ended:
            return None, None
        if not why:
            code = process.returncode
            why = f"the process died: {signal.Signals(-code).name if code < 0 else f'exit status {code}'}"
        return why, running

    def run(self):
        deadline = time.monotonic() + self.limit
        for _ in range(RESTARTS):
            if stopped:
                break
            why, running = self.once(deadline)
            if why is None:
                return self.rows
            if running is None and "died" in why:
                self.rows["(module)"] = {"id": "(module)", "outcome": "failed", "why": why, "text": self.log_tail()}
                return self.rows
            if time.monotonic() > deadline:
                self.cut = True
                break
            if running is not None:
                self.rows[running] = {"id": running, "outcome": "failed", "why": why, "text": self.log_tail()}
        return self.rows

    def log_tail(self):
        path = self.output.with_suffix(".log")
        return path.read_text(errors="replace")[-1500:] if path.exists() else ""


def run_all(modules, options):
    """({module: {id: row}}, modules whose time was over before their last test)"""
    leave, every, cut = skips(), listed(), set()
    begin_all = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kiln-conformance-") as folder:
        daemon = None if options.real else rig.Daemon(workers=2, folder=folder)
        # what a test of Numba would start as a process of its own runs in ours
        env = dict(daemon.env if daemon else os.environ, PYTHONHASHSEED="0", SUBPROC_TEST="1")
        try:
            def one(module):
                left = {} if options.real else leave.get(module, {})
                begin = time.monotonic()
                limit = min(options.limit, options.total - (begin - begin_all))
                process = Process(module, env, folder, options.real, left, options.seconds, limit, every.get(module, 1))
                rows = process.run()
                if process.cut:
                    cut.add(module)
                for name, reason in left.items():
                    rows[name] = {"id": name, "outcome": "skipped", "why": reason}
                if options.progress:
                    print(f"  {module}: {len(rows)} in {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
                return rows
            with ThreadPoolExecutor(options.jobs) as pool:
                return dict(zip(modules, pool.map(one, modules))), cut
        finally:
            if daemon:
                daemon.stop()


def compare(module, rows, cut):
    """(counts, ids in the table that don't pass now, new passes)"""
    table = set(lines(HERE / "passes" / f"{module}.txt"))
    passed = {name for name, row in rows.items() if row["outcome"] == "passed"}
    counts = {o: sum(1 for r in rows.values() if r["outcome"] == o) for o in OUTCOMES}
    lost = table - passed
    return counts, sorted(lost & set(rows) if cut else lost), sorted(passed - table)


def update(module, rows, drop):
    path = HERE / "passes" / f"{module}.txt"
    passed = {name for name, row in rows.items() if row["outcome"] == "passed"}
    known = set(lines(path))
    new = passed if drop else passed | known
    if new != known:
        path.write_text("".join(f"{name}\n" for name in sorted(new)))


def junit(path, results, cut, reason=None):
    """Tests of the table, as the suite counts them."""
    suite = ElementTree.Element("testsuite", name="conformance")
    if reason:
        ElementTree.SubElement(ElementTree.SubElement(suite, "testcase", classname="conformance", name="all"), "skipped", message=reason)
    for module, rows in results.items():
        for name in lines(HERE / "passes" / f"{module}.txt"):
            case = ElementTree.SubElement(suite, "testcase", classname=module, name=name)
            row = rows.get(name, {"outcome": "skipped" if module in cut else "failed", "why": "didn't run"})
            if row["outcome"] == "skipped" and module in cut:
                ElementTree.SubElement(case, "skipped", message="no time left")
            elif row["outcome"] != "passed":
                ElementTree.SubElement(case, "failure", message=row["why"])
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--drop", action="store_true", help="with --update: forget passes that are none now")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, help=f"of one test ({TEST_SECONDS}; real: {REAL_SECONDS})")
    parser.add_argument("--limit", type=float, help=f"seconds of one file ({FILE_SECONDS}; real: {REAL_FILE_SECONDS})")
    parser.add_argument("--total", type=float, help=f"seconds of the whole ({TOTAL_SECONDS}; real: no limit)")
    parser.add_argument("--junit-xml")
    parser.add_argument("--json")
    parser.add_argument("--progress", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print every test that doesn't pass")
    options = parser.parse_args()
    options.seconds = options.seconds or (REAL_SECONDS if options.real else TEST_SECONDS)
    options.limit = options.limit or (REAL_FILE_SECONDS if options.real else FILE_SECONDS)
    options.total = options.total or (1e9 if options.real else TOTAL_SECONDS)
    if importlib.util.find_spec("numba") is None:
        print("skipped: Numba is not installed (Debian: python3-numba)")
        if options.junit_xml:
            junit(options.junit_xml, {}, (), "Numba is not installed (Debian: python3-numba)")
        return 0
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.append(True))
    modules = options.modules or list(listed())
    (results, cut), real = run_all(modules, options), read_real()
    if stopped:
        return 130
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    if options.real:
        for module, rows in results.items():
            if module in cut:
                print(f"{module:32} not written: no time left")
                continue
            others = {n for n, r in rows.items() if r["outcome"] != "passed"}
            real[module] = len(rows), len(rows) - len(others), others
            print(f"{module:32} {real[module][1]:5} of {len(rows):5}")
        write_real(real)
        return 0
    broken, total = 0, dict.fromkeys(OUTCOMES, 0)
    print(f"{'':32} {'passed':>7} {'failed':>7} {'skipped':>7} {'idle':>7}   real Numba")
    for module, rows in results.items():
        counts, lost, new = compare(module, rows, module in cut)
        beside = f"{real[module][1]:6} of {real[module][0]}" if module in real else "     ?"
        print(f"{module:32} " + " ".join(f"{counts[o]:7}" for o in OUTCOMES) + f"   {beside}" + (f"   {len(new)} new" if new else "") +
              ("   cut: no time left" if module in cut else ""))
        for name in lost:
            print(f"    passed before: {name}: {rows.get(name, {}).get('why', 'did not run')}")
        if options.verbose:
            for name, row in sorted(rows.items()):
                if row["outcome"] != "passed":
                    print(f"    {row['outcome']}: {name}: {row['why']}")
        broken += len(lost)
        total = {o: total[o] + counts[o] for o in OUTCOMES}
    print(f"{'':32} " + " ".join(f"{total[o]:7}" for o in OUTCOMES))
    if options.junit_xml:
        junit(options.junit_xml, results, cut)
    if options.update:
        for module, rows in results.items():
            update(module, rows, options.drop)
    return 1 if broken and not (options.update and options.drop) else 0


if __name__ == "__main__":
    sys.exit(main())
