"""Windows of time lower pools that are higher than they need be, and leave the terms before as good."""

from __future__ import annotations

from operator import le

import numpy as np
import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.placing.lowering import Lowering
from solvers.choice.pools.placing.packing import Packing
from solvers.choice.pools.placing.windows import Windows
from solvers.choice.pools.program.program import Row
from solvers.choice.pools.program.writing import pools_of_classes, program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.geometry.presolve import scaled, unit
from solvers.geometry.rules import violation
from solvers.model.instance import Instance, Placement
from solvers.model.objective import evaluate, peaks
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task

WORK = 2_000_000


def instance_of(kind: str, buffers: int, seed: int, prefer: Preference = Preference.SPEED) -> Instance:
    instance = lower(with_preference(generate(kind, Request(buffers, seed)), prefer)).instance
    return scaled(instance, unit(instance))


def lowered(instance: Instance, start: Placement, tops: tuple[int, ...]) -> Placement:
    """Return the start after windows have lowered its second term, the peaks."""
    limits, number = Limits(work=WORK), instance.class_number
    asking, packing = Asking(limits, 0, Silent()), Packing(instance, Task(limits), Silent())
    try:
        windows = Lowering(instance, program_of(instance), number, asking, packing, start)
        windows.lower(1, tops, WORK)
        return windows.placement
    finally:
        asking.close()


def start_of(instance: Instance) -> Placement:
    found = get("greedy").solve(instance, Task(limits=Limits(work=20_000)), Silent()).placement
    assert found is not None
    return found


def test_gaps_are_closed_without_moving_blocks_between_pools() -> None:
    instance = instance_of("pools", 40, 2)
    start = start_of(instance)
    last = len(instance.pools) - 1
    tops = peaks(instance, start)
    raised = Placement(start.pool, np.where(start.pool == last, start.offset + 4 * tops[last], start.offset))
    found = lowered(instance, raised, tops)
    assert violation(instance, found) is None
    assert peaks(instance, found)[last] <= tops[last]
    assert evaluate(instance, found) <= evaluate(instance, start)


def test_a_later_term_is_lowered_without_worsening_the_one_before() -> None:
    instance = instance_of("pools", 120, 3)
    start = start_of(instance)
    program, number = program_of(instance), instance.class_number
    tops = program.least_tops(pools_of_classes(number, start))
    below = (*tops[:-1], tops[-1] * 9 // 10)
    found = lowered(instance, start, below)
    assert violation(instance, found) is None
    first, second = evaluate(instance, found)
    assert first <= evaluate(instance, start)[0]
    assert second < evaluate(instance, start)[1]


@pytest.mark.parametrize(("buffers", "seed"), [(60, 0), (100, 0), (150, 2)])
def test_a_placement_is_fitted_below_heights_that_another_has(buffers: int, seed: int, asking: Asking) -> None:
    """At a price of heights instead, pools of the last two stay higher."""
    instance = instance_of("hot", buffers, seed, Preference.SIZE)
    other = get("pools_first").solve(instance, Task(Limits(work=1_000_000)), Silent()).placement
    assert other is not None
    tops, packing = peaks(instance, other), Packing(instance, Task(Limits(work=WORK)), Silent())
    windows = Lowering(instance, program_of(instance), instance.class_number, asking, packing, start_of(instance))
    assert windows.too_high(tops)
    windows.fit(1, tops, WORK)
    assert violation(instance, windows.placement) is None
    assert not windows.too_high(tops)
    assert all(map(le, peaks(instance, windows.placement), tops))


@pytest.mark.parametrize(("kind", "buffers"), [("pools", 120), ("hot", 80)])
def test_a_cheaper_choice_is_adopted_below_the_peaks_of_now(kind: str, buffers: int, asking: Asking) -> None:
    instance = instance_of(kind, buffers, 3)
    start, program, number = start_of(instance), program_of(instance), instance.class_number
    best = asking.ask(program, Question(0), WORK).pools
    assert best is not None
    packing = Packing(instance, Task(Limits(work=WORK)), Silent())
    windows = Windows(instance, program, number, asking, packing, start)
    windows.adopt(dict(enumerate(best)), peaks(instance, start), WORK)
    found = windows.placement
    assert violation(instance, found) is None
    assert evaluate(instance, found)[0] < evaluate(instance, start)[0]
    assert all(map(le, peaks(instance, found), peaks(instance, start)))


def test_nothing_is_asked_where_a_choice_costs_no_less(asking: Asking) -> None:
    instance = instance_of("pools", 60, 1)
    start, program, number = start_of(instance), program_of(instance), instance.class_number
    packing = Packing(instance, Task(Limits(work=WORK)), Silent())
    windows = Windows(instance, program, number, asking, packing, start)
    dearest = {
        group: homes[int(np.argmax(program.terms[0].of_homes[group]))] for group, homes in enumerate(program.homes)
    }
    windows.adopt(dearest, peaks(instance, start), WORK)
    assert asking.work == 0


@pytest.mark.parametrize("seed", range(4))
def test_a_window_counts_in_each_row_what_the_whole_program_counts(seed: int, asking: Asking) -> None:
    """With everybody else where they are, a choice for the window fills the rows just as it does in the whole program."""
    instance = instance_of("hot", 80, seed)
    start, program, number = start_of(instance), program_of(instance), instance.class_number
    packing = Packing(instance, Task(Limits(work=WORK)), Silent())
    windows, chance = Windows(instance, program, number, asking, packing, start), np.random.default_rng(seed)
    free = [group for group, homes in enumerate(program.homes) if len(homes) > 1]
    members = chance.permutation(free)[: len(free) // 2].tolist()
    part, near = windows.part_of(0, members)
    pools = list(pools_of_classes(number, start))
    assert near == tuple(pools[group] for group in members)
    chosen = [int(chance.choice(homes)) for homes in part.homes]
    for group, pool in zip(members, chosen, strict=True):
        pools[group] = pool
    loads = {(row.pool, row.section): load(row, pools) for row in program.rows}
    counted = {(row.pool, row.section): load(row, chosen) for row in part.rows}
    assert counted == {at: loads[at] for at in counted}
    assert {(row.pool, row.section) for row in program.rows if {*members} & {group for group, _ in row.members}} == {
        *counted
    }


def load(row: Row, pools: list[int]) -> int:
    return row.always + sum(units for group, units in row.members if pools[group] == row.pool)
