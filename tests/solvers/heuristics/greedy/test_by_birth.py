"""Placing by birth keeps every rule, and takes the place of passes for which there is no time."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from solvers.bounds.one_pool import pool_bound
from solvers.geometry.rules import violation
from solvers.heuristics.greedy import by_birth as by_birth_module
from solvers.heuristics.greedy import solver
from solvers.heuristics.greedy.by_birth import by_birth
from solvers.heuristics.greedy.solver import Greedy
from solvers.kernels.selection import Origin
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, PoolSpec
from solvers.model.solver import Silent, Task
from tests.small.instances import Block, make_instance, plain
from tests.solvers.kernels.kernel_sets import native, reference


class Late(Silent):
    """A Control whose time is up."""

    def stopped(self) -> StopReason:
        return StopReason.TIME_LIMIT


def made_up(seed: int) -> Instance:
    """Random blocks with gaps, alignments, conflicts and reserved ranges, some of them fixed."""
    chance = random.Random(seed)
    blocks = [plain(0, 30, 3, fixed=40)] if chance.random() < 0.3 else []
    for _ in range(chance.randrange(1, 25)):
        start = chance.randrange(25)
        if chance.random() < 0.2:
            blocks.append(Block([(0, 4, [(start, start + 1), (start + 2, start + 4)])]))
        else:
            size, alignment = chance.randrange(1, 9), chance.choice((1, 1, 4, 6))
            blocks.append(plain(start, start + chance.randrange(1, 5), size, alignment=alignment))
    pairs = [(a, b) for a in range(len(blocks)) for b in range(a) if chance.random() < 0.05]
    reserved = ((5, 9),) if chance.random() < 0.5 else ()
    return make_instance(blocks, pools=[PoolSpec(None, reserved)], conflicts=pairs)


def many(count: int, live: int, seed: int, alignment: int = 1) -> Instance:
    """Random blocks, of which about so many are live together; every other one is aligned."""
    chance = random.Random(seed)
    blocks = []
    for i in range(count):
        start = chance.randrange(count)
        end, size = start + 1 + chance.randrange(2 * live), 1 + chance.randrange(999)
        blocks.append(plain(start, end, size, alignment=alignment if i % 2 else 1))
    return make_instance(blocks)


def peak(instance: Instance, placement: Placement | None) -> int:
    assert placement is not None
    assert violation(instance, placement) is None
    return int((placement.offset + instance.block_high).max())


def bound(instance: Instance) -> int:
    found = pool_bound(instance, 0)
    assert found is not None
    return found.value


@pytest.mark.parametrize("seed", range(200))
def test_every_rule_is_kept(seed: int) -> None:
    instance = made_up(seed)
    offset = by_birth(instance)
    assert offset is not None
    assert violation(instance, Placement.in_one_pool(offset)) is None


def test_a_block_without_room_is_refused() -> None:
    assert by_birth(make_instance([plain(0, 2, 3), plain(0, 2, 3, max_offset=2)])) is None


def test_gaps_between_very_many_blocks_are_filled() -> None:
    instance = many(6_000, 2_000, 3)
    offset = by_birth(instance)
    assert offset is not None
    placement = Placement.in_one_pool(offset)
    assert peak(instance, placement) < 1.3 * bound(instance)


@pytest.mark.parametrize("alignment", [1, 64])
def test_both_kernels_place_very_many_blocks_alike(alignment: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = many(3_000, 700, 4, alignment)
    placements = []
    for kernels in (native(), reference()):
        monkeypatch.setattr(by_birth_module, "active_for", lambda _, kernels=kernels: SimpleNamespace(kernels=kernels))
        placements.append(by_birth(instance))
    assert all(found is not None and (found == placements[0]).all() for found in placements)


def with_kernel(greedy: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the kernel that makes passes."""
    fake = SimpleNamespace(kernels=SimpleNamespace(greedy=greedy), origin=Origin.NATIVE)
    monkeypatch.setattr(solver, "active_for", lambda _: fake)


def test_a_pass_finished_in_haste_is_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = many(2_000, 10, 1)
    stack = np.cumsum(instance.block_high) - instance.block_high
    with_kernel(lambda **_: stack, monkeypatch)
    outcome = Greedy().solve(instance, Task(), Late())
    assert (outcome.stop, outcome.reproducible) == (StopReason.TIME_LIMIT, False)
    assert peak(instance, outcome.placement) < 1.5 * bound(instance)


def test_without_any_time_no_pass_over_many_blocks_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "LATE", 1_000)
    with_kernel(lambda **_: pytest.fail("a pass was begun"), monkeypatch)
    instance = many(1_000, 10, 2)
    assert peak(instance, Greedy().solve(instance, Task(), Late()).placement) < 1.5 * bound(instance)
