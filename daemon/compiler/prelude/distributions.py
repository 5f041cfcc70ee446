# SPDX-License-Identifier: Apache-2.0
"""numpy.random's distributions of floats: NumPy's numbers for the same seed. Meaning:
https://numpy.org/doc/stable/reference/random/legacy.html. Methods are named where they were published."""
import math

from intrinsics import random_double, random_gauss
from numpy_random import NUMPY, drawn


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


ALL = [exponential, standard_exponential, gamma, standard_gamma, beta, chisquare, f, standard_t, standard_cauchy,
       lognormal, laplace, logistic, gumbel, rayleigh, weibull, pareto, power, triangular]
FUNCTIONS = {f"numpy.random.{f.__name__}": f for f in ALL}
