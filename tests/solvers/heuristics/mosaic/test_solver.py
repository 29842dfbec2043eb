"""The solver that joins what fits together and searches for a place for the pieces left."""

from __future__ import annotations

import random

import numpy as np
import pytest

from planner import Buffer, Problem
from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from solvers.geometry.rules import violation
from solvers.heuristics.mosaic.solver import Mosaic
from solvers.kernels.columns import columns
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement
from solvers.model.outcome import Outcome
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance, plain
from tests.solvers.heuristics.test_improve import peak
from tests.solvers.kernels.kernel_sets import native


def box(buffers: int, seed: int, dropped: int = 0, alignment: int = 1) -> Instance:
    """A box cut up without waste, with some per cent of its pieces dropped."""
    pieces: list[Buffer] = list(generate("packing", Request(buffers, seed, alignment)).buffers)
    kept = random.Random(seed).sample(pieces, buffers - buffers * dropped // 100)
    return lower(Problem(tuple(kept))).instance


def solved(instance: Instance, work: int, seed: int = 0) -> Outcome:
    bound, _ = native().max_live(instance.rect_start, instance.rect_end, instance.block_high, instance.sections)
    order = native().greedy_order(instance.sections, columns(instance), "size")
    start = native().greedy_place(instance.sections, columns(instance), order, "lowest")
    assert start is not None
    task = Task(limits=Limits(work=work), start=Placement.in_one_pool(start), bound=(bound,), seed=seed)
    outcome = Mosaic().solve(instance, task, Silent())
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert bound <= peak(instance, outcome.placement.offset) <= peak(instance, start)
    return outcome


@pytest.mark.parametrize("dropped", [0, 1, 3])
@pytest.mark.parametrize("seed", range(900, 904))
def test_boxes_cut_around_pinwheels_are_put_together_again(seed: int, dropped: int) -> None:
    assert solved(box(300, seed, dropped), 500_000).stop is StopReason.PROVED


def test_blocks_of_one_alignment_are_joined_as_aligned_and_others_as_they_are() -> None:
    assert solved(box(200, 1, alignment=64), 200_000).stop is StopReason.PROVED
    sizes = [(0, 2, 30), (2, 4, 30), (0, 4, 50), (4, 6, 90)]
    aligned = [plain(begin, end, size, alignment=8) for begin, end, size in sizes]
    assert solved(make_instance(aligned), 10_000).value == (90,)
    mixed = [plain(begin, end, size, alignment=4 << (n % 2)) for n, (begin, end, size) in enumerate(sizes)]
    assert solved(make_instance(mixed), 10_000).placement is not None


def test_one_block_is_a_mosaic() -> None:
    assert solved(make_instance([plain(0, 1, 5)]), 1_000).stop is StopReason.PROVED


def test_without_proof_the_work_ends_it_alike_each_time() -> None:
    instance = lower(generate("random", Request(150, 5))).instance
    first, second = (solved(instance, 40_000, seed=7) for _ in range(2))
    assert first.stop is second.stop
    assert first.work == second.work
    assert first.placement is not None
    assert second.placement is not None
    assert np.array_equal(first.placement.offset, second.placement.offset)
