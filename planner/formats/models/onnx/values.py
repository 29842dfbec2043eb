"""The known values of small tensors of numbers, from which shapes are computed. Sums of symbols count as numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import accumulate
from math import ceil, floor, prod, sqrt
from operator import ge, gt, le, lt, mul
from typing import TYPE_CHECKING, Any

import numpy as np

from ....planning.shapes.expression import Expression
from . import dims as d
from .dims import Dim
from .model import BFLOAT16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, MOST_NUMBERS, UINT8, Constant
from .rules.elements import DIGITS, WHOLE, held, plain, wrapped
from .rules.elementwise import part_of_shape
from .rules.layout import slice_of
from .rules.site import ShapeError, Site, Type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[Any]

_TYPES = {
    FLOAT: "<f4", UINT8: "u1", INT8: "i1", 4: "<u2", 5: "<i2", INT32: "<i4", INT64: "<i8", BOOL: "?", FLOAT16: "<f2", DOUBLE: "<f8", 12: "<u4", 13: "<u8",
    BFLOAT16: "<u2",
}  # fmt: skip


def content_of(tensor: Constant) -> Values | None:
    """Return its contents; None if they are long, elsewhere, or of a type that does not describe shapes."""
    count = prod(tensor.shape)
    is_long = prod(size or 1 for size in tensor.shape) > MOST_NUMBERS  # a side of 0 does not make the others short
    if is_long or tensor.is_outside or tensor.element not in _TYPES:
        return None
    kind = np.dtype(_TYPES[tensor.element])
    raw = tensor.raw
    content = _listed(tensor, kind) if raw is None else memoryview(raw.data)[raw.start : raw.end]
    if len(content) != count * kind.itemsize:
        return None
    found = np.frombuffer(content, kind)
    if tensor.element == BFLOAT16:  # the first half of a float
        found = (found.astype("<u4") << 16).view("<f4")
    return as_values([plain(each) for each in found.tolist()], tensor.shape)


def _listed(tensor: Constant, kind: np.dtype[Any]) -> bytes:
    """Return the bytes of numbers that are written as a list. Except for floats, each is in the last bits of a whole number."""
    if tensor.element == FLOAT:
        return np.array(tensor.numbers, kind).tobytes()
    whole = (each for each in tensor.numbers if isinstance(each, int))
    return b"".join(each.to_bytes(8, "little", signed=True)[: kind.itemsize] for each in whole)


def as_values(numbers: list[Any], shape: tuple[int, ...]) -> Values:
    """Return the contents of a tensor of that shape."""
    made = np.empty(len(numbers), object)
    made[:] = numbers
    return made.reshape(shape)


def computed(at: Site, types: list[Type]) -> Values | None:
    """Return the contents of the operator's first output; None if unknown."""
    shape = types[0].shape
    count = d.product(shape)
    if not isinstance(count, int) or count > MOST_NUMBERS:
        return None
    made = COMPUTED[at.node.operator](at)
    if made is None or made.size != count:
        return None
    if at.node.operator not in HANDED_ON:
        made = _each(lambda each: held(each, types[0].element, at.box))(made)
    return made.reshape(shape)  # type: ignore[arg-type]  # all of them are numbers if their product is one


def _each(function: Callable[..., Any], count: int = 1) -> Callable[..., Values]:
    """Return the function applied element by element."""

    def of(*given: Values) -> Values:
        with np.errstate(all="ignore"):  # infinities are numbers like others
            return np.asarray(np.frompyfunc(function, count, 1)(*given), object)

    return of


class _Unknown(Exception):
    """The contents of the result are unknown."""


def _first(at: Site, i: int = 0) -> Values:
    found: Values | None = at.values[i] if i < len(at.values) else None
    if found is None:
        raise _Unknown
    return found


def _pairs(function: Callable[[Any, Any], Any]) -> Callable[[Site], Values | None]:
    def of(at: Site) -> Values | None:
        found = _first(at)
        for i in range(1, len(at.inputs)):
            found = _each(function, 2)(found, _first(at, i))
        return found

    return of


def _numbers(plain: Callable[[Any, Any], Any], symbolic: Callable[[Dim, Dim], Dim]) -> Callable[[Any, Any], Any]:
    def of(a: Any, b: Any) -> Any:
        if isinstance(a, Expression) or isinstance(b, Expression):
            if isinstance(a, float) or isinstance(b, float):
                raise _Unknown
            return symbolic(a, b)
        return plain(a, b)

    return of


def _quotient(at: Site) -> Values | None:
    whole = at.element() in WHOLE

    def of(a: Any, b: Any) -> Any:
        if b == 0:
            raise _Unknown
        return (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) if whole else a / b

    def in_symbols(a: Dim, b: Dim) -> Dim:
        if not whole or d.least(a, at.box) < 0 or d.least(b, at.box) < 1:
            raise _Unknown
        return d.down(a, b)

    return _each(_numbers(of, in_symbols), 2)(_first(at), _first(at, 1))


