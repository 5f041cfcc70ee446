# SPDX-License-Identifier: Apache-2.0
"""The options of njit, checked and turned into what a request carries."""
import os

from . import _kir as K

FAST = {"nnan": K.F_NNAN, "ninf": K.F_NINF, "nsz": K.F_NSZ, "arcp": K.F_ARCP, "contract": K.F_CONTRACT,
        "afn": K.F_AFN, "reassoc": K.F_REASSOC}
ALL_FAST = sum(FAST.values())

#: option -> default. Those that Numba has and that mean nothing here are accepted (docs/python.md).
DEFAULTS = {"fastmath": False, "boundscheck": None, "error_model": "python", "nogil": False, "inline": "never",
            "cache": True, "debug": False, "semantics": "python", "parallel": False, "checked": None, "nopython": True,
            "forceobj": False, "looplift": True, "locals": {}, "forceinline": False, "no_cpython_wrapper": False,
            "no_cfunc_wrapper": False, "target": "", "contract": True}


class Options:
    """What was asked for. flags: KIR function flags; the rest as in DEFAULTS."""

    def __init__(self, given):
        for name in given:
            if name not in DEFAULTS:
                import difflib
                near = difflib.get_close_matches(name, DEFAULTS, 1)
                raise TypeError(f"njit has no option {name!r}" + (f"; was {near[0]!r} meant?" if near else ""))
        self.given = given
        values = {**DEFAULTS, **given}
        if values["semantics"] not in ("python", "numba"):
            raise TypeError(f"semantics is 'python' or 'numba', not {values['semantics']!r}")
        if values["error_model"] not in ("python", "numpy"):
            raise TypeError(f"error_model is 'python' or 'numpy', not {values['error_model']!r}")
        if values["forceobj"]:
            raise TypeError("there is no object mode: forceobj=True can't be had")
        self.numba = values["semantics"] == "numba"
        self.semantics, self.nogil, self.debug = values["semantics"], bool(values["nogil"]), bool(values["debug"])
        self.checked = os.environ.get("KILN_CHECKED") == "1" if values["checked"] is None else bool(values["checked"])
        self.parallel, self.target, self.nocontract = bool(values["parallel"]), values["target"], not values["contract"]
        self.locals = self.forced(values["locals"])
        self.flags = self.fastmath(values["fastmath"])
        if values["boundscheck"] or (values["boundscheck"] is None and self.debug):
            self.flags |= K.F_BOUNDSCHECK
        if values["error_model"] == "numpy":
            self.flags |= K.F_NUMPY_ERRORS
        if values["inline"] == "always" or values["forceinline"]:
            self.flags |= K.F_INLINE
        if self.parallel:
            self.flags |= K.F_PARALLEL

    @staticmethod
    def forced(given):
        """The option `locals`: ((name, canonical type), ...) in order of names."""
        rows = []
        for name, kind in sorted(dict(given).items()):
            from . import types
            kind = getattr(types, kind, None) if isinstance(kind, str) else kind
            if not isinstance(kind, types.Type) or K.TYPES.get(str(kind), ("",))[0] not in ("B", "I", "U", "F", "C"):
                raise TypeError(f"locals gives number types to names, not {given[name]!r} to {name!r}")
            rows.append((name, str(kind)))
        return tuple(rows)

    @staticmethod
    def fastmath(value):
        if value is True:
            return ALL_FAST
        if not value:
            return 0
        names = [n for n, on in value.items() if on] if isinstance(value, dict) else value
        flags = 0
        for name in names:
            if name == "fast":
                flags |= ALL_FAST
            elif name in FAST:
                flags |= FAST[name]
            else:
                raise TypeError(f"fastmath knows {', '.join(FAST)} and fast, not {name!r}")
        return flags
