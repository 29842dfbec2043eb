"""Pools that are alike as one: which are, and that nothing is lost by it that a placement in all of them could reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.geometry.alike_pools import as_one
from solvers.model.instance import ADDRESS_LIMIT, Instance, Placement, PoolSpec, Term
from solvers.model.objective import evaluate
from tests.small.instances import Block, make_instance, plain

SIZE = (Term.SUM_OF_PEAKS,)
PAD = PoolSpec(capacity=10, cost=2)
RANGED = PoolSpec(capacity=12, reserved=((5, 8),), cost=2)


def blocks_of(pools: list[PoolSpec], *blocks: Block, apart: tuple[tuple[int, int], ...] = ()) -> Instance:
    return make_instance(blocks, pools=pools, terms=SIZE, apart=apart)


def test_alike_pools_are_one_with_all_their_room() -> None:
    one = as_one(blocks_of([PoolSpec(), *[PAD] * 5, PoolSpec(capacity=10, cost=3)], plain(0, 1, 4), plain(0, 1, 11)))
    assert one is not None
    assert one.groups == ((0,), (1, 2, 3, 4, 5), (6,))
    assert [(pool.capacity, pool.cost) for pool in one.instance.pools] == [(None, 1), (50, 2), (10, 3)]
    assert one.instance.allowed.tolist() == [[True, True, True], [True, False, False]]
    assert one.instance.highest[0, 1] == 46


def test_what_is_reserved_is_no_room_and_blocks_must_fit_beside_it() -> None:
    one = as_one(blocks_of([PoolSpec(), *[RANGED] * 5], plain(0, 1, 4), plain(0, 1, 6)))
    assert one is not None
    assert (one.instance.pools[1].capacity, one.instance.pools[1].reserved) == (45, ())
    assert one.instance.allowed.tolist() == [[True, True], [True, False]]


def test_pools_that_differ_in_cost_stay_as_they_are() -> None:
    assert as_one(blocks_of([PoolSpec(), PAD, replace(PAD, cost=3)], plain(0, 1, 4))) is None


def test_pools_that_differ_in_room_alone_are_one_with_the_room_of_all() -> None:
    one = as_one(blocks_of([PoolSpec(), PAD, RANGED, replace(PAD, capacity=3)], plain(0, 1, 4)))
    assert one is not None
    assert one.groups == ((0,), (1, 2, 3))
    assert one.instance.pools[1].capacity == 22


def test_the_room_of_all_is_no_more_than_a_pool_can_have() -> None:
    """The sum of two sizes of 2^62 has no place in 64 bits, and planning ended with an OverflowError."""
    one = as_one(blocks_of([PoolSpec(), *[replace(PAD, capacity=ADDRESS_LIMIT)] * 3], plain(0, 1, 4)))
    assert one is not None
    assert one.instance.pools[1].capacity == ADDRESS_LIMIT
    assert one.instance.highest[0, 1] == ADDRESS_LIMIT - 4


def test_pools_stay_apart_for_what_must_not_share_one() -> None:
    assert as_one(blocks_of([PAD] * 6, plain(0, 1, 4), plain(1, 2, 4), apart=((0, 1),))) is None


def test_pools_with_ranges_stay_apart_for_what_can_lie_on_both_sides() -> None:
    torn = Block([(0, 4, [(0, 1)]), (7, 9, [(0, 1)])])
    assert as_one(blocks_of([RANGED] * 6, torn)) is None
    assert as_one(blocks_of([PAD] * 6, torn)) is not None


def test_what_is_stacked_costs_as_much_as_in_all_of_them() -> None:
    instance = blocks_of([PAD] * 6, plain(0, 1, 7), plain(0, 1, 4), plain(1, 2, 5))
    one = as_one(instance)
    assert one is not None
    apart = Placement(np.array([0, 3, 3]), np.array([0, 0, 0]))
    stacked = Placement(np.zeros(3, dtype=np.int64), np.array([0, 7, 7]))
    assert evaluate(instance, apart) == evaluate(one.instance, stacked) == (24,)


def test_what_must_be_together_is_allowed_together() -> None:
    instance = blocks_of([PoolSpec(), *[RANGED] * 5], plain(0, 1, 4), plain(0, 1, 6), plain(0, 1, 3))
    one = as_one(replace(instance, pool_class=np.array([0, 0, 1])))
    assert one is not None
    assert one.instance.allowed.tolist() == [[True, False], [True, False], [True, True]]
