# SPDX-License-Identifier: Apache-2.0
"""The C extension: fingerprints, packing, results, exceptions, threads, leaks.

The compiled code comes from the C compiler, so that every value that crosses the border is under the test's
control; no daemon takes part but in the tests at the end, which say so."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

from kilnjit import _kiln

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("KILN_TEST_BUILD", "build/release")
MISSING = _kiln.MISSING

TEMPLATE = r"""
#include <kiln/abi.h>
#include <string.h>
const unsigned char kiln_key[32] = { %(key)s };
static const struct kiln_host *host;
void kiln_bind(const struct kiln_host *h) { host = h; }
int use(void) { return host != 0; }
typedef struct kiln_mem *mem;
typedef struct { mem owner; void *data; intptr_t n, stride; } vec;
typedef struct { mem owner; void *data; intptr_t n[2], stride[2]; } mat;
typedef struct { mem owner; void *data; } scalar0;
%(types)s
int32_t kiln_entry(void *ret, const void *args, const void *env, struct kiln_exc *exc)
{
    (void)ret, (void)args, (void)env, (void)exc;
    %(body)s
    return 0;
}
"""


class Maker:
    """Compiles C bodies into artifacts, each body once."""

    def __init__(self, folder):
        self.folder, self.made = folder, {}

    def artifact(self, body, types=""):
        if (body, types) not in self.made:
            key = _kiln.digest((body + types).encode())
            source = self.folder / f"a{len(self.made)}.c"
            source.write_text(TEMPLATE % {"key": ", ".join(map(str, key)), "types": types, "body": body})
            library = source.with_suffix(".so")
            subprocess.run(["gcc", "-O1", "-shared", "-fPIC", f"-I{BUILD}", source, "-o", library], check=True)
            self.made[body, types] = _kiln.artifact(key, library.read_bytes())
        return self.made[body, types]

    def spec(self, body, params, ret, types="", **more):
        return _kiln.Specialization(self.artifact(body, types), params=params, ret=ret, **more)

    def function(self, body, names=("a",), ret="none", types="", numba=False, defaults=None, kinds=None, params=None,
                 spec=None, **more):
        """A Dispatcher whose specializations take whatever types come; `asked` is the list of them."""
        asked = []

        def compile_for(args, texts):
            asked.append(texts)
            return self.spec(body, params or texts, ret, types, **(spec or {}), **more)

        made = _kiln.Dispatcher("f", names, kinds or [2] * len(names), defaults or [MISSING] * len(names), compile_for,
                                numba=numba)
        made.asked = asked
        return made


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    return Maker(tmp_path_factory.mktemp("artifacts"))


@pytest.fixture(autouse=True)
def nothing_leaks():
    gc.collect()
    before = _kiln.counts()
    yield
    gc.collect()
    after = _kiln.counts()
    assert after["mem_live"] == before["mem_live"]
    assert after["mem_bytes"] == before["mem_bytes"]
    assert after["libraries_live"] == before["libraries_live"]


def identity(kind):
    return f"memcpy(ret, args, sizeof({kind}));"


# -- types ----------------------------------------------------------------------------------------------------

SCALARS = [
    (True, "bool", "bool"), (3, "pyint", "int64"), (1.5, "pyfloat", "float64"), (1j, "pycomplex", "complex128"),
    (None, "none", "none"), (np.bool_(True), "bool", "bool"), (np.int8(-3), "int8", "int8"),
    (np.uint16(3), "uint16", "uint16"), (np.int64(3), "int64", "int64"), (np.longlong(3), "int64", "int64"),
    (np.ulonglong(3), "uint64", "uint64"), (np.float16(1.5), "float16", "float16"),
    (np.float32(1.5), "float32", "float32"), (np.float64(1.5), "float64", "float64"),
    (np.complex64(1j), "complex64", "complex64"), (np.complex128(1j), "complex128", "complex128"),
]


@pytest.mark.parametrize("value,python,numba", SCALARS)
def test_typeof_scalars(value, python, numba):
    assert _kiln.typeof(value) == python
    assert _kiln.typeof(value, numba=True) == numba


def readonly(a):
    a = a.copy(order="K")
    a.flags.writeable = False
    return a


ARRAYS = [
    (np.zeros(3), "float64[::1]"), (np.zeros((3, 4)), "float64[:, ::1]"), (np.zeros((3, 4)).T, "float64[::1, :]"),
    (np.zeros((3, 4, 5), np.float32)[:, ::2], "float32[:, :, :]"), (np.zeros(6)[::2], "float64[:]"),
    (np.zeros(()), "Array(float64, 0, 'C')"), (np.zeros((1, 3)).T, "float64[:, ::1]"),
    (readonly(np.zeros(3, np.int16)), "Array(int16, 1, 'C', readonly=True)"),
    (np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float64), "Array(float64, 1, 'C', aligned=False)"),
    (np.zeros(3, np.longlong), "int64[::1]"), (np.zeros(2, bool), "bool[::1]"),
]


@pytest.mark.parametrize("value,text", ARRAYS)
def test_typeof_arrays(value, text):
    assert _kiln.typeof(value) == _kiln.typeof(value, numba=True) == text


def test_typeof_of_what_has_no_type():
    class Array(np.ndarray):
        pass

    for value in [object(), [object()], {1: object}, np.zeros(2, ">f8"), np.zeros(2, object), np.zeros(2, "M8[10s]"),
                  np.zeros(2, "f4,O"), np.zeros(2, "f4,>i4"), np.zeros(2, "S3"), np.zeros(3).view(Array), (1, object()), np.longdouble(1), range(3)]:
        assert _kiln.typeof(value) is None
    deep = ()
    for _ in range(40):
        deep = (deep,)
    assert _kiln.typeof(deep) is None
    assert _kiln.typeof(tuple(range(5000))) is None


def test_typeof_tuples():
    assert _kiln.typeof((1, (2.0, np.zeros(2)), ())) == "Tuple((pyint, Tuple((pyfloat, float64[::1])), Tuple(())))"
    assert _kiln.typeof((1,), numba=True) == "Tuple((int64,))"


def test_typeof_large_ints():
    assert _kiln.typeof(2 ** 63, numba=True) == "uint64"
    assert _kiln.typeof(2 ** 63 - 1) == "pyint"
    assert _kiln.typeof(-2 ** 63) == "pyint"
    for value, numba in [(2 ** 63, False), (2 ** 64, True), (-2 ** 63 - 1, True)]:
        with pytest.raises(OverflowError):
            _kiln.typeof(value, numba=numba)


def test_accepted_subclasses(tmp_path):
    assert _kiln.typeof(np.memmap(tmp_path / "m", np.float64, "w+", shape=(3,))) == "float64[::1]"
    own = np.zeros(3).view(type("Own", (np.ndarray,), {}))
    assert _kiln.typeof(own) is None
    _kiln.accept_array_type(type(own))
    assert _kiln.typeof(own) == "float64[::1]"
    for bad in (int, np.float64):
        with pytest.raises(TypeError):
            _kiln.accept_array_type(bad)
    with pytest.raises(TypeError):
        _kiln.accept_array_type(3)


# -- values in and out ------------------------------------------------------------------------------------------

ROUND_TRIPS = [
    ("uint8_t", "bool", True, True), ("uint8_t", "bool", False, False), ("int64_t", "pyint", -5, -5),
    ("int64_t", "pyint", 2 ** 63 - 1, 2 ** 63 - 1), ("int64_t", "pyint", -2 ** 63, -2 ** 63),
    ("double", "pyfloat", -0.0, -0.0), ("double", "pyfloat", float("inf"), float("inf")),
    ("double[2]", "pycomplex", 1 - 2j, 1 - 2j), ("int8_t", "int8", np.int8(-128), -128),
    ("uint8_t", "uint8", np.uint8(200), 200), ("int16_t", "int16", np.int16(-300), -300),
    ("uint16_t", "uint16", np.uint16(65535), 65535), ("int32_t", "int32", np.int32(-2 ** 31), -2 ** 31),
    ("uint32_t", "uint32", np.uint32(2 ** 32 - 1), 2 ** 32 - 1), ("int64_t", "int64", np.int64(-7), -7),
    ("uint64_t", "uint64", np.uint64(2 ** 64 - 1), 2 ** 64 - 1), ("uint16_t", "float16", np.float16(-1.5), -1.5),
    ("uint16_t", "float16", np.float16(6e-8), float(np.float16(6e-8))), ("float", "float32", np.float32(0.1), float(np.float32(0.1))),
    ("double", "float64", np.float64(0.1), 0.1), ("float[2]", "complex64", np.complex64(1 + 2j), 1 + 2j),
    ("double[2]", "complex128", np.complex128(3 - 4j), 3 - 4j), ("char[0]", "none", None, None),
]


@pytest.mark.parametrize("numba", [False, True])
@pytest.mark.parametrize("kind,text,value,expected", ROUND_TRIPS)
def test_scalars_there_and_back(make, kind, text, value, expected, numba):
    """Sized numbers come back as NumPy's, in numba semantics as Python's; weak ones are Python's."""
    f = make.function(identity(kind), ret=text, numba=numba, spec={"numba": numba})
    for _ in range(3):
        result = f(value)
        assert result == expected or (expected is None and result is None)
        assert type(result) is (type(expected) if numba or text == "bool" else type(value))
    assert f.asked == [(_kiln.typeof(value, numba),)]
    if expected == 0 and type(expected) is float:
        assert str(float(result)) == str(expected)


