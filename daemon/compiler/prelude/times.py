# SPDX-License-Identifier: Apache-2.0
"""datetime64 and timedelta64: counts of a unit that is part of the type, the least integer standing for NaT. Meaning:
https://numpy.org/doc/stable/reference/arrays.datetime.html. Operators are found by names such as datetime64.__add__,
functions by "time." and the function's name. Days and dates: the proleptic Gregorian calendar, in eras of 400 years."""
import math

import numpy as np
from elementwise import map1
from intrinsics import delta_type, static_error, ticks, time_as, time_common, time_unit

NAT = -(1 << 63)
YEAR, MONTH, WEEK, DAY, NONE = 0, 1, 2, 3, 13
STEPS = (12, 4, 7, 24, 60, 60, 1000, 1000, 1000, 1000, 1000, 1000)  # of the next finer unit; months have no weeks


def is_nat(x):
    return ticks(x) == NAT


# ---- units

def factor(coarse, fine):
    """How many of the finer unit; both of fixed length, or years and months."""
    n = 1
    for k in range(coarse, fine):
        n *= STEPS[k]
    return n


def days_of_month(m):
    """Days from 1970 to the first day of month m, counted from January 1970."""
    y, month = 1970 + m // 12, m % 12 + 1
    if month <= 2:
        y -= 1
    era = y // 400
    of_era = y - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def month_of_days(d):
    """The month, counted from January 1970, that day d lies in."""
    z = d + 719468
    era = z // 146097
    of_era = z - era * 146097
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    p = (5 * of_year + 2) // 153
    month = p + 3 if p < 10 else p - 9
    return (year + era * 400 + (1 if month <= 2 else 0) - 1970) * 12 + month - 1


