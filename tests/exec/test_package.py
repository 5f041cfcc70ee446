# SPDX-License-Identifier: Apache-2.0
"""What users do with njit beside calling the result: options, signatures, questions, errors and tracebacks."""
import copy
import enum
import inspect
import pickle
import subprocess
import sys
import traceback
import warnings
from collections import namedtuple

import numpy as np
import pytest

import kilnjit
import mistakes
from kilnjit import errors, jit, njit, prange, types, typeof
from same import compiled


def add(a, b):
    """Adds."""
    return a + b


# -- decorating


def test_forms_of_the_decorator():
    for f in (njit(add), jit(add), njit()(add), njit(fastmath=True)(add), jit(nopython=True, cache=True)(add)):
        assert f(1, 2) == 3 and f(1.5, 2) == 3.5
        assert (f.__name__, f.__doc__, f.__module__, f.__wrapped__, f.py_func) == ("add", "Adds.", __name__, add, add)
        assert inspect.signature(f) == inspect.signature(add)


def test_unknown_options_name_the_nearest():
    with pytest.raises(TypeError, match="no option 'fastmat'; was 'fastmath' meant"):
        njit(fastmat=True)(add)
    with pytest.raises(TypeError, match="fastmath knows"):
        njit(fastmath={"quick"})(add)
    with pytest.raises(TypeError, match="'python' or 'numba'"):
        njit(semantics="c")(add)
    with pytest.raises(TypeError, match="object mode"):
        njit(forceobj=True)(add)
    with pytest.raises(TypeError, match="compiled already"):
        njit(njit(add))
    with pytest.raises(TypeError, match="compiles functions"):
        njit(3.5)


def test_lazy_specializations():
    f = njit(add)
    assert f.signatures == [] and f.stats == (0, 0)
    f(1, 2), f(1.0, 2), f(np.float32(1), 2.0), f(3, 4)
    assert f.signatures == [("pyint", "pyint"), ("pyfloat", "pyint"), ("float32", "pyfloat")]
    assert f.nopython_signatures[2] == "float32(float32, pyfloat)" and set(f.overloads) == set(f.signatures)
    assert sum(f.stats) == 3


@pytest.mark.parametrize("signature", ["float64(int64, float64)", types.float64(types.int64, types.float64), "(int64, float64)",
                                       (types.int64, types.float64), "f8(i8, f8)", ["float64(int64, float64)"]])
def test_eager_signatures(signature):
    f = njit(signature)(add)
    assert f(1, 2) == 3.0 and type(f(np.int8(1), np.float32(2))) in (float, np.float64)
    assert f.signatures == [("int64", "float64")]
    with pytest.raises(TypeError, match="int64"):
        f(np.ones(3), 1)


def test_several_signatures_take_the_nearest():
    f = njit(["int64(int64, int64)", "float64(float64, float64)"])(add)
    assert isinstance(f(1, 2), (int, np.integer)) and f(1, 2.5) == 3.5
    assert len(f.signatures) == 2


@njit("int64(int64)")
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def test_an_eager_function_calls_itself():
    assert factorial(10) == 3628800


def test_bad_signatures():
    with pytest.raises(errors.KilnSignatureError, match="floot64"):
        njit("floot64(int64)")(lambda x: x)(1)
    with pytest.raises(errors.KilnSignatureError, match="2 types for 1"):
        njit("float64(int64, int64)")(lambda x: x)(1)


def test_compile_disable_recompile():
    f = njit(add)
    f.compile("float64(float64, float64)")
    f.disable_compile()
    assert f(1, 2) == 3.0 and isinstance(f(1, 2), float)
    with pytest.raises(RuntimeError, match="compilation disabled"):
        f.compile("int64(int64, int64)")
    f.disable_compile(False)
    assert f(1, 2) == 3
    f.recompile()
    assert f.signatures == [("float64", "float64"), ("pyint", "pyint")]


def test_recompile_keeps_signatures():
    global FACTOR
    FACTOR = 2
    f = njit("float32(int64)")(uses_factor)
    assert f(3) == 6.0
    FACTOR = 5
    f.recompile()
    assert f(3) == 15.0 and f.nopython_signatures == ["float32(int64)"]
    with pytest.raises(RuntimeError, match="compilation disabled"):
        f.compile("float64(float64)")