def test_halves_bit_by_bit(make):
    f = make.function(identity("uint16_t"), ret="float16")
    for bits in list(range(0, 65536, 97)) + [0x7C00, 0xFC00, 0x0001, 0x03FF, 0x0400, 0x7BFF]:
        value = np.uint16(bits).view(np.float16)
        if not np.isnan(value):
            assert f(value) == float(value)


def test_arguments_lie_as_in_c(make):
    names = list("abcdefg")
    f = make.function("""
        struct t { uint8_t a; double b; int8_t c; struct { int64_t x; float y; } d; uint8_t e; vec v; int16_t g; };
        const struct t *t = args;
        *(double *)ret = t->a + 2 * t->b + 3 * t->c + 5 * t->d.x + 7 * t->d.y + 11 * t->e + 13 * ((double *)t->v.data)[1]
                         + 17 * t->g;""", names, "pyfloat")
    got = f(True, 1.5, np.int8(-2), (4, np.float32(0.5)), False, np.array([1.0, 2.0]), np.int16(3))
    assert got == 1 + 3 - 6 + 20 + 3.5 + 0 + 26 + 51


def test_array_fields(make):
    f = make.function("""
        const mat *m = args;
        memcpy(ret, m->n, 32);""", ret="Tuple((int64, int64, int64, int64))")
    base = np.zeros((6, 8), np.int32)
    for a in (base, base.T, base[::2, ::-1], base[5:0:-2, 3:]):
        assert f(a) == a.shape + a.strides  # int64, as NumPy's own


