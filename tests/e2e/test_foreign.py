# SPDX-License-Identifier: Apache-2.0
"""LLVM modules that hit LLVM's own limits or bugs: whatever becomes of the worker, the sender gets an error that says
why, and the next request an answer."""
import random
import shutil
import subprocess

import pytest

import rig

GOOD = "define double @f(double %x) {\n  %r = fadd double %x, 1.0\n  ret double %r\n}\n"


@pytest.fixture(scope="module")
def daemon():
    with rig.Daemon() as d:
        yield d


def compiled(daemon, body, signature="void()", entry="f", target="x86-64-v2", suffix="ll"):
    path = daemon.folder / f"module.{suffix}"
    path.write_bytes(body if isinstance(body, bytes) else body.encode())
    return daemon.kiln("compile", path, "--sig", signature, "--entry", entry, "--target", target, "-o", daemon.folder / "out.so")


def still_serves(daemon, number):
    done = compiled(daemon, GOOD.replace("1.0", f"{number}.5"), "float64(float64)")
    assert done.returncode == 0, done.stderr


BAD = {
    "instructions of another CPU": ("declare <16 x float> @llvm.x86.avx512.rcp14.ps.512(<16 x float>, <16 x float>, i16)\n"
                                    "define void @f(ptr %p) {\n  %v = load <16 x float>, ptr %p\n"
                                    "  %r = call <16 x float> @llvm.x86.avx512.rcp14.ps.512(<16 x float> %v, <16 x float> %v, i16 -1)\n"
                                    "  store <16 x float> %r, ptr %p\n  ret void\n}\n", "void(CPointer(float32))", "LLVM: "),
    "intrinsic of a GPU": ("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndefine i32 @f() {\n"
                           "  %r = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  ret i32 %r\n}\n", "int32()", "select"),
    "unknown garbage collector": ('define void @f() gc "nosuch" {\n  ret void\n}\n', "void()", "nosuch"),
    "gigabytes of data": ('@g = global [3000000000 x i8] zeroinitializer, section ".data"\n'
                          "define ptr @f() {\n  ret ptr @g\n}\n", "CPointer(int8)()", ""),
    "types nested deeply": ("%t = type " + "{" * 200000 + "i8" + "}" * 200000 + "\n" + GOOD, "float64(float64)", ""),
    "assembly that starts code": ('define void @f() {\n  call void asm sideeffect ".section .fini_array,\\22aw\\22\\0A.quad 0\\0A.text", ""()\n'
                                  "  ret void\n}\n", "void()", "unloaded"),
}


@pytest.mark.parametrize("what", BAD)
def test_refused(daemon, what):
    body, signature, words = BAD[what]
    done = compiled(daemon, body, signature)
    assert done.returncode in (65, 70), (done.returncode, done.stdout, done.stderr)
    assert words in done.stderr and done.stderr.strip(), done.stderr
    still_serves(daemon, len(what))


def test_what_is_no_text_at_all(daemon):
    """The error quotes the module; it is text all the same, and the worker lives."""
    before = daemon.stats()["worker_deaths"]
    for number, body in enumerate([b"\xff\xfe\x80garbage", b"\xc3(", b"define void @\"\xff\xc0\"() {\n call void @\"\xf0\x9f\"()\n}",
                                   bytes(range(1, 256)) * 100]):
        done = compiled(daemon, body)
        assert done.returncode == 65, done.stderr
        still_serves(daemon, 500 + number)
    assert daemon.stats()["worker_deaths"] == before


def test_flipped_bits(daemon):
    """Damaged bitcode, also where LLVM's reader doesn't look twice."""
    clang = shutil.which("clang-22") or pytest.skip("clang-22 is not installed")
    source = "double f(double *p, long n) { double s = 0; for (long i = 0; i < n; i++) s += p[i] * 2; return s; }"
    good = subprocess.run([clang, "-x", "c", "-O1", "-emit-llvm", "-c", "-", "-o", "-"], input=source.encode(), capture_output=True,
                          check=True).stdout
    assert compiled(daemon, good, "float64(CPointer(float64), int64)", suffix="bc").returncode == 0
    rng = random.Random(7)
    outcomes = {}
    for _ in range(60):
        bad = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        done = compiled(daemon, bytes(bad), "float64(CPointer(float64), int64)", suffix="bc")
        assert done.returncode in (0, 65, 70), (done.returncode, done.stderr)
        assert done.returncode == 0 or done.stderr.strip()
        outcomes[done.returncode] = outcomes.get(done.returncode, 0) + 1
    assert outcomes.get(65, 0) > 10, outcomes
    still_serves(daemon, 99)
