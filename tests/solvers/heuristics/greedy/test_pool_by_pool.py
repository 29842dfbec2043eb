"""Placing pool by pool is valid, and gives what placing block by block gives where no block has to give way."""

from __future__ import annotations

import random
from itertools import product
from unittest.mock import patch

import numpy as np

from solvers.fitting.neighbours import neighbours
from solvers.fitting.orders import Fit, orders
from solvers.fitting.placing import Pass, place_all
from solvers.geometry.rules import violation
from solvers.heuristics.greedy import many_pools
from solvers.heuristics.greedy.pool_by_pool import FIRST_ORDER, pool_by_pool
from solvers.heuristics.greedy.solver import Greedy
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, PoolSpec
from solvers.model.objective import evaluate
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance, plain
from tests.small.strategies import NIGHTLY


def made_up(seed: int) -> Instance:
    """A random instance of some blocks and three pools, at most two of them small."""
    chance = random.Random(seed)
    count = chance.randrange(2, 25)
    small = chance.choice((12, 40, 1000))
    group = [chance.randrange(i + 1) if chance.random() < 0.2 else i for i in range(count)]
    group = [group[g] for g in group]
    group = [min(j for j in range(count) if group[j] == g) for g in group]
    blocks = [
        plain(
            start,
            start + chance.randrange(1, 6),
            chance.randrange(1, 12),
            alignment=chance.choice((1, 1, 4)),
            pools=chance.choice((None, None, None, [0, 2], [2])),
            pool_class=group[i],
            fixed=chance.choice((None,) * 9 + (4,)) if chance.random() < 0.3 else None,
        )
        for i, start in enumerate(chance.randrange(12) for _ in range(count))
    ]
    pairs = [(a, b) for a in range(count) for b in range(a) if group[a] != group[b] and chance.random() < 0.05]
    pools = [PoolSpec(chance.choice((None, small)), ((3, 5),)), PoolSpec(small, cost=3), PoolSpec(None)]
    instance = make_instance(blocks, pools=pools, apart=pairs if seed % 3 == 0 else ())
    common = np.ones_like(instance.allowed)
    np.logical_and.at(common, instance.pool_class, instance.allowed)
    instance.allowed[:] = common[instance.pool_class]
    return instance


def test_hurried_placements_are_valid() -> None:
    found = 0
    for seed in range(200):
        instance = made_up(seed)
        quick = pool_by_pool(instance, lambda: True)
        found += quick is not None
        assert quick is None or violation(instance, quick.placement) is None, seed
    assert found > 50


def test_every_placement_is_valid() -> None:
    as_preferred = moved = 0
    for seed in range(600 if NIGHTLY else 300):
        instance = made_up(seed)
        found = pool_by_pool(instance)
        if found is None:
            continue
        assert violation(instance, found.placement) is None, seed
        moved += not found.all_as_preferred
        if found.all_as_preferred and not len(instance.apart):
            as_preferred += 1
            first = place_all(
                instance, Pass(orders(instance)[FIRST_ORDER], Fit.LOWEST), neighbours(instance), lambda: False
            )
            assert first is not None
            assert evaluate(instance, first) == evaluate(instance, found.placement)
            assert np.array_equal(first.offset, found.placement.offset), seed
    assert as_preferred > 50
    assert moved > 50
    assert next(iter(orders(made_up(0)))) == FIRST_ORDER


def test_without_time_many_blocks_keep_the_places_of_pool_by_pool() -> None:
    class Late(Silent):
        def stopped(self) -> StopReason | None:
            return StopReason.TIME_LIMIT

    some = [(each, found) for each in map(made_up, range(99)) if (found := pool_by_pool(each))]
    assert {found.all_as_preferred for _, found in some} == {True, False}
    with (
        patch.object(many_pools, "MANY_BLOCKS", 1),
        patch.object(many_pools, "place_all", side_effect=AssertionError("there is no time for that")),
        patch.object(many_pools, "neighbours", side_effect=AssertionError("nor for that")),
    ):
        for (instance, quick), work in product(some, (None, 0)):
            made = Greedy().solve(instance, Task(Limits(deadline=0.0, work=work)), Late())
            assert made.placement is not None
            assert np.array_equal(made.placement.offset, quick.placement.offset)
            assert made.stop is StopReason.TIME_LIMIT or (made.stop is StopReason.WORK_LIMIT and quick.all_as_preferred)


def test_with_time_all_orders_are_tried() -> None:
    for seed in range(60 if NIGHTLY else 30):
        instance = made_up(seed)
        plainly = Greedy().solve(instance, Task(Limits()), Silent())
        with patch.object(many_pools, "MANY_BLOCKS", 1):
            made = Greedy().solve(instance, Task(Limits()), Silent())
        assert made.value == plainly.value or (made.value or ()) < (plainly.value or (1 << 62,)), seed


def test_blocks_that_move_on_stay_apart_from_others() -> None:
    blocks = [(0, 2, 6), (0, 2, 5), (0, 2, 4), (0, 2, 3)]
    pools = [PoolSpec(10), PoolSpec(10), PoolSpec(None)]
    instance = make_instance(blocks, pools=pools, apart=[(1, 3), (1, 2)])
    quick = pool_by_pool(instance)
    assert quick is not None
    assert violation(instance, quick.placement) is None
    assert quick.placement.pool.tolist() == [0, 2, 1, 1]
