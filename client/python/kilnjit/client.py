# SPDX-License-Identifier: Apache-2.0
"""The process's one connection to the daemon, made when it is first needed."""
from . import _kiln, errors

_kiln.set_error_factory(errors.make)
_client = None


def get():
    """The Client; nothing is sent yet."""
    global _client
    if _client is None:
        _client = _kiln.Client()
    return _client
