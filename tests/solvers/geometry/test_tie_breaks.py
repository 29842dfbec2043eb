"""Of placements of equal cost, the one with less in the pools to use last is preferred."""

from __future__ import annotations

import numpy as np
import pytest

from planner import Options, plan
from planner.model.problem import Buffer, Pool, Problem
from solvers.geometry.tie_breaks import least_tie, preferring, rank_tie
from solvers.model.instance import Placement, PoolSpec
from tests.small.instances import make_instance


def in_pools(*pools: int) -> Placement:
    return Placement(np.array(pools, dtype=np.int64), np.zeros(len(pools), dtype=np.int64))


def test_ties_go_to_the_preferred_pool() -> None:
    instance = make_instance([(0, 1, 4)], pools=[PoolSpec(rank=0), PoolSpec(rank=1)])
    assert rank_tie(instance, in_pools(0)) < rank_tie(instance, in_pools(1))
    assert least_tie(instance, (4, 0)) == rank_tie(instance, in_pools(0))


def test_the_cost_comes_first_whatever_the_ties() -> None:
    """One byte in a pool that costs outweighs filling a pool that costs nothing."""
    pools = [PoolSpec(capacity=10, cost=1, rank=0), PoolSpec(capacity=1000, cost=0, rank=1)]
    instance, bound = preferring(make_instance([(0, 1, 4)], pools=pools), (4,))
    assert bound[0] >= 4 * instance.pools[0].cost
    assert instance.pools[0].cost > 1000 * instance.pools[1].cost > 0


@pytest.mark.parametrize("solver", ["auto", "cpsat", "cbc"])
@pytest.mark.parametrize("cost", [1, 0])
def test_ties_between_pools_put_less_in_the_slower_one(solver: str, cost: int) -> None:
    """Both pools cost the same, so the sum leaves open how much is in the slower one; the least is 2 bytes."""
    pytest.importorskip("ortools")
    pools = (Pool("slow", 8, cost=cost, rank=1), Pool("fast", 8, cost=cost, rank=0))
    buffers = tuple(Buffer(name, size, 1, ((0, 1),)) for name, size in zip("abcd", (2, 3, 2, 3), strict=True))
    made = plan(Problem(buffers, pools), Options(solver=solver, time_limit=20.0))
    assert made.status == "optimal"
    assert {use.name: use.peak for use in made.pools} == {"slow": 2, "fast": 8}
    library = {"auto": "memplan", "cpsat": "ortools", "cbc": "pulp"}[solver]
    assert library in made.versions, "who settled the tie took part; so few choices auto tries by itself"
