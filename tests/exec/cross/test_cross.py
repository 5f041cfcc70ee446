# SPDX-License-Identifier: Apache-2.0
"""Scalar functions compiled here for AArch64 and 32-bit ARM, called from C under user-mode emulation, against the same
for x86-64: 1 to 12 arguments of mixed integers, floats, complex numbers and structs, in registers and on the stack."""
import random
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import rig

HERE = Path(__file__).resolve().parent

#: name -> (C compiler, emulator)
TARGETS = {
    "x86-64": (["gcc"], []),
    "aarch64": (["aarch64-linux-gnu-gcc"], ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
    "armv7hf": (["arm-linux-gnueabihf-gcc", "-marm"], ["qemu-arm", "-L", "/usr/arm-linux-gnueabihf"]),
}


class Type:
    """A Kiln type, its C spelling, and its leaves: (path in C, path in KIR, kind)."""

    def __init__(self, kiln, c, leaves, typedef=""):
        self.kiln, self.c, self.leaves, self.typedef = kiln, c, leaves, typedef


def scalar(kiln, c, kind):
    return Type(kiln, c, [("{}", "{}", kind)])


def compound(name, *kinds):
    """A tuple: a C struct of scalars."""
    fields = " ".join(f"{SCALARS[k].c} f{i};" for i, k in enumerate(kinds))
    return Type(f"Tuple(({', '.join(kinds)},))", name, [(f"{{}}.f{i}", f"(subscript {{}} (const {i}))", SCALARS[k].leaves[0][2])
                                                        for i, k in enumerate(kinds)], f"typedef struct {{ {fields} }} {name};")


def complex_of(kiln, c):
    return Type(kiln, c, [("creal({})", '(attr {} real)', "float"), ("cimag({})", '(attr {} imag)', "float")])


SCALARS = {
    "bool": scalar("bool", "_Bool", "uint"),
    "int8": scalar("int8", "int8_t", "int"), "uint8": scalar("uint8", "uint8_t", "uint"),
    "int16": scalar("int16", "int16_t", "int"), "uint16": scalar("uint16", "uint16_t", "uint"),
    "int32": scalar("int32", "int32_t", "int"), "uint32": scalar("uint32", "uint32_t", "uint"),
    "int64": scalar("int64", "int64_t", "int"), "uint64": scalar("uint64", "uint64_t", "uint"),
    "float32": scalar("float32", "float", "float"), "float64": scalar("float64", "double", "float"),
}
TYPES = list(SCALARS.values()) + [
    complex_of("complex64", "float _Complex"), complex_of("complex128", "double _Complex"),
    compound("bytes3", "int8", "uint8", "bool"), compound("word", "int16", "uint16"), compound("mixed8", "float32", "int32"),
    compound("mixed16", "int32", "float64"), compound("pair", "int64", "int64"), compound("floats2", "float32", "float32"),
    compound("floats3", "float32", "float32", "float32"), compound("doubles2", "float64", "float64"),
    compound("doubles4", "float64", "float64", "float64", "float64"), compound("five", "float32", "float32", "float32", "float32", "float32"),
    compound("large", "int64", "float64", "int32"), compound("odd", "int32", "int32", "int32"), compound("one", "float64"),
    compound("wide", "float64", "int8"),
]


def value(kind, ctype, rng):
    """A C literal that every type of its kind holds, exact as a float."""
    if ctype == "_Bool":
        return str(rng.randrange(2))
    if kind == "uint":
        return str(rng.randrange(0, 256))
    if kind == "int":
        return str(rng.randrange(-128, 128))
    return repr(rng.randrange(-400, 400) * 0.25)


class Function:
    """One symbol: its KIR, and a C statement that calls it and prints the result."""

    def __init__(self, symbol, params, ret, body, values):
        self.symbol, self.params, self.ret, self.values = symbol, params, ret, values
        names = " ".join(f"(p{i} normal)" for i in range(len(params)))
        self.kir = f"(kir 1\n  (function 0 (params {names})\n    (block\n      (return {body}))))\n"
        self.signature = f"{ret.kiln}({', '.join(p.kiln for p in params)})"

    @property
    def declaration(self):
        return f"{self.ret.c} {self.symbol}({', '.join(p.c for p in self.params)});"

    def call(self):
        arguments = ", ".join(literal(p, v) for p, v in zip(self.params, self.values))
        shows = " ".join(f"SHOW_{kind.upper()}({path.format('r')});" for path, _, kind in self.ret.leaves)
        return (f'static void call_{self.symbol}(void) {{ {self.ret.c} r = {self.symbol}({arguments}); '
                f'printf("{self.symbol}"); {shows} printf("\\n"); }}')


def literal(t, values):
    if t.typedef:
        return f"({t.c}){{ {', '.join(values)} }}"
    if "Complex" in t.c:
        return f"({t.c})({values[0]} + {values[1]} * 1.0iF)"
    return f"({t.c}){values[0]}"


def functions():
    """For each number of arguments: a sum over all leaves, one argument given back, and all of them given back."""
    rng = random.Random(12)
    made = []
    for n in range(1, 13):
        for k in range(3):
            params = [rng.choice(TYPES if k else list(SCALARS.values())) for _ in range(n)]
            values = [[value(kind, "_Bool" if p.c == "_Bool" or (p.c == "bytes3" and i == 2) else "", rng)
                       for i, (_, _, kind) in enumerate(p.leaves)] for p in params]
            terms, total = [], 0.0
            for i, p in enumerate(params):
                for (_, path, _), v in zip(p.leaves, values[i]):
                    weight = len(terms) + 1
                    leaf = path.format(f"(local {i})")
                    terms.append(f"(binary * (call (lib builtins.float) [{leaf}]) (const {weight}.0))")
                    total += float(v) * weight
            body = terms[0]
            for term in terms[1:]:
                body = f"(binary + {body} {term})"
            sum_of = Function(f"sum_{n}_{k}", params, SCALARS["float64"], body, values)
            sum_of.expected = total
            # a foreign call in the middle: the stack pointer is noted
            called = Function(f"calls_{n}_{k}", params, SCALARS["float64"], f"(binary + (call (lib numpy.cbrt) [{body}]) {terms[-1]})", values)
            i = rng.randrange(n)
            pick = Function(f"pick_{n}_{k}", params, params[i], f"(local {i})", values)
            made += [sum_of, called, pick]
    return made


#: exact arithmetic whose helpers differ between targets: division of 64-bit integers, conversions, shifts, roots
ARITHMETIC = [
    ("int64(int64, int64)", "(binary // (local 0) (local 1))"),
    ("int64(int64, int64)", "(binary % (local 0) (local 1))"),
    ("uint64(uint64, uint64)", "(binary // (local 0) (local 1))"),
    ("uint64(uint64, uint64)", "(binary % (local 0) (local 1))"),
    ("int32(int32, int32)", "(binary // (local 0) (local 1))"),
    ("uint32(uint32, uint32)", "(binary % (local 0) (local 1))"),
    ("float64(int64, int64)", "(binary / (local 0) (local 1))"),
    ("float64(uint64, uint64)", "(binary + (call (lib builtins.float) [(local 0)]) (call (lib builtins.float) [(local 1)]))"),
    ("float32(int64, int64)", "(binary - (call (lib numpy.float32) [(local 0)]) (call (lib numpy.float32) [(local 1)]))"),
    ("float32(uint64, uint64)", "(call (lib numpy.float32) [(binary - (local 0) (local 1))])"),
    ("int64(float64, float64)", "(binary + (call (lib builtins.int) [(local 0)]) (call (lib builtins.int) [(local 1)]))"),
    ("uint64(float64, float64)", "(call (lib numpy.uint64) [(call (lib builtins.abs) [(local 0)])])"),
    ("int64(int64, int64)", "(binary * (local 0) (local 1))"),
    ("int64(int64, int64)", "(binary >> (local 0) (binary & (local 1) (const 63)))"),
    ("float64(float64, float64)", "(binary // (local 0) (local 1))"),
    ("float64(float64, float64)", "(binary % (local 0) (local 1))"),
    ("float64(float64, float64)", "(call (lib math.sqrt) [(call (lib builtins.abs) [(binary * (local 0) (local 1))])])"),
]
PAIRS = {"int64_t": [("-100", "7"), ("9223372036854775807ll", "-3"), ("-9223372036854775807ll", "10000000019ll"), ("1ll<<40", "1ll<<20")],
         "uint64_t": [("18446744073709551615ull", "3"), ("10000000000000000019ull", "4294967297ull"), ("5", "9"), ("1ull<<63", "2049")],
         "int32_t": [("-100", "7"), ("2147483647", "-2"), ("-2147483647", "46341")],
         "uint32_t": [("4294967295u", "7"), ("3000000000u", "2999999999u")],
         "double": [("-7.75", "2.5"), ("1e15", "-3.0"), ("123456789012.5", "0.1"), ("4294967296.75", "65536.0")]}


@pytest.fixture(scope="module")
def daemon():
    with rig.Daemon(workers=2) as d:
        yield d


def compile_all(daemon, folder, target, jobs, emit="obj"):
    """jobs: (symbol, signature, kir). One object each."""
    def one(job):
        symbol, signature, kir = job
        source, out = folder / f"{symbol}.kir", folder / f"{symbol}.{target}.{emit}"
        source.write_text(kir)
        done = daemon.kiln("compile", source, "--sig", signature, "--target", target, "--emit", emit, "--symbol", symbol, "-o", out)
        assert done.returncode == 0, f"{symbol} {signature}\n{kir}\n{done.stderr}"
        return out
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, jobs))


