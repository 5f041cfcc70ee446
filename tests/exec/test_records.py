# SPDX-License-Identifier: Apache-2.0
"""Structured arrays and records against NumPy: packed and aligned dtypes, nested ones, sub-arrays, odd addresses."""
import copy

import numpy as np
import pytest

from kilnjit import errors, literal_unroll, njit, typeof, types

PACKED = np.dtype([("n", "i1"), ("x", "f8"), ("c", "c8"), ("b", "?"), ("u", "u2")])
ALIGNED = np.dtype(PACKED.descr, align=True)
ODD = np.dtype({"names": ["x", "n", "c", "b", "u"], "formats": ["f8", "i1", "c8", "?", "u2"], "offsets": [3, 0, 24, 40, 12],
                "itemsize": 47})
INNER = np.dtype([("x", "i2"), ("y", "f4")], align=True)
DEEP = np.dtype([("id", "u1"), ("p", INNER), ("m", "f8", (2, 3)), ("v", "i4", (4,)), ("q", INNER, (2,))])
DEEP_ALIGNED = np.dtype([("id", "u1"), ("p", INNER), ("m", "f8", (2, 3)), ("v", "i4", (4,)), ("q", INNER, (2,))],
                        align=True)
FLAT = [PACKED, ALIGNED, ODD]
WORDS = np.dtype([("a b", "i8"), ("it's", "f8"), ("ü", "i4")])


def fill(a, seed=0):
    """Numbers in every field, special ones among them."""
    rng = np.random.default_rng(seed)
    if a.dtype.names is None:
        a[...] = rng.integers(-50, 50, a.shape) if a.dtype.kind != "u" else rng.integers(0, 50, a.shape)
        return a
    for i, name in enumerate(a.dtype.names):
        fill(a[name], seed * 31 + i)
    return a


def arrays(dtype, n=7):
    """The same content contiguous, strided, backwards, at an odd address, and as a recarray."""
    base = fill(np.zeros(n, dtype))
    wide = np.zeros(2 * n, dtype)
    wide[::2] = base
    odd = np.frombuffer(bytearray(dtype.itemsize * n + 1), np.uint8)[1:].view(dtype)
    odd[:] = base
    return [base, wide[::2], base[::-1], odd, base.copy().view(np.recarray)]


def equal(a, b):
    if isinstance(a, tuple) and not isinstance(a, np.void):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, (np.ndarray, np.void)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype.names is not None:
            return all(equal(a[n], b[n]) for n in a.dtype.names)
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    return bool(a == b) or (a != a and b != b)


def clone(value):
    """A copy in memory of its own with the same strides and address modulo 16."""
    if not isinstance(value, np.ndarray):
        return copy.deepcopy(value)
    root = value
    while isinstance(root.base, np.ndarray):
        root = root.base
    fresh = root.copy()
    at = value.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    made = np.ndarray(value.shape, value.dtype, fresh.view(np.uint8).reshape(-1) if fresh.dtype != np.uint8 else fresh, at, value.strides)
    return made.view(type(value))


def check(function, *arguments, **options):
    theirs, ours = [clone(a) for a in arguments], [clone(a) for a in arguments]
    with np.errstate(all="ignore"):
        want = function(*theirs)
    got = njit(**options)(function)(*ours)
    assert equal(want, got), f"{function.__name__}: compiled {got!r}, NumPy {want!r}"
    for mine, other in zip(ours, theirs):
        assert equal(other, mine), f"{function.__name__} leaves {mine!r}, NumPy {other!r}"


# -- fields of elements and of arrays


def sums(a):
    x, c, k = 0.0, 0j, 0
    for i in range(len(a)):
        x += a[i]["x"] * a["n"][i]
        c += a[i]["c"]
        if a[i]["b"]:
            k += a[i]["u"]
    return x, c, k


def iterated(a):
    x = 0.0
    for r in a:
        x += r["x"]
    for i, r in enumerate(a):
        x += i * r["x"] + r["n"]
    for r, s in zip(a, a[1:]):
        x += r["x"] * s["n"]
    return x


def writes(a):
    for i in range(len(a)):
        a[i]["x"] = i * 1.5
        a["n"][i] -= 1
        a[i]["u"] += 3
        a[i]["b"] = not a[i]["b"]
        a[i]["c"] *= 2j


