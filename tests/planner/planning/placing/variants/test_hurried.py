"""What every choice needs is bounded without a search, and no choice needs less."""

from __future__ import annotations

import random

import pytest

from planner.generate import Request, generate
from planner.model.deadline import OutOfTime
from planner.model.errors import Code, Finding
from planner.model.plan import Plan
from planner.model.problem import Alternative, Buffer, CostTerm, Pool, Problem, VariantGroup, Variants
from planner.planning.options.options import Options, Preference
from planner.planning.placing.solving import pareto, plan
from planner.planning.placing.variants import hurried
from planner.planning.placing.variants.choices import lower_choices
from planner.planning.placing.variants.choosing import Choosing
from planner.planning.placing.variants.hurried import value_of_any_choice
from planner.planning.placing.watching import Clock
from planner.verifying.verify import verify
from solvers.choice.alternatives import search
from solvers.choice.alternatives.points import Frontier
from solvers.model.errors import StopReason

from .random_variants import KINDS, every_choice, pinned_problem, random_problem_of_kind


@pytest.mark.parametrize("kind", [*KINDS, "pinned"])
def test_no_choice_needs_less(kind: str, nightly: bool) -> None:
    known = 0
    for seed in range(600 if nightly else 8):
        problem = pinned_problem(seed) if kind == "pinned" else random_problem_of_kind(kind, seed)
        every = [] if problem is None else every_choice(problem)
        if problem is None or not every:
            continue
        least = min(value for _, value in every)
        bound = value_of_any_choice(problem, lower_choices(problem))
        assert 0 <= bound <= least, (kind, seed)
        if len(problem.pools) == 1:
            assert hurried.largest_buffer(problem) <= least, (kind, seed)
        known += bound > 0
    assert known


def test_a_bound_is_known_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_answer(*_: object) -> Frontier:
        return Frontier((), is_complete=False, stop=StopReason.TIME_LIMIT, work=0)

    for name in ("fastest", "smallest", "frontier"):
        monkeypatch.setattr(search.Search, name, no_answer)
    problem = generate("variants", Request(60, 3, parameters={"groups": 20, "alternatives": 4}))
    for prefer in (None, Preference.SPEED):
        made = plan(problem, Options(time_limit=None, workers=1, prefer=prefer))
        assert made.bound == made.objective.bound == 19216
        assert not verify(problem, made)
    assert all(point.bound == 19216 for point in pareto(problem, Options(time_limit=None, workers=1)).points)


@pytest.mark.parametrize("stop", [StopReason.TIME_LIMIT, StopReason.WORK_LIMIT])
def test_no_time_for_placing_is_said_whatever_ended_the_search(
    monkeypatch: pytest.MonkeyPatch, stop: StopReason
) -> None:
    """The answer was `unknown` and called reproducible if the search had ended by its work."""

    def no_answer(_: object) -> Frontier:
        return Frontier((), is_complete=False, stop=stop, work=0)

    def late(*_: object) -> Plan:
        raise OutOfTime(Finding(Code.OUT_OF_TIME, "", "late"))

    monkeypatch.setattr(search.Search, "smallest", no_answer)
    problem = generate("variants", Request(60, 3, parameters={"groups": 20, "alternatives": 4}))
    choosing = Choosing(problem, Options(time_limit=None, workers=1), Clock(None), None, late)
    with pytest.raises(OutOfTime, match="late"):
        choosing.best(None)


def test_where_choices_cannot_be_written_down_the_largest_buffer_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(_: object) -> object:
        raise OutOfTime(Finding(Code.OUT_OF_TIME, "", "late"))

    monkeypatch.setattr(hurried, "lower_choices", late)
    problem = generate("variants", Request(60, 3, parameters={"groups": 20, "alternatives": 4}))
    assert (
        value_of_any_choice(problem, None)
        == hurried.largest_buffer(problem)
        == max(buffer.size for buffer in problem.buffers)
    )


def test_with_very_many_alternatives_the_smallest_are_placed_before_the_search() -> None:
    """It came to the cheapest alone before its work was done, and those were six hundred times as large."""
    chance = random.Random(1)

    def alternative(name: str, cost: int) -> Alternative:
        begin = chance.randrange(300)
        live = ((begin, begin + chance.randrange(1, 9)),)
        return Alternative(name, costs=(cost,), buffers=(Buffer(name, chance.randrange(1, 9999), live=live),))

    groups = tuple(VariantGroup(f"g{g}", tuple(alternative(f"g{g}.{a}", a) for a in range(600))) for g in range(10))
    made = plan(
        Problem((), (Pool("p"),), variants=Variants(groups, (CostTerm("c"),))),
        Options(work_limit=1_000_000, time_limit=None, workers=1),
    )
    assert made.peak is not None
    assert made.peak <= sum(min(each.buffers[0].size for each in group.alternatives) for group in groups)
