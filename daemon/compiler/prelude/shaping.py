# SPDX-License-Identifier: Apache-2.0
"""Shapes: reshape, transpose and their kind. Views where NumPy gives views. Meaning:
https://numpy.org/doc/stable/reference/routines.array-manipulation.html

An axis and a shape may be known only when running; how many dimensions there are is known when compiling. Tuples of
shapes are built item by item, by recursion over their tails."""
import numpy as np
from intrinsics import contiguous, depth, dtype_of, layout, static_error, strided, strided_readonly, time_unit
from times import astype as time_astype


def as_shape(shape):
    """An integer, a tuple, or a tuple that holds the tuple: as it came through *shape."""
    if isinstance(shape, tuple):
        if len(shape) == 1:
            if isinstance(shape[0], tuple):
                return shape[0]
        return shape
    return (shape,)


def product(shape):
    n = 1
    for k in shape:
        n *= k
    return n


def c_strides(shape, itemsize):
    """Strides of C order."""
    if len(shape) == 0:
        return ()
    return (product(shape[1:]) * itemsize,) + c_strides(shape[1:], itemsize)


def resolved(shape, rest):
    """The shape with `rest` for its -1."""
    if len(shape) == 0:
        return ()
    return (int(rest if shape[0] == -1 else shape[0]),) + resolved(shape[1:], rest)


def full_shape(a, shape):
    unknown, known = 0, 1
    for k in shape:
        if k == -1:
            unknown += 1
        elif k < 0:
            raise ValueError("negative dimensions are not allowed")
        else:
            known *= k
    if unknown > 1:
        raise ValueError("can only specify one unknown dimension")
    size = a.size
    rest = size // known if unknown == 1 and known > 0 else 0
    if (unknown == 1 and (known == 0 or known * rest != size)) or (unknown == 0 and known != size):
        raise ValueError(f"cannot reshape array of size {size} into the shape that is asked for")
    return resolved(shape, rest)


def in_c_order(a):
    """Lies the array in memory as C order has it?"""
    step = a.itemsize
    for k in range(a.ndim - 1, -1, -1):
        if a.shape[k] != 1 and a.strides[k] != step:
            return False
        step *= a.shape[k]
    return True


def copied(a):
    """In C order, with the type of a view."""
    out = a.copy()
    return strided(out, 0, out.shape, out.strides)


def new_strides(a, shape, out):
    """Strides of a view of this shape, if one is possible: runs of axes of both that hold equally many elements must be
    evenly spaced. False: only a copy will do."""
    n, m = a.ndim, len(shape)
    i, j = 0, 0
    while True:
        while i < n and a.shape[i] == 1:
            i += 1
        while j < m and shape[j] == 1:
            out[j] = a.itemsize
            j += 1
        if i == n or j == m:
            return True
        first, from_j = i, j
        have, want = a.shape[i], shape[j]
        i += 1
        j += 1
        while have != want:
            if have < want:
                if i == n:
                    return False
                have *= a.shape[i]
                i += 1
            else:
                if j == m:
                    return False
                want *= shape[j]
                j += 1
        last = first
        for k in range(first + 1, i):
            if a.shape[k] == 1:
                continue
            if a.strides[last] != a.shape[k] * a.strides[k]:
                return False
            last = k
        step = a.strides[last]
        for k in range(j - 1, from_j - 1, -1):
            out[k] = step
            step *= shape[k]


def tuple_from(values, like, k):
    if len(like) == 0:
        return ()
    return (int(values[k]),) + tuple_from(values, like[1:], k + 1)


def reshape(a, *shape):
    """ndarray.reshape"""
    if not isinstance(a, np.ndarray):
        static_error("an array is needed: make one with np.array")
    wanted = full_shape(a, as_shape(shape))
    if layout(a) == "C":
        return contiguous(a, 0, wanted)
    if a.size > 0:
        steps = np.empty(max(len(wanted), 1), np.int64)
        if new_strides(a, wanted, steps):
            return strided(a, 0, wanted, tuple_from(steps, wanted, 0))
    out = a.copy()
    return strided(out, 0, wanted, c_strides(wanted, a.itemsize))


def np_reshape(a, newshape):
    """numpy.reshape"""
    return reshape(a, newshape)


def ravel(a):
    """numpy.ravel"""
    if layout(a) == "C":
        return contiguous(a, 0, (a.size,))
    if in_c_order(a):
        return contiguous(a, 0, (a.size,))
    return contiguous(a.copy(), 0, (a.size,))


def flatten(a):
    """ndarray.flatten"""
    return contiguous(a.copy(), 0, (a.size,))


def axis_in(axis, ndim):
    if axis < -ndim or axis >= ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis + ndim if axis < 0 else axis


