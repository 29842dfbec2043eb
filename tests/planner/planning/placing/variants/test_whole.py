"""Plans for whole buffers in several memories, as large problems get them: small problems against every choice."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from planner import Options, Term, pareto, plan, verify
from planner.facts.variants import with_choice
from planner.generate import Request, generate
from planner.model.plan import Frontier
from planner.model.problem import (
    Alternative,
    Buffer,
    Constraints,
    CostTerm,
    Pool,
    Problem,
    VariantGroup,
    Variants,
)
from planner.planning.options.options import Preference
from planner.planning.placing.variants import choosing
from planner.planning.placing.variants.choices import lower_choices
from planner.planning.placing.variants.homes import HomesPlacing
from planner.planning.placing.variants.placing import Placing
from solvers.choice.alternatives.instance import Choices
from solvers.choice.alternatives.whole.asking import Assigned
from solvers.choice.alternatives.whole.search import LargeSearch
from solvers.choice.alternatives.whole.state import Layout
from tests.planner.planning.placing.variants.random_variants import every_choice, random_problem_of_kind

SEVERAL = (Pool("tcm", 6000), Pool("sram", None, cost=4, rank=1))
KINDS = ("pools", "taken", "largest", "exclusions", "same_pool", "different_pool", "conflicts")


@pytest.fixture
def as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    def has_memories(choices: Choices) -> bool:
        return choices.memories is not None

    monkeypatch.setattr(choosing, "is_large", has_memories)


def generated(seed: int, buffers: int = 40) -> Problem:
    problem = generate("variants", Request(buffers, seed, parameters={"groups": 14, "alternatives": 4}))
    return replace(problem, pools=SEVERAL)


@pytest.mark.usefixtures("as_if_large")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_of_each_point_holds_for_every_choice(kind: str, nightly: bool) -> None:
    tried = 0
    for seed in range(60 if nightly else 10):
        problem = random_problem_of_kind(kind, seed)
        if problem is None or len(problem.pools) == 1:
            continue
        tried += 1
        found = pareto(problem, Options(time_limit=None, work_limit=1_500_000, workers=1))
        every = every_choice(problem)
        if found.is_infeasible:
            assert every == [], seed
        for point in found.points:
            assert verify(problem, point) == (), seed
            assert point.choice is not None
            bound, cost_bound = point.objective.bound or 0, point.choice.cost_bound or 0
            assert not any(cost <= point.choice.cost and value < bound for cost, value in every), seed
            assert not any(value <= (point.objective.value or 0) and cost < cost_bound for cost, value in every), seed
        _check_within(found, every)
    assert tried > 1


def _check_within(found: Frontier, every: list[tuple[int, int]]) -> None:
    if found.within is None:
        return
    more = 1 + found.within + 1e-9
    points = [(each.choice.cost, each.objective.value or 0) for each in found.points if each.choice is not None]
    for cost, value in every:
        assert any(_is_at_most(c, cost, more) and v <= value * more for c, v in points)


def _is_at_most(had: int, possible: int, more: float) -> bool:
    return had <= possible or had <= possible * more


@pytest.mark.usefixtures("as_if_large")
def test_the_frontier_is_the_same_with_one_and_two_workers() -> None:
    problem = generated(1)
    both = [pareto(problem, Options(time_limit=None, work_limit=4_000_000, workers=workers)) for workers in (1, 2)]
    assert len(both[0].points) > 2
    assert all(verify(problem, point) == () for point in both[0].points)
    assert [(each.placements, each.objective, each.choice, each.stop) for each in both[0].points] == [
        (each.placements, each.objective, each.choice, each.stop) for each in both[1].points
    ]
    assert both[0].within == both[1].within


@pytest.mark.usefixtures("as_if_large")
def test_a_limit_on_cost_holds_and_the_least_plan_is_within_it() -> None:
    problem = generated(2)
    free = plan(problem, Options(time_limit=None, work_limit=3_000_000, workers=1))
    assert free.choice is not None
    most = free.choice.cost * 3 // 4
    limited = plan(problem, Options(time_limit=None, work_limit=3_000_000, workers=1, max_cost=most))
    assert verify(problem, limited) == ()
    assert limited.choice is not None
    assert limited.choice.cost <= most
    assert (limited.objective.value or 0) >= (free.objective.bound or 0)


@pytest.mark.usefixtures("as_if_large")
def test_costs_may_be_negative_where_the_work_ends_before_a_bound() -> None:
    """A bound of 0 was claimed then."""

    def alternatives(time: int) -> tuple[Alternative, ...]:
        several = {"a": (-7, 12), "b": (-5, 10)}
        live = ((time, time + 1),)
        return tuple(
            Alternative(name, costs=(cost,), buffers=tuple(Buffer(f"{time}{name}{i}", size, live=live) for i in "123"))
            for name, (cost, size) in several.items()
        )

    groups = tuple(VariantGroup(f"g{time}", alternatives(time)) for time in range(400))
    several = Variants(groups, (CostTerm("c"),))
    problem = Problem((), (Pool("p"), Pool("q", rank=1)), terms=(Term.LARGEST_PEAK,), variants=several)
    made = plan(problem, Options(time_limit=None, work_limit=300_000, workers=1, prefer=Preference.SIZE))
    assert made.choice is not None
    assert made.choice.cost_bound == -2800
    assert verify(problem, made) == ()


def test_one_point_is_one_point_where_plain_choices_are_used() -> None:
    problem = generate("variants", Request(40, 1, parameters={"groups": 14, "alternatives": 4}))
    assert len(pareto(problem, Options(time_limit=None, work_limit=0, workers=1)).points) == 2
    assert len(pareto(problem, Options(time_limit=None, work_limit=0, workers=1), points=1).points) == 1


def placing_of(problem: Problem) -> tuple[Placing, HomesPlacing, Choices]:
    choices = lower_choices(problem)
    placing = Placing(
        problem,
        Options(workers=1),
        choices.times,
        plan,
        share=lambda part, _: 6_400_000 // part,
        left=lambda: None,
        stopped=lambda: None,
        seconds_left=lambda: None,
        nothing=lambda: pytest.fail("there is time"),
    )
    return placing, HomesPlacing(problem, choices, placing), choices


def test_buffers_are_placed_in_the_memories_they_were_given() -> None:
    problem = replace(generated(3), pools=(Pool("tcm", 60_000), SEVERAL[1]))
    placing, homes_placing, choices = placing_of(problem)
    layout = Layout(choices)
    chance = random.Random(3)
    homes = {block: int(chance.random() < 0.3) for block in layout.pools}
    assigned = Assigned((0,) * len(choices.costs), homes, (60_000, None))
    stacked = homes_placing.stack(assigned)
    for load, *reached in zip(layout.loads(assigned.choice, homes), *stacked.tops, strict=True):
        assert all(live <= top for live, top in zip(load, reached, strict=True))
    peaks = [max(load) for load in zip(*layout.loads(assigned.choice, homes), strict=True)]
    reached = [max(each) for each in stacked.tops]
    assert min(peaks) > 0
    assert all(peak <= top <= peak * 5 // 4 for peak, top in zip(peaks, reached, strict=True))
    made = placing.plans[assigned.choice]
    assert verify(with_choice(problem, assigned.choice), made) == ()
    assert stacked.placed.value == made.objective.value
    assert (made.objective.value or 0) <= reached[0] + 4 * reached[1]


def test_where_a_memory_is_too_small_it_is_said_how_high_it_would_be_filled() -> None:
    problem = generated(3)
    placing, homes_placing, choices = placing_of(problem)
    assert choices.memories is not None
    homes = {share.block: 0 for shares in choices.memories.live for share in shares}
    assigned = Assigned((0,) * len(choices.costs), homes, (6000, 0))
    stacked = homes_placing.stack(assigned)
    assert stacked.placed.value is None
    assert max(stacked.tops[0]) > 6000
    assert max(stacked.tops[1]) == 0
    assert assigned.choice not in placing.plans


def test_between_reserved_ranges_buffers_are_where_they_were_given_a_place() -> None:
    pools = (Pool("tcm", 60_000, reserved=((20_008, 21_000),), alignment=16), SEVERAL[1])
    problem = replace(generated(3), pools=pools)
    placing, homes_placing, choices = placing_of(problem)
    layout = Layout(choices)
    assert [(each.pool, each.low, each.high) for each in layout.bins] == [
        (0, 0, 20_008),
        (0, 21_000, 60_000),
        (1, 0, None),
    ]
    chance = random.Random(3)
    homes = {block: chance.choice((1, 1, 2)) for block in layout.pools}
    choice = (0,) * len(choices.costs)
    stacked = homes_placing.stack(Assigned(choice, homes, (0, 39_000, None)))
    made = placing.plans[choice]
    assert verify(with_choice(problem, choice), made) == ()
    assert max(stacked.tops[0]) == 0
    for load, *reached in zip(layout.loads(choice, homes), *stacked.tops, strict=True):
        assert all(live <= top for live, top in zip(load, reached, strict=True))


@pytest.mark.parametrize("is_same", [True, False])
def test_buffers_that_are_tied_are_placed_in_bins_of_one_memory_or_of_two(is_same: bool) -> None:
    pools = (Pool("tcm", 60_000, reserved=((20_000, 21_000),)), SEVERAL[1])
    problem = replace(generated(3), pools=pools)
    pair = ((problem.buffers[0].id, problem.buffers[1].id),)
    tied = Constraints(same_pool=pair) if is_same else Constraints(different_pool=pair)
    problem = replace(problem, constraints=tied)
    placing, homes_placing, choices = placing_of(problem)
    assert choices.memories is not None
    (tie,) = choices.memories.ties
    homes = dict.fromkeys(Layout(choices).pools, 2) | {tie.one: 0, tie.other: 1 if is_same else 2}
    choice = (0,) * len(choices.costs)
    homes_placing.stack(Assigned(choice, homes, (None, None, None)))
    assert verify(with_choice(problem, choice), placing.plans[choice]) == ()


@pytest.mark.usefixtures("as_if_large")
def test_where_the_search_ends_far_above_its_bound_the_smallest_choice_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With less work that was the plan; with more, a search that found anything had the last word."""
    problem = generated(2)
    nothing = plan(problem, Options(time_limit=None, work_limit=0, workers=1))
    monkeypatch.setattr(LargeSearch, "smallest", LargeSearch.fastest)
    something = plan(problem, Options(time_limit=None, work_limit=500_000, workers=1))
    assert something.objective.value is not None
    assert something.objective.value <= (nothing.objective.value or 0)
    assert verify(problem, something) == ()
