# SPDX-License-Identifier: Apache-2.0
"""One user's process: run every program through kilnjit once and print what it took, as JSON lines.

The demo starts it twice; the second time every function comes out of the daemon's cache."""
import json
import sys
import time

import numpy as np

import kilnjit
import png
from programs import PROGRAMS


def run(program, picture):
    function = kilnjit.njit(program.function)
    arguments = program.arguments()
    warm = program.small()
    begin = time.perf_counter()
    function(*warm)  # compiles, or fetches from the cache
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    result = function(*arguments)
    took = time.perf_counter() - begin
    program.check(arguments, result)
    if picture and isinstance(result, np.ndarray) and result.dtype == np.uint8:
        png.write(picture, 255 - result)

    arguments_small = program.small()
    begin = time.perf_counter()
    program.function(*arguments_small)
    plain = (time.perf_counter() - begin) * program.work(arguments) / program.work(arguments_small)
    return {"title": program.title, "first_call_s": first, "run_s": took, "speedup": plain / took}


def main(picture):
    for program in PROGRAMS:
        print(json.dumps(run(program, picture)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
