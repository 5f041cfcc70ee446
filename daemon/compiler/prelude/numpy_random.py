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


# ---- distributions of floats

def exponential_number():
    return -math.log(1.0 - random_double(NUMPY))


def scaled_exponential(scale):
    return scale * exponential_number()


def exponential(scale=1.0, size=None):
    """numpy.random.exponential"""
    if scale < 0:
        raise ValueError("scale < 0")
    return drawn(scaled_exponential, (float(scale),), size)


def standard_exponential(size=None):
    """numpy.random.standard_exponential"""
    return drawn(exponential_number, (), size)


def gamma_number(shape):
    """G. Marsaglia and W. Tsang (2000); below 1 J. Ahrens and U. Dieter (1974)."""
    if shape == 1.0:
        return exponential_number()
    if shape == 0.0:
        return 0.0
    if shape < 1.0:
        while True:
            u = random_double(NUMPY)
            v = exponential_number()
            if u <= 1.0 - shape:
                x = u ** (1.0 / shape)
                if x <= v:
                    return x
            else:
                y = -math.log((1 - u) / shape)
                x = (1.0 - shape + shape * y) ** (1.0 / shape)
                if x <= v + y:
                    return x
    b = shape - 1 / 3.0
    c = 1.0 / math.sqrt(9 * b)
    while True:
        x = random_gauss(NUMPY)
        v = 1.0 + c * x
        while v <= 0.0:
            x = random_gauss(NUMPY)
            v = 1.0 + c * x
        v = v * v * v
        u = random_double(NUMPY)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
            return b * v


def scaled_gamma(shape, scale):
    return scale * gamma_number(shape)


def gamma(shape, scale=1.0, size=None):
    """numpy.random.gamma"""
    if shape < 0:
        raise ValueError("shape < 0")
    if scale < 0:
        raise ValueError("scale < 0")
    return drawn(scaled_gamma, (float(shape), float(scale)), size)


def standard_gamma(shape, size=None):
    """numpy.random.standard_gamma"""
    if shape < 0:
        raise ValueError("shape < 0")
    return drawn(gamma_number, (float(shape),), size)


def beta_number(a, b):
    if a <= 1.0 and b <= 1.0:  # M. Jöhnk (1964)
        while True:
            u = random_double(NUMPY)
            v = random_double(NUMPY)
            x = u ** (1.0 / a)
            y = v ** (1.0 / b)
            s = x + y
            if s <= 1.0 and u + v > 0.0:
                if s > 0:
                    return x / s
                x = math.log(u) / a
                y = math.log(v) / b
                m = x if x > y else y
                x -= m
                y -= m
                return math.exp(x - math.log(math.exp(x) + math.exp(y)))
    x = gamma_number(a)
    y = gamma_number(b)
    return x / (x + y)


def beta(a, b, size=None):
    """numpy.random.beta"""
    if a <= 0:
        raise ValueError("a <= 0")
    if b <= 0:
        raise ValueError("b <= 0")
    return drawn(beta_number, (float(a), float(b)), size)


def chisquare_number(df):
    return 2.0 * gamma_number(df / 2.0)


def chisquare(df, size=None):
    """numpy.random.chisquare"""
    if df <= 0:
        raise ValueError("df <= 0")
    return drawn(chisquare_number, (float(df),), size)


def f_number(dfnum, dfden):
    return chisquare_number(dfnum) * dfden / (chisquare_number(dfden) * dfnum)


def f(dfnum, dfden, size=None):
    """numpy.random.f"""
    if dfnum <= 0:
        raise ValueError("dfnum <= 0")
    if dfden <= 0:
        raise ValueError("dfden <= 0")
    return drawn(f_number, (float(dfnum), float(dfden)), size)


def t_number(df):
    n = random_gauss(NUMPY)
    g = gamma_number(df / 2)
    return math.sqrt(df / 2) * n / math.sqrt(g)


def standard_t(df, size=None):
    """numpy.random.standard_t"""
    if df <= 0:
        raise ValueError("df <= 0")
    return drawn(t_number, (float(df),), size)


def cauchy_number():
    a = random_gauss(NUMPY)
    return a / random_gauss(NUMPY)


