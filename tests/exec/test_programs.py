# SPDX-License-Identifier: Apache-2.0
"""Whole programs as users write them, each against NumPy or plain Python on the same input."""
import math

import numpy as np
import pytest

from kilnjit import njit
from same import check, compiled


def rng(seed=7):
    return np.random.RandomState(seed)


# -- sums and the five minutes of every guide


def sum2d(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


def test_sum2d():
    a = np.arange(9).reshape(3, 3)
    for view, want in ((a, 36.0), (a.T, 36.0), (a[:, ::2], 24.0), (a.astype(np.float32), 36.0)):
        assert compiled(sum2d)(view) == want


def go_fast(a):
    trace = 0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    out = np.empty(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] + trace
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_go_fast(dtype):  # T-45: an accumulator that starts as an int
    a = np.arange(100).reshape(10, 10).astype(dtype)
    got = compiled(go_fast)(a)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, a + np.sum(np.tanh(np.diagonal(a))), rtol=1e-14)


# -- finance


def cdf(d):
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    tail = 0.3989422804014327 * math.exp(-0.5 * d * d) * (
        k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
    return 1.0 - tail if d > 0 else tail


def black_scholes(call, put, s, x, t, r, v):
    for i in range(s.shape[0]):
        root = math.sqrt(t[i])
        d1 = (math.log(s[i] / x[i]) + (r + 0.5 * v * v) * t[i]) / (v * root)
        d2 = d1 - v * root
        discounted = x[i] * math.exp(-r * t[i])
        call[i] = s[i] * cdf(d1) - discounted * cdf(d2)
        put[i] = discounted * (1.0 - cdf(d2)) - s[i] * (1.0 - cdf(d1))


def black_scholes_numpy(s, x, t, r, v):
    def cdf(d):
        k = 1.0 / (1.0 + 0.2316419 * np.abs(d))
        tail = 0.3989422804014327 * np.exp(-0.5 * d * d) * (
            k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
        return np.where(d > 0, 1.0 - tail, tail)
    root = np.sqrt(t)
    d1 = (np.log(s / x) + (r + 0.5 * v * v) * t) / (v * root)
    d2 = d1 - v * root
    discounted = x * np.exp(-r * t)
    return s * cdf(d1) - discounted * cdf(d2), discounted * (1.0 - cdf(d2)) - s * (1.0 - cdf(d1))


@pytest.mark.parametrize("dtype,tolerance", [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_black_scholes(dtype, tolerance):
    n = 20000
    s, x, t = (rng().uniform(*ends, n).astype(dtype) for ends in ((5, 30), (1, 100), (0.25, 10)))
    call, put = np.empty(n, dtype), np.empty(n, dtype)
    compiled(black_scholes)(call, put, s, x, t, 0.02, 0.3)
    want = black_scholes_numpy(*(a.astype(np.float64) for a in (s, x, t)), 0.02, 0.3)
    np.testing.assert_allclose(call, want[0], rtol=tolerance, atol=tolerance * 30)
    np.testing.assert_allclose(put, want[1], rtol=tolerance, atol=tolerance * 100)
    if dtype is np.float64:
        np.testing.assert_allclose(call - put, s - x * np.exp(-0.02 * t), atol=1e-10)


# -- molecules


def neighbours(positions, cutoff, count, pairs):
    n = positions.shape[0]
    for i in range(n):
        k = 0
        for j in range(n):
            if i != j:
                d2 = 0.0
                for c in range(3):
                    d = positions[i, c] - positions[j, c]
                    d2 += d * d
                if d2 < cutoff * cutoff:
                    pairs[i, k] = j
                    k += 1
        count[i] = k


def test_neighbour_list():
    positions = rng().uniform(0, 1, (400, 3))
    count, pairs = np.zeros(400, np.int64), np.full((400, 400), -1, np.int64)
    compiled(neighbours)(positions, 0.3, count, pairs)
    near = ((positions[:, None] - positions[None]) ** 2).sum(2) < 0.09
    np.fill_diagonal(near, False)
    assert np.array_equal(count, near.sum(1))
    for i in range(400):
        assert np.array_equal(pairs[i, :count[i]], np.nonzero(near[i])[0])


def forces(x, f):
    energy = 0.0
    n = x.shape[0]
    for i in range(n):
        for c in range(3):
            f[i, c] = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            inverse = 1.0 / (d0 * d0 + d1 * d1 + d2 * d2)
            six = inverse * inverse * inverse
            energy += 4.0 * six * (six - 1.0)
            scale = 24.0 * inverse * six * (2.0 * six - 1.0)
            for c, d in enumerate((d0, d1, d2)):
                f[i, c] += scale * d
                f[j, c] -= scale * d
    return energy


def verlet(x, v, f, dt):
    for i in range(x.shape[0]):
        for c in range(3):
            v[i, c] += 0.5 * dt * f[i, c]
            x[i, c] += dt * v[i, c]
    potential = forces(x, f)
    kinetic = 0.0
    for i in range(x.shape[0]):
        for c in range(3):
            v[i, c] += 0.5 * dt * f[i, c]
            kinetic += 0.5 * v[i, c] ** 2
    return potential + kinetic


def test_molecular_dynamics():
    grid = np.stack(np.meshgrid(*[np.arange(4.0) * 1.2] * 3), -1).reshape(-1, 3)
    x, v, f = grid.copy(), rng().normal(0, 0.1, grid.shape), np.zeros_like(grid)
    f_of, step = compiled(forces), compiled(verlet)
    before = f_of(x, f) + 0.5 * (v ** 2).sum()
    for _ in range(300):
        energy = step(x, v, f, 0.001)
    assert abs(energy - before) < 1e-4 * abs(before)
    assert len(step.signatures) == 1
    d = grid[:, None] - grid[None]
    r2 = (d ** 2).sum(2)[np.triu_indices(len(grid), 1)]
    assert math.isclose(f_of(grid, np.zeros_like(grid)), (4 * r2 ** -3 * (r2 ** -3 - 1)).sum(), rel_tol=1e-12)


# -- chance, with a generator of its own


def monte_carlo_pi(n, seed):
    state = np.uint64(seed)
    inside = 0
    for _ in range(n):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        x = np.float64(state >> np.uint64(11)) / 9007199254740992.0
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        y = np.float64(state >> np.uint64(11)) / 9007199254740992.0
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n


def test_monte_carlo():
    assert abs(compiled(monte_carlo_pi)(1_000_000, 42) - math.pi) < 0.01
    check(monte_carlo_pi, 2000, 42)


# -- pictures and fields


def mandelbrot_complex(width, height, limit):
    out = np.zeros((height, width), np.int64)
    for row in range(height):
        for column in range(width):
            c = complex(-2.0 + 3.0 * column / width, -1.5 + 3.0 * row / height)
            z = 0j
            k = 0
            while k < limit and abs(z) <= 2.0:
                z = z * z + c
                k += 1
            out[row, column] = k
    return out


def mandelbrot_floats(width, height, limit):
    out = np.zeros((height, width), np.int64)
    for row in range(height):
        for column in range(width):
            cr, ci = -2.0 + 3.0 * column / width, -1.5 + 3.0 * row / height
            zr = zi = 0.0
            k = 0
            while k < limit and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                k += 1
            out[row, column] = k
    return out


@pytest.mark.parametrize("function", [mandelbrot_complex, mandelbrot_floats])
def test_mandelbrot(function):
    check(function, 60, 50, 50)


def cavity(u, v, p, steps, dt, dx, rho, nu):
    n = u.shape[0]
    for _ in range(steps):
        b = np.zeros((n, n))
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                ux, vy = (u[i, j + 1] - u[i, j - 1]) / (2 * dx), (v[i + 1, j] - v[i - 1, j]) / (2 * dx)
                uy, vx = (u[i + 1, j] - u[i - 1, j]) / (2 * dx), (v[i, j + 1] - v[i, j - 1]) / (2 * dx)
                b[i, j] = rho * ((ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy)
        for _ in range(20):
            old = p.copy()
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    p[i, j] = (old[i, j + 1] + old[i, j - 1] + old[i + 1, j] + old[i - 1, j]) / 4 - dx * dx / 4 * b[i, j]
            for i in range(n):
                p[i, n - 1] = p[i, n - 2]
                p[i, 0] = p[i, 1]
            for j in range(n):
                p[0, j] = p[1, j]
                p[n - 1, j] = 0.0
        un, vn = u.copy(), v.copy()
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[i, j] = (un[i, j] - un[i, j] * dt / dx * (un[i, j] - un[i, j - 1]) - vn[i, j] * dt / dx * (un[i, j] - un[i - 1, j])
                           - dt / (2 * rho * dx) * (p[i, j + 1] - p[i, j - 1])
                           + nu * dt / (dx * dx) * (un[i, j + 1] + un[i, j - 1] + un[i + 1, j] + un[i - 1, j] - 4 * un[i, j]))
                v[i, j] = (vn[i, j] - un[i, j] * dt / dx * (vn[i, j] - vn[i, j - 1]) - vn[i, j] * dt / dx * (vn[i, j] - vn[i - 1, j])
                           - dt / (2 * rho * dx) * (p[i + 1, j] - p[i - 1, j])
                           + nu * dt / (dx * dx) * (vn[i, j + 1] + vn[i, j - 1] + vn[i + 1, j] + vn[i - 1, j] - 4 * vn[i, j]))
        for j in range(n):
            u[0, j], u[n - 1, j], v[0, j], v[n - 1, j] = 0.0, 1.0, 0.0, 0.0
        for i in range(n - 1):
            u[i, 0], u[i, n - 1], v[i, 0], v[i, n - 1] = 0.0, 0.0, 0.0, 0.0


def test_cavity_flow():
    def run(f, n, steps):
        fields = [np.zeros((n, n)) for _ in range(3)]
        f(*fields, steps, 0.001, 2.0 / (n - 1), 1.0, 0.1)
        return fields
    for ours, theirs in zip(run(compiled(cavity), 21, 10), run(cavity, 21, 10)):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert np.isfinite(run(compiled(cavity), 41, 100)[0]).all()


# -- the classics


def sieve(n):
    composite = np.zeros(n + 1, np.bool_)
    count = 0
    for i in range(2, n + 1):
        if not composite[i]:
            count += 1
            for j in range(i * i, n + 1, i):
                composite[j] = True
    return count, composite


@njit
def queens(n, row, columns, left, right):
    if row == n:
        return 1
    found = 0
    free = ~(columns | left | right) & ((1 << n) - 1)
    while free:
        bit = free & -free
        free ^= bit
        found += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return found


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def fibonacci_loop(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def edit_distance(a, b):
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        diagonal, row[0] = row[0], i + 1
        for j in range(len(b)):
            best = min(row[j] + 1, row[j + 1] + 1, diagonal + (a[i] != b[j]))
            diagonal, row[j + 1] = row[j + 1], best
    return row[len(b)]


def floyd_warshall(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def life(board, generations):
    n, m = board.shape
    for _ in range(generations):
        new = np.zeros_like(board)
        for i in range(n):
            for j in range(m):
                around = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di or dj:
                            around += board[(i + di) % n, (j + dj) % m]
                if around == 3 or (around == 2 and board[i, j]):
                    new[i, j] = 1
        board = new
    return board


def kmeans(points, centres, rounds):
    labels = np.zeros(len(points), np.int64)
    for _ in range(rounds):
        for i in range(len(points)):
            best = np.inf
            for c in range(len(centres)):
                d = 0.0
                for k in range(points.shape[1]):
                    d += (points[i, k] - centres[c, k]) ** 2
                if d < best:
                    best, labels[i] = d, c
        for c in range(len(centres)):
            members = 0
            total = np.zeros(points.shape[1])
            for i in range(len(points)):
                if labels[i] == c:
                    members += 1
                    for k in range(points.shape[1]):
                        total[k] += points[i, k]
            if members:
                for k in range(points.shape[1]):
                    centres[c, k] = total[k] / members
    return labels, centres


@njit
def quicksort(a, low, high):
    while low < high:
        pivot = a[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if j - low < high - i:
            quicksort(a, low, j)
            low = i
        else:
            quicksort(a, i, high)
            high = j


def run_lengths(a, values, counts):
    n = 0
    for x in a:
        if n and values[n - 1] == x:
            counts[n - 1] += 1
        else:
            values[n], counts[n] = x, 1
            n += 1
    return n


def test_classics():
    assert compiled(sieve)(10000)[0] == 1229
    check(sieve, 500)
    assert [queens(n, 0, 0, 0, 0) for n in range(1, 9)] == [1, 0, 0, 2, 10, 4, 40, 92]
    assert compiled(fibonacci)(20) == compiled(fibonacci_loop)(20) == 6765
    text = [np.frombuffer(w, np.uint8) for w in (b"kitten", b"sitting", b"", b"flaw", b"lawn")]
    for a in text:
        for b in text:
            check(edit_distance, a, b)
    assert compiled(edit_distance)(text[0], text[1]) == 3


def test_graphs_and_boards():
    d = rng().uniform(1, 10, (25, 25))
    d[rng(1).uniform(size=d.shape) > 0.3] = np.inf
    np.fill_diagonal(d, 0)
    check(floyd_warshall, d)
    board = (rng().uniform(size=(16, 20)) > 0.6).astype(np.int8)
    check(life, board, 5)
    glider = np.zeros((8, 8), np.int64)
    glider[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    assert np.array_equal(compiled(life)(glider, 4), np.roll(glider, (1, 1), (0, 1)))


def test_data():
    points = np.concatenate([rng().normal(m, 0.3, (30, 2)) for m in (0, 3, 6)])
    check(kmeans, points, points[[0, 30, 60]].copy(), 5)
    for n in (0, 1, 2, 1000):
        a = rng().randint(0, 50, n)
        quicksort(a, 0, n - 1)
        assert np.array_equal(a, np.sort(rng().randint(0, 50, n)))
    a = np.repeat(rng().randint(0, 3, 40), rng(1).randint(1, 5, 40))
    values, counts = np.zeros_like(a), np.zeros_like(a)
    n = compiled(run_lengths)(a, values, counts)
    assert np.array_equal(np.repeat(values[:n], counts[:n]), a) and (values[1:n] != values[:n - 1]).all()


# -- what went wrong elsewhere


def floor(a, b):
    return a // b, a % b, divmod(a, b)


def test_floor_of_all_signs():  # T-63
    for a in (7, -7, 0, 2**62, -2**63):
        for b in (2, -2, 3, -3, 7, -1):
            if (a, b) != (-2**63, -1):
                check(floor, a, b)
    for a in (7.5, -7.5, 0.0, -0.0):
        for b in (2.0, -2.0):
            check(floor, a, b)


def power_constant(x):
    return x ** -2


def test_negative_power():  # T-65
    check(power_constant, 2)
    check(power_constant, -4)


def through(x):
    return x + np.uint64(0) - np.uint64(0)


def test_uint64_keeps_its_digits():  # T-67
    got = compiled(through)(np.uint64(1000000000234567000))
    assert got == 1000000000234567000 and int(got) == 1000000000234567000


def count(n):
    c = 0
    for i in range(n):
        c += 1
        if i > 10:
            c += 1
    return c


def less(n):
    s = 0
    for i in range(n):
        s -= i
    return s


def two_loops(n):
    counters = np.zeros(n, np.int64)
    for i in range(n):
        counters[i] = i
    out = np.zeros(n - 1, np.int64)
    for i in range(n - 1):
        out[i] = counters[i + 1] - counters[i]
    return out


def test_loops_that_were_miscompiled():  # T-75, T-77, T-79
    assert compiled(count)(10) == 10
    assert compiled(less)(10) == -45
    assert (compiled(two_loops)(50) == 1).all()
