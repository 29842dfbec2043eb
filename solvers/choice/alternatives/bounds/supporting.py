"""Supports the bounds of points by what anybody can work out again: all choices are tried in the order of time and, where that shows less, prices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from ....model.errors import StopReason
from ..points import Measure, Point
from .lines import Asked, Line, Lines, Prices, Step

SHARE = 16
"""The part of the work so far that this may take,"""
SHARE_OF_ALL = 8
"""and the part of all work, once the rest is done; then half of what is left, if that is more."""
WORK_OF_PRICES = 2_000_000
"""The most work for one question about prices."""
HALVINGS = 4
"""How often the gap between a point and its bound of memory is halved."""

Stopped: TypeAlias = Callable[[], StopReason | None]


class Tried(NamedTuple):
    """What trying all choices within some value shows, and the work."""

    step: Step | None
    work: int


class Asks(Protocol):
    """Asks for prices, and counts the work of all."""

    work: int

    @property
    def work_in_all(self) -> int | None:
        """All work that is allowed; None without limit."""

    def prices(self, asked: Asked, work: int) -> Prices | None:
        """Prices that prove much about this, if they are found within this much work."""


class Prover(Protocol):
    """Works out exactly what is proven."""

    def prove(self, prices: Prices) -> Line | None:
        """What these prices prove; None if that is nothing."""

    def sweep(self, value: int) -> Tried:
        """What trying all choices within this value shows; None if that would be too much."""


class Supporting:
    """One run."""

    def __init__(self, master: Asks, measure: Measure, prover: Prover | None, stopped: Stopped) -> None:
        self._master, self._measure, self._prover, self._stopped = master, measure, prover, stopped
        self.lines = Lines()
        """What is proven."""
        self._priced = set[Asked]()
        self._swept = set[int]()
        self._work = 0

    def points(self, points: Sequence[Point], *, of_all: bool = False) -> None:
        """Support the bounds of these points, while that takes no more than a share of the work so far (`of_all`: of all that is allowed).

        Of many, the ends come first, and then what is open. What costs more with a byte less supports the cost of the next point, too, and comes first.
        """
        if of_all:
            points = [*points[:1], *points[-1:], *sorted(_spread(points[1:-1]), key=lambda point: point.is_proven)]
        for point in points:
            self._shows_more(point.cost, point.value - 1, of_all=of_all)
        for point in points:
            self.cost(point.value, point.cost, point.cost_bound, of_all=of_all)
        for point in points:
            self.memory(point.cost, point.value, point.bound, of_all=of_all)

    def least_cost(self, most_value: int | None, points: Sequence[Point], bound: int | None) -> None:
        """Support the least cost within this value; the first of the points costs least."""
        if points:
            self.cost(most_value, points[0].cost, bound, of_all=True)

    def least_value(self, most_cost: int | None, points: Sequence[Point], bound: int | None) -> None:
        """Support the least value within this cost; the last of the points needs least."""
        if points:
            self.memory(most_cost, points[-1].value, bound or 0, of_all=True)

    def cost(self, most_value: int | None, cost: int, bound: int | None, *, of_all: bool = False) -> None:
        """Support that no choice within this value costs less than the bound; `cost` is what one is known to cost."""

        def shown() -> int | None:
            return self.lines.least_cost(most_value)

        if not _reaches(shown(), cost) and most_value is not None and not self._is_over(of_all=of_all):
            self._sweep(most_value)
        if bound is None or not _reaches(shown(), bound):
            self._price(Asked(True, most_value), of_all=of_all)

    def memory(self, most_cost: int | None, value: int, bound: int, *, of_all: bool = False) -> None:
        """Support that no choice within this cost needs less than the bound; `value` is what one is known to need."""
        low, high = max(bound, self.lines.least_value(most_cost) or 0), value
        """More than `low` - 1 is needed, and perhaps more than `high` - 1."""
        if low < high and self._shows_more(most_cost, high - 1, of_all=of_all):
            return
        high -= 1
        if not _reaches(self.lines.least_value(most_cost), bound) and self._shows_more(
            most_cost, bound - 1, of_all=of_all
        ):
            low = max(low, bound)
        for _ in range(HALVINGS if _reaches(self.lines.least_value(most_cost), low) else 0):
            middle = (low + high) // 2
            if not low < middle < high:
                break
            if self._shows_more(most_cost, middle - 1, of_all=of_all):
                low = middle
            else:
                high = middle
        if not _reaches(self.lines.least_value(most_cost), max(bound, 1)):
            self._price(Asked(False, most_cost), of_all=of_all)

    def _shows_more(self, most_cost: int | None, value: int, *, of_all: bool) -> bool:
        """Does every choice within the cost need more than this?"""
        if not _reaches(self.lines.least_value(most_cost), value + 1) and not self._is_over(of_all=of_all):
            self._sweep(value)
        return _reaches(self.lines.least_value(most_cost), value + 1)

    def _sweep(self, value: int) -> None:
        if self._prover is None or value in self._swept:
            return
        self._swept.add(value)
        tried = self._prover.sweep(value)
        self._count(tried.work)
        if tried.step is not None:
            self.lines.lines.append(tried.step)

    def _price(self, asked: Asked, *, of_all: bool) -> None:
        if self._prover is None or asked in self._priced or self._is_over(of_all=of_all):
            return
        self._priced.add(asked)
        before = self._master.work
        load = asked.most if asked.most is None or not asked.for_cost else self._measure.most_load(asked.most)
        prices = self._master.prices(Asked(asked.for_cost, load), WORK_OF_PRICES)
        self._work += self._master.work - before
        line = None if prices is None else self._prover.prove(prices)
        if line is not None and line not in self.lines.lines:
            self.lines.lines.append(line)

    def _count(self, work: int) -> None:
        self._work += work
        self._master.work += work

    def _is_over(self, *, of_all: bool) -> bool:
        """True if there is no time or work for it. That all other work is used up does not matter."""
        stopped, in_all = self._stopped(), self._master.work_in_all
        most = self._master.work // SHARE
        if of_all and in_all is not None:
            left = in_all - (self._master.work - self._work)
            most = max(in_all // SHARE_OF_ALL, left // 2)
        is_stopped = stopped is not None and not stopped.is_repeatable
        return self._prover is None or is_stopped or self._work >= most


def _reaches(shown: int | None, wanted: int) -> bool:
    return shown is not None and shown >= wanted


def _spread(points: Sequence[Point]) -> list[Point]:
    """The middle one first, then those in the middle of what lies to either side, and so on."""
    halves, found = [points], list[Point]()
    for part in halves:
        if part:
            middle = len(part) // 2
            found.append(part[middle])
            halves += [part[:middle], part[middle + 1 :]]
    return found
