# SPDX-License-Identifier: Apache-2.0
"""Numba's side of the compile benchmark: seconds to compile each function of the corpus, as JSON.

The process is warmed with one trivial function first, so that Numba's start-up is not counted."""
import json
import time

import numba
from corpus import CORPUS


@numba.njit
def warm(a):
    return a + 1


warm(1)
warm(1.0)
result = {}
for name, (function, arguments) in CORPUS.items():
    jitted = numba.njit(function)
    if name == "fibonacci":  # its own name is the plain function: tell Numba which one is meant
        function.__globals__["fibonacci"] = jitted
    signature = tuple(numba.typeof(a) for a in arguments())
    begin = time.perf_counter()
    jitted.compile(signature)
    result[name] = time.perf_counter() - begin
print(json.dumps(result))
