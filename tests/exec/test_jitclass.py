# SPDX-License-Identifier: Apache-2.0
"""jitclass: the same class in Python and compiled, used from Python and from compiled code."""
import gc
import typing

import numpy as np
import pytest

from kilnjit import _kiln, deferred_type, errors, njit, typed, types
from kilnjit.experimental import jitclass


class PlainMean:
    """A mean that remembers."""

    LIMIT = 100

    def __init__(self, n, scale=1.0):
        self.total, self.count = 0.0, 0
        self.data = np.zeros(n)
        self.scale = scale

    def add(self, x, *, twice=False):
        self.total += x * self.scale
        self.data[self.count % self.data.size] += x
        self.count += 1
        if twice:
            self.add(x)

    def extend(self, *items):
        for x in items:
            self.add(x)
        return self

    @property
    def mean(self):
        return self.total / self.count

    @mean.setter
    def mean(self, value):
        self.total = value * self.count

    @staticmethod
    def double(x):
        return 2 * x

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.data[i]

    def __setitem__(self, i, value):
        self.data[i] = value

    def __contains__(self, x):
        return x == self.total

    def __call__(self, x):
        return self.total + x


MEAN = [("total", types.float64), ("count", types.int64), ("data", types.float64[::1]), ("scale", types.float64)]
Mean = jitclass(MEAN)(PlainMean)


def use(cls, n):
    m = cls(4)
    for i in range(n):
        m.add(i * 0.5)
    m.extend(1.0, 2.0).add(3.0, twice=True)
    first = m.mean, len(m)
    m.mean = m.mean + 1
    m.mean *= 2
    m[0] = 5
    m[1] += 2
    m.data[2] -= 1
    other = cls(2, scale=3.0)
    other.add(1.0)
    return first, m.mean, m[0], m[1], m[2], m(3.0), m.total in m, 1e9 in m, 1e9 not in m, m.double(3), other.total


@njit
def use_compiled(n):
    m = Mean(4)
    for i in range(n):
        m.add(i * 0.5)
    m.extend(1.0, 2.0).add(3.0, twice=True)
    first = m.mean, len(m)
    m.mean = m.mean + 1
    m.mean *= 2
    m[0] = 5
    m[1] += 2
    m.data[2] -= 1
    other = Mean(2, scale=3.0)
    other.add(1.0)
    return first, m.mean, m[0], m[1], m[2], m(3.0), m.total in m, 1e9 in m, 1e9 not in m, m.double(3), other.total


@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_class_gives_pythons_answers(n):
    assert use(Mean, n) == use(PlainMean, n) == use_compiled(n)


def test_the_class_in_python():
    m = Mean(2)
    assert isinstance(m, Mean) and not isinstance(1, Mean) and Mean.__name__ == "PlainMean"
    assert Mean.__doc__ == "A mean that remembers." and Mean.LIMIT == 100 and Mean.double(4) == 8
    assert type(m.count) is int and type(m.total) is float and m.data.tolist() == [0.0, 0.0]
    m.data[1] = 3.0  # the object's own memory
    assert m[1] == 3.0 and m == m and m != Mean(2) and len({m, m}) == 1
    with pytest.raises(AttributeError):
        m.other = 1
    with pytest.raises(TypeError):
        m.count = "x"
    with pytest.raises(TypeError):
        Mean()


@njit
def add_one(m):
    m.add(1.0)
    return m


def test_objects_are_shared_by_reference():
    m = Mean(2)
    same = add_one(m)
    assert (m.count, m.total) == (1, 1.0) and same == m and same._address == m._address
    same.add(2.0)
    assert m.total == 3.0


node = deferred_type()


@jitclass([("value", types.int64), ("next", types.optional(node))])
class Node:
    def __init__(self, value, next):
        self.value = value
        self.next = next


node.define(Node.class_type.instance_type)


@njit
def chain(n):
    head = None
    for i in range(n):
        head = Node(i, head)
    return head


@njit
def reverse(head):
    made = None
    while head is not None:
        following = head.next
        head.next = made
        made, head = head, following
    return made


@njit
def values(head):
    out = [0 for _ in range(0)]
    while head is not None:
        out.append(head.value)
        head = head.next
    return out


def test_linked_list():
    assert values(chain(5)) == [4, 3, 2, 1, 0]
    assert values(reverse(chain(5))) == [0, 1, 2, 3, 4]
    assert chain(0) is None and values(None) == []
    head = chain(3)
    assert head.next.next.value == 0 and head.next.next.next is None
    with pytest.raises(TypeError):
        third_value(chain(2))


@njit
def third_value(head):
    return head.next.next.value


def test_a_long_chain_is_given_up_without_deep_recursion():
    gc.collect()
    before = _kiln.counts()["mem_live"]
    head = chain(1_000_000)
    assert _kiln.counts()["mem_live"] - before == 1_000_000
    del head
    assert _kiln.counts()["mem_live"] == before


