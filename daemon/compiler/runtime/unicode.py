# SPDX-License-Identifier: Apache-2.0
"""Writes unicode_data.inc from this Python's own str:  python3.11 unicode.py > unicode_data.inc

Run by hand when the version of Unicode is to change (docs/semantics.md names it); the file is checked in, so that the
same source compiles to the same bytes wherever it is built."""
import unicodedata

N = 0x110000
FLAGS = [  # in the order of the bits, which text_unicode.h names
    ("ALPHA", str.isalpha), ("DECIMAL", str.isdecimal), ("DIGIT", str.isdigit), ("NUMERIC", str.isnumeric),
    ("LOWER", str.islower), ("UPPER", str.isupper), ("PRINTABLE", str.isprintable),
    ("TITLE", lambda c: unicodedata.category(c) == "Lt"),
    ("START", str.isidentifier), ("CONTINUE", lambda c: ("a" + c).isidentifier()),
    # what str.lower does to a capital sigma behind it tells these two; what str.title does, the third
    ("IGNORABLE", lambda c: is_final("A" + c) and not is_final(c)),
    ("BEFORE_SIGMA", lambda c: is_final(c)),
    ("CASED", lambda c: (c + "a").title()[-1] == "a"),
]


def is_final(before):
    return (before + "\u03a3").lower()[-1] == "\u03c2"


def mappings(change):
    """Ranges (first, last, stride, delta) of code points that change to one, and pairs of those that change to several."""
    ranges, several = [], []
    for c in range(N):
        to = change(chr(c))
        if to == chr(c):
            continue
        if len(to) > 1:
            several.append((c, to))
            continue
        delta = ord(to) - c
        if ranges:
            first, last, stride, same = ranges[-1]
            if same == delta and c - last == (stride or min(c - last, 2)):
                ranges[-1] = (first, c, c - last, delta)
                continue
        ranges.append((c, c, 0, delta))
    return ranges, several


def rows(items, width=12):
    items = list(items)
    return "".join("    " + " ".join(items[i:i + width]) + "\n" for i in range(0, len(items), width))


def main():
    flags = [sum(1 << i for i, (_, has) in enumerate(FLAGS) if has(chr(c))) for c in range(N)]
    sets = sorted(set(flags))
    assert len(sets) <= 64
    print(f"/* Made by unicode.py from Unicode {unicodedata.unidata_version}; don't edit. */")
    print("static const uint16_t unicode_flags[] = {\n" + rows((f"{s}," for s in sets)) + "};")
    print("/* Where a run of equal flags begins << 6, with the index of its flags. */")
    runs = [c for c in range(N) if not c or flags[c] != flags[c - 1]]
    print("static const uint32_t unicode_runs[] = {\n" + rows(f"0x{c << 6 | sets.index(flags[c]):x}," for c in runs) + "};")
    zeros = [c for c in range(N) if chr(c).isdecimal() and unicodedata.decimal(chr(c)) == 0]
    assert all(unicodedata.decimal(chr(c + i)) == i for c in zeros for i in range(10))
    print("/* Digits 0; 1 to 9 follow each. */")
    print("static const uint32_t unicode_zeros[] = {\n" + rows(f"0x{c:x}," for c in zeros) + "};")
    for name, change in (("upper", str.upper), ("lower", str.lower), ("title", str.title), ("fold", str.casefold)):
        ranges, several = mappings(change)
        print(f"static const struct unicode_range unicode_{name}[] = {{\n"
              + rows((f"{{ 0x{a:x}, 0x{b:x}, {max(s, 1)}, {d} }}," for a, b, s, d in ranges), 5) + "};")
        print(f"static const struct unicode_several unicode_{name}_several[] = {{\n"
              + rows((f"{{ 0x{c:x}, {{ {', '.join(hex(ord(x)) for x in to)} }} }}," for c, to in several), 5) + "};")


main()
