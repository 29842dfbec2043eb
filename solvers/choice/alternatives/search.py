"""Searches the frontier of memory and cost: placed choices that no other improves on in one without being worse in the other, with proofs.

Loads come from the master, which ignores addresses; values (peaks) come from placing a choice. If a choice cannot be placed in its load,
the master learns that and is asked again. Questions left open at the end are asked again with more work, as long as there is any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ...model.errors import StopReason
from .coverage import Stretch
from .easing import choice_with_less_live
from .found import Found
from .instance import Answer, Choice, Question
from .known import Known
from .points import Demand, Frontier, Measure, More, OnPoint, Placed, Point

LOOKAHEAD = 4
"""A question is asked together with one about one of the next LOOKAHEAD values."""
TRIES = 12
"""Choices placed for one point of the frontier, at most."""
MOST_ASIDE = 1
"""Choices, at most, for which it may stay open whether they can be placed as low as wanted."""
HARD = 60_000
"""The work of placing a choice from which on the next one is placed beside it."""


class Search:
    """One run."""

    def __init__(self, known: Known, measure: Measure, demand: Demand, more: More, on_point: OnPoint) -> None:
        self._known, self._measure, self._demand = known, measure, demand
        self._more, self._on_point = more, on_point
        self._master, self._placed = known.master, known.placed
        self._found = Found(known, measure, demand)
        self._lightest: Point | None = None
        """The point of the least value."""
        self._spread: list[int] = []
        """If only part of the frontier is asked for: the values between its ends that are."""
        self._hard: int | None = None
        """The last value for which a choice was hard to place, and too high."""
        self._answers: dict[int | None, Point] = {}
        """The point found for each value that was asked for."""
        self._is_frontier = False
        """Do bounds of points count, not only of all choices?"""
        self._before: dict[int | None, Point] = {}
        """Proven points of an earlier run or round, by their values and by the values asked for."""

    def begin_with(self, known: Mapping[Point, Placed]) -> None:
        """Begin with the results of an earlier run: nothing of it is placed again, and what was proven is not asked again."""
        for point, placed in known.items():
            self._placed[point.choice] = placed
            self._found.points.append(point)
            if point.is_proven:
                self._before[point.value] = point
                self._found.coverage.settle(point, point.value)

    def fastest(self) -> Frontier:
        """The least cost, and for it the least value."""
        self._first()
        self._known.supporting.least_cost(self._demand.most_value, self._found.best(), self._found.least_cost)
        while self._again(is_whole=self._is_settled(self._found.least_cost, lambda point: point.cost)):
            self._first()
        return self._found.frontier(is_complete=False)

    def smallest(self) -> Frontier:
        """The least value, and for it the least cost."""
        self._last()
        self._known.supporting.least_value(self._demand.most_cost, self._found.best(), self._found.least_within)
        while self._again(is_whole=self._is_settled(self._found.least_within, lambda point: point.value)):
            self._last()
        return self._found.frontier(is_complete=False)

    def frontier(self) -> Frontier:
        """As much of the frontier as the limits allow."""
        self._is_frontier = True
        is_all = self._all()
        while self._again(is_whole=self._demand.points is not None or (is_all and self._found.within() == 0)):
            is_all = self._all()
        self._known.supporting.points(self._found.best(), of_all=True)
        return self._found.frontier(is_complete=is_all, is_whole=self._demand.points is None)

    def so_far(self, others: Iterable[Point]) -> Frontier:
        """What is found and proven if the search ends here for lack of time. `others` were placed, and not noted before it ended."""
        self._found.is_open = True
        self._found.points.extend(others)
        return replace(self._found.frontier(is_complete=False), stop=StopReason.TIME_LIMIT)

    def _is_settled(self, least: int | None, amount: Callable[[Point], int]) -> bool:
        """True if no choice within the limits has less than some point; a point's own bounds hold only for choices that cost no more, or need no more."""
        return least is not None and min(map(amount, self._found.points), default=least) <= least

    def _again(self, *, is_whole: bool) -> bool:
        """If something is open (`is_whole`: except for the points, nothing is) and there is more work for it, allow it to be asked again."""
        points = self._found.best()
        is_exact = is_whole and not self._found.is_open and all(point.is_proven for point in points)
        if is_exact or self._known.is_over() or not self._more():
            return False
        proven = {point.value: point for point in points if point.is_proven}
        self._before = dict(proven.items())
        for question, point in self._answers.items():
            if point.value in proven and point.cost_bound >= proven[point.value].cost:
                self._before.setdefault(question, proven[point.value])
        self._found.coverage.reopen(proven)
        self._known.reopen()
        self._found.is_open = False
        return True

    def _first(self) -> Point | None:
        return self._cheapest(self._demand.most_value)

    def _last(self) -> None:
        value = self._lowest()
        self._cheapest(self._demand.most_value if value is None else value)

    def _all(self) -> bool:
        """Ask for the whole frontier; True if nothing was left out."""
        demand = self._demand
        first = self._first()
        lowest = None if first is None or demand.points == 1 else self._lowest()
        if first is None or lowest is None:
            return False
        self._cheapest(lowest)
        if demand.points is not None:
            below = first.value - 1
            self._spread = self._spread or [
                below - (below - lowest) * k // (demand.points - 1) for k in range(1, demand.points - 1)
            ]
            for k, value in enumerate(self._spread):
                self._foresee(self._spread[k:])
                self._cheapest(value)
        wanted = self._found.coverage.next_values(self._found.points)
        while wanted and demand.points is None and self._known.stop is None:
            value, (low, high) = wanted[0]
            self._foresee([each for each, _ in wanted])
            point = self._cheapest(value)
            if point is None or point.value > value:
                self._found.coverage.give_up(Stretch(max(low, value - (high - low) // 4), value))
            wanted = self._found.coverage.next_values(self._found.points)
        return not wanted

    def _foresee(self, values: Sequence[int]) -> None:
        """Ask the first questions about the first value and another one side by side: both will be asked sooner or later."""
        values = [value for value in values if value not in self._before][:LOOKAHEAD]
        if len(values) < 2:
            return
        loads = [self._measure.most_load(value) for value in values]
        self._known.foresee(loads)
        if self._master.choices.memories is not None or self._master.choices.rows:
            return
        found = [self._known.answered(load) for load in loads]
        below = [self._master.load(each.choice) - 1 for each in found if each is not None and each.choice is not None]
        if found[0] is not None and len(below) > 1:
            self._known.foresee(below)
        likely = [(choice, value) for value in values if (choice := self._likely(value)) is not None]
        others = [each for each in likely if each[0] not in self._placed and each[0] != likely[0][0]]
        if others and likely[0][1] == values[0]:
            self._known.place_ahead([likely[0], others[0]])

    def _likely(self, value: int) -> Choice | None:
        """The choice that is placed first for this value, if the answers so far say which."""
        answer = self._known.answered(self._measure.most_load(value))
        if answer is None or answer.choice is None:
            return None
        below = self._known.answered(self._master.load(answer.choice) - 1)
        cost = self._master.choices.cost(answer.choice)
        is_lightest = below is not None and (below.is_impossible or (below.bound is not None and below.bound > cost))
        return answer.choice if is_lightest else None

    def _lowest(self) -> int | None:
        """The least value found; None if nothing was placed."""
        known = self._lightest
        if known is not None and known.value == known.bound:
            return known.value
        near = None if known is None else known.choice
        point = self._lowest_within(self._demand.most_cost, self._demand.most_value, cost_bound=None, first=near)
        if point is None:
            return None if known is None else known.value
        if known is not None:
            point = replace(min(known, point, key=lambda each: each.value), bound=max(known.bound, point.bound))
        self._lightest = point
        self._found.least_within = point.bound
        self._found.least_value = point.bound if self._demand.most_cost is None else None
        return point.value

    def _cheapest(self, value: int | None) -> Point | None:
        """Find and note the point of least cost within this value, and of least value for that cost."""
        if value in self._before:
            return self._before[value]
        cost_bound: int | None = None
        known = set(self._master.left_aside)
        for _ in range(TRIES):
            answer = self._known.cheapest(self._most_load(value))
            if answer is None or answer.choice is None or answer.bound is None:
                self._found.is_open = self._found.is_open or answer is None or not answer.is_impossible
                return None
            cost_bound = answer.bound if cost_bound is None else max(cost_bound, answer.bound)
            cost = self._master.choices.cost(answer.choice)
            most_cost = self._demand.most_cost
            if most_cost is not None and cost > most_cost:
                self._found.is_open = self._found.is_open or cost_bound <= most_cost
                return None
            point = self._lowest_within(cost, value, cost_bound, answer.choice)
            if point is not None:
                return self._note(point, value)
            if len(self._master.left_aside.keys() - known) >= MOST_ASIDE:
                break
        found = self._known.exactly(Question(True, value, self._demand.most_cost))
        if found.is_impossible:
            return None
        if found.choice is not None and found.bound is not None and cost_bound is not None and found.stopped is None:
            cost_bound = max(cost_bound, found.bound)
            self._known.know_aside(found.bound, value)
            point = self._lowest_within(self._master.choices.cost(found.choice), value, cost_bound)
            if point is not None:
                return self._note(point, value)
        self._found.is_open = True
        tried = [each for each in self._master.left_aside if each not in known]
        return None if value is None or cost_bound is None else self._with_room(value, cost_bound, tried)

    def _with_room(self, value: int, cost_bound: int, tried: list[Choice]) -> Point | None:
        """A point for a value in which the tried choices could not be placed: a choice with less live where they reach too high, or else a greater value."""
        over = [(placed, each) for each in tried if (placed := self._placed[each].value) is not None]
        if not over:
            return None
        larger, choice = min(over)
        eased = choice_with_less_live(self._known, self._measure, value, choice, self._is_too_dear)
        if eased is not None:
            return self._note(
                Point(
                    eased,
                    self._placed[eased].value or 0,
                    self._master.choices.cost(eased),
                    self._floor(eased),
                    cost_bound,
                ),
                value,
            )
        if self._demand.most_value is not None and larger > self._demand.most_value:
            return None
        cheapest = self._known.cheapest(self._measure.most_load(larger))
        if cheapest is None or cheapest.bound is None:
            return None
        cost = self._master.choices.cost(choice)
        return self._note(Point(choice, larger, cost, self._floor(choice), cheapest.bound), larger)

    def _is_too_dear(self, choice: Choice) -> bool:
        most_cost = self._demand.most_cost
        return most_cost is not None and self._master.choices.cost(choice) > most_cost

    def _floor(self, choice: Choice) -> int:
        """The least value that the choice's load allows, if every choice with less load is proven to cost more; otherwise 0, which bounds nothing."""
        load = self._master.load(choice)
        below = self._known.cheapest(load - 1)
        cost = self._master.choices.cost(choice)
        is_least = below is not None and (below.is_impossible or (below.bound is not None and below.bound > cost))
        return self._measure.least_value(load) if is_least else 0

    def _lowest_within(
        self, cost: int | None, value: int | None, cost_bound: int | None, first: Choice | None = None
    ) -> Point | None:
        """The point of least value within the cost, if any choice was placed in that value. `first` is a choice that the master knows."""
        best: Point | None = None
        bound = 0
        is_impossible = False
        near = first
        aside = len(self._master.left_aside)
        for _ in range(TRIES):
            choice, least = self._known.lightest(cost, self._most_load(value), near)
            bound = bound if least is None else max(bound, self._measure.least_value(least))
            if choice is None:
                is_impossible = least is None
                break
            cuts = len(self._master.cuts)
            placed, following = self._place(choice, value)
            most = value if best is None else best.value - 1
            if placed.value is not None and (most is None or placed.value <= most):
                paid = self._master.choices.cost(choice)
                best = Point(choice, placed.value, paid, 0, paid if cost_bound is None else cost_bound)
            if best is not None and best.value <= bound:
                break
            is_learned = self._known.learn(choice, placed)
            if following is not None:
                self._known.remember_next(self._most_load(value), following, choice, cuts)
            if not is_learned:
                break
            if len(self._master.left_aside) - aside >= MOST_ASIDE:
                break
            near = None
        if not is_impossible and (best is None or best.value > bound):
            found = self._known.exactly(Question(False, value, cost))
            bound = bound if found.bound is None else max(bound, found.bound)
            if found.choice is not None:
                worth = self._known.place(found.choice).value
                most = value if best is None else best.value
                if worth is not None and (most is None or worth <= most):
                    paid = self._master.choices.cost(found.choice)
                    best = Point(found.choice, worth, paid, 0, paid if cost_bound is None else cost_bound)
        return None if best is None else replace(best, bound=min(bound, best.value))

    def _place(self, choice: Choice, value: int | None) -> tuple[Placed, Answer | None]:
        """Place the choice; after one that was hard and too high, side by side with the one that is cheapest without it, which is returned, too."""
        following: Answer | None = None
        if value is not None and self._hard == value and choice not in self._placed:
            following = self._known.next_cheapest(self._measure.most_load(value), choice)
            if following is not None and following.choice is not None and not self._is_too_dear(following.choice):
                self._known.place_ahead([(choice, value), (following.choice, value)])
        placed = self._known.place(choice, value)
        if value is not None and placed.work >= HARD and (placed.value is None or placed.value > value):
            self._hard = value
        return placed, following

    def _most_load(self, value: int | None) -> int | None:
        return None if value is None else self._measure.most_load(value)

    def _note(self, point: Point, value: int | None) -> Point:
        self._found.coverage.settle(point, value)
        self._answers[value] = point
        if value == self._demand.most_value:
            known = self._found.least_cost
            self._found.least_cost = point.cost_bound if known is None else max(known, point.cost_bound)
        self._found.points.append(point)
        if self._is_frontier:
            self._known.supporting.points([self._found.with_all_bounds(point)])
        if not any(other.value <= point.value and other.cost <= point.cost for other in self._found.points[:-1]):
            self._on_point(point)
        return point
