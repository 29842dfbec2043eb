"""Rules of operators that rearrange elements or change their number: reshapes, slices, gathers, reductions, resizing."""

from __future__ import annotations

from functools import reduce
from math import floor, frexp, ldexp

from .....planning.shapes.expression import LIMIT
from .....planning.shapes.intervals import bounds
from .. import dims as d
from ..dims import Dim, Shape
from ..model import FLOAT, INT64
from .elements import DIGITS, rounded
from .site import NotKnown, ShapeError, Site, Type, axis_of, broadcast


def reshape(at: Site) -> list[Type]:
    shape = at.shape(0)
    numbers = at.numbers("shape")
    wanted: list[Dim] = list(numbers) if numbers is not None else (at.dims(1) or [])
    keep_zero = at.number("allowzero", 0)
    found: list[Dim] = []
    open_ = None
    for i, dim in enumerate(wanted):
        if dim == 0 and not keep_zero:
            if i >= len(shape):
                raise ShapeError(f"it copies dimension {i}, which its input does not have")
            dim = shape[i]
        elif dim == -1:
            if open_ is not None:
                raise ShapeError("only one dimension can be -1")
            open_ = i
        found.append(dim)
    count = d.product(shape)
    rest = d.product(dim for i, dim in enumerate(found) if i != open_)
    if open_ is not None:
        found[open_] = 0 if rest == 0 else d.down(count, rest)
        if isinstance(count, int) and isinstance(rest, int) and rest and count % rest:
            raise ShapeError(f"{count} elements cannot be put into rows of {rest}")
    elif isinstance(count, int) and isinstance(rest, int) and count != rest:
        raise ShapeError(f"{count} elements cannot become {rest}")
    return [Type(at.element(), tuple(found))]