def test_large_blocks(make):
    n = 1000
    f = make.function(f"""
        const double *d = args; double s = 0;
        for (int i = 0; i < {n}; i++) s += d[i];
        *(double *)ret = s;""", ret="pyfloat")
    assert f(tuple(float(i) for i in range(n))) == sum(range(n))
    g = make.function("memcpy(ret, args, 1000 * 8);", ret="Tuple((" + ", ".join(["pyfloat"] * n) + "))")
    values = tuple(float(i) for i in range(n))
    assert g(values) == values
    names = [f"a{i}" for i in range(20)]
    h = make.function("*(double *)ret = *(double *)((const vec *)args)[19].data;", names, "pyfloat")
    assert h(*[np.array([float(i)]) for i in range(20)]) == 19.0


def test_optionals(make):
    f = make.function("memcpy(ret, args, 16);", ret="optional(pyint)", params=["optional(pyint)"])
    assert f(5) == 5
    assert f(None) is None
    assert f(7) == 7


def test_tuples_out(make):
    f = make.function("""
        struct { int64_t a; struct { double x; uint8_t y; } t; float z; } r = { 4, { 2.5, 1 }, 0.5f };
        memcpy(ret, &r, sizeof r);""", (), "Tuple((pyint, Tuple((pyfloat, bool, none)), float32))")
    assert f() == (4, (2.5, True, None), 0.5)


# -- arrays out -------------------------------------------------------------------------------------------------

NEW = """
    mem m = host->alloc(24);
    double *d = m->data; d[0] = 1; d[1] = 2; d[2] = 3;
    *(vec *)ret = (vec){ m, d, 3, 8 };"""


def test_new_arrays_are_writable_and_freed(make):
    f = make.function(NEW, (), "float64[::1]")
    live = _kiln.counts()["mem_live"]
    a = f()
    assert a.tolist() == [1, 2, 3] and a.flags.writeable and a.flags.c_contiguous and a.flags.aligned
    assert a.dtype == np.float64 and not a.flags.owndata
    a[:] = 7
    assert _kiln.counts()["mem_live"] == live + 1
    view = a[1:]
    del a
    gc.collect()
    assert view.tolist() == [7, 7]
    assert _kiln.counts()["mem_live"] == live + 1
    del view
    gc.collect()
    assert _kiln.counts()["mem_live"] == live


def test_arrays_keep_their_code_loaded(make):
    f = make.function(NEW + "static const int constant = 3; ((vec *)ret)->n = constant;", (), "float64[::1]")
    loaded = _kiln.counts()["libraries_live"]
    a = f()
    assert _kiln.counts()["libraries_live"] == loaded + 1
    f.clear()
    del f
    gc.collect()
    assert _kiln.counts()["libraries_live"] == loaded + 1
    assert a.tolist() == [1, 2, 3]
    del a
    gc.collect()
    assert _kiln.counts()["libraries_live"] == loaded


def test_two_arrays_over_one_memory(make):
    f = make.function(NEW + """
        vec *r = ret; m->refs++; r[1] = (vec){ m, d + 2, 3, -8 };""", (), "Tuple((float64[::1], float64[:]))")
    a, b = f()
    del a
    gc.collect()
    assert b.tolist() == [3, 2, 1]


def test_an_argument_comes_back_as_itself(make):
    f = make.function("*(vec *)ret = *(vec *)args; ((vec *)args)->owner->refs++;", ret="float64[::1]")
    a = np.arange(3.0)
    before = sys.getrefcount(a)
    assert f(a) is a
    assert sys.getrefcount(a) == before


def test_views_of_arguments_keep_them(make):
    f = make.function("""
        vec v = *(vec *)args; v.owner->refs++; v.data = (char *)v.data + 8; v.n -= 1; *(vec *)ret = v;""", ret="float64[::1]")
    a = np.arange(4.0)
    before = sys.getrefcount(a)
    b = f(a)
    assert b.base is a and b.tolist() == [1, 2, 3]
    assert sys.getrefcount(a) == before + 1
    b[0] = 9
    assert a[1] == 9
    del b
    assert sys.getrefcount(a) == before


def test_constant_data_without_owner(make):
    f = make.function("static double d[2] = { 4, 5 }; *(vec *)ret = (vec){ 0, d, 2, 8 };", (),
                      "Array(float64, 1, 'C', readonly=True)")
    a = f()
    assert a.tolist() == [4, 5] and not a.flags.writeable
    del f
    gc.collect()
    assert a.tolist() == [4, 5]


def test_shapes_of_results(make):
    f = make.function("""
        mem m = host->alloc(0); *(mat *)ret = (mat){ m, m->data, { 0, 5 }, { 40, 8 } };""", (), "float64[:, ::1]")
    assert f().shape == (0, 5)
    g = make.function("mem m = host->alloc(8); *(double *)m->data = 2; *(scalar0 *)ret = (scalar0){ m, m->data };", (),
                      "Array(float64, 0, 'C')")
    assert g().shape == () and g()[()] == 2


# -- calling ----------------------------------------------------------------------------------------------------

