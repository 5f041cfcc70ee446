# SPDX-License-Identifier: Apache-2.0
"""`make demo`: real functions compiled by a daemon, checked against NumPy, and had for free by the next process.

Everything it makes (socket, cache, picture) is in a folder of its own below build/demo."""
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "release" / "bin"
PLACE = ROOT / "build" / "demo"


def start_daemon(env):
    """Start kilnd and return its process once it answers."""
    daemon = subprocess.Popen([BIN / "kilnd", "--socket", env["KILN_SOCKET"], "--cache-dir", env["KILN_CACHE_DIR"]],
                              env=env, stderr=open(PLACE / "kilnd.log", "w"))
    give_up = time.monotonic() + 20
    while subprocess.run([BIN / "kiln", "status", "--json"], env=env, capture_output=True).returncode != 0:
        if daemon.poll() is not None or time.monotonic() > give_up:
            sys.exit(f"kilnd did not start; its log:\n{(PLACE / 'kilnd.log').read_text()}")
        time.sleep(0.05)
    return daemon


def one_process(env, picture):
    done = subprocess.run([sys.executable, ROOT / "demo" / "process.py", *picture], env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("the demo's programs failed")
    return [json.loads(line) for line in done.stdout.splitlines()]


def say(title):
    print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}", flush=True)


def main():
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    env = dict(os.environ, KILN_SOCKET=str(PLACE / "kilnd.sock"), KILN_CACHE_DIR=str(PLACE / "cache"))
    daemon = start_daemon(env)
    try:
        picture = PLACE / "mandelbrot.png"
        say("Five programs, each checked against NumPy")
        first = one_process(env, [picture])
        second = one_process(env, [])
        print(f"{'':40} {'first process':>14} {'second process':>15} {'beside plain':>13}")
        print(f"{'':40} {'compile + call':>14} {'cache + call':>15} {'Python':>13}")
        for a, b in zip(first, second):
            print(f"{a['title']:40} {a['first_call_s'] * 1e3:11.1f} ms {b['first_call_s'] * 1e3:12.1f} ms "
                  f"{a['speedup']:11.0f} x")
        print(f"\npicture: {picture.relative_to(ROOT)}")
        say("kiln ls")
        subprocess.run([BIN / "kiln", "ls"], env=env, check=True)
        say("kiln stats")
        subprocess.run([BIN / "kiln", "stats"], env=env, check=True)
        say("A deliberate mistake")
        sys.stdout.flush()
        wrong = subprocess.run([sys.executable, ROOT / "demo" / "mistake.py"], env=env, stderr=subprocess.PIPE, text=True)
        print(wrong.stderr.strip())
        if wrong.returncode == 0:
            sys.exit("the mistake was not found")
    finally:
        daemon.terminate()
        daemon.wait(timeout=20)


if __name__ == "__main__":
    main()
