"""Classes that must be in different pools take them in turn, before anything is placed."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from solvers.geometry.rules import violation
from solvers.heuristics.assign.apart import MOST_PAIRS, kept_apart, raising
from solvers.heuristics.assign.from_prices import settled
from solvers.model.instance import PoolSpec, Term
from tests.small.instances import make_instance, plain


@pytest.mark.parametrize("seed", range(40))
def test_nobody_finds_a_partner_where_it_costs_least(seed: int) -> None:
    draw = Random(seed)
    costs = np.array([[draw.choice((0.0, 1.0, 5.0, np.inf)) for _ in range(3)] for _ in range(6)])
    pairs = np.array([draw.sample(range(6), 2) for _ in range(4)])
    kept = kept_apart(pairs, costs)
    if kept is None:
        return
    chosen = kept.argmin(axis=1)
    assert (chosen[pairs[:, 0]] != chosen[pairs[:, 1]]).all()
    assert (np.isinf(kept) | (kept == costs)).all()
    others = [group for group in range(6) if group not in pairs]
    assert (kept[others] == costs[others]).all()


def test_pools_are_found_for_most() -> None:
    draw = Random(7)
    costs = np.array([[draw.random() for _ in range(3)] for _ in range(300)])
    assert kept_apart(np.arange(300).reshape(-1, 2), costs) is not None


def test_who_loses_most_elsewhere_chooses_first() -> None:
    kept = kept_apart(np.array([(0, 1)]), np.array([[0.0, 5.0], [0.0, 6.0], [0.0, 7.0]]))
    assert kept is not None
    assert kept.tolist() == [[np.inf, 5.0], [0.0, np.inf], [0.0, 7.0]]


@pytest.mark.parametrize("costs", [[[0.0, np.inf], [1.0, np.inf]], [[0.0], [0.0]], [[np.inf, np.inf], [0.0, 1.0]]])
def test_nothing_is_found_where_one_is_left_without_a_pool(costs: list[list[float]]) -> None:
    assert kept_apart(np.array([(0, 1)]), np.array(costs)) is None


def test_nothing_is_tried_with_very_many_pairs() -> None:
    pairs = np.array([(2 * n, 2 * n + 1) for n in range(MOST_PAIRS + 1)])
    costs = np.tile([0.0, 1.0], (2 * len(pairs), 1))
    assert kept_apart(pairs[1:], costs) is not None
    assert kept_apart(pairs, costs) is None


def test_a_pool_that_is_too_low_costs_what_is_missing() -> None:
    pools = [PoolSpec(9, cost=3), PoolSpec(None)]
    instance = make_instance([plain(0, 2, 7), plain(0, 2, 2)], pools=pools, terms=(Term.SUM_OF_PEAKS,))
    assert raising(instance, np.array([0, 1]), np.array([4.0, 8.0])).tolist() == [[9.0, 0.0], [0.0, 0.0]]


def test_blocks_that_must_be_apart_are_placed_apart() -> None:
    """Both went where they cost least, and nothing came of it."""
    blocks = [plain(0, 2, 4), plain(2, 4, 4), plain(0, 4, 4)]
    instance = make_instance(blocks, pools=[PoolSpec(8), PoolSpec(None)], apart=[(0, 1)])
    placement, _ = settled(instance, np.array([[0.0, 5.0], [0.0, 9.0], [0.0, 9.0]]))
    assert placement is not None
    assert placement.pool.tolist() == [1, 0, 0]
    assert violation(instance, placement) is None


def test_who_finds_no_room_does_not_go_to_a_partner() -> None:
    """The first leaves the first pool, and the second, which then has nowhere else, comes first in the second."""
    pools = [PoolSpec(5), PoolSpec(5, rank=1), PoolSpec(None, rank=2)]
    blocks = [plain(0, 2, 4), plain(0, 2, 4), plain(0, 2, 4), plain(0, 2, 4)]
    instance = make_instance(blocks, pools=pools, apart=[(0, 1)])
    wanted = np.array([[0.0, np.inf, 5.0], [np.inf, 0.0, 2.0], [0.0, np.inf, 90.0], [np.inf, 0.0, 9.0]])
    placement, _ = settled(instance, wanted)
    assert placement is not None
    assert placement.pool.tolist() == [2, 1, 0, 2]
