"""Blocks that came too late go earlier in the next pass."""

from __future__ import annotations

import numpy as np
import pytest

from planner import Buffer, Options, Pool, Problem, plan, verify
from solvers.geometry.rules import violation
from solvers.heuristics.greedy.solver import Greedy
from solvers.heuristics.greedy.squeaky_wheel import SqueakyWheel
from solvers.kernels.columns import columns
from solvers.kernels.interface import Kernels
from solvers.kernels.selection import select
from solvers.model.instance import Instance, Ints, Placement
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance, plain
from tests.small.oracle import solve
from tests.solvers.kernels.random_instances import random_instance

NATIVE, REFERENCE = select("native").kernels, select("reference").kernels
WORK = 20_000


def wheel(instance: Instance, kernels: Kernels = NATIVE, seed: int = 1) -> SqueakyWheel:
    return SqueakyWheel(instance, columns(instance), kernels, seed, lambda: False)


def lowered(instance: Instance, start: Ints, work: int = WORK, kernels: Kernels = NATIVE) -> tuple[Ints, int]:
    run = wheel(instance, kernels)
    return run.lower(start, 0, work, lambda _: False), run.done


def near(count: int, seed: int) -> Instance:
    """Six of ten blocks must lie in a window that they fill where most of them are live."""
    rng = np.random.default_rng(seed)
    begin = rng.integers(0, count, count)
    life, size = rng.integers(1, count // 5, count), rng.integers(1, 1_000, count)
    low = rng.random(count) < 0.6
    live = NATIVE.max_live(begin[low], (begin + life)[low], size[low], 2 * count)[0]
    most = [
        live * 21 // 20 - height if is_low else None for height, is_low in zip(size.tolist(), low.tolist(), strict=True)
    ]
    rows = zip(begin.tolist(), (begin + life).tolist(), size.tolist(), most, strict=True)
    return make_instance([plain(first, end, height, max_offset=limit) for first, end, height, limit in rows])


@pytest.mark.parametrize("seed", range(5))
def test_many_that_must_lie_low_find_their_places(seed: int) -> None:
    instance = near(200, seed)
    found = Greedy().solve(instance, Task(limits=Limits(work=1_000_000)), Silent())
    assert found.placement is not None
    assert violation(instance, found.placement) is None


def test_a_lowered_placement_is_valid_and_no_higher_and_the_same_with_either_kernels() -> None:
    gains = 0
    for seed in range(80):
        instance = random_instance(seed)
        start = wheel(instance).placed(500)
        again = wheel(instance, REFERENCE).placed(500)
        assert (start is None) == (again is None)
        if start is None or again is None:
            continue
        assert start.tolist() == again.tolist()
        assert violation(instance, Placement.in_one_pool(start)) is None
        (offset, done), twin = lowered(instance, start, 200), lowered(instance, start, 200, REFERENCE)
        assert (offset.tolist(), done) == (twin[0].tolist(), twin[1])
        assert violation(instance, Placement.in_one_pool(offset)) is None
        assert instance.end_of(offset) <= instance.end_of(start)
        gains += instance.end_of(offset) < instance.end_of(start)
    assert gains


def test_a_seed_settles_what_is_found_and_work_ends_it() -> None:
    instance = near(100, 7)
    start = wheel(instance).placed(1_000_000)
    assert start is not None
    once, again = lowered(instance, start), lowered(instance, start)
    assert (once[0].tolist(), once[1]) == (again[0].tolist(), again[1])
    assert once[1] < WORK + wheel(instance).work_of_pass
    assert lowered(instance, start, 0)[0] is start


def test_nothing_is_lowered_below_what_cannot_move() -> None:
    instance = make_instance([plain(0, 1, 4, fixed=6), plain(0, 1, 5, max_offset=3), (1, 2, 2)])
    start = np.array([6, 0, 8])
    assert lowered(instance, start)[1] == 0


def test_what_can_be_in_no_place_ends_with_the_work() -> None:
    instance = make_instance([plain(0, 1, 4, max_offset=2), plain(0, 1, 4, max_offset=2)])
    run = wheel(instance)
    assert run.placed(100) is None
    assert 100 <= run.done < 100 + run.work_of_pass


def test_a_stop_ends_it_with_what_is_known() -> None:
    instance = near(60, 3)
    start = wheel(instance).placed(1_000_000)
    assert start is not None
    heard: list[list[int]] = []

    def stop_at_first(offset: Ints | None) -> bool:
        assert offset is not None
        heard.append(offset.tolist())
        return True

    assert [wheel(instance).lower(start, 0, 1_000_000, stop_at_first).tolist()] == heard
    stopped = SqueakyWheel(instance, columns(instance), NATIVE, 1, lambda: True)
    assert stopped.lower(start, 0, 1_000_000, lambda _: True) is start


def test_small_plans_are_legal_and_never_below_the_optimum() -> None:
    rng, best = np.random.default_rng(5), 0
    for _ in range(60):
        buffers = []
        for number in range(6):
            begin, size = int(rng.integers(0, 4)), int(rng.integers(1, 9))
            limit = int(rng.integers(0, 14)) if rng.random() < 0.5 else None
            life = ((begin, begin + int(rng.integers(1, 4))),)
            buffers.append(Buffer(str(number), size, live=life, max_offset=limit))
        problem = Problem(tuple(buffers), pools=(Pool("memory", None),))
        truth = solve(problem)
        found = plan(problem, Options(solver="late_first", work_limit=100_000, time_limit=None, workers=1))
        if truth.peaks is None:
            assert found.peak is None
        elif found.peak is not None:
            assert not verify(problem, found)
            assert found.peak >= truth.peaks[0]
            best += found.peak == truth.peaks[0]
    assert best > 40
