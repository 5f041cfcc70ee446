# SPDX-License-Identifier: Apache-2.0
"""The benchmark corpus: small numeric functions as users of a JIT compiler write them, with arguments.

Every function is compiled by Kiln and, where it is installed, by Numba, from this same text. `TWINS`
are those that stand in twins.c too, statement for statement."""
import math

import numpy as np


def add(a, b):
    return a + b


def polynomial(x):
    return ((1.5 * x - 2.25) * x + 0.5) * x - 3.0


def hypotenuse(x, y):
    return math.sqrt(x * x + y * y)


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s


def dot(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


def axpy(alpha, x, y):
    for i in range(len(x)):
        y[i] = alpha * x[i] + y[i]


def largest(a):
    best = a[0]
    for i in range(1, len(a)):
        if a[i] > best:
            best = a[i]
    return best


def sum2d(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def transpose(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j, i] = a[i, j]


def stencil(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def histogram(values, counts):
    for i in range(len(values)):
        counts[values[i]] += 1


def prefix(a, out):
    s = 0
    for i in range(len(a)):
        s += a[i]
        out[i] = s


def bubble(a):
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]


def search(a, wanted):
    low = 0
    high = len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def sieve(n):
    flags = np.ones(n + 1, dtype=np.uint8)
    flags[0] = 0
    flags[1] = 0
    i = 2
    while i * i <= n:
        if flags[i]:
            for j in range(i * i, n + 1, i):
                flags[j] = 0
        i += 1
    count = 0
    for i in range(n + 1):
        count += flags[i]
    return count


def mandelbrot_point(re, im, limit):
    zr = 0.0
    zi = 0.0
    n = 0
    while n < limit and zr * zr + zi * zi <= 4.0:
        zr, zi = zr * zr - zi * zi + re, 2.0 * zr * zi + im
        n += 1
    return n


def mandelbrot(height, width, limit):
    out = np.zeros((height, width), dtype=np.int64)
    for i in range(height):
        for j in range(width):
            c = complex(-2.0 + 3.0 * j / width, -1.0 + 2.0 * i / height)
            z = 0j
            n = 0
            while n < limit and abs(z) <= 2.0:
                z = z * z + c
                n += 1
            out[i, j] = n
    return out


def black_scholes(s, x, t, r, v):
    root = math.sqrt(t)
    d1 = (math.log(s / x) + (r + 0.5 * v * v) * t) / (v * root)
    d2 = d1 - v * root
    return s * 0.5 * math.erfc(-d1 / math.sqrt(2.0)) - x * math.exp(-r * t) * 0.5 * math.erfc(-d2 / math.sqrt(2.0))


def softmax(a, out):
    top = a[0]
    for i in range(len(a)):
        top = max(top, a[i])
    s = 0.0
    for i in range(len(a)):
        out[i] = math.exp(a[i] - top)
        s += out[i]
    for i in range(len(a)):
        out[i] /= s


def moments(a):
    n = len(a)
    mean = 0.0
    for i in range(n):
        mean += a[i]
    mean /= n
    var = 0.0
    for i in range(n):
        var += (a[i] - mean) ** 2
    return mean, math.sqrt(var / n)


def lcg_pi(n, seed):
    state = np.uint64(seed)
    inside = 0
    for i in range(n):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        x = np.float64(state >> np.uint64(11)) / 9007199254740992.0
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        y = np.float64(state >> np.uint64(11)) / 9007199254740992.0
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n


def floyd_warshall(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]


def _f(*shape):
    return np.random.RandomState(1).uniform(0.1, 1, shape)


def _i(n, top):
    return np.random.RandomState(2).randint(0, top, n).astype(np.int64)


#: name -> (function, () -> arguments)
CORPUS = {f.__name__: (f, arguments) for f, arguments in [
    (add, lambda: (1.5, 2.5)),
    (polynomial, lambda: (0.7,)),
    (hypotenuse, lambda: (3.0, 4.0)),
    (collatz, lambda: (27,)),
    (gcd, lambda: (1071, 462)),
    (fibonacci, lambda: (15,)),
    (total, lambda: (_f(1000),)),
    (dot, lambda: (_f(1000), _f(1000))),
    (axpy, lambda: (2.0, _f(1000), _f(1000))),
    (largest, lambda: (_f(1000),)),
    (sum2d, lambda: (_f(30, 40),)),
    (matmul, lambda: (_f(20, 30), _f(30, 10), np.zeros((20, 10)))),
    (transpose, lambda: (_f(20, 30), np.zeros((30, 20)))),
    (stencil, lambda: (_f(30, 30), np.zeros((30, 30)))),
    (histogram, lambda: (_i(1000, 16), np.zeros(16, np.int64))),
    (prefix, lambda: (_i(1000, 16), np.zeros(1000, np.int64))),
    (bubble, lambda: (_f(60),)),
    (search, lambda: (np.sort(_f(1000)), 0.5)),
    (sieve, lambda: (10_000,)),
    (mandelbrot_point, lambda: (-0.5, 0.5, 100)),
    (mandelbrot, lambda: (20, 30, 50)),
    (black_scholes, lambda: (20.0, 25.0, 2.0, 0.02, 0.3)),
    (softmax, lambda: (_f(1000), np.zeros(1000))),
    (moments, lambda: (_f(1000),)),
    (lcg_pi, lambda: (1000, 12345)),
    (floyd_warshall, lambda: (_f(20, 20),)),
]}

#: functions with a C twin in twins.c: their optimized machine code is compared with clang's
TWINS = ["polynomial", "hypotenuse", "collatz", "gcd", "total", "dot", "axpy", "largest", "histogram", "prefix", "search",
         "mandelbrot_point", "black_scholes", "bubble"]