def whole_fields(a):
    a["x"] = 2.5
    a["n"][1:4] = 7
    a["u"][:] = a["u"][::-1].copy()
    a["c"][0] = 1 + 2j
    return a["x"].sum(), a["n"].max(), len(a["u"])


def moved(a):
    a[0] = a[1]
    a[1:3] = a[4]
    a[3:6] = a[2:5]
    r = a[2]
    r["x"] = 99.5
    s = a[-1]
    a[-1]["n"] = 3
    return s["n"], r["x"]


@pytest.mark.parametrize("dtype", FLAT, ids=["packed", "aligned", "odd"])
@pytest.mark.parametrize("function", [sums, iterated, writes, whole_fields, moved])
def test_fields(function, dtype):
    for a in arrays(dtype):
        check(function, a)
        check(function, a, semantics="numba")
        check(function, a, boundscheck=True)


def attributes(a):
    x = 0.0
    for i in range(a.size):
        x += a[i].x + a.x[i]
        a[i].u = i
        a.n[i] += 1
    for r in a:
        r.x -= r.n
    a.b = True
    return x, a.c[1:3].sum(), a.u.mean()


def test_attributes():
    for dtype in FLAT:
        check(attributes, arrays(dtype)[-1])


def in_place(a):
    a["x"] += 1
    a["x"][1:] *= a["n"][1:]
    a["n"] -= a["n"]


def test_in_place():
    for dtype in FLAT:
        for a in arrays(dtype):
            check(in_place, a)


def by_number(a):
    return a[1][0], a[1][-1], len(a[0]), a[0] == a[0], a[0] == a[1], a[0] != a[1]


def from_tuple(a):
    a[0] = (1, 2.5, 3j, True, 4)
    a[1:3] = (-1, 0.5, 1, False, 9)


def test_numbers_and_tuples():
    check(by_number, fill(np.zeros(3, PACKED)))
    check(from_tuple, fill(np.zeros(4, PACKED)))
    check(from_tuple, fill(np.zeros(4, ALIGNED)))


def two_dimensions(a):
    t = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t += a[i, j]["x"]
            a[i, j]["n"] = i - j
    row = a[1]
    row[0]["x"] = 5
    return t, a["x"].sum(), a["u"].shape, a[:, 1]["x"], a[1:, ::2]


def test_two_dimensions():
    for dtype in FLAT:
        check(two_dimensions, fill(np.zeros((3, 4), dtype)))
        check(two_dimensions, fill(np.zeros((3, 4), dtype, order="F")))


# -- nesting


def deep(a):
    t = 0.0
    for i in range(len(a)):
        a[i]["m"][1, 2] = i
        a[i]["p"]["x"] += 1
        for j in range(4):
            t += a[i]["v"][j]
        t += a[i]["p"]["y"] + a[i]["q"][1]["y"]
        a[i]["q"][0]["x"] = i
    a["v"][:, 1] = 5
    p = a[0]["p"]
    p["y"] = 12.5
    a[1]["p"] = a[0]["p"]
    a[2]["m"] = 1.5
    a[3]["v"] = a[2]["v"]
    return t, a["m"].sum(), a["p"]["y"], a["v"][:, 1], a["q"]["x"], a["m"][2], a["p"]


def test_nested():
    for dtype in (DEEP, DEEP_ALIGNED):
        for a in arrays(dtype):
            check(deep, a)


def words(a):
    t = 0.0
    for r in a:
        t += r["a b"] * r["it's"] + r["ü"]
        r["it's"] = 1
    return t


def test_names_that_are_no_words():
    check(words, fill(np.zeros(4, WORDS)))


# -- records as values


def changed(r, k):
    r["x"] *= k
    r["n"] = 5
    return r["x"], r["u"], r


def test_record_arguments_are_references():
    for dtype in FLAT:
        a = fill(np.zeros(3, dtype))
        b = a.copy()
        want, got = changed(a[1], 2.0), njit(changed)(b[1], 2.0)
        assert equal(want, got) and equal(a, b)
        assert isinstance(got[2], np.record) and got[2].x == want[0]
        got[2]["x"] = 0  # a copy
        assert equal(a, b)
        r = b.view(np.recarray)[2]
        assert equal(njit(changed)(r, 0.5), changed(a[2], 0.5)) and equal(a, b)


