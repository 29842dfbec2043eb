"""Blocks take the places of others: those that share a pool with another stay, and what goes where there is no end is packed again."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from solvers.choice.pools import budget
from solvers.choice.pools.placing.displacing import displaced
from solvers.choice.pools.placing.packing import Packing, ending_at
from solvers.choice.pools.program.writing import size_as_one
from solvers.choice.pools.runs.placed_choices import PlacedChoices
from solvers.choice.pools.solver import PoolsFirst
from solvers.geometry.rules import violation
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.objective import evaluate
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import Block, make_instance, plain
from tests.solvers.kernels.kernel_sets import use_reference, where_native_run

WORK = 1_000


def instance_of(classes: list[int]) -> Instance:
    """Three blocks, live together, of which two have room in the first pool; each costs more in the second, which has no end."""
    costs = ((0, 5), (0, 9), (0, 7))
    blocks = [plain(0, 2, 4, access=cost, pool_class=group) for cost, group in zip(costs, classes, strict=True)]
    return make_instance(blocks, pools=[PoolSpec(8), PoolSpec(None)], terms=(Term.ACCESS_COST,))


def found(instance: Instance, pools: list[int], offsets: list[int]) -> Placement | None:
    task = Task(Limits(work=WORK))
    start = Placement(np.array(pools), np.array(offsets))
    packing = Packing(instance, task, Silent())
    return displaced(instance, 0, packing, start, WORK)


@where_native_run("without them nothing is looked for")
def test_the_dearest_take_the_places_of_others() -> None:
    instance = instance_of([0, 1, 2])
    placement = found(instance, [0, 1, 1], [2, 0, 4])
    assert placement is not None
    assert violation(instance, placement) is None
    assert placement.pool.tolist() == [1, 0, 0]
    assert evaluate(instance, placement) == (5,)


@where_native_run("without them nothing is looked for")
def test_blocks_that_share_a_pool_stay() -> None:
    placement = found(instance_of([0, 1, 1]), [1, 1, 1], [0, 4, 8])
    assert placement is not None
    assert placement.pool.tolist() == [0, 1, 1]


@where_native_run("without them nothing is looked for")
def test_blocks_that_must_be_apart_stay() -> None:
    """The first block takes the place of neither, but room beside the last one."""
    instance = replace(instance_of([0, 1, 2]), apart=np.array([(1, 2)]))
    placement = found(instance, [1, 1, 0], [0, 4, 0])
    assert placement is not None
    assert placement.pool.tolist() == [0, 1, 0]


@where_native_run("without them nothing is looked for")
def test_a_later_term_is_lowered_below_the_peaks_as_they_are() -> None:
    """Two blocks live together, of which one has room below the first pool's peak, and another that the second pool has room for below its own."""
    costs = ((0, 5), (0, 9))
    blocks = [plain(0, 2, 4, access=cost, pool_class=group) for group, cost in enumerate(costs)]
    terms = (Term.SUM_OF_PEAKS, Term.ACCESS_COST)
    instance = make_instance(blocks, pools=[PoolSpec(8), PoolSpec(None)], terms=terms)
    task, start = Task(Limits(work=WORK)), Placement(np.array([0, 1]), np.array([0, 0]))
    below = ending_at(instance, (4, 4))
    placement = displaced(below, 1, Packing(instance, task, Silent()), start, WORK)
    assert placement is not None
    assert violation(below, placement) is None
    assert evaluate(instance, placement) == (8, 5)


@where_native_run("without them nothing is looked for")
def test_where_nothing_is_gained_there_is_no_placement() -> None:
    assert found(instance_of([0, 1, 2]), [1, 0, 0], [0, 0, 4]) is None


def test_without_native_kernels_nothing_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    use_reference(monkeypatch)
    assert found(instance_of([0, 1, 2]), [1, 1, 1], [0, 4, 8]) is None


def small_pools(seed: int, count: int = 60) -> tuple[Instance, Placement]:
    """Blocks of which a third are live together, beside three pools that hold two or three of them each; at first all are elsewhere."""
    chance, blocks = random.Random(seed), list[Block]()
    for _ in range(count):
        start, size, uses = chance.randrange(30), chance.randrange(5, 60), chance.randrange(1, 40)
        blocks.append(plain(start, start + chance.randrange(1, 30), size, access=(0, 0, 0, size * uses)))
    instance = make_instance(blocks, pools=[*[PoolSpec(64)] * 3, PoolSpec(None)], terms=(Term.ACCESS_COST,))
    ends = np.cumsum(instance.block_high)
    return instance, Placement(np.full(count, 3), ends - instance.block_high)


def cost_within(seed: int, work: int, count: int = 60) -> int:
    instance, start = small_pools(seed, count)
    outcome = PoolsFirst().solve(instance, Task(Limits(work=work), start=start), Silent())
    assert outcome.placement is not None
    assert outcome.value is not None
    assert violation(instance, outcome.placement) is None
    return outcome.value[0]


@where_native_run("without them nothing is looked for")
def test_they_do_so_again_with_more_work_where_no_choice_came_to_anything_better(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares, usual = list[budget.Share](), PlacedChoices._displace

    def noted(self: PlacedChoices, share: budget.Share) -> None:
        shares.append(share)
        usual(self, share)

    monkeypatch.setattr(PlacedChoices, "_displace", noted)
    cost_within(0, 1_000_000, 120)
    assert shares == [budget.DISPLACING_FIRST, budget.DISPLACING_INSTEAD]


@where_native_run("without them nothing is looked for")
def test_they_do_so_alone_where_there_is_too_little_work_for_a_program() -> None:
    instance, start = small_pools(0, 120)
    work = budget.LEAST_TO_BEGIN_PER_ENTRY * size_as_one(instance) - 1
    outcome = PoolsFirst().solve(instance, Task(Limits(work=work), start=start), Silent())
    assert outcome.value is not None
    assert outcome.value[0] < evaluate(instance, start)[0] * 4 // 5
    assert work // 2 <= outcome.work <= work


@where_native_run("without them nothing is looked for")
@pytest.mark.parametrize(("live", "work_a_block", "times"), [(0, 32 * 300, 1), (0, 32 * 200, 0), (60, 32 * 300, 0)])
def test_they_do_so_before_anything_is_chosen_only_with_work_enough_and_where_many_are_live(
    monkeypatch: pytest.MonkeyPatch, live: int, work_a_block: int, times: int
) -> None:
    """A thirty-second part of the work goes there, if that is 250 units for each block."""
    monkeypatch.setattr(budget, "LIVE_WHERE_DISPLACED", live)
    shares = list[budget.Share]()

    def noted(self: PlacedChoices, share: budget.Share) -> None:
        shares.append(share)

    monkeypatch.setattr(PlacedChoices, "_displace", noted)
    cost_within(0, 60 * work_a_block)
    assert shares[:times] == [budget.DISPLACING_FIRST] * times
    assert shares.count(budget.DISPLACING_FIRST) == times
