"""Verification agrees with a check of every pair, and with the plans that trying all placements finds."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.facts import sweep
from planner.model.plan import Plan
from planner.model.problem import Buffer, Pool, Problem
from planner.verifying.findings import FindingKind
from planner.verifying.verify import verify
from tests.planner.verifying.verified import (
    Kind,
    kinds,
)
from tests.small.oracle import shares, solve
from tests.small.plans import make_plan, optimal_plan
from tests.small.strategies import effort, problems


@effort(10, 3000)
@given(problems())
def test_plans_found_by_trying_everything_pass(problem: Problem) -> None:
    assert verify(problem, optimal_plan(problem)) == ()


@st.composite
def scattered(draw: st.DrawFn) -> tuple[Problem, Plan]:
    """Draw a sound problem, and a plan with its buffers at random places, valid or not."""
    problem = draw(problems())
    spots = {
        b.id: (draw(st.sampled_from(problem.pools)).name, draw(st.integers(0, 10) | st.integers(-1, 24)))
        for b in problem.buffers
    }
    return problem, make_plan(problem, spots)


PLACEMENT_KINDS = {
    Kind.OVERLAP,
    Kind.MISALIGNED,
    Kind.OUTSIDE_POOL,
    Kind.IN_RESERVED_RANGE,
    Kind.WRONG_POOL,
    Kind.FIXED_MOVED,
    Kind.ABOVE_MAX_OFFSET,
    Kind.COLOCATION_BROKEN,
    Kind.SEPARATION_BROKEN,
    Kind.SAME_POOL_BROKEN,
    Kind.DIFFERENT_POOL_BROKEN,
}


def naive_kinds(problem: Problem, plan: Plan) -> set[FindingKind]:
    """Return the kinds of faults in the plan's placements, found by comparing every pair."""
    found = set()
    pools = {p.name: p for p in problem.pools}
    c = problem.constraints
    at = {p.id: (p.pool, p.offset, p.offset + p.size) for p in plan.placements}
    for buffer in problem.buffers:
        name, low, high = at[buffer.id]
        pool = pools[name]
        if low < 0 or (pool.size is not None and high > pool.size):
            found.add(Kind.OUTSIDE_POOL)
        if any(((pool.base or 0) + low) % a for a in (pool.alignment, buffer.alignment)):
            found.add(Kind.MISALIGNED)
        if any(shares((low, high), taken) for taken in pool.reserved):
            found.add(Kind.IN_RESERVED_RANGE)
        if buffer.pools is not None and name not in buffer.pools:
            found.add(Kind.WRONG_POOL)
        if buffer.fixed is not None and (name != buffer.fixed.pool or buffer.fixed.offset not in (None, low)):
            found.add(Kind.FIXED_MOVED)
        if buffer.max_offset is not None and low > buffer.max_offset:
            found.add(Kind.ABOVE_MAX_OFFSET)
    tied = {b.id: {b.id} for b in problem.buffers}
    for tie in c.colocations:
        if at[tie.buffer][:2] != (at[tie.base][0], at[tie.base][1] + tie.offset):
            found.add(Kind.COLOCATION_BROKEN)
        both = tied[tie.buffer] | tied[tie.base]
        for member in both:
            tied[member] = both
    for a, b in combinations(problem.buffers, 2):
        met = at[a.id][0] == at[b.id][0] and shares(at[a.id][1:], at[b.id][1:])
        pairs = ((a.id, b.id), (b.id, a.id))
        if met and any(pair in c.conflicts for pair in pairs):
            found.add(Kind.SEPARATION_BROKEN)
        together = any(shares(s, t) for s in a.live or () for t in b.live or ())
        permitted = (
            b.id in tied[a.id] or any(pair in c.exclusions for pair in pairs) or at[a.id][1] < 0 or at[b.id][1] < 0
        )
        if met and together and not permitted:
            found.add(Kind.OVERLAP)
    if any(len({at[i][0] for i in group}) > 1 for group in c.same_pool):
        found.add(Kind.SAME_POOL_BROKEN)
    if any(len({at[i][0] for i in group}) < len(group) for group in c.different_pool):
        found.add(Kind.DIFFERENT_POOL_BROKEN)
    return found


@effort(15, 10_000)
@given(scattered())
def test_the_verdict_agrees_with_checking_every_pair(case: tuple[Problem, Plan]) -> None:
    problem, plan = case
    wanted = naive_kinds(problem, plan)
    assert kinds(problem, plan) == wanted
    with patch.object(sweep, "PAIRS_PER_PIECE", -1):  # the way taken where too many pairs are live together
        assert kinds(problem, plan) == wanted
    assert naive_kinds(problem, plan) <= PLACEMENT_KINDS


HUGE = 1 << 62


@pytest.mark.parametrize("pool", ["big", "small"])
@pytest.mark.parametrize("offset", [HUGE - 2, HUGE - 1, HUGE, 2 * HUGE - 1, 2 * HUGE, 4 * HUGE])
def test_addresses_that_64_bits_cannot_hold_are_exact(pool: str, offset: int) -> None:
    problem = Problem(
        (Buffer("low", HUGE, live=((0, 1),)), Buffer("high", 2, live=((-HUGE, HUGE),))),
        (Pool("big", None, 2), Pool("small", HUGE, 2)),
    )
    plan = make_plan(problem, {"low": ("big", HUGE), "high": (pool, offset)})
    found = kinds(problem, plan)
    assert found == naive_kinds(problem, plan)
    assert (Kind.OVERLAP in found) is (pool == "big" and HUGE - 2 < offset < 2 * HUGE)


@effort(10, 3000)
@given(problems(max_buffers=4, max_pools=1, plain_terms=True), st.data())
def test_no_plan_that_beats_the_optimum_passes(problem: Problem, data: st.DataObject) -> None:
    truth = solve(problem)
    assume(truth.value is not None and truth.value[0] > 0 and problem.buffers)
    assert truth.value is not None
    top = truth.value[0] // max(problem.pools[0].cost, 1)
    spots = {}
    for b in problem.buffers:
        assume(b.size < top)
        spots[b.id] = (problem.pools[0].name, data.draw(st.integers(0, top - b.size - 1)))
    assert verify(problem, make_plan(problem, spots))