def _remainder(at: Site) -> Values | None:
    a, b = _first(at), _first(at, 1)
    if at.number("fmod", 0) or not all(isinstance(each, int) and each for each in (*a.ravel(), *b.ravel())):
        raise _Unknown
    return _each(lambda x, y: x % y, 2)(a, b)


def _equal(at: Site) -> Values | None:
    minus = _numbers(lambda a, b: a - b, d.sub)

    def of(a: Any, b: Any) -> bool:
        if isinstance(a, Expression) or isinstance(b, Expression):
            difference = minus(a, b)
            if isinstance(difference, int):
                return difference == 0
            if d.least(difference, at.box) > 0 or d.least(minus(b, a), at.box) > 0:
                return False
            raise _Unknown
        return bool(a == b)

    return _each(of, 2)(_first(at), _first(at, 1))


def _truth(value: Any) -> bool:
    if isinstance(value, Expression):
        raise _Unknown
    return bool(value)


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Site], Values | None]:
    def of(at: Site) -> Values | None:
        a, b = _first(at), _first(at, 1)
        if any(isinstance(each, Expression) for each in (*a.ravel(), *b.ravel())):
            raise _Unknown
        return _each(test, 2)(a, b)

    return of


def _where(at: Site) -> Values | None:
    found = np.broadcast_arrays(_first(at), _first(at, 1), _first(at, 2))
    return _each(lambda test, a, b: a if _truth(test) else b, 3)(*found)


def _gather(at: Site) -> Values | None:
    indices = _first(at, 1)
    if any(isinstance(each, Expression) for each in indices.ravel()):
        raise _Unknown
    found = _first(at)
    return np.asarray(np.take(found, indices.astype(np.int64), axis=at.axis(found.ndim, 0)), object)


def _slice(at: Site) -> Values | None:
    found = _first(at)
    for axis, start, count, step in slice_of(at)[0]:
        if not isinstance(start, int) or not isinstance(count, int):
            raise _Unknown
        found = np.take(found, [start + step * i for i in range(count)], axis=axis)
    return found


def _concat(at: Site) -> Values | None:
    parts = [_first(at, i) for i in range(len(at.inputs))]
    return np.concatenate(parts, axis=at.axis(parts[0].ndim, 0))


def _range(at: Site) -> Values | None:
    low, high, step = (_first(at, i).ravel()[0] for i in range(3))
    if not all(isinstance(each, int) for each in (low, high, step)) or not step or abs(high - low) > MOST_NUMBERS:
        raise _Unknown
    numbers = list(range(low, high, step))
    return as_values(numbers, (len(numbers),))


def _constant(at: Site) -> Values | None:
    tensor = at.tensor("value")
    if tensor is not None:
        return content_of(tensor)
    for name in ("value_int", "value_ints", "value_float", "value_floats"):
        value = at.node.attributes.get(name)
        if isinstance(value, tuple):
            return as_values(list(value), (len(value),))
        if isinstance(value, int | float):
            return as_values([value], ())
    return None


def _filled(at: Site) -> Values | None:
    tensor, shape = at.tensor("value"), at.whole(0) or []
    value = as_values([0], (1,)) if tensor is None else content_of(tensor)
    if value is None or not value.size:
        raise _Unknown
    count = prod(shape)
    if not 0 <= count <= MOST_NUMBERS:
        raise _Unknown
    return as_values([value.ravel()[0]] * count, tuple(shape))


def _shape(at: Site) -> Values | None:
    dims = [at.shape(0)[i] for i in range(*part_of_shape(at))]
    return as_values(dims, (len(dims),))


def _to_one(
    plain: Callable[[Any, Any], Any], symbolic: Callable[[Dim, Dim], Dim], *empty: int
) -> Callable[[Site], Values | None]:
    """Return the reduction to one number; results of several are unknown."""

    def of(at: Site) -> Values | None:
        join = _numbers(lambda a, b: held(plain(a, b), at.element(), at.box), symbolic)
        return as_values([reduce(join, _first(at).ravel(), *empty)], ())

    return of


