"""The exact search agrees with brute force about every optimum and all that cannot fit, for all constraint kinds."""

from __future__ import annotations

import os
import random
from itertools import pairwise

import numpy as np
import pytest

from solvers.exact.search.solver import Search
from solvers.geometry.rules import violation
from solvers.kernels import Origin, active
from solvers.model.errors import StopReason, Unsupported
from solvers.model.instance import Instance, Placement, PoolSpec
from solvers.model.objective import evaluate
from solvers.model.solver import Feature, Goal, Limits, Silent, Task
from tests.small.instances import Block, make_instance, plain
from tests.small.strategies import NIGHTLY
from tests.solvers.exact.search.small_instances import KINDS, brute_force, random_block, random_instance

pytestmark = pytest.mark.skipif(Search().unavailable() is not None, reason=f"no search here: {Search().unavailable()}")

CASES = int(os.environ.get("MEMPLAN_SEARCH_CASES", "3000" if NIGHTLY else "75"))
"""The number of random instances of each kind; the environment variable sets more for a long run."""

IS_NATIVE = active().origin is Origin.NATIVE


@pytest.mark.parametrize("kind", KINDS)
def test_the_search_finds_and_proves_the_optimum(kind: str) -> None:
    for seed in range(CASES):
        instance = random_instance(seed, kind)
        expected = brute_force(instance)
        outcome = Search().solve(instance, Task(limits=Limits(work=2_000_000), seed=seed), Silent())
        if expected is None:
            assert outcome.infeasible, f"{kind} {seed}: nothing fits, the search says {outcome}"
            continue
        assert not outcome.infeasible, f"{kind} {seed}: the least peak is {expected}, the search finds none"
        assert outcome.stop is StopReason.PROVED, f"{kind} {seed}: stopped by {outcome.stop}"
        assert outcome.value == outcome.bound == (expected,), f"{kind} {seed}: {outcome.value}, least peak {expected}"
        assert outcome.placement is not None
        assert violation(instance, outcome.placement) is None, f"{kind} {seed}"
        assert evaluate(instance, outcome.placement) == outcome.value


