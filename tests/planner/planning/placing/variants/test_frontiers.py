"""Frontiers of size and cost: complete, with few points, continued, and cut short by limits."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from planner.formats import read_plan, read_problem, write_plan, write_problem
from planner.generate import Request, generate
from planner.model.plan import Plan, PlanStatus
from planner.model.problem import (
    Alternative,
    Buffer,
    Colocation,
    Constraints,
    CostTerm,
    Pool,
    Problem,
    VariantGroup,
    Variants,
)
from planner.planning.options.options import Options, Preference
from planner.planning.placing import solving
from planner.planning.placing.solving import pareto, plan
from planner.planning.placing.variants.choosing import Choosing
from planner.planning.placing.variants.proofs import Proofs
from planner.verifying.frontier import verify_frontier
from planner.verifying.verify import verify
from solvers.choice.alternatives import points
from solvers.choice.alternatives.bounds.supporting import Tried
from solvers.choice.alternatives.coverage import Coverage
from solvers.choice.alternatives.found import Found
from solvers.model.errors import StopReason
from tests.planner.planning.placing.variants.random_variants import (
    best_of,
    every_choice,
    random_problem,
)
from tests.planner.planning.placing.variants.test_choosing import OPTIONS, check_frontier, known


def test_the_frontier_is_that_of_all_choices(nightly: bool) -> None:
    tried = 0
    for seed in range(2_000 if nightly else 24):
        problem = random_problem(seed)
        if problem is None:
            continue
        tried += 1
        found = pareto(problem, OPTIONS)
        check_frontier(problem, found)
        assert found.stop is StopReason.PROVED, seed
    assert tried >= 5


def test_that_nothing_fits_is_a_proof_however_the_run_ended_after_it() -> None:
    """With so little work it ends while it looks for what is missing."""
    problem = generate("variants", Request(6, 2000191, parameters={"groups": 2, "alternatives": 2}))
    problem = replace(problem, pools=tuple(replace(pool, size=1000) for pool in problem.pools))
    found = pareto(problem, Options(work_limit=2_000, workers=1))
    assert (found.is_infeasible, found.stop, verify_frontier(problem, found)) == (True, StopReason.PROVED, ())


def test_frontiers_stopped_near_their_end_are_right(nightly: bool) -> None:
    """What is complete is proven, whatever ended the run after it; what is not leaves out something, or it is not known what."""
    problems = [each for each in map(random_problem, range(300 if nightly else 20)) if each is not None]
    assert len(problems) >= 8
    for problem, most in product(problems, (None, 3)):
        for work in (40_000, 60_000, 80_000, 100_000):
            found = pareto(problem, Options(work_limit=work, time_limit=None, workers=1, max_cost=most))
            assert verify_frontier(problem, found) == (), (problem, work, most)
            if found.stop is StopReason.PROVED:
                break  # with more work it is not stopped either


@pytest.mark.parametrize("counts_all", [True, False])
def test_points_left_out_are_no_better_than_the_stated_margin(
    nightly: bool, monkeypatch: pytest.MonkeyPatch, counts_all: bool
) -> None:
    """Also if only questions that led to points are counted: with all of them, little is left open here."""
    if not counts_all:
        monkeypatch.setattr(Found, "costs", lambda _: {})
    margins, complete = set(), 0
    for seed in range(300 if nightly else 14):
        problem = random_problem(seed)
        every = [] if problem is None else every_choice(problem)
        if problem is None or not every:
            continue
        for count in (1, 2, 3):
            found = pareto(problem, OPTIONS, count)
            complete += found.is_complete
            assert not found.is_complete or found.within == 0
            margins.add(found.within)
            if found.within is not None:
                more = 1 + found.within + 1e-9
                for cost, memory in every:
                    assert any(
                        (value <= memory * more) and (paid <= cost or paid <= cost * more)
                        for paid, value in known(found.points)
                    ), (seed, count)
    assert len(margins) > (1 if counts_all else 3)
    assert complete > 3


def test_a_frontier_is_continued_until_it_is_complete() -> None:
    """At first all points are proven, but not that no point lies between them."""
    ties = [Constraints(colocations=(Colocation(part, base, at),)) for part, base, at in (("b", "a", 2), ("a", "b", 0))]
    groups = (
        VariantGroup("g", (Alternative("tied", (0,), constraints=ties[0]), Alternative("not", (6,)))),
        VariantGroup(
            "h", (Alternative("not", (1,)), Alternative("nor", (0,)), Alternative("tied", (0,), constraints=ties[1]))
        ),
        VariantGroup("i", tuple(Alternative(name, (0,)) for name in "abc")),
    )
    problem = Problem((Buffer("a", 4), Buffer("b", 4)), variants=Variants(groups, (CostTerm("cycles"),)))
    found = pareto(problem, OPTIONS)
    assert known(found.points) == best_of(every_choice(problem))
    assert found.is_complete


def test_a_frontier_is_the_same_again_and_from_a_file() -> None:
    problem = generate("variants", Request(15, 3, parameters={"groups": 4, "alternatives": 3}))
    again, _ = read_problem(write_problem(problem))
    one, two = pareto(problem, OPTIONS), pareto(again, replace(OPTIONS, workers=2))
    assert one.is_complete
    assert len(one.points) > 3
    assert [replace(each, run=one.run) for each in one.points] == [replace(each, run=one.run) for each in two.points]
    for each in one.points:
        assert read_plan(write_plan(each)) == each


def test_a_limit_on_work_leaves_points_that_are_right() -> None:
    problem = generate("variants", Request(30, 5, parameters={"groups": 10}))
    found = pareto(problem, replace(OPTIONS, time_limit=None, work_limit=150_000))
    assert not found.is_complete
    assert found.stop is StopReason.WORK_LIMIT
    assert found.reproducible
    for each in found.points:
        assert not verify(problem, each)


def test_no_try_uses_more_than_the_work_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit holds even for the first try of a small choice, whose usual work is 100 000."""
    work_limits: list[int] = []

    def recorded(problem: Problem, options: Options, **more: Any) -> Plan:
        work_limits.append(options.work_limit or 0)
        return plan(problem, options, **more)

    monkeypatch.setattr(solving, "plan", recorded)
    pareto(
        generate("variants", Request(30, 5, parameters={"groups": 4})),
        replace(OPTIONS, time_limit=None, work_limit=40_000),
    )
    assert work_limits
    assert max(work_limits) <= 40_000