def flatten(at: Site) -> list[Type]:
    shape = at.shape(0)
    axis = at.number("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise ShapeError(f"there is no axis {axis}: there are {len(shape)} dimensions")
    axis = axis + len(shape) if axis < 0 else axis
    return [Type(at.element(), (d.product(shape[:axis]), d.product(shape[axis:])))]


def squeeze(at: Site) -> list[Type]:
    shape = at.shape(0)
    axes = at.axes(len(shape), 1)
    gone = {i for i, dim in enumerate(shape) if dim == 1} if axes is None else set(axes)
    for i in gone:
        if isinstance(shape[i], int) and shape[i] != 1:
            raise ShapeError(f"dimension {i} has {shape[i]} indices, and cannot go away")
    return [Type(at.element(), tuple(dim for i, dim in enumerate(shape) if i not in gone))]


def unsqueeze(at: Site) -> list[Type]:
    shape = list(at.shape(0))
    added = at.numbers("axes") or tuple(at.whole(1) or ())
    rank = len(shape) + len(added)
    axes = {axis_of(axis, rank) for axis in added}
    if len(axes) != len(added):
        raise ShapeError("an axis is named twice")
    rest = iter(shape)
    return [Type(at.element(), tuple(1 if i in axes else next(rest) for i in range(rank)))]


def transpose(at: Site) -> list[Type]:
    shape = at.shape(0)
    order = at.numbers("perm")
    order = tuple(reversed(range(len(shape)))) if order is None else order
    if sorted(order) != list(range(len(shape))):
        raise ShapeError(f"perm is no order of {len(shape)} dimensions")
    return [Type(at.element(), tuple(shape[i] for i in order))]


def concat(at: Site) -> list[Type]:
    first = at.rank(0, 1)
    axis = at.axis(len(first), 1)
    found = list(first)
    for i in range(1, len(at.inputs)):
        shape = at.shape(i)
        if len(shape) != len(first):
            raise ShapeError(f"input {i} has {len(shape)} dimensions, the first {len(first)}")
        found[axis] = d.add(found[axis], shape[axis])
        for j, (a, b) in enumerate(zip(first, shape, strict=True)):
            if j != axis and isinstance(a, int) and isinstance(b, int) and a != b:
                raise ShapeError(f"dimension {j} is {a} and {b}")
    return [Type(at.element(), tuple(found))]


def split(at: Site) -> list[Type]:
    shape = at.rank(0, 1)
    axis = at.axis(len(shape), 0)
    count = len(at.node.outputs)
    numbers = at.numbers("split")
    sizes: list[Dim] | None = list(numbers) if numbers is not None else at.dims(1)
    if sizes is None:
        each = d.up(shape[axis], count)
        sizes = [each] * (count - 1)
        sizes.append(d.sub(shape[axis], d.mul(each, count - 1)))
    if len(sizes) != count:
        raise ShapeError(f"it names {len(sizes)} parts, and gives out {count}")
    if any(isinstance(size, int) and size < 0 for size in sizes):
        raise ShapeError("a part of less than nothing")
    return [Type(at.element(), (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes]


def slice_of(at: Site) -> tuple[list[tuple[int, Dim | None, Dim, int]], Shape]:
    """Return (axis, start, count, step) of each axis that is cut, and the resulting shape. Without a start, the count is the greatest possible."""
    shape = list(at.shape(0))
    starts: list[Dim] | None
    ends: list[Dim] | None
    if "starts" in at.node.attributes:
        starts, ends = list(at.numbers("starts") or ()), list(at.numbers("ends") or ())
        axes, steps = at.numbers("axes"), None
    else:
        starts, ends = at.dims(1), at.dims(2)
        numbers = at.whole(3)
        axes, steps = None if numbers is None else tuple(numbers), at.whole(4)
    if starts is None or ends is None or len(starts) != len(ends):
        raise ShapeError("as many starts as ends are needed")
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if not len(axes) == len(steps) == len(starts):
        raise ShapeError("as many axes and steps as starts are needed")
    cuts = []
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        axis = axis_of(axis, len(shape))
        size = shape[axis]
        if step == 0:
            raise ShapeError("a step is not 0")
        low, count = _cut(at, size, start, end, step)
        cuts.append((axis, low, count, step))
        shape[axis] = count
    return cuts, tuple(shape)


def _cut(at: Site, size: Dim, start: Dim, end: Dim, step: int) -> tuple[Dim | None, Dim]:
    """Return the start and the number of indices. Only forward steps are computed in symbols."""
    if step < 0:
        if not isinstance(size, int) or not isinstance(start, int) or not isinstance(end, int):
            return None, d.up(size, -step)  # at most all of it
        first, last = (place + size if place < 0 else place for place in (start, end))
        first, last = min(max(first, 0), size - 1), max(last, -1)
        return first, len(range(first, last, step))
    low, high = _within(at, start, size), _within(at, end, size)
    return low, d.most(d.up(d.sub(high, low), step), 0)


def _within(at: Site, place: Dim, size: Dim) -> Dim:
    """Return a position from 0 to size; negative ones count from the end."""
    if isinstance(place, int):
        if place >= 1 << 31 and not isinstance(size, int):
            return size  # exporters write the end like this
        if place <= -LIMIT:
            return 0
        if place < 0:
            place = d.add(place, size)
    elif d.least(place, at.box) < 0:
        raise ShapeError("it begins or ends at a place that may be counted from either side")
    if place == 0:
        return 0
    found = d.fewest(place, size)
    return d.most(found, 0) if d.least(found, at.box) < 0 else found


def is_cut_by_data(at: Site) -> bool:
    """True if it is not known what a Slice takes."""
    return "starts" not in at.node.attributes and any(at.has(i) and at.values[i] is None for i in range(1, 5))


def slice_(at: Site) -> list[Type]:
    if is_cut_by_data(at):
        at.depends_on_data()
        return [at.given(0)]
    return [Type(at.element(), slice_of(at)[1])]


def gather(at: Site) -> list[Type]:
    shape, indices = at.rank(0, 1), at.shape(1)
    axis = at.axis(len(shape), 0)
    return [Type(at.element(), (*shape[:axis], *indices, *shape[axis + 1 :]))]


def gather_elements(at: Site) -> list[Type]:
    return [Type(at.element(), at.shape(1))]


def gather_nd(at: Site) -> list[Type]:
    shape, indices = at.rank(0, 1), at.rank(1, 1)
    batch = at.number("batch_dims", 0)
    last = indices[-1]
    if not isinstance(last, int) or not 0 <= batch <= len(shape) or batch + last > len(shape):
        raise ShapeError("its indices do not fit its data")
    return [Type(at.element(), (*indices[:-1], *shape[batch + last :]))]


def expand(at: Site) -> list[Type]:
    return [Type(at.element(), broadcast((at.shape(0), tuple(at.dims(1) or ()))))]


def tile(at: Site) -> list[Type]:
    shape, repeats = at.shape(0), at.dims(1) or []
    if len(repeats) != len(shape):
        raise ShapeError(f"it names {len(repeats)} repeats for {len(shape)} dimensions")
    return [Type(at.element(), tuple(d.mul(a, b) for a, b in zip(shape, repeats, strict=True)))]


def pad(at: Site) -> list[Type]:
    shape = list(at.shape(0))
    numbers = at.numbers("pads") or at.numbers("paddings")
    pads: list[Dim] = list(numbers) if numbers is not None else (at.dims(1) or [])
    axes = at.axes(len(shape), 3) or tuple(range(len(shape)))
    if len(pads) != 2 * len(axes):
        raise ShapeError(f"it names {len(pads)} pads for {len(axes)} dimensions")
    for i, axis in enumerate(axes):
        shape[axis] = d.add(shape[axis], d.add(pads[i], pads[len(axes) + i]))
    return [Type(at.element(), tuple(shape))]


def reduced(at: Site) -> list[Type]:
    shape = at.shape(0)
    keep = at.number("keepdims", 1)
    try:
        axes = at.axes(len(shape), 1)
    except NotKnown as error:
        count = d.product(at.shape(1))
        raise NotKnown(str(error), _reduced_at_most(at, shape, 0 if keep else count)) from None
    if axes is None or not axes:
        axes = () if at.number("noop_with_empty_axes", 0) else tuple(range(len(shape)))
    return [Type(at.element(), tuple(1 if i in axes else dim for i, dim in enumerate(shape) if keep or i not in axes))]


def _reduced_at_most(at: Site, shape: Shape, gone: Dim) -> list[Type]:
    """Return the greatest shape if this many unknown dimensions are dropped: a remaining one was at most that many places further back."""
    if not isinstance(gone, int) or gone > len(shape):
        return []
    if not gone:  # each of them may have become 1, which is more than 0
        return [Type(at.element(), tuple(d.most(dim, 1) for dim in shape))]
    left = range(len(shape) - gone)
    return [Type(at.element(), tuple(reduce(d.most, shape[i : i + gone + 1]) for i in left))]


def arg_reduced(at: Site) -> list[Type]:
    shape = at.rank(0, 1)
    axis, keep = at.axis(len(shape), 0), at.number("keepdims", 1)
    return [Type(INT64, (*shape[:axis], *((1,) if keep else ()), *shape[axis + 1 :]))]


def top_k(at: Site) -> list[Type]:
    shape = at.rank(0, 1)
    axis = at.axis(len(shape), -1)
    dims = at.dims(1)
    count: Dim = dims[0] if dims else at.number("k", 0)
    found = (*shape[:axis], count, *shape[axis + 1 :])
    return [Type(at.element(), found), Type(INT64, found)]


def depth_to_space(at: Site) -> list[Type]:
    n, c, h, w = at.rank(0, 4)[:4]
    b = at.number("blocksize", 0)
    return [Type(at.element(), (n, d.down(c, b * b), d.mul(h, b), d.mul(w, b)))]


def space_to_depth(at: Site) -> list[Type]:
    n, c, h, w = at.rank(0, 4)[:4]
    b = at.number("blocksize", 0)
    return [Type(at.element(), (n, d.mul(c, b * b), d.down(h, b), d.down(w, b)))]


def one_hot(at: Site) -> list[Type]:
    shape, depth = at.shape(0), at.dims(1) or [0]
    axis = at.axis(len(shape) + 1, -1)
    return [Type(at.element(2), (*shape[:axis], depth[0], *shape[axis:]))]


def resize(at: Site) -> list[Type]:
    """Resize and Upsample: by sizes, or by factors."""
    shape = at.shape(0)
    axes = at.numbers("axes")
    axes = tuple(range(len(shape))) if axes is None else tuple(axis_of(axis, len(shape)) for axis in axes)
    found = list(shape)
    if at.has(3):
        sizes = at.dims(3) or []
        if len(sizes) != len(axes):
            raise ShapeError(f"it names {len(sizes)} sizes for {len(axes)} dimensions")
        return [Type(at.element(), _resized(at, shape, axes, sizes))]
    source = 2 if len(at.inputs) > 2 else 1
    factors = at.floats("scales") or at.content(source)
    if factors is None or len(factors) != len(axes):
        raise ShapeError("it needs sizes, or a factor for each dimension")
    for axis, factor in zip(axes, factors, strict=True):
        if not isinstance(factor, int | float):
            raise NotKnown(f"its result depends on a factor that has several values (input {source})")
        found[axis] = _scaled(at, shape[axis], factor)
    return [Type(at.element(), tuple(found))]


def _resized(at: Site, shape: Shape, axes: tuple[int, ...], sizes: list[Dim]) -> Shape:
    found = list(shape)
    policy = at.text("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch" and axes:
        numbers = [(shape[axis], size) for axis, size in zip(axes, sizes, strict=True)]
        if not all(isinstance(a, int) and isinstance(b, int) and a for a, b in numbers):
            raise ShapeError("to keep proportions, it needs sizes that are numbers")
        factors = [b / a for a, b in numbers]  # type: ignore[operator]
        factor = min(factors) if policy == "not_larger" else max(factors)
        sizes = [_times(a, factor, 0.5) for a, _ in numbers]  # type: ignore[arg-type]
    for axis, size in zip(axes, sizes, strict=True):
        found[axis] = size
    return tuple(found)


def _scaled(at: Site, dim: Dim, factor: float) -> Dim:
    if not 0 < factor < 1 << 31:
        raise ShapeError(f"a factor of {factor}")
    if isinstance(dim, int):
        return _times(dim, factor)
    digits, (above, below) = DIGITS[FLOAT][0], factor.as_integer_ratio()
    most = bounds(dim, at.box)[1] * (above // (above & -above))
    if most > 1 << digits:  # the dimension and the product may be rounded up
        above, below = (factor + ldexp(3, frexp(factor)[1] - digits)).as_integer_ratio()
    return d.down(d.mul(dim, above), below)


def _times(dim: int, factor: float, more: float = 0) -> int:
    """Return the product, rounded down after `more` is added: the greater one of those that single and double precision give."""
    single = rounded(rounded(factor, FLOAT) * rounded(dim, FLOAT), FLOAT)
    return floor(max(single, dim * factor) + more)


def center_crop_pad(at: Site) -> list[Type]:
    shape = list(at.shape(0))
    sizes = at.dims(1) or []
    axes = at.numbers("axes")
    where = tuple(range(len(shape))) if axes is None else tuple(axis_of(axis, len(shape)) for axis in axes)
    for axis, size in zip(where, sizes, strict=False):
        shape[axis] = size
    return [Type(at.element(), tuple(shape))]


def col2im(at: Site) -> list[Type]:
    x, image, block = at.rank(0, 3), at.dims(1) or [], at.dims(2) or []
    return [Type(at.element(), (x[0], d.down(x[1], d.product(block)), *image))]
