"""A pool that is no better than another changes nothing, and what is proven with it is true: compared with all placements of small problems."""

from __future__ import annotations

import random

import pytest

from planner.model.plan import PlanStatus
from planner.model.problem import Buffer, Constraints, Fixed, Pool, Problem
from planner.planning.options.options import Options
from planner.planning.placing.solving import plan
from planner.verifying.verify import verify
from solvers.model.instance import Term
from tests.small.judge import judge
from tests.small.oracle import solve

TERMS = (
    (Term.SUM_OF_PEAKS, Term.ACCESS_COST),
    (Term.ACCESS_COST, Term.SUM_OF_PEAKS),
    (Term.BALANCED,),
    (Term.SUM_OF_PEAKS,),
    (Term.SPILLED_BYTES, Term.SUM_OF_PEAKS),
    (Term.LARGEST_PEAK, Term.SUM_OF_PEAKS),
)


def some_problem(seed: int) -> Problem:
    """Few buffers in pools that are alike or nearly so, with every rule that could tell them apart."""
    draw = random.Random(seed)
    count = draw.randint(2, 5)
    sizes = (draw.choice([None, 6]), None, draw.choice([None, None, 9]))
    cost, step = draw.choice([1, 1, 2]), draw.choice([1, 1, 1, 2])
    pools = tuple(
        Pool(f"p{n}", size, alignment=step, cost=cost if draw.random() < 0.8 else 1, rank=draw.choice([0, n]))
        for n, size in enumerate(sizes)
    )
    buffers = []
    for n in range(count):
        start = draw.randrange(4)
        homes = draw.choice([None, None, None, ("p1", "p2"), ("p0", "p1"), ("p2",)])
        fixed = (
            None
            if n or homes is not None or draw.random() < 0.5
            else Fixed(draw.choice(["p1", "p2"]), draw.choice([None, 2]))
        )
        live = ((start, start + draw.randint(1, 3)),)
        buffers.append(Buffer(n, draw.randint(1, 4), live=live, pools=homes, fixed=fixed, accesses=draw.randint(0, 3)))
    pair = tuple(draw.sample(range(count), 2))
    rule = draw.choice(["", "", "conflicts", "exclusions", "different_pool", "same_pool"])
    rules = Constraints(**{rule: (pair,)}) if rule else Constraints()  # type: ignore[arg-type]
    return Problem(tuple(buffers), pools, rules, draw.choice(TERMS))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_proven_with_alike_pools_is_true(seed: int) -> None:
    problem = some_problem(seed)
    made = plan(problem, Options(work_limit=50_000, workers=1, time_limit=None))
    assert judge(problem, made, solve(problem)) == []


def layered(count: int, pools: tuple[Pool, ...]) -> Problem:
    draw = random.Random(7)
    buffers = []
    for n in range(count):
        start = draw.randrange(2 * count)
        buffers.append(
            Buffer(
                n, draw.randint(16, 4000), live=((start, start + draw.randint(1, 60)),), accesses=draw.randint(0, 900)
            )
        )
    return Problem(tuple(buffers), pools, terms=(Term.SUM_OF_PEAKS, Term.ACCESS_COST))


def test_a_second_unlimited_pool_leaves_the_plan_as_good_as_it_was() -> None:
    pytest.importorskip("ortools")
    fast, slow = Pool("fast", 9_000, cost=4), Pool("slow", cost=1, rank=1)
    one = layered(150, (fast, slow))
    two = layered(150, (fast, slow, Pool("again", cost=1, rank=2)))
    options = Options(work_limit=300_000, workers=1, time_limit=None)
    before, after = plan(one, options), plan(two, options)
    assert after.objective == before.objective
    assert {placed.pool for placed in after.placements} <= {"fast", "slow"}
    assert verify(two, after) == ()


def test_two_pools_of_conflicts_alone_are_proven_by_search() -> None:
    """No section says what two pools need; one pool's clique does, but only of that pool."""
    pytest.importorskip("ortools")
    buffers = tuple(Buffer(n, 4, live=((9 * n, 9 * n + 2),)) for n in range(2))
    problem = Problem(buffers, (Pool("a"), Pool("b")), Constraints(conflicts=((0, 1),)))
    made = plan(problem, Options(work_limit=200_000, workers=1, time_limit=None))
    assert (made.status, made.peak, made.bound) == (PlanStatus.OPTIMAL, 8, 8)
    assert verify(problem, made) == ()
