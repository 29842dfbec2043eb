"""If pieces are solved one by one, the bounds of the pieces prove a bound of the whole."""

from __future__ import annotations

import pytest

from planner.model.plan import PlanStatus
from planner.model.problem import Buffer, Constraints, Fixed, Pool, Problem, ReusePenalty
from planner.planning.options.options import Options
from planner.planning.placing.solving import plan
from planner.verifying.verify import verify
from solvers.model.instance import Term
from solvers.model.outcome import Proof


def test_the_searches_of_all_pieces_add_up_to_one() -> None:
    pytest.importorskip("ortools")
    buffers = tuple(
        Buffer(f"{name}{pool}", 10, 1, ((time, time + 1),), fixed=Fixed(pool))
        for pool in ("one", "two")
        for time, name in enumerate("ab")
    )
    penalties = (ReusePenalty("aone", "bone", 7), ReusePenalty("atwo", "btwo", 5))
    pools = (Pool("one", 15), Pool("two", 15))
    problem = Problem(buffers, pools, Constraints(reuse_penalties=penalties), (Term.REUSE_COST,))
    made = plan(problem, Options(solver="cpsat"))
    assert (made.status, made.objective.value, made.objective.bound) == (PlanStatus.OPTIMAL, 12, 12)
    assert [c.value for c in made.certificates if c.proof is Proof.SEARCH] == [12]
    assert verify(problem, made) == ()
    made = plan(problem)
    assert (made.status, made.objective.value, made.objective.bound) == (PlanStatus.OPTIMAL, 12, 12)
    assert [c.value for c in made.certificates if c.proof is Proof.MUST_SHARE] == [7, 5], "no search was needed"
    assert verify(problem, made) == ()