ADD = "const double *d = args; *(double *)ret = d[0] + 10 * d[1] + 100 * d[2];"


def test_keywords_and_defaults(make):
    f = make.function(ADD, "abc", "pyfloat", defaults=[MISSING, 2.0, 3.0])
    assert f(1.0) == 321.0
    assert f(1.0, c=5.0) == 521.0
    assert f(a=1.0, b=4.0) == 341.0
    assert f(*(1.0, 2.0), **{"c": 1.0}) == 121.0
    assert f.__call__(1.0, b=0.0) == 301.0
    assert f.asked == [("pyfloat",) * 3]


@pytest.mark.parametrize("call,message", [
    (lambda f: f(), "missing required positional argument: 'a'"), (lambda f: f(1.0, 2.0, 3.0, 4.0), "from 1 to 3 positional"),
    (lambda f: f(1.0, d=2.0), "unexpected keyword argument 'd'"), (lambda f: f(1.0, a=2.0), "multiple values for argument 'a'"),
])
def test_wrong_calls(make, call, message):
    f = make.function(ADD, "abc", "pyfloat", defaults=[MISSING, 2.0, 3.0])
    with pytest.raises(TypeError, match=message):
        call(f)


def test_kinds_of_parameters(make):
    f = make.function(ADD, "abc", "pyfloat", kinds=[1, 2, 4], defaults=[MISSING, 2.0, MISSING])
    assert f(1.0, c=1.0) == 121.0
    with pytest.raises(TypeError, match="positional-only argument passed as keyword: 'a'"):
        f(a=1.0, c=1.0)
    with pytest.raises(TypeError, match="missing required keyword-only argument: 'c'"):
        f(1.0)
    with pytest.raises(TypeError, match="from 1 to 2 positional"):
        f(1.0, 2.0, 3.0)


def test_star_arguments_are_one_tuple(make):
    f = make.function("*(int64_t *)ret = *(int64_t *)args;", ("a", "rest"), "pyint", kinds=[2, 3], defaults=[MISSING, MISSING])
    assert f(1, 2, 3.0) == 1
    assert f(1) == 1
    assert f.asked == [("pyint", "Tuple((pyint, pyfloat))"), ("pyint", "Tuple(())")]


def test_each_kind_of_arguments_is_asked_for_once(make):
    f = make.function("*(int64_t *)ret = 1;", ret="pyint")
    values = [1, 1.0, 1j, True, np.float32(1), np.zeros(2), np.zeros((2, 2)), np.zeros(4)[::2], (1,), (1, 2), None,
              readonly(np.zeros(2))]
    for _ in range(3):
        for value in values:
            assert f(value) == 1
    assert len(f.asked) == len(set(f.asked)) == len(values) == len(f.specializations)


def test_int_limits(make):
    f = make.function(identity("int64_t"), ret="pyint")
    assert f(1) == 1
    for big in (2 ** 63, -2 ** 63 - 1, 2 ** 100):
        with pytest.raises(OverflowError):
            f(big)
        with pytest.raises(OverflowError):
            f(big)
    g = make.function(identity("uint64_t"), ret="uint64", numba=True)
    assert g(2 ** 63) == 2 ** 63
    assert g(5) == 5
    assert g.asked == [("uint64",), ("int64",)]
    with pytest.raises(OverflowError):
        g(2 ** 64)


def test_numba_semantics_share_what_has_one_type(make):
    f = make.function(identity("double"), ret="float64", numba=True)
    assert f(1.5) == f(np.float64(1.5)) == 1.5
    assert f.asked == [("float64",)]
    g = make.function(identity("double"), ret="float64")
    assert g(1.5) == g(np.float64(1.5)) == 1.5
    assert g.asked == [("pyfloat",), ("float64",)]


def test_no_type_is_told_to_compile_for(make):
    seen = []

    def compile_for(args, types):
        seen.append((args, types))
        raise TypeError("no")

    f = _kiln.Dispatcher("f", ["a", "b"], [2, 2], [MISSING] * 2, compile_for)
    with pytest.raises(TypeError, match="no"):
        f(1, Ellipsis)
    assert seen == [((1, Ellipsis), ("pyint", None))]


def test_fallback_is_called(make):
    f = _kiln.Dispatcher("f", ["a"], [2], [MISSING], lambda args, types: lambda a: ("python", a))
    assert f(1) == ("python", 1)
    assert f("x") == ("python", "x")
    assert f.specializations == []


def test_wrong_specialization(make):
    spec = make.spec(identity("double"), ["pyfloat"], "pyfloat")
    f = _kiln.Dispatcher("f", ["a"], [2], [MISSING], lambda args, types: spec)
    with pytest.raises(TypeError, match="does not take these arguments"):
        f(np.zeros(2))
    assert f(1.5) == 1.5
    assert spec(2.5) == 2.5
    with pytest.raises(TypeError):
        spec(np.zeros(2))
    with pytest.raises(TypeError):
        spec()


