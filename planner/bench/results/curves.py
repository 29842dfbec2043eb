"""Two frontiers of one problem compared: how much of the space between cost and memory each opens, and what is proven."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .records import FrontierPoint, Record


@dataclass(frozen=True, slots=True)
class CurveChange:
    """How a frontier changed."""

    text: str
    is_worse: bool


def curve_changes(before: Record, after: Record) -> Iterator[CurveChange]:
    """Return the differences between the frontiers of two runs, if both have one."""
    if not before.points or not after.points:
        return
    if [_worth(point) for point in before.points] != [_worth(point) for point in after.points]:
        costs, values = zip(*map(_worth, (*before.points, *after.points)), strict=True)
        corner = _beyond(costs), _beyond(values)
        field = (corner[0] - min(costs)) * (corner[1] - min(values))
        gain = Fraction(opened(after.points, corner) - opened(before.points, corner), field)
        what = (
            f"covers {abs(float(gain)):.2%} {'less' if gain < 0 else 'more'} of the field" if gain else "covers as much"
        )
        yield CurveChange(
            f"the frontier had {len(before.points)} points and has {len(after.points)}: it {what}", gain < 0
        )
    proven = [sum(map(is_proven, record.points)) for record in (before, after)]
    if Fraction(proven[0], len(before.points)) != Fraction(proven[1], len(after.points)):
        shown = [f"{count} of {len(record.points)}" for count, record in zip(proven, (before, after), strict=True)]
        worse = Fraction(proven[1], len(after.points)) < Fraction(proven[0], len(before.points))
        yield CurveChange(f"{shown[0]} points proven became {shown[1]}", worse)
    if before.within != after.within and None not in (before.within, after.within):
        shown = [f"{record.within:.2%}" for record in (before, after)]
        yield CurveChange(
            f"what is left out, {shown[0]} at most, became {shown[1]}", (after.within or 0) > (before.within or 0)
        )


def opened(points: Sequence[FrontierPoint], corner: Sequence[int]) -> int:
    """Return the area of costs and values, up to the corner, that some point matches or beats."""
    area, reached = 0, corner[1]
    for cost, value in sorted(map(_worth, points)):
        if cost <= corner[0] and value < reached:
            area += (corner[0] - cost) * (reached - value)
            reached = value
    return area


def is_proven(point: FrontierPoint) -> bool:
    """True if neither its cost nor its value can be less."""
    cost, cost_bound, value, bound = point
    return (cost, value) == (cost_bound, bound)


def _beyond(numbers: Sequence[int]) -> int:
    """Return a little more than the greatest, so that the ends of a frontier open something too."""
    return max(numbers) + max((max(numbers) - min(numbers)) // 10, 1)


def _worth(point: FrontierPoint) -> tuple[int, int]:
    return point[0], point[2]
