"""Peaks to the last unit, where sizes are rounded up: the block on top ends where it ends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from planner import Buffer, Constraints, Pool, Preference, Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.program.program import Pools, Program, settled_in
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.model.instance import Instance

STEP = 8
WORK = 400_000


def drawn(seed: int) -> Instance:
    """Up to seven buffers with sizes that are mostly no multiples of the alignment, in two memories or one of them."""
    chance = Random(seed)
    buffers = []
    for number in range(chance.randint(3, 7)):
        begin = chance.randint(0, 4)
        homes = chance.choice((None, None, None, ("fast",), ("slow",)))
        live = ((begin, begin + chance.randint(1, 4)),)
        buffers.append(
            Buffer(f"b{number}", chance.randint(1, 30), live=live, pools=homes, accesses=chance.randint(1, 9))
        )
    pools = (Pool("fast", chance.randint(30, 60), STEP), Pool("slow", None, STEP, rank=1))
    return lower(with_preference(Problem(tuple(buffers), pools), Preference.SIZE)).instance


def choices(program: Program) -> Iterator[Pools]:
    return product(*program.homes)


def heights(instance: Instance, pools: Pools) -> tuple[int, ...]:
    """How high each pool must be where at each moment only what is live then counts: all rounded up, but for one block."""
    found = [0] * len(instance.pools)
    size = instance.block_high
    for section in range(instance.sections):
        for pool in range(len(found)):
            here = [
                int(size[block])
                for block, begin, end in zip(
                    instance.part_block[instance.rect_part], instance.rect_start, instance.rect_end, strict=True
                )
                if begin <= section < end and pools[instance.class_number[block]] == pool
            ]
            whole = sum(each + -each % STEP for each in here)
            found[pool] = max(found[pool], whole - max((-each % STEP for each in here), default=0))
    return tuple(found)


@pytest.mark.parametrize("seed", range(12))
def test_the_ends_of_a_choice_are_those_of_the_best_block_on_top(seed: int) -> None:
    instance = drawn(seed)
    program = program_of(instance)
    for pools in choices(program):
        assert program.ends(pools) == heights(instance, pools)
        some = {group: pool for group, pool in enumerate(pools) if group % 2 and len(program.homes[group]) > 1}
        assert settled_in(program, some).ends(pools) == program.ends(pools)


@pytest.mark.parametrize("seed", range(12))
def test_a_question_counts_them(seed: int, asking: Asking) -> None:
    program = program_of(drawn(seed))
    ends = {pools: program.ends(pools) for pools in choices(program)}
    inside = {
        pools: tops
        for pools, tops in ends.items()
        if all(room.capacity is None or top <= room.capacity for room, top in zip(program.rooms, tops, strict=True))
    }
    values = {pools: [program.value(n, pools, tops) for n in range(2)] for pools, tops in inside.items()}
    answer = asking.ask(program, Question(0, with_ends=True), WORK)
    if not values:
        assert answer.is_impossible
        return
    least = min(first for first, _ in values.values())
    assert (answer.value, answer.bound) == (least, least)
    cheapest = min(second for first, second in values.values() if first == least)
    later = asking.ask(program, Question(1, held=(least,), with_ends=True), WORK)
    assert (later.value, later.bound) == (cheapest, cheapest)
    assert later.pools is not None
    tops = program.ends(later.pools)
    below = asking.ask(program, Question(1, tops=tops, are_peaks=True, with_ends=True), WORK)
    assert below.pools is not None
    assert all(a <= b for a, b in zip(program.ends(below.pools), tops, strict=True))


def test_two_blocks_that_are_live_together_are_not_both_on_top(asking: Asking) -> None:
    """Each of the two must be on top of what is live with it alone, and they are live together in between."""
    buffers = (
        Buffer("left", 9, live=((0, 3),)),
        Buffer("right", 9, live=((2, 5),)),
        Buffer("early", 16, live=((0, 1),)),
        Buffer("late", 16, live=((4, 5),)),
    )
    pools = (Pool("fast", 25, STEP), Pool("slow", None, STEP))
    program = program_of(lower(with_preference(Problem(buffers, pools), Preference.SIZE)).instance)
    together = (0, 0, 0, 0)
    assert program.ends(together) == (25, 0)
    assert asking.ask(program, Question(0, tops=(25, 0), are_peaks=True), WORK).pools == together
    assert asking.ask(program, Question(0, tops=(25, 0), are_peaks=True, with_ends=True), WORK).is_impossible


def test_what_may_lie_in_each_other_is_not_rounded_up_exactly() -> None:
    buffers = (Buffer("a", 9, live=((0, 3),)), Buffer("b", 9, live=((0, 3),)))
    pools = (Pool("fast", 25, STEP), Pool("slow", None, STEP))
    rules = Constraints(exclusions=(("a", "b"),))
    assert program_of(lower(Problem(buffers, pools, rules)).instance).pads == ()


def test_of_classes_of_several_blocks_each_may_be_on_top_at_another_time(asking: Asking) -> None:
    """Two that must share a memory are on top at its ends, the third in between, with which one of them is live each time."""
    buffers = (
        Buffer("first", 9, live=((0, 2),)),
        Buffer("last", 9, live=((4, 6),)),
        Buffer("middle", 9, live=((1, 5),)),
        Buffer("low", 16, live=((2, 4),), pools=("fast",)),
        Buffer("left", 16, live=((0, 1),), pools=("fast",)),
    )
    pools = (Pool("fast", 25, STEP), Pool("slow", None, STEP))
    rules = Constraints(same_pool=(("first", "last"),))
    program = program_of(lower(with_preference(Problem(buffers, pools, rules), Preference.SIZE)).instance)
    assert not program.is_by_block
    answer = asking.ask(program, Question(1, tops=(25, 0), are_peaks=True, with_ends=True), WORK)
    assert answer.pools is not None
    assert set(answer.pools) == {0}
