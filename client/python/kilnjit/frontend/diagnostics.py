# SPDX-License-Identifier: Apache-2.0
"""What the frontend itself has to refuse. The package turns these into kilnjit.errors (diagnose.py)."""


class SourceError(Exception):
    """There is no verified source text."""

    def __init__(self, message, hint=""):
        super().__init__(message)
        self.message, self.hint = message, hint


class Refused(Exception):
    """Something that KIR cannot say, at a node of the syntax tree (None: the function as a whole)."""

    def __init__(self, message, node=None, hint=""):
        super().__init__(message)
        self.message, self.node, self.hint = message, node, hint
        self.tree = None  # the FunctionTree, set on the way out
