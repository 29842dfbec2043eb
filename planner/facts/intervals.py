"""Half-open ranges of time or of addresses, in lists."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import inf

from ..model.columns.ranges import RangeColumns
from ..model.problem import Interval


def merged(ranges: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return the same set of points in as few ranges as possible, in order: touching ranges are joined, empty ones dropped."""
    given = tuple(ranges)
    if _are_merged(given):
        return given
    whole: list[Interval] = []
    for start, end in sorted((start, end) for start, end in given if end > start):
        if whole and start <= whole[-1][1]:
            if end > whole[-1][1]:
                whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return tuple(whole)


def covers(ranges: Iterable[Interval] | None, point: int) -> bool:
    """True if the point is in one of the ranges."""
    return any(start <= point < end for start, end in ranges or ())


def merged_as_held(ranges: Sequence[Interval]) -> Sequence[Interval]:
    """Return the same as `merged`, or the ranges themselves if they are columns, which are merged."""
    return ranges if isinstance(ranges, RangeColumns) else merged(ranges)


def _are_merged(ranges: tuple[Interval, ...]) -> bool:
    """True if the ranges are in order and apart already, as most are."""
    last: float = -inf
    for start, end in ranges:
        if not last < start < end:
            return False
        last = end
    return True


def first_meeting(ranges: Sequence[Interval], start: int, end: int) -> Interval | None:
    """Return one of the merged ranges that overlaps [start, end), or None."""
    if end <= start:
        return None
    at = bisect_right(ranges, start, key=lambda r: r[1])
    return ranges[at] if at < len(ranges) and ranges[at][0] < end else None


def overlap(first: tuple[Interval, ...], second: tuple[Interval, ...]) -> bool:
    """True if two lists of merged ranges have anything in common."""
    a = b = 0
    while a < len(first) and b < len(second):
        if first[a][0] < second[b][1] and second[b][0] < first[a][1]:
            return True
        if first[a][1] <= second[b][1]:
            a += 1
        else:
            b += 1
    return False
