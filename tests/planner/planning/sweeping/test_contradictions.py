"""What a sweep says is proven is held against all that its plans show. Each false claim is one that a plan by itself may make: a search is believed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Buffer, Options, Plan, Pool, Problem, plan, sweep, verify, verify_sweep, with_capacity
from planner.facts.digest import digest
from planner.model.plan import ChoiceGoal, Objective, PlanCertificate, PlanStatus
from planner.model.problem import Alternative, CostTerm, VariantGroup, Variants
from planner.planning.sweeping import SmallestCapacity, Sweep, SweepPoint
from planner.planning.sweeping.sweep import least_capacity_problem
from planner.verifying.arguments.shortage import shortage
from solvers.model.errors import StopReason
from solvers.model.outcome import Proof

OPTIONS = Options(time_limit=60, workers=1)
PROBLEM = Problem((Buffer("a", 8, live=((0, 2),)), Buffer("b", 8, live=((1, 3),))), (Pool("p"),))


@pytest.fixture(autouse=True)
def searches_are_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.verifying.simple_plans.counterexamples", lambda *_, **__: iter(()))


def searched(value: int) -> tuple[PlanCertificate, ...]:
    return (PlanCertificate(Proof.SEARCH, value, "p", solver="search"),)


def wasteful(honest: Plan, peak: int) -> Plan:
    """Return the plan with its last buffer higher, said to be the best possible."""
    *rest, last = honest.placements
    (term,), (use,) = honest.objective.terms, honest.pools
    return replace(
        honest,
        placements=(*rest, replace(last, offset=peak - last.size)),
        peak=peak,
        bound=peak,
        gap=0.0,
        objective=Objective(peak, peak, (replace(term, value=peak, bound=peak),)),
        pools=(replace(use, peak=peak, bound=peak),),
        certificates=searched(peak),
    )


def found(*sizes: int) -> Sweep:
    made = sweep(PROBLEM, {"p": sizes}, OPTIONS, processes=1)
    assert verify_sweep(PROBLEM, made) == ()
    return made


def wasteful_at(point: SweepPoint, peak: int) -> SweepPoint:
    assert point.plan is not None
    worse = wasteful(point.plan, peak)
    assert verify(with_capacity(PROBLEM, dict(point.capacity)), worse) == ()
    return replace(point, value=(peak,), bound=(peak,), peaks={"p": peak}, plan=worse)


def too_small(size: int, need: int) -> SweepPoint:
    """Return a point that says that a search showed how much is needed."""
    sized = with_capacity(PROBLEM, {"p": size})
    honest = plan(with_capacity(PROBLEM, {"p": 1}), OPTIONS)
    why = shortage(sized, searched(need))
    (use,) = honest.pools
    made = replace(
        honest,
        bound=need,
        pools=(replace(use, size=size, bound=need),),
        certificates=searched(need),
        shortage=why,
        problem_digest=digest(sized),
        objective=replace(honest.objective, bound=need, terms=(replace(honest.objective.terms[0], bound=need),)),
    )
    assert verify(sized, made) == ()
    return SweepPoint({"p": size}, PlanStatus.INFEASIBLE, None, (), None, None, None, made, solved=True)


def test_no_size_is_proven_that_is_more_than_a_plan_takes() -> None:
    honest = found(16, 20)
    assert honest.smallest is not None
    least = SmallestCapacity("p", 17, 17, wasteful(honest.smallest.plan, 17))
    (said,) = verify_sweep(PROBLEM, replace(honest, smallest=least))
    assert said == "the smallest capacity: pool 'p' is to need 17 bytes or more, but the plan of p=16 takes 16"


def test_no_size_is_too_small_for_the_plan_of_the_smallest() -> None:
    honest = found(16, 20)
    points = too_small(16, 17), wasteful_at(honest.points[1], 17)
    assert verify_sweep(PROBLEM, replace(honest, smallest=None, points=points)) == ()
    assert verify_sweep(PROBLEM, replace(honest, points=points)) == (
        "p=16 is claimed to be too small, but the plan of the smallest capacity fits",
        "p=20 is proven to need (17,), but the plan of the smallest capacity has (16,)",
    )


def test_a_plan_for_more_memory_refutes_what_is_proven_of_less_if_it_takes_no_more() -> None:
    honest = found(16, 20)
    points = too_small(16, 17), honest.points[1]
    (said,) = verify_sweep(PROBLEM, replace(honest, smallest=None, points=points))
    assert said == "p=16 is claimed to be too small, but the plan of p=20 fits"


def test_what_is_missing_is_no_more_than_a_plan_takes() -> None:
    honest = found(15, 20)
    points = too_small(15, 17), honest.points[1]
    (said,) = verify_sweep(PROBLEM, replace(honest, smallest=None, points=points))
    assert said == "p=15: pool 'p' is to need 17 bytes or more, but the plan of p=20 takes 16"


def test_certificates_and_bounds_of_pools_are_held_against_the_other_plans() -> None:
    """Of several memories each has a bound, which the objective need not name."""
    problem = replace(PROBLEM, pools=(Pool("p"), Pool("q", 4)))
    honest = sweep(problem, {"p": (16, 20)}, OPTIONS, processes=1)
    assert verify_sweep(problem, honest) == ()
    first, second = honest.points
    assert second.plan is not None
    *rest, last = second.plan.placements
    of_p, of_q = second.plan.pools
    (term,) = second.plan.objective.terms
    worse = replace(
        second.plan,
        placements=(*rest, replace(last, offset=9)),
        peak=17,
        objective=Objective(17, 0, (replace(term, value=17, bound=0),)),
        gap=None,
        bound=0,
        status=PlanStatus.FEASIBLE,
        stop=StopReason.WORK_LIMIT,
        pools=(replace(of_p, peak=17, bound=17), of_q),
        certificates=searched(17),
    )
    point = replace(second, status=worse.status, value=(17,), bound=(0,), peaks={"p": 17, "q": 0}, plan=worse)
    alone = replace(honest, smallest=None, points=(point,))
    assert verify_sweep(problem, alone) == ()
    said = verify_sweep(problem, replace(alone, points=(first, point)))
    assert "p=20: the bound of pool 'p' is 17, but a peak of 16 can be had, by the plan of p=16" in said


def test_bounds_of_all_choices_are_held_against_the_other_choices() -> None:
    group = VariantGroup(
        "g", (Alternative("big", (0,), (Buffer("x", 8, live=((0, 1),)),)), Alternative("small", (3,), ()))
    )
    problem = Problem(
        (Buffer("a", 4, live=((0, 1),)),), (Pool("p"),), variants=Variants((group,), costs=(CostTerm("time", 1),))
    )
    honest = sweep(problem, {"p": (4, 12)}, OPTIONS, processes=1)
    assert verify_sweep(problem, honest) == ()
    big = honest.points[1].plan
    assert big is not None
    assert big.choice is not None
    forged = replace(
        big,
        choice=replace(big.choice, goal=ChoiceGoal.SIZE),
        pools=(replace(big.pools[0], size=None),),
        problem_digest=digest(least_capacity_problem(problem, "p")),
    )
    least = SmallestCapacity("p", 12, 12, forged)
    assert verify_sweep(problem, replace(honest, smallest=least, points=honest.points[1:])) == ()
    said = verify_sweep(problem, replace(honest, smallest=least))
    assert said == ("the smallest capacity: pool 'p' is to need 12 bytes or more, but the plan of p=4 takes 4",)
    dear = honest.points[0].plan
    assert dear is not None
    assert dear.choice is not None
    dearest = replace(dear, choice=replace(dear.choice, cost_bound=3), pools=(replace(dear.pools[0], size=12),))
    dearest = replace(dearest, problem_digest=digest(with_capacity(problem, {"p": 12})))
    point = replace(honest.points[1], value=(3, 4), bound=(3, 4), peaks={"p": 4}, plan=dearest)
    said = verify_sweep(problem, replace(honest, smallest=least, points=(point,)))
    assert "p=12 is proven to need (3, 4), but the plan of the smallest capacity has (0, 12)" in said
