"""The bytes in use over time: a line, or where it changes more often than pixels can show, the least and the most of each pixel."""

from __future__ import annotations

from collections.abc import Iterator

from .frame import LEFT, Frame, Sheet, number
from .memory_map import MemoryMap, PoolMap

MOST_STEPS = 2
"""The most steps of a line in each pixel."""
BAND = 0.35
"""The opacity of a band."""
LEAST = 0.5
"""The opacity of each pixel's minimum over what is behind it."""


def live_words(drawn: MemoryMap) -> str:
    """Return what the profile shows."""
    return "bytes in use" if drawn.why_empty is None else "bytes needed"


def is_dense(pool: PoolMap, sheet: Sheet) -> bool:
    """True if the bytes in use change so often that their line would cover everything."""
    return len(pool.profile) > MOST_STEPS * sheet.inside


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


def in_use(drawn: MemoryMap, pool: PoolMap, frame: Frame) -> Iterator[str]:
    """Return the bytes in use over time as a line; where there are many changes in a pixel, as a translucent band."""
    if is_dense(pool, frame.sheet):
        band = [column for column in by_pixel(pool, frame) if column[0] < frame.sheet.right]
        over = "".join(f"L{x} {number(frame.y(high))}H{x + 1}" for x, _, high in band)
        under = "".join(f"L{x + 1} {number(frame.y(low))}H{x}" for x, low, _ in reversed(band))
        title = f"<title>{live_words(drawn)}: between the least and the most of each pixel</title>"
        yield f'<path class="ink" fill-opacity="{BAND}" d="M{over[1:]}{under}Z">{title}</path>'
    elif pool.profile:
        path: list[str] = []
        before = ""
        for time, used in pool.profile:
            x, y = number(frame.x(time)), number(frame.y(used))
            if y != before:
                path.append(f"H{x}V{y}" if path else f"M{x} {number(frame.below)}V{y}")
            before = y
        if drawn.why_empty is not None:
            yield f'<path class="ink" fill-opacity="{BAND}" d="{"".join(path)}H{frame.sheet.right}V{number(frame.below)}Z"/>'
        yield f'<path class="live" d="{"".join(path)}"><title>{live_words(drawn)}</title></path>'


def hills(pool: PoolMap, frame: Frame) -> Iterator[str]:
    """Return the bytes in use; with many changes in a pixel, each pixel's maximum and, in front, its minimum."""
    if not is_dense(pool, frame.sheet):
        yield _hill(pool, frame)
        return
    pixels = [pixel for pixel in by_pixel(pool, frame) if pixel[0] < frame.sheet.right]
    for kind, which in (('between"', 2), (f'dot" fill-opacity="{LEAST}"', 1)):
        steps = "".join(f"H{pixel[0]}V{number(frame.y(pixel[which]))}" for pixel in pixels)
        yield f'<path class="{kind} d="M{LEFT} {number(frame.below)}{steps}H{frame.sheet.right}V{number(frame.below)}Z"/>'


def _hill(pool: PoolMap, frame: Frame) -> str:
    path, before = [f"M{number(frame.x(pool.profile[0][0]))} {number(frame.below)}"], ""
    for time, used in pool.profile:
        y = number(frame.y(used))
        if y != before:
            path.append(f"H{number(frame.x(time))}V{y}")
        before = y
    return f'<path class="between" d="{"".join(path)}H{frame.sheet.right}V{number(frame.below)}Z"/>'