def test_arguments_by_name_default_and_star():
    @njit
    def f(a, b=2, *rest, c=3):
        return a + 10 * b + 100 * c + 1000 * len(rest)
    assert f(1) == 321 and f(1, c=4) == 421 and f(b=5, a=1) == 351 and f(1, 2, 3, 4) == 2321
    for wrong in (lambda: f(), lambda: f(1, d=2), lambda: f(1, a=2)):
        with pytest.raises(TypeError):
            wrong()


def single(x):
    s = 1.0
    s += x
    return s


def test_locals_are_cast():
    f = njit(locals={"s": types.float32})(single)
    assert f(0.1) == float(np.float32(1.1)) != 1.1 and f.nopython_signatures == ["float32(pyfloat)"]
    assert njit(locals={"s": "f8"})(single).py_func is single
    with pytest.raises(TypeError, match="locals gives number types"):
        njit(locals={"s": "array"})(single)


class Holder:
    factor = 3

    @njit
    def plus(self, x):
        return x + 1

    @staticmethod
    @njit
    def twice(x):
        return x * Holder.factor


def test_methods_and_class_attributes():
    assert Holder.twice(2) == 6
    with pytest.raises(errors.KilnTypeError, match="argument 'self'"):
        Holder().plus(1)


pickled = njit(lambda x: x)
pickled = njit(add)


def test_copies_and_pickles_are_the_same_object():
    assert pickle.loads(pickle.dumps(Holder.twice)) is Holder.twice
    assert copy.copy(Holder.twice) is Holder.twice


def test_inspection():
    f = njit(add)
    f(1.0, 2.0)
    assert "fadd" in f.inspect_llvm(("pyfloat", "pyfloat")) and "ret" in f.inspect_asm()["pyfloat", "pyfloat"]
    with pytest.raises(KeyError):
        f.inspect_llvm(("int8", "int8"))


def test_typeof_and_types():
    assert str(typeof(1)) == "pyint" and str(typeof(1, "numba")) == "int64" and typeof(np.ones((2, 2))) == types.float64[:, ::1]
    assert str(types.float64[::1, :]) == "float64[::1, :]" and str(types.void(types.i4, types.f8[:])) == "none(int32, float64[:])"
    assert str(typeof((1, 2.0))) == "Tuple((pyint, pyfloat))" and str(types.UniTuple(types.int8, 2)) == "UniTuple(int8, 2)"
    assert str(typeof([1.5])) == "list(pyfloat)" and str(typeof({1: {2.5}})) == "dict(pyint, set(pyfloat))"
    with pytest.raises(TypeError, match="object"):
        typeof(object())


def test_prange_is_a_range_in_python():
    assert list(prange(3)) == [0, 1, 2]

    @njit(parallel=True)
    def total(a):
        s = 0.0
        for i in prange(len(a)):
            s += a[i]
        return s
    try:
        assert total(np.ones(1000)) == 1000.0
    except errors.KilnError as e:
        assert "prange" in str(e)


# -- values from outside

Point = namedtuple("Point", "x y")
FACTOR = 10


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def uses_factor(x):
    return x * FACTOR


def test_a_changed_global_is_named():
    global FACTOR
    FACTOR = 10
    f = njit(uses_factor)
    assert f(2) == 20
    FACTOR = 11
    assert f(2) == 20
    with pytest.warns(errors.KilnWarning, match="FACTOR changed since the first compile"):
        assert f(2.0) == 22.0
    f.recompile()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(2) == 22 and f(2.0) == 22.0


TABLE = np.arange(3.0)


def reads_table(i):
    return TABLE[i]


def writes_table(i):
    TABLE[i] = 1.0


def test_captured_arrays_by_semantics():
    TABLE[:] = [0, 1, 2]
    live, frozen = njit(reads_table), njit(semantics="numba")(reads_table)
    assert live(1) == frozen(1) == 1.0
    TABLE[1] = 50.0
    assert live(1) == 50.0 and frozen(1) == 1.0
    njit(writes_table)(2)
    assert TABLE[2] == 1.0
    with pytest.raises(errors.KilnTypeError, match="read-only"):
        njit(semantics="numba")(writes_table)(2)


def test_shadowed_builtins_and_imports_inside():
    def length(a):
        import math as m
        from numpy import pi
        return m.floor(pi) + len(a)
    assert njit(length)((1, 2)) == 5


# -- errors