@pytest.mark.parametrize("kind", KINDS)
def test_the_goal_fit_finds_a_placement_wherever_there_is_one(kind: str) -> None:
    for seed in range(CASES // 4):
        instance = random_instance(seed, kind)
        outcome = Search().solve(instance, Task(Limits(work=2_000_000), Goal.FIT, seed), Silent())
        assert outcome.infeasible == (brute_force(instance) is None)
        if not outcome.infeasible:
            assert outcome.placement is not None
            assert violation(instance, outcome.placement) is None
            assert outcome.stop in (StopReason.GOAL_MET, StopReason.PROVED)


def perfect_packing(seed: int, count: int) -> tuple[Instance, int]:
    """Return an instance cut from a strip without any waste, and the strip's height 256, which is its least peak."""
    r = random.Random(seed)
    height = 256
    line = [(0, height, 0)]
    done: list[tuple[int, int, int]] = []
    time = 0
    while len(done) < count:
        time += 1
        i = r.randrange(len(line))
        low, high, _ = line[i]
        joined = line[i : i + r.randint(1, 2)]
        high = joined[-1][1]
        done += [(start, time, end - begin) for begin, end, start in joined if start < time]
        cuts = sorted({low, high, *(r.randint(low, high) for _ in range(r.randint(0, 2)))})
        line[i : i + len(joined)] = [(a, b, time) for a, b in pairwise(cuts)]
    done += [(start, time + 1, end - begin) for begin, end, start in line]
    r.shuffle(done)
    return make_instance([(start, end, size) for start, end, size in done if start < end]), height


def test_perfect_packings_are_solved_at_their_bound() -> None:
    for seed in range(10):
        instance, height = perfect_packing(seed, 60)
        outcome = Search().solve(instance, Task(Limits(work=10_000_000), pool_bounds=(height,), seed=seed), Silent())
        assert outcome.value == outcome.bound == (height,)
        assert outcome.placement is not None
        assert violation(instance, outcome.placement) is None


def random_live(r: random.Random, count: int, horizon: int, longest: int, largest: int) -> list[tuple[int, int, int]]:
    starts = [r.randrange(horizon - longest) for _ in range(count)]
    return [(start, start + r.randint(1, longest), r.randint(1, largest)) for start in starts]


def moved(block: Block, sections: int) -> Block:
    parts = [
        (low, high, [(start + sections, end + sections) for start, end in live]) for low, high, live in block.parts
    ]
    return Block(parts, block.alignment, block.residue, block.fixed, block.max_offset)


def test_a_few_blocks_that_cannot_fit_are_found_among_many_that_do() -> None:
    """A few difficult blocks are in the middle of a long row of easy ones, and beside two that are always live."""
    for seed in range((100 if NIGHTLY else 40) if IS_NATIVE else 2):
        r = random.Random(seed)
        knot = [random_block(r, "aligned") for _ in range(5)]
        best = brute_force(make_instance(knot))
        assert best is not None
        blocks = [moved(block, 306) for block in knot]
        blocks += [plain(start, start + r.randint(1, 2), 1) for start in range(0, 600, 2) if not 300 < start < 320]
        blocks += [plain(0, 700, 12), plain(0, 700, 24)]
        r.shuffle(blocks)
        outcome = Search().solve(make_instance(blocks), Task(Limits(work=2_000_000), seed=seed), Silent())
        assert outcome.stop is StopReason.PROVED
        # The two that are always live take 36, a multiple of all alignments; the others are placed above as if alone.
        assert outcome.value == outcome.bound == (best + 36,)


@pytest.mark.skipif(not IS_NATIVE, reason="it takes minutes without the native kernels")
def test_a_large_instance_is_placed_near_its_bound() -> None:
    # With more than a million memberships in cliques, the kernel does not keep its rows compact.
    r = random.Random(3)
    blocks = random_live(r, 2600, 3000, 1400, 1000)
    starts, ends, sizes = np.array(blocks, dtype=np.int64).T
    live = np.zeros(3001, dtype=np.int64)
    np.add.at(live, starts, sizes)
    np.add.at(live, ends, -sizes)
    bound = int(live.cumsum().max())
    instance = make_instance(blocks, capacity=bound + bound // 10)
    outcome = Search().solve(instance, Task(Limits(work=20_000_000), Goal.FIT, pool_bounds=(bound,)), Silent())
    assert outcome.placement is not None
    tops = outcome.placement.offset + sizes
    assert tops.max() <= bound + bound // 10
    for i, offset in enumerate(outcome.placement.offset):
        together = (starts < ends[i]) & (starts[i] < ends)
        together[i] = False
        assert not (together & (outcome.placement.offset < tops[i]) & (offset < tops)).any()


def test_the_answer_does_not_depend_on_the_number_of_workers() -> None:
    for seed in range(6):
        instance, height = perfect_packing(seed, 90)
        outcomes = [
            Search().solve(instance, Task(Limits(work=60_000, workers=w), pool_bounds=(height,), seed=seed), Silent())
            for w in (1, 2, 3, 4)
        ]
        first = outcomes[0]
        assert first.placement is not None
        for other in outcomes[1:]:
            assert other.placement is not None
            assert other.placement.offset.tolist() == first.placement.offset.tolist()
            assert (other.stop, other.bound, other.work) == (first.stop, first.bound, first.work)


class StopsAtTheFirst(Silent):
    """A Control that asks to stop as soon as it has seen a placement."""

    def __init__(self) -> None:
        super().__init__()
        self.placements: list[Placement] = []

    def incumbent(self, placement: Placement) -> None:
        self.placements.append(placement)

    def stopped(self) -> StopReason | None:
        return StopReason.CANCELLED if self.placements else None


@pytest.mark.parametrize("workers", [1, 2])
def test_a_cancelled_search_keeps_the_best_placement(workers: int) -> None:
    # The instance is so large that the search cannot end by itself soon.
    r = random.Random(5)
    instance = make_instance([(s := r.randrange(300), s + r.randint(1, 200), r.randint(1, 10**6)) for _ in range(600)])
    control = StopsAtTheFirst()
    outcome = Search().solve(instance, Task(Limits(workers=workers)), control)
    assert outcome.stop is StopReason.CANCELLED
    assert not outcome.reproducible
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    values = [evaluate(instance, placement) for placement in control.placements]
    assert values == sorted(values, reverse=True)
    # The other worker may have found a better placement just before it stopped.
    assert evaluate(instance, outcome.placement) <= values[-1]
    if workers == 1:
        assert outcome.placement.offset.tolist() == control.placements[-1].offset.tolist()


def test_an_error_of_the_control_is_raised_unchanged() -> None:
    class Broken(Silent):
        def stopped(self) -> StopReason | None:
            raise KeyboardInterrupt

    r = random.Random(5)
    instance = make_instance([(s := r.randrange(300), s + r.randint(1, 200), r.randint(1, 10**6)) for _ in range(600)])
    with pytest.raises(KeyboardInterrupt):
        Search().solve(instance, Task(Limits(workers=2)), Broken())


def test_a_start_is_kept_unless_something_better_is_found() -> None:
    instance = make_instance([(0, 2, 4), (1, 3, 5), (2, 4, 4)])
    best = Placement.in_one_pool([5, 0, 5])
    outcome = Search().solve(instance, Task(start=best), Silent())
    assert outcome.stop is StopReason.PROVED
    assert outcome.value == outcome.bound == (9,)
    poor = Placement.in_one_pool([50, 0, 60])
    assert Search().solve(instance, Task(start=poor), Silent()).value == (9,)
    kept = Search().solve(instance, Task(start=poor, goal=Goal.FIT), Silent())
    assert kept.stop is StopReason.GOAL_MET
    assert kept.placement is poor


def test_huge_sizes_do_not_overflow() -> None:
    size = (1 << 40) + 1
    instance = make_instance([(0, 2, size), (1, 3, size), (2, 4, size)], pools=[PoolSpec(1 << 50)])
    assert Search().solve(instance, Task(), Silent()).value == (2 * size,)


def test_empty_and_tiny_instances_are_solved() -> None:
    assert Search().solve(make_instance([]), Task(), Silent()).value == (0,)
    assert Search().solve(make_instance([(0, 1, 7)]), Task(), Silent()).value == (7,)
    assert Search().solve(make_instance([(0, 1, 0), (0, 1, 3)]), Task(), Silent()).value == (3,)
    assert Search().solve(make_instance([(0, 1, 7)], capacity=6), Task(), Silent()).infeasible


def test_several_pools_are_refused() -> None:
    with pytest.raises(Unsupported, match="one pool"):
        Search().solve(make_instance([(0, 1, 7)], pools=[PoolSpec(), PoolSpec()]), Task(), Silent())
    assert Feature.POOLS not in Search.features
