"""Crowds of rows whose classes may be divided, in Python (see ../plain.py)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from .lifting import WHOLE, lifted_covers

Range: TypeAlias = tuple[int, int]
Floats: TypeAlias = Sequence[float]
Ints: TypeAlias = Sequence[int]
Line: TypeAlias = tuple[float, float]


class CrowdLines:
    """Lines above what crowds have room for."""

    def __init__(self) -> None:
        self._crowds = list[tuple[int, Ints, Ints, Ints]]()

    def add(self, pool: int, columns: Ints, votes: Ints, steps: Ints) -> None:
        self._crowds.append((pool, columns, votes, steps))

    def lines(self, ranges: Sequence[Range], at: Floats, begin: int) -> list[Line]:
        return [_line_above(steps, ranges[pool], at[pool]) for pool, _, _, steps in self._crowds[begin:]]

    def broken(
        self, shares: Floats, ranges: Sequence[Range], at: Floats, least: float
    ) -> list[tuple[int, float, float]]:
        found = []
        for number, (pool, columns, votes, steps) in enumerate(self._crowds):
            line = _line_above(steps, ranges[pool], at[pool])
            allowed = _value_at(line, ranges[pool], at[pool])
            inside = _sum(shares[column] * count for column, count in zip(columns, votes, strict=True))
            if inside - allowed > least * max(allowed, 1.0):
                found.append((number, *line))
        return found


class DividedRows:
    """Rows with classes that may be divided."""

    def __init__(self, rows: Sequence[tuple[int, int, Ints, Ints]]) -> None:
        self._rows = rows

    def covers(
        self, shares: Floats, ranges: Sequence[Range], at: Floats, tops: Ints, rooms: Sequence[Ints], least: float
    ) -> list[tuple[int, float, list[tuple[int, int]], list[int]]]:
        found = []
        for number, (pool, base, units, columns) in enumerate(self._rows):
            there = [shares[column] for column in columns]
            if sum(each for each, share in zip(units, there, strict=True) if share > WHOLE) <= tops[pool] - base:
                continue  # all that is there in part is below the peak
            for room in rooms[pool]:
                for votes, most in lifted_covers(units, there, room - base):
                    steps = [base + each for each in most]
                    allowed = _value_at(_line_above(steps, ranges[pool], at[pool]), ranges[pool], at[pool])
                    excess = (_sum(there[place] * count for place, count in votes) - allowed) / max(allowed, 1.0)
                    if excess > least:
                        found.append((number, excess, votes, steps))
        return found


def _line_above(steps: Ints, within: Range, at: float) -> Line:
    """Of the line above all that the steps allow in this range, which touches it where that is least at `at`."""
    low, high = within
    first, last = bisect_right(steps, low), bisect_right(steps, high)
    hull = [(low, first)]
    for number in range(first, last):
        point = (steps[number], number + 1)
        if point[0] == hull[-1][0]:
            hull[-1] = point
            continue
        while len(hull) > 1 and _is_below(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    for (x, votes), (after, more) in pairwise(hull):
        if at <= after:
            slope = (more - votes) / (after - x)
            return votes - slope * (x - low), slope
    return float(last), 0.0


def _is_below(one: tuple[int, int], middle: tuple[int, int], other: tuple[int, int]) -> bool:
    return (middle[1] - one[1]) * (other[0] - one[0]) <= (other[1] - one[1]) * (middle[0] - one[0])


def _value_at(line: Line, within: Range, at: float) -> float:
    value, slope = line
    return value + slope * (at - within[0])


def _sum(numbers: Iterable[float]) -> float:
    """Added up one after the other: from Python 3.12 on `sum` makes up for what is rounded."""
    total = 0.0
    for each in numbers:
        total += each
    return total
