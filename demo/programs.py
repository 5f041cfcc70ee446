# SPDX-License-Identifier: Apache-2.0
"""The five programs of the demo: each a plain function, its input, and NumPy's answer to check against.

A program is written the way a user would write it for a JIT compiler: scalar loops over arrays. `plain`
says on how small an input the same function is timed as ordinary Python, and `scale` by how much that
time is multiplied to be comparable."""
import math
from dataclasses import dataclass
from typing import Callable

import numpy as np


@dataclass(frozen=True)
class Program:
    title: str
    function: Callable
    arguments: Callable  # () -> tuple: the real input
    small: Callable      # () -> tuple: what plain Python can do in a moment
    work: Callable       # (arguments) -> number of elementary steps, to compare the two
    check: Callable      # (arguments, result) -> None, or raises AssertionError


# -- Black-Scholes ------------------------------------------------------------------------------------
def normal_cdf(d):
    a = 1.0 / (1.0 + 0.2316419 * abs(d))
    poly = a * (0.31938153 + a * (-0.356563782 + a * (1.781477937 + a * (-1.821255978 + a * 1.330274429))))
    tail = 0.3989422804014327 * math.exp(-0.5 * d * d) * poly
    return 1.0 - tail if d > 0.0 else tail


def black_scholes(call, put, price, strike, years, rate, volatility):
    for i in range(len(price)):
        s = price[i]
        x = strike[i]
        t = years[i]
        root = math.sqrt(t)
        d1 = (math.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root)
        d2 = d1 - volatility * root
        discounted = x * math.exp(-rate * t)
        call[i] = s * normal_cdf(d1) - discounted * normal_cdf(d2)
        put[i] = discounted * (1.0 - normal_cdf(d2)) - s * (1.0 - normal_cdf(d1))


def options(n):
    rng = np.random.RandomState(7)
    return (np.empty(n), np.empty(n), rng.uniform(5, 30, n), rng.uniform(1, 100, n), rng.uniform(0.25, 10, n), 0.02, 0.3)


