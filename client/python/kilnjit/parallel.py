# SPDX-License-Identifier: Apache-2.0
"""prange: a range whose iterations may run at the same time."""


class prange:
    """As range; in compiled code with parallel=True the iterations are shared by threads."""

    _kiln_library = "kilnjit.prange"

    def __new__(cls, *args):
        return range(*args)


class literal_unroll:
    """literal_unroll(t): the tuple. In compiled code a loop over it is unrolled, and where t is a constant each round
    knows its item: `for name in literal_unroll(("x", "y")): a[name] = 0`."""

    _kiln_library = "kilnjit.literal_unroll"

    def __new__(cls, container):
        return container
