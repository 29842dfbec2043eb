"""What a search among choices has found, and what follows for all choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from ...model.errors import StopReason
from .coverage import Coverage
from .known import Known
from .points import Demand, Frontier, Measure, Point, greater, thinned


class Found:
    """The points of one run, and the bounds that they and the answers to questions prove."""

    def __init__(self, known: Known, measure: Measure, demand: Demand) -> None:
        self._known, self._measure, self._demand = known, measure, demand
        self.points = known.points
        self.coverage = Coverage()
        self.is_open = False
        """Was any question left unanswered?"""
        self.least_within: int | None = None
        """A lower bound on the value of every choice within the limits."""
        self.least_value: int | None = None
        """The same for every choice, whatever it costs."""
        self.least_cost: int | None = None
        """A lower bound on the cost of every choice within the limits."""

    def frontier(self, *, is_complete: bool, is_whole: bool = False) -> Frontier:
        """All that was found and is proven. `is_whole`: the whole frontier was asked for, so proven points alone are not enough."""
        points = self.best()
        is_exact = not self.is_open and all(point.is_proven for point in points)
        points = thinned(points, self._demand.points)
        within = self.within(points)
        is_complete = is_complete and is_exact and within == 0
        otherwise = StopReason.PROVED if is_exact and not (is_whole and points) else StopReason.WORK_LIMIT
        return Frontier(
            points=points,
            is_complete=is_complete,
            stop=StopReason.PROVED if is_complete else self._known.stop or otherwise,
            work=self._known.master.work,
            least_value=greater(self.least_within, self._known.supporting.lines.least_value(self._demand.most_cost)),
            least_cost=greater(self.least_cost, self._known.supporting.lines.least_cost(self._demand.most_value)),
            is_impossible=not points and not self.is_open,
            within=within if within or is_complete else None,  # of points that are not all proven nothing is known
        )

    def within(self, points: tuple[Point, ...] | None = None) -> Fraction | None:
        """By what share choices can improve on these points (default: all of them); None if unknown."""
        points = self.best() if points is None else points
        return None if self.least_within is None else self.coverage.within(points, self.least_within, self.costs())

    def costs(self) -> dict[int, int]:
        """For some values: no choice with so small a one costs less than this."""
        lines = self._known.supporting.lines
        costs = {self._measure.least_value(load + 1) - 1: cost for load, cost in self._known.costs.items()}
        for value in (*costs, *lines.values(), *(point.value - 1 for point in self.points)):
            cost = greater(costs.get(value), lines.least_cost(value))
            if cost is not None:
                costs[value] = cost
        return costs

    def best(self) -> tuple[Point, ...]:
        """The points that no other dominates, cheapest first; of equal ones, the one of which most is proven."""
        best: dict[tuple[int, int], Point] = {}
        for point in self.points:
            same = best.setdefault((point.value, point.cost), point)
            if point.is_proven and not same.is_proven:
                best[point.value, point.cost] = point
        kept = [point for point in best.values() if not any(other.dominates(point) for other in self.points)]
        costs = self.costs()
        return tuple(self.with_all_bounds(point, costs) for point in sorted(kept, key=lambda point: point.cost))

    def with_all_bounds(self, point: Point, costs: Mapping[int, int] | None = None) -> Point:
        """The point with the bounds that dearer and larger points prove for it, and all questions about the cheapest."""
        costs = self.costs() if costs is None else costs
        known = [] if self.least_value is None else [self.least_value]
        known += [value + 1 for value, cost in costs.items() if cost > point.cost]
        bound = max([*known, *(other.bound for other in self.points if other.cost >= point.cost)])
        cost_bound = max(
            [
                *(other.cost_bound for other in self.points if other.value >= point.value),
                *(cost for value, cost in costs.items() if value >= point.value),
            ]
        )
        lines = self._known.supporting.lines
        return replace(
            point,
            bound=max(bound, lines.least_value(point.cost) or 0),
            cost_bound=max([cost_bound, *([] if (cost := lines.least_cost(point.value)) is None else [cost])]),
        )