def chosen(a, i):
    r = a[0]
    if i > 0:
        r = a[i]
    r["x"] = -1
    return r


def inner(r, s):
    return r["x"] + s["x"]


def outer(a):
    pair = (a[0], a[1])
    t = 0.0
    for r in pair:
        t += r["x"]
    return t + inner_jit(a[0], a[2]) + inner_jit(pair[1], pair[0])


inner_jit = njit(inner)


def test_records_in_variables():
    for dtype in FLAT:
        for a in arrays(dtype):
            check(chosen, a, 0)
            check(chosen, a, 2)
            want = outer(a)
            assert njit(outer)(a) == want


def made(n):
    a = np.zeros(n, PACKED)
    b = np.empty(n, ALIGNED)
    for i in range(n):
        a[i]["x"] = i
        b[i]["n"] = i
        b[i]["x"], b[i]["c"], b[i]["b"], b[i]["u"] = a[i]["x"] + 1, 2j, i > 1, 7
    return a, b, a[1], b[2:]["x"]


def like(a):
    b, c, d = np.empty_like(a), a.copy(), np.zeros_like(a)
    b[:] = a
    d.fill(a[0])
    return b, c, d, a.dtype.itemsize, a.itemsize, a.nbytes


def test_made():
    check(made, 4)
    for dtype in FLAT:
        check(like, fill(np.zeros(3, dtype)))
    check(lambda n, d: np.zeros(n, d), 3, ALIGNED)


def alone():
    a = np.zeros(3, PACKED)
    a[1]["x"] = 4
    return a[1]


def test_a_record_keeps_its_array():
    got = njit(alone)()
    assert got["x"] == 4 and got.dtype == PACKED
    before = __import__("kilnjit._kiln", fromlist=["counts"]).counts()["mem_live"]
    f = njit(alone)
    for _ in range(50):
        f()
    assert __import__("kilnjit._kiln", fromlist=["counts"]).counts()["mem_live"] == before


TABLE = fill(np.zeros(4, ALIGNED))
ROW = TABLE[2].copy()


def from_global(i):
    return TABLE[i]["x"] + TABLE["n"].sum() + ROW["x"] + len(ROW)


def test_globals():
    for i in range(3):
        check(from_global, i)
        check(from_global, i, semantics="numba")


# -- names in loops


FIELDS = ("x", "n", "u")


def over_names(a):
    t = 0.0
    for name in FIELDS:
        t += a[name].sum()
        for i in range(len(a)):
            t += a[i][name] * 0.5
            if name == "u":
                continue
            a[i][name] = i
    for name, k in literal_unroll((("x", 2), ("n", 3))):
        a[name] += k
        if k == 2:
            t += a[0][name]
    for i in literal_unroll((0, 1, -1)):
        t += a[1][i].real
    return t, name == "n"


def in_variables(a):
    names = ("n", "x")
    f = names[1]
    g = FIELDS[2]
    t = a[f].sum() + a[0][g]
    h = "x"
    a[0][h] = 3
    if t > 1e9:
        h = "n"
    return t, h == "x"


def test_names_in_loops():
    for dtype in FLAT:
        check(in_variables, fill(np.zeros(4, dtype)))
        check(over_names, fill(np.zeros(4, dtype)))


# -- what is refused


def test_read_only():
    a = fill(np.zeros(3, PACKED))
    a.setflags(write=False)
    check(sums, a)
    for f in (writes, whole_fields, moved):
        with pytest.raises(errors.KilnError, match="read-only"):
            njit(f)(a)
    with pytest.raises(errors.KilnError, match="read-only"):
        njit(changed)(a[0], 1.0)
    assert njit(lambda r: r["x"])(a[1]) == a[1]["x"]


@pytest.mark.parametrize("function,message", [
    (lambda a: a["z"], "no field of name 'z'"), (lambda a: a[0].z, "no field of name 'z'"),
    (lambda a: a[0][9], "field 9 of a record with 5"), (lambda a: a[0] + 1, "is not defined between"),
    (lambda a: np.ones(3, PACKED), "records of ones"), (lambda a: a[0] < a[1], "is not defined between"),
])
def test_mistakes(function, message):
    with pytest.raises(errors.KilnError, match=message):
        njit(function)(np.zeros(3, PACKED))


