# SPDX-License-Identifier: Apache-2.0
"""Build what the compiler carries for each kind of target: runtime bitcode, builtins, stub libraries.

    build.py OUT_DIR CLANG LLVM_LINK LLD

Writes OUT_DIR/embedded.c (with .incbin of the files beside it), compiled into the worker."""
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: in the order of enum target_stub (target.h): name, triple, flags, glibc version of the symbols
ARCHES = [
    ("x86_64", "x86_64-unknown-linux-gnu", [], "GLIBC_2.2.5"),
    ("aarch64", "aarch64-unknown-linux-gnu", [], "GLIBC_2.17"),
    ("armv7hf", "armv7-unknown-linux-gnueabihf", ["-mfpu=vfpv3-d16", "-marm"], "GLIBC_2.4"),
]
LIBRARIES = [("c", "libc.so.6"), ("m", "libm.so.6"), ("mvec", "libmvec.so.1")]
SOURCES = ["complex64.c", "complex128.c", "integer.c", "list.c", "random.c", "real.c", "text.c", "text_search.c", "text_case.c", "text_repr.c", "text_float.c", "text_format.c"]


def run(*command, **keywords):
    return subprocess.run([str(c) for c in command], check=True, **keywords)


def symbols(clang):
    """library -> names, from glibc.def."""
    text = run(clang, "-E", "-P", "-x", "c", "-", input=f'#define SYMBOL(l, n) @l:n\n#include "{HERE}/glibc.def"\n',
               text=True, capture_output=True).stdout
    found = {library: [] for library, _ in LIBRARIES}
    for library, name in re.findall(r"@(\w+):(\w+)", text):
        found[library].append(name)
    return found


def bitcode(out, clang, llvm_link, name, triple, flags):
    parts = []
    for source in SOURCES:
        part = out / f"{name}-{source}.bc"
        run(clang, f"--target={triple}", *flags, "-O2", "-I", HERE.parents[2], "-ffreestanding", "-fno-math-errno", "-ffp-contract=off", "-fno-builtin",
            "-fcomplex-arithmetic=basic", "-Wall", "-Wextra", "-Wno-missing-prototypes", "-emit-llvm", "-c", HERE / source, "-o", part)
        parts.append(part)
    whole = out / f"{name}.bc"
    run(llvm_link, *parts, "-o", whole)
    return whole


def builtins(out, clang, lld, name, triple, flags):
    source = HERE / f"builtins_{name}.c"
    made = out / f"{name}-builtins.o"
    run(clang, f"--target={triple}", *flags, "-O2", "-ffreestanding", "-fno-builtin", "-ffp-contract=off", "-fPIC", "-ffunction-sections",
        "-Wall", "-Wextra", "-c", source, "-o", made)
    parts = [made]
    for source in SOURCES:
        if source.startswith("text"):
            parts.append(out / f"{name}-{source}.o")
            run(clang, f"--target={triple}", *flags, "-O2", "-I", HERE.parents[2], "-DTEXT_PRECOMPILED", "-ffreestanding", "-fno-builtin", "-ffp-contract=off",
                "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections", "-Wno-missing-prototypes", "-c", HERE / source, "-o", parts[-1])
    whole = out / f"{name}-machine.o"
    run(lld, "-r", *parts, "-o", whole)
    return whole


def stub(out, clang, lld, name, triple, library, soname, version, names):
    """A shared object that has nothing but the names, in one version."""
    assembly, script, obj, made = (out / f"{name}-{library}{suffix}" for suffix in (".s", ".map", ".o", ".so"))
    mark = "%" if name == "armv7hf" else "@"
    assembly.write_text(".text\n" + "".join(f".globl {n}\n.type {n},{mark}function\n{n}:\n" for n in names) + ".byte 0\n")
    script.write_text(version + " { global: " + " ".join(n + ";" for n in names) + " local: *; };\n")
    run(clang, f"--target={triple}", "-c", assembly, "-o", obj)
    run(lld, "-shared", "-soname", soname, "--version-script", script, "--hash-style=gnu", obj, "-o", made)
    return made


def main(out, clang, llvm_link, lld):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    names = symbols(clang)
    files = {}  # C name -> path
    rows = {"bitcode": [], "builtins": [], "stubs": []}

    def embed(key, path):
        if path is None:
            return "{ 0, 0 }"
        files[key] = path
        return f"{{ {key}, {path.stat().st_size} }}"

    for name, triple, flags, version in ARCHES:
        rows["bitcode"].append((f"rt_{name}", bitcode(out, clang, llvm_link, name, triple, flags)))
        rows["builtins"].append((f"bi_{name}", builtins(out, clang, lld, name, triple, flags)))
        stubs = []
        for library, soname in LIBRARIES:
            if library == "mvec" and name != "x86_64":
                stubs.append((f"so_{name}_{library}", None))
            else:
                wanted = version if library != "mvec" else "GLIBC_2.22"
                stubs.append((f"so_{name}_{library}", stub(out, clang, lld, name, triple, library, soname, wanted, names[library])))
        rows["stubs"].append(stubs)

    lines = ['/* Made by runtime/build.py. */', '#include "daemon/compiler/runtime/embedded.h"']
    tables = []
    for table in ("bitcode", "builtins"):
        entries = ", ".join(embed(key, path) for key, path in rows[table])
        tables.append(f"const struct embedded runtime_{table}[STUB__COUNT] = {{ {entries} }};")
    entries = ", ".join("{ " + ", ".join(embed(key, path) for key, path in stubs) + " }" for stubs in rows["stubs"])
    tables.append(f"const struct embedded runtime_stubs[STUB__COUNT][3] = {{ {entries} }};")
    for key, path in files.items():
        lines.append(f'__asm__(".section .rodata\\n.balign 16\\n.globl {key}\\n.hidden {key}\\n{key}:\\n.incbin \\"{path}\\"\\n'
                     f'.byte 0\\n.text\\n");')
        lines.append(f"extern const unsigned char {key}[];")
    (out / "embedded.c").write_text("\n".join(lines + tables) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
