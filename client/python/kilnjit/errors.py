# SPDX-License-Identifier: Apache-2.0
"""Exceptions of kilnjit. Which error number gives which class is the third column of proto/base/err.def.

Every class is a KilnError; where Python has a class of that meaning it is one of those too, so that
`except TypeError` works as one would expect. Attributes: code (number), name ("TYPE"), message, hint,
diagnostics: [(code, message, function, node, hint, notes)], retry_ms."""


class KilnError(Exception):
    """Base of all. `str()` is made for people: message, the user's line with a caret, notes, a hint."""

    code, name, message, hint, diagnostics, retry_ms = 0, "", "", "", (), 0


class KilnMemoryError(KilnError, MemoryError):
    """No memory."""


class KilnLimitError(KilnError):
    """A stated limit was exceeded."""


class KilnValueError(KilnError, ValueError):
    """An invalid argument."""


class KilnIOError(KilnError, OSError):
    """A file or a socket failed."""


class KilnProtocolError(KilnError):
    """Client and daemon misunderstand each other."""


class KilnVersionError(KilnError):
    """Client and daemon have no common protocol version."""


class KilnUnsupported(KilnError):
    """The daemon doesn't know this request."""


class KilnBusyError(KilnError):
    """The daemon has too much to do, or is leaving: try again after retry_ms."""


class KilnTimeoutError(KilnError, TimeoutError):
    """A deadline passed."""


class KilnCancelled(KilnError):
    """The request was cancelled."""


class KilnNotFound(KilnError, LookupError):
    """No such entry."""


class KilnPermissionError(KilnError, PermissionError):
    """Not allowed, or the peer is not trusted."""


class KilnConnectError(KilnError, ConnectionError):
    """No daemon can be reached or started."""


class KilnIRError(KilnError):
    """Malformed KIR: a bug in a frontend."""


class KilnSignatureError(KilnError, ValueError):
    """A signature that can't be read or doesn't fit the function."""


class KilnTypeError(KilnError, TypeError):
    """A type error in the function (Numba: TypingError)."""


class KilnCompileError(KilnError):
    """The function can't be compiled."""


class KilnModuleError(KilnError, ValueError):
    """A bad LLVM module."""


class KilnTargetError(KilnError, ValueError):
    """An unknown or unusable target."""


class KilnWorkerError(KilnError):
    """The compiler process died."""


class KilnLoadError(KilnError):
    """An artifact can't be loaded here."""


class KilnConfigError(KilnError):
    """Bad configuration."""


class KilnInternalError(KilnError):
    """A bug in Kiln."""


class KilnSourceError(KilnError):
    """The function's source can't be found, or changed since it was loaded."""


class KilnSyntaxError(KilnError):
    """Something in the function's text that compiled code can't say (Numba: UnsupportedError)."""


class KilnWarning(UserWarning):
    """Something that works, but not as fast or not as asked."""


# Names that Numba's users catch.
NumbaError = KilnError
TypingError = KilnTypeError
UnsupportedError = KilnSyntaxError
LoweringError = KilnCompileError
NumbaWarning = NumbaPerformanceWarning = NumbaDeprecationWarning = KilnWarning


def make(code, name, message, function, node, hint, diagnostics, retry_ms, sys):
    """The extension's factory: one failure as an exception."""
    from ._kiln import CODES

    cls = globals().get(CODES[name][1] if name in CODES else "KilnInternalError", KilnInternalError)
    error = cls(message + (f"\nhint: {hint}" if hint and not diagnostics else ""))
    error.code, error.name, error.message, error.hint = code, name, message, hint
    error.diagnostics, error.retry_ms, error.place = diagnostics, retry_ms, (function, node)
    return error
