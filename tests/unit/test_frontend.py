# SPDX-License-Identifier: Apache-2.0
"""The Python frontend without a daemon: what KIR it makes, what changes the bytes and what does not, where it finds
source, what it refuses. Every module is held against docs/kir.md by the independent checker."""
import linecache
import sys
import types

import numpy as np
import pytest

import frontend_samples as samples
from kir_text import text, wire
from kilnjit import _kir as K
from kilnjit.frontend import audit, source
from kilnjit.frontend.convert import convert
from kilnjit.frontend.diagnostics import Refused, SourceError

audit.install()
_count = 0


def made(code, name="f", **space):
    """A function from text, as from a notebook cell of its own."""
    global _count
    _count += 1
    filename = f"/cells/{_count}.py"
    linecache.cache[filename] = (len(code), None, code.splitlines(True), filename)
    exec(compile(code, filename, "exec"), space)
    return space[name]


# -- goldens

GOLDEN = [
    ("def f(x):\n return x + 1", "f0(x): (return (binary + (local x0) (const 1)))"),
    ("def f(a):\n 'doc'\n s = 0.0\n for i in range(len(a)):\n  s += a[i]\n return s",
     "f0(a): (assign (const 0.0) (local x1)) (for (local x2) (call (lib 'builtins.range') (call (lib 'builtins.len') (local x0))) "
     "(block (augassign + (local x1) (subscript (local x0) (local x2))))) (return (local x1))"),
    ("def f(n):\n return 1 if n < 2 else f(n - 1) * n",
     "f0(n): (return (ifexp (compare < (local x0) (const 2)) (const 1) (binary * (call (func f0) (binary - (local x0) (const 1))) (local x0))))"),
    ("def f(x, k=2, *, m=0.5):\n def g(y):\n  return y * x\n return g(k)",
     "f0(x, k=2, m=0.5): (assign (closure f1 x0) (local x3)) (return (call (local x3) (local x1)))\n"
     "f1(y): (return (binary * (local x0) (free u0)))"),
    ("def f(a, b):\n if a:\n  return 1\n elif b:\n  return 2\n else:\n  pass",
     "f0(a, b): (if (local x0) (block (return (const 1))) (block (if (local x1) (block (return (const 2))) (block (pass)))))"),
    ("def f(x):\n match x:\n  case 1: return 2\n  case y: return y",
     "f0(x): (assign (local x0) (local x1)) (if (compare == (local x1) (const 1)) (block (return (const 2))) "
     "(block (assign (local x1) (local x2)) (return (local x2))))"),
    ("def f(x):\n return [i + x for i in range(3)]",
     "f0(x): (return (comp list (binary + (local x1) (local x0)) (compfor (local x1) (call (lib 'builtins.range') (const 3)))))"),
]


@pytest.mark.parametrize("code,golden", GOLDEN)
def test_golden(code, golden):
    assert text(made(code)) == golden


def test_everything_is_valid():
    everything = samples.everything
    module = wire(everything)
    ops = {op for f in module[5] for op, _ in __import__("kir_checker").split(f)}
    ops |= {op for f in wire(samples.generator)[5] for op, _ in __import__("kir_checker").split(f)}
    ops |= {op for f in wire(samples.constants)[5] for op, _ in __import__("kir_checker").split(f)}
    assert set(K.OP_TEXT) - ops == {K.PARFOR}
    assert len(module[5]) == 3  # itself, inner, the lambda in it


def test_prange_is_a_parallel_loop():
    class prange:
        _kiln_library = "kilnjit.prange"
    assert text(made("def f(n):\n for i in p(n):\n  pass", p=prange)) == \
        "f0(n): (parfor (local x1) (call (lib 'kilnjit.prange') (local x0)) (block (pass)))"


# -- names of the library