def standard_cauchy(size=None):
    """numpy.random.standard_cauchy"""
    return drawn(cauchy_number, (), size)


def lognormal_number(mean, sigma):
    return math.exp(mean + sigma * random_gauss(NUMPY))


def lognormal(mean=0.0, sigma=1.0, size=None):
    """numpy.random.lognormal"""
    if sigma < 0:
        raise ValueError("sigma < 0")
    return drawn(lognormal_number, (float(mean), float(sigma)), size)


def laplace_number(loc, scale):
    u = random_double(NUMPY)
    while u <= 0.0:
        u = random_double(NUMPY)
    if u >= 0.5:
        return loc - scale * math.log(2.0 - u - u)
    return loc + scale * math.log(u + u)


def laplace(loc=0.0, scale=1.0, size=None):
    """numpy.random.laplace"""
    if scale < 0:
        raise ValueError("scale < 0")
    return drawn(laplace_number, (float(loc), float(scale)), size)


def logistic_number(loc, scale):
    u = random_double(NUMPY)
    while u <= 0.0:
        u = random_double(NUMPY)
    return loc + scale * math.log(u / (1.0 - u))


def logistic(loc=0.0, scale=1.0, size=None):
    """numpy.random.logistic"""
    if scale < 0:
        raise ValueError("scale < 0")
    return drawn(logistic_number, (float(loc), float(scale)), size)


def gumbel_number(loc, scale):
    u = 1.0 - random_double(NUMPY)
    while u >= 1.0:
        u = 1.0 - random_double(NUMPY)
    return loc - scale * math.log(-math.log(u))


def gumbel(loc=0.0, scale=1.0, size=None):
    """numpy.random.gumbel"""
    if scale < 0:
        raise ValueError("scale < 0")
    return drawn(gumbel_number, (float(loc), float(scale)), size)


def rayleigh_number(scale):
    return scale * math.sqrt(-2.0 * math.log1p(-random_double(NUMPY)))


def rayleigh(scale=1.0, size=None):
    """numpy.random.rayleigh"""
    if scale < 0:
        raise ValueError("scale < 0")
    return drawn(rayleigh_number, (float(scale),), size)


def weibull_number(a):
    if a == 0.0:
        return 0.0
    return exponential_number() ** (1.0 / a)


def weibull(a, size=None):
    """numpy.random.weibull"""
    if a < 0:
        raise ValueError("a < 0")
    return drawn(weibull_number, (float(a),), size)


def pareto_number(a):
    return math.exp(exponential_number() / a) - 1


def pareto(a, size=None):
    """numpy.random.pareto"""
    if a <= 0:
        raise ValueError("a <= 0")
    return drawn(pareto_number, (float(a),), size)


def power_number(a):
    return (1 - math.exp(-exponential_number())) ** (1.0 / a)


def power(a, size=None):
    """numpy.random.power"""
    if a <= 0:
        raise ValueError("a <= 0")
    return drawn(power_number, (float(a),), size)


def triangular_number(left, mode, right):
    base = right - left
    low = mode - left
    ratio = low / base
    u = random_double(NUMPY)
    if u <= ratio:
        return left + math.sqrt(u * (low * base))
    return right - math.sqrt((1.0 - u) * ((right - mode) * base))


def triangular(left, mode, right, size=None):
    """numpy.random.triangular"""
    if left > mode:
        raise ValueError("left > mode")
    if mode > right:
        raise ValueError("mode > right")
    if left == right:
        raise ValueError("left == right")
    return drawn(triangular_number, (float(left), float(mode), float(right)), size)


# ---- distributions of integers

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


ALL = [seed, random, rand, randn, standard_normal, normal, uniform, randint, random_integers, shuffle, permutation, choice, exponential,
       standard_exponential, gamma, standard_gamma, beta, chisquare, f, standard_t, standard_cauchy, lognormal, laplace, logistic, gumbel,
       rayleigh, weibull, pareto, power, triangular, poisson, binomial, geometric, negative_binomial]
FUNCTIONS = {f"numpy.random.{f.__name__}": f for f in ALL}
FUNCTIONS |= {f"numpy.random.{name}": random for name in ("random_sample", "sample", "ranf")}
