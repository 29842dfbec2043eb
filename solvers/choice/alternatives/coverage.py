"""What is known of the frontier between its points: for which values the cheapest choice is settled, and which are open."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from .points import Point, greater

NARROW = Fraction(1, 100)
"""An open stretch of values is halved until at most this can be gained in it; after that the next point of the stretch is asked for."""
UNKNOWN = Fraction(1 << 62)


class Stretch(NamedTuple):
    """A range of values in which nothing is settled."""

    low: int
    high: int


class Coverage:
    """What the questions so far have settled."""

    def __init__(self) -> None:
        self._settled: list[tuple[int, int | None, int]] = []
        """(first value, last value or None for any, least cost): within this range the cheapest choice is the one of the first value, and costs at least this much."""
        self._closed: list[Stretch] = []
        """Values that are not asked about any more."""
        self._halved: set[int] = set()
        """Ends of stretches whose lower half held no point; the upper half may hold none either."""

    def settle(self, point: Point, value: int | None) -> None:
        """Note that the point is the cheapest among values up to this one."""
        if value is not None and any(low == point.value for low, _, _ in self._settled):
            self._halved.add(value)
        self._settled.append((point.value, value, point.cost_bound))
        self._closed.append(Stretch(point.value, point.value if value is None else value))

    def give_up(self, stretch: Stretch) -> None:
        """Give these values up: asking about them led to nothing."""
        self._closed.append(stretch)

    def reopen(self, proven: Mapping[int, Point]) -> None:
        """Open everything again, except for these points (by value) and what was settled with them at their proven cost."""
        self._closed = [Stretch(value, value) for value in proven]
        self._closed += [
            Stretch(low, low if high is None else high)
            for low, high, cost in self._settled
            if low in proven and cost >= proven[low].cost
        ]

    def next_values(self, points: Sequence[Point]) -> list[tuple[int, Stretch]]:
        """The values to ask about next, each with its stretch, widest gap first; empty if all is settled or was asked."""
        found = []
        for stretch, gain in sorted(self._open(points), key=lambda each: -each[1]):
            is_narrow = gain <= NARROW or stretch.low - 1 in self._halved
            found.append((stretch.high if is_narrow else sum(stretch) // 2, stretch))
        return found

    def _open(self, points: Sequence[Point]) -> Iterator[tuple[Stretch, Fraction]]:
        """The open stretches between the least and the greatest value of the points, and how much a choice in each may gain."""
        gains = _Gains(points, self._settled)
        reached: int | None = None
        for low, high in sorted(self._closed):
            if reached is not None and low > reached + 1:
                gain = gains.at(reached + 1, low - 1)
                yield Stretch(reached + 1, low - 1), UNKNOWN if gain is None else gain
            reached = high if reached is None else max(reached, high)

    def within(self, points: Sequence[Point], least_value: int, costs: Mapping[int, int]) -> Fraction | None:
        """The least share s that is proven: every choice has a point with at most 1 + s times its value and its cost. None if no s is proven.

        No choice has a smaller value than `least_value`; of those up to each value in `costs`, none costs less than is said there.
        """
        limits = [high for _, high, _ in self._settled]
        if not limits:
            return None
        marks = {point.value for point in points} | {high + 1 for high in (*limits, *costs) if high is not None}
        if None not in limits:  # the first question covered all that is allowed
            top = max(high for high in limits if high is not None)
            marks = {mark for mark in marks if mark <= top}
        gains = _Gains(points, [*self._settled, *((high, high, cost) for high, cost in costs.items())])
        worst = Fraction(0)
        for low, above in pairwise([*sorted({least_value, *(mark for mark in marks if mark > least_value)}), None]):
            assert low is not None
            gain = gains.at(low, low if above is None else above - 1)
            if gain is None:
                return None
            worst = max(worst, gain)
        return worst


class _Gains:
    """By what share a choice may improve on every point."""

    def __init__(self, points: Sequence[Point], settled: Iterable[tuple[int, int | None, int]]) -> None:
        self._points = sorted(points, key=lambda point: (point.value, point.cost))
        self._values = [point.value for point in self._points]
        self._cheapest = [*accumulate(self._points, _cheaper)]
        """The cheapest point up to each."""
        of_any = [cost for _, most, cost in settled if most is None]
        known = sorted(((most, cost) for _, most, cost in settled if most is not None), reverse=True)
        self._most = [-most for most, _ in known]
        self._costs = [*accumulate([max(of_any, default=None), *(cost for _, cost in known)], greater)]
        """The least cost of choices with values up to each of `_most`."""

    def at(self, low: int, high: int) -> Fraction | None:
        """By what share choices with values from low to high may improve on the points; None: without limit. No point lies within, and no value was asked for."""
        cost = self._costs[bisect_right(self._most, -high)]
        here = bisect_right(self._values, low)
        if cost is None:
            return None
        best: Fraction | None = None
        for point in (*self._cheapest[max(here - 1, 0) : here], *islice(self._points, here, None)):
            more = _share(point.value, low)
            if best is not None and (more is None or more >= best):
                break  # and so are all larger ones
            gain = _beyond(point, low, cost)
            best = gain if best is None else best if gain is None else min(best, gain)
        return best


def _cheaper(one: Point, other: Point) -> Point:
    return other if other.cost < one.cost else one


def _beyond(point: Point, value: int, cost: int) -> Fraction | None:
    """The greater of the shares by which the point exceeds this value and this cost; None if that is undefined."""
    shares = [_share(point.value, value), _share(point.cost, cost)]
    return None if None in shares else max(share for share in shares if share is not None)


def _share(had: int, possible: int) -> Fraction | None:
    if had <= possible:
        return Fraction(0)
    return Fraction(had, possible) - 1 if possible > 0 else None
