# SPDX-License-Identifier: Apache-2.0
"""Operators and functions on whole arrays against NumPy: values, dtypes, shapes, broadcasting."""
import numpy as np
import pytest

from same import check, compiled

DTYPES = [np.bool_, np.int8, np.int32, np.int64, np.uint8, np.uint64, np.float32, np.float64, np.complex64, np.complex128]


def sample(dtype, shape=(7,)):
    n = int(np.prod(shape))
    return (np.arange(n).reshape(shape) % 5 + 1).astype(dtype)


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_go_fast(dtype):
    a = np.arange(100).reshape(10, 10).astype(dtype)
    result = compiled(go_fast)(a)
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, go_fast(a), rtol=1e-14)


def arithmetic(a, b):
    return a + b, a - b, a * b


def quotients(a, b):
    return a / b, a // b, a % b


def comparisons(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b


def agree(f, *arguments):
    with np.errstate(all="ignore"):
        expected, got = f(*arguments), compiled(f)(*arguments)
    for e, g in zip(expected, got):
        assert e.dtype == g.dtype and e.shape == g.shape, (f.__name__, e.dtype, g.dtype)
        np.testing.assert_allclose(g, e, rtol=1e-6 if e.dtype in (np.float32, np.complex64) else 1e-14)


@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("b", [np.int64, np.float32, np.float64, np.complex128])
def test_arithmetic(a, b):
    agree(lambda x, y: (x + y, x * y), sample(a), sample(b))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_quotients_and_comparisons(dtype):
    x, y = sample(dtype) - dtype(3), sample(dtype)
    agree(comparisons, x, y)
    agree(quotients, x, y)


@pytest.mark.parametrize("x,y", [((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3, 4), (3, 1)), ((4,), (3, 4)), ((0, 4), (4,)), ((1,), (5,))])
def test_broadcasting(x, y):
    agree(arithmetic, sample(np.float64, x), sample(np.float64, y))


def test_scalars_are_weak():
    for dtype in (np.int8, np.float32, np.complex64):
        result = compiled(arithmetic)(sample(dtype), 2)
        assert all(r.dtype == dtype for r in result)


def test_strided_and_transposed():
    a = sample(np.float64, (6, 8))
    agree(arithmetic, a[::2, ::-1], a.T[:4, :3].T.copy()[:, :].reshape(3, 4).repeat(2, axis=1))
    agree(arithmetic, a.T, a.T)


def functions(x):
    return np.sqrt(x), np.exp(-x), np.sin(x), np.abs(-x), np.floor(x * 0.3), np.isnan(x), -x


def test_functions():
    agree(functions, sample(np.float64, (3, 5)))


def test_shape_mismatch_is_an_error():
    with pytest.raises(ValueError, match="broadcast"):
        compiled(arithmetic)(np.ones(3), np.ones(4))


def add_in_place(a, b):
    a += b
    return a.sum()


def test_in_place():  # T-71
    check(add_in_place, np.arange(6.0), np.arange(6.0))
    check(add_in_place, np.arange(6.0).reshape(2, 3), 2.0)
    a = np.array([[1, 2], [3, 4]])
    assert compiled(add_in_place)(a, a.T) == 20 and a.tolist() == [[2, 5], [5, 8]]
    big = np.arange(10000).reshape(100, 100)
    assert compiled(add_in_place)(big, big.T) == 99990000
    with pytest.raises(TypeError):
        compiled(add_in_place)(np.arange(3), np.ones(3))


def chained(a, b):
    return (a * 2 + b / 3 - 1) ** 2


def test_chained():
    a, b = sample(np.float64, (4, 5)), sample(np.float64, (5,))
    np.testing.assert_allclose(compiled(chained)(a, b), chained(a, b), rtol=1e-14)


def test_bool_arrays_stay_bool():
    m, k = np.array([True, False, True, False]), np.array([True, True, False, False])
    check(lambda m, k: (~m, m + k, m * k, m + True, np.invert(m), np.add(m, k), np.multiply(m, k), m + 1, m & k), m, k)


def test_shapes_that_do_not_fit():
    from kilnjit import njit
    with np.testing.assert_raises_regex(ValueError, "one has 3 where the other has 4"):
        njit(lambda a, b: a + b)(np.ones(3), np.ones(4))


def test_trace_adds_in_64_bits():
    check(lambda a: np.trace(a), np.arange(4, dtype=np.int32).reshape(2, 2) + np.int32(2**30))


def results(a, b):
    return -a, a + a, a * 2, 2 - a, np.copy(a), a > 2, a + b, b + a, a.copy(), a + a.T.copy().T, a.T + a.T, np.sqrt(a)


def test_fortran_order_is_kept():
    """As NumPy's order="K": what all operands agree on."""
    for a in (np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))):
        for b in (np.ones(a.shape[-1]), np.ones(a.shape), np.ones(a.shape, order="F")):
            check(results, a, b)
            for ours, theirs in zip(compiled(results)(a, b), results(a, b)):
                assert ours.strides == theirs.strides


def test_operators_refuse_bools():
    a = np.array([True, False])
    check(lambda x: -x, a)
    check(lambda x: x - x, a)
    check(lambda x: x - True, a)
    check(lambda x: +x, a)
    check(lambda x: x - 1, a)

    def inplace(x):
        x -= x
        return x

    check(inplace, a)


def extremes(x, y):
    return np.minimum(x, y), np.maximum(x, y), np.fmin(x, y), np.fmax(x, y)


def test_extremes_of_zeros():
    """Of two zeros the second, as NumPy's machine instructions do."""
    for n in (1, 3, 8, 17):
        for a, b in ((0.0, -0.0), (-0.0, 0.0), (np.nan, -0.0), (-0.0, np.nan), (1.0, -0.0)):
            for got, want in zip(compiled(extremes)(np.full(n, a), np.full(n, b)), extremes(np.full(n, a), np.full(n, b))):
                assert np.array_equal(got, want, equal_nan=True) and (np.isnan(got).all() or np.array_equal(np.signbit(got), np.signbit(want)))
        z = np.zeros(n)
        z[::2] = -0.0
        check(lambda x: (x.min(), x.max()), z)
        check(lambda x: (x.min(), x.max()), -z)