def test_library_names():
    names = [p[0] for k, *p in wire(samples.library)[3] if k == K.K_STR]
    assert names == ["numpy.sin", "math.sqrt", "cmath.exp", "numpy.linalg.norm", "numpy.absolute", "builtins.len", "operator.add",
                     "numpy.add", "reduce", "numpy.random.rand", "builtins.int", "builtins.ValueError", "numpy.zeros", "builtins.range"] \
        or names[6] == "_operator.add"
    kinds = [p[0] for k, *p in wire(samples.library)[3] if k == K.K_TYPE]
    assert kinds == ["float32", "int64"]


def test_constants_by_content():
    module = wire(samples.constants)
    consts = module[3]
    assert [K.K_INT, 3] in consts and [K.K_SCALAR, "float32", np.float32(1.5).tobytes()] in consts
    assert [K.K_BIGINT, str(0xFFFFFFFFFFFFFFFFFFFF)] in consts and [K.K_INT, 2**64 - 1] in consts and [K.K_INT, -2**63] in consts
    assert [K.K_EXCEPTION, "frontend_samples.Broken(Exception,BaseException)"] in consts and [K.K_TYPE, "float32"] in consts and [K.K_TYPE, "int8"] in consts and [K.K_TYPE, "float32"] in consts
    assert module[2] == 1  # TABLE is a slot, its content is not here
    assert [K.UT_ENUM, "Color"] == [u[:2] for u in module[4] if u[0] == K.UT_ENUM][0]
    assert convert(samples.constants).env[0] is samples.TABLE


def test_typed_content_of_constants_differs():
    bodies = ["1", "1.0", "True", "-0.0", "0.0", "0", "False", "1j", "'1'", "b'1'", "None", "(1,)", "(1.0,)", "NAN1", "NAN2", "I1", "I2"]
    nan1, nan2 = np.array([0x7FF8000000000000, 0x7FF8000000000001], np.uint64).view(np.float64).tolist()
    space = dict(NAN1=nan1, NAN2=nan2, I1=np.int64(1), I2=np.int32(1))
    seen = {repr(text(made(f"def f():\n return {b}", **space))) if "NAN" not in b else
            bytes(__import__("msgpack").packb(wire(made(f"def f():\n return {b}", **space)))) for b in bodies}
    assert len(seen) == len(bodies)


# -- canonical bytes

BASE = "def f(a, k=1):\n    s = 0\n    for x in a:\n        s = s + x * k\n    return s\n"


@pytest.mark.parametrize("change", [
    lambda s: s.replace("s", "total"), lambda s: s.replace("x", "item"), lambda s: s.replace("    ", "  "),
    lambda s: "\n\n# comment\n" + s, lambda s: s.replace("return s", "return (s)  # note"),
    lambda s: s.replace("    s = 0\n", "    'docstring'\n    s = 0\n    ...\n", 1), lambda s: s.replace("s + x * k", "(s +\n x * k)"),
    lambda s: s.replace("(a, k=1)", "(a: list, k: int = 1) -> float"), lambda s: s.replace("s = 0\n", "s: int = 0\n"),
    lambda s: s.replace("        s = s + x", "        pass\n        s = s + x"),
])
def test_same_bytes(change):
    changed = change(BASE)
    assert changed != BASE
    assert wire(made(changed)) == wire(made(BASE))


@pytest.mark.parametrize("change", [
    lambda s: s.replace("s = 0", "s = 1"), lambda s: s.replace("s = 0", "s = 0.0"), lambda s: s.replace("k=1", "k=2"),
    lambda s: s.replace("*", "/"), lambda s: s.replace("(a, k=1)", "(b, k=1)").replace("in a", "in b"),
    lambda s: s.replace("s + x * k", "x * k + s"), lambda s: s.replace("return s", "return -s"),
])
def test_other_bytes(change):
    assert wire(made(change(BASE))) != wire(made(BASE))


def test_a_changed_callee_or_global_is_another_module():
    def variant(factor, helper):
        return wire(made("def f(x):\n return h(x) * factor", factor=factor, h=made(helper, "h")))
    base = variant(2, "def h(x):\n return x")
    assert base == variant(2, "def h(y):\n return y".replace("y", "x"))
    assert base != variant(3, "def h(x):\n return x") and base != variant(2, "def h(x):\n return x + 1")
    assert base != variant(2.0, "def h(x):\n return x") and base != variant(True, "def h(x):\n return x")


