"""planner.plan as its callers see it: options, capacity, progress, repeatability, and wrong answers of solvers."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any
from unittest.mock import ANY, patch

import pytest

from planner import (
    BadInput,
    Buffer,
    CannotSolve,
    Code,
    Colocation,
    Constraints,
    Fixed,
    Goal,
    Options,
    PlanStatus,
    Pool,
    Problem,
    Progress,
    ReusePenalty,
    StopReason,
    Term,
    plan,
    verify,
)
from planner.formats import write_plan
from planner.generate import Request, generate
from planner.model.plan import Plan, Run
from planner.planning.options.capacity import planned_problem
from planner.planning.options.options import Preference, Stability
from planner.planning.placing import solving
from solvers.model.errors import SolverFailed
from solvers.model.instance import Instance, Placement
from solvers.model.outcome import Outcome
from solvers.portfolio.solve import solve
from tests.planner.planning.placing.test_starting import tangle
from tests.solvers.kernels.kernel_sets import native, use_reference

PAIR = Problem((Buffer("a", 64, live=((0, 2),)), Buffer("b", 32, live=((1, 3),))), (Pool("arena", 100),))


def lasting(made: Plan) -> bytes:
    """Return the plan's bytes without the time it took."""
    return write_plan(replace(made, run=Run(0.0)))


@pytest.mark.parametrize("seed", [0, 8, 10, 12])
def test_one_worker_and_two_make_the_same_bytes(seed: int) -> None:
    options = [Options(time_limit=30, work_limit=400_000, workers=workers) for workers in (1, 2, 2)]
    plans = [plan(tangle(seed=seed), option) for option in options]
    assert all(made.reproducible for made in plans)
    assert len({lasting(made) for made in plans}) == 1


def test_more_workers_than_a_kernel_can_count_are_as_good_as_many() -> None:
    few, many = (plan(tangle(), Options(time_limit=None, work_limit=20_000, workers=n)) for n in (1, 1 << 40))
    assert many.placements == few.placements


def test_engines_that_rest_for_each_other_make_the_same_bytes() -> None:
    """Rounds of a packing that stays open, long enough for workers to change engines."""
    problem = generate("packing", Request(400, 1001))
    plans = [plan(problem, Options(time_limit=None, work_limit=900_000, workers=workers)) for workers in (1, 2, 3)]
    assert all(made.reproducible for made in plans)
    assert len({lasting(made) for made in plans}) == 1


def test_progress_only_ever_gets_better() -> None:
    seen: list[Progress] = []
    made = plan(tangle(), Options(work_limit=300_000), seen.append)
    values = [p.value for p in seen if p.value is not None]
    bounds = [p.bound for p in seen if p.bound is not None]
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)
    assert values[-1] == made.peak
    assert [(point.value, point.bound) for point in made.run.trace] == [(p.value, p.bound) for p in seen]


def test_a_cancelled_run_returns_the_best_so_far() -> None:
    found: list[Progress] = []
    made = plan(tangle(), Options(), found.append, lambda: any(p.value is not None for p in found))
    assert made.status is PlanStatus.FEASIBLE
    assert made.stop is StopReason.CANCELLED
    assert not made.reproducible


def test_time_spent_before_counts() -> None:
    made = plan(tangle(count=200), Options(time_limit=5), begun=time.monotonic() - 60)
    assert made.stop is StopReason.TIME_LIMIT
    assert made.placements


def test_capacity_replaces_pool_sizes() -> None:
    assert plan(PAIR, Options(capacity=95)).status is PlanStatus.INFEASIBLE
    assert plan(PAIR, Options(capacity={"arena": 96})).status is PlanStatus.OPTIMAL
    assert plan(PAIR, Options(capacity=96)).pools[0].size == 96


