"""The names of rectangles: inside where there is room, and beside them if they are few. A name that says too little is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..model.deadline import in_time
from .demand import DRAWING
from .frame import LEFT, Frame, cut, letters_wide, text
from .memory_map import Box, MemoryMap
from .rectangles import Chosen

HIGH = 13
"""The height of a name, in pixels."""
MOST_BESIDE = 60
"""The most rectangles of a pool that have names beside them."""
LONGEST_BESIDE = 170
"""The most pixels of a name beside its rectangle."""
LETTER = 6.2
EDGE = 4


class Area(NamedTuple):
    """A part of the picture, in pixels."""

    left: float
    right: float
    upper: float
    lower: float

    def meets(self, other: Area) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.upper < other.lower
            and other.upper < self.lower
        )


def names(drawn: MemoryMap, these: Chosen, frame: Frame, limits: Sequence[int | None] = ()) -> Iterator[str]:
    """Return the names, to be drawn above all lines; names beside rectangles keep off the lines at the limits if they can."""
    inside = _telling(drawn, ((box, _inside(drawn, box, frame)) for box in in_time(these.single, DRAWING)))
    for box, name in inside:
        area = _area(drawn, box, frame)
        yield text(area.left + EDGE, area.upper + min((area.lower - area.upper) / 2 + 4, 14), name, "name ink over")
    if len(these.single) + len(these.together) <= MOST_BESIDE:
        named = {box.buffer for box, _ in inside}
        others = (
            (box, cut(drawn.label(box.buffer), LONGEST_BESIDE, LETTER, is_name=True))
            for box in these.single
            if box.buffer not in named
        )
        lines = [_line(at, frame) for at in limits if at]
        taken = [_area(drawn, box, frame) for box in these.single]
        yield from _beside(_telling(drawn, others), drawn, taken, lines, frame)


def _telling(drawn: MemoryMap, candidates: Iterable[tuple[Box, str]]) -> list[tuple[Box, str]]:
    """Return the names without those that were shortened to the same one."""
    found = [(box, name) for box, name in candidates if name]
    said = Counter(name for name in {box.buffer: name for box, name in found}.values())
    return [(box, name) for box, name in found if said[name] == 1 or name == drawn.label(box.buffer)]


def _area(drawn: MemoryMap, box: Box, frame: Frame) -> Area:
    upper = frame.y(box.low + drawn.buffers[box.buffer].size)
    return Area(frame.x(box.start), frame.x(box.end), upper, frame.y(box.low))


def _line(address: int, frame: Frame) -> Area:
    return Area(LEFT, frame.sheet.right, frame.y(address) - 1, frame.y(address) + 1)


def _inside(drawn: MemoryMap, box: Box, frame: Frame) -> str:
    area = _area(drawn, box, frame)
    if area.lower - area.upper < HIGH:
        return ""
    return cut(drawn.label(box.buffer), area.right - area.left - 2 * EDGE, is_name=True)


def _beside(
    wanted: Sequence[tuple[Box, str]], drawn: MemoryMap, taken: list[Area], lines: Sequence[Area], frame: Frame
) -> Iterator[str]:
    """Return each buffer's name once, in free room beside, above or below a rectangle of it."""
    named: set[int] = set()
    for box, name in wanted:
        places = _places(_area(drawn, box, frame), LETTER * letters_wide(name), frame)
        free = [area for area in places if not any(area.meets(other) for other in taken)]
        if free and box.buffer not in named:
            area = min(free, key=lambda area: any(area.meets(line) for line in lines))
            taken.append(area)
            named.add(box.buffer)
            is_left = area.right < frame.x(box.start)
            at, kind = (area.right, "name ink over right") if is_left else (area.left, "name ink over")
            yield text(at, area.lower - 3, name, kind)


def _places(box: Area, width: float, frame: Frame) -> Iterator[Area]:
    """Return where in the field a name may stand: right, left, above, below."""
    left = min(box.left + EDGE, frame.sheet.right - width)
    upper = min(max((box.upper + box.lower - HIGH) / 2, frame.above), frame.below - HIGH)
    places = (
        (box.right + EDGE, upper),
        (box.left - EDGE - width, upper),
        (left, box.upper - HIGH),
        (left, box.lower + 1),
    )
    for x, y in places:
        if LEFT <= x <= frame.sheet.right - width and frame.above <= y <= frame.below - HIGH:
            yield Area(x, x + width, y, y + HIGH)
