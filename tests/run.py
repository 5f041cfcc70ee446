# SPDX-License-Identifier: Apache-2.0
"""`make test`: every suite, one after the other, and one closing line `N passed, N failed, N skipped`.

    tests/run.py [SUITE ...]     only these suites; --list names them. conformance runs only when it is named

A suite is a row of SUITES. Each leaves a JUnit file below build/tests, from which the totals are taken, so
that a suite that dies without a word counts as a failure."""
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "tests"
LONGEST = 900  # seconds of one command: several times what the slowest takes
PYTHON = str(ROOT / "build" / "venv" / "bin" / "python")


def ctest(preset):
    return lambda report: [["ctest", "--test-dir", f"build/{preset}", "--output-on-failure", "--output-junit", str(report)]]


def pytest(*paths):
    return lambda report: [[PYTHON, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", f"--junit-xml={report}", *paths]]


def sanitized(inner):
    """Build with address and undefined-behaviour sanitizers first."""
    def commands(report):
        return [["cmake", "--preset", "asan"], ["cmake", "--build", "--preset", "asan"], *inner(report)]
    return commands


def fuzz(report):
    """A short smoke of every libFuzzer driver."""
    drivers = [f"fuzz_{path.stem}" for path in sorted((ROOT / "tests" / "fuzz").glob("*.cmake"))]
    return [["cmake", "--preset", "fuzz"], ["cmake", "--build", "--preset", "fuzz", "--target", *drivers],
            ["ctest", "--test-dir", "build/fuzz", "-L", "fuzz", "--output-on-failure", "--output-junit", str(report)]]


#: name -> (commands by report file, environment)
SUITES = {
    "unit": (ctest("release"), {}),
    "layering": (pytest("tests/layering"), {}),
    "vectors": (pytest("tests/vectors"), {}),
    "frontend": (pytest("tests/unit"), {}),
    "exec": (pytest("tests/exec"), {}),
    "e2e": (pytest("tests/e2e"), {}),
    "asan-unit": (sanitized(ctest("asan")), {}),
    "asan-e2e": (pytest(*(f"tests/e2e/test_{name}.py" for name in ("server", "resolve", "cache", "cli", "kir_vectors"))),
                 {"KILN_TEST_BUILD": "build/asan"}),
    "fuzz": (fuzz, {}),
    "conformance": (lambda report: [[PYTHON, "tests/conformance/run.py", f"--junit-xml={report}"]], {}),
}
#: suites of their own, not part of the whole
APART = ("conformance",)


def count(report):
    """(passed, failed, skipped) of a JUnit file; a missing or broken one is a failure."""
    try:
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return 0, 1, 0
    failed = sum(1 for c in cases if c.find("failure") is not None or c.find("error") is not None)
    skipped = sum(1 for c in cases if c.find("skipped") is not None or c.get("status") in ("notrun", "disabled"))
    return len(cases) - failed - skipped, failed, skipped


def execute(command, extra):
    """The exit status; a command that hangs is ended and has failed."""
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **extra}, start_new_session=True)
    try:
        return process.wait(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        print(f"ended after {LONGEST} s: {' '.join(command)}", flush=True)
        return 124
    except BaseException:  # Ctrl-C
        os.killpg(process.pid, signal.SIGKILL)
        raise


def run(name):
    commands, extra = SUITES[name]
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    print(f"\n== {name}", flush=True)
    begin = time.monotonic()
    status = 0
    for command in commands(report):
        status = execute(command, extra)
        if status and command != commands(report)[-1]:
            break  # the build failed: the missing report counts
    passed, failed, skipped = count(report)
    if status and not failed:
        failed = 1
    print(f"-- {name}: {passed} passed, {failed} failed, {skipped} skipped in {time.monotonic() - begin:.0f} s", flush=True)
    return passed, failed, skipped


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(SUITES))
        return 0
    unknown = [a for a in arguments if a not in SUITES]
    if unknown:
        sys.exit(f"no such suite: {unknown[0]} (there are: {', '.join(SUITES)})")
    REPORTS.mkdir(parents=True, exist_ok=True)
    results = [run(name) for name in arguments or [s for s in SUITES if s not in APART]]
    passed, failed, skipped = (sum(column) for column in zip(*results))
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
