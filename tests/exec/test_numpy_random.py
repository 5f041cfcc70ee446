# SPDX-License-Identifier: Apache-2.0
"""numpy.random's functions on the module's own state: bit for bit NumPy's numbers for the same seed."""
import numpy as np
import pytest

from same import compiled, equal


def reseed(s):
    np.random.seed(s)


def agree(f, *arguments, seeds=(0, 42, 2**32 - 1), rounds=40):
    for s in seeds:
        reseed(s)
        compiled(reseed)(s)
        for k in range(rounds):
            want, got = f(*arguments), compiled(f)(*arguments)
            assert equal(want, got), f"{f.__name__}{arguments!r}, number {k} after seed({s}): compiled {got!r}, NumPy {want!r}"


SCALAR = {
    "random": (), "random_sample": (), "ranf": (), "sample": (), "rand": (), "randn": (), "standard_normal": (), "standard_exponential": (),
    "standard_cauchy": (), "normal": (2.0, 3.0), "uniform": (-1.0, 4.0), "exponential": (2.5,), "gamma": (2.5, 1.5), "standard_gamma": (0.5,), "beta": (2.0, 3.5),
    "chisquare": (3.0,), "f": (3.0, 5.0), "standard_t": (4.0,), "lognormal": (0.5, 0.25), "laplace": (1.0, 2.0), "logistic": (1.0, 2.0),
    "gumbel": (1.0, 2.0), "rayleigh": (2.0,), "weibull": (1.5,), "pareto": (3.0,), "power": (2.5,), "triangular": (-1.0, 0.5, 2.0), "poisson": (3.0,),
    "binomial": (20, 0.3), "geometric": (0.25,), "negative_binomial": (5.0, 0.4), "randint": (3, 17),
}


def call(name, n):
    import linecache
    names = ", ".join("abc"[:n])
    text = f"def call_{name}({names}):\n    return np.random.{name}({names})\n"
    file = f"<numpy.random.{name}/{n}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"np": np}
    exec(compile(text, file, "exec"), scope)
    return scope[f"call_{name}"]


@pytest.mark.parametrize("name", SCALAR)
def test_one_number(name):
    agree(call(name, len(SCALAR[name])), *SCALAR[name], rounds=200)


MORE = [("gamma", (1.0, 2.0)), ("gamma", (0.3, 1.0)), ("standard_gamma", (0.0,)), ("beta", (0.5, 0.5)), ("beta", (0.01, 0.02)), ("weibull", (0.0,)), ("poisson", (0.0,)), ("poisson", (9.9,)),
        ("poisson", (10.0,)), ("poisson", (250.5,)), ("poisson", (1e10,)), ("binomial", (0, 0.5)), ("binomial", (100, 0.0)), ("binomial", (100, 1.0)), ("binomial", (100, 0.5)), ("binomial", (1000, 0.7)),
        ("binomial", (10**6, 0.01)), ("binomial", (50, 0.95)), ("geometric", (0.9,)), ("geometric", (0.01,)), ("geometric", (1.0,)), ("randint", (10,)), ("randint", (0, 1)), ("randint", (0, 2**31)),
        ("randint", (-2**40, 2**41)), ("randint", (0, 2**32)), ("randint", (0, 2**62)), ("normal", ()), ("normal", (5.0,)), ("uniform", ()), ("standard_t", (1.5,))]


@pytest.mark.parametrize("k", range(len(MORE)))
def test_other_regions(k):
    name, arguments = MORE[k]
    agree(call(name, len(arguments)), *arguments)


def sized(n):
    return (np.random.rand(n), np.random.rand(2, n), np.random.randn(n), np.random.random(n), np.random.random((n, 2)), np.random.normal(0.0, 2.0, n), np.random.normal(size=(2, n)),
            np.random.uniform(-1, 1, size=n), np.random.randint(0, 10, n), np.random.randint(5, size=(n, 3)), np.random.standard_normal((2, 2, n)), np.random.exponential(size=n),
            np.random.poisson(2.0, n), np.random.binomial(10, 0.5, size=n), np.random.gamma(2.0, size=n), np.random.randint(0, 100, n, np.int32))


def test_arrays():
    for n in (0, 1, 3, 7):
        agree(sized, n, rounds=5)


def orders(n):
    a = np.arange(n) * 1.5
    np.random.shuffle(a)
    b = np.zeros((n, 2))
    for i in range(n):
        b[i] = i + 0.25
    np.random.shuffle(b)
    return a, b, np.random.permutation(n), np.random.permutation(a), np.random.permutation(b)


def choices(n, a, p):
    return (np.random.choice(n), np.random.choice(a), np.random.choice(n, 5), np.random.choice(a, (2, 3)), np.random.choice(a, 4, False), np.random.choice(n, size=3, replace=False),
            np.random.choice(a, p=p), np.random.choice(a, 5, p=p), np.random.choice(len(a), 3, replace=False, p=p))


def test_orders():
    for n in (1, 2, 10, 33):
        agree(orders, n, rounds=5)
    agree(choices, 9, np.array([0.5, 1.5, 2.5, 3.5]), np.array([0.1, 0.2, 0.3, 0.4]))
    agree(choices, 9, np.arange(6), np.array([0.0, 0.5, 0.1, 0.1, 0.1, 0.2]))

    def of_list(items):
        items = list(items)
        np.random.shuffle(items)
        return items

    agree(of_list, [1, 2, 3, 4])


WRONG = [("normal", (0.0, -1.0)), ("exponential", (-1.0,)), ("gamma", (-1.0, 1.0)), ("gamma", (1.0, -1.0)), ("beta", (0.0, 1.0)), ("poisson", (-1.0,)), ("poisson", (np.nan,)), ("poisson", (1e19,)),
         ("binomial", (-1, 0.5)), ("binomial", (5, 1.5)), ("geometric", (0.0,)), ("randint", (5, 5)), ("randint", (0,)), ("uniform", (-1e308, 1e308)), ("triangular", (1.0, 0.0, 2.0)),
         ("triangular", (0.0, 3.0, 2.0)), ("triangular", (1.0, 1.0, 1.0)), ("choice", (0,)), ("seed", (-1,)), ("seed", (2**32,)), ("chisquare", (0.0,)), ("standard_t", (0.0,)), ("weibull", (-1.0,)), ("pareto", (0.0,))]


@pytest.mark.parametrize("k", range(len(WRONG)))
def test_wrong_arguments(k):
    name, arguments = WRONG[k]
    f = call(name, len(arguments))
    with pytest.raises(Exception) as want:
        f(*arguments)
    with pytest.raises(type(want.value)) as got:
        compiled(f)(*arguments)
    assert got.value.args == want.value.args


def test_own_state():
    """The functions of `random` use another generator, and NumPy's own state is not touched."""
    import random
    compiled(reseed)(7)
    reseed(7)
    want = np.random.rand()
    compiled(lambda: random.random())()
    state = np.random.get_state()
    assert compiled(lambda: np.random.rand())() == want
    assert all(np.array_equal(a, b) for a, b in zip(state, np.random.get_state()))
