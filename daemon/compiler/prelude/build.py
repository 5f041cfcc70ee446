# SPDX-License-Identifier: Apache-2.0
"""Turns the prelude's Python into KIR and embeds it:  build.py OUT.c [OUT.kir]

The same frontend that users run converts one module whose entry only mentions every function. A mistake in the
prelude is an error of the build. The C file defines what prelude.h declares."""
import importlib
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
AREAS = ("reductions", "creation", "linalg", "searching", "elementwise", "iterables", "lists", "hashing", "dicts",
         "sets", "typed", "tuples", "text", "text_format", "bytes_methods", "operators", "number_methods",
         "mathematics", "heaps", "random_module", "numpy_random", "distributions", "counts", "shaping", "making",
         "indexing", "axes", "choosing", "arrays_as_sets", "times", "systems")


def frontend():
    """kilnjit's frontend without the package around it, whose C extension may not be built yet."""
    package = types.ModuleType("kilnjit")
    package.__path__ = [str(HERE.parents[2] / "client" / "python" / "kilnjit")]
    sys.modules["kilnjit"] = package
    return importlib.import_module("kilnjit.frontend.convert"), importlib.import_module("kilnjit._kir")


def functions(flags):
    """Name -> function, of every area. Every function of an area is marked: division follows NumPy, never raises, unless
    the area's FLAGS say otherwise."""
    found = {}
    for area in AREAS:
        module = importlib.import_module(area)
        for value in vars(module).values():
            if isinstance(value, types.FunctionType):
                value._kiln_function = (value, getattr(module, "FLAGS", flags))
        for name, function in module.FUNCTIONS.items():
            if name in found:
                sys.exit(f"prelude: {name} is defined twice")
            found[name] = function
    return found


def entry_for(names):
    """A function that mentions each function once, with a text that the frontend can find."""
    import linecache
    scope = {f"f{i}": function for i, function in enumerate(dict.fromkeys(names.values()))}
    text = "def prelude():\n" + "".join(f"    {name}\n" for name in scope)
    file = "<prelude>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), scope)
    return scope["prelude"]


def main():
    import msgpack
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(HERE))
    convert, K = frontend()
    names = functions(K.F_NUMPY_ERRORS)
    module = convert.convert(entry_for(names))
    if module.env or module.classes:
        sys.exit("prelude: arrays and exception classes of its own are not possible")
    numbers = {(f.filename, f.qualname): i for i, f in enumerate(module.functions)}
    data = msgpack.packb(module.wire, use_bin_type=True)
    with open(sys.argv[1], "w") as out:
        out.write("/* Made by prelude/build.py; don't edit. */\n#include \"daemon/compiler/prelude/prelude.h\"\n\n")
        out.write("const unsigned char prelude_kir[] = {")
        for i in range(0, len(data), 24):
            out.write("\n    " + ",".join(map(str, data[i:i + 24])) + ",")
        out.write(f"\n}};\nconst size_t prelude_kir_len = {len(data)};\n")
        out.write("const struct unit_name prelude_names[] = {\n")
        for name in sorted(names):
            out.write(f'    {{ "{name}", {numbers[names[name].__code__.co_filename, names[name].__qualname__]} }},\n')
        out.write(f"}};\nconst uint32_t prelude_n_names = {len(names)};\n")
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_bytes(data)


if __name__ == "__main__":
    main()