@jitclass
class Point:
    x: float
    y: float

    def __init__(self, x: float, y: float = 2.0):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Point(self.x * k, self.y * k)

    def __rmul__(self, k):
        return Point(self.x * k, -self.y * k)

    def __neg__(self):
        return Point(-self.x, -self.y)

    def __iadd__(self, other):
        self.x += other.x
        return self

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __hash__(self):
        return int(self.x) * 31

    def __lt__(self, other):
        return self.x < other.x

    def __le__(self, other):
        return self.x <= other.x

    def __abs__(self):
        return (self.x ** 2 + self.y ** 2) ** 0.5

    def __bool__(self):
        return self.x != 0.0 or self.y != 0.0

    def __int__(self):
        return int(self.x)

    def __float__(self):
        return self.x + 0.5

    def __str__(self):
        return "(" + str(int(self.x)) + ")"


def operators():
    a, b = Point(3.0, 4.0), Point(1.0)
    c = a + b
    d, e, f = a * 2.0, 2.0 * a, -a
    g = Point(3.0, 4.0)
    g += b
    zero = Point(0.0, 0.0)
    return (c.x, c.y, d.x, d.y, e.x, e.y, f.y, g.x, a == b, a != b, a == Point(3.0, 4.0), a < b, a > b, a <= b, a >= b, abs(a),
            bool(a), bool(zero), not zero, 1 if a else 2, int(a), float(a), str(a), hash(a), a is a, a is b, a is not b,
            isinstance(a, Point), isinstance(a.x, Point))


def test_operators():
    expected = (4.0, 6.0, 6.0, 8.0, 6.0, -8.0, -4.0, 4.0, False, True, True, False, True, False, True, 5.0, True, False,
                True, 1, 3, 3.5, "(3)", 93, True, False, True, True, False)
    assert operators() == expected
    assert njit(operators)() == expected


@njit
def choose(p, q):
    best = p and q
    other = p or q
    if p and not q:
        return 1, best.x, other.x
    return 2, best.x, other.x


def test_truth_of_objects_in_conditions():
    assert choose(Point(1.0, 0.0), Point(0.0, 0.0)) == (1, 0.0, 1.0)
    assert choose(Point(0.0, 0.0), Point(5.0, 0.0)) == (2, 0.0, 5.0)


point = Point.class_type.instance_type


@jitclass([("points", types.ListType(point)), ("names", types.DictType(types.int64, types.unicode_type)),
           ("plain", types.List(types.int64)), ("pair", types.Tuple((types.int64, types.float64))), ("one", point),
           ("maybe", types.optional(point)), ("text", types.unicode_type), ("flag", types.boolean), ("small", types.int8),
           ("z", types.complex128), ("grid", types.float32[:, :])])
class Bag:
    def __init__(self):
        self.points = typed.List.empty_list(point)
        self.names = typed.Dict.empty(types.int64, types.unicode_type)
        self.plain = []

    def fill(self, n):
        for i in range(n):
            self.points.append(Point(i, i + 1.0))
            self.names[i] = "n" + str(i)
            self.plain.append(i)
        self.plain[0] += 10
        self.plain += [7]
        self.pair = (n, n / 2)
        self.text = "full"
        return self.points[n - 1].x


def test_fields_of_all_kinds():
    b = Bag()
    assert b.maybe is None and b.text == "" and b.flag is False and b.small == 0 and b.z == 0j and b.pair == (0, 0.0)
    with pytest.raises(AttributeError, match="'Bag' object has no attribute 'one'"):
        b.one
    assert b.fill(4) == 3.0 and b.plain == [10, 1, 2, 3, 7] and dict(b.names) == {0: "n0", 1: "n1", 2: "n2", 3: "n3"}
    assert [p.y for p in b.points] == [1.0, 2.0, 3.0, 4.0] and b.pair == (4, 2.0) and b.text == "full"
    b.points.append(Point(9.0))
    assert len(b.points) == 5 and b.points[4].x == 9.0
    b.one = Point(5.0)
    b.maybe = b.one
    assert b.maybe == b.one and b.maybe.x == 5.0
    b.maybe = None
    b.flag, b.small, b.z = True, -5, 1 + 2j
    assert b.maybe is None and b.flag is True and b.small == -5 and b.z == 1 + 2j
    b.grid = np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::2]
    assert b.grid.tolist() == [[0.0, 2.0], [3.0, 5.0]]


@njit
def read_unset():
    return Bag().one.x


def test_reading_what_was_never_assigned():
    with pytest.raises(AttributeError, match="'Bag' object has no attribute 'one'"):
        read_unset()


