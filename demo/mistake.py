# SPDX-License-Identifier: Apache-2.0
"""A deliberate type error: the label and the number cannot be added."""
import kilnjit


@kilnjit.njit
def total(values, scale):
    label = "sum"
    result = 0.0
    for v in values:
        result = result + v * scale
    return result + label


if __name__ == "__main__":
    import numpy as np

    total(np.ones(3), 2.0)