def permuted(values, axes):
    if len(axes) == 0:
        return ()
    return (values[axes[0]],) + permuted(values, axes[1:])


def counted_axes(axes, ndim):
    if len(axes) == 0:
        return ()
    return (axis_in(axes[0], ndim),) + counted_axes(axes[1:], ndim)


def transpose(a, axes=None):
    """numpy.transpose"""
    if axes is None:
        return a.T
    if len(axes) != a.ndim:
        static_error("axes don't match array")
    order = counted_axes(axes, a.ndim)
    seen = 0
    for k in order:
        seen |= 1 << k
    if seen != (1 << a.ndim) - 1:
        raise ValueError("repeated axis in transpose")
    return strided(a, 0, permuted(a.shape, order), permuted(a.strides, order))


def transposed(a, *axes):
    """ndarray.transpose"""
    if len(axes) == 0:
        return a.T
    return transpose(a, as_shape(axes))


def exchanged(values, i, j, k, n):
    """values with i and j exchanged, from k on."""
    if len(n) == 0:
        return ()
    return (values[j if k == i else i if k == j else k],) + exchanged(values, i, j, k + 1, n[1:])


def swapaxes(a, axis1, axis2):
    """numpy.swapaxes"""
    i, j = axis_in(axis1, a.ndim), axis_in(axis2, a.ndim)
    return strided(a, 0, exchanged(a.shape, i, j, 0, a.shape), exchanged(a.strides, i, j, 0, a.shape))


def shifted(values, i, j, k, n):
    """values where item i has moved to place j."""
    if len(n) == 0:
        return ()
    at = k
    if k == j:
        at = i
    elif i < j and k >= i and k < j:
        at = k + 1
    elif i > j and k > j and k <= i:
        at = k - 1
    return (values[at],) + shifted(values, i, j, k + 1, n[1:])


def moveaxis(a, source, destination):
    """numpy.moveaxis of one axis"""
    i, j = axis_in(source, a.ndim), axis_in(destination, a.ndim)
    return strided(a, 0, shifted(a.shape, i, j, 0, a.shape), shifted(a.strides, i, j, 0, a.shape))


def with_item(values, i, item, k, n):
    """values with item put in at i; n: as long as the result."""
    if len(n) == 0:
        return ()
    v = item
    if k != i:
        v = values[k - (1 if k > i else 0)] if len(values) > 0 else item
    return (v,) + with_item(values, i, item, k + 1, n[1:])


def expand_dims(a, axis):
    """numpy.expand_dims of one axis"""
    n = a.ndim + 1
    i = axis_in(axis, n)
    return strided(a, 0, with_item(a.shape, i, 1, 0, a.shape + (1,)), with_item(a.strides, i, a.itemsize, 0, a.shape + (1,)))


def without_item(values, i, k, n):
    if len(n) == 0:
        return ()
    return (values[k + (1 if k >= i else 0)],) + without_item(values, i, k + 1, n[1:])


def squeeze(a, axis=None):
    """numpy.squeeze of one axis"""
    if axis is None:
        static_error("name the axis: how many dimensions the result has must be known when compiling")
    i = axis_in(axis, a.ndim)
    if a.shape[i] != 1:
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return strided(a, 0, without_item(a.shape, i, 0, a.shape[1:]), without_item(a.strides, i, 0, a.shape[1:]))


def broadcast_strides(have, steps, shape):
    """Strides of an array of shape `have` as it is spread over a shape with as many dimensions."""
    if len(shape) == 0:
        return ()
    if have[0] == shape[0]:
        step = steps[0]
    elif have[0] == 1:
        step = 0
    else:
        raise ValueError(f"operands could not be broadcast together: one has {have[0]} where the other has {shape[0]}")
    return (step,) + broadcast_strides(have[1:], steps[1:], shape[1:])


def spread(a, shape):
    if a.ndim < len(shape):
        return spread(a[None], shape)
    return strided_readonly(a, 0, shape, broadcast_strides(a.shape, a.strides, shape))


def broadcast_to(array, shape):
    """numpy.broadcast_to"""
    wanted = as_shape(shape)
    if isinstance(array, np.ndarray):
        if array.ndim > len(wanted):
            static_error("input operand has more dimensions than allowed by the axis remapping")
        return spread(array, wanted)
    return spread(np.full(1, array), wanted)


def atleast_1d(a):
    """numpy.atleast_1d"""
    if not isinstance(a, np.ndarray):
        return np.full(1, a)
    if a.ndim == 0:
        return contiguous(a, 0, (1,))
    return a


def atleast_2d(a):
    """numpy.atleast_2d"""
    if not isinstance(a, np.ndarray):
        return np.full((1, 1), a)
    if a.ndim == 0:
        return contiguous(a, 0, (1, 1))
    if a.ndim == 1:
        return a[None]
    return a


