"""Which pairs of parts must not share addresses, where there are many pools."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np

from solvers.model.conflicts import part_pairs
from solvers.model.instance import PoolSpec
from tests.small.instances import Block, make_instance


def test_who_has_no_pool_in_common_needs_none_apart() -> None:
    blocks = [Block([(0, 8, [(0, 9)])]) for _ in range(3)]
    instance = make_instance(blocks, pools=[PoolSpec()] * 3)
    allowed = np.array([[True, True, False], [False, True, False], [True, False, True]])
    assert part_pairs(replace(instance, allowed=allowed)).tolist() == [[0, 1], [0, 2]]


def test_two_that_meet_often_in_one_of_many_pools_are_one_pair() -> None:
    """A table of every meeting and every pool took as many bytes as the two numbers multiply to."""
    often = [(3 * time, 3 * time + 2) for time in range(3000)]
    instance = make_instance([Block([(0, 8, often)]) for _ in range(2)], pools=[PoolSpec()] * 3000)
    tracemalloc.start()
    try:
        found = part_pairs(instance)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.tolist() == [[0, 1]]
    assert most < 3 << 20
