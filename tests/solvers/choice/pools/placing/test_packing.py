"""A choice that is too much for a memory with a capacity: what ends above that goes to a memory without one."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from solvers.choice.pools.placing import packing as packings
from solvers.choice.pools.placing.packing import Packing
from solvers.geometry.rules import violation
from solvers.model.errors import StopReason
from solvers.model.instance import Ints, Placement, PoolSpec
from solvers.model.outcome import Outcome
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance, plain

POOLS = (PoolSpec(100), PoolSpec(None, cost=2))
BOTH = frozenset({0, 1})
BLOCKS = [(0, 4, 40), (0, 4, 50), (2, 6, 30), (4, 8, 60)]


def nearly(number: Ints, counted: frozenset[int] = BOTH, apart: tuple[tuple[int, int], ...] = ()) -> Placement | None:
    instance = make_instance([plain(*block) for block in BLOCKS], pools=POOLS, apart=apart)
    packing = Packing(instance, Task(Limits(work=100_000)), Silent())
    placement = packing.nearly(np.zeros(4, dtype=np.int64), number, counted, 100_000)
    assert placement is None or violation(instance, placement) is None
    return placement


@pytest.mark.parametrize("counted", [BOTH, frozenset[int]()])
def test_what_ends_above_the_capacity_leaves_alone(counted: frozenset[int]) -> None:
    placement = nearly(np.arange(4), counted)
    assert placement is not None
    assert placement.pool.sum() == 1
    assert placement.pool[3] == 0


def test_classes_leave_as_a_whole() -> None:
    placement = nearly(np.zeros(4, dtype=np.int64))
    assert placement is not None
    assert placement.pool.tolist() == [1, 1, 1, 1]


def test_nothing_leaves_where_some_must_be_apart() -> None:
    assert nearly(np.arange(4), apart=((0, 1),)) is None


def test_nothing_leaves_where_it_may_not() -> None:
    instance = make_instance([plain(0, 4, 60, pools=[0]), plain(0, 4, 60, pools=[0])], pools=POOLS)
    packing = Packing(instance, Task(Limits(work=100_000)), Silent())
    assert packing.nearly(np.zeros(2, dtype=np.int64), np.arange(2), BOTH, 100_000) is None


def tiles(chance: Random, side: int, depth: int) -> list[tuple[int, int, int]]:
    """Blocks that together fill a square of room and time."""

    def cut(start: int, end: int, size: int, left: int) -> list[tuple[int, int, int]]:
        if left and chance.random() < 0.5 and end - start > 2:
            middle = chance.randrange(start + 1, end)
            return [*cut(start, middle, size, left - 1), *cut(middle, end, size, left - 1)]
        if left and size > 2:
            lower = chance.randrange(1, size)
            return [*cut(start, end, lower, left - 1), *cut(start, end, size - lower, left - 1)]
        return [(start, end, size)]

    return cut(0, side, side, depth)


def full_pools(seed: int) -> tuple[Packing, Ints]:
    """Three pools that are full, beside one that does not end, and what is in which."""
    chance = Random(seed)
    blocks = [tiles(chance, 128, 8) for _ in range(3)]
    instance = make_instance(
        [plain(*block) for each in blocks for block in each], pools=(*[PoolSpec(128)] * 3, PoolSpec(None, cost=2))
    )
    pool = np.repeat(np.arange(3), [len(each) for each in blocks])
    return Packing(instance, Task(Limits(work=100_000)), Silent()), pool


@pytest.mark.parametrize("seed", [1, 10])
def test_full_pools_are_packed_within_what_they_hold(seed: int) -> None:
    """Asked only for what may end beyond it, with as little work, about 50 blocks left."""
    packing, pool = full_pools(seed)
    placement = packing.nearly(pool, np.arange(len(pool)), frozenset(), 6_000)
    assert placement is not None
    assert (placement.pool == pool).all()


def test_each_pool_leaves_the_next_ones_a_third_of_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one took all."""
    granted = list[int]()

    def solve(piece: Any, task: Task, *_: object, **__: object) -> Outcome:
        assert task.limits.work is not None
        granted.append(task.limits.work)
        is_within = piece.pools[0].capacity is not None
        found = Placement(np.zeros(piece.blocks, dtype=np.int64), 128 * np.arange(piece.blocks, dtype=np.int64))
        outcome = Outcome(StopReason.WORK_LIMIT, None if is_within else found, bound=())
        return replace(outcome, work=task.limits.work)

    packing, pool = full_pools(1)
    monkeypatch.setattr(packings, "solve_separate_pools", solve)
    packing.nearly(pool, np.arange(len(pool)), frozenset(), 60_000)
    *in_two, last = granted
    left = 60_000
    for within, beyond in zip(in_two[::2], in_two[1::2], strict=True):
        share = left * 2 // 3
        assert (within, beyond) == (share * 2 // 3, share - share * 2 // 3)
        left -= share
    assert last == left


def test_what_pools_leave_of_their_share_goes_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    granted = list[int]()

    def solve(piece: Any, task: Task, *_: object, **__: object) -> Outcome:
        assert task.limits.work is not None
        granted.append(task.limits.work)
        low = np.zeros(piece.blocks, dtype=np.int64)
        return replace(Outcome(StopReason.WORK_LIMIT, Placement(low, low), bound=()), work=task.limits.work)

    packing, pool = full_pools(1)
    monkeypatch.setattr(packings, "solve_separate_pools", solve)
    packing.nearly(pool, np.arange(len(pool)), frozenset(), 60_000)
    first, second, last = granted
    assert first == 60_000 * 2 // 3 * 2 // 3
    assert second == (60_000 - first) * 2 // 3 * 2 // 3
    assert last == (60_000 - first - second) * 2 // 3


def test_what_was_packed_in_vain_with_a_share_is_packed_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    packing, pool = full_pools(1)
    blocks = np.flatnonzero(pool == 0)
    assert packing.packed(0, blocks, False, 0) is None
    assert packing.packed(0, blocks, False, 30_000) is not None
    monkeypatch.setattr(packings, "solve_separate_pools", None)
    assert packing.packed(0, blocks, False, 60_000) is not None


def test_what_cannot_be_packed_is_not_packed_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    packing, pool = full_pools(1)
    blocks, all_ = np.flatnonzero(pool == 0), np.arange(len(pool))
    assert packing.packed(0, blocks, False, 0) is None
    packing.know(0, blocks, None)
    assert packing.packed(0, all_, False, 10) is None
    monkeypatch.setattr(packings, "solve_separate_pools", None)
    for some in (blocks, all_):
        assert packing.packed(0, some, False, 60_000) is None
