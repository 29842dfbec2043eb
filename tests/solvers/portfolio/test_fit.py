"""Where any placement will do, bounds are worked out only for what greedy cannot place."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest

from solvers.bounds.one_pool import pool_bound
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, PoolSpec
from solvers.model.outcome import Certificate
from solvers.model.solver import Goal, Limits, Silent, Task
from solvers.portfolio import single_pool
from solvers.portfolio.roster import packers
from solvers.portfolio.separate import solve_separate_pools
from tests.small.instances import make_instance

RESERVED = ((3, 4),)
RECTS = [(0, 2, 3), (0, 2, 3), (3, 5, 4), (3, 5, 1)]
LEAST = 8
"""More is live at first, but 4 does not fit below what is reserved."""


def measured(capacity: int) -> tuple[list[bool], StopReason, int]:
    """Whether each bound was worked out in full, how the run ended, and its bound."""
    instance = make_instance(RECTS, pools=[PoolSpec(capacity, RESERVED)])
    looks = list[bool]()

    def look(of: Instance, pool: int, stopped: Callable[[], object] | None = None) -> Certificate | None:
        looks.append(stopped is None or not stopped())
        return pool_bound(of, pool, stopped=stopped)

    with patch.object(single_pool, "pool_bound", look):
        task = Task(Limits(work=100_000, workers=1), Goal.FIT)
        outcome = solve_separate_pools(instance, task, Silent(), packers(), by_name=False)
    assert (outcome.placement is not None) != outcome.infeasible
    return looks, outcome.stop, outcome.bound[0]


def test_no_bound_is_needed_where_greedy_finds_room() -> None:
    looks, stop, bound = measured(LEAST)
    assert looks == [False]
    assert stop in (StopReason.GOAL_MET, StopReason.PROVED)
    assert bound <= LEAST


def test_it_is_worked_out_once_where_greedy_finds_none() -> None:
    looks, stop, bound = measured(LEAST - 1)
    assert looks == [False, True]
    assert stop is StopReason.PROVED
    assert bound == LEAST


@pytest.mark.parametrize("seed", range(20))
def test_what_fits_or_not_is_the_same_as_with_bounds_at_once(seed: int) -> None:
    chance = np.random.default_rng(seed)
    starts = chance.integers(0, 6, 7)
    rects = [(int(a), int(a + b), int(c)) for a, b, c in zip(starts, *chance.integers(1, 5, (2, 7)), strict=True)]
    instance = make_instance(rects, capacity=int(chance.integers(8, 14)))
    found = solve_separate_pools(instance, Task(Limits(work=200_000), Goal.FIT), Silent(), packers(), by_name=False)
    least = solve_separate_pools(instance, Task(Limits(work=200_000)), Silent(), packers(), by_name=False)
    assert (found.placement is None, found.infeasible) == (least.placement is None, least.infeasible)