def in_unit(v, a, b):
    """A count of unit a as one of unit b, rounded down; dates where months are involved."""
    if v == NAT or a == b or a == NONE or b == NONE:
        return v
    if a <= MONTH and b <= MONTH:
        return v * 12 if a == YEAR else v // 12
    if a <= MONTH:
        days = days_of_month(v * 12 if a == YEAR else v)
        return days // 7 if b == WEEK else days * factor(DAY, b)
    if b <= MONTH:
        month = month_of_days(v * 7 if a == WEEK else v // factor(DAY, a))
        return month // 12 if b == YEAR else month
    return v * factor(a, b) if a < b else v // factor(b, a)


def in_type(x, to):
    """The count of x in the unit of another time or type."""
    return np.int64(in_unit(ticks(x), time_unit(x), time_unit(to)))


def cast(x, to):
    """x as another type: astype of one element."""
    if time_unit(x) >= 0:
        if time_unit(to) >= 0:
            if isinstance(x, np.timedelta64):
                if time_unit(x) <= MONTH:
                    if time_unit(to) > MONTH and time_unit(to) < NONE:
                        static_error("timedelta64 of years and months has no fixed length in other units")
                elif time_unit(to) <= MONTH and time_unit(x) < NONE:
                    static_error("timedelta64 of years and months has no fixed length in other units")
            return time_as(in_type(x, to), to)
        return to(ticks(x))
    return time_as(np.int64(x), to)


# ---- operators

def both(x, y):
    """Counts in the common unit, and whether both are times."""
    return in_type(x, time_common(x, y)), in_type(y, time_common(x, y))


def plus(x, y):
    """datetime64.__add__, timedelta64.__add__"""
    if time_unit(y) < 0:
        return shifted(x, y, 1)
    if isinstance(x, np.datetime64) and isinstance(y, np.datetime64):
        static_error("datetimes can't be added")
    a, b = both(x, y)
    if a == NAT or b == NAT:
        return time_as(NAT, time_common(x, y))
    return time_as(a + b, time_common(x, y))


def shifted(x, n, sign):
    """A time and a plain integer, which counts in the time's unit."""
    if not isinstance(n, (int, np.integer)):
        static_error("to a time a timedelta64 or an integer is added")
    if is_nat(x):
        return x
    return time_as(ticks(x) + sign * np.int64(n), x)


def plus_reflected(n, x):
    """integer + time"""
    return shifted(x, n, 1)


def minus(x, y):
    """datetime64.__sub__, timedelta64.__sub__"""
    if time_unit(y) < 0:
        return shifted(x, y, -1)
    a, b = both(x, y)
    if isinstance(x, np.datetime64) and isinstance(y, np.datetime64):
        if a == NAT or b == NAT:
            return time_as(NAT, delta_type(time_common(x, y)))
        return time_as(a - b, delta_type(time_common(x, y)))
    if isinstance(y, np.datetime64):
        static_error("a datetime64 can't be subtracted from a timedelta64")
    if a == NAT or b == NAT:
        return time_as(NAT, time_common(x, y))
    return time_as(a - b, time_common(x, y))


def times(x, n):
    """timedelta64.__mul__"""
    if isinstance(n, (float, np.floating)):
        v = np.float64(ticks(x)) * n
        if is_nat(x) or v != v or v - v != 0:
            return time_as(NAT, x)
        return time_as(np.int64(v), x)
    if not isinstance(n, (int, np.integer)):
        static_error("a timedelta64 is multiplied by a number")
    if is_nat(x):
        return x
    return time_as(ticks(x) * np.int64(n), x)


def times_reflected(n, x):
    """number * timedelta64"""
    return times(x, n)


def over(x, y):
    """timedelta64.__truediv__"""
    if time_unit(y) >= 0:
        a, b = both(x, y)
        if a == NAT or b == NAT:
            return np.float64(math.nan)
        return np.float64(a) / np.float64(b)
    if isinstance(y, (float, np.floating)):
        v = np.float64(ticks(x)) / y
        if is_nat(x) or v != v or v - v != 0:
            return time_as(NAT, x)
        return time_as(np.int64(v), x)
    return part(x, y)


def part(x, y):
    """A timedelta64 by an integer, towards zero."""
    if is_nat(x) or y == 0:
        return time_as(NAT, x)
    q = abs(ticks(x)) // abs(np.int64(y))
    return time_as(-q if (ticks(x) < 0) != (y < 0) else q, x)


def floor_over(x, y):
    """timedelta64.__floordiv__"""
    if time_unit(y) >= 0:
        a, b = both(x, y)
        if a == NAT or b == NAT or b == 0:
            return np.int64(0)
        return a // b
    if isinstance(y, (float, np.floating)):
        v = np.float64(ticks(x)) / y
        if is_nat(x) or v != v or v - v != 0:
            return time_as(NAT, x)
        return time_as(np.int64(v), x)
    return part(x, y)


def remainder(x, y):
    """timedelta64.__mod__"""
    if time_unit(y) < 0:
        static_error("the remainder of a timedelta64 is taken by a timedelta64")
    a, b = both(x, y)
    if a == NAT or b == NAT or b == 0:
        return time_as(NAT, time_common(x, y))
    return time_as(a % b, time_common(x, y))


def negative(x):
    """timedelta64.__neg__"""
    return time_as(-ticks(x), x)


def positive(x):
    """timedelta64.__pos__"""
    return x


def absolute(x):
    """abs of a timedelta64"""
    if isinstance(x, np.datetime64):
        static_error("a datetime64 has no absolute value")
    return time_as(abs(ticks(x)), x)


def sign(x):
    """numpy.sign of a timedelta64, by its count, that of NaT too"""
    return time_as(np.int64(1 if ticks(x) > 0 else -1 if ticks(x) < 0 else 0), x)


def equal(x, y):
    """datetime64.__eq__"""
    a, b = both(x, y)
    return a != NAT and a == b


def unequal(x, y):
    """datetime64.__ne__"""
    a, b = both(x, y)
    return a == NAT or a != b


def less(x, y):
    """datetime64.__lt__"""
    a, b = both(x, y)
    return a != NAT and b != NAT and a < b


def less_equal(x, y):
    """datetime64.__le__"""
    a, b = both(x, y)
    return a != NAT and b != NAT and a <= b


def greater(x, y):
    """datetime64.__gt__"""
    return less(y, x)


def greater_equal(x, y):
    """datetime64.__ge__"""
    return less_equal(y, x)


# ---- functions

def minimum(x, y):
    """numpy.minimum of times: NaT wins"""
    a, b = both(x, y)
    return time_as(a if a == NAT or (b != NAT and a < b) else b, time_common(x, y))


def maximum(x, y):
    """numpy.maximum of times: NaT wins"""
    a, b = both(x, y)
    return time_as(a if a == NAT or (b != NAT and a > b) else b, time_common(x, y))


def fmin(x, y):
    """numpy.fmin of times: NaT loses"""
    a, b = both(x, y)
    return time_as(a if b == NAT or (a != NAT and a < b) else b, time_common(x, y))


def fmax(x, y):
    """numpy.fmax of times: NaT loses"""
    a, b = both(x, y)
    return time_as(a if b == NAT or (a != NAT and a > b) else b, time_common(x, y))


def least(*items):
    """builtins.min of times"""
    best = items[0]
    for x in items[1:]:
        if x < best:
            best = x
    return best


def most(*items):
    """builtins.max of times"""
    best = items[0]
    for x in items[1:]:
        if x > best:
            best = x
    return best


def count(x):
    """builtins.int of a timedelta64"""
    return int(ticks(x))


def hash_of(x):
    """builtins.hash of a time"""
    return hash(int(ticks(x)))


def isnat_one(x):
    return ticks(x) == NAT


def isnat(x):
    """numpy.isnat"""
    if time_unit(x) < 0:
        static_error("ufunc 'isnat' is only defined for np.datetime64 and np.timedelta64.")
    return map1(isnat_one, x)


def astype_one(x, dtype):
    """datetime64.astype"""
    return cast(x, dtype)


def fill(out, a, dtype):
    if a.ndim == 1:
        for i in range(len(a)):
            out[i] = cast(a[i], dtype)
    elif a.ndim == 0:
        out[()] = cast(a[()], dtype)
    else:
        for i in range(a.shape[0]):
            fill(out[i], a[i], dtype)


def astype(a, dtype):
    """ndarray.astype from or to times"""
    out = np.empty(a.shape, dtype)
    fill(out, a, dtype)
    return out


ORDERED = {"__eq__": equal, "__ne__": unequal, "__lt__": less, "__le__": less_equal, "__gt__": greater, "__ge__": greater_equal}
FUNCTIONS = {f"{owner}.{name}": f for name, f in ORDERED.items() for owner in ("datetime64", "timedelta64")} | {
    "datetime64.__add__": plus, "timedelta64.__add__": plus, "datetime64.__radd__": plus_reflected, "timedelta64.__radd__": plus_reflected,
    "datetime64.__sub__": minus, "timedelta64.__sub__": minus, "timedelta64.__mul__": times, "timedelta64.__rmul__": times_reflected,
    "timedelta64.__truediv__": over, "timedelta64.__floordiv__": floor_over, "timedelta64.__mod__": remainder,
    "timedelta64.__neg__": negative, "timedelta64.__pos__": positive, "datetime64.astype": astype_one, "timedelta64.astype": astype_one,
    "time.builtins.abs": absolute, "time.numpy.abs": absolute, "time.numpy.absolute": absolute, "time.numpy.sign": sign,
    "time.numpy.negative": negative, "time.numpy.positive": positive, "time.numpy.minimum": minimum, "time.numpy.maximum": maximum,
    "time.numpy.fmin": fmin, "time.numpy.fmax": fmax, "time.builtins.min": least, "time.builtins.max": most,
    "time.builtins.int": count, "time.builtins.hash": hash_of, "numpy.isnat": isnat, "kiln.time_astype": astype,
}