def test_mutual_recursion_and_one_copy_of_each_function():
    assert text(samples.ping).count("f1(") == 1
    assert len(wire(samples.ping)[5]) == 2
    both = made("def f(x):\n return h(x) + h(x, 3)", h=samples.helper)
    assert len(wire(both)[5]) == 2


def test_a_plain_callee_has_its_callers_options():
    f = made("def f(x):\n return h(x)", h=samples.helper)
    assert [row[3] for row in wire(f, K.F_NNAN)[5]] == [0, K.F_NNAN]
    assert convert(f, K.F_NNAN).entry_flags == K.F_NNAN


def test_generators_are_marked():
    assert convert(samples.generator).entry_flags == K.F_GENERATOR
    f = made("def f(n):\n return sum(g(n))", g=samples.generator)
    assert [row[3] for row in wire(f)[5]] == [0, K.F_GENERATOR]


def test_long_texts():
    """As long as this Python compiles from a tree: 3.12 has a lower limit of its own."""
    terms, arms = (2500, 700) if sys.version_info < (3, 12) else (300, 100)
    chain = " + ".join(["x"] * terms)
    assert len(wire(made(f"def f(x):\n return {chain}"))[5][0][5]) > 2 * terms
    elifs = "".join(f" elif x == {i}:\n  return {i}\n" for i in range(arms))
    assert wire(made(f"def f(x):\n if x < 0:\n  return 0\n{elifs} return x"))[5][0][4] > 4 * arms


# -- where source is found

def test_lambdas_on_one_line():
    first, second = samples.make_pair()
    assert text(first) == "f0(x): (return (binary + (local x0) (const 1)))"
    assert text(second) == "f0(x): (return (binary + (local x0) (const 2)))"
    a, b = made("f = [lambda x: x + 1, lambda x: x + 1]\n")
    assert convert(a).functions[0].positions[0][1] < convert(b).functions[0].positions[0][1]
    assert text(samples.wrapped) == "f0(x): (return (binary * (local x0) (const 3)))"


def test_looking_changes_no_tree():
    f = made("f = lambda x: (lambda y=3: y)() + x\n")
    assert text(f) == "f0(x): (return (binary + (call (func f1)) (local x0)))\nf1(y=3): (return (local x0))"


def test_closures_methods_decorators_and_strings():
    assert text(samples.make(5)) == "f0(x): (return (binary + (local x0) (const 5)))"
    assert text(samples.Klass.method) == "f0(self, x): (return (binary + (local x1) (const 3)))"
    assert text(samples.decorated) == "f0(x, y='\\nnot the end\\n'): (assign (local x0) (local x2)) (return (local x2))"
    assert "(return (tuple (local x1) (local x0)))" in text(samples.text_inside)


def test_exec_is_seen_by_the_audit_hook():
    space = {}
    exec("def f(x):\n    return x * 7\n", space)
    exec("def f(x):\n    return x * 8\n", other := {})
    assert "const 7" in text(space["f"]) and "const 8" in text(other["f"])
    exec(compile("g = lambda x: x - 9", "<made up>", "exec"), space)
    assert "const 9" in text(space["g"])


def test_audit_memory_is_bounded():
    for i in range(audit.MAX_PER_NAME + 50):
        compile(f"def f{i}(): pass", "<many>", "exec")
    assert len(audit.texts("<many>")) == audit.MAX_PER_NAME
    big = "def f(): pass\n" + "#" * (audit.MAX_TEXT - 100)
    for i in range(20):
        compile(big, f"<big {i}>", "exec")
    assert sum(len(t) for ts in audit._texts.values() for t in ts) <= audit.MAX_BYTES
    assert audit.texts("<big 19>") and not audit.texts("<big 0>")


