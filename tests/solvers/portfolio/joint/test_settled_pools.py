"""Where there are few choices of pools, all are tried: the optimum is proven without any solver library."""

from __future__ import annotations

import itertools
import random

import pytest

from planner import Buffer, Constraints, Options, Pool, Problem, plan, verify
from planner.model.plan import PlanStatus
from solvers.model.instance import Term

WITHOUT_LIBRARIES = {"memplan"}


def drawn(seed: int) -> Problem:
    """A random problem of up to five buffers, some of which must be apart, and two pools, one of them small."""
    draw = random.Random(seed)
    count = draw.randint(2, 5)
    buffers = tuple(
        Buffer(
            i, draw.randint(1, 9), live=((s := draw.randrange(4), s + draw.randint(1, 4)),), accesses=draw.randint(0, 5)
        )
        for i in range(count)
    )
    pairs = list(itertools.combinations(range(count), 2))
    apart = tuple(pair for pair in pairs if draw.random() < 0.15)
    pools = (Pool("fast", draw.randint(8, 20)), Pool("slow", rank=1))
    terms = draw.choice([(Term.ACCESS_COST, Term.SUM_OF_PEAKS), (Term.SUM_OF_PEAKS,), (Term.BALANCED,)])
    return Problem(buffers, pools, Constraints(different_pool=apart), terms=terms)


@pytest.mark.parametrize("seed", range(25))
def test_all_choices_are_tried_and_no_solver_finds_better(seed: int) -> None:
    problem = drawn(seed)
    answer = plan(problem, Options(workers=1))
    assert answer.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE)
    assert verify(problem, answer) == ()
    if answer.status is PlanStatus.OPTIMAL:
        assert set(answer.versions) == WITHOUT_LIBRARIES
        if seed % 5 == 0:
            assert plan(problem, Options(solver="cpsat", workers=1)).objective.value == answer.objective.value
