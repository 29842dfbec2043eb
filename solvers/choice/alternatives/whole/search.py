"""Searches the frontier where there are several memories and many choices: bounds come from bytes that may be anywhere, plans from whole blocks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from ....model.errors import StopReason
from ..instance import Answer
from ..known import Known
from ..points import Demand, Measure, More, OnPoint, Point
from ..search import Search
from .making import ENOUGH, Made, Making, Plea

FIRST, TIGHTER, LOOSER = 16, (256, 64, 32), (8, 4, 2)
"""The least plan is sought within a value that is greater than what bytes need by 1/FIRST; then within smaller ones or, if there is none, larger ones."""
FAR = 60
"""At first a plan is enough if it costs 1/FAR more than the least, and no more than the least for a value that is 1/FAR less."""
MUCH = 50
"""Where choices of a point's cost may need less memory than it by more than 1/MUCH, a plan of so little is made, too."""
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
        self._kept = 0
        """The number of plans that are points."""
        self._now: dict[int, Point] = {}
        """The points of this round, by the values that they were made for and have."""

    def _lowest(self) -> int | None:
        """The least value of a plan, or nearly; None if none was made."""
        choice, least = self._known.lightest(self._demand.most_cost, self._most_load(self._demand.most_value), None)
        if choice is None or least is None:
            return super()._lowest()
        bound = self._measure.least_value(least)
        self._found.least_within = bound
        self._found.least_value = bound if self._demand.most_cost is None else None
        for step in TIGHTER if self._is_made(bound + bound // FIRST) else LOOSER:
            if self._known.is_over() or self._is_made(bound + bound // step):
                break
        least = min((point.value for point in self._found.points), default=None)
        return super()._lowest() if least is None and not self._known.is_over() else least

    def _is_made(self, value: int) -> bool:
        """True if a plan of hardly more than this value was made."""
        point = self._cheapest(value)
        return point is not None and point.value <= value + value // ENOUGH

    def _cheapest(self, value: int | None) -> Point | None:
        """Make and note a plan of about this value, for little more than the least cost."""
        if value is None:
            return self._cheapest_of_all() or super()._cheapest(value)
        point = self._point_within(value)
        if point is not None and (less := self._with_less(point)) is not None and less < value:
            self._point_within(less, point.cost)
        return point

    def _cheapest_of_all(self) -> Point | None:
        """A plan of the cheapest choice, made like others where there are rules with which it is hard to place as it is."""
        memories = self._master.choices.memories
        answer = self._known.cheapest(None)
        if (
            memories is None
            or not (memories.taken or memories.ties)
            or answer is None
            or answer.choice is None
            or answer.bound is None
        ):
            return None
        load = self._master.load(answer.choice)
        point = self._point_within(load + load // ENOUGH, answer.bound)
        return None if point is None else self._note(replace(point, cost_bound=answer.bound), None)

    def _with_less(self, point: Point) -> int | None:
        """The value that choices of the point's cost may have, if that is much less."""
        if not self._making.has_work_for(2):
            return None
        least = min((value for value, cost in self._found.costs().items() if cost <= point.cost), default=point.value)
        wanted = least + least // ENOUGH
        return wanted if point.value - least > point.value // MUCH else None

    def _point_within(self, value: int, most_cost: int | None = None) -> Point | None:
        """Make and note one plan, if possible of no more than this cost."""
        known = self._before.get(value, self._now.get(value))
        if known is not None:
            return known
        if self._found.points and not self._making.has_work_for(1):
            self._known.stop = self._known.stop or StopReason.WORK_LIMIT
        answer = self._known.cheapest(self._measure.most_load(value))
        if answer is None or answer.choice is None or answer.bound is None:
            self._found.is_open = self._found.is_open or answer is None or not answer.is_impossible
            return None
        plea = self._plea(value, answer)
        if plea is not None and most_cost is not None:
            plea = plea._replace(enough=min(plea.enough, max(most_cost, answer.bound)))
        made = None if plea is None else self._making.make(plea)
        self._found.is_open = True
        self._keep_others(made)
        if plea is None or made is None:
            return None
        self._made[value] = made
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

    def _keep_others(self, made: Made | None) -> None:
        """Keep what was made on the way as points, too: each may be better than all others somewhere."""
        most_cost, most_value = self._demand.most_cost, self._demand.most_value
        for each in self._making.every[self._kept :]:
            is_within = (most_cost is None or each.cost <= most_cost) and (
                most_value is None or each.value <= most_value
            )
            if each is not made and is_within:
                self._found.points.append(Point(each.assigned.choice, each.value, each.cost, 0, self._master.choices.least_cost))  # fmt: skip
        self._kept = len(self._making.every)

    def _again(self, *, is_whole: bool) -> bool:
        self._now = {}
        return super()._again(is_whole=is_whole)

    def _foresee(self, values: Sequence[int]) -> None:
        """Give two choices memories side by side."""
        values = [value for value in values if value not in self._before and value not in self._now][:2]
        if len(values) < 2 or not self._making.has_work_for(2):
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
            costs = sorted(self._found.costs().items())
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