def need(target):
    gcc, emulator = TARGETS[target]
    for program in gcc[:1] + emulator[:1]:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


def run_program(folder, target, text, objects, *flags):
    gcc, emulator = TARGETS[target]
    source, program = folder / f"main.{target}.c", folder / f"main.{target}"
    source.write_text(text)
    subprocess.run([*gcc, "-O2", "-g", f"-I{HERE}", "-fno-pie", "-no-pie", "-fno-builtin", "-ffp-contract=off", source, *objects, *flags, "-lm",
                    "-o", program], check=True)
    done = subprocess.run([*emulator, program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout.splitlines()


def program_of(made):
    typedefs = "\n".join(t.typedef for t in TYPES if t.typedef)
    calls = "\n".join(f"    check(call_{f.symbol}, \"{f.symbol}\");" for f in made)
    return (f'#include "harness.h"\n{typedefs}\n' + "\n".join(f.declaration for f in made) + "\n" + "\n".join(f.call() for f in made) +
            '\nstatic int bad;\nstatic void check(void (*f)(void), const char *name)\n{\n    seen_stack = 0;\n'
            '    uint64_t changed = saved_call(f);\n'
            '    if (changed) { printf("%s changed callee-saved registers: %llx\\n", name, (unsigned long long)changed); bad = 1; }\n'
            '    if (seen_stack && seen_stack % STACK_ALIGN != STACK_REMAINDER) { printf("%s called with a stack at %lx\\n", name, '
            '(unsigned long)seen_stack); bad = 1; }\n'
            '    if (!strncmp(name, "calls", 5) && !seen_stack) { printf("%s did not call\\n", name); bad = 1; }\n}\n'
            f"int main(void)\n{{\n{calls}\n    return bad;\n}}\n")


@pytest.fixture(scope="module")
def arguments_on_x86(daemon, tmp_path_factory):
    return arguments(daemon, tmp_path_factory.mktemp("x86-64"), "x86-64")


def arguments(daemon, folder, target):
    need(target)
    made = functions()
    objects = compile_all(daemon, folder, target, [(f.symbol, f.signature, f.kir) for f in made])
    return made, run_program(folder, target, program_of(made), objects)


def test_arguments_x86_64(arguments_on_x86):
    made, lines = arguments_on_x86
    by_name = {line.split()[0]: line for line in lines}
    for f in made:
        if f.symbol.startswith("sum"):
            assert float.fromhex(by_name[f.symbol].split()[1]) == f.expected, f"{f.symbol} {f.signature} {f.values}"
    assert len(by_name) == len(made)


@pytest.mark.parametrize("target", ["aarch64", "armv7hf"])
def test_arguments(daemon, tmp_path, target, arguments_on_x86):
    _, lines = arguments(daemon, tmp_path, target)
    assert lines == arguments_on_x86[1]


def arithmetic(daemon, folder, target):
    """As shared objects: helpers of code generation are inside."""
    need(target)
    jobs, text, calls = [], ['#include "harness.h"', "#include <dlfcn.h>", "#include <stdlib.h>"], []
    for i, (signature, body) in enumerate(ARITHMETIC):
        jobs.append((f"a{i}", signature, f"(kir 1\n  (function 0 (params (a normal) (b normal))\n    (block\n      (return {body}))))\n"))
    libraries = compile_all(daemon, folder, target, jobs, emit="so")
    for i, (signature, _) in enumerate(ARITHMETIC):
        ret, arg = (SCALARS[signature.split("(")[0]], SCALARS[signature.split("(")[1].split(",")[0]])
        calls.append(f'    {{ void *h = dlopen("{libraries[i]}", RTLD_NOW);\n      if (!h) {{ puts(dlerror()); return 1; }}\n'
                     f'      {ret.c} (*f)({arg.c}, {arg.c}) = ({ret.c} (*)({arg.c}, {arg.c}))dlsym(h, "a{i}");\n'
                     f'      printf("a{i}");')
        calls += [f"      SHOW_{ret.leaves[0][2].upper()}(f({a}, {b}));" for a, b in PAIRS[arg.c]]
        calls.append('      printf("\\n"); }')
    return run_program(folder, target, "\n".join([*text, "int main(void)\n{", *calls, "    return 0;\n}\n"]), [], "-ldl")


@pytest.fixture(scope="module")
def arithmetic_on_x86(daemon, tmp_path_factory):
    return arithmetic(daemon, tmp_path_factory.mktemp("arithmetic"), "x86-64")


def test_arithmetic_x86_64(arithmetic_on_x86):
    values = {line.split()[0]: line.split()[1:] for line in arithmetic_on_x86}
    pairs = [(-100, 7), (9223372036854775807, -3), (-9223372036854775807, 10000000019), (1 << 40, 1 << 20)]
    assert values["a0"] == [str(a // b) for a, b in pairs]
    assert values["a1"] == [str(a % b) for a, b in pairs]


@pytest.mark.parametrize("target", ["aarch64", "armv7hf"])
def test_arithmetic(daemon, tmp_path, target, arithmetic_on_x86):
    assert arithmetic(daemon, tmp_path, target) == arithmetic_on_x86
