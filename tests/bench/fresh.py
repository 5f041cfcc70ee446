# SPDX-License-Identifier: Apache-2.0
"""A fresh process that imports a JIT and calls one cached function: `fresh.py numba|kilnjit|none`.

Prints the seconds from after numpy's import to the end of the first call, then the resident memory
beyond python+numpy in KiB."""
import sys
import time

import numpy as np


def resident():
    with open("/proc/self/smaps_rollup") as rollup:
        for line in rollup:
            if line.startswith("Private_Clean") or line.startswith("Private_Dirty"):
                yield int(line.split()[1])


a = np.ones(1000)
before = sum(resident())
begin = time.perf_counter()
kind = sys.argv[1]
if kind != "none":
    import cached_function

    jit = __import__(kind).njit
    function = jit(cache=True)(cached_function.total)
    assert function(a) == 1000.0
took = time.perf_counter() - begin
print(took, sum(resident()) - before)
