# SPDX-License-Identifier: Apache-2.0
"""The module random: CPython's numbers for the same seed. Meaning: https://docs.python.org/3/library/random.html. The
generator is the process's, not Python's own (docs/semantics.md)."""
import math

import numpy as np
from hashing import hash_float
from heaps import bisect_right
from intrinsics import list_push, list_set, random_below, random_bits, random_double, random_gauss, random_seed, static_error
from number_methods import magnitude

FLAGS = 0
NORMAL = 1.7155277699214135  # 4 exp(-1/2) / sqrt(2)
GAMMA = 2.504077396776274    # 1 + log(4.5)
LOG4 = 1.3862943611198906
TURN = 6.283185307179586


def seed(a):
    """random.seed"""
    if isinstance(a, (int, np.integer)):
        random_seed(0, np.int64(magnitude(a)))
    elif isinstance(a, (float, np.floating)):
        random_seed(0, hash_float(float(a)))
    else:
        static_error("a seed is an integer or a float here")


def random():
    """random.random"""
    return random_double(0)


def uniform(a, b):
    """random.uniform"""
    return a + (b - a) * random_double(0)


def getrandbits(k):
    """random.getrandbits, of at most 64 bits"""
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    if k > 64:
        raise OverflowError("getrandbits() of more than 64 bits")
    return np.uint64(random_bits(k))


def randrange(start, stop=None, step=1):
    """random.randrange"""
    if stop is None:
        if start <= 0:
            raise ValueError("empty range for randrange()")
        return random_below(start)
    width = stop - start
    if step == 1:
        if width > 0:
            return int(start) + random_below(width)
        raise ValueError(f"empty range for randrange() ({start}, {stop}, {width})")
    if step > 0:
        n = (width + step - 1) // step
    elif step < 0:
        n = (width + step + 1) // step
    else:
        raise ValueError("zero step for randrange()")
    if n <= 0:
        raise ValueError("empty range for randrange()")
    return int(start) + step * random_below(n)


def randint(a, b):
    """random.randint"""
    return randrange(a, b + 1)


def choice(seq):
    """random.choice"""
    n = len(seq)
    if n == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[random_below(n)]


def shuffle(x):
    """random.shuffle"""
    for i in range(len(x) - 1, 0, -1):
        j = random_below(i + 1)
        if isinstance(x, np.ndarray) and x.ndim > 1:
            row = x[i].copy()
            x[i] = x[j]
            x[j] = row
        else:
            x[i], x[j] = x[j], x[i]


def sample(population, k):
    """random.sample"""
    n = len(population)
    if k < 0 or k > n:
        raise ValueError("Sample larger than population or is negative")
    pool = list(population)
    small = 21
    if k > 5:
        small += 4 ** math.ceil(math.log(k * 3, 4))
    out = pool[:k]
    if n <= small:
        for i in range(k):
            j = random_below(n - i)
            list_set(out, i, pool[j])
            pool[j] = pool[n - i - 1]
    else:
        taken = np.zeros(n, np.bool_)
        for i in range(k):
            j = random_below(n)
            while taken[j]:
                j = random_below(n)
            taken[j] = True
            list_set(out, i, pool[j])
    return out


def choices(population, weights=None, *, cum_weights=None, k=1):
    """random.choices"""
    pool = list(population)
    n = len(pool)
    out = pool[:0]
    if weights is None and cum_weights is None:
        for _ in range(k):
            list_push(out, pool[math.floor(random_double(0) * n)])
        return out
    if weights is not None and cum_weights is not None:
        raise TypeError("Cannot specify both weights and cumulative weights")
    sums = cumulated(weights, cum_weights)
    if len(sums) != n:
        raise ValueError("The number of weights does not match the population")
    total = sums[n - 1] + 0.0
    if total <= 0.0:
        raise ValueError("Total of weights must be greater than zero")
    if not math.isfinite(total):
        raise ValueError("Total of weights must be finite")
    for _ in range(k):
        list_push(out, pool[bisect_right(sums, random_double(0) * total, 0, n - 1)])
    return out


