"""Without a certificate, a bound is proven up to the cost of each group of buffers in its cheapest pool."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Options, plan
from planner.model.problem import Buffer, Colocation, Constraints, Pool, Problem, Speed
from planner.verifying.findings import FindingKind
from planner.verifying.verify import verify
from solvers.model.instance import Term
from solvers.model.solver import Goal

SLOW_READS, SLOW_WRITES = (Speed(1_000_000_000, 1, 1, *latencies, 1) for latencies in ((9, 0), (0, 9)))
POOLS = (Pool("slow reads", speed=SLOW_READS), Pool("slow writes", speed=SLOW_WRITES))
BUFFERS = (Buffer("read", 4, 1, ((0, 4),), reads=1), Buffer("written", 4, 1, ((0, 4),), writes=1))
COLOCATED = Constraints(colocations=(Colocation("written", "read", 0),))
ONE_POOL = Constraints(same_pool=(("read", "written"),))


@pytest.mark.parametrize("constraints", [COLOCATED, ONE_POOL], ids=["colocated", "same pool"])
def test_buffers_of_one_pool_cost_at_least_their_cheapest_common_pool(constraints: Constraints) -> None:
    problem = Problem(BUFFERS, POOLS, constraints, (Term.ACCESS_COST,))
    made = plan(problem, Options(goal=Goal.FIT, solver="greedy", work_limit=0, time_limit=None))
    assert not made.warnings
    least = 2 * 4_000 + 9_000  # either pool is slow for one of the two
    term = replace(made.objective.terms[0], bound=least)
    claim = replace(made, objective=replace(made.objective, terms=(term,)), certificates=())
    assert not {FindingKind.UNPROVEN_BOUND} & {finding.kind for finding in verify(problem, claim)}
    more = replace(claim, objective=replace(claim.objective, terms=(replace(term, bound=least + 1),)))
    assert FindingKind.UNPROVEN_BOUND in {finding.kind for finding in verify(problem, more)}
