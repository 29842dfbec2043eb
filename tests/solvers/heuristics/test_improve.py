"""Improving a placement keeps all rules and makes it no worse; both kernels decide alike."""

from __future__ import annotations

import numpy as np
import pytest

from planner import Options, Problem, plan
from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from scripts.measure.small import exclusions, gaps
from solvers.fitting.neighbours import neighbours
from solvers.fitting.orders import Fit
from solvers.fitting.placing import Pass, place_all
from solvers.geometry.rules import violation
from solvers.heuristics.greedy.solver import Greedy
from solvers.heuristics.improve import Improve
from solvers.kernels import BadKernelInput, Kernels, Origin
from solvers.kernels.columns import columns
from solvers.model.errors import StopReason, Unsupported
from solvers.model.instance import Instance, Ints, Placement, PoolSpec, Term
from solvers.model.solver import Goal, Limits, Silent, Task
from tests.small.instances import Block, make_instance, plain
from tests.small.strategies import NIGHTLY
from tests.solvers.kernels.kernel_sets import of_origin, reference
from tests.solvers.kernels.random_instances import fixed_first, random_instance


def first_placement(instance: Instance, seed: int = 0) -> Ints | None:
    """Return the offsets of blocks placed in random order, which leave something to gain; None without room."""
    if not instance.allowed.all():
        return None
    order = fixed_first(instance, np.random.default_rng(seed).permutation(instance.blocks))
    found = place_all(instance, Pass(order, Fit.LOWEST), neighbours(instance), lambda: False)
    return None if found is None else found.offset


def recurrent(buffers: int) -> Instance:
    return lower(generate("recurrent", Request(buffers, 3))).instance


def peak(instance: Instance, offset: Ints) -> int:
    return int((offset + instance.block_high).max(initial=0))


def never(_: Ints | None) -> bool:
    return False


@pytest.fixture
def solve(each_kernel: None) -> Improve:
    return Improve()


def dense(seed: int, blocks: int = 60, times: int = 40) -> Instance:
    rng = np.random.default_rng(seed)
    starts, lengths, sizes = (rng.integers(low, high, blocks) for low, high in ((0, times), (1, 12), (1, 30)))
    rows = zip(starts.tolist(), (starts + lengths).tolist(), sizes.tolist(), strict=True)
    return make_instance([plain(start, end, size) for start, end, size in rows])


@pytest.mark.parametrize(
    "seeds", [range(first, first + 25) for first in range(0, 250 if NIGHTLY else 125, 25)], ids=str
)
def test_the_kernel_makes_the_moves_of_the_reference(kernel: Kernels, seeds: range) -> None:
    better = 0
    for seed in seeds:
        instance = random_instance(seed)
        start = first_placement(instance, seed)
        if start is None:
            continue
        enough = 9 * peak(instance, start) // 10
        expected, work = reference().improve(instance.sections, columns(instance), start, enough, seed, 300, never)
        given = columns(instance)
        found, spent = kernel.improve(instance.sections, given, start, enough, seed, 300, never)
        assert (found.tolist(), spent) == (expected.tolist(), work), seed
        assert violation(instance, Placement.in_one_pool(found)) is None, seed
        assert peak(instance, found) <= peak(instance, start)
        better += peak(instance, found) < peak(instance, start)
    assert better > 5


def test_the_kernel_makes_the_moves_of_the_reference_among_many_blocks(kernel: Kernels) -> None:
    for seed in range(2):
        instance = dense(seed, blocks=300, times=30)
        start = first_placement(instance)
        assert start is not None
        enough = 99 * peak(instance, start) // 100
        expected = reference().improve(instance.sections, columns(instance), start, enough, seed, 300, never)
        found = kernel.improve(instance.sections, columns(instance), start, enough, seed, 300, never)
        assert (found[0].tolist(), found[1]) == (expected[0].tolist(), expected[1])
        assert peak(instance, found[0]) < peak(instance, start)


def test_improving_meets_bounds_that_greedy_does_not(solve: Improve) -> None:
    met = 0
    for seed in range(8):
        instance = dense(seed)
        live = np.zeros(instance.sections + 1, dtype=np.int64)
        np.add.at(live, instance.rect_start, instance.part_high)
        np.subtract.at(live, instance.rect_end, instance.part_high)
        bound = int(np.cumsum(live).max())
        start = Greedy().solve(instance, Task(target=(bound,)), Silent()).placement
        assert start is not None
        if peak(instance, start.offset) == bound:
            continue
        task = Task(limits=Limits(work=3_000), start=start, bound=(bound,))
        outcome = solve.solve(instance, task, Silent())
        assert outcome.placement is not None
        assert violation(instance, outcome.placement) is None
        ended = peak(instance, outcome.placement.offset)
        assert bound <= ended <= peak(instance, start.offset)
        assert (outcome.stop is StopReason.PROVED) == (ended == bound)
        met += ended == bound
    assert met > 0


