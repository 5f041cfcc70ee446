# SPDX-License-Identifier: Apache-2.0
"""One test module in one process: a JSON line a test to the file given, as it ends.

    one.py MODULE OUTPUT [--real] [--only ID] [--leave FILE] [--seconds N] [--every N]"""
import argparse
import importlib
import io
import json
import os
import resource
import signal
import sys
import time
import traceback
import unittest
import warnings

import adapt

MEMORY = 3 << 30  # address space: some tests loop to out-of-memory where a compiler is wrong


class TooLong(BaseException):
    """A test's time is over."""


class Recorder(unittest.TestResult):
    """Writes what each test came to."""

    def __init__(self, out, prefix, tally, seconds):
        super().__init__()
        self.out, self.prefix, self.tally, self.limit = out, prefix, tally, seconds

    def write(self, **row):
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()

    def name(self, test):
        return test.id().removeprefix(self.prefix)

    def startTest(self, test):
        super().startTest(test)
        self.row = {"id": self.name(test), "outcome": "passed", "why": ""}
        self.write(id=self.row["id"], outcome="started")
        self.begin = time.monotonic()
        if self.tally:
            self.tally.begin()
        signal.setitimer(signal.ITIMER_REAL, self.limit)

    def stopTest(self, test):
        signal.setitimer(signal.ITIMER_REAL, 0)
        row = self.row
        if self.tally:
            idle = self.tally.why_idle()
            if row["outcome"] == "passed" and idle:
                row.update(outcome="idle", why=idle)
            row["compiled"] = self.tally.answers
        self.write(**row, seconds=round(time.monotonic() - self.begin, 2))
        super().stopTest(test)

    def fail(self, error):
        if self.row["outcome"] in ("passed", "skipped"):
            lines = str(error[1]).strip().split("\n")
            where = [f for f in traceback.extract_tb(error[2]) if "/numba/tests/" in f.filename]
            self.row.update(outcome="failed", why=f"{error[0].__name__}: {lines[0]}"[:300],
                            text="\n".join(lines[:12])[:1500], line=where[-1].lineno if where else 0)
            if self.tally and error[0] is AssertionError and self.tally.wording(str(error[1])):
                self.row.update(outcome="skipped", why="asserts on the wording of a message: " + lines[0][:200])
            elif self.tally and error[0].__name__ == "Inner":
                self.row.update(outcome="idle", why=f"looks into Numba: {error[1]}")
            elif self.tally and "object mode" in self.tally.detours and not self.tally.refusals:
                self.row.update(outcome="idle", why="object mode")

    def addError(self, test, error):
        if not hasattr(self, "row"):  # setUpClass
            self.row = {}
        if "id" not in self.row or not isinstance(test, unittest.TestCase):
            self.write(id=str(test), outcome="failed", why=f"{error[0].__name__}: {error[1]}"[:300], seconds=0)
            return
        self.fail(error)

    def addFailure(self, test, error):
        self.fail(error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.fail(error)

    def addSkip(self, test, reason):
        if isinstance(test, unittest.TestCase) and hasattr(self, "row"):
            self.row.update(outcome="skipped", why=reason)
        else:
            self.write(id=str(test), outcome="skipped", why=reason, seconds=0)

    def addExpectedFailure(self, test, error):
        self.row.update(outcome="skipped", why="expected to fail")

    def addUnexpectedSuccess(self, test):
        self.row.update(outcome="failed", why="unexpected success")


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def alarm(signum, frame):
    raise TooLong("the test's time is over")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("module")
    options.add_argument("output")
    options.add_argument("--real", action="store_true")
    options.add_argument("--only")
    options.add_argument("--leave", help="file with ids not to be run, one a line")
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--every", type=int, default=1, help="run one of so many tests")
    options = options.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, alarm)
    warnings.simplefilter("ignore")
    tally = None
    if not options.real:
        import substitute
        substitute.install()
        tally = substitute.tally
    name = f"numba.tests.{options.module}"
    with open(options.output, "a") as out:
        module = importlib.import_module(name)
        if not options.real and options.module in adapt.MODULES:
            adapt.MODULES[options.module](module)
        tests = list(flat(unittest.defaultTestLoader.loadTestsFromModule(module)))[::options.every]
        leave = set(open(options.leave).read().split("\n")) if options.leave else ()
        recorder = Recorder(out, name + ".", tally, options.seconds)
        chosen = [t for t in tests if recorder.name(t) not in leave and (not options.only or recorder.name(t) == options.only)]
        stdout, sys.stdout = sys.stdout, io.StringIO() if not options.only else sys.stdout
        unittest.TestSuite(chosen).run(recorder)
        sys.stdout = stdout
        recorder.write(outcome="end", tests=len(tests))
    sys.stdout.flush()
    os._exit(0)  # threads and forks of tests don't hold us


if __name__ == "__main__":
    main()
