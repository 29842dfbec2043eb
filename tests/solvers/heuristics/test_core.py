"""The solver that packs a core of blocks first, and adds to the core what lives beside whatever ends too high."""

from __future__ import annotations

import numpy as np
import pytest

from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from solvers.geometry.rules import violation
from solvers.heuristics.core import LEAST_OUTSIDE, MOST_IN_CORE, Core, core_weight, cores
from solvers.kernels.columns import columns
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance, plain
from tests.solvers.heuristics.test_improve import peak
from tests.solvers.kernels.kernel_sets import native

FULL = [(0, 3, 5), (1, 3, 3), (0, 6, 4), (3, 6, 8)]
"""Start, end and size of blocks; 12 are live in each section but the first."""


def bursts(buffers: int) -> Instance:
    """An instance of long-lived large blocks and bursts of short-lived small ones."""
    return lower(generate("pangu", Request(buffers, 1, parameters={"conflicts": 40 * buffers}))).instance


def test_a_core_is_a_small_part_of_all_blocks() -> None:
    assert cores(0) == []
    for blocks in (1, 10, 1_000, 1_000_000):
        assert all(0 < count <= min(blocks // (1 + LEAST_OUTSIDE), MOST_IN_CORE) for count in cores(blocks))
    assert cores(100)


@pytest.mark.parametrize("seed", range(3))
def test_the_core_alone_leaves_room_for_the_rest(seed: int) -> None:
    instance = bursts(1_000)
    bound, _ = native().max_live(instance.rect_start, instance.rect_end, instance.block_high, instance.sections)
    order = native().greedy_order(instance.sections, columns(instance), "birth")
    start = native().greedy_place(instance.sections, columns(instance), order, "lowest")
    assert start is not None
    task = Task(limits=Limits(work=400_000), start=Placement.in_one_pool(start), bound=(bound,), seed=seed)
    outcome = Core().solve(instance, task, Silent())
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert bound <= peak(instance, outcome.placement.offset) < peak(instance, start)
    assert outcome.stop is (
        StopReason.PROVED if peak(instance, outcome.placement.offset) == bound else StopReason.WORK_LIMIT
    )


def test_a_core_s_weight_is_counted() -> None:
    small = [plain(3 * i, 3 * i + 1, 1) for i in range(9)]
    assert core_weight(make_instance([*small, plain(0, 27, 100)])) == 99
    assert core_weight(make_instance([*small, plain(0, 1, 1)])) == 20
    assert core_weight(make_instance([plain(0, 1, 1)])) == 0


def test_a_core_without_room_for_the_rest_worsens_nothing() -> None:
    instance = make_instance([plain(start, end, size) for start, end, size in FULL] * 5)
    start = np.cumsum([0, *instance.block_high[:-1]]).astype(np.int64)
    outcome = Core().solve(instance, Task(limits=Limits(work=2_000), start=Placement.in_one_pool(start)), Silent())
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert peak(instance, outcome.placement.offset) <= peak(instance, start)