def check_options(arguments, result):
    call, put, s, x, t, rate, volatility = arguments

    def cdf(d):
        a = 1.0 / (1.0 + 0.2316419 * np.abs(d))
        poly = a * (0.31938153 + a * (-0.356563782 + a * (1.781477937 + a * (-1.821255978 + a * 1.330274429))))
        tail = 0.3989422804014327 * np.exp(-0.5 * d * d) * poly
        return np.where(d > 0, 1.0 - tail, tail)

    root = np.sqrt(t)
    d1 = (np.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root)
    d2 = d1 - volatility * root
    discounted = x * np.exp(-rate * t)
    np.testing.assert_allclose(call, s * cdf(d1) - discounted * cdf(d2), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(call - put, s - discounted, rtol=0, atol=1e-10)  # put-call parity


# -- Mandelbrot ---------------------------------------------------------------------------------------
def mandelbrot(height, width, limit):
    counts = np.zeros((height, width), dtype=np.uint8)
    for row in range(height):
        for column in range(width):
            c = complex(-2.0 + 2.8 * column / width, -1.2 + 2.4 * row / height)
            z = 0j
            n = 0
            while n < limit and z.real * z.real + z.imag * z.imag <= 4.0:
                z = z * z + c
                n += 1
            counts[row, column] = n
    return counts


def check_mandelbrot(arguments, counts):
    height, width, limit = arguments
    column, row = np.meshgrid(np.arange(width), np.arange(height))
    c = (-2.0 + 2.8 * column / width) + 1j * (-1.2 + 2.4 * row / height)
    z = np.zeros_like(c)
    expected = np.zeros(c.shape, dtype=np.uint8)
    alive = np.ones(c.shape, dtype=bool)
    for _ in range(limit):
        alive &= z.real * z.real + z.imag * z.imag <= 4.0
        expected[alive] += 1
        z[alive] = z[alive] * z[alive] + c[alive]
    differing = np.count_nonzero(expected != counts)
    assert differing <= counts.size // 100000, f"{differing} points differ"  # vector units may fuse a multiply-add


# -- neighbour list of a molecular-dynamics box ------------------------------------------------------------
def neighbours(positions, cutoff, most):
    n = positions.shape[0]
    count = np.zeros(n, dtype=np.int64)
    lists = np.full((n, most), -1, dtype=np.int64)
    limit = cutoff * cutoff
    for i in range(n):
        for j in range(n):
            if i != j:
                distance = 0.0
                for k in range(3):
                    step = positions[i, k] - positions[j, k]
                    step -= round(step)  # periodic box of side 1
                    distance += step * step
                if distance < limit:
                    if count[i] == most:
                        raise ValueError("more neighbours than the list has room for")
                    lists[i, count[i]] = j
                    count[i] += 1
    return count, lists


def box(n, cutoff, most):
    return np.random.RandomState(3).uniform(0, 1, (n, 3)), cutoff, most


def check_neighbours(arguments, result):
    positions, cutoff, _ = arguments
    count, lists = result
    step = positions[:, None, :] - positions[None, :, :]
    step -= np.round(step)
    near = (step ** 2).sum(axis=2) < cutoff * cutoff
    np.fill_diagonal(near, False)
    np.testing.assert_array_equal(count, near.sum(axis=1))
    for i in range(len(count)):
        np.testing.assert_array_equal(lists[i, :count[i]], np.flatnonzero(near[i]))


# -- edit distance --------------------------------------------------------------------------------------
def edit_distance(a, b):
    previous = np.empty(len(b) + 1, dtype=np.int64)
    current = np.empty(len(b) + 1, dtype=np.int64)
    for j in range(len(b) + 1):
        previous[j] = j
    for i in range(len(a)):
        current[0] = i + 1
        for j in range(len(b)):
            substitution = previous[j] + (a[i] != b[j])
            current[j + 1] = min(substitution, previous[j + 1] + 1, current[j] + 1)
        previous, current = current, previous
    return previous[len(b)]


def texts(n):
    rng = np.random.RandomState(11)
    a = rng.randint(0, 4, n).astype(np.uint8)
    b = np.delete(a, slice(None, None, 10))  # every tenth letter lost: the distance is known
    return a, b


def check_edit_distance(arguments, result):
    a, b = arguments
    row = np.arange(len(b) + 1)
    for i, letter in enumerate(a):  # one row of the table at a time, with a running minimum for insertions
        below = np.minimum(row[1:] + 1, row[:-1] + (b != letter))
        new = np.concatenate(([i + 1], below))
        row = np.minimum.accumulate(new - np.arange(len(b) + 1)) + np.arange(len(b) + 1)
    assert result == row[-1], (result, row[-1])


# -- heat equation --------------------------------------------------------------------------------------
def heat(start, steps, alpha):
    rows, columns = start.shape
    now = start.copy()
    then = start.copy()
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                then[i, j] = now[i, j] + alpha * (
                    now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1] - 4.0 * now[i, j])
        now, then = then, now
    return now


def plate(n, steps):
    start = np.zeros((n, n))
    start[0, :] = 100.0
    start[n // 3:n // 2, n // 3:n // 2] = 50.0
    return start, steps, 0.1


def check_heat(arguments, result):
    start, steps, alpha = arguments
    now = start.copy()
    for _ in range(steps):
        then = now.copy()
        then[1:-1, 1:-1] = now[1:-1, 1:-1] + alpha * (
            now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4.0 * now[1:-1, 1:-1])
        now = then
    np.testing.assert_allclose(result, now, rtol=1e-12, atol=1e-12)


PROGRAMS = [
    Program("Black-Scholes, 1,000,000 options", black_scholes, lambda: options(1_000_000), lambda: options(4_000),
            lambda a: len(a[2]), check_options),
    Program("Mandelbrot, 600 x 700, 200 iterations", mandelbrot, lambda: (600, 700, 200), lambda: (24, 28, 200),
            lambda a: a[0] * a[1], check_mandelbrot),
    Program("Neighbour list, 2,000 atoms", neighbours, lambda: box(2_000, 0.1, 64), lambda: box(100, 0.1, 64),
            lambda a: len(a[0]) ** 2, check_neighbours),
    Program("Edit distance, 4,000 letters", edit_distance, lambda: texts(4_000), lambda: texts(150),
            lambda a: len(a[0]) * len(a[1]), check_edit_distance),
    Program("Heat equation, 500 x 500, 200 steps", heat, lambda: plate(500, 200), lambda: plate(50, 20),
            lambda a: a[0].size * a[1], check_heat),
]