@njit
def in_containers(n):
    points = [Point(i, 0.0) for i in range(n)]
    by_x = {p: i for i, p in enumerate(points)}
    total = 0.0
    for p in points:
        total += p.x
    a, b = points[0], points[1]
    a, b = b, a
    return total, by_x[Point(2.0, 0.0)], a.x, (a, b)[1].x, max([p.x for p in points]), len({Point(1.0), Point(1.0), Point(2.0)})


def test_objects_in_containers():
    assert in_containers(5) == (10.0, 2, 1.0, 0.0, 4.0, 2)


@njit
def make(n):
    return [Point(i) for i in range(n)], (Point(1.0), 2), {1: Point(3.0)}


def test_objects_in_results():
    points, pair, table = make(3)
    assert [p.x for p in points] == [0.0, 1.0, 2.0] and pair[0].x == 1.0 and table[1].x == 3.0


@njit
def keep(b, grid):
    b.grid = grid


def test_an_array_argument_is_kept_alive():
    b = Bag()
    keep(b, np.full((2, 2), 3, np.float32))
    gc.collect()
    assert b.grid.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_nothing_leaks():
    def work():
        b = Bag()
        b.fill(5)
        b.maybe = Point(1.0)
        b.one = b.maybe
        use_compiled(3)
        in_containers(4)
        make(3)
        values(reverse(chain(10)))
        operators()

    work()
    gc.collect()
    before = _kiln.counts()["mem_live"]
    for _ in range(20):
        work()
    gc.collect()
    assert _kiln.counts()["mem_live"] == before


class Base:
    def shared(self):
        return self.n + 1

    def other(self):
        return 1


@jitclass([("n", types.int64)])
class Derived(Base):
    def __init__(self, n):
        if n < 0:
            raise ValueError("negative", n)
        self.n = n

    def other(self):
        return 2


def test_a_plain_base_gives_its_methods():
    d = Derived(5)
    assert d.shared() == 6 and d.other() == 2


def test_an_exception_in_the_constructor():
    with pytest.raises(ValueError) as caught:
        Derived(-1)
    assert caught.value.args == ("negative", -1)
    names = [frame.name for frame in caught.traceback]
    assert names[-1] == "__init__"


@jitclass({"a": types.int64})
class Bare:
    pass


@jitclass([("_Private__hidden", types.int64)])
class Private:
    def __init__(self):
        self.__hidden = 3

    def get(self):
        return self.__hidden


@jitclass
class Annotated:
    n: int
    flag: bool
    text: str
    items: typing.List[int]
    table: typing.Dict[int, float]
    point: Point
    maybe: typing.Optional[Point]
    z: complex

    def __init__(self):
        self.items = typed.List.empty_list(types.int64)
        self.items.append(4)
        self.point = Point(1.0)


def test_specs():
    bare = Bare()
    bare.a = 7
    assert bare.a == 7
    assert Private().get() == 3
    a = Annotated()
    assert list(a.items) == [4] and a.point.x == 1.0 and a.maybe is None and a.n == 0


def test_mistakes_in_the_class():
    with pytest.raises(TypeError, match="spec values"):
        jitclass([("x", 3)])(Base)
    with pytest.raises(TypeError, match="pairs"):
        jitclass([("x",)])(Base)
    with pytest.raises(TypeError, match="subclass"):
        jitclass([])(type("Sub", (Derived,), {}))
    with pytest.raises(NameError, match="shared"):
        jitclass([("shared", types.int64)])(Base)
    with pytest.raises(TypeError, match="class method"):
        jitclass([])(type("C", (), {"f": classmethod(lambda cls: 1)}))


def test_errors_name_the_class():
    with pytest.raises(errors.KilnTypeError, match=r"Point has no attribute 'q'[\s\S]*hint: Point has the fields \(x, y\)"):
        njit(lambda p: p.q)(Point(1.0))
    with pytest.raises(errors.KilnTypeError, match="field 'x' of Point, which holds float64"):
        store_text(Point(1.0))
    with pytest.raises(errors.KilnTypeError, match="'.' is not defined between Point and pyint"):
        njit(lambda p: p - 1)(Point(1.0))
    with pytest.raises(errors.KilnTypeError, match="objects of Point can't be called"):
        njit(lambda p: p(1))(Point(1.0))


@njit
def store_text(p):
    p.x = "x"


@njit
def conditional(flag):
    p = None
    if flag:
        p = Point(4.0)
    if p is None:
        return -1.0
    return p.x


def test_optional_objects():
    assert conditional(True) == 4.0 and conditional(False) == -1.0


@njit
def hot(m, n):
    total = 0.0
    for i in range(n):
        m.data[i] = m.data[i] * 2.0 + 1.0
        total += m.data[i]
    return total


def test_a_field_is_indexed_without_counting():
    m = Mean(8)
    assert hot(m, 8) == 8.0 and hot(m, 8) == 24.0
    code = hot.inspect_llvm()
    assert all("atomicrmw" not in text for text in code.values())
