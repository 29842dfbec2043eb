"""What is said to be missing if no choice of alternatives fits: against trying every choice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.formats import read_frontier, write_frontier
from planner.model.plan import PlanStatus
from planner.model.problem import Alternative, Buffer, CostTerm, Pool, Problem, VariantGroup, Variants
from planner.planning.options.options import Options
from planner.planning.placing.solving import pareto, plan
from planner.verifying.verify import verify
from tests.planner.planning.placing.variants.random_variants import every_choice, random_problem, sound_seeds
from tests.small.strategies import NIGHTLY

OPTIONS = Options(workers=1, time_limit=None, work_limit=1_000_000)


def made(size: int | None = 40, *more: Pool) -> Problem:
    """A small and dear alternative, and a large and cheap one."""
    small = Alternative("small", (9,), (Buffer("s", 50, live=((0, 2),), pools=("p",)),))
    large = Alternative("large", (3,), (Buffer("l", 80, live=((0, 2),), pools=("p",)),))
    variants = Variants((VariantGroup("g", (small, large)),), (CostTerm("cycles"),))
    return Problem((Buffer("a", 10, live=((1, 3),), pools=("p",)),), (Pool("p", size), *more), variants=variants)


@pytest.mark.parametrize(
    ("problem", "max_cost", "message"),
    [
        (
            made(),
            None,
            (
                "pool 'p' is 20 bytes too small for every choice of alternatives: it has 40 bytes, "
                "and the least that any needs is 60 bytes ('g': 'small')"
            ),
        ),
        (
            made(60),
            8,
            (
                "pool 'p' is 30 bytes too small for every choice of alternatives with a cost of 8 or less: it has 60 bytes, "
                "and the least that any needs is 90 bytes ('g': 'large')"
            ),
        ),
        (made(), 2, "no choice of alternatives has a cost of 2 or less: the cheapest costs 3 ('g': 'large')"),
        (
            made(15, Pool("q", 70)),
            None,
            (
                "no choice of alternatives fits into the capacities; one of them ('g': 'small') would take 60 bytes of pool 'p', "
                "which has 15; others may need less"
            ),
        ),
    ],
)
def test_the_message_names_the_memory_that_would_be_enough(
    problem: Problem, max_cost: int | None, message: str
) -> None:
    options = replace(OPTIONS, max_cost=max_cost)
    found = plan(problem, options)
    assert (found.status, found.shortage and found.shortage.message) == (PlanStatus.INFEASIBLE, message)
    assert not verify(problem, found)
    frontier = pareto(problem, options)
    assert (frontier.points, frontier.is_infeasible, frontier.missing) == ((), True, message)
    assert read_frontier(write_frontier(frontier, ())).missing == message


@pytest.mark.parametrize("seed", sound_seeds(random_problem, 60 if NIGHTLY else 12))
def test_the_named_memory_is_the_least_of_all_choices(seed: int) -> None:
    problem = random_problem(seed)
    assert problem is not None
    (pool,) = problem.pools
    choices = every_choice(replace(problem, pools=(replace(pool, size=None),)))
    least = min(room for _, room in choices)
    small = replace(problem, pools=(replace(pool, size=least - 1),))
    found = plan(small, OPTIONS)
    assert (found.status, found.bound) == (PlanStatus.INFEASIBLE, least)
    assert found.shortage is not None
    assert found.shortage.bytes_short == 1
    fitting = [cost for cost, room in choices if pool.size is None or room <= pool.size]
    cheapest = min(fitting or [cost for cost, _ in choices])
    cheaper = [room for cost, room in choices if cost < cheapest]
    dear = plan(problem, replace(OPTIONS, max_cost=cheapest - 1))
    assert dear.shortage is not None
    said = f"the least that any needs is {min(cheaper)} bytes " if cheaper else f"the cheapest costs {cheapest} "
    assert said in dear.shortage.message