def test_eager_and_disabled(make):
    f = make.function(identity("double"), ret="float64")
    f.add(make.spec(identity("double"), ["float64"], "float64"))
    f.add(make.spec("*(int64_t *)ret = *(int32_t *)args;", ["int32"], "int64"))
    assert f(np.float64(2)) == 2.0 and f(np.int32(3)) == 3
    assert f.asked == []
    f(1.5)  # pyfloat is another type in python semantics
    assert f.asked == [("pyfloat",)]
    f.clear()
    f.add(make.spec(identity("double"), ["float64"], "float64"))
    f.add(make.spec("*(int64_t *)ret = *(int32_t *)args;", ["int32"], "int64"))
    f.disable()
    assert f(1.5) == 1.5 and type(f(True)) is np.int64 and f(7) == 7 and f(np.float32(0.5)) == 0.5
    with pytest.raises(OverflowError):
        f(2 ** 40)
    with pytest.raises(TypeError, match="no signature for arguments"):
        f(1j)
    with pytest.raises(TypeError, match="no signature for arguments"):
        f(np.zeros(2))
    assert f.asked == [("pyfloat",)]


def test_disabled_relaxes_arrays(make):
    f = make.function("*(int64_t *)ret = ((vec *)args)->stride;", ret="pyint")
    f.add(make.spec("*(int64_t *)ret = ((vec *)args)->stride;", ["float64[:]"], "pyint"))
    f.disable()
    assert f(np.zeros(4)) == 8
    assert f(np.zeros(4)[::2]) == 16
    with pytest.raises(TypeError):
        f(readonly(np.zeros(3)))


@pytest.mark.parametrize("text,value", [
    ("float16", 0.1), ("float16", 65519.0), ("float16", 65520.0), ("float16", 6e-8), ("float16", 2e-8), ("float16", 1e-30),
    ("float16", float("-inf")), ("float16", 2049.0), ("float16", 6.1e-5), ("float32", 0.1), ("float64", 7), ("float64", True),
    ("complex64", 0.1), ("complex128", np.complex64(1 + 2j)), ("complex128", 3), ("uint8", 255), ("int8", -128), ("int16", True),
    ("int64", np.bool_(True)), ("uint64", 2 ** 63 - 1),
])
def test_conversions_are_numpys(make, text, value):
    size = np.dtype(text).itemsize
    f = make.function("", ret=text)
    f.add(make.spec(f"memcpy(ret, args, {size});", [text], text))
    f.disable()
    with np.errstate(over="ignore"):
        assert f(value) == np.dtype(text).type(value).item()


def test_methods_and_attributes(make):
    class Owner:
        stats = "the owner's"

        def inspect(self):
            return "inspected"

    owner = Owner()
    f = _kiln.Dispatcher("f", ["self", "a"], [2, 2], [MISSING] * 2, lambda args, types: lambda *a: a, owner=owner)
    f.__name__, f.__doc__, f.__wrapped__ = "f", "doc", len
    assert (f.__name__, f.__doc__, f.__wrapped__, f.stats, f.inspect()) == ("f", "doc", len, "the owner's", "inspected")
    assert f.owner is owner and repr(f) == "<kilnjit function f>"
    with pytest.raises(AttributeError):
        f.nothing
    with pytest.raises(AttributeError):
        f.__nothing__

    class Class:
        method = f

    thing = Class()
    assert thing.method(3) == (thing, 3)
    assert Class.method is f


def test_objects_need_initializing():
    f = _kiln.Dispatcher.__new__(_kiln.Dispatcher)
    with pytest.raises(TypeError):
        f(1)
    with pytest.raises(TypeError):
        _kiln.Specialization.__new__(_kiln.Specialization)(1)
    for wrong in [("f", ["a"], [9], [MISSING], len), ("f", ["a"], [2], [], len), ("f", ["a"], [], [MISSING], len), ("f", [1], [2], [MISSING], len)]:
        with pytest.raises((TypeError, ValueError)):
            _kiln.Dispatcher(*wrong)
    for kind in (_kiln.Artifact, _kiln.Library, _kiln.Pending):
        with pytest.raises(TypeError):
            kind()


# -- environment ------------------------------------------------------------------------------------------------

SUM_ENV = "const vec *e = env; *(double *)ret = ((double *)e[0].data)[0] + 10 * ((float *)e[1].data)[0];"


def test_environment_is_live(make):
    a, b = np.array([1.0]), np.array([2.0], np.float32)
    f = make.function(SUM_ENV, (), "pyfloat", env_types=["float64[::1]", "float32[::1]"], env=(a, b))
    assert f() == 21.0
    a[0] = 5
    assert f() == 25.0
    assert len(f.asked) == 1


def test_environment_that_changes_its_type(make):
    a = np.zeros(4)
    made = []

    def compile_for(args, types):
        made.append(_kiln.typeof(a))
        return make.spec("*(int64_t *)ret = ((vec *)env)->n;", [], "pyint", env_types=[_kiln.typeof(a)], env=[a])

    f = _kiln.Dispatcher("f", [], [], [], compile_for)
    assert f() == 4 and f() == 4
    a.shape = (2, 2)
    assert f() == 2 and f() == 2
    assert made == ["float64[::1]", "float64[:, ::1]"]


def test_environment_arrays_come_back(make):
    a = np.arange(3.0)
    f = make.function("vec v = *(vec *)env; v.owner->refs++; v.n = 2; *(vec *)ret = v;", (), "float64[::1]",
                      env_types=["float64[::1]"], env=[a])
    b = f()
    assert b.base is a and b.tolist() == [0, 1]


def test_wrong_environments(make):
    for env_types, env in [(["float64[::1]"], [np.zeros((2, 2))]), (["float64[::1]"], []), (["float64[::1]"], [3]), (["nonsense"], [np.zeros(2)])]:
        with pytest.raises((TypeError, ValueError, RuntimeError, Exception)) as caught:
            make.spec("", [], "none", env_types=env_types, env=env)
        assert not isinstance(caught.value, SystemError)


