"""A choice that is too much for a memory with a capacity: what ends above that goes to a memory without one."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.choice.pools.placing.packing import Packing
from solvers.geometry.rules import violation
from solvers.model.instance import Ints, Placement, PoolSpec
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
