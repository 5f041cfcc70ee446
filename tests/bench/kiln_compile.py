# SPDX-License-Identifier: Apache-2.0
"""Kiln's side of the compile benchmark, against a daemon with an empty cache: seconds of each function's first call as
JSON, and with a folder named, the IR that LLVM was given and made."""
import json
import sys
import time
from pathlib import Path

import numpy  # noqa: F401 - not part of what is measured
from corpus import CORPUS

import kilnjit


@kilnjit.njit
def warm(a):
    return a + 1


warm(1)
result, functions = {}, {}
for name, (function, arguments) in CORPUS.items():
    functions[name] = jitted = kilnjit.njit(function)
    values = arguments()
    begin = time.perf_counter()
    jitted(*values)
    result[name] = time.perf_counter() - begin
print(json.dumps(result))
if len(sys.argv) > 1:
    from corpus import TWINS

    from kilnjit.client import get
    for name, jitted in functions.items():
        (text,) = jitted.inspect("llvm").values()
        Path(sys.argv[1], f"{name}.llvm.ll").write_text(text)
    for name in TWINS:  # as C would call it, with C's division: the plain symbol of the same function
        jitted = kilnjit.njit(error_model="numpy")(CORPUS[name][0])
        types = ", ".join(str(kilnjit.typeof(v)) for v in CORPUS[name][1]())
        request, _ = jitted.owner.request(jitted.owner.module(), f"({types})", "llvm-opt")
        Path(sys.argv[1], f"{name}.llvm-opt.ll").write_bytes(get().compile("kir", **request, symbol=f"twin_{name}").bytes())
