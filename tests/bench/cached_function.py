# SPDX-License-Identifier: Apache-2.0
"""The function that fresh.py calls, in a module of its own so that Numba can cache it."""


def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s
