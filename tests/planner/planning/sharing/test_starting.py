"""Sharing from an earlier sharing: it is verified first, the result is never worse, and improvements are reported."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest
from hypothesis import given

from planner import Buffer, Options, PlanStatus, Pool, Problem, Progress, Sharing, share, verify_sharing
from solvers.sharing.solver import AUTO, SHARERS
from tests.planner.planning.sharing.truth import FOUND_BY_SEARCH, sharable, tangle
from tests.small.strategies import effort

GREEDY = Options(solver="greedy")


@functools.cache
def best() -> Sharing:
    return share(FOUND_BY_SEARCH, Options(work_limit=2_000_000, workers=1))


def written(moments: list[Progress]) -> list[Sharing]:
    """Return the sharings that were reported, in order."""
    found = [moment.answer() for moment in moments if moment.answer is not None]
    sharings = [each for each in found if isinstance(each, Sharing)]
    assert len(sharings) == len(found)
    return sharings


@pytest.mark.parametrize("solver", [AUTO, *SHARERS])
def test_a_start_that_a_solver_cannot_reach_is_kept(solver: str) -> None:
    options = Options(solver=solver, work_limit=2, workers=1)
    alone = share(FOUND_BY_SEARCH, options)
    assert alone.total is None or alone.total > 118, "otherwise the test shows nothing"
    moments: list[Progress] = []
    again = share(FOUND_BY_SEARCH, options, moments.append, start=best())
    assert (again.total, again.solver, again.reproducible, again.warnings) == (118, "cpsat", False, alone.warnings)
    assert verify_sharing(FOUND_BY_SEARCH, again) == ()
    assert moments[-1].value == 118
    assert written(moments)[-1].assignments == again.assignments


def test_better_pools_replace_those_of_the_start() -> None:
    """The start is optimal in one pool, where it is kept, and as bad as can be in the other."""
    pools = (Pool("left"), Pool("right"))
    left = tuple(replace(each, pools=("left",)) for each in FOUND_BY_SEARCH.buffers)
    right = tuple(Buffer(1000 + n, 8, live=((n, n + 1),), pools=("right",)) for n in range(4))
    problem = Problem((*left, *right), pools)
    best = share(problem, Options(work_limit=2_000_000, workers=1))
    first = max(thing.id for thing in best.objects) + 1
    apart = tuple(replace(each, object=first + n) for n, each in enumerate(best.assignments[-4:]))
    made = share(problem, GREEDY, start=replace(best, assignments=(*best.assignments[:-4], *apart)))
    assert [pool.total for pool in made.pools] == [118, 8]
    assert (made.solver, made.warnings, verify_sharing(problem, made)) == ("greedy", (), ())


def test_a_start_that_is_worse_does_no_harm() -> None:
    fresh = share(FOUND_BY_SEARCH, GREEDY)
    apart = tuple(replace(each, object=7 * n) for n, each in enumerate(fresh.assignments))
    made = share(FOUND_BY_SEARCH, GREEDY, start=replace(fresh, assignments=apart))
    assert (made.total, made.solver, made.warnings) == (fresh.total, "greedy", ())


def test_a_start_that_fits_is_kept_where_the_solver_finds_none() -> None:
    tight = replace(FOUND_BY_SEARCH, pools=(Pool("default", 118),))
    assert share(tight, GREEDY).status is PlanStatus.UNKNOWN
    assert share(tight, GREEDY, start=best()).status is PlanStatus.FEASIBLE


def test_a_start_that_breaks_a_rule_is_left_aside_with_a_warning() -> None:
    fresh = share(FOUND_BY_SEARCH, GREEDY)
    for problem, broken in (
        (FOUND_BY_SEARCH, replace(fresh, assignments=tuple(replace(each, object=0) for each in fresh.assignments))),
        (FOUND_BY_SEARCH, replace(fresh, assignments=fresh.assignments[1:])),
        (FOUND_BY_SEARCH, replace(fresh, assignments=())),
        (FOUND_BY_SEARCH, share(tangle(3), GREEDY)),
        (replace(FOUND_BY_SEARCH, pools=(Pool("default", 119),)), fresh),
    ):
        made, alone = share(problem, GREEDY, start=broken), share(problem, GREEDY)
        assert (made.assignments, made.pools, made.reproducible) == (alone.assignments, alone.pools, True)
        assert made.warnings == (
            *alone.warnings,
            "the sharing to start from is no sharing of this problem and was left aside",
        )


def test_buffers_of_different_kinds_in_one_object_are_no_start() -> None:
    two = (Buffer("a", 64, live=((0, 2),), dtype="f32"), Buffer("b", 32, live=((2, 3),), dtype="f32"))
    start = share(Problem(two))
    made = share(Problem((two[0], replace(two[1], dtype="i8"))), start=start)
    assert (made.total, len(made.warnings)) == (96, 1)


@effort(20, 5_000)
@given(sharable())
def test_an_optimal_start_gets_no_worse(problem: Problem) -> None:
    best = share(problem, GREEDY)
    moments: list[Progress] = []
    made = share(problem, Options(solver="largest_first"), moments.append, start=best)
    assert verify_sharing(problem, made) == ()
    if best.total is not None:
        assert made.total == best.total
        assert made.warnings == ()
    for moment in moments:
        assert (moment.answer is None) == (moment.value is None)
        for so_far in written([moment]):
            assert verify_sharing(problem, so_far) == ()
            assert so_far.total is None or (so_far.total, so_far.bound) == (moment.value, 0)


def test_the_exact_solver_reports_each_sharing_it_finds() -> None:
    moments: list[Progress] = []
    made = share(FOUND_BY_SEARCH, Options(solver="cpsat", work_limit=2_000_000, workers=1), moments.append)
    sharings = written(moments)
    totals = [each.total or 0 for each in sharings]
    assert (totals == sorted(totals, reverse=True), totals[-1]) == (True, made.total)
    assert [verify_sharing(FOUND_BY_SEARCH, each) for each in sharings] == [()] * len(sharings)
    assert [moment.value for moment in moments if moment.answer is not None] == totals
