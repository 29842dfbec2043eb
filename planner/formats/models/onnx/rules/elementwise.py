"""Rules of operators that work element by element, or make tensors from a shape."""

from __future__ import annotations

from functools import reduce
from math import ceil, isfinite

from .. import dims as d
from ..dims import Dim
from ..model import BITS, BOOL, FLOAT, INT64, STRING
from .elements import DIGITS, rounded
from .site import ShapeError, Site, Type, broadcast


def same(at: Site) -> list[Type]:
    """Return the first input's type."""
    return [at.given(0)]


def joined(at: Site) -> list[Type]:
    """Return the type of all inputs broadcast together."""
    if "axis" in at.node.attributes or "broadcast" in at.node.attributes:
        return [at.given(0)]  # before opset 7 the second is broadcast to the first
    return [Type(at.element(), broadcast([at.shape(i) for i in range(len(at.inputs)) if at.has(i)]))]


def compared(at: Site) -> list[Type]:
    return [Type(BOOL, joined(at)[0].shape)]


def tested(at: Site) -> list[Type]:
    return [Type(BOOL, at.shape(0))]


def where(at: Site) -> list[Type]:
    return [Type(at.element(1), broadcast([at.shape(i) for i in range(3)]))]


def cast(at: Site) -> list[Type]:
    to = at.number("to", 0)
    if to not in BITS:
        raise ShapeError(f"there is no type {to}")
    return [Type(to, at.shape(0))]


def cast_like(at: Site) -> list[Type]:
    return [Type(at.element(1), at.shape(0))]


def dropout(at: Site) -> list[Type]:
    return [at.given(0), Type(BOOL, at.shape(0))]


def constant(at: Site) -> list[Type]:
    found = at.tensor("value") or at.tensor("sparse_value")
    if found is not None:
        return [Type(found.element, found.shape)]
    kinds = {"int": INT64, "ints": INT64, "float": FLOAT, "floats": FLOAT, "string": STRING, "strings": STRING}
    for name, element in kinds.items():
        value = at.node.attributes.get(f"value_{name}")
        if value is not None:
            return [Type(element, (len(value),) if isinstance(value, tuple) else ())]
    raise ShapeError("it has no value")


def filled(at: Site) -> list[Type]:
    """ConstantOfShape."""
    value = at.tensor("value")
    return [Type(FLOAT if value is None else value.element, tuple(at.dims(0) or ()))]


def shape_of(at: Site) -> list[Type]:
    return [Type(INT64, (len(range(*part_of_shape(at))),))]


def part_of_shape(at: Site) -> tuple[int, int, int]:
    """Return the range of dimensions that Shape returns."""
    end = at.number("end", 1 << 30)
    return slice(at.number("start", 0), end).indices(len(at.shape(0)))


def size_of(at: Site) -> list[Type]:
    at.given(0)
    return [Type(INT64, ())]


def counted(at: Site) -> list[Type]:
    """Range."""
    ends = [at.content(i) for i in range(3)]
    if not all(ends):
        raise ShapeError("it needs a start, a limit and a step")
    low, high, step = (end[0] for end in ends if end)
    count: Dim
    if all(isinstance(end, int | float) for end in (low, high, step)):
        if not step:
            raise ShapeError("a step is not 0")
        turns = rounded(high - low, at.element()) / step if at.element() in DIGITS else (high - low) / step
        if not isfinite(turns):
            raise ShapeError("it counts without an end")
        count = max(0, ceil(turns))
    elif any(isinstance(end, float) for end in (low, high, step)):
        raise ShapeError("it counts in fractions up to a symbol")
    else:
        count = d.most(d.up(d.sub(high, low), step), 0)
    return [Type(at.element(), (count,))]


def made_like(at: Site) -> list[Type]:
    """EyeLike, RandomNormalLike, RandomUniformLike, Bernoulli."""
    return [Type(at.number("dtype", 0) or at.element(), at.shape(0))]


def made(at: Site) -> list[Type]:
    """RandomNormal and RandomUniform."""
    shape = at.numbers("shape")
    if shape is None:
        raise ShapeError("it has no shape")
    return [Type(at.number("dtype", FLOAT), shape)]


def multinomial(at: Site) -> list[Type]:
    return [Type(at.number("dtype", 6), (at.rank(0, 2)[0], at.number("sample_size", 1)))]


def window(at: Site) -> list[Type]:
    """HannWindow, HammingWindow and BlackmanWindow."""
    return [Type(at.number("output_datatype", FLOAT), tuple(at.dims(0) or ())[:1])]


def determinant(at: Site) -> list[Type]:
    return [Type(at.element(), at.rank(0, 2)[:-2])]


# a size that depends on data is the greatest possible


def non_zero(at: Site) -> list[Type]:
    at.depends_on_data()
    shape = at.shape(0)
    return [Type(INT64, (len(shape), d.product(shape)))]


def compress(at: Site) -> list[Type]:
    at.depends_on_data()
    shape = at.shape(0)
    if "axis" not in at.node.attributes:
        return [Type(at.element(), (d.product(shape),))]
    return [Type(at.element(), shape)]


def unique(at: Site) -> list[Type]:
    at.depends_on_data()
    shape = at.shape(0)
    axis = None if "axis" not in at.node.attributes else at.axis(len(shape), 0)
    count = d.product(shape) if axis is None else shape[axis]
    first = Type(at.element(), (count,) if axis is None else shape)
    number = Type(INT64, (count,))
    return [first, number, number, number]


def non_max_suppression(at: Site) -> list[Type]:
    at.depends_on_data()
    boxes, scores = at.rank(0, 3), at.rank(1, 3)
    each: Dim = boxes[1]
    if at.has(2) and at.values[2] is not None:
        each = reduce(d.fewest, at.dims(2) or (), each)
    return [Type(INT64, (d.product((scores[0], scores[1], each)), 3))]


AT_RANDOM = frozenset(
    ("Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)
"""Operators with a different result each time."""