def test_mistakes_in_stores():
    def complex_in_real(a):
        a[0]["x"] = 1j

    def other_record(a, b):
        a[0] = b[0]

    def run_time(a, i):
        return a[0][i]

    with pytest.raises(errors.KilnError, match="can't be stored"):
        njit(complex_in_real)(np.zeros(1, PACKED))
    with pytest.raises(errors.KilnError, match="can't be stored"):
        njit(other_record)(np.zeros(1, PACKED), np.zeros(1, ALIGNED))
    with pytest.raises(errors.KilnError, match="must be known when compiling"):
        njit(run_time)(np.zeros(1, PACKED), 1)


def test_out_of_bounds():
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
        njit(boundscheck=True)(lambda a, i: a[i]["x"])(np.zeros(3, PACKED), 5)


NAMED = np.dtype([("name", "S3"), ("x", "f8"), ("title", "U4")], align=True)


def with_text(a):
    a[1] = a[0]
    a[2]["x"] = a[0]["x"] * 2
    return a["x"].sum(), a[1], a[::-1].copy()


def test_fields_of_text_are_moved():
    a = np.array([(b"ab", 1.5, "ö€"), (b"cde", 2, "x"), (b"", 3, "")], NAMED)
    want, got = with_text(a.copy()), njit(with_text)(a.copy())
    assert want[0] == got[0] and want[1].tolist() == got[1].tolist() and want[2].tolist() == got[2].tolist()
    with pytest.raises(errors.KilnError, match="text in records"):
        njit(lambda a: a[0]["name"])(a)


def test_unsupported_dtypes():
    for dtype in ([("x", "O")], [("x", ">f8")], [("x", "M8[10s]")], [("x", ">U3")]):
        with pytest.raises(errors.KilnTypeError, match="array of dtype"):
            njit(lambda a: len(a))(np.zeros(2, dtype))


# -- types


def test_types():
    assert str(typeof(np.zeros(2, PACKED))) == (
        "Record(n[type=int8;offset=0],x[type=float64;offset=1],c[type=complex64;offset=9],b[type=bool;offset=17],"
        "u[type=uint16;offset=18];20;False)[::1]")
    assert str(typeof(np.zeros(2, ALIGNED)[0])).endswith(";32;True)")
    record = types.from_dtype(ALIGNED)

    @njit(types.float64(record[:]))
    def eager(a):
        return a[0]["x"]

    assert eager(fill(np.zeros(3, ALIGNED))[::2]) == fill(np.zeros(3, ALIGNED))["x"][0]
    assert types.Record.make_c_struct([("a", types.int8), ("b", types.float64)]) == types.from_dtype(
        np.dtype([("a", "i1"), ("b", "f8")], align=True))
    assert types.from_dtype(np.float32) == types.float32


def test_equal_dtypes_are_one_type():
    f = njit(lambda a: a[0]["x"])
    for _ in range(3):
        f(np.zeros(2, np.dtype(PACKED.descr)))
    f(np.zeros(2, ALIGNED))
    assert len(f.signatures) == 2


def test_loads_say_their_alignment():
    """What NumPy packed is not read as if it were aligned; what it aligned is."""
    f = njit(lambda a: a[0]["x"])
    for dtype, align in ((PACKED, 1), (ALIGNED, 8)):
        f(np.zeros(1, dtype))
    packed, aligned = f.inspect_llvm().values()
    assert "load double" in packed and "load double" in aligned
    assert all(line.rstrip().endswith("align 1") for line in packed.split("\n") if "load double" in line)
    assert all("align 8" in line for line in aligned.split("\n") if "load double" in line)


def test_loops_over_fields_vectorize():
    """A loop over one field of contiguous records has vector instructions, as a loop over a strided array."""
    def scaled(a, k):
        for i in range(len(a)):
            a[i]["x"] = a[i]["x"] * k + 1.0

    dtype = np.dtype([("x", "f8"), ("y", "f8")])
    f = njit(scaled)
    f(np.zeros(8, dtype), 2.0)
    text = next(iter(f.inspect_llvm().values()))
    assert "x double>" in text