@pytest.mark.parametrize("count", [None, 3])
def test_open_points_are_asked_again_with_more_work(monkeypatch: pytest.MonkeyPatch, count: int | None) -> None:
    """Most choices are proven only at the third try, with four times the work, and no exact engine helps."""
    problem = generate("variants", Request(15, 3, parameters={"groups": 4, "alternatives": 3}))
    whole = pareto(problem, OPTIONS)
    assert whole.is_complete
    monkeypatch.setattr("planner.planning.placing.variants.choosing.lower_joint", lambda *_: None)
    honest, given = Choosing._place, dict[tuple[int, ...], list[int | None]]()

    def slowly(self: Choosing, choice: tuple[int, ...], below: int | None = None) -> points.Placed:
        given.setdefault(choice, []).append(self._share(64))
        placed = honest(self, choice, below)
        if placed.value is None or sum(choice) % 3 == 0 or len(given[choice]) > 2:
            return placed
        return replace(placed, value=placed.value + 64, bound=placed.value - 300, is_useless=False)

    monkeypatch.setattr(Choosing, "_place", slowly)
    found = pareto(problem, OPTIONS, count)
    assert found.stop is StopReason.PROVED
    assert found.is_complete == (count is None)
    assert set(known(found.points)) <= set(known(whole.points))
    assert len(found.points) == (len(whole.points) if count is None else count)
    assert all(each.status is PlanStatus.OPTIMAL and not verify(problem, each) for each in found.points)
    shares = next(shares for shares in given.values() if len(shares) == 3)
    assert shares == [shares[0], 2 * (shares[0] or 0), 4 * (shares[0] or 0)]
    for prefer in Preference.SIZE, Preference.SPEED:
        given.clear()
        best = plan(problem, replace(OPTIONS, prefer=prefer))
        assert best.status is PlanStatus.OPTIMAL
        assert known((best,)) == known(whole.points[:1] if prefer is Preference.SPEED else whole.points[-1:])
    monkeypatch.setattr(Choosing, "_more", lambda _: False)
    given.clear()
    assert pareto(problem, OPTIONS, count).stop is StopReason.WORK_LIMIT