def test_fit_is_content_with_any_plan_that_fits() -> None:
    made = plan(replace(tangle(), pools=(Pool("arena", 1 << 20),)), Options(goal=Goal.FIT))
    assert (made.status, made.stop) == (PlanStatus.FEASIBLE, StopReason.GOAL_MET)


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        (Options(time_limit=-1), "/options/time_limit"),
        (Options(time_limit=float("nan")), "/options/time_limit"),
        (Options(work_limit=-1), "/options/work_limit"),
        (Options(memory_limit_bytes=0), "/options/memory_limit_bytes"),
        (Options(workers=0), "/options/workers"),
        (Options(seed=-1), "/options/seed"),
        (Options(workers=1.5), "/options/workers"),  # type: ignore[arg-type]
        (Options(seed=True), "/options/seed"),
        (Options(capacity=7.5), "/options/capacity"),  # type: ignore[arg-type]
        (Options(capacity="20"), "/options/capacity"),  # type: ignore[arg-type]
        (Options(capacity={"attic": 4}), "/options/capacity"),
        (Options(capacity=-4), "/options/capacity"),
        (Options(capacity={"arena": "64k"}), "/options/capacity"),  # type: ignore[dict-item]
        (Options(max_cost="3"), "/options/max_cost"),  # type: ignore[arg-type]
    ],
)
def test_wrong_options_are_named(options: Options, pointer: str) -> None:
    with pytest.raises(BadInput) as caught:
        plan(PAIR, options)
    assert caught.value.findings[0].pointer == pointer


def test_options_are_accepted_as_words() -> None:
    for name, choice in {"goal": Goal.FIT, "stability": Stability.FIRST, "prefer": Preference.SPEED}.items():
        assert getattr(Options(**{name: str(choice)}), name) is choice  # type: ignore[arg-type]
        with pytest.raises(BadInput, match=f"/options/{name}: 'nonsense' is not one of"):
            Options(**{name: "nonsense"})  # type: ignore[arg-type]


def test_one_capacity_for_several_pools_is_ambiguous() -> None:
    with pytest.raises(BadInput, match="say which one"):
        plan(Problem((Buffer("a", 4),), (Pool("p"), Pool("q"))), Options(capacity=4))


def test_an_unknown_solver_is_refused_with_the_known_names() -> None:
    with pytest.raises(CannotSolve, match="known are auto, greedy"):
        plan(PAIR, Options(solver="magic"))


def test_a_plan_that_fails_verification_is_never_given_out(monkeypatch: pytest.MonkeyPatch) -> None:

    def lying(instance: Any, *rest: Any) -> Outcome:
        outcome = solve(instance, *rest)
        assert outcome.placement is not None
        return replace(outcome, placement=Placement(outcome.placement.pool, outcome.placement.offset * 0))

    monkeypatch.setattr("planner.planning.placing.solving.solve", lying)
    made = plan(PAIR)
    assert (made.status, made.stop) == (PlanStatus.UNKNOWN, StopReason.SOLVER_FAILED)
    assert made.placements == ()
    assert made.peak is None
    assert any("failed verification" in warning for warning in made.warnings)


def test_a_solver_that_breaks_without_a_plan_is_an_error_of_the_planner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any) -> Outcome:
        raise SolverFailed("greedy", "it broke")

    monkeypatch.setattr("planner.planning.placing.solving.solve", broken)
    with pytest.raises(CannotSolve) as caught:
        plan(PAIR)
    assert [finding.code for finding in caught.value.findings] == [Code.SOLVER_FAILED]


def test_explaining_names_buffers_that_cannot_be_placed_together() -> None:
    problem = replace(PAIR, buffers=(*PAIR.buffers, Buffer("c", 8, live=((5, 6),))))
    made = plan(problem, Options(capacity=90, explain=True))
    assert made.shortage is not None
    assert (made.shortage.subset, made.shortage.irreducible) == (("a", "b"), True)
    assert made.shortage.bytes_short == 6
    assert plan(problem, Options(capacity=90)).shortage is not None
    limited = planned_problem(problem, 90, None)
    assert verify(limited, made) == ()
    why = replace(made.shortage, subset=("a", "b", "c"))
    more = replace(made, shortage=why)
    (wrong,) = verify(limited, more)
    assert "said to be irreducible" in wrong.message
    assert verify(limited, replace(more, shortage=replace(why, irreducible=False))) == ()


