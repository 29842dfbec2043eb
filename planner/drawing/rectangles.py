"""A pool's rectangles. With very many the picture would be too large to open, so the smallest are drawn together, without names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np

from ..model.deadline import in_time, look
from ..model.problem import Buffer, Lifetimes
from .demand import DRAWING
from .frame import LEFT, Frame, cut, number, safe, text
from .memory_map import Box, MemoryMap
from .style import NO_KIND, colours_of
from .ticks import grouped, short_bytes

MOST = 10_000
"""The most rectangles drawn one by one, in all pools together."""
LONGEST_NAME = 200
SHADES = 3
"""Shades of each colour, to distinguish neighbours."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The boxes of a pool that are drawn one by one, and those drawn together."""

    single: tuple[Box, ...]
    together: tuple[Box, ...]


def chosen(drawn: MemoryMap) -> list[Chosen]:
    """Return the choice for each pool: the largest boxes, and all faulty ones, are drawn one by one."""
    count = sum(len(pool.boxes) for pool in drawn.pools)
    if count <= MOST:
        return [Chosen(pool.boxes, ()) for pool in drawn.pools]
    look(DRAWING)
    bad = bad_buffers(drawn)
    areas = sorted((_area(box, drawn) for pool in drawn.pools for box in pool.boxes), reverse=True)
    least = areas[MOST]
    found = []
    for pool in drawn.pools:
        look(DRAWING)
        single = tuple(box for box in pool.boxes if _area(box, drawn) > least or box.buffer in bad)
        known = set(single)
        look(DRAWING)
        found.append(Chosen(single, tuple(box for box in pool.boxes if box not in known)))
    return found


def bad_buffers(drawn: MemoryMap) -> set[int]:
    """Return the numbers of the buffers that findings name."""
    ids = {id_ for finding in drawn.wrong for id_ in finding.buffers}
    return {number for number, buffer in enumerate(drawn.buffers) if ids and buffer.id in ids}


def boxes(drawn: MemoryMap, these: Chosen, frame: Frame, moved: Set[int] = frozenset()) -> Iterator[str]:
    """Return the pool's rectangles; those of moved buffers have an outline, or its colour if they are too small for one."""
    yield from _together(drawn, these.together, frame, moved)
    bad = bad_buffers(drawn)
    colours = colours_of(drawn.kinds)
    outlined = bad | moved
    ordered = sorted(these.single, key=lambda box: box.buffer in outlined) if outlined else these.single
    for box in in_time(ordered, DRAWING):  # neighbours would cover half of an outline
        buffer = drawn.buffers[box.buffer]
        left, right = frame.x(box.start), frame.x(box.end)
        low, high = frame.y(box.low), frame.y(box.low + buffer.size)
        width, height = max(right - left, 0.5), max(low - high, 0.5)
        colour = colours[drawn.kind[box.buffer]]
        has_room = width >= 3 and height >= 3  # a border would hide a smaller one
        went = box.buffer in moved and not has_room
        classes = f"{'went' if went else f'k{colour}'} s{box.buffer % SHADES}{' box' * has_room}"
        if box.buffer in bad:
            classes += " bad"
        elif box.buffer in moved and has_room:
            classes += " moved"
        yield (
            f'<rect class="{classes}" x="{number(left)}" y="{number(high)}" width="{number(width)}" '
            f'height="{number(height)}"><title>{safe(described(buffer, box, drawn))}</title></rect>'
        )


def names(drawn: MemoryMap, these: Chosen, frame: Frame) -> Iterator[str]:
    """Return the names of rectangles with room for them, to be drawn above all lines."""
    for box in in_time(these.single, DRAWING):
        left, high = frame.x(box.start), frame.y(box.low + drawn.buffers[box.buffer].size)
        width, height = frame.x(box.end) - left, frame.y(box.low) - high
        name = cut(drawn.label(box.buffer), width - 8, is_name=True) if height >= 13 else ""
        if name:
            yield text(left + 4, high + min(height / 2 + 4, 14), name, "name ink over")


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


def _together(drawn: MemoryMap, small: Sequence[Box], frame: Frame, moved: Set[int]) -> Iterator[str]:
    """Return one path of each colour over the pixels that these boxes touch."""
    if not small:
        return
    left, above = LEFT, math.floor(frame.above)
    grid = np.zeros((math.ceil(frame.below) - above + 1, frame.sheet.width - left + 1), dtype=np.uint8)
    colours = colours_of(drawn.kinds)
    went = NO_KIND + 1
    for box in in_time(sorted(small, key=lambda box: box.buffer in moved), DRAWING):  # what moved is drawn last
        x1, x2 = int(frame.x(box.start)) - left, round(frame.x(box.end)) - left
        y1 = int(frame.y(box.low + drawn.buffers[box.buffer].size)) - above
        y2 = round(frame.y(box.low)) - above
        colour = went if box.buffer in moved else colours[drawn.kind[box.buffer]]
        grid[y1 : max(y2, y1 + 1), x1 : max(x2, x1 + 1)] = colour + 1
    for colour in np.unique(grid[grid > 0]).tolist():
        runs = []
        for y, row in enumerate(grid == colour):
            edges = np.flatnonzero(np.diff(row.astype(np.int8), prepend=0, append=0)).tolist()
            runs += [
                f"M{left + x1} {above + y}h{x2 - x1}v1H{left + x1}" for x1, x2 in zip(*[iter(edges)] * 2, strict=True)
            ]
        yield f'<path class="{"went" if colour == went + 1 else f"k{colour - 1}"}" d="{"".join(runs)}"/>'
