"""A pool's rectangles. With very many the picture would be too large to open, and many are smaller than a pixel: these are drawn together, without names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..model.deadline import in_time, look
from ..model.problem import Buffer, Lifetimes
from .coverage import LEVELS, coloured, shares
from .demand import DRAWING
from .frame import LEFT, Frame, number, safe
from .memory_map import Box, MemoryMap, PoolMap
from .style import LIGHT, colours_of
from .ticks import grouped, short_bytes

FEW, MOST = 2_000, 10_000
"""The most rectangles that are all drawn one by one, in all pools together; and the most of those that are larger than a pixel."""
OUTLINED = 6
"""The least width and height with an outline, in pixels: of smaller ones it would hide the kind."""
MOST_FILLED = 0.25
"""The greatest share of all that is drawn that is filled because it lies elsewhere: of more the kinds could no longer be seen."""
WENT = len(LIGHT)
"""Beyond the colours of kinds: what lies elsewhere in another plan."""
LONGEST_NAME = 200
LEAST = 1.0
"""The least width and height of what is drawn by itself, in pixels."""
SHADES = 3
"""Shades of each colour, to distinguish neighbours."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The numbers of the buffers that lie elsewhere in another plan."""

    outlined: Set[int] = frozenset()
    filled: Set[int] = frozenset()
    """Those with the outline's colour where there is no room for an outline."""


NOTHING_MOVED = Moved()


@dataclass(frozen=True, slots=True)
class Chosen:
    """The boxes of a pool that are drawn one by one, and those drawn together."""

    single: tuple[Box, ...]
    together: tuple[Box, ...]


def least_area(drawn: MemoryMap) -> int | None:
    """Return the area above which rectangles can be drawn one by one; None: all are, since they are few."""
    count = sum(len(pool.boxes) for pool in drawn.pools)
    if count <= FEW:
        return None
    look(DRAWING)
    if count <= MOST:
        return 0
    return sorted((_area(box, drawn) for pool in drawn.pools for box in pool.boxes), reverse=True)[MOST]


def chosen(drawn: MemoryMap, pool: PoolMap, frame: Frame, least: int | None) -> Chosen:
    """Return which of a pool's boxes are drawn one by one: all faulty ones, and those that are large enough and have a pixel."""
    if least is None:
        return Chosen(pool.boxes, ())
    bad = bad_buffers(drawn)
    single: list[Box] = []
    together: list[Box] = []
    for box in in_time(pool.boxes, DRAWING):
        has_pixel = min(_extent(box, drawn, frame)) >= 1
        is_single = (has_pixel and _area(box, drawn) > least) or box.buffer in bad
        (single if is_single else together).append(box)
    return Chosen(tuple(single), tuple(together))


def marks(drawn: MemoryMap, pool: PoolMap, frame: Frame, moved: Set[int]) -> Moved:
    """Return how moved buffers are marked: small ones are not filled if too much would be."""
    whole = small = 0
    for box in in_time(pool.boxes if moved else (), DRAWING):
        area = _area(box, drawn)
        whole += area
        if box.buffer in moved and min(_extent(box, drawn, frame)) < OUTLINED:
            small += area
    return Moved(moved, moved if small <= MOST_FILLED * whole else frozenset())


def _extent(box: Box, drawn: MemoryMap, frame: Frame) -> tuple[float, float]:
    """Return width and height in pixels."""
    top = box.low + drawn.buffers[box.buffer].size
    return frame.x(box.end) - frame.x(box.start), frame.y(box.low) - frame.y(top)


def bad_buffers(drawn: MemoryMap) -> set[int]:
    """Return the numbers of the buffers that findings name."""
    ids = {id_ for finding in drawn.wrong for id_ in finding.buffers}
    return {number for number, buffer in enumerate(drawn.buffers) if ids and buffer.id in ids}


