# SPDX-License-Identifier: Apache-2.0
"""try: which handler runs, what variables hold there, else, finally on every way out, raising again."""
import gc

import numpy as np
import pytest

from kilnjit import _kiln, njit
from same import check


class Failed(Exception):
    pass


class Late(Failed, ValueError):
    pass


def one_handler(n):
    r = 0
    try:
        if n > 2:
            raise ValueError("large")
        r = 1
    except ValueError:
        r = 2
    return r


def by_class(n):
    try:
        if n == 0:
            raise IndexError("i")
        if n == 1:
            raise KeyError(3)
        if n == 2:
            raise ZeroDivisionError("z")
        if n == 3:
            raise Late("l")
        if n == 4:
            raise Failed("f")
        if n == 5:
            raise OverflowError("o")
        r = 0
    except LookupError:
        r = 1
    except (ZeroDivisionError, Late):
        r = 2
    except Failed:
        r = 3
    return r


def bases_of_users(n):
    try:
        if n:
            raise Late("l")
    except ValueError:
        return 1
    return 2


def bare(n):
    try:
        1 // n
    except:  # noqa: E722
        return -1
    else:
        n += 10
    return n


def not_handled(n):
    try:
        if n > 1:
            raise KeyError(n)
    except IndexError:
        return 5
    return 6


def from_a_callee(n):
    @njit
    def inner(k):
        if k > 3:
            raise ValueError("deep")
        return k
    total = 0
    for i in range(n):
        try:
            total += inner(i)
        except ValueError:
            total += 100
    return total


def variables(n):
    a, b = 1, 2.5
    try:
        a = 2
        if n == 0:
            raise ValueError
        a = 3.5
        if n == 1:
            raise ValueError
        b = 7
        c = a + b
        if n == 2:
            raise ValueError
    except ValueError:
        return a * 10 + b
    return a + b + c


def unset_there(n):
    try:
        if n:
            raise ValueError
        x = 5
    except ValueError:
        pass
    return x


def arrays_there(n):
    a = np.zeros(3)
    try:
        a = a + 1
        if n == 1:
            raise ValueError
        a = np.ones(5)
        if n == 2:
            raise ValueError
    except ValueError:
        a = a * 2
    return a


def finally_always(n):
    log = [0]
    try:
        log.append(1)
        if n == 1:
            raise ValueError
        log.append(2)
    except ValueError:
        log.append(3)
    finally:
        log.append(4)
    return log


def finally_passes_on(n, log):
    try:
        log.append(1)
        if n:
            raise KeyError(n)
    finally:
        log.append(2)
    log.append(3)


def finally_on_return(n, log):
    for i in range(5):
        try:
            if i == n:
                return i * 10
            if i == n - 1:
                continue
            if i == n + 2:
                break
            log.append(i)
        finally:
            log.append(100 + i)
    return -1


def finally_overrides(n):
    try:
        if n:
            return 1
        raise ValueError
    finally:
        return 2


def finally_in_finally(n, log):
    try:
        try:
            if n == 1:
                raise ValueError
            if n == 2:
                return 5
        finally:
            log.append(1)
    except ValueError:
        log.append(2)
    finally:
        log.append(3)
    return 6


def returned_before_change(n):
    x = [n]
    try:
        return x
    finally:
        x = [n, n]


def again(n):
    try:
        try:
            if n:
                raise ValueError("first", n)
        except ValueError:
            try:
                raise KeyError("other")
            except KeyError:
                pass
            raise
    except KeyError:
        return 1
    return 2


def named_again(n):
    try:
        if n:
            raise IndexError("named")
    except IndexError as e:
        n += 1
        raise e
    return n


def changed_again(n):
    try:
        return 10 // n
    except ZeroDivisionError:
        raise ValueError("no") from None


def out_of_a_loop(n):
    t = 0
    try:
        for i in range(10):
            for a in [np.ones(2), np.zeros(3)]:
                t += a.size
                if i == n:
                    raise StopIteration
    except StopIteration:
        t += 1000
    return t


def in_a_loop(n):
    t = 0
    for i in range(n):
        try:
            if i % 3 == 0:
                raise ValueError
            if i % 3 == 1:
                continue
            if i > 7:
                break
            t += i
        except ValueError:
            t += 100
    else:
        t += 10000
    return t


def optional_there(n):
    x = None
    try:
        if n > 1:
            x = n
        if x is not None:
            if n > 2:
                raise ValueError
            return x
    except ValueError:
        if x is not None:
            return x + 100
    return -1


def list_errors(n):
    a = [1, 2, 3]
    try:
        return a[n]
    except IndexError:
        return a[-1] * 10


@pytest.mark.parametrize("function", [
    one_handler, by_class, bases_of_users, bare, not_handled, from_a_callee, variables, unset_there, arrays_there, finally_always,
    finally_overrides, returned_before_change, again, named_again, changed_again, out_of_a_loop, in_a_loop, optional_there, list_errors])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 9])
def test_same_as_python(function, n):
    check(function, n)


@pytest.mark.parametrize("function", [finally_passes_on, finally_on_return, finally_in_finally])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_order_of_finally(function, n):
    def outcome(f):
        log = [-1]
        try:
            return f(n, log), log
        except KeyError as e:
            return type(e), e.args, log
    assert outcome(njit(function)) == outcome(function)


def many_exceptions(n):
    caught = 0
    for i in range(n):
        try:
            a = [np.ones(3), np.zeros(2)]
            if i % 2:
                raise ValueError("text", i)
            caught += a[i]  if False else len(a[i])
        except ValueError:
            caught += 1
        except IndexError:
            caught += 1
    return caught


def test_a_million_exceptions_leave_memory_flat():
    f = njit(many_exceptions)
    f(10)
    gc.collect()
    before = _kiln.counts()
    assert f(1_000_000) == 1_000_000 - 1 + 3
    gc.collect()
    after = _kiln.counts()
    assert (after["mem_live"], after["mem_bytes"]) == (before["mem_live"], before["mem_bytes"])
    for _ in range(100):
        with pytest.raises(KeyError):
            njit(finally_passes_on)(1, [1])


def optional_array(n):
    a = None
    if n:
        a = np.ones(3)
        a[0] = n
    try:
        a[1] += 1
        return a[0], a.shape[0], a.sum(), a[1:].size
    except TypeError:
        return 0.0, 0, 0.0, 0


@pytest.mark.parametrize("n", [0, 1, 2])
def test_optional_values(n):
    check(optional_array, n)
