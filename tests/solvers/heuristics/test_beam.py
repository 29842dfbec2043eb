"""The beam keeps all rules, worsens no placement and leaves blocks that it does not take; both kernels decide alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from solvers.geometry.rules import violation
from solvers.heuristics.greedy.solver import Greedy
from solvers.heuristics.improve import Beam
from solvers.kernels import BadKernelInput, Kernels, Origin
from solvers.kernels.columns import columns
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, PoolSpec
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import Block, make_instance, plain
from tests.small.strategies import NIGHTLY
from tests.solvers.heuristics.test_improve import first_placement, never, peak, recurrent
from tests.solvers.kernels.kernel_sets import of_origin, reference, where_native_run


@pytest.fixture
def solve(each_kernel: None) -> Beam:
    return Beam()


def aligned(seed: int) -> Instance:
    """A random instance of plain blocks, some of them aligned."""
    rng = np.random.default_rng(seed)
    count, times = int(rng.integers(3, 40)), int(rng.integers(2, 25))
    starts, lengths, sizes = (rng.integers(low, high, count).tolist() for low, high in ((0, times), (1, 12), (0, 30)))
    alignments = rng.choice([1, 1, 4, 6], count).tolist()
    rows = zip(starts, lengths, sizes, alignments, strict=True)
    return make_instance([plain(s, s + w, z, alignment=a) for s, w, z, a in rows])


def bound_of(instance: Instance) -> int:
    live = np.zeros(instance.sections + 1, dtype=np.int64)
    np.add.at(live, instance.rect_start, instance.part_high)
    np.subtract.at(live, instance.rect_end, instance.part_high)
    return int(np.cumsum(live).max())


@pytest.mark.parametrize("seeds", [range(first, first + 20) for first in range(0, 800 if NIGHTLY else 40, 20)], ids=str)
def test_the_kernel_decides_as_the_reference(kernel: Kernels, seeds: range) -> None:
    better = 0
    for seed in seeds:
        instance = aligned(seed)
        start = first_placement(instance, seed)
        assert start is not None
        enough = (80 + seed % 20) * peak(instance, start) // 100
        expected, work = reference().beam(instance.sections, columns(instance), start, enough, seed, 600, never)
        found, spent = kernel.beam(instance.sections, columns(instance), start, enough, seed, 600, never)
        assert (found.tolist(), spent) == (expected.tolist(), work), seed
        assert violation(instance, Placement.in_one_pool(found)) is None, seed
        assert peak(instance, found) <= peak(instance, start)
        better += peak(instance, found) < peak(instance, start)
    assert better > 2


def test_the_beam_lowers_the_peak_of_a_recurrent_network(solve: Beam) -> None:
    instance = recurrent(200)
    start = first_placement(instance)
    assert start is not None
    task = Task(limits=Limits(work=3_000), start=Placement.in_one_pool(start), bound=(bound_of(instance),))
    outcome = solve.solve(instance, task, Silent())
    assert outcome.placement is not None
    assert outcome.value is not None
    assert violation(instance, outcome.placement) is None
    assert bound_of(instance) <= outcome.value[0] < peak(instance, start)


@where_native_run("these are too many for the beam in Python")
def test_the_beam_meets_bounds_that_greedy_does_not() -> None:
    hard = met = 0
    for seed in range(8):
        instance = lower(generate("recurrent", Request(400, seed))).instance
        bound = bound_of(instance)
        start = Greedy().solve(instance, Task(target=(bound,)), Silent()).placement
        assert start is not None
        if peak(instance, start.offset) == bound:
            continue
        hard += 1
        outcome = Beam().solve(instance, Task(limits=Limits(work=100_000), start=start, bound=(bound,)), Silent())
        assert outcome.placement is not None
        assert violation(instance, outcome.placement) is None
        met += outcome.stop is StopReason.PROVED and outcome.value == (bound,)
    assert met == hard > 0


@where_native_run("these are too many for the beam in Python")
def test_the_beam_meets_the_bound_with_time_reversed_too() -> None:
    made = [lower(generate("recurrent", Request(1_000, seed))).instance for seed in (9003, 9004, 9007)]
    for there in (recurrent(200), *made):
        back = replace(there, rect_start=there.sections - there.rect_end, rect_end=there.sections - there.rect_start)
        bound = bound_of(there)
        for instance in (there, back):
            start = first_placement(instance)
            assert start is not None
            assert peak(instance, start) > bound
            task = Task(limits=Limits(work=40_000), start=Placement.in_one_pool(start), bound=(bound,))
            outcome = Beam().solve(instance, task, Silent())
            assert outcome.placement is not None
            assert outcome.value == (bound,)
            assert violation(there, outcome.placement) is None
            assert violation(back, outcome.placement) is None


def test_unsupported_instances_keep_their_start(solve: Beam) -> None:
    blocks = [plain(0, 2, 5), plain(0, 2, 5)]
    start = Placement.in_one_pool([0, 40])
    for instance in (
        make_instance([plain(0, 2, 5), Block([(0, 5, [(0, 2)])], fixed=40)]),
        make_instance([plain(0, 2, 5), Block([(0, 5, [(0, 1), (2, 3)])])]),
        make_instance(blocks, pools=[PoolSpec(None, ((20, 30),))]),
        make_instance(blocks, exclusions=[(0, 1)]),
        make_instance(blocks, conflicts=[(0, 1)]),
    ):
        outcome = solve.solve(instance, Task(start=start), Silent())
        assert (outcome.placement, outcome.stop, outcome.work) == (start, StopReason.WORK_LIMIT, 0)


def test_an_optimal_start_is_given_up_on(solve: Beam) -> None:
    instance = make_instance([plain(0, 2, 5), plain(1, 3, 5)])
    outcome = solve.solve(instance, Task(start=Placement.in_one_pool([0, 5])), Silent())
    assert (outcome.value, outcome.stop) == ((10,), StopReason.WORK_LIMIT)


@pytest.mark.parametrize("kind", Origin)
def test_impossible_kernel_inputs_are_refused(kind: Origin) -> None:
    kernel = of_origin(kind)
    instance = recurrent(50)
    given = columns(instance)
    with pytest.raises(BadKernelInput):
        kernel.beam(instance.sections, given, np.zeros(3, dtype=np.int64), 0, 0, 100, never)
    with pytest.raises(BadKernelInput):
        kernel.beam(instance.sections, given, np.zeros(instance.blocks, dtype=np.int64), 0, 0, -1, never)
    with pytest.raises(BadKernelInput, match="out of its block's bounds"):
        kernel.beam(instance.sections, given, np.full(instance.blocks, -8, dtype=np.int64), 0, 0, 100, never)
    paired = make_instance([plain(0, 2, 5), plain(0, 2, 5)], exclusions=[(0, 1)])
    with pytest.raises(BadKernelInput):
        kernel.beam(paired.sections, columns(paired), np.zeros(2, dtype=np.int64), 0, 0, 100, never)
