# SPDX-License-Identifier: Apache-2.0
"""What the compiler does for the prelude's containers, by name: rules in infer/rules_list.c, code in lower/list.c.
Indexes are not checked. A list's memory beyond its length is raw: `put` and `take` move values into and out of it."""


class Intrinsic:
    def __init__(self, name):
        self._kiln_library = name if "." in name else "kiln." + name


list_get = Intrinsic("list_get")            # (list, i): the item
list_set = Intrinsic("list_set")            # (list, i, value): replaces the item
list_put = Intrinsic("list_put")            # (list, i, value): into raw memory
list_take = Intrinsic("list_take")          # (list, i): the item; its memory is raw afterwards
list_move = Intrinsic("list_move")          # (list, to, from, n): n items as bytes
list_resize = Intrinsic("list_resize")      # (list, n): the length, and nothing else
list_reserve = Intrinsic("list_reserve")    # (list, n): room for n items
list_push = Intrinsic("list_push")          # (list, value): append without widening the list's type
list_of = Intrinsic("list_of")              # (value): an empty list of the value's type
like = Intrinsic("like")                    # (container): an empty one of the same type
slice_indices = Intrinsic("slice_indices")  # (slice, n): start, number of items, step
view = Intrinsic("view")                    # (list): an iterator over it that shares it
bits = Intrinsic("bits")                    # (float): its 64 bits as an integer
TypedList, TypedSet, TypedDict = (Intrinsic("kilnjit.typed." + name) for name in ("List", "Set", "Dict"))