def test_fixed_blocks_and_reserved_ranges_stay(solve: Improve) -> None:
    blocks = [Block([(0, 4, [(0, 4)])], fixed=8), plain(0, 4, 6), plain(1, 3, 3), plain(0, 2, 2, alignment=4)]
    instance = make_instance(blocks, pools=[PoolSpec(None, ((3, 6),))])
    start = np.array([8, 40, 60, 80], dtype=np.int64)
    outcome = solve.solve(instance, Task(limits=Limits(work=5_000), start=Placement.in_one_pool(start)), Silent())
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert outcome.placement.offset.tolist() == [8, 12, 0, 20] or peak(instance, outcome.placement.offset) < 62
    assert outcome.placement.offset[0] == 8


def test_no_peak_is_lowered_below_a_fixed_block(solve: Improve) -> None:
    instance = make_instance([Block([(0, 4, [(0, 4)])], fixed=50), plain(0, 4, 6)])
    start = Placement.in_one_pool([50, 0])
    outcome = solve.solve(instance, Task(start=start), Silent())
    assert (outcome.value, outcome.work) == ((54,), 0)


def test_exclusions_share_addresses_and_conflicts_do_not(solve: Improve) -> None:
    # The first two blocks may share addresses; the last lives later, but must not share with the first.
    blocks = [plain(0, 2, 10), plain(0, 2, 10), plain(2, 4, 10)]
    instance = make_instance(blocks, exclusions=[(0, 1)], conflicts=[(0, 2)])
    start = Placement.in_one_pool([0, 10, 20])
    outcome = solve.solve(instance, Task(limits=Limits(work=5_000), start=start, bound=(20,)), Silent())
    assert outcome.placement is not None
    assert outcome.value == (20,)
    assert violation(instance, outcome.placement) is None


def test_without_a_start_there_is_no_placement(solve: Improve) -> None:
    outcome = solve.solve(make_instance([plain(0, 2, 3)]), Task(), Silent())
    assert (outcome.placement, outcome.stop, outcome.work) == (None, StopReason.WORK_LIMIT, 0)


def test_any_start_meets_the_goal_fit(solve: Improve) -> None:
    start = Placement.in_one_pool([7])
    outcome = solve.solve(make_instance([plain(0, 2, 3)]), Task(start=start, goal=Goal.FIT), Silent())
    assert (outcome.placement, outcome.stop) == (start, StopReason.GOAL_MET)


def test_no_block_and_blocks_without_size_are_accepted(solve: Improve) -> None:
    nothing = Placement.in_one_pool([])
    assert solve.solve(make_instance([]), Task(start=nothing), Silent()).value == (0,)
    instance = make_instance([plain(0, 2, 0), plain(0, 2, 5)])
    outcome = solve.solve(instance, Task(start=Placement.in_one_pool([40, 0]), bound=(5,)), Silent())
    assert outcome.value == (5,)


@pytest.mark.parametrize("kind", Origin)
def test_an_impossible_start_is_refused(kind: Origin) -> None:
    kernel = of_origin(kind)
    instance = dense(9)
    given = columns(instance)
    for start in (np.zeros(3, dtype=np.int64), np.full(instance.blocks, -1, dtype=np.int64)):
        with pytest.raises(BadKernelInput):
            kernel.improve(instance.sections, given, start, 0, 0, 100, never)
    with pytest.raises(BadKernelInput):
        kernel.improve(instance.sections, given, np.zeros(instance.blocks, dtype=np.int64), 0, 0, -1, never)


def test_more_than_one_peak_is_refused(solve: Improve) -> None:
    two_pools = make_instance([plain(0, 2, 3)], pools=[PoolSpec(), PoolSpec()])
    shared = make_instance([plain(0, 2, 3), plain(2, 3, 3)], terms=[Term.REUSE_COST], penalties=[(0, 1, 5)])
    for instance in (two_pools, shared):
        with pytest.raises(Unsupported):
            solve.solve(instance, Task(), Silent())


@pytest.mark.parametrize(
    ("problem", "most"),
    [
        (gaps(100, 81006), 0.03),  # it was 5.7 % with steps that were parts of the distance to the bound
        (exclusions(300, 93003), 0.1),  # it was 12.2 %
    ],
)
def test_it_goes_down_by_small_steps_where_bounds_may_lie_far_below(problem: Problem, most: float) -> None:
    found = plan(problem, Options(time_limit=None, work_limit=400_000, workers=1, solver="improve"))
    assert found.gap is not None
    assert found.gap < most
