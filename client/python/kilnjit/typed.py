# SPDX-License-Identifier: Apache-2.0
"""Containers that Python and compiled code share by reference, as numba.typed's.

    from kilnjit.typed import Dict, List
    names = Dict.empty(types.int64, types.float64[:])   # or Dict(), which takes its types from the first item
    points = List([1.5, 2.5])

Their items have one type. In compiled code they are used like list, dict and set, and made in the same ways as here. Here
each operation is a call of a compiled function, so code that does much with one belongs into a function of its own."""
from . import _kiln, types
from .decorators import njit


def _compiled(function):
    """A helper, with Numba's types: what it returns are Python's numbers, what it stores int64 and float64."""
    return njit(semantics="numba", error_model="python")(function)


def _library(name):
    """Compiled code knows the function by this name."""
    def mark(function):
        function._kiln_library = "kilnjit.typed." + name
        return function
    return mark


class _Container(_kiln.Container):
    """What List, Dict and Set share. Made without a type, it takes one from the first item that is put in."""

    __slots__ = ()
    _plain = None  # the class of Python's own

    def _typed(self):
        return self._type is not None

    def __len__(self):
        return _len(self) if self._typed() else 0

    def __contains__(self, item):
        return self._typed() and _in(item, self)

    def __iter__(self):
        return iter(_items(self) if self._typed() else ())

    def __bool__(self):
        return len(self) != 0

    def __eq__(self, other):
        if isinstance(other, _Container):
            if other._address == self._address:
                return True
            other = other._python()
        return self._python() == other

    __hash__ = None

    def _python(self):
        """Python's own container with the same items."""
        return self._plain(self)

    def __repr__(self):
        return f"{self._type or type(self).__name__ + '[undefined]'}({self._python()!r})"

    def __reduce__(self):
        return _restore, (type(self), self._type, self._python())

    def clear(self):
        if self._typed():
            _clear(self)

    def copy(self):
        made = type(self)()
        if self._typed():
            made._become(_copy(self))
        return made


class List(_Container):
    """A list whose items have one type. List(iterable) or List.empty_list(item_type)."""

    __slots__ = ()
    _plain = list

    def __init__(self, iterable=()):
        items = list(iterable)
        if items:
            self._become(_list_of(items))

    @staticmethod
    @_library("List.empty_list")
    def empty_list(item_type, allocated=0):
        """A list for items of this type."""
        return _empty_list(item_type)

    def append(self, item):
        if self._typed():
            _append(self, item)
        else:
            self._become(_list_of([item]))

    def extend(self, iterable):
        for item in list(iterable):
            self.append(item)

    def insert(self, index, item):
        if self._typed():
            _insert(self, index, item)
        else:
            self.append(item)

    def pop(self, index=-1):
        if not self._typed():
            raise IndexError("pop from empty list")
        return _pop(self, index)

    def remove(self, item):
        if not self._typed():
            raise ValueError("list.remove(x): x not in list")
        _remove(self, item)

    def index(self, item, start=0, stop=(1 << 63) - 1):
        if not self._typed():
            raise ValueError("list.index(x): x not in list")
        return _index(self, item, start, stop)

    def count(self, item):
        return _count(self, item) if self._typed() else 0

    def reverse(self):
        if self._typed():
            _reverse(self)

    def sort(self, key=None, reverse=False):
        if key is not None:
            self[:] = sorted(self, key=key, reverse=reverse)
        elif self._typed():
            _sort(self, bool(reverse))

    def __getitem__(self, index):
        if isinstance(index, slice):
            made = List() if not self._typed() else _like_list(self)
            for i in range(*index.indices(len(self))):
                made.append(self[i])
            return made
        if not self._typed():
            raise IndexError("list index out of range")
        return _get(self, index)

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            items = list(self)
            items[index] = list(value)
            self.clear()
            self.extend(items)
        elif self._typed():
            _set(self, index, value)
        else:
            raise IndexError("list assignment index out of range")

    def __delitem__(self, index):
        if isinstance(index, slice):
            items = list(self)
            del items[index]
            self.clear()
            self.extend(items)
        elif self._typed():
            _delete(self, index)
        else:
            raise IndexError("list assignment index out of range")

    def __iadd__(self, iterable):
        self.extend(iterable)
        return self

    def __add__(self, other):
        made = self.copy()
        made.extend(other)
        return made


