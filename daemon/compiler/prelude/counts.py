# SPDX-License-Identifier: Apache-2.0
"""numpy.random's distributions of integers: NumPy's numbers for the same seed. Meaning:
https://numpy.org/doc/stable/reference/random/legacy.html. Methods are named where they were published."""
import math

from distributions import scaled_gamma
from intrinsics import random_double
from numpy_random import NUMPY, drawn


def poisson_number(lam):
    """Products of uniform numbers; from 10 on W. Hörmann's transformed rejection (1993)."""
    if lam == 0.0:
        return 0
    if lam < 10.0:
        limit = math.exp(-lam)
        x = 0
        product = random_double(NUMPY)
        while product > limit:
            x += 1
            product *= random_double(NUMPY)
        return x
    slam = math.sqrt(lam)
    loglam = math.log(lam)
    b = 0.931 + 2.53 * slam
    a = -0.059 + 0.02483 * b
    invalpha = 1.1239 + 1.1328 / (b - 3.4)
    vr = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = random_double(NUMPY) - 0.5
        v = random_double(NUMPY)
        us = 0.5 - abs(u)
        k = int(math.floor((2 * a / us + b) * u + lam + 0.43))
        if us >= 0.07 and v <= vr:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v) + math.log(invalpha) - math.log(a / (us * us) + b) <= -lam + k * loglam - log_gamma(k + 1.0):
            return k


#: coefficients of Stirling's series: Bernoulli numbers B(2k) over 2k (2k - 1)
STIRLING = (8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04, 8.417508417508418e-04,
            -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02, 1.796443723688307e-01, -1.39243221690590e+00)


def log_gamma(x):
    """As NumPy computes it: Stirling's series past 7."""
    if x == 1.0 or x == 2.0:
        return 0.0
    n = int(7 - x) if x < 7.0 else 0
    y = x + n
    square = (1.0 / y) * (1.0 / y)
    total = STIRLING[9]
    for k in range(8, -1, -1):
        total *= square
        total += STIRLING[k]
    value = total / y + 0.5 * 1.8378770664093453e+00 + (y - 0.5) * math.log(y) - y
    if x < 7.0:
        for k in range(1, n + 1):
            value -= math.log(y - 1.0)
            y -= 1.0
    return value


def poisson(lam=1.0, size=None):
    """numpy.random.poisson"""
    if lam < 0 or lam != lam:
        raise ValueError("lam < 0 or lam is NaN")
    if lam > 9.223372006484771e+18:
        raise ValueError("lam value too large")
    return drawn(poisson_number, (float(lam),), size)


def binomial_by_inversion(n, p):
    q = 1.0 - p
    qn = math.exp(n * math.log(q))
    np_ = n * p
    bound = int(min(float(n), np_ + 10.0 * math.sqrt(np_ * q + 1)))
    x = 0
    px = qn
    u = random_double(NUMPY)
    while u > px:
        x += 1
        if x > bound:
            x = 0
            px = qn
            u = random_double(NUMPY)
        else:
            u -= px
            px = ((n - x + 1) * p * px) / (x * q)
    return x


def correction(f):
    g = f * f
    return (13860.0 - (462.0 - (132.0 - (99.0 - 140.0 / g) / g) / g) / g) / f / 166320.0


def binomial_by_rejection(n, p):
    """V. Kachitvichyanukul and B. Schmeiser, algorithm BTPE (1988)."""
    r = min(p, 1.0 - p)
    q = 1.0 - r
    fm = n * r + r
    m = int(math.floor(fm))
    p1 = math.floor(2.195 * math.sqrt(n * r * q) - 4.6 * q) + 0.5
    xm = m + 0.5
    xl = xm - p1
    xr = xm + p1
    c = 0.134 + 20.5 / (15.3 + m)
    a = (fm - xl) / (fm - xl * r)
    left = a * (1.0 + a / 2.0)
    a = (xr - fm) / (xr * q)
    right = a * (1.0 + a / 2.0)
    p2 = p1 * (1.0 + 2.0 * c)
    p3 = p2 + c / left
    p4 = p3 + c / right
    while True:
        nrq = n * r * q
        u = random_double(NUMPY) * p4
        v = random_double(NUMPY)
        if u <= p1:
            y = int(math.floor(xm - p1 * v + u))
            break
        if u <= p2:
            x = xl + (u - p1) / c
            v = v * c + 1.0 - abs(m - x + 0.5) / p1
            if v > 1.0:
                continue
            y = int(math.floor(x))
        elif u <= p3:
            y = int(math.floor(xl + math.log(v) / left))
            if y < 0 or v == 0.0:
                continue
            v = v * (u - p2) * left
        else:
            y = int(math.floor(xr - math.log(v) / right))
            if y > n or v == 0.0:
                continue
            v = v * (u - p3) * right
        k = abs(y - m)
        if k > 20 and k < nrq / 2.0 - 1:
            rho = (k / nrq) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / nrq + 0.5)
            t = -k * k / (2 * nrq)
            size = math.log(v)
            if size < t - rho:
                break
            if size > t + rho:
                continue
            x1 = float(y + 1)
            f1 = float(m + 1)
            z = float(n + 1 - m)
            w = float(n - y + 1)
            if size > (xm * math.log(f1 / x1) + (n - m + 0.5) * math.log(z / w) + (y - m) * math.log(w * r / (x1 * q)) +
                       correction(f1) + correction(z) + correction(x1) + correction(w)):
                continue
            break
        s = r / q
        a = s * (n + 1)
        f = 1.0
        if m < y:
            for i in range(m + 1, y + 1):
                f *= a / i - s
        elif m > y:
            for i in range(y + 1, m + 1):
                f /= a / i - s
        if v <= f:
            break
    if p > 0.5:
        y = n - y
    return y


def binomial_number(n, p):
    if n == 0 or p == 0.0:
        return 0
    if p <= 0.5:
        if p * n <= 30.0:
            return binomial_by_inversion(n, p)
        return binomial_by_rejection(n, p)
    q = 1.0 - p
    if q * n <= 30.0:
        return n - binomial_by_inversion(n, q)
    return binomial_by_rejection(n, p)


def binomial(n, p, size=None):
    """numpy.random.binomial"""
    if n < 0:
        raise ValueError("n < 0")
    if not (p >= 0 and p <= 1):
        raise ValueError("p < 0, p > 1 or p is NaN")
    return drawn(binomial_number, (int(n), float(p)), size)


def geometric_number(p):
    if p >= 0.333333333333333333333333:
        x = 1
        total = p
        product = p
        q = 1.0 - p
        u = random_double(NUMPY)
        while u > total:
            product *= q
            total += product
            x += 1
        return x
    return int(math.ceil(math.log(1.0 - random_double(NUMPY)) / math.log(1.0 - p)))


def geometric(p, size=None):
    """numpy.random.geometric"""
    if not (p > 0 and p <= 1):
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return drawn(geometric_number, (float(p),), size)


def negative_binomial_number(n, p):
    return poisson_number(scaled_gamma(n, (1 - p) / p))


def negative_binomial(n, p, size=None):
    """numpy.random.negative_binomial"""
    if n <= 0:
        raise ValueError("n <= 0")
    if not (p > 0 and p <= 1):
        raise ValueError("p <= 0, p > 1 or p is NaN")
    return drawn(negative_binomial_number, (float(n), float(p)), size)


ALL = [poisson, binomial, geometric, negative_binomial]
FUNCTIONS = {f"numpy.random.{f.__name__}": f for f in ALL}
