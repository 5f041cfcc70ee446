# SPDX-License-Identifier: Apache-2.0
"""`with objmode(y="float64[:]"):` - a part of a compiled function that Python runs.

    @njit
    def f(x):
        with objmode(y="float64[::1]", n="int64"):
            y = scipy.special.jv(0, x)      # any Python
            n = len(y)
        return y[:n]

The keywords name the variables that come out, with their types (texts, or objects of kilnjit.types). What the block reads of
the function goes in as it would be returned. Exceptions come out as they are. No return, break or continue leaves the block.
In plain Python the statement does nothing."""


class _ObjectMode:
    _kiln_objmode = True

    def __call__(self, **outputs):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


objmode = _ObjectMode()