class Dict(_Container):
    """A dict whose keys have one type and whose values have one. Dict(), Dict(dict) or Dict.empty(key_type, value_type)."""

    __slots__ = ()
    _plain = dict

    def __init__(self, items=()):
        self.update(items)

    @staticmethod
    @_library("Dict.empty")
    def empty(key_type, value_type, n_keys=0):
        """A dict for keys and values of these types."""
        return _empty_dict(key_type, value_type)

    def __getitem__(self, key):
        if not self._typed():
            raise KeyError(key)
        return _get(self, key)

    def __setitem__(self, key, value):
        if self._typed():
            _set(self, key, value)
        else:
            self._become(_dict_of([(key, value)]))

    def __delitem__(self, key):
        if not self._typed():
            raise KeyError(key)
        _delete(self, key)

    def get(self, key, default=None):
        return _get(self, key) if key in self else default

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key, *default):
        if key not in self:
            if default:
                return default[0]
            raise KeyError(key)
        return _pop_key(self, key)

    def popitem(self):
        if not len(self):
            raise KeyError("popitem(): dictionary is empty")
        return _popitem(self)

    def keys(self):
        return self._python().keys()

    def values(self):
        return self._python().values()

    def items(self):
        return self._python().items()

    def update(self, other=()):
        for key, value in (other.items() if hasattr(other, "items") else other):
            self[key] = value

    def _python(self):
        return dict(_pairs(self)) if self._typed() else {}


class Set(_Container):
    """A set whose items have one type. Set(iterable) or Set.empty(item_type)."""

    __slots__ = ()
    _plain = set

    def __init__(self, iterable=()):
        self.update(iterable)

    @staticmethod
    @_library("Set.empty")
    def empty(item_type):
        """A set for items of this type."""
        return _empty_set(item_type)

    def add(self, item):
        if self._typed():
            _add(self, item)
        else:
            self._become(_set_of([item]))

    def update(self, iterable):
        for item in list(iterable):
            self.add(item)

    def discard(self, item):
        if item in self:
            _discard(self, item)

    def remove(self, item):
        if item not in self:
            raise KeyError(item)
        _discard(self, item)

    def pop(self):
        if not len(self):
            raise KeyError("pop from an empty set")
        return _pop_any(self)


def _restore(cls, text, items):
    if text is None:
        return cls()
    parts = types.Type(text)
    made = _EMPTY[cls](*_inside(parts))
    (made.update if cls is not List else made.extend)(items)
    return made


def _inside(t):
    """The types of a container type's items."""
    text, depth, begin, out = str(t), 0, 0, []
    text = text[text.index("(") + 1:-1]
    for i, c in enumerate(text + ","):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            out.append(types.Type(text[begin:i].strip()))
            begin = i + 1
    return out


_len = _compiled(lambda c: len(c))
_in = _compiled(lambda x, c: x in c)
_items = _compiled(lambda c: list(c))
_pairs = _compiled(lambda c: list(c.items()))
_clear = _compiled(lambda c: c.clear())
_copy = _compiled(lambda c: c.copy())
_get = _compiled(lambda c, i: c[i])
_pop = _compiled(lambda c, i: c.pop(i))
_pop_key = _compiled(lambda c, key: c.pop(key))
_pop_any = _compiled(lambda c: c.pop())
_popitem = _compiled(lambda c: c.popitem())
_append = _compiled(lambda c, x: c.append(x))
_insert = _compiled(lambda c, i, x: c.insert(i, x))
_remove = _compiled(lambda c, x: c.remove(x))
_index = _compiled(lambda c, x, start, stop: c.index(x, start, stop))
_count = _compiled(lambda c, x: c.count(x))
_reverse = _compiled(lambda c: c.reverse())
_sort = _compiled(lambda c, reverse: c.sort(None, reverse))
_add = _compiled(lambda c, x: c.add(x))
_discard = _compiled(lambda c, x: c.discard(x))
_list_of = _compiled(lambda items: List(items))
_set_of = _compiled(lambda items: Set(items))
_dict_of = _compiled(lambda items: Dict(items))
_empty_list = _compiled(lambda t: List.empty_list(t))
_empty_set = _compiled(lambda t: Set.empty(t))
_empty_dict = _compiled(lambda k, v: Dict.empty(k, v))


@_compiled
def _set(c, i, x):
    c[i] = x


@_compiled
def _delete(c, i):
    del c[i]


@_compiled
def _like_list(c):
    made = c.copy()
    made.clear()
    return made


_EMPTY = {List: _empty_list, Dict: _empty_dict, Set: _empty_set}
_kiln.register_typed("ListType", List)
_kiln.register_typed("DictType", Dict)
_kiln.register_typed("SetType", Set)