def cumulated(weights, cum_weights):
    if weights is None:
        return cum_weights
    out = []
    first = True
    for w in weights:
        if first:
            out.append(w)
            first = False
        else:
            out.append(out[len(out) - 1] + w)
    return out


def triangular(low=0.0, high=1.0, mode=None):
    """random.triangular"""
    u = random_double(0)
    if mode is None:
        c = 0.5
    elif high == low:
        return low + 0.0
    else:
        c = (mode - low) / (high - low)
    a, b = low, high
    if u > c:
        u = 1.0 - u
        c = 1.0 - c
        a, b = high, low
    return a + (b - a) * math.sqrt(u * c)


def gauss(mu=0.0, sigma=1.0):
    """random.gauss"""
    return mu + random_gauss(0) * sigma


def normalvariate(mu=0.0, sigma=1.0):
    """random.normalvariate: by the ratio of two uniform numbers (Kinderman and Monahan 1977)."""
    while True:
        u = random_double(0)
        v = 1.0 - random_double(0)
        z = NORMAL * (u - 0.5) / v
        if z * z / 4.0 <= -math.log(v):
            return mu + z * sigma


def lognormvariate(mu, sigma):
    """random.lognormvariate"""
    return math.exp(normalvariate(mu, sigma))


def expovariate(lambd):
    """random.expovariate"""
    return -math.log(1.0 - random_double(0)) / lambd


def vonmisesvariate(mu, kappa):
    """random.vonmisesvariate (Fisher 1993)"""
    if kappa <= 1e-6:
        return TURN * random_double(0)
    s = 0.5 / kappa
    r = s + math.sqrt(1.0 + s * s)
    while True:
        z = math.cos(math.pi * random_double(0))
        d = z / (r + z)
        u = random_double(0)
        if u < 1.0 - d * d or u <= (1.0 - d) * math.exp(d):
            break
    q = 1.0 / r
    f = (q + z) / (1.0 + q * z)
    if random_double(0) > 0.5:
        return (mu + math.acos(f)) % TURN
    return (mu - math.acos(f)) % TURN


def gammavariate(alpha, beta):
    """random.gammavariate (Cheng 1977; below 1 Ahrens and Dieter)"""
    if alpha <= 0.0 or beta <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    if alpha > 1.0:
        root = math.sqrt(2.0 * alpha - 1.0)
        b = alpha - LOG4
        c = alpha + root
        while True:
            u = random_double(0)
            if not (1e-7 < u and u < 0.9999999):
                continue
            w = 1.0 - random_double(0)
            v = math.log(u / (1.0 - u)) / root
            x = alpha * math.exp(v)
            z = u * u * w
            r = b + c * v - x
            if r + GAMMA - 4.5 * z >= 0.0 or r >= math.log(z):
                return x * beta
    if alpha == 1.0:
        return -math.log(1.0 - random_double(0)) * beta
    while True:
        u = random_double(0)
        b = (math.e + alpha) / math.e
        p = b * u
        x = p ** (1.0 / alpha) if p <= 1.0 else -math.log((b - p) / alpha)
        w = random_double(0)
        if w <= x ** (alpha - 1.0) if p > 1.0 else w <= math.exp(-x):
            return x * beta


def betavariate(alpha, beta):
    """random.betavariate"""
    y = gammavariate(alpha, 1.0)
    if y != 0.0:
        return y / (y + gammavariate(beta, 1.0))
    return 0.0


def paretovariate(alpha):
    """random.paretovariate"""
    return (1.0 - random_double(0)) ** (-1.0 / alpha)


def weibullvariate(alpha, beta):
    """random.weibullvariate"""
    return alpha * (-math.log(1.0 - random_double(0))) ** (1.0 / beta)


ALL = [seed, random, uniform, getrandbits, randrange, randint, choice, shuffle, sample, choices, triangular, gauss, normalvariate,
       lognormvariate, expovariate, vonmisesvariate, gammavariate, betavariate, paretovariate, weibullvariate]
FUNCTIONS = {f"random.{f.__name__}": f for f in ALL}
