"""The search among large choices keeps every plan that was made."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from solvers.choice.alternatives.bounds.lines import Lines
from solvers.choice.alternatives.instance import Answer, Choices, Memories, Taken
from solvers.choice.alternatives.points import Demand
from solvers.choice.alternatives.whole.asking import Assigned
from solvers.choice.alternatives.whole.making import Made
from solvers.choice.alternatives.whole.search import LargeSearch
from solvers.model.errors import StopReason

CHOICES = Choices(((10, 20, 30),))


class Identity:
    def most_load(self, value: int) -> int:
        return value

    def least_value(self, load: int) -> int:
        return load


def ignore(*_: object, **__: object) -> None:
    """Support nothing."""


class Known:
    """Nothing is known but that no choice costs less than 10."""

    def __init__(self, choices: Choices) -> None:
        self.master = SimpleNamespace(choices=choices, work=0, left_aside={}, cuts=[], load=lambda _: 50)
        self.placed: dict[Any, Any] = {}
        self.points: list[Any] = []
        self.costs: dict[int, int] = {}
        self.stop: StopReason | None = None
        self.supporting = SimpleNamespace(lines=Lines(), points=ignore, least_cost=ignore, least_value=ignore)

    def is_over(self) -> bool:
        return self.stop is not None

    def cheapest(self, most_load: int | None) -> Answer:
        if most_load is not None:
            self.costs[most_load] = 10
        return Answer((0,), 10, None)


class Making:
    """Makes these plans, in one go, and uses up all work."""

    def __init__(self, known: Known, plans: list[Made], chosen: int) -> None:
        self._known, self._plans, self._chosen = known, plans, chosen
        self.every: list[Made] = []

    def has_work_for(self, count: int) -> bool:
        return not self.every

    def make(self, plea: Any) -> Made:
        self.every += self._plans
        self._known.stop = StopReason.WORK_LIMIT
        return self._plans[self._chosen]


def made(alternative: int, value: int) -> Made:
    return Made(Assigned((alternative,), {}, ()), value, CHOICES.costs[0][alternative])


def found(
    plans: list[Made], chosen: int, most_value: int | None = 100, choices: Choices = CHOICES
) -> list[tuple[int, int]]:
    known = Known(choices)
    making: Any = Making(known, plans, chosen)
    given: Any = known
    search = LargeSearch(given, Identity(), Demand(most_value=most_value), lambda: False, lambda _: None, making)
    return [(point.value, point.cost) for point in search.fastest().points]


def test_a_plan_made_on_the_way_to_another_is_a_point_too() -> None:
    """Only the one that was wanted was, though each of two may be better than the other."""
    assert found([made(2, 60), made(1, 90)], 1) == [(90, 20), (60, 30)]


def test_what_another_plan_beats_is_none() -> None:
    assert found([made(2, 95), made(1, 90)], 1) == [(90, 20)]
    assert found([made(1, 120), made(2, 90)], 1) == [(90, 30)]


def test_with_reserved_ranges_the_cheapest_choice_is_made_like_others() -> None:
    """It was placed as it is, choice after choice, each with a 16th of all work."""
    memories = Memories((1, 1), (100, 100), False, (), 0, (Taken(((10, 20),)), Taken()))
    assert found([made(0, 60)], 0, None, Choices(CHOICES.costs, memories=memories)) == [(60, 10)]