def atleast_3d(a):
    """numpy.atleast_3d"""
    b = atleast_2d(a)
    if isinstance(a, np.ndarray):
        if a.ndim == 1:
            return a[None, :, None]
    if b.ndim == 2:
        return b[:, :, None]
    return b


def flip(m, axis=None):
    """numpy.flip"""
    if axis is None:
        return turned(m)
    i = axis_in(axis, m.ndim)
    n, step = m.shape[i], m.strides[i]
    return strided(m, max(n - 1, 0) * step, m.shape, negated(m.strides, i, 0, m.shape))


def negated(values, i, k, n):
    if len(n) == 0:
        return ()
    return (-values[k] if k == i else values[k],) + negated(values, i, k + 1, n[1:])


def opposite(values):
    if len(values) == 0:
        return ()
    return (-values[0],) + opposite(values[1:])


def turned(m):
    offset = 0
    for k in range(m.ndim):
        offset += max(m.shape[k] - 1, 0) * m.strides[k]
    return strided(m, offset, m.shape, opposite(m.strides))


def fliplr(m):
    """numpy.fliplr"""
    return m[:, ::-1]


def flipud(m):
    """numpy.flipud"""
    return m[::-1]


def rot90(m, k=1):
    """numpy.rot90 of the first two axes"""
    turns = k % 4
    if turns == 0:
        return m[::1, ::1]
    if turns == 2:
        return m[::-1, ::-1]
    if turns == 1:
        return swapaxes(m[:, ::-1], 0, 1)[::1, ::1]
    return swapaxes(m, 0, 1)[:, ::-1]


def astype(a, dtype, copy=True):
    """ndarray.astype"""
    if time_unit(a) >= 0 or time_unit(dtype) >= 0:
        return time_astype(a, dtype)
    if layout(a) == "F":
        return astype(a.T, dtype).T
    out = np.empty(a.shape, dtype)
    out[...] = a
    return out


def item(a, *index):
    """ndarray.item"""
    if len(index) == 0:
        if a.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return python_number(first(a))
    return python_number(a[as_shape(index)])


def first(a):
    if a.ndim == 0:
        return a[()]
    if a.ndim == 1:
        return a[0]
    return first(a[0])


def python_number(x):
    if isinstance(x, bool):
        return bool(x)
    if isinstance(x, np.integer):
        return int(x)
    if isinstance(x, np.floating):
        return float(x)
    return complex(x)


def shape_of(a):
    """numpy.shape"""
    if isinstance(a, np.ndarray):
        return a.shape
    return ()


def size_of(a, axis=None):
    """numpy.size"""
    if axis is None:
        return a.size
    return a.shape[axis]


def ndim_of(a):
    """numpy.ndim"""
    return depth(a)


def as_strided(x, shape=None, strides=None):
    """numpy.lib.stride_tricks.as_strided"""
    if strides is None:
        static_error("strides are needed here")
    if shape is None:
        return strided(x, 0, x.shape, as_shape(strides))
    return strided(x, 0, as_shape(shape), as_shape(strides))


def sliding_window_view(x, window_shape):
    """numpy.lib.stride_tricks.sliding_window_view of one dimension"""
    w = as_shape(window_shape)
    if x.ndim != 1 or len(w) != 1:
        static_error("one dimension is compiled by this version")
    if w[0] < 0 or w[0] > x.shape[0]:
        raise ValueError("window shape cannot be larger than input array shape")
    return strided_readonly(x, 0, (x.shape[0] - w[0] + 1, w[0]), (x.strides[0], x.strides[0]))


FUNCTIONS = {
    "numpy.reshape": np_reshape, "ndarray.reshape": reshape, "numpy.ravel": ravel, "ndarray.ravel": ravel, "ndarray.flatten": flatten,
    "numpy.transpose": transpose, "ndarray.transpose": transposed, "numpy.swapaxes": swapaxes, "ndarray.swapaxes": swapaxes, "numpy.moveaxis": moveaxis,
    "numpy.expand_dims": expand_dims, "numpy.squeeze": squeeze, "ndarray.squeeze": squeeze, "numpy.broadcast_to": broadcast_to,
    "numpy.atleast_1d": atleast_1d, "numpy.atleast_2d": atleast_2d, "numpy.atleast_3d": atleast_3d, "numpy.flip": flip, "numpy.fliplr": fliplr,
    "numpy.flipud": flipud, "numpy.rot90": rot90, "ndarray.astype": astype, "ndarray.item": item, "numpy.shape": shape_of,
    "numpy.size": size_of, "numpy.ndim": ndim_of, "numpy.lib.stride_tricks.as_strided": as_strided,
    "numpy.lib.stride_tricks.sliding_window_view": sliding_window_view,
}
