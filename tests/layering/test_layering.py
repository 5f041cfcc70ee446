# SPDX-License-Identifier: Apache-2.0
"""The allowed directions between folders, over #include lines and over what the programs link."""
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "release" / "bin"

#: folder -> folders whose headers it may include (its own always). ARCHITECTURE.md draws the same.
ALLOWED = {
    "proto/base": set(),
    "proto/abi": set(),
    "proto/codec": {"proto/base"},
    "proto/ir": {"proto/base", "proto/codec", "proto/abi"},
    "cache": {"proto/base"},
    "daemon/sandbox": {"proto/base"},
    "daemon/compiler": {"proto/base", "proto/codec", "proto/ir", "proto/abi"},
    "daemon/worker": {"proto/base", "proto/codec", "proto/ir", "daemon/compiler", "daemon/sandbox"},
    "daemon/server": {"proto/base", "proto/codec", "proto/ir", "cache"},
    "client/c": {"proto/base", "proto/codec", "proto/ir", "proto/abi"},
    "client/cli": {"proto/base", "proto/codec", "proto/ir", "proto/abi", "client/c"},
    "client/python": {"proto/base", "proto/abi", "client/c"},
}

#: folder -> system headers that it must not include
FORBIDDEN = {
    "daemon/compiler": r"(sys/socket|uv|sqlite3|fcntl|time)\.h",
    "daemon/server": r"llvm-c/|lld/",
    "daemon/worker": r"(uv|sqlite3)\.h",
    "cache": r"uv\.h|llvm-c/",
    "proto": r"uv\.h|llvm-c/|sqlite3\.h",
    "client": r"llvm-c/|uv\.h|sqlite3\.h",
}
#: files that may break a rule above, each with its reason
EXCUSED = {
    "daemon/compiler/target/link.cpp": "LLD reads and writes descriptors",
}


def sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h", "*.cpp", "*.def"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.split()
    return [p for p in listed if not p.startswith(("tests/", "demo/")) and "/examples/" not in p]


def folder_of(path):
    return max((f for f in ALLOWED if path.startswith(f + "/")), key=len, default=None)


def includes(path):
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', (ROOT / path).read_text(errors="replace"), re.M)


@pytest.mark.parametrize("path", sources())
def test_includes_follow_the_directions(path):
    home = folder_of(path)
    assert home, f"{path} is in a folder that the table does not know"
    for header in includes(path):
        target = folder_of(header)
        if target and target != home:
            assert target in ALLOWED[home], f"{path} includes {header}: {home} may not use {target}"
        for place, pattern in FORBIDDEN.items():
            if path.startswith(place + "/") and path not in EXCUSED:
                assert not re.search(pattern, header), f"{path} includes {header}"


@pytest.mark.parametrize("header", [p for p in sources() if p.endswith(".h")])
def test_headers_compile_alone(header):
    flags = ["-I/usr/lib/llvm-22/include", f"-I{ROOT}", f"-I{ROOT}/client/c/include", f"-I{ROOT}/build/release",
             "-I/usr/include/python3.11", "-D_GNU_SOURCE", "-DPy_LIMITED_API=0x030b0000"]
    done = subprocess.run(["gcc", "-std=gnu17", "-fsyntax-only", *flags, "-x", "c", header], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def linked(program):
    path = BIN / program
    if not path.exists():
        pytest.skip(f"{program} is not built")
    return subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout


def test_daemon_has_no_compiler_inside():
    assert "LLVM" not in linked("kilnd")


def test_worker_has_no_loop_and_no_database():
    libraries = linked("kiln-worker")
    assert "libuv" not in libraries and "sqlite" not in libraries


def test_command_line_is_a_thin_client():
    libraries = linked("kiln")
    assert "LLVM" not in libraries and "libuv" not in libraries and "sqlite" not in libraries
