"""Pools first, then addresses: right about feasibility, and optimal where earlier engines were not."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import assume, given

from planner import Options, Plan, PlanStatus, Preference, plan, verify
from planner.generate import Request, generate
from planner.model.problem import Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools import cutting, in_pieces, windows
from solvers.geometry.presolve import scaled, unit
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.property.test_solvers_alone import check
from tests.small.oracle import solve
from tests.small.strategies import effort, problems

WORK = 3_000_000


@effort(9, 5_000)
@given(problems(max_buffers=5))
def test_no_better_than_the_best_and_never_a_wrong_bound(problem: Problem) -> None:
    assume(lower(problem).instance.has_choice)
    check("pools_first", problem, solve(problem))


@effort(9, 5_000)
@given(problems(max_buffers=6))
def test_the_same_piece_by_piece_and_window_by_window(problem: Problem) -> None:
    assume(lower(problem).instance.has_choice)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_pieces, "LARGE", 0)
        patch.setattr(in_pieces, "LARGE_WITH_PEAKS", 0)
        patch.setattr(cutting, "PIECE", 2)
        patch.setattr(windows, "WINDOWS", (2,))
        check("pools_first", problem, solve(problem))


def planned(kind: str, buffers: int, seed: int, prefer: Preference, work_limit: int = WORK, **options: object) -> Plan:
    problem = generate(kind, Request(buffers, seed))
    made = plan(problem, Options(time_limit=None, work_limit=work_limit, prefer=prefer, **options))  # type: ignore[arg-type]
    assert not verify(with_preference(problem, prefer), made)
    return made


@cache
def three_hundred(kind: str, prefer: Preference) -> Plan:
    """A plan with the usual settings, made once for all tests."""
    return planned(kind, 300, 11, prefer)


@pytest.mark.parametrize("prefer", [Preference.SPEED, Preference.SIZE])
@pytest.mark.parametrize("kind", ["pools", "memories"])
def test_three_hundred_buffers_are_proven_term_by_term(kind: str, prefer: Preference) -> None:
    made = three_hundred(kind, prefer)
    assert made.status is PlanStatus.OPTIMAL
    assert [term.value for term in made.objective.terms] == [term.bound for term in made.objective.terms]


def test_the_second_term_of_a_thousand_is_proven() -> None:
    made = planned("memories", 1000, 7001, Preference.SPEED)
    assert made.status is PlanStatus.OPTIMAL


def test_the_same_plan_with_any_number_of_workers() -> None:
    one, two = (planned("pools", 120, 3, Preference.SPEED, workers=workers) for workers in (1, 2))
    assert one.placements == two.placements
    assert one.certificates == two.certificates
    assert one.reproducible


def test_what_is_too_much_for_memory_costs_the_engine_and_not_the_plan() -> None:
    made = planned("pools", 120, 3, Preference.SPEED, memory_limit_bytes=64 << 20)
    assert made.status in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE)


def test_cut_in_time_hardly_anything_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    best = three_hundred("pools", Preference.SPEED).objective.value
    monkeypatch.setattr(in_pieces, "LARGE", 100)
    monkeypatch.setattr(cutting, "PIECE", 150)
    cut = planned("pools", 300, 11, Preference.SPEED).objective
    assert best is not None
    assert cut.value is not None
    assert cut.bound is not None
    assert 0.995 * best <= cut.bound <= best <= cut.value <= 1.005 * best


@pytest.mark.parametrize("kind", ["pools", "pool_packing"])
def test_where_little_work_is_left_it_does_little(kind: str) -> None:
    """What is left of the work comes to nothing at last, which is no freedom to do as much as one likes."""
    instance = lower(generate(kind, Request(300, 1))).instance
    instance = scaled(instance, unit(instance))
    start = get("greedy").solve(instance, Task(limits=Limits(work=1)), Silent()).placement
    done = get("pools_first").solve(instance, Task(limits=Limits(work=100_000), start=start), Silent())
    assert done.work < 200_000


@pytest.mark.parametrize("kind", ["pools", "hot"])
def test_heights_and_then_windows_end_near_the_bound(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where peaks are weighed: below the peaks of a start by greedy, windows end 10 to 50 % above it."""
    monkeypatch.setattr(in_pieces, "LARGE_WITH_PEAKS", 100)
    made = planned(kind, 140, 12, Preference.BALANCED, WORK // 3).objective
    assert made.value is not None
    assert made.bound is not None
    assert made.bound <= made.value <= 1.04 * made.bound
