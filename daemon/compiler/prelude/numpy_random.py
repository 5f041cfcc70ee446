# SPDX-License-Identifier: Apache-2.0
"""numpy.random's functions on the module's own state: NumPy's numbers for the same seed. Meaning:
https://numpy.org/doc/stable/reference/random/legacy.html. The generator is the process's, not NumPy's own
(docs/semantics.md). Methods are named where they were published."""
import math

import numpy as np
from intrinsics import dtype_of, random_bounded, random_double, random_gauss, random_seed, static_error
from searching import searchsorted

NUMPY = 1  # whose generator


def seed(seed):
    """numpy.random.seed"""
    if not isinstance(seed, (int, np.integer)):
        static_error("a seed is an integer here")
    if seed < 0 or seed > 4294967295:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    random_seed(NUMPY, seed)


# ---- one number or an array of them

def fill(out, draw, arguments):
    if out.ndim == 0:
        out[()] = draw(*arguments)
    elif out.ndim == 1:
        for i in range(len(out)):
            out[i] = draw(*arguments)
    else:
        for i in range(len(out)):
            fill(out[i], draw, arguments)


def drawn(draw, arguments, size):
    if size is None:
        return draw(*arguments)
    out = np.empty(size, dtype_of(draw(*arguments)))
    fill(out, draw, arguments)
    return out


def double():
    return random_double(NUMPY)


def normal_number():
    return random_gauss(NUMPY)


def random(size=None):
    """numpy.random.random"""
    return drawn(double, (), size)


def rand(*shape):
    """numpy.random.rand"""
    if len(shape) == 0:
        return random_double(NUMPY)
    return drawn(double, (), shape)


def randn(*shape):
    """numpy.random.randn"""
    if len(shape) == 0:
        return random_gauss(NUMPY)
    return drawn(normal_number, (), shape)


def standard_normal(size=None):
    """numpy.random.standard_normal"""
    return drawn(normal_number, (), size)


def shifted_gauss(loc, scale):
    return loc + scale * random_gauss(NUMPY)


def normal(loc=0.0, scale=1.0, size=None):
    """numpy.random.normal"""
    if scale < 0:
        raise ValueError("scale < 0")
    return drawn(shifted_gauss, (float(loc), float(scale)), size)


def between(low, width):
    return low + width * random_double(NUMPY)


def uniform(low=0.0, high=1.0, size=None):
    """numpy.random.uniform"""
    width = float(high) - float(low)
    if not math.isfinite(width):
        raise OverflowError("Range exceeds valid bounds")
    return drawn(between, (float(low), width), size)


def integer(low, most):
    return low + random_bounded(NUMPY, most)


def randint(low, high=None, size=None, dtype=np.int64):
    """numpy.random.randint"""
    if high is None:
        if low <= 0:
            raise ValueError("high <= 0")
        return integers_below(0, low, size, dtype)
    return integers_below(low, high, size, dtype)


def integers_below(low, high, size, dtype):
    if low >= high:
        raise ValueError("low >= high")
    if size is None:
        return integer(int(low), int(high) - int(low) - 1)
    out = np.empty(size, dtype)
    fill(out, integer, (int(low), int(high) - int(low) - 1))
    return out


def random_integers(low, high=None, size=None):
    """numpy.random.random_integers"""
    if high is None:
        return randint(1, low + 1, size)
    return randint(low, high + 1, size)


# ---- orders

def shuffle(x):
    """numpy.random.shuffle"""
    for i in range(len(x) - 1, 0, -1):
        j = random_bounded(NUMPY, i)
        if isinstance(x, np.ndarray) and x.ndim > 1:
            row = x[i].copy()
            x[i] = x[j]
            x[j] = row
        else:
            x[i], x[j] = x[j], x[i]