def boxes(drawn: MemoryMap, these: Chosen, frame: Frame, moved: Moved) -> Iterator[str]:
    """Return the pool's rectangles; those of moved buffers have an outline, or its colour if they are too small for one."""
    yield from _together(drawn, these.together, frame, moved.filled)
    bad = bad_buffers(drawn)
    colours = colours_of(drawn.kinds)
    outlined = bad | moved.outlined
    ordered = sorted(these.single, key=lambda box: box.buffer in outlined) if outlined else these.single
    for box in in_time(ordered, DRAWING):  # neighbours would cover half of an outline
        buffer = drawn.buffers[box.buffer]
        left, right = frame.x(box.start), frame.x(box.end)
        low, high = frame.y(box.low), frame.y(box.low + buffer.size)
        width, height = max(right - left, LEAST), max(low - high, LEAST)
        colour = colours[drawn.kind[box.buffer]]
        has_room = width >= 3 and height >= 3  # a border would hide a smaller one
        has_outline = min(width, height) >= OUTLINED
        went = box.buffer in moved.filled and not has_outline
        classes = f"{'went' if went else f'k{colour}'} s{box.buffer % SHADES}{' box' * has_room}"
        if box.buffer in bad:
            classes += " bad"
        elif box.buffer in moved.outlined and has_outline:
            classes += " moved"
        yield (
            f'<rect class="{classes}" x="{number(left)}" y="{number(high)}" width="{number(width)}" '
            f'height="{number(height)}"><title>{safe(described(buffer, box, drawn))}</title></rect>'
        )


def described(buffer: Buffer, box: Box, drawn: MemoryMap) -> str:
    """Return the text shown by a pointer over the rectangle."""
    name = str(buffer.id)
    name = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    kind = "" if buffer.kind is None else f" ({buffer.kind[:LONGEST_NAME]})"
    when = "no lifetime" if buffer.live is None else f"live {lifetime(box.start, box.end, drawn.lifetimes)}"
    end = box.low + buffer.size
    return f"{name}{kind}: {short_bytes(buffer.size)} at {grouped(box.low)} to {grouped(end)}, {when}"


def lifetime(start: int, end: int, lifetimes: Lifetimes | None) -> str:
    """Return the lifetime in the form of the problem's file."""
    return f"[{start}, {end - 1}]" if lifetimes is Lifetimes.INCLUSIVE else f"[{start}, {end})"


def _area(box: Box, drawn: MemoryMap) -> int:
    return (box.end - box.start) * drawn.buffers[box.buffer].size


def _together(drawn: MemoryMap, small: Sequence[Box], frame: Frame, filled: Set[int]) -> Iterator[str]:
    """Return a path for each colour and level of the pixels that these boxes cover."""
    if not small:
        return
    above = math.floor(frame.above)
    width, height = frame.sheet.inside, math.ceil(frame.below) - above
    colours = colours_of(drawn.kinds)
    edges: dict[int, list[tuple[float, float, float, float]]] = {}
    for box in in_time(small, DRAWING):
        colour = WENT if box.buffer in filled else colours[drawn.kind[box.buffer]]
        top = frame.y(box.low + drawn.buffers[box.buffer].size) - above
        across = frame.x(box.start) - LEFT, frame.x(box.end) - LEFT
        edges.setdefault(colour, []).append((*across, top, frame.y(box.low) - above))
    look(DRAWING)
    by_colour = {colour: shares(np.array(edges[colour]), width, height) for colour in sorted(edges)}
    for colour, level, pixels in coloured(by_colour):
        opacity = "" if level == LEVELS else f' fill-opacity="{level / LEVELS}"'
        kind = "went" if colour == WENT else f"k{colour}"
        yield f'<path class="{kind}" shape-rendering="crispEdges"{opacity} d="{"".join(_runs(pixels, LEFT, above))}"/>'


def _runs(pixels: npt.NDArray[np.bool_], left: int, above: int) -> Iterator[str]:
    """Return a rectangle one pixel wide for neighbours in each column, or one pixel high for those in each row: whichever are fewer."""
    across, down = _ends(pixels), _ends(pixels.T)
    if len(across) <= len(down):
        for y, x1, x2 in across.tolist():
            yield f"M{left + x1} {above + y}h{x2 - x1}v1H{left + x1}"
    else:
        for x, y1, y2 in down.tolist():
            yield f"M{left + x} {above + y1}v{y2 - y1}h1V{above + y1}"


def _ends(pixels: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Return line, begin and end of all neighbours that are set."""
    lines, at = np.nonzero(np.diff(pixels.astype(np.int8), axis=1, prepend=0, append=0))
    return np.stack([lines[::2], at[::2], at[1::2]], axis=1)
