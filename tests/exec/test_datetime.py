# SPDX-License-Identifier: Apache-2.0
"""datetime64 and timedelta64 against NumPy: all units, NaT, scalars and arrays, in and out."""
import itertools

import numpy as np
import pytest

from kilnjit import njit, types
from kilnjit.errors import KilnError
from same import compiled

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
DAYS = [np.datetime64(t, "D") for t in ("1970-01-01", "1969-12-31", "2020-02-29", "1900-03-01", "2000-12-31", "1600-02-29", "NaT", "0001-01-01", "9999-12-31")]
NAT = np.timedelta64("NaT", "s")


def same(a, b):
    """Values, types and units; NaT is NaT."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        if a.dtype.kind in "mM":
            return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a.view(np.int64), np.ascontiguousarray(b).view(np.int64))
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, (np.datetime64, np.timedelta64)):
        return type(a) is type(b) and a.dtype == b.dtype and a.view(np.int64) == b.view(np.int64)
    return (a == b or (a != a and b != b)) and not isinstance(b, (np.datetime64, np.timedelta64))


def check(f, *arguments):
    with np.errstate(all="ignore"):
        want = f(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    got = compiled(f)(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    assert same(want, got), f"{f.__name__}{arguments!r}: compiled {got!r}, NumPy {want!r}"


def identity(x):
    return x


@pytest.mark.parametrize("unit", UNITS)
def test_in_and_out(unit):
    for x in (np.datetime64(5, unit), np.datetime64(-7, unit), np.datetime64("NaT", unit), np.timedelta64(5, unit), np.timedelta64(-7, unit), np.timedelta64("NaT", unit)):
        check(identity, x)
        check(identity, np.array([x, x]))
        check(lambda a: a[1:], np.array([x, x, x]))
        check(lambda x: (x, x), x)
    a = np.array([1, 2, 3], f"M8[{unit}]")
    assert compiled(identity)(a) is a
    check(lambda n: np.timedelta64(n), 5)
    check(identity, np.timedelta64(3))


def moved(x, y):
    return x + y, x - y, y + x


def compared(x, y):
    return x < y, x <= y, x > y, x >= y, x == y, x != y


def apart(x, y):
    return x - y


def test_units():
    """Every pair of units that NumPy has a common one for."""
    for a, b in itertools.product(UNITS, UNITS):
        d, t = np.datetime64(3, a), np.timedelta64(-2, b)
        try:
            d + t, d - np.datetime64(3, b), d < np.datetime64(3, b)
        except (TypeError, OverflowError):
            continue
        if abs(UNITS.index(a) - UNITS.index(b)) > 3 and "D" not in (a, b) and a != "M":
            continue  # enough
        check(moved, d, t)
        check(apart, d, np.datetime64(-5, b))
        check(compared, d, np.datetime64(3, b))
    for a, b in itertools.product(UNITS[2:], UNITS[2:]):
        try:
            np.timedelta64(3, a) + np.timedelta64(-2, b)
        except OverflowError:
            with pytest.raises(KilnError, match="too far apart"):
                compiled(moved)(np.timedelta64(3, a), np.timedelta64(-2, b))
            continue
        if abs(UNITS.index(a) - UNITS.index(b)) <= 3 or a == "D":
            check(moved, np.timedelta64(3, a), np.timedelta64(-2, b))
            check(compared, np.timedelta64(3, a), np.timedelta64(3, b))
    with pytest.raises(KilnError, match="no common unit"):
        compiled(moved)(np.timedelta64(1, "M"), np.timedelta64(1, "D"))


def test_nat():
    for x, y in itertools.product((np.datetime64("NaT", "D"), np.datetime64("2020-01-01", "D")), (np.datetime64("NaT", "h"), np.datetime64("2020-01-01", "h"))):
        check(compared, x, y)
        check(apart, x, y)
        check(lambda x, y: (np.isnat(x), np.minimum(x, y), np.maximum(x, y), np.fmin(x, y), np.fmax(x, y)), x, y)
    for x, y in itertools.product((NAT, np.timedelta64(7, "s"), np.timedelta64(-3, "s"), np.timedelta64(0, "s")), repeat=2):
        check(lambda x, y: (x + y, x - y, x / y, x // y if y != np.timedelta64(0, "s") else x // x, -x, abs(x), np.sign(x), np.isnat(x), x < y, x == y, x != y), x, y)
        if y:
            check(lambda x, y: x % y, x, y)


def scaled(x, n):
    return x * n, n * x


def divided(x, n):
    return x / n, x // n


def test_numbers():
    for x in (np.timedelta64(7, "D"), np.timedelta64(-7, "D"), np.timedelta64("NaT", "D")):
        for n in (2, -3, 1):
            check(scaled, x, n)
            check(divided, x, n)
        for n in (0.5, -2.25, float("nan"), float("inf")):
            check(scaled, x, n)
            check(lambda x, n: x / n, x, n)
        check(lambda x, n: (x + n, n + x, x - n), x, 3)
    check(lambda x, n: (x + n, n + x, x - n), np.datetime64("2020-01-01"), 3)
    check(lambda x, n: x + n, np.datetime64("NaT", "D"), 3)


def dates(x):
    y = x.astype(YEARS)
    return y, x.astype(MONTHS), x.astype(WEEKS), x.astype(HOURS), x - x.astype(MONTHS), x.astype(np.int64), x.astype(YEARS).astype(DAYS_TYPE), x.astype(MONTHS).astype(DAYS_TYPE)


YEARS, MONTHS, WEEKS, DAYS_TYPE, HOURS, SECONDS = (np.dtype(f"M8[{u}]") for u in "YMWDhs")
DELTA_HOURS, DELTA_DAYS = np.dtype("m8[h]"), np.dtype("m8[D]")


def test_calendar():
    for x in DAYS:
        check(dates, x)
    check(dates, np.array(DAYS))
    every = np.arange(-200000, 200000, 997).astype("M8[D]")
    check(dates, every)
    check(lambda a: (a.astype(DAYS_TYPE), a.astype(YEARS), a.astype(MONTHS)), np.arange(-10**10, 10**10, 10**8 + 12345).astype("M8[s]"))
    check(lambda a: (a.astype(DELTA_DAYS), a.astype(DELTA_HOURS), a.astype(np.int64)), np.array([-25, -24, -1, 0, 1, 24, 25, "NaT"], "m8[h]"))
    check(lambda a: a.astype(SECONDS), np.array([1, -1, 0]))
    with pytest.raises(KilnError, match="no fixed length"):
        compiled(lambda a: a.astype(DELTA_DAYS))(np.array([1], "m8[M]"))


def constants(n):
    return np.datetime64("2020-01-01"), np.datetime64("2020-01-01T12:30"), np.datetime64("NaT"), np.timedelta64(5, "D"), np.timedelta64(n, "ms"), np.datetime64("2020-05", "D"), EPOCH, np.datetime64(n, "s")


EPOCH = np.datetime64("1970-01-01", "ns")


def test_constants():
    check(constants, 12)
    with pytest.raises(KilnError, match="Error parsing datetime string"):
        compiled(lambda: np.datetime64("nonsense"))()
    with pytest.raises(KilnError, match="unit of time"):
        compiled(lambda n: np.timedelta64(n, "parsec"))(1)


def whole(a, t):
    return (a + t, t + a, a - t, a - a[0], a > a[1], a == a, a != a[2], a.min(), a.max(), a.argmin(), a.argmax(), np.sort(a), np.diff(a), np.isnat(a), np.where(a > a[1], a, a[0]), np.unique(a), a[a > a[0]],
            a[np.array([2, 0])], a.reshape(-1, 1), np.concatenate((a, a)), np.searchsorted(a, a[1]), np.minimum(a, a[1]), np.argsort(a))


def totals(t):
    return t.sum(), t * 2, t / 2, t / t[0], t // t[0], -t, abs(t), np.cumsum(t), t.max(), 2 * t, t % t[1], np.diff(t), t + t, t < t[1]


def test_arrays():
    for a in (np.array(["2020-01-05", "2020-01-01", "2020-03-01", "2019-12-31"], "M8[D]"), np.array([3, 1, 2, 5], "M8[ns]"), np.arange(8).astype("M8[h]")[::2]):
        check(whole, a, np.timedelta64(36, "h") if a.dtype != np.dtype("M8[ns]") else np.timedelta64(36, "us"))
    check(lambda a: (a.min(), a.max(), np.sort(a), np.isnat(a), a < a[0]), np.array(["2020-01-05", "NaT", "2020-01-01"], "M8[D]"))
    check(totals, np.array([5, -3, 7, 0], "m8[s]"))
    check(lambda a, b: (a - b, a + (a - b), a < b), np.array(["2020-01-05", "NaT"], "M8[D]"), np.array(["2020-01-01T05", "2020-01-01T06"], "M8[h]"))

    def filled(n):
        a = np.full(n, np.datetime64("2020-01-01"))
        b = np.empty(n, a.dtype)
        for i in range(n):
            b[i] = a[i] + np.timedelta64(i, "D")
        a[1] = np.datetime64("NaT", "D")
        b[b > a[0]] = a[1]
        return a, b, np.zeros(n, DAYS_TYPE)

    check(filled, 4)

    def loops(a):
        total = np.timedelta64(0, "D")
        last = a[0]
        for x in a:
            total += x - last
            last = max(x, last)
        return total, last, min(a[0], a[1]), sum_of(a)

    check(loops, np.array(["2020-01-05", "2020-01-01", "2020-03-01"], "M8[D]"))


def sum_of(a):
    n = 0
    for x in a:
        n += (x - a[0]).astype(np.int64)
    return n


def test_signatures():
    f = njit(types.NPTimedelta("s")(types.NPDatetime("s"), types.NPDatetime("s")))(apart)
    assert f(np.datetime64(5, "s"), np.datetime64(3, "s")) == np.timedelta64(2, "s")
    with pytest.raises(TypeError):
        f(np.datetime64(5, "D"), np.datetime64(3, "D"))
    g = njit("NPDatetime('D')(NPDatetime('D')[::1])")(lambda a: a[0])
    assert g(np.array(["2020-01-01"], "M8[D]")) == np.datetime64("2020-01-01")
    assert str(types.NPDatetime("ns")) == "NPDatetime('ns')"
    with pytest.raises(KilnError, match="unit of time"):
        njit("int64(NPDatetime('parsec'))")(lambda x: 1)(np.datetime64(1, "s"))


def test_errors():
    d, t = np.datetime64("2020-01-01"), np.timedelta64(1, "D")
    for f, arguments, text in ((lambda x, y: x + y, (d, d), "datetimes can't be added"), (lambda x, y: x - y, (t, d), "can't be subtracted"), (lambda x, y: x * y, (t, t), "multiplied by a number"),
                               (lambda x: abs(x), (d,), "no absolute value"), (lambda x: np.isnat(x), (1.5,), "isnat"), (lambda x, y: x + y, (d, 1.5), "timedelta64 or an integer")):
        with pytest.raises(KilnError, match=text):
            compiled(f)(*arguments)
    with pytest.raises(TypeError):  # several units at once have no type
        compiled(identity)(np.datetime64(5, "10us"))


def record_times(a):
    a[0]["t"] = a[1]["t"] + np.timedelta64(1, "D")
    t = a["t"]
    return a[0].t, t[1] - t[0], t.copy(), a["x"].sum()


def test_in_records():
    a = np.array([("2020-01-01", 1.0), ("2020-02-01", 2.0)], [("t", "M8[s]"), ("x", "f8")])
    b = a.copy().view(np.recarray)
    want = record_times(b)
    assert same(tuple(want[:3]), tuple(compiled(record_times)(a)[:3])) and same(a["t"], b["t"])
