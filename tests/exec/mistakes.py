# SPDX-License-Identifier: Apache-2.0
"""Functions that are wrong, or that raise. `# here` marks the line that the message must show."""
import numpy as np


class Trouble(Exception):
    pass


SETTINGS = {"a": 1}


def adds_text(x):
    label = "sum"
    return x + label  # here


def undefined(x):
    return x + undefned  # here  # noqa: F821


def no_such_function(x):
    return np.tanhh(x)  # here


def uses_a_dict(x):
    return x + SETTINGS["a"]  # here


def assigns_a_global(x):
    global SETTINGS
    SETTINGS = x  # here
    return x


def two_types(x):
    if x > 0:
        r = 1.0
    else:
        r = (1, 2)
    return r  # here


def bad_index(a):
    return a[1.5]  # here


def too_many_indices(a):
    return a[0, 0]  # here


def unknown_attribute(a):
    return a.shap  # here


def wrong_count(x):
    return by_type(x, 1)  # here


def calls_a_number(x):
    return x(1)  # here


def unpacks(x):
    a, b = (x, x, x)  # here
    return a + b


def starred_keywords(x):
    return by_type(**x)  # here


def class_inside(x):
    class A:  # here
        pass
    return x


def by_type(x):
    return x + 1


ONE = np.ones(3)
ALL = [("adds_text", (1,), "+"), ("undefined", (1,), "'undefned' is not defined"), ("no_such_function", (1.0,), "tanhh"),
       ("uses_a_dict", (1,), "SETTINGS"), ("assigns_a_global", (1,), "SETTINGS"), ("two_types", (1,), "r"),
       ("bad_index", (ONE,), ""), ("too_many_indices", (ONE,), ""), ("unknown_attribute", (ONE,), "shap"),
       ("wrong_count", (1,), ""), ("calls_a_number", (1,), ""), ("unpacks", (1,), ""), ("starred_keywords", (1,), "**"),
       ("class_inside", (1,), "class")]


def innermost(x):
    if x < 0:
        raise ValueError("negative", x)
    return x


def middle(x):
    return innermost(x)


def outer(x):
    return middle(x) + 1


def troubled(x):
    if x > 2:
        raise Trouble("too much", x)
    return x


def divides(a, b):
    return a // b