def permutation(x):
    """numpy.random.permutation"""
    if isinstance(x, (int, np.integer)):
        order = np.arange(np.int64(x))
        shuffle(order)
        return order
    if x.ndim == 1:
        out = x.copy()
        shuffle(out)
        return out
    order = np.arange(np.int64(len(x)))
    shuffle(order)
    out = np.empty(x.shape, x.dtype)
    for i in range(len(x)):
        out[i] = x[order[i]]
    return out


def choice(a, size=None, replace=True, p=None):
    """numpy.random.choice"""
    if isinstance(a, (int, np.integer)):
        if a <= 0:
            raise ValueError("a must be greater than 0 unless no samples are taken")
        return chosen(np.int64(a), size, replace, p)
    if len(a) == 0:
        raise ValueError("'a' cannot be empty unless no samples are taken")
    at = chosen(np.int64(len(a)), size, replace, p)
    if size is None:
        return a[at]
    out = np.empty(at.shape, dtype_of(a[0]))
    take(out, a, at)
    return out


def take(out, a, at):
    for i in range(len(at)):
        if at.ndim == 1:
            out[i] = a[at[i]]
        else:
            take(out[i], a, at[i])


def place(sums):
    return searchsorted(sums, random_double(NUMPY), "right")


def cumulated(p, n):
    if len(p) != n:
        raise ValueError("'a' and 'p' must have same size")
    sums = np.empty(n, np.float64)
    total = 0.0
    for i in range(n):
        if p[i] < 0:
            raise ValueError("probabilities are not non-negative")
        total += p[i]
        sums[i] = total
    if abs(total - 1.0) > 1e-8:
        raise ValueError("probabilities do not sum to 1")
    for i in range(n):
        sums[i] /= total
    return sums


def count_of(size):
    n = 1
    for k in size:
        n *= k
    return n


def chosen(n, size, replace, p):
    if replace:
        if p is None:
            return randint(0, n, size)
        return drawn(place, (cumulated(p, n),), size)
    if p is not None:
        return chosen_once(n, size, cumulated(p, n))
    order = permutation(n)
    if size is None:
        return order[0]
    return shaped(order, size, n)


def shaped(order, size, n):
    count = count_of(size) if isinstance(size, tuple) else size
    if count > n:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    out = np.empty(size, np.int64)
    fill_in_order(out, order, 0)
    return out


def fill_in_order(out, values, at):
    if out.ndim == 1:
        for i in range(len(out)):
            out[i] = values[at]
            at += 1
    else:
        for i in range(len(out)):
            at = fill_in_order(out[i], values, at)
    return at


def chosen_once(n, size, sums):
    """Without replacement, by probability: what was found is taken out, and the rest is drawn again."""
    p = np.empty(n, np.float64)
    some = 0
    for i in range(n):
        p[i] = sums[i] - (sums[i - 1] if i > 0 else 0.0)
        if p[i] > 0:
            some += 1
    count = 1
    if size is not None:
        count = count_of(size) if isinstance(size, tuple) else size
    if count > n:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    if some < count:
        raise ValueError("Fewer non-zero entries in p than size")
    found = np.empty(count, np.int64)
    taken = np.zeros(n, np.bool_)
    have = 0
    while have < count:
        draws = random(count - have)
        total = 0.0
        for i in range(n):
            total += 0.0 if taken[i] else p[i]
            sums[i] = total
        for i in range(n):
            sums[i] /= total
        fresh = have
        for x in draws:
            at = searchsorted(sums, x, "right")
            if not taken[at]:
                taken[at] = True
                found[have] = at
                have += 1
        if fresh == have:
            break
    if size is None:
        return found[0]
    return shaped(found, size, count)


ALL = [seed, random, rand, randn, standard_normal, normal, uniform, randint, random_integers, shuffle, permutation, choice]
FUNCTIONS = {f"numpy.random.{f.__name__}": f for f in ALL}
FUNCTIONS |= {f"numpy.random.{name}": random for name in ("random_sample", "sample", "ranf")}