def test_changed_source_is_refused(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def f(x):\n    return x + 1\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    path.write_text("def f(x):\n    return x + 2\n")
    with pytest.raises(SourceError, match="changed since it was loaded"):
        source.find(space["f"])
    path.write_text("y = 1\n\nif y:\n    def f(x):\n        return x + 1\n")  # moved, and proven to be the same
    assert source.find(space["f"]).node.lineno == 4
    path.write_text("def f(x):\n    return x + 1  # the same program\n")
    assert source.find(space["f"]).node.name == "f"


def test_no_source():
    code = compile("def f(x): return x", "/nowhere/at/all.py", "exec").co_consts[0]
    audit._texts.pop("/nowhere/at/all.py", None)
    if "/nowhere/at/all.py" in audit._order:
        audit._order.remove("/nowhere/at/all.py")
    with pytest.raises(SourceError, match="no source"):
        source.find(types.FunctionType(code, {}))


def test_encodings(tmp_path):
    path = tmp_path / "latin.py"
    path.write_bytes("# -*- coding: latin-1 -*-\ndef f(x):\n    é = x\n    return é\n".encode("latin-1"))
    space = {}
    exec(compile(path.read_bytes(), str(path), "exec"), space)
    assert text(space["f"]) == "f0(x): (assign (local x0) (local x1)) (return (local x1))"


def test_positions_are_those_of_the_text():
    f = made("\n\ndef f(x):\n    return (x +\n        y)\n", y=2)
    module = convert(f)
    kinds = __import__("kir_checker").split(module.wire[5][0])
    place = {K.OP_TEXT[op]: p for (op, _), p in zip(kinds, module.functions[0].positions)}
    assert place["binary"] == (4, 12, 5, 9) and place["const"] == (5, 8, 5, 9) and module.functions[0].locals == ["x"]


# -- refusals: message, place

@pytest.mark.parametrize("body,message,line,column", [
    ("return y", "name 'y' is not defined", 2, 8),
    ("global G\n G = 1", "the global 'G' can't be assigned", 3, 1),
    ("return g(**x)", r"\*\* in a call", 2, 12),
    ("class A: pass", "classdef statements", 2, 1),
    ("return OBJECT", "'OBJECT' is an object of type 'dict'", 2, 8),
    ("return math.nothing", "math has no attribute 'nothing'", 2, 8),
    ("def g(y=x): return y\n return g()", "defaults of inner functions must be constants", 2, 9),
    ("import nothing_of_that_name\n return nothing_of_that_name.x", "cannot import", 2, 1),
    ("match x:\n  case {'a': 1}: pass", "patterns of classes and mappings", 3, 7),
    ("return math", "module math can't be used as a value", 2, 8),
    ("return WORDS", "an array of dtype <U1", 2, 8),
])
def test_refused(body, message, line, column):
    f = made(f"def f(x):\n {body}\n", g=samples.helper, OBJECT={}, math=__import__("math"), WORDS=np.array(["a"]))
    with pytest.raises(Refused, match=message) as caught:
        convert(f)
    assert (caught.value.node.lineno, caught.value.node.col_offset) == (line, column)
    assert caught.value.tree.name == "f"


def test_async_is_refused():
    with pytest.raises(Refused, match="async"):
        convert(made("async def f(x):\n return x"))


def test_nonlocal_of_python_is_refused():
    f = made("def make():\n n = 0\n def f():\n  nonlocal n\n  n = 1\n return f\nf = make()\n")
    with pytest.raises(Refused, match="belongs to a function that is not compiled"):
        convert(f)


def test_own_name_while_decorating():
    code = "def f(n):\n return f(n - 1)\n"
    f = made(code)
    f.__globals__["f"] = 3  # the name still means an older object
    assert "(call (func f0)" in text(f, own_name=True)
    assert "(func f0)" not in text(f)


def test_python_versions_agree():
    """The bytes above were made by this Python; this hash was made by 3.11."""
    from hashlib import blake2b
    from msgpack import packb
    digest = blake2b(packb(wire(made(BASE))), digest_size=8).hexdigest()
    assert digest == "90d08bf49d78e430", (sys.version, digest)