def _sum(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        raise _Unknown  # their order is left open
    return a + b


def _rounded(to_whole: Callable[[float], int]) -> Callable[[Site], Values | None]:
    return lambda at: _each(lambda x: x if isinstance(x, Expression) else to_whole(x))(_first(at))


def _root(x: Any) -> float:
    if isinstance(x, Expression):
        raise _Unknown
    return sqrt(x)


def _size(x: Any, at: Site) -> Any:
    if not isinstance(x, Expression):
        return abs(x)
    if d.least(x, at.box) < 0:
        raise _Unknown
    return x


def _turned(at: Site) -> Values | None:
    found = _first(at)
    return np.transpose(found, at.numbers("perm") or range(found.ndim)[::-1])


def _expanded(at: Site) -> Values | None:
    found, shape = _first(at), np.broadcast_shapes(_first(at).shape, tuple(at.whole(1) or ()))
    if prod(shape) > MOST_NUMBERS:
        raise _Unknown
    return np.broadcast_to(found, shape)


def _cast(at: Site) -> Values | None:
    """Return the numbers; of one whole number in a smaller type, the digits for which there is room."""
    to = at.number("to", 0)
    if at.element() in DIGITS or to not in WHOLE:
        return _first(at)
    return _each(lambda x: x if isinstance(x, Expression) else wrapped(x, to))(_first(at))


HANDED_ON = frozenset(
    ("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Gather", "Slice", "Concat", "Where", "Max", "Min", "ReduceMax", "ReduceMin", "Transpose",
     "Expand", "ConstantOfShape", "Shape", "Size", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Not", "And", "Or")
)  # fmt: skip
"""The operators whose results are numbers that a tensor of their type held before, or always holds."""
COMPUTED: Mapping[str, Callable[[Site], Values | None]] = {
    **dict.fromkeys(("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"), _first),
    "Cast": _cast,
    "Add": _pairs(_numbers(lambda a, b: a + b, d.add)),
    "Sub": _pairs(_numbers(lambda a, b: a - b, d.sub)),
    "Mul": _pairs(_numbers(lambda a, b: a * b, d.mul)),
    "Max": _pairs(_numbers(max, d.most)),
    "Min": _pairs(_numbers(min, d.fewest)),
    "Div": _quotient,
    "Mod": _remainder,
    "Neg": lambda at: _each(lambda x: d.mul(x, -1) if isinstance(x, Expression) else -x)(_first(at)),
    "Abs": lambda at: _each(lambda x: _size(x, at))(_first(at)),
    "Sqrt": lambda at: _each(_root)(_first(at)),
    "Ceil": _rounded(ceil),
    "Floor": _rounded(floor),
    "Round": _rounded(round),
    "Equal": _equal,
    "Less": _ordered(lt),
    "LessOrEqual": _ordered(le),
    "Greater": _ordered(gt),
    "GreaterOrEqual": _ordered(ge),
    "Not": lambda at: _each(lambda x: not _truth(x))(_first(at)),
    "And": _pairs(lambda a, b: _truth(a) and _truth(b)),
    "Or": _pairs(lambda a, b: _truth(a) or _truth(b)),
    "Where": _where,
    "Gather": _gather,
    "Slice": _slice,
    "Concat": _concat,
    "Range": _range,
    "Constant": _constant,
    "ConstantOfShape": _filled,
    "Shape": _shape,
    "Size": lambda at: as_values([d.product(at.shape(0))], ()),
    "ReduceProd": _to_one(mul, d.mul, 1),
    "ReduceSum": _to_one(_sum, d.add, 0),
    "ReduceMax": _to_one(max, d.most),
    "ReduceMin": _to_one(min, d.fewest),
    "Transpose": _turned,
    "Expand": _expanded,
}


def _parts(at: Site, types: list[Type]) -> list[Values | None]:
    """Return what the parts of a split list hold."""
    whole, lengths = _first(at), [type_.shape[0] for type_ in types]
    if whole.ndim != 1:
        raise _Unknown
    if not all(isinstance(length, int) for length in lengths):
        raise _Unknown
    return list(np.split(whole, list(accumulate(lengths))[:-1]))  # type: ignore[arg-type]  # see above


KNOWN = COMPUTED.keys() | {"Split"}
"""The operators whose results' contents are computed."""
FOLLOWED = KNOWN - {"Shape", "Size"}
"""Those that compute them from contents."""


def are_computed(at: Site) -> bool:
    """True if what the outputs hold may be computed from what all inputs hold."""
    return not at.node.domain and at.node.operator in FOLLOWED and all(value is not None for value in at.values)


def values_of(at: Site, types: list[Type]) -> list[Values | None]:
    """Return the contents of each output; None if unknown."""
    unknown: list[Values | None] = [None] * len(types)
    if at.node.domain or at.node.operator not in KNOWN:
        return unknown
    try:
        if at.node.operator == "Split":
            return _parts(at, types)
        return [computed(at, types), *unknown[1:]] if types else []
    except (_Unknown, ShapeError, ValueError, IndexError, TypeError, OverflowError, ZeroDivisionError):
        return unknown  # a value that cannot be computed is unknown


def is_settled(values: Values | None) -> bool:
    """True if it is known, and equal for all values of the symbols."""
    return values is not None and not any(isinstance(each, Expression) for each in values.ravel())
