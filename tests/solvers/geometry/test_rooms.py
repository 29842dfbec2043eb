"""Gaps between reserved ranges as pools of their own: which ways there are, and that every placement is in one of them."""

from __future__ import annotations

import numpy as np

from solvers.geometry.rooms import Room, ways_of
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.objective import evaluate
from tests.small.instances import Block, make_instance, plain

SIZE, SPEED = (Term.SUM_OF_PEAKS,), (Term.ACCESS_COST,)
HALVES = PoolSpec(capacity=30, reserved=((10, 15),), cost=3)


def blocks_of(pools: list[PoolSpec], terms: tuple[Term, ...], *blocks: Block) -> Instance:
    return make_instance(blocks, pools=pools, terms=terms)


def test_where_no_peak_counts_all_rooms_are_open() -> None:
    (way,) = ways_of(blocks_of([HALVES, PoolSpec()], SPEED, plain(0, 1, 10), plain(0, 1, 10)))
    assert way.rooms == (
        Room(0, 0, 10, is_whole=False),
        Room(0, 15, 30, is_whole=False),
        Room(1, 0, None, is_whole=True),
    )
    assert [pool.capacity for pool in way.instance.pools] == [10, 15, None]
    assert not any(pool.reserved for pool in way.instance.pools)


def test_where_peaks_count_there_is_a_way_for_each_highest_room() -> None:
    low, high = ways_of(blocks_of([HALVES], SIZE, plain(0, 1, 4), plain(1, 2, 6)))
    assert [(pool.capacity, pool.cost) for pool in low.instance.pools] == [(10, 3)]
    assert [(pool.capacity, pool.cost) for pool in high.instance.pools] == [(10, 0), (15, 3)]
    assert (low.below, high.below) == (0, 45)


def test_a_placement_is_worth_what_its_way_says() -> None:
    instance = blocks_of([HALVES], SIZE, plain(0, 1, 4), plain(0, 1, 6))
    _, high = ways_of(instance)
    inside = Placement(np.array([0, 1]), np.array([3, 2]))
    lifted = high.lifted(inside)
    assert lifted.offset.tolist() == [3, 17]
    assert evaluate(instance, lifted) == high.bound(evaluate(high.instance, inside)) == (69,)


def test_a_placement_in_the_pools_is_the_same_in_rooms_that_are_open() -> None:
    low, high = ways_of(blocks_of([HALVES, PoolSpec()], SIZE, plain(0, 1, 4), plain(0, 1, 6), plain(0, 1, 2)))
    known = Placement(np.array([0, 0, 1]), np.array([3, 17, 0]))
    inside = high.inside(known)
    assert inside is not None
    assert (inside.pool.tolist(), inside.offset.tolist()) == ([0, 1, 2], [3, 2, 0])
    assert high.lifted(inside).offset.tolist() == known.offset.tolist()
    assert low.inside(known) is None


def test_addresses_stay_aligned_in_rooms_that_begin_anywhere() -> None:
    instance = blocks_of([HALVES], SIZE, plain(0, 1, 4, alignment=8), plain(0, 1, 4))
    _, high = ways_of(instance)
    assert (high.instance.residue[0] + [0, 15]).tolist() == [0, 16]
    assert (high.instance.lowest[0] + [0, 15]).tolist() == [0, 16]
    assert (high.instance.highest[0] + [0, 15]).tolist() == [0, 24]


def test_a_gap_that_is_too_small_for_all_is_no_room() -> None:
    pool = PoolSpec(reserved=((3, 15), (40, 41)))
    low, high = ways_of(blocks_of([pool, PoolSpec(capacity=8)], SIZE, plain(0, 1, 4), plain(0, 1, 5)))[1:]
    assert [room[:3] for room in low.rooms] == [(0, 15, 40), (1, 0, 8)]
    assert [room[:3] for room in high.rooms] == [(0, 15, 40), (0, 41, None), (1, 0, 8)]


def test_what_can_lie_on_both_sides_of_a_range_keeps_its_pool_whole() -> None:
    torn = Block([(0, 4, [(0, 1)]), (20, 24, [(0, 1)])])
    assert ways_of(blocks_of([HALVES], SIZE, torn, plain(0, 1, 4))) == []


def test_what_must_not_share_a_pool_keeps_it_whole() -> None:
    instance = make_instance([plain(0, 1, 4), plain(0, 1, 4)], pools=[HALVES, HALVES], terms=SIZE, apart=[(0, 1)])
    assert ways_of(instance) == []


def test_ranges_below_all_blocks_leave_a_pool_whole() -> None:
    assert ways_of(blocks_of([PoolSpec(reserved=((0, 8),)), PoolSpec()], SIZE, plain(0, 1, 4))) == []
