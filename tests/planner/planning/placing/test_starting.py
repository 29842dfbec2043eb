"""A plan given as a start is verified first, the result is never worse, and says how the start was used."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from planner import (
    Buffer,
    Constraints,
    Goal,
    Options,
    PlanStatus,
    Pool,
    Problem,
    Progress,
    ReusePenalty,
    Term,
    plan,
    verify,
)
from planner.model.plan import Plan
from tests.small.plans import optimal_plan
from tests.small.strategies import effort, problems

GREEDY = Options(solver="greedy", time_limit=20)


def tangle(seed: int = 12, pools: tuple[Pool, ...] = (Pool("arena"),), *, count: int = 120, step: int = 16) -> Problem:
    """Return a problem whose bound no greedy order reaches."""
    rng = random.Random(seed)
    rows = [(rng.randrange(40), rng.randrange(1, 14), rng.randrange(1, 40)) for _ in range(count)]
    return Problem(tuple(Buffer(i, step * size, live=((s, s + w),)) for i, (s, w, size) in enumerate(rows)), pools)


def two_pools() -> Problem:
    return tangle(5, (Pool("fast", 1000), Pool("slow", cost=2)), count=24)


def weighed() -> Problem:
    """Return a problem in which each buffer's pool is given, and sharing addresses has a penalty."""
    plain = tangle(7, (Pool("left"), Pool("right")), count=24)
    buffers = tuple(replace(b, pools=(("left", "right")[n % 2],)) for n, b in enumerate(plain.buffers))
    penalties = tuple(ReusePenalty(a, a + 2, 3) for a in range(20))
    return Problem(
        buffers, plain.pools, Constraints(reuse_penalties=penalties), terms=(Term.SUM_OF_PEAKS, Term.REUSE_COST)
    )


@pytest.mark.parametrize("make", [tangle, two_pools, weighed])
def test_a_start_that_greedy_cannot_reach_is_kept(make: Callable[[], Problem]) -> None:
    problem = make()
    alone = plan(problem, GREEDY)
    best = plan(problem, Options(time_limit=20, work_limit=3_000_000))
    assert values(best) < values(alone), "otherwise the test shows nothing"
    moments: list[Progress] = []
    again = plan(problem, GREEDY, moments.append, start=best)
    assert values(again) == values(best)
    assert (again.solver, again.reproducible, again.warnings) == (best.solver, False, ())
    assert verify(problem, again) == ()
    assert moments[-1].value == best.objective.value
    assert moments[-1].answer is not None
    so_far = moments[-1].answer()
    assert isinstance(so_far, Plan)
    assert values(so_far) == values(best)


def values(made: Plan) -> tuple[int, ...]:
    return tuple(term.value for term in made.objective.terms if term.value is not None)


def test_a_start_that_is_worse_does_no_harm() -> None:
    problem = tangle(8)
    top, stacked = 0, []
    for place in plan(problem, GREEDY).placements:
        stacked.append(replace(place, offset=top + 1))  # odd offsets, which are no multiples of the sizes' unit
        top += place.size + 1
    worse = replace(plan(problem, GREEDY), placements=tuple(stacked))
    fresh, made = plan(problem, GREEDY), plan(problem, GREEDY, start=worse)
    assert (values(made), made.warnings, verify(problem, made)) == (values(fresh), (), ())


def test_a_start_that_fits_is_enough_where_fitting_is_the_goal() -> None:
    problem = tangle()
    best = plan(problem, Options(time_limit=20, work_limit=3_000_000))
    tight = replace(problem, pools=(Pool("arena", best.peak),))
    fit = Options(solver="greedy", goal=Goal.FIT)
    assert plan(tight, fit).status is PlanStatus.UNKNOWN
    assert plan(tight, fit, start=best).status in (PlanStatus.FEASIBLE, PlanStatus.OPTIMAL)


def test_a_start_that_breaks_a_rule_is_left_aside_with_a_warning() -> None:
    problem = tangle()
    fresh = plan(problem, GREEDY)
    (first, *rest), pools = fresh.placements, fresh.pools
    for broken in (
        replace(fresh, placements=tuple(replace(place, offset=0) for place in fresh.placements)),
        replace(fresh, placements=tuple(rest)),
        replace(fresh, placements=()),
        replace(fresh, placements=(replace(first, pool="nowhere"), *rest)),
        replace(fresh, placements=(replace(first, offset=-16), *rest)),
        replace(fresh, placements=(replace(first, offset=1 << 70), *rest)),
        plan(tangle(3, count=20), GREEDY),
    ):
        made = plan(problem, GREEDY, start=broken)
        assert (made.placements, made.pools, made.reproducible) == (fresh.placements, pools, True)
        assert "left aside" in made.warnings[-1]


@effort(15, 5000)
@given(problems())
def test_an_optimal_start_gets_no_worse(problem: Problem) -> None:
    best = optimal_plan(problem)
    made = plan(problem, GREEDY, start=best)
    assert verify(problem, made) == ()
    if best.placements:
        assert values(made) == values(best)
        assert made.warnings == ()
