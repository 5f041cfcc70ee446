# SPDX-License-Identifier: Apache-2.0
"""What Numba keeps in numba.experimental."""
from .jitclass import jitclass

__all__ = ["jitclass"]
