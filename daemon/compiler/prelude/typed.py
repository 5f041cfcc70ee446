# SPDX-License-Identifier: Apache-2.0
"""Containers of kilnjit.typed, made of what is in others."""
from intrinsics import TypedDict, TypedList, TypedSet


def typed_list(items):
    """kilnjit.typed.List(iterable)"""
    out = TypedList()
    for x in items:
        out.append(x)
    return out


def typed_set(items):
    """kilnjit.typed.Set(iterable)"""
    out = TypedSet()
    for x in items:
        out.add(x)
    return out


def typed_dict(pairs):
    """kilnjit.typed.Dict(pairs or dict)"""
    out = TypedDict()
    if isinstance(pairs, dict):
        for key, value in pairs.items():
            out[key] = value
    else:
        for key, value in pairs:
            out[key] = value
    return out


FUNCTIONS = {"typed.List": typed_list, "typed.Set": typed_set, "typed.Dict": typed_dict}
