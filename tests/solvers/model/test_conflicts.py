"""The pairs of parts that must not share addresses, where there are many pools."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from solvers.model import conflicts
from solvers.model.conflicts import distinct, live_pairs, part_pairs
from solvers.model.instance import PoolSpec
from solvers.model.interruption import interrupted_by
from tests.small.instances import Block, make_instance


def test_blocks_without_a_common_pool_are_no_pair() -> None:
    blocks = [Block([(0, 8, [(0, 9)])]) for _ in range(3)]
    instance = make_instance(blocks, pools=[PoolSpec()] * 3)
    allowed = np.array([[True, True, False], [False, True, False], [True, False, True]])
    assert part_pairs(replace(instance, allowed=allowed)).tolist() == [[0, 1], [0, 2]]


def test_two_blocks_that_meet_often_are_one_pair() -> None:
    """A table with an entry for each of 3000 meetings and each of 3000 pools took 9 MB."""
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


def test_each_number_is_listed_once() -> None:
    assert distinct(np.array([5, 3, 5, -1, 3])).tolist() == [-1, 3, 5]
    assert distinct(np.zeros(0, dtype=np.int64)).tolist() == []


def test_listing_pairs_checks_for_interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "CHUNK", 10)
    instance = make_instance([Block([(0, 8, [(0, 9)])]) for _ in range(10)])
    calls: list[int] = []
    with interrupted_by(lambda: calls.append(1)):
        chunks = len(list(live_pairs(instance)))
    assert len(calls) == chunks > 3
