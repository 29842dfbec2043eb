"""How high pools can be with the peaks held is never less than in any choice, and nothing is left of pools that would only cost more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from planner import Buffer, Options, Pool, Preference, Problem, plan
from planner.generate import Request, generate
from planner.model.plan import PlanStatus
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.prices.tops import highest_tops
from solvers.choice.pools.program.program import Pools, Program
from solvers.choice.pools.program.writing import program_of


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_no_choice_with_a_first_term_as_low_is_higher(kind: str) -> None:
    reached = 0
    for seed in range(12):
        instance = lower(with_preference(generate(kind, Request(7, seed)), Preference.SIZE)).instance
        program = program_of(instance)
        every = [(program.value(0, pools, tops), tops) for pools, tops in _choices(program)]
        for most in sorted({value for value, _ in every})[:6]:
            ends = highest_tops(instance, program.terms[:1], (most,))
            for pool, end in enumerate(ends):
                highest = max(tops[pool] for value, tops in every if value <= most)
                assert end is None or highest <= end
                reached += highest == end and (instance.pools[pool].capacity or end) > highest
    assert reached > 5


def test_where_one_memory_is_cheapest_and_takes_all_the_others_stay_empty() -> None:
    problem = generate("pools", Request(40, 3))
    instance = lower(with_preference(problem, Preference.SIZE)).instance
    program = program_of(instance)
    together = plan(problem, Options(prefer=Preference.SIZE, work_limit=100_000)).objective.terms[0].value
    assert together is not None
    assert highest_tops(instance, program.terms[:1], (together,)) == (0, 0, together)


def test_a_second_term_that_follows_from_that_is_proven_with_hardly_any_work() -> None:
    problem = generate("pools", Request(700, 4, parameters={"live": 100}))
    found = plan(problem, Options(prefer=Preference.SIZE, work_limit=400_000))
    assert found.status is PlanStatus.OPTIMAL


def test_what_must_be_elsewhere_at_the_fullest_moment_keeps_a_memory_low() -> None:
    big = Buffer("big", 80, live=((0, 2),))
    small = [Buffer(f"small{n}", 10, live=((n, n + 1),), reads=9) for n in range(3)]
    pools = (Pool("fast", 40, rank=0), Pool("slow", None, rank=1))
    problem = Problem((big, *small, Buffer("late", 30, live=((2, 3),), reads=9)), pools)
    instance = lower(with_preference(problem, Preference.SIZE)).instance
    assert highest_tops(instance, program_of(instance).terms[:1], (90,)) == (10, 90)


def _choices(program: Program) -> Iterator[tuple[Pools, tuple[int, ...]]]:
    for pools in product(*program.homes):
        tops = program.least_tops(pools)
        if all(room.capacity is None or top <= room.capacity for room, top in zip(program.rooms, tops, strict=True)):
            yield pools, tops