@pytest.mark.parametrize("stop", [StopReason.WORK_LIMIT, StopReason.TIME_LIMIT])
def test_a_subset_that_work_alone_left_reducible_is_the_same_in_every_run(
    stop: StopReason, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = replace(PAIR, buffers=(*PAIR.buffers, Buffer("c", 8, live=((5, 6),))))

    def solve_all_at_once(instance: Instance, *rest: Any) -> Outcome:
        if instance.blocks == len(whole.buffers):
            return solve(instance, *rest)
        return Outcome(stop, None, None, reproducible=stop.is_repeatable)

    monkeypatch.setattr(solving, "solve", solve_all_at_once)
    made = plan(whole, Options(capacity=90, explain=True, solver="search"))
    assert made.shortage is not None
    assert (made.status, made.shortage.irreducible) == (PlanStatus.INFEASIBLE, False)
    assert made.reproducible is stop.is_repeatable


def test_a_problem_without_buffers_has_an_optimal_plan() -> None:
    made = plan(Problem(()))
    assert (made.status, made.peak, made.bound, made.gap) == (PlanStatus.OPTIMAL, 0, 0, None)


def test_a_buffer_that_fits_nowhere_is_reported_beside_a_refuted_part() -> None:
    pool = Pool("p0", alignment=3, base=0, reserved=((3, 8), (13, 14)), cost=0)
    buffers = (
        Buffer("kept low", 6, live=((2, 2),), max_offset=6),
        Buffer("b", 6, live=((1, 3),)),
        Buffer("c", 4, 4),
    )
    made = plan(Problem(buffers, (pool,)))
    assert (made.status, made.warnings) == (PlanStatus.INFEASIBLE, ())


def test_a_buffer_that_fits_nowhere_keeps_claims_about_access_true() -> None:
    pools = (Pool("fast", 0), Pool("slow", reserved=((0, 1),), rank=1))
    buffers = (Buffer("a", 1), Buffer("b", 0, accesses=1), Buffer("low", 0, max_offset=0))
    ties = Constraints(colocations=(Colocation("low", "a", 0),), same_pool=(("a", "b"),))
    made = plan(Problem(buffers, pools, ties, (Term.ACCESS_COST,)), Options(solver="greedy"))
    assert made.warnings == ()
    assert made.status in (PlanStatus.UNKNOWN, PlanStatus.INFEASIBLE)


def test_the_preferred_pools_are_used_among_equal_sums() -> None:
    pools = (Pool("slow", rank=1), Pool("fast", 40, rank=0))
    buffers = tuple(Buffer(i, size, live=((0, 2),)) for i, size in enumerate((30, 25, 20, 15)))
    made = plan(Problem(buffers, pools))
    assert made.status is PlanStatus.OPTIMAL
    assert {use.name: use.peak for use in made.pools} == {"fast": 40, "slow": 50}
    assert made.reproducible


@pytest.mark.parametrize("solver", ["auto", "cpsat", "cpsat_peak"])
def test_a_model_whose_symmetries_break_ortools_is_solved(solver: str) -> None:
    """The problem is solved, although OR-Tools 9.15 raises an IndexError in its search for this model's symmetries."""
    buffers = (
        Buffer("a", 1, 3, ((1, 3),), hint=8, accesses=3),
        Buffer("b", 7, 1, ((2, 3), (6, 10)), hint=8, max_offset=7),
        Buffer("c", 7, 1, ((6, 7),), accesses=3),
        Buffer("d", 5, 1, ((6, 10),), hint=0, max_offset=8),
        Buffer("e", 7, 1, ((1, 5),), hint=6, max_offset=10, accesses=1),
    )
    pools = (
        Pool("p0", 17, 6, reserved=((13, 15),), rank=1),
        Pool("p1", None, 4, base=16, reserved=((9, 12),), rank=1),
        Pool("p2", None, 4, cost=2, rank=1),
    )
    constraints = Constraints(
        conflicts=(("b", "c"), ("a", "e")),
        reuse_penalties=(ReusePenalty("a", "e", 1), ReusePenalty("c", "d", 3), ReusePenalty("c", "e", 4)),
    )
    made = plan(Problem(buffers, pools, constraints, (Term.ACCESS_COST, Term.SUM_OF_PEAKS)), Options(solver=solver))
    assert (made.status, made.warnings) == (PlanStatus.OPTIMAL, ())


@pytest.mark.parametrize("cost", [0, 1])
def test_pools_too_small_together_are_proven_so_at_any_cost_of_bytes(cost: int) -> None:
    buffers = tuple(Buffer(name, 1, 1, ((0, 1),)) for name in "abc")
    made = plan(Problem(buffers, (Pool("one", 1), Pool("two", 1, cost=cost)), terms=(Term.ACCESS_COST,)))
    assert (made.status, made.warnings) == (PlanStatus.INFEASIBLE, ())
    assert made.shortage is not None
    assert "too small together (2 bytes)" in made.shortage.message


def test_devices_that_share_a_pool_are_warned_of() -> None:
    apart = replace(PAIR, buffers=tuple(replace(b, device=f"gpu{b.id}") for b in PAIR.buffers))
    assert any("give each device a pool of its own" in warning for warning in plan(apart).warnings)
    alike = replace(PAIR, buffers=tuple(replace(b, device="gpu") for b in PAIR.buffers))
    assert plan(alike).warnings == plan(PAIR).warnings == ()


def test_a_quick_plan_at_the_bound_is_proven_even_without_time() -> None:
    problem = Problem((Buffer("a", 16, live=((0, 2),)), Buffer("b", 8, live=((1, 3),))))

    def late(*given: Any) -> Outcome:
        return replace(solve(*given), placement=None, value=None, stop=StopReason.TIME_LIMIT, reproducible=False)

    with patch.object(solving, "solve", late):
        made = plan(problem)
    assert (made.status, made.stop, made.warnings) == (PlanStatus.OPTIMAL, StopReason.PROVED, ())


@pytest.mark.parametrize("solver", ["auto", "search"])
@pytest.mark.parametrize(
    ("kind", "buffers", "work"), [("packing", 12, 0), ("packing", 40, 20_000), ("variants", 12, 0)]
)
def test_with_a_limit_of_work_both_kernels_give_the_same_plan(
    kind: str, buffers: int, work: int, solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    native()
    problem = generate(kind, Request(buffers, 2))
    options = Options(time_limit=None, work_limit=work, solver=solver, workers=1)
    first = plan(problem, options)
    use_reference(monkeypatch)
    assert plan(problem, options) == replace(first, run=ANY)
    assert first.reproducible


@pytest.mark.parametrize("work", [100, 1_000, 5_000])
def test_what_greedy_cannot_place_is_searched_with_little_work_too(work: int) -> None:
    """No order of greedy places these four, and the work is less than a round of all solvers takes."""
    buffers = (
        Buffer("fixed", 1, live=((1, 4),), fixed=Fixed("p", 0)),
        Buffer("over", 6, live=((1, 5),)),
        Buffer("large", 11, 4, live=((0, 5),)),
        Buffer("under", 4, 4, live=((2, 3),)),
    )
    tight = Problem(buffers, (Pool("p", 20, 2),), Constraints(exclusions=(("over", "under"),)))
    found, again = (plan(tight, Options(time_limit=None, work_limit=work, workers=n)) for n in (1, 2))
    assert (found.status, found.solver, verify(tight, found)) == (PlanStatus.OPTIMAL, "search", ())
    assert found.reproducible
    assert found.placements == again.placements


@pytest.mark.parametrize("solver", ["assign", "improve", "late_first"])
def test_solvers_that_prove_nothing_are_not_named_for_the_bound_of_a_part(solver: str) -> None:
    problem = Problem(
        (
            Buffer(1, 320, live=((3, 5),)),
            Buffer("1", 384, live=((1, 5),), fixed=Fixed("p", 128)),
            Buffer("d", 320, alignment=384, live=((-1, 1),)),
            Buffer(5, 128, alignment=256, live=((-1, 2),), max_offset=75),
        ),
        (Pool("p", 1227, base=192),),
        Constraints(conflicts=(("1", "d"),)),
    )
    made = plan(problem, Options(solver=solver, work_limit=50, time_limit=None))
    assert (made.warnings, made.stop) == ((), StopReason.WORK_LIMIT)
