"""The tree of boxes of heights: never a bound above the best choice, and heights that are possible stay."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import pytest

from planner import Colocation, Constraints, Preference, Problem
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.prices.height_tree import HeightTree
from solvers.choice.pools.prices.reachable import Reachable, is_held_by_sum
from solvers.choice.pools.program.program import Program
from solvers.choice.pools.program.writing import class_numbers, program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.choice.pools.searches.fullest import FullestFirst
from solvers.model.instance import Instance

WORK = 3_000_000


def sized(kind: str, buffers: int, seed: int) -> Instance:
    return lower(with_preference(generate(kind, Request(buffers, seed)), Preference.SIZE)).instance


def full_sections(instance: Instance, program: Program, most: int, asking: Asking) -> list[list[tuple[int, int]]]:
    question = Question(1, held=(most,))
    return FullestFirst(instance, program, class_numbers(instance), asking, question).fullest_sections(6)


@pytest.mark.parametrize("kind", ["hot", "memories"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("more", [0, 1_000_000])
def test_no_bound_is_above_the_best_choice(kind: str, seed: int, more: int, asking: Asking) -> None:
    instance = sized(kind, 40, seed)
    program = program_of(instance)
    least = asking.ask(program, Question(0), WORK).value
    assert least is not None
    assert is_held_by_sum(instance, program, 1)
    exact = asking.ask(program, Question(1, held=(least,)), WORK)
    assert exact.stopped is None
    assert exact.value is not None
    best = exact.value + more
    tree = HeightTree(program, least, full_sections(instance, program, least, asking), best, lambda: False)
    bound = tree.run(0, WORK)
    assert bound <= exact.value if more else bound <= best
    assert bound * 100 >= exact.value * 95
    assert tree.first is not None
    assert tree.last is not None


def meeting(problem: Problem) -> list[tuple[int | str, int | str]]:
    """All pairs that are live together."""
    return [
        (one.id, other.id)
        for one, other in combinations(problem.buffers, 2)
        if any(a < d and c < b for a, b in one.live or () for c, d in other.live or ())
    ]


@pytest.mark.parametrize("rule", ["exclusions", "colocations"])
def test_no_sum_is_held_where_what_is_live_shares_addresses(rule: str) -> None:
    """Heights that are possible were taken for impossible, and so plans were called optimal that are not."""
    problem = with_preference(generate("hot", Request(40, 0)), Preference.SIZE)
    pair = meeting(problem)[0]
    excluded, together = Constraints(exclusions=(pair,)), Constraints(colocations=(Colocation(pair[1], pair[0], 0),))
    ruled = replace(problem, constraints=excluded if rule == "exclusions" else together)
    for each, is_held in (problem, True), (ruled, False):
        instance = lower(each).instance
        assert is_held_by_sum(instance, program_of(instance), 1) == is_held


@pytest.mark.parametrize("seed", range(4))
def test_heights_of_choices_are_within_what_is_reachable(seed: int, asking: Asking) -> None:
    instance = sized("hot", 8, seed)
    program = program_of(instance)
    least = asking.ask(program, Question(0), WORK).value
    assert least is not None
    reachable = Reachable(program, least, full_sections(instance, program, least, asking))
    everything = tuple((0, program.highest(pool)) for pool in range(len(program.rooms)))
    ends = reachable.within(everything)
    found = 0
    for pools in product(*program.homes):
        tops = program.least_tops(pools)
        fits = all(room.capacity is None or top <= room.capacity for room, top in zip(program.rooms, tops, strict=True))
        if fits and sum(tops) <= least:
            found += 1
            assert all(low <= top <= high for top, (low, high) in zip(tops, ends, strict=True))
    assert found


def test_listing_sums_is_work_and_ends_when_time_is_up() -> None:
    """A section may have a thousand sizes, and a pool a million heights."""
    instance = sized("hot", 40, 1)
    program = program_of(instance)
    size, most = 99_991, 1 << 20
    section = [(group, size + group) for group in range(len(program.homes))]
    listed = Reachable(program, most, [section])
    assert listed.work >= len(section)
    assert Reachable(program, most, [section], lambda: True).work == 0
    before = listed.work
    listed.within(tuple((0, most) for _ in program.rooms))
    assert listed.work > before