# -- exceptions -------------------------------------------------------------------------------------------------

def raising(class_id, *arguments, trace=((0, 4),)):
    lines = [f"exc->class_id = {class_id}; exc->n_args = {len(arguments)}; exc->n_trace = {len(trace)};"]
    for i, (kind, field, value) in enumerate(arguments):
        lines.append(f"exc->args[{i}].kind = {kind}; exc->args[{i}].{field} = {value};")
        if field == "s":
            lines.append(f"exc->args[{i}].len = sizeof {value} - 1;")
    for i, (function, node) in enumerate(trace[:32]):
        lines.append(f"exc->trace[{i}] = (struct kiln_trace){{ {function}, {node} }};")
    return " ".join(lines) + " return KILN_RAISED;"


def test_builtin_exceptions(make):
    f = make.function(raising(4, ("KILN_ARG_STR", "s", '"division by zero"')), ())
    with pytest.raises(ZeroDivisionError, match="^division by zero$"):
        f()


def test_arguments_of_exceptions(make):
    f = make.function(raising(20, ("KILN_ARG_INT", "i", -3), ("KILN_ARG_UINT", "u", "~0ull"), ("KILN_ARG_FLOAT", "f", 1.5),
                              ("KILN_ARG_BOOL", "i", 1), ("KILN_ARG_NONE", "i", 0), ("KILN_ARG_STR", "s", '"é"')), ())
    with pytest.raises(ValueError) as caught:
        f()
    assert caught.value.args == (-3, 2 ** 64 - 1, 1.5, True, None, "é")


def test_templates_are_filled(make):
    f = make.function(raising(10, ("KILN_ARG_FORMAT", "s", '"index {} is out of bounds for axis {} with size {}"'),
                              ("KILN_ARG_INT", "i", 12), ("KILN_ARG_INT", "i", 0), ("KILN_ARG_UINT", "u", 10)), ())
    with pytest.raises(IndexError) as caught:
        f()
    assert caught.value.args == ("index 12 is out of bounds for axis 0 with size 10",)


def test_every_class_has_its_number(make):
    assert _kiln.EXCEPTIONS[21] == "KeyboardInterrupt" and _kiln.EXC_USER == 256
    for number, name in _kiln.EXCEPTIONS.items():
        if name in ("ValueError", "StopIteration", "KeyError", "OSError"):
            with pytest.raises(getattr(__builtins__, name, None) or __builtins__[name]):
                make.function(raising(number), ())()


def test_the_hook_makes_the_exception(make):
    seen = []

    class Mine(Exception):
        pass

    def hook(class_id, cls, args, trace, spec):
        seen.append((class_id, cls, args, trace, spec.data))
        return Mine(*args)

    f = make.function(raising(256 + 3, ("KILN_ARG_INT", "i", 7), trace=[(1, 2), (0, 9)]), (), raise_hook=hook, data="tables")
    with pytest.raises(Mine) as caught:
        f()
    assert caught.value.args == (7,)
    assert seen == [(259, None, (7,), [(1, 2), (0, 9)], "tables")]


def test_the_hook_keeps_its_traceback(make):
    def deep():
        raise KeyError("deep")

    def hook(*_):
        try:
            deep()
        except KeyError as e:
            return e

    f = make.function(raising(11), (), raise_hook=hook)
    with pytest.raises(KeyError) as caught:
        f()
    assert caught.traceback[-1].name == "deep"


def test_hooks_that_misbehave(make):
    f = make.function(raising(11), (), raise_hook=lambda *_: 3)
    with pytest.raises(TypeError, match="raise_hook"):
        f()

    def fails(*_):
        raise OSError("in the hook")

    with pytest.raises(OSError, match="in the hook"):
        make.function(raising(11), (), raise_hook=fails)()


def test_long_traces_are_cut(make):
    seen = []
    f = make.function(raising(17, trace=[(0, i) for i in range(40)]), (),
                      raise_hook=lambda c, cls, a, trace, s: seen.append(trace) or cls())
    with pytest.raises(RecursionError):
        f()
    assert len(seen[0]) == 32


def test_unknown_status(make):
    with pytest.raises(SystemError, match="status 42"):
        make.function("return 42;", ())()


# -- services ---------------------------------------------------------------------------------------------------

PRINT = 'host->print("é 1\\n", 5);'


@pytest.mark.parametrize("nogil", [False, True])
def test_print_goes_to_sys_stdout(make, capsys, nogil):
    make.function(PRINT, (), nogil=nogil)()
    assert capsys.readouterr().out == "é 1\n"


@pytest.mark.parametrize("nogil", [False, True])
def test_print_that_fails(make, monkeypatch, nogil):
    class Closed:
        def write(self, text):
            raise BrokenPipeError("gone")

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):
        make.function('return host->print("x", 1);', (), nogil=nogil)()


LOOP_TYPES = """
static int32_t body(void *ctx, int64_t begin, int64_t end, int64_t chunk)
{ for (int64_t i = begin; i < end; i++) ((double *)ctx)[i] += chunk + 1; return BODY; }
"""


def test_parallel_loops(make):
    f = make.function("const vec *v = args; host->parallel_for(body, v->data, v->n, 4);", types=LOOP_TYPES.replace("BODY", "0"),
                      parallel=True)
    _kiln.set_threads(3)
    a = np.zeros(8)
    f(a)
    assert a.tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert _kiln.set_threads(0) >= 1


