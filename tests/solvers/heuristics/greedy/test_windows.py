"""Windows of time around what ends too high: they lower a placement, keep it valid, and are the same with either set of kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers.fitting.orders import PASSES
from solvers.geometry.rules import violation
from solvers.heuristics.greedy import windows
from solvers.heuristics.greedy.windows import Windows
from solvers.kernels.columns import Columns, columns
from solvers.kernels.interface import Kernels, Report
from solvers.kernels.selection import select
from solvers.model.instance import Instance, Ints, Placement
from tests.small.instances import make_instance, plain
from tests.solvers.kernels.random_instances import random_instance

NATIVE, REFERENCE = select("native").kernels, select("reference").kernels
WORK = 1_000


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "LEAST", 6)


def placed(instance: Instance, kernels: Kernels = NATIVE, passes: int = 1) -> Ints | None:
    return kernels.greedy(
        sections=instance.sections,
        columns=columns(instance),
        passes=PASSES[-passes:],
        start=None,
        enough=None,
        threads=1,
        report=lambda _: False,
    )


def lowered(
    instance: Instance, start: Ints, enough: int = 0, kernels: Kernels = NATIVE, work: int = WORK
) -> tuple[Ints, int]:
    return Windows(instance, columns(instance), kernels, lambda: False).lower(start, enough, 1, work)


def peak(instance: Instance, offset: Ints) -> int:
    return int((offset + instance.block_high).max(initial=0))


def bound(instance: Instance) -> int:
    return NATIVE.max_live(instance.rect_start, instance.rect_end, instance.part_high, instance.sections)[0]


def without_pairs(seed: int) -> Instance:
    nothing = np.zeros((0, 2), dtype=np.int64)
    return replace(random_instance(seed, 3), conflicts=nothing, exclusions=nothing)


def crowds(count: int) -> Instance:
    """So many crowds, one after the other, and one block that lives throughout."""
    rng = np.random.default_rng(3)
    rows = [plain(0, 100 * count, 1)]
    for crowd in range(count):
        starts, lives, sizes = (rng.integers(1, most, 40).tolist() for most in (80, 40, 60))
        rows += [plain(100 * crowd + s, 100 * crowd + s + w, z) for s, w, z in zip(starts, lives, sizes, strict=True)]
    return make_instance(rows)


def test_a_lowered_placement_is_valid_and_no_higher_and_the_same_with_either_kernels() -> None:
    gained = 0
    for seed in range(60):
        instance = without_pairs(seed)
        start = placed(instance)
        if start is None:
            continue
        offset, work = lowered(instance, start)
        assert violation(instance, Placement.in_one_pool(offset)) is None
        assert peak(instance, offset) <= peak(instance, start)
        gained += peak(instance, offset) < peak(instance, start)
        again, done = lowered(instance, start, kernels=REFERENCE)
        assert (again.tolist(), done) == (offset.tolist(), work)
    assert gained > 10


def test_each_crowd_keeps_its_own_best_pass() -> None:
    instance = crowds(6)
    all_passes = placed(instance, passes=len(PASSES))
    assert all_passes is not None
    least = bound(instance)
    offset, _ = lowered(instance, all_passes, enough=least)
    assert violation(instance, Placement.in_one_pool(offset)) is None
    assert least <= peak(instance, offset) < peak(instance, all_passes)


def test_what_lives_beyond_a_window_stays() -> None:
    instance = crowds(6)
    start = placed(instance)
    assert start is not None
    offset, _ = lowered(instance, start, enough=bound(instance))
    moved = np.flatnonzero(offset != start)
    assert len(moved)
    assert 0 not in moved


def test_where_moving_gains_nothing_it_begins_again_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = crowds(1)
    start = placed(instance)
    assert start is not None
    begun: list[list[int]] = []

    def stuck(
        _sections: int, _given: Columns, origin: Ints, _enough: int, _seed: int, work: int, _report: Report
    ) -> tuple[Ints, int]:
        begun.append(origin.tolist())
        return origin, work

    monkeypatch.setattr(NATIVE, "improve", stuck)
    _, work = lowered(instance, start, enough=bound(instance) - 1, work=100_000)
    after_passes, from_start = begun
    assert after_passes != from_start
    assert set(from_start) <= set(start.tolist())
    assert work < 100_000


def test_nothing_moves_where_all_ends_low_enough_or_there_is_no_work() -> None:
    instance = crowds(3)
    start = placed(instance)
    assert start is not None
    assert lowered(instance, start, enough=peak(instance, start))[0].tolist() == start.tolist()
    offset, work = lowered(instance, start, work=0)
    assert (offset.tolist(), work) == (start.tolist(), 0)


def test_a_stop_ends_it_with_what_is_known() -> None:
    instance = crowds(3)
    start = placed(instance)
    assert start is not None
    stopped = Windows(instance, columns(instance), NATIVE, lambda: True)
    assert stopped.lower(start, 0, 1, WORK)[0].tolist() == start.tolist()
