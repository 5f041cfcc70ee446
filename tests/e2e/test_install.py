# SPDX-License-Identifier: Apache-2.0
"""libkiln as other people use it: installed below DESTDIR, found by pkg-config and by CMake, shared and static."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("KILN_TEST_BUILD", "build/release")
EXAMPLES = ROOT / "client" / "c" / "examples"
DAEMON = BUILD / "bin" / "kilnd"


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """An installed tree: DESTDIR/usr."""
    dest = tmp_path_factory.mktemp("dest")
    run("cmake", "--install", BUILD, "--component", "client", "--prefix", "/usr", env={**os.environ, "DESTDIR": str(dest)})
    return dest / "usr"


def folder(tree, pattern):
    found = [p for p in tree.rglob(pattern)]
    assert found, f"no {pattern} was installed"
    return found[0].parent


def pkg_config(tree, *what):
    env = {**os.environ, "PKG_CONFIG_PATH": str(folder(tree, "kiln.pc"))}
    return run("pkg-config", *what, "kiln", env=env).split()


def test_what_is_installed(tree):
    for pattern in ("libkiln.so", "libkiln.so.0", "libkiln.a", "kiln.pc", "KilnConfig.cmake", "KilnTargets.cmake",
                    "kiln/kiln.h", "kiln/ir.h", "kiln/abi.h", "kiln/err.def", "kiln/exceptions.def"):
        folder(tree, pattern)


def test_only_our_names_are_exported(tree):
    shared = folder(tree, "libkiln.so") / "libkiln.so"
    for options, library in ((["-D"], shared), ([], shared.with_suffix(".a"))):
        names = [line.split()[-1].split("@")[0] for line in run("nm", *options, "-g", "--defined-only", library).splitlines()
                 if len(line.split()) == 3]
        assert "kiln_connect" in names
        assert [n for n in names if not n.startswith(("kiln_", "KILN_"))] == []
        assert "kiln_err_set" not in names  # the inside stays inside


@pytest.mark.parametrize("language,compiler", [("c", ["gcc", "-std=c11", "-pedantic"]), ("c++", ["g++", "-std=c++17"])])
def test_headers_serve_c_and_cpp(tree, tmp_path, language, compiler):
    source = tmp_path / "all.c"
    source.write_text("#include <kiln/ir.h>\n#include <kiln/abi.h>\nint main(void) { return kiln_version() == nullptr_; }\n"
                      .replace("nullptr_", "0"))
    flags = pkg_config(tree, "--cflags", "--libs")
    run(*compiler, "-Wall", "-Wextra", "-Werror", "-x", language, source, "-x", "none", *flags, "-o", tmp_path / "all")
    run(tmp_path / "all", env={**os.environ, "LD_LIBRARY_PATH": str(folder(tree, "libkiln.so"))})


@pytest.fixture(scope="module")
def programs(tree, tmp_path_factory):
    """The examples by three ways of building: name of the way -> folder with the programs."""
    shared, static = tmp_path_factory.mktemp("shared"), tmp_path_factory.mktemp("static")
    package = tmp_path_factory.mktemp("package")
    archive = folder(tree, "libkiln.a") / "libkiln.a"
    for name in ("dot", "llvm"):
        run("gcc", "-Wall", "-Werror", EXAMPLES / f"{name}.c", *pkg_config(tree, "--cflags", "--libs"), "-o", shared / name)
        run("gcc", EXAMPLES / f"{name}.c", *pkg_config(tree, "--cflags"), archive, "-lsodium", "-lpthread", "-ldl", "-lm", "-o",
            static / name)
    run("cmake", "-S", EXAMPLES, "-B", package, f"-DCMAKE_PREFIX_PATH={tree}")
    run("cmake", "--build", package)
    return {"pkg-config": shared, "static": static, "cmake": package}


@pytest.fixture
def environment(tree, tmp_path):
    """A daemon of the test's own: the first example starts it."""
    if not DAEMON.exists():
        pytest.skip("kilnd is not built")
    env = {**os.environ, "KILN_SOCKET": str(tmp_path / "s"), "KILN_CACHE_DIR": str(tmp_path / "cache"),
           "KILN_DAEMON": str(DAEMON), "LD_LIBRARY_PATH": str(folder(tree, "libkiln.so"))}
    yield env
    subprocess.run([BUILD / "bin" / "kiln", "stop"], env=env, capture_output=True)
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.mark.parametrize("way", ["pkg-config", "static", "cmake"])
def test_examples_run(programs, environment, way):
    assert run(programs[way] / "dot", env=environment).startswith("dot = 300 (compiled, ")
    assert run(programs[way] / "dot", env=environment).startswith("dot = 300 (memory, ")
    assert run(programs[way] / "llvm", EXAMPLES / "hypotenuse.ll", env=environment) == "hypotenuse(3, 4) = 5\n"


def test_the_whole_runs_from_where_it_is_installed(tmp_path):
    """Program, workers and package find each other below any prefix; a client starts the daemon that is on PATH."""
    import sys
    dest = tmp_path / "dest"
    done = subprocess.run(["cmake", "--install", str(BUILD), "--prefix", "/usr"], env={**os.environ, "DESTDIR": str(dest)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    run.mkdir(mode=0o700)
    env = {"PATH": f"{dest}/usr/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR": str(run), "XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path),
           "PYTHONPATH": str(dest / "usr/lib/python3/dist-packages")}
    script = tmp_path / "twice.py"
    script.write_text("from kilnjit import njit\n@njit\ndef twice(x):\n    return x * 2\nprint(twice(21))\n")
    done = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, timeout=100)
    assert done.stdout == "42\n", done.stderr
    status = subprocess.run(["kiln", "status", "--json"], env=env, capture_output=True, text=True)
    assert '"workers"' in status.stdout, status.stderr
    assert subprocess.run(["kiln", "stop"], env=env).returncode == 0