def test_print_in_parallel_loops(make, capsys, monkeypatch):
    types = LOOP_TYPES.replace("BODY", 'host->print("x", 1)')
    f = make.function("const vec *v = args; return host->parallel_for(body, v->data, v->n, 8);", types=types, parallel=True)
    _kiln.set_threads(4)
    f(np.zeros(8))
    assert capsys.readouterr().out == "x" * 8

    class Closed:
        def write(self, text):
            raise BrokenPipeError("gone")

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):
        f(np.zeros(8))


@pytest.mark.parametrize("nogil", [False, True])
def test_interrupts_reach_compiled_code(make, nogil):
    f = make.function("time_t end = time(0) + 20; raise(SIGINT); while (!host->interrupted() && time(0) < end) ; " + raising(21), (),
                      types="#include <signal.h>\n#include <time.h>", nogil=nogil)
    with pytest.raises(KeyboardInterrupt) as caught:
        f()
    assert caught.value.args == ()


def test_nogil_lets_others_run(make):
    f = make.function("volatile int64_t *flag = ((vec *)args)->data; flag[0] = 1; while (!flag[1]) ;", nogil=True)
    flags = np.zeros(2, np.int64)

    def other():
        while not flags[0]:
            time.sleep(0.001)
        flags[1] = 1

    thread = threading.Thread(target=other)
    thread.start()
    f(flags)
    thread.join()


# -- threads ----------------------------------------------------------------------------------------------------

def test_threads_compile_once(make):
    count = [0]
    gate = threading.Event()

    def compile_for(args, types):
        count[0] += 1
        gate.wait(10)
        return make.spec(identity("double"), types, "pyfloat")

    f = _kiln.Dispatcher("f", ["a"], [2], [MISSING], compile_for)
    results = []
    threads = [threading.Thread(target=lambda i=i: results.append(f(float(i)))) for i in range(16)]
    for t in threads:
        t.start()
    time.sleep(0.05)
    gate.set()
    for t in threads:
        t.join()
    assert sorted(results) == [float(i) for i in range(16)]
    assert count[0] == 1


