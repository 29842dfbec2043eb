"""The bytes in use over time: a line, or where they change more often than pixels can show, the least and the most of each pixel, beside the map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from .frame import LEFT, LETTER, Frame, Sheet, line, number, text
from .memory_map import MemoryMap, PoolMap
from .ticks import grouped

MOST_STEPS, MOST_OVER = 2, 0.25
"""The most steps of a line in each pixel: of any, and of one over a map."""
STRIP, STRIP_GAP = 48, 8
"""The height of the strip above a map, and the distance between them."""
OF_MAPS = 'class="ink" fill-opacity="0.25"', 'class="ink" fill-opacity="0.4"'
"""How areas are filled: up to the most of each pixel, and in front up to the least."""
FAINT_AND_STRONG = "faint: the most of each pixel, strong: the least"


def live_words(drawn: MemoryMap) -> str:
    """Return what the profile shows."""
    return "bytes in use" if drawn.why_empty is None else "bytes needed"


def is_dense(pool: PoolMap, sheet: Sheet) -> bool:
    """True if the bytes in use change more often than pixels can show."""
    return _changes_more_than(MOST_STEPS * sheet.inside, pool)


def _changes_more_than(count: float, pool: PoolMap) -> bool:
    if len(pool.profile) <= count:
        return False
    return sum(used != before for (_, before), (_, used) in pairwise(pool.profile)) > count


def is_beside(drawn: MemoryMap, pool: PoolMap, sheet: Sheet) -> bool:
    """True if the bytes in use stand in a strip above the map, since their line would hide too much of it."""
    return drawn.why_empty is None and _changes_more_than(MOST_OVER * sheet.inside, pool)


def by_pixel(pool: PoolMap, frame: Frame) -> Iterator[tuple[int, int, int]]:
    """Return, for every pixel of the profile, its position and the least and most bytes in use within it."""
    at, low, high, used = int(frame.x(pool.profile[0][0])), pool.profile[0][1], pool.profile[0][1], pool.profile[0][1]
    for time, now in pool.profile[1:]:
        x = int(frame.x(time))
        if x > at:
            yield at, low, high
            if x > at + 1:
                yield x - 1, used, used
            at, low, high = x, used, used
        low, high, used = min(low, now), max(high, now), now
    yield at, low, high
    yield at + 1, used, used  # until the axis ends


def in_use(drawn: MemoryMap, pool: PoolMap, frame: Frame) -> Iterator[str]:
    """Return the bytes in use as a line; where nothing fits, also the area below, which is what is needed."""
    if not pool.profile:
        return
    if is_dense(pool, frame.sheet):
        yield from hills(pool, frame, OF_MAPS)
        return
    path: list[str] = []
    before = ""
    for time, used in pool.profile:
        x, y = number(frame.x(time)), number(frame.y(used))
        if y != before:
            path.append(f"H{x}V{y}" if path else f"M{x} {number(frame.below)}V{y}")
        before = y
    if drawn.why_empty is not None:
        yield f'<path {OF_MAPS[0]} d="{"".join(path)}H{frame.sheet.right}V{number(frame.below)}Z"/>'
    yield f'<path class="live" d="{"".join(path)}"><title>{live_words(drawn)}</title></path>'


def strip_height(drawn: MemoryMap, pool: PoolMap, sheet: Sheet) -> float:
    """Return the room for the strip, if there is one."""
    return STRIP + STRIP_GAP if is_beside(drawn, pool, sheet) else 0


def strip(drawn: MemoryMap, pool: PoolMap, frame: Frame) -> Iterator[str]:
    """Return the strip, on the map's scale of time."""
    above = replace(frame, above=frame.above - STRIP - STRIP_GAP, height=STRIP)
    yield f'<rect class="field" x="{LEFT}" y="{number(above.above)}" width="{frame.sheet.inside}" height="{STRIP}"/>'
    yield text(LEFT - 8, above.above + STRIP / 2 + 4, "in use", "soft right")
    yield from hills(pool, above, OF_MAPS) if is_dense(pool, frame.sheet) else [_hill(pool, above, OF_MAPS[1])]
    if pool.bound:
        yield line(LEFT, above.y(pool.bound), frame.sheet.right, above.y(pool.bound), "bound")
    when, most = max(pool.profile, key=lambda step: step[1])
    label = f"most at {grouped(when)}"
    room = LETTER * len(label) / 2
    at = min(max(frame.x(when), LEFT + room), frame.sheet.right - room)
    yield text(at, above.y(most) + 14, label, "name ink over mid")


def hills(pool: PoolMap, frame: Frame, fills: tuple[str, str]) -> Iterator[str]:
    """Return the bytes in use as an area; with many changes in a pixel, each pixel's maximum and, in front, its minimum."""
    if not is_dense(pool, frame.sheet):
        yield _hill(pool, frame, fills[0])
        return
    pixels = [pixel for pixel in by_pixel(pool, frame) if pixel[0] < frame.sheet.right]
    for fill, which in zip(fills, (2, 1), strict=True):
        steps = "".join(f"H{pixel[0]}V{number(frame.y(pixel[which]))}" for pixel in pixels)
        yield f'<path {fill} d="M{LEFT} {number(frame.below)}{steps}H{frame.sheet.right}V{number(frame.below)}Z"/>'


def _hill(pool: PoolMap, frame: Frame, fill: str) -> str:
    path, before = [f"M{number(frame.x(pool.profile[0][0]))} {number(frame.below)}"], ""
    for time, used in pool.profile:
        y = number(frame.y(used))
        if y != before:
            path.append(f"H{number(frame.x(time))}V{y}")
        before = y
    return f'<path {fill} d="{"".join(path)}H{frame.sheet.right}V{number(frame.below)}Z"/>'