def test_an_incomplete_set_of_proven_points_is_no_proven_frontier(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = generate("variants", Request(15, 3, parameters={"groups": 4, "alternatives": 3}))
    monkeypatch.setattr(Coverage, "next_values", lambda *_: [])
    monkeypatch.setattr(Choosing, "_more", lambda _: False)
    found = pareto(problem, OPTIONS)
    assert all(each.status is PlanStatus.OPTIMAL for each in found.points)
    assert not found.is_complete
    assert found.stop is StopReason.WORK_LIMIT
    assert pareto(problem, OPTIONS, len(found.points)).stop is StopReason.PROVED


def test_a_few_points_are_spread_over_the_frontier() -> None:
    problem = generate("variants", Request(30, 5, parameters={"groups": 10}))
    seen: list[Plan] = []
    found = pareto(problem, OPTIONS, points=4, on_plan=seen.append)
    assert 2 <= len(found.points) <= 4
    assert set(known(found.points)) <= set(known(tuple(seen)))
    every = known(pareto(problem, OPTIONS).points)
    assert (every[0], every[-1]) == (known(found.points)[0], known(found.points)[-1])


def test_a_cancelled_run_returns_its_points() -> None:
    problem = generate("variants", Request(30, 5, parameters={"groups": 10}))
    seen: list[Plan] = []
    found = pareto(problem, OPTIONS, on_plan=seen.append, cancelled=lambda: len(seen) >= 2)
    assert found.stop is StopReason.CANCELLED
    assert not found.is_complete
    assert not found.reproducible
    assert found.points
    for each in found.points:
        assert not verify(problem, each)


def two_ways() -> Problem:
    ways = (
        Alternative("fast", (1,), (Buffer("f", 8, live=((0, 1),)),)),
        Alternative("slow", (5,), (Buffer("s", 3, live=((0, 1),)),)),
    )
    return Problem((), (Pool("p"),), variants=Variants((VariantGroup("g", ways),), (CostTerm("cycles"),)))


def test_known_points_that_cost_too_much_are_left_out() -> None:
    known = pareto(two_ways(), OPTIONS).points
    for most, costs in ((4, [1]), (0, [])):
        found = pareto(two_ways(), replace(OPTIONS, max_cost=most), start=known)
        assert [point.choice and point.choice.cost for point in found.points] == costs
        assert verify_frontier(two_ways(), found) == ()


@pytest.mark.parametrize("pools", [(Pool("p"),), (Pool("p", 20), Pool("q", 2, rank=1))])
def test_a_known_point_whose_plan_shows_too_little_is_planned_again(pools: tuple[Pool, ...]) -> None:
    problem = replace(two_ways(), pools=pools)
    known = pareto(problem, OPTIONS)
    found = pareto(problem, OPTIONS, start=[claiming_nothing_of_memory(point) for point in known.points])
    assert known.is_complete
    assert found.is_complete
    assert verify_frontier(problem, found) == ()
    assert [(p.objective, p.choice) for p in found.points] == [(p.objective, p.choice) for p in known.points]


def test_without_work_for_it_a_known_point_keeps_what_its_plan_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = two_ways()
    known = pareto(problem, OPTIONS)
    monkeypatch.setattr(Choosing, "_place", lambda *_: None)
    monkeypatch.setattr(Proofs, "prove", lambda *_: None)
    monkeypatch.setattr(Proofs, "sweep", lambda *_: Tried(None, 0))
    found = pareto(problem, OPTIONS, start=[claiming_nothing_of_memory(point) for point in known.points])
    assert verify_frontier(problem, found) == ()
    assert not found.is_complete
    assert [p.choice and p.choice.alternatives for p in found.points] == [
        p.choice and p.choice.alternatives for p in known.points
    ]


def claiming_nothing_of_memory(made: Plan) -> Plan:
    assert made.choice is not None
    terms = tuple(replace(term, bound=0) for term in made.objective.terms)
    return replace(
        made,
        status=PlanStatus.FEASIBLE,
        stop=StopReason.WORK_LIMIT,
        bound=0,
        gap=None,
        objective=replace(made.objective, bound=0, terms=terms),
        pools=tuple(replace(use, bound=0) for use in made.pools),
        certificates=(),
        choice=replace(made.choice, certificates=()),
    )
