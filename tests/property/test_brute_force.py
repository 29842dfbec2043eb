"""No solver's plan, bound or infeasibility contradicts the oracle, and the oracle agrees with trying every offset."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from hypothesis import assume, given

from planner import Options, Plan, PlanStatus, plan
from planner.checks import check as faults
from planner.facts.constants import CONSTANT
from planner.model.problem import BufferId, Problem
from planner.verifying.verify import verify
from tests.small.judge import judge
from tests.small.oracle import solve
from tests.small.plans import make_plan
from tests.small.strategies import effort, problems

LIMITS = Options(time_limit=60.0, work_limit=1_000_000, workers=1)


def check(problem: Problem, solver: str) -> Plan:
    """Plan the problem, assert that the oracle contradicts no claim, and return the plan."""
    made = plan(problem, replace(LIMITS, solver=solver))
    assert judge(problem, made, solve(problem)) == []
    return made


@effort(20, 10_000)
@given(problems())
def test_greedy_agrees_with_the_oracle(problem: Problem) -> None:
    check(problem, "greedy")


@effort(10, 10_000)
@given(problems())
def test_auto_agrees_with_the_oracle(problem: Problem) -> None:
    made = check(problem, "auto")
    assert made.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE), "six buffers are settled, one way or the other"


@effort(9, 1000)
@given(problems(max_buffers=4))
def test_constants_agree_with_the_oracle(problem: Problem) -> None:
    """Constants lie in read-only memory, and always; nothing else does."""
    *pools, last = problem.pools
    buffers = tuple(replace(b, kind=CONSTANT) if n % 2 else b for n, b in enumerate(problem.buffers))
    problem = replace(problem, buffers=buffers, pools=(*pools, replace(last, read_only=True)))
    assume(not faults(problem))
    check(problem, "auto")


def best_of_all(problem: Problem, highest: int) -> tuple[int, ...] | None:
    """Return the least objective of all placements with offsets up to `highest` that verification accepts."""
    best: tuple[int, ...] | None = None
    spots = [(pool.name, offset) for pool in problem.pools for offset in range(highest + 1)]
    for places in product(spots, repeat=len(problem.buffers)):
        at: dict[BufferId, tuple[str, int]] = {b.id: place for b, place in zip(problem.buffers, places, strict=True)}
        plan = make_plan(problem, at)
        value = tuple(term.value or 0 for term in plan.objective.terms)
        if (best is None or value < best) and not verify(problem, plan, plan.problem_digest):
            best = value
    return best


@effort(9, 1000)
@given(problems(max_buffers=2, max_pools=2))
def test_no_placement_beats_the_oracle_s_optimum(problem: Problem) -> None:
    agrees(problem)


@effort(9, 1000)
@given(problems(max_buffers=2, max_pools=2, moves=True))
def test_no_placement_moves_less_than_the_oracle_s_optimum(problem: Problem) -> None:
    agrees(problem)


def agrees(problem: Problem) -> None:
    truth = solve(problem)
    offsets = [offset for _, offset in (truth.offsets or {}).values()]
    highest = max([14, *offsets])
    assume(highest <= 24)
    assert best_of_all(problem, highest) == truth.value
