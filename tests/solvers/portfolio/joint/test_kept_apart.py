"""Where the cost of reuse comes first and is at its least, pairs keep apart, and what remains is packing."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from planner import Buffer, Constraints, Options, Pool, Problem, plan
from planner.model.plan import PlanStatus
from planner.model.problem import ReusePenalty
from solvers.model.errors import StopReason
from solvers.model.instance import Placement, PoolSpec, Term
from solvers.model.solver import Limits, Silent, Task
from solvers.portfolio import solve
from solvers.portfolio.joint.joint import solve_joint
from solvers.portfolio.joint.kept_apart import MOST_WAYS, parted, ways_to_share
from tests.small import oracle
from tests.small.instances import make_instance
from tests.small.judge import judge

TERMS = (Term.REUSE_COST, Term.SUM_OF_PEAKS)
TRIANGLE = [(0, 1, 4), (1, 2, 5), (2, 3, 6)]
"""Three blocks, one after the other."""
EACH_TWO = [(0, 1, 1), (0, 2, 1), (1, 2, 1)]
TASK = Task(limits=Limits(work=200_000))
WITHOUT_PROOFS = ("must_share", "reuse")
"""Engines that prove nothing about later terms."""


def test_pairs_that_keep_apart_lie_side_by_side() -> None:
    found = solve_joint(make_instance(TRIANGLE, terms=TERMS, penalties=EACH_TWO), TASK, Silent(), WITHOUT_PROOFS, False)
    assert (found.stop, found.value, found.bound) == (StopReason.PROVED, (0, 15), (0, 15))


@pytest.mark.parametrize(("costs", "value"), [((1, 1, 1), (1, 10)), ((1, 2, 2), (1, 11)), ((2, 2, 1), (1, 10))])
def test_each_way_to_pay_the_least_is_tried(costs: tuple[int, ...], value: tuple[int, int]) -> None:
    """Only two have room side by side. The blocks of the pair that pays least share."""
    penalties = [(a, b, cost) for (a, b, _), cost in zip(EACH_TWO, costs, strict=True)]
    instance = make_instance(TRIANGLE, terms=TERMS, penalties=penalties, capacity=14)
    found = solve_joint(instance, TASK, Silent(), WITHOUT_PROOFS, False)
    assert (found.stop, found.value, found.bound) == (StopReason.PROVED, value, value)


def test_too_many_ways_are_left_to_other_engines() -> None:
    blocks = [(time, time + 1, 1) for time in range(40)]
    penalties = [(a, b, 1) for a, b in itertools.combinations(range(40), 2)]
    instance = make_instance(blocks, terms=TERMS, penalties=penalties)
    apart = Placement.in_one_pool(np.arange(40))
    two = Placement(apart.pool, np.maximum(apart.offset - 1, 0))
    all_ways = ways_to_share(instance, apart)
    assert all_ways is not None
    assert all_ways.is_only
    assert len(penalties) > MOST_WAYS
    assert ways_to_share(instance, two) is None


def test_a_pair_that_was_excluded_may_be_kept_apart() -> None:
    blocks = [(0, 2, 3), (0, 2, 4)]
    instance = make_instance(blocks, terms=TERMS, penalties=[(0, 1, 1)], exclusions=[(1, 0)], pools=[PoolSpec()])
    apart = parted(instance, np.zeros(1, dtype=np.bool_))
    assert apart.conflicts.tolist() == [[0, 1]]
    assert not len(apart.exclusions)
    assert not len(apart.penalties)


def drawn(seed: int) -> Problem:
    """A random problem of up to five buffers in one or two pools, in which sharing addresses costs something."""
    draw = random.Random(seed)
    count, width = draw.randint(3, 5), draw.choice([1, 1, 2])
    buffers = tuple(
        Buffer(
            i, draw.randint(1, 6), live=((s := draw.randrange(5), s + draw.randint(1, 3)),), accesses=draw.randint(0, 3)
        )
        for i in range(count)
    )
    pools = tuple(Pool(f"p{number}", draw.randint(6, 16)) for number in range(width))
    pairs = list(itertools.combinations(range(count), 2))
    conflicts = tuple(pair for pair in pairs if draw.random() < 0.1)
    excluded = tuple(pair for pair in pairs if pair not in conflicts and draw.random() < 0.2)
    penalties = tuple(ReusePenalty(*pair, draw.randint(0, 2)) for pair in pairs if draw.random() < 0.7)
    later = draw.choice([(Term.SUM_OF_PEAKS,), (Term.LARGEST_PEAK, Term.ACCESS_COST), (Term.BALANCED,)])
    return Problem(
        buffers, pools, Constraints(conflicts, excluded, reuse_penalties=penalties), (Term.REUSE_COST, *later)
    )


def test_what_is_proven_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "engines_of_auto", lambda _: WITHOUT_PROOFS)
    proven = 0
    for seed in range(40):
        problem = drawn(seed)
        made = plan(problem, Options(workers=1, time_limit=None, work_limit=100_000))
        assert judge(problem, made, oracle.solve(problem)) == [], seed
        proven += made.status is PlanStatus.OPTIMAL and len(made.objective.terms) > 1
    assert proven > 20
