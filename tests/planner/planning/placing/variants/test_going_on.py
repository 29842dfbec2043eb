"""Searches for the least memory or cost use the work that they are granted until what they were asked for is proven."""

from __future__ import annotations

from typing import Any

import pytest

from planner.generate import Request, generate
from planner.model.plan import PlanStatus
from planner.model.problem import Alternative, Buffer, CostTerm, Pool, Problem, VariantGroup, Variants
from planner.planning.options.options import Options, Preference
from planner.planning.placing.solving import plan
from planner.verifying.verify import verify
from solvers.choice.alternatives.instance import Answer
from solvers.choice.alternatives.master import Master
from solvers.model.errors import StopReason


@pytest.mark.parametrize(("seed", "max_cost"), [(3, 13067), (6, 16037)])
def test_the_least_memory_within_a_cost_is_proven_of_all_choices_within_it(seed: int, max_cost: int) -> None:
    """The first answers leave open whether choices that cost more than the one found need less."""
    problem = generate("variants", Request(60, seed, parameters={"groups": 20, "alternatives": 4}))
    made = plan(problem, Options(time_limit=None, work_limit=3_000_000, workers=1, max_cost=max_cost))
    assert (made.status, made.stop) == (PlanStatus.OPTIMAL, StopReason.PROVED)
    assert not verify(problem, made)


def test_the_least_cost_is_asked_again_where_only_smaller_choices_are_known_to_cost_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cheapest = Master.cheapest
    asked = list[int | None]()

    def hesitant(self: Master, most_load: int | None, *rest: Any) -> Answer:
        asked.append(most_load)
        if most_load is None and asked.count(None) == 1:
            return Answer((1,), 3, StopReason.WORK_LIMIT, 0)
        return cheapest(self, most_load, *rest)

    monkeypatch.setattr(Master, "cheapest", hesitant)
    sizes = {"cheap": (3, 12), "dear": (5, 10), "small": (5, 8)}
    alternatives = [
        Alternative(name, (cost,), (Buffer("x", size, live=((0, 1),)),)) for name, (cost, size) in sizes.items()
    ]
    variants = Variants((VariantGroup("g", tuple(alternatives)),), (CostTerm("cycles"),))
    problem = Problem((), (Pool("p"),), variants=variants)
    found = plan(problem, Options(time_limit=None, work_limit=3_000_000, workers=1, prefer=Preference.SPEED))
    assert found.choice is not None
    assert (found.choice.cost, found.status) == (3, PlanStatus.OPTIMAL)