def message_of(f, *arguments):
    with pytest.raises(errors.KilnError) as caught:
        compiled(f)(*arguments)
    return caught.value, str(caught.value).split("\n")


@pytest.mark.parametrize("f,arguments,first", [(getattr(mistakes, name), arguments, first) for name, arguments, first in mistakes.ALL])
def test_a_mistake_is_shown_at_its_line(f, arguments, first):
    """Each function of mistakes.py has the mark `# here` on the line that is wrong."""
    error, lines = message_of(f, *arguments)
    assert first in lines[0], lines
    assert len(lines) <= 10
    text, begin = inspect.getsourcelines(f)
    number, wrong = next((begin + i, line) for i, line in enumerate(text) if "# here" in line)
    assert lines[1] == f'  File "{mistakes.__file__}", line {number}, in {f.__name__}'
    assert lines[2].strip() == wrong.strip()
    assert set(lines[3].strip()) == {"^"}


def test_error_classes():
    error, _ = message_of(mistakes.adds_text, 1)
    assert isinstance(error, errors.TypingError) and isinstance(error, TypeError) and error.name == "TYPE"
    assert isinstance(message_of(mistakes.undefined, 1)[0], errors.UnsupportedError)


def test_arguments_without_a_type():
    for value, words in ((range(3), "range"), (object(), "object"), (np.array(["a"]), "dtype <U1")):
        with pytest.raises(errors.KilnTypeError, match=f"argument 'b' of add.*{words}"):
            njit(add)(1, value)


def test_a_failed_compile_fails_again_and_leaves_the_function_usable():
    f = njit(mistakes.by_type)
    for _ in range(2):
        with pytest.raises(errors.KilnTypeError):
            f((1, "a"))
    assert f(2) == 3


# -- exceptions of running code


def frames(error):
    return [(f.name, f.line) for f in traceback.extract_tb(error.__traceback__)]


def test_traceback_through_the_users_lines():
    with pytest.raises(ValueError) as caught:
        compiled(mistakes.outer)(-5)
    assert caught.value.args == ("negative", -5)
    assert frames(caught.value)[1:] == [("outer", "return middle(x) + 1"), ("middle", "return innermost(x)"),
                                        ("innermost", 'raise ValueError("negative", x)')]
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    text = open(mistakes.__file__).read().split("\n")[last.lineno - 1]
    assert text[last.colno:last.end_colno] == 'raise ValueError("negative", x)'
    assert last.filename == mistakes.__file__


def test_own_exception_classes():
    with pytest.raises(mistakes.Trouble) as caught:
        compiled(mistakes.troubled)(3)
    assert caught.value.args == ("too much", 3)


def test_division_by_zero_has_a_line():
    with pytest.raises(ZeroDivisionError) as caught:
        compiled(mistakes.divides)(1, 0)
    assert frames(caught.value)[-1] == ("divides", "return a // b")


# -- processes


def python(code, **env):
    import os
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": kilnjit.__path__[0] + "/..", **env},
                          capture_output=True, text=True, timeout=100)


def test_source_of_dash_c_and_switched_off():
    code = "from kilnjit import njit\nf = njit(lambda x: x + 1)\n@njit\ndef g(x):\n    return f(x) * 2\nprint(g(1), type(g).__name__)"
    assert python(code).stdout.split() == ["4", "Dispatcher"]
    assert python(code, KILN_DISABLE_JIT="1").stdout.split() == ["4", "function"]


def test_fallback_for_what_cannot_be_compiled():
    code = ("from kilnjit import njit\n@njit\ndef f(x, *, k=2):\n    return [x, str(x).upper()] * k\n"
            "print(f({}, k=1), f(3), f(4))")
    done = python(code, KILN_FALLBACK="python")
    assert done.stdout == "[{}, '{}'] [3, '3', 3, '3'] [4, '4', 4, '4']\n", done.stderr
    assert done.stderr.count("KilnWarning") == 1
    assert python(code).returncode == 1


def test_importing_is_light():
    code = ("import sys\nimport numpy\nbefore = set(sys.modules)\nimport kilnjit\n"
            "heavy = {'ast', 'inspect', 'dataclasses', 'asyncio', 'socket', 'kilnjit._kiln', 'kilnjit.frontend.convert'}\n"
            "print(sorted(heavy & (set(sys.modules) - before)))")
    assert python(code).stdout == "[]\n"