def test_a_failed_compile_is_tried_by_the_next(make):
    count = [0]

    def compile_for(args, types):
        count[0] += 1
        time.sleep(0.02)
        if count[0] < 3:
            raise ValueError("not yet")
        return make.spec(identity("double"), types, "pyfloat")

    f = _kiln.Dispatcher("f", ["a"], [2], [MISSING], compile_for)
    outcomes = []

    def call():
        try:
            outcomes.append(f(1.0))
        except ValueError:
            outcomes.append("failed")

    threads = [threading.Thread(target=call) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert count[0] == 3 and outcomes.count("failed") == 2 and outcomes.count(1.0) == 4


def test_a_compile_may_call_its_own_function(make):
    depth = [0]

    def compile_for(args, types):
        depth[0] += 1
        if depth[0] == 1:
            assert f(2.0) == 2.0
        return make.spec(identity("double"), types, "pyfloat")

    f = _kiln.Dispatcher("f", ["a"], [2], [MISSING], compile_for)
    assert f(1.0) == 1.0
    assert depth[0] == 2


def test_waiting_for_another_thread_can_be_interrupted(make):
    gate = threading.Event()

    def compile_for(args, types):
        gate.wait(10)
        return make.spec(identity("double"), types, "pyfloat")

    f = _kiln.Dispatcher("f", ["a"], [2], [MISSING], compile_for)
    thread = threading.Thread(target=f, args=(1.0,))
    thread.start()
    time.sleep(0.05)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        f(1.0)
    assert time.monotonic() - begin < 5
    gate.set()
    thread.join()


def test_dropping_while_running(make):
    f = make.function("volatile int64_t *flag = ((vec *)args)->data; flag[0] = 1; while (!flag[1]) ;", nogil=True)
    flags = np.zeros(2, np.int64)

    def other():
        while not flags[0]:
            time.sleep(0.001)
        f.clear()
        gc.collect()
        flags[1] = 1

    thread = threading.Thread(target=other)
    thread.start()
    f(flags)
    thread.join()
    assert f.specializations == []


# -- memory -----------------------------------------------------------------------------------------------------

def resident():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024


@pytest.mark.parametrize("name", ["scalars", "arrays", "new", "raise", "keywords", "slow", "large", "typeof"])
def test_calls_leak_nothing(make, name):
    a = np.arange(4.0)
    if name == "scalars":
        f = make.function(ADD, "abc", "pyfloat")
        call = lambda: f(1.0, 2.0, 3.0)  # noqa: E731
    elif name == "arrays":
        f = make.function("vec v = *(vec *)args; v.n = 2; *(vec *)ret = v;", ret="float64[::1]")
        call = lambda: f(a)  # noqa: E731
    elif name == "new":
        f = make.function(NEW, (), "float64[::1]")
        call = f
    elif name == "raise":
        f = make.function(raising(20, ("KILN_ARG_STR", "s", '"x"')), (), raise_hook=lambda c, cls, args, t, s: cls(*args))

        def call():
            try:
                f()
            except ValueError:
                pass
    elif name == "keywords":
        f = make.function(ADD, "abc", "pyfloat", defaults=[MISSING, 2.0, 3.0])

        def call():
            f(1.0, c=2.0)
            try:
                f(1.0, d=3)
            except TypeError:
                pass
    elif name == "slow":
        f = make.function(identity("double"), ret="pyfloat")

        def call():
            f.clear()
            f.asked.clear()
            f(1.0)
    elif name == "large":
        f = make.function("memcpy(ret, args, 100 * 8);", ret="Tuple((" + ", ".join(["pyfloat"] * 100) + "))")
        values = tuple(float(i) for i in range(100))
        call = lambda: f(values)  # noqa: E731
    else:
        call = lambda: _kiln.typeof((a, 1, (2.0, np.float32(1))))  # noqa: E731
    refs = sys.getrefcount(a), sys.getrefcount(None)
    for _ in range(300):
        call()
    gc.collect()
    before, blocks = resident(), sys.getallocatedblocks()
    for _ in range(3000):
        call()
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 50
    assert resident() - before < 1 << 20
    assert sys.getrefcount(a) == refs[0]
    if sys.version_info < (3, 12):  # immortal since, and counted only by extensions built for older Pythons
        assert abs(sys.getrefcount(None) - refs[1]) < 100


def test_cycles_are_collected(make):
    f = make.function(identity("double"), ret="pyfloat", data={})
    f(1.0)
    f.specializations[0].data["self"] = f
    f.myself = f
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


# -- packing ----------------------------------------------------------------------------------------------------

def test_pack_is_msgpack():
    msgpack = pytest.importorskip("msgpack")
    values = [None, True, False, 0, 1, 127, 128, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32, 2 ** 63, 2 ** 64 - 1, -1, -32, -33,
              -128, -129, -32768, -32769, -2 ** 31, -2 ** 31 - 1, -2 ** 63, 1.5, -0.0, float("inf"), "", "a", "é" * 20, "x" * 31,
              "x" * 32, "x" * 300, "x" * 70000, b"", b"a", b"x" * 300, b"x" * 70000, [], [1] * 15, [1] * 16, [0] * 70000, (1, (2, [3]))]
    for value in values + [values]:
        packed = _kiln.pack_kir(value)
        assert packed == msgpack.packb(value, use_bin_type=True)
    assert msgpack.unpackb(_kiln.pack_kir([float("nan")]))[0] != 0


def test_pack_refuses():
    with pytest.raises(TypeError):
        _kiln.pack_kir([object()])
    with pytest.raises(TypeError):
        _kiln.pack_kir({})
    with pytest.raises(OverflowError):
        _kiln.pack_kir(2 ** 64)
    with pytest.raises(OverflowError):
        _kiln.pack_kir(-2 ** 63 - 1)
    deep = []
    for _ in range(200):
        deep = [deep]
    with pytest.raises(ValueError, match="nested"):
        _kiln.pack_kir(deep)
    with pytest.raises(UnicodeEncodeError):
        _kiln.pack_kir("\ud800")


def test_digest():
    import hashlib
    for data in (b"", b"abc", bytes(100000), bytearray(b"abc"), memoryview(b"abc")):
        assert _kiln.digest(data) == hashlib.blake2b(data, digest_size=32).digest()
    with pytest.raises(TypeError):
        _kiln.digest("text")


# -- artifacts --------------------------------------------------------------------------------------------------

def test_artifacts_and_libraries(make):
    a = make.artifact(identity("double"))
    assert len(a.key) == 32 and a.source == "" and a.manifest == b"" and a.info["params"] == []
    assert a.bytes()[:4] == b"\x7fELF" and len(a.bytes()) == a.size
    lib = a.load()
    assert lib.key == a.key and lib.entry == lib.symbol("kiln_entry") != 0
    import ctypes
    assert ctypes.CFUNCTYPE(ctypes.c_int)(lib.symbol("use"))() == 1  # bound
    with pytest.raises(Exception, match="no symbol"):
        lib.symbol("nothing")


def test_bad_artifacts(make):
    good = make.artifact(identity("double"))
    for artifact in (_kiln.artifact(bytes(32), good.bytes()), _kiln.artifact(bytes(32), b"not an object")):
        with pytest.raises(Exception, match="cannot load|key"):
            artifact.load()
    with pytest.raises(ValueError):
        _kiln.artifact(b"short", b"")


def test_errors_go_through_the_factory():
    """In a process of its own: the package has set its factory here."""
    done = subprocess.run([sys.executable, "-c", """
import sys
from kilnjit import _kiln

made = []


class Error(Exception):
    pass


def factory(*fields):
    made.append(fields)
    return Error(fields[2])


_kiln.set_error_factory(factory)
try:
    _kiln.Client("/nonexistent/socket", start=False).stats()
except Error as e:
    assert "/nonexistent/socket" in str(e)
assert made[0][:2] == (_kiln.CODES["CONNECT"][0], "CONNECT") and made[0][3:] == (-1, -1, "", [], 0, 0), made
_kiln.set_error_factory(lambda *fields: 3)
try:
    _kiln.Client("/nonexistent/socket", start=False).stats()
except TypeError as e:
    assert "factory" in str(e)
_kiln.set_error_factory(None)
try:
    _kiln.Client("/nonexistent/socket", start=False).stats()
except RuntimeError as e:
    assert "CONNECT" in str(e)
try:
    _kiln.set_error_factory(3)
except TypeError:
    print("all")
"""], capture_output=True, text=True)
    assert done.stdout == "all\n", done.stderr
