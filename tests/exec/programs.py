# SPDX-License-Identifier: Apache-2.0
"""Functions that must not stand in a test file: pytest rewrites the asserts there, and what it rewrote is no
longer what the source says."""


def raises(n):
    if n == 1:
        raise ValueError
    if n == 2:
        raise KeyError("a", 1, 2.5, True)
    if n == 3:
        raise IndexError(n, n * 1.5)
    assert n != 4
    assert n != 5, "five"
    assert n != 6, n
    return n


def raises_made(s, n):
    if n == 1:
        raise ValueError(f"{s}: {n:03d}")
    if n == 2:
        raise KeyError(s.upper(), str(n))
    if n == 3:
        raise RuntimeError(f"only {n} and {n * 1.5}")
    assert n != 4, f"{s!r} {n}"
    assert n != 5, s
    return n
