"""Searches the frontier where there are several memories and many choices: bounds come from bytes that may be anywhere, plans from whole blocks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from ..instance import Answer
from ..known import Known
from ..points import Demand, Measure, More, OnPoint, Point
from ..search import Search
from .making import Made, Making, Plea

STEPS = (256, 64, 32, 16, 8)
"""The least plan is sought within a value that is greater than what bytes need by 1/STEPS."""
FAR = 60
"""At first a plan is enough if it costs 1/FAR more than the least, and no more than the least for a value that is 1/FAR less."""
CLOSE = 300
"""A point's bound of memory is raised until at most 1/CLOSE is open, or for QUESTIONS questions."""
QUESTIONS = 3


class LargeSearch(Search):
    """One run."""

    def __init__(
        self, known: Known, measure: Measure, demand: Demand, more: More, on_point: OnPoint, making: Making
    ) -> None:
        super().__init__(known, measure, demand, more, on_point)
        self._making = making
        self._made: dict[int, Made] = {}
        """The plans by the value that they were made for."""
        self._now: dict[int, Point] = {}
        """The points of this round, by the values that they were made for and have."""

    def _lowest(self) -> int | None:
        """The least value of a plan, or nearly; None if none was made."""
        choice, least = self._known.lightest(self._demand.most_cost, self._most_load(self._demand.most_value), None)
        if choice is None or least is None:
            return super()._lowest()
        bound = self._measure.least_value(least)
        self._least_within = bound
        self._least_value = bound if self._demand.most_cost is None else None
        for step in STEPS:
            value = bound + bound // step
            point = self._cheapest(value)
            if point is not None or self._known.is_over():
                return None if point is None else point.value
        return super()._lowest()

    def _cheapest(self, value: int | None) -> Point | None:
        """Make and note a plan of about this value, for little more than the least cost."""
        if value is None:
            return super()._cheapest(value)
        known = self._before.get(value, self._now.get(value))
        if known is not None:
            return known
        answer = self._known.cheapest(self._measure.most_load(value))
        if answer is None or answer.choice is None or answer.bound is None:
            self._is_open = self._is_open or answer is None or not answer.is_impossible
            return None
        plea = self._plea(value, answer)
        made = None if plea is None else self._making.make(plea)
        self._is_open = True
        if plea is None or made is None:
            return None
        self._made[value] = made
        if self._points and self._known.is_over() and made.is_poor(plea):
            return None
        most_cost, most_value = self._demand.most_cost, self._demand.most_value
        if (most_cost is not None and made.cost > most_cost) or (most_value is not None and made.value > most_value):
            return None
        reached = max(value, made.value)
        within = answer if reached == value else self._known.cheapest(self._measure.most_load(reached))
        least = None if within is None else within.bound
        cost_bound = self._master.choices.least_cost if least is None else least
        point = self._note(Point(made.assigned.choice, made.value, made.cost, 0, cost_bound), reached)
        self._raise_bound(point)
        self._now |= {value: point, reached: point, made.value: point}
        return point

    def _again(self, *, is_whole: bool) -> bool:
        self._now = {}
        return super()._again(is_whole=is_whole)

    def _foresee(self, values: Sequence[int]) -> None:
        """Give two choices memories side by side."""
        values = [value for value in values if value not in self._before and value not in self._now][:2]
        if len(values) < 2:
            return
        self._known.foresee([self._measure.most_load(value) for value in values])
        wanted = []
        for value in values:
            answer = self._known.answered(self._measure.most_load(value))
            plea = None if answer is None else self._plea(value, answer)
            if plea is not None:
                wanted.append(plea)
        if len(wanted) == 2:
            self._making.foresee(wanted)

    def _plea(self, value: int, answer: Answer) -> Plea | None:
        """What to make of the cheapest choice for divisible bytes; None if there is none."""
        if answer.choice is None or answer.bound is None:
            return None
        made, enough = self._made.get(value), answer.bound
        if made is None:
            below = self._known.cheapest(self._measure.most_load(value - value // FAR))
            enough += enough // FAR
            if below is not None and below.bound is not None:
                enough = min(enough, below.bound)
        return Plea(answer.choice, value, enough, made)

    def _raise_bound(self, point: Point) -> None:
        """Ask what costs more than the point: which needs less memory than that is proven to cost more."""
        for k in range(QUESTIONS):
            costs = sorted(self._costs().items())
            at = bisect_left(costs, True, key=lambda each: each[1] <= point.cost)
            if not 0 < at < len(costs):
                return
            (low, dearer), (high, cheaper) = costs[at - 1], costs[at]
            high = min(high, point.value)
            if high - low <= high // CLOSE or self._known.is_over():
                return
            share = (dearer - point.cost) * (high - low) // max(dearer - cheaper, 1)
            value = (low + high) // 2 if k else min(max(low + share * 7 // 8, low + 1), high - 1)
            self._known.cheapest(self._measure.most_load(value))
