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
layout = Intrinsic("layout")                # (array): "C", "F" or "A" of its type, known when compiling
dtype_of = Intrinsic("dtype_of")            # (value): the NumPy type of such a value, which is not evaluated
time_unit = Intrinsic("time_unit")          # (time, array of them, or type): position of its unit, -1 if it is none
ticks = Intrinsic("ticks")                  # (time): its count
time_as = Intrinsic("time_as")              # (count, time or type): a time of that type
time_common = Intrinsic("time_common")      # (a, b): the type in which both are exact
delta_type = Intrinsic("delta_type")        # (a): the timedelta64 with its unit
depth = Intrinsic("depth")                  # (value): dimensions of the array that np.array makes of it
index_axis = Intrinsic("index_axis")        # (array, tuple): see library.def
strided = Intrinsic("strided")              # (array, offset, shape, strides): a view; offset and strides in bytes
strided_readonly = Intrinsic("strided_readonly")
contiguous = Intrinsic("contiguous")        # (array, offset, shape): a view in C order
static_error = Intrinsic("static_error")    # (text): a mistake of the caller, told when compiling
view = Intrinsic("view")                    # (list): an iterator over it that shares it
bits = Intrinsic("bits")                    # (float): its 64 bits as an integer
jitclass = Intrinsic("jitclass")            # isinstance(x, jitclass): an object of one
object_hash = Intrinsic("object_hash")      # (object): what its hash is made of
TypedList, TypedSet, TypedDict = (Intrinsic("kilnjit.typed." + name) for name in ("List", "Set", "Dict"))
# text; rules in infer/rules_text.c, code in lower/text_ops.c and runtime/text*.c. Positions are not checked.
text_view = Intrinsic("text_view")          # (s, i, n): n code points from i on, sharing memory
text_code = Intrinsic("text_code")          # (s, i): the code point
as_text = Intrinsic("as_text")              # (bytes): the str of its values, sharing memory
as_bytes = Intrinsic("as_bytes")            # (str of code points below 256 of width 1): back
text_add = Intrinsic("text_add")            # (a, b)
text_repeat = Intrinsic("text_repeat")      # (s, n)
text_join = Intrinsic("text_join")          # (separator, list of str)
text_chr = Intrinsic("text_chr")            # (code point)
text_find = Intrinsic("text_find")          # (s, sub, start, stop): -1 if it is not there
text_rfind = Intrinsic("text_rfind")
text_count = Intrinsic("text_count")
text_replace = Intrinsic("text_replace")    # (s, old, new, count): all if count is negative
text_hash = Intrinsic("text_hash")
text_strip = Intrinsic("text_strip")        # (s, characters, mode): 1 left, 2 right, 4 whitespace
text_skip = Intrinsic("text_skip")          # (s, i, space): past whitespace, or past what is none
text_rskip = Intrinsic("text_rskip")        # the same downwards
text_line = Intrinsic("text_line")          # (s, i, is bytes): the end of the line
text_pad = Intrinsic("text_pad")            # (s, left, right, fill)
text_tabs = Intrinsic("text_tabs")          # (s, size)
text_map = Intrinsic("text_map")            # (s, which): case; see text.py
text_test = Intrinsic("text_test")          # (s, which): isalpha and others; see text.py
text_repr = Intrinsic("text_repr")          # (s, ASCII only)
text_bytes_repr = Intrinsic("text_bytes_repr")
text_int = Intrinsic("text_int")            # (integer, is unsigned): decimal
text_float = Intrinsic("text_float")        # (float, is single): shortest that reads back as the same
text_spec = Intrinsic("text_spec")          # (format specification, kind): 0, or what is wrong; see runtime/text_format.c
text_complaint = Intrinsic("text_complaint")        # (what is wrong, specification, name of the type): the message
text_format_int = Intrinsic("text_format_int")      # (integer, is unsigned, specification)
text_format_float = Intrinsic("text_format_float")  # (float, specification)
text_format_str = Intrinsic("text_format_str")      # (s, specification)
text_parse_int = Intrinsic("text_parse_int")        # (s, base, which): 0 the status (0 good, 1 none, 2 too large), 1 the value
text_parse_float = Intrinsic("text_parse_float")    # (s)
text_is_float = Intrinsic("text_is_float")          # (s)
text_round = Intrinsic("text_round")                # (float, digits): of the decimal value
random_seed = Intrinsic("random_seed")      # (whose, value); whose: 0 the generator of `random`, 1 that of numpy.random
random_double = Intrinsic("random_double")  # (whose): in [0, 1)
random_gauss = Intrinsic("random_gauss")    # (whose): of the standard normal distribution
random_word = Intrinsic("random_word")      # (whose): 32 bits
random_bounded = Intrinsic("random_bounded")  # (whose, most): 0 to most, as NumPy
random_bits = Intrinsic("random_bits")      # (k): up to 64, of `random`
random_below = Intrinsic("random_below")    # (n): 0 to n - 1, as `random`
text_print = Intrinsic("text_print")
