# SPDX-License-Identifier: Apache-2.0
"""The module random: bit for bit CPython's numbers for the same seed; and the state that artifacts of a process share."""
import math
import os
import random
import threading

import numpy as np
import pytest

from kilnjit import njit
from same import compiled, equal

SEEDS = [0, 1, 42, -7, 2**32 - 1, 2**32, 2**62 + 12345, -2**63, 1.5, -0.25, 1e300]


def reseed(s):
    random.seed(s)


def agree(f, *arguments, seeds=SEEDS[:4]):
    for s in seeds:
        reseed(s)
        compiled(reseed)(s)
        for _ in range(40):
            want, got = f(*arguments), compiled(f)(*arguments)
            assert equal(want, got), f"{f.__name__}{arguments!r} after seed({s!r}): compiled {got!r}, Python {want!r}"


def test_random_and_seeds():
    agree(lambda: random.random(), seeds=SEEDS)


def test_many():
    """Past several refills of the state."""
    def f(n):
        t = 0.0
        for _ in range(n):
            t += random.random()
        return t

    reseed(5)
    compiled(reseed)(5)
    assert f(5000) == compiled(f)(5000)


def test_integers():
    for k in (0, 1, 5, 31, 32, 33, 63, 64):
        agree(lambda k: random.getrandbits(k), k)
    for a, b in ((0, 1), (1, 6), (-10, 10), (0, 2**40), (5, 5), (0, 2**62)):
        agree(lambda a, b: random.randint(a, b), a, b)
    agree(lambda: (random.randrange(10), random.randrange(1, 10), random.randrange(0, 100, 7), random.randrange(10, 0, -3)))
    for arguments in ((0,), (5, 5), (5, 1)):
        for f in ((lambda *a: random.randrange(*a)),):
            with pytest.raises(ValueError):
                compiled(f)(*arguments)
    with pytest.raises(ValueError, match=r"empty range for randrange\(\) \(5, 5, 0\)"):
        compiled(lambda a: random.randrange(a, a))(5)


def sequences(items):
    a = list(items)
    random.shuffle(a)
    return a, random.choice(a), random.sample(a, 3), random.choices(a, k=4), random.choices(a, weights=[1 + i for i in range(len(a))], k=3)


def test_sequences():
    agree(sequences, [1, 2, 3, 4, 5])
    agree(sequences, [0.5 * i for i in range(100)])
    agree(lambda n: random.sample(range(n), 5), 1000)
    agree(lambda s: random.choice(s), "abc")
    agree(lambda s: random.choice(s), (1, 2, 3))

    def shuffled(a):
        b = a.copy()
        random.shuffle(b)
        return b

    agree(shuffled, np.arange(20))
    with pytest.raises(IndexError, match="empty sequence"):
        compiled(lambda n: random.choice([i for i in range(n)]))(0)
    with pytest.raises(ValueError, match="larger than population"):
        compiled(lambda n: random.sample([i for i in range(n)], 5))(2)


DISTRIBUTIONS = [
    (lambda a, b: random.uniform(a, b), (2.0, 5.0)), (lambda a, b: random.uniform(a, b), (5, -2)), (lambda: random.triangular(), ()),
    (lambda a, b, c: random.triangular(a, b, c), (1.0, 4.0, 1.5)), (lambda a: random.triangular(a, a, a), (2.0,)), (lambda: random.gauss(), ()),
    (lambda m, s: random.gauss(m, s), (1.0, 2.0)), (lambda m, s: random.normalvariate(m, s), (0.0, 1.0)), (lambda: random.normalvariate(), ()),
    (lambda m, s: random.lognormvariate(m, s), (0.5, 0.25)), (lambda x: random.expovariate(x), (1.5,)), (lambda m, k: random.vonmisesvariate(m, k), (1.0, 4.0)),
    (lambda m, k: random.vonmisesvariate(m, k), (1.0, 0.0)), (lambda a, b: random.gammavariate(a, b), (2.5, 1.0)),
    (lambda a, b: random.gammavariate(a, b), (1.0, 2.0)), (lambda a, b: random.gammavariate(a, b), (0.3, 2.0)),
    (lambda a, b: random.betavariate(a, b), (2.0, 3.0)), (lambda a: random.paretovariate(a), (3.0,)), (lambda a, b: random.weibullvariate(a, b), (1.0, 1.5))]


@pytest.mark.parametrize("k", range(len(DISTRIBUTIONS)))
def test_distributions(k):
    f, arguments = DISTRIBUTIONS[k]
    agree(f, *arguments)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="alpha and beta must be > 0.0"):
        compiled(lambda a: random.gammavariate(a, 1.0))(-1.0)
    with pytest.raises(ValueError, match="non-negative"):
        compiled(lambda k: random.getrandbits(k))(-1)


def test_one_state_for_all_artifacts():
    """Two functions, each an artifact of its own, go on where the other stopped; Python's own generator is another."""
    a, b = njit(lambda: random.random()), njit(lambda: random.random() + 0.0)
    reseed(9)
    compiled(reseed)(9)
    want = [random.random() for _ in range(4)]
    random.seed(1)
    assert [a(), b(), a(), b()] == want
    state = random.getstate()
    a()
    assert random.getstate() == state


def test_threads_and_processes_differ():
    """Each thread has a state of its own, seeded by the operating system; so has the child of a fork."""
    f = compiled(lambda: random.random())
    compiled(reseed)(3)
    here, seen = f(), []
    threads = [threading.Thread(target=lambda: seen.append(f())) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({here, *seen}) == 4
    compiled(reseed)(3)
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(w, repr(f()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert float(os.read(r, 100)) != f() == here
    os.close(r), os.close(w)


def test_ranges():
    xs = [compiled(lambda: random.random())() for _ in range(2000)]
    assert all(0 <= x < 1 for x in xs) and abs(sum(xs) / 2000 - 0.5) < 0.05 and math.isfinite(sum(xs))
